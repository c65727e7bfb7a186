// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vector functions share these: where in UB an address is, what is told of the bytes, which of them are undefined,
// and the order of stores before loads.
#pragma once

#include <string>
#include <utility>

#include "device/reg.h"
#include "device/vec.h"

namespace aclsim {

// An address in a buffer of UB.
struct Spot {
  Ub ub;
  uint64_t offset = 0;
  uint64_t end = 0;   // of the buffer
  bool given = true;  // the vector function has an argument in this buffer, or nobody knows
};
Spot FindSpotAnew(VectorState& state, const void* address);
inline Spot FindSpot(VectorState& state, const void* address) {
  const Core& core = *state.core;
  const uint64_t offset = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(core.ub);
  for (const VectorState::Range& range : state.ranges) {
    if (offset >= range.begin && offset < range.end) [[likely]] {
      return {{core.ub + offset, range.buf, DType::kUint8, range.generation},
              offset,
              range.end,
              range.given};
    }
  }
  return FindSpotAnew(state, address);
}

// At the start of a vector function: no loads and stores come before.
void ForgetOrder(VectorState& state);
// Sets what a load or store at `site` is, but for its lanes.
void SetTouched(const VectorState& state, VectorState::Touched* touched, uint64_t begin,
                uint64_t end, const void* reg0, const void* reg1, uint32_t site);
// The load that begins, in its place among the last ones.
inline VectorState::Touched& NextLoad(VectorState& state, uint64_t begin, uint64_t end,
                                      const void* reg0, const void* reg1, uint32_t site) {
  VectorState::Touched& load = state.loads[(state.lastLoad + 1) % state.loads.size()];
  SetTouched(state, &load, begin, end, reg0, reg1, site);
  return load;
}
// Numbers it, and finds a store to some of its bytes that comes before, from another register and with nothing in between. `after` is
// what its registers wait for, to which the load itself is added.
void NoteLoad(VectorState& state, RegAfter* after, bool check = true);
// Looks at the bytes that a load takes from a register for unaligned loads: finds a store before these came into it, with nothing in
// between, or since then.
void CheckHead(VectorState& state, const RegUnalign& unalign, const VectorState::Touched& head);
// Finds the loads and the store that may come after the last store instead of before.
void NoteStore(VectorState& state, const RegAfter& after);
// A finding: nothing writes these bytes, which StoreUnAlign has held back.
void LostBytes(Core& core, const VectorState::Held& held);
void FindDisorder(VectorState& state, const VectorState::Touched& now, const char* does,
                  const VectorState::Touched& before, const char* did, std::string detail,
                  std::string advice);
// Tells of the bytes, and says which are undefined: of all `bytes`, those behind the buffer too.
void TellLoad(VectorState& state, const Spot& place, uint64_t bytes, HeldLanes* held,
              uint32_t site);
// Bytes of UB from there on; in `temp` where UB ends before.
const uint8_t* BytesAt(const VectorState& state, const Spot& place, uint64_t bytes, uint8_t* temp);
// Block by block, from spotOf(block); those of which the mask has no byte become 0.
template <typename SpotOf>
void LoadBlocks(VectorState& state, Reg* dst, const RegMask& mask, SpotOf&& spotOf) {
  uint8_t shadow[kRegBytes] = {};
  const uint32_t site = state.observed ? state.core->CaptureSite() : 0;
  VectorState::Touched load;
  SetTouched(state, &load, UINT64_MAX, 0, dst, nullptr, site);
  load.width = kBlock;
  bool undefined = false;
  uint32_t origin = 0;
  for (size_t i = 0; i < kRegBytes / kBlock; ++i) {
    const size_t at = i * kBlock;
    uint32_t any = 0;
    std::memcpy(&any, reinterpret_cast<const uint8_t*>(mask.bits) + at / 8, sizeof(any));
    if (any == 0) {
      std::memset(dst->bytes + at, 0, kBlock);
      continue;
    }
    const Spot block = spotOf(i);
    if (state.observed) {
      HeldLanes held;
      TellLoad(state, block, kBlock, &held, site);
      load.begin = std::min(load.begin, block.offset);
      load.end = std::max(load.end, block.offset + kBlock);
      load.spots.push_back(block.offset);
      if (held.undefined) {
        std::memcpy(shadow + at, held.shadow, kBlock);
        undefined = true;
        origin = held.origin;
      }
    }
    std::memcpy(dst->bytes + at, block.ub.addr, kBlock);
  }
  if (state.observed) {
    Settle(dst, undefined, shadow, origin);
    state.loads[(state.lastLoad + 1) % state.loads.size()] = std::move(load);
    NoteLoad(state, &dst->after);
  }
}

// Lanes are to be written of `width` bytes one after another, all of them or those whose bit is set.
struct StoredLanes {
  alignas(64) uint8_t bytes[2 * kRegBytes];
  const uint8_t* source = bytes;
  size_t width = 1;
  size_t lanes = 0;
  bool all = true;
  uint8_t set[32] = {};

  bool Has(size_t lane) const { return all || ((set[lane / 8] >> (lane % 8)) & 1) != 0; }
  // The lanes are cut down to those up to the last that is set; whether all of these are.
  void Trim() {
    if (all) {
      return;
    }
    while (lanes > 0 && !Has(lanes - 1)) {
      --lanes;
    }
    size_t lane = 0;
    while (lane < lanes && Has(lane)) {
      ++lane;
    }
    all = lane == lanes;
  }
};

// The shadow of what a store writes, its lanes one after another as the access has them.
void HoldStore(HeldLanes* held, const uint8_t* shadow, const StoredLanes& out);
// after: what its registers wait for, with mask and indices.
void WriteLanes(VectorState& state, const Spot& place, const StoredLanes& out, HeldLanes* held,
                const RegAfter& after, const void* reg0, const void* reg1 = nullptr);

}  // namespace aclsim

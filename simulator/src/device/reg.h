// SPDX-License-Identifier: Apache-2.0
// A vector function under way: what its loads, stores and instructions on registers share.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "device/lanes.h"
#include "engine/core.h"

namespace aclsim {

struct VectorState {
  Core* core = nullptr;   // null outside of vector functions
  bool called = false;    // asc_vf_call has begun it, and its __simd_vf__ function has not entered
  bool observed = false;  // registers say what of them is undefined
  VectorTimer* timer = nullptr;  // null when nobody times
  uint32_t number = 0;
  uint32_t site = 0;
  uint32_t squeezed = 0;       // bytes, of the last Squeeze that stores them
  bool squeezedWaits = false;  // for the StoreUnAlign that takes them

  // Buffers that addresses were in last.
  struct Range {
    uint64_t begin = 0, end = 0;
    uint32_t buf = 0;
    uint16_t generation = 0;
    bool given = true;  // no other buffer is that of an argument
  };
  std::array<Range, 4> ranges;
  uint32_t nextRange = 0;
  // Addresses among its arguments; none where they cannot be known.
  std::vector<const void*> arguments;

  // Registers and lanes of a store or load. Lanes are one after another from `begin`, all of them or those whose bit is set; or, of
  // indices, wherever `spots` say.
  struct Touched {
    uint64_t begin = 0, end = 0;
    std::array<const void*, 2> regs = {};
    uint32_t site = 0;
    const char* name = "";
    uint32_t width = 0;  // of a lane; 0: all bytes
    std::array<uint8_t, 32> set = {};
    std::vector<uint64_t> spots;

    bool Uses(const Touched& other) const {
      return std::any_of(regs.begin(), regs.end(), [&](const void* reg) {
        return reg != nullptr && (reg == other.regs[0] || reg == other.regs[1]);
      });
    }
    bool Has(uint64_t first, uint64_t last) const;  // a byte of these
    bool Overlaps(const Touched& other) const;
  };
  // Stores since the function began, bounds of what they write, and by block of UB the last one: as its index here plus 1, counted
  // on from those of the functions before.
  std::vector<Touched> stores;
  uint64_t storesBegin = UINT64_MAX, storesEnd = 0;
  std::vector<uint64_t> storedLast;
  uint64_t storesBefore = 0;
  size_t ordered = 0;        // so many of them are complete for the loads that follow,
  size_t storesOrdered = 0;  // and for the stores that follow
  uint32_t beforeLoads = 0;  // the most that were complete before a load
  // The last loads, by their number; all up to loadsOrdered are complete for the stores that follow.
  std::array<Touched, 64> loads;
  uint64_t lastLoad = 0;
  std::vector<uint64_t> loadedLast;  // by block of UB
  uint64_t loadsOrdered = 0;
  size_t scalarStores = 0;  // those that are complete for scalar loads and stores
  uint64_t scalarLoads = 0;
  RegAfter stored;        // what all stores have waited for
  RegAfter beforeStores;  // what was complete before the stores that follow,
  RegAfter beforeLoad;    // and before the loads

  // Bytes that StoreUnAlign holds back.
  struct Held {
    const RegUnalign* unalign;
    uint64_t begin;
    uint32_t bytes;
    uint32_t site;
  };
  std::vector<Held> heldBack;
};

// Each thread has one after its first vector function. A pointer, as all of a library's initial-exec variables have to fit in what
// the dynamic loader keeps free for libraries that come late.
extern thread_local VectorState* vectorState
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
VectorState& ThreadVectorState();

[[noreturn]] void OutsideOfFunction(const char* name);
[[noreturn]] void RegisterDType(const char* name, DType dtype);

// At the start of each instruction.
inline VectorState& InFunction(const char* name) {
  VectorState* const state = vectorState;
  if (state == nullptr || state->core == nullptr) [[unlikely]] {
    OutsideOfFunction(name);
  }
  state->core->instruction = name;
  return *state;
}

constexpr DType OfWidth(size_t width) {
  return width == 1   ? DType::kUint8
         : width == 2 ? DType::kUint16
         : width == 4 ? DType::kUint32
                      : DType::kUint64;
}

// Both were waited for.
inline void Join(RegAfter* all, const RegAfter& one) {
  all->cycle = std::max(all->cycle, one.cycle);
  all->stores = std::max(all->stores, one.stores);
  const auto older = [](const RegAfter& from, uint64_t last) {
    return last - from.lastLoad < 64 ? from.loads << (last - from.lastLoad) : 0;
  };
  const uint64_t last = std::max(all->lastLoad, one.lastLoad);
  all->loads = older(*all, last) | older(one, last);
  all->lastLoad = last;
}
inline bool WaitsFor(const RegAfter& after, uint64_t load) {
  return load <= after.lastLoad &&
         (after.lastLoad - load >= 64 || ((after.loads >> (after.lastLoad - load)) & 1) != 0);
}

// The running instruction, before it changes a register: what its result waits for. Registers that an earlier vector function has set
// are forgotten, as no register lives longer than its function.
template <typename... Sources>
RegAfter Timed(VectorState& state, DType dtype, const Sources&... sources) {
  RegAfter after;
  after.function = state.number;
  if (!state.observed && state.timer == nullptr) {
    return after;
  }
  [[maybe_unused]] const auto join = [&](const auto& source) {
    if (source.after.function == state.number) [[likely]] {
      Join(&after, source.after);
    } else if constexpr (!std::is_same_v<std::decay_t<decltype(source)>, RegUnalign>) {
      const_cast<std::decay_t<decltype(source)>&>(source).state = Reg::kNever;
    }
  };
  (join(sources), ...);
  if (state.timer != nullptr) {
    after.cycle = state.timer->Issue(state.core->instruction, dtype, after.cycle,
                                     state.core->sites.Capture());
  }
  return after;
}

// --- masks ------------------------------------------------------------------------------------------------------------

// Bits that lanes of a width have.
constexpr uint64_t LaneBit(size_t width) {
  return width == 1   ? ~uint64_t{0}
         : width == 2 ? 0x5555555555555555
         : width == 4 ? 0x1111111111111111
                      : 0x0101010101010101;
}
inline bool IsFull(const RegMask& mask, size_t width) {
  const uint64_t lanes = LaneBit(width);
  return ((mask.bits[0] & mask.bits[1] & mask.bits[2] & mask.bits[3]) & lanes) == lanes;
}
inline bool Works(const RegMask& mask, size_t width, size_t lane) {
  const size_t bit = lane * width;
  return (mask.bits[bit / 64] >> (bit % 64)) & 1;
}
// The mask with a bit per lane, in 32 bytes.
void PackLanes(const uint64_t* bits, size_t width, uint8_t* packed);
// The other way round.
void SpreadLanes(const uint8_t* packed, size_t width, uint64_t* bits);
// Lanes of `from` where the mask is set; elsewhere 0, or what dst holds.
void Blend(uint8_t* dst, const RegMask& mask, size_t width, const uint8_t* from, bool merge);
// body(bytes) makes all lanes; those of the mask are kept.
template <typename Body>
void Masked(Reg* dst, const RegMask& mask, size_t width, bool merge, bool readsDst, Body&& body) {
  if (IsFull(mask, width)) [[likely]] {
    body(dst->bytes);
    return;
  }
  alignas(64) uint8_t temp[kRegBytes];
  if (readsDst) {
    std::memcpy(temp, dst->bytes, kRegBytes);
  }
  body(temp);
  Blend(dst->bytes, mask, width, temp, merge);
}
// One element in all lanes.
void FillRegister(uint8_t* dst, uint64_t value, size_t width);

// --- undefined lanes --------------------------------------------------------------------------------------------------

inline bool IsClean(const Reg& reg) { return reg.state == Reg::kWritten; }
inline bool IsClean(const RegMask& mask) { return mask.state == Reg::kWritten; }
// Returns the bit of the lane at a byte. Masks that are defined do not keep their undefined bits up.
inline bool UndefinedAt(const RegMask& mask, size_t byte) {
  return !IsClean(mask) && ((mask.undefined[byte / 64] >> (byte % 64)) & 1) != 0;
}
inline bool AnyUndefined(const uint8_t* shadow, size_t n) {
  return std::any_of(shadow, shadow + n, [](uint8_t byte) { return byte != 0; });
}
// A mask that nothing has written selects all lanes, with undefined results.
void SelectAll(const RegMask& mask);
inline void SettleMask(const VectorState& state, const RegMask& mask) {
  if (state.observed && mask.state == Reg::kNever) [[unlikely]] {
    SelectAll(mask);
  }
}
// The shadow of a register as bytes, in its own place or in `temp`.
const uint8_t* ShadowOf(const Reg& reg, uint8_t* temp);
// The origin of what is undefined in it.
uint32_t OriginOf(const VectorState& state, const Reg& reg);
// After its shadow was written.
void SettleShadow(Reg* reg, uint32_t origin);
// The shadow that an instruction has made, if anything in it is undefined.
inline void Settle(Reg* reg, bool undefined, const uint8_t* shadow, uint32_t origin) {
  if (undefined) {
    std::memcpy(reg->shadow, shadow, kRegBytes);
    SettleShadow(reg, origin);
  } else {
    reg->state = Reg::kWritten;
  }
}

// Lane i of dst is made of lane i of every source, where the mask is set.
void TrackSlowly(const VectorState& state, Reg* dst, std::initializer_list<const Reg*> sources,
                 const RegMask* mask, size_t width, bool merge);
inline void Track(const VectorState& state, Reg* dst, std::initializer_list<const Reg*> sources,
                  const RegMask* mask, size_t width, bool merge) {
  if (!state.observed) {
    return;
  }
  bool clean = mask == nullptr || (IsClean(*mask) && (!merge || IsClean(*dst)));
  for (const Reg* source : sources) {
    clean = clean && IsClean(*source);
  }
  if (clean) [[likely]] {
    dst->state = Reg::kWritten;
    return;
  }
  TrackSlowly(state, dst, sources, mask, width, merge);
}
// Bytes move: move(to, from...) does it on shadows as on bytes.
template <typename Move>
void TrackMove(const VectorState& state, std::initializer_list<Reg*> dst,
               std::initializer_list<const Reg*> sources, Move&& move) {
  if (!state.observed) {
    return;
  }
  bool clean = true;
  uint32_t origin = 0;
  for (const Reg* source : sources) {
    if (!IsClean(*source)) {
      clean = false;
      origin = OriginOf(state, *source);
    }
  }
  if (clean) [[likely]] {
    for (Reg* reg : dst) {
      reg->state = Reg::kWritten;
    }
    return;
  }
  move();
  for (Reg* reg : dst) {
    SettleShadow(reg, origin);
  }
}

}  // namespace aclsim

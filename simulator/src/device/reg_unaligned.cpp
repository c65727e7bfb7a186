// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vector functions at any byte of UB.
#include <algorithm>

#include "device/reg_memory.h"

namespace aclsim {

namespace {

uint64_t BlockOf(uint64_t offset) { return offset / kBlock * kBlock; }

// A register of an earlier vector function holds nothing.
void Forget(const VectorState& state, RegUnalign* unalign) {
  if (unalign->after.function != 0 && unalign->after.function != state.number) {
    *unalign = {};
  }
}

// The block at an offset of UB, which comes into the register; `from` is an address of the same buffer.
void Fill(const VectorState& state, RegUnalign* unalign, Spot from, uint64_t block) {
  alignas(64) uint8_t temp[kBlock];
  from.ub.addr = state.core->ub + block;
  from.offset = block;
  unalign->at = from.ub.addr;
  std::memcpy(unalign->data, BytesAt(state, from, kBlock, temp), kBlock);
  unalign->filled = static_cast<uint32_t>(state.stores.size());
  unalign->ordered = static_cast<uint32_t>(state.ordered);
}

}  // namespace

void RegLoadUnalignedBegin(RegUnalign* unalign, const void* src) try {
  VectorState& state = InFunction("LoadUnAlignPre");
  const Spot place = FindSpot(state, src);
  Forget(state, unalign);
  unalign->after = Timed(state, DType::kUint8);
  Fill(state, unalign, place, BlockOf(place.offset));
  if (state.observed && place.offset % kBlock != 0) {
    // The order of the load that takes the bytes is checked there.
    NextLoad(state, place.offset, BlockOf(place.offset) + kBlock, unalign, nullptr,
             state.core->CaptureSite());
    NoteLoad(state, &unalign->after, false);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegLoadUnaligned(Reg* dst, RegUnalign* unalign, const void* src) try {
  VectorState& state = InFunction("LoadUnAlign");
  Forget(state, unalign);
  const Spot place = FindSpot(state, src);
  const auto head = static_cast<uint32_t>((kBlock - place.offset % kBlock) % kBlock);
  if (unalign->at == nullptr) {
    PassFault("unaligned-register", "LoadUnAlign without LoadUnAlignPre",
              "Hardware takes the bytes before the first whole block from whatever the register "
              "for them holds. Call LoadUnAlignPre first.",
              "loaded all the same");
    Fill(state, unalign, place, BlockOf(place.offset));
  } else if (head != 0 && state.core->UbOffset(unalign->at) != BlockOf(place.offset)) {
    PassFault("unaligned-register",
              Format("LoadUnAlign from UB byte %llu takes its first %u B from the register for "
                     "unaligned loads, which holds those of bytes [%llu, %llu)",
                     static_cast<unsigned long long>(place.offset), head,
                     static_cast<unsigned long long>(state.core->UbOffset(unalign->at)),
                     static_cast<unsigned long long>(state.core->UbOffset(unalign->at) + kBlock)),
              "Hardware puts wrong bytes in front. Only the address 256 B further follows without "
              "LoadUnAlignPre: call it before the load wherever else the address jumps.",
              "loaded with the bytes that the register holds");
  }
  dst->after = Timed(state, DType::kUint8, *unalign);
  alignas(64) uint8_t temp[kRegBytes];
  if (state.observed) {
    HeldLanes held;
    const uint32_t site = state.core->CaptureSite();
    TellLoad(state, place, kRegBytes, &held, site);
    Settle(dst, held.undefined, held.shadow, held.origin);
    if (head != 0) {
      CheckHead(state, *unalign,
                NextLoad(state, place.offset, place.offset + head, dst, unalign, site));
    }
    NextLoad(state, place.offset + head, place.offset + kRegBytes, dst, unalign, site);
    NoteLoad(state, &dst->after);
  }
  std::memcpy(dst->bytes, BytesAt(state, place, kRegBytes, temp), kRegBytes);
  std::memcpy(dst->bytes, unalign->data + (kBlock - head) % kBlock, head);
  unalign->after = dst->after;
  // The last of the blocks that were loaded.
  Fill(state, unalign, place, BlockOf(place.offset + kRegBytes - (head == 0 ? 1 : 0)));
}
ACLSIM_SKIPS_FAULTS()

namespace {

// Nothing more is held back.
void Drop(VectorState& state, const RegUnalign* unalign) {
  std::erase_if(state.heldBack,
                [&](const VectorState::Held& held) { return held.unalign == unalign; });
}

// The place of bytes in the buffer that the stores have begun in.
Spot SpotOf(const VectorState& state, const RegUnalign& unalign, uint8_t* at) {
  const BufferInfo& info = state.core->Info(unalign.buf);
  return {{at, unalign.buf, DType::kUint8, info.generation},
          state.core->UbOffset(at),
          uint64_t{info.offset} + info.bytes};
}

// Writes the bytes that are held back.
void Flush(VectorState& state, RegUnalign* unalign) {
  if (unalign->bytes == 0) {
    return;
  }
  StoredLanes out;
  out.lanes = unalign->bytes;
  std::memcpy(out.bytes, unalign->data, unalign->bytes);
  HeldLanes held;
  if (state.observed) {
    held.origin = unalign->origin;
    HoldStore(&held, unalign->shadow, out);
  }
  unalign->bytes = 0;
  Drop(state, unalign);
  WriteLanes(state, SpotOf(state, *unalign, unalign->at), out, &held, unalign->after, unalign);
}

// Says where the bytes of a store go. Stores that follow one another stay in the buffer of the first.
struct StorePlace {
  uint8_t* at;
  bool given;
};
StorePlace PlaceOf(VectorState& state, RegUnalign* unalign, uint8_t* dst) {
  if (unalign->buf != 0 && unalign->at + unalign->bytes == dst) {
    return {dst, true};
  }
  const Spot first = FindSpot(state, dst);
  if (unalign->buf != 0 && unalign->at + unalign->bytes == first.ub.addr) {
    return {first.ub.addr, true};
  }
  unalign->buf = unalign->bytes != 0 ? unalign->buf : first.ub.buf;
  return {first.ub.addr, first.given};
}

// Bytes held back for other places than those before `at` are written; those of a register that is gone are found to be lost.
void EndOthers(VectorState& state, RegUnalign* unalign, uint8_t* at) {
  if (unalign->bytes != 0 && unalign->at + unalign->bytes != at) {
    PassFault(
        "unaligned-register",
        Format("StoreUnAlign to UB byte %llu, while %u B for byte %llu are held back",
               static_cast<unsigned long long>(state.core->UbOffset(at)), unalign->bytes,
               static_cast<unsigned long long>(state.core->UbOffset(unalign->at))),
        "Hardware joins the two: wrong bytes. Call StoreUnAlignPost before the address jumps.",
        "what is held back is written first");
    Flush(state, unalign);
    unalign->buf = FindSpot(state, at).ub.buf;
  }
  // Another register at the same place in memory, as in a loop's body, is gone with what it held.
  for (const VectorState::Held& held : state.heldBack) {
    if (held.unalign == unalign && unalign->bytes == 0) {
      LostBytes(*state.core, held);
    }
  }
  Drop(state, unalign);
}

// All bytes that are known, in order: those held back and those of a register.
struct JoinedBytes {
  uint8_t data[kRegBytes + 32];
  uint8_t shadow[kRegBytes + 32];
  uint32_t total;
  bool undefined;

  JoinedBytes(const VectorState& state, RegUnalign* unalign, const Reg& src, uint32_t bytes)
      : total(unalign->bytes + bytes),
        undefined(state.observed && (!IsClean(src) || unalign->origin != 0)) {
    const uint32_t before = unalign->bytes;
    std::memcpy(data, unalign->data, before);
    std::memcpy(data + before, src.bytes, bytes);
    if (undefined) {
      uint8_t temp[kRegBytes];
      std::memcpy(shadow, unalign->shadow, before);
      std::memcpy(shadow + before, ShadowOf(src, temp), bytes);
      if (!IsClean(src)) {
        unalign->origin = OriginOf(state, src);
      }
    }
  }
  void Write(VectorState& state, const Spot& place, uint32_t bytes, const Reg* src,
             const RegUnalign* unalign) const {
    StoredLanes out;
    out.lanes = bytes;
    std::memcpy(out.bytes, data, bytes);
    HeldLanes held;
    if (undefined) {
      held.origin = unalign->origin;
      HoldStore(&held, shadow, out);
    }
    WriteLanes(state, place, out, &held, unalign->after, src, unalign);
  }
  // The bytes behind the last whole block stay.
  void Keep(uint32_t from, RegUnalign* unalign) const {
    unalign->bytes = total - from;
    std::memcpy(unalign->data, data + from, unalign->bytes);
    if (undefined) {
      std::memcpy(unalign->shadow, shadow + from, unalign->bytes);
    } else {
      std::memset(unalign->shadow, 0, unalign->bytes);
    }
  }
};

}  // namespace

void RegStoreUnaligned(void* dst, const Reg* src, RegUnalign* unalign, uint32_t bytes) try {
  VectorState& state = InFunction("StoreUnAlign");
  Forget(state, unalign);
  unalign->after = Timed(state, DType::kUint8, *src, *unalign);
  if (bytes > kRegBytes) {
    PassFault("unaligned-register", Format("%u B of a register of %d", bytes, kRegBytes),
              "Hardware writes one register. Lower the stride.", "the whole register is written");
    bytes = kRegBytes;
  }
  const auto [at, given] = PlaceOf(state, unalign, static_cast<uint8_t*>(dst));
  EndOthers(state, unalign, at);
  uint8_t* const begin = unalign->bytes != 0 ? unalign->at : at;
  const uint32_t total = unalign->bytes + bytes;
  Spot place = SpotOf(state, *unalign, begin);
  place.given = given;
  if (total > 0) {
    state.core->CheckUb(place.ub, 0, static_cast<int64_t>(total), "dst");
  }
  const JoinedBytes joined(state, unalign, *src, bytes);
  const auto over = static_cast<uint32_t>((place.offset + total) % kBlock);
  const uint32_t write = total - std::min(over, total);
  if (write > 0) {
    joined.Write(state, place, write, src, unalign);
  }
  unalign->at = begin + write;
  joined.Keep(write, unalign);
  if (unalign->bytes != 0 && state.observed) {
    state.heldBack.push_back(
        {unalign, place.offset + write, unalign->bytes, state.core->sites.Capture()});
  }
}
ACLSIM_SKIPS_FAULTS()

void RegStoreUnalignedEnd(RegUnalign* unalign, const void* dst) try {
  VectorState& state = InFunction("StoreUnAlignPost");
  Forget(state, unalign);
  unalign->after = Timed(state, DType::kUint8, *unalign);
  if (dst != nullptr && unalign->bytes != 0) {
    const Core& core = *state.core;
    const uint64_t end = core.UbOffset(unalign->at) + unalign->bytes;
    // The end may be that of UB, where no buffer is.
    const uint64_t offset = reinterpret_cast<uint64_t>(dst) - reinterpret_cast<uint64_t>(core.ub);
    if (offset != end && reinterpret_cast<uint64_t>(dst) != end) {
      PassFault(
          "unaligned-register",
          Format("StoreUnAlignPost at UB byte %llu, while %u B up to byte %llu are held back",
                 static_cast<unsigned long long>(offset), unalign->bytes,
                 static_cast<unsigned long long>(end)),
          "Hardware writes them to the block of the address: wrong bytes. Give the address that "
          "the last StoreUnAlign has moved to its end.",
          "what is held back is written where it belongs");
    }
  }
  Flush(state, unalign);
  unalign->origin = 0;
  unalign->buf = 0;
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

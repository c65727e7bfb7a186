// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vector functions at any byte of UB.
#include <algorithm>

#include "device/vf_memory.h"

namespace aclsim {

void RegLoadUnalignedBegin(RegUnalign* unalign, const void* src) try {
  VectorState& state = InFunction("LoadUnAlignPre");
  const Spot place = FindSpot(state, src);
  unalign->at = place.ub.addr;
  unalign->ready = Timed(state, DType::kUint8);
}
ACLSIM_SKIPS_FAULTS()

void RegLoadUnaligned(Reg* dst, RegUnalign* unalign, const void* src) try {
  VectorState& state = InFunction("LoadUnAlign");
  dst->ready = unalign->ready = Timed(state, DType::kUint8, *unalign);
  if (unalign->at == nullptr) {
    PassFault("unaligned-register", "LoadUnAlign without LoadUnAlignPre",
              "Hardware takes the bytes before the first whole block from whatever the register "
              "for them holds. Call LoadUnAlignPre first.",
              "loaded all the same");
  }
  const Spot place = FindSpot(state, src);
  alignas(64) uint8_t temp[kRegBytes];
  if (state.observed) {
    HeldLanes held;
    TellLoad(state, place, kRegBytes, &held, dst);
    Settle(dst, held.undefined, held.shadow, held.origin);
  }
  std::memcpy(dst->bytes, BytesAt(state, place, kRegBytes, temp), kRegBytes);
}
ACLSIM_SKIPS_FAULTS()

namespace {

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
  WriteLanes(state, FindSpot(state, unalign->at), out, &held, nullptr);
  unalign->bytes = 0;
}

}  // namespace

void RegStoreUnaligned(void* dst, const Reg* src, RegUnalign* unalign, uint32_t bytes) try {
  VectorState& state = InFunction("StoreUnAlign");
  unalign->ready = Timed(state, DType::kUint8, *src, *unalign);
  if (bytes > kRegBytes) {
    PassFault("unaligned-register", Format("%u B of a register of %d", bytes, kRegBytes),
              "Hardware writes one register. Lower the stride.", "the whole register is written");
    bytes = kRegBytes;
  }
  auto* const at = static_cast<uint8_t*>(dst);
  if (unalign->bytes != 0 && unalign->at + unalign->bytes != at) {
    PassFault(
        "unaligned-register",
        Format("StoreUnAlign to UB byte %llu, while %u B for byte %llu are held back",
               static_cast<unsigned long long>(state.core->UbOffset(at)), unalign->bytes,
               static_cast<unsigned long long>(state.core->UbOffset(unalign->at))),
        "Hardware joins the two: wrong bytes. Call StoreUnAlignPost before the address jumps.",
        "what is held back is written first");
    Flush(state, unalign);
  }
  // All that is known, in order; what lies behind the last whole block stays.
  uint8_t data[kRegBytes + 32];
  uint8_t shadow[kRegBytes + 32];
  const uint32_t before = unalign->bytes;
  uint8_t* const begin = before != 0 ? unalign->at : at;
  std::memcpy(data, unalign->data, before);
  std::memcpy(data + before, src->bytes, bytes);
  const bool undefined = state.observed && (!IsClean(*src) || unalign->origin != 0);
  if (undefined) {
    uint8_t temp[kRegBytes];
    std::memcpy(shadow, unalign->shadow, before);
    std::memcpy(shadow + before, ShadowOf(*src, temp), bytes);
    if (!IsClean(*src)) {
      unalign->origin = OriginOf(state, *src);
    }
  }
  const uint32_t total = before + bytes;
  const auto over = static_cast<uint32_t>((state.core->UbOffset(begin) + total) % kBlock);
  const uint32_t rest = std::min(over, total);
  const uint32_t write = total - rest;
  if (write > 0) {
    StoredLanes out;
    out.lanes = write;
    std::memcpy(out.bytes, data, write);
    HeldLanes held;
    if (undefined) {
      held.origin = unalign->origin;
      HoldStore(&held, shadow, out);
    }
    WriteLanes(state, FindSpot(state, begin), out, &held, src);
  }
  unalign->at = begin + write;
  unalign->bytes = rest;
  std::memcpy(unalign->data, data + write, rest);
  if (undefined) {
    std::memcpy(unalign->shadow, shadow + write, rest);
  } else {
    std::memset(unalign->shadow, 0, rest);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegStoreUnalignedEnd(RegUnalign* unalign) try {
  VectorState& state = InFunction("StoreUnAlignPost");
  unalign->ready = Timed(state, DType::kUint8, *unalign);
  Flush(state, unalign);
  unalign->origin = 0;
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// Elements and blocks of UB that the lanes of an index register pick.
#include <algorithm>

#include "device/reg_memory.h"

namespace aclsim {

namespace {

// Of a lane that is undefined: 0, so that its place in UB is not made up.
uint64_t IndexOf(const Reg& index, size_t width, size_t lane) {
  uint64_t value = 0;
  if (!vectorState->observed) {
    std::memcpy(&value, index.bytes + lane * width, width);
    return value;
  }
  if (index.state == Reg::kNever ||
      (index.state == Reg::kPartly && AnyUndefined(index.shadow + lane * width, width))) {
    return value;
  }
  std::memcpy(&value, index.bytes + lane * width, width);
  return value;
}

// Bounds of one element that data has picked.
void CheckElement(const Spot& place, uint64_t index, size_t width, const char* role) {
  if (place.offset + (index + 1) * width > place.end) [[unlikely]] {
    ThrowFault(
        kUbOutOfBounds,
        Format("%s: index %llu is element %llu of a buffer that has %llu from there on", role,
               static_cast<unsigned long long>(index), static_cast<unsigned long long>(index),
               static_cast<unsigned long long>((place.end - place.offset) / width)),
        "Hardware reads or overwrites the neighbouring buffer. Check the index register.");
  }
}

}  // namespace

void RegGatherUb(Reg* dst, const void* base, const Reg* index, uint8_t width, uint8_t indexWidth,
                 const RegMask& mask) try {
  VectorState& state = InFunction("Gather");
  dst->after = Timed(state, OfWidth(width), *index, mask);
  const Spot place = FindSpot(state, base);
  const size_t lane = std::max<size_t>(width, 2);
  alignas(64) uint8_t result[kRegBytes] = {};
  uint8_t shadow[kRegBytes] = {};
  uint32_t origin = 0;
  bool undefined = false;
  SettleMask(state, mask);
  if (state.observed && !IsClean(*index)) {
    undefined = true;
    origin = OriginOf(state, *index);
    uint8_t temp[kRegBytes];
    const uint8_t* const of = ShadowOf(*index, temp);
    for (size_t i = 0; i < kRegBytes / lane; ++i) {
      if (Works(mask, lane, i) && of[i * indexWidth] != 0) {
        std::memset(shadow + i * lane, 0xFF, lane);
      }
    }
  }
  uint64_t first = UINT64_MAX, last = 0;
  for (size_t i = 0; i < kRegBytes / lane; ++i) {
    if (!Works(mask, lane, i)) {
      continue;
    }
    const uint64_t at = IndexOf(*index, indexWidth, i);
    CheckElement(place, at, width, "Gather");
    std::memcpy(result + i * lane, place.ub.addr + at * width, width);
    first = std::min(first, at * width);
    last = std::max(last, (at + 1) * width);
  }
  if (state.observed && last > 0) {
    Core& core = *state.core;
    for (size_t i = 0; i < kRegBytes / lane; i += 8) {
      HeldLanes held;
      size_t lanes[8], count = 0;
      for (size_t j = i; j < i + 8; ++j) {
        if (Works(mask, lane, j)) {
          lanes[count++] = j;
        }
      }
      if (count == 0) {
        continue;
      }
      core.Tell(Pipe::kVector, [&](Record& record) {
        record.flow = Flow::kRegisters;
        record.vectorFunction = state.number;
        record.held = &held;
        for (size_t j = 0; j < count; ++j) {
          record.Add(DenseAccess(Use::kRead,
                                 place.offset + IndexOf(*index, indexWidth, lanes[j]) * width,
                                 width, place.ub.buf));
        }
      });
      if (held.undefined) {
        undefined = true;
        origin = held.origin;
        for (size_t j = 0; j < count; ++j) {
          if (AnyUndefined(held.shadow + j * width, width)) {
            std::memset(shadow + lanes[j] * lane, 0xFF, lane);
          }
        }
      }
    }
    VectorState::Touched& load = NextLoad(state, place.offset + first, place.offset + last, dst,
                                          nullptr, core.CaptureSite());
    load.width = width;
    for (size_t i = 0; i < kRegBytes / lane; ++i) {
      if (Works(mask, lane, i)) {
        load.spots.push_back(place.offset + IndexOf(*index, indexWidth, i) * width);
      }
    }
    NoteLoad(state, &dst->after);
  }
  std::memcpy(dst->bytes, result, kRegBytes);
  if (state.observed) {
    Settle(dst, undefined, shadow, origin);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegGatherBlocks(Reg* dst, const void* base, const Reg* index, const RegMask& mask) try {
  VectorState& state = InFunction("GatherB");
  dst->after = Timed(state, DType::kUint8, *index, mask);
  SettleMask(state, mask);
  const Spot place = FindSpot(state, base);
  state.core->CheckUbAlign(place.ub, kBlock, "base");
  LoadBlocks(state, dst, mask, [&](size_t i) {
    const Spot block = FindSpot(state, place.ub.addr + IndexOf(*index, 4, i));
    state.core->CheckUbAlign(block.ub, kBlock, "block");
    return block;
  });
}
ACLSIM_SKIPS_FAULTS()

void RegScatterUb(void* base, const Reg* src, const Reg* index, uint8_t width, uint8_t indexWidth,
                  const RegMask& mask) try {
  VectorState& state = InFunction("Scatter");
  const RegAfter after = Timed(state, OfWidth(width), *src, *index, mask);
  const Spot place = FindSpot(state, base);
  const size_t lane = std::max<size_t>(width, 2);
  uint8_t temp[kRegBytes];
  const uint8_t* shadow = nullptr;
  SettleMask(state, mask);
  uint32_t origin = 0;
  if (state.observed && (!IsClean(*src) || !IsClean(*index) || !IsClean(mask))) {
    shadow = ShadowOf(*src, temp);
    origin = !IsClean(*src)     ? OriginOf(state, *src)
             : !IsClean(*index) ? OriginOf(state, *index)
                                : mask.origin;
    uint8_t temp1[kRegBytes], all[kRegBytes];
    const uint8_t* const of = ShadowOf(*index, temp1);
    for (size_t i = 0; i < kRegBytes; ++i) {
      const bool undefined = of[i / lane * indexWidth] != 0 || UndefinedAt(mask, i / lane * lane);
      all[i] = undefined ? 0xFF : shadow[i];
    }
    std::memcpy(temp, all, kRegBytes);
    shadow = temp;
  }
  for (size_t i = 0; i < kRegBytes / lane; ++i) {
    if (!Works(mask, lane, i)) {
      continue;
    }
    const uint64_t at = IndexOf(*index, indexWidth, i);
    CheckElement(place, at, width, "Scatter");
    StoredLanes out;
    out.width = width;
    out.lanes = 1;
    std::memcpy(out.bytes, src->bytes + i * lane, width);
    HeldLanes held;
    if (shadow != nullptr) {
      held.origin = origin;
      HoldStore(&held, shadow + i * lane, out);
    }
    Spot element = place;
    element.offset += at * width;
    element.ub.addr += at * width;
    WriteLanes(state, element, out, &held, after, src);
  }
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

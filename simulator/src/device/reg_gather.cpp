// SPDX-License-Identifier: Apache-2.0
// Elements and blocks of UB that the lanes of an index register pick.
#include <algorithm>

#include "device/reg_memory.h"

namespace aclsim {

namespace {

// The index of a lane that is undefined is 0, so that its place in UB is not made up.
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

// One call of Gather: what its lanes read, and which of them are undefined.
struct GatherCall {
  VectorState& state;
  const Reg& index;
  const RegMask& mask;
  Spot place;
  uint8_t width, indexWidth;
  size_t lane;                            // bytes of a lane of the result
  uint64_t first = UINT64_MAX, last = 0;  // of the bytes that it reads, from `place` on
  uint8_t shadow[kRegBytes] = {};
  uint32_t origin = 0;
  bool undefined = false;

  bool Works(size_t i) const { return aclsim::Works(mask, lane, i); }
  uint64_t At(size_t i) const { return IndexOf(index, indexWidth, i) * width; }

  void MarkUndefinedIndices() {
    if (!state.observed || IsClean(index)) {
      return;
    }
    undefined = true;
    origin = OriginOf(state, index);
    uint8_t temp[kRegBytes];
    const uint8_t* const of = ShadowOf(index, temp);
    for (size_t i = 0; i < kRegBytes / lane; ++i) {
      if (Works(i) && of[i * indexWidth] != 0) {
        std::memset(shadow + i * lane, 0xFF, lane);
      }
    }
  }
  void Read(uint8_t* result) {
    for (size_t i = 0; i < kRegBytes / lane; ++i) {
      if (!Works(i)) {
        continue;
      }
      const uint64_t at = IndexOf(index, indexWidth, i);
      CheckElement(place, at, width, "Gather");
      std::memcpy(result + i * lane, place.ub.addr + at * width, width);
      first = std::min(first, at * width);
      last = std::max(last, (at + 1) * width);
    }
  }
  // Eight lanes are told of at a time, as many as a record has accesses.
  void Tell() {
    for (size_t i = 0; i < kRegBytes / lane; i += 8) {
      size_t lanes[8], count = 0;
      for (size_t j = i; j < i + 8; ++j) {
        if (Works(j)) {
          lanes[count++] = j;
        }
      }
      if (count != 0) {
        Tell(lanes, count);
      }
    }
  }
  void Tell(const size_t* lanes, size_t count) {
    HeldLanes held;
    state.core->Tell(Pipe::kVector, [&](Record& record) {
      record.flow = Flow::kRegisters;
      record.vectorFunction = state.number;
      record.held = &held;
      for (size_t j = 0; j < count; ++j) {
        record.Add(DenseAccess(Use::kRead, place.offset + At(lanes[j]), width, place.ub.buf));
      }
    });
    if (!held.undefined) {
      return;
    }
    undefined = true;
    origin = held.origin;
    for (size_t j = 0; j < count; ++j) {
      if (AnyUndefined(held.shadow + j * width, width)) {
        std::memset(shadow + lanes[j] * lane, 0xFF, lane);
      }
    }
  }
  void Note(Reg* dst) const {
    VectorState::Touched& load = NextLoad(state, place.offset + first, place.offset + last, dst,
                                          nullptr, state.core->CaptureSite());
    load.width = width;
    for (size_t i = 0; i < kRegBytes / lane; ++i) {
      if (Works(i)) {
        load.spots.push_back(place.offset + At(i));
      }
    }
    NoteLoad(state, &dst->after);
  }
};

}  // namespace

void RegGatherUb(Reg* dst, const void* base, const Reg* index, uint8_t width, uint8_t indexWidth,
                 const RegMask& mask) try {
  VectorState& state = InFunction("Gather");
  dst->after = Timed(state, OfWidth(width), *index, mask);
  GatherCall call{
      state, *index, mask, FindSpot(state, base), width, indexWidth, std::max<size_t>(width, 2)};
  SettleMask(state, mask);
  call.MarkUndefinedIndices();
  alignas(64) uint8_t result[kRegBytes] = {};
  call.Read(result);
  if (state.observed && call.last > 0) {
    call.Tell();
    call.Note(dst);
  }
  std::memcpy(dst->bytes, result, kRegBytes);
  if (state.observed) {
    Settle(dst, call.undefined, call.shadow, call.origin);
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

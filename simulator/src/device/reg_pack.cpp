// SPDX-License-Identifier: Apache-2.0
// Lanes of vector registers that change their places: packed, interleaved, squeezed together, gathered.
#include "device/reg.h"
#include "device/vec.h"

namespace aclsim {

namespace {

void PackBytes(uint8_t* dst, const uint8_t* src, size_t width, bool high) {
  uint8_t out[kRegBytes] = {};
  const size_t narrow = width / 2;
  uint8_t* const to = out + (high ? kRegBytes / 2 : 0);
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(to + i * narrow, src + i * width, narrow);
  }
  std::memcpy(dst, out, kRegBytes);
}
void UnpackBytes(uint8_t* dst, const uint8_t* src, size_t width, bool high, bool extend) {
  uint8_t out[kRegBytes] = {};
  const size_t narrow = width / 2;
  const uint8_t* const from = src + (high ? kRegBytes / 2 : 0);
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(out + i * width, from + i * narrow, narrow);
    if (extend && (from[(i + 1) * narrow - 1] & 0x80) != 0) {
      std::memset(out + i * width + narrow, 0xFF, narrow);
    }
  }
  std::memcpy(dst, out, kRegBytes);
}
void InterleaveBytes(uint8_t* dst0, uint8_t* dst1, const uint8_t* a, const uint8_t* b,
                     size_t width) {
  uint8_t out[2 * kRegBytes];
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(out + 2 * i * width, a + i * width, width);
    std::memcpy(out + (2 * i + 1) * width, b + i * width, width);
  }
  std::memcpy(dst0, out, kRegBytes);
  std::memcpy(dst1, out + kRegBytes, kRegBytes);
}
void DeinterleaveBytes(uint8_t* dst0, uint8_t* dst1, const uint8_t* a, const uint8_t* b,
                       size_t width) {
  uint8_t in[2 * kRegBytes];
  std::memcpy(in, a, kRegBytes);
  std::memcpy(in + kRegBytes, b, kRegBytes);
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(dst0 + i * width, in + 2 * i * width, width);
    std::memcpy(dst1 + i * width, in + (2 * i + 1) * width, width);
  }
}

}  // namespace

void RegPack(uint8_t width, Reg* dst, const Reg* src, bool high) try {
  VectorState& state = InFunction("Pack");
  dst->after = Timed(state, OfWidth(width), *src);
  TrackMove(state, {dst}, {src}, [&] {
    uint8_t temp[kRegBytes];
    PackBytes(dst->shadow, ShadowOf(*src, temp), width, high);
  });
  PackBytes(dst->bytes, src->bytes, width, high);
}
ACLSIM_SKIPS_FAULTS()

void RegUnpack(uint8_t width, bool isSigned, Reg* dst, const Reg* src, bool high) try {
  VectorState& state = InFunction("UnPack");
  dst->after = Timed(state, OfWidth(width), *src);
  TrackMove(state, {dst}, {src}, [&] {
    uint8_t temp[kRegBytes];
    UnpackBytes(dst->shadow, ShadowOf(*src, temp), width, high, isSigned);
  });
  UnpackBytes(dst->bytes, src->bytes, width, high, isSigned);
}
ACLSIM_SKIPS_FAULTS()

void RegInterleave(uint8_t width, Reg* dst0, Reg* dst1, const Reg* a, const Reg* b) try {
  VectorState& state = InFunction("Interleave");
  dst0->after = dst1->after = Timed(state, OfWidth(width), *a, *b);
  TrackMove(state, {dst0, dst1}, {a, b}, [&] {
    uint8_t temp0[kRegBytes], temp1[kRegBytes];
    InterleaveBytes(dst0->shadow, dst1->shadow, ShadowOf(*a, temp0), ShadowOf(*b, temp1), width);
  });
  InterleaveBytes(dst0->bytes, dst1->bytes, a->bytes, b->bytes, width);
}
ACLSIM_SKIPS_FAULTS()

void RegDeinterleave(uint8_t width, Reg* dst0, Reg* dst1, const Reg* a, const Reg* b) try {
  VectorState& state = InFunction("DeInterleave");
  dst0->after = dst1->after = Timed(state, OfWidth(width), *a, *b);
  TrackMove(state, {dst0, dst1}, {a, b}, [&] {
    uint8_t temp0[kRegBytes], temp1[kRegBytes];
    DeinterleaveBytes(dst0->shadow, dst1->shadow, ShadowOf(*a, temp0), ShadowOf(*b, temp1), width);
  });
  DeinterleaveBytes(dst0->bytes, dst1->bytes, a->bytes, b->bytes, width);
}
ACLSIM_SKIPS_FAULTS()

void RegSqueeze(uint8_t width, Reg* dst, const Reg* src, const RegMask& mask, bool store) try {
  VectorState& state = InFunction("Squeeze");
  dst->after = Timed(state, OfWidth(width), *src, mask);
  SettleMask(state, mask);
  const auto squeeze = [&](uint8_t* to, const uint8_t* from) {
    uint8_t out[kRegBytes] = {};
    size_t count = 0;
    for (size_t i = 0; i < kRegBytes / width; ++i) {
      if (Works(mask, width, i)) {
        std::memcpy(out + count++ * width, from + i * width, width);
      }
    }
    std::memcpy(to, out, kRegBytes);
    return count;
  };
  if (state.observed && !IsClean(mask)) {
    std::memset(dst->shadow, 0xFF, kRegBytes);
    SettleShadow(dst, mask.origin);
  } else {
    TrackMove(state, {dst}, {src}, [&] {
      uint8_t temp[kRegBytes];
      squeeze(dst->shadow, ShadowOf(*src, temp));
    });
  }
  const size_t count = squeeze(dst->bytes, src->bytes);
  if (store) {
    if (state.squeezedWaits) {
      PassFault("unaligned-register",
                Format("Squeeze stores a length, and no StoreUnAlign has taken the %u B of the "
                       "Squeeze before",
                       state.squeezed),
                "Hardware wants the two in turns: the lanes of the first are not written, or at a "
                "wrong place. Next: StoreUnAlign(dst, register, unalign) behind each Squeeze of "
                "STORE_REG, or NO_STORE_REG.",
                "the length of the first is forgotten");
    }
    state.squeezed = static_cast<uint32_t>(count * width);
    state.squeezedWaits = true;
  }
}
ACLSIM_SKIPS_FAULTS()

void RegUnsqueeze(uint8_t width, Reg* dst, const RegMask& mask) try {
  VectorState& state = InFunction("Unsqueeze");
  dst->after = Timed(state, OfWidth(width), mask);
  SettleMask(state, mask);
  uint64_t count = 0;
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(dst->bytes + i * width, &count, width);
    count += Works(mask, width, i) ? 1 : 0;
  }
  dst->state = Reg::kWritten;
  if (state.observed && !IsClean(mask)) {
    std::memset(dst->shadow, 0xFF, kRegBytes);
    SettleShadow(dst, mask.origin);
  }
}
ACLSIM_SKIPS_FAULTS()

uint32_t RegTakeSqueezed() try {
  VectorState& state = InFunction("StoreUnAlign");
  if (!state.squeezedWaits) {
    PassFault("unaligned-register",
              "StoreUnAlign takes its length from a Squeeze, and none has stored one since the "
              "last StoreUnAlign",
              "Hardware wants the two in turns. Next: Squeeze of GatherMaskMode::STORE_REG before "
              "it, or a StoreUnAlign with a length.",
              Format("with the %u B of the last one", state.squeezed).c_str());
  }
  state.squeezedWaits = false;
  return state.squeezed;
}
ACLSIM_SKIPS_FAULTS(0)

uint32_t RegSqueezedBytes() { return ThreadVectorState().squeezed; }
void RegClearSqueezed() { ThreadVectorState().squeezed = 0; }

void RegGatherLanes(uint8_t width, Reg* dst, const Reg* src, const Reg* index) try {
  VectorState& state = InFunction("Gather");
  dst->after = Timed(state, OfWidth(width), *src, *index);
  const size_t lanes = kRegBytes / width;
  const auto gather = [&](uint8_t* to, const uint8_t* from) {
    uint8_t out[kRegBytes];
    for (size_t i = 0; i < lanes; ++i) {
      uint64_t at = 0;
      std::memcpy(&at, index->bytes + i * width, width);
      std::memcpy(out + i * width, from + at % lanes * width, width);
    }
    std::memcpy(to, out, kRegBytes);
  };
  TrackMove(state, {dst}, {src, index}, [&] {
    uint8_t temp[kRegBytes], temp1[kRegBytes];
    gather(dst->shadow, ShadowOf(*src, temp));
    const uint8_t* const of = ShadowOf(*index, temp1);
    for (size_t i = 0; i < kRegBytes; ++i) {
      dst->shadow[i] |= of[i];
    }
  });
  gather(dst->bytes, src->bytes);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

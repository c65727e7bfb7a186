// SPDX-License-Identifier: Apache-2.0
// Aligned loads and stores of vector functions, of registers and of masks.
#include <algorithm>
#include <bit>

#include "device/reg_memory.h"

namespace aclsim {

namespace {

template <typename T>
void Unpack(uint8_t* dst, const uint8_t* src, size_t step) {
  std::memset(dst, 0, kRegBytes);
  for (size_t i = 0; i < kRegBytes / sizeof(T) / step; ++i) {
    std::memcpy(dst + i * step * sizeof(T), src + i * sizeof(T), sizeof(T));
  }
}
template <typename T>
void Arrange(RegLoad how, uint8_t* dst0, uint8_t* dst1, const uint8_t* src) {
  constexpr size_t kLanes = kRegBytes / sizeof(T);
  T in[2 * kLanes];
  T out[kLanes];
  switch (how) {
    case RegLoad::kNorm:
      std::memcpy(dst0, src, kRegBytes);
      return;
    case RegLoad::kBroadcast:
      std::memcpy(in, src, sizeof(T));
      std::fill(std::begin(out), std::end(out), in[0]);
      break;
    case RegLoad::kUpsample:
      std::memcpy(in, src, kRegBytes / 2);
      for (size_t i = 0; i < kLanes; ++i) {
        out[i] = in[i / 2];
      }
      break;
    case RegLoad::kDownsample:
      std::memcpy(in, src, sizeof(in));
      for (size_t i = 0; i < kLanes; ++i) {
        out[i] = in[2 * i];
      }
      break;
    case RegLoad::kUnpack:
      Unpack<T>(dst0, src, 2);
      return;
    case RegLoad::kUnpack4:
      Unpack<T>(dst0, src, 4);
      return;
    case RegLoad::kBlock:
      for (size_t i = 0; i < kRegBytes; i += kBlock) {
        std::memcpy(dst0 + i, src, kBlock);
      }
      return;
    case RegLoad::kElementToBlock:
      std::memcpy(in, src, 8 * sizeof(T));
      for (size_t i = 0; i < kLanes; ++i) {
        out[i] = in[i / (kBlock / sizeof(T))];
      }
      break;
    case RegLoad::kDeinterleave:
      std::memcpy(in, src, sizeof(in));
      for (size_t i = 0; i < kLanes; ++i) {
        out[i] = in[2 * i + 1];
      }
      std::memcpy(dst1, out, kRegBytes);
      for (size_t i = 0; i < kLanes; ++i) {
        out[i] = in[2 * i];
      }
      break;
  }
  std::memcpy(dst0, out, kRegBytes);
}
void Arrange(RegLoad how, size_t width, uint8_t* dst0, uint8_t* dst1, const uint8_t* src) {
  switch (width) {
    case 1:
      return Arrange<uint8_t>(how, dst0, dst1, src);
    case 2:
      return Arrange<uint16_t>(how, dst0, dst1, src);
    case 4:
      return Arrange<uint32_t>(how, dst0, dst1, src);
    default:
      return Arrange<uint64_t>(how, dst0, dst1, src);
  }
}

size_t BytesOf(RegLoad how, size_t width) {
  switch (how) {
    case RegLoad::kNorm:
      return kRegBytes;
    case RegLoad::kBroadcast:
      return width;
    case RegLoad::kUpsample:
    case RegLoad::kUnpack:
      return kRegBytes / 2;
    case RegLoad::kDownsample:
    case RegLoad::kDeinterleave:
      return 2 * kRegBytes;
    case RegLoad::kUnpack4:
      return kRegBytes / 4;
    case RegLoad::kBlock:
      return kBlock;
    default:
      return 8 * width;
  }
}
uint32_t AlignOf(RegLoad how, size_t width) {
  return how == RegLoad::kBroadcast        ? static_cast<uint32_t>(width)
         : how == RegLoad::kElementToBlock ? static_cast<uint32_t>(8 * width)
                                           : static_cast<uint32_t>(kBlock);
}

template <typename T>
void Arrange(RegStore how, uint8_t* dst, const uint8_t* src0, const uint8_t* src1) {
  constexpr size_t kLanes = kRegBytes / sizeof(T);
  switch (how) {
    case RegStore::kPack:
    case RegStore::kPack4: {
      const size_t part = sizeof(T) / (how == RegStore::kPack ? 2 : 4);
      for (size_t i = 0; i < kLanes; ++i) {
        std::memcpy(dst + i * part, src0 + i * sizeof(T), part);
      }
      return;
    }
    case RegStore::kInterleave:
      for (size_t i = 0; i < kLanes; ++i) {
        std::memcpy(dst + 2 * i * sizeof(T), src0 + i * sizeof(T), sizeof(T));
        std::memcpy(dst + (2 * i + 1) * sizeof(T), src1 + i * sizeof(T), sizeof(T));
      }
      return;
    default:
      std::memcpy(dst, src0, how == RegStore::kFirst ? sizeof(T) : kRegBytes);
  }
}
void Arrange(RegStore how, size_t width, uint8_t* dst, const uint8_t* src0, const uint8_t* src1) {
  switch (width) {
    case 1:
      return Arrange<uint8_t>(how, dst, src0, src1);
    case 2:
      if (how == RegStore::kPack) {
        for (size_t i = 0; i < kRegBytes / 2; ++i) {
          dst[i] = src0[2 * i];
        }
        return;
      }
      return Arrange<uint16_t>(how, dst, src0, src1);
    case 4:
      if (how == RegStore::kPack) {
        for (size_t i = 0; i < kRegBytes / 4; ++i) {
          std::memcpy(dst + 2 * i, src0 + 4 * i, 2);
        }
        return;
      }
      return Arrange<uint32_t>(how, dst, src0, src1);
    default:
      return Arrange<uint64_t>(how, dst, src0, src1);
  }
}

}  // namespace

void RegLoadAligned(Reg* dst0, Reg* dst1, const void* src, RegLoad how, uint8_t width) try {
  VectorState& state = InFunction("LoadAlign");
  const Spot place = FindSpot(state, src);
  state.core->CheckUbAlign(place.ub, AlignOf(how, width), "src");
  dst0->after = Timed(state, OfWidth(width));
  const size_t bytes = BytesOf(how, width);
  alignas(64) uint8_t temp[2 * kRegBytes];
  if (state.observed) {
    HeldLanes held;
    const uint32_t site = state.core->CaptureSite();
    TellLoad(state, place, bytes, &held, site);
    NextLoad(state, place.offset, place.offset + bytes, dst0, dst1, site);
    NoteLoad(state, &dst0->after);
    uint8_t shadow0[kRegBytes], shadow1[kRegBytes];
    if (held.undefined) {
      Arrange(how, width, shadow0, shadow1, held.shadow);
    }
    Settle(dst0, held.undefined, shadow0, held.origin);
    if (dst1 != nullptr) {
      Settle(dst1, held.undefined, shadow1, held.origin);
    }
  }
  if (dst1 != nullptr) {
    dst1->after = dst0->after;
  }
  Arrange(how, width, dst0->bytes, dst1 != nullptr ? dst1->bytes : nullptr,
          BytesAt(state, place, bytes, temp));
}
ACLSIM_SKIPS_FAULTS()

namespace {

// Returns which of the bytes that a store writes are undefined.
void HoldAligned(const VectorState& state, const Reg* src0, const Reg* src1, RegStore how,
                 uint8_t width, const RegMask& mask, const StoredLanes& out, HeldLanes* held) {
  const bool usesMask = how != RegStore::kFirst && how != RegStore::kInterleave;
  const Reg* const other = src1 != nullptr ? src1 : src0;
  if (IsClean(*src0) && IsClean(*other) && (!usesMask || IsClean(mask))) {
    return;
  }
  uint8_t temp0[kRegBytes], temp1[kRegBytes], shadow[2 * kRegBytes];
  Arrange(how, width, shadow, ShadowOf(*src0, temp0), ShadowOf(*other, temp1));
  held->origin = OriginOf(state, IsClean(*src0) ? *other : *src0);
  for (size_t lane = 0; usesMask && lane < kRegBytes / width; ++lane) {
    if (UndefinedAt(mask, lane * width)) {
      std::memset(shadow + lane * out.width, 0xFF, out.width);
      held->origin = held->origin != 0 ? held->origin : mask.origin;
    }
  }
  HoldStore(held, shadow, out);
}

}  // namespace

void RegStoreAligned(void* dst, const Reg* src0, const Reg* src1, RegStore how, uint8_t width,
                     const RegMask& mask) try {
  VectorState& state = InFunction("StoreAlign");
  const Spot place = FindSpot(state, dst);
  state.core->CheckUbAlign(place.ub,
                           how == RegStore::kFirst ? width : static_cast<uint32_t>(kBlock), "dst");
  const RegAfter after = src1 != nullptr ? Timed(state, OfWidth(width), *src0, *src1, mask)
                                         : Timed(state, OfWidth(width), *src0, mask);
  StoredLanes out;
  if (how == RegStore::kNorm) {
    out.source = src0->bytes;
  } else {
    Arrange(how, width, out.bytes, src0->bytes, src1 != nullptr ? src1->bytes : nullptr);
  }
  out.width = how == RegStore::kPack ? width / 2u : how == RegStore::kPack4 ? width / 4u : width;
  out.lanes = how == RegStore::kFirst ? 1 : kRegBytes / width;
  if (how == RegStore::kInterleave) {
    out.lanes *= 2;
  } else if (how != RegStore::kFirst) {
    SettleMask(state, mask);
    out.all = IsFull(mask, width);
    if (!out.all) {
      PackLanes(mask.bits, width, out.set);
      out.Trim();
    }
  }
  HeldLanes held;
  if (state.observed) {
    HoldAligned(state, src0, src1, how, width, mask, out, &held);
  }
  WriteLanes(state, place, out, &held, after, src0, src1);
}
ACLSIM_SKIPS_FAULTS()

// The costs of loads and stores of eight blocks, by how many of them are in one of UB's eight bank groups: 1, 2, 4, 8.
constexpr const char* kLoadNames[] = {"LoadAlign", "LoadBlocks2", "LoadBlocks4", "LoadBlocks8"};
constexpr const char* kStoreNames[] = {"StoreAlign", "StoreBlocks2", "StoreBlocks4",
                                       "StoreBlocks8"};
static size_t OfOneGroup(uint32_t stride) {
  constexpr int kMost = 3;
  return stride == 0 ? 0 : static_cast<size_t>(std::min(std::countr_zero(stride), kMost));
}

void RegLoadBlocks(Reg* dst, const void* src, uint32_t stride, const RegMask& mask) try {
  VectorState& state = InFunction("LoadAlign");
  const Spot place = FindSpot(state, src);
  state.core->CheckUbAlign(place.ub, kBlock, "src");
  const char*& timed = state.core->instruction;
  timed = kLoadNames[OfOneGroup(stride)];
  dst->after = Timed(state, DType::kUint8, mask);
  timed = kLoadNames[0];
  SettleMask(state, mask);
  LoadBlocks(state, dst, mask, [&](uint64_t i) {
    return FindSpot(state, place.ub.addr + i * stride * static_cast<uint64_t>(kBlock));
  });
}
ACLSIM_SKIPS_FAULTS()

void RegStoreBlocks(void* dst, const Reg* src, uint32_t stride, uint8_t width,
                    const RegMask& mask) try {
  VectorState& state = InFunction("StoreAlign");
  const Spot place = FindSpot(state, dst);
  state.core->CheckUbAlign(place.ub, kBlock, "dst");
  const char*& timed = state.core->instruction;
  timed = kStoreNames[OfOneGroup(stride)];
  const RegAfter after = Timed(state, OfWidth(width), *src, mask);
  timed = kStoreNames[0];
  SettleMask(state, mask);
  uint8_t temp[kRegBytes];
  const uint8_t* shadow = nullptr;
  uint32_t origin = 0;
  if (state.observed && (!IsClean(*src) || !IsClean(mask))) {
    shadow = ShadowOf(*src, temp);
    origin = IsClean(*src) ? mask.origin : OriginOf(state, *src);
    if (!IsClean(mask)) {
      uint8_t all[kRegBytes];
      for (size_t i = 0; i < kRegBytes; ++i) {
        all[i] = UndefinedAt(mask, i / width * width) ? 0xFF : shadow[i];
      }
      std::memcpy(temp, all, kRegBytes);
      shadow = temp;
    }
  }
  uint8_t packed[32];
  PackLanes(mask.bits, width, packed);
  const size_t lanes = static_cast<size_t>(kBlock) / width;
  for (size_t i = 0; i < kRegBytes / kBlock; ++i) {
    StoredLanes out;
    out.width = width;
    out.lanes = lanes;
    out.all = false;
    for (size_t lane = 0; lane < lanes; ++lane) {
      const size_t from = i * lanes + lane;
      if ((packed[from / 8] >> (from % 8)) & 1) {
        out.set[lane / 8] = static_cast<uint8_t>(out.set[lane / 8] | 1u << (lane % 8));
      }
    }
    out.Trim();
    if (out.lanes == 0) {
      continue;
    }
    std::memcpy(out.bytes, src->bytes + i * kBlock, kBlock);
    HeldLanes held;
    if (shadow != nullptr) {
      held.origin = origin;
      HoldStore(&held, shadow + i * kBlock, out);
    }
    const Spot block = FindSpot(
        state, place.ub.addr + static_cast<uint64_t>(i) * stride * static_cast<uint64_t>(kBlock));
    WriteLanes(state, block, out, &held, after, src);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegLoadMask(RegMask* dst, const void* src, RegMaskCopy how) try {
  VectorState& state = InFunction("LoadAlign");
  dst->after = Timed(state, DType::kUint8);
  const Spot place = FindSpot(state, src);
  const uint64_t bytes = how == RegMaskCopy::kUpsample ? 16 : how == RegMaskCopy::kNorm ? 32 : 64;
  state.core->CheckUbAlign(place.ub, how == RegMaskCopy::kUpsample ? 16 : 32, "src");
  HeldLanes held;
  alignas(64) uint8_t temp[64];
  if (state.observed) {
    const uint32_t site = state.core->CaptureSite();
    TellLoad(state, place, bytes, &held, site);
    NextLoad(state, place.offset, place.offset + bytes, dst, nullptr, site);
    NoteLoad(state, &dst->after);
  }
  const uint8_t* const from = BytesAt(state, place, bytes, temp);
  const auto bit = [](const uint8_t* bits, size_t i) { return (bits[i / 8] >> (i % 8)) & 1u; };
  std::fill(std::begin(dst->bits), std::end(dst->bits), 0);
  std::fill(std::begin(dst->undefined), std::end(dst->undefined), 0);
  for (size_t i = 0; i < kRegBytes; ++i) {
    const size_t j = how == RegMaskCopy::kUpsample ? i / 2 : how == RegMaskCopy::kNorm ? i : 2 * i;
    dst->bits[i / 64] |= uint64_t{bit(from, j)} << (i % 64);
    if (held.undefined) {
      dst->undefined[i / 64] |= uint64_t{bit(held.shadow, j)} << (i % 64);
    }
  }
  dst->state = held.undefined ? Reg::kPartly : Reg::kWritten;
  dst->origin = held.origin;
}
ACLSIM_SKIPS_FAULTS()

void RegStoreMask(void* dst, const RegMask& src, RegMaskCopy how) try {
  VectorState& state = InFunction("StoreAlign");
  const RegAfter after = Timed(state, DType::kUint8, src);
  const Spot place = FindSpot(state, dst);
  state.core->CheckUbAlign(place.ub, how == RegMaskCopy::kNorm ? 32 : 16, "dst");
  StoredLanes out;
  HeldLanes held;
  SettleMask(state, src);
  if (how == RegMaskCopy::kNorm) {
    out.lanes = 32;
    std::memcpy(out.bytes, src.bits, 32);
  } else {
    out.lanes = 16;
    PackLanes(src.bits, 2, out.bytes);
  }
  if (state.observed && !IsClean(src)) {
    uint8_t shadow[32];
    held.origin = src.origin;
    if (how == RegMaskCopy::kNorm) {
      std::memcpy(shadow, src.undefined, 32);
    } else {
      PackLanes(src.undefined, 2, shadow);
    }
    HoldStore(&held, shadow, out);
  }
  WriteLanes(state, place, out, &held, after, &src);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

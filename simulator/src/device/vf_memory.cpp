// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vector functions. A load may reach behind the end of its buffer, as kernels do with their last row: what
// is there counts as undefined. A store writes what its mask says, within the buffer.
#include <algorithm>

#include "device/vec.h"
#include "device/vf.h"

namespace aclsim {

namespace {

struct Spot {
  Ub ub;
  uint64_t offset = 0;
  uint64_t end = 0;  // of the buffer
};

Spot Find(VectorState& state, const void* address) {
  Core& core = *state.core;
  const auto bits = reinterpret_cast<uint64_t>(address);
  const uint64_t offset = bits - reinterpret_cast<uint64_t>(core.ub);
  for (const VectorState::Range& range : state.ranges) {
    if (offset >= range.begin && offset < range.end) [[likely]] {
      return {{core.ub + offset, range.buf, DType::kUint8, range.generation}, offset, range.end};
    }
  }
  const Ub ub = UbPointer(address, DType::kUint8);
  if (ub.buf == 0) {
    EndCore(kUbOutOfBounds, "a load or store outside of every buffer",
            "Hardware raises an exception or corrupts another buffer.");
  }
  const BufferInfo& info = core.Info(ub.buf);
  VectorState::Range& range = state.ranges[state.nextRange++ % state.ranges.size()];
  range = {info.offset, uint64_t{info.offset} + info.bytes, ub.buf, ub.generation};
  return {ub, core.UbOffset(ub.addr), range.end};
}

// --- how elements are arranged ----------------------------------------------------------------------------------------

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

// --- order within the function ----------------------------------------------------------------------------------------

void CheckOrder(VectorState& state, uint64_t begin, uint64_t end, const Reg* reg) {
  for (uint64_t block = begin / kBlock; block * kBlock < end; ++block) {
    const uint32_t last = state.storedLast[block];
    if (last <= state.ordered) {
      continue;
    }
    const VectorState::Stored& store = state.stores[last - 1];
    if (store.begin >= end || store.end <= begin || store.reg == reg) {
      continue;
    }
    Core& core = *state.core;
    const uint32_t site = core.sites.Capture();
    if (!core.IsFirst("local-memory-order", site, store.site)) {
      return;
    }
    Finding finding;
    finding.kind = "local-memory-order";
    finding.space = "UB";
    finding.at = core.PlaceOf(core.instruction, Pipe::kVector, site, "reads");
    finding.related.push_back(core.PlaceOf(store.name, Pipe::kVector, store.site, "wrote"));
    uint64_t start = 0;
    finding.buffer = core.BufferName(begin, &start);
    finding.begin = begin - start;
    finding.end = end - start;
    finding.detail = Format(
        "UB bytes [%llu, %llu) of %s are loaded behind a store to some of them in the same vector "
        "function, from another register, and nothing orders the two",
        static_cast<unsigned long long>(finding.begin),
        static_cast<unsigned long long>(finding.end), finding.buffer.c_str());
    finding.advice =
        "Hardware may load what was there before. LocalMemBar<MemType::VEC_STORE, "
        "MemType::VEC_LOAD>() between them.";
    core.Find(std::move(finding));
    return;
  }
}

void NoteStore(VectorState& state, uint64_t begin, uint64_t end, const Reg* reg) {
  Core& core = *state.core;
  state.stores.push_back({begin, end, reg, core.sites.Capture(), core.instruction});
  std::fill(state.storedLast.begin() + static_cast<std::ptrdiff_t>(begin / kBlock),
            state.storedLast.begin() + static_cast<std::ptrdiff_t>((end + kBlock - 1) / kBlock),
            static_cast<uint32_t>(state.stores.size()));
}

// --- one load, one store ----------------------------------------------------------------------------------------------

// Tells of the bytes, and says which are undefined: of all `bytes`, those behind the buffer too.
void TellLoad(VectorState& state, const Spot& place, uint64_t bytes, HeldLanes* held,
              const Reg* reg) {
  Core& core = *state.core;
  const uint64_t have = std::min(bytes, place.end - place.offset);
  core.Tell(Pipe::kVector, [&](Record& record) {
    record.flow = Flow::kRegisters;
    record.vectorFunction = state.number;
    record.held = held;
    record.Add(DenseAccess(Use::kRead, place.offset, have, place.ub.buf));
  });
  if (have < bytes) {
    if (!held->undefined) {
      std::memset(held->shadow, 0, have);
      held->origin = HeldLanes::kBehindBuffer | core.sites.Capture();
    }
    held->undefined = true;
    std::memset(held->shadow + have, 0xFF, bytes - have);
  }
  CheckOrder(state, place.offset, place.offset + have, reg);
}

// Bytes of UB from there on; in `temp` where UB ends before.
const uint8_t* BytesAt(const VectorState& state, const Spot& place, uint64_t bytes, uint8_t* temp) {
  const uint64_t image = UbImageBytes(state.core->soc, state.core->keepGoing);
  if (place.offset + bytes <= image) [[likely]] {
    return place.ub.addr;
  }
  std::memset(temp, 0, bytes);
  std::memcpy(temp, place.ub.addr, image - place.offset);
  return temp;
}

// What is to be written: lanes of `width` bytes one after another, all of them or those whose bit is set.
struct Output {
  alignas(64) uint8_t bytes[2 * kRegBytes];
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

void Write(VectorState& state, const Spot& place, const Output& out, HeldLanes* held,
           const Reg* reg) {
  Core& core = *state.core;
  if (out.lanes == 0) {
    return;
  }
  const uint64_t bytes = out.lanes * out.width;
  if (place.offset + bytes > place.end) [[unlikely]] {
    core.CheckUb(place.ub, 0, static_cast<int64_t>(bytes), "dst");
  }
  if (state.observed) {
    core.Tell(Pipe::kVector, [&](Record& record) {
      record.flow = Flow::kRegisters;
      record.vectorFunction = state.number;
      record.held = held;
      if (out.all) {
        record.Add(DenseAccess(Use::kWrite, place.offset, bytes, place.ub.buf));
        return;
      }
      // A mask has bits for 128 lanes.
      for (size_t first = 0; first < out.lanes; first += 128) {
        const size_t count = std::min<size_t>(out.lanes - first, 128);
        Access access = DenseAccess(Use::kWrite, place.offset + first * out.width,
                                    count * out.width, place.ub.buf);
        access.width = static_cast<uint8_t>(out.width);
        access.masked = true;
        std::memcpy(access.mask, out.set + first / 8, sizeof(access.mask));
        record.Add(access);
      }
    });
    NoteStore(state, place.offset, place.offset + bytes, reg);
  }
  if (out.all) {
    std::memcpy(place.ub.addr, out.bytes, bytes);
    return;
  }
  for (size_t lane = 0; lane < out.lanes; ++lane) {
    if (out.Has(lane)) {
      std::memcpy(place.ub.addr + lane * out.width, out.bytes + lane * out.width, out.width);
    }
  }
}

// The shadow of what a store writes, its lanes one after another as the access has them.
void HoldStore(const VectorState& state, HeldLanes* held, const uint8_t* shadow,
               const Output& out) {
  (void)state;
  size_t at = 0;
  for (size_t lane = 0; lane < out.lanes; ++lane) {
    if (out.Has(lane)) {
      std::memcpy(held->shadow + at, shadow + lane * out.width, out.width);
      at += out.width;
    }
  }
  held->undefined = std::any_of(held->shadow, held->shadow + at, [](uint8_t b) { return b != 0; });
}

void Settle(Reg* reg, uint32_t origin, bool undefined) {
  if (undefined) {
    SettleShadow(reg, origin);
  } else {
    reg->state = Reg::kWritten;
  }
}

}  // namespace

void RegLoadAligned(Reg* dst0, Reg* dst1, const void* src, RegLoad how, uint8_t width) try {
  VectorState& state = InFunction("LoadAlign");
  const Spot place = Find(state, src);
  state.core->CheckUbAlign(place.ub, AlignOf(how, width), "src");
  dst0->ready = Timed(state, OfWidth(width));
  if (dst1 != nullptr) {
    dst1->ready = dst0->ready;
  }
  const size_t bytes = BytesOf(how, width);
  alignas(64) uint8_t temp[2 * kRegBytes];
  if (state.observed) {
    HeldLanes held;
    TellLoad(state, place, bytes, &held, dst0);
    if (held.undefined) {
      Arrange(how, width, dst0->shadow, dst1 != nullptr ? dst1->shadow : nullptr, held.shadow);
    }
    Settle(dst0, held.origin, held.undefined);
    if (dst1 != nullptr) {
      Settle(dst1, held.origin, held.undefined);
    }
  }
  Arrange(how, width, dst0->bytes, dst1 != nullptr ? dst1->bytes : nullptr,
          BytesAt(state, place, bytes, temp));
}
ACLSIM_SKIPS_FAULTS()

void RegStoreAligned(void* dst, const Reg* src0, const Reg* src1, RegStore how, uint8_t width,
                     const RegMask& mask) try {
  VectorState& state = InFunction("StoreAlign");
  const Spot place = Find(state, dst);
  state.core->CheckUbAlign(place.ub,
                           how == RegStore::kFirst ? width : static_cast<uint32_t>(kBlock), "dst");
  if (src1 != nullptr) {
    Timed(state, OfWidth(width), *src0, *src1, mask);
  } else {
    Timed(state, OfWidth(width), *src0, mask);
  }
  Output out;
  Arrange(how, width, out.bytes, src0->bytes, src1 != nullptr ? src1->bytes : nullptr);
  out.width = how == RegStore::kPack ? width / 2u : how == RegStore::kPack4 ? width / 4u : width;
  out.lanes = how == RegStore::kFirst ? 1 : kRegBytes / width;
  if (how == RegStore::kInterleave) {
    out.lanes *= 2;
  } else if (how != RegStore::kFirst) {
    if (state.observed) {
      SettleMask(mask);
    }
    out.all = IsFull(mask, width);
    if (!out.all) {
      PackLanes(mask.bits, width, out.set);
      out.Trim();
    }
  }
  HeldLanes held;
  if (state.observed) {
    const bool usesMask = how != RegStore::kFirst && how != RegStore::kInterleave;
    const Reg* const other = src1 != nullptr ? src1 : src0;
    if (!IsClean(*src0) || !IsClean(*other) || (usesMask && !IsClean(mask))) {
      uint8_t temp0[kRegBytes], temp1[kRegBytes], shadow[2 * kRegBytes];
      Arrange(how, width, shadow, ShadowOf(*src0, temp0), ShadowOf(*other, temp1));
      held.origin = OriginOf(state, IsClean(*src0) ? *other : *src0);
      for (size_t lane = 0; usesMask && !IsClean(mask) && lane < kRegBytes / width; ++lane) {
        if ((mask.undefined[lane * width / 64] >> (lane * width % 64)) & 1) {
          std::memset(shadow + lane * out.width, 0xFF, out.width);
          held.origin = held.origin != 0 ? held.origin : mask.origin;
        }
      }
      HoldStore(state, &held, shadow, out);
    }
  }
  Write(state, place, out, &held, src0);
}
ACLSIM_SKIPS_FAULTS()

void RegLoadBlocks(Reg* dst, const void* src, uint32_t stride, const RegMask& mask) try {
  VectorState& state = InFunction("LoadAlign");
  const Spot place = Find(state, src);
  state.core->CheckUbAlign(place.ub, kBlock, "src");
  dst->ready = Timed(state, DType::kUint8, mask);
  bool undefined = false;
  uint32_t origin = 0;
  for (size_t i = 0; i < kRegBytes / kBlock; ++i) {
    const size_t at = i * kBlock;
    uint32_t any = 0;
    std::memcpy(&any, reinterpret_cast<const uint8_t*>(mask.bits) + at / 8, sizeof(any));
    if (any == 0) {
      std::memset(dst->bytes + at, 0, kBlock);
      std::memset(dst->shadow + at, 0, state.observed ? kBlock : 0);
      continue;
    }
    const Spot block = Find(
        state, place.ub.addr + static_cast<uint64_t>(i) * stride * static_cast<uint64_t>(kBlock));
    if (state.observed) {
      HeldLanes held;
      TellLoad(state, block, kBlock, &held, dst);
      std::memset(dst->shadow + at, 0, kBlock);
      if (held.undefined) {
        std::memcpy(dst->shadow + at, held.shadow, kBlock);
        undefined = true;
        origin = held.origin;
      }
    }
    std::memcpy(dst->bytes + at, block.ub.addr, kBlock);
  }
  if (state.observed) {
    Settle(dst, origin, undefined);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegStoreBlocks(void* dst, const Reg* src, uint32_t stride, uint8_t width,
                    const RegMask& mask) try {
  VectorState& state = InFunction("StoreAlign");
  const Spot place = Find(state, dst);
  state.core->CheckUbAlign(place.ub, kBlock, "dst");
  Timed(state, OfWidth(width), *src, mask);
  uint8_t temp[kRegBytes];
  const uint8_t* const shadow = state.observed && !IsClean(*src) ? ShadowOf(*src, temp) : nullptr;
  uint8_t packed[32];
  PackLanes(mask.bits, width, packed);
  const size_t lanes = static_cast<size_t>(kBlock) / width;
  for (size_t i = 0; i < kRegBytes / kBlock; ++i) {
    Output out;
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
      held.origin = OriginOf(state, *src);
      HoldStore(state, &held, shadow + i * kBlock, out);
    }
    const Spot block = Find(
        state, place.ub.addr + static_cast<uint64_t>(i) * stride * static_cast<uint64_t>(kBlock));
    Write(state, block, out, &held, src);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegLoadUnalignedBegin(RegUnalign* unalign, const void* src) try {
  VectorState& state = InFunction("LoadUnAlignPre");
  const Spot place = Find(state, src);
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
  const Spot place = Find(state, src);
  alignas(64) uint8_t temp[kRegBytes];
  if (state.observed) {
    HeldLanes held;
    TellLoad(state, place, kRegBytes, &held, dst);
    if (held.undefined) {
      std::memcpy(dst->shadow, held.shadow, kRegBytes);
    }
    Settle(dst, held.origin, held.undefined);
  }
  std::memcpy(dst->bytes, BytesAt(state, place, kRegBytes, temp), kRegBytes);
}
ACLSIM_SKIPS_FAULTS()

namespace {

// The bytes that are held back, and the origin of their shadow.
void Flush(VectorState& state, RegUnalign* unalign, uint32_t keep) {
  const uint32_t bytes = unalign->bytes - keep;
  if (bytes == 0) {
    return;
  }
  Output out;
  out.lanes = bytes;
  std::memcpy(out.bytes, unalign->data, bytes);
  HeldLanes held;
  if (state.observed) {
    held.origin = unalign->origin;
    HoldStore(state, &held, unalign->shadow, out);
  }
  Write(state, Find(state, unalign->at), out, &held, nullptr);
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
    Flush(state, unalign, 0);
    unalign->bytes = 0;
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
    Output out;
    out.lanes = write;
    std::memcpy(out.bytes, data, write);
    HeldLanes held;
    if (undefined) {
      held.origin = unalign->origin;
      HoldStore(state, &held, shadow, out);
    }
    Write(state, Find(state, begin), out, &held, src);
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
  Flush(state, unalign, 0);
  unalign->bytes = 0;
  unalign->origin = 0;
}
ACLSIM_SKIPS_FAULTS()

void RegBarrier(bool storesBefore, bool loadsAfter, bool) try {
  VectorState& state = InFunction("LocalMemBar");
  Timed(state, DType::kUint8);
  if (storesBefore && loadsAfter) {
    state.ordered = state.stores.size();
  }
}
ACLSIM_SKIPS_FAULTS()

namespace {

uint64_t IndexOf(const Reg& index, size_t width, size_t lane) {
  uint64_t value = 0;
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
  dst->ready = Timed(state, OfWidth(width), *index, mask);
  const Spot place = Find(state, base);
  const size_t lane = std::max<size_t>(width, 2);
  alignas(64) uint8_t result[kRegBytes] = {};
  uint8_t shadow[kRegBytes] = {};
  uint32_t origin = 0;
  bool undefined = false;
  if (state.observed) {
    SettleMask(mask);
    if (!IsClean(*index)) {
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
    // The range once for the order of pipes, then what of it was taken.
    std::vector<uint8_t> taken;
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
          if (std::any_of(held.shadow + j * width, held.shadow + (j + 1) * width,
                          [](uint8_t byte) { return byte != 0; })) {
            std::memset(shadow + lanes[j] * lane, 0xFF, lane);
          }
        }
      }
    }
    CheckOrder(state, place.offset + first, place.offset + last, dst);
  }
  std::memcpy(dst->bytes, result, kRegBytes);
  if (state.observed) {
    if (undefined) {
      std::memcpy(dst->shadow, shadow, kRegBytes);
    }
    Settle(dst, origin, undefined);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegGatherBlocks(Reg* dst, const void* base, const Reg* index, const RegMask& mask) try {
  VectorState& state = InFunction("GatherB");
  dst->ready = Timed(state, DType::kUint8, *index, mask);
  const Spot place = Find(state, base);
  state.core->CheckUbAlign(place.ub, kBlock, "base");
  bool undefined = false;
  uint32_t origin = 0;
  for (size_t i = 0; i < kRegBytes / kBlock; ++i) {
    const size_t at = i * kBlock;
    uint32_t any = 0;
    std::memcpy(&any, reinterpret_cast<const uint8_t*>(mask.bits) + at / 8, sizeof(any));
    std::memset(dst->bytes + at, 0, kBlock);
    std::memset(dst->shadow + at, 0, state.observed ? kBlock : 0);
    if (any == 0) {
      continue;
    }
    const Spot block = Find(state, place.ub.addr + IndexOf(*index, 4, i));
    state.core->CheckUbAlign(block.ub, kBlock, "block");
    if (state.observed) {
      HeldLanes held;
      TellLoad(state, block, kBlock, &held, dst);
      if (held.undefined) {
        std::memcpy(dst->shadow + at, held.shadow, kBlock);
        undefined = true;
        origin = held.origin;
      }
    }
    std::memcpy(dst->bytes + at, block.ub.addr, kBlock);
  }
  if (state.observed) {
    Settle(dst, origin, undefined);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegScatterUb(void* base, const Reg* src, const Reg* index, uint8_t width, uint8_t indexWidth,
                  const RegMask& mask) try {
  VectorState& state = InFunction("Scatter");
  Timed(state, OfWidth(width), *src, *index, mask);
  const Spot place = Find(state, base);
  const size_t lane = std::max<size_t>(width, 2);
  uint8_t temp[kRegBytes];
  const uint8_t* shadow = nullptr;
  if (state.observed) {
    SettleMask(mask);
    shadow = IsClean(*src) ? nullptr : ShadowOf(*src, temp);
  }
  for (size_t i = 0; i < kRegBytes / lane; ++i) {
    if (!Works(mask, lane, i)) {
      continue;
    }
    const uint64_t at = IndexOf(*index, indexWidth, i);
    CheckElement(place, at, width, "Scatter");
    Output out;
    out.width = width;
    out.lanes = 1;
    std::memcpy(out.bytes, src->bytes + i * lane, width);
    HeldLanes held;
    if (shadow != nullptr) {
      held.origin = OriginOf(state, *src);
      HoldStore(state, &held, shadow + i * lane, out);
    }
    Spot element = place;
    element.offset += at * width;
    element.ub.addr += at * width;
    Write(state, element, out, &held, src);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegLoadMask(RegMask* dst, const void* src, RegMaskCopy how) try {
  VectorState& state = InFunction("LoadAlign");
  dst->ready = Timed(state, DType::kUint8);
  const Spot place = Find(state, src);
  const uint64_t bytes = how == RegMaskCopy::kUpsample ? 16 : how == RegMaskCopy::kNorm ? 32 : 64;
  state.core->CheckUbAlign(place.ub, how == RegMaskCopy::kUpsample ? 16 : 32, "src");
  HeldLanes held;
  alignas(64) uint8_t temp[64];
  if (state.observed) {
    TellLoad(state, place, bytes, &held, nullptr);
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
  Timed(state, DType::kUint8, src);
  const Spot place = Find(state, dst);
  state.core->CheckUbAlign(place.ub, how == RegMaskCopy::kNorm ? 32 : 16, "dst");
  Output out;
  HeldLanes held;
  if (state.observed) {
    SettleMask(src);
  }
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
    HoldStore(state, &held, shadow, out);
  }
  Write(state, place, out, &held, nullptr);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

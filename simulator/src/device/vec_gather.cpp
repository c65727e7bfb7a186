// SPDX-License-Identifier: Apache-2.0
// Gather, Gatherb, GatherMask: what they read depends on data, so bounds are checked when they run. Index vectors.
#include <array>
#include <limits>

#include "ascendc/device_reorder.h"
#include "device/vec.h"
#include "device/vec_dtypes_950.h"

namespace aclsim {

namespace {

void RequireWidth2Or4(Core& core, DType dtype) {
  if ((WidthOf(dtype) != 2 && WidthOf(dtype) != 4) || (dtype == DType::kBf16 && !core.soc.bf16)) {
    UnsupportedDType(core, core.instruction, dtype);
  }
}

void RequireGather(Core& core) {
  if (core.soc.npuArch == 1001) {
    PassFault(
        "instruction-absent",
        Format("%s does not exist on %s", core.instruction, core.soc.name.c_str()),
        "The device compiler refuses it. Move elements with GetValue and SetValue, or copies.",
        "done all the same");
  }
}

int64_t LaneOffset(const OperandWalk& walk, int64_t r, int64_t lane) {
  const int64_t block = lane / walk.lanesPerBlock;
  return r * walk.repStride + block * walk.blkStride +
         (lane - block * walk.lanesPerBlock) * walk.width;
}

// Offsets follow each other without gaps, one per lane, whether it works or not.
OperandWalk OffsetWalk(const Ub& offsets, const LaneSet& lanes) {
  OperandWalk walk = MakeWalk(offsets, "srcOffset", VecCtl(), 1, false);
  walk.repStride = lanes.lanes * walk.width;
  return walk;
}

template <typename F>
void ForEachLaneOf(const LaneSet& lanes, int64_t r, F&& run) {
  const int64_t active = lanes.ActiveIn(r);
  for (int64_t lane = 0; lane < active; ++lane) {
    if (lanes.prefix || lanes.Works(lane)) {
      run(lane);
    }
  }
}

template <typename F>
void ForEachLane(const LaneSet& lanes, F&& run) {
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    ForEachLaneOf(lanes, r, [&](int64_t lane) { run(r, lane); });
  }
}

uint32_t LoadOffset(const uint8_t* addr) {
  uint32_t offset;
  std::memcpy(&offset, addr, sizeof(offset));
  return offset;
}

struct Reach {
  int64_t low = std::numeric_limits<int64_t>::max();
  int64_t high = 0;  // one past the last byte
};

void CheckOffset(Core& core, const Ub& src, int64_t at, int64_t bytes, int64_t align, int64_t lane,
                 Reach* reach) {
  if (at % align != 0) {
    PassFault("ub-misaligned",
              Format("srcOffset of lane %lld leads to byte %lld of src, wanted is a multiple of "
                     "%lld",
                     static_cast<long long>(lane), static_cast<long long>(at),
                     static_cast<long long>(align)),
              "Hardware returns shifted elements. Offsets count bytes: multiply indices by the "
              "size of an element.",
              "taken from there");
  }
  if (at < reach->low || at + bytes > reach->high) {
    core.CheckUbRange(src, at, at + bytes, "the element that srcOffset names");
  }
  reach->low = std::min(reach->low, at);
  reach->high = std::max(reach->high, at + bytes);
}

void CheckApart(const Core& core, const Ub& dst, int64_t dstBytes, const Ub& src,
                const Reach& reach) {
  if (dst.addr < src.addr + reach.high && src.addr + reach.low < dst.addr + dstBytes) {
    PassFault("overlap",
              Format("dst at UB byte %llu overlaps the gathered bytes from UB byte %llu on",
                     static_cast<unsigned long long>(core.UbOffset(dst.addr)),
                     static_cast<unsigned long long>(core.UbOffset(src.addr + reach.low))),
              "Hardware overwrites elements that it has yet to read. Use another buffer.",
              "done, and each repeat reads before it writes");
  }
}

bool AnyUndefined(const uint8_t* image, uint64_t bytes) {
  return std::any_of(image, image + bytes, [](uint8_t byte) { return byte != 0; });
}

// Everything from src to the end of its buffer: what a gather may read as far as anybody knows when it is issued.
Access WholeRest(const Core& core, const Ub& src) {
  const BufferInfo& info = core.Info(src.buf);
  const int64_t end = static_cast<int64_t>(info.offset) + info.bytes;
  Access access =
      UbAccess(core, Use::kRead, src, end - static_cast<int64_t>(core.UbOffset(src.addr)));
  access.table = true;
  return access;
}

Access Reached(const Core& core, const Ub& src, const Reach& reach) {
  const auto low = static_cast<uint64_t>(reach.low);
  return DenseAccess(Use::kRead, core.UbOffset(src.addr) + low,
                     static_cast<uint64_t>(reach.high) - low, src.buf);
}

}  // namespace

void VecGather(const Ub& dst, const Ub& src, const Ub& offsets, uint32_t base,
               const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Gather";
  RequireGather(core);
  RequireWidth2Or4(core, dst.dtype);
  const LaneSet lanes = Repeated(ResolveLanes(core, ctl, dst.dtype));
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk d = MakeWalk(dst, "dst", ctl, 0, true);
  const OperandWalk o = OffsetWalk(offsets, lanes);
  CheckWalk(core, d, lanes);
  CheckWalk(core, o, lanes);
  CheckOperand(core, src, 0, "src");
  const auto width = static_cast<size_t>(d.width);
  const auto reach = [=, &core] {
    Reach all;
    ForEachLane(lanes, [&](int64_t r, int64_t lane) {
      const int64_t at = int64_t{base} + LoadOffset(o.ub.addr + LaneOffset(o, r, lane));
      CheckOffset(core, src, at, d.width, d.width, r * lanes.lanes + lane, &all);
    });
    CheckApart(core, dst, d.Extent(lanes), src, all);
    return all;
  };
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = dst.dtype;
        record.Add(AccessOf(core, d, lanes));
        record.Add(AccessOf(core, o, lanes));
        record.Add(WholeRest(core, src));
        record.narrow = [&core, src, reach](Record& self) {
          self.access[2] = Reached(core, src, reach());
        };
      },
      [=, &core](uint8_t* ub) {
        const uint8_t* const real = core.ub;
        if (ub == real) {
          reach();
        }
        const uint64_t to = core.UbOffset(dst.addr);
        const uint64_t from = core.UbOffset(src.addr) + base;
        std::array<uint8_t, kRepeatBytes> read;
        for (int64_t r = 0; r < lanes.repeat; ++r) {
          ForEachLaneOf(lanes, r, [&](int64_t lane) {
            const uint64_t list =
                core.UbOffset(o.ub.addr) + static_cast<uint64_t>(LaneOffset(o, r, lane));
            uint8_t* const element = read.data() + lane * d.width;
            std::memcpy(element, ub + from + LoadOffset(real + list), width);
            if (ub != real && AnyUndefined(ub + list, sizeof(uint32_t))) {
              std::memset(element, 0xFF, width);
            }
          });
          ForEachLaneOf(lanes, r, [&](int64_t lane) {
            std::memcpy(ub + to + LaneOffset(d, r, lane), read.data() + lane * d.width, width);
          });
        }
      });
}
ACLSIM_SKIPS_FAULTS()

void VecGatherBlocks(const Ub& dst, const Ub& src, const Ub& offsets, int32_t repeat,
                     int32_t dstBlk, int32_t dstRep) try {
  Core& core = Core::Current();
  core.instruction = "Gatherb";
  if (core.soc.npuArch != 2201) {
    PassFault("instruction-absent", Format("Gatherb does not exist on %s", core.soc.name.c_str()),
              "The device compiler refuses it. Use Gather.", "done all the same");
  }
  if (dst.dtype != DType::kUint16 && dst.dtype != DType::kUint32) {
    UnsupportedDType(core, core.instruction, dst.dtype);
  }
  if (IsIdle(core, repeat, dst)) {
    return;
  }
  const int64_t blocks = int64_t{repeat} * kBlocksPerRepeat;
  const Access results = RepeatedBlocks(core, dst, repeat, dstBlk, dstRep);
  const auto extent = static_cast<int64_t>(results.Extent());
  CheckOperand(core, dst, extent, "dst");
  CheckOperand(core, offsets, blocks * 4, "offset");
  CheckOperand(core, src, 0, "src");
  const auto reach = [=, &core] {
    Reach all;
    for (int64_t i = 0; i < blocks; ++i) {
      CheckOffset(core, src, LoadOffset(offsets.addr + i * 4), kBlock, kBlock, i, &all);
    }
    CheckApart(core, dst, extent, src, all);
    return all;
  };
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = repeat;
        record.dtype = dst.dtype;
        record.Add(results);
        record.Add(UbAccess(core, Use::kRead, offsets, blocks * 4));
        record.Add(WholeRest(core, src));
        record.narrow = [&core, src, reach](Record& self) {
          self.access[2] = Reached(core, src, reach());
        };
      },
      [=, &core](uint8_t* ub) {
        const uint8_t* const real = core.ub;
        if (ub == real) {
          reach();
        }
        std::array<uint8_t, kRepeatBytes> read;
        for (int64_t r = 0; r < repeat; ++r) {
          for (int64_t i = 0; i < kBlocksPerRepeat; ++i) {
            const int64_t number = r * kBlocksPerRepeat + i;
            const uint64_t list = core.UbOffset(offsets.addr) + static_cast<uint64_t>(number) * 4;
            uint8_t* const block = read.data() + i * kBlock;
            std::memcpy(block, ub + core.UbOffset(src.addr) + LoadOffset(real + list), kBlock);
            if (ub != real && AnyUndefined(ub + list, sizeof(uint32_t))) {
              std::memset(block, 0xFF, kBlock);
            }
          }
          uint8_t* const results = ub + core.UbOffset(dst.addr) + r * dstRep * kBlock;
          for (int64_t i = 0; i < kBlocksPerRepeat; ++i) {
            std::memcpy(results + i * dstBlk * kBlock, read.data() + i * kBlock, kBlock);
          }
        }
      });
}
ACLSIM_SKIPS_FAULTS()

namespace {

// One call of GatherMask: which elements each repeat looks at, and which of them it keeps.
struct GatherMaskCall {
  Ub dst, src, pattern;  // without a pattern in UB, pattern is empty
  GatherMaskCtl ctl;
  bool fixed = false;  // one of the patterns of the instruction
  int64_t width = 0;   // bytes of an element
  int64_t repeat = 0;
  int64_t perRepeat = 0, last = 0;  // elements of a repeat, and of the last one

  int64_t CountIn(int64_t r) const { return r + 1 == repeat ? last : perRepeat; }
  int64_t SourceAt(int64_t r, int64_t i) const {
    const int64_t perBlock = kBlock / width;
    return r * ctl.srcRep * kBlock + i / perBlock * ctl.srcBlk * kBlock + i % perBlock * width;
  }
  int64_t SourceBytes() const {
    const int64_t whole = repeat > 1 ? SourceAt(repeat - 2, perRepeat - 1) + width : 0;
    return std::max(whole, SourceAt(repeat - 1, last - 1) + width);
  }
  bool Keeps(int64_t r, int64_t i) const {
    if (!fixed) {
      return ((pattern.addr[r * ctl.patternRep * kBlock + i / 8] >> (i % 8)) & 1) != 0;
    }
    return ctl.pattern == 7 ||
           (ctl.pattern <= 2 ? i % 2 == ctl.pattern - 1 : i % 4 == ctl.pattern - 3);
  }
  // Count says how many elements the call keeps. It throws a fault where they have no room in dst.
  int64_t Count(Core& core) const {
    int64_t kept = 0;
    for (int64_t r = 0; r < repeat; ++r) {
      for (int64_t i = 0; i < CountIn(r); ++i) {
        kept += Keeps(r, i) ? 1 : 0;
      }
    }
    core.CheckUbRange(dst, 0, kept * width, "dst");
    if (dst.addr > src.addr && dst.addr < src.addr + SourceBytes()) {
      ThrowFault("overlap",
                 Format("dst at UB byte %llu lies in src0, which starts at UB byte %llu",
                        static_cast<unsigned long long>(core.UbOffset(dst.addr)),
                        static_cast<unsigned long long>(core.UbOffset(src.addr))),
                 "Hardware overwrites elements that it has yet to read. dst may be src0 itself, or "
                 "lie apart.");
    }
    return kept;
  }
  Access SourceAccess(Core& core) const {
    Access source = UbAccess(core, Use::kRead, src, perRepeat * width);
    source.width = static_cast<uint8_t>(width);
    source.chunk = kBlock;
    source.chunkStride = int64_t{ctl.srcBlk} * kBlock;
    source.repStride = int64_t{ctl.srcRep} * kBlock;
    source.repeat = static_cast<uint32_t>(repeat);
    source.lastBytes = static_cast<uint64_t>(last * width);
    return source;
  }
  Access PatternAccess(Core& core) const {
    Access access = UbAccess(core, Use::kRead, pattern, (perRepeat + 7) / 8);
    access.repeat = static_cast<uint32_t>(repeat);
    access.repStride = int64_t{ctl.patternRep} * kBlock;
    access.lastBytes = static_cast<uint64_t>((last + 7) / 8);
    return access;
  }
  // Moves the elements in UB, or in an image of it that says which bytes are undefined: there all results are undefined where a bit
  // of the pattern is.
  void Move(Core& core, uint8_t* ub) const {
    const bool image = ub != core.ub;
    if (!image) {
      core.registers.gathered = static_cast<uint64_t>(Count(core));
    }
    uint8_t* const first = ub + core.UbOffset(dst.addr);
    uint8_t* to = first;
    bool undefined = false;
    for (int64_t r = 0; r < repeat; ++r) {
      const int64_t n = CountIn(r);
      for (int64_t i = 0; i < n; ++i) {
        if (Keeps(r, i)) {
          std::memcpy(to, ub + core.UbOffset(src.addr) + SourceAt(r, i),
                      static_cast<size_t>(width));
          to += width;
        }
      }
      if (image && !fixed) {
        const uint8_t* used = ub + core.UbOffset(pattern.addr) + r * ctl.patternRep * kBlock;
        const int rest = static_cast<int>(n % 8);
        undefined = undefined || AnyUndefined(used, static_cast<uint64_t>(n / 8)) ||
                    (used[n / 8] & ((1 << rest) - 1)) != 0;
      }
    }
    if (undefined) {
      std::fill(first, to, uint8_t{0xFF});
    }
  }
};

void CheckPattern(Core& core, const GatherMaskCall& call) {
  const uint8_t highest = core.soc.npuArch == 2002 ? 6 : 7;
  if (call.fixed && (call.ctl.pattern < 1 || call.ctl.pattern > highest)) {
    ThrowFault("gather-pattern",
               Format("src1Pattern %u, legal are 1..%u", call.ctl.pattern, highest),
               "Undefined on hardware. 1 and 2 take every second element, 3 to 6 every fourth, 7 "
               "all.");
  }
  if (!call.fixed && call.pattern.dtype != (call.width == 2 ? DType::kUint16 : DType::kUint32)) {
    UnsupportedDType(core, "GatherMask with a pattern", call.pattern.dtype);
  }
}

// On 310P the mask of counter mode counts all elements, elsewhere those of one repeat.
void ResolveElements(const Core& core, GatherMaskCall* call) {
  const GatherMaskCtl& ctl = call->ctl;
  const int64_t lanes = kRepeatBytes / call->width;
  const bool counter = ctl.preset ? core.maskCounter : ctl.counter;
  const auto mask = ctl.preset ? static_cast<int64_t>(core.maskBits[0]) : int64_t{ctl.mask};
  const bool total = counter && core.soc.npuArch == 2002;
  call->perRepeat = counter && !total ? mask : lanes;
  call->repeat = total ? (mask + lanes - 1) / lanes : ctl.repeat;
  call->last = total ? mask - (call->repeat - 1) * lanes : call->perRepeat;
}

}  // namespace

uint64_t VecGatherMask(const Ub& dst, const Ub& src, const Ub* pattern,
                       const GatherMaskCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "GatherMask";
  RequireGather(core);
  RequireWidth2Or4(core, src.dtype);
  GatherMaskCall call{dst, src, pattern == nullptr ? Ub() : *pattern, ctl};
  call.fixed = pattern == nullptr;
  call.width = static_cast<int64_t>(WidthOf(src.dtype));
  CheckPattern(core, call);
  ResolveElements(core, &call);
  if (!ctl.preset) {
    core.maskCounter = false;
    core.maskBits[0] = core.maskBits[1] = ~0ull;
  }
  if (call.repeat == 0 || call.perRepeat == 0) {
    core.registers.gathered = 0;
    return 0;
  }
  CheckOperand(core, src, call.SourceBytes(), "src0");
  CheckOperand(core, dst, 0, "dst");
  if (!call.fixed) {
    const auto bytes = static_cast<int64_t>(call.PatternAccess(core).Extent());
    CheckOperand(core, call.pattern, bytes, "src1Pattern");
  }
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = static_cast<int32_t>(call.repeat);
        record.dtype = src.dtype;
        record.Add(UbAccess(core, Use::kWrite, dst, 0));
        record.Add(call.SourceAccess(core));
        if (!call.fixed) {
          record.Add(call.PatternAccess(core));
        }
        record.narrow = [&core, call](Record& self) {
          self.access[0] = UbAccess(core, Use::kWrite, call.dst, call.Count(core) * call.width);
        };
      },
      [&core, call](uint8_t* ub) { call.Move(core, ub); });
  core.ScalarWaits(Pipe::kVector);
  return core.registers.gathered;
}
ACLSIM_SKIPS_FAULTS({})

uint64_t GatheredCount() { return Core::Current().registers.gathered; }

namespace {

void RequireIndexType(Core& core, DType dtype) {
  if (!IsFloat(dtype) && dtype != DType::kInt16 && dtype != DType::kInt32) {
    UnsupportedDType(core, core.instruction, dtype);
  }
}

// A scalar of the element type plus a whole number; integers wrap.
void StoreIndex(uint8_t* to, DType dtype, ScalarValue first, int64_t steps) {
  if (IsFloat(dtype)) {
    StoreLane(dtype, to, static_cast<float>(first.f) + static_cast<float>(steps));
  } else {
    const int64_t value = first.i + steps;
    std::memcpy(to, &value, WidthOf(dtype));
  }
}

}  // namespace

void VecCreateIndex(const Ub& dst, ScalarValue first, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "CreateVecIndex";
  RequireGather(core);
  if (Is950(core)) {
    RequireDType950(core, dst.dtype, ctl);
  } else {
    RequireIndexType(core, dst.dtype);
  }
  const LaneSet given = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, given, dst)) {
    return;
  }
  const LaneSet lanes = Repeated(given);
  const OperandWalk d = CheckedWalk(core, lanes, dst, "dst", ctl, 0, true);
  IssueVector(
      core, lanes, {&d},
      [=] {
        ForEachLane(lanes, [&](int64_t r, int64_t lane) {
          StoreIndex(dst.addr + LaneOffset(d, r, lane), dst.dtype, first, r * lanes.lanes + lane);
        });
      },
      Flow::kNone);
}
ACLSIM_SKIPS_FAULTS()

void VecProgression(const Ub& dst, ScalarValue first, ScalarValue step, int32_t count) try {
  Core& core = Core::Current();
  core.instruction = "ArithProgression";
  RequireIndexType(core, dst.dtype);
  const LaneSet lanes = ResolveLanes(core, CountCtl(count), dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk d = MakeWalk(dst, "dst", VecCtl(), 0, true);
  // No more than a block is written value by value, wherever an element may lie.
  const bool byScalars = count * d.width <= kBlock && core.soc.npuArch != 3510;
  CheckOperand(core, dst, d.Extent(lanes), "dst", byScalars ? d.width : kBlock);
  const auto round = [dtype = dst.dtype](float value) { return RoundLane(dtype, value); };
  IssueVector(
      core, lanes, {&d},
      [=] {
        // As documented: eight values one by one, eight at a time up to 64, then 64 at a time, each step added to the last.
        for (int64_t i = 0; i < count; ++i) {
          ScalarValue value;
          if (!IsFloat(dst.dtype)) {
            value.i = first.i + i * step.i;
          } else if (i < 8) {
            value.f = round(static_cast<float>(first.f) +
                            round(static_cast<float>(step.f) * static_cast<float>(i)));
          } else {
            const int64_t back = i < 64 ? 8 : 64;
            value.f = LoadLane(dst.dtype, dst.addr + (i - back) * d.width) +
                      round(static_cast<float>(step.f) * static_cast<float>(back));
          }
          StoreIndex(dst.addr + i * d.width, dst.dtype, value, 0);
        }
      },
      Flow::kNone);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

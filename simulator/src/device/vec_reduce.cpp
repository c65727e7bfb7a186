// SPDX-License-Identifier: Apache-2.0
// Reductions over a repeat, a block or a pair. Sums follow the hardware's binary tree, rounding at every level.
#include <algorithm>
#include <limits>
#include <vector>

#include "device/vec.h"
#include "engine/options.h"
#include "soc/choices.h"

namespace aclsim {

namespace {

// The names of a form's rows in instructions.def.
struct NamedReduction {
  ReduceOp op;
  const char* name;
};
constexpr NamedReduction kWholeNames[] = {
#define ACLSIM_WHOLE_REDUCE(Name, row, ...) {ReduceOp::k##row, #Name},
#include "ascendc/instructions.def"
};
constexpr NamedReduction kBlockNames[] = {
#define ACLSIM_BLOCK_REDUCE(Name, row, ...) {ReduceOp::k##row, #Name},
#include "ascendc/instructions.def"
};
constexpr NamedReduction kExtremeNames[] = {
#define ACLSIM_EXTREME(Name, row, ...) {ReduceOp::k##row, #Name},
#include "ascendc/instructions.def"
};
template <size_t kRows>
const char* NameOf(const NamedReduction (&rows)[kRows], ReduceOp op) {
  return std::find_if(rows, rows + kRows, [op](const auto& row) { return row.op == op; })->name;
}

constexpr int64_t kSumChunk = 256;           // repeats whose sums are kept on the stack
constexpr int32_t kMaxReduceRepeat = 65535;  // far beyond what UB holds

// Elements that an index of so many bytes tells apart.
constexpr int64_t MostIndices(int64_t width) { return int64_t{1} << (width == 2 ? 16 : 32); }

// The value that changes no result of an operation. Each row of a WholeReduce has a case here and in Better.
float NeutralOf(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return 0.0f;
    case ReduceOp::kMax:
      return -std::numeric_limits<float>::infinity();
    case ReduceOp::kMin:
      return std::numeric_limits<float>::infinity();
  }
  __builtin_unreachable();
}

// Returns whether a value takes the place of the best one so far; a sum has none.
bool Better(ReduceOp op, float value, float best) {
  switch (op) {
    case ReduceOp::kSum:
      return false;
    case ReduceOp::kMax:
      return value > best;
    case ReduceOp::kMin:
      return value < best;
  }
  __builtin_unreachable();
}

// Returns whether a board adds lane after lane.
bool SumsInSequence() { return ChosenOf(Choice::kSumOrder) != 0; }

// Neighbours are added first; n is a power of two.
float TreeSum(DType dtype, float* lanes, int64_t n) {
  if (SumsInSequence()) {
    for (int64_t i = 1; i < n; ++i) {
      lanes[0] = RoundLane(dtype, lanes[0] + lanes[i]);
    }
    return lanes[0];
  }
  for (; n > 1; n /= 2) {
    for (int64_t i = 0; i < n / 2; ++i) {
      lanes[i] = RoundLane(dtype, lanes[2 * i] + lanes[2 * i + 1]);
    }
  }
  return lanes[0];
}

// Lanes of one repeat as float, those that take no part as the operation's neutral element.
void LoadRepeat(const OperandWalk& src, const LaneSet& lanes, int64_t r, float neutral,
                float* out) {
  alignas(64) uint8_t temp[kRepeatBytes * 2];
  const int64_t active = lanes.ActiveIn(r);
  const uint8_t* from = GatherRepeat(src, r, active, temp);
  for (int64_t i = 0; i < lanes.lanes; ++i) {
    const bool works = i < active && (lanes.prefix || lanes.Works(i));
    out[i] = works ? LoadLane(src.ub.dtype, from + i * src.width) : neutral;
  }
}

// The lanes of a reduction: half, float but on 1001. Its strides are int32_t in the API and 16 bits in the instruction.
LaneSet ResolveReduce(Core& core, const VecCtl& ctl, DType dtype, int32_t maxRepeat = 255) {
  if (dtype != DType::kHalf && (dtype != DType::kFloat || core.soc.npuArch == 1001)) {
    UnsupportedDType(core, core.instruction, dtype);
  }
  constexpr int32_t kMostStride = 65535;
  for (const int32_t stride : {ctl.repStride[0], ctl.blkStride[1], ctl.repStride[1]}) {
    if (stride < 0 || stride > kMostStride) {
      ThrowFault("stride-range",
                 Format("dstRepStride %d, srcBlkStride %d, srcRepStride %d; legal are 0..%d",
                        ctl.repStride[0], ctl.blkStride[1], ctl.repStride[1], kMostStride),
                 "Hardware keeps the low 16 bits. Strides only go forward: start at the lowest "
                 "address.");
    }
  }
  if (core.soc.npuArch == 1001 && ctl.mode != VecCtl::kCount && ctl.repeat > 1 &&
      ctl.repStride[0] == 0) {
    ThrowFault("stride-range", "dstRepStride 0, which 1001 does not have",
               "Hardware does not put the results of all repeats where the first one is. Give "
               "each repeat a place of its own.");
  }
  VecCtl own = ctl;
  if (own.mode == VecCtl::kPresetCount && core.soc.npuArch != 2201) {
    own.mode = VecCtl::kCount;  // isSetMask has no effect there
  }
  return ResolveLanes(core, own, dtype, maxRepeat);
}

// dst: what the instruction writes; work: scratch that it leaves undefined, if any.
template <typename Body>
void IssueReduce(Core& core, const LaneSet& lanes, const OperandWalk& src, const Access& dst,
                 Flow flow, Body&& body, const Access* work = nullptr, int64_t group = 1) {
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = flow;
        record.group = static_cast<uint8_t>(group);
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = src.ub.dtype;
        if (work != nullptr) {
          record.Add(*work);
        }
        record.Add(dst);
        record.Add(AccessOf(core, src, lanes));
      },
      std::forward<Body>(body));
}

// One result of `unit` bytes per repeat, `step` bytes apart.
Access ResultAccess(const Core& core, const Ub& dst, int64_t unit, int64_t repeat, int64_t step) {
  Access access =
      BlockAccess(Space::kUb, Use::kWrite, core.UbOffset(dst.addr), static_cast<uint64_t>(unit),
                  static_cast<uint64_t>(repeat), static_cast<uint64_t>(step), dst.buf);
  access.width = static_cast<uint8_t>(WidthOf(dst.dtype));
  return access;
}

// Sums of repeats [begin, end).
void SumRepeats(const OperandWalk& src, const LaneSet& lanes, int64_t begin, int64_t end,
                float* out) {
  if (src.ub.dtype == DType::kFloat && lanes.prefix && src.Dense()) {
    const int64_t same = lanes.lastActive == lanes.active ? end : std::min(end, lanes.repeat - 1);
    const auto sum = [&](int64_t from, int64_t to, int64_t active) {
      if (from < to) {
        Lanes().treeSumFloat(reinterpret_cast<const float*>(src.RepeatBase(from)),
                             static_cast<size_t>(active),
                             static_cast<size_t>(src.repStride) / sizeof(float),
                             static_cast<size_t>(to - from), out + (from - begin));
      }
    };
    sum(begin, same, lanes.active);
    sum(std::max(begin, same), end, lanes.lastActive);
    return;
  }
  float values[kMaxLanes];
  for (int64_t r = begin; r < end; ++r) {
    LoadRepeat(src, lanes, r, 0.0f, values);
    out[r - begin] = TreeSum(src.ub.dtype, values, lanes.lanes);
  }
}

// Repeats that the documented size of sharedTmpBuffer counts: whole ones in the count form, but at least one.
int64_t FirstRound(const LaneSet& lanes) {
  return lanes.contiguous ? std::max<int64_t>(lanes.total / lanes.lanes, 1) : lanes.repeat;
}

// The scratch that the instruction leaves undefined; checked mode makes a later read of it visible.
void SpoilWork(const Ub& work, int64_t bytes) {
  if (CheckedMode()) {
    std::memset(work.addr, kPoisonByte, static_cast<size_t>(bytes));
  }
}

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Elements of sharedTmpBuffer for ReduceMax and ReduceMin: every round leaves a value and an index per repeat, rounds follow
// each other until one pair is left, and the index needs all of them.
int64_t ExtremeWork(int64_t repeat, int64_t lanes, int64_t perBlock, bool calIndex) {
  int64_t pairs = repeat * 2;
  int64_t total = RoundUp(pairs, perBlock);
  while (calIndex && pairs > 2) {
    pairs = (pairs + lanes - 1) / lanes * 2;
    total += RoundUp(pairs, perBlock);
  }
  return total;
}

struct Extreme {
  float value = 0;
  int64_t index = -1;
};

// The first extreme lane; a NaN wins over every number.
Extreme FindExtreme(ReduceOp op, const float* values, int64_t begin, int64_t end,
                    const LaneSet& lanes, int64_t active) {
  Extreme best;
  const bool lastNan = ChosenOf(Choice::kReduceNanIndex) != 0;
  for (int64_t i = begin; i < end && i < active; ++i) {
    if (!lanes.prefix && !lanes.Works(i)) {
      continue;
    }
    const float v = values[i];
    if (lastNan && v != v) {
      best = {v, i};
      continue;
    }
    if (best.index < 0 || (Better(op, v, best.value) && best.value == best.value) ||
        (v != v && best.value == best.value)) {
      best = {v, i};
    }
  }
  return best;
}

// Returns whether an extreme of further lanes takes the place of the one found so far.
bool Replaces(ReduceOp op, const Extreme& next, const Extreme& best) {
  if (best.index < 0) return true;
  if (next.value != next.value && ChosenOf(Choice::kReduceNanIndex) != 0) return true;
  return best.value == best.value &&
         (Better(op, next.value, best.value) || next.value != next.value);
}

// GetReduceMaxMinCount returns these: the bits of the value, and the index among all lanes.
void KeepExtreme(Core& core, DType dtype, const Extreme& best) {
  core.registers.extreme[0] = 0;
  StoreLane(dtype, reinterpret_cast<uint8_t*>(&core.registers.extreme[0]), best.value);
  core.registers.extreme[1] = static_cast<uint32_t>(best.index);
}

}  // namespace

void VecWholeReduce(ReduceOp op, const Ub& dst, const Ub& src, const VecCtl& ctl,
                    uint8_t order) try {
  Core& core = Core::Current();
  core.instruction = NameOf(kWholeNames, op);
  const LaneSet lanes = ResolveReduce(core, ctl, src.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk s = CheckedWalk(core, lanes, src, "src", ctl, 1, false);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const bool pair = op != ReduceOp::kSum && order < 2;
  const bool indexOnly = op != ReduceOp::kSum && order == 3;
  if (op != ReduceOp::kSum &&
      ((core.soc.npuArch == 2002 && order > 1) || (core.soc.npuArch == 1001 && order > 0))) {
    PassFault("reduce-order",
              Format("ReduceOrder %u does not exist on %s", order, core.soc.name.c_str()),
              "Hardware stores value and index in its own order. Use ORDER_VALUE_INDEX.",
              "done all the same");
  }
  const int64_t unit = indexOnly ? 4 : (pair ? 2 : 1) * width;
  const int64_t step = unit * ctl.repStride[0];
  const int64_t extent = (lanes.repeat - 1) * step + unit;
  CheckOperand(core, dst, extent, "dst", unit);
  const auto body = [=, &core] {
    float values[kMaxLanes];
    if (op == ReduceOp::kSum) {
      for (int64_t begin = 0; begin < lanes.repeat; begin += kSumChunk) {
        const int64_t end = std::min(lanes.repeat, begin + kSumChunk);
        SumRepeats(s, lanes, begin, end, values);
        for (int64_t r = begin; r < end; ++r) {
          StoreLane(dst.dtype, dst.addr + r * step, values[r - begin]);
        }
      }
      return;
    }
    Extreme ofAll;
    for (int64_t r = 0; r < lanes.repeat; ++r) {
      uint8_t* to = dst.addr + r * step;
      LoadRepeat(s, lanes, r, 0.0f, values);
      const Extreme best = FindExtreme(op, values, 0, lanes.lanes, lanes, lanes.ActiveIn(r));
      if (Replaces(op, best, ofAll)) ofAll = {best.value, r * lanes.lanes + best.index};
      const auto index = static_cast<uint32_t>(best.index);  // stored as bits in the data type
      if (indexOnly) {
        std::memcpy(to, &index, sizeof(index));
        continue;
      }
      StoreLane(dst.dtype, to + (order == 1 ? width : 0), best.value);
      if (pair) {
        std::memcpy(to + (order == 0 ? width : 0), &index, static_cast<size_t>(width));
      }
    }
    KeepExtreme(core, src.dtype, ofAll);
  };
  IssueReduce(core, lanes, s, ResultAccess(core, dst, unit, lanes.repeat, step), Flow::kRepeats,
              body);
}
ACLSIM_SKIPS_FAULTS()

// The tree over the eight lanes of each block, for blocks that follow each other.
static void SumBlocks(const float* v, int64_t blocks, uint8_t* out) {
  for (int64_t b = 0; b < blocks; ++b, v += 8) {
    const float sum = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    std::memcpy(out + b * sizeof(sum), &sum, sizeof(sum));
  }
}

void VecBlockReduce(ReduceOp op, const Ub& dst, const Ub& src, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = NameOf(kBlockNames, op);
  const LaneSet lanes = ResolveReduce(core, ctl, src.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk s = CheckedWalk(core, lanes, src, "src", ctl, 1, false);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t step = kBlocksPerRepeat * width * ctl.repStride[0];
  const int64_t extent = (lanes.repeat - 1) * step + kBlocksPerRepeat * width;
  CheckOperand(core, dst, extent, "dst", kBlocksPerRepeat * width);
  const int64_t perBlock = kBlock / width;
  // A block without a working lane keeps its result; Ascend 950 writes what changes no other.
  const bool fills = core.soc.npuArch == 3510;
  const float neutral = NeutralOf(op);
  const auto body = [=] {
    float values[kMaxLanes];
    const bool wholeBlocks =
        lanes.prefix && lanes.active % perBlock == 0 && lanes.lastActive % perBlock == 0;
    for (int64_t r = 0; r < lanes.repeat; ++r) {
      if (op == ReduceOp::kSum && src.dtype == DType::kFloat && wholeBlocks && s.Dense() &&
          !SumsInSequence() && (!fills || lanes.ActiveIn(r) == lanes.lanes)) {
        SumBlocks(reinterpret_cast<const float*>(s.RepeatBase(r)), lanes.ActiveIn(r) / perBlock,
                  dst.addr + r * step);
        continue;
      }
      LoadRepeat(s, lanes, r, 0.0f, values);
      for (int64_t b = 0; b < kBlocksPerRepeat; ++b) {
        const Extreme best =
            FindExtreme(op, values, b * perBlock, (b + 1) * perBlock, lanes, lanes.ActiveIn(r));
        if (best.index < 0) {
          if (fills) {
            StoreLane(dst.dtype, dst.addr + r * step + b * width, neutral);
          }
          continue;
        }
        const float result =
            op == ReduceOp::kSum ? TreeSum(src.dtype, values + b * perBlock, perBlock) : best.value;
        StoreLane(dst.dtype, dst.addr + r * step + b * width, result);
      }
    }
  };
  Access results = ResultAccess(core, dst, kBlocksPerRepeat * width, lanes.repeat, step);
  const auto resultsOf = [&](int64_t active) {
    return static_cast<uint64_t>((active + perBlock - 1) / perBlock * width);
  };
  if (!fills) {
    results.bytes = resultsOf(lanes.active);
    results.lastBytes = resultsOf(lanes.lastActive);
  }
  IssueReduce(core, lanes, s, results, Flow::kGroups, body, nullptr, perBlock);
}
ACLSIM_SKIPS_FAULTS()

void VecPairReduceSum(const Ub& dst, const Ub& src, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "PairReduceSum";
  const LaneSet lanes = ResolveReduce(core, ctl, src.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk s = CheckedWalk(core, lanes, src, "src", ctl, 1, false);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t step = kRepeatBytes / 2 * ctl.repStride[0];
  const int64_t extent = (lanes.repeat - 1) * step + kRepeatBytes / 2;
  CheckOperand(core, dst, extent, "dst");
  const auto body = [=] {
    float values[kMaxLanes];
    for (int64_t r = 0; r < lanes.repeat; ++r) {
      LoadRepeat(s, lanes, r, 0.0f, values);
      const int64_t active = lanes.ActiveIn(r);
      for (int64_t i = 0; i < lanes.lanes / 2 && 2 * i < active; ++i) {
        if (lanes.Works(2 * i) || lanes.Works(2 * i + 1)) {
          StoreLane(dst.dtype, dst.addr + r * step + i * width, values[2 * i] + values[2 * i + 1]);
        }
      }
    }
  };
  Access results = ResultAccess(core, dst, kRepeatBytes / 2, lanes.repeat, step);
  results.bytes = static_cast<uint64_t>((lanes.active + 1) / 2 * width);
  results.lastBytes = static_cast<uint64_t>((lanes.lastActive + 1) / 2 * width);
  IssueReduce(core, lanes, s, results, Flow::kGroups, body, nullptr, 2);
}
ACLSIM_SKIPS_FAULTS()

// Also into the register that GetAccVal reads.
static void StoreSum(Core& core, const Ub& dst, float value) {
  StoreLane(dst.dtype, dst.addr, value);
  core.registers.sum = 0;
  std::memcpy(&core.registers.sum, dst.addr, WidthOf(dst.dtype));
}

// Adds the sums of all repeats, one after the other.
static float SumInOrder(const OperandWalk& src, const LaneSet& lanes, DType dtype) {
  float sums[kSumChunk];
  float total = 0;
  for (int64_t begin = 0; begin < lanes.repeat; begin += kSumChunk) {
    const int64_t end = std::min(lanes.repeat, begin + kSumChunk);
    SumRepeats(src, lanes, begin, end, sums);
    for (int64_t r = begin; r < end; ++r) {
      total = r == 0 ? sums[0] : RoundLane(dtype, total + sums[r - begin]);
    }
  }
  return total;
}

void VecAccumulateSum(const Ub& src, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = NameOf(kWholeNames, ReduceOp::kSum);
  const LaneSet lanes = ResolveReduce(core, ctl, src.dtype);
  if (IsIdle(core, lanes, src)) {
    return;
  }
  const OperandWalk s = CheckedWalk(core, lanes, src, "src", ctl, 1, false);
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = Flow::kAll;
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = src.dtype;
        record.Add(AccessOf(core, s, lanes));
      },
      [=, &core] {
        const float total = SumInOrder(s, lanes, src.dtype);
        core.registers.sum = 0;
        StoreLane(src.dtype, reinterpret_cast<uint8_t*>(&core.registers.sum), total);
      });
}
ACLSIM_SKIPS_FAULTS()

void VecReduceSum(const Ub& dst, const Ub& src, const Ub& work, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "ReduceSum";
  const LaneSet given = ResolveReduce(core, ctl, src.dtype, kMaxReduceRepeat);
  if (IsIdle(core, given, dst)) {
    return;
  }
  const bool ordered = given.contiguous && core.soc.npuArch == 2201;
  const int64_t firstRound = FirstRound(given);
  const LaneSet lanes = Repeated(given);
  const OperandWalk s = CheckedWalk(core, lanes, src, "src", ctl, 1, false);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  CheckOperand(core, dst, width, "dst", width);
  const Access result = UbAccess(core, Use::kWrite, dst, width);
  if (ordered) {
    IssueReduce(core, lanes, s, result, Flow::kAll,
                [=, &core] { StoreSum(core, dst, SumInOrder(s, lanes, dst.dtype)); });
    return;
  }
  // One partial sum per repeat goes through the work buffer; then trees over trees until one value is left.
  const int64_t workBytes = RoundUp(firstRound * width, kBlock);
  CheckOperand(core, work, workBytes, "sharedTmpBuffer");
  const Access scratch = UbAccess(core, Use::kSpoil, work, workBytes);
  const auto body = [=, &core] {
    thread_local std::vector<float> sums;  // keeps its memory from call to call
    sums.resize(static_cast<size_t>(lanes.repeat));
    SumRepeats(s, lanes, 0, lanes.repeat, sums.data());
    for (int64_t count = lanes.repeat; count > 1; count = (count + lanes.lanes - 1) / lanes.lanes) {
      for (int64_t begin = 0; begin < count; begin += lanes.lanes) {
        float values[kMaxLanes] = {};
        std::copy_n(sums.begin() + begin, std::min(count - begin, lanes.lanes), values);
        sums[static_cast<size_t>(begin / lanes.lanes)] = TreeSum(dst.dtype, values, lanes.lanes);
      }
    }
    SpoilWork(work, workBytes);
    StoreSum(core, dst, sums[0]);
  };
  IssueReduce(core, lanes, s, result, Flow::kAll, body, &scratch);
}
ACLSIM_SKIPS_FAULTS()

void VecReduceExtreme(ReduceOp op, const Ub& dst, const Ub& src, const Ub& work, const VecCtl& ctl,
                      bool calIndex) try {
  Core& core = Core::Current();
  core.instruction = NameOf(kExtremeNames, op);
  const LaneSet given = ResolveReduce(core, ctl, src.dtype, kMaxReduceRepeat);
  if (IsIdle(core, given, dst)) {
    return;
  }
  const int64_t firstRound = FirstRound(given);
  const LaneSet lanes = Repeated(given);
  const OperandWalk s = CheckedWalk(core, lanes, src, "src", ctl, 1, false);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t elements = (lanes.repeat - 1) * lanes.lanes + lanes.lastActive;
  if (calIndex && elements > MostIndices(width)) {
    ThrowFault("count-range",
               Format("%lld elements with their index, which has %lld bits: legal are up to %lld",
                      static_cast<long long>(elements), static_cast<long long>(width * 8),
                      static_cast<long long>(MostIndices(width))),
               "Hardware keeps the low bits of the index only. Next: a call for each part of the "
               "elements, or float.");
  }
  const int64_t extent = (calIndex ? 2 : 1) * width;
  CheckOperand(core, dst, extent, "dst", extent);
  const int64_t workBytes = ExtremeWork(firstRound, lanes.lanes, kBlock / width, calIndex) * width;
  CheckOperand(core, work, workBytes, "sharedTmpBuffer");
  const Access scratch = UbAccess(core, Use::kSpoil, work, workBytes);
  const auto body = [=, &core] {
    Extreme best;
    float values[kMaxLanes];
    for (int64_t r = 0; r < lanes.repeat; ++r) {
      LoadRepeat(s, lanes, r, 0.0f, values);
      const Extreme next = FindExtreme(op, values, 0, lanes.lanes, lanes, lanes.ActiveIn(r));
      if (Replaces(op, next, best)) best = {next.value, r * lanes.lanes + next.index};
    }
    // The scratch may be the source itself, and the destination may lie in the scratch.
    SpoilWork(work, workBytes);
    StoreLane(dst.dtype, dst.addr, best.value);
    const auto index = static_cast<uint32_t>(best.index);
    KeepExtreme(core, dst.dtype, best);
    if (calIndex) {
      std::memcpy(dst.addr + width, &index, static_cast<size_t>(width));
    }
  };
  IssueReduce(core, lanes, s, UbAccess(core, Use::kWrite, dst, extent), Flow::kAll, body, &scratch);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

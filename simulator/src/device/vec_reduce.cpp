// SPDX-License-Identifier: Apache-2.0
// Reductions over a repeat, a block or a pair. Sums follow the hardware's binary tree, rounding at every level.
#include "device/vec.h"

namespace aclsim {

namespace {

constexpr const char* kWholeNames[] = {"WholeReduceSum", "WholeReduceMax", "WholeReduceMin"};
constexpr const char* kBlockNames[] = {"BlockReduceSum", "BlockReduceMax", "BlockReduceMin"};

float LoadLane(DType dtype, const uint8_t* addr) {
  if (dtype == DType::kFloat) {
    float value;
    std::memcpy(&value, addr, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, addr, sizeof(bits));
  return HalfToFloat(bits);
}

void StoreLane(DType dtype, uint8_t* addr, float value) {
  if (dtype == DType::kFloat) {
    std::memcpy(addr, &value, sizeof(value));
    return;
  }
  const uint16_t bits = FloatToHalf(value);
  std::memcpy(addr, &bits, sizeof(bits));
}

float RoundLane(DType dtype, float value) { return dtype == DType::kFloat ? value : HalfToFloat(FloatToHalf(value)); }

// Neighbours are added first; n is a power of two.
float TreeSum(DType dtype, float* lanes, int64_t n) {
  for (; n > 1; n /= 2) {
    for (int64_t i = 0; i < n / 2; ++i) {
      lanes[i] = RoundLane(dtype, lanes[2 * i] + lanes[2 * i + 1]);
    }
  }
  return lanes[0];
}

// Lanes of one repeat as float, those that take no part as the operation's neutral element.
void LoadRepeat(const OperandWalk& src, const LaneSet& lanes, int64_t r, float neutral, float* out) {
  alignas(64) uint8_t temp[kRepeatBytes * 2];
  const int64_t active = lanes.ActiveIn(r);
  const uint8_t* from = GatherRepeat(src, r, active, temp);
  for (int64_t i = 0; i < lanes.lanes; ++i) {
    const bool works = i < active && (lanes.prefix || lanes.Works(i));
    out[i] = works ? LoadLane(src.ub.dtype, from + i * src.width) : neutral;
  }
}

void RequireFloat(Core& core, DType dtype) {
  if (dtype != DType::kFloat && dtype != DType::kHalf) {
    UnsupportedDType(core, core.instruction, dtype);
  }
}

void EmitReduce(Core& core, const LaneSet& lanes, const OperandWalk& src, const Ub& dst, int64_t dstBytes) {
  if (!core.Observed()) {
    return;
  }
  Record record{core.instruction, Pipe::kVector, {}, 2, static_cast<int32_t>(lanes.repeat)};
  record.access[0] = {false, true, core.UbOffset(dst.addr), static_cast<uint64_t>(dstBytes)};
  record.access[1] = {false, false, core.UbOffset(src.ub.addr), static_cast<uint64_t>(src.Extent(lanes))};
  core.Emit(record);
}

float SumRepeat(const OperandWalk& src, const LaneSet& lanes, int64_t r) {
  if (src.ub.dtype == DType::kFloat && lanes.prefix) {
    alignas(64) uint8_t temp[kRepeatBytes];
    const int64_t active = lanes.ActiveIn(r);
    return Lanes().treeSumFloat(reinterpret_cast<const float*>(GatherRepeat(src, r, active, temp)),
                                static_cast<size_t>(active));
  }
  float values[kMaxLanes];
  LoadRepeat(src, lanes, r, 0.0f, values);
  return TreeSum(src.ub.dtype, values, lanes.lanes);
}

struct Extreme {
  float value = 0;
  int64_t index = -1;
};

// The first extreme lane; a NaN wins over every number.
Extreme FindExtreme(ReduceOp op, const float* values, int64_t begin, int64_t end, const LaneSet& lanes, int64_t active) {
  Extreme best;
  for (int64_t i = begin; i < end && i < active; ++i) {
    if (!lanes.prefix && !lanes.Works(i)) {
      continue;
    }
    const float v = values[i];
    const bool better = op == ReduceOp::kMax ? v > best.value : v < best.value;
    if (best.index < 0 || (better && best.value == best.value) || (v != v && best.value == best.value)) {
      best = {v, i};
    }
  }
  return best;
}

}  // namespace

void VecWholeReduce(ReduceOp op, const Ub& dst, const Ub& src, const VecCtl& ctl, uint8_t order) {
  Core& core = Core::Current();
  core.instruction = kWholeNames[static_cast<size_t>(op)];
  RequireFloat(core, src.dtype);
  const LaneSet lanes = ResolveLanes(core, ctl, WidthOf(src.dtype));
  if (lanes.Empty()) {
    return;
  }
  const OperandWalk s = MakeWalk(src, "src", ctl, 1, false);
  CheckWalk(core, s, lanes);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const bool pair = op != ReduceOp::kSum && order < 2;
  const int64_t step = (pair ? 2 : 1) * width * ctl.repStride[0];
  const int64_t extent = (lanes.repeat - 1) * step + (pair ? 2 : 1) * width;
  core.CheckUb(dst, 0, extent, "dst");
  core.CheckUbAlign(dst, static_cast<uint32_t>((pair ? 2 : 1) * width), "dst");
  EmitReduce(core, lanes, s, dst, extent);
  float values[kMaxLanes];
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    uint8_t* to = dst.addr + r * step;
    if (op == ReduceOp::kSum) {
      StoreLane(dst.dtype, to, SumRepeat(s, lanes, r));
      continue;
    }
    LoadRepeat(s, lanes, r, 0.0f, values);
    const Extreme best = FindExtreme(op, values, 0, lanes.lanes, lanes, lanes.ActiveIn(r));
    const auto index = static_cast<uint32_t>(best.index);  // stored as bits in the data type
    const bool valueFirst = order == 0 || order == 2;
    if (order != 3) {
      StoreLane(dst.dtype, to + (valueFirst ? 0 : width), best.value);
    }
    if (order != 2) {
      std::memcpy(to + (order == 0 ? width : 0), &index, static_cast<size_t>(width));
    }
  }
}

void VecBlockReduce(ReduceOp op, const Ub& dst, const Ub& src, const VecCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = kBlockNames[static_cast<size_t>(op)];
  RequireFloat(core, src.dtype);
  const LaneSet lanes = ResolveLanes(core, ctl, WidthOf(src.dtype));
  if (lanes.Empty()) {
    return;
  }
  const OperandWalk s = MakeWalk(src, "src", ctl, 1, false);
  CheckWalk(core, s, lanes);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t step = kBlocksPerRepeat * width * ctl.repStride[0];
  const int64_t extent = (lanes.repeat - 1) * step + kBlocksPerRepeat * width;
  core.CheckUb(dst, 0, extent, "dst");
  core.CheckUbAlign(dst, static_cast<uint32_t>(kBlocksPerRepeat * width), "dst");
  EmitReduce(core, lanes, s, dst, extent);
  const int64_t perBlock = kBlock / width;
  float values[kMaxLanes];
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    LoadRepeat(s, lanes, r, 0.0f, values);
    for (int64_t b = 0; b < kBlocksPerRepeat; ++b) {
      const Extreme best =
          FindExtreme(op, values, b * perBlock, (b + 1) * perBlock, lanes, lanes.ActiveIn(r));
      if (best.index < 0) {
        continue;  // a block without a working lane writes nothing
      }
      const float result = op == ReduceOp::kSum ? TreeSum(src.dtype, values + b * perBlock, perBlock) : best.value;
      StoreLane(dst.dtype, dst.addr + r * step + b * width, result);
    }
  }
}

void VecPairReduceSum(const Ub& dst, const Ub& src, const VecCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "PairReduceSum";
  RequireFloat(core, src.dtype);
  const LaneSet lanes = ResolveLanes(core, ctl, WidthOf(src.dtype));
  if (lanes.Empty()) {
    return;
  }
  const OperandWalk s = MakeWalk(src, "src", ctl, 1, false);
  CheckWalk(core, s, lanes);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t step = kRepeatBytes / 2 * ctl.repStride[0];
  const int64_t extent = (lanes.repeat - 1) * step + kRepeatBytes / 2;
  core.CheckUb(dst, 0, extent, "dst");
  core.CheckUbAlign(dst, kBlock, "dst");
  EmitReduce(core, lanes, s, dst, extent);
  float values[kMaxLanes];
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    LoadRepeat(s, lanes, r, 0.0f, values);
    for (int64_t i = 0; i < lanes.lanes / 2; ++i) {
      if (lanes.Works(2 * i) || lanes.Works(2 * i + 1)) {
        StoreLane(dst.dtype, dst.addr + r * step + i * width, values[2 * i] + values[2 * i + 1]);
      }
    }
  }
}

void VecReduceSum(const Ub& dst, const Ub& src, const Ub& work, const VecCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "ReduceSum";
  RequireFloat(core, src.dtype);
  LaneSet lanes = ResolveLanes(core, ctl, WidthOf(src.dtype));
  if (lanes.Empty()) {
    return;
  }
  const bool countForm = lanes.contiguous;
  if (countForm) {
    // Walk the count form repeat by repeat: dense repeats, the last one partial.
    const int64_t total = lanes.total;
    lanes.contiguous = false;
    lanes.active = lanes.lanes;
    lanes.bits[0] = lanes.bits[1] = ~0ull;
    lanes.lastActive = total - (lanes.repeat - 1) * lanes.lanes;
  }
  const OperandWalk s = MakeWalk(src, "src", ctl, 1, false);
  CheckWalk(core, s, lanes);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  core.CheckUb(dst, 0, width, "dst");
  core.CheckUbAlign(dst, static_cast<uint32_t>(width), "dst");
  const bool ordered = countForm && core.soc.npuArch == 2201;
  if (!ordered) {
    // The other forms keep one partial sum per repeat in the work buffer.
    const int64_t perBlock = kBlock / width;
    core.CheckUb(work, 0, (lanes.repeat + perBlock - 1) / perBlock * kBlock, "sharedTmpBuffer");
    core.CheckUbAlign(work, kBlock, "sharedTmpBuffer");
  }
  EmitReduce(core, lanes, s, dst, width);
  std::vector<float> sums(static_cast<size_t>(lanes.repeat));
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    sums[static_cast<size_t>(r)] = SumRepeat(s, lanes, r);
  }
  if (ordered) {
    float total = sums[0];
    for (size_t r = 1; r < sums.size(); ++r) {
      total = RoundLane(dst.dtype, total + sums[r]);
    }
    StoreLane(dst.dtype, dst.addr, total);
    return;
  }
  // Trees over trees until one value is left.
  while (sums.size() > 1) {
    std::vector<float> next;
    for (size_t begin = 0; begin < sums.size(); begin += static_cast<size_t>(lanes.lanes)) {
      float values[kMaxLanes] = {};
      const size_t n = std::min(sums.size() - begin, static_cast<size_t>(lanes.lanes));
      std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(begin), n, values);
      next.push_back(TreeSum(dst.dtype, values, lanes.lanes));
    }
    sums = std::move(next);
  }
  StoreLane(dst.dtype, dst.addr, sums[0]);
}

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// High-level functions of quantisation: the documented steps with their roundings.
#include "ascendc/high_quant_abi.h"

#include "device/high.h"
#include "device/high_sizes.h"

namespace aclsim {

namespace {

float ToHalf(float value) { return HalfToFloat(FloatToHalf(value)); }

// The first step turns every operand into half; a half is itself.
float HalfAt(const Ub& ub, int64_t i) {
  return ToHalf(static_cast<float>(LoadFloat(ub.dtype, ub.addr, i)));
}

int8_t Saturated(float value) {
  constexpr float kMost = 127;
  constexpr float kLeast = -128;
  if (value != value) {
    return 0;
  }
  return static_cast<int8_t>(std::clamp(std::nearbyint(value), kLeast, kMost));
}

// The type of a scale's element: float, bf16, or float in the lower half of 64 bits.
float ScaleAt(const Ub& ub, int64_t i) {
  if (ub.dtype == DType::kBf16) {
    uint16_t bits;
    std::memcpy(&bits, ub.addr + i * 2, sizeof(bits));
    return Bf16ToFloat(bits);
  }
  float value;
  std::memcpy(&value, ub.addr + i * static_cast<int64_t>(WidthOf(ub.dtype)), sizeof(value));
  return value;
}

bool IsDequantType(DType dst, DType scale, bool scalar) {
  if (dst == DType::kHalf) {
    return !scalar && scale == DType::kUint64;
  }
  return (dst == DType::kFloat || dst == DType::kBf16) &&
         (scalar || scale == DType::kFloat || scale == DType::kBf16);
}

void StoreRounded(DType dtype, uint8_t* lanes, int64_t i, float value) {
  if (dtype == DType::kBf16) {
    const uint16_t bits = FloatToBf16(value);
    std::memcpy(lanes + i * 2, &bits, sizeof(bits));
    return;
  }
  StoreFloat(dtype, lanes, i, value);
}

}  // namespace

void HighQuantize(const HighQuantCall& call) try {
  Core& core = Core::Current();
  core.instruction = "AscendQuant";
  const DType dtype = call.src.dtype;
  RequireFloat(core, dtype);
  const int64_t count = call.count;
  const int64_t channels = call.channels != 0 ? call.channels : count;
  if (channels != 0 && (count % channels != 0 || (call.offsets != 0 && call.offsets != channels))) {
    ThrowFault("shape",
               Format("%u elements with %u scales and %u offsets", call.count, call.channels,
                      call.offsets),
               "Hardware would use other channels. There are as many offsets as scales, and whole "
               "rows of them.");
  }
  ResetMaskRegister(core);
  if (count == 0) {
    return;
  }
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const HighOperand dst = {&call.dst, count, "dst"};
  const HighOperand src = {&call.src, count * width, "src"};
  const HighOperand scale = {&call.scale, call.channels * width, "scaleTensor"};
  const HighOperand offset = {&call.offset, call.offsets * width, "offsetTensor"};
  for (const HighOperand& operand : {dst, src, scale, offset}) {
    if (operand.bytes != 0) {
      CheckHighOperand(core, operand);
    }
  }
  CheckHighOverlap(core, dst, src, false);
  CheckHighWork(core, call.work, kQuantScratch, {dst, src, scale, offset});
  const int64_t rows = count / channels;
  const auto read = [&](const HighOperand& operand, int64_t step) {
    return operand.bytes == 0
               ? Access{}
               : HighRows(core, Use::kRead, *operand.ub, rows, channels * width, step);
  };
  IssueHighLevel(
      core, call.channels == 0 ? Flow::kLanes : Flow::kRepeats, dtype,
      {WorkAccess(core, call.work), HighRows(core, Use::kWrite, call.dst, rows, channels, channels),
       read(src, channels * width), read(scale, 0), read(offset, 0)},
      [=] {
        for (int64_t i = 0; i < count; ++i) {
          const float s =
              ToHalf(call.channels == 0 ? call.scaleValue : HalfAt(call.scale, i % channels));
          const float o =
              ToHalf(call.offsets == 0 ? call.offsetValue : HalfAt(call.offset, i % channels));
          const float value = ToHalf(ToHalf(HalfAt(call.src, i) * s) + o);
          const int8_t rounded = Saturated(value);
          std::memcpy(call.dst.addr + i, &rounded, sizeof(rounded));
        }
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

void HighDequantize(const HighDequantCall& call) try {
  Core& core = Core::Current();
  core.instruction = "AscendDequant";
  const DType dtype = call.dst.dtype;
  if (!IsDequantType(dtype, call.scale.dtype, call.scalar)) {
    UnsupportedDType(core, core.instruction, call.scalar ? dtype : call.scale.dtype);
  }
  constexpr int64_t kWidth = sizeof(int32_t);
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t rows = call.rows;
  const int64_t counted = call.counted;
  const int64_t rowBytes = call.columns * kWidth;
  if (rowBytes % kBlock != 0 || counted > call.columns) {
    ThrowFault(
        "shape",
        Format("rows of %u elements of int32_t, of which %u count", call.columns, call.counted),
        "Hardware would mix rows. n fills whole 32-byte blocks and is not below calCount.");
  }
  ResetMaskRegister(core);
  if (rows == 0 || counted == 0) {
    return;
  }
  const int64_t dstBytes = (call.columns * width + kBlock - 1) / kBlock * kBlock;
  const HighOperand dst = {&call.dst, rows * dstBytes, "dst"};
  const HighOperand src = {&call.src, rows * rowBytes, "src"};
  const HighOperand scale = {
      &call.scale, call.scalar ? 0 : counted * static_cast<int64_t>(WidthOf(call.scale.dtype)),
      "deqScale"};
  CheckHighOperand(core, dst);
  CheckHighOperand(core, src);
  CheckHighOverlap(core, dst, src, false);
  if (!call.scalar) {
    CheckHighOperand(core, scale);
    CheckHighOverlap(core, dst, scale, false);
  }
  CheckHighWork(core, call.work, DequantScratch(1, call.columns), {dst, src, scale});
  IssueHighLevel(
      core, Flow::kRepeats, dtype,
      {WorkAccess(core, call.work),
       HighRows(core, Use::kWrite, call.dst, rows, counted * width, dstBytes),
       HighRows(core, Use::kRead, call.src, rows, counted * kWidth, rowBytes),
       call.scalar ? Access{} : HighRows(core, Use::kRead, call.scale, rows, scale.bytes, 0)},
      [=] {
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < counted; ++i) {
            int32_t value;
            std::memcpy(&value, call.src.addr + r * rowBytes + i * kWidth, sizeof(value));
            const float s = call.scalar ? call.scaleValue : ScaleAt(call.scale, i);
            StoreRounded(dtype, call.dst.addr + r * dstBytes, i, static_cast<float>(value) * s);
          }
        }
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

namespace {

// One call of AscendAntiQuant, with its elements as rows.
struct AntiQuantCall : HighAntiQuantCall {
  static constexpr int64_t kWidth = 2;

  explicit AntiQuantCall(const HighAntiQuantCall& call)
      : HighAntiQuantCall(call),
        half(dst.dtype == DType::kHalf),
        channels(k == 0 ? 0 : count / k),
        columns(transposed ? k : channels),
        groups(scalar || channels == 0 ? 1 : scales / channels) {}

  bool IsLegal() const {
    return k != 0 && count % k == 0 && columns % kBlock == 0 && groups != 0 && k % groups == 0 &&
           (scalar || groups * channels == scales);
  }
  int64_t ScaleBytes() const { return scalar ? 0 : scales * kWidth; }
  float Factor(const Ub& ub, int64_t at) const { return half ? HalfAt(ub, at) : ScaleAt(ub, at); }
  float OffsetAt(int64_t at) const {
    return scalar ? offsetValue : hasOffset ? Factor(offset, at) : 0.0f;
  }
  void Run() const {
    const int64_t group = k / groups;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = i / columns;
      const int64_t column = i % columns;
      const int64_t at =
          transposed ? row * groups + column / group : row / group * columns + column;
      const float s = scalar ? scaleValue : Factor(scale, at);
      int8_t x;
      std::memcpy(&x, src.addr + i, sizeof(x));
      const float moved = static_cast<float>(x) + OffsetAt(at);
      StoreRounded(dst.dtype, dst.addr, i, (half ? ToHalf(moved) : moved) * s);
    }
    SpoilHighWork(work);
  }

  bool half;
  int64_t channels;
  int64_t columns;  // elements that follow each other in a row
  int64_t groups;   // scales along K
};

}  // namespace

void HighAntiQuantize(const HighAntiQuantCall& given) try {
  Core& core = Core::Current();
  core.instruction = "AscendAntiQuant";
  const DType dtype = given.dst.dtype;
  if (dtype != DType::kHalf && dtype != DType::kBf16) {
    UnsupportedDType(core, core.instruction, dtype);
  }
  const AntiQuantCall call(given);
  if (!call.IsLegal()) {
    ThrowFault("shape",
               Format("%u elements with K of %u and %u scales", call.count, call.k, call.scales),
               "Hardware would take scales of other channels. The source is [K, N], [N, K] when it "
               "is transposed, rows fill whole 32-byte blocks, and every channel has as many "
               "scales as groups divide K (SetSize).");
  }
  ResetMaskRegister(core);
  constexpr int64_t kWidth = AntiQuantCall::kWidth;
  const HighOperand dst = {&call.dst, call.count * kWidth, "dst"};
  const HighOperand src = {&call.src, call.count, "src"};
  const HighOperand scale = {&call.scale, call.ScaleBytes(), "scale"};
  const HighOperand offset = {&call.offset, call.hasOffset ? call.ScaleBytes() : 0, "offset"};
  for (const HighOperand& operand : {dst, src, scale, offset}) {
    if (operand.bytes != 0) {
      CheckHighOperand(core, operand);
    }
  }
  for (const HighOperand& operand : {src, scale, offset}) {
    if (operand.bytes != 0) {
      CheckHighOverlap(core, dst, operand, false);
    }
  }
  CheckHighWork(core, call.work,
                AntiQuantScratch(call.half, call.scalar, call.transposed, call.k, call.scales),
                {dst, src, scale, offset});
  const int64_t columns = call.columns;
  const int64_t rows = call.count / columns;
  const auto shared = [&](const HighOperand& operand) {
    return operand.bytes == 0 ? Access{}
                              : HighRows(core, Use::kRead, *operand.ub, rows, operand.bytes, 0);
  };
  IssueHighLevel(
      core, Flow::kRepeats, dtype,
      {WorkAccess(core, call.work),
       HighRows(core, Use::kWrite, call.dst, rows, columns * kWidth, columns * kWidth),
       HighRows(core, Use::kRead, call.src, rows, columns, columns), shared(scale), shared(offset)},
      [call] { call.Run(); });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

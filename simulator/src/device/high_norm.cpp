// SPDX-License-Identifier: Apache-2.0
// High-level functions of normalisation. Evaluated in double, rounded once.
#include <vector>

#include "ascendc/high_norm_abi.h"
#include "device/high.h"
#include "device/high_sizes.h"

namespace aclsim {

namespace {

constexpr const char* kNames[] = {"LayerNorm", "LayerNorm", "RmsNorm",
                                  "GroupNorm", "BatchNorm", "Normalize"};
static_assert(std::size(kNames) == static_cast<size_t>(HighNorm::kCount));

// This says where the elements of a row lie, in elements, and which gamma they take.
struct Layout {
  int64_t rowStep;
  int64_t step;
  int64_t perChannel;  // elements that share a gamma; 1: each has its own
  int64_t channels;
  int64_t groups;

  int64_t Gamma(int64_t row, int64_t i) const {
    return row % groups * (groups > 1 ? channels : 0) + i / perChannel;
  }
};

Layout LayoutOf(HighNorm op, const HighNormCall& call) {
  if (op == HighNorm::kBatchNorm) {
    return {1, call.step, 1, 1, 1};
  }
  if (op == HighNorm::kGroupNorm) {
    return {call.step, 1, std::max<int64_t>(call.counted / std::max(call.channels, 1u), 1),
            call.channels, call.groups};
  }
  return {call.step, 1, 1, 1, 1};
}

void RunRow(HighNorm op, const HighNormCall& call, const Layout& layout, int64_t row) {
  const DType dtype = call.src.dtype;
  const int64_t base = row * layout.rowStep;
  const int64_t counted = call.counted;
  const auto x = [&](int64_t i) { return LoadFloat(dtype, call.src.addr, base + i * layout.step); };
  double mean = 0;
  double variance = 0;
  if (op == HighNorm::kNormalize) {
    mean = LoadFloat(call.mean.dtype, call.mean.addr, row);
    variance = LoadFloat(call.variance.dtype, call.variance.addr, row);
  } else {
    for (int64_t i = 0; op != HighNorm::kRmsNorm && i < counted; ++i) {
      mean += x(i) / static_cast<double>(counted);
    }
    for (int64_t i = 0; i < counted; ++i) {
      variance += (x(i) - mean) * (x(i) - mean) / static_cast<double>(counted);
    }
  }
  const double rstd = 1 / std::sqrt(variance + static_cast<double>(call.epsilon));
  // Padding goes through the same arithmetic; nobody counts on it.
  const int64_t written = layout.step == 1 ? layout.rowStep : counted;
  for (int64_t i = 0; i < written; ++i) {
    const int64_t g = layout.Gamma(row, i);
    const double gamma = call.hasGamma ? LoadFloat(call.gamma.dtype, call.gamma.addr, g) : 1.0;
    const double beta = call.hasBeta ? LoadFloat(call.beta.dtype, call.beta.addr, g) : 0.0;
    StoreFloat(dtype, call.dst.addr, base + i * layout.step, (x(i) - mean) * rstd * gamma + beta);
  }
  if (op != HighNorm::kNormalize && call.hasMean) {
    StoreFloat(call.mean.dtype, call.mean.addr, row, mean);
  }
  if (op != HighNorm::kNormalize && call.hasVariance) {
    StoreFloat(call.variance.dtype, call.variance.addr, row, variance);
  }
  if (call.hasRstd) {
    StoreFloat(call.rstd.dtype, call.rstd.addr, row, rstd);
  }
}

int64_t LeastScratch(HighNorm op, const HighNormCall& call, int64_t width) {
  switch (op) {
    case HighNorm::kLayerNorm:
      return LayerNormScratch(width, call.rows, call.step, call.reuseSource);
    case HighNorm::kLayerNormRows:
      return LayerNormRowsScratch(width, call.rows, call.step);
    case HighNorm::kRmsNorm:
      return RmsNormScratch(width, call.step);
    case HighNorm::kGroupNorm:
      return GroupNormScratch(width, call.rows, call.step, call.reuseSource);
    case HighNorm::kBatchNorm:
      return BatchNormScratch(width, call.counted, call.step);
    default:
      return NormalizeScratch(static_cast<int64_t>(WidthOf(call.gamma.dtype)), call.rows,
                              call.step);
  }
}

void CheckRows(HighNorm op, const HighNormCall& call) {
  const auto width = static_cast<int64_t>(WidthOf(call.src.dtype));
  const int64_t counted = call.counted;
  const bool group = op == HighNorm::kGroupNorm;
  const int64_t channel = group ? counted / call.channels : 0;
  if (call.step * width % kBlock != 0 || (op != HighNorm::kBatchNorm && counted > call.step) ||
      (call.rows != 0 && counted == 0) ||
      (group && (counted != call.step || channel * width % kBlock != 0)) ||
      (call.hasGamma && static_cast<int64_t>(WidthOf(call.gamma.dtype)) < width)) {
    ThrowFault("shape",
               Format("%lld rows of %lld elements of %s, %u elements from one to the next; gamma "
                      "of %s",
                      static_cast<long long>(call.rows), static_cast<long long>(counted),
                      NameOf(call.src.dtype), call.step, NameOf(call.gamma.dtype)),
               "Hardware would mix rows. Rows (channels in GroupNorm) fill whole 32-byte blocks, "
               "and gamma is not narrower than the source. The numbers are those of the tiling "
               "struct: fill it on the host with the function's Get...TilingInfo.");
  }
}

int64_t GammasOf(HighNorm op, const HighNormCall& call) {
  switch (op) {
    case HighNorm::kBatchNorm:
      return call.counted;
    case HighNorm::kGroupNorm:
      return int64_t{call.channels} * call.groups;
    default:
      return call.step;
  }
}

// The operands of a call; what it does not have is of 0 bytes.
struct NormOperands {
  HighOperand dst, src, mean, variance, rstd, gamma, beta;
};

NormOperands OperandsOf(HighNorm op, const HighNormCall& call) {
  const bool known = op == HighNorm::kNormalize;
  const int64_t rows = op == HighNorm::kBatchNorm ? int64_t{call.counted} : int64_t{call.rows};
  const int64_t bytes = rows * call.step * static_cast<int64_t>(WidthOf(call.src.dtype));
  const auto of = [](const Ub& ub, const char* role, int64_t elements) {
    return HighOperand{&ub, elements * static_cast<int64_t>(WidthOf(ub.dtype)), role};
  };
  const auto result = [&](const Ub& ub, const char* role, bool has) {
    return of(ub, role, has ? int64_t{call.rows} : 0);
  };
  const auto factor = [&](const Ub& ub, const char* role, bool has) {
    return of(ub, role, has ? GammasOf(op, call) : 0);
  };
  return {{&call.dst, bytes, "output"},
          {&call.src, bytes, "inputX"},
          result(call.mean, known ? "inputMean" : "outputMean", call.hasMean),
          result(call.variance, known ? "inputVariance" : "outputVariance", call.hasVariance),
          result(call.rstd, "outputRstd", call.hasRstd),
          factor(call.gamma, "gamma", call.hasGamma),
          factor(call.beta, "beta", call.hasBeta)};
}

void CheckOperands(Core& core, HighNorm op, const HighNormCall& call,
                   const NormOperands& operands) {
  const auto& [dst, src, mean, variance, rstd, gamma, beta] = operands;
  CheckHighOperand(core, dst);
  CheckHighOperand(core, src);
  CheckHighOverlap(core, dst, src, op != HighNorm::kLayerNormRows && op != HighNorm::kNormalize);
  for (const HighOperand& operand : {mean, variance, rstd, gamma, beta}) {
    if (operand.bytes != 0) {
      CheckHighOperand(core, operand);
      CheckHighOverlap(core, dst, operand, false);
    }
  }
  const auto width = static_cast<int64_t>(WidthOf(call.src.dtype));
  CheckHighWork(core, call.work, LeastScratch(op, call, width),
                {dst, src, mean, variance, rstd, gamma, beta});
}

}  // namespace

void HighNormalize(HighNorm op, const HighNormCall& call) try {
  Core& core = Core::Current();
  core.instruction = kNames[static_cast<size_t>(op)];
  RequireFloat(core, call.src.dtype);
  if (call.hasGamma) {
    RequireFloat(core, call.gamma.dtype);
  }
  CheckRows(op, call);
  ResetMaskRegister(core);
  if (call.rows == 0) {
    return;
  }
  const NormOperands operands = OperandsOf(op, call);
  CheckOperands(core, op, call, operands);
  const auto width = static_cast<int64_t>(WidthOf(call.src.dtype));
  const bool batch = op == HighNorm::kBatchNorm;
  const int64_t rows = call.rows;
  const int64_t rowBytes = int64_t{call.step} * width;
  // A row's values come from its own elements and from gammas that all rows share.
  const auto values = [&](Use use, const Ub& ub, int64_t elements) {
    return batch ? HighColumns(core, use, ub, elements, rows, rowBytes)
                 : HighRows(core, use, ub, rows, elements * width, rowBytes);
  };
  const auto shared = [&](const HighOperand& operand) {
    return operand.bytes == 0 ? Access{}
                              : HighRows(core, Use::kRead, *operand.ub, rows, operand.bytes, 0);
  };
  const auto one = [&](Use use, const HighOperand& operand) {
    const auto element = static_cast<int64_t>(WidthOf(operand.ub->dtype));
    return operand.bytes == 0 ? Access{} : HighRows(core, use, *operand.ub, rows, element, element);
  };
  const Use statistics = op == HighNorm::kNormalize ? Use::kRead : Use::kWrite;
  IssueHighLevel(
      core, Flow::kRepeats, call.src.dtype,
      {WorkAccess(core, call.work), values(Use::kWrite, call.dst, batch ? call.counted : call.step),
       one(Use::kWrite, operands.rstd), one(statistics, operands.mean),
       one(statistics, operands.variance), values(Use::kRead, call.src, call.counted),
       shared(operands.gamma), shared(operands.beta)},
      [call, op, layout = LayoutOf(op, call)] {
        for (int64_t r = 0; r < call.rows; ++r) {
          RunRow(op, call, layout, r);
        }
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

void HighWelfordUpdate(const HighWelfordUpdateCall& call) try {
  Core& core = Core::Current();
  core.instruction = "WelfordUpdate";
  RequireFloat(core, call.src.dtype);
  const auto width = static_cast<int64_t>(WidthOf(call.src.dtype));
  if (call.rows != 1) {
    ThrowFault("shape", Format("rnLength %u, legal is 1", call.rows),
               "Hardware computes the first row, or mixes rows. Call it once for each row.");
  }
  if (call.length * width % kBlock != 0 || call.counted > call.length || call.counted == 0) {
    ThrowFault("shape",
               Format("abComputeLength %u of abLength %u elements of %s", call.counted, call.length,
                      NameOf(call.src.dtype)),
               "Hardware would compute other lanes. abLength fills whole 32-byte blocks of inputX, "
               "and abComputeLength is at least 1 and not longer.");
  }
  ResetMaskRegister(core);
  constexpr int64_t kFloat = sizeof(float);
  // Behind the lanes that count, the results keep their values or take those of the operands.
  const int64_t written = (call.keepRest ? call.length : call.counted) * kFloat;
  const HighOperand outMean = {&call.outMean, written, "outputMean"};
  const HighOperand outVariance = {&call.outVariance, written, "outputVariance"};
  const HighOperand inMean = {&call.inMean, written, "inputMean"};
  const HighOperand inVariance = {&call.inVariance, written, "inputVariance"};
  const HighOperand src = {&call.src, call.counted * width, "inputX"};
  for (const HighOperand& operand : {outMean, outVariance, inMean, inVariance, src}) {
    CheckHighOperand(core, operand);
  }
  for (const HighOperand& result : {outMean, outVariance}) {
    for (const HighOperand& operand : {inMean, inVariance, src}) {
      CheckHighOverlap(core, result, operand, false);
    }
  }
  CheckHighOverlap(core, outMean, outVariance, false);
  CheckHighWork(core, call.work, WelfordUpdateScratch(width, call.reuseSource),
                {outMean, outVariance, inMean, inVariance, src});
  const auto access = [&](Use use, const HighOperand& operand) {
    return UbAccess(core, use, *operand.ub, operand.bytes);
  };
  IssueHighLevel(
      core, Flow::kLanes, DType::kFloat,
      {WorkAccess(core, call.work), access(Use::kWrite, outMean), access(Use::kWrite, outVariance),
       access(Use::kRead, inMean), access(Use::kRead, inVariance), access(Use::kRead, src)},
      [=] {
        for (int64_t i = 0; i < written / kFloat; ++i) {
          const double mean = LoadFloat(DType::kFloat, call.inMean.addr, i);
          const double sum = LoadFloat(DType::kFloat, call.inVariance.addr, i);
          const bool counts = i < call.counted;
          const double x = counts ? LoadFloat(call.src.dtype, call.src.addr, i) : mean;
          const double next = mean + (x - mean) * static_cast<double>(call.reciprocal);
          StoreFloat(DType::kFloat, call.outMean.addr, i, counts ? next : mean);
          StoreFloat(DType::kFloat, call.outVariance.addr, i,
                     counts ? sum + (x - mean) * (x - next) : sum);
        }
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

void HighWelfordFinalize(const HighWelfordFinalizeCall& call) try {
  Core& core = Core::Current();
  core.instruction = "WelfordFinalize";
  constexpr int64_t kFloat = sizeof(float);
  const bool split = !call.hasCounts;
  if (call.length == 0 || call.length * kFloat % kBlock != 0 ||
      (split && call.headLength + call.tailLength != call.length) ||
      (split && call.tailCount == 0 && call.tailLength != 0)) {
    ThrowFault("shape",
               Format("abLength %u, headCountLength %u, tailCountLength %u with tailCount %u",
                      call.length, call.headLength, call.tailLength, call.tailCount),
               "Hardware would count other lanes. abLength is a multiple of 8, head and tail add "
               "up to it, and a tailCount of 0 has no lanes.");
  }
  ResetMaskRegister(core);
  const int64_t bytes = call.length * kFloat;
  const HighOperand outMean = {&call.outMean, kFloat, "outputMean"};
  const HighOperand outVariance = {&call.outVariance, kFloat, "outputVariance"};
  const HighOperand inMean = {&call.inMean, bytes, "inputMean"};
  const HighOperand inVariance = {&call.inVariance, bytes, "inputVariance"};
  const HighOperand counts = {&call.counts, call.hasCounts ? bytes : 0, "counts"};
  for (const HighOperand& operand : {outMean, outVariance, inMean, inVariance, counts}) {
    if (operand.bytes != 0) {
      CheckHighOperand(core, operand);
    }
  }
  for (const HighOperand& result : {outMean, outVariance}) {
    for (const HighOperand& operand : {inMean, inVariance, counts}) {
      if (operand.bytes != 0) {
        CheckHighOverlap(core, result, operand, false);
      }
    }
  }
  CheckHighWork(core, call.work, kWelfordFinalizeScratch,
                {outMean, outVariance, inMean, inVariance, counts});
  const auto access = [&](Use use, const HighOperand& operand) {
    return UbAccess(core, use, *operand.ub, operand.bytes);
  };
  IssueHighLevel(
      core, Flow::kAll, DType::kFloat,
      {WorkAccess(core, call.work), access(Use::kWrite, outMean), access(Use::kWrite, outVariance),
       access(Use::kRead, inMean), access(Use::kRead, inVariance), access(Use::kRead, counts)},
      [=] {
        const auto count = [&](int64_t i) -> double {
          if (split) {
            return i < call.headLength ? call.headCount : call.tailCount;
          }
          int32_t value = 0;
          std::memcpy(&value, call.counts.addr + i * kFloat, sizeof(value));
          return value;
        };
        // Lanes of equal weight need no counts for their mean.
        const bool even = split && call.tailCount == 0;
        double mean = 0;
        double sum = 0;
        for (int64_t i = 0; i < call.length; ++i) {
          mean += LoadFloat(DType::kFloat, call.inMean.addr, i) *
                  (even ? static_cast<double>(call.laneReciprocal)
                        : count(i) * static_cast<double>(call.reciprocal));
        }
        for (int64_t i = 0; i < call.length; ++i) {
          const double distance = LoadFloat(DType::kFloat, call.inMean.addr, i) - mean;
          sum += LoadFloat(DType::kFloat, call.inVariance.addr, i) + count(i) * distance * distance;
        }
        SpoilHighWork(call.work);
        StoreFloat(DType::kFloat, call.outMean.addr, 0, mean);
        StoreFloat(DType::kFloat, call.outVariance.addr, 0,
                   sum * static_cast<double>(call.reciprocal));
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

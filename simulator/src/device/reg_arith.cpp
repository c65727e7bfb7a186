// SPDX-License-Identifier: Apache-2.0
// Arithmetic of vector registers, lane by lane: of two, of one and a scalar, of one.
#include <cmath>
#include <initializer_list>

#include "device/dtype_sets.h"
#include "device/reg.h"
#include "device/vec.h"

namespace aclsim {

namespace {

using enum DType;

constexpr const char* kBinaryNames[] = {
#define ACLSIM_REG_BINARY_OP(Name, ...) #Name,
#include "ascendc/instructions.def"
};
constexpr const char* kScalarNames[] = {
#define ACLSIM_REG_BINARY_OP(Name, dtypes, WithScalar, ...) WithScalar,
#include "ascendc/instructions.def"
};
constexpr const char* kUnaryNames[] = {
#define ACLSIM_REG_UNARY_OP(Operation, Name, ...) Name,
#include "ascendc/instructions.def"
};
constexpr uint32_t kBinaryTypes[] = {
#define ACLSIM_REG_BINARY_OP(Name, dtypes, ...) dtypes,
#include "ascendc/instructions.def"
};
constexpr uint32_t kScalarTypes[] = {
#define ACLSIM_REG_BINARY_OP(Name, dtypes, WithScalar, ofScalar) ofScalar,
#include "ascendc/instructions.def"
};
constexpr uint32_t kUnaryTypes[] = {
#define ACLSIM_REG_UNARY_OP(Operation, Name, dtypes) dtypes,
#include "ascendc/instructions.def"
};

void RequireType(const VectorState& state, uint32_t types, DType dtype) {
  if (((types >> static_cast<uint32_t>(dtype)) & 1) == 0) [[unlikely]] {
    RegisterDType(state.core->instruction, dtype);
  }
}

bool ReadsDst(RegOp2 op) { return op == RegOp2::kMulAddDst || op == RegOp2::kMulDstAdd; }

void Binary(VectorState& state, RegOp2 op, DType dtype, Reg* dst, const uint8_t* a,
            const uint8_t* b, const RegMask& mask, bool merge) {
  const size_t width = WidthOf(dtype);
  const size_t lanes = kRegBytes / width;
  const auto type = static_cast<size_t>(dtype);
  if (op == RegOp2::kExpSub) {
    const auto sub = Lanes().regBinary[static_cast<size_t>(RegOp2::kSub)][type];
    const auto exp = Lanes().regUnary[static_cast<size_t>(RegOp1::kExp)][type];
    if (dtype != DType::kFloat) {
      RegisterDType(state.core->instruction, dtype);
    }
    Masked(dst, mask, width, merge, false, [&](uint8_t* out) {
      alignas(64) uint8_t difference[kRegBytes];
      sub(difference, a, b, lanes);
      exp(out, difference, lanes);
    });
    return;
  }
  const auto body = Lanes().regBinary[static_cast<size_t>(op)][type];
  if (body == nullptr) [[unlikely]] {
    RegisterDType(state.core->instruction, dtype);
  }
  Masked(dst, mask, width, merge, ReadsDst(op), [&](uint8_t* out) { body(out, a, b, lanes); });
}

template <double (*function)(double)>
void EachFloat(uint8_t* dst, const uint8_t* src, DType dtype) {
  for (size_t i = 0; i < kRegBytes; i += WidthOf(dtype)) {
    StoreLane(dtype, dst + i, static_cast<float>(function(LoadLane(dtype, src + i))));
  }
}

}  // namespace

void RegBinary(RegOp2 op, DType dtype, Reg* dst, const Reg* a, const Reg* b, const RegMask& mask,
               bool merge) try {
  VectorState& state = InFunction(kBinaryNames[static_cast<size_t>(op)]);
  RequireType(state, kBinaryTypes[static_cast<size_t>(op)], dtype);
  dst->after = ReadsDst(op) || merge ? Timed(state, dtype, *dst, *a, *b, mask)
                                     : Timed(state, dtype, *a, *b, mask);
  SettleMask(state, mask);
  if (ReadsDst(op)) {
    Track(state, dst, {dst, a, b}, &mask, WidthOf(dtype), merge);
  } else {
    Track(state, dst, {a, b}, &mask, WidthOf(dtype), merge);
  }
  Binary(state, op, dtype, dst, a->bytes, b->bytes, mask, merge);
}
ACLSIM_SKIPS_FAULTS()

void RegWithScalar(RegOp2 op, DType dtype, Reg* dst, const Reg* a, uint64_t b, const RegMask& mask,
                   bool merge) try {
  VectorState& state = InFunction(kScalarNames[static_cast<size_t>(op)]);
  RequireType(state, kScalarTypes[static_cast<size_t>(op)], dtype);
  dst->after =
      ReadsDst(op) || merge ? Timed(state, dtype, *dst, *a, mask) : Timed(state, dtype, *a, mask);
  SettleMask(state, mask);
  if (ReadsDst(op)) {
    Track(state, dst, {dst, a}, &mask, WidthOf(dtype), merge);
  } else {
    Track(state, dst, {a}, &mask, WidthOf(dtype), merge);
  }
  alignas(64) uint8_t all[kRegBytes];
  FillRegister(all, b, WidthOf(dtype));
  Binary(state, op, dtype, dst, a->bytes, all, mask, merge);
}
ACLSIM_SKIPS_FAULTS()

void RegUnary(RegOp1 op, DType dtype, Reg* dst, const Reg* a, const RegMask& mask, bool merge) try {
  VectorState& state = InFunction(kUnaryNames[static_cast<size_t>(op)]);
  RequireType(state, kUnaryTypes[static_cast<size_t>(op)], dtype);
  dst->after = merge ? Timed(state, dtype, *dst, *a, mask) : Timed(state, dtype, *a, mask);
  SettleMask(state, mask);
  const size_t width = WidthOf(dtype);
  const DType lane = op == RegOp1::kNot ? OfWidth(width) : dtype;  // bits, whatever they mean
  const auto body = Lanes().regUnary[static_cast<size_t>(op)][static_cast<size_t>(lane)];
  const bool logarithm = op == RegOp1::kLog2 || op == RegOp1::kLog10;
  if (logarithm ? !IsFloat(dtype) : body == nullptr) [[unlikely]] {
    RegisterDType(state.core->instruction, dtype);
  }
  Track(state, dst, {a}, &mask, width, merge);
  Masked(dst, mask, width, merge, false, [&](uint8_t* out) {
    if (op == RegOp1::kLog2) {
      EachFloat<std::log2>(out, a->bytes, dtype);
    } else if (op == RegOp1::kLog10) {
      EachFloat<std::log10>(out, a->bytes, dtype);
    } else {
      body(out, a->bytes, kRegBytes / width);
    }
  });
}
ACLSIM_SKIPS_FAULTS()

void RegLeakyRelu(DType dtype, Reg* dst, const Reg* a, uint64_t slope, const RegMask& mask,
                  bool merge) try {
  VectorState& state = InFunction("LeakyRelu");
  dst->after = merge ? Timed(state, dtype, *dst, *a, mask) : Timed(state, dtype, *a, mask);
  SettleMask(state, mask);
  const size_t width = WidthOf(dtype);
  const auto body =
      Lanes().scalar[static_cast<size_t>(OpScalar::kLeakyRelu)][static_cast<size_t>(dtype)];
  if (body == nullptr) {
    RegisterDType("LeakyRelu", dtype);
  }
  Track(state, dst, {a}, &mask, width, merge);
  ScalarValue value;
  value.f = LoadLane(dtype, reinterpret_cast<const uint8_t*>(&slope));
  Masked(dst, mask, width, merge, false,
         [&](uint8_t* out) { body(out, a->bytes, value, kRegBytes / width); });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// Every element-wise instruction in every form.
#include "bench.h"

using namespace AscendC;

namespace {

// The forms of one instruction; Fn... are its operands up to the mask.
#define FORMS(Name, T, params, ...)                                     \
  do {                                                                  \
    const auto repeat = static_cast<uint8_t>(c.repeat);                 \
    if (c.form == kCount) {                                             \
      Name(__VA_ARGS__, c.count);                                       \
    } else if (c.form == kBits) {                                       \
      uint64_t maskBits[2] = {c.mask[0], c.mask[1]};                    \
      Name(__VA_ARGS__, maskBits, repeat, params(c));                   \
    } else if (Preset(c)) {                                             \
      Name<T, false>(__VA_ARGS__, MASK_PLACEHOLDER, repeat, params(c)); \
    } else {                                                            \
      Name(__VA_ARGS__, c.mask[0], repeat, params(c));                  \
    }                                                                   \
  } while (0)
#define FORMS2(Name, T, U, params, ...)                                    \
  do {                                                                     \
    const auto repeat = static_cast<uint8_t>(c.repeat);                    \
    if (c.form == kCount) {                                                \
      Name(__VA_ARGS__, c.count);                                          \
    } else if (c.form == kBits) {                                          \
      uint64_t maskBits[2] = {c.mask[0], c.mask[1]};                       \
      Name(__VA_ARGS__, maskBits, repeat, params(c));                      \
    } else if (Preset(c)) {                                                \
      Name<T, U, false>(__VA_ARGS__, MASK_PLACEHOLDER, repeat, params(c)); \
    } else {                                                               \
      Name(__VA_ARGS__, c.mask[0], repeat, params(c));                     \
    }                                                                      \
  } while (0)

}  // namespace

// A case for each instruction of the table.
#define CASE_OF(Kind, Name, ...)                    \
  case static_cast<int32_t>(aclsim::Kind::k##Name): \
    __VA_ARGS__;                                    \
    break;

CALL_KERNEL(binary) {
  ForLaneType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    const LocalTensor<T> b = areas.Area<T>(2);
    WithMask<T>(c, [&] {
      switch (c.op) {
#define ACLSIM_BINARY(Name, ...) CASE_OF(Op2, Name, FORMS(Name, T, BinaryParams, dst, a, b))
#define ACLSIM_BINARY_OWN_FORMS(Name, ...) \
  CASE_OF(Op2, Name, FORMS2(Name, T, T, BinaryParams, dst, a, b))
#include "ascendc/instructions.def"
        default:
          Trap();
      }
    });
  });
}

// dst is the second source too.
CALL_KERNEL(add_to_second) {
  const LocalTensor<float> dst = areas.Area<float>(0);
  const LocalTensor<float> a = areas.Area<float>(1);
  WithMask<float>(c, [&] { FORMS(Add, float, BinaryParams, dst, a, dst); });
}

// dst float, sources half: MulAddDst (0) and Axpy (1).
CALL_KERNEL(accumulate_half) {
  const LocalTensor<float> dst = areas.Area<float>(0);
  const LocalTensor<half> a = areas.Area<half>(1);
  const LocalTensor<half> b = areas.Area<half>(2);
  WithMask<float>(c, [&] {
    if (c.op == 0) {
      FORMS2(MulAddDst, float, half, BinaryParams, dst, a, b);
    } else {
      FORMS2(Axpy, float, half, UnaryParams, dst, a, ScalarOf<half>(c));
    }
  });
}

CALL_KERNEL(unary) {
  ForLaneType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    WithMask<T>(c, [&] {
      switch (c.op) {
#define ACLSIM_UNARY(Name, ...) CASE_OF(Op1, Name, FORMS(Name, T, UnaryParams, dst, a))
#include "ascendc/instructions.def"
        default:
          Trap();
      }
    });
  });
}

CALL_KERNEL(scalar) {
  ForLaneType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    WithMask<T>(c, [&] {
      switch (c.op) {
#define ACLSIM_SCALAR(Name, ...) \
  CASE_OF(OpScalar, Name, FORMS(Name, T, UnaryParams, dst, a, ScalarOf<T>(c)))
#define ACLSIM_SCALAR_OWN_FORMS(...)
#include "ascendc/instructions.def"
        CASE_OF(OpScalar, ShiftRight, FORMS(ShiftRight, T, UnaryParams, dst, a, ScalarOf<T>(c)))
        CASE_OF(OpScalar, Axpy, FORMS2(Axpy, T, T, UnaryParams, dst, a, ScalarOf<T>(c)))
        case static_cast<int32_t>(aclsim::OpScalar::kShiftRightRound):
          ShiftRight(dst, a, ScalarOf<T>(c), c.mask[0], static_cast<uint8_t>(c.repeat),
                     UnaryParams(c), true);
          break;
        default:
          Trap();
      }
    });
  });
}

namespace {

template <typename T, typename U, typename... Pairs>
constexpr bool kOneOf = (std::is_same_v<void(T, U), Pairs> || ...);

// Destination and source of every conversion.
template <typename T, typename U>
constexpr bool kConverts =
    kOneOf<T, U, void(float, half), void(int32_t, half), void(int16_t, half), void(int8_t, half),
           void(uint8_t, half), void(float, bfloat16_t), void(int32_t, bfloat16_t),
           void(half, float), void(bfloat16_t, float), void(int16_t, float), void(int32_t, float),
           void(int64_t, float), void(float, float), void(half, int8_t), void(half, uint8_t),
           void(half, int16_t), void(float, int16_t), void(float, int32_t), void(int16_t, int32_t),
           void(int64_t, int32_t), void(int32_t, int64_t), void(half, int32_t),
           void(float, int64_t)>;

}  // namespace

CALL_KERNEL(cast) {
  ForType(c.dtype, [&](auto to) {
    ForType(c.srcDtype, [&](auto from) {
      using T = decltype(to);
      using U = decltype(from);
      if constexpr (kConverts<T, U>) {
        const LocalTensor<T> dst = areas.Area<T>(0);
        const LocalTensor<U> a = areas.Area<U>(1);
        const auto mode = static_cast<RoundMode>(c.mode);
        WithMask<T>(c, [&] { FORMS2(Cast, T, U, UnaryParams, dst, a, mode); });
      } else {
        Trap();
      }
    });
  });
}

// 0 Duplicate, 1 Copy
CALL_KERNEL(fill) {
  ForLaneType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    const T value = ScalarOf<T>(c);
    uint64_t bits[2] = {c.mask[0], c.mask[1]};
    const auto repeat = static_cast<uint8_t>(c.repeat);
    const auto blk = static_cast<uint16_t>(c.blk[0]);
    const auto rep = static_cast<uint8_t>(c.rep[0]);
    WithMask<T>(c, [&] {
      if (c.op == 0) {
        if (c.form == kCount) {
          Duplicate(dst, value, c.count);
        } else if (c.form == kBits) {
          Duplicate(dst, value, bits, repeat, blk, rep);
        } else if (Preset(c)) {
          Duplicate<T, false>(dst, value, MASK_PLACEHOLDER, repeat, blk, rep);
        } else {
          Duplicate(dst, value, c.mask[0], repeat, blk, rep);
        }
        return;
      }
      const CopyRepeatParams params(blk, static_cast<uint16_t>(c.blk[1]), rep,
                                    static_cast<uint16_t>(c.rep[1]));
      if (c.form == kBits) {
        Copy(dst, a, bits, repeat, params);
      } else if (Preset(c)) {
        Copy<T, false>(dst, a, MASK_PLACEHOLDER, repeat, params);
      } else {
        Copy(dst, a, c.mask[0], repeat, params);
      }
    });
  });
}

namespace {

template <typename T>
void CompareForms(const Call& c, const LocalTensor<uint8_t>& dst, const LocalTensor<T>& a,
                  const LocalTensor<T>& b) {
  const auto mode = static_cast<CMPMODE>(c.mode);
  uint64_t bits[2] = {c.mask[0], c.mask[1]};
  const auto repeat = static_cast<uint8_t>(c.repeat);
  const auto count = static_cast<uint32_t>(c.count);
  if (c.op == 0) {
    if (c.form == kCount) {
      Compare(dst, a, b, mode, count);
    } else if (c.form == kBits) {
      Compare(dst, a, b, mode, bits, repeat, BinaryParams(c));
    } else {
      Compare(dst, a, b, mode, c.mask[0], repeat, BinaryParams(c));
    }
    return;
  }
  const T value = ScalarOf<T>(c);
  if (c.form == kCount) {
    CompareScalar(dst, a, value, mode, count);
  } else if (c.form == kBits) {
    Compares(dst, a, value, mode, bits, repeat, UnaryParams(c));
  } else {
    CompareScalar(dst, a, value, mode, c.mask[0], repeat, UnaryParams(c));
  }
}

}  // namespace

// 0 Compare, 1 CompareScalar; the destination is bits.
CALL_KERNEL(compare) {
  ForLaneType(c.srcDtype, [&](auto element) {
    using T = decltype(element);
    CompareForms<T>(c, areas.Area<uint8_t>(0), areas.Area<T>(1), areas.Area<T>(2));
  });
}

// mode is the SELMODE; the selector bits lie in the second half of src1's area.
CALL_KERNEL(select_bits) {
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    const LocalTensor<T> b = areas.Area<T>(2);
    const LocalTensor<uint8_t> bits = areas.Area<uint8_t>(2)[kAreaBytes / 2];
    const auto mode = static_cast<SELMODE>(c.mode);
    WithMask<T>(c, [&] {
      if (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) {
        FORMS2(Select, T, uint8_t, BinaryParams, dst, bits, a, ScalarOf<T>(c), mode);
      } else {
        FORMS2(Select, T, uint8_t, BinaryParams, dst, bits, a, b, mode);
      }
    });
  });
}

namespace {

// One of many instructions in a row, on any part of the three areas: places in floats from the first area's start.
struct ChainStep {
  int32_t op, to, from, other, count;
};

}  // namespace

// A program of steps: first how many there are. What a reference into UB has seen goes to the end of dst's area.
extern "C" __global__ __aicore__ void chain(GM_ADDR dst, GM_ADDR a, GM_ADDR b, GM_ADDR program) {
  constexpr int32_t kFloats = kAreaBytes / sizeof(float);
  Areas areas(dst, a, b);
  const auto at = [&](int32_t place) {
    return areas.Area<float>(place / kFloats)[static_cast<uint32_t>(place % kFloats)];
  };
  int32_t steps;
  __builtin_memcpy(&steps, program, sizeof(steps));
  const float* held = nullptr;
  float seen = 0;
  for (int32_t i = 0; i < steps; ++i) {
    ChainStep step;
    __builtin_memcpy(&step, program + sizeof(steps) + i * sizeof(step), sizeof(step));
    const LocalTensor<float> to = at(step.to), from = at(step.from), other = at(step.other);
    switch (step.op) {
      case 0:
        Adds(to, from, 1.0F, step.count);
        break;
      case 1:
        Add(to, from, other, step.count);
        break;
      case 2:
        MulAddDst(to, from, other, step.count);
        break;
      case 3:
        Abs(to, from, step.count);
        break;
      case 4:
        Axpy(to, from, 0.5F, step.count);
        break;
      case 5:
        to.SetValue(0, from.GetValue(0) + 1.0F);
        break;
      case 6:
        DataCopy(to, from, static_cast<uint32_t>(step.count));
        break;
      default:
        held = &to(0);
    }
    if (held != nullptr) {
      seen += *held;
    }
  }
  at(kFloats - 1).SetValue(0, seen);
  areas.Finish();
}

// SPDX-License-Identifier: Apache-2.0
// High-level functions of elements, in every form that each has.
#include "bench.h"

using namespace AscendC;

namespace {

enum HighForm : int32_t { kWorkCount, kPlainCount, kWorkWhole, kPlainWhole };

// Scratch after the three areas; SetSize tells the forms without a count what a whole tensor is.
struct HighCase {
  explicit HighCase(Areas& areas, const Call& call) : form(call.extra[0]) {
    areas.pipe.InitBuffer(buffer, 8192);
    work = buffer.Get<uint8_t>();
    if (call.extra[1] != 0) {
      work.SetSize(static_cast<uint32_t>(call.extra[1]));
    }
  }
  TBuf<> buffer;
  LocalTensor<uint8_t> work;
  int32_t form;
};

}  // namespace

#define HIGH_COUNT(number, Name)  \
  case number:                    \
    if (h.form == kWorkCount) {   \
      Name<T>(dst, a, h.work, n); \
    } else {                      \
      Name<T>(dst, a, n);         \
    }                             \
    break;
#define HIGH_ALL(number, Name)          \
  case number:                          \
    if (h.form == kWorkCount) {         \
      Name<T>(dst, a, h.work, n);       \
    } else if (h.form == kPlainCount) { \
      Name<T>(dst, a, n);               \
    } else if (h.form == kWorkWhole) {  \
      Name<T>(dst, a, h.work);          \
    } else {                            \
      Name<T>(dst, a);                  \
    }                                   \
    break;

namespace {

template <typename T>
void HighUnary(const Call& c, HighCase& h, const LocalTensor<T>& dst, LocalTensor<T> a) {
  const auto n = static_cast<uint32_t>(c.count);
  a.SetSize(n);
  switch (c.op) {
    case 0:
      h.form == kPlainCount ? Log<T>(dst, a, n) : Log<T>(dst, a);
      break;
    case 1:
      h.form == kPlainCount ? Log10<T>(dst, a, n) : Log10<T>(dst, a);
      break;
      HIGH_ALL(2, Log2)
      HIGH_COUNT(3, Floor)
      HIGH_COUNT(4, Ceil)
      HIGH_COUNT(5, Round)
      HIGH_ALL(6, Trunc)
      HIGH_ALL(7, Frac)
      HIGH_ALL(8, Sign)
      HIGH_ALL(9, Sin)
      HIGH_ALL(10, Cos)
      HIGH_ALL(11, Tan)
      HIGH_ALL(12, Asin)
      HIGH_ALL(13, Acos)
      HIGH_ALL(14, Atan)
      HIGH_ALL(15, Sinh)
      HIGH_ALL(16, Cosh)
      HIGH_ALL(17, Tanh)
      HIGH_ALL(18, Asinh)
      HIGH_ALL(19, Acosh)
      HIGH_ALL(20, Atanh)
      HIGH_ALL(21, Erf)
      HIGH_ALL(22, Erfc)
      HIGH_COUNT(23, Lgamma)
      HIGH_COUNT(24, Digamma)
      HIGH_ALL(25, Sigmoid)
      HIGH_COUNT(26, Gelu)
      HIGH_COUNT(27, FasterGelu)
      HIGH_COUNT(28, FasterGeluV2)
    case 29:
      if (h.form == kWorkCount) {
        Exp<T, 15>(dst, a, h.work, n);
      } else {
        Exp<T, 15>(dst, a, n);
      }
      break;
    case 30:
      Silu<T>(dst, a, n);
      break;
    case 31:
      Swish<T>(dst, a, n, ScalarOf<T>(c));
      break;
    case 32:
      h.form == kWorkCount ? ClampMax<T>(dst, a, h.work, ScalarOf<T>(c), n)
                           : ClampMax<T>(dst, a, ScalarOf<T>(c), n);
      break;
    case 33:
      h.form == kWorkCount ? ClampMin<T>(dst, a, h.work, ScalarOf<T>(c), n)
                           : ClampMin<T>(dst, a, ScalarOf<T>(c), n);
      break;
    case 34:
      Axpy<T, T>(dst, a, ScalarOf<T>(c), h.work, n);
      break;
    default:
      Trap();
  }
}

}  // namespace

// extra: form, bytes of scratch (0: 8192), bytes from the start of the source to dst when both are in one area,
// bytes of UB that a further buffer takes.
CALL_KERNEL(high_unary) {
  HighCase h(areas, c);
  TBuf<> more;
  if (c.extra[3] != 0) {
    areas.pipe.InitBuffer(more, static_cast<uint32_t>(c.extra[3]));
  }
  const auto run = [&](auto element) {
    using T = decltype(element);
    LocalTensor<T> dst = areas.Area<T>(0);
    LocalTensor<T> a = areas.Area<T>(1);
    if (c.extra[2] >= 0) {
      a = areas.Area<T>(0);
      dst = areas.Area<uint8_t>(0)[static_cast<uint32_t>(c.extra[2])].template ReinterpretCast<T>();
    }
    HighUnary<T>(c, h, dst, a);
  };
  if (c.dtype == 0) {
    run(float());
  } else if (c.dtype == 1) {
    run(half());
  } else {
    const LocalTensor<int32_t> dst = areas.Area<int32_t>(0);
    Tanh(dst, areas.Area<int32_t>(1), 8);
  }
}

// The form also says which side is a scalar: 0 none, 4 the second, 8 the first.
CALL_KERNEL(high_binary) {
  HighCase h(areas, c);
  const auto n = static_cast<uint32_t>(c.count);
  const auto forms = [&](auto call) {
    const bool counted = (h.form & 3) < kWorkWhole;
    if ((h.form & 1) == 0) {
      counted ? call(h.work, n) : call(h.work);
    } else {
      counted ? call(n) : call();
    }
  };
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    LocalTensor<T> a = areas.Area<T>(1);
    LocalTensor<T> b = areas.Area<T>(2);
    a.SetSize(n);
    b.SetSize(n);
    constexpr bool kFloats = std::is_same_v<T, float> || std::is_same_v<T, half>;
    if constexpr (kFloats || std::is_same_v<T, int32_t>) {
      if (c.op == 0 && h.form < 4) {
        forms([&](auto... rest) { Power<T>(dst, a, b, rest...); });
      } else if (c.op == 0 && h.form < 8) {
        forms([&](auto... rest) { Power<T>(dst, a, ScalarOf<T>(c), rest...); });
      } else if (c.op == 0) {
        forms([&](auto... rest) { Power<T>(dst, ScalarOf<T>(c), b, rest...); });
      }
    }
    if constexpr (kFloats) {
      if (c.op == 1) {
        forms([&](auto... rest) { Fmod<T>(dst, a, b, rest...); });
      } else if (c.op == 2) {
        forms([&](auto... rest) { GeGLU<T>(dst, a, b, rest...); });
      } else if (c.op == 3) {
        LocalTensor<T> to = dst;
        forms([&](auto... rest) { SwiGLU<T>(to, a, b, 1.5f, rest...); });
      }
    }
    if constexpr (kFloats || std::is_same_v<T, bfloat16_t>) {
      if (c.op == 4) {
        h.form == kWorkCount ? ReGlu<T>(dst, a, b, h.work, n) : ReGlu<T>(dst, a, b, n);
      }
    }
    if constexpr (std::is_same_v<T, int16_t> || std::is_same_v<T, uint16_t>) {
      if (c.op == 5) {
        forms([&](auto... rest) { Xor<T>(dst, a, b, rest...); });
      }
    }
  });
  if (c.op == 6) {
    Axpy<float, half>(areas.Area<float>(0), areas.Area<half>(1), ScalarOf<half>(c), h.work, n);
  }
}

// Half of the source is defined; extra[0] bytes of the result leave UB, and extra[1] of them are of the scratch.
extern "C" __global__ __aicore__ void high_flow(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  TPipe pipe;
  TBuf<> buffers[3];
  for (TBuf<>& buffer : buffers) {
    pipe.InitBuffer(buffer, 2048);
  }
  const GlobalTensor<float> from = Global<float>(aGm);
  const GlobalTensor<float> to = Global<float>(dstGm);
  const LocalTensor<float> src = buffers[0].Get<float>();
  const LocalTensor<float> dst = buffers[1].Get<float>();
  const LocalTensor<uint8_t> work = buffers[2].Get<uint8_t>();
  DataCopy(src, from, 256);
  PipeBarrier<PIPE_ALL>();
  Sigmoid(dst, src, work, 512);
  PipeBarrier<PIPE_ALL>();
  DataCopy(to, dst, static_cast<uint32_t>(c.extra[0]) / 4);
  if (c.extra[1] != 0) {
    DataCopy(to[256], work.ReinterpretCast<float>(), static_cast<uint32_t>(c.extra[1]) / 4);
  }
}

// SPDX-License-Identifier: Apache-2.0
// ElementMap: y = formula(a, b, c) element by element, in fp32 or in whole numbers of 64 bits.
//
//   GM a, b, c --MTE2--> UB --V (fp32) or S (int64)--> UB --MTE3--> GM y
//
// The tensors have one shape: who calls it repeats what is to be broadcast. A formula that needs fewer of them gets the
// first again. The vector unit has no numbers of 64 bits, so SCALAR computes these.
#include <type_traits>

#include "element_map_tiling.h"
#include "kernel_operator.h"

namespace elementmap {

using AscendC::CMPMODE;
using AscendC::HardEvent;
using AscendC::LocalTensor;
using AscendC::TPosition;
using Formula = ElementMapFormula;

constexpr uint32_t kRepeatLanes = 64;  // fp32 lanes of one repeat, which comparisons take whole

// Queues order the copies with the vector unit; nothing orders them with SCALAR.
template <HardEvent event>
__aicore__ inline void Wait() {
  const auto id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
  AscendC::SetFlag<event>(id);
  AscendC::WaitFlag<event>(id);
}

// Computes one tile of fp32. Every step reads what the one before wrote.
class FloatTile {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe) {
    pipe->InitBuffer(bits_, kMapTile / 8);
    pipe->InitBuffer(work_, kWorkLanes * sizeof(float));
  }

  __aicore__ inline void Compute(Formula formula, const LocalTensor<float>& y,
                                 const LocalTensor<float>& a, const LocalTensor<float>& b,
                                 const LocalTensor<float>& c, float s, float t, int32_t n) {
    const LocalTensor<uint8_t> work = work_.Get<uint8_t>();
    const auto count = static_cast<uint32_t>(n);
    switch (formula) {
      case Formula::kLinear:
        AscendC::Muls(y, a, s, n);
        Step();
        return AscendC::Adds(y, y, t, n);
      case Formula::kAddScaled:
        AscendC::Muls(b, b, s, n);
        Step();
        return AscendC::Add(y, a, b, n);
      case Formula::kMultiply:
        return AscendC::Mul(y, a, b, n);
      case Formula::kDivide:
        return AscendC::Div(y, a, b, n);
      case Formula::kMaximum:
        return AscendC::Max(y, a, b, n);
      case Formula::kMinimum:
        return AscendC::Min(y, a, b, n);
      case Formula::kClamp:
        AscendC::Maxs(a, a, s, n);
        Step();
        return AscendC::Mins(y, a, t, n);
      case Formula::kAbsolute:
        return AscendC::Abs(y, a, n);
      case Formula::kIsEqual:
        return Compare(y, a, b, CMPMODE::EQ, n);
      case Formula::kIsGreater:
        return Compare(y, a, b, CMPMODE::GT, n);
      case Formula::kSelect:
        AscendC::Duplicate(y, 0.0F, n);
        Step();
        AscendC::Compare(bits_.Get<uint8_t>(), a, y, CMPMODE::NE, count);
        Step();
        return AscendC::Select(y, bits_.Get<uint8_t>(), b, c,
                               AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
      case Formula::kAddProduct:
        AscendC::Mul(b, b, c, n);
        Step();
        AscendC::Muls(b, b, s, n);
        Step();
        return AscendC::Add(y, a, b, n);
      case Formula::kAddQuotient:
        AscendC::Div(b, b, c, n);
        Step();
        AscendC::Muls(b, b, s, n);
        Step();
        return AscendC::Add(y, a, b, n);
      case Formula::kIndex:
        return;  // tiling refuses it
      case Formula::kExponential:
        return AscendC::Exp(y, a, n);
      case Formula::kLogarithm:
        return AscendC::Ln(y, a, n);
      case Formula::kSquareRoot:
        return AscendC::Sqrt(y, a, n);
      case Formula::kRaise:
        return AscendC::Power<float>(y, a, b, work, count);
      case Formula::kErrorIntegral:
        return AscendC::Erf<float>(y, a, work, count);
      case Formula::kHyperbolicTangent:
        return AscendC::Tanh<float>(y, a, work, count);
      case Formula::kSine:
        return AscendC::Sin<float>(y, a, work, count);
      case Formula::kCosine:
        return AscendC::Cos<float>(y, a, work, count);
      case Formula::kLogistic:
        AscendC::Muls(a, a, -1.0F, n);
        Step();
        AscendC::Exp(a, a, n);
        Step();
        AscendC::Adds(a, a, 1.0F, n);
        AscendC::Duplicate(b, 1.0F, n);
        Step();
        return AscendC::Div(y, b, a, n);
    }
  }

 private:
  __aicore__ static inline void Step() { AscendC::PipeBarrier<PIPE_V>(); }

  __aicore__ inline void Compare(const LocalTensor<float>& y, const LocalTensor<float>& a,
                                 const LocalTensor<float>& b, CMPMODE mode, int32_t n) {
    AscendC::Compare(bits_.Get<uint8_t>(), a, b, mode, static_cast<uint32_t>(n));
    AscendC::Duplicate(y, 1.0F, n);
    Step();
    AscendC::Select(y, bits_.Get<uint8_t>(), y, 0.0F, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE,
                    static_cast<uint32_t>(n));
  }

  static constexpr uint32_t kWorkLanes = 4 * kMapTile;  // what Sin, Cos and Power want at most
  AscendC::TBuf<TPosition::VECCALC> bits_, work_;
};

// Computes one element of whole numbers, which wrap around like PyTorch's.
__aicore__ inline int64_t Whole(Formula formula, int64_t a, int64_t b, int64_t c, int64_t s,
                                int64_t t) {
  const auto product = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  };
  const auto sum = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  };
  switch (formula) {
    case Formula::kLinear:
      return sum(product(a, s), t);
    case Formula::kAddScaled:
      return sum(a, product(s, b));
    case Formula::kMultiply:
      return product(a, b);
    case Formula::kMaximum:
      return a > b ? a : b;
    case Formula::kMinimum:
      return a < b ? a : b;
    case Formula::kClamp:
      a = a > s ? a : s;
      return a < t ? a : t;
    case Formula::kAbsolute:
      return a < 0 ? sum(0, product(a, -1)) : a;
    case Formula::kIsEqual:
      return a == b;
    case Formula::kIsGreater:
      return a > b;
    case Formula::kSelect:
      return a != 0 ? b : c;
    case Formula::kAddProduct:
      return sum(a, product(s, product(b, c)));
    case Formula::kIndex:
      ASSERT_MSG((s <= a && a < t) || a == b, "an index is %ld, want %ld to %ld, or %ld", a, s,
                 t - 1, b);
      return a;
    default:
      return 0;  // tiling refuses the others
  }
}

template <typename T>
class Kernel {
 public:
  __aicore__ inline Kernel(AscendC::TPipe* pipe, GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y,
                           const ElementMapTilingData& tiling)
      : tiling_(tiling) {
    GM_ADDR inputs[] = {a, b, c};
    for (uint32_t i = 0; i < 3; ++i) {
      in_[i].SetGlobalBuffer(reinterpret_cast<__gm__ T*>(inputs[i]), tiling.elements);
    }
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), tiling.elements);
    pipe->InitBuffer(inQueue_, 2, 3 * kMapTile * sizeof(T));
    pipe->InitBuffer(outQueue_, 2, kMapTile * sizeof(T));
    if constexpr (kFloat) {
      lanes_.Init(pipe);
    }
  }

  __aicore__ inline void Process() {
    const int64_t first = AscendC::GetBlockIdx() * tiling_.tilesPerCore * kMapTile;
    int64_t last = first + tiling_.tilesPerCore * kMapTile;
    last = last < tiling_.elements ? last : tiling_.elements;
    for (int64_t at = first; at < last; at += kMapTile) {
      const int64_t left = last - at;
      OneTile(at, static_cast<uint32_t>(left < kMapTile ? left : kMapTile));
    }
  }

 private:
  static constexpr bool kFloat = std::is_same_v<T, float>;

  __aicore__ inline void OneTile(int64_t at, uint32_t count) {
    const AscendC::DataCopyExtParams bytes(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0);
    const uint32_t whole = (count + kRepeatLanes - 1) / kRepeatLanes * kRepeatLanes;
    LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    if constexpr (kFloat) {
      if (count < whole) {  // lanes that no element fills are computed too
        AscendC::Duplicate(in, 1.0F, 3 * kMapTile);
        Wait<HardEvent::V_MTE2>();
      }
    }
    for (uint32_t i = 0; i < 3; ++i) {
      AscendC::DataCopyPad(in[i * kMapTile], in_[i][at], bytes, AscendC::DataCopyPadExtParams<T>());
    }
    inQueue_.EnQue(in);
    in = inQueue_.template DeQue<T>();
    LocalTensor<T> y = outQueue_.template AllocTensor<T>();
    const auto formula = static_cast<Formula>(tiling_.formula);
    if constexpr (kFloat) {
      lanes_.Compute(formula, y, in, in[kMapTile], in[2 * kMapTile], tiling_.s, tiling_.t,
                     static_cast<int32_t>(whole));
    } else {
      AscendC::PipeBarrier<PIPE_ALL>();
      for (uint32_t i = 0; i < count; ++i) {
        y.SetValue(i, Whole(formula, in.GetValue(i), in.GetValue(kMapTile + i),
                            in.GetValue(2 * kMapTile + i), tiling_.wholeS, tiling_.wholeT));
      }
      AscendC::PipeBarrier<PIPE_ALL>();
    }
    outQueue_.EnQue(y);
    inQueue_.FreeTensor(in);
    y = outQueue_.template DeQue<T>();
    AscendC::DataCopyPad(yGm_[at], y, bytes);
    outQueue_.FreeTensor(y);
  }

  const ElementMapTilingData& tiling_;
  AscendC::GlobalTensor<T> in_[3], yGm_;
  AscendC::TQue<TPosition::VECIN, 1> inQueue_;
  AscendC::TQue<TPosition::VECOUT, 1> outQueue_;
  FloatTile lanes_;
};

}  // namespace elementmap

extern "C" __global__ __aicore__ void element_map(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y,
                                                  GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(ElementMapTilingData);
  GET_TILING_DATA_WITH_STRUCT(ElementMapTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    AscendC::TPipe pipe;
    elementmap::Kernel<DTYPE_A> kernel(&pipe, a, b, c, y, tilingData);
    kernel.Process();
  }
}

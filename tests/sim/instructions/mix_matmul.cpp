// SPDX-License-Identifier: Apache-2.0
// Products that vector cores ask their AIC for, as operators write them: a tiling in GM, a part of C for each AIV. Words behind the tiling
// say what is done, right or with one mistake; test_mix_matmul.py has their order. Tiling key 11 runs one AIV for each AIC, 12 two.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {3, 11, 1, 1, 12, 1, 2, 1, 0, 1};

namespace {

using namespace AscendC;

enum Way {
  kAll,
  kTiles,
  kDense,
  kIntoUb,
  kAsync,
  kOwnA,
  kTwoObjects,
  kNoEnd,
  kNoA,
  kTileFirst,
  kNoWait,
  kNotTold,
  kLateA,
  kNotRegistered,
  kAicReturns,
  kOtherType,
  kNoTiling,
  kGoesOn,
  kLater,
  kLaterAsked,
  kLaterNoSpace,
  kLaterTwice,
  kLaterNoWait,
  kNoEndBetween,
  kFlagOfObjects,
  kFlagOfItsOwn,
};

struct Told {
  int32_t transA, transB, way, bias, atomic;
};

using Left = MatmulType<TPosition::GM, CubeFormat::ND, half, true>;
using Out = MatmulType<TPosition::GM, CubeFormat::ND, float>;
using InUb = MatmulType<TPosition::VECIN, CubeFormat::ND, float>;

constexpr MatmulConfig kWithoutEnd = [] {
  MatmulConfig config = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(MatmulBiasParams{true});
  config.enableEnd = false;
  return config;
}();

template <typename C, const auto& config>
class Product {
 public:
  using Object = Matmul<Left, Left, C, Out, config>;

  __aicore__ inline void Read(GM_ADDR told) {
    const auto* words = reinterpret_cast<__gm__ int32_t*>(told);
    auto* tiling = reinterpret_cast<int32_t*>(&tiling_);
    constexpr size_t kWords = sizeof(TCubeTiling) / sizeof(int32_t);
    for (size_t i = 0; i < kWords; ++i) {
      tiling[i] = words[i];
    }
    auto* rest = reinterpret_cast<int32_t*>(&told_);
    for (size_t i = 0; i < sizeof(Told) / sizeof(int32_t); ++i) {
      rest[i] = words[kWords + i];
    }
  }

  __aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, GM_ADDR scratch) {
    const TCubeTiling& t = tiling_;
    const auto core = static_cast<int>(GetBlockIdx());
    if (core < t.usedCoreNum) {
      const int down = DivCeil(t.M, t.singleCoreM);
      row_ = core % down * t.singleCoreM, column_ = core / down * t.singleCoreN;
      m_ = Std::min(t.M - row_, t.singleCoreM), n_ = Std::min(t.N - column_, t.singleCoreN);
      a_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), uint64_t(t.M) * uint64_t(t.Ka));
      own_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(scratch), uint64_t(t.M * t.Ka));
      b_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b), uint64_t(t.Kb) * uint64_t(t.N));
      c_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), uint64_t(t.M) * uint64_t(t.N));
      bias_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(bias), uint64_t(t.N));
      a_ = a_[uint64_t(told_.transA != 0 ? row_ : row_ * t.Ka)];
      own_ = own_[uint64_t(row_ * t.Ka)];
      const auto elements = uint64_t(DivCeil(t.singleCoreM, t.baseM) * t.baseM) *
                            uint64_t(DivCeil(t.singleCoreN, t.baseN) * t.baseN);
      if (told_.way == kLater || told_.way == kLaterAsked || told_.way == kLaterTwice ||
          told_.way == kLaterNoWait) {
        object.SetWorkspace(scratch + uint64_t(core) * elements * sizeof(float), 0);
      }
      b_ = b_[uint64_t(told_.transB != 0 ? column_ * t.Kb : column_)];
      c_ = c_[uint64_t(row_ * t.N + column_)];
      bias_ = bias_[uint64_t(column_)];
      pipe.InitBuffer(rows_, 1, 32768);
      pipe.InitBuffer(tiles_, 1, 65536);
      Do();
    }
    if (told_.way != kNoEnd && told_.way != kNoEndBetween) {
      object.End();
      other.End();
    }
  }

  TPipe pipe;
  Object object, other;
  TCubeTiling tiling_;
  Told told_;

 private:
  __aicore__ inline void Describe(Object& mm) {
    mm.SetTail(m_, n_);
    if (told_.way != kNoA) {
      mm.SetTensorA(a_, told_.transA != 0);
    }
    mm.SetTensorB(b_, told_.transB != 0);
    if (told_.bias != 0) {
      mm.SetBias(bias_);
    }
  }

  __aicore__ inline void Do() {
    const auto atomic = static_cast<uint8_t>(told_.atomic);
    if (told_.way == kOwnA || told_.way == kLateA) {
      CopyA();
    }
    Describe(object);
    switch (told_.way) {
      case kTileFirst:
        object.GetTensorC(c_);
        return;
      case kTiles:
        while (object.Iterate()) {
          object.GetTensorC(c_, atomic);
        }
        return;
      case kDense: {
        uint64_t at = 0;
        while (object.Iterate()) {
          object.GetTensorC(c_[at], 0, true);
          at += uint64_t(tiling_.baseM) * uint64_t(tiling_.baseN);
        }
        return;
      }
      case kIntoUb:
      case kLater:
      case kLaterAsked:
      case kLaterNoSpace:
      case kLaterTwice:
      case kLaterNoWait:
        ByTiles();
        return;
      case kNotTold:
        object.template IterateAll<false>(c_);
        object.WaitIterateAll();
        return;
      case kAsync:
        object.template IterateAll<false>(c_, 0, false, true);
        object.WaitIterateAll();
        AddOne();
        return;
      case kNoWait:
        object.template IterateAll<false>(c_);
        AddOne();
        return;
      case kOwnA:
        object.SetTensorA(own_);
        object.IterateAll(c_);
        return;
      case kLateA:  // is written while the product reads it
        object.SetTensorA(own_);
        object.template IterateAll<false>(c_, 0, false, true);
        CopyA();
        object.WaitIterateAll();
        return;
      case kFlagOfObjects:
      case kFlagOfItsOwn: {  // object and other have flags 0 to 3
        const uint16_t flag = told_.way == kFlagOfObjects ? 3 : 4;
        CrossCoreSetFlag<1, PIPE_MTE3>(flag);
        CrossCoreWaitFlag(flag);
        object.IterateAll(c_);
        return;
      }
      case kNoEndBetween:
        Describe(other);
        object.IterateAll(c_);
        other.IterateAll(c_);
        return;
      case kTwoObjects:
        Describe(other);
        object.template IterateAll<false>(c_, 1, false, true);
        other.template IterateAll<false>(c_, 1, false, true);
        other.WaitIterateAll();
        object.IterateAll(c_, 1);  // hears the first one's end, too
        object.WaitIterateAll();
        return;
      default:
        object.IterateAll(c_, atomic);
    }
  }

  // The rows of A of this part, copied by the AIV.
  __aicore__ inline void CopyA() {
    const auto k = static_cast<uint32_t>(tiling_.Ka);
    for (int row = 0; row < m_; ++row) {
      LocalTensor<half> x = rows_.template AllocTensor<half>();
      DataCopyPad(x, a_[uint64_t(row) * k], DataCopyExtParams(1, k * sizeof(half), 0, 0, 0),
                  DataCopyPadExtParams<half>(false, 0, 0, 0));
      rows_.EnQue(x);
      x = rows_.template DeQue<half>();
      SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID3);
      WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID3);
      DataCopyPad(own_[uint64_t(row) * k], x, DataCopyExtParams(1, k * sizeof(half), 0, 0, 0));
      SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID3);
      WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID3);
      rows_.FreeTensor(x);
    }
  }

  // To the first row of this part of C.
  __aicore__ inline void AddOne() {
    const auto bytes = static_cast<uint32_t>(n_) * uint32_t{sizeof(float)};
    LocalTensor<float> x = rows_.template AllocTensor<float>();
    LocalTensor<float> y = tiles_.template AllocTensor<float>();
    DataCopyPad(x, c_, DataCopyExtParams(1, bytes, 0, 0, 0),
                DataCopyPadExtParams<float>(false, 0, 0, 0));
    rows_.EnQue(x);
    x = rows_.template DeQue<float>();
    Adds(y, x, 1.0f, n_);
    rows_.FreeTensor(x);
    tiles_.EnQue(y);
    y = tiles_.template DeQue<float>();
    DataCopyPad(c_, y, DataCopyExtParams(1, bytes, 0, 0, 0));
    tiles_.FreeTensor(y);
  }

  // Iterate<false> asks for all tiles; whoever counts them asks once.
  __aicore__ inline bool HasTile(int tile, int tiles) {
    if (told_.way == kLaterAsked || told_.way == kLaterTwice) {
      return tile == 0 ? object.template Iterate<false>() : tile < tiles;
    }
    return told_.way == kIntoUb ? object.Iterate() : object.template Iterate<false>();
  }
  __aicore__ inline void TakeTile(const LocalTensor<float>& x) {
    if (told_.way == kIntoUb) {
      object.GetTensorC(x, 0, true);
    } else if (told_.way == kLaterAsked) {
      // It is Iterate that says so: the argument here may be left out.
      GlobalTensor<float> tile = object.GetTensorC(0, true);
      SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID3);
      WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID3);
      DataCopy(x, tile, static_cast<uint32_t>(tiling_.baseM * tiling_.baseN));
      SetFlag<HardEvent::MTE2_V>(EVENT_ID3);
      WaitFlag<HardEvent::MTE2_V>(EVENT_ID3);
    } else {
      object.template GetTensorC<false>(x, 0, true);
      if (told_.way != kLaterNoWait) {
        object.WaitGetTensorC();
      }
    }
  }

  // Each tile by UB, where it is doubled, as MatmulLeakyRelu does.
  __aicore__ inline void ByTiles() {
    if constexpr (C::pos == TPosition::VECIN) {
      const int baseM = tiling_.baseM, baseN = tiling_.baseN;
      const int down = DivCeil(m_, baseM);
      const int tiles = down * DivCeil(n_, baseN) + (told_.way == kLaterTwice ? 1 : 0);
      for (int tile = 0; HasTile(tile, tiles); ++tile) {
        LocalTensor<float> x = tiles_.template AllocTensor<float>();
        TakeTile(x);
        Muls(x, x, 2.0f, baseM * baseN);
        tiles_.EnQue(x);
        x = tiles_.template DeQue<float>();
        const int row = tile % down * baseM, column = tile / down * baseN;
        const auto rows = static_cast<uint16_t>(Std::min(baseM, m_ - row));
        const auto width = static_cast<uint32_t>(Std::min(baseN, n_ - column));
        constexpr uint32_t size = sizeof(float), block = 32;
        DataCopyPad(c_[uint64_t(row * tiling_.N + column)], x,
                    DataCopyExtParams(
                        rows, width * size,
                        (uint32_t(baseN) * size - DivCeil(width * size, block) * block) / block,
                        (uint32_t(tiling_.N) - width) * size, 0));
        tiles_.FreeTensor(x);
      }
    }
  }

  TQue<TPosition::VECIN, 1> rows_;
  TQue<TPosition::VECOUT, 1> tiles_;
  int row_ = 0, column_ = 0, m_ = 0, n_ = 0;
  GlobalTensor<half> a_, own_, b_;
  GlobalTensor<float> c_, bias_;
};

// Copies of the kernel's own. The tensors that Matmul has begin an element too late, and A with the first part: its own copy would bring
// other numbers. tilingPtr: elements from the first part of A to this one. dataPtr: the tiling.
__aicore__ inline const __gm__ TCubeTiling& TilingAt(uint64_t dataPtr) {
  return *reinterpret_cast<__gm__ TCubeTiling*>(dataPtr);
}
__aicore__ inline void IntoL1(const LocalTensor<int8_t>& to, const __gm__ void* gm, int64_t at,
                              int rows, int columns, int pitch) {
  GlobalTensor<half> from;
  from.SetGlobalBuffer(static_cast<__gm__ half*>(const_cast<__gm__ void*>(gm)) + at);
  const auto r = static_cast<uint16_t>(rows), c = static_cast<uint16_t>(columns);
  DataCopy(to.ReinterpretCast<half>(), from,
           Nd2NzParams(1, r, c, 0, static_cast<uint16_t>(pitch), AlignUp(r, uint16_t{16}), 1, 0));
}
__aicore__ inline void OwnCopyA(const LocalTensor<int8_t>& to, const __gm__ void* gm, int row,
                                int col, int useM, int useK, const uint64_t tilingPtr,
                                const uint64_t dataPtr) {
  const auto& t = TilingAt(dataPtr);
  IntoL1(to, gm, int64_t(tilingPtr) + int64_t(row) * t.baseM * t.Ka + col * t.baseK, useM, useK,
         t.Ka);
}
__aicore__ inline void OwnCopyB(const LocalTensor<int8_t>& to, const __gm__ void* gm, int row,
                                int col, int useK, int useN, const uint64_t,
                                const uint64_t dataPtr) {
  const auto& t = TilingAt(dataPtr);
  IntoL1(to, gm, int64_t(row) * t.baseK * t.N + col * t.baseN - 1, useK, useN, t.N);
}
#if __NPU_ARCH__ != 3510  // which has no FixpipeParams
__aicore__ inline void OwnCopyOut(const __gm__ void* gm, const LocalTensor<int8_t>& co1,
                                  const void* params, const uint64_t, const uint64_t) {
  const auto* p = static_cast<const DataCopyOutParams*>(params);
  FixpipeParams<float> out(p->cBurstNum, p->burstLen, p->srcStride, p->dstStride);
  out.nz2ndParams = {true, 1, 0, 0, p->oriNSize};
  GlobalTensor<float> to;
  to.SetGlobalBuffer(static_cast<__gm__ float*>(const_cast<__gm__ void*>(gm)) - 1);
  Fixpipe(to, co1.ReinterpretCast<float>(), out);
}
using OwnCopies = MatmulCallBackFunc<OwnCopyOut, OwnCopyA, OwnCopyB>;
#else
using OwnCopies = MatmulCallBackFunc<nullptr, OwnCopyA, OwnCopyB>;
#endif

// A part of the rows of C, all at once: of operands in UB, into UB, by the kernel's own copies, quantised.
template <typename T, TPosition in, typename Dst, TPosition out, typename CallBack>
class Part {
  using Sum = std::conditional_t<std::is_same_v<T, int8_t>, int32_t, float>;
  using Operand = MatmulType<in, CubeFormat::ND, T, true>;
  static constexpr bool kFromUb = in != TPosition::GM, kToUb = out != TPosition::GM,
                        kOwnCopies = !std::is_same_v<CallBack, MatmulCallBackFunc<>>;

 public:
  __aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, GM_ADDR words,
                             GM_ADDR told) {
    const TCubeTiling& t = *reinterpret_cast<__gm__ TCubeTiling*>(told);
    const auto& rest = *reinterpret_cast<__gm__ Told*>(told + sizeof(TCubeTiling));
    const auto core = static_cast<int>(GetBlockIdx());
    if (core >= t.usedCoreNum) {
      return;
    }
    const int row = core * t.singleCoreM, m = Std::min(t.M - row, t.singleCoreM);
    a_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(a), uint64_t(t.M) * uint64_t(t.Ka));
    b_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(b), uint64_t(t.Kb) * uint64_t(t.N));
    c_.SetGlobalBuffer(reinterpret_cast<__gm__ Dst*>(c), uint64_t(t.M) * uint64_t(t.N));
    bias_.SetGlobalBuffer(reinterpret_cast<__gm__ Sum*>(bias), uint64_t(t.N));
    const bool transA = rest.transA != 0, transB = rest.transB != 0;
    object.SetTail(m);
    const uint64_t at = uint64_t(row) * uint64_t(t.Ka);
    if constexpr (kFromUb) {
      pipe.InitBuffer(inA_, 32768);
      pipe.InitBuffer(inB_, 65536);
      pipe.InitBuffer(inBias_, 4096);
      if (transA) {
        object.SetTensorA(Load(inA_, a_[uint64_t(row)], t.Ka, m, t.M), true);
      } else {
        object.SetTensorA(Load(inA_, a_[at], m, t.Ka, t.Ka));
      }
      if (rest.way == 2) {
        object.SetTensorB(inB_.template Get<T>());  // which nothing has written
      } else {
        object.SetTensorB(transB ? Load(inB_, b_, t.N, t.Kb, t.Kb) : Load(inB_, b_, t.Kb, t.N, t.N),
                          transB);
      }
      object.SetBias(Load(inBias_, bias_, 1, t.N, t.N));
    } else if constexpr (kOwnCopies) {
      object.SetUserDefInfo(at);
      object.SetSelfDefineData(reinterpret_cast<uint64_t>(told));
      object.SetTensorA(a_);
      object.SetTensorB(b_[1]);
      object.SetBias(bias_);
    } else {
      object.SetTensorA(a_[at]);
      object.SetTensorB(b_);
      object.SetBias(bias_);
    }
    if constexpr (!std::is_same_v<Dst, Sum>) {
      GlobalTensor<uint64_t> vector;
      vector.SetGlobalBuffer(reinterpret_cast<__gm__ uint64_t*>(words), uint64_t(t.N));
      if (rest.way == 1) {
        object.SetQuantVector(vector);
      } else {
        object.SetQuantScalar(vector.GetValue(0));
      }
    }
    const auto to = c_[uint64_t(row) * uint64_t(t.N)];
    if constexpr (kFromUb && std::is_same_v<Dst, float>) {
      if (rest.way == 3) {  // A, and twice A, which goes where A lay, without a wait between them
        object.template IterateAll<false>(to, 0, false, true);
        LocalTensor<T> twice = Load(inA_, a_[at], m, t.Ka, t.Ka);
        PipeBarrier<PIPE_ALL>();
        Add(twice, twice, twice, static_cast<int32_t>(twice.GetSize()));
        object.SetTensorA(twice);
        object.template IterateAll<false>(to, 1, false, true);
        object.WaitIterateAll();
        object.WaitIterateAll();
        object.End();
        return;
      }
    }
    if constexpr (kToUb) {
      pipe.InitBuffer(outC_, __NPU_ARCH__ == 3510 ? 192 * 192 * 4 : 65536);
      LocalTensor<Dst> x = outC_.template Get<Dst>();
      object.IterateAll(x);
      DataCopyPad(to, x,
                  DataCopyExtParams(static_cast<uint16_t>(m), uint32_t(t.N) * uint32_t{sizeof(Dst)},
                                    0, 0, 0));
    } else {
      object.IterateAll(to[kOwnCopies && CallBack::kCopyOut != nullptr ? 1 : 0]);
    }
    object.End();
  }

  TPipe pipe;
  Matmul<Operand, Operand, MatmulType<out, kToUb ? CubeFormat::ND_ALIGN : CubeFormat::ND, Dst>,
         MatmulType<in, CubeFormat::ND, Sum>, CFG_NORM, CallBack>
      object;

 private:
  // Rows of whole blocks of 32 bytes.
  template <typename E>
  __aicore__ inline LocalTensor<E> Load(TBuf<TPosition::VECCALC>& buffer,
                                        const GlobalTensor<E>& from, int rows, int columns,
                                        int pitch) {
    LocalTensor<E> x = buffer.template Get<E>();
    constexpr uint32_t size = sizeof(E);
    DataCopyPad(x, from,
                DataCopyExtParams(static_cast<uint16_t>(rows), uint32_t(columns) * size,
                                  uint32_t(pitch - columns) * size, 0, 0),
                DataCopyPadExtParams<E>(false, 0, 0, 0));
    const uint32_t block = 32 / size;
    x.SetSize(uint32_t(rows) * AlignUp(uint32_t(columns), block));
    return x;
  }

  TBuf<TPosition::VECCALC> inA_, inB_, inBias_, outC_;
  GlobalTensor<T> a_, b_;
  GlobalTensor<Dst> c_;
  GlobalTensor<Sum> bias_;
};

}  // namespace

#define PRODUCT(name, C, config)                                                                  \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,       \
                                             GM_ADDR scratch, GM_ADDR told, GM_ADDR workspace) {  \
    SetSysWorkspace(workspace);                                                                   \
    Product<C, config> product;                                                                   \
    product.Read(told);                                                                           \
    const int way = product.told_.way;                                                            \
    if (way == kNotRegistered && GetSubBlockIdx() == 1) {                                         \
      return;                                                                                     \
    }                                                                                             \
    if (way == kAicReturns && g_coreType == AIC) {                                                \
      return;                                                                                     \
    }                                                                                             \
    if (way == kNoTiling) {                                                                       \
      REGIST_MATMUL_OBJ(&product.pipe, GetSysWorkSpacePtr(), product.object);                     \
    } else if (way == kOtherType && g_coreType == AIC) {                                          \
      Matmul<Left, Left, C, Out, CFG_NORM> another;                                               \
      REGIST_MATMUL_OBJ(&product.pipe, GetSysWorkSpacePtr(), another, &product.tiling_);          \
    } else if (way == kGoesOn) {                                                                  \
      [&] {                                                                                       \
        REGIST_MATMUL_OBJ(&product.pipe, GetSysWorkSpacePtr(), product.object, &product.tiling_); \
      }();                                                                                        \
    } else {                                                                                      \
      REGIST_MATMUL_OBJ(&product.pipe, GetSysWorkSpacePtr(), product.object, &product.tiling_,    \
                        product.other, &product.tiling_);                                         \
    }                                                                                             \
    product.Run(a, b, c, bias, scratch);                                                          \
  }

PRODUCT(to_gm, Out, CFG_MDL)
PRODUCT(to_ub, InUb, CFG_MDL)
PRODUCT(without_end, Out, kWithoutEnd)

#define PART(name, T, in, Dst, out, CallBack)                                                  \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,    \
                                             GM_ADDR words, GM_ADDR told, GM_ADDR workspace) { \
    SetSysWorkspace(workspace);                                                                \
    Part<T, TPosition::in, Dst, TPosition::out, CallBack> part;                                \
    const TCubeTiling tiling = *reinterpret_cast<__gm__ TCubeTiling*>(told);                   \
    REGIST_MATMUL_OBJ(&part.pipe, GetSysWorkSpacePtr(), part.object, &tiling);                 \
    part.Run(a, b, c, bias, words, told);                                                      \
  }

PART(from_ub, half, VECOUT, float, GM, MatmulCallBackFunc<>)
PART(from_veccalc, half, VECCALC, float, GM, MatmulCallBackFunc<>)
PART(from_ub_int8, int8_t, VECOUT, int32_t, GM, MatmulCallBackFunc<>)
PART(all_to_ub, half, GM, float, VECIN, MatmulCallBackFunc<>)
PART(all_to_veccalc, half, GM, float, VECCALC, MatmulCallBackFunc<>)
PART(by_own_copies, half, GM, float, GM, OwnCopies)
PART(int8_int32, int8_t, GM, int32_t, GM, MatmulCallBackFunc<>)
PART(int8_half, int8_t, GM, half, GM, MatmulCallBackFunc<>)

// ibShare of B, and of A: with both, all AIVs of an AI core ask for all of C; else each has its rows.
#define SHARED(name, sharesA)                                                                    \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, GM_ADDR,  \
                                             GM_ADDR told, GM_ADDR workspace) {                  \
    SetSysWorkspace(workspace);                                                                  \
    TPipe pipe;                                                                                  \
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::NONE, sharesA>,    \
           MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::NONE, true>, InUb> \
        object;                                                                                  \
    const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(told);                          \
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &t);                                  \
    RunShared<sharesA>(object, t, a, b, c, told);                                                \
  }

namespace {

template <bool sharesA, typename Object>
__aicore__ inline void RunShared(Object& object, const TCubeTiling& t, GM_ADDR a, GM_ADDR b,
                                 GM_ADDR c, GM_ADDR told) {
  const auto* words = reinterpret_cast<__gm__ int32_t*>(told) + sizeof(TCubeTiling) / 4;
  const int way = words[2], row = sharesA ? 0 : static_cast<int>(GetBlockIdx()) * t.singleCoreM;
  const auto atomic = static_cast<uint8_t>(words[4]);
  GlobalTensor<half> left, right;
  GlobalTensor<float> out;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), uint64_t(t.M * t.Ka));
  right.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b), uint64_t(t.Kb * t.N));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), uint64_t(t.M * t.N));
  object.SetTail(Std::min(t.M - row, t.singleCoreM));
  object.SetTensorA(left[uint64_t(row * t.Ka)]);
  object.SetTensorB(right);
  const auto part = out[uint64_t(row * t.N)];
  if (way == kTiles) {
    while (object.Iterate()) {
      object.GetTensorC(part, atomic);
    }
  } else if (way == kAsync) {
    object.template IterateAll<false>(part, atomic, false, true);
    object.WaitIterateAll();
  } else {
    object.IterateAll(part, atomic);
  }
  object.End();
}

}  // namespace

SHARED(shared, true)
SHARED(shared_b, false)

namespace {

constexpr MatmulConfig kDualMaster = [] {
  MatmulConfig config = CFG_NORM;
  config.enableMixDualMaster = true;
  return config;
}();

// Both halves run this: the AIC makes its part of C where it comes to it, and its AIVs double the rows in turns when the flag says so.
template <bool shares>
__aicore__ inline void RunDualMaster(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, GM_ADDR told) {
  constexpr uint16_t kDone = 5;
  using Operand = MatmulType<TPosition::GM, CubeFormat::ND, half, true, LayoutMode::NONE, shares>;
  TPipe pipe;
  Matmul<Operand, Operand, Out, Out, kDualMaster> object;
  const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(told);
  const auto& rest = *reinterpret_cast<__gm__ Told*>(told + sizeof(TCubeTiling));
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &t);
  const bool isVector = g_coreType == AIV, transA = rest.transA != 0;
  const auto core = static_cast<int>(GetBlockIdx() / (isVector ? GetSubBlockNum() : 1));
  const int row = core * t.singleCoreM, m = Std::min(t.M - row, t.singleCoreM);
  GlobalTensor<half> left, right;
  GlobalTensor<float> out, added;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), uint64_t(t.M * t.Ka));
  right.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b), uint64_t(t.Kb * t.N));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), uint64_t(t.M * t.N));
  added.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(bias), uint64_t(t.N));
  object.SetTail(m);
  object.SetTensorA(left[uint64_t(transA ? row : row * t.Ka)], transA);
  object.SetTensorB(right, rest.transB != 0);
  if (rest.bias != 0) {
    object.SetBias(added);
  }
  object.IterateAll(out[uint64_t(row * t.N)]);
  object.End();
  if (!isVector) {
    CrossCoreSetFlag<2, PIPE_FIX>(kDone);
    return;
  }
  CrossCoreWaitFlag(kDone);
  TQue<TPosition::VECIN, 1> rows;
  TQue<TPosition::VECOUT, 1> doubled;
  pipe.InitBuffer(rows, 1, 4096);
  pipe.InitBuffer(doubled, 1, 4096);
  const DataCopyExtParams one(1, uint32_t(t.N) * uint32_t{sizeof(float)}, 0, 0, 0);
  for (int r = static_cast<int>(GetSubBlockIdx()); r < m; r += static_cast<int>(GetSubBlockNum())) {
    const auto place = out[uint64_t((row + r) * t.N)];
    LocalTensor<float> x = rows.AllocTensor<float>();
    DataCopyPad(x, place, one, DataCopyPadExtParams<float>(false, 0, 0, 0));
    rows.EnQue(x);
    x = rows.DeQue<float>();
    LocalTensor<float> y = doubled.AllocTensor<float>();
    Muls(y, x, 2.0f, t.N);
    doubled.EnQue(y);
    rows.FreeTensor(x);
    y = doubled.DeQue<float>();
    DataCopyPad(place, y, one);
    doubled.FreeTensor(y);
  }
}

}  // namespace

#define DUAL_MASTER(name, shares)                                                           \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, \
                                             GM_ADDR, GM_ADDR told, GM_ADDR) {              \
    RunDualMaster<shares>(a, b, c, bias, told);                                             \
  }
DUAL_MASTER(dual_master, true)
DUAL_MASTER(dual_master_alone, false)

#if __NPU_ARCH__ == 3510
namespace {

// With ibShare of A and B each AIV gets half of a tile in UB, which it doubles.
template <bool ofColumns, typename Object>
__aicore__ inline void RunHalves(Object& object, TPipe& pipe, const TCubeTiling& t, GM_ADDR a,
                                 GM_ADDR b, GM_ADDR c, GM_ADDR told) {
  const auto& rest = *reinterpret_cast<__gm__ Told*>(told + sizeof(TCubeTiling));
  const auto core = static_cast<int>(GetBlockIdx() / 2),
             second = static_cast<int>(GetSubBlockIdx());
  const int first = core * t.singleCoreM, m = Std::min(t.M - first, t.singleCoreM);
  GlobalTensor<half> left, right;
  GlobalTensor<float> out;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), uint64_t(t.M * t.Ka));
  right.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b), uint64_t(t.Kb * t.N));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), uint64_t(t.M * t.N));
  object.SetTail(m);
  object.SetTensorA(left[uint64_t(first * t.Ka)]);
  object.SetTensorB(right);
  const int elements = t.baseM * t.baseN;
  TQue<TPosition::VECOUT, 1> tiles;
  pipe.InitBuffer(tiles, 1, uint32_t(elements) * uint32_t{sizeof(float)});
  if (rest.way == kTileFirst) {
    object.Iterate();
    object.GetTensorC(out);
    return;
  }
  const int down = DivCeil(m, t.baseM);
  constexpr uint16_t kTurn = 6;
  if (rest.way == kNotTold &&
      second == 1) {  // the second AIV asks when the first one has its second tile
    CrossCoreSetFlag<1, PIPE_MTE3>(kTurn);
    CrossCoreWaitFlag(kTurn);
  }
  for (int tile = 0; rest.way == kAll ? tile == 0 : object.Iterate(); ++tile) {
    if (rest.way == kNotTold && second == 0 && tile == 1) {
      CrossCoreSetFlag<1, PIPE_MTE3>(kTurn);
      CrossCoreWaitFlag(kTurn);
    }
    LocalTensor<float> x = tiles.AllocTensor<float>();
    if (rest.way == kAll) {
      object.IterateAll(x);
    } else {
      object.GetTensorC(x, 0, true);
    }
    Muls(x, x, 2.0f, elements / 2);
    tiles.EnQue(x);
    x = tiles.DeQue<float>();
    int row = tile % down * t.baseM, column = tile / down * t.baseN;
    int rows = Std::min(t.baseM, m - row), columns = Std::min(t.baseN, t.N - column);
    int pitch = rest.way == kAll ? DivCeil(columns, 8) * 8 : t.baseN;
    if (ofColumns) {
      columns /= 2, pitch /= 2, column += second * columns;
    } else {
      row += second * DivCeil(rows, 2), rows = (rows + 1 - second) / 2;
    }
    const auto width = static_cast<uint32_t>(columns);
    constexpr uint32_t size = sizeof(float), block = 32;
    if (rows > 0) {
      DataCopyPad(
          out[uint64_t((first + row) * t.N + column)], x,
          DataCopyExtParams(static_cast<uint16_t>(rows), width * size,
                            (uint32_t(pitch) * size - DivCeil(width * size, block) * block) / block,
                            (uint32_t(t.N) - width) * size, 0));
    }
    tiles.FreeTensor(x);
  }
  object.End();
}

using Shared = MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::NONE, true>;

}  // namespace

#define HALVES(name, Policy, ofColumns)                                                         \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, GM_ADDR, \
                                             GM_ADDR told, GM_ADDR workspace) {                 \
    SetSysWorkspace(workspace);                                                                 \
    TPipe pipe;                                                                                 \
    Matmul<Shared, Shared, InUb, Out, CFG_NORM, MatmulCallBackFunc<>, Impl::Detail::Policy>     \
        object;                                                                                 \
    const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(told);                         \
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &t);                                 \
    RunHalves<ofColumns>(object, pipe, t, a, b, c, told);                                       \
  }
HALVES(halves_of_rows, SplitMMatmulPolicy, false)
HALVES(halves_by_share, MatmulPolicy, false)
HALVES(halves_of_columns, SplitNMatmulPolicy, true)
#endif

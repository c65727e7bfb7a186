// SPDX-License-Identifier: Apache-2.0
// Batches of products, as operators write them: a tiling in GM, and behind it words that say what is done and where the matrices of each
// call begin; test_matmul_batch.py has their order. With ASCENDC_CUBE_ONLY cube cores call, without it the vector cores of a MIX kernel.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#ifndef ASCENDC_CUBE_ONLY
extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {1, 12, 1, 2, 0, 1};
#endif

namespace {

using namespace AscendC;

enum Way {
  kSync,
  kAsync,
  kIntoUb,
  kLoops,
  kLoopsLater,
  kLoopsIntoUb,
  kNoNum,
  kPartial,
  kStrideC,
  kSequential,
  kNotTold,
  kNoSpace,
  kTakenTwice
};

struct Told {
  int32_t transA, transB, way, bias, batchA, batchB, calls, cores, strideA, strideB, atomic, perC;
};

constexpr MatmulConfig kManyLoops = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(
    MatmulBatchParams{true, BatchMode::BATCH_LESS_THAN_L1});
constexpr MatmulConfig kOneBias = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(
    MatmulBatchParams{true, BatchMode::BATCH_LARGE_THAN_L1, false});

template <LayoutMode layout, CubeFormat format = CubeFormat::ND>
using In = MatmulType<TPosition::GM, format, half, true, layout>;
template <LayoutMode layout, typename T = float, CubeFormat format = CubeFormat::ND>
using Out = MatmulType<TPosition::GM, format, T, false, layout>;
using Bias = MatmulType<TPosition::GM, CubeFormat::ND, float>;

template <typename A, typename C, const auto& config, typename B = A>
class Batches {
 public:
  using Object = Matmul<A, B, C, Bias, config>;
  using T = typename C::T;

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
    calls_ = words + kWords + sizeof(Told) / sizeof(int32_t);
  }

  __aicore__ inline void Run(Object& object, TPipe* pipe, GM_ADDR a, GM_ADDR b, GM_ADDR c,
                             GM_ADDR bias, GM_ADDR scratch) {
    a_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a));
    b_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b));
    c_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(c));
    bias_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(bias));
    scratch_ = scratch;
    const auto core = static_cast<int32_t>(GetBlockIdx());
    if (core >= told_.cores) {
      return;
    }
    if constexpr (C::pos == TPosition::VECIN) {
      pipe->InitBuffer(out_, 1, 128 * 1024);
    }
    for (int32_t call = core; call < told_.calls; call += told_.cores) {
      const __gm__ int32_t* at = calls_ + 4 * call;
      object.SetTensorA(a_[uint64_t(at[0])], told_.transA != 0);
      object.SetTensorB(b_[uint64_t(at[1])], told_.transB != 0);
      if (told_.bias != 0) {
        object.SetBias(bias_[uint64_t(at[3])]);
      }
      Call(object, c_[uint64_t(at[2])]);
    }
    if (told_.calls > 0) {
      object.End();
    }
  }

 private:
#ifdef ASCENDC_CUBE_ONLY
  __aicore__ inline void Call(Object& object, const GlobalTensor<T>& c) {
    if (told_.way != kNoNum) {
      object.SetBatchNum(told_.batchA, told_.batchB);
      object.SetNBatchOutNum(2);
    }
    object.IterateBatch(c, told_.way == kPartial, static_cast<uint8_t>(told_.atomic),
                        told_.way == kSequential, uint32_t(told_.strideA), uint32_t(told_.strideB),
                        told_.way == kStrideC ? 1 : 0);
  }
#else
  __aicore__ inline void Call(Object& object, const GlobalTensor<T>& c) {
    const auto batchA = static_cast<uint32_t>(told_.batchA),
               batchB = static_cast<uint32_t>(told_.batchB);
    const auto strideA = static_cast<uint32_t>(told_.strideA),
               strideB = static_cast<uint32_t>(told_.strideB);
    if constexpr (C::pos == TPosition::VECIN) {
      LocalTensor<T> local = out_.AllocTensor<T>();
      object.IterateBatch(local, batchA, batchB, told_.way != kSequential, strideA, strideB);
      Store(c, local);
    } else if (told_.way == kAsync) {
      object.template IterateBatch<false, true>(c, batchA, batchB, false, strideA, strideB);
      object.WaitIterateBatch();
    } else if (told_.way == kNotTold) {
      object.template IterateBatch<false>(c, batchA, batchB, false, strideA, strideB);
      object.WaitIterateBatch();
    } else if constexpr (config.isNBatch && config.isBiasBatch) {
      Loops(object, c, batchA, batchB);
    } else {
      object.IterateBatch(c, batchA, batchB, told_.way == kSequential, strideA, strideB,
                          told_.way == kStrideC ? 1 : 0, told_.way == kPartial,
                          static_cast<uint8_t>(told_.atomic));
    }
  }
  __aicore__ inline void Loops(Object& object, const GlobalTensor<T>& c, uint32_t batchA,
                               uint32_t batchB) {
    if (told_.way != kNoSpace) {
      object.SetWorkspace(scratch_, 0);
    }
    const auto loops = static_cast<uint32_t>(told_.perC);  // of this one call
    if (told_.way == kLoopsLater || told_.way == kTakenTwice) {
      object.template IterateNBatch<false>(loops, batchA, batchB, false);
      for (uint32_t i = 0; i < loops; ++i) {
        Copy(c, object.template GetBatchTensorC<false>(batchA, batchB), i,
             batchA > batchB ? batchA : batchB);
      }
      if (told_.way == kTakenTwice) {
        object.template GetBatchTensorC<false>(batchA, batchB);
      }
    } else {
      object.IterateNBatch(loops, batchA, batchB, false);
      GlobalTensor<T> all;
      all.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(scratch_));
      for (uint32_t i = 0; i < loops; ++i) {
        const uint32_t matrices = batchA > batchB ? batchA : batchB;
        Copy(c,
             all[uint64_t(i) * matrices * uint32_t(tiling_.CLayoutInfoS1 * tiling_.CLayoutInfoS2)],
             i, matrices);
      }
    }
  }
  // Batch number i from the workspace to its place in C, through UB.
  __aicore__ inline void Copy(const GlobalTensor<T>& c, const GlobalTensor<T>& from, uint32_t i,
                              uint32_t matrices) {
    const uint32_t count = matrices * uint32_t(tiling_.CLayoutInfoS1 * tiling_.CLayoutInfoS2);
    TBuf<TPosition::VECCALC> buffer;
    if (i == 0) {
      GetTPipePtr()->InitBuffer(copy_, 64 * 1024);
    }
    LocalTensor<T> local = copy_.template Get<T>();
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    DataCopy(local, from, count);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(c[uint64_t(i) * count], local, count);
  }
  // Rows in UB are whole blocks.
  __aicore__ inline void Store(const GlobalTensor<T>& c, const LocalTensor<T>& local) {
    constexpr uint32_t kBlock = 32 / sizeof(T);
    const auto n = static_cast<uint32_t>(tiling_.singleCoreN);
    const auto rows = static_cast<uint16_t>(told_.perC * tiling_.singleCoreM);
    out_.EnQue(local);
    LocalTensor<T> made = out_.DeQue<T>();
    static_cast<void>(kBlock);
    DataCopyPad(c, made, DataCopyExtParams(rows, n * uint32_t{sizeof(T)}, 0, 0, 0));
    out_.FreeTensor(made);
  }
  TBuf<TPosition::VECCALC> copy_;
#endif

  TCubeTiling tiling_;
  Told told_;
  const __gm__ int32_t* calls_ = nullptr;
  GM_ADDR scratch_ = nullptr;
  GlobalTensor<half> a_, b_;
  GlobalTensor<T> c_;
  GlobalTensor<float> bias_;
  TQue<TPosition::VECOUT, 1> out_;

 public:
  const TCubeTiling* Tiling() const { return &tiling_; }
};

}  // namespace

#ifdef ASCENDC_CUBE_ONLY
#define SPACE(workspace) static_cast<void>(workspace)
#else
#define SPACE(workspace) SetSysWorkspace(workspace)
#endif

#define BATCHES(name, A, C, ...)                                                                 \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,      \
                                             GM_ADDR scratch, GM_ADDR told, GM_ADDR workspace) { \
    using Kind = Batches<A, C, __VA_ARGS__>;                                                     \
    TPipe pipe;                                                                                  \
    SPACE(workspace);                                                                            \
    Kind batches;                                                                                \
    batches.Read(told);                                                                          \
    Kind::Object object;                                                                         \
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, batches.Tiling());                    \
    batches.Run(object, &pipe, a, b, c, bias, scratch);                                          \
  }

using Normal = In<LayoutMode::NORMAL>;
using NormalNz = In<LayoutMode::NORMAL, CubeFormat::NZ>;
using Bsngd = In<LayoutMode::BSNGD>;
using Sbngd = In<LayoutMode::SBNGD>;
using Bngs = In<LayoutMode::BNGS1S2>;
using OutNormal = Out<LayoutMode::NORMAL>;
using OutHalf = Out<LayoutMode::NORMAL, half>;
using OutBsngd = Out<LayoutMode::BSNGD>;
using OutSbngd = Out<LayoutMode::SBNGD>;
using OutBngs = Out<LayoutMode::BNGS1S2>;
using OutBngsNz = Out<LayoutMode::BNGS1S2, float, CubeFormat::NZ>;
using OutNormalNz = Out<LayoutMode::NORMAL, float, CubeFormat::NZ>;

BATCHES(normal, Normal, OutNormal, CFG_NORM)
BATCHES(normal_half, Normal, OutHalf, CFG_NORM)
BATCHES(normal_nz, NormalNz, OutNormal, CFG_NORM)
BATCHES(normal_one_bias, Normal, OutNormal, kOneBias)
BATCHES(bsngd, Bsngd, OutBsngd, CFG_NORM)
BATCHES(sbngd, Sbngd, OutSbngd, CFG_NORM)
BATCHES(bsngd_bngs, Bsngd, OutBngs, CFG_NORM)
BATCHES(sbngd_bngs, Sbngd, OutBngs, CFG_NORM)
BATCHES(bngs, Bngs, OutBngs, CFG_NORM)
BATCHES(bngs_by_bsngd, Bngs, OutBngs, CFG_NORM, Bsngd)
BATCHES(bngs_by_sbngd, Bngs, OutBngs, CFG_NORM, Sbngd)
BATCHES(bsngd_by_bngs, Bsngd, OutBngs, CFG_NORM, Bngs)
BATCHES(bngs_to_nz, Bngs, OutBngsNz, CFG_NORM, Bsngd)
BATCHES(normal_to_nz, Normal, OutNormalNz, CFG_NORM)
#ifndef ASCENDC_CUBE_ONLY
using InUb = MatmulType<TPosition::VECIN, CubeFormat::ND_ALIGN, float, false, LayoutMode::NORMAL>;
BATCHES(normal_ub, Normal, InUb, CFG_NORM)
BATCHES(loops, Bsngd, OutBngs, kManyLoops)
BATCHES(loops_bsngd, Bsngd, OutBsngd, kManyLoops)
BATCHES(loops_sbngd, Sbngd, OutSbngd, kManyLoops)
BATCHES(loops_normal, Normal, OutNormal, kManyLoops)
#endif

// SPDX-License-Identifier: Apache-2.0
// Operands that vector cores put into L1 of their AIC (TSCM), by rows of C for each AIV. Words behind the tiling say which way, right or
// with one mistake; test_mix_tscm.py has their order. Tiling key 11 runs one AIV for each AIC, 12 two.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {2, 11, 1, 1, 12, 1, 2};

namespace {

using namespace AscendC;

enum Way {
  kFromGm,
  kFromUb,
  kPadded,
  kBlocks,
  kInTurns,
  kNotCopied,
  kPastTheEnd,
  kFreed,
  kByVector,
  kTooEarly,
  kNoRoom,
  kOverlap,
  kWildSource,
  kNoTscm,
};

constexpr uint32_t kRows = 16, kC0 = 16;

struct Told {
  int32_t transA, transB, way, bias, atomic;
};

template <typename A, typename B, int mask>
class Product {
 public:
  using Object = Matmul<A, B, MatmulType<TPosition::GM, CubeFormat::ND, float>>;

  __aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR c, const TCubeTiling& t,
                             const Told& told) {
    const auto core = static_cast<int>(GetBlockIdx());
    if (core < t.usedCoreNum) {
      told_ = told;
      row_ = core * t.singleCoreM;
      m_ = uint32_t(Std::min(t.M - row_, t.singleCoreM)), n_ = uint32_t(t.N), k_ = uint32_t(t.Ka);
      a_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), uint64_t(t.M) * k_);
      b_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b), uint64_t(k_) * n_);
      c_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), uint64_t(t.M) * n_);
      Do();
    }
    object.End();
  }

  TPipe pipe;
  Object object;

 private:
  static constexpr bool kAInL1 = A::pos == TPosition::TSCM, kBInL1 = B::pos == TPosition::TSCM;

  // Rows from `from` on, of a matrix with `columns` elements in a row, into fractals.
  __aicore__ inline void Copy(const LocalTensor<half>& to, const GlobalTensor<half>& from,
                              uint32_t rows, uint32_t columns) {
    const auto r = static_cast<uint16_t>(rows), w = static_cast<uint16_t>(columns);
    const Nd2NzParams fractals(1, r, w, 0, w, AlignUp(r, uint16_t{kRows}), 1, 0);
    if (told_.way != kFromUb && told_.way != kPadded) {
      DataCopy(to, from, fractals);
      return;
    }
    // Rows in UB are whole blocks; what goes to L1 are those without the rest.
    LocalTensor<half> x = rows_.AllocTensor<half>();
    const uint32_t bytes = columns * uint32_t{sizeof(half)};
    if (told_.way == kFromUb) {
      DataCopyPad(x, from, DataCopyExtParams(1, rows * bytes, 0, 0, 0),
                  DataCopyPadExtParams<half>(false, 0, 0, 0));
    } else {
      DataCopyPad(x, from, DataCopyExtParams(r, bytes, 0, 0, 0),
                  DataCopyPadExtParams<half>(false, 0, 0, 0));
    }
    rows_.EnQue(x);
    x = rows_.DeQue<half>();
    LocalTensor<half> y = out_.AllocTensor<half>();
    DataCopy(y, x, 8192);
    rows_.FreeTensor(x);
    out_.EnQue(y);
    y = out_.DeQue<half>();
    if (told_.way == kFromUb) {
      DataCopy(to, y, fractals);
    } else {
      DataCopyPad(to, y, DataCopyExtParams(r, bytes, 0, 0, 0), fractals);
    }
    out_.FreeTensor(y);
  }

  template <typename Que>
  __aicore__ inline LocalTensor<half> Filled(Que& que, const GlobalTensor<half>& from,
                                             uint32_t rows, uint32_t columns) {
    LocalTensor<half> x = que.template AllocTensor<half>();
    if (told_.way == kBlocks) {  // A lies in fractals
      DataCopy(x, from, AlignUp(rows, kRows) * AlignUp(columns, kC0));
    } else if (told_.way == kPastTheEnd) {
      DataCopy(x, from, 16384);
    } else if (told_.way == kWildSource) {
      Copy(x, from[uint64_t{1} << 30], rows, columns);
    } else if (told_.way == kByVector) {
      Duplicate(x, half(1), 128);
    } else if (told_.way != kNotCopied) {
      Copy(x, from, rows, columns);
    }
    que.EnQue(x);
    return que.template DeQue<half>();
  }

  __aicore__ inline void Do() {
    pipe.InitBuffer(rows_, 1, 16384);
    pipe.InitBuffer(out_, 1, 16384);
    pipe.InitBuffer(scmA_, 2,
                    told_.way == kNoRoom    ? 140 * 1024
                    : told_.way == kOverlap ? 120 * 1024
                                            : 16384);
    pipe.InitBuffer(scmB_, 1, 16384);
    LocalTensor<half> right;
    if constexpr (kBInL1) {
      const bool trans = told_.transB != 0;
      right = Filled(scmB_, b_, trans ? n_ : k_, trans ? k_ : n_);
      object.SetTensorB(right, trans);
    } else {
      object.SetTensorB(b_, told_.transB != 0);
    }
    const uint32_t step = told_.way == kInTurns || told_.way == kTooEarly ? kRows : m_;
    for (uint32_t row = 0; row < m_; row += step) {
      const uint32_t rows = Std::min(step, m_ - row);
      object.SetTail(int(rows));
      const auto to = c_[uint64_t(row_ + int(row)) * n_];
      if constexpr (!kAInL1) {
        object.SetTensorA(a_[uint64_t(row_ + int(row)) * k_]);
        object.IterateAll(to);
      } else {
        const bool trans = told_.transA != 0;
        LocalTensor<half> left = trans
                                     ? Filled(scmA_, a_, k_, rows)
                                     : Filled(scmA_, a_[uint64_t(row_ + int(row)) * k_], rows, k_);
        if (told_.way == kFreed) {
          scmA_.FreeTensor(left);
          Copy(left, a_, 16, 16);
        }
        if (told_.way == kNoTscm) {
          left = rows_.AllocTensor<half>();
        }
        object.SetTensorA(left, trans);
        if (told_.way == kTooEarly) {
          object.template IterateAll<false>(to);
        } else {
          object.IterateAll(to);
        }
        scmA_.FreeTensor(left);
      }
    }
    if constexpr (kBInL1) {
      scmB_.FreeTensor(right);
    }
  }

  Told told_;
  int row_ = 0;
  uint32_t m_ = 0, n_ = 0, k_ = 0;
  GlobalTensor<half> a_, b_;
  GlobalTensor<float> c_;
  TQue<TPosition::VECIN, 1> rows_;
  TQue<TPosition::VECOUT, 1> out_;
  TSCM<TPosition::GM, 2, mask> scmA_;
  TSCM<TPosition::VECOUT, 1, mask> scmB_;
};

using Gm = MatmulType<TPosition::GM, CubeFormat::ND, half, true>;
using InL1 = MatmulType<TPosition::TSCM, CubeFormat::NZ, half, true>;

}  // namespace

#define PRODUCT(name, A, B, mask)                                                               \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, GM_ADDR, \
                                             GM_ADDR words, GM_ADDR workspace) {                \
    SetSysWorkspace(workspace);                                                                 \
    const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(words);                        \
    const Told told = *reinterpret_cast<__gm__ Told*>(words + sizeof(TCubeTiling));             \
    Product<A, B, mask> product;                                                                \
    REGIST_MATMUL_OBJ(&product.pipe, GetSysWorkSpacePtr(), product.object, &t);                 \
    product.Run(a, b, c, t, told);                                                              \
  }

PRODUCT(left, InL1, Gm, 0)
PRODUCT(right, Gm, InL1, 0)
PRODUCT(both, InL1, InL1, 0)
PRODUCT(one_for_both, InL1, Gm, 4)

// A copy before there is a server.
extern "C" __global__ __aicore__ void early(GM_ADDR a, GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR,
                                            GM_ADDR words, GM_ADDR workspace) {
  SetSysWorkspace(workspace);
  const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(words);
  Product<InL1, Gm, 0> product;
  TSCM<TPosition::GM, 1> scm;
  product.pipe.InitBuffer(scm, 1, 1024);
  if ASCEND_IS_AIV {
    GlobalTensor<half> from;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), 256);
    LocalTensor<half> x = scm.AllocTensor<half>();
    DataCopy(x, from, 256);
    scm.FreeTensor(x);
  }
  REGIST_MATMUL_OBJ(&product.pipe, GetSysWorkSpacePtr(), product.object, &t);
  product.object.End();
}

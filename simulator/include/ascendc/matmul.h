// SPDX-License-Identifier: Apache-2.0
// Matmul of the high-level API: a core's part of C = A x B + bias, in tiles that the tiling says, by the copies, loads, products and
// Fixpipes of the basic API. All checks and times are those of these instructions.
#pragma once

#include <exception>

#include "ascendc/matmul_operand.h"
#include "ascendc/matmul_result.h"
#include "ascendc/matmul_room.h"
#include "ascendc/matmul_rules.h"
#include "ascendc/matmul_scale.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

// Kernels take it from Matmul's headers.
template <typename T, typename U>
constexpr std::common_type_t<T, U> CeilAlign(T value, U align) {
  return AlignUp(value, align);
}

template <typename A, typename B, typename C, typename Bias = C, const auto& given = CFG_NORM,
          typename CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy>
class MatmulImpl {
  using Rules = detail::mm::Rules<A, B, C, Bias, given, CallBack>;
  using SrcA = typename Rules::SrcA;
  using SrcB = typename Rules::SrcB;
  using Dst = typename Rules::Dst;
  using BiasT = typename Rules::BiasT;
  using Sum = typename Rules::Sum;
  static constexpr MatmulConfig config = Rules::config;
  static constexpr bool kIsConstant = Rules::kIsConstant, kOfFloats = Rules::kOfFloats,
                        kTo8 = Rules::kTo8, kQuantises = Rules::kQuantises,
                        kOwnCo1 = Rules::kOwnCo1, kCopiesOut = Rules::kCopiesOut,
                        kCopiesA = Rules::kCopiesA, kCopiesB = Rules::kCopiesB,
                        kIsBatch = Rules::kIsBatch, kOfSparse = Rules::kOfSparse,
                        kOfMx = Rules::kOfMx;
  using PolicyOfThis = Policy<given, MatmulImpl, A, B, C, Bias>;
  static_assert(!detail::mm::kHasOwnModules<PolicyOfThis>,
                "Matmul: a policy with modules of the kernel's own, such as CopyCubeInA, is not "
                "simulated; docs/simulator.md says what is");
  static_assert(kOfMx == detail::mm::kTakesScales<PolicyOfThis>,
                "Matmul: MatmulWithScalePolicy and MatmulTypeWithScale go together");
  static_assert(PolicyOfThis::kSplit == detail::mm::Split::kNone,
                "Matmul: SplitMMatmulPolicy and SplitNMatmulPolicy are of MIX kernels of 950");
  using InL0A = typename detail::mm::InL0<SrcA, kOfMx>::Type;
  using InL0B = typename detail::mm::InL0<SrcB, kOfMx>::Type;
  static constexpr uint32_t kDropped = detail::mm::kDropped<B>;

 public:
  static constexpr auto kTriangle = detail::mm::TriangleOf<PolicyOfThis>::value;

  MatmulImpl() = default;
  // The last object of a TPipe may leave out End: the pipe gives back the flags of its memories.
  ~MatmulImpl() noexcept(false) {
    if (!isUnderWay_ || GetTPipePtr() != pipe_ || std::uncaught_exceptions() != 0) {
      return;
    }
    detail::mm::Memory& memory = detail::mm::Memory::Of(pipe_);
    if (!config.enableEnd) {
      End();
    } else if (memory.IsOwnedBy(this)) {
      memory.Leave();
    } else {
      isUnderWay_ = false;
      detail::mm::Misuse("End", detail::mm::kEndBetween, "%s", detail::mm::kNoEndBetween);
    }
  }

  static constexpr bool kHasConstantTiling = kIsConstant;

  // --- life -----------------------------------------------------------------------------------------------------------------
  void Init(const TCubeTiling* cubeTiling, TPipe* tpipe = nullptr) {
    if (cubeTiling == nullptr && !kIsConstant) {
      detail::mm::Misuse("Init", "Pass the TCubeTiling that GetTiling has filled.",
                         "the tiling is null");
    }
    pipe_ = tpipe != nullptr ? tpipe : GetTPipePtr();
    if (pipe_ == nullptr) {
      detail::mm::Misuse("Init", "Make a TPipe before, and pass it.", "there is no TPipe");
    }
    TakeTiling(cubeTiling, &tiling_);
    room_ = detail::mm::RoomFor<A, B, BiasT, kOwnCo1, kQuantises, config.doMultiDataLoad>(tiling_);
    orgM_ = Word(tiling_.M), orgN_ = Word(tiling_.N);
    orgKa_ = Word(tiling_.Ka), orgKb_ = Word(tiling_.Kb);
    orgKc_ = 0;
    m_ = Word(tiling_.singleCoreM), n_ = Word(tiling_.singleCoreN), k_ = Word(tiling_.singleCoreK);
    hasBias_ = false;
    quant_ = Quant::kNone;
    Restart();
    detail::mm::Memory::Of(pipe_).Reserve(room_.all, room_.l0c, tiling_.isBias != 0);
  }
  void SetSubBlockIdx(uint8_t) {}
  // Waits for all work and gives the memories to whoever comes next.
  void End() {
    if (isUnderWay_) {
      DropBlocks();
      detail::mm::Memory& memory = detail::mm::Memory::Of(pipe_);
      if (memory.IsOwnedBy(this)) {
        memory.Release();
      }
    }
    if (isHf32_) {
      SetHF32Mode(false);
      isHf32_ = false;
    }
    isUnderWay_ = false;
    Restart();
  }

  // --- shapes ---------------------------------------------------------------------------------------------------------------
  void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK); }
  void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
    if (orgM < 1 || orgN < 1 || orgKa < 1 || orgKb < 1 || orgKc < 0) {
      detail::mm::Misuse("SetOrgShape", "Each extent is 1 or more.",
                         "M, N, Ka, Kb and Kc are %d, %d, %d, %d and %d", orgM, orgN, orgKa, orgKb,
                         orgKc);
    }
    orgM_ = Word(orgM), orgN_ = Word(orgN), orgKa_ = Word(orgKa), orgKb_ = Word(orgKb);
    orgKc_ = Word(orgKc);
    Restart();
  }
  void SetSingleShape(int singleM, int singleN, int singleK) {
    SetPart("SetSingleShape", singleM, singleN, singleK);
  }
  void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
    SetPart("SetTail", tailM, tailN, tailK);
  }

  // --- operands -------------------------------------------------------------------------------------------------------------
  void SetTensorA(const GlobalTensor<SrcA>& gm, bool isTransposeA = false) {
    SetOperand<A>(&a_, gm, isTransposeA, "SetTensorA");
  }
  void SetTensorA(const LocalTensor<SrcA>& leftMatrix, bool isTransposeA = false) {
    SetOperand<A>(&a_, leftMatrix, isTransposeA, "SetTensorA");
  }
  void SetTensorB(const GlobalTensor<SrcB>& gm, bool isTransposeB = false) {
    SetOperand<B>(&b_, gm, isTransposeB, "SetTensorB");
  }
  // The core's part alone, which an AIV had in UB.
  void SetPartA(const GlobalTensor<SrcA>& gm, bool isTransposeA) {
    SetOperand<A>(&a_, gm, isTransposeA, "SetTensorA", true);
  }
  void SetPartB(const GlobalTensor<SrcB>& gm, bool isTransposeB) {
    SetOperand<B>(&b_, gm, isTransposeB, "SetTensorB", true);
  }
  void SetTensorB(const LocalTensor<SrcB>& rightMatrix, bool isTransposeB = false) {
    SetOperand<B>(&b_, rightMatrix, isTransposeB, "SetTensorB");
  }
  // The scales of MX types.
  void SetTensorScaleA(const GlobalTensor<fp8_e8m0_t>& gm, bool isTransposeScaleA = false) {
    SetScales<A>(&scaleA_, gm, isTransposeScaleA, "SetTensorScaleA");
  }
  void SetTensorScaleA(const LocalTensor<fp8_e8m0_t>& leftMatrix, bool isTransposeScaleA = false) {
    SetScales<A>(&scaleA_, leftMatrix, isTransposeScaleA, "SetTensorScaleA");
  }
  void SetTensorScaleB(const GlobalTensor<fp8_e8m0_t>& gm, bool isTransposeScaleB = true) {
    SetScales<B>(&scaleB_, gm, isTransposeScaleB, "SetTensorScaleB");
  }
  void SetTensorScaleB(const LocalTensor<fp8_e8m0_t>& rightMatrix, bool isTransposeScaleB = true) {
    SetScales<B>(&scaleB_, rightMatrix, isTransposeScaleB, "SetTensorScaleB");
  }
  // A kernel may have the call in a branch that it never takes.
  static void CheckTakesBias() {
    if constexpr (!config.enableSetBias) {
      detail::mm::Misuse("SetBias", "Hardware would leave the bias out. Leave enableSetBias on.",
                         "the config has enableSetBias off");
    }
  }
  void SetBias(const GlobalTensor<BiasT>& biasGlobal) {
    CheckTakesBias();
    if constexpr (!Rules::kTakesBias) {
      detail::mm::Misuse(
          "SetBias", "Give it as float or half, or as int32_t where A and B are int8_t or int4b_t.",
          "the bias is of %s, which %s",
          std::is_same_v<BiasT, bfloat16_t> ? "bfloat16_t" : "another type",
          detail::mm::kOn950 ? "is not simulated yet" : "the bias table cannot take");
    }
    if (tiling_.isBias == 0) {
      detail::mm::Misuse("SetBias", "Hardware has no room for it. Call EnableBias(true) in tiling.",
                         "the tiling's isBias is 0");
    }
    if (config.isPartialOutput) {
      detail::mm::Misuse("SetBias", "Add it yourself, with the parts.",
                         "the config has isPartialOutput, whose parts have no bias");
    }
    bias_ = biasGlobal;
    hasBias_ = true;
    Restart();
  }
  // In NZ: fractals of 16 x 8 bytes, of the N rows of B.
  void SetSparseIndex(const GlobalTensor<uint8_t>& indexGlobal) {
    static_assert(kOfSparse, "Matmul: SetSparseIndex is of a B of SparseMatmulType");
    index_.Set(indexGlobal);
    Restart();
  }
  void ClearBias() { hasBias_ = false; }
  void DisableBias() { hasBias_ = false; }
  void SetQuantScalar(const uint64_t quantScalar) {
    CheckQuantises("SetQuantScalar");
    quantScalar_ = quantScalar;
    quant_ = Quant::kScalar;
  }
  void SetQuantVector(const GlobalTensor<uint64_t>& quantTensor) {
    CheckQuantises("SetQuantVector");
    quantGm_ = quantTensor;
    quant_ = Quant::kVector;
  }
  void SetQuantVector(const LocalTensor<uint64_t>& quantTensor) {
    CheckQuantises("SetQuantVector");
    quantL1_ = quantTensor;
    quant_ = Quant::kVectorInL1;
  }
  // transMode 1 rounds ties toward zero.
  void SetHF32(bool enableHF32 = false, int32_t transMode = 0) {
    SetHF32Mode(enableHF32);
    SetHF32TransMode(transMode == 1);
    isHf32_ = enableHF32;
  }
  // Copies of the kernel's own get these.
  void SetUserDefInfo(const uint64_t tilingPtr) { userInfo_ = tilingPtr; }
  void SetSelfDefineData(const uint64_t dataPtr) { selfData_ = dataPtr; }
  // Only other SoCs or vector cores need these.
  void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
  template <typename T>
  void SetWorkspace(GlobalTensor<T>&) {}
  template <typename T>
  void SetWorkspace(__gm__ const T*, int) {}

  // --- products -------------------------------------------------------------------------------------------------------------
  // The next tile of C, in L0C; false when there is none.
  template <bool sync = true>
  bool Iterate(bool enPartialSum = false) {
    static_assert(!kOwnCo1, "Matmul: with C in CO1, Iterate takes its tensor");
    static_assert(!kIsBatch, "Matmul: IterateBatch multiplies matrices with a LayoutMode");
    if (config.isPartialOutput && enPartialSum) {
      detail::mm::Misuse("Iterate", "Add the parts up yourself, or take another config.",
                         "enPartialSum is true, and the config has isPartialOutput");
    }
    if (!Next("Iterate")) {
      return false;
    }
    detail::mm::Memory& memory = detail::mm::Memory::Of(pipe_);
    if (!enPartialSum) {
      tileSlot_ = memory.l0c.Take(Word(tiling_.dbL0C));
    }
    Compute(memory.template L0c<Sum>(tileSlot_ * room_.ofTile), enPartialSum);
    hasTile_ = true;
    isTileFull_ = false;
    return true;
  }
  // The same into a tensor of the kernel's, which orders the cube pipe and Fixpipe over it.
  template <bool sync = true, typename T>
  bool Iterate(bool enPartialSum, const LocalTensor<T>& localCmatrix) {
    static_assert(kOwnCo1 && std::is_same_v<T, Sum>,
                  "Matmul: Iterate takes a tensor of float or int32_t where C is in CO1");
    if (!Next("Iterate")) {
      return false;
    }
    Compute(localCmatrix, enPartialSum);
    return true;
  }
  template <bool sync = true>
  void GetTensorC(const GlobalTensor<Dst>& gm, uint8_t enAtomic = 0,
                  bool enSequentialWrite = false) {
    static_assert(!kOwnCo1, "Matmul: C in CO1 leaves by the kernel's own Fixpipe");
    CheckHasTile();
    Out(gm, enAtomic, enSequentialWrite);
  }
  template <bool sync = true>
  void GetTensorC(const LocalTensor<Dst>&, uint8_t = 0, bool = false) {
    static_assert(kAbsent<sync>,
                  "Matmul: GetTensorC into VECIN is of vector cores, in MIX kernels");
  }
  template <bool sync = true>
  void IterateAll(const GlobalTensor<Dst>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                  bool waitIterateAll = false, bool fakeMsg = false) {
    static_cast<void>(waitIterateAll);
    if (fakeMsg) {
      return;
    }
    if (config.isPartialOutput) {
      detail::mm::Misuse("IterateAll", "Call Iterate, and GetTensorC with enSequentialWrite.",
                         "the config has isPartialOutput: a tile has as many parts as K has baseK");
    }
    while (Iterate()) {
      Out(gm, enAtomic, enSequentialWrite);
    }
  }
  template <bool sync = true>
  void IterateAll(const LocalTensor<Dst>&, uint8_t = 0) {
    static_assert(kAbsent<sync>,
                  "Matmul: IterateAll into VECIN is not simulated yet; docs/simulator.md");
  }
  void WaitIterateAll() {}
  // Constants go before tiling data of run time, which may be nothing: then `to` stays.
  static void TakeTiling(const TCubeTiling* tiling, TCubeTiling* to) {
    if (tiling != nullptr) {
      *to = *tiling;
    }
    if constexpr (kIsConstant) {
      if (tiling == nullptr) {
        *to = {};
        to->M = given.singleCoreM, to->N = given.singleCoreN;
        to->Ka = to->Kb = given.singleCoreK;
      }
#define ACLSIM_TAKE_(type, name) to->name = given.name != -1 ? given.name : to->name;
      ACLSIM_CUBE_TILING(ACLSIM_TAKE_)
#undef ACLSIM_TAKE_
    }
  }
  // Whether the tiles of a column come one after the other.
  static bool IsAlongM(const TCubeTiling& tiling) {
    constexpr bool kIsSaid = config.iterateOrder != IterateOrder::UNDEF;
    return kIsSaid ? config.iterateOrder == IterateOrder::ORDER_M : tiling.iterateOrder == 0;
  }
  // Products whose sum is one matrix of C: those of a group, where C has one for all of it.
  static uint32_t SumsOf(const TCubeTiling& tiling) {
    return A::layout == LayoutMode::NORMAL || tiling.CLayoutInfoG != 1
               ? 1
               : Word(std::max({tiling.ALayoutInfoG, tiling.BLayoutInfoG, 1}));
  }
  // Half of the tile for one of two AIVs, in rows as long as the half of a whole tile.
  void GetHalf(const GlobalTensor<Dst>& gm, const detail::mm::Window& half, uint32_t pitch) {
    CheckHasTile();
    if (half.rows > 0 && half.columns > 0) {
      Out(gm, 0, true, half, pitch);
    }
  }
  bool HasTile() const { return hasTile_; }
  // Nobody has to call End any more.
  void Forget() { isUnderWay_ = false; }
  // The tile that Iterate has made: where it lies, and its rows where it is written by itself.
  uint32_t TileRow() const { return row_; }
  uint32_t TileColumn() const { return column_; }
  uint32_t PartColumns() const { return n_; }
  uint32_t TileRows() const { return rows_; }
  uint32_t TileColumns() const { return columns_; }
  uint32_t TilePitch() const { return Word(tiling_.baseN); }
  // So many products at once, of matrices that lie as their LayoutMode says.
  void SetBatchNum(int32_t batchA, int32_t batchB) {
    batchA_ = Word(batchA), batchB_ = Word(batchB);
    if (batchA < 1 || batchB < 1) {
      detail::mm::Misuse("SetBatchNum", "Each has one matrix or more.",
                         "the batches of A and B have %d and %d matrices", batchA, batchB);
    }
  }
  // So many results share L0C before they leave, which changes speed alone.
  void SetNBatchOutNum(int32_t) {}
  void IterateBatch(const GlobalTensor<Dst>& gm, bool enPartialSum, uint8_t enAtomic,
                    bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                    const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0) {
    if (batchA_ == 0) {
      detail::mm::Misuse("IterateBatch", "Call SetBatchNum before.",
                         "nobody has said how many matrices the batches have");
    }
    detail::mm::Batch batch;
    batch.a = batchA_, batch.b = batchB_;
    batch.strideA = matrixStrideA, batch.strideB = matrixStrideB;
    CheckBatchCall(enPartialSum, enSequentialWrite, false, matrixStrideC);
    Batches(gm, batch, enAtomic);
  }
  static void CheckBatchCall(bool enPartialSum, bool enSequentialWrite, bool intoUb,
                             uint32_t matrixStrideC) {
    if (enPartialSum) {
      detail::mm::Misuse("IterateBatch", "Add in GM by enAtomic = 1, or multiply once.",
                         "enPartialSum in batches is not simulated yet");
    }
    if (enSequentialWrite != intoUb) {
      detail::mm::Misuse("IterateBatch", "It is true for UB alone.",
                         "enSequentialWrite is %s, and C goes to %s",
                         enSequentialWrite ? "true" : "false", intoUb ? "UB" : "GM");
    }
    if (matrixStrideC != 0) {
      detail::mm::Misuse("IterateBatch", "The LayoutMode of C says where its matrices lie.",
                         "matrixStrideC is reserved, and it is %u", matrixStrideC);
    }
  }
  void Batches(const GlobalTensor<Dst>& gm, const detail::mm::Batch& batch, uint8_t enAtomic) {
    using namespace detail::mm;
    static_assert(kIsBatch, "Matmul: A, B and C of IterateBatch have a LayoutMode");
    CheckIsInit("IterateBatch");
    Restart();
    const Axes a = AxesOfA(), b = AxesOfB(), c = AxesOfC();
    const uint32_t products = batch.Products(), sums = SumsOf(tiling_);
    CheckBatch(batch, a, b, sums);
    for (uint32_t first = 0; first < products; first += sums) {
      const uint32_t result = (batch.loop * products + first) / sums;
      Place to = PlaceOf(C::layout, detail::mm::Whole<C>(c), result);
      if (batch.isPart) {
        to.pitch = UpTo(n_, kC0<Dst>);
        to.offset = uint64_t{first / sums} * m_ * to.pitch;
      }
      pitchC_ = to.pitch;
      biasAt_ = config.isBiasBatch ? uint64_t{result} * c.columns : 0;
      while (Next("IterateBatch")) {
        Memory& memory = Memory::Of(pipe_);
        tileSlot_ = memory.l0c.Take(Word(tiling_.dbL0C));
        for (uint32_t i = 0; i < sums; ++i) {
          const auto number = [&](uint32_t matrices) {
            return batch.loop * matrices + (first + i) * matrices / products;
          };
          a_.GoTo(detail::mm::PlaceIn(A::layout, a, number(batch.a), batch.strideA));
          b_.GoTo(detail::mm::PlaceIn(B::layout, b, number(batch.b), batch.strideB));
          Compute(memory.template L0c<Sum>(tileSlot_ * room_.ofTile), i > 0);
        }
        isTileFull_ = false;
        Out(gm[to.offset], enAtomic, false);
      }
    }
    a_.GoTo({}), b_.GoTo({});
    DropBlocks();
    pitchC_ = 0, biasAt_ = 0;
  }

 private:
  enum class Quant : uint8_t { kNone, kScalar, kVector, kVectorInL1 };
  template <bool>
  static constexpr bool kAbsent = false;

  static uint32_t Word(int32_t value) { return detail::mm::Word(value); }
  static int Index(uint32_t value) { return static_cast<int>(value); }

  // --- batches ---------------------------------------------------------------------------------------------------------------
  detail::mm::Axes AxesOfA() const {
    const TCubeTiling& t = tiling_;
    return detail::mm::Whole<A>(
        A::layout == LayoutMode::NORMAL
            ? detail::mm::Plain(a_.OuterIsRow() ? orgM_ : orgKa_, a_.OuterIsRow() ? orgKa_ : orgM_)
            : detail::mm::AxesOf("SetALayout", t.ALayoutInfoB, t.ALayoutInfoS, t.ALayoutInfoN,
                                 t.ALayoutInfoG, t.ALayoutInfoD));
  }
  detail::mm::Axes AxesOfB() const {
    const TCubeTiling& t = tiling_;
    return detail::mm::Whole<B>(
        B::layout == LayoutMode::NORMAL
            ? detail::mm::Plain(b_.OuterIsRow() ? orgN_ : orgKb_, b_.OuterIsRow() ? orgKb_ : orgN_)
            : detail::mm::AxesOf("SetBLayout", t.BLayoutInfoB, t.BLayoutInfoS, t.BLayoutInfoN,
                                 t.BLayoutInfoG, t.BLayoutInfoD));
  }
  detail::mm::Axes AxesOfC() const {
    const TCubeTiling& t = tiling_;
    return C::layout == LayoutMode::NORMAL
               ? detail::mm::Plain(orgM_, orgKc_ != 0 ? orgKc_ : orgN_)
               : detail::mm::AxesOf("SetCLayout", t.CLayoutInfoB, t.CLayoutInfoS1, t.CLayoutInfoN,
                                    t.CLayoutInfoG, t.CLayoutInfoS2);
  }
  void CheckBatch(const detail::mm::Batch& batch, const detail::mm::Axes& a,
                  const detail::mm::Axes& b, uint32_t sums) const {
    using namespace detail::mm;
    const uint32_t products = batch.Products();
    if (batch.a == 0 || batch.b == 0 || products % batch.a != 0 || products % batch.b != 0) {
      Misuse("IterateBatch", "One is a multiple of the other, and each is 1 or more.",
             "batchA is %u and batchB is %u", batch.a, batch.b);
    }
    if (A::layout != LayoutMode::NORMAL && uint64_t{a.g} * batch.b != uint64_t{b.g} * batch.a) {
      Misuse("IterateBatch", "ALayoutInfoG / batchA is BLayoutInfoG / batchB.",
             "batchA is %u with %u matrices in a group, batchB is %u with %u", batch.a, a.g,
             batch.b, b.g);
    }
    if ((A::layout == LayoutMode::BSNGD && a.n * a.g % batch.a != 0) ||
        (B::layout == LayoutMode::BSNGD && b.n * b.g % batch.b != 0)) {
      Misuse("IterateBatch", "In BSNGD the matrices of a call lie in one row: N x G is a multiple.",
             "batchA is %u of %u matrices, batchB is %u of %u", batch.a, a.n * a.g, batch.b,
             b.n * b.g);
    }
    if (C::format == CubeFormat::NZ && m_ % kRows != 0) {
      Misuse("IterateBatch", "C of a batch in NZ has whole fractals: let M be a multiple of 16.",
             "a matrix has %u rows, C is NZ", m_);
    }
    if (products % sums != 0) {
      Misuse("IterateBatch", "C has one matrix for each group: the call takes whole groups.",
             "the call has %u products, and a group has %u", products, sums);
    }
    detail::mm::CheckFitsAxes("A", a, a_.OuterIsRow() ? m_ : k_, a_.OuterIsRow() ? k_ : m_);
    detail::mm::CheckFitsAxes("B", b, b_.OuterIsRow() ? n_ : k_, b_.OuterIsRow() ? k_ : n_);
    if (A::layout != LayoutMode::NORMAL || config.batchMode == BatchMode::BATCH_LESS_THAN_L1) {
      const auto bytes = [](uint32_t count, uint32_t outer, uint32_t k, auto type) {
        using T = decltype(type);
        return uint64_t{count} * BytesIn<T>(UpTo(outer, kRows) * UpTo(k, kC0<T>));
      };
      const uint64_t all = bytes(batch.a, m_, k_, SrcA()) + bytes(batch.b, n_, k_, SrcB());
      if (all > kL1Bytes) {
        Misuse(
            "IterateBatch",
            "Take fewer matrices at once; in NORMAL, BatchMode::BATCH_LARGE_THAN_L1 does as well.",
            "%u matrices of A and %u of B are %llu bytes in fractals, and L1 has %u", batch.a,
            batch.b, static_cast<unsigned long long>(all), kL1Bytes);
      }
    }
  }
  void SetPart(const char* call, int m, int n, int k) {
    CheckIsInit(call);
    const auto set = [call](uint32_t* part, int value, const char* axis) {
      if (value == -1) {
        return;
      }
      if (value < 1) {
        detail::mm::Misuse(call, "-1 keeps what there is.", "%s is %d; it is 1 or more", axis,
                           value);
      }
      *part = Word(value);
    };
    set(&m_, m, "M");
    set(&n_, n, "N");
    set(&k_, k, "K");
    Restart();
  }
  void CheckIsInit(const char* call) const {
    if (pipe_ == nullptr) {
      detail::mm::Misuse(call, "REGIST_MATMUL_OBJ with a tiling does it, or Init.",
                         "the object has no tiling");
    }
  }
  void CheckHasTile() const {
    if (!hasTile_ || !detail::mm::Memory::Of(pipe_).IsOwnedBy(this)) {
      detail::mm::Misuse("GetTensorC", "Call it after an Iterate that returned true.",
                         "there is no tile of C");
    }
  }
  static void CheckQuantises(const char* call) {
    if constexpr (!kQuantises) {
      detail::mm::Misuse(call, "Leave it out, or make C int8_t, uint8_t, or half of int8_t.",
                         "C of this type is not quantised");
    }
  }
  template <typename Type, typename Side, typename Tensor>
  void SetOperand(Side* side, const Tensor& tensor, bool transposed, const char* call,
                  bool isPart = false) {
    constexpr bool kIsLocal = std::is_same_v<Tensor, LocalTensor<typename Type::T>>;
    static_assert(kIsLocal == detail::mm::kIsInL1<Type>,
                  "Matmul: the tensor is a GlobalTensor where its MatmulType says GM, and a "
                  "LocalTensor where it says TSCM, A1 or B1");
    CheckIsInit(call);
    if (transposed && !Type::isTrans) {
      detail::mm::Misuse(call, "Set the MatmulType's isTrans as well.",
                         "the matrix is to be transposed, which its MatmulType does not say");
    }
    if constexpr (kIsLocal) {
      side->Set(tensor, transposed);
    } else {
      side->Set(tensor, transposed, isPart);
    }
    Restart();
  }

  template <typename Type, typename Side, typename Tensor>
  void SetScales(Side* side, const Tensor& tensor, bool transposed, const char* call) {
    static_assert(detail::mm::kIsScaled<Type>,
                  "Matmul: SetTensorScaleA and SetTensorScaleB are of MatmulTypeWithScale");
    if constexpr (detail::mm::kIsScaled<Type>) {
      static_assert(
          std::is_same_v<Tensor, LocalTensor<fp8_e8m0_t>> == detail::mm::kHasScalesInL1<Type>,
          "Matmul: scales are a GlobalTensor where their MatmulTypeWithScale says GM, and a "
          "LocalTensor where it says TSCM, A1 or B1");
      CheckIsInit(call);
      side->Set(tensor, transposed);
      Restart();
    }
  }

  // The next product begins with the first tile, and nothing in L1 is of use for it.
  void Restart() {
    isIterating_ = false;
    hasTile_ = false;
    if (heldA_.isHeld || heldB_.isHeld || heldScaleA_.isHeld || heldScaleB_.isHeld) {
      DropBlocks();
    }
  }
  void DropBlocks() {
    detail::mm::Memory& memory = detail::mm::Memory::Of(pipe_);
    if (memory.IsOwnedBy(this)) {
      Drop(&heldA_, memory.a1);
      Drop(&heldB_, memory.b1);
      Drop(&heldScaleA_, memory.scaleA1);
      Drop(&heldScaleB_, memory.scaleB1);
    }
    ForgetBlocks();
  }
  void ForgetBlocks() {
    heldA_.isHeld = heldB_.isHeld = false;
    heldScaleA_.isHeld = heldScaleB_.isHeld = false;
  }
  template <typename T, typename Ring>
  static void Drop(detail::mm::Held<T>* held, Ring& ring) {
    if (held->isHeld) {
      ring.Free(held->slot);
      held->isHeld = false;
    }
  }

  // Goes on to the next tile.
  bool Next(const char* call) {
    CheckIsInit(call);
    if (!a_.IsSet() || !b_.IsSet()) {
      detail::mm::Misuse(call, a_.IsSet() ? "Call SetTensorB." : "Call SetTensorA.",
                         "%s is not set", a_.IsSet() ? "B" : "A");
    }
    if constexpr (kOfSparse) {
      if (!index_.IsSet()) {
        detail::mm::Misuse(call, "Call SetSparseIndex.", "B is sparse, and its index is not set");
      }
      if (!b_.IsTransposed()) {
        detail::mm::Misuse(call, "Pass true to SetTensorB.",
                           "B is sparse, and not transposed as its SparseMatmulType says");
      }
    }
    if constexpr (kOfMx) {
      CheckScales(call);
    }
    if (kQuantises && quant_ == Quant::kNone) {
      detail::mm::Misuse(call, "Call SetQuantScalar or SetQuantVector.",
                         "C is quantised, and no parameter is set");
    }
    detail::mm::Memory& memory = detail::mm::Memory::Of(pipe_);
    if (!memory.IsOwnedBy(this)) {
      ForgetBlocks();
      hasTile_ = false;
    }
    memory.Reserve(room_.all, room_.l0c, tiling_.isBias != 0);
    if (memory.WasLeft()) {
      detail::mm::Misuse("End", detail::mm::kEndBetween,
                         "the object before this one ended with its products, and End was not "
                         "called");
    }
    memory.Own(this);
    if (room_.scaleA.isAlone || room_.scaleB.isAlone) {
      memory.OpenScales();
    }
    isUnderWay_ = true;
    const uint32_t baseM = Word(tiling_.baseM), baseN = Word(tiling_.baseN);
    const uint32_t tiles = detail::mm::TilesIn(m_, baseM) * detail::mm::TilesIn(n_, baseN);
    if (config.isPartialOutput && isIterating_ && partK_ + Word(tiling_.baseK) < k_) {
      partK_ += Word(tiling_.baseK);
      return true;
    }
    partK_ = 0;
    for (tile_ = isIterating_ ? tile_ + 1 : 0; tile_ < tiles; ++tile_) {
      const detail::mm::Tile tile =
          detail::mm::TileAt(tile_, m_, n_, baseM, baseN, IsAlongM(tiling_));
      row_ = tile.row, column_ = tile.column, rows_ = tile.rows, columns_ = tile.columns;
      if (!IsLeftOut()) {
        isIterating_ = true;
        return true;
      }
    }
    isIterating_ = false;
    hasTile_ = false;
    return false;
  }
  // Returns whether the policy leaves out the tile: tiles are counted, so that the diagonal is that of a square of tiles.
  bool IsLeftOut() const {
    using detail::mm::Triangle;
    const uint32_t down = row_ / Word(tiling_.baseM), right = column_ / Word(tiling_.baseN);
    return kTriangle == Triangle::kUpper   ? down > right
           : kTriangle == Triangle::kLower ? down < right
                                           : false;
  }

  void CheckScales(const char* call) const {
    using namespace detail::mm;
    if (!scaleA_.IsSet() || !scaleB_.IsSet()) {
      Misuse(call, scaleA_.IsSet() ? "Call SetTensorScaleB." : "Call SetTensorScaleA.",
             "the scales of %s are not set", scaleA_.IsSet() ? "B" : "A");
    }
    if ((kIsInL1<A> || kIsInL1<B> || a_.IsPart() || b_.IsPart()) && PartsOf(k_, kScaled) % 2 != 0) {
      Misuse(call, "Fill A, B and K up with zeros.",
             "K is %u: where A or B lies in UB or TSCM it has an even number of 32 elements, the "
             "last ones begun",
             k_);
    }
    if (((kIsInL1<A> && !a_.OuterIsRow()) || (kIsInL1<B> && !b_.OuterIsRow())) && k_ % kPair != 0) {
      Misuse(call, "Fill A, B and K up with zeros.",
             "K is %u: where rows in TSCM are those of K, other than a multiple of 64 is not "
             "simulated yet",
             k_);
    }
  }

  // The block of L1 that holds (outer0, k0). copy(to): copies it there.
  template <typename T, typename Ring, typename Copy>
  const detail::mm::Block<T>& BlockOf(detail::mm::Held<T>* held, Ring& ring, uint32_t slots,
                                      uint64_t matrix, uint32_t outer0, uint32_t k0, uint32_t at,
                                      uint32_t bytes, const Copy& copy) {
    if (held->isHeld && held->matrix == matrix && held->outer0 == outer0 && held->k0 == k0) {
      return held->block;
    }
    Drop(held, ring);
    held->slot = ring.Take(slots);
    held->block = copy(detail::mm::Memory::Of(pipe_).template L1<T>(at + held->slot * bytes));
    held->matrix = matrix;
    held->outer0 = outer0;
    held->k0 = k0;
    held->isHeld = true;
    ring.Filled(held->slot);
    return held->block;
  }

  void Compute(const LocalTensor<Sum>& to, bool addsUp) {
    using namespace detail::mm;
    Memory& memory = Memory::Of(pipe_);
    const uint32_t baseK = Word(tiling_.baseK),
                   slots = Word(std::min(tiling_.dbL0A, tiling_.dbL0B));
    // The kernel's own copies take single tiles, unless the config moves all steps at once.
    constexpr bool kTilesA = kCopiesA && !config.doMultiDataLoad,
                   kTilesB = kCopiesB && !config.doMultiDataLoad;
    const uint32_t stepM = Word(tiling_.baseM) * (kTilesA ? 1 : Word(tiling_.stepM)),
                   stepN = Word(tiling_.baseN) * (kTilesB ? 1 : Word(tiling_.stepN));
    const uint32_t stepKa = baseK * (kTilesA ? 1 : Word(tiling_.stepKa)),
                   stepKb = baseK * (kTilesB ? 1 : Word(tiling_.stepKb));
    const bool withBias = hasBias_ && !addsUp;
    LocalTensor<Sum> table;
    if (withBias) {
      table = BiasIntoTable(memory);
    }
    const uint32_t begin = config.isPartialOutput ? partK_ : 0,
                   end = config.isPartialOutput ? std::min(partK_ + baseK, k_) : k_;
    for (uint32_t k0 = begin; k0 < end; k0 += baseK) {
      const uint32_t k = std::min(baseK, k_ - k0);
      Block<SrcA> blockA;
      Block<SrcB> blockB;
      uint32_t inA = row_, inB = column_, inKa = k0, inKb = k0;
      if constexpr (Operand<A, true>::kInL1) {
        blockA = a_.Whole(m_, k_);
      } else {
        const uint32_t m0 = row_ / stepM * stepM, from = k0 / stepKa * stepKa;
        const uint32_t m = std::min(stepM, m_ - m0), ka = std::min(stepKa, k_ - from);
        blockA = BlockOf(&heldA_, memory.a1, room_.slotsA, a_.Offset(), m0, from, 0, room_.ofA,
                         [&](const LocalTensor<SrcA>& l1) {
                           if constexpr (kCopiesA) {
                             CallBack::CopyA1(l1.template ReinterpretCast<int8_t>(), a_.Address(),
                                              Index(m0 / stepM), Index(from / stepKa), Index(m),
                                              Index(ka), userInfo_, selfData_);
                             return a_.In(l1, m, ka);
                           } else {
                             ScalesBeside(scaleA_, room_.scaleA, room_.slotsA, heldA_.slot, m0, m,
                                          from, ka, orgM_, orgKa_);
                             return a_.ToL1(l1, m0, m, from, ka, a_.ExtentOf(orgM_, m_),
                                            a_.ExtentOf(orgKa_, k_), config.intrinsicsCheck);
                           }
                         });
        inA -= m0, inKa -= from;
      }
      if constexpr (Operand<B, false>::kInL1) {
        blockB = b_.Whole(n_, k_);
      } else {
        const uint32_t n0 = column_ / stepN * stepN, from = k0 / stepKb * stepKb;
        const uint32_t n = std::min(stepN, n_ - n0), kb = std::min(stepKb, k_ - from);
        blockB = BlockOf(&heldB_, memory.b1, room_.slotsB, b_.Offset(), n0, from, room_.atB,
                         room_.ofB, [&](const LocalTensor<SrcB>& l1) {
                           if constexpr (kCopiesB) {
                             CallBack::CopyB1(l1.template ReinterpretCast<int8_t>(), b_.Address(),
                                              Index(from / stepKb), Index(n0 / stepN), Index(kb),
                                              Index(n), userInfo_, selfData_);
                             return b_.In(l1, n, kb);
                           } else {
                             ScalesBeside(scaleB_, room_.scaleB, room_.slotsB, heldB_.slot, n0, n,
                                          from, kb, orgN_, orgKb_);
                             const Block<SrcB> block = b_.ToL1(
                                 l1, n0, n, from / kDropped, PartsOf(kb, kDropped),
                                 b_.ExtentOf(orgN_, n_), b_.ExtentOf(PartsOf(orgKb_, kDropped), k_),
                                 config.intrinsicsCheck);
                             if constexpr (kOfSparse) {
                               index_.ToL1(IndexInL1(), n0, n, from / kDropped,
                                           PartsOf(kb, kDropped), orgN_, block.height);
                             }
                             return block;
                           }
                         });
        inB -= n0, inKb -= from;
      }
      [[maybe_unused]] PlacedScales ofA, ofB;
      if constexpr (kOfMx) {
        ofA = ScalesOf(scaleA_, &heldScaleA_, memory.scaleA1, room_.scaleA, room_.slotsA, heldA_,
                       row_, m_, k0, orgM_, orgKa_);
        ofB = ScalesOf(scaleB_, &heldScaleB_, memory.scaleB1, room_.scaleB, room_.slotsB, heldB_,
                       column_, n_, k0, orgN_, orgKb_);
      }
      const uint32_t slot = memory.l0.Take(slots);
      const auto a2 = memory.template L0a<InL0A>(slot * room_.l0a);
      const auto b2 = memory.template L0b<InL0B>(slot * room_.l0b);
      if constexpr (kOfMx) {
        a_.ToL0(a2, blockA, inA, rows_, inKa, k, ofA.block, ofA.outer, ofA.k);
        b_.ToL0(b2, blockB, inB, columns_, inKb, k, ofB.block, ofB.outer, ofB.k);
      } else if constexpr (kOfSparse) {
        a_.ToL0(a2, blockA, inA, rows_, inKa, k);
        SparseIndex::ToL0(b2, blockB, IndexInL1(), inB, columns_, inKb / kDropped,
                          PartsOf(k, kDropped));
      } else {
        a_.ToL0(a2, blockA, inA, rows_, inKa, k);
        b_.ToL0(b2, blockB, inB, columns_, inKb, k);
      }
      memory.l0.Filled(slot);
      Multiply(to, a2, b2, k, k0 == begin && !addsUp, withBias && k0 == 0 ? &table : nullptr);
      memory.l0.Free(slot);
      if (withBias && k0 == 0) {
        memory.table.Free(0);
      }
    }
  }
  // A block of scales, and where the tile's ones begin in it.
  struct PlacedScales {
    detail::mm::Block<fp8_e8m0_t> block;
    uint32_t outer = 0, k = 0;
  };
  static LocalTensor<fp8_e8m0_t> BesideSlot(const detail::mm::RoomOfScales& room, uint32_t slots,
                                            uint32_t slot, TPipe* pipe) {
    return detail::mm::Memory::Of(pipe).template L1<fp8_e8m0_t>(room.at +
                                                                room.bytes / slots * slot);
  }
  // Copies the scales that lie beside a block of the matrix, with it.
  template <typename Side>
  void ScalesBeside(const Side& side, const detail::mm::RoomOfScales& room, uint32_t slots,
                    uint32_t slot, uint32_t outer0, uint32_t outer, uint32_t k0, uint32_t k,
                    uint32_t ofOuter, uint32_t ofK) const {
    if constexpr (kOfMx) {
      if (!Side::kInL1 && !room.isAlone) {
        side.ToL1(BesideSlot(room, slots, slot, pipe_), outer0, outer, k0, k, ofOuter, ofK);
      }
    }
  }
  template <typename Side, typename Ring, typename Of>
  PlacedScales ScalesOf(const Side& side, detail::mm::Held<fp8_e8m0_t>* held, Ring& ring,
                        const detail::mm::RoomOfScales& room, uint32_t slots, const Of& of,
                        uint32_t outer, uint32_t part, uint32_t k, uint32_t ofOuter, uint32_t ofK) {
    using namespace detail::mm;
    if constexpr (Side::kInL1) {
      return {side.Whole(k_), outer, k};
    } else {
      const uint32_t outer0 = outer / room.outer * room.outer, k0 = k / room.k * room.k;
      const uint32_t inBlock = std::min(room.k, k_ - k0);
      if (!room.isAlone) {
        return {{BesideSlot(room, slots, of.slot, pipe_), PartsOf(inBlock, kPair), 0},
                outer - outer0,
                k - k0};
      }
      const Block<fp8_e8m0_t>& block =
          BlockOf(held, ring, 1, 0, outer0, k0, room.at, room.bytes,
                  [&](const LocalTensor<fp8_e8m0_t>& l1) {
                    return side.ToL1(l1, outer0, std::min(room.outer, part - outer0), k0, inBlock,
                                     ofOuter, ofK);
                  });
      return {block, outer - outer0, k - k0};
    }
  }
  // Beside the block of B that is held.
  LocalTensor<uint8_t> IndexInL1() {
    return detail::mm::Memory::Of(pipe_).template L1<uint8_t>(
        room_.atB + (heldB_.slot + 1) * room_.ofB - room_.ofIndex);
  }
  // 950: turned elements of A below 16 bits come in squares, of several fractals along M.
  bool TurnsSquaresOfA() const {
    return detail::mm::kOn950 && detail::mm::kBitsOf<SrcA> < 16 &&
           A::format != CubeFormat::VECTOR && !a_.OuterIsRow();
  }
  // Rows of the tile in L0C.
  uint32_t TileHeight() const {
    return detail::mm::UpTo(rows_, TurnsSquaresOfA() ? detail::mm::kSide<SrcA> : detail::mm::kRows);
  }
  template <typename TensorA, typename TensorB>
  void Multiply(const LocalTensor<Sum>& to, const TensorA& a2, const TensorB& b2, uint32_t k,
                bool isFirst, const LocalTensor<Sum>* table) {
    using namespace detail::mm;
    constexpr uint32_t kOrdered = 10;  // fractals of C from which on the unit orders Mmads itself
    MmadParams p;
    // A single row is a vector, which lies in L0A in another way: with two, nobody looks at the second one.
    p.m = A::format == CubeFormat::VECTOR ? rows_
          : TurnsSquaresOfA()             ? TileHeight()
                                          : std::max(rows_, 2u);
    p.n = b_.OuterIsRow() ? columns_ : UpTo(columns_, kBitsOf<SrcB> < 16 ? kSide<SrcB> : 1);
    p.k = kOfMx ? UpTo(k, kPair) : k;
    // Squares of 16 words bring two columns of fractals.
    p.kDirectionAlign = !kOn950 && sizeof(SrcA) == 4 && !a_.OuterIsRow();
    p.cmatrixInitVal = isFirst && table == nullptr;
    if constexpr (kOfSparse) {
      p.cmatrixSource = table != nullptr;
      MmadWithSparse(to, a2, b2, p);
    } else if (table != nullptr) {
      Mmad(to, a2, b2, *table, p);
    } else {
      Mmad(to, a2, b2, p);
    }
    if (PartsOf(rows_, kRows) * PartsOf(p.n, kRows) < kOrdered) {
      PipeBarrier<PIPE_M>();
    }
  }

  // The tile's part of the bias, by L1.
  LocalTensor<Sum> BiasIntoTable(detail::mm::Memory& memory) {
    using namespace detail::mm;
    const LocalTensor<Sum> table = memory.template Table<Sum>();
    if constexpr (Rules::kTakesBias) {
      constexpr uint32_t kUnit = 64, kWord = kOn950 ? 32 : kUnit;
      const uint32_t slot = memory.bias1.Take(1);
      const LocalTensor<BiasT> l1 = memory.template L1<BiasT>(room_.atBias);
      DataCopy(l1, bias_[biasAt_ + column_], Nd2NzParams(1, 1, columns_, 0, columns_, 1, 1, 0));
      memory.bias1.Filled(slot);
      memory.table.Take(1);
      const auto units =
          static_cast<uint16_t>(UpTo(columns_ * uint32_t{sizeof(BiasT)}, kUnit) / kWord);
      DataCopy(table, l1, DataCopyParams(1, units, 0, 0));
      memory.bias1.Free(slot);
      memory.table.Filled(0);
    }
    return table;
  }

  void Out(const GlobalTensor<Dst>& gm, uint8_t enAtomic, bool isDense) {
    Out(gm, enAtomic, isDense, {0, 0, rows_, columns_}, Word(tiling_.baseN));
  }
  // A window of the tile; densePitch: from row to row where tiles lie one behind the other.
  void Out(const GlobalTensor<Dst>& gm, uint8_t enAtomic, bool isDense,
           const detail::mm::Window& window, uint32_t densePitch) {
    using namespace detail::mm;
    Memory& memory = Memory::Of(pipe_);
    if (config.isPartialOutput && !isDense) {
      Misuse("GetTensorC", "Pass true as enSequentialWrite.",
             "the config has isPartialOutput, whose parts are written one behind the other");
    }
    constexpr bool kToNz = C::format == CubeFormat::NZ;
    if constexpr (kToNz) {
      if (columns_ % kRows != 0) {
        Misuse("GetTensorC", "C in NZ has whole fractals: let N be a multiple of 16.",
               "the tile has %u columns, C is NZ", columns_);
      }
    }
    if (!isTileFull_) {
      memory.l0c.Filled(tileSlot_);
      isTileFull_ = true;
    } else {
      memory.l0c.Reclaim(tileSlot_);
    }
    FixpipeParamsV220 p;
    p.nSize = window.columns;
    p.mSize = window.rows;
    p.srcStride = TileHeight();
    p.quantPre = ModeOf<SrcA, Sum, Dst>(quant_ == Quant::kVector || quant_ == Quant::kVectorInL1);
    p.deqScalar = quantScalar_;
    p.reluEn = config.enableRelu;
    uint64_t at = 0;
    if constexpr (kToNz) {
      // Eight bits have fractals of 32 columns, float with isEnableChannelSplit of 8.
      constexpr uint32_t kWide = kTo8 ? 32 : (config.isEnableChannelSplit ? 8 : kRows);
      const uint32_t height = UpTo(isDense ? Word(tiling_.baseM) : orgM_, kRows);
      p.dstStride = height * kWide * uint32_t{sizeof(Dst)} / kNzUnit;
      p.isChannelSplit = config.isEnableChannelSplit;
      at = isDense ? 0 : uint64_t{column_} / kWide * height * kWide + uint64_t{row_} * kWide;
    } else if constexpr (kIsColumnMajor<C>) {
      p.dstStride = isDense ? rows_ : orgM_;
      at = isDense ? 0 : uint64_t{column_} * p.dstStride + row_;
    } else {
      constexpr uint32_t kUnit =
          C::format == CubeFormat::ND_ALIGN ? ONE_BLK_SIZE / uint32_t{sizeof(Dst)} : 1;
      const uint32_t pitch = pitchC_ != 0 ? pitchC_ : orgKc_ != 0 ? orgKc_ : orgN_;
      p.dstStride = UpTo(isDense ? densePitch : pitch, kUnit);
      at = isDense ? 0 : uint64_t{row_} * p.dstStride + column_;
    }
    SetAtomicOf<Dst>(enAtomic);
    constexpr const FixpipeConfig& kLayout = kToNz               ? CFG_NZ
                                             : kIsColumnMajor<C> ? CFG_COLUMN_MAJOR
                                                                 : CFG_ROW_MAJOR;
    const LocalTensor<Sum> from = memory.template L0c<Sum>(
        tileSlot_ * room_.ofTile)[window.column * TileHeight() + window.row * kRows];
    if constexpr (kCopiesOut) {
      CopyOut(gm[at], from, p);
    } else if (quant_ == Quant::kVector) {
      const uint32_t slot = memory.quant1.Take(1);
      const LocalTensor<uint64_t> l1 = memory.template L1<uint64_t>(room_.atQuant);
      // As words: rows of 64 bits are not copied.
      GlobalTensor<uint32_t> words;
      words.SetGlobalBuffer(
          reinterpret_cast<__gm__ uint32_t*>(quantGm_[column_ + window.column].GetPhyAddr()),
          2 * window.columns);
      DataCopy(l1.template ReinterpretCast<uint32_t>(), words,
               Nd2NzParams(1, 1, 2 * window.columns, 0, 2 * window.columns, 1, 1, 0));
      memory.quant1.Filled(slot);
      Fixpipe<Dst, Sum, kLayout>(gm[at], from, l1, ParamsOf<kLayout>(p));
      memory.quant1.Free(slot);
    } else if (quant_ == Quant::kVectorInL1) {
      Fixpipe<Dst, Sum, kLayout>(gm[at], from, quantL1_[column_ + window.column],
                                 ParamsOf<kLayout>(p));
    } else {
      Fixpipe<Dst, Sum, kLayout>(gm[at], from, ParamsOf<kLayout>(p));
    }
    if (enAtomic != 0) {
      SetAtomicNone();
    }
    memory.l0c.Free(tileSlot_);
  }
  // Fixpipe counts strides of NZ in this many bytes.
  static constexpr uint32_t kNzUnit = detail::mm::kOn950 ? sizeof(Dst) : ONE_BLK_SIZE;
  // The parameters that Fixpipe takes for a layout: those of columns have a class of their own.
  template <const FixpipeConfig& layout>
  static auto ParamsOf(const FixpipeParamsV220& p) {
#if __NPU_ARCH__ == 3510
    if constexpr (detail::mm::kIsColumnMajor<C>) {
      FixpipeParamsArch3510<layout.format> columns(p.nSize, p.mSize, p.srcStride, p.dstStride);
      columns.quantPre = p.quantPre;
      columns.deqScalar = p.deqScalar;
      columns.reluEn = p.reluEn;
      columns.params.srcNzC0Stride = 1;
      return columns;
    }
#endif
    if constexpr (!detail::mm::kIsColumnMajor<C>) {
      return p;
    }
  }
  // By the kernel's own copy.
  void CopyOut(const GlobalTensor<Dst>& gm, const LocalTensor<Sum>& from,
               const FixpipeParamsV220& p) {
    using namespace detail::mm;
    if (quant_ == Quant::kVector || quant_ == Quant::kVectorInL1) {
      Misuse("GetTensorC", "Use SetQuantScalar.",
             "SetQuantVector with a DataCopyOut of the kernel's own is not simulated yet");
    }
    constexpr bool kToNz = C::format == CubeFormat::NZ;
    DataCopyOutParams told;
    const uint32_t burst = rows_ * kRows * kSumBytes / ONE_BLK_SIZE;
    told.cBurstNum = static_cast<uint16_t>(PartsOf(columns_, kRows));
    told.burstLen = static_cast<uint16_t>(burst);
    // In NZ from the end of a column of fractals to the next one.
    told.dstStride =
        kToNz ? (p.dstStride * kNzUnit - rows_ * kRows * uint32_t{sizeof(Dst)}) / ONE_BLK_SIZE
              : p.dstStride;
    told.oriNSize = static_cast<uint16_t>(kToNz ? 0 : columns_);
    told.quantScalar = quantScalar_;
    CallBack::CopyOut(gm.GetPhyAddr(), from.template ReinterpretCast<int8_t>(), &told, userInfo_,
                      selfData_);
  }
  TPipe* pipe_ = nullptr;
  TCubeTiling tiling_;
  detail::mm::Room room_;
  detail::mm::Operand<A, true> a_;
  detail::mm::Operand<B, false> b_;
  detail::mm::Held<SrcA> heldA_;
  detail::mm::Held<SrcB> heldB_;
  detail::mm::SparseIndex index_;
  detail::mm::Scales<A, true> scaleA_;
  detail::mm::Scales<B, false> scaleB_;
  detail::mm::Held<fp8_e8m0_t> heldScaleA_, heldScaleB_;
  GlobalTensor<BiasT> bias_;
  GlobalTensor<uint64_t> quantGm_;
  LocalTensor<uint64_t> quantL1_;
  uint64_t quantScalar_ = 0;
  uint64_t userInfo_ = 0, selfData_ = 0;  // of the kernel's own copies
  Quant quant_ = Quant::kNone;
  uint32_t orgM_ = 0, orgN_ = 0, orgKa_ = 0, orgKb_ = 0, orgKc_ = 0;
  uint32_t m_ = 0, n_ = 0, k_ = 0;                 // this core's part
  uint32_t batchA_ = 0, batchB_ = 0, pitchC_ = 0;  // of batches
  uint64_t biasAt_ = 0;
  uint32_t tile_ = 0, tileSlot_ = 0;                        // the tile that Iterate has made
  uint32_t row_ = 0, column_ = 0, rows_ = 0, columns_ = 0;  // where it lies in C
  uint32_t partK_ = 0;                                      // with isPartialOutput: of its sums
  bool hasBias_ = false, isHf32_ = false;
  bool isIterating_ = false, hasTile_ = false, isTileFull_ = false;
  bool isUnderWay_ = false;  // the memories are in use, or End would have been called
};

}  // namespace AscendC

// SPDX-License-Identifier: Apache-2.0
// Matmul in MIX kernels: vector cores call, and the AIC of their AI core works. A call of an AIV is a request; on the AIC,
// REGIST_MATMUL_OBJ serves requests until its AIVs have left the kernel, by one MatmulImpl for each AIV and object.
#pragma once

#include <exception>
#include <iterator>

#include "ascendc/matmul.h"
#include "ascendc/matmul_abi.h"
#include "ascendc/matmul_request.h"
#include "ascendc/matmul_share.h"
#include "ascendc/scalar.h"
#include "ascendc/sysvar.h"

namespace AscendC {

template <typename A, typename B, typename C, typename Bias = C, const auto& given = CFG_NORM,
          typename CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy,
          bool isDualMaster = ToMatmulConfig(given).enableMixDualMaster>
class MatmulClient {
  static constexpr bool kIntoUb = detail::mm::kIsInUb<C>;
  static constexpr bool kFromUb =
      detail::mm::kIsInUb<A> || detail::mm::kIsInUb<B> || detail::mm::kIsInUb<Bias>;
  // Both AIVs ask for the same product, and the AIC computes it once. On 950 each gets half of a tile in UB.
  static constexpr bool kIsShared = A::ibShare && B::ibShare;
  using PolicyOfThis = Policy<given, MatmulClient, A, B, C, Bias>;
  static_assert(!detail::mm::kHasOwnModules<PolicyOfThis>,
                "Matmul: a policy with modules of the kernel's own, such as CopyCubeInA, is not "
                "simulated; docs/simulator.md says what is");
  static constexpr auto kPolicySplits = PolicyOfThis::kSplit;
  static constexpr auto kSplit =
      kPolicySplits == detail::mm::Split::kNone && detail::mm::kOn950 && kIsShared && kIntoUb
          ? detail::mm::Split::kRows
          : kPolicySplits;
  static constexpr bool kSplits = kSplit != detail::mm::Split::kNone;
  template <template <const auto&, typename...> class ItsPolicy>
  using ImplBy = MatmulImpl<detail::mm::InGm<A>, detail::mm::InGm<B>, detail::mm::InGm<C>,
                            detail::mm::InGm<Bias>, given, CallBack, ItsPolicy>;
  // The halves are this class's work.
  using Impl =
      std::conditional_t<kSplits, ImplBy<::AscendC::Impl::Detail::MatmulPolicy>, ImplBy<Policy>>;
  using SrcA = typename A::T;
  using SrcB = typename B::T;
  using Dst = typename C::T;
  using BiasT = typename Bias::T;
  static constexpr MatmulConfig config = ToMatmulConfig(given);
  static constexpr bool kServes = g_coreType == AIC;
  static constexpr uint32_t kMostVectors = 2;  // of an AI core
  static constexpr uint64_t kType = detail::mm::NumberOf<MatmulClient>();
  struct Nothing {};

  template <typename Type>
  static constexpr bool kIsOperand =
      Type::pos == TPosition::GM || detail::mm::kIsInUb<Type> || Type::pos == TPosition::TSCM;
  static_assert(kIsOperand<A> && kIsOperand<B>,
                "Matmul: in MIX kernels A and B lie in GM, UB or TSCM");
  static_assert(sizeof(Impl) > 0, "Matmul: both halves say what the AIC's cannot do");
  static_assert(C::pos == TPosition::GM || kIntoUb,
                "Matmul: in MIX kernels C goes to GM or UB; docs/simulator.md says what is");
  static_assert(!kIntoUb || C::format == CubeFormat::ND || C::format == CubeFormat::ND_ALIGN,
                "Matmul: C in VECIN is ND or ND_ALIGN; other formats are not simulated yet");
  static_assert(
      (A::pos == TPosition::GM || A::format == CubeFormat::ND || A::format == CubeFormat::NZ) &&
          (B::pos == TPosition::GM || B::format == CubeFormat::ND || B::format == CubeFormat::NZ),
      "Matmul: matrices in UB are ND or NZ");
  static_assert(kPolicySplits == detail::mm::Split::kNone ||
                    (detail::mm::kOn950 && kIntoUb && kIsShared),
                "Matmul: SplitMMatmulPolicy and SplitNMatmulPolicy are of Ascend 950, with C in "
                "UB, and with ibShare of A and B");
  static_assert(!detail::mm::kIsSparse<B>,
                "Matmul: SparseMatmulType is of kernels of cube cores alone (ASCENDC_CUBE_ONLY)");
  static_assert(A::layout == LayoutMode::NONE || !kFromUb,
                "Matmul: batches with A, B or the bias in UB are not simulated yet; they lie "
                "in GM; docs/simulator.md says what is");

 public:
  MatmulClient() = default;
  ~MatmulClient() noexcept(false) {
    if constexpr (kServes) {
      for (Impl& impl : impl_.of) {
        impl.Forget();  // its core ends early
      }
    }
    // The last object may leave out End, as CANN's own examples do.
    if (!kServes && config.enableEnd && isUnderWay_ && !share_.IsLast(this) &&
        std::uncaught_exceptions() == 0) {
      isUnderWay_ = false;
      detail::mm::Misuse("End", detail::mm::kEndBetween, "%s", detail::mm::kNoEndBetween);
    }
  }

  static constexpr bool kHasConstantTiling = Impl::kHasConstantTiling;

  // --- life -----------------------------------------------------------------------------------------------------------------
  void Init(const TCubeTiling* cubeTiling, TPipe* = nullptr) {
    next_.hasTiling = cubeTiling != nullptr;
    if (cubeTiling != nullptr) {
      next_.tiling = *cubeTiling;
    }
    next_.changes |= detail::mm::kTilingChanged;
    Impl::TakeTiling(cubeTiling, &tiling_);
    part_[0] = tiling_.singleCoreM, part_[1] = tiling_.singleCoreN, part_[2] = tiling_.singleCoreK;
    later_ = {};
  }
  void SetSubBlockIdx(uint8_t) {}
  void End() {
    if (pending_ > 0) {
      detail::mm::Misuse("End", "Call WaitIterateAll once for each.",
                         "IterateAll<false> with waitIterateAll has no WaitIterateAll");
    }
    if (isUnderWay_) {
      Call(detail::mm::Ask::kEnd);
    }
    isUnderWay_ = false;
  }

  // --- shapes ---------------------------------------------------------------------------------------------------------------
  void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK); }
  void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
    const int32_t org[] = {orgM, orgN, orgKa, orgKb, orgKc};
    std::copy(std::begin(org), std::end(org), next_.org);
    next_.changes |= detail::mm::kOrgShapeChanged;
  }
  void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
  void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
    const int32_t part[] = {tailM, tailN, tailK};
    for (uint32_t i = 0; i < 3; ++i) {
      next_.part[i] = part[i] == -1 ? next_.part[i] : part[i];
      part_[i] = part[i] == -1 ? part_[i] : part[i];
    }
    next_.changes |= detail::mm::kPartChanged;
  }

  // --- operands -------------------------------------------------------------------------------------------------------------
  void SetTensorA(const GlobalTensor<SrcA>& gm, bool isTransposeA = false) {
    next_.a.Set(gm, isTransposeA);
    next_.changes |= detail::mm::kAChanged;
  }
  void SetTensorB(const GlobalTensor<SrcB>& gm, bool isTransposeB = false) {
    next_.b.Set(gm, isTransposeB);
    next_.changes |= detail::mm::kBChanged;
  }
  // In UB: the part of this AIV, with rows of whole blocks of 32 bytes. It stays there until the product has begun. In TSCM: the same in
  // fractals, until the product is done.
  void SetTensorA(const LocalTensor<SrcA>& leftMatrix, bool isTransposeA = false) {
    static_assert(detail::mm::kIsInUb<A> || A::pos == TPosition::TSCM,
                  "Matmul: SetTensorA takes a LocalTensor where A is in UB or TSCM");
    if constexpr (A::pos == TPosition::TSCM) {
      next_.a.SetInL1(leftMatrix, isTransposeA);
    } else {
      inUbA_ = leftMatrix;
      next_.a.transposed = isTransposeA;
    }
    next_.changes |= detail::mm::kAChanged;
  }
  void SetTensorB(const LocalTensor<SrcB>& rightMatrix, bool isTransposeB = false) {
    static_assert(detail::mm::kIsInUb<B> || B::pos == TPosition::TSCM,
                  "Matmul: SetTensorB takes a LocalTensor where B is in UB or TSCM");
    if constexpr (B::pos == TPosition::TSCM) {
      next_.b.SetInL1(rightMatrix, isTransposeB);
    } else {
      inUbB_ = rightMatrix;
      next_.b.transposed = isTransposeB;
    }
    next_.changes |= detail::mm::kBChanged;
  }
  // The scales of MX types.
  void SetTensorScaleA(const GlobalTensor<fp8_e8m0_t>& gm, bool isTransposeScaleA = false) {
    next_.scaleA.Set(gm, isTransposeScaleA);
    next_.changes |= detail::mm::kScaleAChanged;
  }
  void SetTensorScaleB(const GlobalTensor<fp8_e8m0_t>& gm, bool isTransposeScaleB = true) {
    next_.scaleB.Set(gm, isTransposeScaleB);
    next_.changes |= detail::mm::kScaleBChanged;
  }
  // These lie in TSCM, in fractals, until the product is done.
  void SetTensorScaleA(const LocalTensor<fp8_e8m0_t>& leftMatrix, bool isTransposeScaleA = false) {
    static_assert(detail::mm::kHasScalesInL1<A>,
                  "Matmul: SetTensorScaleA takes a LocalTensor where the scales are in TSCM");
    next_.scaleA.SetInL1(leftMatrix, isTransposeScaleA);
    next_.changes |= detail::mm::kScaleAChanged;
  }
  void SetTensorScaleB(const LocalTensor<fp8_e8m0_t>& rightMatrix, bool isTransposeScaleB = true) {
    static_assert(detail::mm::kHasScalesInL1<B>,
                  "Matmul: SetTensorScaleB takes a LocalTensor where the scales are in TSCM");
    next_.scaleB.SetInL1(rightMatrix, isTransposeScaleB);
    next_.changes |= detail::mm::kScaleBChanged;
  }
  void SetBias(const GlobalTensor<BiasT>& biasGlobal) {
    Impl::CheckTakesBias();
    next_.bias.Set(biasGlobal);
    next_.hasBias = true;
    next_.changes |= detail::mm::kBiasChanged;
  }
  void SetBias(const LocalTensor<BiasT>& inputBias) {
    static_assert(detail::mm::kIsInUb<Bias>,
                  "Matmul: SetBias takes a LocalTensor where the bias is in UB");
    Impl::CheckTakesBias();
    inUbBias_ = inputBias;
    next_.hasBias = true;
    next_.changes |= detail::mm::kBiasChanged;
  }
  void ClearBias() {
    next_.hasBias = false;
    next_.changes |= detail::mm::kBiasChanged;
  }
  void DisableBias() { ClearBias(); }
  void SetQuantScalar(const uint64_t quantScalar) {
    next_.quantScalar = quantScalar;
    next_.isQuantVector = false;
    next_.changes |= detail::mm::kQuantChanged;
  }
  void SetQuantVector(const GlobalTensor<uint64_t>& quantTensor) {
    next_.quant.Set(quantTensor);
    next_.isQuantVector = true;
    next_.changes |= detail::mm::kQuantChanged;
  }
  void SetQuantVector(const LocalTensor<uint64_t>& quantTensor) {
    next_.quant.SetInL1(quantTensor);
    next_.isQuantVector = true;
    next_.changes |= detail::mm::kQuantChanged;
  }
  void SetHF32(bool enableHF32 = false, int32_t = 0) {
    if (enableHF32) {
      detail::mm::Misuse("SetHF32", "Use it with ASCENDC_CUBE_ONLY.",
                         "HF32 is of kernels of cube cores alone");
    }
  }
  // Copies of the kernel's own get these, on the AIC.
  void SetUserDefInfo(const uint64_t tilingPtr) {
    next_.userInfo = tilingPtr;
    next_.changes |= detail::mm::kCopiesChanged;
  }
  void SetSelfDefineData(const uint64_t dataPtr) {
    next_.selfData = dataPtr;
    next_.changes |= detail::mm::kCopiesChanged;
  }
  // Only other SoCs need this.
  void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
  // Iterate<false> and IterateNBatch leave C there.
  template <typename T>
  void SetWorkspace(GlobalTensor<T>& addr) {
    space_.Set(addr);
  }
  template <typename T>
  void SetWorkspace(__gm__ const T* addr, int size) {
    static_cast<void>(size);
    space_.at = const_cast<T*>(addr);
    space_.size = 0;
  }

  // --- products -------------------------------------------------------------------------------------------------------------
  template <bool sync = true>
  bool Iterate(bool enPartialSum = false) {
    if constexpr (kSplits) {
      static_assert(kGivesHalves<sync>,
                    "Matmul: halves of a tile for two AIVs are of float, by the NORM template, and "
                    "of Iterate<true>");
      if (GetTaskRatio() != kMostVectors) {
        detail::mm::Misuse("Iterate", "Run two, or leave out ibShare of A and B.",
                           "halves of a tile are for two AIVs, and the AIC has %d",
                           static_cast<int>(GetTaskRatio()));
      }
    } else if constexpr (kIsShared) {
      detail::mm::Misuse("Iterate", "Call IterateAll with a GlobalTensor.",
                         "A and B have ibShare, whose results come by IterateAll alone");
    }
    if constexpr (!sync) {
      static_assert(!config.isPartialOutput, "Matmul: isPartialOutput is of Iterate<true>");
      static_assert(Impl::kTriangle == detail::mm::Triangle::kNone,
                    "Matmul: Iterate<false> with a policy of triangles is not simulated yet; "
                    "docs/simulator.md says what is");
      return IterateLater(enPartialSum);
    }
    next_.partialSum = enPartialSum;
    later_ = {};
    return Call(detail::mm::Ask::kIterate).hasTile;
  }
  template <bool sync = true>
  void GetTensorC(const GlobalTensor<Dst>& gm, uint8_t enAtomic = 0,
                  bool enSequentialWrite = false) {
    static_assert(sync,
                  "Matmul: GetTensorC<false> takes a LocalTensor, or returns where the tile is");
    if (kSplits) {
      detail::mm::Misuse("GetTensorC", "Give it a LocalTensor.",
                         "A and B have ibShare: each AIV gets half of the tile in UB");
    }
    Tile(gm, enAtomic, enSequentialWrite);
  }
  // A tile into UB, by the framework's part of the workspace: rows lie baseN elements apart.
  template <bool sync = true>
  void GetTensorC(const LocalTensor<Dst>& co2Local, uint8_t enAtomic = 0,
                  bool enSequentialWrite = false) {
    static_assert(kIntoUb, "Matmul: GetTensorC takes a LocalTensor where C is in VECIN");
    static_cast<void>(enSequentialWrite);
    if (enAtomic != 0) {
      detail::mm::Misuse("GetTensorC", "Sums and the like are for GM.",
                         "enAtomic is %d for a tile that goes to UB", int{enAtomic});
    }
    if (sync && later_.count == 0) {  // Iterate says which it is, whatever the argument here
      const GlobalTensor<Dst> slot = share_.template Slot<Dst>();
      const detail::mm::Answer tile = Tile(slot, 0, true);
      if (tile.rows > 0) {
        share_.CopyToUb(co2Local, slot, tile, tile.pitch);
      }
    } else {
      detail::mm::Answer tile;
      const GlobalTensor<Dst> slot = NextOfLater(&tile);
      share_.template CopyToUb<sync>(co2Local, slot, tile, tile.pitch);
    }
  }
  // The vector unit may read what GetTensorC<false> has copied into UB.
  void WaitGetTensorC() { share_.AwaitCopies(); }
  // The tile that Iterate<false> has made, where SetWorkspace says: baseM x baseN elements.
  template <bool sync = true>
  GlobalTensor<Dst> GetTensorC(uint8_t enAtomic = 0, bool enSequentialWrite = false) {
    static_cast<void>(enAtomic), static_cast<void>(enSequentialWrite);
    detail::mm::Answer tile;
    return NextOfLater(&tile);
  }
  template <bool sync = true>
  void IterateAll(const GlobalTensor<Dst>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                  bool waitIterateAll = false, bool fakeMsg = false) {
    if (fakeMsg) {
      return;
    }
    SetC(gm, enAtomic, enSequentialWrite);
    if constexpr (sync || kFromUb) {  // the next matrix from UB takes the place of this one
      Call(detail::mm::Ask::kAll);
      early_ += !sync && waitIterateAll ? 1 : 0;
    } else {
      Send(detail::mm::Ask::kAll, waitIterateAll);
      pending_ += waitIterateAll ? 1 : 0;
    }
  }
  // All of the part into UB, in rows of whole blocks of 32 bytes.
  template <bool sync = true>
  void IterateAll(const LocalTensor<Dst>& ubCmatrix, uint8_t enAtomic = 0) {
    static_assert(sync,
                  "Matmul: IterateAll<false> into VECIN is not simulated yet; "
                  "docs/simulator.md says what is");
    static_assert(kIntoUb, "Matmul: IterateAll takes a LocalTensor where C is in VECIN");
    if (enAtomic != 0) {
      detail::mm::Misuse("IterateAll", "Sums and the like are for GM.",
                         "enAtomic is %d for a part that goes to UB", int{enAtomic});
    }
    const GlobalTensor<Dst> slot = share_.template Slot<Dst>();
    while (Iterate()) {
      const detail::mm::Answer tile = Tile(slot, 0, true);
      if (tile.rows == 0) {
        continue;
      }
      const uint32_t pitch = detail::mm::UpTo(tile.columnsOfPart, detail::mm::kC0<Dst>);
      if (C::format == CubeFormat::ND && pitch != tile.columnsOfPart) {
        detail::mm::Misuse("IterateAll", "Rows in UB are whole blocks of 32 bytes: use ND_ALIGN.",
                           "C has %u columns, and its format is ND", tile.columnsOfPart);
      }
      share_.CopyToUb(ubCmatrix[tile.row * pitch + tile.column], slot, tile, pitch);
    }
  }
  void WaitIterateAll() {
    if (!Await()) {
      detail::mm::Misuse("WaitIterateAll",
                         "Hardware would wait forever. Pass waitIterateAll (the fourth argument) "
                         "as true to IterateAll<false>.",
                         "no IterateAll<false> has an end that is told");
    }
  }

  // --- batches --------------------------------------------------------------------------------------------------------------
  void SetBatchNum(int32_t, int32_t) {
  }  // for IterateBatch on cube cores; here its arguments say it
  template <bool sync = true, bool waitIterateBatch = false>
  void IterateBatch(const GlobalTensor<Dst>& gm, uint32_t batchA, uint32_t batchB,
                    bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                    const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0,
                    const bool enPartialSum = false, const uint8_t enAtomic = 0) {
    static_assert(kIsBatch<sync>, "Matmul: A, B and C of IterateBatch have a LayoutMode");
    Impl::CheckBatchCall(enPartialSum, enSequentialWrite, false, matrixStrideC);
    SetBatch(batchA, batchB, matrixStrideA, matrixStrideB);
    SetC(gm, enAtomic, false);
    if constexpr (sync) {
      Call(detail::mm::Ask::kBatch);
    } else {
      Send(detail::mm::Ask::kBatch, waitIterateBatch);
      pending_ += waitIterateBatch ? 1 : 0;
    }
  }
  // Into UB: matrix behind matrix, in rows of whole blocks of 32 bytes.
  template <bool sync = true>
  void IterateBatch(const LocalTensor<Dst>& ubCmatrix, uint32_t batchA, uint32_t batchB,
                    bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                    const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0,
                    const bool enPartialSum = false, const uint8_t enAtomic = 0) {
    using namespace detail::mm;
    static_assert(sync, "Matmul: IterateBatch<false> is for C in GM");
    static_assert(kIntoUb, "Matmul: IterateBatch takes a LocalTensor where C is in VECIN");
    Impl::CheckBatchCall(enPartialSum, enSequentialWrite, true, matrixStrideC);
    if (enAtomic != 0) {
      Misuse("IterateBatch", "Sums and the like are for GM.",
             "enAtomic is %d for matrices that go to UB", int{enAtomic});
    }
    const auto m = static_cast<uint32_t>(part_[0]), n = static_cast<uint32_t>(part_[1]);
    const uint32_t pitch = UpTo(n, kC0<Dst>), rows = std::max(batchA, batchB) * m;
    if (C::format == CubeFormat::ND && pitch != n) {
      Misuse("IterateBatch", "Rows in UB are whole blocks of 32 bytes: use ND_ALIGN.",
             "C has %u columns, and its format is ND", n);
    }
    if (uint64_t{rows} * pitch * sizeof(Dst) > aclsim::kMatmulSlotBytes) {
      Misuse("IterateBatch", "Take fewer matrices at once.",
             "%u rows of %u elements are more than the %u bytes that go to UB at once", rows, pitch,
             aclsim::kMatmulSlotBytes);
    }
    SetBatch(batchA, batchB, matrixStrideA, matrixStrideB);
    next_.batch.isPart = true;
    const GlobalTensor<Dst> slot = share_.template Slot<Dst>();
    SetC(slot, 0, false);
    Answer all = Call(Ask::kBatch);
    all.rows = ResultsOf(batchA, batchB) * m, all.columns = pitch, all.pitch = pitch;
    next_.batch = {};
    share_.CopyToUb(ubCmatrix, slot, all, pitch);
  }
  // Batch after batch; C lies where SetWorkspace says.
  template <bool sync = true, bool waitIterateBatch = false>
  void IterateNBatch(const uint32_t batchLoop, uint32_t batchA, uint32_t batchB,
                     bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                     const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0) {
    using namespace detail::mm;
    static_assert(config.isNBatch, "Matmul: IterateNBatch is of a config with isNBatch");
    Impl::CheckBatchCall(false, enSequentialWrite, false, matrixStrideC);
    const GlobalTensor<Dst> space = Space("IterateNBatch");
    later_ = {};
    later_.count = sync || waitIterateBatch ? 0 : batchLoop;
    for (uint32_t loop = 0; loop < batchLoop; ++loop) {
      SetBatch(batchA, batchB, matrixStrideA, matrixStrideB);
      next_.batch.loop = loop;
      SetC(space, 0, false);
      const bool isLast = loop + 1 == batchLoop;
      const bool isTold = isLast || !(sync || waitIterateBatch);
      Send(Ask::kBatch, isTold);
      pending_ += isTold ? 1 : 0;
    }
    if constexpr (sync) {
      Await();
    }
  }
  // The next batch of IterateNBatch<false>.
  template <bool sync = false>
  GlobalTensor<Dst> GetBatchTensorC(uint32_t batchA, uint32_t batchB,
                                    bool enSequentialWrite = false) {
    static_assert(!sync, "Matmul: GetBatchTensorC is of IterateNBatch<false>");
    static_cast<void>(enSequentialWrite);
    const uint32_t number = TakeLater("GetBatchTensorC", "IterateNBatch<false>");
    const uint64_t elements = uint64_t{ResultsOf(batchA, batchB)} *
                              static_cast<uint32_t>(tiling_.CLayoutInfoS1) *
                              static_cast<uint32_t>(tiling_.CLayoutInfoS2);
    return Space("GetBatchTensorC")[number * elements];
  }
  template <bool sync = false>
  void GetBatchTensorC(const LocalTensor<Dst>& c, uint32_t batchA, uint32_t batchB,
                       bool enSequentialWrite = false) {
    using namespace detail::mm;
    static_assert(kIntoUb, "Matmul: GetBatchTensorC takes a LocalTensor where C is in VECIN");
    static_assert(C::layout != LayoutMode::BSNGD && C::layout != LayoutMode::SBNGD,
                  "Matmul: GetBatchTensorC of C in BSNGD or SBNGD into UB is not simulated yet; "
                  "docs/simulator.md says what is");
    const GlobalTensor<Dst> from = GetBatchTensorC<sync>(batchA, batchB, enSequentialWrite);
    Answer all;
    all.rows = ResultsOf(batchA, batchB) * static_cast<uint32_t>(tiling_.CLayoutInfoS1);
    all.columns = all.pitch = static_cast<uint32_t>(tiling_.CLayoutInfoS2);
    share_.CopyToUb(c, from, all, UpTo(all.columns, kC0<Dst>));
  }
  void WaitIterateBatch() {
    if (!Await()) {
      detail::mm::Misuse("WaitIterateBatch",
                         "Hardware would wait forever. Pass waitIterateBatch (the second template "
                         "argument) as true.",
                         "no IterateBatch<false> or IterateNBatch<false> has an end that is told");
    }
  }
  // --- REGIST_MATMUL_OBJ ----------------------------------------------------------------------------------------------------
  void Register(uint32_t object, TPipe* pipe, GM_ADDR workspace) {
    next_.object = object;
    share_ = {pipe, workspace};
  }
  // On the AIC, when its AIVs have left: the last object may leave out End, and with enableEnd off nobody calls it.
  void EndAll() {
    if constexpr (kServes) {
      for (Impl& impl : impl_.of) {
        impl.End();
      }
    }
  }
  // On the AIC: does what one of its AIVs asks for. Returns the AIV that has the next turn, as its tile is in L0C now; or -1.
  __attribute__((always_inline)) int32_t Serve(TPipe* pipe, uint32_t vector,
                                               const detail::mm::Request& request) {
    if constexpr (kServes) {
      return Do(pipe, vector, request);
    } else {
      return -1;
    }
  }

 private:
  template <bool sync>
  static constexpr bool kGivesHalves = sync && std::is_same_v<Dst, float> && config.doNorm;
  template <bool>
  static constexpr bool kIsBatch = A::layout != LayoutMode::NONE;

  void SetC(const GlobalTensor<Dst>& gm, uint8_t enAtomic, bool isDense) {
    next_.c.Set(gm);
    next_.atomic = enAtomic;
    next_.dense = isDense;
  }
  detail::mm::Answer Tile(const GlobalTensor<Dst>& gm, uint8_t enAtomic, bool isDense) {
    SetC(gm, enAtomic, isDense);
    return Call(detail::mm::Ask::kTile);
  }
  void Send(detail::mm::Ask ask, bool answered) {
    isUnderWay_ = true;
    if (ask != detail::mm::Ask::kEnd) {
      share_.SetLast(this);
    }
    HandOver();
    next_.ask = ask;
    next_.type = kType;
    next_.answered = answered;
    aclsim::MatmulRequest(next_.object, &next_, sizeof(next_));
    next_.changes = 0;
    std::fill(std::begin(next_.part), std::end(next_.part), -1);
    ACLSIM_KEEP_FRAME();
  }
  detail::mm::Answer Hear() {
    detail::mm::Answer answer;
    aclsim::MatmulAwait(next_.object, &answer, sizeof(answer));
    return answer;
  }
  // The answers to what was asked before come first.
  detail::mm::Answer Call(detail::mm::Ask ask) {
    Send(ask, true);
    HearAll();
    return Hear();
  }
  void HearAll() {
    for (; pending_ > 0; --pending_) {
      Hear();
      ++early_;
    }
  }
  // The end of what was asked for first and not waited for yet; false: there is none.
  bool Await() {
    if (early_ > 0) {
      --early_;
      return true;
    }
    if (pending_ == 0) {
      return false;
    }
    --pending_;
    Hear();
    return true;
  }

  // Iterate<false> and IterateNBatch<false> have asked for this, and the kernel takes it piece by piece.
  struct Later {
    uint32_t count = 0, taken = 0, asked = 0;
  };
  GlobalTensor<Dst> Space(const char* call) const {
    if (space_.at == nullptr) {
      detail::mm::Misuse(call, "Call SetWorkspace before.", "there is no memory in GM for C");
    }
    return space_.Get<Dst>();
  }
  uint32_t TakeLater(const char* call, const char* maker) {
    if (later_.taken == later_.count) {
      detail::mm::Misuse(call, "Call it once for each piece.", "%s has made %u, and all are taken",
                         maker, later_.count);
    }
    Await();
    return later_.taken++;
  }
  GlobalTensor<Dst> TileOfLater(uint32_t number) const {
    const uint64_t elements =
        uint64_t{static_cast<uint32_t>(tiling_.baseM)} * static_cast<uint32_t>(tiling_.baseN);
    return Space("Iterate<false>")[number * elements];
  }
  GlobalTensor<Dst> NextOfLater(detail::mm::Answer* tile) {
    const uint32_t number = TakeLater("GetTensorC<false>", "Iterate<false>");
    const auto word = [](int32_t value) { return static_cast<uint32_t>(value); };
    const detail::mm::Tile lies =
        detail::mm::TileAt(number, word(part_[0]), word(part_[1]), word(tiling_.baseM),
                           word(tiling_.baseN), Impl::IsAlongM(tiling_));
    tile->rows = lies.rows, tile->columns = lies.columns, tile->pitch = word(tiling_.baseN);
    return TileOfLater(number);
  }
  // The first call asks for all tiles of the part; later ones say whether there is another one.
  bool IterateLater(bool enPartialSum) {
    using namespace detail::mm;
    if (enPartialSum) {
      Misuse("Iterate<false>", "Call Iterate().", "enPartialSum is of tiles that are waited for");
    }
    const bool isNew = later_.count == 0 || (next_.changes & (kAChanged | kBChanged)) != 0;
    if (!isNew) {
      const bool hasTile = ++later_.asked < later_.count;
      if (!hasTile) {
        later_ = {};
      }
      return hasTile;
    }
    later_ = {};
    later_.count = TilesIn(static_cast<uint32_t>(part_[0]), static_cast<uint32_t>(tiling_.baseM)) *
                   TilesIn(static_cast<uint32_t>(part_[1]), static_cast<uint32_t>(tiling_.baseN));
    next_.partialSum = false;
    for (uint32_t number = 0; number < later_.count; ++number) {
      SetC(TileOfLater(number), 0, true);
      Send(Ask::kIterate, false);
      Send(Ask::kTile, true);
      ++pending_;
    }
    return true;
  }

  void SetBatch(uint32_t a, uint32_t b, uint32_t strideA, uint32_t strideB) {
    next_.batch = {};
    next_.batch.a = a, next_.batch.b = b;
    next_.batch.strideA = strideA, next_.batch.strideB = strideB;
  }
  // Matrices of C.
  uint32_t ResultsOf(uint32_t batchA, uint32_t batchB) const {
    return std::max(batchA, batchB) / Impl::SumsOf(tiling_);
  }

  // Operands in UB go to where the AIC finds them, once the part's extents are known.
  void HandOver() {
    using namespace detail::mm;
    const auto has = [this](Change change) { return (next_.changes & change) != 0; };
    const int32_t m = part_[0], n = part_[1], k = part_[2];
    if (kFromUb && has(Change(kAChanged | kBChanged | kBiasChanged))) {
      HearAll();  // the AIC is done with what lay there
    }
    if constexpr (kIsInUb<A>) {
      if (has(kAChanged)) {
        const bool isMRow = !next_.a.transposed;
        next_.a.Set(share_.template InShare<A>(inUbA_, isMRow ? m : k, isMRow ? k : m, "A"),
                    !isMRow, true);
      }
    }
    if constexpr (kIsInUb<B>) {
      if (has(kBChanged)) {
        const bool isNRow = next_.b.transposed;
        next_.b.Set(share_.template InShare<B>(inUbB_, isNRow ? n : k, isNRow ? k : n, "B"), isNRow,
                    true);
      }
    }
    if constexpr (kIsInUb<Bias>) {
      if (has(kBiasChanged) && next_.hasBias) {
        next_.bias.Set(share_.template InShare<Bias>(inUbBias_, 1, n, "the bias"));
      }
    }
  }
  __attribute__((always_inline)) int32_t Do(TPipe* pipe, uint32_t vector,
                                            const detail::mm::Request& request) {
    using namespace detail::mm;
    if (request.type != kType) {
      Misuse("REGIST_MATMUL_OBJ", "Both halves and both AIVs list the same objects in one order.",
             "object number %u of the AIV has another type than the AIC's", request.object);
    }
    Impl& impl = impl_.of[kIsShared ? 0 : vector];
    const uint32_t other = kMostVectors - 1 - vector;
    const bool isDone = kIsShared && ++impl_.served[vector] <= impl_.served[other];
    if (!isDone) {
      Set(impl, pipe, request);
    }
    bool hasTile = kSplits && isDone && impl.HasTile();
    const bool isHalf = kSplits && request.ask == Ask::kTile;  // each AIV's own
    switch (isDone && !isHalf ? Ask::kNothing : request.ask) {
      case Ask::kNothing:
        break;
      case Ask::kIterate:
        if constexpr (A::layout == LayoutMode::NONE) {
          hasTile = impl.Iterate(request.partialSum);
        }
        break;
      case Ask::kTile:
        if constexpr (kSplits) {
          const Answer half = HalfOf(impl, vector);
          const Window window{kSplit == Split::kRows ? vector * PartsOf(impl.TileRows(), 2) : 0,
                              kSplit == Split::kColumns ? vector * half.columns : 0, half.rows,
                              half.columns};
          impl.GetHalf(request.c.Get<Dst>(), window, half.pitch);
        } else {
          impl.GetTensorC(request.c.Get<Dst>(), request.atomic, request.dense);
        }
        break;
      case Ask::kAll:
        if constexpr (A::layout == LayoutMode::NONE) {
          impl.IterateAll(request.c.Get<Dst>(), request.atomic, request.dense);
        }
        break;
      case Ask::kBatch:
        if constexpr (A::layout != LayoutMode::NONE) {
          impl.Batches(request.c.Get<Dst>(), request.batch, request.atomic);
        }
        break;
      case Ask::kEnd:
        impl.End();
        break;
    }
    if (request.answered) {
      Answer answer = HalfOf(impl, vector);
      answer.hasTile = hasTile;
      aclsim::MatmulAnswer(vector, request.object, &answer, sizeof(answer));
    }
    if (kSplits && (request.ask == Ask::kIterate || request.ask == Ask::kTile)) {
      // Both have a tile before the next one is made.
      return impl_.served[vector] > impl_.served[other] ? static_cast<int32_t>(other) : -1;
    }
    return hasTile ? static_cast<int32_t>(vector) : -1;
  }
  // Returns where the tile of an AIV lies, or its half of one: the first AIV has the odd row.
  static detail::mm::Answer HalfOf(const Impl& impl, uint32_t vector) {
    using namespace detail::mm;
    Answer tile{false,          impl.TileRows(),   impl.TileColumns(), impl.TilePitch(),
                impl.TileRow(), impl.TileColumn(), impl.PartColumns()};
    if constexpr (kSplit == Split::kRows) {
      tile.rows = (tile.rows + 1 - vector) / 2;
      tile.row /= 2;
    } else if constexpr (kSplit == Split::kColumns) {
      if (tile.columns % (2 * kRows) != 0) {
        Misuse("GetTensorC", "Let N be a multiple of 32, or use SplitMMatmulPolicy.",
               "SplitNMatmulPolicy halves a tile of %u columns, which is no multiple of 32",
               tile.columns);
      }
      tile.columns /= 2, tile.pitch /= 2, tile.column /= 2, tile.columnsOfPart /= 2;
    }
    return tile;
  }
  static void Set(Impl& impl, TPipe* pipe, const detail::mm::Request& request) {
    using namespace detail::mm;
    const auto has = [&request](Change change) { return (request.changes & change) != 0; };
    if (has(kTilingChanged)) {
      impl.Init(request.hasTiling ? &request.tiling : nullptr, pipe);
    }
    if (has(kOrgShapeChanged)) {
      const int32_t* org = request.org;
      impl.SetOrgShape(org[0], org[1], org[2], org[3], org[4]);
    }
    if (has(kPartChanged)) {
      impl.SetTail(request.part[0], request.part[1], request.part[2]);
    }
    if constexpr (A::pos == TPosition::TSCM) {
      if (has(kAChanged)) {
        impl.SetTensorA(request.a.GetInL1<SrcA>(), request.a.transposed);
      }
    } else if (has(kAChanged) && request.a.isPart) {
      impl.SetPartA(request.a.Get<SrcA>(), request.a.transposed);
    } else if (has(kAChanged)) {
      impl.SetTensorA(request.a.Get<SrcA>(), request.a.transposed);
    }
    if constexpr (B::pos == TPosition::TSCM) {
      if (has(kBChanged)) {
        impl.SetTensorB(request.b.GetInL1<SrcB>(), request.b.transposed);
      }
    } else if (has(kBChanged) && request.b.isPart) {
      impl.SetPartB(request.b.Get<SrcB>(), request.b.transposed);
    } else if (has(kBChanged)) {
      impl.SetTensorB(request.b.Get<SrcB>(), request.b.transposed);
    }
    if constexpr (kIsScaled<A> && kIsScaled<B>) {
      if (has(kScaleAChanged)) {
        if constexpr (kHasScalesInL1<A>) {
          impl.SetTensorScaleA(request.scaleA.GetInL1<fp8_e8m0_t>(), request.scaleA.transposed);
        } else {
          impl.SetTensorScaleA(request.scaleA.Get<fp8_e8m0_t>(), request.scaleA.transposed);
        }
      }
      if (has(kScaleBChanged)) {
        if constexpr (kHasScalesInL1<B>) {
          impl.SetTensorScaleB(request.scaleB.GetInL1<fp8_e8m0_t>(), request.scaleB.transposed);
        } else {
          impl.SetTensorScaleB(request.scaleB.Get<fp8_e8m0_t>(), request.scaleB.transposed);
        }
      }
    }
    if (has(kCopiesChanged)) {
      impl.SetUserDefInfo(request.userInfo);
      impl.SetSelfDefineData(request.selfData);
    }
    if constexpr (config.enableSetBias) {
      if (has(kBiasChanged) && request.hasBias) {
        impl.SetBias(request.bias.Get<BiasT>());
      } else if (has(kBiasChanged)) {
        impl.ClearBias();
      }
    }
    if (has(kQuantChanged) && request.isQuantVector && request.quant.isInL1) {
      impl.SetQuantVector(request.quant.GetInL1<uint64_t>());
    } else if (has(kQuantChanged) && request.isQuantVector) {
      impl.SetQuantVector(request.quant.Get<uint64_t>());
    } else if (has(kQuantChanged)) {
      impl.SetQuantScalar(request.quantScalar);
    }
  }

  struct Served {
    Impl of[kMostVectors];
    uint32_t served[kMostVectors] = {};  // requests of each AIV
  };
  std::conditional_t<kServes, Served, Nothing> impl_;
  detail::mm::Request next_;
  TCubeTiling tiling_;
  int32_t part_[3] = {};  // of C and K that this AIV asks for
  Later later_;
  detail::mm::GmMatrix space_;  // of SetWorkspace
  LocalTensor<SrcA> inUbA_;
  LocalTensor<SrcB> inUbB_;
  LocalTensor<BiasT> inUbBias_;
  detail::mm::Share share_;
  uint32_t pending_ = 0;  // answers that are due, of what need not be waited for at once
  uint32_t early_ = 0;    // those of them that came before they were waited for
  bool isUnderWay_ = false;
};

}  // namespace AscendC

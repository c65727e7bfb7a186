// SPDX-License-Identifier: Apache-2.0
// The register-level vector API of Ascend 950: AscendC::Reg, which is AscendC::MicroAPI as well. Templates here only pack operands.
#pragma once

#include "ascendc/reg_abi.h"
#include "ascendc/vec_registers.h"

#if __NPU_ARCH__ == 3510
#define __VEC_SCOPE__ if (const ::aclsim::VectorFunction aclsimVectorFunction{}; true)
#define __simd_vf__
#define __simd_callee__
#ifndef __local_mem__
#define __local_mem__ __ubuf__
#endif

namespace AscendC {

constexpr uint32_t VECTOR_REG_WIDTH = 256;
constexpr uint32_t GetVecLen() { return VECTOR_REG_WIDTH; }

// How results are rounded: they are the same here for each.
#define ACLSIM_ALGO(Name)                                                                  \
  enum class Name##Algo{INTRINSIC = 0, PRECISION_1ULP_FTZ_TRUE, PRECISION_1ULP_FTZ_FALSE}; \
  struct Name##Config {                                                                    \
    Name##Algo algo = Name##Algo::INTRINSIC;                                               \
  };
ACLSIM_ALGO(Exp)
ACLSIM_ALGO(Ln)
ACLSIM_ALGO(Log)
ACLSIM_ALGO(Log2)
ACLSIM_ALGO(Log10)
ACLSIM_ALGO(Reciprocal)
#undef ACLSIM_ALGO
enum class DivAlgo {
  INTRINSIC = 0,
  DIFF_COMPENSATION,
  PRECISION_1ULP_FTZ_TRUE,
  PRECISION_0ULP_FTZ_TRUE,
  PRECISION_0ULP_FTZ_FALSE,
  PRECISION_1ULP_FTZ_FALSE
};
struct DivConfig {
  DivAlgo algo = DivAlgo::INTRINSIC;
};
enum class SqrtAlgo {
  INTRINSIC = 0,
  FAST_INVERSE,
  PRECISION_1ULP_FTZ_TRUE,
  PRECISION_0ULP_FTZ_FALSE,
  PRECISION_1ULP_FTZ_FALSE
};
struct SqrtConfig {
  SqrtAlgo algo = SqrtAlgo::INTRINSIC;
};

enum class SpecialPurposeReg { AR };

namespace Reg {

enum class RegLayout { UNKNOWN = -1, ZERO, ONE, TWO, THREE };
enum class SatMode { UNKNOWN = -1, NO_SAT, SAT };
enum class IndexOrder { INCREASE_ORDER, DECREASE_ORDER };
enum class MaskMergeMode { UNKNOWN, MERGING, ZEROING };
enum class HighLowPart { LOWEST, HIGHEST };
enum class PostLiteral { POST_MODE_NORMAL, POST_MODE_UPDATE };
enum class MaskPattern {
  ALL,
  VL1,
  VL2,
  VL3,
  VL4,
  VL8,
  VL16,
  VL32,
  VL64,
  VL128,
  M3,
  M4,
  H,
  Q,
  ALLF = 15
};
enum class LoadDist {
  DIST_NORM,
  DIST_BRC_B8,
  DIST_BRC_B16,
  DIST_BRC_B32,
  DIST_US_B8 = 6,
  DIST_US_B16,
  DIST_DS_B8,
  DIST_DS_B16,
  DIST_BDINTLV,
  DIST_DINTLV_B8,
  DIST_DINTLV_B16,
  DIST_UNPACK_B8,
  DIST_UNPACK_B16,
  DIST_BLK,
  DIST_E2B_B16,
  DIST_E2B_B32,
  DIST_UNPACK_B32,
  DIST_DINTLV_B32,
  DIST_UNPACK4_B8,
  DIST_SPLT4CHN_B8,
  DIST_SPLT2CHN_B8,
  DIST_SPLT2CHN_B16,
};
enum class StoreDist {
  DIST_NORM_B8,
  DIST_NORM_B16,
  DIST_NORM_B32,
  DIST_FIRST_ELEMENT_B8,
  DIST_FIRST_ELEMENT_B16,
  DIST_FIRST_ELEMENT_B32,
  DIST_PACK_B16,
  DIST_PACK_B32,
  DIST_INTLV_B8,
  DIST_INTLV_B16,
  DIST_PACK_B64,
  DIST_INTLV_B32,
  DIST_PACK4_B32,
  DIST_MRG4CHN_B8,
  DIST_MRG2CHN_B8,
  DIST_MRG2CHN_B16,
  DIST_NORM
};
enum class MaskDist { DIST_NORM, DIST_US = 1, DIST_DS = 2, DIST_PACK = 1 };
enum class MemType { VEC_STORE, VEC_LOAD, SCALAR_STORE, SCALAR_LOAD, VEC_ALL, SCALAR_ALL };
enum class DataCopyMode { DATA_BLOCK_COPY };
enum class GatherMaskMode { NO_STORE_REG, STORE_REG };
enum class StoreMode { NOSTORED = 0, STORED };
enum class RoundControl { NO_ROUND, ROUND };
enum class PairReduce { SUM = 0 };
using ReduceType = AscendC::ReduceType;
using SpecialPurposeReg = AscendC::SpecialPurposeReg;

struct DefaultType {};
struct CastTrait {
  RegLayout layoutMode = RegLayout::UNKNOWN;
  SatMode satMode = SatMode::UNKNOWN;
  MaskMergeMode mrgMode = MaskMergeMode::UNKNOWN;
  RoundMode roundMode = RoundMode::UNKNOWN;
};
inline constexpr CastTrait castTrait = {RegLayout::UNKNOWN, SatMode::UNKNOWN,
                                        MaskMergeMode::UNKNOWN, RoundMode::UNKNOWN};
#define ACLSIM_SPECIFIC(Name)                       \
  struct Name##SpecificMode {                       \
    MaskMergeMode mrgMode = MaskMergeMode::ZEROING; \
    Name##Algo algo = Name##Algo::INTRINSIC;        \
  };
ACLSIM_SPECIFIC(Exp)
ACLSIM_SPECIFIC(Ln)
ACLSIM_SPECIFIC(Log)
ACLSIM_SPECIFIC(Log2)
ACLSIM_SPECIFIC(Log10)
#undef ACLSIM_SPECIFIC
struct DivSpecificMode {
  MaskMergeMode mrgMode = MaskMergeMode::ZEROING;
  bool precisionMode = false;
  DivAlgo algo = DivAlgo::INTRINSIC;
};
struct SqrtSpecificMode {
  MaskMergeMode mrgMode = MaskMergeMode::ZEROING;
  bool precisionMode = false;
  SqrtAlgo algo = SqrtAlgo::INTRINSIC;
};

// --- registers --------------------------------------------------------------------------------------------------------

struct RegTrait {
  int REG_NUM = 1;
};
inline constexpr RegTrait RegTraitNumOne = {1};
inline constexpr RegTrait RegTraitNumTwo = {2};

template <typename T, const RegTrait& regTrait = RegTraitNumOne>
struct RegTensor : aclsim::Reg {
  static_assert(regTrait.REG_NUM == 1,
                "RegTensor of two registers (RegTraitNumTwo) is not in this simulator yet");
  using ActualT = T;
  static constexpr RegTrait trait = regTrait;
  static constexpr int REG_NUM = regTrait.REG_NUM;

  RegTensor() = default;
  // What is undefined of most registers takes no bytes.
  RegTensor(const RegTensor& other) : aclsim::Reg() { *this = other; }
  RegTensor& operator=(const RegTensor& other) {
    __builtin_memcpy(bytes, other.bytes, sizeof(bytes));
    state = other.state;
    origin = other.origin;
    ready = other.ready;
    if (state == kPartly) {
      __builtin_memcpy(shadow, other.shadow, sizeof(shadow));
    }
    return *this;
  }
};

using MaskReg = aclsim::RegMask;
struct UnalignReg : aclsim::RegUnalign {};
using UnalignRegForLoad = UnalignReg;
using UnalignRegForStore = UnalignReg;
// Bytes.
struct AddrReg {
  uint64_t offset = 0;
};

namespace detail {

template <typename R>
struct IsRegister : std::false_type {};
template <typename T, const RegTrait& trait>
struct IsRegister<RegTensor<T, trait>> : std::true_type {};
template <typename R>
using OfRegister = std::enable_if_t<IsRegister<R>::value>;

template <typename R>
constexpr aclsim::DType kDType = aclsim::DTypeOf<typename R::ActualT>::value;
template <typename R>
constexpr uint8_t kWidth = sizeof(typename R::ActualT);

// T of a template is a register's type, or says nothing.
template <typename T, typename R>
constexpr void CheckType() {
  static_assert(std::is_same_v<T, DefaultType> || std::is_same_v<T, typename R::ActualT>,
                "the type differs from the register's");
}

constexpr MaskMergeMode MergeOf(MaskMergeMode mode) { return mode; }
template <typename Specific>
constexpr MaskMergeMode MergeOf(const Specific* mode) {
  return mode->mrgMode;
}
template <auto mode>
constexpr bool kMerges = MergeOf(mode) == MaskMergeMode::MERGING;

// The bits of one element.
template <typename T>
uint64_t Bits(T value) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(value));
  return bits;
}

struct LoadForm {
  aclsim::RegLoad how;
  uint8_t width;
  bool two = false;
};
template <LoadDist dist>
constexpr LoadForm FormOfLoad(uint8_t width) {
  using aclsim::RegLoad;
  switch (dist) {
    case LoadDist::DIST_NORM:
      return {RegLoad::kNorm, width};
    case LoadDist::DIST_BRC_B8:
      return {RegLoad::kBroadcast, 1};
    case LoadDist::DIST_BRC_B16:
      return {RegLoad::kBroadcast, 2};
    case LoadDist::DIST_BRC_B32:
      return {RegLoad::kBroadcast, 4};
    case LoadDist::DIST_US_B8:
      return {RegLoad::kUpsample, 1};
    case LoadDist::DIST_US_B16:
      return {RegLoad::kUpsample, 2};
    case LoadDist::DIST_DS_B8:
      return {RegLoad::kDownsample, 1};
    case LoadDist::DIST_DS_B16:
      return {RegLoad::kDownsample, 2};
    case LoadDist::DIST_UNPACK_B8:
      return {RegLoad::kUnpack, 1};
    case LoadDist::DIST_UNPACK_B16:
      return {RegLoad::kUnpack, 2};
    case LoadDist::DIST_UNPACK_B32:
      return {RegLoad::kUnpack, 4};
    case LoadDist::DIST_UNPACK4_B8:
      return {RegLoad::kUnpack4, 1};
    case LoadDist::DIST_BLK:
      return {RegLoad::kBlock, 1};
    case LoadDist::DIST_E2B_B16:
      return {RegLoad::kElementToBlock, 2};
    case LoadDist::DIST_E2B_B32:
      return {RegLoad::kElementToBlock, 4};
    case LoadDist::DIST_DINTLV_B8:
      return {RegLoad::kDeinterleave, 1, true};
    case LoadDist::DIST_DINTLV_B16:
      return {RegLoad::kDeinterleave, 2, true};
    case LoadDist::DIST_DINTLV_B32:
      return {RegLoad::kDeinterleave, 4, true};
    default:
      return {RegLoad::kNorm, 0};
  }
}
template <LoadDist dist, bool two>
constexpr LoadForm CheckedLoad(uint8_t width) {
  static_assert(FormOfLoad<dist>(1).width != 0 && FormOfLoad<dist>(1).two == two,
                "LoadAlign does not have this LoadDist, for so many registers, on Ascend 950");
  return FormOfLoad<dist>(width);
}

struct StoreForm {
  aclsim::RegStore how;
  uint8_t width;
  bool two = false;
};
template <StoreDist dist>
constexpr StoreForm FormOfStore(uint8_t width) {
  using aclsim::RegStore;
  switch (dist) {
    case StoreDist::DIST_NORM:
      return {RegStore::kNorm, width};
    case StoreDist::DIST_NORM_B8:
      return {RegStore::kNorm, 1};
    case StoreDist::DIST_NORM_B16:
      return {RegStore::kNorm, 2};
    case StoreDist::DIST_NORM_B32:
      return {RegStore::kNorm, 4};
    case StoreDist::DIST_FIRST_ELEMENT_B8:
      return {RegStore::kFirst, 1};
    case StoreDist::DIST_FIRST_ELEMENT_B16:
      return {RegStore::kFirst, 2};
    case StoreDist::DIST_FIRST_ELEMENT_B32:
      return {RegStore::kFirst, 4};
    case StoreDist::DIST_PACK_B16:
      return {RegStore::kPack, 2};
    case StoreDist::DIST_PACK_B32:
      return {RegStore::kPack, 4};
    case StoreDist::DIST_PACK_B64:
      return {RegStore::kPack, 8};
    case StoreDist::DIST_PACK4_B32:
      return {RegStore::kPack4, 4};
    case StoreDist::DIST_INTLV_B8:
      return {RegStore::kInterleave, 1, true};
    case StoreDist::DIST_INTLV_B16:
      return {RegStore::kInterleave, 2, true};
    case StoreDist::DIST_INTLV_B32:
      return {RegStore::kInterleave, 4, true};
    default:
      return {RegStore::kNorm, 0};
  }
}
template <StoreDist dist, bool two>
constexpr StoreForm CheckedStore(uint8_t width) {
  static_assert(FormOfStore<dist>(1).width != 0 && FormOfStore<dist>(1).two == two,
                "StoreAlign does not have this StoreDist, for so many registers, on Ascend 950");
  return FormOfStore<dist>(width);
}

template <typename T>
T* Moved(T* address, AddrReg offset) {
  return reinterpret_cast<T*>(reinterpret_cast<uint64_t>(address) + offset.offset);
}

constexpr aclsim::Round RoundOf(RoundMode mode) {
  return mode == RoundMode::UNKNOWN ? aclsim::Round::kNone : static_cast<aclsim::Round>(mode);
}

}  // namespace detail

// --- addresses and masks ----------------------------------------------------------------------------------------------

template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0) {
  return {uint64_t{index0} * stride0 * sizeof(T)};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1) {
  return {(uint64_t{index0} * stride0 + uint64_t{index1} * stride1) * sizeof(T)};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1,
                      uint16_t index2, uint32_t stride2) {
  return {CreateAddrReg<T>(index0, stride0, index1, stride1).offset +
          CreateAddrReg<T>(index2, stride2).offset};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1,
                      uint16_t index2, uint32_t stride2, uint16_t index3, uint32_t stride3) {
  return {CreateAddrReg<T>(index0, stride0, index1, stride1).offset +
          CreateAddrReg<T>(index2, stride2, index3, stride3).offset};
}

template <typename T, const RegTrait& regTrait = RegTraitNumOne>
MaskReg UpdateMask(uint32_t& scalarValue) {
  static_assert(regTrait.REG_NUM == 1, "masks of two registers are not in this simulator yet");
  constexpr uint32_t kLanes = VECTOR_REG_WIDTH / sizeof(T);
  const uint32_t lanes = scalarValue;
  scalarValue = lanes < kLanes ? 0 : lanes - kLanes;
  return aclsim::RegCreateMask(sizeof(T), lanes, 1);
}
template <typename T, MaskPattern mode = MaskPattern::ALL,
          const RegTrait& regTrait = RegTraitNumOne>
MaskReg CreateMask() {
  static_assert(regTrait.REG_NUM == 1, "masks of two registers are not in this simulator yet");
  constexpr uint32_t kLanes = VECTOR_REG_WIDTH / sizeof(T);
  constexpr uint32_t kCount[] = {kLanes, 1,   2,      3,      4,          8,          16, 32,
                                 64,     128, kLanes, kLanes, kLanes / 2, kLanes / 4, 0,  0};
  constexpr uint32_t kEvery = mode == MaskPattern::M3 ? 3 : mode == MaskPattern::M4 ? 4 : 1;
  return aclsim::RegCreateMask(sizeof(T), kCount[static_cast<int>(mode)], kEvery);
}
template <typename T>
MaskReg MoveMask() {
  return aclsim::RegMaskOfVectorMask(sizeof(T));
}
template <typename T = DefaultType, int16_t offset, typename U>
void MaskGenWithRegTensor(MaskReg& dst, U& srcReg) {
  detail::CheckType<T, U>();
  aclsim::RegMaskOfRegister(detail::kWidth<U>, &dst, &srcReg, offset);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_MASK_OP2(Name, op)                                                     \
  inline void Name(MaskReg& dst, MaskReg& src0, MaskReg& src1, MaskReg& mask) {       \
    aclsim::RegMaskBits(aclsim::RegMaskOp::op, &dst, src0, src1, &mask);              \
    ACLSIM_KEEP_FRAME();                                                              \
  }                                                                                   \
  inline void Mask##Name(MaskReg& dst, MaskReg& src0, MaskReg& src1, MaskReg& mask) { \
    aclsim::RegMaskBits(aclsim::RegMaskOp::op, &dst, src0, src1, &mask);              \
    ACLSIM_KEEP_FRAME();                                                              \
  }
ACLSIM_MASK_OP2(And, kAnd)
ACLSIM_MASK_OP2(Or, kOr)
ACLSIM_MASK_OP2(Xor, kXor)
#undef ACLSIM_MASK_OP2
#define ACLSIM_MASK_FORMS(Name, Old, Parameters, ...) \
  inline void Name Parameters {                       \
    __VA_ARGS__;                                      \
    ACLSIM_KEEP_FRAME();                              \
  }                                                   \
  inline void Old Parameters {                        \
    __VA_ARGS__;                                      \
    ACLSIM_KEEP_FRAME();                              \
  }
ACLSIM_MASK_FORMS(Not, MaskNot, (MaskReg & dst, MaskReg& src, MaskReg& mask),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kNot, &dst, src, src, &mask))
ACLSIM_MASK_FORMS(Move, MaskMov, (MaskReg & dst, MaskReg& src, MaskReg& mask),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kMove, &dst, src, src, &mask))
ACLSIM_MASK_FORMS(Move, MaskMov, (MaskReg & dst, MaskReg& src),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kMove, &dst, src, src, nullptr))
ACLSIM_MASK_FORMS(Select, MaskSel, (MaskReg & dst, MaskReg& src0, MaskReg& src1, MaskReg& mask),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kSelect, &dst, src0, src1, &mask))
#undef ACLSIM_MASK_FORMS
#define ACLSIM_MASK_PARTS(Name, Old, function)                 \
  template <HighLowPart part = HighLowPart::LOWEST>            \
  void Name(MaskReg& dst, MaskReg& src) {                      \
    aclsim::function(&dst, src, part == HighLowPart::HIGHEST); \
    ACLSIM_KEEP_FRAME();                                       \
  }                                                            \
  template <HighLowPart part = HighLowPart::LOWEST>            \
  void Old(MaskReg& dst, MaskReg& src) {                       \
    aclsim::function(&dst, src, part == HighLowPart::HIGHEST); \
    ACLSIM_KEEP_FRAME();                                       \
  }
ACLSIM_MASK_PARTS(Pack, MaskPack, RegMaskPack)
ACLSIM_MASK_PARTS(UnPack, MaskUnPack, RegMaskUnpack)
#undef ACLSIM_MASK_PARTS
#define ACLSIM_MASK_WEAVE(Name, Old, function)                            \
  template <typename T>                                                   \
  void Name(MaskReg& dst0, MaskReg& dst1, MaskReg& src0, MaskReg& src1) { \
    aclsim::function(sizeof(T), &dst0, &dst1, src0, src1);                \
    ACLSIM_KEEP_FRAME();                                                  \
  }                                                                       \
  template <typename T>                                                   \
  void Old(MaskReg& dst0, MaskReg& dst1, MaskReg& src0, MaskReg& src1) {  \
    aclsim::function(sizeof(T), &dst0, &dst1, src0, src1);                \
    ACLSIM_KEEP_FRAME();                                                  \
  }
ACLSIM_MASK_WEAVE(Interleave, MaskInterleave, RegMaskInterleave)
ACLSIM_MASK_WEAVE(DeInterleave, MaskDeInterleave, RegMaskDeinterleave)
#undef ACLSIM_MASK_WEAVE

// --- loads ------------------------------------------------------------------------------------------------------------

// Both names of the public API, newer and older, with one body.
#define ACLSIM_LOADS(Name)                                                                         \
  template <typename T = DefaultType, LoadDist dist = LoadDist::DIST_NORM, typename U,             \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T* srcAddr) {                                                      \
    constexpr auto form = detail::CheckedLoad<dist, false>(detail::kWidth<U>);                     \
    aclsim::RegLoadAligned(&dstReg, nullptr, srcAddr, form.how, form.width);                       \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, PostLiteral postMode, LoadDist dist = LoadDist::DIST_NORM,   \
            typename U, typename = detail::OfRegister<U>>                                          \
  void Name(U& dstReg, __ubuf__ T*& srcAddr, int32_t postUpdateStride) {                           \
    Name<T, dist>(dstReg,                                                                          \
                  srcAddr + (postMode == PostLiteral::POST_MODE_NORMAL ? postUpdateStride : 0));   \
    srcAddr += postMode == PostLiteral::POST_MODE_UPDATE ? postUpdateStride : 0;                   \
  }                                                                                                \
  template <typename T = DefaultType, LoadDist dist = LoadDist::DIST_NORM, typename U,             \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T* srcAddr, AddrReg offset) {                                      \
    Name<T, dist>(dstReg, detail::Moved(srcAddr, offset));                                         \
  }                                                                                                \
  template <typename T = DefaultType, LoadDist dist, typename U, typename = detail::OfRegister<U>> \
  void Name(U& dstReg0, U& dstReg1, __ubuf__ T* srcAddr) {                                         \
    constexpr auto form = detail::CheckedLoad<dist, true>(detail::kWidth<U>);                      \
    aclsim::RegLoadAligned(&dstReg0, &dstReg1, srcAddr, form.how, form.width);                     \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, PostLiteral postMode, LoadDist dist, typename U,             \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg0, U& dstReg1, __ubuf__ T*& srcAddr, int32_t postUpdateStride) {              \
    Name<T, dist>(dstReg0, dstReg1,                                                                \
                  srcAddr + (postMode == PostLiteral::POST_MODE_NORMAL ? postUpdateStride : 0));   \
    srcAddr += postMode == PostLiteral::POST_MODE_UPDATE ? postUpdateStride : 0;                   \
  }                                                                                                \
  template <typename T = DefaultType, LoadDist dist, typename U, typename = detail::OfRegister<U>> \
  void Name(U& dstReg0, U& dstReg1, __ubuf__ T* srcAddr, AddrReg offset) {                         \
    Name<T, dist>(dstReg0, dstReg1, detail::Moved(srcAddr, offset));                               \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, typename U,                           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T* srcAddr, uint32_t dataBlockStride, MaskReg& mask) {             \
    aclsim::RegLoadBlocks(&dstReg, srcAddr, dataBlockStride, mask);                                \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, PostLiteral postMode, typename U,     \
            typename = detail::OfRegister<U>>                                                      \
  void Name(U& dstReg, __ubuf__ T*& srcAddr, uint32_t dataBlockStride, uint32_t repeatStride,      \
            MaskReg& mask) {                                                                       \
    T* const next = srcAddr + repeatStride * ONE_BLK_SIZE / sizeof(T);                             \
    Name<T, dataMode>(dstReg, postMode == PostLiteral::POST_MODE_NORMAL ? next : srcAddr,          \
                      dataBlockStride, mask);                                                      \
    srcAddr = postMode == PostLiteral::POST_MODE_UPDATE ? next : srcAddr;                          \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(MaskReg& mask, __ubuf__ T* srcAddr) {                                                  \
    aclsim::RegLoadMask(&mask, srcAddr, static_cast<aclsim::RegMaskCopy>(dist));                   \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(MaskReg& mask, __ubuf__ T* srcAddr, AddrReg offset) {                                  \
    Name<T, dist>(mask, detail::Moved(srcAddr, offset));                                           \
  }                                                                                                \
  template <typename T, PostLiteral postMode, MaskDist dist = MaskDist::DIST_NORM>                 \
  void Name(MaskReg& mask, __ubuf__ T*& srcAddr, int32_t offset) {                                 \
    Name<T, dist>(mask, srcAddr);                                                                  \
    srcAddr = reinterpret_cast<T*>(reinterpret_cast<uint64_t>(srcAddr) +                           \
                                   static_cast<uint64_t>(int64_t{offset}));                        \
  }
ACLSIM_LOADS(LoadAlign)
ACLSIM_LOADS(DataCopy)
#undef ACLSIM_LOADS

#define ACLSIM_STORES(Name)                                                                        \
  template <typename T = DefaultType, StoreDist dist = StoreDist::DIST_NORM, typename U,           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, MaskReg& mask) {                                       \
    constexpr auto form = detail::CheckedStore<dist, false>(detail::kWidth<U>);                    \
    aclsim::RegStoreAligned(dstAddr, &srcReg, nullptr, form.how, form.width, mask);                \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, PostLiteral postMode, StoreDist dist = StoreDist::DIST_NORM, \
            typename U, typename = detail::OfRegister<U>>                                          \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, int32_t postUpdateStride, MaskReg& mask) {            \
    Name<T, dist>(dstAddr + (postMode == PostLiteral::POST_MODE_NORMAL ? postUpdateStride : 0),    \
                  srcReg, mask);                                                                   \
    dstAddr += postMode == PostLiteral::POST_MODE_UPDATE ? postUpdateStride : 0;                   \
  }                                                                                                \
  template <typename T = DefaultType, StoreDist dist = StoreDist::DIST_NORM, typename U,           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, AddrReg offset, MaskReg& mask) {                       \
    Name<T, dist>(detail::Moved(dstAddr, offset), srcReg, mask);                                   \
  }                                                                                                \
  template <typename T = DefaultType, StoreDist dist, typename U,                                  \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg0, U& srcReg1, MaskReg& mask) {                          \
    constexpr auto form = detail::CheckedStore<dist, true>(detail::kWidth<U>);                     \
    aclsim::RegStoreAligned(dstAddr, &srcReg0, &srcReg1, form.how, form.width, mask);              \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, StoreDist dist, typename U,                                  \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg0, U& srcReg1, AddrReg offset, MaskReg& mask) {          \
    Name<T, dist>(detail::Moved(dstAddr, offset), srcReg0, srcReg1, mask);                         \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, typename U,                           \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, uint32_t dataBlockStride, MaskReg& mask) {             \
    aclsim::RegStoreBlocks(dstAddr, &srcReg, dataBlockStride, detail::kWidth<U>, mask);            \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T = DefaultType, DataCopyMode dataMode, PostLiteral postMode, typename U,     \
            typename = detail::OfRegister<U>>                                                      \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, uint32_t dataBlockStride, uint32_t repeatStride,      \
            MaskReg& mask) {                                                                       \
    T* const next = dstAddr + repeatStride * ONE_BLK_SIZE / sizeof(T);                             \
    Name<T, dataMode>(postMode == PostLiteral::POST_MODE_NORMAL ? next : dstAddr, srcReg,          \
                      dataBlockStride, mask);                                                      \
    dstAddr = postMode == PostLiteral::POST_MODE_UPDATE ? next : dstAddr;                          \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(__ubuf__ T* dstAddr, MaskReg& mask) {                                                  \
    aclsim::RegStoreMask(dstAddr, mask,                                                            \
                         dist == MaskDist::DIST_NORM ? aclsim::RegMaskCopy::kNorm                  \
                                                     : aclsim::RegMaskCopy::kDownsample);          \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                       \
  void Name(__ubuf__ T* dstAddr, MaskReg& mask, AddrReg offset) {                                  \
    Name<T, dist>(detail::Moved(dstAddr, offset), mask);                                           \
  }                                                                                                \
  template <typename T, PostLiteral postMode, MaskDist dist = MaskDist::DIST_NORM>                 \
  void Name(__ubuf__ T*& dstAddr, MaskReg& mask, int32_t offset) {                                 \
    Name<T, dist>(dstAddr, mask);                                                                  \
    dstAddr = reinterpret_cast<T*>(reinterpret_cast<uint64_t>(dstAddr) +                           \
                                   static_cast<uint64_t>(int64_t{offset}));                        \
  }
ACLSIM_STORES(StoreAlign)
ACLSIM_STORES(DataCopy)
#undef ACLSIM_STORES

#define ACLSIM_UNALIGNED_LOADS(Pre, Name)                                                   \
  template <typename T>                                                                     \
  void Pre(UnalignReg& ureg, __ubuf__ T* srcAddr) {                                         \
    aclsim::RegLoadUnalignedBegin(&ureg, srcAddr);                                          \
    ACLSIM_KEEP_FRAME();                                                                    \
  }                                                                                         \
  template <typename T>                                                                     \
  void Pre(UnalignReg& ureg, __ubuf__ T* srcAddr, AddrReg& areg) {                          \
    Pre(ureg, detail::Moved(srcAddr, areg));                                                \
  }                                                                                         \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>         \
  void Name(U& dstReg, UnalignReg& ureg, __ubuf__ T* srcAddr) {                             \
    aclsim::RegLoadUnaligned(&dstReg, &ureg, srcAddr);                                      \
    ACLSIM_KEEP_FRAME();                                                                    \
  }                                                                                         \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE, \
            typename U, typename = detail::OfRegister<U>>                                   \
  void Name(U& dstReg, UnalignReg& ureg, __ubuf__ T*& srcAddr, uint32_t postUpdateStride) { \
    aclsim::RegLoadUnaligned(&dstReg, &ureg, srcAddr);                                      \
    srcAddr += postUpdateStride;                                                            \
  }                                                                                         \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>         \
  void Name(U& dstReg, UnalignReg& ureg, __ubuf__ T*& srcAddr, AddrReg& areg, uint32_t) {   \
    aclsim::RegLoadUnaligned(&dstReg, &ureg, detail::Moved(srcAddr, areg));                 \
    ACLSIM_KEEP_FRAME();                                                                    \
  }
ACLSIM_UNALIGNED_LOADS(LoadUnAlignPre, LoadUnAlign)
ACLSIM_UNALIGNED_LOADS(DataCopyUnAlignPre, DataCopyUnAlign)
#undef ACLSIM_UNALIGNED_LOADS

#define ACLSIM_UNALIGNED_STORES(Name, Post)                                                    \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE,    \
            typename U, typename = detail::OfRegister<U>>                                      \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, UnalignReg& ureg, uint32_t postUpdateStride) {    \
    aclsim::RegStoreUnaligned(dstAddr, &srcReg, &ureg,                                         \
                              static_cast<uint32_t>(postUpdateStride * sizeof(T)));            \
    dstAddr += postUpdateStride;                                                               \
  }                                                                                            \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE,    \
            typename U, typename = detail::OfRegister<U>>                                      \
  void Name(__ubuf__ T*& dstAddr, U& srcReg, UnalignReg& ureg, AddrReg& areg) {                \
    aclsim::RegStoreUnaligned(detail::Moved(dstAddr, areg), &srcReg, &ureg, VECTOR_REG_WIDTH); \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE,    \
            typename U, typename = detail::OfRegister<U>>                                      \
  void Name(__ubuf__ T* dstAddr, U& srcReg, UnalignReg& ureg) {                                \
    auto* const next = ureg.bytes != 0 ? ureg.at + ureg.bytes                                  \
                                       : reinterpret_cast<uint8_t*>(dstAddr) + ureg.written;   \
    const uint32_t bytes = aclsim::RegSqueezedBytes();                                         \
    ureg.written += bytes;                                                                     \
    aclsim::RegStoreUnaligned(next, &srcReg, &ureg, bytes);                                    \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE>                  \
  void Post(__ubuf__ T*& dstAddr, UnalignReg& ureg, int32_t postUpdateStride) {                \
    aclsim::RegStoreUnalignedEnd(&ureg);                                                       \
    dstAddr += postUpdateStride;                                                               \
  }                                                                                            \
  template <typename T>                                                                        \
  void Post(__ubuf__ T*&, UnalignReg& ureg, AddrReg&) {                                        \
    aclsim::RegStoreUnalignedEnd(&ureg);                                                       \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T>                                                                        \
  void Post(__ubuf__ T*, UnalignReg& ureg) {                                                   \
    aclsim::RegStoreUnalignedEnd(&ureg);                                                       \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_UNALIGNED_STORES(StoreUnAlign, StoreUnAlignPost)
ACLSIM_UNALIGNED_STORES(DataCopyUnAlign, DataCopyUnAlignPost)
#undef ACLSIM_UNALIGNED_STORES

template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Load(U& dstReg, __ubuf__ T* srcAddr) {
  UnalignReg ureg;
  aclsim::RegLoadUnalignedBegin(&ureg, srcAddr);
  aclsim::RegLoadUnaligned(&dstReg, &ureg, srcAddr);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Store(__ubuf__ T* dstAddr, U& srcReg, uint32_t count) {
  UnalignReg ureg;
  aclsim::RegStoreUnaligned(dstAddr, &srcReg, &ureg, static_cast<uint32_t>(count * sizeof(T)));
  aclsim::RegStoreUnalignedEnd(&ureg);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Store(__ubuf__ T* dstAddr, U& srcReg) {
  Store(dstAddr, srcReg, VECTOR_REG_WIDTH / sizeof(T));
}

#define ACLSIM_GATHERS(Name)                                                                \
  template <typename T0 = DefaultType, typename T1, typename T2 = DefaultType, typename T3, \
            typename T4, typename = detail::OfRegister<T3>>                                 \
  void Name(T3& dstReg, __ubuf__ T1* baseAddr, T4& index, MaskReg& mask) {                  \
    aclsim::RegGatherUb(&dstReg, baseAddr, &index, sizeof(T1), detail::kWidth<T4>, mask);   \
    ACLSIM_KEEP_FRAME();                                                                    \
  }
ACLSIM_GATHERS(Gather)
ACLSIM_GATHERS(DataCopyGather)
#undef ACLSIM_GATHERS
#define ACLSIM_GATHERS(Name)                                                                    \
  template <typename T = DefaultType, typename U, typename S, typename = detail::OfRegister<U>> \
  void Name(U& dstReg, __ubuf__ T* baseAddr, S& index, MaskReg& mask) {                         \
    aclsim::RegGatherBlocks(&dstReg, baseAddr, &index, mask);                                   \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
ACLSIM_GATHERS(GatherB)
ACLSIM_GATHERS(DataCopyGatherB)
#undef ACLSIM_GATHERS
#define ACLSIM_SCATTERS(Name)                                                            \
  template <typename T = DefaultType, typename U = DefaultType, typename S, typename V,  \
            typename = detail::OfRegister<S>>                                            \
  void Name(__ubuf__ T* baseAddr, S& srcReg, V& index, MaskReg& mask) {                  \
    aclsim::RegScatterUb(baseAddr, &srcReg, &index, sizeof(T), detail::kWidth<V>, mask); \
    ACLSIM_KEEP_FRAME();                                                                 \
  }
ACLSIM_SCATTERS(Scatter)
ACLSIM_SCATTERS(DataCopyScatter)
#undef ACLSIM_SCATTERS
template <typename T = DefaultType, typename U = DefaultType, typename S, typename V,
          typename = detail::OfRegister<S>>
void Gather(S& dstReg, S& srcReg, V& indexReg) {
  static_assert(detail::kWidth<S> == detail::kWidth<V>, "an index is as wide as an element");
  aclsim::RegGatherLanes(detail::kWidth<S>, &dstReg, &srcReg, &indexReg);
  ACLSIM_KEEP_FRAME();
}

template <MemType src, MemType dst>
void LocalMemBar() {
  aclsim::RegBarrier(src == MemType::VEC_STORE || src == MemType::VEC_ALL,
                     dst == MemType::VEC_LOAD || dst == MemType::VEC_ALL,
                     dst == MemType::VEC_STORE || dst == MemType::VEC_ALL);
  ACLSIM_KEEP_FRAME();
}

// --- arithmetic -------------------------------------------------------------------------------------------------------

#define ACLSIM_REG_BINARY(Name, op)                                                             \
  template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename U,           \
            typename = detail::OfRegister<U>>                                                   \
  void Name(U& dstReg, U& srcReg0, U& srcReg1, MaskReg& mask) {                                 \
    detail::CheckType<T, U>();                                                                  \
    aclsim::RegBinary(aclsim::RegOp2::op, detail::kDType<U>, &dstReg, &srcReg0, &srcReg1, mask, \
                      detail::kMerges<mode>);                                                   \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
ACLSIM_REG_BINARY(Add, kAdd)
ACLSIM_REG_BINARY(Sub, kSub)
ACLSIM_REG_BINARY(Mul, kMul)
ACLSIM_REG_BINARY(Div, kDiv)
ACLSIM_REG_BINARY(Max, kMax)
ACLSIM_REG_BINARY(Min, kMin)
ACLSIM_REG_BINARY(And, kAnd)
ACLSIM_REG_BINARY(Or, kOr)
ACLSIM_REG_BINARY(Xor, kXor)
ACLSIM_REG_BINARY(Prelu, kPrelu)
ACLSIM_REG_BINARY(AbsSub, kAbsSub)
ACLSIM_REG_BINARY(FusedAbsSub, kAbsSub)
ACLSIM_REG_BINARY(MulAddDst, kMulAddDst)
ACLSIM_REG_BINARY(MulDstAdd, kMulDstAdd)
ACLSIM_REG_BINARY(FusedMulDstAdd, kMulDstAdd)
#undef ACLSIM_REG_BINARY

#define ACLSIM_REG_SHIFT(Name, op)                                                              \
  template <typename T = DefaultType, typename U = DefaultType,                                 \
            MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,                \
            typename = detail::OfRegister<S>>                                                   \
  void Name(S& dstReg, S& srcReg0, V& srcReg1, MaskReg& mask) {                                 \
    static_assert(detail::kWidth<S> == detail::kWidth<V>, "distances are as wide as elements"); \
    aclsim::RegBinary(aclsim::RegOp2::op, detail::kDType<S>, &dstReg, &srcReg0, &srcReg1, mask, \
                      detail::kMerges<mode>);                                                   \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
ACLSIM_REG_SHIFT(ShiftLeft, kShiftLeft)
ACLSIM_REG_SHIFT(ShiftRight, kShiftRight)
#undef ACLSIM_REG_SHIFT

#define ACLSIM_REG_SCALAR(Name, op)                                                            \
  template <typename T = DefaultType, typename U, MaskMergeMode mode = MaskMergeMode::ZEROING, \
            typename S, typename = detail::OfRegister<S>>                                      \
  void Name(S& dstReg, S& srcReg, U scalarValue, MaskReg& mask) {                              \
    detail::CheckType<T, S>();                                                                 \
    using Element = typename S::ActualT;                                                       \
    aclsim::RegWithScalar(aclsim::RegOp2::op, detail::kDType<S>, &dstReg, &srcReg,             \
                          detail::Bits(static_cast<Element>(scalarValue)), mask,               \
                          detail::kMerges<mode>);                                              \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_REG_SCALAR(Adds, kAdd)
ACLSIM_REG_SCALAR(Muls, kMul)
ACLSIM_REG_SCALAR(Maxs, kMax)
ACLSIM_REG_SCALAR(Mins, kMin)
ACLSIM_REG_SCALAR(ShiftLefts, kShiftLeft)
ACLSIM_REG_SCALAR(ShiftRights, kShiftRight)
ACLSIM_REG_SCALAR(Axpy, kMulAddDst)
#undef ACLSIM_REG_SCALAR
template <typename T = DefaultType, typename U, MaskMergeMode mode = MaskMergeMode::ZEROING,
          typename S, typename = detail::OfRegister<S>>
void LeakyRelu(S& dstReg, S& srcReg, U scalarValue, MaskReg& mask) {
  using Element = typename S::ActualT;
  aclsim::RegLeakyRelu(detail::kDType<S>, &dstReg, &srcReg,
                       detail::Bits(static_cast<Element>(scalarValue)), mask,
                       detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_REG_UNARY(Name, op)                                                    \
  template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename U, \
            typename = detail::OfRegister<U>>                                         \
  void Name(U& dstReg, U& srcReg, MaskReg& mask) {                                    \
    detail::CheckType<T, U>();                                                        \
    aclsim::RegUnary(aclsim::RegOp1::op, detail::kDType<U>, &dstReg, &srcReg, mask,   \
                     detail::kMerges<mode>);                                          \
    ACLSIM_KEEP_FRAME();                                                              \
  }
ACLSIM_REG_UNARY(Exp, kExp)
ACLSIM_REG_UNARY(Ln, kLn)
ACLSIM_REG_UNARY(Log, kLn)
ACLSIM_REG_UNARY(Log2, kLog2)
ACLSIM_REG_UNARY(Log10, kLog10)
ACLSIM_REG_UNARY(Abs, kAbs)
ACLSIM_REG_UNARY(Sqrt, kSqrt)
ACLSIM_REG_UNARY(Relu, kRelu)
ACLSIM_REG_UNARY(Neg, kNeg)
ACLSIM_REG_UNARY(Not, kNot)
#undef ACLSIM_REG_UNARY

#define ACLSIM_REG_EXP_SUB(Name)                                                               \
  template <typename T = DefaultType, typename U = DefaultType,                                \
            RegLayout layout = RegLayout::ZERO, MaskMergeMode mode = MaskMergeMode::ZEROING,   \
            typename S, typename V, typename = detail::OfRegister<S>>                          \
  void Name(S& dstReg, V& srcReg0, V& srcReg1, MaskReg& mask) {                                \
    static_assert(std::is_same_v<typename V::ActualT, float>,                                  \
                  #Name " of half is not in this simulator yet");                              \
    aclsim::RegBinary(aclsim::RegOp2::kExpSub, detail::kDType<V>, &dstReg, &srcReg0, &srcReg1, \
                      mask, detail::kMerges<mode>);                                            \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_REG_EXP_SUB(ExpSub)
ACLSIM_REG_EXP_SUB(FusedExpSub)
#undef ACLSIM_REG_EXP_SUB

// --- conversions, comparisons, copies ---------------------------------------------------------------------------------

template <typename T = DefaultType, typename U = DefaultType, const CastTrait& trait = castTrait,
          typename S, typename V, typename = detail::OfRegister<S>>
void Cast(S& dstReg, V& srcReg, MaskReg& mask) {
  detail::CheckType<T, S>();
  detail::CheckType<U, V>();
  constexpr uint8_t part =
      trait.layoutMode == RegLayout::UNKNOWN ? 0 : static_cast<uint8_t>(trait.layoutMode);
  aclsim::RegCast(detail::kDType<S>, detail::kDType<V>, &dstReg, &srcReg,
                  detail::RoundOf(trait.roundMode), part, trait.satMode == SatMode::SAT, mask,
                  trait.mrgMode == MaskMergeMode::MERGING);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, RoundMode roundMode = RoundMode::CAST_NONE,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename = detail::OfRegister<S>>
void Truncate(S& dstReg, S& srcReg, MaskReg& mask) {
  using aclsim::RegOp1;
  constexpr RegOp1 op = roundMode == RoundMode::CAST_FLOOR   ? RegOp1::kTruncateFloor
                        : roundMode == RoundMode::CAST_CEIL  ? RegOp1::kTruncateCeil
                        : roundMode == RoundMode::CAST_ROUND ? RegOp1::kTruncateRound
                        : roundMode == RoundMode::CAST_TRUNC ? RegOp1::kTruncateTrunc
                                                             : RegOp1::kTruncateRint;
  aclsim::RegUnary(op, detail::kDType<S>, &dstReg, &srcReg, mask, detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}

template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename U,
          typename = detail::OfRegister<U>>
void Compare(MaskReg& dst, U& srcReg0, U& srcReg1, MaskReg& mask) {
  aclsim::RegCompare(static_cast<aclsim::Compare>(mode), detail::kDType<U>, &dst, &srcReg0,
                     &srcReg1, mask);
  ACLSIM_KEEP_FRAME();
}
#define ACLSIM_REG_COMPARES(Name)                                                                  \
  template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename U, typename S,          \
            typename = detail::OfRegister<U>>                                                      \
  void Name(MaskReg& dst, U& srcReg, S scalarValue, MaskReg& mask) {                               \
    using Element = typename U::ActualT;                                                           \
    aclsim::RegCompareScalar(static_cast<aclsim::Compare>(mode), detail::kDType<U>, &dst, &srcReg, \
                             detail::Bits(static_cast<Element>(scalarValue)), mask);               \
    ACLSIM_KEEP_FRAME();                                                                           \
  }
ACLSIM_REG_COMPARES(Compares)
ACLSIM_REG_COMPARES(CompareScalar)
#undef ACLSIM_REG_COMPARES
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Select(U& dstReg, U& srcReg0, U& srcReg1, MaskReg& mask) {
  aclsim::RegSelect(detail::kWidth<U>, &dstReg, &srcReg0, &srcReg1, mask);
  ACLSIM_KEEP_FRAME();
}

template <typename T = DefaultType, typename U, typename S, typename = detail::OfRegister<S>>
void Duplicate(S& dstReg, U scalarValue) {
  using Element = typename S::ActualT;
  aclsim::RegDuplicate(detail::kWidth<S>, &dstReg, detail::Bits(static_cast<Element>(scalarValue)),
                       nullptr, false);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,
          typename S, typename = detail::OfRegister<S>,
          typename = std::enable_if_t<!detail::IsRegister<U>::value>>
void Duplicate(S& dstReg, U scalarValue, MaskReg& mask) {
  using Element = typename S::ActualT;
  aclsim::RegDuplicate(detail::kWidth<S>, &dstReg, detail::Bits(static_cast<Element>(scalarValue)),
                       &mask, detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, HighLowPart pos = HighLowPart::LOWEST,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename = detail::OfRegister<S>>
void Duplicate(S& dstReg, S& srcReg, MaskReg& mask) {
  static_assert(pos == HighLowPart::LOWEST, "Duplicate takes the lowest element only");
  aclsim::RegSpread(detail::kWidth<S>, &dstReg, &srcReg, mask, detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_REG_MOVES(Name)                                                                 \
  template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::MERGING, typename U, \
            typename = detail::OfRegister<U>>                                                  \
  void Name(U& dstReg, U& srcReg, MaskReg mask) {                                              \
    static_assert(mode == MaskMergeMode::MERGING, #Name " does not have ZEROING");             \
    aclsim::RegMove(detail::kWidth<U>, &dstReg, &srcReg, &mask);                               \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>            \
  void Name(U& dstReg, U& srcReg) {                                                            \
    aclsim::RegMove(detail::kWidth<U>, &dstReg, &srcReg, nullptr);                             \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_REG_MOVES(Move)
ACLSIM_REG_MOVES(Copy)
#undef ACLSIM_REG_MOVES

template <ReduceType type = ReduceType::SUM, typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,
          typename = detail::OfRegister<S>>
void Reduce(S& dstReg, const V& srcReg, const MaskReg& mask) {
  static_assert(mode == MaskMergeMode::ZEROING, "Reduce has ZEROING only");
  aclsim::RegReduce(AscendC::detail::ReduceOpOf(type), detail::kDType<S>, detail::kDType<V>,
                    &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,
          typename = detail::OfRegister<S>>
void ReduceSum(S& dstReg, const V& srcReg, const MaskReg& mask) {
  aclsim::RegReduce(aclsim::ReduceOp::kSum, detail::kDType<S>, detail::kDType<V>, &dstReg, &srcReg,
                    mask);
  ACLSIM_KEEP_FRAME();
}
#define ACLSIM_REG_EXTREME(Name, Blocks, op)                                                     \
  template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,   \
            typename = detail::OfRegister<U>>                                                    \
  void Name(U& dstReg, const U& srcReg, const MaskReg& mask) {                                   \
    aclsim::RegReduce(aclsim::ReduceOp::op, detail::kDType<U>, detail::kDType<U>, &dstReg,       \
                      &srcReg, mask);                                                            \
    ACLSIM_KEEP_FRAME();                                                                         \
  }                                                                                              \
  template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,   \
            typename = detail::OfRegister<U>>                                                    \
  void Blocks(U& dstReg, const U& srcReg, const MaskReg& mask) {                                 \
    aclsim::RegReduceBlocks(aclsim::ReduceOp::op, detail::kDType<U>, detail::kDType<U>, &dstReg, \
                            &srcReg, mask);                                                      \
    ACLSIM_KEEP_FRAME();                                                                         \
  }
ACLSIM_REG_EXTREME(ReduceMax, ReduceMaxWithDataBlock, kMax)
ACLSIM_REG_EXTREME(ReduceMin, ReduceMinWithDataBlock, kMin)
#undef ACLSIM_REG_EXTREME
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,
          typename = detail::OfRegister<U>>
void ReduceSumWithDataBlock(U& dstReg, const U& srcReg, const MaskReg& mask) {
  aclsim::RegReduceBlocks(aclsim::ReduceOp::kSum, detail::kDType<U>, detail::kDType<U>, &dstReg,
                          &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <ReduceType type = ReduceType::SUM, typename... Types, typename S, typename V,
          typename = detail::OfRegister<S>>
void ReduceDataBlock(S& dstReg, const V& srcReg, const MaskReg& mask) {
  aclsim::RegReduceBlocks(AscendC::detail::ReduceOpOf(type), detail::kDType<S>, detail::kDType<V>,
                          &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <PairReduce type = PairReduce::SUM, typename T = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename U, typename = detail::OfRegister<U>>
void PairReduceElem(U& dstReg, const U& srcReg, const MaskReg& mask) {
  aclsim::RegReducePairs(detail::kDType<U>, &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,
          typename = detail::OfRegister<U>>
void PairReduceSum(U& dstReg, const U& srcReg, const MaskReg& mask) {
  aclsim::RegReducePairs(detail::kDType<U>, &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}

template <typename T = DefaultType, typename U = DefaultType,
          HighLowPart part = HighLowPart::LOWEST, typename S, typename V,
          typename = detail::OfRegister<S>>
void Pack(S& dstReg, V& srcReg) {
  static_assert(2 * detail::kWidth<S> == detail::kWidth<V>, "Pack halves the width of elements");
  aclsim::RegPack(detail::kWidth<V>, &dstReg, &srcReg, part == HighLowPart::HIGHEST);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U = DefaultType,
          HighLowPart part = HighLowPart::LOWEST, typename S, typename V,
          typename = detail::OfRegister<S>>
void UnPack(S& dstReg, V& srcReg) {
  static_assert(detail::kWidth<S> == 2 * detail::kWidth<V>, "UnPack doubles the width of elements");
  aclsim::RegUnpack(detail::kWidth<S>, std::is_signed_v<typename V::ActualT>, &dstReg, &srcReg,
                    part == HighLowPart::HIGHEST);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Interleave(U& dstReg0, U& dstReg1, U& srcReg0, U& srcReg1) {
  aclsim::RegInterleave(detail::kWidth<U>, &dstReg0, &dstReg1, &srcReg0, &srcReg1);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void DeInterleave(U& dstReg0, U& dstReg1, U& srcReg0, U& srcReg1) {
  aclsim::RegDeinterleave(detail::kWidth<U>, &dstReg0, &dstReg1, &srcReg0, &srcReg1);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, IndexOrder order = IndexOrder::INCREASE_ORDER, typename U,
          typename S, typename = detail::OfRegister<S>>
void Arange(S& dstReg, U scalarValue) {
  using Element = typename S::ActualT;
  aclsim::RegArange(detail::kDType<S>, &dstReg, detail::Bits(static_cast<Element>(scalarValue)),
                    order == IndexOrder::DECREASE_ORDER);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_REG_SQUEEZE(Name)                                                           \
  template <typename T = DefaultType, GatherMaskMode store = GatherMaskMode::NO_STORE_REG, \
            typename U, typename = detail::OfRegister<U>>                                  \
  void Name(U& dstReg, U& srcReg, MaskReg& mask) {                                         \
    aclsim::RegSqueeze(detail::kWidth<U>, &dstReg, &srcReg, mask,                          \
                       store == GatherMaskMode::STORE_REG);                                \
    ACLSIM_KEEP_FRAME();                                                                   \
  }
ACLSIM_REG_SQUEEZE(Squeeze)
ACLSIM_REG_SQUEEZE(GatherMask)
#undef ACLSIM_REG_SQUEEZE
#define ACLSIM_REG_UNSQUEEZE(Name)                                                  \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>> \
  void Name(U& dstReg, MaskReg& mask) {                                             \
    aclsim::RegUnsqueeze(detail::kWidth<U>, &dstReg, mask);                         \
    ACLSIM_KEEP_FRAME();                                                            \
  }
ACLSIM_REG_UNSQUEEZE(Unsqueeze)
ACLSIM_REG_UNSQUEEZE(PrefixSum)
#undef ACLSIM_REG_UNSQUEEZE
template <SpecialPurposeReg spr>
void ClearSpr() {
  aclsim::RegClearSqueezed();
}
template <SpecialPurposeReg spr>
int64_t GetSpr() {
  return aclsim::RegSqueezedBytes();
}

}  // namespace Reg

namespace MicroAPI = Reg;

// Starts a vector function.
template <auto function, typename... Args>
void asc_vf_call(Args&&... args) {
  const aclsim::VectorFunction scope;
  function(std::forward<Args>(args)...);
}
template <auto function, typename... Args>
void VF_CALL(Args&&... args) {
  const aclsim::VectorFunction scope;
  function(std::forward<Args>(args)...);
}

}  // namespace AscendC

using AscendC::asc_vf_call;

// The device compiler's own names.
using vector_bool = AscendC::Reg::MaskReg;
enum aclsim_post_t { POST_UPDATE };
inline namespace aclsim_device {
#define ACLSIM_PLT(name, type)                              \
  inline vector_bool name(uint32_t& count, aclsim_post_t) { \
    return AscendC::Reg::UpdateMask<type>(count);           \
  }
ACLSIM_PLT(plt_b8, uint8_t)
ACLSIM_PLT(plt_b16, uint16_t)
ACLSIM_PLT(plt_b32, uint32_t)
#undef ACLSIM_PLT
}  // namespace aclsim_device

#else  // what names them first says where they exist
#define ACLSIM_OF_950(Name) \
  Name " exists on architecture 3510 only, Ascend 950. Next: use instructions on LocalTensor."
#define __VEC_SCOPE__ static_assert(false, ACLSIM_OF_950("__VEC_SCOPE__"));
namespace AscendC {
namespace Reg {
template <typename... Types>
struct RegTensor {
  static_assert(sizeof...(Types) > 99, ACLSIM_OF_950("RegTensor"));
};
}  // namespace Reg
namespace MicroAPI = Reg;
template <auto function, typename... Args>
void asc_vf_call(Args&&...) {
  static_assert(sizeof...(Args) > 99, ACLSIM_OF_950("asc_vf_call"));
}
}  // namespace AscendC
using AscendC::asc_vf_call;
#endif

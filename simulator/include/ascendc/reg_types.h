// SPDX-License-Identifier: Apache-2.0
// Registers, masks and modes of the register-level API. A register has 256 bytes and knows which of them nobody has written; of a mask
// the lowest bit of a lane counts. Modes that this simulator does not have are compile errors where they are used.
#pragma once

#include "ascendc/reg_abi.h"
#include "ascendc/vec_registers.h"

#if __NPU_ARCH__ == 3510

namespace AscendC {

constexpr uint32_t VECTOR_REG_WIDTH = 256;
constexpr uint32_t GetVecLen() { return VECTOR_REG_WIDTH; }

// These say how results are rounded, which is the same here for each.
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
  // The undefined lanes of most registers take no bytes, as there are none.
  RegTensor(const RegTensor& other) : aclsim::Reg() { *this = other; }
  RegTensor& operator=(const RegTensor& other) {
    __builtin_memcpy(bytes, other.bytes, sizeof(bytes));
    state = other.state;
    origin = other.origin;
    after = other.after;
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

}  // namespace detail

}  // namespace Reg

}  // namespace AscendC

#endif

// SPDX-License-Identifier: Apache-2.0
// The device compiler's own functions on addresses, and the forms of copies that take them. An address belongs to the buffer
// that holds it and reaches furthest; lanes are those of the mask register.
#pragma once

#include "ascendc/blocks.h"
#include "ascendc/scalar.h"
#include "ascendc/vec_gather.h"
#include "ascendc/vec_registers.h"
#include "ascendc/vec_transpose.h"

enum class Order_t : uint8_t { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };
// Registers of eight addresses each; two that follow one another name the 16 rows of a transposition.
enum ub_addr8_t : uint8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };

namespace AscendC::detail {

template <typename T>
aclsim::Ub At(const T* address) {
  return aclsim::UbPointer(address, aclsim::DTypeOf<std::remove_cv_t<T>>::value);
}
inline aclsim::Ub BytesAt(const void* address) {
  return aclsim::UbPointer(address, aclsim::DType::kUint8);
}
inline aclsim::VecCtl Preset(int32_t repeat, int32_t dstBlk, int32_t src0Blk, int32_t src1Blk,
                             int32_t dstRep, int32_t src0Rep, int32_t src1Rep) {
  return aclsim::Strided(aclsim::MaskCtl(false, 0, repeat), dstBlk, src0Blk, src1Blk, dstRep,
                         src0Rep, src1Rep);
}
inline aclsim::VecCtl Preset(int32_t repeat, int32_t dstBlk, int32_t srcBlk, int32_t dstRep,
                             int32_t srcRep) {
  return Preset(repeat, dstBlk, srcBlk, 1, dstRep, srcRep, 8);
}
// Bursts of blocks.
inline aclsim::CopyCtl Bursts(uint16_t count, uint16_t length, uint16_t srcGap, uint16_t dstGap) {
  return BlockCopy(DataCopyParams(count, length, srcGap, dstGap));
}

}  // namespace AscendC::detail

// A namespace of their own: call sites are found by it, further up than these.
inline namespace aclsim_device {

inline void pipe_barrier(pipe_t pipe) {
  aclsim::Barrier(pipe);
  ACLSIM_KEEP_FRAME();
}
inline void set_flag(pipe_t from, pipe_t to, int32_t id) {
  aclsim::SetFlagEvent(static_cast<uint8_t>(AscendC::detail::EventOf(from, to)), id);
  ACLSIM_KEEP_FRAME();
}
inline void wait_flag(pipe_t from, pipe_t to, int32_t id) {
  aclsim::WaitFlagEvent(static_cast<uint8_t>(AscendC::detail::EventOf(from, to)), id);
  ACLSIM_KEEP_FRAME();
}
// The numbers of the AI core, which its AIC and its AIVs share.
inline int64_t get_block_idx() { return aclsim::AiCoreIdx(); }
inline int64_t get_block_num() { return aclsim::BlockNum(); }
inline int64_t get_subblockid() { return aclsim::SubBlockIdx(); }
inline int64_t get_subblockdim() { return aclsim::SubBlockNum(); }
// Bits 4 and 5 of the word are the mode, those from 8 on the flag.
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t config) {
  aclsim::CrossCoreSet(static_cast<uint8_t>(config >> 4 & 3), pipe,
                       static_cast<uint16_t>(config >> 8 & 15));
  ACLSIM_KEEP_FRAME();
}
inline void wait_flag_dev(int64_t flag) {
  aclsim::CrossCoreWait(0, PIPE_S, static_cast<uint16_t>(flag));
  ACLSIM_KEEP_FRAME();
}
inline void set_ffts_base_addr(uint64_t /*address*/) {}
inline int64_t clz(uint64_t value) { return AscendC::CountLeadingZero(value); }
inline void set_atomic_none() { aclsim::SetAtomic(aclsim::Atomic::kNone, aclsim::DType::kFloat); }
inline void set_mask_norm() { aclsim::SetMaskMode(false); }
inline void set_mask_count() { aclsim::SetMaskMode(true); }
inline void set_vector_mask(uint64_t high, uint64_t low) { aclsim::SetMaskBits(high, low); }

#define ACLSIM_RAW_BINARY(name, op)                                                        \
  template <typename T>                                                                    \
  void name(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat,           \
            uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride,      \
            uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride) { \
    using namespace AscendC::detail;                                                       \
    aclsim::VecBinary(aclsim::Op2::op, At(dst), At(src0), At(src1),                        \
                      Preset(repeat, dstBlockStride, src0BlockStride, src1BlockStride,     \
                             dstRepeatStride, src0RepeatStride, src1RepeatStride));        \
  }
ACLSIM_RAW_BINARY(vadd, kAdd)
ACLSIM_RAW_BINARY(vsub, kSub)
ACLSIM_RAW_BINARY(vmul, kMul)
ACLSIM_RAW_BINARY(vdiv, kDiv)
ACLSIM_RAW_BINARY(vmax, kMax)
ACLSIM_RAW_BINARY(vmin, kMin)
ACLSIM_RAW_BINARY(vand, kAnd)
ACLSIM_RAW_BINARY(vor, kOr)
ACLSIM_RAW_BINARY(vmla, kMulAddDst)
ACLSIM_RAW_BINARY(vmadd, kFusedMulAdd)
#undef ACLSIM_RAW_BINARY

#define ACLSIM_RAW_UNARY(name, op)                                                         \
  template <typename T>                                                                    \
  void name(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstBlockStride,     \
            uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride) { \
    using namespace AscendC::detail;                                                       \
    aclsim::VecUnary(                                                                      \
        aclsim::Op1::op, At(dst), At(src),                                                 \
        Preset(repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride)); \
  }
ACLSIM_RAW_UNARY(vexp, kExp)
ACLSIM_RAW_UNARY(vln, kLn)
ACLSIM_RAW_UNARY(vabs, kAbs)
ACLSIM_RAW_UNARY(vsqrt, kSqrt)
ACLSIM_RAW_UNARY(vrsqrt, kRsqrt)
ACLSIM_RAW_UNARY(vrec, kReciprocal)
ACLSIM_RAW_UNARY(vrelu, kRelu)
ACLSIM_RAW_UNARY(vnot, kNot)
#undef ACLSIM_RAW_UNARY

#define ACLSIM_RAW_SCALAR(name, op)                                                              \
  template <typename T, typename S>                                                              \
  void name(__ubuf__ T* dst, __ubuf__ T* src, S scalar, uint8_t repeat, uint16_t dstBlockStride, \
            uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride) {       \
    using namespace AscendC::detail;                                                             \
    aclsim::VecScalar(                                                                           \
        aclsim::OpScalar::op, At(dst), At(src), Scalar(static_cast<T>(scalar)),                  \
        Preset(repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride));       \
  }
ACLSIM_RAW_SCALAR(vadds, kAdds)
ACLSIM_RAW_SCALAR(vmuls, kMuls)
ACLSIM_RAW_SCALAR(vmaxs, kMaxs)
ACLSIM_RAW_SCALAR(vmins, kMins)
ACLSIM_RAW_SCALAR(vaxpy, kAxpy)
ACLSIM_RAW_SCALAR(vlrelu, kLeakyRelu)
ACLSIM_RAW_SCALAR(vshl, kShiftLeft)
#undef ACLSIM_RAW_SCALAR
template <typename T>
void vshr(__ubuf__ T* dst, __ubuf__ T* src, int32_t distance, uint8_t repeat,
          uint16_t dstBlockStride, uint16_t srcBlockStride, uint16_t dstRepeatStride,
          uint16_t srcRepeatStride, bool round) {
  using namespace AscendC::detail;
  aclsim::VecScalar(
      round ? aclsim::OpScalar::kShiftRightRound : aclsim::OpScalar::kShiftRight, At(dst), At(src),
      Scalar(distance),
      Preset(repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride));
}

template <typename T, typename S>
void vector_dup(__ubuf__ T* dst, S scalar, uint8_t repeat, uint16_t dstBlockStride, uint16_t,
                uint16_t dstRepeatStride, uint16_t) {
  using namespace AscendC::detail;
  aclsim::VecDuplicate(At(dst), Scalar(static_cast<T>(scalar)),
                       Preset(repeat, dstBlockStride, 1, dstRepeatStride, 8));
}
template <typename T>
void vcopy(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstBlockStride,
           uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride) {
  using namespace AscendC::detail;
  aclsim::VecCopy(At(dst), At(src),
                  Preset(repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride));
}
template <typename T>
void vbrcb(__ubuf__ T* dst, __ubuf__ T* src, uint16_t dstBlockStride, uint16_t dstRepeatStride,
           uint8_t repeat) {
  using namespace AscendC::detail;
  aclsim::VecBrcb(At(dst), At(src), repeat, dstBlockStride, dstRepeatStride);
}

// vconv_<from>2<to>, with a letter for the rounding.
#define ACLSIM_RAW_CAST(name, To, From, round)                                             \
  inline void vconv_##name(__ubuf__ To* dst, __ubuf__ From* src, uint8_t repeat,           \
                           uint16_t dstBlockStride, uint16_t srcBlockStride,               \
                           uint16_t dstRepeatStride, uint16_t srcRepeatStride) {           \
    using namespace AscendC::detail;                                                       \
    aclsim::VecCast(                                                                       \
        At(dst), At(src), aclsim::Round::round,                                            \
        Preset(repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride)); \
    ACLSIM_KEEP_FRAME();                                                                   \
  }
#define ACLSIM_RAW_CAST_5(name, To, From)    \
  ACLSIM_RAW_CAST(name##r, To, From, kRint)  \
  ACLSIM_RAW_CAST(name##f, To, From, kFloor) \
  ACLSIM_RAW_CAST(name##c, To, From, kCeil)  \
  ACLSIM_RAW_CAST(name##a, To, From, kRound) \
  ACLSIM_RAW_CAST(name##z, To, From, kTrunc)
ACLSIM_RAW_CAST(f162f32, float, half, kNone)
ACLSIM_RAW_CAST(bf162f32, float, bfloat16_t, kNone)
ACLSIM_RAW_CAST(s162f32, float, int16_t, kNone)
ACLSIM_RAW_CAST(s322f32, float, int32_t, kNone)
ACLSIM_RAW_CAST(s82f16, half, int8_t, kNone)
ACLSIM_RAW_CAST(u82f16, half, uint8_t, kNone)
ACLSIM_RAW_CAST(s162f16, half, int16_t, kNone)
ACLSIM_RAW_CAST(deqs322f16, half, int32_t, kNone)
ACLSIM_RAW_CAST(f322f16, half, float, kNone)
ACLSIM_RAW_CAST(f322f16o, half, float, kOdd)
ACLSIM_RAW_CAST(f162s8, int8_t, half, kNone)
ACLSIM_RAW_CAST(f162u8, uint8_t, half, kNone)
ACLSIM_RAW_CAST(s322s16, int16_t, int32_t, kNone)
ACLSIM_RAW_CAST(s322s64, int64_t, int32_t, kNone)
ACLSIM_RAW_CAST(s642s32, int32_t, int64_t, kNone)
ACLSIM_RAW_CAST_5(f322f16, half, float)
ACLSIM_RAW_CAST_5(f322bf16, bfloat16_t, float)
ACLSIM_RAW_CAST_5(f322s16, int16_t, float)
ACLSIM_RAW_CAST_5(f322s32, int32_t, float)
ACLSIM_RAW_CAST_5(f322s64, int64_t, float)
ACLSIM_RAW_CAST_5(f162s8, int8_t, half)
ACLSIM_RAW_CAST_5(f162u8, uint8_t, half)
ACLSIM_RAW_CAST_5(f162s16, int16_t, half)
ACLSIM_RAW_CAST_5(f162s32, int32_t, half)
ACLSIM_RAW_CAST_5(bf162s32, int32_t, bfloat16_t)
ACLSIM_RAW_CAST_5(s162f16, half, int16_t)
ACLSIM_RAW_CAST_5(s322f32, float, int32_t)
ACLSIM_RAW_CAST_5(s642f32, float, int64_t)
#undef ACLSIM_RAW_CAST_5
#undef ACLSIM_RAW_CAST

// vcmp: into the comparison register; vcmpv: bits into UB; vcmpvs: of a scalar.
#define ACLSIM_RAW_COMPARE(name, op)                                                               \
  template <typename T>                                                                            \
  void vcmp_##name(__ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat, uint8_t dstBlockStride,     \
                   uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,      \
                   uint8_t src0RepeatStride, uint8_t src1RepeatStride) {                           \
    using namespace AscendC::detail;                                                               \
    aclsim::VecCompareRegister(aclsim::Compare::op, At(src0), At(src1),                            \
                               Preset(repeat, dstBlockStride, src0BlockStride, src1BlockStride,    \
                                      dstRepeatStride, src0RepeatStride, src1RepeatStride));       \
  }                                                                                                \
  template <typename T>                                                                            \
  void vcmpv_##name(__ubuf__ uint8_t* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat,     \
                    uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride,      \
                    uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride) { \
    using namespace AscendC::detail;                                                               \
    const aclsim::Ub second = At(src1);                                                            \
    aclsim::VecCompare(aclsim::Compare::op, At(dst), At(src0), &second, {},                        \
                       Preset(repeat, dstBlockStride, src0BlockStride, src1BlockStride,            \
                              dstRepeatStride, src0RepeatStride, src1RepeatStride));               \
  }                                                                                                \
  template <typename T, typename S>                                                                \
  void vcmpvs_##name(__ubuf__ uint8_t* dst, __ubuf__ T* src, S scalar, uint8_t repeat,             \
                     uint16_t dstBlockStride, uint16_t srcBlockStride, uint16_t dstRepeatStride,   \
                     uint16_t srcRepeatStride) {                                                   \
    using namespace AscendC::detail;                                                               \
    aclsim::VecCompare(                                                                            \
        aclsim::Compare::op, At(dst), At(src), nullptr, Scalar(static_cast<T>(scalar)),            \
        Preset(repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride));         \
  }
ACLSIM_RAW_COMPARE(lt, kLt)
ACLSIM_RAW_COMPARE(gt, kGt)
ACLSIM_RAW_COMPARE(eq, kEq)
ACLSIM_RAW_COMPARE(le, kLe)
ACLSIM_RAW_COMPARE(ge, kGe)
ACLSIM_RAW_COMPARE(ne, kNe)
#undef ACLSIM_RAW_COMPARE

inline void set_cmpmask(__ubuf__ void* src) {
  aclsim::LoadCmpMask(AscendC::detail::BytesAt(src));
  ACLSIM_KEEP_FRAME();
}
inline void get_cmpmask(__ubuf__ void* dst) {
  aclsim::StoreCmpMask(AscendC::detail::BytesAt(dst));
  ACLSIM_KEEP_FRAME();
}
// Mode 0: by the comparison register. Mode 1: by the bits at src1, against the scalar in the register. Mode 2: by the bits at the
// address in the register.
template <typename T, typename U>
void vsel(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ U* src1, uint8_t repeat,
          uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride,
          uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride,
          uint8_t mode = 0) {
  using namespace AscendC::detail;
  const aclsim::VecCtl ctl = Preset(repeat, dstBlockStride, src0BlockStride, src1BlockStride,
                                    dstRepeatStride, src0RepeatStride, src1RepeatStride);
  if (mode != 0) {
    aclsim::VecSelectDescribed(mode == 1, At(dst), At(src0), src1, ctl);
  } else {
    aclsim::VecSelectRegister(At(dst), At(src0), At(src1), ctl);
  }
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_RAW_EXTREME(name, op)                                                             \
  template <typename T>                                                                          \
  void vc##name(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,      \
                uint16_t srcBlockStride, uint16_t srcRepeatStride,                               \
                Order_t order = Order_t::VALUE_INDEX) {                                          \
    using namespace AscendC::detail;                                                             \
    aclsim::VecWholeReduce(aclsim::ReduceOp::op, At(dst), At(src),                               \
                           Preset(repeat, 1, srcBlockStride, dstRepeatStride, srcRepeatStride),  \
                           static_cast<uint8_t>(order));                                         \
  }                                                                                              \
  template <typename T>                                                                          \
  void vcg##name(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,     \
                 uint16_t srcBlockStride, uint16_t srcRepeatStride) {                            \
    using namespace AscendC::detail;                                                             \
    aclsim::VecBlockReduce(aclsim::ReduceOp::op, At(dst), At(src),                               \
                           Preset(repeat, 1, srcBlockStride, dstRepeatStride, srcRepeatStride)); \
  }
ACLSIM_RAW_EXTREME(max, kMax)
ACLSIM_RAW_EXTREME(min, kMin)
#undef ACLSIM_RAW_EXTREME
// With accumulate the sum of all repeats goes into the register that GetAccVal reads, which is all that a call without a
// destination does.
template <typename T>
void vcadd(std::nullptr_t, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,
           uint16_t srcBlockStride, uint16_t srcRepeatStride, bool accumulate) {
  using namespace AscendC::detail;
  if (!accumulate) {
    aclsim::AssertFail("vcadd: a destination, which only the mode of the sum register does without",
                       __FILE__, __LINE__, "");
  }
  aclsim::VecAccumulateSum(At(src),
                           Preset(repeat, 1, srcBlockStride, dstRepeatStride, srcRepeatStride));
}
template <typename T>
void vcadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,
           uint16_t srcBlockStride, uint16_t srcRepeatStride, bool accumulate = false) {
  using namespace AscendC::detail;
  if (accumulate) {
    aclsim::AssertFail(
        "vcadd: into the sum register without a destination, nullptr, or not into it", __FILE__,
        __LINE__, "");
  }
  aclsim::VecWholeReduce(aclsim::ReduceOp::kSum, At(dst), At(src),
                         Preset(repeat, 1, srcBlockStride, dstRepeatStride, srcRepeatStride), 0);
}
template <typename T>
void vcgadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,
            uint16_t srcBlockStride, uint16_t srcRepeatStride) {
  using namespace AscendC::detail;
  aclsim::VecBlockReduce(aclsim::ReduceOp::kSum, At(dst), At(src),
                         Preset(repeat, 1, srcBlockStride, dstRepeatStride, srcRepeatStride));
}
template <typename T>
void vcpadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,
            uint16_t srcBlockStride, uint16_t srcRepeatStride) {
  using namespace AscendC::detail;
  aclsim::VecPairReduceSum(At(dst), At(src),
                           Preset(repeat, 1, srcBlockStride, dstRepeatStride, srcRepeatStride));
}

// Offsets are bytes from an address in UB.
template <typename T>
void vgather(__ubuf__ T* dst, __ubuf__ uint32_t* offset, uint64_t address, uint16_t dstRepeatStride,
             uint8_t repeat) {
  using namespace AscendC::detail;
  aclsim::VecGather(At(dst), At(reinterpret_cast<const T*>(address)), At(offset), 0,
                    Preset(repeat, 1, 1, dstRepeatStride, 8));
}
template <typename T>
void vgatherb(__ubuf__ T* dst, __ubuf__ uint32_t* offset, uint64_t address,
              uint16_t dstRepeatStride, uint8_t dstBlockStride, uint8_t repeat) {
  using namespace AscendC::detail;
  aclsim::VecGatherBlocks(At(dst), At(reinterpret_cast<const T*>(address)), At(offset), repeat,
                          dstBlockStride, dstRepeatStride);
}
// patternMode 0 takes src1 as the pattern.
template <typename T>
void vreducev2(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint16_t repeat,
               uint8_t src0BlockStride, uint8_t patternMode, uint16_t src0RepeatStride,
               uint8_t src1RepeatStride) {
  using namespace AscendC::detail;
  aclsim::GatherMaskCtl ctl;
  ctl.preset = true;
  ctl.pattern = patternMode;
  ctl.repeat = repeat;
  ctl.srcBlk = src0BlockStride;
  ctl.srcRep = src0RepeatStride;
  ctl.patternRep = src1RepeatStride;
  const aclsim::Ub pattern = At(src1);
  aclsim::VecGatherMask(At(dst), At(src0), patternMode == 0 ? &pattern : nullptr, ctl);
}
inline int64_t get_rsvd_cnt() { return static_cast<int64_t>(aclsim::GatheredCount()); }

// --- transpositions ---------------------------------------------------------------------------------------------------------
inline void vtranspose(__ubuf__ uint16_t* dst, __ubuf__ uint16_t* src) {
  aclsim::VecTranspose(AscendC::detail::At(dst), AscendC::detail::At(src));
  ACLSIM_KEEP_FRAME();
}
inline void set_va_reg_sb(ub_addr8_t to, uint64_t* addresses) {
  aclsim::SetAddresses(to, addresses);
}
inline void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat,
                                  uint16_t dstStride, uint16_t srcStride) {
  aclsim::VecTransposeListed(dst, src, aclsim::DType::kUint16, false, false, repeat, dstStride,
                             srcStride);
  ACLSIM_KEEP_FRAME();
}
inline void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat,
                                  uint16_t dstStride, uint16_t srcStride) {
  aclsim::VecTransposeListed(dst, src, aclsim::DType::kUint32, false, false, repeat, dstStride,
                             srcStride);
  ACLSIM_KEEP_FRAME();
}
inline void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride,
                                 uint16_t srcStride, bool dstHighHalf, bool srcHighHalf) {
  aclsim::VecTransposeListed(dst, src, aclsim::DType::kUint8, dstHighHalf, srcHighHalf, repeat,
                             dstStride, srcStride);
  ACLSIM_KEEP_FRAME();
}

// --- copies -----------------------------------------------------------------------------------------------------------------
inline void copy_gm_to_ubuf(__ubuf__ void* dst, __gm__ const void* src, uint8_t /*sid*/,
                            uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap, uint16_t dstGap) {
  using namespace AscendC::detail;
  aclsim::CopyGmToUb(BytesAt(dst), src, Bursts(nBurst, lenBurst, srcGap, dstGap));
  ACLSIM_KEEP_FRAME();
}
inline void copy_ubuf_to_gm(__gm__ void* dst, __ubuf__ const void* src, uint8_t /*sid*/,
                            uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap, uint16_t dstGap) {
  using namespace AscendC::detail;
  aclsim::CopyUbToGm(dst, BytesAt(src), Bursts(nBurst, lenBurst, srcGap, dstGap));
  ACLSIM_KEEP_FRAME();
}
inline void copy_ubuf_to_ubuf(__ubuf__ void* dst, __ubuf__ const void* src, uint8_t /*sid*/,
                              uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap,
                              uint16_t dstGap) {
  using namespace AscendC::detail;
  aclsim::CopyUbToUb(BytesAt(dst), BytesAt(src), Bursts(nBurst, lenBurst, srcGap, dstGap));
  ACLSIM_KEEP_FRAME();
}
inline void set_mov_pad_val(uint64_t value) { aclsim::SetCopyPadValue(value); }
// Lengths and gaps of GM in bytes, of UB in blocks; what fills a block is set_mov_pad_val's.
#define ACLSIM_RAW_ALIGNED(bits, Element)                                                         \
  inline void copy_gm_to_ubuf_align_b##bits(__ubuf__ void* dst, __gm__ const void* src, uint8_t,  \
                                            uint16_t nBurst, uint32_t lenBurst, uint8_t left,     \
                                            uint8_t right, uint32_t srcGap, uint32_t dstGap) {    \
    using namespace AscendC::detail;                                                              \
    aclsim::CopyPadGmToUb(                                                                        \
        aclsim::UbPointer(dst, aclsim::DTypeOf<Element>::value), src,                             \
        PadCopyIn(AscendC::DataCopyExtParams(nBurst, lenBurst, srcGap, dstGap, 0)),               \
        {false, left, right, 0});                                                                 \
    ACLSIM_KEEP_FRAME();                                                                          \
  }                                                                                               \
  inline void copy_ubuf_to_gm_align_b##bits(__gm__ void* dst, __ubuf__ const void* src, uint8_t,  \
                                            uint16_t nBurst, uint32_t lenBurst, uint8_t, uint8_t, \
                                            uint32_t srcGap, uint32_t dstGap) {                   \
    using namespace AscendC::detail;                                                              \
    aclsim::CopyPadUbToGm(                                                                        \
        dst, aclsim::UbPointer(src, aclsim::DTypeOf<Element>::value),                             \
        PadCopyOut(AscendC::DataCopyExtParams(nBurst, lenBurst, srcGap, dstGap, 0)));             \
    ACLSIM_KEEP_FRAME();                                                                          \
  }
ACLSIM_RAW_ALIGNED(8, uint8_t)
ACLSIM_RAW_ALIGNED(16, uint16_t)
ACLSIM_RAW_ALIGNED(32, uint32_t)
#undef ACLSIM_RAW_ALIGNED

inline void icache_preload(int64_t /*length*/) {}  // a core here has no instruction cache

inline uint64_t get_para_base() { return aclsim::ParaBase(); }

#if __NPU_ARCH__ == 3510
// Windows of elements of 4 bits from L1, in the units of LoadData2DParamsV2.
template <typename T>
void load_cbuf_to_ca_s4(T* dst, T* src, uint32_t mStart, uint32_t kStart, uint32_t mStep,
                        uint32_t kStep, int32_t srcStride, uint16_t dstStride, bool transpose) {
  aclsim::CubeLoad2dWindow(AscendC::detail::At(dst), AscendC::detail::At(src),
                           {mStart, kStart, mStep, kStep, srcStride, dstStride, transpose, 4});
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void load_cbuf_to_cb_s4(T* dst, T* src, uint32_t mStart, uint32_t kStart, uint32_t mStep,
                        uint32_t kStep, int32_t srcStride, uint16_t dstStride, bool transpose) {
  load_cbuf_to_ca_s4(dst, src, mStart, kStart, mStep, kStep, srcStride, dstStride, transpose);
}
// Scales of MX formats from L1. The address they go to is a sixteenth of that of the matrix that they are of.
inline void load_cbuf_to_ca_mx(uint64_t dst, __cbuf__ void* src, uint16_t xStart, uint16_t yStart,
                               uint8_t xStep, uint8_t yStep, uint16_t srcStride,
                               uint16_t dstStride) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is a number here.
  aclsim::CubeLoadScales(AscendC::detail::BytesAt(reinterpret_cast<const void*>(dst * 16)),
                         AscendC::detail::At(static_cast<const fp8_e8m0_t*>(src)),
                         {xStart, yStart, xStep, yStep, srcStride, dstStride});
  ACLSIM_KEEP_FRAME();
}
inline void load_cbuf_to_cb_mx(uint64_t dst, __cbuf__ void* src, uint16_t xStart, uint16_t yStart,
                               uint8_t xStep, uint8_t yStep, uint16_t srcStride,
                               uint16_t dstStride) {
  load_cbuf_to_ca_mx(dst, src, xStart, yStart, xStep, yStep, srcStride, dstStride);
}
#endif

}  // namespace aclsim_device

namespace AscendC {

template <typename T>
void DataCopyGM2UBImpl(__ubuf__ T* dst, __gm__ T* src, const DataCopyParams& params) {
  aclsim::CopyGmToUb(detail::At(dst), src, detail::BlockCopy(params));
}
template <typename T>
void DataCopyUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyParams& params) {
  aclsim::CopyUbToGm(dst, detail::At(src), detail::BlockCopy(params));
}
template <typename T>
void DataCopyUB2UBImpl(__ubuf__ T* dst, __ubuf__ T* src, const DataCopyParams& params) {
  aclsim::CopyUbToUb(detail::At(dst), detail::At(src), detail::BlockCopy(params));
}
template <typename T>
void DataCopyPadGm2UBImpl(__ubuf__ T* dst, __gm__ T* src, const DataCopyParams& params,
                          const DataCopyPadParams& pad) {
  aclsim::CopyPadGmToUb(detail::At(dst), src, detail::PadCopyIn(params),
                        {pad.isPad, pad.leftPadding, pad.rightPadding, pad.paddingValue});
}
template <typename T>
void DataCopyPadGm2UBImpl(__ubuf__ T* dst, __gm__ T* src, const DataCopyExtParams& params,
                          const DataCopyPadExtParams<T>& pad) {
  aclsim::CopyPadGmToUb(
      detail::At(dst), src, detail::PadCopyIn(params),
      {pad.isPad, pad.leftPadding, pad.rightPadding, detail::BitsOfElement(pad.paddingValue)});
}
template <typename T>
void DataCopyPadUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyParams& params) {
  aclsim::CopyPadUbToGm(dst, detail::At(src), detail::PadCopyOut(params));
}
template <typename T>
void DataCopyPadUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyExtParams& params) {
  aclsim::CopyPadUbToGm(dst, detail::At(src), detail::PadCopyOut(params));
}

}  // namespace AscendC

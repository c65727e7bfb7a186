// SPDX-License-Identifier: Apache-2.0
// Enumerations, constants and parameter structs of the Ascend C basic API. Field names, order and units are CANN's.
#pragma once

#include "aclsim/block_sizes.h"
#include "ascendc/lang.h"

enum pipe_t {
  PIPE_S = 0,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_MTE4 = 7,
  PIPE_MTE5 = 8,
  PIPE_V2 = 9,
  PIPE_FIX = 10,
};

enum pad_t : uint8_t { PAD_NONE };

// Some sources define the names as macros before they include this.
#undef EVENT_ID0
#undef EVENT_ID1
#undef EVENT_ID2
#undef EVENT_ID3
#undef EVENT_ID4
#undef EVENT_ID5
#undef EVENT_ID6
#undef EVENT_ID7
enum event_t {
  EVENT_ID0 = 0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7
};

// Libraries of kernels define one with the offset 0. Addresses have no other offset here.
struct OpSystemRunCfg {
  uint64_t l2Cacheoffset;
};

namespace AscendC {

namespace detail {
// The architecture that a kernel is compiled for; 0 in code of the host.
#ifdef __NPU_ARCH__
constexpr int kArch = __NPU_ARCH__;
#else
constexpr int kArch = 0;
#endif
}  // namespace detail

using TEventID = int8_t;
constexpr TEventID INVALID_TEVENTID = -1;

enum class TPosition : uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX,
};
using QuePosition = TPosition;

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

enum class HardEvent : uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_MTE3,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  MAX,
};

enum class MemoryT : uint8_t { L1, L0A, L0B, L0C, UB, BIAS };
enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };

#ifdef ACLSIM_ASC
// The words of ascendc/dtype_words.h as CANN's compiler of .asc files knows them.
enum DataType {
  DT_FLOAT,
  DT_FLOAT16,
  DT_INT8,
  DT_INT32,
  DT_UINT8,
  DT_INT16,
  DT_UINT16,
  DT_INT64,
  DT_UINT32,
  DT_UINT64,
  DT_BOOL,
  DT_DOUBLE,
  DT_BF16 = 26,
  DT_UNDEFINED,
  DT_INT4,
  DT_HIFLOAT8 = 33,
  DT_FLOAT8_E5M2,
  DT_FLOAT8_E4M3FN,
  DT_FLOAT8_E8M0,
  DT_FLOAT4_E2M1 = 39,
  DT_FLOAT4_E1M2,
};
#endif

enum class RoundMode : uint8_t {
  CAST_NONE,
  CAST_RINT,
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,
  CAST_TRUNC,
  CAST_ODD,
#if __NPU_ARCH__ == 3510
  CAST_HYBRID,
  CAST_EVEN,
  CAST_ZERO,
#endif
  UNKNOWN = 0xFF,
};

enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder : uint8_t {
  ORDER_VALUE_INDEX,
  ORDER_INDEX_VALUE,
  ORDER_ONLY_VALUE,
  ORDER_ONLY_INDEX
};
enum class MaskMode : uint8_t { NORMAL, COUNTER };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class CacheMode : uint8_t {
  CACHE_MODE_DISABLE,
  CACHE_MODE_NORMAL,
  CACHE_MODE_LAST,
  CACHE_MODE_PERSISTENT
};
enum class CacheRwMode : uint8_t { READ, WRITE, RW };
enum class DataFormat : uint8_t { ND, NZ, NCHW, NC1HWC0, NHWC };

constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr uint32_t DEFAULT_BLK_NUM = 8;
constexpr uint32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint32_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint32_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr uint32_t DEFAULT_C0_SIZE = 32;
constexpr uint32_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint32_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr uint32_t MAX_REPEAT_TIMES = 255;
constexpr uint32_t ONE_BLK_FLOAT_NUM = 8;
constexpr uint32_t ONE_BLK_HALF_NUM = 16;
constexpr uint32_t BRCB_BROADCAST_NUMBER = 8;
constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr uint64_t FULL_MASK = 0xffffffffffffffffull;
constexpr uint8_t B8_BYTE_SIZE = 1;
constexpr uint8_t B16_BYTE_SIZE = 2;
constexpr uint8_t B32_BYTE_SIZE = 4;
constexpr uint8_t B64_BYTE_SIZE = 8;
constexpr uint32_t F32_INF = 0x7f800000;
constexpr uint32_t F32_NEG_INF = 0xff800000;
constexpr uint32_t F32_NAN = 0x7fc00000;
constexpr int32_t ONE_BYTE_BIT_SIZE = 8;
constexpr uint32_t TMP_UB_SIZE = 8 * 1024;
constexpr uint32_t TOTAL_L0A_SIZE = 64 * 1024;
constexpr uint32_t TOTAL_L0B_SIZE = 64 * 1024;
// CANN's own numbers. The AIC of 2201 keeps 128 bytes of its L1 for itself.
#if __NPU_ARCH__ == 1001 || __NPU_ARCH__ == 2002
constexpr uint32_t TOTAL_UB_SIZE = 256 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 248 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 248 * 1024;
constexpr uint32_t TOTAL_L1_SIZE = 1024 * 1024;
constexpr uint32_t TOTAL_L0C_SIZE = 256 * 1024;
#elif __NPU_ARCH__ == 3510
constexpr uint32_t TOTAL_UB_SIZE = 248 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 248 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 248 * 1024;
constexpr uint32_t TOTAL_L1_SIZE = 512 * 1024;
constexpr uint32_t TOTAL_L0C_SIZE = 256 * 1024;
#elif __NPU_ARCH__ == 3002
constexpr uint32_t TOTAL_UB_SIZE = 248 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 248 * 1024;
constexpr uint32_t TOTAL_L1_SIZE = 1024 * 1024;
constexpr uint32_t TOTAL_L0C_SIZE = 128 * 1024;
#else
constexpr uint32_t TOTAL_UB_SIZE = 192 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 184 * 1024;
constexpr uint32_t TOTAL_L1_SIZE = 512 * 1024 - 128;
constexpr uint32_t TOTAL_L0C_SIZE = 128 * 1024;
#endif
constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1;
constexpr uint32_t DROPOUT_MODE_BYTE_ALIGN = 2;
constexpr uint32_t DROPOUT_MODE_BIT_ALIGN = 3;
constexpr uint32_t DROPOUT_MODE_BIT_MISALIGN = 4;
constexpr uint32_t SINGLE_MSG_SIZE = 64;
constexpr uint32_t CACHE_LINE_SIZE = 64;

// A queue is told these besides its positions; results depend on none of it.
struct TQueConfig {
  bool nd2nz = false;
  bool nz2nd = false;
  bool scmBlockGroup = false;
  uint32_t bufferLen = 0;
  uint32_t bufferNumber = 0;
  uint32_t consumerSize = 0;
  TPosition consumer[8] = {};
  bool enableStaticEvtId = false;
  bool enableLoopQueue = false;
};

struct BinaryRepeatParams {
  BinaryRepeatParams() = default;
  constexpr BinaryRepeatParams(uint8_t dstBlk, uint8_t src0Blk, uint8_t src1Blk, uint8_t dstRep,
                               uint8_t src0Rep, uint8_t src1Rep)
      : dstBlkStride(dstBlk),
        src0BlkStride(src0Blk),
        src1BlkStride(src1Blk),
        dstRepStride(dstRep),
        src0RepStride(src0Rep),
        src1RepStride(src1Rep) {}
  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
};

struct UnaryRepeatParams {
  UnaryRepeatParams() = default;
  constexpr UnaryRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint8_t dstRep, uint8_t srcRep)
      : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep) {}
  constexpr UnaryRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint8_t dstRep, uint8_t srcRep,
                              bool half)
      : UnaryRepeatParams(dstBlk, srcBlk, dstRep, srcRep) {
    halfBlock = half;
  }
  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
  bool halfBlock = false;
};

struct CopyRepeatParams {
  CopyRepeatParams() = default;
  constexpr CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dstRep, uint16_t srcRep)
      : dstStride(dst), srcStride(src), dstRepeatSize(dstRep), srcRepeatSize(srcRep) {}
  uint16_t dstStride = DEFAULT_BLK_STRIDE;
  uint16_t srcStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
  uint16_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

struct BrcbRepeatParams {
  BrcbRepeatParams() = default;
  constexpr BrcbRepeatParams(uint16_t blk, uint16_t rep) : dstBlkStride(blk), dstRepStride(rep) {}
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
};

// Plain DataCopy: every field counts 32-byte blocks. DataCopyPad: blockLen and GM strides count bytes.
struct DataCopyParams {
  DataCopyParams() = default;
  constexpr DataCopyParams(uint16_t count, uint16_t len, uint16_t srcGap, uint16_t dstGap)
      : blockCount(count), blockLen(len), srcStride(srcGap), dstStride(dstGap) {}
  uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
  uint16_t blockLen = 0;
  union {
    uint16_t srcGap;
    uint16_t srcStride = DEFAULT_DATA_COPY_STRIDE;
  };
  union {
    uint16_t dstGap;
    uint16_t dstStride = DEFAULT_DATA_COPY_STRIDE;
  };
};

struct DataCopyExtParams {
  DataCopyExtParams() = default;
  constexpr DataCopyExtParams(uint16_t count, uint32_t len, uint32_t srcGap, uint32_t dstGap,
                              uint32_t rsvIn)
      : blockCount(count), blockLen(len), srcStride(srcGap), dstStride(dstGap), rsv(rsvIn) {}
  uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
  uint32_t blockLen = 0;
  uint32_t srcStride = DEFAULT_DATA_COPY_STRIDE;
  uint32_t dstStride = DEFAULT_DATA_COPY_STRIDE;
  uint32_t rsv = 0;
};

struct DataCopyPadParams {
  DataCopyPadParams() = default;
  constexpr DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  constexpr DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  T paddingValue{};
};

struct TransDataTo5HDParams {
  TransDataTo5HDParams() = default;
  constexpr TransDataTo5HDParams(bool dstHigh, bool srcHigh, uint8_t repeat, uint16_t dstRep,
                                 uint16_t srcRep)
      : dstHighHalf(dstHigh),
        srcHighHalf(srcHigh),
        repeatTimes(repeat),
        dstRepStride(dstRep),
        srcRepStride(srcRep) {}
  bool dstHighHalf = false;
  bool srcHighHalf = false;
  uint8_t repeatTimes = 1;
  uint16_t dstRepStride = 0;
  uint16_t srcRepStride = 0;
};

template <bool b>
struct BoolInst {
  using Type = BoolInst<b>;
  static constexpr bool value = b;
};
using TrueType = BoolInst<true>;
using FalseType = BoolInst<false>;

template <typename T, typename U>
struct IsSameType : BoolInst<std::is_same_v<T, U>> {};

}  // namespace AscendC

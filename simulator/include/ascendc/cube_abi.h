// SPDX-License-Identifier: Apache-2.0
// Kernels of the matrix unit call these functions of libascendcl.so: the parameters of its instructions as plain structs, in the units of the API. Fields
// are wider than CANN's, so that a value that would wrap there is found.
#pragma once

#include "ascendc/device_abi.h"

namespace aclsim {

// ND to NZ; strides of the source in elements, of the destination in blocks of 32 bytes, between matrices in elements.
struct Nd2NzCtl {
  uint64_t ndNum = 0, nValue = 0, dValue = 0, srcNdMatrixStride = 0, srcDValue = 0;
  uint64_t dstNzC0Stride = 0, dstNzNStride = 0, dstNzMatrixStride = 0;
};
ACLSIM_DEVICE_API void CubeNd2Nz(const Ub& dst, const void* src, const Nd2NzCtl& ctl);

// Fractals of 512 bytes; srcStride from head to head, dstGap from tail to head.
struct Load2dCtl {
  uint64_t startIndex = 0, repeatTimes = 0, srcStride = 0, dstGap = 0, dstFracGap = 0;
  uint64_t srcFracGap =
      0;  // of the second form of LoadDataWithTranspose, which counts all in fractals
  bool transpose = false;
  bool descending = false;
  bool fractals = false;  // that form
  uint8_t bits = 16;      // of an element
};
ACLSIM_DEVICE_API void CubeLoad2d(const Ub& dst, const Ub& src, const Load2dCtl& ctl);
ACLSIM_DEVICE_API void CubeLoad2dGm(const Ub& dst, const void* src, const Load2dCtl& ctl);
ACLSIM_DEVICE_API void CubeLoadTransposed(const Ub& dst, const Ub& src, const Load2dCtl& ctl);

struct FmatrixCtl {
  uint64_t l1H = 0, l1W = 0;
  uint8_t pad[4] = {};  // left, right, top, bottom
};
struct Load3dCtl {
  FmatrixCtl map;
  bool setsMap = true;
  bool setsPadding = true;
  uint64_t padding = 0;  // bits of an element
  uint64_t channelSize = 0, kExtension = 0, mExtension = 0, kStart = 0, mStart = 0;
  uint64_t strideW = 1, strideH = 1, filterW = 1, filterH = 1, dilationW = 1, dilationH = 1;
  bool transpose = false;
  uint8_t bits = 16;
};
ACLSIM_DEVICE_API void CubeLoad3d(const Ub& dst, const Ub& src, const Load3dCtl& ctl);
ACLSIM_DEVICE_API void CubeSetFmatrix(const FmatrixCtl& map);
ACLSIM_DEVICE_API void CubeSetPadding(uint64_t bits);
// Windows of a 3D load: mode 0 along M, 1 along K, so many of them, stride in 16 rows or in blocks of 32 bytes.
ACLSIM_DEVICE_API void CubeSetRepeat(uint64_t stride, uint64_t times, uint64_t mode);
ACLSIM_DEVICE_API void CubeSetBoundary(uint64_t bytes);

struct FillCtl {
  uint64_t repeat = 0, blocks = 0, gap = 0;  // blocks of 32 bytes in L1, of 512 in L0
  uint64_t value = 0;                        // bits of an element
};
ACLSIM_DEVICE_API void CubeFill(const Ub& dst, const FillCtl& ctl);

struct MmadCtl {
  uint64_t m = 0, n = 0, k = 0;
  uint64_t unitFlag = 0;
  bool hasBias = false;  // an operand of its own, whose position says where it is
  bool alignsK = false;  // kDirectionAlign
  bool fromTable = false;
  bool fromZero = true;
  uint8_t bits = 16;  // of an element of A and of B
};
ACLSIM_DEVICE_API void CubeMmad(const Ub& dst, const Ub& a, const Ub& b, const Ub& bias,
                                const MmadCtl& ctl);
ACLSIM_DEVICE_API void CubeSetHf32(bool on);
ACLSIM_DEVICE_API void CubeSetHf32Rounding(bool towardZero);
ACLSIM_DEVICE_API void CubeSetOrder(bool rowMajor);

// Names of CANN's QuantMode_t.
enum class Quant : uint8_t {
  kNone,
  kFloatToHalf,
  kFloatToBf16,
  kIntToHalf,
  kIntToHalfVector,
  kFloatTo8,
  kFloatTo8Vector,
  kIntTo8,
  kIntTo8Vector,
};
struct FixpipeCtl {
  uint64_t n = 0, m = 0;
  uint64_t srcStride = 0;  // of 16 columns, in 16 elements
  uint64_t dstStride = 0;  // NZ: of 16 columns, in 32 bytes; ND: of a row, in elements
  Quant quant = Quant::kNone;
  uint64_t scalar = 0;    // the parameter of quant
  bool scalarSet = true;  // else the one of SetFixpipePreQuantFlag
  bool hasVector =
      false;  // an L1 tensor is given, else a vector mode takes that of SetFixPipeConfig
  bool toNd = false;
  uint64_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool ndSet = true;  // else those of SetFixpipeNz2ndFlag
  uint64_t relu = 0;
  uint64_t unitFlag = 0;
  bool channelSplit = false;
  DType src = DType::kFloat, dst = DType::kFloat;
};
ACLSIM_DEVICE_API void CubeFixpipe(void* dst, const Ub& src, const Ub& parameters,
                                   const FixpipeCtl& ctl);
ACLSIM_DEVICE_API void CubeFixpipeToL1(const Ub& dst, const Ub& src, const Ub& parameters,
                                       const FixpipeCtl& ctl);
ACLSIM_DEVICE_API void CubeSetQuantTensor(const Ub& tensor, bool unitFlag);
ACLSIM_DEVICE_API void CubeSetQuantScalar(uint64_t word);
ACLSIM_DEVICE_API void CubeSetNz2nd(uint64_t ndNum, uint64_t srcNdStride, uint64_t dstNdStride);
// From L1 into BT or FB; the units of the parameters are those of the destination.
ACLSIM_DEVICE_API void CubeCopyToTable(const Ub& dst, const Ub& src, uint64_t blockCount,
                                       uint64_t blockLen, uint64_t srcGap, uint64_t dstGap);

// A mistake in the use of a Matmul object: ends the core.
[[noreturn]] ACLSIM_DEVICE_API void MatmulMisuse(const char* call, const char* what,
                                                 const char* next);

}  // namespace aclsim

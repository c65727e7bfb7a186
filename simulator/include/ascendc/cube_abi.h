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
  bool fromColumns = false;  // columns of the source lie one behind the other, srcDValue apart
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
// Fractals one behind the other, each with 128 bytes of the index.
ACLSIM_DEVICE_API void CubeLoadSparse(const Ub& dst, const Ub& src, const Ub& index,
                                      uint64_t startIndex, uint64_t repeatTimes);
ACLSIM_DEVICE_API void CubeLoadTransposed(const Ub& dst, const Ub& src, const Load2dCtl& ctl);

// Fractals of 512 bytes of a matrix in NZ: a window of mStep fractals of rows and kStep of columns. Strides lie between columns of fractals.
struct Load2dWindowCtl {
  uint64_t mStart = 0, kStart = 0, mStep = 0, kStep = 0;
  int64_t srcStride = 0;
  uint64_t dstStride = 0;
  bool transpose = false;  // the window as a matrix
  uint8_t bits = 16;
};
ACLSIM_DEVICE_API void CubeLoad2dWindow(const Ub& dst, const Ub& src, const Load2dWindowCtl& ctl);
// Fractals of 32 bytes of scales, row by row, to where those of dst lie.
struct LoadScalesCtl {
  uint64_t xStart = 0, yStart = 0, xStep = 0, yStep = 0, srcStride = 0, dstStride = 0;
};
ACLSIM_DEVICE_API void CubeLoadScales(const Ub& dst, const Ub& src, const LoadScalesCtl& ctl);

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
  bool strided = false;  // by the stride of CubeSetRepeatWithStride
  uint8_t bits = 16;
};
ACLSIM_DEVICE_API void CubeLoad3d(const Ub& dst, const Ub& src, const Load3dCtl& ctl);
ACLSIM_DEVICE_API void CubeSetFmatrix(const FmatrixCtl& map);
ACLSIM_DEVICE_API void CubeSetPadding(uint64_t bits);
// Windows of a 3D load: mode 0 along M, 1 along K, so many of them, stride in 16 rows or in blocks of 32 bytes.
ACLSIM_DEVICE_API void CubeSetRepeat(uint64_t stride, uint64_t times, uint64_t mode);
// Ascend 950 takes these, and the fractals in L0 from one step of K to the next one.
ACLSIM_DEVICE_API void CubeSetRepeatWithStride(uint64_t stride, uint64_t times, uint64_t mode,
                                               uint64_t fractals);
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
  uint8_t bits = 16;      // of an element of A and of B
  bool scaled = false;    // MX: 32 elements along K share a power of two
  bool noVector = false;  // one row of A lies as a matrix of one row
  bool sparse = false;  // B has two of four rows, the index buffer says which: k counts those of A
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
  // Ascend 950 has these.
  kScaledToHalf,
  kScaledToHalfVector,
  kScaledToBf16,
  kScaledToBf16Vector,
  kScaledToFloat,
  kScaledToFloatVector,
  kScaledToE4m3,
  kScaledToE4m3Vector,
  kScaledToHif8,
  kScaledToHif8Vector,
  kScaledToHif8Hybrid,
  kScaledToHif8HybridVector,
  kIntToBf16,
  kIntToBf16Vector,
};
struct FixpipeCtl {
  uint64_t n = 0, m = 0;
  uint64_t srcStride = 0;  // of 16 columns, in 16 elements
  uint64_t dstStride = 0;  // NZ: of 16 columns, in dstUnit; ND, DN: of a row or column, in elements
  uint64_t dstUnit = 32;   // bytes
  Quant quant = Quant::kNone;
  uint64_t scalar = 0;    // the parameter of quant
  bool scalarSet = true;  // else the one of SetFixpipePreQuantFlag
  bool hasVector =
      false;  // an L1 tensor is given, else a vector mode takes that of SetFixPipeConfig
  bool toNd = false;
  bool toDn = false;                                     // columns, one behind the other
  uint64_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;  // of matrices, with toDn likewise
  uint64_t srcNdUnit = 256;                              // elements
  uint64_t srcRow = 1;  // with toDn: of a row of L0C, in 16 elements
  bool ndSet = true;    // else those of SetFixpipeNz2ndFlag
  uint64_t relu = 0;
  uint64_t unitFlag = 0;
  bool channelSplit = false;
  // To UB: 0 the AIV with number `sub` of the AI core, 1 halves of rows to both, 2 halves of columns.
  uint64_t dual = 0, sub = 0;
  DType src = DType::kFloat, dst = DType::kFloat;
};
ACLSIM_DEVICE_API void CubeFixpipe(void* dst, const Ub& src, const Ub& parameters,
                                   const FixpipeCtl& ctl);
ACLSIM_DEVICE_API void CubeFixpipeToL1(const Ub& dst, const Ub& src, const Ub& parameters,
                                       const FixpipeCtl& ctl);
// From L1 into UB of an AIV of the AI core.
ACLSIM_DEVICE_API void CubeCopyL1ToUb(const Ub& dst, const Ub& src, const CopyCtl& ctl,
                                      uint64_t sub);
ACLSIM_DEVICE_API void CubeFixpipeToUb(const Ub& dst, const Ub& src, const Ub& parameters,
                                       const FixpipeCtl& ctl);
ACLSIM_DEVICE_API void CubeSetQuantTensor(const Ub& tensor, bool unitFlag);
ACLSIM_DEVICE_API void CubeSetQuantScalar(uint64_t word);
ACLSIM_DEVICE_API void CubeSetNz2nd(uint64_t ndNum, uint64_t srcNdStride, uint64_t dstNdStride);
// A coupled core copies from UB to L1.
ACLSIM_DEVICE_API void CubeCopyUbToL1(const Ub& dst, const Ub& src, const CopyCtl& ctl);
// Between L0C and UB, in fractals of 16 x 16 elements in L0C, of which only the first row counts with `rows`.
struct FractalCopyCtl {
  uint64_t count = 0, len = 0, srcGap = 0, dstGap = 0;  // gaps in units of their memory
  bool rows = false;
  bool relu = false;
};
ACLSIM_DEVICE_API void CubeCopyFractals(const Ub& dst, const Ub& src, const FractalCopyCtl& ctl);
// 16 elements of UB become a fractal of L0C with 16 equal rows; len and dstGap in fractals, srcGap in 32 bytes.
ACLSIM_DEVICE_API void CubeBroadcast(const Ub& dst, const Ub& src, uint64_t count, uint64_t len,
                                     uint64_t srcGap, uint64_t dstGap);
// From L1 into BT or FB; the units of the parameters are those of the destination.
ACLSIM_DEVICE_API void CubeCopyToTable(const Ub& dst, const Ub& src, uint64_t blockCount,
                                       uint64_t blockLen, uint64_t srcGap, uint64_t dstGap);

// A mistake in the use of a Matmul object: ends the core.
[[noreturn]] ACLSIM_DEVICE_API void MatmulMisuse(const char* call, const char* what,
                                                 const char* next);

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// The templates of the high-level API pack these: one call is one step of the simulator. Bodies are in src/device/high_*.cpp.
#pragma once

#include "ascendc/device_abi.h"

namespace aclsim {

// Functions of one element, or of the same element of two tensors.
enum class High : uint8_t {
  kLog,
  kLog2,
  kLog10,
  kExp,
  kPower,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kFrac,
  kFmod,
  kSign,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kLgamma,
  kDigamma,
  kXor,
  kClampMax,
  kClampMin,
  kAxpy,
  kSigmoid,
  kGelu,
  kFasterGelu,
  kFasterGeluV2,
  kSilu,
  kSwish,
  kGeGlu,
  kSwiGlu,
  kReGlu,
  kCount
};

// The caller's sharedTmpBuffer, or none: then the function takes what InitBuffer has left of UB.
struct HighWork {
  Ub ub;
  uint32_t bytes = 0;
  bool given = false;
};

struct HighElements {
  Ub dst;
  Ub src[2];
  bool scalar[2] = {false, false};  // the source is `value`, the same for every element
  ScalarValue value = {0};          // of a scalar source, or the function's constant
  HighWork work;
  uint32_t count = 0;
  bool reuseSource = false;
};
ACLSIM_DEVICE_API void HighElement(High op, const HighElements& call);

// A row or a column spread over a matrix; shapes of one or two dimensions.
ACLSIM_DEVICE_API void HighBroadcast(const Ub& dst, const Ub& src, const uint32_t* dstShape,
                                     const uint32_t* srcShape, int32_t dims, int32_t axis,
                                     const HighWork& work);

enum class HighReduction : uint8_t {
  kRowSum,   // Sum
  kRowMean,  // Mean
  kSum,
  kMean,
  kMax,
  kMin,
  kProd,
  kAny,
  kAll,
  kCount
};
struct HighReduceCall {
  Ub dst;
  Ub src;
  HighWork work;
  uint32_t rows = 0;
  uint32_t columns = 0;   // those that take part
  uint32_t step = 0;      // elements from row to row
  bool padded = true;     // the caller has promised whole blocks
  bool overRows = false;  // one result per column
  bool wide = false;      // half, added in float
  bool reuseSource = false;
};
ACLSIM_DEVICE_API void HighReduce(HighReduction op, const HighReduceCall& call);

struct HighCumSumCall {
  Ub dst;
  Ub lastRow;
  Ub src;
  HighWork work;
  uint32_t rows = 0;
  uint32_t columns = 0;
  bool alongRow = true;
  bool keepLastRow = false;
};
ACLSIM_DEVICE_API void HighCumSum(const HighCumSumCall& call);

// The first k elements of every row in descending or ascending order, and where they came from.
struct HighTopKCall {
  Ub values;
  Ub indices;
  Ub src;
  Ub srcIndex;
  Ub finished;
  HighWork work;
  bool hasIndex = false;
  bool hasFinished = false;
  bool small = false;  // results without padding, an index of its own for every row
  bool largest = true;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t counted = 0;
  uint32_t k = 0;
};
ACLSIM_DEVICE_API void HighTopK(const HighTopKCall& call);

// The softmax functions share these operands. Rows of `columns` elements, of which `summed` take part in maxima and sums; sums and maxima
// are one 32-byte block per row.
enum class HighSoftmax : uint8_t { kSoftMax, kSimple, kLog, kCount };
struct HighSoftmaxCall {
  Ub dst;
  Ub src;
  Ub sum;  // results of SoftMax and LogSoftMax, operands of SimpleSoftMax
  Ub max;
  bool statistics = true;
  HighWork work;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t summed = 0;
};
ACLSIM_DEVICE_API void HighSoftmaxRows(HighSoftmax op, const HighSoftmaxCall& call);
// Rows in pieces: with update, the maxima and sums of the pieces before are carried on. Sums, maxima and factors are one 32-byte
// block per row, or one element (packed). V2 leaves the division by the sum to the caller.
struct HighSoftmaxFlashCall {
  Ub dst;
  Ub src;
  Ub sum;
  Ub max;
  Ub expMax;     // what results of the pieces before are to be multiplied with
  Ub reduceMax;  // the maxima of this piece alone, which one form keeps
  bool keepsReduceMax = false;
  Ub inSum;
  Ub inMax;
  HighWork work;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t summed = 0;
  bool update = false;
  bool divide = false;
  bool packed = false;
  bool basicBlock = false;
};
ACLSIM_DEVICE_API void HighSoftmaxFlash(const HighSoftmaxFlashCall& call);
// Rows whose maximum has the bits `from` become `to`; true if there was one. The scalar pipe waits for it.
// Maxima are 32 bytes apart, or one behind the other (packed).
ACLSIM_DEVICE_API bool HighAdjustSoftmax(const Ub& dst, const Ub& max, uint32_t from,
                                         ScalarValue to, uint32_t rows, uint32_t columns,
                                         bool packed);

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// Level-0 functions of operators that CANN brings along, by the names of CANN's headers level0/*.h. They compute on the host when the
// executor runs, and answer nullptr, with the reason reported, for arguments that they do not take.
#pragma once

#include <string>
#include <tuple>

#include "opdev/make_op_executor.h"
#include "opdev/op_executor.h"

namespace l0op {

// Elementwise, with broadcasting: in double and rounded once, integers in 64 bits. Both have one
// type, which is that of the result.
const aclTensor* Add(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* Sub(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* Mul(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
// Integers: truncated; division by zero is 0.
const aclTensor* Div(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* RealDiv(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* Mod(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* Pow(const aclTensor* self, const aclTensor* exponent, aclOpExecutor* executor);
// NaN wins.
const aclTensor* Maximum(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* Minimum(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
// self + alpha * other, self * alpha.
const aclTensor* Axpy(const aclTensor* self, const aclTensor* other, float alpha,
                      aclOpExecutor* executor);
const aclTensor* Muls(const aclTensor* self, float alpha, aclOpExecutor* executor);
// Into self: functions that a toolkit may lack, as this one does. Callers compare their addresses with nullptr.
[[gnu::weak]] const aclTensor* AddInplace(const aclTensor* self, const aclTensor* other,
                                          aclOpExecutor* executor);
[[gnu::weak]] const aclTensor* AxpyInplace(const aclTensor* self, const aclTensor* other,
                                           float alpha, aclOpExecutor* executor);
[[gnu::weak]] const aclTensor* MulsInplace(const aclTensor* self, float alpha,
                                           aclOpExecutor* executor);

// The result is bool.
const aclTensor* Equal(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* NotEqual(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* Greater(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* GreaterEqual(const aclTensor* self, const aclTensor* other,
                              aclOpExecutor* executor);
const aclTensor* Less(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* LessEqual(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* LogicalAnd(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* LogicalOr(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor);
const aclTensor* LogicalNot(const aclTensor* self, aclOpExecutor* executor);

const aclTensor* Abs(const aclTensor* self, aclOpExecutor* executor);
const aclTensor* Neg(const aclTensor* self, aclOpExecutor* executor);
const aclTensor* Exp(const aclTensor* self, aclOpExecutor* executor);
const aclTensor* Sqrt(const aclTensor* self, aclOpExecutor* executor);
const aclTensor* Rsqrt(const aclTensor* self, aclOpExecutor* executor);
// The logarithm to a base, natural for -1, of scale * self + shift.
const aclTensor* Log(const aclTensor* self, const float base, const float scale, const float shift,
                     aclOpExecutor* executor);

// x1 where condition holds, else x2; value where the mask is set, else self.
const aclTensor* SelectV2(const aclTensor* condition, const aclTensor* x1, const aclTensor* x2,
                          aclOpExecutor* executor);
const aclTensor* MaskedFill(const aclTensor* self, const aclTensor* mask, const aclTensor* value,
                            aclOpExecutor* executor);

const aclTensor* OnesLike(const aclTensor* self, aclOpExecutor* executor);
// start, start + step, .. up to end, with end itself if isClosed, in the type of out.
const aclTensor* Arange(const aclScalar* start, const aclScalar* end, const aclScalar* step,
                        const aclTensor* out, const bool isClosed, aclOpExecutor* executor);

// Over dims, all for none given; in double and rounded once, integers in 64 bits.
const aclTensor* ReduceMean(const aclTensor* self, const aclIntArray* dim, bool keepDim,
                            aclOpExecutor* executor);
const aclTensor* ReduceMean(const aclTensor* self, const aclIntArray* dim, bool keepDim,
                            bool noopWithEmptyAxes, aclOpExecutor* executor);
const aclTensor* ReduceMax(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           aclOpExecutor* executor);
const aclTensor* ReduceMax(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           bool noopWithEmptyAxes, aclOpExecutor* executor);
const aclTensor* ReduceMin(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           aclOpExecutor* executor);
const aclTensor* ReduceMin(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           bool noopWithEmptyAxes, aclOpExecutor* executor);
const aclTensor* ReduceAny(const aclTensor* self, const aclIntArray* dim, bool keepDim,
                           aclOpExecutor* executor);

// Along dim, equal values in their order, NaN as the largest; values and their places.
const std::tuple<aclTensor*, aclTensor*> Sort(const aclTensor* self, int64_t dim, bool descending,
                                              bool stable, op::DataType indicesType,
                                              aclOpExecutor* executor);

// Views of a contiguous x with dims of size 1 more, or less (all for none given).
const aclTensor* UnsqueezeNd(const aclTensor* x, const aclIntArray* dim, aclOpExecutor* executor);
const aclTensor* UnsqueezeNd(const aclTensor* x, int64_t dim, aclOpExecutor* executor);
const aclTensor* SqueezeNd(const aclTensor* x, const aclIntArray* dim, aclOpExecutor* executor);
const aclTensor* SqueezeNd(const aclTensor* x, int64_t dim, aclOpExecutor* executor);

const aclTensor* Expand(const aclTensor* self, const aclIntArray* shape, aclOpExecutor* executor);
aclTensor* ConcatD(const aclTensorList* inputs, int64_t dim, op::DataType outDtype,
                   aclOpExecutor* executor);
aclTensor* ConcatD(const aclTensorList* inputs, int64_t dim, aclOpExecutor* executor);
bool SplitVAiCoreSupport(const aclTensor* self);
const aclTensorList* SplitV(const aclTensor* self, const aclIntArray* splitSize, int64_t dim,
                            aclOpExecutor* executor);
// paddings, on the host: how much before and behind each dim, or all before and then all behind.
// Modes but constant are refused.
const aclTensor* PadV3(const aclTensor* self, const aclTensor* paddings,
                       const aclTensor* constant_values, const std::string& mode,
                       const bool paddingsContiguous, aclOpExecutor* executor);
// Elements of x to those of y.
const aclTensor* TensorMove(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor);

}  // namespace l0op

// SPDX-License-Identifier: Apache-2.0
// SoftmaxGrad of the high-level API. One call is one step of the simulator.
#pragma once

#include "ascendc/tensor.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

struct SoftMaxShapeInfo {
  uint32_t srcM{0};
  uint32_t srcK{0};
  uint32_t oriSrcM{0};
  uint32_t oriSrcK{0};
};

// dst = (grad - sum(grad * src)) * src per row of srcK elements; isFront: the sums alone, one 32-byte block per row.
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                 const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                 const SoftMaxTiling& tiling, bool isFront = false,
                 const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  static_assert(!isDataFormatNZ, "SoftmaxGrad: the simulator has the ND format only");
  const bool given = softmaxShapeInfo.srcM != 0 && softmaxShapeInfo.srcK != 0;
  aclsim::SoftmaxGradCtl ctl;
  ctl.rows = given ? softmaxShapeInfo.srcM : tiling.srcM;
  ctl.columns = given ? softmaxShapeInfo.srcK : tiling.srcK;
  ctl.sumColumns = given && softmaxShapeInfo.oriSrcK != 0 ? softmaxShapeInfo.oriSrcK : ctl.columns;
  ctl.workBytes = sharedTmpBuffer.GetSize();
  ctl.front = isFront;
  aclsim::VecSoftmaxGrad(dstTensor, gradTensor, srcTensor, sharedTmpBuffer, ctl);
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                 const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling, bool isFront = false,
                 const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  SoftmaxGrad<T, isReuseSource, isDataFormatNZ>(
      dstTensor, gradTensor, srcTensor, LocalTensor<uint8_t>(), tiling, isFront, softmaxShapeInfo);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                      const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  SoftmaxGrad<T, false, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, sharedTmpBuffer, tiling,
                                        true, softmaxShapeInfo);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                      const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
                      const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  SoftmaxGrad<T, false, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, tiling, true,
                                        softmaxShapeInfo);
}

}  // namespace AscendC

// SPDX-License-Identifier: Apache-2.0
// Copies of Ascend 950: of up to five dimensions, each with its strides, and DataCopyPad in loops.
#pragma once

#include "ascendc/data_copy.h"

namespace aclsim {

// Elements; the lowest dimension first.
struct NdCopyCtl {
  uint8_t dim = 1;
  uint64_t srcStride[5] = {};
  uint32_t dstStride[5] = {};
  uint32_t size[5] = {1, 1, 1, 1, 1};
};
ACLSIM_DEVICE_API void CopyNdGmToUb(const Ub& dst, const void* src, const NdCopyCtl& ctl);

}  // namespace aclsim

#if __NPU_ARCH__ == 3510
namespace AscendC {

struct NdDmaConfig {
  static constexpr uint16_t unsetPad = 0xffff;
  bool isNearestValueMode = false;
  uint16_t loopLpSize = unsetPad;
  uint16_t loopRpSize = unsetPad;
  bool ascOptimize = false;
};
using MultiCopyConfig = NdDmaConfig;
inline constexpr NdDmaConfig kDefaultNdDmaConfig = {};
inline constexpr NdDmaConfig kDefaultMultiCopyConfig = {};

template <uint8_t dim>
struct MultiCopyLoopInfo {
  static_assert(dim >= 1 && dim <= 5, "copies have one to five dimensions");
  uint64_t loopSrcStride[dim] = {0};
  uint32_t loopDstStride[dim] = {0};
  uint32_t loopSize[dim] = {0};
  uint8_t loopLpSize[dim] = {0};
  uint8_t loopRpSize[dim] = {0};
};
template <uint8_t dim>
using NdDmaLoopInfo = MultiCopyLoopInfo<dim>;
template <typename T, uint8_t dim>
struct MultiCopyParams {
  MultiCopyLoopInfo<dim> loopInfo;
  T constantValue;
};
template <typename T, uint8_t dim>
using NdDmaParams = MultiCopyParams<T, dim>;

template <typename T, uint8_t dim, const NdDmaConfig& config = kDefaultNdDmaConfig>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
              const MultiCopyParams<T, dim>& params) {
  const MultiCopyLoopInfo<dim>& loops = params.loopInfo;
  aclsim::NdCopyCtl ctl;
  ctl.dim = dim;
  for (uint8_t i = 0; i < dim; ++i) {
    const uint32_t left =
        config.loopLpSize == NdDmaConfig::unsetPad ? loops.loopLpSize[i] : config.loopLpSize;
    const uint32_t right =
        config.loopRpSize == NdDmaConfig::unsetPad ? loops.loopRpSize[i] : config.loopRpSize;
    if (left != 0 || right != 0) {
      aclsim::AssertFail("DataCopy of several dimensions: padding is not in this simulator yet",
                         __FILE__, __LINE__, "");
    }
    ctl.srcStride[i] = loops.loopSrcStride[i];
    ctl.dstStride[i] = loops.loopDstStride[i];
    ctl.size[i] = loops.loopSize[i];
  }
  aclsim::CopyNdGmToUb(dst, src.GetPhyAddr(), ctl);
  ACLSIM_KEEP_FRAME();
}
// Its cache is not modelled: copies read what GM holds.
inline void NdDmaDci() {}

}  // namespace AscendC
#endif

// SPDX-License-Identifier: Apache-2.0
// Transpose: a tile of 16 by 16, and batches between [N, C, H, W] and [N, H, W, C].
#pragma once

#include "ascendc/device_reorder.h"
#include "ascendc/high_math.h"
#include "ascendc/tensor.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

enum class TransposeType : uint8_t {
  TRANSPOSE_TYPE_NONE,
  TRANSPOSE_NZ2ND_0213,
  TRANSPOSE_NZ2NZ_0213,
  TRANSPOSE_NZ2NZ_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITHOUT_N,
  TRANSPOSE_NZ2NZ_012_WITHOUT_N,
  TRANSPOSE_ND2ND_ONLY,
  TRANSPOSE_ND_UB_GM,
  TRANSPOSE_GRAD_ND_UB_GM,
  TRANSPOSE_ND2ND_B16,
  TRANSPOSE_NCHW2NHWC,
  TRANSPOSE_NHWC2NCHW,
};

struct TransposeParamsExt {
  TransposeParamsExt() = default;
  TransposeParamsExt(uint16_t n, uint16_t c, uint16_t h, uint16_t w, TransposeType type)
      : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}
  uint16_t nSize = 0;
  uint16_t cSize = 0;
  uint16_t hSize = 0;
  uint16_t wSize = 0;
  TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
  aclsim::VecTranspose(dst, src);
}
template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const TransposeParamsExt& p) {
  aclsim::TransposeCtl ctl;
  ctl.type = static_cast<uint8_t>(p.transposeType);
  ctl.batches = p.nSize;
  ctl.channels = p.cSize;
  ctl.pixels = uint32_t(p.hSize) * p.wSize;
  aclsim::VecTransposeBatches(dst, src, sharedTmpBuffer, ctl);
}

namespace detail {

// The shape in the words of the tiling, which differ between the kinds.
inline aclsim::LayoutCtl LayoutOf(TransposeType type, const ConfusionTransposeTiling& tiling,
                                  const aclsim::HighWork& work) {
  aclsim::LayoutCtl ctl;
  ctl.type = static_cast<uint8_t>(type);
  ctl.work = work;
  if (type == TransposeType::TRANSPOSE_ND2ND_ONLY) {
    ctl.rows = tiling.param1;
    ctl.columns = tiling.param2;
    return ctl;
  }
  ctl.batches = tiling.param1;
  ctl.heads = tiling.param2;
  ctl.columns = tiling.param3;
  ctl.rows = type <= TransposeType::TRANSPOSE_NZ2NZ_0213         ? tiling.param4
             : type == TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N ? tiling.param9
                                                                 : tiling.param6 * 16;
  return ctl;
}

}  // namespace detail

// Between the layouts NZ and ND of [B, N, S, H/N], by the tiling of GetTransposeTilingInfo.
template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
               const LocalTensor<uint8_t>& sharedTmpBuffer, TransposeType transposeType,
               const ConfusionTransposeTiling& tiling) {
  aclsim::VecTransposeLayout(
      dst, src, detail::LayoutOf(transposeType, tiling, detail::Work(sharedTmpBuffer)));
}
template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, TransposeType transposeType,
               const ConfusionTransposeTiling& tiling) {
  aclsim::VecTransposeLayout(dst, src, detail::LayoutOf(transposeType, tiling, {}));
}
// The older name.
template <typename T>
void ConfusionTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        const LocalTensor<uint8_t>& sharedTmpBuffer, TransposeType transposeType,
                        const ConfusionTransposeTiling& tiling) {
  Transpose(dst, src, sharedTmpBuffer, transposeType, tiling);
}
template <typename T>
void ConfusionTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        TransposeType transposeType, const ConfusionTransposeTiling& tiling) {
  Transpose(dst, src, transposeType, tiling);
}

}  // namespace AscendC

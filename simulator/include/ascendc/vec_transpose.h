// SPDX-License-Identifier: Apache-2.0
// Transpose: a tile of 16 by 16, and batches between [N, C, H, W] and [N, H, W, C].
#pragma once

#include "ascendc/device_reorder.h"
#include "ascendc/tensor.h"

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

}  // namespace AscendC

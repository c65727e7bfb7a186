// SPDX-License-Identifier: Apache-2.0
// This file declares what the host tells the kl_div_loss_grad kernel. Host and device include it.
#ifndef OP_HOST_KL_DIV_LOSS_GRAD_KL_DIV_LOSS_GRAD_TILING_H_
#define OP_HOST_KL_DIV_LOSS_GRAD_KL_DIV_LOSS_GRAD_TILING_H_

#include <cstdint>

#include "common/elementwise_data.h"

// A tiling key says how many elements grad has.
#define KL_DIV_GRAD_LIKE_TARGET 1
#define KL_DIV_GRAD_SCALAR 2

struct KlDivLossGradTilingData {
  ElementwiseTilingData elements;
  float scale;        // -c
  int32_t logTarget;  // 0 or 1
};

#endif  // OP_HOST_KL_DIV_LOSS_GRAD_KL_DIV_LOSS_GRAD_TILING_H_

// SPDX-License-Identifier: Apache-2.0
// What the host tells the kl_div_loss_grad kernel. Host and device must lay it out alike: plain,
// fixed-width, no padding.
#ifndef OP_HOST_KL_DIV_LOSS_GRAD_KL_DIV_LOSS_GRAD_TILING_H_
#define OP_HOST_KL_DIV_LOSS_GRAD_KL_DIV_LOSS_GRAD_TILING_H_

#include <cstddef>
#include <cstdint>

// Core c has lanesPerCore elements, one line more if c < extraCores; the last core ends at total.
struct KlDivLossGradTilingData {
  int64_t total;
  int64_t lanesPerCore;
  int32_t extraCores;
  int32_t lineLanes;  // elements of a GM line
  int32_t tileLanes;  // elements that a buffer holds of one operand
  float scale;        // -c
  int32_t logTarget;  // 0 or 1
  int32_t pastL2;     // 0: all goes through L2. n: inputs do not, nor results of n - 1 first tiles
};

static_assert(sizeof(KlDivLossGradTilingData) == 40, "layout is shared with the device");
static_assert(offsetof(KlDivLossGradTilingData, scale) == 28, "layout is shared with the device");
static_assert(offsetof(KlDivLossGradTilingData, logTarget) == 32,
              "layout is shared with the device");

#endif  // OP_HOST_KL_DIV_LOSS_GRAD_KL_DIV_LOSS_GRAD_TILING_H_

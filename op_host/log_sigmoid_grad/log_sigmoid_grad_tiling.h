// SPDX-License-Identifier: Apache-2.0
// What the host tells the log_sigmoid_grad kernel. Host and device must lay it out alike: plain,
// fixed-width, no padding.
#ifndef OP_HOST_LOG_SIGMOID_GRAD_LOG_SIGMOID_GRAD_TILING_H_
#define OP_HOST_LOG_SIGMOID_GRAD_LOG_SIGMOID_GRAD_TILING_H_

#include <cstddef>
#include <cstdint>

// Core c has lanesPerCore elements, one line more if c < extraCores; the last core ends at total.
struct LogSigmoidGradTilingData {
  int64_t total;
  int64_t lanesPerCore;
  int32_t extraCores;
  int32_t lineLanes;  // elements of a GM line
  int32_t tileLanes;  // elements that a buffer holds of one operand
  int32_t pastL2;     // 0: all goes through L2. n: inputs do not, nor results of n - 1 first tiles
};

static_assert(sizeof(LogSigmoidGradTilingData) == 32, "layout is shared with the device");
static_assert(offsetof(LogSigmoidGradTilingData, tileLanes) == 24,
              "layout is shared with the device");

#endif  // OP_HOST_LOG_SIGMOID_GRAD_LOG_SIGMOID_GRAD_TILING_H_

// SPDX-License-Identifier: Apache-2.0
// Tiling structs of the high-level API as kernels see them: the fields in the order in which host tiling writes them.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernel_tiling/tiling_fields.h"

#define ACLSIM_FIELD_(type, name) type name = 0;
// In CANN's namespace: sources declare the structs there before they include this.
#define ACLSIM_TILING_STRUCT_(Name, FIELDS, bytes)                           \
  namespace AscendC::tiling {                                                \
  struct Name {                                                              \
    FIELDS(ACLSIM_FIELD_)                                                    \
  };                                                                         \
  static_assert(sizeof(Name) == (bytes), "the layout of the host's struct"); \
  }                                                                          \
  using AscendC::tiling::Name;
ACLSIM_TILING_STRUCT_(SoftMaxTiling, ACLSIM_SOFTMAX_TILING, 64)
ACLSIM_TILING_STRUCT_(LayerNormTiling, ACLSIM_LAYER_NORM_TILING, 104)
ACLSIM_TILING_STRUCT_(LayerNormSeparateTiling, ACLSIM_LAYER_NORM_SEPARATE_TILING, 104)
ACLSIM_TILING_STRUCT_(RmsNormTiling, ACLSIM_RMS_NORM_TILING, 48)
ACLSIM_TILING_STRUCT_(GroupNormTiling, ACLSIM_GROUP_NORM_TILING, 120)
ACLSIM_TILING_STRUCT_(BatchNormTiling, ACLSIM_BATCH_NORM_TILING, 80)
ACLSIM_TILING_STRUCT_(TopkTiling, ACLSIM_TOPK_TILING, 112)
ACLSIM_TILING_STRUCT_(ConfusionTransposeTiling, ACLSIM_TRANSPOSE_TILING, 72)
ACLSIM_TILING_STRUCT_(TCubeTiling, ACLSIM_CUBE_TILING, 200)
#undef ACLSIM_TILING_STRUCT_
#undef ACLSIM_FIELD_

// This struct has those fields under another name.
namespace AscendC::tiling {
struct LogSoftMaxTiling : SoftMaxTiling {};
}  // namespace AscendC::tiling
using AscendC::tiling::LogSoftMaxTiling;

// SPDX-License-Identifier: Apache-2.0
// Chip facts straight from a tiling context.
#pragma once

#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "log/log.h"
#include "tiling/platform/platform_ascendc.h"

namespace Ops {
namespace Base {

template <typename T>
platform_ascendc::PlatformAscendC PlatformOf(const T* context) {
  return platform_ascendc::PlatformAscendC(context == nullptr ? nullptr
                                                              : context->GetPlatformInfo());
}
template <typename T>
uint32_t GetAivCoreNum(const T* context) {
  return PlatformOf(context).GetCoreNumAiv();
}
template <typename T>
uint32_t GetAicCoreNum(const T* context) {
  return PlatformOf(context).GetCoreNumAic();
}
template <typename T>
uint32_t GetUbSize(const T* context) {
  uint64_t size = 0;
  PlatformOf(context).GetCoreMemSize(platform_ascendc::CoreMemType::UB, size);
  return static_cast<uint32_t>(size);
}
template <typename T>
uint32_t GetWorkspaceSize(const T* context) {
  return PlatformOf(context).GetLibApiWorkSpaceSize();
}
template <typename T>
uint32_t GetUbBlockSize(const T*) {
  return 32;
}
template <typename T>
uint32_t GetVRegSize(const T*) {
  return 256;
}
template <typename T>
uint32_t GetCacheLineSize(const T*) {
  return 256;
}

}  // namespace Base
}  // namespace Ops

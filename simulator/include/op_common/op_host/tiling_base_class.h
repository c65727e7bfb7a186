// SPDX-License-Identifier: Apache-2.0
// The steps of a tiling function as virtual functions of a class.
#pragma once

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "exe_graph/runtime/tiling_context.h"
#include "graph/utils/type_utils.h"
#include "op_common/log/log.h"
#include "platform/soc_spec.h"
#include "tiling/platform/platform_ascendc.h"

#ifdef ASCENDC_OP_TEST
#define ASCENDC_EXTERN_C extern "C"
#else
#define ASCENDC_EXTERN_C
#endif

namespace Ops {
namespace Base {

struct AiCoreParams {
  uint64_t ubSize = 0;
  uint64_t numBlocks = 0;
  uint64_t aicNum = 0;
  uint64_t l1Size = 0;
  uint64_t l0aSize = 0;
  uint64_t l0bSize = 0;
  uint64_t l0cSize = 0;
};

struct CompileInfoCommon {
  uint32_t aivNum;
  uint32_t aicNum;
  uint64_t ubSize;
  uint64_t l1Size;
  uint64_t l0aSize;
  uint64_t l0bSize;
  uint64_t l0cSize;
  uint64_t l2CacheSize;
  int64_t coreNum;
  int32_t socVersion;
  uint32_t rsvd;
};

class TilingBaseClass {
 public:
  explicit TilingBaseClass(gert::TilingContext* context) : context_(context) {}
  virtual ~TilingBaseClass() = default;

  // GRAPH_SUCCESS ends tiling, GRAPH_PARAM_INVALID lets the next class try, anything else fails.
  ge::graphStatus DoTiling() {
    if (context_ == nullptr) {
      OP_LOGE(context_, "the tiling context is NULL");
      return ge::GRAPH_FAILED;
    }
    ge::graphStatus status = GetShapeAttrsInfo();
    if (status == ge::GRAPH_SUCCESS) status = GetPlatformInfo();
    if (status == ge::GRAPH_SUCCESS && !IsCapable()) status = ge::GRAPH_PARAM_INVALID;
    if (status == ge::GRAPH_SUCCESS) status = DoOpTiling();
    if (status == ge::GRAPH_SUCCESS) status = DoLibApiTiling();
    if (status == ge::GRAPH_SUCCESS) status = GetWorkspaceSize();
    if (status == ge::GRAPH_SUCCESS) status = PostTiling();
    if (status != ge::GRAPH_SUCCESS) return status;
    context_->SetTilingKey(GetTilingKey());
    DumpTilingInfo();
    return ge::GRAPH_SUCCESS;
  }

  virtual void Reset(gert::TilingContext* context) { context_ = context; }

 protected:
  virtual bool IsCapable() = 0;
  virtual ge::graphStatus GetPlatformInfo() = 0;
  virtual ge::graphStatus GetShapeAttrsInfo() = 0;
  virtual ge::graphStatus DoOpTiling() = 0;
  virtual ge::graphStatus DoLibApiTiling() = 0;
  [[nodiscard]] virtual uint64_t GetTilingKey() const = 0;
  virtual ge::graphStatus GetWorkspaceSize() = 0;
  virtual ge::graphStatus PostTiling() = 0;
  virtual void DumpTilingInfo() {
    OP_LOGD(context_, "tiling: %s", GetTilingDataDebugStr().c_str());
  }

  static uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) {
    if (aicCoreNum == 0 || aivCoreNum < aicCoreNum) return sliceNum;
    const uint32_t perCube = aivCoreNum / aicCoreNum;
    return (sliceNum + perCube - 1) / perCube;
  }

  template <typename T>
  [[nodiscard]] std::string GetShapeDebugStr(const T& shape) const {
    return ToString(shape);
  }
  [[nodiscard]] std::string GetTensorDebugStr(const gert::StorageShape* shape,
                                              const gert::CompileTimeTensorDesc* tensor) {
    if (shape == nullptr || tensor == nullptr) return "nil ";
    return ToString(tensor->GetDataType()) + " " + ToString(shape->GetStorageShape()) + " " +
           ToString(tensor->GetStorageFormat()) + " of " + ToString(shape->GetOriginShape()) + " " +
           ToString(tensor->GetOriginFormat());
  }
  [[nodiscard]] std::string GetTilingContextDebugStr() {
    std::string text;
    for (size_t i = 0; i < context_->GetComputeNodeInputNum(); ++i) {
      text += "input" + std::to_string(i) + ": " +
              GetTensorDebugStr(context_->GetInputShape(i), context_->GetInputDesc(i)) + "; ";
    }
    for (size_t i = 0; i < context_->GetComputeNodeOutputNum(); ++i) {
      text += "output" + std::to_string(i) + ": " +
              GetTensorDebugStr(context_->GetOutputShape(i), context_->GetOutputDesc(i)) + "; ";
    }
    return text;
  }
  [[nodiscard]] std::string GetTilingDataDebugStr() const {
    gert::TilingData* raw = context_->GetRawTilingData();
    if (raw == nullptr) return "nil ";
    std::ostringstream text;
    const auto* words = static_cast<const int32_t*>(raw->GetData());
    for (size_t i = 0; i < raw->GetDataSize() / sizeof(int32_t); ++i) text << words[i] << ", ";
    return text.str();
  }

  gert::TilingContext* context_ = nullptr;
  std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_;
  uint32_t blockDim_ = 0;
  uint64_t workspaceSize_ = 0;
  uint64_t tilingKey_ = 0;
  AiCoreParams aicoreParams_;
};

}  // namespace Base
}  // namespace Ops

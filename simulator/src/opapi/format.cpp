// SPDX-License-Identifier: Apache-2.0
// NpuFormatCast, and the storage that a tensor needs for it.
#include <algorithm>

#include "aclnnop/aclnn_npu_format_cast.h"
#include "opapi/functions.h"
#include "opbase/context.h"
#include "opbase/l0_common.h"
#include "opdev/data_type_utils.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/platform.h"

namespace opapi {
namespace {

constexpr int kSourcesType = -1;
constexpr int64_t kBlockRowBytes = 32;

// How many columns the blocks of FRACTAL_NZ have; 0 for a type that has no such blocks here.
int64_t BlockColumns(op::DataType type) {
  const int size = ge::GetSizeByDataType(type);
  return size == 1 || size == 2 || size == 4 ? kBlockRowBytes / size : 0;
}

// Ascend 950 names the width where it is not that of the elements.
int FormatOf(op::DataType elements, op::DataType blocks) {
  const bool named = op::GetCurrentPlatformInfo().GetCurNpuArch() == NpuArch::DAV_3510 &&
                     ge::GetSizeByDataType(elements) != ge::GetSizeByDataType(blocks);
  if (!named) return op::Format::FORMAT_FRACTAL_NZ;
  switch (BlockColumns(blocks)) {
    case 8:
      return op::Format::FORMAT_FRACTAL_NZ_C0_8;
    case 16:
      return op::Format::FORMAT_FRACTAL_NZ_C0_16;
    default:
      return op::Format::FORMAT_FRACTAL_NZ_C0_32;
  }
}

aclnnStatus NotSimulated(const char* name, const std::string& got, const char* want) {
  OP_LOGE(ACLNN_ERR_RUNTIME_ERROR, "%s: got %s, want %s: other casts are not simulated", name,
          got.c_str(), want);
  return ACLNN_ERR_RUNTIME_ERROR;
}

aclnnStatus Calculate(const aclTensor* src, int format, int type, op::Shape* shape, int* actual) {
  const op::Shape& dims = src->GetViewShape();
  const bool fromNz = l0op::IsNz(src->GetStorageFormat());
  if (op::IsPrivateFormat(src->GetStorageFormat()) && !fromNz) {
    return NotSimulated("srcTensor", op::ToString(src->GetStorageFormat()).GetString(),
                        "FRACTAL_NZ or a base format");
  }
  if (dims.GetDimNum() < 2 || dims.GetDimNum() > 6 || src->IsEmpty()) {
    return Refuse("srcTensor", ShapeText(dims), "2 to 6 dims, and elements");
  }
  if (!op::IsPrivateFormat(static_cast<op::Format>(format))) {
    *shape = dims;
    *actual = format;
    return ACLNN_SUCCESS;
  }
  if (format != op::Format::FORMAT_FRACTAL_NZ || fromNz) {
    return NotSimulated("dstFormat", std::to_string(format), "29 (FRACTAL_NZ) or a base format");
  }
  const op::DataType own = src->GetDataType();
  const op::DataType blocks = type == kSourcesType ? own : static_cast<op::DataType>(type);
  if (BlockColumns(own) == 0 || BlockColumns(blocks) == 0) {
    return Refuse("additionalDtype", TypeText(blocks) + " for " + TypeText(own),
                  "types of 1, 2 or 4 bytes");
  }
  *shape = l0op::NzShape(dims, BlockColumns(blocks));
  *actual = FormatOf(own, blocks);
  return ACLNN_SUCCESS;
}

}  // namespace

aclnnStatus FormatCast(const aclTensor* src, const aclTensor* dst, aclOpExecutor* executor) {
  return l0op::AddFormatCast("NpuFormatCast", src, dst, executor) ? ACLNN_SUCCESS
                                                                  : ACLNN_ERR_PARAM_INVALID;
}

}  // namespace opapi

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor* srcTensor,
                                                     const int dstFormat, const int additionalDtype,
                                                     int64_t** dstShape, uint64_t* dstShapeSize,
                                                     int* actualFormat) {
  op::internal::CurrentCall().api = __func__;
  if (srcTensor == nullptr || dstShape == nullptr || dstShapeSize == nullptr ||
      actualFormat == nullptr) {
    OP_LOGE(ACLNN_ERR_PARAM_NULLPTR,
            "aclnnNpuFormatCastCalculateSizeAndFormat: got a null pointer");
    return ACLNN_ERR_PARAM_NULLPTR;
  }
  op::Shape shape;
  const aclnnStatus status =
      opapi::Calculate(srcTensor, dstFormat, additionalDtype, &shape, actualFormat);
  if (status != ACLNN_SUCCESS) return status;
  const op::ShapeVector dims = op::ToShapeVector(shape);
  *dstShape = new int64_t[dims.size()];
  std::copy(dims.begin(), dims.end(), *dstShape);
  *dstShapeSize = dims.size();
  return ACLNN_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
// Geometry of views.
#include "opbase/view.h"

#include "opbase/storage.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

namespace op::internal {

bool IsRowMajor(const Shape& shape, const Strides& strides) {
  const int64_t elements = shape.GetShapeSize();
  if (elements == 0 || elements == 1) return true;
  int64_t expected = 1;
  for (size_t i = shape.GetDimNum(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, shape[i], &expected)) return false;
  }
  return true;
}

bool ElementRange(const Shape& shape, const Strides& strides, int64_t offset, int64_t* first,
                  int64_t* last) {
  *first = offset;
  *last = offset;
  bool empty = false;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    if (shape[i] < 0) return false;
    empty = empty || shape[i] == 0;
  }
  if (empty) {
    return !__builtin_sub_overflow(offset, int64_t{1}, last);
  }
  int64_t elements = 1;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    if (shape[i] > kMaxElements / elements) return false;
    elements *= shape[i];
    int64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach)) return false;
    int64_t* end = reach < 0 ? first : last;
    if (__builtin_add_overflow(*end, reach, end)) return false;
  }
  return *last < kMaxElements;
}

bool ByteRange(const Shape& shape, const Strides& strides, int64_t offset, DataType dataType,
               int64_t* begin, int64_t* end) {
  int64_t first = 0;
  int64_t last = 0;
  if (!ElementRange(shape, strides, offset, &first, &last)) return false;
  const int size = ge::GetSizeByDataType(dataType);
  if (size <= 0) return false;
  if (size >= ge::kDataTypeSizeBitOffset) {
    const int64_t bits = size - ge::kDataTypeSizeBitOffset;
    if (first < 0 || first * bits % 8 != 0 || !IsRowMajor(shape, strides)) return false;
    *begin = first * bits / 8;
    *end = *begin + ge::GetSizeInBytes(last - first + 1, dataType);
    return true;
  }
  return !__builtin_mul_overflow(first, int64_t{size}, begin) &&
         !__builtin_add_overflow(last, int64_t{1}, end) &&
         !__builtin_mul_overflow(*end, int64_t{size}, end);
}

bool CheckView(const aclTensor* tensor, const char* name) {
  const Shape& shape = tensor->GetViewShape();
  const Strides& strides = tensor->GetViewStrides();
  // The dims of a private format say nothing about places in memory.
  if (IsPrivateFormat(tensor->GetStorageFormat())) return true;
  const Storage& memory = *HandleMaker::StorageOf(tensor);
  int64_t first = 0;
  int64_t last = 0;
  if (!ElementRange(shape, strides, tensor->GetViewOffset(), &first, &last)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s has shape %s with strides %s, which no memory can hold",
            name, ToString(shape).GetString(), ToString(strides).GetString());
    return false;
  }
  if (tensor->IsEmpty() || (first >= 0 && memory.kind != Storage::Kind::kCaller)) return true;
  if (first >= 0 && last < memory.elements) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID,
          "%s reaches outside its storage: shape %s with strides %s and offset %ld covers elements "
          "%ld to %ld, the storage has %ld",
          name, ToString(shape).GetString(), ToString(strides).GetString(),
          static_cast<long>(tensor->GetViewOffset()), static_cast<long>(first),
          static_cast<long>(last), static_cast<long>(memory.elements));
  return false;
}

}  // namespace op::internal

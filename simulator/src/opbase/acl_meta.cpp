// SPDX-License-Identifier: Apache-2.0
// The C interface of tensors, scalars, arrays, lists and executors.
#include "aclnn/acl_meta.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "aclnn/aclnn_base.h"
#include "host/format.h"
#include "opbase/storage.h"
#include "opdev/format_utils.h"
#include "opdev/op_errno.h"
#include "opdev/op_executor.h"
#include "opdev/shape_utils.h"
#include "runtime/runtime.h"

using op::internal::DestroyHandle;
using op::internal::HandleKind;
using op::internal::HandleMaker;
using op::internal::HoldHandles;
using op::internal::IsAlive;
using op::internal::Storage;

namespace {

// Messages of this file name the C function, whatever aclnn call came before.
__attribute__((format(printf, 3, 4))) aclnnStatus Refuse(aclnnStatus status, const char* function,
                                                         const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const std::string text = aclsim::FormatV(fmt, args);
  va_end(args);
  aclsim::ReportError("[%d] %s: %s", status, function, text.c_str());
  return status;
}

bool DimsFit(const char* function, uint64_t dims) {
  if (dims <= op::MAX_DIM_NUM) return true;
  Refuse(ACLNN_ERR_PARAM_INVALID, function, "%lu dims, at most %lu are possible",
         static_cast<unsigned long>(dims), static_cast<unsigned long>(op::MAX_DIM_NUM));
  return false;
}

// Callers may pass numbers that the enumerations do not have; read as plain integers, they stay
// defined.
template <typename To, typename From>
To FromCaller(const From& value, To undefined) {
  int number = 0;
  static_assert(sizeof(number) == sizeof(value));
  std::memcpy(&number, &value, sizeof(number));
  return number == -1 ? undefined : static_cast<To>(number);
}

struct TensorText {
  op::Shape view;
  op::Shape storage;
  op::Strides strides;
  const op::Strides* stridesOrNull = nullptr;
};

TensorText Describe(const int64_t* viewDims, uint64_t viewDimsNum, const int64_t* stride,
                    const int64_t* storageDims, uint64_t storageDimsNum) {
  TensorText text;
  op::ToShape(viewDims, viewDimsNum, text.view);
  op::ToShape(storageDims, storageDimsNum, text.storage);
  if (stride != nullptr) text.strides.assign(stride, stride + viewDimsNum);
  return text;
}

// Runs a maker; anything thrown, such as bad_alloc for an absurd size, is NULL with a message.
template <typename F>
[[gnu::always_inline]] inline auto Make(const char* function, F maker) -> decltype(maker()) {
  const op::internal::MadeByProgram byProgram(function, __builtin_return_address(0));
  try {
    return maker();
  } catch (const std::exception& error) {
    Refuse(ACLNN_ERR_INNER, function, "%s", error.what());
    return nullptr;
  }
}

// A handle that is not alive, as an error and as a finding.
aclnnStatus RefuseStale(aclnnStatus status, const char* function, HandleKind kind,
                        const void* handle, const char* next) {
  const op::internal::Stale stale = op::internal::DescribeStale(kind, handle);
  const bool twice = std::strncmp(function, "aclDestroy", 10) == 0 &&
                     std::strcmp(stale.mistake, "host-wrong-handle") != 0;
  char detail[512];
  std::snprintf(detail, sizeof(detail), "%p %s", handle, stale.text.c_str());
  aclsim::ReportMisuse({twice ? "host-double-free" : stale.mistake,
                        function,
                        op::internal::HandleKindName(kind),
                        detail,
                        next,
                        {}});
  return Refuse(status, function, "%s. Next: %s", detail, next);
}

aclnnStatus Destroy(const char* function, HandleKind kind, const void* handle) {
  if (handle == nullptr || DestroyHandle(kind, handle)) return OK;
  return RefuseStale(ACLNN_ERR_PARAM_INVALID, function, kind, handle, "destroy each handle once");
}

// A list owns what is in it, as documented: its items are destroyed with it.
template <typename List>
aclnnStatus DestroyList(const char* function, HandleKind kind, HandleKind itemKind,
                        const List* list) {
  const HoldHandles hold;
  if (list == nullptr || !IsAlive(kind, list)) return Destroy(function, kind, list);
  aclnnStatus status = OK;
  for (uint64_t i = 0; i < list->Size(); ++i) {
    const aclnnStatus destroyed = Destroy(function, itemKind, (*list)[i]);
    if (destroyed != OK) status = destroyed;
  }
  const aclnnStatus destroyed = Destroy(function, kind, list);
  return status != OK ? status : destroyed;
}

aclnnStatus CheckAlive(const char* function, HandleKind kind, const void* handle) {
  if (handle == nullptr) return Refuse(ACLNN_ERR_PARAM_NULLPTR, function, "the handle is NULL");
  if (IsAlive(kind, handle)) return OK;
  return RefuseStale(ACLNN_ERR_PARAM_INVALID, function, kind, handle,
                     "destroy it after its last use");
}

// Getters test their result pointers together with the handle.
template <typename... Outs>
aclnnStatus CheckGetter(const char* function, HandleKind kind, const void* handle, Outs... outs) {
  if (handle == nullptr || ((outs == nullptr) || ...)) {
    return Refuse(ACLNN_ERR_PARAM_NULLPTR, function, "an argument is NULL");
  }
  return CheckAlive(function, kind, handle);
}

template <typename Source>
aclnnStatus CopyOut(const char* function, const Source& source, size_t count, int64_t** values,
                    uint64_t* valueCount) {
  int64_t* copy = new (std::nothrow) int64_t[count + op::internal::kArrayMargin]();
  if (copy == nullptr) return ACLNN_ERR_INNER_NULLPTR;
  for (size_t i = 0; i < count; ++i) copy[i] = source[i];
  op::internal::NoteArray(function, copy, count);
  *values = copy;
  *valueCount = count;
  return OK;
}

aclnnStatus CheckExecutor(const char* function, const aclOpExecutor* executor) {
  if (executor == nullptr) {
    return Refuse(ACLNN_ERR_INNER_NULLPTR, function, "the executor is NULL");
  }
  if (op::internal::IsAliveExecutor(executor)) return OK;
  return RefuseStale(ACLNN_ERR_INNER, function, HandleKind::kOther, executor,
                     "make an executor repeatable with aclSetAclOpExecutorRepeatable before its "
                     "first run if it is needed after that");
}

aclnnStatus SetAddr(const char* function, aclOpExecutor* executor, aclTensor* tensor, void* addr) {
  const HoldHandles hold;
  if (tensor == nullptr) {
    return Refuse(ACLNN_ERR_INNER_NULLPTR, function, "the tensor is NULL");
  }
  const aclnnStatus status = CheckExecutor(function, executor);
  if (status != OK) return status;
  if (!IsAlive(HandleKind::kTensor, tensor)) {
    return RefuseStale(ACLNN_ERR_PARAM_INVALID, function, HandleKind::kTensor, tensor,
                       "destroy it after its last use");
  }
  tensor->SetStorageAddr(addr);
  return OK;
}

aclnnStatus SetListAddr(const char* function, aclOpExecutor* executor, size_t index,
                        aclTensorList* tensors, void* addr) {
  const HoldHandles hold;
  if (tensors == nullptr) {
    return Refuse(ACLNN_ERR_INNER_NULLPTR, function, "the tensor list is NULL");
  }
  if (!IsAlive(HandleKind::kTensorList, tensors)) {
    return RefuseStale(ACLNN_ERR_PARAM_INVALID, function, HandleKind::kTensorList, tensors,
                       "destroy it after its last use");
  }
  if (index >= tensors->Size()) {
    return Refuse(ACLNN_ERR_PARAM_INVALID, function, "index %lu in a list of %lu tensors",
                  static_cast<unsigned long>(index), static_cast<unsigned long>(tensors->Size()));
  }
  return SetAddr(function, executor, (*tensors)[index], addr);
}

}  // namespace

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  if ((viewDims == nullptr && viewDimsNum > 0) || (storageDims == nullptr && storageDimsNum > 0)) {
    Refuse(ACLNN_ERR_PARAM_NULLPTR, __func__, "dims are NULL");
    return nullptr;
  }
  if (!DimsFit(__func__, viewDimsNum) || !DimsFit(__func__, storageDimsNum)) return nullptr;
  return Make(__func__, [&] {
    const TensorText text = Describe(viewDims, viewDimsNum, stride, storageDims, storageDimsNum);
    aclTensor* tensor = HandleMaker::NewTensor(
        text.view, stride == nullptr ? nullptr : &text.strides, offset,
        FromCaller(dataType, op::DataType::DT_UNDEFINED),
        FromCaller(format, op::Format::FORMAT_MAX), text.storage, std::make_shared<Storage>());
    HandleMaker::DescribeCaller(tensor, tensorData);
    if (op::IsPrivateFormat(tensor->GetStorageFormat())) aclsim::NotePrivateFormat();
    return tensor;
  });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
  const HoldHandles hold;
  const aclnnStatus status = CheckAlive(__func__, HandleKind::kTensor, tensor);
  if (status != OK) return status;
  if ((viewDims == nullptr && viewDimsNum > 0) || (storageDims == nullptr && storageDimsNum > 0)) {
    return Refuse(ACLNN_ERR_PARAM_NULLPTR, __func__, "dims are NULL");
  }
  if (!DimsFit(__func__, viewDimsNum) || !DimsFit(__func__, storageDimsNum)) {
    return ACLNN_ERR_PARAM_INVALID;
  }
  const TensorText text = Describe(viewDims, viewDimsNum, stride, storageDims, storageDimsNum);
  HandleMaker::InitTensor(tensor, text.view, stride == nullptr ? nullptr : &text.strides, offset,
                          FromCaller(dataType, op::DataType::DT_UNDEFINED),
                          FromCaller(format, op::Format::FORMAT_MAX), text.storage);
  HandleMaker::DescribeCaller(tensor, tensorDataAddr);
  if (op::IsPrivateFormat(tensor->GetStorageFormat())) aclsim::NotePrivateFormat();
  return OK;
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  if (value == nullptr) {
    Refuse(ACLNN_ERR_PARAM_NULLPTR, __func__, "the value is NULL");
    return nullptr;
  }
  return Make(__func__, [&] {
    return HandleMaker::NewScalar(value, FromCaller(dataType, op::DataType::DT_UNDEFINED));
  });
}

#define ACL_DEFINE_ARRAY_API(Name, T)                                                             \
  acl##Name##Array* aclCreate##Name##Array(const T* value, uint64_t size) {                       \
    if (value == nullptr && size > 0) {                                                           \
      Refuse(ACLNN_ERR_PARAM_NULLPTR, __func__, "the values are NULL");                           \
      return nullptr;                                                                             \
    }                                                                                             \
    return Make(__func__, [&] {                                                                   \
      return HandleMaker::NewArray<acl##Name##Array, T>(value, size, HandleKind::k##Name##Array); \
    });                                                                                           \
  }                                                                                               \
  aclnnStatus aclDestroy##Name##Array(const acl##Name##Array* array) {                            \
    return Destroy(__func__, HandleKind::k##Name##Array, array);                                  \
  }                                                                                               \
  aclnnStatus aclGet##Name##ArraySize(const acl##Name##Array* array, uint64_t* size) {            \
    const HoldHandles hold;                                                                       \
    const aclnnStatus status = CheckGetter(__func__, HandleKind::k##Name##Array, array, size);    \
    if (status == OK) *size = array->Size();                                                      \
    return status;                                                                                \
  }
ACL_DEFINE_ARRAY_API(Int, int64_t)
ACL_DEFINE_ARRAY_API(Float, float)
ACL_DEFINE_ARRAY_API(Bool, bool)
#undef ACL_DEFINE_ARRAY_API

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  if (value == nullptr && size > 0) {
    Refuse(ACLNN_ERR_PARAM_NULLPTR, __func__, "the values are NULL");
    return nullptr;
  }
  return Make(__func__, [&] { return HandleMaker::NewTensorList(value, size); });
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  if (value == nullptr && size > 0) {
    Refuse(ACLNN_ERR_PARAM_NULLPTR, __func__, "the values are NULL");
    return nullptr;
  }
  return Make(__func__, [&] { return HandleMaker::NewScalarList(value, size); });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  const HoldHandles hold;
  // Views in executors outlive the tensor; the mark lets the second stage name what happened.
  if (tensor != nullptr && IsAlive(HandleKind::kTensor, tensor)) {
    HandleMaker::StorageOf(tensor)->ownerDestroyed = true;
  }
  return Destroy(__func__, HandleKind::kTensor, tensor);
}
aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return Destroy(__func__, HandleKind::kScalar, scalar);
}
aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return DestroyList(__func__, HandleKind::kTensorList, HandleKind::kTensor, array);
}
aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return DestroyList(__func__, HandleKind::kScalarList, HandleKind::kScalar, array);
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  const HoldHandles hold;
  const aclnnStatus status =
      CheckGetter(__func__, HandleKind::kTensor, tensor, viewDims, viewDimsNum);
  if (status != OK) return status;
  const op::Shape& shape = tensor->GetViewShape();
  return CopyOut(__func__, shape, shape.GetDimNum(), viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  const HoldHandles hold;
  const aclnnStatus status =
      CheckGetter(__func__, HandleKind::kTensor, tensor, storageDims, storageDimsNum);
  if (status != OK) return status;
  const op::Shape& shape = tensor->GetStorageShape();
  return CopyOut(__func__, shape, shape.GetDimNum(), storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  const HoldHandles hold;
  const aclnnStatus status =
      CheckGetter(__func__, HandleKind::kTensor, tensor, stridesValue, stridesNum);
  if (status != OK) return status;
  const op::Strides& strides = tensor->GetViewStrides();
  return CopyOut(__func__, strides, strides.size(), stridesValue, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  const HoldHandles hold;
  const aclnnStatus status = CheckGetter(__func__, HandleKind::kTensor, tensor, offset);
  if (status == OK) *offset = tensor->GetViewOffset();
  return status;
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  const HoldHandles hold;
  const aclnnStatus status = CheckGetter(__func__, HandleKind::kTensor, tensor, format);
  if (status == OK) *format = op::ToAclFormat(tensor->GetStorageFormat());
  return status;
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  const HoldHandles hold;
  const aclnnStatus status = CheckGetter(__func__, HandleKind::kTensor, tensor, dataType);
  if (status == OK) *dataType = op::ToAclDataType(tensor->GetDataType());
  return status;
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  const HoldHandles hold;
  const aclnnStatus status = CheckGetter(__func__, HandleKind::kTensorList, tensorList, size);
  if (status == OK) *size = tensorList->Size();
  return status;
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  const HoldHandles hold;
  const aclnnStatus status = CheckGetter(__func__, HandleKind::kScalarList, scalarList, size);
  if (status == OK) *size = scalarList->Size();
  return status;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  const aclnnStatus status = CheckExecutor(__func__, executor);
  if (status == OK) op::internal::DestroyExecutor(executor);
  return status;
}

// The index is CANN's for generated single-kernel operators; composite ones, as all here are, go by
// the tensor.
#define ACL_DEFINE_SET_ADDR(Suffix)                                                                \
  aclnnStatus aclSet##Suffix##TensorAddr(aclOpExecutor* executor, const size_t, aclTensor* tensor, \
                                         void* addr) {                                             \
    return SetAddr(__func__, executor, tensor, addr);                                              \
  }                                                                                                \
  aclnnStatus AclSet##Suffix##TensorAddr(aclOpExecutor* executor, const size_t, aclTensor* tensor, \
                                         void* addr) {                                             \
    return SetAddr(__func__, executor, tensor, addr);                                              \
  }                                                                                                \
  aclnnStatus aclSetDynamic##Suffix##TensorAddr(aclOpExecutor* executor, size_t,                   \
                                                const size_t relativeIndex,                        \
                                                aclTensorList* tensors, void* addr) {              \
    return SetListAddr(__func__, executor, relativeIndex, tensors, addr);                          \
  }                                                                                                \
  aclnnStatus AclSetDynamic##Suffix##TensorAddr(aclOpExecutor* executor, size_t,                   \
                                                const size_t relativeIndex,                        \
                                                aclTensorList* tensors, void* addr) {              \
    return SetListAddr(__func__, executor, relativeIndex, tensors, addr);                          \
  }
ACL_DEFINE_SET_ADDR()
ACL_DEFINE_SET_ADDR(Input)
ACL_DEFINE_SET_ADDR(Output)
#undef ACL_DEFINE_SET_ADDR

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  const HoldHandles hold;
  const aclnnStatus status = CheckAlive(__func__, HandleKind::kTensor, tensor);
  if (status == OK) tensor->SetStorageAddr(addr);
  return status;
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  const HoldHandles hold;
  const aclnnStatus status = CheckGetter(__func__, HandleKind::kTensor, tensor, addr);
  if (status == OK) *addr = tensor->GetStorageAddr();
  return status;
}

aclnnStatus aclnnInit(const char*) { return OK; }
aclnnStatus aclnnFinalize(void) { return OK; }

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// aclOpExecutor: the tasks of one aclnn call, collected in the first stage and run in the second.
#pragma once

#include <memory>
#include <vector>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "opdev/common_types.h"
#include "opdev/data_type_utils.h"
#include "opdev/fast_vector.h"
#include "opdev/object.h"
#include "opdev/op_arg_def.h"
#include "opdev/op_dfx.h"
#include "opdev/op_errno.h"
#include "opdev/op_log.h"

namespace op {
namespace internal {
struct ExecutorState;
struct HandleMaker;
}  // namespace internal
}  // namespace op

// Everything it allocates lives until it is destroyed. Allocators answer nullptr, with the reason
// reported, on failure.
struct aclOpExecutor : public op::Object {
 public:
  ~aclOpExecutor() override;

  // A temporary in the workspace; it takes memory only when a task uses it.
  aclTensor* AllocTensor(const op::Shape& shape, op::DataType dataType,
                         op::Format format = op::Format::FORMAT_ND);
  aclTensor* AllocTensor(const op::Shape& storageShape, const op::Shape& originShape,
                         op::DataType dataType, op::Format storageFormat, op::Format originFormat);
  // The shape comes later, from INFER_SHAPE.
  aclTensor* AllocTensor(op::DataType dataType, op::Format storageFormat, op::Format originFormat);

  // Host memory, for inputs whose values tiling reads.
  aclTensor* AllocHostTensor(const op::Shape& shape, op::DataType dataType,
                             op::Format format = op::Format::FORMAT_ND);
  template <typename T>
  aclTensor* AllocHostTensor(const T* values, uint64_t size, op::DataType dataType) {
    return NewHostTensor(values, op::internal::DataTypeOf<T>(), size, dataType);
  }
  template <typename T>
  const aclTensor* ConvertToTensor(const T* values, uint64_t size, op::DataType dataType) {
    return NewHostTensor(values, op::internal::DataTypeOf<T>(), size, dataType);
  }
  const aclTensor* ConvertToTensor(const aclIntArray* value, op::DataType dataType);
  const aclTensor* ConvertToTensor(const aclBoolArray* value, op::DataType dataType);
  const aclTensor* ConvertToTensor(const aclFloatArray* value, op::DataType dataType);
  const aclTensor* ConvertToTensor(const aclScalar* value, op::DataType dataType);
  const aclTensor* ConvertToTensor(const aclScalarList* value, op::DataType dataType);

  // A row-major view of shape, offset elements into the tensor's storage.
  aclTensor* CreateView(const aclTensor* tensor, const op::Shape& shape, int64_t offset);
  aclTensor* CreateView(const aclTensor* tensor, const op::Shape& viewShape,
                        const op::Shape& storageShape, const op::Strides& viewStrides,
                        int64_t offset);

  aclIntArray* AllocIntArray(const int64_t* value, uint64_t size);
  aclFloatArray* AllocFloatArray(const float* value, uint64_t size);
  aclBoolArray* AllocBoolArray(const bool* value, uint64_t size);
  aclTensorList* AllocTensorList(const aclTensor* const* tensors, uint64_t size);
  aclScalarList* AllocScalarList(const aclScalar* const* scalars, uint64_t size);
  aclScalar* AllocScalar(const void* data, op::DataType dataType);
  template <typename T>
  aclScalar* AllocScalar(T value) {
    return AllocScalar(&value, op::internal::DataTypeOf<T>());
  }

  // Plans the temporaries; call it after the last task.
  uint64_t GetWorkspaceSize() const;
  bool IsRepeatable() const;
  // For sources that rule out reuse of an executor; reuse is always possible here.
  void AbandonCache(bool disableRepeat = false);

  // Not part of CANN: what l0op functions and the runner work on.
  op::internal::ExecutorState& State() const { return *state_; }

 private:
  friend struct op::internal::HandleMaker;
  aclOpExecutor();
  aclTensor* NewHostTensor(const void* values, op::DataType valueType, uint64_t count,
                           op::DataType dataType);

  std::unique_ptr<op::internal::ExecutorState> state_;
};

// Owns the executor until the first stage has succeeded.
class UniqueExecutor : public op::Object {
 public:
  explicit UniqueExecutor(const char* funcName);
  ~UniqueExecutor() override;
  aclOpExecutor* get() const { return executor_; }
  aclOpExecutor* operator->() const { return executor_; }
  void ReleaseTo(aclOpExecutor** executor);

 private:
  aclOpExecutor* executor_;
};

// The second stage of every operator.
aclnnStatus CommonOpExecutorRun(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

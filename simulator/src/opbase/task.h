// SPDX-License-Identifier: Apache-2.0
// The steps of an executor. A task is complete when it is added: shapes and strides are copied,
// only addresses come later.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opbase/storage.h"
#include "opdev/common_types.h"
#include "runtime/runtime.h"

namespace op::internal {

// A view that a task reads or writes.
struct TensorUse {
  std::shared_ptr<Storage> storage;  // nullptr: an optional tensor that is absent
  DataType dataType = DataType::DT_UNDEFINED;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  int64_t begin = 0;  // bytes from the start of the storage that the view touches: [begin, end)
  int64_t end = 0;
  int64_t first = 0;  // byte of the view's first element
  bool rowMajor = true;
  std::string name;              // for messages
  std::vector<uint8_t> initial;  // an element that fills an output before its kernel; mostly empty
  bool partial = false;  // an output of which the kernel says only when it runs how much it writes

  int64_t Bytes() const { return end - begin; }
};

// Returns whether the elements fill all bytes of the view: row-major up to a permutation of the dims.
bool HasNoGaps(const TensorUse& use);

// False, with a reason reported, for views that have no bytes (negative dims, types without a
// size).
bool MakeUse(const aclTensor* tensor, std::string name, TensorUse* use);

struct TaskInput {
  std::vector<uint8_t*> addrs;  // by use: byte `begin` of each
  uint8_t* workspace = nullptr;
};

class Task {
 public:
  explicit Task(std::string taskName) : name(std::move(taskName)) {}
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual aclsim::TaskResult Run(const TaskInput& input) const = 0;
  // A kernel may read and write one buffer, as CANN lets it; host functions are not asked to.
  virtual bool IsKernel() const { return false; }
  // Asked in the second stage, before anything is enqueued. False: why is reported.
  virtual bool CanLaunch() const { return true; }

  std::string name;
  std::vector<TensorUse> uses;  // inputs, then outputs
  size_t inputCount = 0;
  uint64_t workspaceBytes = 0;
  uint64_t workspaceOffset = 0;  // set by planning
  bool isViewCopy = false;       // one input copied to one output: planning may do without it
};

// These say how the result of a host function depends on what its input has of written and unwritten memory.
enum class Flow : uint8_t {
  kMove,      // bytes of the one input go to the one output unchanged
  kElements,  // element i of the output is made of element i of each input, or of the only one that
              // it has; all row-major
  kAll,       // every element may depend on every byte
};

// A function on host pointers to the first elements of the views.
class HostTask : public Task {
 public:
  using Body = std::function<void(const std::vector<TensorUse>& uses,
                                  const std::vector<uint8_t*>& firstElements)>;
  HostTask(std::string taskName, std::vector<TensorUse> inputs, TensorUse out, Flow flow,
           Body body);
  aclsim::TaskResult Run(const TaskInput& input) const override;

 private:
  void MarkWritten(const TaskInput& input) const;
  void MoveShadow(const TaskInput& input) const;
  void MergeShadows(const TaskInput& input) const;

  Flow flow_;
  Body body_;
};

}  // namespace op::internal

// SPDX-License-Identifier: Apache-2.0
// Calls aclnnSoftmaxBackward from C++: plan, run, read back. The same source runs on the simulator and on an NPU.
//
//   g++ -std=c++17 softmax_backward.cpp $(aclgrad config --cflags --libs) -o softmax_backward && ./softmax_backward
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_softmax_backward.h"

namespace {

void Check(int32_t code, const char* call) {
  if (code != ACL_SUCCESS) {
    const char* why = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s returned %d: %s\n", call, code, why == nullptr ? "" : why);
    std::exit(1);
  }
}
#define CHECK(call) Check(call, #call)

struct FreeDevice {
  void operator()(void* address) const { aclrtFree(address); }
};
using DeviceMemory = std::unique_ptr<void, FreeDevice>;

struct DestroyTensor {
  void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using TensorHandle = std::unique_ptr<aclTensor, DestroyTensor>;

DeviceMemory Allocate(size_t bytes) {
  void* address = nullptr;
  CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return DeviceMemory(address);
}

DeviceMemory Upload(const std::vector<float>& values) {
  const size_t bytes = values.size() * sizeof(float);
  DeviceMemory memory = Allocate(bytes);
  CHECK(aclrtMemcpy(memory.get(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return memory;
}

TensorHandle RowMajor(const std::vector<int64_t>& shape, void* address) {
  // No strides: the tensor is contiguous.
  return TensorHandle(aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0,
                                      ACL_FORMAT_ND, shape.data(), shape.size(), address));
}

void Run() {
  const std::vector<int64_t> shape = {2, 3};
  const std::vector<float> grad = {1, 2, 3, -1, 0, 1};
  const std::vector<float> softmax = {0.25F, 0.25F, 0.5F, 0.5F, 0.25F, 0.25F};

  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));
  {
    const DeviceMemory gradMemory = Upload(grad);
    const DeviceMemory softmaxMemory = Upload(softmax);
    const DeviceMemory outMemory = Allocate(grad.size() * sizeof(float));
    const TensorHandle gradTensor = RowMajor(shape, gradMemory.get());
    const TensorHandle softmaxTensor = RowMajor(shape, softmaxMemory.get());
    const TensorHandle outTensor = RowMajor(shape, outMemory.get());

    uint64_t workspaceBytes = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnSoftmaxBackwardGetWorkspaceSize(gradTensor.get(), softmaxTensor.get(), -1,
                                               outTensor.get(), &workspaceBytes, &executor));
    const DeviceMemory workspace = workspaceBytes == 0 ? DeviceMemory() : Allocate(workspaceBytes);
    CHECK(aclnnSoftmaxBackward(workspace.get(), workspaceBytes, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));

    std::vector<float> out(grad.size());
    const size_t bytes = out.size() * sizeof(float);
    CHECK(aclrtMemcpy(out.data(), bytes, outMemory.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t row = 0; row < 2; ++row) {
      std::printf("%9.6f %9.6f %9.6f\n", out[3 * row], out[3 * row + 1], out[3 * row + 2]);
    }
  }
  CHECK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  Run();
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Launches a kernel by a function of the kernel's file, and by the header that the library brings.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclrtlaunch_scale_float.h"
#include "aclrtlaunch_scale_half.h"

extern void scale_do(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* y, float factor);

int main() {
  constexpr uint32_t kCores = 3;
  constexpr size_t kElements = 64 * kCores;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  void* x = nullptr;
  void* y = nullptr;
  const size_t bytes = kElements * sizeof(float);
  aclrtMalloc(&x, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&y, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  std::vector<float> values(kElements, 1.5F);
  aclrtMemcpy(x, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  scale_do(kCores, stream, static_cast<uint8_t*>(x), static_cast<uint8_t*>(y), 10);
  const uint32_t code = ACLRT_LAUNCH_KERNEL(scale_float)(kCores, stream, y, x, 0.5F);
  const int synchronised = aclrtSynchronizeStream(stream);
  aclrtMemcpy(values.data(), bytes, x, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("%u %d %g %g\n", code, synchronised, values[0], values[kElements - 1]);
  aclrtFree(x);
  aclrtFree(y);
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
  return 0;
}

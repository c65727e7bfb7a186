// SPDX-License-Identifier: Apache-2.0
// Debugging aids, and a kernel to stop in with gdb. With MAIN it is a program of its own.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ void debug_kernel(GM_ADDR gm) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 128);
  GlobalTensor<half> global;
  global.SetGlobalBuffer(reinterpret_cast<half*>(gm));
  LocalTensor<half> local = buffer.Get<half>();
  DataCopy(local, global, 16);
  const half first = local.GetValue(0);
  Adds(local, local, half(0.5f), 16);  // BREAK
  PRINTF("core %d of %d: first %f\n", static_cast<int>(GetBlockIdx()),
         static_cast<int>(GetBlockNum()), first);
  PRINTF("no arguments\n");
  DumpTensor(local, 7, 4);
  DumpTensor(global, 8, 2);
  ASSERT(first != half(99.0f) && "planted");
}

#ifdef MAIN
#include "acl/acl.h"
#include "aclsim/aclsim.h"

int main() {
  void* device = nullptr;
  uint64_t bytes = 64;
  const uint16_t one = 0x3c00;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 ||
      aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0 ||
      aclrtMemset(device, bytes, 0, bytes) != 0 ||
      aclrtMemcpy(device, bytes, &one, sizeof(one), ACL_MEMCPY_HOST_TO_DEVICE) != 0) {
    return 1;
  }
  aclsimLaunchKernel("debug", reinterpret_cast<const void*>(&debug_kernel), 1, 0, &device, &bytes,
                     1, nullptr);
  return aclrtSynchronizeStream(nullptr);
}
#endif

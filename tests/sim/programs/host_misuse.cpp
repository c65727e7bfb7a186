// SPDX-License-Identifier: Apache-2.0
// A host program that makes the mistake which its argument names; prints the findings after it.
#include <cstdio>
#include <cstring>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclsim/aclsim.h"

int main(int, char** argv) {
  void* block = nullptr;
  aclrtStream stream = nullptr;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtMalloc(&block, 256, ACL_MEM_MALLOC_HUGE_FIRST);  // MALLOC
  aclrtCreateStream(&stream);                           // STREAM
  char host[256] = {};
  if (std::strcmp(argv[1], "unsynchronised") == 0) {
    aclrtMemsetAsync(block, 256, 0, 256, stream);                   // WRITE
    aclrtMemcpy(host, 256, block, 256, ACL_MEMCPY_DEVICE_TO_HOST);  // MISTAKE unsynchronised
    aclrtSynchronizeStream(stream);
  } else if (std::strcmp(argv[1], "free") == 0) {
    aclrtFree(block);
    aclrtMemcpy(block, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE);  // MISTAKE free
  } else {
    const int64_t dims[] = {2, 3};
    aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, block);  // TENSOR
  }
  aclFinalize();  // FINALIZE
  std::puts(aclsimFindings());
  return 0;
}

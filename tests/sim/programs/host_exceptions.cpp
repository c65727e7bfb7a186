// SPDX-License-Identifier: Apache-2.0
// Host functions that throw: host_exceptions HOW WHAT, "host" or "callback" and 0 or 1. Prints what the runtime says.
#include <acl/acl.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

void Throw(void* what) {
  if (*static_cast<int*>(what) == 0) throw std::runtime_error("no file");
  throw 42;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int what = std::atoi(argv[2]);
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  int processed = 0;
  if (std::strcmp(argv[1], "host") == 0) {
    if (aclrtLaunchHostFunc(stream, Throw, &what) != 0) return 3;
  } else {
    aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream);
    if (aclrtLaunchCallback(Throw, &what, ACL_CALLBACK_BLOCK, stream) != 0) return 3;
    processed = aclrtProcessReport(10000);
  }
  const int synchronized = aclrtSynchronizeStreamWithTimeout(stream, 10000);
  std::printf("%d %d %s\n", processed, synchronized, aclGetRecentErrMsg());
  return 0;
}

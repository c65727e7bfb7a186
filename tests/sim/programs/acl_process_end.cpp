// SPDX-License-Identifier: Apache-2.0
// Ways to leave a process that has a busy stream: "exit", "return", "fork" (the child uses the runtime anew), "callback" (a
// task of the stream calls exit). Each must end, with status 0.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

static void Sleep(void*) { usleep(50 * 1000); }
static void Leave(void*) { std::exit(0); }

static int Child() {
  void* block = nullptr;
  aclrtStream stream = nullptr;
  char byte = 0;
  if (aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_UNINITIALIZE) {
    return 10;
  }
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0 ||
      aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0 ||
      aclrtMemsetAsync(block, 64, 7, 64, stream) != 0 || aclrtSynchronizeStream(stream) != 0 ||
      aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST) != 0) {
    return 11;
  }
  return byte == 7 ? 0 : 12;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "return";
  aclrtStream stream = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) {
    return 1;
  }
  for (int i = 0; i < 24000; ++i) {
    aclrtLaunchHostFunc(stream, Sleep, nullptr);
  }
  if (std::strcmp(how, "exit") == 0) {
    std::exit(0);
  }
  if (std::strcmp(how, "callback") == 0) {
    aclrtStream other = nullptr;
    aclrtCreateStream(&other);
    aclrtLaunchHostFunc(other, Leave, nullptr);
    aclrtSynchronizeStream(stream);
    return 2;
  }
  if (std::strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      std::exit(Child());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
  }
  return 0;
}

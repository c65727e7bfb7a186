// SPDX-License-Identifier: Apache-2.0
// Dereferences a device pointer on the host: "live", "freed", or "other" for an address that has nothing to do with the
// device. With "handler", the program had a SIGSEGV handler of its own before aclInit.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "acl/acl.h"

static void OwnHandler(int) {
  static const char text[] = "own handler ran\n";
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
    _exit(4);
  }
  _exit(3);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "live";
  if (argc > 2 && std::strcmp(argv[2], "handler") == 0) {
    signal(SIGSEGV, OwnHandler);
  }
  void* block = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 ||
      aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
    return 1;
  }
  volatile char* target = static_cast<char*>(block) + 100;
  if (std::strcmp(what, "freed") == 0) {
    aclrtFree(block);
  } else if (std::strcmp(what, "other") == 0) {
    target = reinterpret_cast<char*>(8);
  }
  std::printf("%p\n", const_cast<char*>(target));
  std::fflush(stdout);
  *target = 1;
  return 2;
}

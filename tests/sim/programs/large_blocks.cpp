// SPDX-License-Identifier: Apache-2.0
// Device blocks that are used in part. Prints how many MiB of memory they took, and bytes around one that was written.
#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <fstream>

namespace {

constexpr size_t kBytes = 3ULL << 30;
constexpr size_t kAt = (1ULL << 30) + 5;

long ResidentMiB() {
  std::ifstream statm("/proc/self/statm");
  long all = 0;
  long resident = 0;
  statm >> all >> resident;
  return resident * 4096 >> 20;
}

void Show(uint8_t* block) {
  uint8_t bytes[3] = {};
  aclrtMemcpy(bytes, 3, block + kAt - 1, 3, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf(" %02x %02x %02x", bytes[0], bytes[1], bytes[2]);
}

}  // namespace

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  const long before = ResidentMiB();
  uint8_t* one = nullptr;
  uint8_t* other = nullptr;
  for (int round = 0; round < 2; ++round) {
    for (uint8_t** block : {&one, &other}) {
      if (aclrtMalloc(reinterpret_cast<void**>(block), kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        std::printf("%s\n", aclGetRecentErrMsg());
        return 1;
      }
    }
    const uint8_t value = 0x5A;
    aclrtMemcpy(one + kAt, 1, &value, 1, ACL_MEMCPY_HOST_TO_DEVICE);
    std::printf("%ld MiB:", ResidentMiB() - before);
    Show(one);
    Show(other);
    std::printf("\n");
    aclrtFree(one);
    aclrtFree(other);
  }
  return 0;
}

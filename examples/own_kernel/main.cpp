// SPDX-License-Identifier: Apache-2.0
// Launches the kernel on 1000 values over 7 cores and checks them.
#include <dlfcn.h>

#include <vector>

#include "../common.h"
#include "aclsim/aclsim.h"

int main() {
  const example::Session session;
  void* library = dlopen(KERNEL_LIBRARY, RTLD_NOW);
  const void* entry = library == nullptr ? nullptr : dlsym(library, "scale");
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }

  constexpr uint32_t kCount = 1000;
  constexpr uint16_t kOne = 0x3c00;  // half
  constexpr uint16_t kTwo = 0x4000;
  std::vector<uint16_t> values(kCount, kOne);
  const uint64_t bytes = kCount * sizeof(uint16_t);
  const example::DeviceMemory x = example::Allocate(bytes);
  const example::DeviceMemory y = example::Allocate(bytes);
  const example::DeviceMemory lengths = example::Allocate(sizeof(kCount));
  CHECK(aclrtMemcpy(x.get(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(aclrtMemcpy(lengths.get(), sizeof(kCount), &kCount, sizeof(kCount),
                    ACL_MEMCPY_HOST_TO_DEVICE));

  void* const args[] = {x.get(), y.get(), lengths.get()};
  const uint64_t argBytes[] = {bytes, bytes, sizeof(kCount)};
  CHECK(aclsimLaunchKernel("scale", entry, 7, 0, args, argBytes, 3, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));

  CHECK(aclrtMemcpy(values.data(), bytes, y.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (const uint16_t value : values) {
    if (value != kTwo) {
      std::fprintf(stderr, "got bits 0x%04x, want 0x%04x\n", value, kTwo);
      return 1;
    }
  }
  std::printf("%u values doubled\n", kCount);
}

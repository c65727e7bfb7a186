// SPDX-License-Identifier: Apache-2.0
// Code of others that faults: with no lock, under HoldsLocks of its own, or under one that was there before; or that frees a block twice.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "host/crash.h"

int main(int, char** words) {
  const bool inside = std::strcmp(words[1], "inside") == 0;
  const bool twice = std::strcmp(words[1], "twice") == 0;
  void* volatile block = std::malloc(2000);
  volatile int* volatile nowhere = reinterpret_cast<int*>(8);
  std::optional<aclsim::HoldsLocks> before;
  if (std::strcmp(words[1], "before") == 0) before.emplace();
  for (int round = 0; round < 2; ++round) {
    const auto crash = aclsim::RunForeign(nullptr, [&] {
      {
        const aclsim::HoldsLocks done;
      }
      std::optional<aclsim::HoldsLocks> locks;
      if (inside) locks.emplace();
      for (int i = 0; twice && i < 2; ++i) std::free(block);
      *nowhere = 1;
    });
    std::printf("%s\n", crash ? aclsim::CrashText(*crash).c_str() : "no fault");
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "host/lock.h"

#ifdef ACLSIM_CHECKS_LOCKS

#include <array>
#include <cstdio>
#include <cstdlib>

namespace aclsim {
namespace {

struct HeldLock {
  int row;
  const char* name;
  const void* which;
};

struct HeldLocks {
  std::array<HeldLock, 32> all;
  size_t count;
};
thread_local HeldLocks held;

}  // namespace

void BeforeLock(int row, const char* name, const void* which, bool mayRepeat) {
  for (size_t i = 0; i < held.count; ++i) {
    const HeldLock& other = held.all[i];
    if (other.row < row || (mayRepeat && other.which == which)) {
      continue;
    }
    std::fprintf(
        stderr,
        "aclgrad: order of locks: a thread takes \"%s\" of row %d and holds \"%s\" of row "
        "%d. Next: see which threads take both in docs/design.md, \"Locks have an order\", "
        "and let go of \"%s\" before, or move a row\n",
        name, row, other.name, other.row, other.name);
    std::abort();
  }
}

void AfterLock(int row, const char* name, const void* which) {
  if (held.count == held.all.size()) {
    std::fprintf(stderr, "aclgrad: order of locks: a thread holds %zu locks, with \"%s\"\n",
                 held.count + 1, name);
    std::abort();
  }
  held.all[held.count++] = {row, name, which};
}

void BeforeUnlock(const void* which) {
  for (size_t i = held.count; i-- > 0;) {
    if (held.all[i].which == which) {
      std::move(held.all.begin() + i + 1, held.all.begin() + held.count, held.all.begin() + i);
      --held.count;
      return;
    }
  }
}

}  // namespace aclsim

#endif

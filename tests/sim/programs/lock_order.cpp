// SPDX-License-Identifier: Apache-2.0
// Two locks of host/lock.h, taken in one order and then in the other, as the argument says. Compiled with the checks on.
#include <cstdio>
#include <cstring>
#include <thread>

#include "host/lock.h"

namespace {

aclsim::Mutex<3, "first"> first;
aclsim::Mutex<7, "second"> second;
aclsim::Mutex<7, "beside"> beside;
aclsim::RecursiveMutex<5, "again"> again;
aclsim::Condition told;

}  // namespace

int main(int, char** words) {
  {
    const std::lock_guard one(first);
    const std::lock_guard two(second);
  }
  // Another thread holds what this one does not.
  second.lock();
  std::thread([] { const std::lock_guard one(first); }).join();
  second.unlock();
  {
    const std::lock_guard one(again);
    const std::lock_guard two(again);
    std::unique_lock three(second);
    told.wait_for(three, std::chrono::milliseconds(1));
  }
  {
    const std::lock_guard one(second);
    if (!first.try_lock()) return 1;  // it does not wait
    first.unlock();
  }
  std::printf("in order\n");
  std::fflush(stdout);
  if (std::strcmp(words[1], "inverted") == 0) {
    const std::lock_guard two(second);
    const std::lock_guard one(first);
  } else if (std::strcmp(words[1], "beside") == 0) {
    const std::lock_guard two(second);
    const std::lock_guard one(beside);
  } else if (std::strcmp(words[1], "twice") == 0) {
    const std::lock_guard one(first);
    first.lock();
  }
  return 0;
}

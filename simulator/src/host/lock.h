// SPDX-License-Identifier: Apache-2.0
// Locks that know their row in the order of docs/design.md: a thread that holds one takes those of later rows only. Builds with CMake's
// Debug or with sanitizers hold every thread to it, and end the process at the first lock that is out of order, also when no other
// thread wants it then. In other builds a Mutex is a std::mutex and nothing else.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <type_traits>

namespace aclsim {

template <size_t kSize>
struct LockName {
  constexpr LockName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  char text[kSize];
};

#ifdef ACLSIM_CHECKS_LOCKS

// Each tells of the calling thread. `which` is the address of the lock; mayRepeat: this thread may hold it already.
void BeforeLock(int row, const char* name, const void* which, bool mayRepeat);
void AfterLock(int row, const char* name, const void* which);
void BeforeUnlock(const void* which);

template <typename Base, int kRow, LockName kName>
class CheckedMutex {
 public:
  void lock() {
    BeforeLock(kRow, kName.text, this, std::is_same_v<Base, std::recursive_mutex>);
    base_.lock();
    AfterLock(kRow, kName.text, this);
  }
  // A thread that does not wait hangs in no order.
  bool try_lock() {
    const bool taken = base_.try_lock();
    if (taken) {
      AfterLock(kRow, kName.text, this);
    }
    return taken;
  }
  void unlock() {
    BeforeUnlock(this);
    base_.unlock();
  }

 private:
  Base base_;
};

template <int kRow, LockName kName>
using Mutex = CheckedMutex<std::mutex, kRow, kName>;
template <int kRow, LockName kName>
using RecursiveMutex = CheckedMutex<std::recursive_mutex, kRow, kName>;
using Condition = std::condition_variable_any;

#else

template <int kRow, LockName kName>
using Mutex = std::mutex;
template <int kRow, LockName kName>
using RecursiveMutex = std::recursive_mutex;
using Condition = std::condition_variable;

#endif

}  // namespace aclsim

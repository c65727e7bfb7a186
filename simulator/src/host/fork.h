// SPDX-License-Identifier: Apache-2.0
// A forked child makes these of the process's state. fork() copies one thread: locks stay taken by threads that are gone, and what
// these were changing stays half changed. So there are two kinds of state that a process has once:
//
//   PerProcess<T>   most of it. A child has another one, made when it is first asked for; the parent's is never touched again.
//   HoldFork        what a child must keep: operators that registered themselves when their library was loaded, the dynamic
//                   loader, constants that are being made. A fork waits while a thread holds it.
//
// A mutex of static storage is of one of the two kinds, or a child can hang in it.
#pragma once

#include <atomic>
#include <cstdint>

namespace aclsim {

// Returns how many forks lie between this process and the one that loaded the library.
uint64_t ForkCount();

// While it lives, forks of other threads wait, though not for ever. Of the same thread more than one may live.
class HoldFork {
 public:
  HoldFork() { Begin(); }
  ~HoldFork() { End(); }
  HoldFork(const HoldFork&) = delete;
  HoldFork& operator=(const HoldFork&) = delete;

  static void Begin();
  static void End();
  static uint32_t Depth();  // how many live on this thread
};

// Made when it is first asked for, never destroyed: other threads may use it until the process is gone. Where T has a function
// AfterFork(const T&), a child's is made by that from the parent's, in which only what no thread leaves half changed may be read.
template <typename T>
class PerProcess {
 public:
  constexpr PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  T& Get() {
    const Node* const node = current_.load(std::memory_order_acquire);
    if (node != nullptr && node->forks == ForkCount()) [[likely]] {
      return *node->value;
    }
    return Make();
  }
  T* operator->() { return &Get(); }
  T& operator*() { return Get(); }
  // Null while this process has none.
  T* Peek() const {
    const Node* const node = current_.load(std::memory_order_acquire);
    return node != nullptr && node->forks == ForkCount() ? node->value : nullptr;
  }

 private:
  struct Node {
    uint64_t forks;
    T* value;
  };

  T& Make() {
    const uint64_t forks = ForkCount();
    const Node* known = current_.load(std::memory_order_acquire);
    while (known == nullptr || known->forks != forks) {
      const auto* made = new Node{forks, Successor(known)};
      if (current_.compare_exchange_strong(known, made)) {
        return *made->value;
      }
      delete made->value;  // another thread was first
      delete made;
    }
    return *known->value;
  }
  static T* Successor(const Node* before) {
    if constexpr (requires(const T& old) { T::AfterFork(old); }) {
      if (before != nullptr) {
        return T::AfterFork(*before->value);
      }
    }
    return new T;
  }

  std::atomic<const Node*> current_{nullptr};
};

}  // namespace aclsim

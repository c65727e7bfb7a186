// SPDX-License-Identifier: Apache-2.0
// Kernels for the runtime's tests: plain functions, so that only launching is under test.
#include <unistd.h>
#include <atomic>

#include <cstdint>
#include <mutex>
#include <stdexcept>

static std::mutex held;
static std::atomic<int> begun{0};

// From one thread: until it lets go no acl_test_sleep ends, however long that thread waits for a processor.
extern "C" void acl_test_hold() { held.lock(); }
extern "C" void acl_test_let_go() { held.unlock(); }

// How many acl_test_sleep have begun.
extern "C" int acl_test_begun() { return begun; }

extern "C" void acl_test_sleep(uint8_t*) {
  ++begun;
  usleep(200 * 1000);
  const std::lock_guard<std::mutex> lock(held);
}

extern "C" void acl_test_increment(uint8_t* byte) { ++*byte; }

extern "C" void acl_test_slow_copy(uint8_t* from, uint8_t* to) {
  usleep(100 * 1000);
  *to = *from;
}

extern "C" void acl_test_fail(uint8_t*) { throw std::runtime_error("planted failure"); }
extern "C" void acl_test_throw(uint8_t*) { throw 1; }

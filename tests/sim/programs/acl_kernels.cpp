// SPDX-License-Identifier: Apache-2.0
// Kernels for the runtime's tests: plain functions, so that only launching is under test.
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <stdexcept>

static std::mutex held;

// From one thread: until it lets go no acl_test_sleep ends, however long that thread waits for a processor.
extern "C" void acl_test_hold() { held.lock(); }
extern "C" void acl_test_let_go() { held.unlock(); }

extern "C" void acl_test_sleep(uint8_t*) {
  usleep(200 * 1000);
  const std::lock_guard<std::mutex> lock(held);
}

extern "C" void acl_test_increment(uint8_t* byte) { ++*byte; }

extern "C" void acl_test_slow_copy(uint8_t* from, uint8_t* to) {
  usleep(100 * 1000);
  *to = *from;
}

extern "C" void acl_test_fail(uint8_t*) { throw std::runtime_error("planted failure"); }

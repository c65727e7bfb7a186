// SPDX-License-Identifier: Apache-2.0
// Kernels for the runtime's tests: plain functions, so that only launching is under test.
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

extern "C" void acl_test_sleep(uint8_t*) { usleep(200 * 1000); }

extern "C" void acl_test_increment(uint8_t* byte) { ++*byte; }

extern "C" void acl_test_slow_copy(uint8_t* from, uint8_t* to) {
  usleep(100 * 1000);
  *to = *from;
}

extern "C" void acl_test_fail(uint8_t*) { throw std::runtime_error("planted failure"); }

// SPDX-License-Identifier: Apache-2.0
// What the programs need of the host: a device with a stream, arrays that go there and back, a comparison.
#ifndef TESTS_MUTATION_PROGRAMS_HOST_H_
#define TESTS_MUTATION_PROGRAMS_HOST_H_

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"

inline void Must(int status, const char* call) {
  if (status != 0) {
    std::fprintf(stderr, "%s: %d\n%s\n", call, status, aclGetRecentErrMsg());
    std::exit(1);
  }
}
#define MUST(call) Must(static_cast<int>(call), #call)

class Session {
 public:
  Session() {
    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&stream));
  }

  uint8_t* Upload(const std::vector<float>& values) {
    void* device = Allocate(values.size() * sizeof(float));
    MUST(aclrtMemcpy(device, values.size() * sizeof(float), values.data(), values.size() * sizeof(float),
                     ACL_MEMCPY_HOST_TO_DEVICE));
    return static_cast<uint8_t*>(device);
  }

  uint8_t* Allocate(size_t bytes) {
    void* device = nullptr;
    MUST(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    owned_.push_back(device);
    return static_cast<uint8_t*>(device);
  }

  std::vector<float> Download(const uint8_t* device, size_t count) {
    std::vector<float> values(count);
    MUST(aclrtMemcpy(values.data(), count * sizeof(float), device, count * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

  int Finish() {
    for (void* device : owned_) {
      MUST(aclrtFree(device));
    }
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice(0));
    return aclFinalize();
  }

  aclrtStream stream = nullptr;

 private:
  std::vector<void*> owned_;
};

inline std::vector<float> Values(size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>((seed >> 8) % 20001) / 10000.0f - 1.0f;
  }
  return values;
}

// Ends the program with 1 where an element is off by more than 1e-5 of the largest one.
inline void CompareWith(const std::vector<float>& got, const std::vector<double>& want) {
  double scale = 0;
  for (const double value : want) {
    scale = std::fmax(scale, std::fabs(value));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (!(std::fabs(got[i] - want[i]) <= 1e-5 * scale)) {
      std::fprintf(stderr, "[%zu] got %g, want %g\n", i, got[i], want[i]);
      std::exit(1);
    }
  }
  std::printf("%zu values are right\n", want.size());
}

#endif  // TESTS_MUTATION_PROGRAMS_HOST_H_

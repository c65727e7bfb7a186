// SPDX-License-Identifier: Apache-2.0
// Base of everything that an executor owns.
#pragma once

#include <cstddef>

using std::size_t;

namespace op {

class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
};

}  // namespace op

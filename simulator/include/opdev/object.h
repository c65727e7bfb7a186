// SPDX-License-Identifier: Apache-2.0
// Base of everything that an executor owns.
#ifndef OPDEV_OBJECT_H_
#define OPDEV_OBJECT_H_

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

#endif  // OPDEV_OBJECT_H_

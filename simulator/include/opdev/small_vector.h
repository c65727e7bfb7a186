// SPDX-License-Identifier: Apache-2.0
// op::internal::SmallVector by the name of CANN's own header.
#ifndef OPDEV_SMALL_VECTOR_H_
#define OPDEV_SMALL_VECTOR_H_

#include "opdev/fast_vector.h"

#endif  // OPDEV_SMALL_VECTOR_H_

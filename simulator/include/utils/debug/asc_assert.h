// SPDX-License-Identifier: Apache-2.0
// The assert of kernels, which may have a text with arguments. It is for both halves of a program, and off where C's is.
#pragma once

#include <cassert>

#include "kernel_operator.h"

#undef assert
#ifdef NDEBUG
#define assert(...) static_cast<void>(0)
#else
#define assert(...) ascendc_assert(__VA_ARGS__)
#endif

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_operator.h"

struct Change {
  float factor;
  uint32_t times;
};

#ifndef TOTALS_STEP
#error the project's lists define it
#endif

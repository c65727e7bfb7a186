// SPDX-License-Identifier: Apache-2.0
// The printf of kernels, which knows half, without its namespace.
#pragma once

#include "kernel_operator.h"

using AscendC::printf;

// SPDX-License-Identifier: Apache-2.0
// Other path of kernel_operator.h: the device API is one header here. Projects have headers of this name, too.
#pragma once

#include "kernel_operator.h"
#if __has_include_next(<kernel_utils.h>)
#include_next <kernel_utils.h>
#endif

// SPDX-License-Identifier: Apache-2.0
// KERNEL_LOG and ASCENDC_ASSERT.
#ifndef KERNEL_LOG_H_
#define KERNEL_LOG_H_

#include "ascendc/sysvar.h"

#endif  // KERNEL_LOG_H_

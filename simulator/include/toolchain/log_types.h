// SPDX-License-Identifier: Apache-2.0
// Other path of base/log_types.h.
#ifndef TOOLCHAIN_LOG_TYPES_H_
#define TOOLCHAIN_LOG_TYPES_H_

#include "base/log_types.h"

#endif  // TOOLCHAIN_LOG_TYPES_H_

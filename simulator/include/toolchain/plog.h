// SPDX-License-Identifier: Apache-2.0
// Other path of base/plog.h.
#ifndef TOOLCHAIN_PLOG_H_
#define TOOLCHAIN_PLOG_H_

#include "base/plog.h"

#endif  // TOOLCHAIN_PLOG_H_

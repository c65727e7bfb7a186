// SPDX-License-Identifier: Apache-2.0
// Other path of base/dlog_pub.h.
#ifndef TOOLCHAIN_DLOG_PUB_H_
#define TOOLCHAIN_DLOG_PUB_H_

#include "base/dlog_pub.h"

#endif  // TOOLCHAIN_DLOG_PUB_H_

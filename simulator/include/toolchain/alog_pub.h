// SPDX-License-Identifier: Apache-2.0
// Other path of base/alog_pub.h.
#ifndef TOOLCHAIN_ALOG_PUB_H_
#define TOOLCHAIN_ALOG_PUB_H_

#include "base/alog_pub.h"

#endif  // TOOLCHAIN_ALOG_PUB_H_

// SPDX-License-Identifier: Apache-2.0
// Other path of base/alog_pub.h.
#ifndef ALOG_PUB_H_
#define ALOG_PUB_H_

#include "base/alog_pub.h"

#endif  // ALOG_PUB_H_

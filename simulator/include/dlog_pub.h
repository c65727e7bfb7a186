// SPDX-License-Identifier: Apache-2.0
// Other path of base/dlog_pub.h.
#ifndef DLOG_PUB_H_
#define DLOG_PUB_H_

#include "base/dlog_pub.h"

#endif  // DLOG_PUB_H_

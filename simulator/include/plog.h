// SPDX-License-Identifier: Apache-2.0
// Other path of base/plog.h.
#ifndef PLOG_H_
#define PLOG_H_

#include "base/plog.h"

#endif  // PLOG_H_

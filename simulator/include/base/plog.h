// SPDX-License-Identifier: Apache-2.0
// Collecting the logs of devices. The simulator's device has none of its own, so these succeed and
// do nothing.
#pragma once

#include "base/log_types.h"

#ifdef __cplusplus
extern "C" {
#endif
LOG_FUNC_VISIBILITY int DlogReportInitialize(void);
LOG_FUNC_VISIBILITY int DlogReportFinalize(void);
LOG_FUNC_VISIBILITY int DlogReportStart(int devId, int mode);
LOG_FUNC_VISIBILITY void DlogReportStop(int devId);
#ifdef __cplusplus
}
#endif

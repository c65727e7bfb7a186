// SPDX-License-Identifier: Apache-2.0
// Other path of common/util/error_manager/error_manager.h.
#ifndef EXPERIMENT_METADEF_COMMON_UTIL_ERROR_MANAGER_ERROR_MANAGER_H_
#define EXPERIMENT_METADEF_COMMON_UTIL_ERROR_MANAGER_ERROR_MANAGER_H_

#include "common/util/error_manager/error_manager.h"

#endif  // EXPERIMENT_METADEF_COMMON_UTIL_ERROR_MANAGER_ERROR_MANAGER_H_

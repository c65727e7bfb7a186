// SPDX-License-Identifier: Apache-2.0
// Other path of common/util/error_manager/error_manager.h.
#ifndef ERROR_MANAGER_H_
#define ERROR_MANAGER_H_

#include "common/util/error_manager/error_manager.h"

#endif  // ERROR_MANAGER_H_

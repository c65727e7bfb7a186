// SPDX-License-Identifier: Apache-2.0
// Includes the platform facts under CANN's other header name.
#ifndef PLATFORM_PLATFORM_INFO_H_
#define PLATFORM_PLATFORM_INFO_H_

#include "platform/platform_infos_def.h"

#endif  // PLATFORM_PLATFORM_INFO_H_

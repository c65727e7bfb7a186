// SPDX-License-Identifier: Apache-2.0
// Other path of platform/platform_infos_def.h.
#ifndef PLATFORM_PLATFORM_INFO_DEF_H_
#define PLATFORM_PLATFORM_INFO_DEF_H_

#include "platform/platform_infos_def.h"

#endif  // PLATFORM_PLATFORM_INFO_DEF_H_

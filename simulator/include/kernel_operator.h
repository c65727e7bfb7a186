// SPDX-License-Identifier: Apache-2.0
// The Ascend C device API, under CANN's header name.
#pragma once

// Some sources define it before this, as the device compiler's attribute.
#ifndef ACLSIM_TPL_LIST
#undef __aicore__
#define __aicore__
#endif

#include "ascendc/api.h"
#include "ascendc/dtype_words.h"

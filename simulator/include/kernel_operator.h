// SPDX-License-Identifier: Apache-2.0
// The Ascend C device API, under CANN's header name.
#pragma once

#include "ascendc/api.h"
#include "ascendc/dtype_words.h"

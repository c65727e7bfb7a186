// SPDX-License-Identifier: Apache-2.0
// CANN's path of this part of the high-level API.
#pragma once

#include "ascendc/softmax.h"

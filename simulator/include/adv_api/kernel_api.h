// SPDX-License-Identifier: Apache-2.0
// The whole high-level API that the simulator has.
#pragma once

#include "ascendc/high_math.h"
#include "ascendc/high_softmax.h"
#include "ascendc/high_tensor.h"
#include "ascendc/softmax.h"
#include "ascendc/vec_cmpsel.h"

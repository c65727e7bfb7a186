// SPDX-License-Identifier: Apache-2.0
// The Ascend C device API of the simulator, under CANN's header name. docs/simulator.md lists what is modelled and how.
#pragma once

#include "ascendc/absent.h"
#include "ascendc/data_copy.h"
#include "ascendc/high_math.h"
#include "ascendc/high_softmax.h"
#include "ascendc/high_tensor.h"
#include "ascendc/lang.h"
#include "ascendc/softmax.h"
#include "ascendc/sync.h"
#include "ascendc/sysvar.h"
#include "ascendc/tensor.h"
#include "ascendc/tiling.h"
#include "ascendc/tpipe.h"
#include "ascendc/types.h"
#include "ascendc/vec_arith.h"
#include "ascendc/vec_cmpsel.h"
#include "ascendc/vec_fill.h"
#include "ascendc/vec_reduce.h"

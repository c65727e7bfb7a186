// SPDX-License-Identifier: Apache-2.0
// Other path of ascendc/host_api/tiling/template_argument.h.
#ifndef TILING_TEMPLATE_ARGUMENT_H_
#define TILING_TEMPLATE_ARGUMENT_H_

#include "ascendc/host_api/tiling/template_argument.h"

#endif  // TILING_TEMPLATE_ARGUMENT_H_

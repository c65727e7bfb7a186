// SPDX-License-Identifier: Apache-2.0
// The templates of this library are for architecture 3510 and not in the simulator. Their names are, as headers that sources for
// several architectures share say them; a source that uses one does not compile here.
#pragma once

#include "log/log.h"
#include "op_common/op_host/util/math_util.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace Ops {
namespace Base {

template <typename OpDag>
class BroadcastBaseTiling;

}  // namespace Base
}  // namespace Ops

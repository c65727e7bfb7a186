// SPDX-License-Identifier: Apache-2.0
// The templates of this library are for architecture 3510 and not in the simulator. Their names are, as headers that sources for
// several architectures share say them; a source that uses one does not compile here.
#pragma once

#include "log/log.h"
#include "op_common/op_host/util/math_util.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace AscendC {}  // namespace AscendC

namespace Ops {
namespace Base {

struct EleBaseTilingData;
using EleBaseTilingDataV2 = EleBaseTilingData;
class ElewiseBaseTiling;

// A scalar has one dimension of 1 here.
inline const gert::Shape& EnsureNotScalar(const gert::Shape& shape) {
  static const gert::Shape one = {1};
  return shape.IsScalar() ? one : shape;
}

}  // namespace Base
}  // namespace Ops

// SPDX-License-Identifier: Apache-2.0
// Questions that many tiling functions ask.
#include "op_common/op_host/tiling_base_util.h"
#include "util/platform_util.h"

namespace Ops {
namespace Base {

bool IsRegbaseSocVersion(const gert::TilingParseContext* context) {
  return PlatformOf(context).GetVecRegLen() > 0;
}

bool IsRegbaseSocVersion(const gert::TilingContext* context) {
  return PlatformOf(context).GetVecRegLen() > 0;
}

const gert::Shape& EnsureNotScalar(const gert::Shape& shape) {
  static const gert::Shape kOne = {1};
  return shape.IsScalar() ? kOne : shape;
}

}  // namespace Base
}  // namespace Ops

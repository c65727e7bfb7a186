// SPDX-License-Identifier: Apache-2.0
// Questions that many tiling functions ask.
#pragma once

#include "platform/soc_spec.h"
#include "register/op_impl_registry.h"

namespace Ops {
namespace Base {

// Returns whether the SoC has vector registers that programs address (Ascend 950 and its relatives).
bool IsRegbaseSocVersion(const gert::TilingParseContext* context);
bool IsRegbaseSocVersion(const gert::TilingContext* context);

// The shape, or [1] in place of a scalar's.
const gert::Shape& EnsureNotScalar(const gert::Shape& shape);

}  // namespace Base
}  // namespace Ops

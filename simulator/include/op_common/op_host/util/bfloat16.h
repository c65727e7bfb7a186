// SPDX-License-Identifier: Apache-2.0
// Ops::Base::bfloat16.
#pragma once

#include "opdev/bfloat16.h"

namespace Ops {
namespace Base {

using bfloat16 = op::bfloat16;
using complex64 = op::complex64;
using complex128 = op::complex128;

}  // namespace Base
}  // namespace Ops

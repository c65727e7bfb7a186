// SPDX-License-Identifier: Apache-2.0
#include "op_host/infershape_elewise_util.h"
#include "register/op_impl_registry.h"

namespace ops {

IMPL_OP_INFERSHAPE(Square).InferShape(Ops::Base::InferShape4Elewise);

}  // namespace ops

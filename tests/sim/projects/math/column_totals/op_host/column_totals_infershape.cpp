// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"
#include "platform/platform_info.h"
#include "register/op_impl_registry.h"

namespace ops {

// One row of totals, as a matrix when keep says so.
static ge::graphStatus InferShapeColumnTotals(gert::InferShapeContext* context) {
  fe::PlatformInfo platform;
  fe::OptionalInfo optional;
  OP_CHECK_IF(fe::PlatformInfoManager::Instance().GetPlatformInfoWithOutSocVersion(platform,
                                                                                   optional) != 0 ||
                  platform.str_info.short_soc_version != string("Ascend910B"),
              OP_LOGE(context, "the chip is %s", platform.str_info.short_soc_version.c_str()),
              return ge::GRAPH_FAILED);
  const gert::ContinuousVectorVector* groups = context->GetAttrs()->GetListListInt(2);
  const bool* keep = static_cast<const bool*>(
      context->GetAttrs()->GetAttrPointer<gert::ContinuousVector>(1)->GetData());
  OP_CHECK_IF(groups != nullptr && (groups->GetSize() < 2 || groups->Get(1)->GetSize() != 2),
              OP_LOGE(context, "groups must be two lists, the second a pair"),
              return ge::GRAPH_FAILED);
  const gert::Shape& x = *context->GetInputShape(0);
  gert::Shape* y = context->GetOutputShape(0);
  y->SetDimNum(0);
  if (keep[0]) y->AppendDim(1);
  y->AppendDim(x.GetDim(1));
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_INFERSHAPE(ColumnTotals).InferShape(InferShapeColumnTotals);

}  // namespace ops

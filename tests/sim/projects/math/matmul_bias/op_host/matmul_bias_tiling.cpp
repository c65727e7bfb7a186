// SPDX-License-Identifier: Apache-2.0
#include "matmul_bias_tiling.h"

#include "log/log.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

using matmul_tiling::CubeFormat;
using matmul_tiling::DataType;
using matmul_tiling::TPosition;

namespace optiling {

// op_host of public operators uses names of the matrix unit's headers without their namespaces, and gives one tiling to another.
namespace names {
using namespace ge;
using namespace matmul_tiling;
static_assert(sizeof(half) == 8 && std::is_same_v<string, std::string>);
static_assert(std::is_assignable_v<TCubeTiling&, const TCubeTiling&>);
static_assert(std::is_same_v<decltype(ge::Operator().GetInputDesc(0)), ge::TensorDesc>);
}  // namespace names

static ge::graphStatus MatmulBiasTiling(gert::TilingContext* context) {
  const gert::Shape& a = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& c = context->GetOutputShape(0)->GetStorageShape();
  const bool transposed = *context->GetAttrs()->GetBool(0);
  const auto m = static_cast<int32_t>(c.GetDim(0)), n = static_cast<int32_t>(c.GetDim(1)),
             k = static_cast<int32_t>(a.GetDim(1));
  OP_CHECK_IF(k < 1, OP_LOGE(context, "rows of a must have elements"), return ge::GRAPH_FAILED);
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  MatmulBiasTilingData data;
  data.set_transposeB(transposed ? 1 : 0);
  uint32_t cores = 1;
  if (m > 0 && n > 0) {
    const auto type = static_cast<DataType>(context->GetInputDesc(0)->GetDataType());
    matmul_tiling::MultiCoreMatmulTiling tiling(platform);
    tiling.SetDim(static_cast<int32_t>(platform.GetCoreNumAic()));
    tiling.SetAType(TPosition::GM, CubeFormat::ND, type);
    tiling.SetBType(TPosition::GM, CubeFormat::ND, type, transposed);
    tiling.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    tiling.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    tiling.SetShape(m, n, k);
    tiling.SetOrgShape(m, n, k);
    tiling.EnableBias(true);
    tiling.SetBufferSpace(-1, -1, -1);
    OP_CHECK_IF(tiling.GetTiling(data.cube) == -1, OP_LOGE(context, "no tiling fits"),
                return ge::GRAPH_FAILED);
    cores = static_cast<uint32_t>(data.cube.get_usedCoreNum());
  }
  context->SetBlockDim(cores);
  context->SetTilingKey(0);
  data.SaveToBuffer(context->GetRawTilingData()->GetData(),
                    context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(MatmulBias).Tiling(MatmulBiasTiling);

}  // namespace optiling

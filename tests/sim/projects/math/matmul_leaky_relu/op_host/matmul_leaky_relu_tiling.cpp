// SPDX-License-Identifier: Apache-2.0
#include "matmul_leaky_relu_tiling.h"

#include "log/log.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

using matmul_tiling::CubeFormat;
using matmul_tiling::DataType;
using matmul_tiling::TPosition;

namespace optiling {

constexpr int32_t kBase = 128;

static ge::graphStatus MatmulLeakyReluTiling(gert::TilingContext* context) {
  const gert::Shape& a = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& c = context->GetOutputShape(0)->GetStorageShape();
  const auto m = static_cast<int32_t>(c.GetDim(0)), n = static_cast<int32_t>(c.GetDim(1)),
             k = static_cast<int32_t>(a.GetDim(1));
  OP_CHECK_IF(k < 1, OP_LOGE(context, "rows of a must have elements"), return ge::GRAPH_FAILED);
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  MatmulLeakyReluTilingData data;
  data.set_negativeSlope(*context->GetAttrs()->GetFloat(0));
  uint32_t cores = 1;
  if (m > 0 && n > 0) {
    const auto type = static_cast<DataType>(context->GetInputDesc(0)->GetDataType());
    matmul_tiling::MultiCoreMatmulTiling tiling(platform);
    tiling.SetDim(static_cast<int32_t>(platform.GetCoreNumAiv()));  // each has a part of c
    tiling.SetAType(TPosition::GM, CubeFormat::ND, type);
    tiling.SetBType(TPosition::GM, CubeFormat::ND, type);
    tiling.SetCType(TPosition::VECIN, CubeFormat::ND, DataType::DT_FLOAT);
    tiling.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    tiling.SetShape(m, n, k);
    tiling.SetOrgShape(m, n, k);
    tiling.EnableBias(true);
    tiling.SetBufferSpace(-1, -1, -1);
    tiling.SetSplitRange(kBase,
                         kBase);  // a tile fits UB; a fixed base may not exceed a small product
    OP_CHECK_IF(tiling.GetTiling(data.cube) == -1, OP_LOGE(context, "no tiling fits"),
                return ge::GRAPH_FAILED);
    // A MIX kernel is launched on AI cores, with two AIVs each.
    cores = (static_cast<uint32_t>(data.cube.get_usedCoreNum()) + 1) / 2;
  }
  context->SetBlockDim(cores);
  context->SetTilingKey(0);
  data.SaveToBuffer(context->GetRawTilingData()->GetData(),
                    context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(MatmulLeakyRelu).Tiling(MatmulLeakyReluTiling);

}  // namespace optiling

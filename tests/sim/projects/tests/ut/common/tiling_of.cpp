// SPDX-License-Identifier: Apache-2.0
#include "tiling_of.h"

#include <memory>

#include "base/registry/op_impl_space_registry_v2.h"
#include "platform/platform_infos_def.h"

Tiled TilingOf(const std::string& type, const std::vector<gert::Tensor*>& inputs,
               const std::vector<gert::Tensor*>& outputs, const std::vector<float>& attr) {
  fe::PlatFormInfos platform;
  platform.Init();
  const int compileInfo = 0;
  const std::unique_ptr<uint8_t[]> data = gert::TilingData::CreateCap(4096);
  const std::unique_ptr<uint8_t[]> workspaces = gert::ContinuousVector::Create<size_t>(16);

  gert::OpTilingContextBuilder builder;
  builder.OpType(type.c_str())
      .OpName("tiled")
      .IONum(inputs.size(), outputs.size())
      .AppendAttr(attr);
  auto holder = builder.InputTensors(inputs)
                    .OutputTensors(outputs)
                    .CompileInfo(&compileInfo)
                    .PlatformInfo(&platform)
                    .Deterministic(1)
                    .TilingData(reinterpret_cast<gert::TilingData*>(data.get()))
                    .Workspace(reinterpret_cast<gert::ContinuousVector*>(workspaces.get()))
                    .Build();
  gert::TilingContext* context = holder.GetContext();
  const auto registry = gert::DefaultOpImplSpaceRegistryV2::GetInstance().GetSpaceRegistry();
  const auto* functions = registry->GetOpImpl(type.c_str());
  Tiled result;
  if (context == nullptr || functions == nullptr || functions->tiling == nullptr) return result;
  if (context->GetDeterministic() != 1) return result;
  result.done = functions->tiling(context) == ge::GRAPH_SUCCESS;
  result.key = context->GetTilingKey();
  result.blocks = context->GetBlockDim();
  if (context->GetWorkspaceNum() == 1) result.workspace = *context->GetWorkspaceSizes(1);
  const auto* bytes = static_cast<const uint8_t*>(context->GetRawTilingData()->GetData());
  result.data.assign(bytes, bytes + context->GetRawTilingData()->GetDataSize());
  return result;
}

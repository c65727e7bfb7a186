// SPDX-License-Identifier: Apache-2.0
// Definition and tiling of ProbeShift: y = x + bias, with the refusals and requests that its tests
// ask for by the bias.
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>

#include "log/log.h"
#include "op_common/op_host/infershape_elewise_util.h"
#include "opbase_probe_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "util/math_util.h"

// What repositories declare of CANN's bank of tilings, and register there while their library loads: it has to load here as well.
namespace tuningtiling {
class TuningTilingDef {};
struct TuningTilingClassFactory {
  static void RegisterTilingData(const ge::AscendString& optype,
                                 std::shared_ptr<TuningTilingDef> (*constructor)());
  static std::shared_ptr<TuningTilingDef> CreateTilingDataInstance(const ge::AscendString& optype);
};
struct OpBankKeyFuncRegistryV2 {
  using Convert = std::function<bool(const gert::TilingContext*, std::shared_ptr<void>&, size_t&)>;
  using Parse = std::function<bool(const std::shared_ptr<void>&, size_t, ge::AscendString&)>;
  using Load = std::function<bool(std::shared_ptr<void>&, size_t&, const ge::AscendString&)>;
  OpBankKeyFuncRegistryV2(const ge::AscendString& optype, const Convert& convert);
  OpBankKeyFuncRegistryV2(const ge::AscendString& optype, const Parse& parse, const Load& load);
};
}  // namespace tuningtiling

namespace {

const bool isInBank = [] {
  using namespace tuningtiling;
  TuningTilingClassFactory::RegisterTilingData("ProbeShift",
                                               [] { return std::make_shared<TuningTilingDef>(); });
  OpBankKeyFuncRegistryV2("ProbeShift", OpBankKeyFuncRegistryV2::Convert());
  OpBankKeyFuncRegistryV2("ProbeShift", OpBankKeyFuncRegistryV2::Parse(),
                          OpBankKeyFuncRegistryV2::Load());
  return TuningTilingClassFactory::CreateTilingDataInstance("ProbeShift") != nullptr;
}();

struct CompileInfo {
  uint32_t cores = 0;
};

ge::graphStatus Parse(gert::TilingParseContext* context) {
  auto* info = context->GetCompiledInfo<CompileInfo>();
  OP_CHECK_NULL_WITH_CONTEXT(context, info);
  info->cores = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus Tile(gert::TilingContext* context) {
  const auto* info = context->GetCompileInfo<CompileInfo>();
  OP_CHECK_NULL_WITH_CONTEXT(context, info);
  const float* bias = context->GetAttrs()->GetFloat(0);
  const int64_t* mode = context->GetAttrs()->GetInt(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, bias);
  OP_CHECK_NULL_WITH_CONTEXT(context, mode);
  OP_CHECK_IF(std::isnan(*bias), OP_LOGE(context, "bias is NaN, %s", "which no one can add"),
              return ge::GRAPH_FAILED);
  OP_CHECK_IF(isInBank, OP_LOGE(context, "there is no bank of tilings here"),
              return ge::GRAPH_FAILED);
  if (std::isinf(*bias)) throw std::runtime_error("bias is infinite");
  auto* tiling = context->GetTilingData<ProbeShiftTiling>();
  OP_CHECK_NULL_WITH_CONTEXT(context, tiling);
  tiling->count =
      static_cast<uint64_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
  tiling->bias = *bias;
  tiling->mode = static_cast<uint32_t>(*mode);
  context->SetBlockDim(std::min<uint32_t>(info->cores, 4));
  context->SetTilingKey(7);
  context->GetWorkspaceSizes(1)[0] = *bias > 100.0F ? 1000 : 0;
  return ge::GRAPH_SUCCESS;
}

}  // namespace

IMPL_OP_OPTILING(ProbeShift).Tiling(Tile).TilingParse<CompileInfo>(Parse);
// The dtype is not the one of the kernel: a call gives its tensors theirs.
IMPL_OP_INFERSHAPE(ProbeShift)
    .InferShape(Ops::Base::InferShape4Elewise)
    .InferDataType([](gert::InferDataTypeContext* context) {
      return context->SetOutputDataType(0, ge::DT_FLOAT16);
    });

extern "C" int64_t ProbeShiftTilingJson(const void* data, uint64_t size, char* out,
                                        uint64_t outSize) {
  if (size < sizeof(ProbeShiftTiling)) return -1;
  const auto* tiling = static_cast<const ProbeShiftTiling*>(data);
  return std::snprintf(out, outSize, "{\"count\":%llu,\"mode\":%u}",
                       static_cast<unsigned long long>(tiling->count), tiling->mode);
}

namespace ops {
class ProbeShift : public OpDef {
 public:
  explicit ProbeShift(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Input("extra").ParamType(OPTIONAL).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).Follow("x").Format({ge::FORMAT_ND});
    this->Attr("bias").Float();
    this->Attr("mode").AttrType(OPTIONAL).Int(3);
    this->AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ProbeShift);
}  // namespace ops

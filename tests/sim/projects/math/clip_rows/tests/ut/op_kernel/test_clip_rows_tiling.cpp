// SPDX-License-Identifier: Apache-2.0
// As unit tests that take the tiling from the operator itself are written.
#include <gtest/gtest.h>

#include <cstring>

#include "acl/acl.h"
#include "ascendc/host_api/tiling/template_argument.h"
#include "base/registry/op_impl_space_registry_v2.h"
#include "op_infer_datatype_context_builder.h"
#include "op_infer_shape_context_builder.h"
#include "op_infer_shape_range_context_builder.h"
#include "op_tiling_parse_context_builder.h"
#include "platform/platform_infos_def.h"
#include "tikicpulib.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling_of.h"

extern "C" void clip_rows(GM_ADDR x, GM_ADDR y, GM_ADDR copy, GM_ADDR workspace, GM_ADDR tiling);

namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kColumns = 30;

gert::Tensor Matrix(int64_t rows = kRows) {
  return {gert::StorageShape({rows, kColumns}, {rows, kColumns}),
          gert::StorageFormat(ge::FORMAT_ND, ge::FORMAT_ND, {}), ge::DT_FLOAT};
}

UINT32 SameShape(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return ge::GRAPH_SUCCESS;
}

}  // namespace

TEST(ClipRowsTiling, RunsTheKernel) {
  gert::Tensor x = Matrix();
  gert::Tensor y = Matrix();
  gert::Tensor copy = Matrix();
  const Tiled tiled = TilingOf("ClipRows", {&x}, {&y, &copy}, {-1.0f, 2.0f});
  ASSERT_TRUE(tiled.done);
  EXPECT_EQ(tiled.key, 1u);
  EXPECT_EQ(tiled.blocks, 2u);
  EXPECT_EQ(tiled.workspace, 64u);
  EXPECT_FALSE(TilingOf("ClipRows", {&x}, {&y, &copy}, {-1.0f}).done);

  constexpr size_t kCount = kRows * kColumns;
  auto* in = static_cast<uint8_t*>(AscendC::GmAlloc(kCount * sizeof(float)));
  auto* out = static_cast<uint8_t*>(AscendC::GmAlloc(kCount * sizeof(float)));
  auto* second = static_cast<uint8_t*>(AscendC::GmAlloc(kCount * sizeof(float)));
  auto* workspace = static_cast<uint8_t*>(AscendC::GmAlloc(tiled.workspace));
  auto* tiling = static_cast<uint8_t*>(AscendC::GmAlloc(tiled.data.size()));
  auto* values = reinterpret_cast<float*>(in);
  for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 7) - 3.0f;
  std::memcpy(tiling, tiled.data.data(), tiled.data.size());
  AscendC::SetKernelMode(KernelMode::AIV_MODE);
  ICPU_SET_TILING_KEY(tiled.key);
  ICPU_RUN_KF(clip_rows, tiled.blocks, in, out, second, workspace, tiling);
  for (size_t i = 0; i < kCount; ++i) {
    const float want = values[i] < -1.0f ? -1.0f : values[i] > 2.0f ? 2.0f : values[i];
    EXPECT_EQ(reinterpret_cast<float*>(out)[i], want);
  }
  for (uint8_t* memory : {in, out, second, workspace, tiling}) AscendC::GmFree(memory);
}

TEST(ClipRowsTiling, PlatformIsAsItWasSet) {
  fe::PlatFormInfos platform;
  const platform_ascendc::PlatformAscendC asked(&platform);
  uint64_t before = 0;
  asked.GetCoreMemSize(platform_ascendc::CoreMemType::UB, before);
  std::map<std::string, std::string> sizes = {{"ub_size", "65536"}};
  std::map<std::string, std::string> kinds = {
      {"core_type_list", "CubeCore,VectorCore"}, {"cube_core_cnt", "3"}, {"vector_core_cnt", "6"}};
  std::map<std::string, std::string> version = {{"Short_SoC_version", "Ascend950"},
                                                {"NpuArch", "3510"}};
  platform.SetPlatformRes("AICoreSpec", sizes);
  platform.SetPlatformRes("SoCInfo", kinds);
  platform.SetCoreNumByCoreType("VectorCore");
  uint64_t after = 0;
  asked.GetCoreMemSize(platform_ascendc::CoreMemType::UB, after);
  EXPECT_EQ(before, 196352u);
  EXPECT_EQ(after, 65536u - 256u);
  EXPECT_EQ(asked.GetCoreNumAic(), 3u);
  EXPECT_EQ(asked.GetCoreNumAiv(), 6u);
  EXPECT_EQ(asked.GetCoreNum(), 6u);
  platform.SetPlatformRes("version", version);
  asked.GetCoreMemSize(platform_ascendc::CoreMemType::UB, after);
  EXPECT_EQ(after, 65536u);
  EXPECT_EQ(asked.GetSocVersion(), platform_ascendc::SocVersion::ASCEND950);
  EXPECT_EQ(static_cast<int>(asked.GetCurNpuArch()), 3510);
}

TEST(ClipRowsTiling, Inference) {
  gert::Tensor x = Matrix();
  const auto registry = gert::DefaultOpImplSpaceRegistryV2::GetInstance().GetSpaceRegistry();
  const auto* functions = registry->GetOpImpl("ClipRows");
  ASSERT_NE(functions, nullptr);
  EXPECT_EQ(functions->infer_shape, nullptr);
  EXPECT_EQ(registry->GetOpImpl("NobodyHasIt"), nullptr);

  gert::OpInferShapeContextBuilder shapes;
  auto shape = shapes.OpType("ClipRows").OpName("a").IONum(1, 1).InputTensors({&x}).Build();
  ASSERT_EQ(SameShape(shape.GetContext()), ge::GRAPH_SUCCESS);
  EXPECT_EQ(shape.GetContext()->GetOutputShape(0)->GetDim(0), kRows);

  gert::OpInferDataTypeContextBuilder types;
  types.OpType("ClipRows").OpName("a").IONum(1, 1);
  auto type = types.InputTensorDesc(0, ge::DT_FLOAT16, ge::FORMAT_ND, ge::FORMAT_ND).Build();
  EXPECT_EQ(type.GetContext()->GetInputDataType(0), ge::DT_FLOAT16);
  EXPECT_EQ(type.GetContext()->SetOutputDataType(0, ge::DT_FLOAT), ge::GRAPH_SUCCESS);
  EXPECT_EQ(type.GetContext()->GetOutputDataType(0), ge::DT_FLOAT);

  gert::Tensor more = Matrix(2 * kRows);
  gert::Range<gert::Tensor> between(&x, &more);
  gert::OpInferShapeRangeContextBuilder ranges;
  ranges.OpType("ClipRows").OpName("a").IONum(1, 1);
  auto range = ranges.InputTensorsRange({&between}).Build();
  EXPECT_EQ(range.GetContext()->GetInputShapeRange(0)->GetMax()->GetDim(0), 2 * kRows);
  *range.GetContext()->GetOutputShapeRange(0)->GetMin() = {7};
  EXPECT_EQ(range.GetContext()->GetOutputShapeRange(0)->GetMin()->GetDim(0), 7);
  EXPECT_EQ(range.GetContext()->GetInputShapeRange(1), nullptr);

  int filled = 0;
  gert::OpTilingParseContextBuilder parses;
  parses.OpType("ClipRows").OpName("a").IONum(1, 1);
  auto parse = parses.CompiledJson("{\"cores\": 1}").CompiledInfo(&filled).Build();
  EXPECT_STREQ(parse.GetContext()->GetCompiledJson(), "{\"cores\": 1}");
  *parse.GetContext()->GetCompiledInfo<int>() = 3;
  EXPECT_EQ(filled, 3);
}

TEST(ClipRowsTiling, WhatDoesNotFitIsSaid) {
  gert::Tensor x = Matrix();
  fe::PlatFormInfos platform;
  const auto says = [](gert::OpTilingContextBuilder& builder, const char* words) {
    EXPECT_EQ(builder.Build().GetContext(), nullptr);
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find(words), std::string::npos) << words;
  };
  gert::OpTilingContextBuilder nameless;
  says(nameless.OpType("ClipRows").IONum(1, 1).CompileInfo(&x).PlatformInfo(&platform), "OpName");
  gert::OpTilingContextBuilder bare;
  says(bare.OpType("ClipRows").OpName("a").IONum(1, 1), "CompileInfo");
  gert::OpTilingContextBuilder crowded;
  crowded.OpType("ClipRows").OpName("a").IONum(1, 1).CompileInfo(&x).PlatformInfo(&platform);
  says(crowded.InputTensors({&x, &x}), "got 2 inputs");
  gert::OpTilingContextBuilder strange;
  strange.OpType("ClipRows").OpName("a").IONum(1, 1).CompileInfo(&x).PlatformInfo(&platform);
  says(strange.Deterministic(2), "want 0 or 1");
  gert::OpImplSpaceRegistryV2 registry;
  EXPECT_EQ(registry.AddSoToRegistry({{"/nowhere/lib.so"}, "none"}), ge::GRAPH_FAILED);
}

// SPDX-License-Identifier: Apache-2.0
// Prints what host tiling says about the scratch of the high-level API: a name, arguments, then the numbers.
#include <cstdio>

#include "platform/platform_infos_def.h"
#include "tiling/tiling_api.h"

using namespace AscendC;

namespace {

void Line(const char* name, uint32_t typeSize, bool reused, uint32_t most, uint32_t least,
          uint32_t factor, uint32_t extra) {
  std::printf("%s %u %d %u %u %u %u\n", name, typeSize, reused, most, least, factor, extra);
}

}  // namespace

int main() {
  const ge::Shape shape({3, 100});
  const ge::Shape one({1});
  const platform_ascendc::PlatformAscendC platform(nullptr);
  for (const uint32_t width : {2u, 4u}) {
    for (const bool reused : {false, true}) {
      uint32_t most = 0, least = 0, factor = 0, extra = 0;
#define ACLGRAD_PRINT(Name)                                    \
  Get##Name##MaxMinTmpSize(shape, width, reused, most, least); \
  Get##Name##TmpBufferFactorSize(width, factor, extra);        \
  Line(#Name, width, reused, most, least, factor, extra);
      ACLSIM_SCRATCH_SIZES(ACLGRAD_PRINT)
      ACLGRAD_PRINT(Exp)
#undef ACLGRAD_PRINT
      GetRoundMaxMinTmpSize(platform, shape, width, reused, most, least);
      GetRoundTmpBufferFactorSize(platform, width, factor, extra);
      Line("Round", width, reused, most, least, factor, extra);
      GetSwiGLUMaxMinTmpSize(shape, width, most, least, reused);
      GetSwiGLUTmpBufferFactorSize(width, factor, extra);
      Line("SwiGLU", width, reused, most, least, factor, extra);
      GetGeluMaxMinTmpSize(shape, width, most, least);
      Line("Gelu", width, reused, most, least, 0, 0);
      GetPowerMaxMinTmpSize(shape, shape, false, width, reused, most, least);
      GetPowerTmpBufferFactorSize(true, true, false, width, factor, extra);
      Line("PowerTensors", width, reused, most, least, factor, extra);
      GetPowerMaxMinTmpSize(one, shape, false, width, reused, most, least);
      GetPowerTmpBufferFactorSize(false, true, false, width, factor, extra);
      Line("PowerScalar", width, reused, most, least, factor, extra);
      GetDropOutMaxMinTmpSize(shape, width, reused, most, least);
      Line("DropOut", width, reused, most, least, 0, 0);
      GetSelectWithBytesMaskMaxMinTmpSize(ge::Shape({20, 300}), one, width, ge::Shape({20, 320}), 1,
                                          reused, most, least);
      Line("SelectWithBytesMask", width, reused, most, least, 0, 0);
      GetSumMaxMinTmpSize(1000, width, reused, most, least);
      Line("Sum", width, reused, most, least, 0, 0);
      GetCumSumMaxMinTmpSize(ge::Shape({20, 32}), width, true, reused, most, least);
      Line("CumSumLast", width, reused, most, least, 0, 0);
      GetCumSumMaxMinTmpSize(ge::Shape({20, 32}), width, false, reused, most, least);
      Line("CumSumFirst", width, reused, most, least, 0, 0);
      GetBroadCastMaxMinTmpSize(platform, ge::Shape({12, 1}), ge::Shape({12, 20}), width, reused,
                                most, least);
      Line("BroadCast", width, reused, most, least, 0, 0);
      const ge::DataType dtype = width == 2 ? ge::DT_FLOAT16 : ge::DT_FLOAT;
      GetReduceMaxMaxMinTmpSize(shape, dtype, ReducePattern::AR, true, reused, most, least);
      Line("ReduceMaxAR", width, reused, most, least, 0, 0);
      GetReduceMaxMaxMinTmpSize(shape, dtype, ReducePattern::RA, true, reused, most, least);
      Line("ReduceMaxRA", width, reused, most, least, 0, 0);
      GetReduceAnyMaxMinTmpSize(shape, ge::DT_FLOAT, ReducePattern::AR, true, reused, most, least);
      Line("ReduceAnyAR", width, reused, most, least, 0, 0);
      GetReduceAllMaxMinTmpSize(shape, ge::DT_UINT8, ReducePattern::AR, true, reused, most, least);
      Line("ReduceAllBytes", width, reused, most, least, 0, 0);
      GetReduceSumMaxMinTmpSize(shape, ge::DT_FLOAT, ReducePattern::AR, true, reused, most, least);
      Line("ReduceSumAR", width, reused, most, least, 0, 0);
      // The tiling: rows at a time, how often, and the rest.
      optiling::LogSoftMaxTiling tiling;
      const ge::Shape matrix({64, 128});
      least = GetLogSoftMaxMinTmpSize(matrix, width, reused);
      LogSoftMaxTilingFunc(matrix, width, least * 20, tiling);
      Line("LogSoftMax", width, reused, GetLogSoftMaxMaxTmpSize(matrix, width, reused), least,
           tiling.get_splitM(), tiling.get_rangeM());
      SoftMaxTiling softmax;
      SoftMaxTilingFunc(matrix, width, least * 20, softmax);
      Line("SoftMax", width, reused, softmax.tailM, softmax.outMaxK, softmax.splitM,
           softmax.rangeM);
      // 30 rows fit: whole matrices are cut evenly. Scratch of another type is none.
      SoftMaxTilingFunc(matrix, width, least * 30, softmax);
      Line("SoftMaxEven", width, reused, GetSoftMaxMaxTmpSize(matrix, 1, reused),
           GetSoftMaxGradMinTmpSize(matrix, 0, true, reused), softmax.splitM, softmax.rangeM);
      Line("SoftMaxOfBytes", width, reused, GetSoftMaxFlashMaxTmpSize(matrix, 1, true, reused),
           GetSoftMaxFlashMinTmpSize(matrix, 1, true, reused),
           GetSoftMaxFlashV2MaxTmpSize(matrix, width, 1, true),
           GetSoftMaxFlashV2MinTmpSize(matrix, 1, width, true));
      GetLayerNormMaxMinTmpSize(ge::Shape({2, 3, 64, 60}), width, reused, most, least);
      optiling::LayerNormTiling layer;
      GetLayerNormNDTilingInfo(ge::Shape({2, 3, 64, 60}), least * 3, width, reused, layer);
      Line("LayerNorm", width, reused, most, least, layer.get_inputRoundSize(),
           layer.get_meanVarTailPos());
      GetLayerNormMaxMinTmpSize(ge::Shape({6, 60}), width, reused, true, false, most, least);
      LayerNormSeparateTiling rows;
      GetLayerNormNDTilingInfo(ge::Shape({6, 60}), least * 3, width, reused, true, rows);
      Line("LayerNormRows", width, reused, most, least, rows.inputRoundSize, rows.loopRound);
      GetNormalizeMaxMinTmpSize(ge::Shape({6, 60}), width, width, reused, true, false, most, least);
      Line("Normalize", width, reused, most, least, 0, 0);
      GetWelfordUpdateMaxMinTmpSize(ge::Shape({1, 320}), width, 4, reused, false, most, least);
      Line("WelfordUpdate", width, reused, most, least, 0, 0);
      GetWelfordFinalizeMaxMinTmpSize(ge::Shape({320}), 4, reused, most, least);
      Line("WelfordFinalize", width, reused, most, least, 0, 0);
      const ge::Shape cube({2, 3, 64});
      RmsNormTiling rms;
      GetRmsNormMaxMinTmpSize(cube, width, most, least);
      const bool fits = GetRmsNormTilingInfo(cube, cube, least * 4, width, rms);
      Line("RmsNorm", width, reused, most, least, rms.mainBsLength, fits ? rms.tailBsLength : 99);
      const ge::Shape image({2, 4, 4, 8});
      GroupNormTiling group;
      GetGroupNormMaxMinTmpSize(image, width, reused, 2, most, least);
      GetGroupNormNDTilingInfo(image, least * 3, width, reused, 2, group);
      Line("GroupNorm", width, reused, most, least, group.bsCurLength, group.smallShape ? 1 : 0);
      BatchNormTiling batch;
      GetBatchNormMaxMinTmpSize(ge::Shape({8, 2, 32}), ge::Shape({8, 2, 32}), width, reused, most,
                                least);
      GetBatchNormNDTilingInfo(ge::Shape({8, 2, 32}), ge::Shape({8, 2, 32}), least * 2, width,
                               reused, batch);
      Line("BatchNorm", width, reused, most, least, batch.shCurLength, batch.loopRound);
      TopkTiling top;
      GetTopKMaxMinTmpSize(platform, 64, 3, reused, false, TopKMode::TOPK_NORMAL, true, width, most,
                           least);
      TopKTilingFunc(platform, 64, 3, 5, width, false, TopKMode::TOPK_NORMAL, true, top);
      Line("TopK", width, reused, most, least, static_cast<uint32_t>(top.kAlignTwoBytes),
           top.sortRepeat);
      GetAscendQuantMaxMinTmpSize(shape, width, most, least);
      Line("AscendQuant", width, reused, most, least, 0, 0);
      GetAscendDequantMaxMinTmpSize(shape, width, most, least);
      GetAscendDequantTmpBufferFactorSize(shape, factor, extra);
      Line("AscendDequant", width, reused, most, least, factor, extra);
      GetAscendAntiQuantMaxMinTmpSize(ge::Shape({6, 64}), ge::Shape({1, 64}), false, ge::DT_INT8,
                                      width == 2 ? ge::DT_FLOAT16 : ge::DT_BF16, most, least);
      GetAscendAntiQuantTmpBufferFactorSize(ge::Shape({6, 64}), ge::Shape({1, 64}), false,
                                            ge::DT_INT8, width == 2 ? ge::DT_FLOAT16 : ge::DT_BF16,
                                            factor, extra);
      Line("AscendAntiQuant", width, reused, most, least, factor, extra);
      fe::PlatFormInfos chip;
      const platform_ascendc::PlatformAscendC here(&chip);
      Line("SortConcat", width, reused, GetSortTmpSize(here, 64, width),
           GetConcatTmpSize(here, 64, width), 0, 0);
      GetMeanMaxMinTmpSize(1000, width, 4, reused, most, least);
      GetMeanTmpBufferFactorSize(width, factor, extra);
      Line("Mean", width, reused, most, least, factor, extra);
      GetArangeMaxMinTmpSize(most, least);
      GetArithProgressionMaxMinTmpSize(factor, extra);
      Line("Arange", width, reused, most, least, factor, extra);
      const uint32_t flashLeast = GetSoftMaxFlashMinTmpSize(matrix, width, true, false);
      optiling::SoftMaxTiling flash;
      SoftMaxFlashTilingFunc(matrix, width, flashLeast * 10, flash, true);
      Line("SoftmaxFlash", width, reused, GetSoftMaxFlashMaxTmpSize(matrix, width, true, false),
           flashLeast, flash.get_splitM(), flash.get_rangeM());
      least = GetSoftMaxFlashV2MinTmpSize(matrix, width, 4, true, true);
      SoftMaxFlashV2TilingFunc(matrix, width, 4, least * 3, flash, true, true);
      Line("SoftmaxFlashV2", width, reused,
           GetSoftMaxFlashV2MaxTmpSize(matrix, width, 4, true, true), least, flash.get_splitM(),
           IsBasicBlockInSoftMax(flash, width) ? 1 : 0);
    }
  }
  return 0;
}

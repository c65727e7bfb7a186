// SPDX-License-Identifier: Apache-2.0
// A kernel of its own translation unit, with the tiling struct that op_host declares, compared here.
#include <gtest/gtest.h>

#include "tikicpulib.h"

extern "C" __global__ __aicore__ void clip_rows(GM_ADDR x, GM_ADDR y, GM_ADDR copy,
                                                GM_ADDR workspace, GM_ADDR tiling);

TEST(ClipRows, KeyOfTheTiling) {
  constexpr uint32_t kRows = 3, kColumns = 16, kCount = kRows * kColumns;
  const auto make = [](size_t bytes) { return static_cast<uint8_t*>(AscendC::GmAlloc(bytes)); };
  uint8_t* x = make(kCount * sizeof(float));
  uint8_t* y = make(kCount * sizeof(float));
  uint8_t* copy = make(kCount * sizeof(float));
  uint8_t* tiling = make(sizeof(ClipRowsTilingData));
  auto* values = reinterpret_cast<float*>(x);
  for (uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(reinterpret_cast<float*>(y)[i], 0.0f);
    values[i] = static_cast<float>(i);
  }
  auto* data = reinterpret_cast<ClipRowsTilingData*>(tiling);
  data->flag = 7;
  data->rows = kRows;
  data->sizes[1] = kColumns;
  data->sizes[2] = 3;
  data->limits.low = 5;
  data->limits.high = 20;
  ICPU_SET_TILING_KEY(2);
  AscendC::SetKernelMode(KernelMode::AIV_MODE);
  ICPU_RUN_KF(clip_rows, 2, x, y, copy, nullptr, tiling);
  for (uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(reinterpret_cast<float*>(y)[i], std::min(std::max(values[i], 5.0f), 20.0f));
    EXPECT_EQ(reinterpret_cast<float*>(copy)[i], values[i]);
  }
  for (uint8_t* memory : {x, y, copy, tiling}) {
    AscendC::GmFree(memory);
  }
}

// SPDX-License-Identifier: Apache-2.0
// As unit tests for the CPU twin are written: scripts make the data and compare, and nobody asks what they say.
#include <gtest/gtest.h>

#include <string>

#include "../../../op_kernel/scale_add.cpp"
#include "data_io.h"
#include "tikicpulib.h"

namespace {

#ifndef SCALE_ADD_ELEMENTS
#define SCALE_ADD_ELEMENTS 1000
#endif
constexpr size_t kBytes = SCALE_ADD_ELEMENTS * sizeof(ELEMENT);

class ScaleAddTest : public testing::Test {
 protected:
  static void SetUpTestCase() {
    system("cp -r ../../../../math/scale_add/tests/ut/op_kernel/scale_add_data .");
  }

  void SetUp() override {
    const std::string count = std::to_string(SCALE_ADD_ELEMENTS);
    system(("cd scale_add_data && python3 gen_data.py " + count + " float32").c_str());
    Load("scale_add_data/x.bin", x, kBytes);
    Load("scale_add_data/bias.bin", bias, kBytes);
    *reinterpret_cast<ScaleAddTilingData*>(tiling) = {SCALE_ADD_ELEMENTS, 256, 3.0f};
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
  }

  void TearDown() override {
    Store("scale_add_data/output.bin", y, kBytes);
    for (uint8_t* memory : {x, bias, y, workspace, tiling}) {
      AscendC::GmFree(memory);
    }
    system("cd scale_add_data && python3 compare_data.py float32 && rm *.bin");
  }

  uint8_t* x = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
  uint8_t* bias = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
  uint8_t* y = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
  uint8_t* workspace = static_cast<uint8_t*>(AscendC::GmAlloc(1024));
  uint8_t* tiling = static_cast<uint8_t*>(AscendC::GmAlloc(sizeof(ScaleAddTilingData)));
};

}  // namespace

TEST_F(ScaleAddTest, instance) {
  EXPECT_STREQ(UT_SOC_VERSION, "Ascend910B1");
  auto kernel = scale_add<SCALE_ADD_ONCE, true, ELEMENT>;
  ICPU_RUN_KF(kernel, 1, x, bias, y, workspace, tiling);
}

TEST_F(ScaleAddTest, lambda) {
  auto kernel = [](GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    ::scale_add<SCALE_ADD_ONCE, true, ELEMENT>(x, bias, y, workspace, tiling);
  };
  ICPU_RUN_KF(kernel, 1, x, bias, y, workspace, (uint8_t*)(tiling));
}

// SPDX-License-Identifier: Apache-2.0
// A kernel of both kinds of cores, as CPU twins are asked to run one: AIVs call Matmul, and the AIC of their AI core works.
#include <gtest/gtest.h>

#include <algorithm>

#include "tikicpulib.h"

extern "C" __global__ __aicore__ void matmul_leaky_relu(GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                        GM_ADDR c, GM_ADDR workspace,
                                                        GM_ADDR tiling);

namespace {

constexpr int32_t kM = 40, kN = 48, kK = 30;
#ifndef ROOM
#define ROOM (16 << 20)
#endif
constexpr size_t kWorkspace = ROOM;  // the library's

class MatmulLeakyReluTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int32_t i = 0; i < kM * kK; ++i) {
      reinterpret_cast<half*>(a)[i] = half(static_cast<float>(i % 7 - 3));
    }
    for (int32_t i = 0; i < kK * kN; ++i) {
      reinterpret_cast<half*>(b)[i] = half(static_cast<float>(i % 5 - 2));
    }
    for (int32_t i = 0; i < kN; ++i) {
      reinterpret_cast<float*>(bias)[i] = static_cast<float>(i % 3 - 1);
    }
    auto* data = reinterpret_cast<MatmulLeakyReluTilingData*>(tiling);
    data->negativeSlope = 0.5f;
    TCubeTiling& cube = data->cube;
    // Both AIVs of the first AI core have rows of c, those of the second have none.
    cube.usedCoreNum = 2, cube.M = kM, cube.N = kN, cube.Ka = cube.Kb = kK;
    cube.singleCoreM = kM / 2, cube.singleCoreN = kN, cube.singleCoreK = kK, cube.isBias = 1;
    cube.baseM = 16, cube.baseN = 48, cube.baseK = 32;
    cube.depthA1 = cube.depthB1 = cube.stepM = cube.stepN = 1;
    cube.stepKa = cube.stepKb = cube.dbL0A = cube.dbL0B = cube.dbL0C = 1;
    AscendC::SetKernelMode(KernelMode::MIX_MODE);
  }

  void TearDown() override {
    for (int32_t i = 0; i < kM * kN; ++i) {
      float want = reinterpret_cast<float*>(bias)[i % kN];
      for (int32_t k = 0; k < kK; ++k) {
        want += static_cast<float>(reinterpret_cast<half*>(a)[i / kN * kK + k]) *
                static_cast<float>(reinterpret_cast<half*>(b)[k * kN + i % kN]);
      }
      EXPECT_EQ(reinterpret_cast<float*>(c)[i], want < 0 ? want / 2 : want);
    }
    for (uint8_t* memory : {a, b, bias, c, workspace, tiling}) {
      AscendC::GmFree(memory);
    }
  }

  static uint8_t* Make(size_t bytes) { return static_cast<uint8_t*>(AscendC::GmAlloc(bytes)); }
  uint8_t* a = Make(kM * kK * sizeof(half));
  uint8_t* b = Make(kK * kN * sizeof(half));
  uint8_t* bias = Make(kN * sizeof(float));
  uint8_t* c = Make(kM * kN * sizeof(float));
  uint8_t* workspace = Make(kWorkspace);
  uint8_t* tiling = Make(sizeof(MatmulLeakyReluTilingData));
};

}  // namespace

TEST_F(MatmulLeakyReluTest, function) {
  ICPU_RUN_KF(matmul_leaky_relu, 2, a, b, bias, c, workspace, tiling);
}

TEST_F(MatmulLeakyReluTest, lambda) {
  auto kernel = [](GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace,
                   GM_ADDR tiling) { ::matmul_leaky_relu(a, b, bias, c, workspace, tiling); };
  ICPU_RUN_KF(kernel, 2, a, b, bias, c, workspace, tiling);
}

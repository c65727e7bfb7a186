// SPDX-License-Identifier: Apache-2.0
// A product whose fractals lie in L0A and L0B in the order that words tell.
#include "bench.h"

extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {1, 12, 1, 2};  // key 12: an AIC and two AIVs

using namespace AscendC;

namespace {

constexpr uint32_t kM = 32, kN = 48, kK = 64, kSide = 16, kFractal = 256;
constexpr uint32_t kDown = kM / kSide, kAcross = kN / kSide, kSteps = kK / kSide;

template <HardEvent event>
void Order() {
  SetFlag<event>(EVENT_ID0);
  WaitFlag<event>(EVENT_ID0);
}

}  // namespace

// Words: 1 for A row by row (ZZ), 1 for B one column of N after the other, 1 for A that lies transposed in GM, 1 for
// the first row of A alone.
extern "C" __global__ __aicore__ void product(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR told) {
  if ASCEND_IS_AIV {
    return;
  }
  const auto* words = reinterpret_cast<__gm__ int32_t*>(told);
  const bool aByRows = words[0] != 0, bByColumns = words[1] != 0, isTransposed = words[2] != 0;
  const LocalTensor<half> a1(TPosition::A1, 0, kM * kK), b1(TPosition::B1, 65536, kK * kN);
  const LocalTensor<half> a2(TPosition::A2, 0, kM * kK), b2(TPosition::B2, 0, kK * kN);
  const LocalTensor<float> co1(TPosition::CO1, 0, kM * kN);
  const uint32_t rows = isTransposed ? kK : kM, columns = isTransposed ? kM : kK;
  DataCopy(a1, Global<half>(a), Nd2NzParams(1, rows, columns, 0, columns, rows, 1, 0));
  DataCopy(b1, Global<half>(b), Nd2NzParams(1, kK, kN, 0, kN, kK, 1, 0));
  Order<HardEvent::MTE2_MTE1>();
  for (uint32_t step = 0; step < kSteps; ++step) {
    for (uint32_t row = 0; row < kDown; ++row) {
      const uint32_t to = aByRows ? row * kSteps + step : step * kDown + row;
      const uint32_t from = isTransposed ? row * kSteps + step : step * kDown + row;
      LoadData(a2[to * kFractal], a1, LoadData2DParams(from, 1, 1, 0, 0, isTransposed, 0));
    }
    for (uint32_t column = 0; column < kAcross; ++column) {
      const uint32_t to = bByColumns ? column * kSteps + step : step * kAcross + column;
      LoadData(b2[to * kFractal], b1,
               LoadData2DParams(column * kSteps + step, 1, 1, 0, 0, true, 0));
    }
  }
  Order<HardEvent::MTE1_M>();
  MmadParams shape;
  shape.m = words[3] != 0 ? 1 : kM;
  shape.n = kN;
  shape.k = kK;
  Mmad(co1, a2, b2, shape);
  Order<HardEvent::M_FIX>();
  Fixpipe(Global<float>(c), co1, FixpipeParamsV220(kN, kM, kM, kN, false));
}

// SPDX-License-Identifier: Apache-2.0
// Uses of API that must not compile: CASE chooses one.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ void absent(GM_ADDR gm) {
  TPipe pipe;
  GlobalTensor<float> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<float*>(gm));
#if CASE == 0
  CastDequant(tensor, tensor, 8);
#elif CASE == 1
  MrgSort4(tensor, tensor, 0);
#elif CASE == 2
  SyncAll<false>();
#elif CASE == 3
  PipeBarrier<PIPE_S>();
#elif CASE == 4
  CrossCoreSetFlag<0, PIPE_S>(0);
#elif CASE == 5
  CrossCoreSetFlag<0, PIPE_ALL>(0);
#elif CASE == 6
  SetCtrlSpr<60, 60>(0);
#endif
}

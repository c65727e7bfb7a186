// SPDX-License-Identifier: Apache-2.0
// Uses of API that must not compile: CASE chooses one.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ void absent(GM_ADDR gm) {
  TPipe pipe;
  GlobalTensor<float> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<float*>(gm));
#if CASE == 0
  SetAtomicAdd<float>();
#elif CASE == 1
  SetAtomicNone();
#elif CASE == 2
  SyncAll();
#elif CASE == 3
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(tensor);
#elif CASE == 4
  CrossCoreSetFlag<0x0, PIPE_MTE3>(1);
#elif CASE == 5
  PipeBarrier<PIPE_S>();
#endif
}

// SPDX-License-Identifier: Apache-2.0
// Times of cores that wait for each other. params: 0 SyncAll and 1 IBSet with IBWait, how often. out: zeros.
#include "probe.h"

namespace probe {

using namespace AscendC;

__aicore__ inline void Cores(GM_ADDR out, GM_ADDR params) {
  const int32_t what = Param(params, 0);
  const int32_t times = Param(params, 1);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<int32_t> ub = buffer.Get<int32_t>();
  GlobalTensor<int32_t> marks;
  marks.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
  const int32_t me = static_cast<int32_t>(GetBlockIdx());
  for (int32_t i = 0; i < times; ++i) {
    if (what == 0) {
      SyncAll();
    } else if (me == 0) {
      IBSet(marks, ub, 0, i % 8);
    } else if (me == 1) {
      IBWait(marks, ub, 0, i % 8);
    }
    if (what == 1 && me == 1) {
      IBSet(marks, ub, 1, i % 8);
    } else if (what == 1 && me == 0) {
      IBWait(marks, ub, 1, i % 8);
    }
  }
}

}  // namespace probe

extern "C" __global__ __aicore__ void probe_cores(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
#if !defined(__NPU_ARCH__) || (__NPU_ARCH__ != 1001 && __NPU_ARCH__ != 2002)  // no kernel types
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
#endif
  probe::Cores(out, params);
}

// SPDX-License-Identifier: Apache-2.0
// Kernel of ProbeShift. Leaves out the last element when the bias is negative, and reads past the
// end when it is -1000.
#include "kernel_operator.h"
#include "opbase_probe_tiling.h"

extern "C" __global__ __aicore__ void probe_shift(GM_ADDR x, GM_ADDR extra, GM_ADDR y,
                                                  GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ProbeShiftTiling);
  GET_TILING_DATA_WITH_STRUCT(ProbeShiftTiling, data, tiling);
  if (extra != nullptr || data.mode != 3 || !TILING_KEY_IS(7)) return;
  AscendC::GlobalTensor<float> in;
  AscendC::GlobalTensor<float> out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  if (data.bias > 100.0F) {
    AscendC::GlobalTensor<float> scratch;
    scratch.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace));
    if (AscendC::GetBlockIdx() == 0) scratch.SetValue(249, data.bias);
  }
  const uint64_t past = data.bias == -1000.0F ? 1 : 0;
  const uint64_t count = data.bias < 0 ? data.count - 1 : data.count;
  const uint64_t cores = static_cast<uint64_t>(AscendC::GetBlockNum());
  // A core's cache writes whole lines back, so each core has lines of its own.
  constexpr uint64_t kLine = 64 / sizeof(float);
  const auto core = static_cast<uint64_t>(AscendC::GetBlockIdx());
  for (uint64_t i = core * kLine; i < count;
       i += (i + 1) % kLine == 0 ? (cores - 1) * kLine + 1 : 1) {
    out.SetValue(i, in.GetValue(i + past * data.count) + data.bias);
  }
}

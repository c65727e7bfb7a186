// SPDX-License-Identifier: Apache-2.0
// How much of UB holds what was written. params: bytes of UB. out: a number for each kPiece bytes, written by one pass over UB
// and read back by another.
#include "probe.h"

namespace probe {

using namespace AscendC;

__aicore__ inline void Whole(GM_ADDR out, GM_ADDR params) {
  constexpr int32_t kPiece = 1024;
  constexpr int32_t kBlock = 32;
  const int32_t bytes = Param(params, 0);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, static_cast<uint32_t>(bytes));
  LocalTensor<int32_t> ub = buffer.Get<int32_t>();
  GlobalTensor<int32_t> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
  const auto from = [&](int32_t piece) {  // the last piece ends where UB does
    const int32_t begin = piece * kPiece;
    return static_cast<uint32_t>((begin + kPiece > bytes ? bytes - kPiece : begin) / 4);
  };
  const int32_t pieces = (bytes + kPiece - 1) / kPiece;
  for (int32_t i = 0; i < pieces; ++i) {
    Duplicate(ub[from(i)], i + 1, kPiece / 4);
    PipeBarrier<PIPE_ALL>();
  }
  for (int32_t i = 0; i < pieces; ++i) {
    DataCopy(result[static_cast<uint64_t>(i) * kBlock / 4], ub[from(i) + (kPiece - kBlock) / 4],
             kBlock / 4);
    PipeBarrier<PIPE_ALL>();
  }
}

}  // namespace probe

extern "C" __global__ __aicore__ void probe_ub(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  probe::Whole(out, params);
}

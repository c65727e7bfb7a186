// SPDX-License-Identifier: Apache-2.0
// Region proposals of architectures 1001 and 2002.
#include "bench.h"

using namespace AscendC;

// op 0: ProposalConcat into dst's area, 1: ProposalExtract, 2: RpSort16, 3: RpSort16 in place of dst's area, all of `repeat`;
// mode: the field. extra[0]: elements that the source lies behind the start of its area.
CALL_KERNEL(proposals) {
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> src = areas.Area<T>(c.op == 3 ? 0 : 1)[static_cast<uint32_t>(c.extra[0])];
    if (c.op == 0) {
      ProposalConcat(dst, src, c.repeat, c.mode);
    } else if (c.op == 1) {
      ProposalExtract(dst, src, c.repeat, c.mode);
    } else {
      RpSort16(dst, src, c.repeat);
    }
  });
}

// Queues of extra[0..3] proposals follow each other in src0's area. mode: validBit. op 1: stops at an empty queue and stores the
// shares at the start of the last 32 bytes of dst's area.
CALL_KERNEL(merge) {
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const Queues<T> queues(c, &areas);
    MrgSort4(areas.Area<T>(0), queues.List(),
             MrgSort4Info(queues.lengths, c.op == 1, static_cast<uint16_t>(c.mode),
                          static_cast<uint16_t>(c.repeat)));
    if (c.op == 1) {
      uint16_t shares[4];
      GetMrgSortResult(shares[0], shares[1], shares[2], shares[3]);
      StoreShares(&areas, shares);
    }
  });
}

// 64 scores: into proposals that nothing else has written, sorted by 16, merged; field `mode` comes out.
extern "C" __global__ __aicore__ void only_scores(GM_ADDR dstGm, GM_ADDR srcGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  TPipe pipe;
  TBuf<> buffers[3];
  for (TBuf<>& buffer : buffers) {
    pipe.InitBuffer(buffer, 64 * 16);
  }
  const LocalTensor<half> values = buffers[0].Get<half>();
  const LocalTensor<half> proposals = buffers[1].Get<half>();
  const LocalTensor<half> merged = buffers[2].Get<half>();
  GlobalTensor<half> from = Global<half>(srcGm);
  DataCopy(values, from, 64);
  PipeBarrier<PIPE_ALL>();
  ProposalConcat(proposals, values, 4, 4);
  PipeBarrier<PIPE_V>();
  RpSort16(proposals, proposals, 4);
  PipeBarrier<PIPE_V>();
  const uint16_t lengths[4] = {16, 16, 16, 16};
  MrgSort4(merged, MrgSortSrcList<half>(proposals, proposals[128], proposals[256], proposals[384]),
           MrgSort4Info(lengths, false, 15, 1));
  PipeBarrier<PIPE_V>();
  ProposalExtract(values, merged, 4, c.mode);
  PipeBarrier<PIPE_ALL>();
  GlobalTensor<half> to = Global<half>(dstGm);
  DataCopy(to, values, 64);
}

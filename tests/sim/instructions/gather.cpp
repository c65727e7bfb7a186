// SPDX-License-Identifier: Apache-2.0
// Instructions that pick, number, sort and transpose elements.
#include "bench.h"

using namespace AscendC;

// Offsets lie in src1's area. extra: base.
CALL_KERNEL(gather) {
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> src = areas.Area<T>(1);
    const LocalTensor<uint32_t> offsets = areas.Area<uint32_t>(2);
    const auto base = static_cast<uint32_t>(c.extra[0]);
    const uint64_t bits[2] = {c.mask[0], c.mask[1]};
    const auto repeat = static_cast<uint8_t>(c.repeat);
    const auto step = static_cast<uint16_t>(c.rep[0]);
    WithMask<T>(c, [&] {
      if (c.form == kCount) {
        Gather(dst, src, offsets, base, static_cast<uint32_t>(c.count));
      } else if (c.form == kBits) {
        Gather(dst, src, offsets, base, bits, repeat, step);
      } else {
        Gather(dst, src, offsets, base, c.mask[0], repeat, step);
      }
    });
  });
}

CALL_KERNEL(gather_blocks) {
  const GatherRepeatParams params(static_cast<uint8_t>(c.blk[0]), static_cast<uint8_t>(c.rep[0]));
  const auto repeat = static_cast<uint8_t>(c.repeat);
  if (c.dtype == 6) {
    Gatherb(areas.Area<uint16_t>(0), areas.Area<uint16_t>(1), areas.Area<uint32_t>(2), repeat,
            params);
  } else {
    Gatherb(areas.Area<uint32_t>(0), areas.Area<uint32_t>(1), areas.Area<uint32_t>(2), repeat,
            params);
  }
}

// mode: a fixed pattern, 0 for the bits in src1's area. op 1: counter mode with `count` elements; 2: dst is src0.
// The number of elements kept goes behind the result, at extra[0] bytes.
CALL_KERNEL(gather_mask) {
  const GatherMaskParams params(static_cast<uint8_t>(c.blk[1]), static_cast<uint16_t>(c.repeat),
                                static_cast<uint16_t>(c.rep[1]), static_cast<uint8_t>(c.rep[2]));
  uint64_t kept = 0;
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> src = areas.Area<T>(c.op == 2 ? 0 : 1);
    const auto mask = static_cast<uint32_t>(c.count);
    if (c.mode != 0) {
      GatherMask(dst, src, static_cast<uint8_t>(c.mode), c.op == 1, mask, params, kept);
    } else if constexpr (sizeof(T) == 2) {
      GatherMask(dst, src, areas.Area<uint16_t>(2), c.op == 1, mask, params, kept);
    } else {
      GatherMask(dst, src, areas.Area<uint32_t>(2), c.op == 1, mask, params, kept);
    }
  });
  PipeBarrier<PIPE_ALL>();
  areas.Area<uint64_t>(0).SetValue(static_cast<uint32_t>(c.extra[0] / 8), kept);
}

// op 0: CreateVecIndex, 1: ArithProgression with the step in extra[0], from element extra[1] on.
CALL_KERNEL(create_index) {
  ForLaneType(c.dtype, [&](auto element) {
    using T = decltype(element);
    LocalTensor<T> dst = areas.Area<T>(0);
    const T first = ScalarOf<T>(c);
    uint64_t bits[2] = {c.mask[0], c.mask[1]};
    const auto repeat = static_cast<uint8_t>(c.repeat);
    const auto block = static_cast<uint16_t>(c.blk[0]);
    const auto step = static_cast<uint8_t>(c.rep[0]);
    WithMask<T>(c, [&] {
      if (c.op == 1) {
        const auto from = static_cast<uint32_t>(c.extra[1]);
        ArithProgression(dst[from], first, static_cast<T>(c.extra[0]), c.count);
      } else if (c.form == kCount) {
        CreateVecIndex(dst, first, static_cast<uint32_t>(c.count));
      } else if (c.form == kBits) {
        CreateVecIndex(dst, first, bits, repeat, block, step);
      } else {
        CreateVecIndex(dst, first, c.mask[0], repeat, block, step);
      }
    });
  });
}

// Scores in src0's area, indices in src1's. op 0: Sort32, 1: Sort, 2: Sort of everything, 3: the same and Extract, the indices
// at extra[0] bytes.
CALL_KERNEL(sort) {
  TBuf<> scratch;
  TBuf<> sortedBuffer;
  areas.pipe.InitBuffer(scratch, kAreaBytes);
  areas.pipe.InitBuffer(sortedBuffer, kAreaBytes);
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> src = areas.Area<T>(1);
    const LocalTensor<uint32_t> index = areas.Area<uint32_t>(2);
    LocalTensor<T> work = scratch.Get<T>();
    if (c.op == 0) {
      Sort32(dst, src, index, c.repeat);
      return;
    }
    LocalTensor<T> scores;
    Concat(scores, src, work, c.repeat * 2);
    if (c.op == 1) {
      Sort<T, false>(dst, scores, index, work, c.repeat);
    } else if (c.op == 2) {
      Sort<T, true>(dst, scores, index, work, c.repeat);
    } else {
      const LocalTensor<T> sorted = sortedBuffer.Get<T>();
      Sort<T, true>(sorted, scores, index, work, c.repeat);
      PipeBarrier<PIPE_V>();
      Extract(dst, areas.Area<uint32_t>(0)[static_cast<uint32_t>(c.extra[0] / 4)], sorted,
              c.repeat);
    }
  });
}

// Queues of extra[0..3] structures follow each other in src0's area. mode: validBit. op 1: stops at an empty queue and stores
// the shares at the start of the last 32 bytes of dst's area; 2: the same by the high-level form.
CALL_KERNEL(merge) {
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const Queues<T> queues(c, &areas);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const auto valid = static_cast<uint16_t>(c.mode);
    uint32_t counts[4] = {};
    if (c.op == 2) {
      MrgSort<T, true>(dst, queues.List(), queues.lengths, counts, valid, c.repeat);
    } else {
      MrgSort(dst, queues.List(),
              MrgSort4Info(queues.lengths, c.op == 1, valid, static_cast<uint16_t>(c.repeat)));
      uint16_t shares[4];
      GetMrgSortResult(shares[0], shares[1], shares[2], shares[3]);
      for (int i = 0; i < 4; ++i) {
        counts[i] = shares[i];
      }
    }
    if (c.op != 0) {
      StoreShares(&areas, counts);
    }
  });
}

// op 0: one tile; else a TransposeType, extra: n, c, h, w.
CALL_KERNEL(transpose) {
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    if (c.op == 0) {
      Transpose(areas.Area<T>(0), areas.Area<T>(c.mode == 1 ? 0 : 1));
      return;
    }
    const TransposeParamsExt params(
        static_cast<uint16_t>(c.extra[0]), static_cast<uint16_t>(c.extra[1]),
        static_cast<uint16_t>(c.extra[2]), static_cast<uint16_t>(c.extra[3]),
        static_cast<TransposeType>(c.op));
    Transpose(areas.Area<T>(0), areas.Area<T>(1), areas.Area<uint8_t>(2), params);
  });
}

// Sources whose first 64 elements have a value, the rest nothing; `count` results from extra[1] elements on go out. extra[0]:
// where the instruction starts to read, in elements.
extern "C" __global__ __aicore__ void undefined_sources(GM_ADDR dstGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  TPipe pipe;
  TBuf<> buffers[5];
  for (auto& buffer : buffers) {
    pipe.InitBuffer(buffer, 1024);
  }
  LocalTensor<float> src = buffers[0].Get<float>();
  LocalTensor<float> dst = buffers[1].Get<float>();
  LocalTensor<uint32_t> index = buffers[2].Get<uint32_t>();
  LocalTensor<int32_t> numbers = index.ReinterpretCast<int32_t>();
  LocalTensor<uint32_t> pattern = buffers[3].Get<uint32_t>();
  LocalTensor<float> other = buffers[4].Get<float>();
  const auto at = static_cast<uint32_t>(c.extra[0]);
  CreateVecIndex(src, 0.0f, 64);
  PipeBarrier<PIPE_V>();
  uint64_t kept = 0;
  switch (c.op) {
    case 0:  // undefined elements
      ArithProgression(numbers, 0, 4, 64);
      PipeBarrier<PIPE_V>();
      Gather(dst, src, index, at * 4, 64);
      break;
    case 1:
      GatherMask(dst, src, uint8_t{1}, false, 0, {1, 2, 8, 0}, kept);
      break;
    case 2:  // an undefined pattern
      Duplicate(pattern, 0xFFFFFFFFu, 8);
      PipeBarrier<PIPE_V>();
      GatherMask(dst, src, pattern[at], true, 32, {1, 1, 8, 0}, kept);
      break;
    case 3:
      CreateVecIndex(numbers, 0, 64);
      PipeBarrier<PIPE_V>();
      Sort32(dst, src, index, 2);
      PipeBarrier<PIPE_V>();
      Sort32(other, src[at], index, 1);
      PipeBarrier<PIPE_V>();
      DataCopy(dst, other, 64);
      break;
    case 4:  // the indices alone are undefined
      Sort32(other, src, index, 1);
      PipeBarrier<PIPE_V>();
      Extract(dst, pattern, other, 1);
      PipeBarrier<PIPE_V>();
      if (at != 0) {
        DataCopy(dst, pattern.ReinterpretCast<float>(), 32);
      }
      break;
    case 5:
      CreateVecIndex(src, 0.0f, at == 0 ? 128 : 64);
      PipeBarrier<PIPE_V>();
      Transpose(dst.ReinterpretCast<half>(), src[at].ReinterpretCast<half>());
      break;
    case 6: {
      CreateVecIndex(numbers, 0, 32);
      PipeBarrier<PIPE_V>();
      Sort32(other, src, index, 1);
      PipeBarrier<PIPE_V>();
      const uint16_t lengths[4] = {16, 16, 0, 0};
      MrgSort(dst, MrgSortSrcList<float>(other, other[at], other, other),
              MrgSort4Info(lengths, false, 3, 1));
      break;
    }
    default:
      Trap();
  }
  PipeBarrier<PIPE_ALL>();
  GlobalTensor<float> out = Global<float>(dstGm);
  DataCopy(out, dst[static_cast<uint32_t>(c.extra[1])], static_cast<uint32_t>(c.count));
}

// src goes back to its queue while the vector pipe may not have come to the Gather. op 1: another one comes after that.
extern "C" __global__ __aicore__ void freed_source(GM_ADDR dstGm, GM_ADDR callGm) {
  constexpr uint32_t kCount = 64, kBytes = kCount * sizeof(float);
  const Call c = ReadCall(callGm);
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  TBuf<> list, result;
  pipe.InitBuffer(queue, 1, kBytes);
  pipe.InitBuffer(list, kBytes);
  pipe.InitBuffer(result, kBytes);
  const GlobalTensor<float> gm = Global<float>(dstGm);
  const LocalTensor<int32_t> offsets = list.Get<int32_t>();
  CreateVecIndex(offsets, 0, kCount);
  PipeBarrier<PIPE_V>();
  Muls(offsets, offsets, static_cast<int32_t>(sizeof(float)), kCount);
  PipeBarrier<PIPE_V>();
  LocalTensor<float> src = queue.AllocTensor<float>();
  DataCopy(src, gm, kCount);
  queue.EnQue(src);
  src = queue.DeQue<float>();
  Gather(result.Get<float>(), src, offsets.ReinterpretCast<uint32_t>(), 0, kCount);
  queue.FreeTensor(src);
  if (c.op == 1) {
    Gather(result.Get<float>(), src, offsets.ReinterpretCast<uint32_t>(), 0, kCount);
  } else {
    src = queue.AllocTensor<float>();
    queue.FreeTensor(src);
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(gm[kCount], result.Get<float>(), kCount);
}

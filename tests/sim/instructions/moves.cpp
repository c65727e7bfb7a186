// SPDX-License-Identifier: Apache-2.0
// Copies between GM and UB, and the instructions that only move lanes.
#include "bench.h"

using namespace AscendC;

// One copy by DataCopy or DataCopyPad in each direction. op: 0 count, 1 params, 2 Pad, 3 Pad with the old parameter structs.
// extra: blockCount, blockLen, srcStride, dstStride, padding (isPad | left << 8 | right << 16).
extern "C" __global__ __aicore__ void copy_in(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                              GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  Areas areas(dstGm, bGm, bGm);
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const GlobalTensor<T> src = Global<T>(aGm);
    const auto count = static_cast<uint16_t>(c.extra[0]);
    const auto len = static_cast<uint32_t>(c.extra[1]);
    const auto srcStride = static_cast<uint32_t>(c.extra[2]);
    const auto dstStride = static_cast<uint32_t>(c.extra[3]);
    const bool isPad = (c.extra[4] & 1) != 0;
    const auto left = static_cast<uint8_t>(c.extra[4] >> 8);
    const auto right = static_cast<uint8_t>(c.extra[4] >> 16);
    const DataCopyParams old(count, static_cast<uint16_t>(len), static_cast<uint16_t>(srcStride),
                             static_cast<uint16_t>(dstStride));
    if (c.op == 0) {
      DataCopy(dst, src, static_cast<uint32_t>(c.count));
    } else if (c.op == 1) {
      DataCopy(dst, src, old);
    } else if (c.op == 2) {
      DataCopyPad(dst, src, DataCopyExtParams(count, len, srcStride, dstStride, 0),
                  DataCopyPadExtParams<T>(isPad, left, right, ScalarOf<T>(c)));
    } else {
      DataCopyPad(dst, src, old, DataCopyPadParams(isPad, left, right, c.scalar));
    }
  });
  areas.Finish();
}

extern "C" __global__ __aicore__ void copy_out(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                               GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  Areas areas(bGm, aGm, bGm);
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> src = areas.Area<T>(1);
    const GlobalTensor<T> dst = Global<T>(dstGm);
    const auto count = static_cast<uint16_t>(c.extra[0]);
    const auto len = static_cast<uint32_t>(c.extra[1]);
    const auto srcStride = static_cast<uint32_t>(c.extra[2]);
    const auto dstStride = static_cast<uint32_t>(c.extra[3]);
    const DataCopyParams old(count, static_cast<uint16_t>(len), static_cast<uint16_t>(srcStride),
                             static_cast<uint16_t>(dstStride));
    if (c.op == 0) {
      DataCopy(dst, src, static_cast<uint32_t>(c.count));
    } else if (c.op == 1) {
      DataCopy(dst, src, old);
    } else if (c.op == 2) {
      DataCopyPad(dst, src, DataCopyExtParams(count, len, srcStride, dstStride, 0));
    } else {
      DataCopyPad(dst, src, old);
    }
  });
}

// UB to UB. op: 0 count, 1 params.
CALL_KERNEL(copy_ub) {
  const LocalTensor<half> dst = areas.Area<half>(0);
  const LocalTensor<half> src = areas.Area<half>(1);
  if (c.op == 0) {
    DataCopy(dst, src, static_cast<uint32_t>(c.count));
  } else {
    DataCopy(dst, src,
             DataCopyParams(static_cast<uint16_t>(c.extra[0]), static_cast<uint16_t>(c.extra[1]),
                            static_cast<uint16_t>(c.extra[2]), static_cast<uint16_t>(c.extra[3])));
  }
}

CALL_KERNEL(brcb) {
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    Brcb(areas.Area<T>(0), areas.Area<T>(1), static_cast<uint8_t>(c.repeat),
         BrcbRepeatParams(static_cast<uint16_t>(c.blk[0]), static_cast<uint16_t>(c.rep[0])));
  });
}

// Blocks of the source and the destination follow each other at extra[0] and extra[1] blocks. op: 0 addresses, 1 tensors,
// 2 addresses in tensors. mode: dstHighHalf | srcHighHalf << 1.
CALL_KERNEL(trans_data) {
  ForType(c.dtype, [&](auto element) {
    using T = decltype(element);
    const TransDataTo5HDParams params(
        (c.mode & 1) != 0, (c.mode & 2) != 0, static_cast<uint8_t>(c.repeat),
        static_cast<uint16_t>(c.rep[0]), static_cast<uint16_t>(c.rep[1]));
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    LocalTensor<T> dst[16];
    LocalTensor<T> src[16];
    uint64_t dstList[16];
    uint64_t srcList[16];
    const LocalTensor<uint64_t> dstTensor = areas.Area<uint64_t>(2);
    const LocalTensor<uint64_t> srcTensor = areas.Area<uint64_t>(2)[16];
    for (uint32_t i = 0; i < 16; ++i) {
      dst[i] = areas.Area<T>(0)[i * static_cast<uint32_t>(c.extra[1]) * perBlock];
      src[i] = areas.Area<T>(1)[i * static_cast<uint32_t>(c.extra[0]) * perBlock];
      dstList[i] = dst[i].GetPhyAddr();
      srcList[i] = reinterpret_cast<uint64_t>(reinterpret_cast<__ubuf__ T*>(src[i].GetPhyAddr()));
      dstTensor.SetValue(i, dstList[i]);
      srcTensor.SetValue(i, srcList[i]);
    }
    if (c.op == 0) {
      TransDataTo5HD<T>(dstList, srcList, params);
    } else if (c.op == 1) {
      TransDataTo5HD(dst, src, params);
    } else {
      TransDataTo5HD<T>(dstTensor, srcTensor, params);
    }
  });
}

// The mask lies in src1's area, the scratch behind it. op: 0 scalar where the mask is set, 1 where it is not, 2 the old name.
// extra: rows, columns, mask columns.
CALL_KERNEL(select_bytes) {
  const auto run = [&](auto element, auto flag) {
    using T = decltype(element);
    using U = decltype(flag);
    SelectWithBytesMaskShapeInfo info;
    info.firstAxis = static_cast<uint32_t>(c.extra[0]);
    info.srcLastAxis = static_cast<uint32_t>(c.extra[1]);
    info.maskLastAxis = static_cast<uint32_t>(c.extra[2]);
    LocalTensor<T> dst = areas.Area<T>(0);
    LocalTensor<T> src = areas.Area<T>(1);
    LocalTensor<U> mask = areas.Area<U>(2);
    LocalTensor<uint8_t> work = areas.Area<uint8_t>(2)[kAreaBytes / 2];
    src.SetSize(info.firstAxis * info.srcLastAxis);
    mask.SetSize(info.firstAxis * info.maskLastAxis);
    const T value = ScalarOf<T>(c);
    if (c.op == 0) {
      Select(dst, src, value, mask, work, info);
    } else if (c.op == 1) {
      Select(dst, value, src, mask, work, info);
    } else {
      SelectWithBytesMask(dst, src, value, mask, work, info);
    }
  };
  ForType(c.srcDtype, [&](auto flag) { c.dtype == 0 ? run(float(), flag) : run(half(), flag); });
}

// The mask lies in src1's area, the scratch behind it. op: dropOutMode, 5 is mode 0 without scratch. extra: rows, columns, mask columns.
CALL_KERNEL(drop_out) {
  const auto run = [&](auto element) {
    using T = decltype(element);
    DropOutShapeInfo info;
    info.firstAxis = static_cast<uint32_t>(c.extra[0]);
    info.srcLastAxis = static_cast<uint32_t>(c.extra[1]);
    info.maskLastAxis = static_cast<uint32_t>(c.extra[2]);
    const LocalTensor<T> dst = areas.Area<T>(0), src = areas.Area<T>(1);
    const LocalTensor<uint8_t> mask = areas.Area<uint8_t>(2);
    const LocalTensor<uint8_t> work = mask[kAreaBytes / 2];
    constexpr float kKept = 0.75f;
    if (c.op == 0) {
      DropOut(dst, src, mask, work, kKept, info);
    } else if (c.op == 1) {
      DropOut<T, false, DROPOUT_MODE_BYTE_MISALIGN>(dst, src, mask, work, kKept, info);
    } else if (c.op == 2) {
      DropOut<T, false, DROPOUT_MODE_BYTE_ALIGN>(dst, src, mask, work, kKept, info);
    } else if (c.op == 3) {
      DropOutBitModeInit(work);
      DropOut<T, true, DROPOUT_MODE_BIT_ALIGN>(dst, src, mask, work, kKept, info);
    } else if (c.op == 4) {
      DropOutBitModeInit();
      DropOut<T, true, DROPOUT_MODE_BIT_MISALIGN>(dst, src, mask, work, kKept, info);
    } else {
      DropOut(dst, src, mask, kKept, info);
    }
  };
  c.dtype == 0 ? run(float()) : run(half());
}

// extra: srcM, srcK, oriSrcK, isFront. op: 0 shape given, 1 shape from the tiling and no scratch.
CALL_KERNEL(softmax_grad_step) {
  TBuf<> scratch;
  areas.pipe.InitBuffer(scratch, 8192);
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const auto rows = static_cast<uint32_t>(c.extra[0]);
    const auto columns = static_cast<uint32_t>(c.extra[1]);
    SoftMaxTiling tiling;
    tiling.srcM = rows;
    tiling.srcK = columns;
    if (c.op == 1) {
      SoftmaxGrad(areas.Area<T>(0), areas.Area<T>(1), areas.Area<T>(2), tiling, c.extra[3] != 0);
      return;
    }
    const SoftMaxShapeInfo shape{rows, columns, rows, static_cast<uint32_t>(c.extra[2])};
    SoftmaxGrad(areas.Area<T>(0), areas.Area<T>(1), areas.Area<T>(2), scratch.Get<uint8_t>(),
                SoftMaxTiling(), c.extra[3] != 0, shape);
  });
}

// Two dimensions by slices: GM to UB, and from there into another place of GM. extra: whether the first is left out.
extern "C" __global__ __aicore__ void copy_slices(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                                  GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  Areas areas(dstGm, bGm, bGm);
  const SliceInfo rows[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}};
  const SliceInfo packed[] = {{0, 47, c.extra[0] == 0 ? 0u : 4u, 3, 48}, {0, 1, 0, 1, 2}};
  const LocalTensor<float> local = areas.Area<float>(1);
  DataCopy(local, Global<float>(aGm), packed, rows, 2);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(dstGm), local, rows, packed, 2);
}

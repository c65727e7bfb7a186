// SPDX-License-Identifier: Apache-2.0
// Values. params: number of values.inc, 32 or 16. in: two operands of kCount elements, bit patterns of masks and offsets behind
// them. out: kOutBytes. And, as probe_pad: what DataCopyPad fills up. params: 0 without padding, 1 with a value of SetPadValue, 2
// the same behind a copy with isPad; bytes of a block.
#include "probe.h"

namespace probe {

using namespace AscendC;

constexpr uint32_t kCount = 2048;
constexpr uint32_t kOutBytes = kCount * 4;
constexpr uint32_t kTableBytes = kCount * 4;
constexpr uint32_t kScratchBytes = 32768;

// The comparison register's contents, for one repeat whose mask leaves lanes out.
template <typename T>
__aicore__ inline void ComparedByRegister(const LocalTensor<T>& d, const LocalTensor<T>& a,
                                          const LocalTensor<T>& b, uint64_t mask[2]) {
  Compare(a, b, CMPMODE::LT, mask, {1, 1, 1, 8, 8, 8});
  PipeBarrier<PIPE_V>();
  GetCmpMask(d);
}

// SoftmaxGrad of all elements in one piece: what its tiling function of the host makes of so many rows.
template <typename T>
__aicore__ inline void SoftmaxGraded(const LocalTensor<T>& d, const LocalTensor<T>& a,
                                     const LocalTensor<T>& b, const LocalTensor<uint8_t>& scratch) {
  constexpr uint32_t kRows = 8;
  constexpr uint32_t kBlock = 32 / sizeof(T);
  SoftMaxTiling tiling;
  tiling.srcM = tiling.outMaxM = tiling.splitM = tiling.reduceM = kRows;
  tiling.srcK = tiling.splitK = kCount / kRows;
  tiling.srcSize = tiling.splitSize = kCount;
  tiling.outMaxK = tiling.reduceK = kBlock;
  tiling.outMaxSize = tiling.reduceSize = kRows * kBlock;
  tiling.rangeM = 1;
  tiling.tailM = tiling.tailSplitSize = tiling.tailReduceSize = 0;
  SoftmaxGrad<T>(d, a, b, scratch, tiling, false, {kRows, kCount / kRows, kRows, kCount / kRows});
}

// Whole numbers of -5 to 5 to the power of those of -3 to 3.
template <typename T>
__aicore__ inline void Powers(const LocalTensor<int32_t>& d, const LocalTensor<T>& a,
                              const LocalTensor<T>& b, const LocalTensor<uint8_t>& scratch) {
  constexpr uint32_t kSome = 512;
  const LocalTensor<int32_t> base = a[kSome].template ReinterpretCast<int32_t>();
  const LocalTensor<int32_t> exponent = b[kSome].template ReinterpretCast<int32_t>();
  const auto whole = [](const LocalTensor<int32_t>& to, const LocalTensor<T>& from, T most) {
    Maxs(from, from, -most, kSome);
    PipeBarrier<PIPE_V>();
    Mins(from, from, most, kSome);
    PipeBarrier<PIPE_V>();
    Cast(to, from, RoundMode::CAST_TRUNC, kSome);
    PipeBarrier<PIPE_V>();
  };
  whole(base, a[2 * kSome], T(5));
  whole(exponent, b[2 * kSome], T(3));
  Power(d, base, exponent, scratch, kSome);
}

template <typename T, int width>
__aicore__ inline void Values(GM_ADDR in, GM_ADDR out, int32_t number) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> bufferA, bufferB, bufferD, bufferW, bufferT, bufferS;
  pipe.InitBuffer(bufferA, kOutBytes);
  pipe.InitBuffer(bufferB, kOutBytes);
  pipe.InitBuffer(bufferD, 2 * kOutBytes);
  pipe.InitBuffer(bufferW, kOutBytes);
  pipe.InitBuffer(bufferT, kTableBytes);
  pipe.InitBuffer(bufferS, kScratchBytes);
  LocalTensor<T> a = bufferA.Get<T>(), b = bufferB.Get<T>(), d = bufferD.Get<T>(),
                 work = bufferW.Get<T>();
  LocalTensor<uint32_t> offsets = bufferT.Get<uint32_t>();
  GlobalTensor<T> x, y;
  x.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(in));
  y.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(in) + kCount);
  GlobalTensor<uint32_t> table;
  table.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(in + 2 * kCount * sizeof(T)));
  Duplicate(d.template ReinterpretCast<float>(), 0.0f, 2 * kOutBytes / 4);
  Duplicate(work.template ReinterpretCast<float>(), 0.0f, kOutBytes / 4);
  PipeBarrier<PIPE_ALL>();
  DataCopy(a, x, kCount);
  DataCopy(b, y, kCount);
  DataCopy(d, y, kCount);
  DataCopy(offsets, table, kTableBytes / 4);
  PipeBarrier<PIPE_ALL>();
  LocalTensor<uint8_t> bits = d.template ReinterpretCast<uint8_t>();
  LocalTensor<uint8_t> pattern = offsets.template ReinterpretCast<uint8_t>();
  LocalTensor<half> halves = d.template ReinterpretCast<half>();
  LocalTensor<bfloat16_t> bfloats = d.template ReinterpretCast<bfloat16_t>();
  LocalTensor<int32_t> ints = d.template ReinterpretCast<int32_t>();
  LocalTensor<int16_t> shorts = d.template ReinterpretCast<int16_t>();
  LocalTensor<float> floats = d.template ReinterpretCast<float>();
  LocalTensor<int8_t> bytes = d.template ReinterpretCast<int8_t>();
  LocalTensor<uint8_t> scratch = bufferS.Get<uint8_t>();
  const T factor = static_cast<T>(0.7f);
  uint64_t every[2] = {0x5a5a00ffa5a50f0full, sizeof(T) == 2 ? 0x123456789abcdef0ull : 0};
  uint64_t kept = 0;
  switch (number) {
#include "values.inc"
    default:
      break;
  }
  PipeBarrier<PIPE_ALL>();
  GlobalTensor<float> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out));
  DataCopy(result, floats, kOutBytes / 4);
}

__aicore__ inline void Pads(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  const int32_t how = Param(params, 0);
  const uint32_t block = static_cast<uint32_t>(Param(params, 1));
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<float> ub = buffer.Get<float>();
  GlobalTensor<float> gm, result;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(in));
  result.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out));
  Duplicate(ub, -1.0f, 1024);
  PipeBarrier<PIPE_ALL>();
  const DataCopyExtParams copy{4, block, 0, 0, 0};
  const uint8_t right = static_cast<uint8_t>((32 - block % 32) % 32 / 4);
  if (how > 0) {
    SetPadValue(3.0f);
    PipeBarrier<PIPE_ALL>();
  }
  if (how == 2) {
    DataCopyPad(ub, gm, copy, DataCopyPadExtParams<float>{true, 0, right, 5.0f});
    PipeBarrier<PIPE_ALL>();
  }
  if (how == 0) {
    DataCopyPad(ub, gm, copy, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
  } else {
    DataCopyPad(ub, gm, copy, DataCopyPadExtParams<float>{false, 0, right, 0.0f});
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(result, ub, 1024);
}

}  // namespace probe

extern "C" __global__ __aicore__ void probe_values(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  const int32_t number = probe::Param(params, 0);
  if (probe::Param(params, 1) == 32) {
    probe::Values<float, 32>(in, out, number);
  } else {
    probe::Values<half, 16>(in, out, number);
  }
}

extern "C" __global__ __aicore__ void probe_pad(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  probe::Pads(in, out, params);
}

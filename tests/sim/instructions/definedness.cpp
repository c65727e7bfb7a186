// SPDX-License-Identifier: Apache-2.0
// clang-format off: a call stays on the line that is named.
// And and Or with lanes that nobody wrote. The line that is named ends in "FOUND".
#include "bench.h"

using namespace AscendC;

namespace {

constexpr uint32_t kLanes = 128;

struct Operands {
  Operands(GM_ADDR gmIn, uint16_t value) : gm(gmIn) {
    pipe.InitBuffer(in, 256);
    pipe.InitBuffer(mask, 256);
    pipe.InitBuffer(out, 256);
    Duplicate(in.Get<uint16_t>(), static_cast<uint16_t>(5), 16);  // the other lanes are nobody's
    Duplicate(mask.Get<uint16_t>(), value, kLanes);
    Duplicate(mask.Get<uint16_t>(), static_cast<uint16_t>(0x00FF), 16);
  }
  void Store() {
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global<uint16_t>(gm), out.Get<uint16_t>(), kLanes);
  }
  GM_ADDR gm;
  TPipe pipe;
  TBuf<> in;
  TBuf<> mask;
  TBuf<> out;
};

}  // namespace

extern "C" __global__ __aicore__ void and_with_zeros(GM_ADDR gm) {
  Operands o(gm, 0);
  And(o.out.Get<uint16_t>(), o.mask.Get<uint16_t>(), o.in.Get<uint16_t>(), static_cast<int32_t>(kLanes));
  o.Store();
}

extern "C" __global__ __aicore__ void or_with_ones(GM_ADDR gm) {
  Operands o(gm, 0xFFFF);
  Or(o.out.Get<uint16_t>(), o.in.Get<uint16_t>(), o.mask.Get<uint16_t>(), kLanes, 1, {1, 1, 1, 8, 8, 8});
  o.Store();
}

extern "C" __global__ __aicore__ void and_with_a_one(GM_ADDR gm) {
  Operands o(gm, 0x0100);
  And(o.out.Get<uint16_t>(), o.mask.Get<uint16_t>(), o.in.Get<uint16_t>(), static_cast<int32_t>(kLanes));  // FOUND
  o.Store();
}

extern "C" __global__ __aicore__ void or_with_a_zero(GM_ADDR gm) {
  Operands o(gm, 0xFFFE);
  Or(o.out.Get<uint16_t>(), o.in.Get<uint16_t>(), o.mask.Get<uint16_t>(), kLanes, 1, {1, 1, 1, 8, 8, 8});  // FOUND
  o.Store();
}

// As loops that count whole blocks do.
extern "C" __global__ __aicore__ void padding_divided(GM_ADDR gm) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  LocalTensor<int32_t> x = buffer.Get<int32_t>();
  GlobalTensor<int32_t> source;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(gm), 11);
  DataCopyPad(x, source, DataCopyExtParams{1, 44, 0, 0, 0},
              DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
  PipeBarrier<PIPE_ALL>();
  for (uint32_t i = 0; i < 16; ++i) {
    x.SetValue(i, x.GetValue(i) / 16);
  }
}

// Reads memory that its caller names.
extern "C" __global__ __aicore__ void add_one(GM_ADDR from, GM_ADDR to) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 256);
  DataCopy(buffer.Get<float>(), Global<float>(from), 64);
  PipeBarrier<PIPE_ALL>();
  Adds(buffer.Get<float>(), buffer.Get<float>(), 1.0f, 64);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(to), buffer.Get<float>(), 64);
}

// Both operands have lanes that nobody wrote: the first one at its end, as tiles have it.
extern "C" __global__ __aicore__ void second_operand(GM_ADDR gm) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> first, second;
  pipe.InitBuffer(first, 256);
  pipe.InitBuffer(second, 256);
  LocalTensor<float> a = first.Get<float>();
  Duplicate(a, 1.0f, 32);
  Add(a, a, second.Get<float>(), 64);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(gm), a, 32);
}

// SPDX-License-Identifier: Apache-2.0
// Kernels whose faults do not end them where cores keep going: what is in bounds is done, and the next fault is found as well.
// clang-format off: a wrong call stays on the line that names its fault.
#include "bench.h"

using namespace AscendC;

namespace {

struct Scratch {
  explicit Scratch(uint32_t bytes = 1024) { pipe.InitBuffer(buffer, bytes); }
  TPipe pipe;
  TBuf<> buffer;
};

}  // namespace

// Twice x, 256 elements per core. The tensors are a few elements short of that.
extern "C" __global__ void short_tensors(GM_ADDR x, GM_ADDR y) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  const int64_t at = GetBlockIdx() * 256;
  DataCopy(a, Global<float>(x)[at], 256);  // FAULT: load
  PipeBarrier<PIPE_ALL>();
  Muls(a, a, 2.0f, 256);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y)[at], a, 256);  // FAULT: store
}

// Rows of 20 floats become rows of 24 in UB; the tensor ends in the middle of row 2, the buffer behind row 3.
extern "C" __global__ void short_rows(GM_ADDR x, GM_ADDR y) {
  Scratch s(4 * 96);
  LocalTensor<float> a = s.buffer.Get<float>();
  Duplicate(a, -1.0f, 96);
  PipeBarrier<PIPE_ALL>();
  DataCopyPad(a, Global<float>(x), DataCopyExtParams(5, 80, 0, 0, 0), {true, 2, 2, 7.0f});
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), a, 96);
}

// 1 is added to the first 256 of y although more is asked for, by count and by repeats.
extern "C" __global__ void lanes_past_the_end(GM_ADDR, GM_ADDR y) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  DataCopy(a, Global<float>(y), 256);
  PipeBarrier<PIPE_ALL>();
  Adds(a, a, 1.0f, 300);
  PipeBarrier<PIPE_ALL>();
  Adds(a[32], a[32], 1.0f, 64, 4, {1, 1, 8, 8});
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), a, 256);
}

// Eight of x become rows of y, and twice as many of them follow: both instructions go past their buffers of 32 bytes.
extern "C" __global__ void into_the_next_buffer(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<> first, second, rows;
  pipe.InitBuffer(first, 32);
  pipe.InitBuffer(second, 32);
  pipe.InitBuffer(rows, 512);
  LocalTensor<float> a = first.Get<float>(), d = rows.Get<float>();
  DataCopy(a, Global<float>(x), 16);
  PipeBarrier<PIPE_ALL>();
  Brcb(d, a, 2, {1, 8});
  PipeBarrier<PIPE_ALL>();
  Muls(a, a, 2.0f, 8);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), d, 64);
  DataCopy(Global<float>(y)[64], a, 16);
}

// The buffer ends where UB does.
extern "C" __global__ void past_ub(GM_ADDR, GM_ADDR y) {
  TPipe pipe;
  TBuf<> before, last;
  pipe.InitBuffer(before, 192 * 1024 - 1024);
  pipe.InitBuffer(last, 1024);
  LocalTensor<float> a = last.Get<float>();
  Duplicate(a, 1.0f, 256);
  PipeBarrier<PIPE_ALL>();
  Adds(a, a, 1.0f, 400);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), a, 256);
}

// The first of each eight of x becomes all eight, in place, as kernels of norms spread a row's scale. Then the blocks of each 256 bytes
// change places, in place too.
extern "C" __global__ void gathered_in_place(GM_ADDR x, GM_ADDR y) {
  Scratch s;
  TBuf<> list;
  s.pipe.InitBuffer(list, 1024);
  LocalTensor<float> a = s.buffer.Get<float>();
  LocalTensor<uint32_t> heads = list.Get<uint32_t>();
  DataCopy(a, Global<float>(x), 128);
  for (uint32_t i = 0; i < 16; ++i) {
    Duplicate(heads[i * 8], i * 32, 8);
  }
  PipeBarrier<PIPE_ALL>();
  Gather(a, a, heads, 0, 128);
  PipeBarrier<PIPE_ALL>();
  for (uint32_t i = 0; i < 16; ++i) {
    heads.SetValue(i, (i / 8 * 8 + 7 - i % 8) * 32);
  }
  PipeBarrier<PIPE_ALL>();
  Gatherb(a.ReinterpretCast<uint32_t>(), a.ReinterpretCast<uint32_t>(), heads, 2, {1, 8});
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), a, 128);
}

// Each of 16 of x becomes eight; the second repeat writes over the eight that it reads.
extern "C" __global__ void spread_in_place(GM_ADDR x, GM_ADDR y) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  DataCopy(a[64], Global<float>(x), 16);
  PipeBarrier<PIPE_ALL>();
  Brcb(a, a[64], 2, {1, 8});
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), a, 128);
}

extern "C" __global__ void scalars(GM_ADDR x, GM_ADDR y) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  a.SetValue(0, 5.0f);
  a.SetValue(256, 6.0f);
  GlobalTensor<float> out = Global<float>(y);
  out.SetValue(0, a.GetValue(0));
  out.SetValue(1, a.GetValue(256) + 1.0f);
  out.SetValue(2, Global<float>(x).GetValue(100000) + 2.0f);
  out.SetValue(100000, 3.0f);
}

// Core 1 ends in a crash before the cores meet; the others go on.
extern "C" __global__ void one_crashes(GM_ADDR x, GM_ADDR y) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  DataCopy(a, Global<float>(x), 8);
  PipeBarrier<PIPE_ALL>();
  if (GetBlockIdx() == 1) {
    *reinterpret_cast<volatile int*>(16) = 1;
  }
  SyncAll();
  DataCopy(Global<float>(y)[GetBlockIdx() * 8], a, 8);
}

extern "C" __global__ void again_and_again(GM_ADDR x, GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  const GlobalTensor<float> in = Global<float>(x);
  for (int i = 0; i < 20000; ++i) {
    DataCopy(a, in[i % 1000 + 100000], 8);
    PipeBarrier<PIPE_MTE2>();
  }
}

extern "C" __global__ void plain(GM_ADDR x, GM_ADDR y) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  DataCopy(a, Global<float>(x), 256);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), a, 256);
}

// Tensors that begin in their memory and are said to end behind it: what is asked of them lies there.
extern "C" __global__ void longer_than_its_memory(GM_ADDR x, GM_ADDR y) {
  LocalTensor<float> a(TPosition::VECIN, 192 * 1024 - 2048, 1024);  // FAULT: longer
  DataCopy(a, Global<float>(x), 256);
  PipeBarrier<PIPE_ALL>();
  Muls(a, a, 2.0f, 256);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(y), a, 256);
}

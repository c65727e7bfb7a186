// SPDX-License-Identifier: Apache-2.0
// Tables that the kernel's source declares in GM.
#include "globals.h"

#include "bench.h"

using namespace AscendC;

const __gm__ int32_t assist[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr __gm__ float kTable[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static volatile __gm__ uint32_t shared[16] = {};

namespace {

template <typename T>
struct OfClass {
  constexpr static __gm__ T table[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

struct Staged {
  Staged() { pipe.InitBuffer(buffer, 1024); }
  // Copies count elements of a table to the output.
  template <typename T>
  void Run(const __gm__ T* table, GM_ADDR gm, uint32_t count) {
    GlobalTensor<T> source;
    source.SetGlobalBuffer(const_cast<__gm__ T*>(table));
    LocalTensor<T> x = buffer.Get<T>();
    DataCopyPad(x, source, DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0),
                DataCopyPadExtParams<T>());
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(Global<T>(gm), x,
                DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0));
  }
  TPipe pipe;
  TBuf<> buffer;
};

}  // namespace

extern "C" __global__ __aicore__ void of_the_file(GM_ADDR gm) { Staged().Run(assist, gm, 16); }

extern "C" __global__ __aicore__ void of_a_constexpr(GM_ADDR gm) { Staged().Run(kTable, gm, 8); }

extern "C" __global__ __aicore__ void of_a_header(GM_ADDR gm) {
  Staged().Run(kHeaderTable, gm, 16);
}

extern "C" __global__ __aicore__ void of_a_class(GM_ADDR gm) {
  Staged().Run(OfClass<half>::table, gm, 16);
}

extern "C" __global__ __aicore__ void of_a_function(GM_ADDR gm) {
  static const __gm__ int64_t table[4] = {0, 1, 2, 3};
  Staged().Run(table, gm, 4);
}

extern "C" __global__ __aicore__ void by_element(GM_ADDR gm) {
  GlobalTensor<int32_t> source;
  source.SetGlobalBuffer((__gm__ int32_t*)assist, 16);
  GlobalTensor<int32_t> out = Global<int32_t>(gm);
  for (int i = 0; i < 16; ++i) {
    out.SetValue(i, source.GetValue(i) + assist[i]);
  }
  DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(out);
}

// A variable of the kernel's own, which it may write.
extern "C" __global__ __aicore__ void written(GM_ADDR gm) {
  Staged s;
  GlobalTensor<uint32_t> mine;
  mine.SetGlobalBuffer((__gm__ uint32_t*)shared, 16);
  LocalTensor<uint32_t> x = s.buffer.Get<uint32_t>();
  Duplicate(x, 7u, 16);
  PipeBarrier<PIPE_ALL>();
  DataCopy(mine, x, 16);
  PipeBarrier<PIPE_ALL>();
  DataCopy(x, mine, 16);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<uint32_t>(gm), x, 16);
}

// Variables of each core, which have their first values when it begins, whichever core its host thread had before.
namespace {
struct Counter {
  uint32_t count = 40;
};
}  // namespace
__BLOCK_LOCAL__ __inline__ Counter counter;
__BLOCK_LOCAL__ __inline__ __gm__ uint32_t* place;

template <bool meet>
void CountUp(GM_ADDR gm) {
  counter.count += place == nullptr ? GetBlockIdx() : 1000;
  place = reinterpret_cast<__gm__ uint32_t*>(gm) + 16 * GetBlockIdx();
  if constexpr (meet) {
    SyncAll();
  }
  GlobalTensor<uint32_t> out;
  out.SetGlobalBuffer(place, 16);
  out.SetValue(0, counter.count);
  DataCacheCleanAndInvalid<uint32_t, CacheLine::SINGLE_CACHE_LINE>(out);
}
extern "C" __global__ __aicore__ void of_each_core(GM_ADDR gm) { CountUp<false>(gm); }
extern "C" __global__ __aicore__ void of_each_core_at_once(GM_ADDR gm) { CountUp<true>(gm); }

extern "C" __global__ __aicore__ void past_its_end(GM_ADDR gm) { Staged().Run(assist + 8, gm, 16); }

extern "C" __global__ __aicore__ void write_to_it(GM_ADDR gm) {
  Staged s;
  LocalTensor<int32_t> x = s.buffer.Get<int32_t>();
  DataCopy(x, Global<int32_t>(gm), 16);
  PipeBarrier<PIPE_ALL>();
  GlobalTensor<int32_t> target;
  target.SetGlobalBuffer((__gm__ int32_t*)assist);
  DataCopy(target, x, 16);
}

extern "C" __global__ __aicore__ void of_the_stack(GM_ADDR gm) {
  int32_t values[16] = {};
  Staged().Run(values, gm, 16);
}

extern "C" __global__ __aicore__ void read_64_bytes(GM_ADDR gm) {
  Staged s;
  DataCopy(s.buffer.Get<int32_t>(), Global<int32_t>(gm), 16);
}

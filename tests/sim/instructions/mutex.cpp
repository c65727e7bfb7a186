// SPDX-License-Identifier: Apache-2.0
// Mutexes of Ascend 950: two buffers of one vector pipeline take turns by two of them, and mistakes of that.
#include "bench.h"

using namespace AscendC;

namespace {

constexpr uint32_t kLanes = 64, kTiles = 6;

struct Buffers {
  LocalTensor<float> in[2] = {{TPosition::VECCALC, 0, kLanes}, {TPosition::VECCALC, 256, kLanes}};
  LocalTensor<float> out[2] = {{TPosition::VECCALC, 512, kLanes},
                               {TPosition::VECCALC, 768, kLanes}};
};

void CopyIn(const Buffers& ub, GM_ADDR x, uint32_t tile) {
  DataCopy(ub.in[tile % 2], Global<float>(x)[tile * kLanes], kLanes);
}
void AddOne(const Buffers& ub, uint32_t tile) {
  Adds(ub.out[tile % 2], ub.in[tile % 2], 1.0f, kLanes);
}
void CopyOut(const Buffers& ub, GM_ADDR y, uint32_t tile) {
  DataCopy(Global<float>(y)[tile * kLanes], ub.out[tile % 2], kLanes);
}

// Each part of a tile's way holds the mutex of its buffers; `missing` is the one that does not.
enum class Part { kIn, kCompute, kOut, kNone };
void Pipeline(GM_ADDR x, GM_ADDR y, const MutexID (&ids)[2], Part missing,
              uint32_t tiles = kTiles) {
  const Buffers ub;
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    const MutexID id = ids[tile % 2];
    if (missing != Part::kIn) Mutex::Lock<PIPE_MTE2>(id);
    CopyIn(ub, x, tile);
    if (missing != Part::kIn) Mutex::Unlock<PIPE_MTE2>(id);
    if (missing != Part::kCompute) Mutex::Lock<PIPE_V>(id);
    AddOne(ub, tile);
    if (missing != Part::kCompute) Mutex::Unlock<PIPE_V>(id);
    if (missing != Part::kOut) Mutex::Lock<PIPE_MTE3>(id);
    CopyOut(ub, y, tile);
    if (missing != Part::kOut) Mutex::Unlock<PIPE_MTE3>(id);
  }
}

constexpr MutexID kIds[2] = {0, 1};

}  // namespace

extern "C" __global__ __aicore__ void right(GM_ADDR x, GM_ADDR y) {
  Pipeline(x, y, kIds, Part::kNone);
}

extern "C" __global__ __aicore__ void by_allocated_ids(GM_ADDR x, GM_ADDR y) {
  const MutexID ids[2] = {AllocMutexID(), AllocMutexID()};
  Pipeline(x, y, ids, Part::kNone);
  ReleaseMutexID(ids[0]);
  ReleaseMutexID(ids[1]);
}

// The scalar pipe takes its turn as well, and the vector pipe locks for the first time when others have unlocked many times.
extern "C" __global__ __aicore__ void late_comer(GM_ADDR x, GM_ADDR y) {
  const Buffers ub;
  for (uint32_t round = 0; round < 9; ++round) {
    Mutex::Lock<PIPE_MTE2>(0);
    CopyIn(ub, x, 0);
    Mutex::Unlock<PIPE_MTE2>(0);
    PipeBarrier<PIPE_MTE2>();
  }
  Mutex::Lock<PIPE_S>(0);
  ub.in[0].SetValue(1, ub.in[0].GetValue(1) + 0.0f);
  Mutex::Unlock<PIPE_S>(0);
  Mutex::Lock<PIPE_V>(0);
  AddOne(ub, 0);
  Mutex::Unlock<PIPE_V>(0);
  Mutex::Lock<PIPE_MTE3>(0);
  for (uint32_t tile = 0; tile < kTiles; ++tile) {
    DataCopy(Global<float>(y)[tile * kLanes], ub.out[0], kLanes);
  }
  Mutex::Unlock<PIPE_MTE3>(0);
}

extern "C" __global__ __aicore__ void in_without(GM_ADDR x, GM_ADDR y) {
  Pipeline(x, y, kIds, Part::kIn);
}
extern "C" __global__ __aicore__ void compute_without(GM_ADDR x, GM_ADDR y) {
  Pipeline(x, y, kIds, Part::kCompute, 1);
}
extern "C" __global__ __aicore__ void out_without(GM_ADDR x, GM_ADDR y) {
  Pipeline(x, y, kIds, Part::kOut, 1);
}

// Both tiles are there once; the vector pipe has the mutex of the first and reads the second.
extern "C" __global__ __aicore__ void other_id(GM_ADDR x, GM_ADDR y) {
  const Buffers ub;
  for (uint32_t tile = 0; tile < 2; ++tile) {
    Mutex::Lock<PIPE_MTE2>(kIds[tile]);
    CopyIn(ub, x, tile);
    Mutex::Unlock<PIPE_MTE2>(kIds[tile]);
  }
  Mutex::Lock<PIPE_V>(0);
  AddOne(ub, 1);
  Mutex::Unlock<PIPE_V>(0);
  Mutex::Lock<PIPE_MTE3>(0);
  CopyOut(ub, y, 1);
  Mutex::Unlock<PIPE_MTE3>(0);
}

// A pipe does not wait for itself.
extern "C" __global__ __aicore__ void same_pipe(GM_ADDR x, GM_ADDR y) {
  const Buffers ub;
  Mutex::Lock<PIPE_MTE2>(0);
  CopyIn(ub, x, 0);
  Mutex::Unlock<PIPE_MTE2>(0);
  Mutex::Lock<PIPE_MTE2>(0);
  DataCopy(ub.in[0], Global<float>(x)[kLanes], kLanes);
  Mutex::Unlock<PIPE_MTE2>(0);
  Mutex::Lock<PIPE_V>(0);
  AddOne(ub, 0);
  Mutex::Unlock<PIPE_V>(0);
  Mutex::Lock<PIPE_MTE3>(0);
  CopyOut(ub, y, 0);
  Mutex::Unlock<PIPE_MTE3>(0);
}

extern "C" __global__ __aicore__ void unlock_first(GM_ADDR, GM_ADDR) {
  Mutex::Unlock<PIPE_V>(3);
  Mutex::Lock<PIPE_V>(3);
}
extern "C" __global__ __aicore__ void lock_twice(GM_ADDR, GM_ADDR) {
  Mutex::Lock<PIPE_MTE2>(3);
  Mutex::Lock<PIPE_V>(3);
  Mutex::Unlock<PIPE_V>(3);
}
extern "C" __global__ __aicore__ void other_pipe(GM_ADDR, GM_ADDR) {
  Mutex::Lock<PIPE_MTE2>(3);
  Mutex::Unlock<PIPE_V>(3);
}
extern "C" __global__ __aicore__ void never_unlocked(GM_ADDR, GM_ADDR) { Mutex::Lock<PIPE_V>(3); }
extern "C" __global__ __aicore__ void no_such_id(GM_ADDR, GM_ADDR) { Mutex::Lock<PIPE_V>(32); }
extern "C" __global__ __aicore__ void exhausted(GM_ADDR, GM_ADDR) {
  for (int i = 0; i < 29; ++i) {
    AllocMutexID();
  }
}
extern "C" __global__ __aicore__ void released_twice(GM_ADDR, GM_ADDR) {
  const MutexID id = AllocMutexID();
  ReleaseMutexID(id);
  ReleaseMutexID(id);
}
extern "C" __global__ __aicore__ void reserved(GM_ADDR x, GM_ADDR y) {
  const MutexID ids[2] = {28, 1};
  Pipeline(x, y, ids, Part::kNone);
}

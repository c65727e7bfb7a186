// SPDX-License-Identifier: Apache-2.0
// Kernels with more than one TPipe: one after the other, within one another, copied.
#include "bench.h"

using namespace AscendC;

namespace {

constexpr uint32_t kBytes = 256;
constexpr uint32_t kLanes = kBytes / sizeof(float);
constexpr uint32_t kMost = 192 * 1024 - 256;  // what a pipe has

// Adds one to the elements of gm in a queue of its own, in as much UB as there is.
void AddOne(TPipe* pipe, GM_ADDR gm) {
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<> rest;
  pipe->InitBuffer(in, 2, kBytes);
  pipe->InitBuffer(out, 2, kBytes);
  pipe->InitBuffer(rest, kMost - 4 * kBytes);
  for (int i = 0; i < 3; ++i) {
    LocalTensor<float> x = in.AllocTensor<float>();
    DataCopy(x, Global<float>(gm), kLanes);
    in.EnQue(x);
    x = in.DeQue<float>();
    LocalTensor<float> y = out.AllocTensor<float>();
    Adds(y, x, i == 0 ? 1.0f : 0.0f, kLanes);
    in.FreeTensor(x);
    out.EnQue(y);
    y = out.DeQue<float>();
    DataCopy(Global<float>(gm), y, kLanes);
    out.FreeTensor(y);
    PipeBarrier<PIPE_ALL>();
  }
}

class ByValue {
 public:
  void Init(GM_ADDR gm, TPipe pipeIn) {
    pipe_ = pipeIn;
    gm_ = gm;
  }
  void Process() { AddOne(&pipe_, gm_); }

 private:
  TPipe pipe_;
  GM_ADDR gm_ = nullptr;
};

void InitByValue(TPipe pipe, TQue<TPosition::VECIN, 1>& que) { pipe.InitBuffer(que, 1, kBytes); }

}  // namespace

extern "C" __global__ __aicore__ void declared_together(GM_ADDR gm) {
  TPipe first;
  TPipe second;
  TPipe third;
  AddOne(&first, gm);
  first.Destroy();
  AddOne(&second, gm);
  second.Destroy();
  AddOne(&third, gm);
}

// A tensor at a fixed address outlives the beginning of a pipe.
extern "C" __global__ __aicore__ void fixed_before(GM_ADDR gm) {
  const LocalTensor<float> x(TPosition::VECCALC, 1024, kLanes);
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kBytes);
  const LocalTensor<float> y = buffer.Get<float>();
  DataCopy(x, Global<float>(gm), kLanes);
  PipeBarrier<PIPE_ALL>();
  Adds(y, x, 1.0f, kLanes);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(gm), y, kLanes);
}

extern "C" __global__ __aicore__ void in_scopes(GM_ADDR gm) {
  for (int i = 0; i < 3; ++i) {
    TPipe pipe;
    AddOne(&pipe, gm);
  }
}

extern "C" __global__ __aicore__ void used_again(GM_ADDR gm) {
  TPipe pipe;
  AddOne(&pipe, gm);
  pipe.Destroy();
  pipe.Init();
  AddOne(&pipe, gm);
  pipe.Reset();
  AddOne(&pipe, gm);
}

extern "C" __global__ __aicore__ void within_one_another(GM_ADDR gm) {
  TPipe outer;
  TQue<TPosition::VECIN, 1> que;
  outer.InitBuffer(que, 1, kBytes);
  {
    TPipe inner;
    AddOne(&inner, gm);
  }
  LocalTensor<float> x = que.AllocTensor<float>();
  DataCopy(x, Global<float>(gm), kLanes);
  que.EnQue(x);
  x = que.DeQue<float>();
  Adds(x, x, 2.0f, kLanes);
  // The pipe that is left is the current one again.
  const auto ready = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_MTE3));
  SetFlag<HardEvent::V_MTE3>(ready);
  WaitFlag<HardEvent::V_MTE3>(ready);
  DataCopy(Global<float>(gm), x, kLanes);
  PipeBarrier<PIPE_ALL>();
  que.FreeTensor(x);
}

extern "C" __global__ __aicore__ void given_by_value(GM_ADDR gm) {
  TPipe pipe;
  for (int i = 0; i < 3; ++i) {
    ByValue op;
    op.Init(gm, pipe);
    op.Process();
  }
}

// Event ids of a copy are its own, and giving one back twice is nothing.
extern "C" __global__ __aicore__ void copied_event_ids(GM_ADDR gm) {
  TPipe pipe;
  const TEventID taken = pipe.AllocEventID<HardEvent::MTE2_V>();
  {
    TPipe copy(pipe);
    const TEventID next = copy.AllocEventID<HardEvent::MTE2_V>();
    Global<int32_t>(gm).SetValue(0, next - taken);
    copy.ReleaseEventID<HardEvent::MTE2_V>(taken);
  }
  const TEventID other = pipe.AllocEventID<HardEvent::MTE2_V>();
  Global<int32_t>(gm).SetValue(1, other - taken);
  pipe.ReleaseEventID<HardEvent::MTE2_V>(taken);
  DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(Global<int32_t>(gm));
}

extern "C" __global__ __aicore__ void queue_of_a_copy(GM_ADDR gm) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> que;
  InitByValue(pipe, que);
  for (int i = 0; i < 3; ++i) {
    LocalTensor<float> x = que.AllocTensor<float>();
    DataCopy(x, Global<float>(gm), kLanes);
    que.EnQue(x);
    x = que.DeQue<float>();
    Adds(x, x, 1.0f, kLanes);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global<float>(gm), x, kLanes);
    PipeBarrier<PIPE_ALL>();
    que.FreeTensor(x);
  }
}

// Both pipes hand out UB from the start: what the first still needs is overwritten.
extern "C" __global__ __aicore__ void overlapping(GM_ADDR gm) {
  TPipe first;
  TBuf<> kept;
  first.InitBuffer(kept, kBytes);
  LocalTensor<float> x = kept.Get<float>();
  DataCopy(x, Global<float>(gm), kLanes);
  PipeBarrier<PIPE_ALL>();
  TPipe second;
  TBuf<> other;
  second.InitBuffer(other, kBytes);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(gm), x, kLanes);
}

extern "C" __global__ __aicore__ void too_much_for_the_second(GM_ADDR) {
  TPipe first;
  TBuf<> a;
  first.InitBuffer(a, kMost);
  first.Destroy();
  TPipe second;
  TBuf<> b;
  TBuf<> c;
  second.InitBuffer(b, kMost);
  second.InitBuffer(c, 1024);
}

extern "C" __global__ __aicore__ void stale_queue(GM_ADDR) {
  TPipe other;
  TBuf<> kept;
  other.InitBuffer(kept, kBytes);
  TPipe pipe;
  TQue<TPosition::VECIN, 1> que;
  pipe.InitBuffer(que, 1, kBytes);
  pipe.Reset();
  que.AllocTensor<float>();
}

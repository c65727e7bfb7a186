// SPDX-License-Identifier: Apache-2.0
// What cores do together: SyncAll, cross-core flags, atomic copies, the data cache.
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t kRow = 64;  // floats per core

template <typename T>
GlobalTensor<T> Global(GM_ADDR gm) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<T*>(gm));
  return tensor;
}

struct Buffer {
  Buffer() { pipe.InitBuffer(buffer, kRow * sizeof(float)); }
  LocalTensor<float> Get() { return buffer.Get<float>(); }
  TPipe pipe;
  TBuf<> buffer;
};

void Order() { PipeBarrier<PIPE_ALL>(); }

}  // namespace

// out[core] = in[core of the other end], through a workspace that all cores fill first.
extern "C" __global__ void exchange(GM_ADDR out, GM_ADDR in, GM_ADDR work) {
  Buffer row;
  LocalTensor<float> x = row.Get();
  const int64_t core = GetBlockIdx();
  DataCopy(x, Global<float>(in)[core * kRow], kRow);
  Order();
  DataCopy(Global<float>(work)[core * kRow], x, kRow);
  SyncAll();
  DataCopy(x, Global<float>(work)[(GetBlockNum() - 1 - core) * kRow], kRow);
  Order();
  DataCopy(Global<float>(out)[core * kRow], x, kRow);
}

// The same with a cross-core flag.
extern "C" __global__ void exchange_flag(GM_ADDR out, GM_ADDR in, GM_ADDR work) {
  Buffer row;
  LocalTensor<float> x = row.Get();
  const int64_t core = GetBlockIdx();
  DataCopy(x, Global<float>(in)[core * kRow], kRow);
  Order();
  DataCopy(Global<float>(work)[core * kRow], x, kRow);
  CrossCoreSetFlag<0, PIPE_MTE3>(1);
  CrossCoreWaitFlag(1);
  DataCopy(x, Global<float>(work)[(GetBlockNum() - 1 - core) * kRow], kRow);
  Order();
  DataCopy(Global<float>(out)[core * kRow], x, kRow);
}

// Every core adds its row into out: the sum over cores.
extern "C" __global__ void sum_rows(GM_ADDR out, GM_ADDR in) {
  Buffer row;
  LocalTensor<float> x = row.Get();
  DataCopy(x, Global<float>(in)[GetBlockIdx() * kRow], kRow);
  Order();
  SetAtomicAdd<float>();
  DataCopy(Global<float>(out), x, kRow);
  SetAtomicNone();
}

extern "C" __global__ void max_rows(GM_ADDR out, GM_ADDR in) {
  Buffer row;
  LocalTensor<float> x = row.Get();
  DataCopy(x, Global<float>(in)[GetBlockIdx() * kRow], kRow);
  Order();
  SetAtomicMax<float>();
  DataCopy(Global<float>(out), x, kRow);
  DisableDmaAtomic();
}

// A scalar write, cleaned, that other cores read after SyncAll.
extern "C" __global__ void scalar_exchange(GM_ADDR out, GM_ADDR, GM_ADDR work) {
  TPipe pipe;
  GlobalTensor<float> gm = Global<float>(work);
  const int64_t core = GetBlockIdx();
  gm.SetValue(core * kRow, static_cast<float>(core));
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(
      gm[core * kRow]);
  SyncAll();
  Global<float>(out).SetValue(core * kRow, gm.GetValue((GetBlockNum() - 1 - core) * kRow));
}

// Core 1 leaves without SyncAll.
extern "C" __global__ void sync_missing(GM_ADDR, GM_ADDR) {
  TPipe pipe;
  if (GetBlockIdx() == 1) {
    return;
  }
  SyncAll();
}

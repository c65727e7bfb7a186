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

// The same, told by a flag; every core stores a copy of what has come together.
extern "C" __global__ void sum_rows_flag(GM_ADDR out, GM_ADDR in, GM_ADDR sums) {
  Buffer row;
  LocalTensor<float> x = row.Get();
  const int64_t core = GetBlockIdx();
  DataCopy(x, Global<float>(in)[core * kRow], kRow);
  Order();
  SetAtomicAdd<float>();
  DataCopy(Global<float>(sums), x, kRow);
  DataCopy(Global<float>(sums)[(1 + core) * kRow], x, kRow);
  SetAtomicNone();
  CrossCoreSetFlag<0, PIPE_MTE3>(14);
  Order();
  DataCopy(x, Global<float>(sums)[(1 + core) * kRow], kRow);
  Order();
  DataCopy(Global<float>(out)[(2 * core + 1) * kRow], x, kRow);
  CrossCoreWaitFlag(14);
  Order();
  DataCopy(x, Global<float>(sums), kRow);
  Order();
  DataCopy(Global<float>(out)[2 * core * kRow], x, kRow);
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

// Where each core's stack is, while all cores have begun.
extern "C" __global__ void stacks(GM_ADDR out) {
  TPipe pipe;
  volatile int32_t here = 0;
  GlobalTensor<uint64_t> addresses = Global<uint64_t>(out);
  addresses.SetValue(GetBlockIdx() * kRow, reinterpret_cast<uint64_t>(&here));
  DataCacheCleanAndInvalid<uint64_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(
      addresses[GetBlockIdx() * kRow]);
  SyncAll();
}

// Core 0 hands its row on to core 1, that one to core 2, each plus 1; flags by the device compiler's own words.
extern "C" __global__ void hand_on(GM_ADDR out, GM_ADDR in, GM_ADDR marks) {
  Buffer row;
  TBuf<> scratch;
  row.pipe.InitBuffer(scratch, 32);
  LocalTensor<float> x = row.Get();
  const auto core = static_cast<int32_t>(GetBlockIdx());
  const GlobalTensor<float> from = Global<float>(core == 0 ? in : out);
  if (core > 0) {
    IBWait(Global<int32_t>(marks), scratch.Get<int32_t>(), core, 3);
  }
  DataCopy(x, from[(core == 0 ? 0 : core - 1) * kRow], kRow);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  Adds(x, x, 1.0f, kRow);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  DataCopy(Global<float>(out)[core * kRow], x, kRow);
  pipe_barrier(PIPE_ALL);
  if (core + 1 < GetBlockNum()) {
    IBSet(Global<int32_t>(marks), scratch.Get<int32_t>(), core + 1, 3);
  }
}

// Rows are added up from the last core's to the first one's turn by turn; two rounds.
extern "C" __global__ void in_turns(GM_ADDR out, GM_ADDR in, GM_ADDR marks) {
  Buffer row;
  TBuf<> scratch;
  row.pipe.InitBuffer(scratch, static_cast<uint32_t>(GetBlockNum() + 1) * 32);
  GlobalTensor<int32_t> gm = Global<int32_t>(marks);
  LocalTensor<int32_t> ub = scratch.Get<int32_t>();
  InitDetermineComputeWorkspace(gm, ub);
  LocalTensor<float> x = row.Get();
  DataCopy(x, Global<float>(in)[GetBlockIdx() * kRow], kRow);
  Order();
  for (uint32_t round = 0; round < 2; ++round) {
    WaitPreBlock(gm, ub);
    SetAtomicAdd<float>();
    DataCopy(Global<float>(out)[round * kRow], x, kRow);
    DisableDmaAtomic();
    NotifyNextBlock(gm, ub);
  }
}

// The last core never gets its mark.
extern "C" __global__ void no_mark(GM_ADDR marks) {
  Buffer row;
  const auto core = static_cast<int32_t>(GetBlockIdx());
  const auto last = static_cast<int32_t>(GetBlockNum()) - 1;
  if (core == last) {
    IBWait(Global<int32_t>(marks), row.Get().ReinterpretCast<int32_t>(), last, 0);
  }
}

// There is no such block.
extern "C" __global__ void no_block(GM_ADDR marks) {
  Buffer row;
  IBSet(Global<int32_t>(marks), row.Get().ReinterpretCast<int32_t>(), 4, 0);
}

// out[0] = in[0] + 1 around the data cache.
extern "C" __global__ void bypass(GM_ADDR out, GM_ADDR in) {
  TPipe pipe;
  const int32_t value = ReadGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(in));
  WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(out), value + 1);
}

// Core 0 writes rows and then a mark past the data cache; the others poll the mark and copy their row out.
extern "C" __global__ void handshake(GM_ADDR out, GM_ADDR in, GM_ADDR work, GM_ADDR mark) {
  Buffer row;
  LocalTensor<float> x = row.Get();
  auto* flag = reinterpret_cast<__gm__ int32_t*>(mark);
  const int64_t core = GetBlockIdx();
  if (core == 0) {
    for (int64_t i = 0; i < GetBlockNum(); ++i) {
      DataCopy(x, Global<float>(in)[i * kRow], kRow);
      Order();
      DataCopy(Global<float>(work)[i * kRow], x, kRow);
      Order();
    }
    DataSyncBarrier<MemDsbT::DDR>();
    WriteGmByPassDCache<int32_t>(flag, 7);
  } else {
    while (ReadGmByPassDCache<int32_t>(flag) != 7) {
    }
  }
  DataCopy(x, Global<float>(work)[core * kRow], kRow);
  Order();
  DataCopy(Global<float>(out)[core * kRow], x, kRow);
}

// The mark that the last core polls never comes.
extern "C" __global__ void handshake_in_vain(GM_ADDR mark) {
  auto* flag = reinterpret_cast<__gm__ int32_t*>(mark);
  if (GetBlockIdx() == GetBlockNum() - 1) {
    while (ReadGmByPassDCache<int32_t>(flag) != 7) {
    }
  }
}

// Reads once instead of polling.
extern "C" __global__ void no_handshake(GM_ADDR out, GM_ADDR mark) {
  auto* flag = reinterpret_cast<__gm__ int32_t*>(mark);
  if (GetBlockIdx() == 1) {
    WriteGmByPassDCache<int32_t>(reinterpret_cast<__gm__ int32_t*>(out),
                                 ReadGmByPassDCache<int32_t>(flag));
  } else if (GetBlockIdx() == 0) {
    WriteGmByPassDCache<int32_t>(flag + 1, 1);
    DataCopy(Global<int32_t>(mark), LocalTensor<int32_t>(TPosition::VECOUT, 0, 16), 16);
  }
}

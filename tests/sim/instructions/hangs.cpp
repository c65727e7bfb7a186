// SPDX-License-Identifier: Apache-2.0
// Loops that end late or never. "HANG" marks the line that a report names.
#include <ctime>

#include "kernel_operator.h"

using namespace AscendC;

// clang-format off: a loop stays one line.

namespace {

template <typename T>
GlobalTensor<T> Global(GM_ADDR gm) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gm));
  return tensor;
}

uint32_t Core() { return static_cast<uint32_t>(GetBlockIdx()); }

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// 20 ms of processor time, on any machine, without a call of the API. It hardly ever is inside of the clock's own library.
void Think() {
  const double end = ProcessorSeconds() + 0.02;
  do {
    for (volatile uint32_t i = 0; i < 200000; i = i + 1) {
    }
  } while (ProcessorSeconds() < end);
}

}  // namespace

// All cores, without a call in the loop.
extern "C" __global__ void all_spin(GM_ADDR) {
  volatile uint32_t left = 1;
  while (left != 0) { left = left + 2; }  // HANG all_spin
}

// One of them, while the others wait for it.
extern "C" __global__ void one_spins(GM_ADDR) {
  volatile uint32_t core = Core();
  while (core == 2) {}  // HANG one_spins
  SyncAll();
}

// Each for a flag of the core behind it, which nobody sets.
extern "C" __global__ void all_poll(GM_ADDR gm) {
  GlobalTensor<int32_t> flags = Global<int32_t>(gm);
  uint32_t next = (Core() + 1) % static_cast<uint32_t>(GetBlockNum()) * 16;
  while (flags.GetValue(next) == 0) { DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE>(flags[next]); }  // HANG all_poll
}

// The same with a pause, as kernels that spare the bus have it.
extern "C" __global__ void all_poll_slowly(GM_ADDR gm) {
  GlobalTensor<int32_t> flags = Global<int32_t>(gm);
  uint32_t next = (Core() + 1) % static_cast<uint32_t>(GetBlockNum()) * 16;
  while (flags.GetValue(next) == 0) { DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE>(flags[next]); for (volatile uint32_t i = 0; i < 2000; i = i + 1) {} }  // HANG all_poll_slowly
}

// As all_poll, but the last core sets its flag, and then every one in turn.
extern "C" __global__ void all_wait(GM_ADDR gm) {
  GlobalTensor<int32_t> flags = Global<int32_t>(gm);
  uint32_t next = Core() + 1;
  while (next < static_cast<uint32_t>(GetBlockNum()) && flags.GetValue(next * 16) == 0) { DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE>(flags[next * 16]); }
  flags.SetValue(Core() * 16, 1);
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE>(flags[Core() * 16]);
}

// Slow, but each round gets somewhere: to other memory, or an instruction further.
extern "C" __global__ void slow_scalars(GM_ADDR gm) {
  GlobalTensor<int32_t> numbers = Global<int32_t>(gm);
  for (uint32_t i = 0; i < 50; ++i) {
    Think();
    numbers.SetValue(i * 16, static_cast<int32_t>(i));
  }
}

extern "C" __global__ void slow_instructions(GM_ADDR) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 256);
  for (uint32_t i = 0; i < 100; ++i) {
    Think();
    Duplicate(buffer.Get<int32_t>(), 1, 64);
  }
}

// Slow without anything to show for it.
extern "C" __global__ void slow_thought(GM_ADDR) {
  for (volatile uint32_t i = 0; i < 100; i = i + 1) { Think(); }
}

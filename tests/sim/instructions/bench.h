// SPDX-License-Identifier: Apache-2.0
// What the instruction test kernels share: the description of one call, as the Python side packs it, and UB to run it in.
#pragma once

#include "kernel_operator.h"

enum Form : int32_t {
  kCount,
  kMask,
  kBits,
  kPresetMask,
  kPresetBits,
  kCounterMask,
  kCounterPreset
};

struct Call {
  int32_t op;
  int32_t form;
  int32_t dtype;     // of dst
  int32_t srcDtype;  // of the sources
  uint64_t mask[2];
  int32_t repeat;
  int32_t blk[3];
  int32_t rep[3];
  int32_t mode;  // rounding, comparison, order, ...
  uint64_t scalar;
  int32_t count;
  int32_t extra[5];
};
static_assert(sizeof(Call) == 96, "matches bench.py");

constexpr uint32_t kAreaBytes = 32768;

template <typename T>
AscendC::GlobalTensor<T> Global(GM_ADDR address) {
  AscendC::GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address));
  return tensor;
}

// Three areas of UB: dst, src0, src1, filled from GM before the call; dst goes back afterwards.
struct Areas {
  Areas(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1) : gm{dst, src0, src1} {
    for (int i = 0; i < 3; ++i) {
      pipe.InitBuffer(buffers[i], kAreaBytes);
      AscendC::DataCopy(Area<uint8_t>(i), Global<uint8_t>(gm[i]), kAreaBytes);
    }
    AscendC::PipeBarrier<PIPE_ALL>();
  }
  void Finish() {
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(Global<uint8_t>(gm[0]), Area<uint8_t>(0), kAreaBytes);
  }
  template <typename T>
  AscendC::LocalTensor<T> Area(int i) {
    return buffers[i].Get<T>();
  }
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffers[3];
  GM_ADDR gm[3];
};

inline Call ReadCall(GM_ADDR address) {
  Call call;
  __builtin_memcpy(&call, address, sizeof(call));
  return call;
}

// A kernel of one call `c` on three areas, of which the first goes back to GM. A body follows.
#define CALL_KERNEL(name)                                                                       \
  static void Body_##name(const Call& c, Areas& areas);                                         \
  extern "C" __global__ __aicore__ void name(GM_ADDR dst, GM_ADDR a, GM_ADDR b, GM_ADDR call) { \
    const Call c = ReadCall(call);                                                              \
    Areas areas(dst, a, b);                                                                     \
    Body_##name(c, areas);                                                                      \
    areas.Finish();                                                                             \
  }                                                                                             \
  static void Body_##name([[maybe_unused]] const Call& c, [[maybe_unused]] Areas& areas)

template <typename T>
T ScalarOf(const Call& call) {
  T value;
  __builtin_memcpy(&value, &call.scalar, sizeof(T));
  return value;
}

// Puts the mask register and mode into the state that the form wants, runs, restores.
template <typename T, typename Run>
void WithMask(const Call& call, Run run) {
  const bool counter = call.form == kCounterMask || call.form == kCounterPreset;
  if (counter) {
    AscendC::SetMaskCount();
  }
  if (call.form == kPresetMask) {
    AscendC::SetVectorMask<T>(static_cast<int32_t>(call.mask[0]));
  } else if (call.form == kPresetBits) {
    AscendC::SetVectorMask<T>(call.mask[1], call.mask[0]);
  } else if (call.form == kCounterPreset) {
    AscendC::SetVectorMask<T, AscendC::MaskMode::COUNTER>(static_cast<int32_t>(call.mask[0]));
  }
  run();
  if (counter) {
    AscendC::SetMaskNorm();
  }
  AscendC::ResetMask();
}

inline bool Preset(const Call& call) {
  return call.form == kPresetMask || call.form == kPresetBits || call.form == kCounterPreset;
}

// Calls f with a value of the element type; numbers as in bench.py.
template <typename F>
void ForType(int32_t dtype, F f) {
  switch (dtype) {
    case 0:
      return f(float());
    case 1:
      return f(half());
    case 2:
      return f(bfloat16_t());
    case 3:
      return f(int8_t());
    case 4:
      return f(uint8_t());
    case 5:
      return f(int16_t());
    case 6:
      return f(uint16_t());
    case 7:
      return f(int32_t());
    case 8:
      return f(uint32_t());
    case 9:
      return f(int64_t());
    default:
      AscendC::Trap();
  }
}

// The types that the vector unit computes in.
template <typename F>
void ForLaneType(int32_t dtype, F f) {
  switch (dtype) {
    case 0:
      return f(float());
    case 1:
      return f(half());
    case 5:
      return f(int16_t());
    case 6:
      return f(uint16_t());
    case 7:
      return f(int32_t());
    case 8:
      return f(uint32_t());
    default:
      AscendC::Trap();
  }
}

// Four queues of sorted structures that follow each other in src0's area, as long as extra[0..3] say.
template <typename T>
struct Queues {
  Queues(const Call& c, Areas* areas) {
    uint32_t at = 0;
    for (int i = 0; i < 4; ++i) {
      lengths[i] = static_cast<uint16_t>(c.extra[i]);
      tensors[i] = areas->Area<T>(1)[AscendC::GetSortOffset<T>(at)];
      at += lengths[i];
    }
  }
  AscendC::MrgSortSrcList<T> List() const {
    return AscendC::MrgSortSrcList<T>(tensors[0], tensors[1], tensors[2], tensors[3]);
  }
  AscendC::LocalTensor<T> tensors[4];
  uint16_t lengths[4];
};
// What a merge took of each queue, at the start of the last 32 bytes of dst's area.
template <typename T>
void StoreShares(Areas* areas, const T (&shares)[4]) {
  AscendC::PipeBarrier<PIPE_ALL>();
  for (uint32_t i = 0; i < 4; ++i) {
    areas->Area<uint32_t>(0).SetValue(kAreaBytes / 4 - 8 + i, shares[i]);
  }
}

template <typename F>
void ForFloat(int32_t dtype, F f) {
  dtype == 0 ? f(float()) : f(half());
}

inline AscendC::BinaryRepeatParams BinaryParams(const Call& c) {
  return AscendC::BinaryRepeatParams(static_cast<uint8_t>(c.blk[0]), static_cast<uint8_t>(c.blk[1]),
                                     static_cast<uint8_t>(c.blk[2]), static_cast<uint8_t>(c.rep[0]),
                                     static_cast<uint8_t>(c.rep[1]),
                                     static_cast<uint8_t>(c.rep[2]));
}
inline AscendC::UnaryRepeatParams UnaryParams(const Call& c) {
  return AscendC::UnaryRepeatParams(static_cast<uint16_t>(c.blk[0]),
                                    static_cast<uint16_t>(c.blk[1]), static_cast<uint8_t>(c.rep[0]),
                                    static_cast<uint8_t>(c.rep[1]));
}

// SPDX-License-Identifier: Apache-2.0
// The ways of Ascend 950 between an AIC and its AIVs: results of a product into UB, operands of one out of UB into L1, and flags of mode
// 4. Right as they stand, and with one mistake each: what test_links.py expects. Tiling key 11 runs one AIV for each AIC, 12 two.
#include "kernel_operator.h"

extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {2, 11, 1, 1, 12, 1, 2};

namespace {

using namespace AscendC;

struct Words {
  __gm__ int32_t* at;
  uint32_t operator[](int index) const {
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer(at);
    return static_cast<uint32_t>(words.GetValue(index));
  }
};

template <typename T>
GlobalTensor<T> Gm(GM_ADDR at) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(at));
  return tensor;
}

template <HardEvent event>
void Order(bool there = true) {
  if (there) {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
  }
}

// Ids of mode 4: the AIC has those of its second AIV 16 higher.
constexpr uint16_t kFree = 1, kThere = 2, kSecond = 16;

constexpr uint32_t kB1 = 128 * 1024, kQuant = 256 * 1024;

// A of M x K and the transpose of B, both in NZ, lie in L1: the product in L0C.
template <typename T, typename C>
LocalTensor<C> Product(uint32_t m, uint32_t n, uint32_t k) {
  constexpr uint32_t kK0 = 32 / sizeof(T);
  const uint32_t m1 = (m + 15) / 16, n1 = (n + 15) / 16, k1 = (k + kK0 - 1) / kK0;
  const LocalTensor<T> a1(TPosition::A1, 0, m1 * k1 * 16 * kK0),
      b1(TPosition::B1, kB1, n1 * k1 * 16 * kK0);
  const LocalTensor<T> a2(TPosition::A2, 0, m1 * k1 * 16 * kK0),
      b2(TPosition::B2, 0, n1 * k1 * 16 * kK0);
  const auto whole = [&](uint32_t lines) {
    return LoadData2DParamsV2(0, 0, lines, k1, static_cast<int32_t>(lines), lines, false, 0);
  };
  LoadData(a2, a1, whole(m1));
  LoadData(b2, b1, whole(n1));
  Order<HardEvent::MTE1_M>();
  const LocalTensor<C> co1(TPosition::CO1, 0, m1 * n1 * 256);
  MmadParams mmad(m, n, k, 0, false, true);
  mmad.disableGemv = true;
  Mmad(co1, a2, b2, mmad);
  return co1;
}

template <typename T>
void LoadProduct(GM_ADDR a, GM_ADDR b, uint32_t aBytes, uint32_t bBytes) {
  const LocalTensor<uint8_t> a1(TPosition::A1, 0, aBytes), b1(TPosition::B1, kB1, bBytes);
  DataCopy(a1, Gm<uint8_t>(a), aBytes);
  DataCopy(b1, Gm<uint8_t>(b), bBytes);
  Order<HardEvent::MTE2_MTE1>();
}

template <CO2Layout layout>
FixpipeParamsArch3510<layout> Results(const Words& words) {
  FixpipeParamsArch3510<layout> fix(words[6], words[7], words[8], words[9]);
  fix.quantPre = static_cast<QuantMode_t>(words[10]);
  fix.deqScalar = static_cast<uint64_t>(words[12]) << 32 | words[11];
  fix.reluEn = words[13] != 0;
  fix.dualDstCtl = static_cast<uint8_t>(words[14]);
  fix.subBlockId = words[15] != 0;
  if constexpr (layout == CO2Layout::ROW_MAJOR) {
    fix.params = {words[16], words[17], words[18]};
  } else if constexpr (layout == CO2Layout::COLUMN_MAJOR) {
    fix.params = {words[16], words[17], words[18], words[19]};
  }
  return fix;
}

constexpr FixpipeConfig kNz = {CO2Layout::NZ, true}, kRows = {CO2Layout::ROW_MAJOR, true},
                        kColumns = {CO2Layout::COLUMN_MAJOR, true};

// Words: m, n, k, bytes of A and B in L1, layout; of Fixpipe; 20: bytes of UB that each AIV shows, 21: where in UB, 22: bytes of the
// parameters of columns, 23: how often.
template <typename T, typename C, typename O>
void ToUb(GM_ADDR a, GM_ADDR b, GM_ADDR out, GM_ADDR more, GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  const uint32_t bytes = words[20], times = words[23];
  const LocalTensor<O> ub(TPosition::VECIN, words[21], bytes / sizeof(O));
  const uint32_t vectors = TILING_KEY_VAR % 10;
  if ASCEND_IS_AIC {
    LoadProduct<T>(a, b, words[3], words[4]);
    const LocalTensor<uint64_t> q1(TPosition::C1, kQuant, words[22] / 8 + 4);
    if (words[22] != 0) {
      DataCopy(q1.template ReinterpretCast<uint8_t>(), Gm<uint8_t>(more), words[22]);
      Order<HardEvent::MTE2_FIX>();
    }
    const LocalTensor<C> co1 = Product<T, C>(words[0], words[1], words[2]);
    Order<HardEvent::M_FIX>();
    for (uint32_t i = 0; i < times; ++i) {
      if (vectors == 2) {
        CrossCoreWaitFlag<4, PIPE_FIX>(kFree);
        CrossCoreWaitFlag<4, PIPE_FIX>(kFree + kSecond);
      } else {
        CrossCoreWaitFlag<2, PIPE_FIX>(kFree);
      }
      if (words[5] == 0) {
        Fixpipe<O, C, kNz>(ub, co1, Results<CO2Layout::NZ>(words));
      } else if (words[5] == 1 && words[22] != 0) {
        Fixpipe<O, C, kRows>(ub, co1, q1, Results<CO2Layout::ROW_MAJOR>(words));
      } else if (words[5] == 1) {
        Fixpipe<O, C, kRows>(ub, co1, Results<CO2Layout::ROW_MAJOR>(words));
      } else {
        Fixpipe<O, C, kColumns>(ub, co1, Results<CO2Layout::COLUMN_MAJOR>(words));
      }
      if (vectors == 2) {
        CrossCoreSetFlag<4, PIPE_FIX>(kThere);
        CrossCoreSetFlag<4, PIPE_FIX>(kThere + kSecond);
      } else {
        CrossCoreSetFlag<2, PIPE_FIX>(kThere);
      }
    }
  }
  if ASCEND_IS_AIV {
    const LocalTensor<int32_t> all(TPosition::VECIN, words[21], bytes / 4);
    for (uint32_t i = 0; i < times; ++i) {
      // What Fixpipe does not write stays as it is.
      Order<HardEvent::MTE3_V>(i > 0);
      Duplicate(all, 0x55555555, bytes / 4);
      Order<HardEvent::V_MTE3>();
      if (vectors == 2) {
        CrossCoreSetFlag<4, PIPE_V>(kFree);
        CrossCoreWaitFlag<4, PIPE_MTE3>(kThere);
      } else {
        CrossCoreSetFlag<2, PIPE_V>(kFree);
        CrossCoreWaitFlag(kThere);
      }
      DataCopy(Gm<int32_t>(out)[(i * vectors + GetSubBlockIdx()) * (bytes / 4)], all, bytes / 4);
    }
  }
}

}  // namespace

#define TO_UB(name, ...)                                                                      \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR out, GM_ADDR more, \
                                             GM_ADDR words) {                                 \
    ToUb<__VA_ARGS__>(a, b, out, more, words);                                                \
  }
TO_UB(half_float, half, float, float)
TO_UB(half_half, half, float, half)
TO_UB(half_bf16, half, float, bfloat16_t)
TO_UB(half_int8, half, float, int8_t)
TO_UB(half_e4m3, half, float, fp8_e4m3fn_t)
TO_UB(int8_int32, int8_t, int32_t, int32_t)
TO_UB(int8_half, int8_t, int32_t, half)
TO_UB(int8_int8, int8_t, int32_t, int8_t)

// Out of UB into L1: the first AIV has A, the second one B. Words: m, n, k, bytes of A and B; 5: 0 by count, 1 by blocks that lie apart
// in UB, 2 by blocks that lie apart in L1, 3 rows into NZ.
template <typename T>
__aicore__ inline void Operand(GM_ADDR gm, const LocalTensor<T>& l1, uint32_t rows, uint32_t k,
                               uint32_t bytes, uint32_t how) {
  const LocalTensor<T> whole(TPosition::VECIN, 0, 65536 / sizeof(T));
  // The same place, by its address.
  const LocalTensor<T> ub(TPosition::VECIN, static_cast<uint32_t>(whole.GetPhyAddr()),
                          65536 / sizeof(T));
  const LocalTensor<uint8_t> raw(TPosition::VECIN, 0, 65536);
  const uint32_t blocks = bytes / 32, elements = bytes / sizeof(T);
  if (how == 1) {  // every other block
    DataCopy(raw, Gm<uint8_t>(gm), DataCopyParams(static_cast<uint16_t>(blocks), 1, 0, 1));
  } else {
    DataCopy(raw, Gm<uint8_t>(gm), bytes);
  }
  if (how == 3) {
    Order<HardEvent::MTE2_V>();
    DataCopy(
        l1, ub,
        Nd2NzParams(1, static_cast<uint16_t>(rows), static_cast<uint16_t>(k), 0,
                    static_cast<uint16_t>(k), static_cast<uint16_t>((rows + 15) / 16 * 16), 1, 0));
    return;
  }
  Order<HardEvent::MTE2_MTE3>();
  if (how == 0) {
    DataCopy(l1, ub, elements);
  } else if (how == 1) {
    DataCopy(l1, ub, DataCopyParams(static_cast<uint16_t>(blocks), 1, 1, 0));
  } else {  // even blocks, then odd ones
    const auto half = static_cast<uint16_t>(blocks / 2);
    const LocalTensor<T> odd = ub[32 / sizeof(T)], oddL1 = l1[32 / sizeof(T)];
    DataCopy(l1, ub, DataCopyParams(half, 1, 1, 1));
    DataCopy(oddL1, odd, DataCopyParams(half, 1, 1, 1));
  }
}

extern "C" __global__ __aicore__ void to_l1(GM_ADDR a, GM_ADDR b, GM_ADDR out, GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  const uint32_t m = words[0], n = words[1], k = words[2];
  // Code of both halves.
  const LocalTensor<half> a1(TPosition::A1, 0, words[3] / 2), b1(TPosition::B1, kB1, words[4] / 2);
  const LocalTensor<float> co1(TPosition::CO1, 0, 65536);
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      Operand(a, a1, m, k, words[3], words[5]);
    } else {
      Operand(b, b1, n, k, words[4], words[5]);
    }
    CrossCoreSetFlag<4, PIPE_MTE3>(kThere);
  }
  if ASCEND_IS_AIC {
    CrossCoreWaitFlag<4, PIPE_MTE1>(kThere);
    CrossCoreWaitFlag<4, PIPE_MTE1>(kThere + kSecond);
    Product<half, float>(m, n, k);
    Order<HardEvent::M_FIX>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(
        Gm<float>(out), co1,
        FixpipeParamsArch3510<CO2Layout::ROW_MAJOR>(n, m, (m + 15) / 16 * 16, n));
  }
}

// The same with buffers of a TPipe, which both halves make alike.
extern "C" __global__ __aicore__ void by_buffers(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  constexpr uint32_t kSide = 32, kBytesOfOne = kSide * kSide * 2;
  TPipe pipe;
  TBuf<TPosition::A1> a1;
  TBuf<TPosition::B1> b1;
  TBuf<TPosition::VECCALC> ub;
  pipe.InitBuffer(a1, kB1);
  pipe.InitBuffer(b1, kBytesOfOne);
  pipe.InitBuffer(ub, kBytesOfOne);
  const LocalTensor<half> first = a1.Get<half>(), second = b1.Get<half>();
  if ASCEND_IS_AIV {
    const LocalTensor<half> from = ub.Get<half>();
    DataCopy(from, Gm<half>(GetSubBlockIdx() == 0 ? a : b), kSide * kSide);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(GetSubBlockIdx() == 0 ? first : second, from, kSide * kSide);
    CrossCoreSetFlag<4, PIPE_MTE3>(kThere);
  }
  if ASCEND_IS_AIC {
    CrossCoreWaitFlag<4, PIPE_MTE1>(kThere);
    CrossCoreWaitFlag<4, PIPE_MTE1>(kThere + kSecond);
    const LocalTensor<float> co1 = Product<half, float>(kSide, kSide, kSide);
    Order<HardEvent::M_FIX>();
    FixpipeParamsC310 fix;
    fix.nSize = fix.mSize = fix.srcStride = fix.dstStride = kSide;
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(out), co1, fix);
  }
}

// Bytes by L1 into UB of both AIVs, the second one's with gaps.
extern "C" __global__ __aicore__ void l1_to_ub(GM_ADDR in, GM_ADDR out) {
  constexpr uint32_t kCount = 1024;
  const LocalTensor<int32_t> ub(TPosition::VECIN, 64, 2 * kCount);
  if ASCEND_IS_AIC {
    const LocalTensor<int32_t> l1(TPosition::A1, 4096, kCount);
    DataCopy(l1, Gm<int32_t>(in), kCount);
    Order<HardEvent::MTE2_MTE1>();
    CrossCoreWaitFlag<4, PIPE_MTE1>(kFree);
    CrossCoreWaitFlag<4, PIPE_MTE1>(kFree + kSecond);
    DataCopyL1ToUB(ub, l1, kCount);
    DataCopyL1ToUB<int32_t, 1>(ub, l1, DataCopyParams(kCount / 16, 1, 1, 3));
    CrossCoreSetFlag<4, PIPE_MTE1>(kThere);
    CrossCoreSetFlag<4, PIPE_MTE1>(kThere + kSecond);
  }
  if ASCEND_IS_AIV {
    Duplicate(ub, -1, 2 * kCount);
    Order<HardEvent::V_MTE3>();
    CrossCoreSetFlag<4, PIPE_V>(kFree);
    CrossCoreWaitFlag<4, PIPE_MTE3>(kThere);
    DataCopy(Gm<int32_t>(out)[GetSubBlockIdx() * 2 * kCount], ub, 2 * kCount);
  }
}

extern "C" __global__ __aicore__ void l1_to_ub_of_one(GM_ADDR in, GM_ADDR /*out*/) {
  if ASCEND_IS_AIC {
    const LocalTensor<int32_t> ub(TPosition::VECIN, 0, 64), l1(TPosition::A1, 0, 64);
    DataCopy(l1, Gm<int32_t>(in), 64);
    Order<HardEvent::MTE2_MTE1>();
    DataCopyL1ToUB(ub, l1, 64);
  }
}

// --- mistakes -------------------------------------------------------------------------------------------------------------

namespace {

enum Fault {
  kNone,
  kNoWait,
  kNoSet,
  kOtherMode,
  kOtherAiv,
  kSetByOtherPipe,
  kReadBeforeWait,
  kNoAnswer,
  kWaitByOtherPipe,
  kNobodyComputed,
  kPastUb,
  kMisaligned,
  kOddRow,
  kOddRows,
  kFewColumns,
  kDualColumns,
  kDualRelu,
  kDualQuant,
  kDualReserved,
  kSecondOfOne,
  kChannelSplit,
  kReservedId,
  kIdOfCube,
  kIdTooLarge,
  kManySets,
  kMeeting,
  kMeetingTooEarly,
};

constexpr uint32_t kSize = 32, kBytes = kSize * kSize * 4;

template <Fault fault>
void FixToUb(const LocalTensor<float>& co1, uint32_t sub) {
  LocalTensor<float> ub(TPosition::VECIN, 0, kSize * kSize);
  if constexpr (fault == kPastUb) {
    ub = LocalTensor<float>(TPosition::VECIN, 253952 - kBytes + 1024, (kBytes - 1024) / 4);
  } else if constexpr (fault == kMisaligned) {
    ub = LocalTensor<float>(TPosition::VECIN, 16, kSize * kSize);
  }
  FixpipeParamsArch3510<CO2Layout::ROW_MAJOR> fix(kSize, kSize, kSize, kSize);
  fix.subBlockId = sub != 0;
  if constexpr (fault == kOddRow) {
    fix.nSize = 12;
  } else if constexpr (fault == kOddRows) {
    fix.mSize = 31;
    fix.dualDstCtl = 1;
  } else if constexpr (fault == kFewColumns) {
    fix.nSize = 16;
    fix.dualDstCtl = 2;
  } else if constexpr (fault == kDualRelu) {
    fix.dualDstCtl = 1;
    fix.reluEn = true;
  } else if constexpr (fault == kDualQuant) {
    fix.dualDstCtl = 1;
    fix.quantPre = QuantMode_t::QF322F32_PRE;
    fix.deqScalar = 0x3F800000;
  } else if constexpr (fault == kDualReserved) {
    fix.dualDstCtl = 3;
  } else if constexpr (fault == kSecondOfOne) {
    fix.subBlockId = true;
  }
  if constexpr (fault == kDualColumns) {
    FixpipeParamsArch3510<CO2Layout::COLUMN_MAJOR> columns(kSize, kSize, kSize, kSize);
    columns.params.srcNzC0Stride = 1;
    columns.dualDstCtl = 1;
    Fixpipe<float, float, kColumns>(ub, co1, columns);
  } else if constexpr (fault == kChannelSplit) {
    FixpipeParamsArch3510<CO2Layout::NZ> split(kSize, kSize, kSize, kSize * 8);
    split.isChannelSplit = true;
    Fixpipe<float, float, kNz>(ub, co1, split);
  } else {
    Fixpipe<float, float, kRows>(ub, co1, fix);
  }
}

template <Fault fault>
void Set(uint16_t id) {
  if constexpr (fault == kSetByOtherPipe) {
    CrossCoreSetFlag<4, PIPE_MTE2>(id);
  } else if constexpr (fault == kOtherMode) {
    CrossCoreSetFlag<2, PIPE_FIX>(kThere);
  } else if constexpr (fault == kOtherAiv) {
    CrossCoreSetFlag<4, PIPE_FIX>(kThere);
  } else if constexpr (fault != kNoSet && fault != kMeeting && fault != kMeetingTooEarly) {
    CrossCoreSetFlag<4, PIPE_FIX>(id);
  }
}

// Two rounds, each into UB of both AIVs.
template <Fault fault>
__aicore__ inline void Rounds(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  constexpr bool meets = fault == kMeeting || fault == kMeetingTooEarly;
  if ASCEND_IS_AIC {
    LoadProduct<half>(a, b, kSize * kSize * 2, kSize * kSize * 2);
    LocalTensor<float> co1(TPosition::CO1, 0, kSize * kSize);
    if constexpr (fault != kNobodyComputed) {
      co1 = Product<half, float>(kSize, kSize, kSize);
    }
    Order<HardEvent::M_FIX>();
    if constexpr (fault == kReservedId) {
      CrossCoreSetFlag<4, PIPE_FIX>(12);
    } else if constexpr (fault == kIdTooLarge) {
      CrossCoreSetFlag<4, PIPE_FIX>(32);
    } else if constexpr (fault == kManySets) {
      for (int i = 0; i < 16; ++i) {
        CrossCoreSetFlag<4, PIPE_FIX>(5);
      }
    }
    for (int i = 0; i < 2; ++i) {
      if (i > 0 && !meets && fault != kNoAnswer) {
        CrossCoreWaitFlag<4, PIPE_FIX>(kFree);
        CrossCoreWaitFlag<4, PIPE_FIX>(kFree + kSecond);
      } else if (i > 0 && fault == kMeeting) {
        SyncAll<false>();
      }
      const uint32_t vectors = TILING_KEY_VAR % 10;
      FixToUb<fault>(co1, 0);
      if (vectors == 2) {
        FixToUb<fault>(co1, 1);
      }
      Set<fault>(kThere);
      if (fault != kOtherMode) {
        Set<fault>(kThere + kSecond);
      }
      if constexpr (meets) {
        SyncAll<false>();
      }
    }
  }
  if ASCEND_IS_AIV {
    const LocalTensor<float> ub(TPosition::VECIN, 0, kSize * kSize);
    const LocalTensor<float> sums(TPosition::VECIN, kBytes, kSize * kSize);
    Duplicate(sums, 0.0f, kSize * kSize);
    if constexpr (fault == kReservedId) {
      CrossCoreWaitFlag<4, PIPE_V>(12);
    } else if constexpr (fault == kIdOfCube) {
      CrossCoreSetFlag<4, PIPE_V>(kFree + kSecond);
    } else if constexpr (fault == kManySets) {
      for (int i = 0; i < 16; ++i) {
        if (GetSubBlockIdx() == 0) {
          CrossCoreWaitFlag<4, PIPE_V>(5);
        }
      }
    }
    for (int i = 0; i < 2; ++i) {
      if constexpr (fault == kReadBeforeWait) {
        Add(sums, sums, ub, kSize * kSize);
      }
      if constexpr (meets) {
        SyncAll<false>();
      } else if constexpr (fault == kWaitByOtherPipe) {
        CrossCoreWaitFlag<4, PIPE_MTE2>(kThere);
      } else if constexpr (fault != kNoWait) {
        CrossCoreWaitFlag<4, PIPE_V>(kThere);
      }
      if constexpr (fault != kReadBeforeWait) {
        Add(sums, sums, ub, kSize * kSize);
      }
      if (i == 0 && fault == kMeeting) {
        SyncAll<false>();
      } else if (i == 0 && !meets && fault != kNoAnswer) {
        CrossCoreSetFlag<4, PIPE_V>(kFree);
      }
    }
    Order<HardEvent::V_MTE3>();
    DataCopy(Gm<float>(out)[GetSubBlockIdx() * kSize * kSize], sums, kSize * kSize);
  }
}

}  // namespace

#define ROUNDS(name, fault)                                                       \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR out) { \
    Rounds<fault>(a, b, out);                                                     \
  }
ROUNDS(right, kNone)
ROUNDS(no_wait, kNoWait)
ROUNDS(no_set, kNoSet)
ROUNDS(other_mode, kOtherMode)
ROUNDS(other_aiv, kOtherAiv)
ROUNDS(set_by_other_pipe, kSetByOtherPipe)
ROUNDS(read_before_wait, kReadBeforeWait)
ROUNDS(no_answer, kNoAnswer)
ROUNDS(wait_by_other_pipe, kWaitByOtherPipe)
ROUNDS(nobody_computed, kNobodyComputed)
ROUNDS(past_ub, kPastUb)
ROUNDS(misaligned, kMisaligned)
ROUNDS(odd_row, kOddRow)
ROUNDS(odd_rows, kOddRows)
ROUNDS(few_columns, kFewColumns)
ROUNDS(dual_columns, kDualColumns)
ROUNDS(dual_relu, kDualRelu)
ROUNDS(dual_quant, kDualQuant)
ROUNDS(dual_reserved, kDualReserved)
ROUNDS(second_of_one, kSecondOfOne)
ROUNDS(channel_split, kChannelSplit)
ROUNDS(reserved_id, kReservedId)
ROUNDS(id_of_cube, kIdOfCube)
ROUNDS(id_too_large, kIdTooLarge)
ROUNDS(many_sets, kManySets)
ROUNDS(meeting, kMeeting)
ROUNDS(meeting_too_early, kMeetingTooEarly)

// The AIV fills the lower half of what the second Fixpipe writes, and the AIC has not heard of it.
extern "C" __global__ __aicore__ void covered(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  const LocalTensor<float> ub(TPosition::VECIN, 0, kSize * kSize);
  if ASCEND_IS_AIC {
    LoadProduct<half>(a, b, kSize * kSize * 2, kSize * kSize * 2);
    const LocalTensor<float> co1 = Product<half, float>(kSize, kSize, kSize);
    Order<HardEvent::M_FIX>();
    FixpipeParamsArch3510<CO2Layout::ROW_MAJOR> fix(kSize, kSize / 2, kSize, kSize);
    Fixpipe<float, float, kRows>(ub, co1, fix);
    CrossCoreSetFlag<4, PIPE_FIX>(kThere);
    fix.mSize = kSize;
    Fixpipe<float, float, kRows>(ub, co1, fix);
    CrossCoreSetFlag<4, PIPE_FIX>(kThere);
  }
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      Duplicate(ub[kSize * kSize / 2], 0.0f, kSize * kSize / 2);
      CrossCoreWaitFlag<4, PIPE_V>(kThere);
      CrossCoreWaitFlag<4, PIPE_V>(kThere);
      Order<HardEvent::V_MTE3>();
      DataCopy(Gm<float>(out), ub, kSize * kSize);
    }
  }
}

// Into L1, with one mistake each.
namespace {

enum LinkFault {
  kFine,
  kNoWaitOfCube,
  kBehindMte2,
  kPastTensor,
  kPastL1,
  kL1Misaligned,
  kUndefinedSource,
  kTooEarlyAgain,
  kIntoL0,
  kFromGm,
  kShortRows,
  kTwoMatrices,
  kByVector,
  kNoLength,
};

template <LinkFault fault>
__aicore__ inline void Link(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  constexpr uint32_t kCount = kSize * kSize;
  const LocalTensor<half> ub(TPosition::VECIN, 0, kCount);
  LocalTensor<half> a1(TPosition::A1, 0, kCount), b1(TPosition::B1, kB1, kCount);
  if ASCEND_IS_AIV {
    if constexpr (fault == kPastL1) {
      a1 = LocalTensor<half>(TPosition::A1, 524288 - 1024, kCount);
    } else if constexpr (fault == kL1Misaligned) {
      a1 = LocalTensor<half>(TPosition::A1, 16, kCount);
    } else if constexpr (fault == kIntoL0) {
      a1 = LocalTensor<half>(TPosition::A2, 0, kCount);
    }
    const bool first = GetSubBlockIdx() == 0;
    for (int i = 0; i < 2; ++i) {
      if (i > 0 && fault != kTooEarlyAgain) {
        CrossCoreWaitFlag<4, PIPE_MTE3>(kFree);
      }
      if constexpr (fault != kUndefinedSource) {
        Order<HardEvent::MTE3_MTE2>(i > 0);
        DataCopy(ub, Gm<half>(first ? a : b), kCount);
      }
      Order<HardEvent::MTE2_MTE3>();
      if constexpr (fault == kFromGm) {
        DataCopy(a1, Gm<half>(a), kCount);
      } else if constexpr (fault == kShortRows) {
        DataCopy(a1, ub, Nd2NzParams(1, 4, 24, 0, 24, 32, 1, 0));
      } else if constexpr (fault == kNoLength) {
        DataCopy(a1, ub, DataCopyParams(4, 0, 0, 0));
      } else if constexpr (fault == kByVector) {
        Adds(a1, ub, half(1), kCount);
      } else if constexpr (fault == kTwoMatrices) {
        DataCopy(a1, ub, Nd2NzParams(2, 4, 32, 128, 32, 32, 1, 128));
      } else {
        DataCopy(first ? a1 : b1, ub, kCount + (fault == kPastTensor ? 64 : 0));
      }
      if constexpr (fault == kBehindMte2) {
        CrossCoreSetFlag<4, PIPE_MTE2>(kThere);
      } else {
        CrossCoreSetFlag<4, PIPE_MTE3>(kThere);
      }
    }
  }
  if ASCEND_IS_AIC {
    for (int i = 0; i < 2; ++i) {
      if constexpr (fault != kNoWaitOfCube) {
        CrossCoreWaitFlag<4, PIPE_MTE1>(kThere);
        CrossCoreWaitFlag<4, PIPE_MTE1>(kThere + kSecond);
      }
      Order<HardEvent::M_MTE1>(i > 0);
      Order<HardEvent::FIX_M>(i > 0);
      const LocalTensor<float> co1 = Product<half, float>(kSize, kSize, kSize);
      if (i == 0 && fault != kTooEarlyAgain) {
        CrossCoreSetFlag<4, PIPE_MTE1>(kFree);
        CrossCoreSetFlag<4, PIPE_MTE1>(kFree + kSecond);
      }
      Order<HardEvent::M_FIX>();
      Fixpipe<float, float, CFG_ROW_MAJOR>(
          Gm<float>(out)[i * kCount], co1,
          FixpipeParamsArch3510<CO2Layout::ROW_MAJOR>(kSize, kSize, kSize, kSize));
    }
  }
}

}  // namespace

#define LINK(name, fault)                                                                \
  extern "C" __global__ __aicore__ void link_##name(GM_ADDR a, GM_ADDR b, GM_ADDR out) { \
    Link<fault>(a, b, out);                                                              \
  }
LINK(right, kFine)
LINK(no_wait, kNoWaitOfCube)
LINK(behind_mte2, kBehindMte2)
LINK(past_tensor, kPastTensor)
LINK(past_l1, kPastL1)
LINK(misaligned, kL1Misaligned)
LINK(undefined, kUndefinedSource)
LINK(again, kTooEarlyAgain)
LINK(into_l0, kIntoL0)
LINK(from_gm, kFromGm)
LINK(short_rows, kShortRows)
LINK(two_matrices, kTwoMatrices)
LINK(by_vector, kByVector)
LINK(no_length, kNoLength)

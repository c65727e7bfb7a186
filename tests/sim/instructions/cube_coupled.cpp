// SPDX-License-Identifier: Apache-2.0
// Products on a coupled core (310P, 910): the matrix unit and the vector unit share a core, and results leave L0C by UB. Steps are told by words
// in GM, in the order of test_cube_coupled.py; further kernels have one mistake each.
#include "kernel_operator.h"

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

template <HardEvent event>
void Order(bool there = true) {
  if (there) {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
  }
}

enum Fault {
  kNone,
  kNoMte2Mte1,
  kNoMte1M,
  kNoMV,
  kNoVM,
  kNoVMte3,
  kNoMte3Mte1,
  kFirstAddsUp,
  kTooFewRepeats,
  kPastL1,
  kPastL0c,
  kMisaligned,
  kVectorOnL1,
  kFixpipe,
  kBiasTable,
  kPlainCopyOut,
  kWrongTypes,
  kTransposedLoad,
  kNd2Nz,
  kFromL1,
};

DataCopyEnhancedParams Mode(bool rows, bool relu) {
  DataCopyEnhancedParams params;
  params.blockMode = rows ? BlockMode::BLOCK_MODE_VECTOR : BlockMode::BLOCK_MODE_MATRIX;
  params.isRelu = relu;
  return params;
}

template <typename T>
GlobalTensor<T> Gm(GM_ADDR at) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(at));
  return tensor;
}

// Words: 0 to 2 bytes of A, B and what C begins with; 3 how A goes: 0 by L1, 1 by UB and L1, 2 straight into L0A; 4 fractals of A and 5 of B; 6 to
// 8 m, n, k; 9 Mmads; 10 what C begins with: 0 nothing, 1 a row, 2 fractals; 11 rows only, 12 relu; 13 the first
// Mmad begins with 0 all the same.
template <typename T, typename S, typename C, typename O>
void Run(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR out, GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  const LocalTensor<uint8_t> a1(TPosition::A1, 0, 262144), b1(TPosition::B1, 524288, 262144);
  const LocalTensor<uint8_t> a2(TPosition::A2, 0, 65536), b2(TPosition::B2, 0, 65536);
  const LocalTensor<uint8_t> given(TPosition::VECIN, 0, 65536);
  const LocalTensor<C> co1(TPosition::CO1, 0, 262144 / sizeof(C));
  DataCopy(b1, Gm<uint8_t>(b), words[1]);
  LoadData2DParams load(0, static_cast<uint8_t>(words[4]), 1, 0, 0, false, 0);
  if (words[3] == 0) {
    DataCopy(a1, Gm<uint8_t>(a), words[0]);
  } else if (words[3] == 1) {
    DataCopy(given, Gm<uint8_t>(a), words[0]);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(a1, given, words[0]);
    Order<HardEvent::MTE3_MTE1>();
    Order<HardEvent::MTE3_MTE2>();
  } else {
    LoadData(a2, Gm<uint8_t>(a), load);
    Order<HardEvent::MTE2_M>();
  }
  Order<HardEvent::MTE2_MTE1>();
  if (words[3] != 2) {
    LoadData(a2.template ReinterpretCast<T>(), a1.template ReinterpretCast<T>(), load);
  }
  load.repeatTimes = words[5];
  LoadData(b2.template ReinterpretCast<S>(), b1.template ReinterpretCast<S>(), load);
  Order<HardEvent::MTE1_M>();
  const uint32_t m1 = (words[6] + 15) / 16, n1 = (words[7] + 15) / 16;
  if (words[10] != 0) {
    DataCopy(given, Gm<uint8_t>(c), words[2]);
    Order<HardEvent::MTE2_V>();
    const LocalTensor<C> start = given.template ReinterpretCast<C>();
    for (uint32_t i = 0; words[10] == 1 && i < m1; ++i) {  // each column of fractals has m1 of them
      BroadCastVecToMM(co1[i * 256], start, static_cast<int32_t>(n1), 1, 0,
                       static_cast<uint8_t>(m1 - 1));
    }
    if (words[10] == 2) {
      DataCopy(co1, start, DataCopyParams(1, static_cast<uint16_t>(m1 * n1), 0, 0),
               Mode(false, false));
    }
    Order<HardEvent::V_M>();
  }
  for (uint32_t i = 0; i < words[9]; ++i) {
    Mmad(co1, a2.template ReinterpretCast<T>(), b2.template ReinterpretCast<S>(),
         MmadParams(words[6], words[7], words[8], 0, false,
                    i == 0 && (words[10] == 0 || words[13] != 0)));
    PipeBarrier<PIPE_M>();
  }
  Order<HardEvent::M_V>();
  const LocalTensor<O> result(TPosition::CO2, 65536, 131072 / sizeof(O));
  const uint32_t unit = words[11] != 0 ? 16 : 256;
  DataCopy(result, co1, DataCopyParams(1, static_cast<uint16_t>(m1 * n1), 0, 0),
           Mode(words[11] != 0, words[12] != 0));
  Order<HardEvent::V_MTE3>();
  DataCopy(Gm<O>(out), result, m1 * n1 * unit);
}

constexpr uint32_t kSize = 32, kOperand = 2048;

// A product of 32 x 32 x 32 halves in one step, through every memory of the core.
template <Fault fault>
void Product(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  constexpr uint32_t kEnd = 1024 * 1024 - (fault == kPastL1 ? 1024 : 4096);
  const LocalTensor<half> a1(TPosition::A1, kEnd, kSize * kSize);
  const LocalTensor<half> b1(TPosition::B1, 4096, kSize * kSize);
  const LocalTensor<half> a2(TPosition::A2, fault == kMisaligned ? 32 : 0, kSize * kSize);
  const LocalTensor<half> b2(TPosition::B2, 0, kSize * kSize);
  const LocalTensor<float> co1(TPosition::CO1, fault == kPastL0c ? 262144 - 2048 : 0,
                               kSize * kSize);
  const LocalTensor<half> given(TPosition::VECIN, 0, kSize * kSize);
  const LocalTensor<float> result(TPosition::VECOUT, 8192, kSize * kSize);
  DataCopy(given, Gm<half>(a), kSize * kSize);
  Order<HardEvent::MTE2_MTE3>();
  DataCopy(b1, Gm<half>(b), kSize * kSize);
  if constexpr (fault == kNd2Nz) {
    DataCopy(b1, Gm<half>(b), Nd2NzParams(1, 32, 32, 0, 32, 32, 1, 0));
  }
  DataCopy(a1, given, kSize * kSize);
  if constexpr (fault == kVectorOnL1) {
    Adds(b1, b1, half(1), kSize);
  }
  Order<HardEvent::MTE3_MTE1>(fault != kNoMte3Mte1);
  Order<HardEvent::MTE2_MTE1>(fault != kNoMte2Mte1);
  LoadData(a2, a1, LoadData2DParams(0, fault == kTooFewRepeats ? 3 : 4, 1, 0, 0, false, 0));
  LoadData(b2, b1, LoadData2DParams(0, 4, 1, 0, 0, false, 0));
  if constexpr (fault == kTransposedLoad) {
    LoadDataWithTranspose(b2, b1, LoadData2dTransposeParams(0, 1, 1, 0, 0));
  }
  if constexpr (fault == kFromL1) {
    DataCopy(Gm<half>(out), b1, kSize);
  }
  Order<HardEvent::MTE1_M>(fault != kNoMte1M);
  const MmadParams mmad(kSize, kSize, kSize, 0, false, fault != kFirstAddsUp);
  if constexpr (fault == kBiasTable) {
    const LocalTensor<float> c2(TPosition::C2, 0, kSize);
    Mmad(co1, a2, b2, c2, MmadParams(kSize, kSize, kSize, 0, true, false));
  } else if constexpr (fault == kWrongTypes) {
    Mmad(co1, a2.ReinterpretCast<bfloat16_t>(), b2.ReinterpretCast<bfloat16_t>(), mmad);
  } else {
    Mmad(co1, a2, b2, mmad);
  }
  Order<HardEvent::M_V>(fault != kNoMV);
  if constexpr (fault == kFixpipe) {
    Fixpipe(Gm<float>(out), co1, FixpipeParamsV220(kSize, kSize, kSize, kSize, false));
  }
  if constexpr (fault == kPlainCopyOut) {
    DataCopy(result, co1, kSize * kSize);
  }
  DataCopy(result, co1, DataCopyParams(1, 4, 0, 0), Mode(false, false));
  if constexpr (fault == kNoVM) {  // once more, over what the vector pipe still reads
    Mmad(co1, a2, b2, mmad);
    Order<HardEvent::M_V>();
    DataCopy(result, co1, DataCopyParams(1, 4, 0, 0), Mode(false, false));
  }
  Order<HardEvent::V_MTE3>(fault != kNoVMte3);
  DataCopy(Gm<float>(out), result, kSize * kSize);
}

// The same by queues of all positions.
void ByQueues(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  TPipe pipe;
  TQue<TPosition::A1, 1> queA1;
  TQue<TPosition::A2, 1> queA2;
  TQue<TPosition::B1, 1> queB1;
  TQue<TPosition::B2, 1> queB2;
  TQue<TPosition::CO1, 1> queCo1;
  TQue<TPosition::CO2, 1> queCo2;
  pipe.InitBuffer(queA1, 1, kOperand);
  pipe.InitBuffer(queA2, 1, kOperand);
  pipe.InitBuffer(queB1, 1, kOperand);
  pipe.InitBuffer(queB2, 1, kOperand);
  pipe.InitBuffer(queCo1, 1, 2 * kOperand);
  pipe.InitBuffer(queCo2, 1, 2 * kOperand);
  const auto load = [](auto& from, auto& to, GM_ADDR gm) {
    LocalTensor<half> in = from.template AllocTensor<half>();
    DataCopy(in, Gm<half>(gm), kSize * kSize);
    from.EnQue(in);
    in = from.template DeQue<half>();
    LocalTensor<half> operand = to.template AllocTensor<half>();
    LoadData(operand, in, LoadData2DParams(0, 4, 1, 0, 0, false, 0));
    to.EnQue(operand);
    from.FreeTensor(in);
  };
  load(queA1, queA2, a);
  load(queB1, queB2, b);
  LocalTensor<half> a2 = queA2.DeQue<half>(), b2 = queB2.DeQue<half>();
  LocalTensor<float> co1 = queCo1.AllocTensor<float>();
  Mmad(co1, a2, b2, MmadParams(kSize, kSize, kSize, 0, false, true));
  queCo1.EnQue(co1);
  queA2.FreeTensor(a2);
  queB2.FreeTensor(b2);
  co1 = queCo1.DeQue<float>();
  LocalTensor<float> co2 = queCo2.AllocTensor<float>();
  DataCopy(co2, co1, DataCopyParams(1, 4, 0, 0), Mode(false, false));
  queCo1.FreeTensor(co1);
  queCo2.EnQue(co2);
  co2 = queCo2.DeQue<float>();
  DataCopy(Gm<float>(out), co2, kSize * kSize);
  queCo2.FreeTensor(co2);
}

}  // namespace

#define PIPELINE(name, ...)                                                                \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR out, \
                                             GM_ADDR words) {                              \
    Run<__VA_ARGS__>(a, b, c, out, words);                                                 \
  }
PIPELINE(half_float, half, half, float, float)
PIPELINE(half_half, half, half, half, half)
PIPELINE(half_float_half, half, half, float, half)
PIPELINE(int8_int32, int8_t, int8_t, int32_t, int32_t)
PIPELINE(uint8_int8_int32, uint8_t, int8_t, int32_t, int32_t)
PIPELINE(int4_int32, int4b_t, int4b_t, int32_t, int32_t)

#define KERNEL(name, ...)                                                                     \
  extern "C" __global__ __aicore__ void name(                                                 \
      [[maybe_unused]] GM_ADDR a, [[maybe_unused]] GM_ADDR b, [[maybe_unused]] GM_ADDR out) { \
    __VA_ARGS__;                                                                              \
  }
#define FAULTY(name, fault) KERNEL(name, Product<fault>(a, b, out))
FAULTY(right, kNone)
KERNEL(by_queues, ByQueues(a, b, out))
FAULTY(no_mte2_mte1, kNoMte2Mte1)
FAULTY(no_mte1_m, kNoMte1M)
FAULTY(no_m_v, kNoMV)
FAULTY(no_v_m, kNoVM)
FAULTY(no_v_mte3, kNoVMte3)
FAULTY(no_mte3_mte1, kNoMte3Mte1)
FAULTY(first_adds_up, kFirstAddsUp)
FAULTY(too_few_repeats, kTooFewRepeats)
FAULTY(past_l1, kPastL1)
FAULTY(past_l0c, kPastL0c)
FAULTY(misaligned, kMisaligned)
FAULTY(vector_on_l1, kVectorOnL1)
FAULTY(fixpipe, kFixpipe)
FAULTY(bias_table, kBiasTable)
FAULTY(plain_copy_out, kPlainCopyOut)
FAULTY(wrong_types, kWrongTypes)
FAULTY(transposed_load, kTransposedLoad)
FAULTY(nd2nz, kNd2Nz)
FAULTY(from_l1, kFromL1)

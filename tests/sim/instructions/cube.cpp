// SPDX-License-Identifier: Apache-2.0
// One product by the basic API: bytes of GM into L1, loads of both operands, Mmad, Fixpipe. What each step does is told by words in GM, in the
// order of test_cube.py.
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

enum Kind { k2d, kTransposed, k3d, kFromGm, kFilled, k3dAgain };

template <HardEvent event>
void Order() {
  SetFlag<event>(EVENT_ID0);
  WaitFlag<event>(EVENT_ID0);
}

template <typename T>
LoadData2DParams Load2d(const Words& words, int at) {
  return {words[at + 1], words[at + 2],      words[at + 3], 0,
          words[at + 4], words[at + 5] != 0, words[at + 6]};
}

template <typename T>
LoadData3DParamsV2<T> Load3d(const Words& words, int at) {
  uint8_t pad[4];
  for (int i = 0; i < 4; ++i) {
    pad[i] = static_cast<uint8_t>(words[at + 14 + i]);
  }
  return {pad,
          words[at + 1],
          words[at + 2],
          words[at + 3],
          words[at + 4],
          words[at + 5],
          words[at + 6],
          words[at + 7],
          words[at + 8],
          words[at + 9],
          words[at + 10],
          words[at + 11],
          words[at + 12],
          words[at + 13],
          words[at + 18] != 0,
          false,
          static_cast<T>(static_cast<float>(words[at + 19]))};
}

template <typename T>
void Load(const LocalTensor<T>& to, const LocalTensor<T>& from, GM_ADDR gm, const Words& words,
          int at) {
  switch (words[at]) {
    case k2d:
      LoadData(to, from, Load2d<T>(words, at));
      break;
    case kTransposed:
      LoadDataWithTranspose(to, from,
                            LoadData2dTransposeParams(words[at + 1], words[at + 2], words[at + 3],
                                                      words[at + 4], words[at + 5]));
      break;
    case k3d:
      LoadDataImpl(to, from, Load3d<T>(words, at));  // the name in the implementation
      break;
    case kFromGm: {
      GlobalTensor<T> source;
      source.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gm));
      if constexpr (!std::is_same_v<T, int4b_t>) {
        LoadData(to, source, Load2d<T>(words, at));
      }
      Order<HardEvent::MTE2_MTE1>();
      break;
    }
    case kFilled:
      if constexpr (!std::is_same_v<T, int4b_t>) {
        InitConstValue(to,
                       InitConstValueParams<T>(words[at + 1], words[at + 2], words[at + 3],
                                               static_cast<T>(static_cast<float>(words[at + 4]))));
      }
      break;
    case k3dAgain:
      if constexpr (!std::is_same_v<T, int4b_t>) {
        // Template arguments that are constants of this function of a template. The second load keeps what the first has set.
        static constexpr IsResetLoad3dConfig kSets = {true, true};
        static constexpr IsResetLoad3dConfig kKeeps = {false, false};
        LoadData3DParamsV2<T> map = Load3d<T>(words, at);
        LoadData<T, kSets>(to, from, map);
        map.l1H = map.l1W = 1;
        map.padList[0] = map.padList[1] = map.padList[2] = map.padList[3] = 0;
        map.padValue = static_cast<T>(1.0f);
        PipeBarrier<PIPE_MTE1>();
        LoadData<T, kKeeps>(to, from, map);
      }
      break;
    default:
      Trap();
  }
}

template <typename T>
LocalTensor<T> InL1(GM_ADDR gm, uint32_t at, uint32_t bytes) {
  GlobalTensor<uint8_t> source;
  source.SetGlobalBuffer(gm);
  LocalTensor<uint8_t> target(TPosition::A1, at, bytes);
  DataCopy(target, source, bytes);
  return target.ReinterpretCast<T>();
}

// Words 0 to 9: bytes in L1 of A, B, bias, parameters of quantisation; Mmads; HF32; kind of bias; SetFixPipeConfig: 1 takes a
// table of quantisation, 2 clears the unit flags.
template <typename T, typename C, typename O, typename Bias>
void Run(GM_ADDR a, GM_ADDR b, GM_ADDR out, GM_ADDR bias, GM_ADDR quant, GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  constexpr uint32_t kB1 = 128 * 1024, kBias = 256 * 1024, kQuant = 260 * 1024;
  const LocalTensor<T> a1 = InL1<T>(a, 0, words[0]);
  const LocalTensor<T> b1 = InL1<T>(b, kB1, words[1]);
  LocalTensor<Bias> c1;
  LocalTensor<uint64_t> q1;
  if (words[2] != 0) {
    c1 = InL1<Bias>(bias, kBias, words[2]);
  }
  if (words[3] != 0) {
    q1 = InL1<uint64_t>(quant, kQuant, words[3]);
  }
  Order<HardEvent::MTE2_MTE1>();
  constexpr uint32_t kOperand = 65536;
  LocalTensor<uint8_t> a2Bytes(TPosition::A2, 0, kOperand);
  LocalTensor<uint8_t> b2Bytes(TPosition::B2, 0, kOperand);
  const LocalTensor<T> a2 = a2Bytes.ReinterpretCast<T>();
  const LocalTensor<T> b2 = b2Bytes.ReinterpretCast<T>();
  Load(a2, a1, a, words, 10);
  Load(b2, b1, b, words, 40);
  LocalTensor<C> c2(TPosition::C2, 0, 256);
  if (words[2] != 0) {
    const uint32_t units = words[2] / 64;
    DataCopy<C, Bias>(c2, c1, DataCopyParams(1, static_cast<uint16_t>(units), 0, 0));
  }
  Order<HardEvent::MTE1_M>();
  LocalTensor<C> co1(TPosition::CO1, 0, 32768);
  SetHF32Mode(words[5] != 0);
  if (words[5] == 2) {
    SetHF32TransMode(true);
  }
  MmadParams mmad(static_cast<uint16_t>(words[70]), static_cast<uint16_t>(words[71]),
                  static_cast<uint16_t>(words[72]), static_cast<uint8_t>(words[73]), words[74] != 0,
                  words[75] != 0);
  mmad.kDirectionAlign = words[76] != 0;
  for (uint32_t i = 0; i < words[4]; ++i) {
    const bool last = i + 1 == words[4];
    mmad.unitFlag = words[73] == 0 ? 0 : last ? 3 : 2;
    if (i > 0) {
      mmad.cmatrixInitVal = false;
      mmad.cmatrixSource = false;
      PipeBarrier<PIPE_M>();
    }
    if (i == 0 && words[6] != 0) {
      Mmad(co1, a2, b2, c2, mmad);
    } else if constexpr (std::is_same_v<O, bfloat16_t>) {
      MmadImpl(co1, a2, b2, mmad);  // the name in the implementation
    } else {
      Mmad(co1, a2, b2, mmad);
    }
  }
  SetHF32Mode(false);
  if (words[73] == 0) {
    Order<HardEvent::M_FIX>();
  }
  FixpipeParamsV220 fix(words[81], words[82], words[83], words[84], words[86] != 0,
                        static_cast<QuantMode_t>(words[85]),
                        static_cast<uint64_t>(words[94]) << 32 | words[93], words[89], words[90],
                        words[91], static_cast<uint8_t>(words[87]));
  fix.isChannelSplit = words[88] != 0;
  if (words[92] == 1) {
    SetAtomicAdd<O>();
  }
  if (words[7] == 2) {
    SetFixPipeConfig(co1, true);
  } else if (words[7] != 0) {
    Order<HardEvent::MTE2_FIX>();
    LocalTensor<uint64_t> table(TPosition::C2PIPE2GM, 0, words[3] / 8);
    DataCopy(table, q1, DataCopyParams(1, static_cast<uint16_t>(words[3] / 128), 0, 0));
    SetFixPipeConfigImpl(table);
    PipeBarrier<PIPE_FIX>();
  } else if (words[3] != 0) {
    Order<HardEvent::MTE2_FIX>();
  }
  GlobalTensor<O> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ O*>(out));
  if (words[80] == 2) {  // by way of L1; with a vector of parameters to where that lies
    const LocalTensor<uint8_t> back(TPosition::A1, words[3] != 0 ? kQuant : 384 * 1024, 65536);
    LocalTensor<O> l1 = back.ReinterpretCast<O>();
    if constexpr (sizeof(O) < 4) {
      if (words[3] != 0) {
        Fixpipe<O, C, CFG_NZ>(l1, co1, q1, fix);
      } else {
        Fixpipe<O, C, CFG_NZ>(l1, co1, fix);
      }
    }
    Order<HardEvent::FIX_MTE3>();
    DataCopy(result, l1, words[95]);
  } else if (words[80] == 1) {
    if (words[3] != 0 && words[7] == 0) {
      Fixpipe<O, C, CFG_ROW_MAJOR>(result, co1, q1, fix);
    } else {
      Fixpipe<O, C, CFG_ROW_MAJOR>(result, co1, fix);
    }
  } else {
    Fixpipe<O, C, CFG_NZ>(result, co1, fix);
  }
  SetAtomicNone();
}

}  // namespace

#define PIPELINE(name, T, C, O, Bias)                                                         \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR out, GM_ADDR bias, \
                                             GM_ADDR quant, GM_ADDR words) {                  \
    Run<T, C, O, Bias>(a, b, out, bias, quant, words);                                        \
  }

PIPELINE(half_float, half, float, float, float)
PIPELINE(half_float_by_half_bias, half, float, float, half)
PIPELINE(half_half, half, float, half, float)
PIPELINE(half_bf16, half, float, bfloat16_t, float)
PIPELINE(half_int8, half, float, int8_t, float)
PIPELINE(half_uint8, half, float, uint8_t, float)
PIPELINE(bf16_float, bfloat16_t, float, float, float)
PIPELINE(float_float, float, float, float, float)
PIPELINE(int8_int32, int8_t, int32_t, int32_t, int32_t)
PIPELINE(int8_half, int8_t, int32_t, half, int32_t)
PIPELINE(int8_int8, int8_t, int32_t, int8_t, int32_t)
PIPELINE(int4_int32, int4b_t, int32_t, int32_t, int32_t)

// ND to NZ of in, on top of what `before` says, and out again.
template <typename T>
void Nd2Nz(GM_ADDR in, GM_ADDR out, GM_ADDR before, GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  const LocalTensor<T> l1 = InL1<T>(before, 0, words[0]);
  PipeBarrier<PIPE_MTE2>();
  GlobalTensor<T> source;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(in));
  DataCopy(
      l1, source,
      Nd2NzParams(words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8]));
  Order<HardEvent::MTE2_MTE3>();
  GlobalTensor<T> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out));
  DataCopy(result, l1, words[0] / static_cast<uint32_t>(sizeof(T)));
}
#define ND2NZ(name, T)                                                                \
  extern "C" __global__ __aicore__ void name(GM_ADDR in, GM_ADDR out, GM_ADDR before, \
                                             GM_ADDR words) {                         \
    Nd2Nz<T>(in, out, before, words);                                                 \
  }
ND2NZ(nd2nz_half, half)
ND2NZ(nd2nz_float, float)
ND2NZ(nd2nz_int8, int8_t)

// Strided copies into L1 and out of it.
extern "C" __global__ __aicore__ void strided(GM_ADDR in, GM_ADDR out, GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  GlobalTensor<uint8_t> source, result;
  source.SetGlobalBuffer(in);
  result.SetGlobalBuffer(out);
  LocalTensor<uint8_t> l1(TPosition::B1, 1024, 65536);
  const auto params = [&](int at) {
    return DataCopyParams(static_cast<uint16_t>(words[at]), static_cast<uint16_t>(words[at + 1]),
                          static_cast<uint16_t>(words[at + 2]),
                          static_cast<uint16_t>(words[at + 3]));
  };
  DataCopy(l1, source, params(0));
  Order<HardEvent::MTE2_MTE3>();
  DataCopy(result, l1, params(4));
}

extern "C" __global__ __aicore__ void who(GM_ADDR out) {
  GlobalTensor<int32_t> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
  const auto core = static_cast<int32_t>(GetBlockIdx());
  const int32_t values[8] = {
      core, static_cast<int32_t>(GetBlockNum()), static_cast<int32_t>(GetSubBlockIdx()),
      static_cast<int32_t>(GetSubBlockNum()), g_coreType == AscendC::AIC ? 1 : 0};
  for (int32_t i = 0; i < 8; ++i) {
    result.SetValue(static_cast<uint64_t>(core * 16 + i), values[i]);
  }
  DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(result);
}

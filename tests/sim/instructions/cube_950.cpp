// SPDX-License-Identifier: Apache-2.0
// One product on an AIC of Ascend 950: bytes of GM into L1, windows of both operands into L0, Mmad, Fixpipe. What each step does is told by
// words in GM, in the order of test_cube_950.py.
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
void Order() {
  SetFlag<event>(EVENT_ID0);
  WaitFlag<event>(EVENT_ID0);
}

template <typename T>
LocalTensor<T> InL1(GM_ADDR gm, uint32_t at, uint32_t bytes) {
  LocalTensor<uint8_t> target(TPosition::A1, at, bytes);
  GlobalTensor<uint8_t> whole;
  whole.SetGlobalBuffer(gm);
  const GlobalTensor<half> source = whole[32].ReinterpretCast<half>();
  DataCopy(target, whole, 32);
  if (bytes > 32) DataCopy(target[32].ReinterpretCast<half>(), source, (bytes - 32) / 2);
  return target.ReinterpretCast<T>();
}

LoadData2DParamsV2 Window(const Words& words, int at) {
  return {words[at],
          words[at + 1],
          words[at + 2],
          words[at + 3],
          static_cast<int32_t>(words[at + 4]),
          words[at + 5],
          words[at + 6] != 0,
          0};
}
LoadData2DMxParams Scales(const Words& words, int at) {
  return {words[at], words[at + 1], words[at + 2], words[at + 3], words[at + 4], words[at + 5]};
}

template <CO2Layout layout, typename C>
FixpipeParamsArch3510<layout> Results(const Words& words) {
  FixpipeParamsArch3510<layout> fix(words[41], words[42], words[43], words[44]);
  fix.quantPre = static_cast<QuantMode_t>(words[45]);
  fix.deqScalar = static_cast<uint64_t>(words[52]) << 32 | words[51];
  fix.reluEn = words[46] != 0;
  fix.unitFlag = static_cast<uint8_t>(words[47]);
  fix.isChannelSplit = words[53] != 0;
  if constexpr (layout == CO2Layout::ROW_MAJOR) {
    fix.params = {words[48], words[49], words[50]};
  } else if constexpr (layout == CO2Layout::COLUMN_MAJOR) {
    fix.params = {words[48], words[49], words[50], words[54]};
  }
  return fix;
}

// The fields of 2201, which 950 takes as its own.
FixpipeParamsV220 OlderResults(const Words& words) {
  FixpipeParamsV220 fix(words[41], words[42], words[43], words[44], false);
  fix.ndNum = words[48], fix.srcNdStride = words[49], fix.dstNdStride = words[50];
  return fix;
}

// Loads a matrix of `height` x `channels` elements in NZ as a feature map, 16 or 32 lines of M or N at a time, of which L0 has `lines`.
// turned: M or N lies along the channels.
template <typename T>
constexpr uint16_t kLinesAtOnce = sizeof(T) == 1 ? 32 : 16;
template <typename T>
void LoadLines(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint16_t height,
               uint16_t channels, uint16_t lines, bool turned, bool transposed) {
  constexpr uint16_t kC0 = 32 / sizeof(T), kStep = kLinesAtOnce<T>;
  SetLoadDataRepeatWithStride({1, 1, 0, static_cast<uint16_t>(lines / 16)});
  for (uint16_t i = 0; i < lines; i += kStep) {
    LoadData3DParamsV2<T> p;
    p.l1H = height;
    p.l1W = 1;
    p.channelSize = channels;
    p.kStartPt = turned ? i : 0;
    p.mStartPt = turned ? 0 : i;
    p.kExtension = turned ? kStep : channels;
    p.mExtension = turned ? height : kStep;
    p.enTranspose = transposed;
    LoadDataWithStride(dst[uint32_t{i} * kC0], src, p);
  }
}

// Words 0 to 5: bytes in L1 of A, B, bias, parameters of quantisation, scales of A and of B.
template <typename T, typename S, typename C, typename O, typename T2 = T, typename S2 = S,
          typename Bias = C>
void Run(GM_ADDR a, GM_ADDR b, GM_ADDR out, GM_ADDR more, GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  constexpr uint32_t kB1 = 128 * 1024, kBias = 256 * 1024, kQuant = 260 * 1024,
                     kScaleA = 280 * 1024, kScaleB = 300 * 1024;
  const LocalTensor<T> a1 = InL1<T>(a, 0, words[0]);
  const LocalTensor<S> b1 = InL1<S>(b, kB1, words[1]);
  LocalTensor<Bias> c1;
  LocalTensor<uint64_t> q1;
  if (words[2] != 0) {
    c1 = InL1<Bias>(more, kBias, words[2]);
  }
  if (words[3] != 0) {
    q1 = InL1<uint64_t>(more, kQuant, words[3]);
  }
  LocalTensor<fp8_e8m0_t> scaleA, scaleB;
  if (words[4] != 0) {
    scaleA = InL1<fp8_e8m0_t>(more, kScaleA, words[4]);
    scaleB = InL1<fp8_e8m0_t>(more + words[4], kScaleB, words[5]);
  }
  Order<HardEvent::MTE2_MTE1>();
  LocalTensor<uint8_t> a2Bytes(TPosition::A2, 0, 65536);
  LocalTensor<uint8_t> b2Bytes(TPosition::B2, 0, 65536);
  const LocalTensor<T2> a2 = a2Bytes.ReinterpretCast<T2>();
  const LocalTensor<S2> b2 = b2Bytes.ReinterpretCast<S2>();
  if (words[79] != 0) {  // by the compiler's functions
    if constexpr (std::is_same_v<S, fp4x2_e2m1_t>) {
      load_cbuf_to_ca_s4(reinterpret_cast<__ca__ T*>(a2.GetPhyAddr()),
                         reinterpret_cast<__cbuf__ T*>(a1.GetPhyAddr()), words[10], words[11],
                         words[12], words[13], words[14], words[15], words[16] != 0);
      load_cbuf_to_cb_s4(reinterpret_cast<__cb__ S*>(b2.GetPhyAddr()),
                         reinterpret_cast<__cbuf__ S*>(b1.GetPhyAddr()), words[20], words[21],
                         words[22], words[23], words[24], words[25], words[26] != 0);
    } else {
      LoadData(a2.template ReinterpretCast<T>(), a1, Window(words, 10));
      LoadData(b2.template ReinterpretCast<S>(), b1, Window(words, 20));
    }
    const auto inL1 = [](const LocalTensor<fp8_e8m0_t>& scales) {
      return reinterpret_cast<__cbuf__ void*>(scales.GetPhyAddr());
    };
    load_cbuf_to_ca_mx(a2.GetPhyAddr() / 16, inL1(scaleA), words[60], words[61], words[62],
                       words[63], words[64], words[65]);
    load_cbuf_to_cb_mx(b2.GetPhyAddr() / 16, inL1(scaleB), words[70], words[71], words[72],
                       words[73], words[74], words[75]);
  } else if (words[4] != 0) {
    LoadData(a2, a1, scaleA, Window(words, 10), Scales(words, 60));
    LoadData(b2, b1, scaleB, Window(words, 20), Scales(words, 70));
  } else if (words[80] != 0) {
    if constexpr (std::is_same_v<T, T2> && std::is_same_v<S, S2> &&
                  !std::is_same_v<T, fp4x2_e2m1_t> && !std::is_same_v<T, fp4x2_e1m2_t>) {
      LoadLines<T>(a2, a1, words[80], words[81], words[82], words[83] != 0, words[83] != 0);
      LoadLines<S>(b2, b1, words[84], words[85], words[86], true, false);
    }
  } else {
    if (words[17] != 0) {  // by fractals: rows of them, each between the others
      const auto apart = static_cast<uint16_t>(words[14]);
      for (uint32_t row = 0; row <= apart; ++row) {
        LoadData(a2.template ReinterpretCast<T>()[row * 512 / sizeof(T)], a1[row * 512 / sizeof(T)],
                 LoadData2DParams(words[10], words[11], words[12], 0, apart, words[13] != 0, 0));
      }
    } else {
      LoadData(a2.template ReinterpretCast<T>(), a1, Window(words, 10));
    }
    LoadData(b2.template ReinterpretCast<S>(), b1, Window(words, 20));
  }
  LocalTensor<C> c2(TPosition::C2, 0, 1024);
  if (words[2] != 0) {
    DataCopy(c2, c1, DataCopyParams(1, static_cast<uint16_t>(words[2] / 32), 0, 0));
  }
  Order<HardEvent::MTE1_M>();
  LocalTensor<C> co1(TPosition::CO1, 0, 65536);
  SetHF32Mode(words[36] != 0);
  MmadParams mmad(words[30], words[31], words[32], 0, false, words[2] == 0);
  mmad.disableGemv = words[35] != 0;
  for (uint32_t i = 0; i < words[33]; ++i) {
    if (i > 0) {
      mmad.cmatrixInitVal = false;
      PipeBarrier<PIPE_M>();
    }
    if (i == 0 && words[2] != 0) {
      Mmad(co1, a2, b2, c2, mmad);
    } else {
      Mmad(co1, a2, b2, mmad);
    }
  }
  SetHF32Mode(false);
  Order<HardEvent::M_FIX>();
  if (words[3] != 0) {
    Order<HardEvent::MTE2_FIX>();
  }
  GlobalTensor<O> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ O*>(out));
  if (words[40] == 3) {  // by registers
    SetFixpipePreQuantFlag(static_cast<uint64_t>(words[52]) << 32 | words[51]);
    PipeBarrier<PIPE_FIX>();
    DataCopy(result, co1,
             DataCopyCO12DstParams(words[41], words[42], words[44], words[43],
                                   static_cast<QuantMode_t>(words[45]), words[46], false, false));
  } else if (words[40] == 4) {
    Fixpipe<O, C, CFG_NZ>(result, co1, OlderResults(words));
  } else if (words[40] == 5) {
    Fixpipe<O, C, CFG_ROW_MAJOR>(result, co1, OlderResults(words));
  } else if (words[40] == 6) {
    SetFixpipeNz2ndFlag(words[48], words[49], words[50]);
    PipeBarrier<PIPE_FIX>();
    DataCopy(result, co1,
             DataCopyCO12DstParams(words[41], words[42], words[44], words[43], QuantMode_t::NoQuant,
                                   0, false, true));
  } else if (words[40] == 0) {
    Fixpipe<O, C, CFG_NZ>(result, co1, Results<CO2Layout::NZ, C>(words));
  } else if (words[40] == 1 && words[3] != 0) {
    Fixpipe<O, C, CFG_ROW_MAJOR>(result, co1, q1, Results<CO2Layout::ROW_MAJOR, C>(words));
  } else if (words[40] == 1) {
    Fixpipe<O, C, CFG_ROW_MAJOR>(result, co1, Results<CO2Layout::ROW_MAJOR, C>(words));
  } else {
    Fixpipe<O, C, CFG_COLUMN_MAJOR>(result, co1, Results<CO2Layout::COLUMN_MAJOR, C>(words));
  }
}

}  // namespace

// The names that CANN's compiler has for the types.
static_assert(Std::IsSame<float8_e4m3_t, fp8_e4m3fn_t>::value &&
              Std::IsSame<float8_e5m2_t, fp8_e5m2_t>::value &&
              Std::IsSame<float8_e8m0_t, fp8_e8m0_t>::value &&
              Std::IsSame<float4_e2m1x2_t, fp4x2_e2m1_t>::value &&
              Std::IsSame<float4_e1m2x2_t, fp4x2_e1m2_t>::value);

#define PIPELINE(name, ...)                                                                   \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR out, GM_ADDR more, \
                                             GM_ADDR words) {                                 \
    Run<__VA_ARGS__>(a, b, out, more, words);                                                 \
  }

PIPELINE(half_float, half, half, float, float)
PIPELINE(half_by_bf16_bias, half, half, float, float, half, half, bfloat16_t)
PIPELINE(half_half, half, half, float, half)
PIPELINE(half_bf16, half, half, float, bfloat16_t)
PIPELINE(half_e4m3, half, half, float, fp8_e4m3fn_t)
PIPELINE(half_hif8, half, half, float, hifloat8_t)
PIPELINE(half_int8, half, half, float, int8_t)
PIPELINE(bf16_float, bfloat16_t, bfloat16_t, float, float)
PIPELINE(float_float, float, float, float, float)
PIPELINE(int8_int32, int8_t, int8_t, int32_t, int32_t)
PIPELINE(int8_bf16, int8_t, int8_t, int32_t, bfloat16_t)
PIPELINE(e4m3_float, fp8_e4m3fn_t, fp8_e4m3fn_t, float, float)
PIPELINE(e5m2_e4m3_float, fp8_e5m2_t, fp8_e4m3fn_t, float, float)
PIPELINE(hif8_float, hifloat8_t, hifloat8_t, float, float)
PIPELINE(mx_e4m3, fp8_e4m3fn_t, fp8_e4m3fn_t, float, float, mx_fp8_e4m3_t, mx_fp8_e4m3_t)
PIPELINE(mx_e5m2_e4m3, fp8_e5m2_t, fp8_e4m3fn_t, float, float, mx_fp8_e5m2_t, mx_fp8_e4m3_t)
PIPELINE(mx_e2m1, fp4x2_e2m1_t, fp4x2_e2m1_t, float, float)
PIPELINE(mx_e1m2_e2m1, fp4x2_e1m2_t, fp4x2_e2m1_t, float, float)

// Two products: the first one's result goes to L1 by Fixpipe, and is A of the second.
extern "C" __global__ __aicore__ void chained(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  constexpr uint32_t kSize = 48;
  const LocalTensor<half> a1 = InL1<half>(a, 0, kSize * kSize * 2);
  const LocalTensor<half> b1 = InL1<half>(b, 65536, kSize * kSize * 2);
  const LocalTensor<half> between(TPosition::A1, 131072, kSize * kSize);
  const LocalTensor<half> a2(TPosition::A2, 0, kSize * kSize), b2(TPosition::B2, 0, kSize * kSize);
  const LocalTensor<float> co1(TPosition::CO1, 0, kSize * kSize);
  const LoadData2DParamsV2 whole(0, 0, 3, 3, 3, 3, false, 0);
  Order<HardEvent::MTE2_MTE1>();
  LoadData(b2, b1, LoadData2DParamsV2(0, 0, 3, 3, 3, 3, true, 0));
  for (int i = 0; i < 2; ++i) {
    LoadData(a2, i == 0 ? a1 : between, whole);
    Order<HardEvent::MTE1_M>();
    Mmad(co1, a2, b2, MmadParams(kSize, kSize, kSize, 0, false, true));
    Order<HardEvent::M_FIX>();
    Order<HardEvent::M_MTE1>();
    if (i == 0) {
      FixpipeParamsArch3510<CO2Layout::NZ> fix(kSize, kSize, kSize, kSize * 16);
      fix.quantPre = QuantMode_t::F322F16;
      Fixpipe<half, float, CFG_NZ>(between, co1, fix);
      Order<HardEvent::FIX_MTE1>();
      Order<HardEvent::FIX_M>();
    }
  }
  GlobalTensor<float> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out));
  Fixpipe<float, float, CFG_ROW_MAJOR>(
      result, co1, FixpipeParamsArch3510<CO2Layout::ROW_MAJOR>(kSize, kSize, kSize, kSize));
}

// Rows of in, K x M with K behind each other, into NZ, and against the unit matrix out again.
extern "C" __global__ __aicore__ void from_columns(GM_ADDR in, GM_ADDR unit, GM_ADDR out,
                                                   GM_ADDR told) {
  const Words words{reinterpret_cast<__gm__ int32_t*>(told)};
  const uint32_t m = words[0], k = words[1], rows = (m + 15) / 16 * 16, columns = (k + 15) / 16;
  GlobalTensor<half> source;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(in));
  const LocalTensor<half> a1(TPosition::A1, 0, rows * columns * 16);
  Dn2NzParams copy;
  copy.dnNum = 1;
  copy.nValue = m;
  copy.dValue = k;
  copy.srcDValue = words[2];
  copy.dstNzC0Stride = rows;
  copy.dstNzNStride = 1;
  DataCopy(a1, source, copy);
  const LocalTensor<half> b1 = InL1<half>(unit, 131072, columns * columns * 512);
  Order<HardEvent::MTE2_MTE1>();
  const LocalTensor<half> a2(TPosition::A2, 0, rows * columns * 16);
  const LocalTensor<half> b2(TPosition::B2, 0, columns * columns * 256);
  LoadData(a2, a1,
           LoadData2DParamsV2(0, 0, rows / 16, columns, static_cast<int32_t>(rows / 16), rows / 16,
                              false, 0));
  LoadData(
      b2, b1,
      LoadData2DParamsV2(0, 0, columns, columns, static_cast<int32_t>(columns), columns, false, 0));
  Order<HardEvent::MTE1_M>();
  const LocalTensor<float> co1(TPosition::CO1, 0, rows * columns * 16);
  Mmad(co1, a2, b2, MmadParams(m, columns * 16, k, 0, false, true));
  Order<HardEvent::M_FIX>();
  GlobalTensor<float> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out));
  Fixpipe<float, float, CFG_ROW_MAJOR>(result, co1,
                                       FixpipeParamsArch3510<CO2Layout::ROW_MAJOR>(k, m, rows, k));
}

// SPDX-License-Identifier: Apache-2.0
// A product of 32 x 32 x 64 of 8 bits with scales, right as it stands and with one mistake each: what test_cube_950_faults.py expects. What
// Ascend 950 has dropped is among them.
#include "kernel_operator.h"

namespace {

using namespace AscendC;

enum Fault {
  kNone,
  kNoMte2Mte1,
  kNoMte1M,
  kNoMFix,
  kNoMMte1,
  kNoBarrier,
  kFirstAddsUp,
  kScalesForgotten,
  kShortWindow,
  kWindowPastTensor,
  kOverlappingColumns,
  kOddK,
  kAddressOf512,
  kPastL0c,
  kFromGm,
  kToGm,
  kGap,
  kTransposedA,
  kFillA,
  kBoundary,
  kSparse,
  kFeatureMap,
  kHybrid,
  kShortColumns,
  kShortDstStride,
  kWrongTypes,
  kOddTable,
};

template <HardEvent event>
void Order(bool there = true) {
  if (there) {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
  }
}

constexpr uint32_t kSize = 32, kK = 64, kBytes = kSize * kK, kScales = 64;

template <typename T>
GlobalTensor<T> Gm(GM_ADDR at, uint32_t count) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(at), count);
  return tensor;
}

template <Fault fault>
void Out(GM_ADDR out, const LocalTensor<float>& co1) {
  if constexpr (fault == kHybrid) {
    FixpipeParamsArch3510<CO2Layout::ROW_MAJOR> fix(kSize, kSize, kSize, kSize);
    fix.quantPre = QuantMode_t::QF322HIF8_PRE_HYBRID;
    fix.deqScalar = 0x3F800000;
    Fixpipe<hifloat8_t, float, CFG_ROW_MAJOR>(Gm<hifloat8_t>(out, 1024), co1, fix);
  } else if constexpr (fault == kShortColumns) {
    FixpipeParamsArch3510<CO2Layout::COLUMN_MAJOR> fix(kSize, kSize, kSize, 16);
    fix.params.srcNzC0Stride = 1;
    Fixpipe<float, float, CFG_COLUMN_MAJOR>(Gm<float>(out, 1024), co1, fix);
  } else if constexpr (fault == kShortDstStride) {  // 32 bytes were meant, which are elements here
    FixpipeParamsArch3510<CO2Layout::NZ> fix(kSize, kSize, kSize, kSize * 2);
    Fixpipe<float, float, CFG_NZ>(Gm<float>(out, 1024), co1, fix);
  } else if constexpr (fault == kWrongTypes) {
    FixpipeParamsArch3510<CO2Layout::ROW_MAJOR> fix(kSize, kSize, kSize, kSize);
    fix.quantPre = QuantMode_t::QS322BF16_PRE;
    Fixpipe<bfloat16_t, float, CFG_ROW_MAJOR>(Gm<bfloat16_t>(out, 1024), co1, fix);
  } else {
    FixpipeParamsArch3510<CO2Layout::ROW_MAJOR> fix(kSize, kSize, kSize, kSize);
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(out, 1024), co1, fix);
  }
}

// What this architecture has dropped, and what is not simulated.
template <Fault fault>
void Dropped(GM_ADDR a, GM_ADDR out) {
  const LocalTensor<half> a1(TPosition::A1, 65536, 4096), a2(TPosition::A2, 32768, 4096);
  const LocalTensor<uint8_t> bytes(TPosition::A1, 65536, 8192);
  if constexpr (fault == kFromGm) {
    LoadData(a2, Gm<half>(a, 1024), LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  } else if constexpr (fault == kToGm) {
    InitConstValue(a1, InitConstValueParams<half>(1, 32, 0, half(0)));
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<half>(out, 512), a1, 512);
  } else if constexpr (fault == kGap) {
    InitConstValue(a1, InitConstValueParams<half>(1, 64, 0, half(0)));
    Order<HardEvent::MTE2_MTE1>();
    LoadData(a2, a1, LoadData2DParams(0, 2, 1, 0, 1, true, 0));
  } else if constexpr (fault == kTransposedA) {
    LoadDataWithTranspose(a2, a1, LoadData2dTransposeParams(0, 1, 1, 0, 0));
  } else if constexpr (fault == kFillA) {
    InitConstValue(a2, InitConstValueParams<half>(1, 1, 0, half(0)));
  } else if constexpr (fault == kSparse) {
    const LocalTensor<int8_t> dense(TPosition::A2, 0, 512), halved(TPosition::B2, 0, 512);
    const LocalTensor<int32_t> sums(TPosition::CO1, 0, 256);
    MmadWithSparse(sums, dense, halved, MmadParams(16, 16, 64, 0, false, true));
  } else if constexpr (fault == kBoundary) {
    SetLoadDataBoundary(2048);
  } else if constexpr (fault == kFeatureMap) {
    const uint8_t pad[4] = {};
    LoadDataWithStride(a2, a1,
                       LoadData3DParamsV2<half>(pad, 16, 1, 16, 16, 16, 0, 0, 1, 1, 1, 1, 1, 1,
                                                false, false, half(0)));
  } else if constexpr (fault == kOddTable) {
    const LocalTensor<float> c1(TPosition::C1, 65536, 64), c2(TPosition::C2, 0, 64);
    DataCopy(c2, c1, DataCopyParams(1, 3, 0, 0));
  }
}

template <Fault fault>
void Product(GM_ADDR a, GM_ADDR b, GM_ADDR scales, GM_ADDR out) {
  const LocalTensor<fp8_e4m3fn_t> a1(TPosition::A1, 0, kBytes), b1(TPosition::B1, 8192, kBytes);
  const LocalTensor<fp8_e8m0_t> sa(TPosition::A1, 16384, kScales),
      sb(TPosition::B1, 20480, kScales);
  const LocalTensor<mx_fp8_e4m3_t> a2(TPosition::A2, fault == kAddressOf512 ? 512 : 0, kBytes);
  const LocalTensor<mx_fp8_e4m3_t> b2(TPosition::B2, 0, kBytes);
  const LocalTensor<float> co1(TPosition::CO1, fault == kPastL0c ? 262144 - 2048 : 0, 1024);
  DataCopy(a1, Gm<fp8_e4m3fn_t>(a, kBytes), kBytes);
  DataCopy(b1, Gm<fp8_e4m3fn_t>(b, kBytes), kBytes);
  DataCopy(sa, Gm<fp8_e8m0_t>(scales, 2 * kScales), kScales);
  DataCopy(sb, Gm<fp8_e8m0_t>(scales, 2 * kScales)[kScales], kScales);
  Order<HardEvent::MTE2_MTE1>(fault != kNoMte2Mte1);
  LoadData2DParamsV2 window(0, 0, 2, 2, 2, 2, false, 0);
  const LoadData2DMxParams lines(0, 0, 2, 1, 1, 1);
  LoadData(b2, b1, sb, window, lines);
  if (fault == kShortWindow) {
    window.kStep = 1;
  } else if (fault == kWindowPastTensor) {
    window.mStartPosition = 1;
  } else if (fault == kOverlappingColumns) {
    window.dstStride = 1;
  }
  if constexpr (fault == kScalesForgotten) {
    LoadData(a2.ReinterpretCast<fp8_e4m3fn_t>(), a1, window);
  } else {
    LoadData(a2, a1, sa, window, lines);
  }
  Order<HardEvent::MTE1_M>(fault != kNoMte1M);
  MmadParams mmad(kSize, kSize, fault == kOddK ? 48 : kK, 0, false, fault != kFirstAddsUp);
  Mmad(co1, a2, b2, mmad);
  if constexpr (fault == kNoBarrier) {
    mmad.cmatrixInitVal = false;
    MmadMx(co1, a2, b2, mmad);
  }
  if constexpr (fault == kNoMMte1) {
    LoadData(a2, a1, sa, window, lines);
  }
  Order<HardEvent::M_FIX>(fault != kNoMFix);
  Out<fault>(out, co1);
  Dropped<fault>(a, out);
}

}  // namespace

#define FAULTY(name, fault)                                                                       \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR scales, GM_ADDR out) { \
    Product<fault>(a, b, scales, out);                                                            \
  }
FAULTY(right, kNone)
FAULTY(no_mte2_mte1, kNoMte2Mte1)
FAULTY(no_mte1_m, kNoMte1M)
FAULTY(no_m_fix, kNoMFix)
FAULTY(no_m_mte1, kNoMMte1)
FAULTY(no_barrier, kNoBarrier)
FAULTY(first_adds_up, kFirstAddsUp)
FAULTY(scales_forgotten, kScalesForgotten)
FAULTY(short_window, kShortWindow)
FAULTY(window_past_tensor, kWindowPastTensor)
FAULTY(overlapping_columns, kOverlappingColumns)
FAULTY(odd_k, kOddK)
FAULTY(address_of_512, kAddressOf512)
FAULTY(past_l0c, kPastL0c)
FAULTY(from_gm, kFromGm)
FAULTY(to_gm, kToGm)
FAULTY(gap, kGap)
FAULTY(transposed_a, kTransposedA)
FAULTY(fill_a, kFillA)
FAULTY(boundary, kBoundary)
FAULTY(sparse, kSparse)
FAULTY(feature_map, kFeatureMap)
FAULTY(hybrid, kHybrid)
FAULTY(short_columns, kShortColumns)
FAULTY(short_dst_stride, kShortDstStride)
FAULTY(wrong_types, kWrongTypes)
FAULTY(odd_table, kOddTable)

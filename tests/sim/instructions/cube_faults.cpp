// SPDX-License-Identifier: Apache-2.0
// A product of 32 x 32 x 32 halves in two steps of K, right as it stands and with one mistake each: what test_cube_faults.py expects.
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
  kTooFewRepeats,
  kPastL1,
  kMisaligned,
  kFromL0c,
  kFlagNotTaken,
  kFlagNotSet,
  kFlagOfOtherSize,
  kLongPitch,
  kShortSrcStride,
  kShortDstStride,
  kBiasDropped,
  kSignForgotten,
  kVectorCode,
  kVectorEvent,
  kReadBeforeFix,
  kColumnsBehindN,
  kWrongTypes,
  kNoFixM,
  kShortParameters,
  kHighRepeat,
  kPadCopy,
  kNoBuffer,
  kNoPitch,
};

template <HardEvent event>
void Order(bool there) {
  if (there) {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
  }
}

constexpr uint32_t kSize = 32, kOperand = 2048;

template <Fault fault>
void LoadStep(uint32_t step, const LocalTensor<half>& a1, const LocalTensor<half>& b1,
              const LocalTensor<half>& a2, const LocalTensor<half>& b2) {
  LoadData2DParams ofA(step,
                       fault == kTooFewRepeats ? 1
                       : fault == kHighRepeat  ? 300
                                               : 2,
                       2, 0, 0, false, 0);
  LoadData2DParams ofB(2 * step, 2, 1, 0, 0, false, 0);
  LoadData(a2, a1, ofA);
  LoadData(b2, b1, ofB);
}

template <Fault fault>
void Out(GM_ADDR out, const LocalTensor<float>& co1) {
  GlobalTensor<float> result;
  result.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out), kSize * kSize);
  FixpipeParamsV220 fix(kSize, kSize, kSize, kSize, false);
  if (fault == kFlagNotSet || fault == kFlagOfOtherSize) {
    fix.unitFlag = 3;
  }
  if (fault == kFlagOfOtherSize) {
    fix.nSize = 16;
  }
  if (fault == kShortSrcStride) {
    fix.srcStride = 16;
  }
  if (fault == kShortDstStride) {
    fix.dstStride = 16;
  }
  if constexpr (fault == kSignForgotten) {
    GlobalTensor<int8_t> bytes;
    bytes.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t*>(out), kSize * kSize);
    fix.quantPre = QuantMode_t::QF322B8_PRE;
    fix.deqScalar = 0x3F800000;
    Fixpipe(bytes, co1, fix);
  } else if constexpr (fault == kWrongTypes) {
    fix.quantPre = QuantMode_t::F322F16;
    Fixpipe(result, co1, fix);
  } else if constexpr (fault == kShortParameters) {
    GlobalTensor<int8_t> bytes;
    bytes.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t*>(out), kSize * kSize);
    fix.quantPre = QuantMode_t::VQF322B8_PRE;
    const LocalTensor<uint64_t> parameters(TPosition::A1, 8192, 16);
    Fixpipe(bytes, co1, parameters, fix);
  } else {
    Fixpipe(result, co1, fix);
  }
}

template <Fault fault>
void Product(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  GlobalTensor<half> ofA, ofB;
  ofA.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a));
  ofB.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b));
  constexpr uint32_t kEnd = 512 * 1024 - (fault == kPastL1 ? 1024 : 4096);
  const LocalTensor<half> a1(TPosition::A1, kEnd, kSize * kSize);
  const LocalTensor<half> b1(TPosition::B1, 4096, kSize * kSize);
  const LocalTensor<half> a2(TPosition::A2, fault == kMisaligned ? 32 : 0, kSize * 16);
  const LocalTensor<half> b2(TPosition::B2, 0, kSize * 16);
  LocalTensor<float> co1;
  if constexpr (fault != kNoBuffer) {
    co1 = LocalTensor<float>(TPosition::CO1, 0, kSize * kSize);
  }
  if constexpr (fault == kPadCopy) {
    DataCopyPad(a1, ofA, DataCopyExtParams(1, 100, 0, 0, 0), DataCopyPadExtParams<half>());
  }
  if constexpr (fault == kNoPitch) {
    DataCopy(a1, ofA, Nd2NzParams(1, 1, 16, 0, 0, 16, 0, 0));
    DataCopy(a1[16], ofA[16], kSize * kSize - 16);
  } else {
    DataCopy(a1, ofA, kSize * kSize);
  }
  DataCopy(b1, ofB, kSize * kSize);
  if constexpr (fault == kLongPitch) {
    DataCopy(a1, ofA, Nd2NzParams(1, 2, 16, 0, 70000, 16, 1, 0));
  }
  Order<HardEvent::MTE2_MTE1>(fault != kNoMte2Mte1);
  for (uint32_t step = 0; step < 2; ++step) {
    if (step > 0 && fault != kNoMMte1) {
      WaitFlag<HardEvent::M_MTE1>(EVENT_ID1);
    }
    LoadStep<fault>(step, a1, b1, a2, b2);
    if constexpr (fault == kFromL0c) {
      LoadData(a2, co1.template ReinterpretCast<half>(), LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    }
    Order<HardEvent::MTE1_M>(fault != kNoMte1M);
    MmadParams mmad(kSize, kSize, 16, 0, false, step == 0 && fault != kFirstAddsUp);
    if (fault == kFlagNotTaken || fault == kFlagOfOtherSize) {
      mmad.unitFlag = step == 0 ? 2 : 3;
    }
    if (fault == kColumnsBehindN) {
      mmad.n = 20;
    }
    if constexpr (fault == kBiasDropped) {
      const LocalTensor<float> c2(TPosition::C2, 0, kSize);
      Mmad(co1, a2, b2, c2, mmad);
    } else {
      Mmad(co1, a2, b2, mmad);
    }
    if (fault == kNoBarrier && step == 1) {  // nothing else orders it behind the one before
      mmad.cmatrixInitVal = false;
      Mmad(co1, a2, b2, mmad);
    }
    if (step == 0 && fault != kNoMMte1) {
      SetFlag<HardEvent::M_MTE1>(EVENT_ID1);
    }
    PipeBarrier<PIPE_M>();
  }
  Order<HardEvent::M_FIX>(fault != kNoMFix && fault != kFlagOfOtherSize);
  Out<fault>(out, co1);
  if constexpr (fault == kNoFixM) {
    Mmad(co1, a2, b2, MmadParams(kSize, kSize, 16, 0, false, true));
  }
  if constexpr (fault == kReadBeforeFix) {
    GlobalTensor<half> again;
    again.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(out));
    DataCopy(b1, again, kSize * kSize);
  }
  if constexpr (fault == kVectorCode) {
    const LocalTensor<float> ub(TPosition::VECCALC, 0, 64);
    Duplicate(ub, 0.0f, 64);
  }
  if constexpr (fault == kVectorEvent) {
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  }
}

// The same with queues, which bring the flags.
void ByQueues(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  TPipe pipe;
  TQue<TPosition::A1, 1> a1;
  TQue<TPosition::B1, 1> b1;
  TQue<TPosition::A2, 1> a2;
  TQue<TPosition::B2, 1> b2;
  TQue<TPosition::CO1, 1> co1;
  pipe.InitBuffer(a1, 1, kOperand);
  pipe.InitBuffer(b1, 1, kOperand);
  pipe.InitBuffer(a2, 2, kOperand / 2);
  pipe.InitBuffer(b2, 2, kOperand / 2);
  pipe.InitBuffer(co1, 1, kSize * kSize * 4);
  GlobalTensor<half> ofA, ofB;
  ofA.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a));
  ofB.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b));
  LocalTensor<half> left = a1.AllocTensor<half>(), right = b1.AllocTensor<half>();
  DataCopy(left, ofA, kSize * kSize);
  DataCopy(right, ofB, kSize * kSize);
  a1.EnQue(left);
  b1.EnQue(right);
  left = a1.DeQue<half>();
  right = b1.DeQue<half>();
  LocalTensor<float> c = co1.AllocTensor<float>();
  for (uint32_t step = 0; step < 2; ++step) {
    LocalTensor<half> l0a = a2.AllocTensor<half>(), l0b = b2.AllocTensor<half>();
    LoadStep<kNone>(step, left, right, l0a, l0b);
    a2.EnQue(l0a);
    b2.EnQue(l0b);
    l0a = a2.DeQue<half>();
    l0b = b2.DeQue<half>();
    Mmad(c, l0a, l0b, MmadParams(kSize, kSize, 16, 0, false, step == 0));
    PipeBarrier<PIPE_M>();
    a2.FreeTensor(l0a);
    b2.FreeTensor(l0b);
  }
  co1.EnQue(c);
  c = co1.DeQue<float>();
  Out<kNone>(out, c);
  co1.FreeTensor(c);
  a1.FreeTensor(left);
  b1.FreeTensor(right);
}

// More of L0C than there is.
void TooMuch() {
  TPipe pipe;
  TBuf<TPosition::CO1> buffer;
  pipe.InitBuffer(buffer, 256 * 1024);
}

}  // namespace

#define KERNEL(name, ...)                                                                     \
  extern "C" __global__ __aicore__ void name(                                                 \
      [[maybe_unused]] GM_ADDR a, [[maybe_unused]] GM_ADDR b, [[maybe_unused]] GM_ADDR out) { \
    __VA_ARGS__;                                                                              \
  }
#define FAULTY(name, fault) KERNEL(name, Product<fault>(a, b, out))
FAULTY(right, kNone)
FAULTY(no_mte2_mte1, kNoMte2Mte1)
FAULTY(no_mte1_m, kNoMte1M)
FAULTY(no_m_fix, kNoMFix)
FAULTY(no_m_mte1, kNoMMte1)
FAULTY(no_barrier, kNoBarrier)
FAULTY(first_adds_up, kFirstAddsUp)
FAULTY(too_few_repeats, kTooFewRepeats)
FAULTY(past_l1, kPastL1)
FAULTY(misaligned, kMisaligned)
FAULTY(from_l0c, kFromL0c)
FAULTY(flag_not_taken, kFlagNotTaken)
FAULTY(flag_not_set, kFlagNotSet)
FAULTY(flag_of_other_size, kFlagOfOtherSize)
FAULTY(long_pitch, kLongPitch)
FAULTY(short_src_stride, kShortSrcStride)
FAULTY(short_dst_stride, kShortDstStride)
FAULTY(bias_dropped, kBiasDropped)
FAULTY(sign_forgotten, kSignForgotten)
FAULTY(vector_code, kVectorCode)
FAULTY(vector_event, kVectorEvent)
FAULTY(read_before_fix, kReadBeforeFix)
FAULTY(columns_behind_n, kColumnsBehindN)
FAULTY(wrong_types, kWrongTypes)
FAULTY(no_fix_m, kNoFixM)
FAULTY(short_parameters, kShortParameters)
FAULTY(high_repeat, kHighRepeat)
FAULTY(pad_copy, kPadCopy)
FAULTY(no_buffer, kNoBuffer)
FAULTY(no_pitch, kNoPitch)
KERNEL(by_queues, ByQueues(a, b, out))
KERNEL(too_much, TooMuch())
KERNEL(mode, SetHF32Mode(true))
KERNEL(nz2nd, SetFixpipeNz2ndFlag(1, 1, 1))

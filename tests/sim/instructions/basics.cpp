// SPDX-License-Identifier: Apache-2.0
// Registers, scalar helpers, UB outside of queues, operators on tensors, int4b_t, tensor lists.
#include "bench.h"

using namespace AscendC;

// 1024 halves in the far half of a buffer become floats that fill it.
extern "C" __global__ __aicore__ void widen_behind(GM_ADDR dstGm, GM_ADDR srcGm) {
  constexpr uint32_t kCount = 1024;
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, kCount * sizeof(float));
  const LocalTensor<float> wide = buffer.Get<float>();
  const LocalTensor<half> narrow = buffer.Get<half>()[kCount];
  GlobalTensor<half> src = Global<half>(srcGm);
  GlobalTensor<float> dst = Global<float>(dstGm);
  DataCopy(narrow, src, kCount);
  PipeBarrier<PIPE_ALL>();
  Cast(wide, narrow, RoundMode::CAST_NONE, kCount);
  PipeBarrier<PIPE_ALL>();
  DataCopy(dst, wide, kCount);
}

// Lanes of src0 where src0 < src1 by the comparison register, else of src1; the register goes to extra[0] bytes of dst.
// op 1: the bits are those at the start of src1's area, which the register holds before.
CALL_KERNEL(select_register) {
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    const LocalTensor<T> b = areas.Area<T>(2);
    const BinaryRepeatParams params = BinaryParams(c);
    const uint64_t bits[2] = {c.mask[0], c.mask[1]};
    SetCmpMask(b);
    PipeBarrier<PIPE_V>();
    if (c.op == 0 && c.form == kBits) {
      Compare(a, b, CMPMODE::LT, bits, params);
    } else if (c.op == 0) {
      Compare(a, b, CMPMODE::LT, c.mask[0], params);
    }
    PipeBarrier<PIPE_V>();
    AscendCUtils::SetMask<T>(c.count);
    Select<T, SELMODE::VSEL_CMPMASK_SPR>(dst, a, b, static_cast<uint8_t>(c.repeat), params);
    AscendCUtils::ResetMask();
    PipeBarrier<PIPE_V>();
    GetCmpMask(dst[static_cast<uint32_t>(c.extra[0]) / sizeof(T)]);
  });
}

// ReduceSum's result as a value, then as bits, behind each other.
CALL_KERNEL(accumulated) {
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    ReduceSum(areas.Area<T>(2), areas.Area<T>(1), areas.Area<T>(2), c.count);
    const T value = GetAccVal<T>();
    const T again = GetReduceRepeatSumSpr<T>();
    const uint64_t bits = GetAccVal();
    areas.Area<T>(0).SetValue(0, value);
    areas.Area<T>(0).SetValue(1, again);
    areas.Area<uint64_t>(0).SetValue(1, bits);
  });
}

// int32_t to half by a scale.
CALL_KERNEL(dequantise) {
  SetDeqScale(ScalarOf<half>(c));
  Cast(areas.Area<half>(0), areas.Area<int32_t>(1), RoundMode::CAST_NONE,
       static_cast<uint32_t>(c.count));
}

// op 0: int4b_t to half, 1: half to int4b_t by the rounding mode.
CALL_KERNEL(cast_int4) {
  const auto mode = static_cast<RoundMode>(c.mode);
  const UnaryRepeatParams params = UnaryParams(c);
  const uint64_t bits[2] = {c.mask[0], c.mask[1]};
  const auto repeat = static_cast<uint8_t>(c.repeat);
  const auto run = [&](auto dst, auto src) {
    WithMask<half>(c, [&] {
      if (c.form == kCount) {
        Cast(dst, src, mode, static_cast<uint32_t>(c.count));
      } else if (c.form == kBits) {
        Cast(dst, src, mode, bits, repeat, params);
      } else {
        Cast(dst, src, mode, c.mask[0], repeat, params);
      }
    });
  };
  if (c.op == 0) {
    run(areas.Area<half>(0), areas.Area<int8_t>(1).ReinterpretCast<int4b_t>());
  } else {
    run(areas.Area<int8_t>(0).ReinterpretCast<int4b_t>(), areas.Area<half>(1));
  }
}

// int4b_t counts: sizes, sub-tensors, copies of half a byte each.
extern "C" __global__ __aicore__ void int4_sizes(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                                 GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  Areas areas(dstGm, aGm, bGm);
  const LocalTensor<int4b_t> packed = areas.Area<int8_t>(0).ReinterpretCast<int4b_t>();
  ASSERT(packed.GetSize() == 2 * kAreaBytes);
  ASSERT(packed.GetLength() == kAreaBytes);
  GlobalTensor<int4b_t> from = Global<int4b_t>(aGm);
  DataCopy(packed[64], from[128], static_cast<uint32_t>(c.count));
  areas.Finish();
}

// dst = a op b over `count` elements.
CALL_KERNEL(operators) {
  const auto size = static_cast<uint32_t>(c.count);
  const auto of = [&](auto element, int i) {
    LocalTensor<decltype(element)> tensor = areas.Area<decltype(element)>(i);
    tensor.SetSize(size);
    return tensor;
  };
  LocalTensor<float> dst = of(float(), 0);
  LocalTensor<int16_t> words = of(int16_t(), 0);
  LocalTensor<uint8_t> bits = areas.Area<uint8_t>(0);
  const LocalTensor<float> a = of(float(), 1);
  const LocalTensor<float> b = of(float(), 2);
  const LocalTensor<int16_t> x = of(int16_t(), 1);
  const LocalTensor<int16_t> y = of(int16_t(), 2);
  switch (c.op) {
    case 0:
      dst = a + b;
      break;
    case 1:
      dst = a - b;
      break;
    case 2:
      dst = a * b;
      break;
    case 3:
      dst = a / b;
      break;
    case 4:
      words = x | y;
      break;
    case 5:
      words = x & y;
      break;
    case 6:
      bits = a < b;
      break;
    case 7:
      bits = a > b;
      break;
    case 8:
      bits = a <= b;
      break;
    case 9:
      bits = a >= b;
      break;
    case 10:
      bits = a == b;
      break;
    default:
      bits = a != b;
  }
}

// Scalar helpers on 64 values of src0's area; results behind each other in dst.
extern "C" __global__ __aicore__ void scalars(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                              GM_ADDR callGm) {
  ReadCall(callGm);
  Areas areas(dstGm, aGm, bGm);
  const LocalTensor<int64_t> out = areas.Area<int64_t>(0);
  const LocalTensor<uint64_t> in = areas.Area<uint64_t>(1);
  const LocalTensor<float> reals = areas.Area<float>(2);
  uint32_t at = 0;
  if ASCEND_IS_AIC {
    Trap();
  }
  for (uint32_t i = 0; g_coreType == AIV && i < 64; ++i) {
    const uint64_t bits = in.GetValue(i);
    const float real = reals.GetValue(i);
    out.SetValue(at++, ScalarGetCountOfValue<1>(bits));
    out.SetValue(at++, GetBitCount<0>(bits));
    out.SetValue(at++, ScalarCountLeadingZero(bits));
    out.SetValue(at++, CountBitsCntSameAsSignBit(static_cast<int64_t>(bits)));
    out.SetValue(at++, ScalarGetSFFValue<1>(bits));
    out.SetValue(at++, GetSFFValue<0>(bits));
    out.SetValue(at++, static_cast<int64_t>(GetScalarBitcodeValue(real)));
    out.SetValue(at++, ScalarCast<float, int32_t, RoundMode::CAST_RINT>(real));
    out.SetValue(at++, ScalarCast<float, int32_t, RoundMode::CAST_FLOOR>(real));
    out.SetValue(at++, ScalarCast<float, int32_t, RoundMode::CAST_CEIL>(real));
    out.SetValue(at++, ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(real));
    out.SetValue(at++, ScalarCast<float, int32_t, RoundMode::CAST_TRUNC>(real));
    out.SetValue(at++, ScalarCast<float, half, RoundMode::CAST_ODD>(real).bits);
    out.SetValue(at++, AscendCUtils::GetC0Count(sizeof(half)));
    // Templates name it for half in a branch that is taken for bfloat16_t alone.
    if (std::is_same_v<half, bfloat16_t>) out.SetValue(at++, ToFloat(half(real)));
  }
  areas.Finish();
}

// Three tensors from the bottom of UB: 8 + 100 floats and the rest through PopStackBuffer.
extern "C" __global__ __aicore__ void allocator(GM_ADDR dstGm, GM_ADDR aGm) {
  LocalMemAllocator<Hardware::UB> memory;
  LocalTensor<float> a = memory.Alloc<TPosition::VECIN, float, 8>();
  LocalTensor<float> b = memory.Alloc<float>(100);
  ASSERT(memory.GetCurAddr() == 32 + 416);
  GlobalTensor<float> in = Global<float>(aGm);
  GlobalTensor<float> out = Global<float>(dstGm);
  DataCopy(a, in, 8);
  DataCopy(b, in[8], 96);
  SetFlag<HardEvent::MTE2_V>(0);
  WaitFlag<HardEvent::MTE2_V>(0);
  Add(b, b, b, 96);
  PipeBarrier<PIPE_V>();
  Add(a, a, b, 8);
  SetFlag<HardEvent::V_MTE3>(0);
  WaitFlag<HardEvent::V_MTE3>(0);
  DataCopy(out, a, 8);
  DataCopy(out[8], b, 96);
}

// Fills `count` elements with the scalar, and as many again by the other name.
extern "C" __global__ __aicore__ void init_output(GM_ADDR dstGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  TPipe pipe;
  TBuf<> taken;
  pipe.InitBuffer(taken, static_cast<uint32_t>(c.extra[0]));
  ForLaneType(c.dtype, [&](auto element) {
    using T = decltype(element);
    GlobalTensor<T> out = Global<T>(dstGm);
    LocalTensor<T> rest;
    const bool any = PopStackBuffer<T, TPosition::VECCALC>(rest);
    ASSERT(any == (c.extra[0] < 184 * 1024));
    ASSERT(rest.GetLength() == 184 * 1024 - static_cast<uint32_t>(c.extra[0]));
    InitOutput<T>(out, static_cast<uint32_t>(c.count), ScalarOf<T>(c));
    GlobalTensor<T> second = out[static_cast<uint64_t>(c.count)];
    InitGlobalMemory(second, static_cast<uint64_t>(c.count), ScalarOf<T>(c));
  });
}

// DataCopyPad without isPad, extra[0] elements, one of padding on each side.
extern "C" __global__ __aicore__ void pad_value(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                                GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  Areas areas(dstGm, bGm, bGm);
  GlobalTensor<half> in = Global<half>(aGm);
  SetPadValue(ScalarOf<half>(c));
  DataCopyPad(areas.Area<half>(0), in,
              DataCopyExtParams(1, static_cast<uint32_t>(c.extra[0]) * 2, 0, 0, 0),
              DataCopyPadExtParams<half>(false, 1, 1, half(0.0f)));
  areas.Finish();
}

// What a tensor list in src0's area says, as words: size, then for each tensor dimensions, index, sizes, address.
extern "C" __global__ __aicore__ void tensor_list(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                                  GM_ADDR callGm) {
  ReadCall(callGm);
  Areas areas(dstGm, bGm, bGm);
  const LocalTensor<uint64_t> out = areas.Area<uint64_t>(0);
  ListTensorDesc list(aGm);
  uint32_t at = 0;
  out.SetValue(at++, list.GetSize());
  for (uint32_t i = 0; i < list.GetSize(); ++i) {
    uint64_t shape[8] = {};
    TensorDesc<float> desc;
    desc.SetShapeAddr(shape);
    list.GetDesc(desc, i);
    out.SetValue(at++, desc.GetDim());
    out.SetValue(at++, desc.GetIndex());
    for (uint32_t d = 0; d < desc.GetDim(); ++d) {
      out.SetValue(at++, desc.GetShape(d));
    }
    out.SetValue(at++, reinterpret_cast<uint64_t>(desc.GetDataPtr()));
    ASSERT(list.GetDataPtr<float>(i) == desc.GetDataObj().GetPhyAddr());
  }
  areas.Finish();
}

// The newer names of reductions. op: 0 repeat sum, 1 repeat maximum, 2 block minimum, 3 pair sum.
CALL_KERNEL(reduce_names) {
  const LocalTensor<float> dst = areas.Area<float>(0);
  const LocalTensor<float> src = areas.Area<float>(1);
  const uint64_t bits[2] = {~0ull, 0};
  if (c.op == 0) {
    ReduceRepeat<ReduceType::SUM>(dst, src, 64, 3, 1, 1, 8);
  } else if (c.op == 1) {
    ReduceRepeat<ReduceType::MAX>(dst, src, bits, 3, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
  } else if (c.op == 2) {
    ReduceDataBlock<ReduceType::MIN>(dst, src, 64, 3, 1, 1, 8);
  } else {
    ReducePairElem<ReduceType::SUM>(dst, src, bits, 3, 1, 1, 8);
  }
}

// op 0: AddReluCast, 1: SubReluCast, 2: MulCast, 3: AddDeqRelu by the scale.
CALL_KERNEL(binary_cast) {
  const BinaryRepeatParams params = BinaryParams(c);
  uint64_t bits[2] = {c.mask[0], c.mask[1]};
  const auto repeat = static_cast<uint8_t>(c.repeat);
  const auto count = static_cast<uint32_t>(c.count);
  SetDeqScale(ScalarOf<half>(c));
  const auto run = [&](auto to, auto from) {
    using T = decltype(to);
    using U = decltype(from);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<U> a = areas.Area<U>(1);
    const LocalTensor<U> b = areas.Area<U>(2);
    const auto call = [&](auto instruction) {
      if (c.form == kCount) {
        instruction(count);
      } else if (c.form == kBits) {
        instruction(bits, repeat, params);
      } else {
        instruction(c.mask[0], repeat, params);
      }
    };
    switch (c.op) {
      case 0:
        return call([&](auto... how) { AddReluCast(dst, a, b, how...); });
      case 1:
        return call([&](auto... how) { SubReluCast(dst, a, b, how...); });
      case 2:
        return call([&](auto... how) { MulCast(dst, a, b, how...); });
      default:
        return call([&](auto... how) { AddDeqRelu(dst, a, b, how...); });
    }
  };
  if (c.dtype == 1) {
    c.srcDtype == 0 ? run(half(), float()) : run(half(), int32_t());
  } else if (c.dtype == 4) {
    run(uint8_t(), half());
  } else {
    c.srcDtype == 1 ? run(int8_t(), half()) : run(int8_t(), int16_t());
  }
}

namespace {

// Places its buffers from the end of its bytes.
class FromTheEnd {
 public:
  FromTheEnd() { Init(); }
  template <typename Que>
  bool InitBuffer(Que& que, uint8_t num, uint32_t len) {
    const auto handle = GetBufHandle(GetCurBufSize());
    que.InitStartBufHandle(handle, num, len);
    for (uint32_t i = 0; i < num; ++i) {
      que.InitBufHandle(this, i, handle, GetCurAddr() + 4096 - (i + 1) * len, len);
    }
    SetCurAddr(GetCurAddr() - num * len);
    SetCurBufSize(GetCurBufSize() + num);
    return true;
  }
  EXTERN_IMPL_BUFPOOL(FromTheEnd, TPosition::VECCALC, 4);
};

// out = in + added, through queues of a pool.
struct Adder {
  template <typename Pool>
  void Init(Pool& pool) {
    pool.InitBuffer(from, 2, 512);
    pool.InitBuffer(to, 1, 512);
  }
  void Run(GM_ADDR out, GM_ADDR in, float added) {
    GlobalTensor<float> source = Global<float>(in);
    GlobalTensor<float> target = Global<float>(out);
    for (int i = 0; i < 4; ++i) {
      LocalTensor<float> x = from.AllocTensor<float>();
      DataCopy(x, source[i * 128], 128);
      from.EnQue(x);
      x = from.DeQue<float>();
      LocalTensor<float> y = to.AllocTensor<float>();
      Adds(y, x, added, 128);
      from.FreeTensor(x);
      to.EnQue(y);
      y = to.DeQue<float>();
      DataCopy(target[i * 128], y, 128);
      to.FreeTensor(y);
    }
  }
  TQue<TPosition::VECIN, 1> from;
  TQue<TPosition::VECOUT, 1> to;
};

}  // namespace

// Two pools that share bytes within a third, then one that places its buffers itself. key 1: no Reset between the two.
extern "C" __global__ __aicore__ void pools(GM_ADDR out, GM_ADDR in) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC, 12> outer;
  TBufPool<TPosition::VECCALC> first;
  TBufPool<TPosition::VECCALC, 3> second;
  FromTheEnd own;
  TBuf<> beside;
  TQue<TPosition::VECIN, 1> across;
  Adder a;
  Adder b;
  Adder c;
  pipe.InitBufPool(outer, 6000);
  outer.InitBufPool(first, 1536);
  outer.InitBuffer(beside, 4000);
  outer.InitBuffer(across, 1, 32);
  outer.InitBufPool(second, 1536, first);
  a.Init(first);
  b.Init(second);
  pipe.InitBufPool(own, 4096);
  c.Init(own);
  beside.Get<float>().SetValue(999, 1.0f);
  LocalTensor<float> kept = across.AllocTensor<float>();
  across.FreeTensor(kept);
  a.Run(out, in, 1.0f);
  if (aclsim::TilingKey() != 1) {
    first.Reset();
  }
  b.Run(out, in, 2.0f);
  second.Reset();
  // A queue of the outer pool has not noticed.
  kept = across.AllocTensor<float>();
  across.FreeTensor(kept);
  // The first pool's queues are there still.
  a.Run(out, in, 3.0f);
  first.Reset();
  PipeBarrier<PIPE_ALL>();
  c.Run(out, out, 4.0f);
  own.Reset();
}

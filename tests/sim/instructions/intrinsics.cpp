// SPDX-License-Identifier: Apache-2.0
// The device compiler's own functions next to the API's: both results lie in the first area, kHalf bytes apart.
#include "bench.h"

using namespace AscendC;

namespace {

constexpr uint32_t kHalf = kAreaBytes / 2;
constexpr uint8_t kRepeat = 3;
static_assert(half(1.5).bits == 0x3e00 && float(half(-2.0f)) == -2.0f,
              "half in constant expressions");

template <typename T>
struct Operands {
  explicit Operands(Areas& areas)
      : dst(areas.Area<T>(0)),
        other(areas.Area<uint8_t>(0)[kHalf].template ReinterpretCast<T>()),
        a(areas.Area<T>(1)),
        b(areas.Area<T>(2)) {}
  __ubuf__ T* Raw(const LocalTensor<T>& tensor) const {
    return reinterpret_cast<__ubuf__ T*>(tensor.GetPhyAddr());
  }
  LocalTensor<T> dst, other, a, b;
};

}  // namespace

#define BINARY_RAW(number, Name, raw)                                                    \
  case number:                                                                           \
    Name<float, false>(x.dst, x.a, x.b, MASK_PLACEHOLDER, kRepeat, {1, 1, 2, 8, 9, 16}); \
    raw(x.Raw(x.other), x.Raw(x.a), x.Raw(x.b), kRepeat, 1, 1, 2, 8, 9, 16);             \
    break;
#define UNARY_RAW(number, Name, raw)                                          \
  case number:                                                                \
    Name<float, false>(x.dst, x.a, MASK_PLACEHOLDER, kRepeat, {1, 2, 8, 16}); \
    raw(x.Raw(x.other), x.Raw(x.a), kRepeat, 1, 2, 8, 16);                    \
    break;
#define SCALAR_RAW(number, Name, raw)                                               \
  case number:                                                                      \
    Name<float, false>(x.dst, x.a, 1.5f, MASK_PLACEHOLDER, kRepeat, {1, 2, 8, 16}); \
    raw(x.Raw(x.other), x.Raw(x.a), 1.5f, kRepeat, 1, 2, 8, 16);                    \
    break;
#define COMPARE_RAW(number, mode, suffix)                                                         \
  case number:                                                                                    \
    Compare(bits, x.a, x.b, CMPMODE::mode, uint64_t{64}, kRepeat, {1, 1, 1, 8, 8, 8});            \
    vcmpv_##suffix((__ubuf__ uint8_t*)bits[kHalf].GetPhyAddr(), x.Raw(x.a), x.Raw(x.b), kRepeat,  \
                   1, 1, 1, 8, 8, 8);                                                             \
    break;                                                                                        \
  case number + 10:                                                                               \
    CompareScalar(bits, x.a, 0.5f, CMPMODE::mode, uint64_t{64}, kRepeat, {1, 1, 8, 8});           \
    vcmpvs_##suffix((__ubuf__ uint8_t*)bits[kHalf].GetPhyAddr(), x.Raw(x.a), 0.5f, kRepeat, 1, 1, \
                    8, 8);                                                                        \
    break;                                                                                        \
  case number + 20:                                                                               \
    Compare(x.a, x.b, CMPMODE::mode, uint64_t{64}, {1, 1, 1, 8, 8, 8});                           \
    Select<float, SELMODE::VSEL_CMPMASK_SPR>(x.dst, x.a, x.b, kRepeat, {1, 1, 1, 8, 8, 8});       \
    vcmp_##suffix(x.Raw(x.a), x.Raw(x.b), 1, 1, 1, 1, 8, 8, 8);                                   \
    vsel(x.Raw(x.other), x.Raw(x.a), x.Raw(x.b), kRepeat, 1, 1, 1, 8, 8, 8);                      \
    break;
#define CAST_RAW(number, To, From, mode, name)                                          \
  case number: {                                                                        \
    const Operands<From> from(areas);                                                   \
    const Operands<To> to(areas);                                                       \
    Cast<To, From, false>(to.dst, from.a, RoundMode::mode, uint64_t{0}, kRepeat,        \
                          {1, 1, sizeof(To) / 2 * 4, sizeof(From) / 2 * 4});            \
    vconv_##name(to.Raw(to.other), from.Raw(from.a), kRepeat, 1, 1, sizeof(To) / 2 * 4, \
                 sizeof(From) / 2 * 4);                                                 \
    break;                                                                              \
  }
#define EXTREME_RAW(number, Name, raw)                    \
  case number:                                            \
    Name<float, false>(x.dst, x.a, 0, kRepeat, 1, 2, 16); \
    raw(x.Raw(x.other), x.Raw(x.a), kRepeat, 1, 2, 16);   \
    break;
#define GROUP_RAW(number, Name, raw)                      \
  case number:                                            \
    Name<float, false>(x.dst, x.a, kRepeat, 0, 1, 2, 16); \
    raw(x.Raw(x.other), x.Raw(x.a), kRepeat, 1, 2, 16);   \
    break;

extern "C" __global__ __aicore__ void intrinsic(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR bGm,
                                                GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  Areas areas(dstGm, aGm, bGm);
  const Operands<float> x(areas);
  const LocalTensor<uint8_t> bits = areas.Area<uint8_t>(0);
  const LocalTensor<uint32_t> offsets = areas.Area<uint32_t>(2);
  GM_ADDR* const parameters = reinterpret_cast<GM_ADDR*>(get_para_base());
  ASSERT(parameters[0] == dstGm && parameters[3] == callGm);
  set_vector_mask(0, 0x00ffffffffffff0full);
  switch (c.op) {
    BINARY_RAW(0, Add, vadd)
    BINARY_RAW(1, Sub, vsub)
    BINARY_RAW(2, Mul, vmul)
    BINARY_RAW(3, Div, vdiv)
    BINARY_RAW(4, Max, vmax)
    BINARY_RAW(5, Min, vmin)
    UNARY_RAW(6, Exp, vexp)
    UNARY_RAW(7, Ln, vln)
    UNARY_RAW(8, Abs, vabs)
    UNARY_RAW(9, Sqrt, vsqrt)
    UNARY_RAW(10, Rsqrt, vrsqrt)
    UNARY_RAW(11, Reciprocal, vrec)
    UNARY_RAW(12, Relu, vrelu)
    SCALAR_RAW(13, Adds, vadds)
    SCALAR_RAW(14, Muls, vmuls)
    SCALAR_RAW(15, Maxs, vmaxs)
    SCALAR_RAW(16, Mins, vmins)
    SCALAR_RAW(17, LeakyRelu, vlrelu)
    COMPARE_RAW(20, LT, lt)
    COMPARE_RAW(21, GT, gt)
    COMPARE_RAW(22, EQ, eq)
    COMPARE_RAW(23, LE, le)
    COMPARE_RAW(24, GE, ge)
    COMPARE_RAW(25, NE, ne)
    CAST_RAW(50, float, half, CAST_NONE, f162f32)
    CAST_RAW(51, half, float, CAST_RINT, f322f16r)
    CAST_RAW(52, half, float, CAST_ODD, f322f16o)
    CAST_RAW(53, int32_t, float, CAST_FLOOR, f322s32f)
    CAST_RAW(54, int32_t, float, CAST_CEIL, f322s32c)
    CAST_RAW(55, int32_t, float, CAST_ROUND, f322s32a)
    CAST_RAW(56, int16_t, float, CAST_TRUNC, f322s16z)
    CAST_RAW(57, bfloat16_t, float, CAST_RINT, f322bf16r)
    CAST_RAW(58, float, bfloat16_t, CAST_NONE, bf162f32)
    EXTREME_RAW(60, WholeReduceSum, vcadd)
    EXTREME_RAW(61, WholeReduceMax, vcmax)
    EXTREME_RAW(62, WholeReduceMin, vcmin)
    GROUP_RAW(63, BlockReduceSum, vcgadd)
    GROUP_RAW(64, BlockReduceMax, vcgmax)
    GROUP_RAW(65, BlockReduceMin, vcgmin)
    GROUP_RAW(66, PairReduceSum, vcpadd)
    case 70:
      Duplicate<float, false>(x.dst, 1.5f, MASK_PLACEHOLDER, kRepeat, 2, 16);
      vector_dup(x.Raw(x.other), 1.5f, kRepeat, 2, 1, 16, 8);
      break;
    case 71:
      Copy<float, false>(x.dst, x.a, uint64_t{0}, kRepeat, {1, 2, 8, 16});
      vcopy(x.Raw(x.other), x.Raw(x.a), kRepeat, 1, 2, 8, 16);
      break;
    case 72:
      Brcb(x.dst, x.a, kRepeat, {1, 8});
      vbrcb(x.Raw(x.other), x.Raw(x.a), 1, 8, kRepeat);
      break;
    case 73:
      // The address of the source: whole, or as the device has it.
      Gather(x.dst, x.a, offsets, 0, uint64_t{64}, kRepeat, 8);
      set_vector_mask(0, ~0ull);
      vgather(x.Raw(x.other), (__ubuf__ uint32_t*)offsets.GetPhyAddr(),
              static_cast<uint32_t>(x.a.GetPhyAddr()), 8, kRepeat);
      break;
    case 74:
      ShiftRight<int32_t, false>(x.dst.ReinterpretCast<int32_t>(), x.a.ReinterpretCast<int32_t>(),
                                 3, MASK_PLACEHOLDER, kRepeat, {1, 1, 8, 8}, true);
      vshr((__ubuf__ int32_t*)x.other.GetPhyAddr(), (__ubuf__ int32_t*)x.a.GetPhyAddr(), 3, kRepeat,
           1, 1, 8, 8, true);
      break;
    case 75: {
      uint64_t kept = 0;
      GatherMask(x.dst, x.a, 2, false, 0, {1, kRepeat, 9, 0}, kept);
      vreducev2((__ubuf__ uint32_t*)x.other.GetPhyAddr(), (__ubuf__ uint32_t*)x.a.GetPhyAddr(),
                (__ubuf__ uint32_t*)x.a.GetPhyAddr(), kRepeat, 1, 2, 9, 0);
      ASSERT(get_rsvd_cnt() == static_cast<int64_t>(kept));
      break;
    }
    case 76: {
      uint64_t kept = 0;
      GatherMask(x.dst, x.a, offsets, true, 50, {1, kRepeat, 8, 2}, kept);
      set_mask_count();
      set_vector_mask(0, 50);
      vreducev2((__ubuf__ uint32_t*)x.other.GetPhyAddr(), (__ubuf__ uint32_t*)x.a.GetPhyAddr(),
                (__ubuf__ uint32_t*)offsets.GetPhyAddr(), kRepeat, 1, 0, 8, 2);
      ASSERT(get_rsvd_cnt() == static_cast<int64_t>(kept));
      set_mask_norm();
      break;
    }
    case 79:  // all repeats into the register of sums
      ReduceSum(x.dst, x.a, x.b, 64 * kRepeat);
      set_mask_norm();
      set_vector_mask(0, ~0ull);
      vcadd(nullptr, x.Raw(x.a), kRepeat, 1, 1, 8, true);
      PipeBarrier<PIPE_ALL>();
      x.other.SetValue(0, GetAccVal<float>());
      PipeBarrier<PIPE_ALL>();
      break;
    case 77:
    case 78: {
      // The register holds a scalar, or the address of the bits: in the compiler's reserve, known by its number.
      auto* const bits = reinterpret_cast<__ubuf__ uint8_t*>(TMP_UB_OFFSET);
      const LocalTensor<float> described = x.other[kHalf / 8];
      const auto compareIntoReserve = [&] {  // behind Select, which works there
        set_vector_mask(0, ~0ull);
        vcmpv_lt(bits, x.Raw(x.a), x.Raw(x.b), kRepeat, 1, 1, 1, 8, 8, 8);
      };
      set_vector_mask(0, ~0ull);
      Compare(x.dst.template ReinterpretCast<uint8_t>(), x.a, x.b, CMPMODE::LT, 64 * kRepeat);
      if (c.op == 77) {
        Select(x.dst[64], x.dst.template ReinterpretCast<uint8_t>(), x.a, 1.5f,
               SELMODE::VSEL_TENSOR_SCALAR_MODE, uint64_t{64}, kRepeat, {1, 1, 1, 8, 8, 8});
        Duplicate(described, 1.5f, 8);
        compareIntoReserve();
        set_cmpmask(x.Raw(described));
        vsel(x.Raw(x.other[64]), x.Raw(x.a), bits, kRepeat, 1, 1, 1, 8, 8, 8, 1);
      } else {
        Select(x.dst[64], x.dst.template ReinterpretCast<uint8_t>(), x.a, x.b,
               SELMODE::VSEL_TENSOR_TENSOR_MODE, uint64_t{64}, kRepeat, {1, 1, 1, 8, 8, 8});
        Duplicate(described.template ReinterpretCast<uint32_t>(), TMP_UB_OFFSET, 8);
        compareIntoReserve();
        set_cmpmask(x.Raw(described));
        vsel(x.Raw(x.other[64]), x.Raw(x.a), x.Raw(x.b), kRepeat, 1, 1, 1, 8, 8, 8, 2);
      }
      // Leave the same around the results.
      DataCopy(x.dst[kHalf / 8], described, 8);
      DataCopy(x.other, x.dst, 64);
      break;
    }
    case 80:
      DataCopy(x.dst, x.a, DataCopyParams(3, 2, 1, 4));
      copy_ubuf_to_ubuf(x.Raw(x.other), x.Raw(x.a), 0, 3, 2, 1, 4);
      break;
    case 81: {
      GlobalTensor<float> from = Global<float>(aGm);
      SetPadValue(7.0f);
      const DataCopyPadExtParams<float> pad{false, 1, 2, 0.0f};
      DataCopyPad(x.dst, from, DataCopyExtParams{3, 20, 4, 1, 0}, pad);
      set_mov_pad_val(GetScalarBitcodeValue(7.0f));
      copy_gm_to_ubuf_align_b32(x.Raw(x.other), from.GetPhyAddr(), 0, 3, 20, 1, 2, 4, 1);
      break;
    }
    case 82: {
      // By way of the third argument's memory.
      set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
      wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
      copy_ubuf_to_gm(bGm, x.Raw(x.a), 0, 2, 3, 1, 2);
      pipe_barrier(PIPE_ALL);
      copy_gm_to_ubuf(x.Raw(x.dst), bGm, 0, 1, 8, 0, 0);
      DataCopyGM2UBImpl(x.Raw(x.other), reinterpret_cast<__gm__ float*>(bGm),
                        DataCopyParams(1, 8, 0, 0));
      break;
    }
    case 83: {
      const auto tile = [](const LocalTensor<float>& tensor) {
        return tensor.template ReinterpretCast<uint16_t>();
      };
      Transpose(tile(x.dst), tile(x.a));
      vtranspose(reinterpret_cast<__ubuf__ uint16_t*>(x.other.GetPhyAddr()),
                 reinterpret_cast<__ubuf__ uint16_t*>(x.a.GetPhyAddr()));
      break;
    }
    case 84:
    case 85:
    case 86: {
      uint64_t to[32];
      uint64_t from[16];
      for (uint32_t i = 0; i < 16; ++i) {
        to[i] = x.dst.GetPhyAddr() + i * 64;
        to[i + 16] = x.other.GetPhyAddr() + i * 64;
        from[i] = x.a.GetPhyAddr() + i * 96;
      }
      set_va_reg_sb(VA1, to + 16);
      set_va_reg_sb(VA2, to + 24);
      set_va_reg_sb(VA6, from);
      set_va_reg_sb(VA7, from + 8);
      const TransDataTo5HDParams twice(c.op == 86, false, 2, 1, 2);
      if (c.op == 84) {
        TransDataTo5HD<uint16_t>(to, from, twice);
        scatter_vnchwconv_b16(VA1, VA6, 2, 1, 2);
      } else if (c.op == 85) {
        TransDataTo5HD<uint32_t>(to, from, twice);
        scatter_vnchwconv_b32(VA1, VA6, 2, 1, 2);
      } else {
        TransDataTo5HD<uint8_t>(to, from, twice);
        scatter_vnchwconv_b8(VA1, VA6, 2, 1, 2, true, false);
      }
      break;
    }
    case 90:  // behind every buffer
      vadd(x.Raw(x.dst) + (1 << 20), x.Raw(x.a), x.Raw(x.b), 1, 1, 1, 1, 8, 8, 8);
      break;
    case 91:  // past the end of its own
      vadd(x.Raw(x.dst) + kAreaBytes / 4 - 32, x.Raw(x.a), x.Raw(x.b), 1, 1, 1, 1, 8, 8, 8);
      break;
    case 92:
      vmuls(x.Raw(x.dst) + 1, x.Raw(x.a), 1.0f, 1, 1, 1, 8, 8);
      break;
    default:
      Trap();
  }
  ResetMask();
  areas.Finish();
}

// A buffer goes in, is computed in place and goes out: enqueued twice. mode 1: the first time without saying where to.
// mode 2: it goes through as it is, from one end of the queue to the other.
extern "C" __global__ __aicore__ void two_ways(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  GlobalTensor<float> from = Global<float>(aGm);
  GlobalTensor<float> to = Global<float>(dstGm);
  TPipe outer;
  TPipe pipe;
  pipe = outer;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> que;
  GetTPipePtr()->InitBuffer(que, 2, 256);
  for (int i = 0; i < 4; ++i) {
    LocalTensor<float> x = que.AllocTensor<float>();
    DataCopy(x, from[i * 64], 64);
    if (c.mode == 2) {
      que.EnQue<TPosition::VECIN, TPosition::VECOUT, float>(x);
      x = que.DeQue<TPosition::VECIN, TPosition::VECOUT, float>();
      DataCopy(to[i * 64], x, 64);
      que.FreeTensor(x);
      continue;
    }
    if (c.mode == 0) {
      que.EnQue<TPosition::GM, TPosition::VECIN, float>(x);
      x = que.DeQue<TPosition::GM, TPosition::VECIN, float>();
    } else {
      que.EnQue(x);
      x = que.DeQue<float>();
    }
    Adds(x, x, 1.0f, 64);
    que.EnQue<TPosition::VECOUT, TPosition::GM, float>(x);
    x = que.DeQue<TPosition::VECOUT, TPosition::GM, float>();
    DataCopy(to[i * 64], x, 64);
    que.FreeTensor(x);
  }
}

// How the device compiler counts cores.
extern "C" __global__ __aicore__ void cores(GM_ADDR dstGm) {
  const int64_t counts[] = {get_block_idx(), get_block_num(), get_subblockid(), get_subblockdim()};
  GlobalTensor<int32_t> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(dstGm) + get_block_idx() * 16);
  for (uint32_t i = 0; i < 4; ++i) {
    tensor.SetValue(i, static_cast<int32_t>(counts[i]));
  }
  DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(tensor);
}

// The system's part of the workspace: what the kernel set, else nothing that it may touch.
extern "C" __global__ __aicore__ void system_workspace(GM_ADDR dstGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  if (c.mode == 0) {
    SetSysWorkspace(dstGm);
  }
  KERNEL_LOG(KERNEL_INFO, "not shown");
  ASCENDC_ASSERT(GetSysWorkSpacePtr() != nullptr, { KERNEL_LOG(KERNEL_ERROR, "of %u", 1u); });
  GlobalTensor<int32_t> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(GetSysWorkSpacePtr()));
  tensor.SetValue(0, Ceil(int64_t{9}, 4));
  DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(tensor);
}

// SPDX-License-Identifier: Apache-2.0
// What CANN's compiler and a device build of its headers accept: templates found by their arguments under C++17, ASSERT where
// nothing is left of it, names of CANN's implementation.
// clang-format off: a call stays on the line that is named.
#include "bench.h"
#include "kernel_utils.h"

namespace {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;

// Nobody says `using namespace AscendC` here.
template <typename T>
void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work) {
  ReduceSum<T>(dst, src, work, 64);
}

struct Sizes {
  uint32_t tileNum = 0;
  bool checked = false;
  void Set(uint32_t wanted) {
    this->tileNum = wanted ASSERT(wanted != 0 && "no tile");
    uint32_t ALIGN_NUM = wanted
    ASSERT(ALIGN_NUM != 0 && "ALIGN_NUM is 0");
    if (ALIGN_NUM == 1)
      ASSERT(wanted == 1);
    else
      checked = true;
    const int sum = 1 + 2 * 3 ASSERT(sum == 7);
    tileNum = tileNum + static_cast<uint32_t>(sum) - 7;
    ASSERT(tileNum == wanted);
  }
};

}  // namespace

extern "C" __global__ __aicore__ void by_arguments(GM_ADDR gm) {
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffer;
  pipe.InitBuffer(buffer, 4096);
  const LocalTensor<float> x = buffer.GetWithOffset<float>(64, 0);
  const LocalTensor<float> y = buffer.GetWithOffset<float>(64, 1024);
  const LocalTensor<half> h = buffer.GetWithOffset<half>(64, 2048);
  const LocalTensor<float> work = buffer.GetWithOffset<float>(64, 3072);
  const GlobalTensor<float> source = Global<float>(gm);
  DataCopy<float>(x, source, 64);
  AscendC::PipeBarrier<PIPE_ALL>();
  Adds<float>(x, x, 1.0f, 64);
  Cast<half, float>(h, x, AscendC::RoundMode::CAST_NONE, 64);
  Cast<float, half>(x, h, AscendC::RoundMode::CAST_NONE, 64);
  Duplicate<float>(y, 0.0f, 64);
  Sum<float>(y, x, work);
  AscendC::PipeBarrier<PIPE_ALL>();
  DataCopy<float>(source, y, 8);
}

// Braces are the parameters of a copy of blocks, with or without the rest of the fields; eight numbers are those of ND to NZ.
extern "C" __global__ __aicore__ void by_braces(GM_ADDR gm) {
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffer;
  pipe.InitBuffer(buffer, 1024);
  const LocalTensor<float> x = buffer.GetWithOffset<float>(64, 0);
  const LocalTensor<float> y = buffer.GetWithOffset<float>(64, 512);
  const GlobalTensor<float> source = Global<float>(gm);
  const uint16_t blocks = 8;
  DataCopy(x, source, {1, blocks, 0, 0});
  AscendC::PipeBarrier<PIPE_ALL>();
  DataCopy(y, x, {1, blocks, 0, 0});
  AscendC::PipeBarrier<PIPE_ALL>();
  DataCopy(source[64], y, {1, 8, 0, 0});
}
[[maybe_unused]] void ByBraces(const LocalTensor<half>& l1, const LocalTensor<half>& l0,
                               const GlobalTensor<half>& gm) {
  DataCopy(l1, gm, {1, 16, 64, 0, 64, 16, 1, 0});
  LoadData(l0, l1, {0, 1, 1, 0, 0, false, 0});
}
static_assert((1ull << AscendC::LOAD_DILATION_FILTER_H | 1ull << AscendC::LOAD_DILATION_FILTER_W |
               1ull << AscendC::LOAD_FILTER_H | 1ull << AscendC::LOAD_FILTER_W |
               1ull << AscendC::LOAD_STRIDE_H | 1) == 0x10101010101);

// Nothing of a condition is left in a device build: it may leave out the namespace.
template <typename T>
struct Split {
  T cores = 0;
  void Set() {
    ASSERT(GetBlockNum() != 0 && "no core");
    cores = 1;
  }
};

extern "C" __global__ __aicore__ void assertions(GM_ADDR gm) {
  Sizes sizes;
  sizes.Set(4);
  Split<uint32_t> split;
  split.Set();
  ASSERT(split.cores == 1);
  ASSERT(sizes.checked);
  ASSERT_MSG(sizes.tileNum == 4, "%u tiles\n", sizes.tileNum);
  sizes.checked ? ascendc_assert(sizes.tileNum == 4, "%d", 4) : void(0);
  ascendc_assert(sizes.tileNum == 4);
  Global<uint32_t>(gm).SetValue(0, sizes.tileNum);
  AscendC::DataCacheCleanAndInvalid<uint32_t, AscendC::CacheLine::ENTIRE_DATA_CACHE>(Global<uint32_t>(gm));
}

extern "C" __global__ __aicore__ void fails_in_a_function(GM_ADDR) {
  Sizes sizes;
  const uint32_t none = 0;
  ASSERT(sizes.tileNum > none);  // fails_in_a_function
}

extern "C" __global__ __aicore__ void fails_with_a_text(GM_ADDR) {
  const half limit = 1.5f;
  ASSERT_MSG(limit > half(2.0f), "the limit is %.1f", limit);  // fails_with_a_text
}

extern "C" __global__ __aicore__ void fails_as_an_expression(GM_ADDR gm) {
  gm != nullptr ? ascendc_assert(gm == nullptr, "%s is %d", "it", 7) : void(0);  // fails_as_an_expression
}

extern "C" __global__ __aicore__ void of_the_implementation(GM_ADDR gm) {
  using namespace AscendC;
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 4096);
  const LocalTensor<float> x = buffer.GetWithOffset<float>(64, 0);
  const LocalTensor<float> y = buffer.GetWithOffset<float>(64, 1024);
  const LocalTensor<half> h = buffer.GetWithOffset<half>(64, 2048);
  DataCopy(x, Global<float>(gm), 64);
  PipeBarrier<PIPE_ALL>();
  auto* const from = reinterpret_cast<__ubuf__ float*>(x.GetPhyAddr());
  auto* const to = reinterpret_cast<__ubuf__ float*>(y.GetPhyAddr());
  DuplicateImpl<float>(to, 0.0f, 64);
  SetVectorMask<float>(64);
  BlockReduceSumIntrinsicsImpl(to, from, 1, 1, 1, 8);
  BlockReduceMaxIntrinsicsImpl(to + 8, from, 1, 1, 1, 8);
  RepeatReduceSum<float, true>(y[16], x, 1, 64, 0, 1, 1, 8);
  CastImpl(reinterpret_cast<__ubuf__ half*>(h.GetPhyAddr()), from, RoundMode::CAST_NONE, 64);
  CastImpl(to + 24, reinterpret_cast<__ubuf__ half*>(h.GetPhyAddr()), RoundMode::CAST_NONE, 8);
  PRELOAD(4);
  OOMCheckAddrRange(gm, 128);
  static_assert(TrueType::value && !FalseType::Type::value && INVALID_TEVENTID == -1);
  static_assert(std::is_base_of_v<FalseType, IsSameType<half, float>>);
  PipeBarrier<PIPE_ALL>();
  static_assert(F32_NEG_INF == 0xff800000 && TOTAL_UB_SIZE > TMP_UB_OFFSET);
  static_assert(TOTAL_L1_SIZE <= 512 * 1024 && TOTAL_L0A_SIZE + TOTAL_L0B_SIZE == TOTAL_L0C_SIZE);
  static_assert(Align(33u, 32u) == 64);
  constexpr AscendC::TransDataTo5HDParams kTurned(false, false, 8, 1, 8);
  constexpr AscendC::DataCopyExtParams kRows(2, 64, 0, 32, 0);
  static_assert(kTurned.repeatTimes == 8 && kRows.dstStride == 32);
  set_atomic_none();
  ASSERT(CeilDiv(33, 32) == 2 && CeilAlign(33, 32) == 64);
  static_assert(ONE_FOURTH_DEFAULT_REPEAT_STRIDE == 2 && RESERVED_WORKSPACE == 16 << 20);
  static_assert(sizeof(ReduceLastND) == 24);
  static_assert(HALF_FACTOR == 2 && DOUBLE_FACTOR == 2 && CUBE_MAX_SIZE == 256);
  static_assert(B16_DATA_NUM_PER_BLOCK * sizeof(half) == 32 &&
                B32_DATA_NUM_PER_BLOCK * sizeof(float) == 32);
  static_assert(B16_DATA_NUM_PER_REPEAT == HALF_REPEAT_SIZE &&
                B32_DATA_NUM_PER_REPEAT == FLOAT_REPEAT_SIZE && B64_DATA_NUM_PER_REPEAT == 32);
  static_assert(ONE_BYTE_BIT_SIZE == 8 && SYNC_AIC_FLAG == 11 && SYNC_AIV_FLAG == 12);
  DataCopy(Global<float>(gm), y, 32);
}

// Tensors that a kernel places by hand, as sources do that are older than the constructor with an address.
extern "C" __global__ __aicore__ void placed_by_hand(GM_ADDR gm) {
  using AscendC::TPosition;
  LocalTensor<float> x;
  x.InitBuffer(0, 64);
  x.address_.logicPos = static_cast<uint8_t>(TPosition::VECIN);
  AscendC::TBuffAddr place;
  place.logicPos = static_cast<uint8_t>(TPosition::VECCALC);
  LocalTensor<float> y;
  y.SetAddr(place);
  y.InitBuffer(1024, 64);
  LocalTensor<uint8_t> whole;
  whole.InitBuffer(0, 4096);
  LocalTensor<uint8_t> same = whole[1024];
  same.address_.logicPos = static_cast<uint8_t>(TPosition::VECOUT);
  const GlobalTensor<float> source = Global<float>(gm);
  AscendC::ICachePreLoad(2);
  DataCopy(x, source, 64);
  AscendC::PipeBarrier<PIPE_ALL>();
  Adds(y, x, static_cast<float>(clz(1) - 63 + AscendC::GetICachePreloadStatus()) + 1.0f, 64);
  AscendC::PipeBarrier<PIPE_ALL>();
  DataCopy(source, same.ReinterpretCast<float>(), 64);
}

// The dtype of atomics by itself adds, and keeps an operation that is set. A buffer's address makes a tensor of another dtype.
extern "C" __global__ __aicore__ void atomics_by_their_type(GM_ADDR gm) {
  AscendC::AscendCUtils::SetOverflow(1);
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<int32_t> same;
  same.SetAddr(buffer.GetBufferAddr(buffer.Get<float>().GetBufferHandle()));
  const LocalTensor<float> x = buffer.Get<float>();
  DataCopy(x, Global<float>(gm), 32);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::SetAtomicType<float>();
  DataCopy(Global<float>(gm), x, 32);
  AscendC::SetAtomicNone();
  AscendC::SetAtomicMax<float>();
  AscendC::SetAtomicType<int32_t>();
  DataCopy(Global<int32_t>(gm)[32], same, 32);
  AscendC::SetAtomicNone();
}
extern "C" __global__ __aicore__ void saturates(GM_ADDR) {
  AscendC::AscendCUtils::SetOverflow(0);
}
extern "C" __global__ __aicore__ void placed_past_the_end(GM_ADDR gm) {
  LocalTensor<float> x;
  x.InitBuffer(200 * 1024, 64);
  DataCopy(Global<float>(gm), x, 64);
}

// 8192 bytes are 2048 floats: 28 rows of 8 + 64, of which whole blocks are taken.
constexpr SoftMaxTiling kFlash =
    AscendC::SoftMaxFlashV2TilingFunc({64, 512, 64, 500}, 4, 4, 8192, true, false);
static_assert(kFlash.splitM == 24 && kFlash.rangeM == 2 && kFlash.tailM == 16);
static_assert(kFlash.srcM == 64 && kFlash.srcK == 512 && kFlash.outMaxK == 8);
// The name in the implementation has the workspace in floats.
constexpr SoftMaxTiling kSameFlash =
    AscendC::SoftMaxFlashV2TilingFuncImpl(64, 512, 4, 4, 2048, true, false);
static_assert(kSameFlash.splitM == 24 && kSameFlash.rangeM == 2 && kSameFlash.tailM == 16);

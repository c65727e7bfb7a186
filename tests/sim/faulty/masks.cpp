// SPDX-License-Identifier: Apache-2.0
// z = max(x, y) + 1 by instructions that are told lanes and repeats, not counts.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

__aicore__ inline __ubuf__ float* Address(const LocalTensor<float>& tensor) {
  return reinterpret_cast<__ubuf__ float*>(tensor.GetPhyAddr());
}

template <uint64_t kFault>
class Masks {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, const Tiling& t) {
    pipe_.InitBuffer(inQueue_, 2, t.tile * sizeof(float));
    pipe_.InitBuffer(outQueue_, 1, t.tile * sizeof(float));
    pipe_.InitBuffer(extra_, t.tile * sizeof(float));
    const LocalTensor<float> extra = extra_.template Get<float>();
    for (uint32_t at = 0; at < t.total; at += t.tile) {
      LocalTensor<float> a = inQueue_.template AllocTensor<float>();  // @alloc_in
      LocalTensor<float> b = inQueue_.template AllocTensor<float>();
      DataCopy(a, Global<float>(x)[at], PICK(copy_of_less_than_a_block, t.tile, 7));  // @load
      DataCopy(b, Global<float>(y)[at], t.tile);
      inQueue_.EnQue(a);
      inQueue_.EnQue(b);
      a = inQueue_.template DeQue<float>();
      b = inQueue_.template DeQue<float>();
      LocalTensor<float> c = outQueue_.template AllocTensor<float>();  // @alloc_out
      const uint8_t repeats = static_cast<uint8_t>(PICK(repeat_wraps, t.tile / 64, 256));
      const BinaryRepeatParams each{1, 1, 1, 8, 8, 8};
      uint64_t none[2] = {0, 0};
      // All ones stand for all lanes of any type.
      uint64_t all[2] = {~0ull, PICK(bits_beyond, ~0ull, 0xFFull)};
      EDIT(no_lanes, , Max(c, a, b, uint64_t{0}, repeats, each));  // @max_no_lanes
      EDIT(no_bits, , Max(c, a, b, none, repeats, each));  // @max_no_bits
      EDIT(count_zero, , Max(c, a, b, 0));  // @max_count
      if constexpr (kFault != Id("no_lanes") && kFault != Id("no_bits") && kFault != Id("count_zero")) {
        Max(c, a, b, PICK(lanes_of_half, uint64_t{64}, uint64_t{128}), repeats, each);  // @max
      }
      PipeBarrier<PIPE_V>();
      // An empty tail does no harm.
      Adds(c, c, 0.0F, uint64_t{64}, static_cast<uint8_t>(t.tile % 64), {1, 1, 8, 8});  // @tail
      Adds(c, c, 1.0F, all, static_cast<uint8_t>(t.tile / 64), {1, 1, 8, 8});  // @adds
      EDIT(reduce_of_half, , WholeReduceMax(extra, c, 100, 1, 1, 1, 8));  // @reduce
      EDIT(block_reduce, , BlockReduceSum(extra, c, 1, 65, 1, 1, 8));  // @block_reduce
      EDIT(negative, , Muls(extra, c, 1.0F, static_cast<uint64_t>(-1), 1, {1, 1, 8, 8}));  // @negative
      EDIT(fill, , Duplicate(extra.template ReinterpretCast<int32_t>(), 1, uint64_t{65}, 1, 1, 8));  // @fill
      EDIT(copied, , Copy(extra, c, uint64_t{128}, 1, {1, 1, 8, 8}));  // @copied
      EDIT(wider, , Cast(extra, c.template ReinterpretCast<half>(), RoundMode::CAST_NONE, uint64_t{128}, 1, {1, 1, 8, 4}));  // @cast
      EDIT(selected, , Select(extra, extra.template ReinterpretCast<uint8_t>(), c, 0.0F, SELMODE::VSEL_TENSOR_SCALAR_MODE, uint64_t{128}, 1, each));  // @select
      EDIT(gathered, , Gather(extra.template ReinterpretCast<uint32_t>(), c.template ReinterpretCast<uint32_t>(), a.template ReinterpretCast<uint32_t>(), 0, uint64_t{128}, 1, 8));  // @gather
      EDIT(register_of_half, , SetVectorMask<half>(96));
      EDIT(register_of_half, , (Muls<float, false>(extra, c, 1.0F, MASK_PLACEHOLDER, 1, {1, 1, 8, 8})));  // @by_register
      EDIT(by_the_compiler, , set_vector_mask(0xFF, ~0ull));
      EDIT(by_the_compiler, , vmuls(Address(extra), Address(c), 1.0F, 1, 1, 1, 8, 8));  // @by_the_compiler
      ResetMask();
      inQueue_.FreeTensor(a);
      inQueue_.FreeTensor(b);
      outQueue_.EnQue(c);
      c = outQueue_.template DeQue<float>();
      DataCopy(Global<float>(z)[at], c, t.tile);  // @store
      outQueue_.FreeTensor(c);
    }
    EDIT(register_left, , SetVectorMask<float>(48));  // @register_left
    EDIT(counter_left, , SetMaskCount());  // @counter_left
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 2> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
  TBuf<TPosition::VECCALC> extra_;
};

KERNEL(Masks, none)
KERNEL(Masks, copy_of_less_than_a_block)
KERNEL(Masks, repeat_wraps)
KERNEL(Masks, no_lanes)
KERNEL(Masks, no_bits)
KERNEL(Masks, count_zero)
KERNEL(Masks, lanes_of_half)
KERNEL(Masks, bits_beyond)
KERNEL(Masks, reduce_of_half)
KERNEL(Masks, block_reduce)
KERNEL(Masks, negative)
KERNEL(Masks, fill)
KERNEL(Masks, copied)
KERNEL(Masks, wider)
KERNEL(Masks, selected)
KERNEL(Masks, gathered)
KERNEL(Masks, register_of_half)
KERNEL(Masks, by_the_compiler)
KERNEL(Masks, register_left)
KERNEL(Masks, counter_left)

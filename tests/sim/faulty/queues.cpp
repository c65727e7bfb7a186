// SPDX-License-Identifier: Apache-2.0
// z = x + y as most operators are built: tensors go through double-buffered queues, cores share the elements, the last tile is
// short.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

template <uint64_t kFault>
class Queues {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, const Tiling& t) {
    t_ = t;
    const uint32_t first = static_cast<uint32_t>(GetBlockIdx()) * t.perCore;
    length_ = Least(t.perCore, t.total - first);
    EDIT(core_offset_slip, x_ = Global<float>(x)[first], x_ = Global<float>(x)[first + t.perCore]);
    y_ = Global<float>(y)[first];
    EDIT(cores_overlap, z_ = Global<float>(z)[first], z_ = Global<float>(z)[first - (first > 0 ? kFloatsPerBlock : 0)]);
    const uint32_t bytes = t.tile * sizeof(float);
    pipe_.InitBuffer(xQueue_, 2, bytes);  // @init_x
    pipe_.InitBuffer(yQueue_, 2, bytes);
    pipe_.InitBuffer(zQueue_, 2, PICK(too_much_ub, bytes, 64u * 1024u));  // @init_z
    if constexpr (kFault == Id("queue_not_initialised")) {
      spare_ = zQueueWithoutBuffer_.template AllocTensor<float>();  // @alloc_without_init
    }
    for (uint32_t at = 0; at < length_; at += t.tile) {
      const uint32_t count = PICK(no_tail, Least(t.tile, length_ - at), t.tile);
      CopyIn(at, count);
      if constexpr (kFault == Id("prefetch_too_deep")) {
        CopyIn(at, count);
      }
      Compute(count);
      CopyOut(at, count);
    }
    if constexpr (kFault == Id("last_not_freed")) {
      spare_ = zQueue_.template AllocTensor<float>();  // @alloc_spare
    }
    if constexpr (kFault == Id("one_load_more")) {
      CopyIn(0, kFloatsPerBlock);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    LocalTensor<float> x = xQueue_.template AllocTensor<float>();  // @alloc_x
    LocalTensor<float> y = yQueue_.template AllocTensor<float>();  // @alloc_y
    const DataCopyPadExtParams<float> pad{false, 0, 0, 0.0F};
    EDIT(load_rounded_up, , DataCopy(x, x_[at], RoundUp(count, kFloatsPerBlock)));  // @load_rounded
    EDIT(offset_in_bytes, , DataCopyPad(x, x_[at * sizeof(float)], Bytes<float>(count), pad));  // @load_by_bytes
    EDIT(blocklen_in_elements, , DataCopyPad(x, x_[at], DataCopyExtParams(1, count, 0, 0, 0), pad));  // @load_short
    EDIT(blocklen_not_whole, , DataCopyPad(x, x_[at], DataCopyExtParams(1, count * sizeof(float) - 2, 0, 0, 0), pad));  // @load_uneven
    EDIT(blocklen_too_long, , DataCopyPad(x, x_[at], DataCopyExtParams(1, 1u << 21, 0, 0, 0), pad));  // @load_too_long
    EDIT(too_many_blocks, , DataCopyPad(x, x_[at], DataCopyExtParams(4096, 4, 0, 0, 0), pad));  // @load_too_many
    EDIT(padding_too_wide, , DataCopyPad(x, x_[at], Bytes<float>(count), {true, 0, 9, 0.0F}));  // @load_wide_pad
    EDIT(copy_rounds_down, , DataCopy(x, x_[at], count));  // @load_rounded_down
    if constexpr (kFault != Id("load_rounded_up") && kFault != Id("offset_in_bytes") && kFault != Id("blocklen_in_elements") && kFault != Id("copy_rounds_down")) {
      DataCopyPad(x, x_[at], Bytes<float>(count), pad);  // @load_x
    }
    DataCopyPad(y, y_[at], Bytes<float>(count), pad);  // @load_y
    EDIT(deque_dropped, , spare_ = x);
    EDIT(enque_dropped, xQueue_.EnQue(x), );  // @enque_x
    yQueue_.EnQue(y);  // @enque_y
    EDIT(enque_twice, , yQueue_.EnQue(y));  // @enque_y_again
    EDIT(enque_into_another, , zQueue_.EnQue(x));  // @enque_x_as_z
  }

  __aicore__ inline void Compute(uint32_t count) {
    LocalTensor<float> x;
    EDIT(deque_dropped, x = xQueue_.template DeQue<float>(), x = spare_);  // @deque_x
    LocalTensor<float> y;
    EDIT(deque_from_another, y = yQueue_.template DeQue<float>(), y = xQueue_.template DeQue<float>());  // @deque_y
    LocalTensor<float> z;
    EDIT(never_allocated, z = zQueue_.template AllocTensor<float>(), );  // @alloc_z
    EDIT(allocated_twice, , spare_ = zQueue_.template AllocTensor<float>(); spare_ = zQueue_.template AllocTensor<float>());  // @alloc_z_again
    EDIT(freed_early, , xQueue_.FreeTensor(x));
    const uint32_t half = PICK(odd_half, RoundUp(count / 2, kFloatsPerBlock), count / 2);
    Add(z, x, y, half);  // @add_first_half
    Add(z[half], x[half], y[half], count - half + PICK(one_lane_more, 0, 1));  // @add_second_half
    EDIT(operands_overlap, , Adds(z[kFloatsPerBlock], z, 0.0F, count - kFloatsPerBlock));  // @shift_in_place
    EDIT(compute_beyond_count, , Adds(z, y, 0.0F, RoundUp(count + 1, 64)));  // @add_beyond
    EDIT(z_enque_dropped, zQueue_.EnQue(z), );
    EDIT(x_free_dropped, xQueue_.FreeTensor(x), );  // @free_x
    yQueue_.FreeTensor(y);  // @free_y
    EDIT(freed_twice, , yQueue_.FreeTensor(y));  // @free_y_again
    EDIT(freed_into_another, , yQueue_.FreeTensor(z));  // @free_z_as_y
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    LocalTensor<float> z = zQueue_.template DeQue<float>();  // @deque_z
    EDIT(z_freed_early, , zQueue_.FreeTensor(z));
    EDIT(store_rounded_up, DataCopyPad(z_[at], z, Bytes<float>(count)), DataCopy(z_[at], z, RoundUp(count, kFloatsPerBlock)));  // @store_z
    EDIT(store_beyond_count, , DataCopyPad(z_[at], z, Bytes<float>(count + 1)));  // @store_beyond
    EDIT(z_freed_early, zQueue_.FreeTensor(z), );
  }

  TPipe pipe_;
  TQue<TPosition::VECIN, 1> xQueue_;
  TQue<TPosition::VECIN, 1> yQueue_;
  TQue<TPosition::VECOUT, 1> zQueue_;
  TQue<TPosition::VECOUT, 1> zQueueWithoutBuffer_;
  GlobalTensor<float> x_, y_, z_;
  LocalTensor<float> spare_;
  Tiling t_;
  uint32_t length_ = 0;
};

KERNEL(Queues, none)
KERNEL(Queues, core_offset_slip)
KERNEL(Queues, cores_overlap)
KERNEL(Queues, too_much_ub)
KERNEL(Queues, queue_not_initialised)
KERNEL(Queues, no_tail)
KERNEL(Queues, prefetch_too_deep)
KERNEL(Queues, last_not_freed)
KERNEL(Queues, one_load_more)
KERNEL(Queues, load_rounded_up)
KERNEL(Queues, offset_in_bytes)
KERNEL(Queues, blocklen_in_elements)
KERNEL(Queues, blocklen_not_whole)
KERNEL(Queues, blocklen_too_long)
KERNEL(Queues, too_many_blocks)
KERNEL(Queues, padding_too_wide)
KERNEL(Queues, copy_rounds_down)
KERNEL(Queues, deque_dropped)
KERNEL(Queues, enque_dropped)
KERNEL(Queues, enque_twice)
KERNEL(Queues, enque_into_another)
KERNEL(Queues, deque_from_another)
KERNEL(Queues, never_allocated)
KERNEL(Queues, allocated_twice)
KERNEL(Queues, freed_early)
KERNEL(Queues, odd_half)
KERNEL(Queues, one_lane_more)
KERNEL(Queues, operands_overlap)
KERNEL(Queues, compute_beyond_count)
KERNEL(Queues, z_enque_dropped)
KERNEL(Queues, x_free_dropped)
KERNEL(Queues, freed_twice)
KERNEL(Queues, freed_into_another)
KERNEL(Queues, z_freed_early)
KERNEL(Queues, store_rounded_up)
KERNEL(Queues, store_beyond_count)

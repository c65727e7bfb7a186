// SPDX-License-Identifier: Apache-2.0
// z = x + y through queues, with flags of the kernel's own beside those that the queues set themselves.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

#define PAIR(event, id)             \
  SetFlag<HardEvent::event>(id);    \
  WaitFlag<HardEvent::event>(id)

template <uint64_t kFault>
class Ids {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const GlobalTensor<float> xGm = Global<float>(x);
    const GlobalTensor<float> yGm = Global<float>(y);
    const GlobalTensor<float> zGm = Global<float>(z);
    pipe_.InitBuffer(inQueue_, 2, t.tile * sizeof(float));
    pipe_.InitBuffer(outQueue_, 1, t.tile * sizeof(float));
    const int32_t early = pipe_.template FetchEventID<HardEvent::MTE2_V>();
    const int32_t own = pipe_.template AllocEventID<HardEvent::V_MTE3>();
    for (uint32_t at = 0; at < t.total; at += t.tile) {
      const uint32_t count = Least(t.tile, t.total - at);
      const DataCopyPadExtParams<float> pad{false, 0, 0, 0.0F};
      const bool first = at == 0;
      LocalTensor<float> a = inQueue_.template AllocTensor<float>();
      DataCopyPad(a, xGm[at], Bytes<float>(count), pad);
      // Nothing is enqueued: id 0 is nobody's.
      PAIR(MTE2_V, EVENT_ID0);
      EDIT(set_before_enque, , if (first) SetFlag<HardEvent::MTE2_V>(EVENT_ID0));  // @set_before
      inQueue_.EnQue(a);  // @enque_a
      EDIT(beside_enque, , PAIR(MTE2_V, EVENT_ID0));  // @beside_enque
      EDIT(fetched_early, , PAIR(MTE2_V, early));  // @fetched_early
      // One tensor is enqueued: it has id 0 only, and FetchEventID gives another one.
      PAIR(MTE2_V, EVENT_ID1);
      PAIR(MTE2_V, pipe_.template FetchEventID<HardEvent::MTE2_V>());
      LocalTensor<float> b = inQueue_.template AllocTensor<float>();
      DataCopyPad(b, yGm[at], Bytes<float>(count), pad);
      inQueue_.EnQue(b);  // @enque_b
      EDIT(second_tensor, , PAIR(MTE2_V, EVENT_ID1));  // @second_tensor
      PAIR(MTE2_V, EVENT_ID2);
      EDIT(wait_alone, , if (first) WaitFlag<HardEvent::MTE2_V>(EVENT_ID0));  // @wait_alone
      a = inQueue_.template DeQue<float>();
      EDIT(set_before_enque, , if (first) WaitFlag<HardEvent::MTE2_V>(EVENT_ID0));
      b = inQueue_.template DeQue<float>();
      LocalTensor<float> c = outQueue_.template AllocTensor<float>();
      Add(c, a, b, count);
      outQueue_.EnQue(c);  // @enque_c
      // The kernel has taken id 0 itself, so that the queue has id 1.
      EDIT(beside_output, PAIR(V_MTE3, own), PAIR(V_MTE3, 1));  // @beside_output
      PAIR(V_MTE2, EVENT_ID0);
      inQueue_.FreeTensor(a);  // @free_a
      inQueue_.FreeTensor(b);
      EDIT(beside_free, , PAIR(V_MTE2, EVENT_ID0));  // @beside_free
      PAIR(V_MTE2, EVENT_ID2);
      c = outQueue_.template DeQue<float>();
      DataCopyPad(zGm[at], c, Bytes<float>(count));
      PAIR(MTE3_V, EVENT_ID0);
      outQueue_.FreeTensor(c);  // @free_c
      EDIT(beside_free_output, , PAIR(MTE3_V, EVENT_ID0));  // @beside_free_output
    }
    inQueue_.FreeAllEvent();
    PAIR(V_MTE2, EVENT_ID0);
    pipe_.template ReleaseEventID<HardEvent::V_MTE3>(own);
    pipe_.Reset();
    PAIR(MTE3_V, EVENT_ID0);
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 2> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
};

KERNEL(Ids, none)
KERNEL(Ids, set_before_enque)
KERNEL(Ids, beside_enque)
KERNEL(Ids, fetched_early)
KERNEL(Ids, second_tensor)
KERNEL(Ids, wait_alone)
KERNEL(Ids, beside_output)
KERNEL(Ids, beside_free)
KERNEL(Ids, beside_free_output)

// z = x, by a queue that goes from copy to copy, after one whose tensors are given in place.
template <uint64_t kFault>
class Through {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const GlobalTensor<float> xGm = Global<float>(x);
    const GlobalTensor<float> zGm = Global<float>(z);
    pipe_.InitBuffer(through_, 2, t.tile * sizeof(float));
    pipe_.InitBuffer(inPlace_, 1, t.tile * sizeof(float));  // @init_in_place
    EDIT(before_first_alloc, , PAIR(V_MTE2, EVENT_ID0));  // @before_first_alloc
    for (uint32_t at = 0; at < t.total; at += t.tile) {
      const uint32_t count = Least(t.tile, t.total - at);
      const DataCopyPadExtParams<float> pad{false, 0, 0, 0.0F};
      LocalTensor<float> tile = through_.template AllocTensor<float>();
      DataCopyPad(tile, xGm[at], Bytes<float>(count), pad);
      PAIR(MTE2_MTE3, EVENT_ID0);
      through_.EnQue(tile);  // @enque_through
      PAIR(MTE2_MTE3, PICK(through_id, 1, 0));  // @through_id
      tile = through_.template DeQue<float>();
      DataCopyPad(zGm[at], tile, Bytes<float>(count));
      PAIR(MTE3_MTE2, PICK(freed_through_id, 2, at > t.tile ? 1 : 2));  // @freed_through_id
      through_.FreeTensor(tile);  // @free_through
      LocalTensor<float> local;
      inPlace_.template AllocTensor<float>(local);
      // Its ids are the queue's for good, but its flags are down: a pair in between does no harm.
      PAIR(V_MTE2, EVENT_ID0);
      PAIR(MTE2_V, EVENT_ID0);
      Duplicate(local, 1.0F, count);
      inPlace_.EnQue(local);  // @enque_in_place
      PAIR(MTE2_V, PICK(in_place_id, 1, 0));  // @in_place_id
      inPlace_.template DeQue<float>(local);
      inPlace_.FreeTensor(local);  // @free_in_place
      EDIT(freed_in_place, , PAIR(V_MTE2, EVENT_ID0));  // @freed_in_place
    }
  }

 private:
  TPipe pipe_;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> through_;
  TQue<TPosition::VECIN, 0> inPlace_;
};

KERNEL(Through, none)
KERNEL(Through, before_first_alloc)
KERNEL(Through, through_id)
KERNEL(Through, freed_through_id)
KERNEL(Through, in_place_id)
KERNEL(Through, freed_in_place)

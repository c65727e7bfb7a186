// SPDX-License-Identifier: Apache-2.0
// Kernels that order their pipes by hand: ping-pong buffers with flags, passes through the workspace, copies that overlap, and
// steps that mix vector and scalar code.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

// z = 2 x + x with two buffers per side.
template <uint64_t kFault>
class PingPong {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t first = static_cast<uint32_t>(GetBlockIdx()) * t.perCore;
    const uint32_t length = Least(t.perCore, t.total - first);
    const GlobalTensor<float> xGm = Global<float>(x)[first];
    const GlobalTensor<float> zGm = Global<float>(z)[first];
    pipe_.InitBuffer(xBuffer_, 2 * t.tile * sizeof(float));
    pipe_.InitBuffer(zBuffer_, 2 * t.tile * sizeof(float));
    for (int32_t i = 0; i < 2; ++i) {
      if constexpr (kFault == Id("first_turned")) {
        SetFlag<HardEvent::MTE2_MTE3>(i);  // @set_first_turned
      } else if constexpr (kFault != Id("no_v_mte2")) {
        SetFlag<HardEvent::V_MTE2>(i);  // @set_free_first
      }
      SetFlag<HardEvent::MTE3_V>(i);  // @set_first
    }
    int32_t slot = 0;
    for (uint32_t at = 0; at < length; at += t.tile) {
      const uint32_t count = Least(t.tile, length - at);
      const int32_t other = PICK(slot_slip, slot, slot ^ 1);
      const LocalTensor<float> loaded = xBuffer_.template Get<float>()[slot * t.tile];
      const LocalTensor<float> x = xBuffer_.template Get<float>()[other * t.tile];
      const LocalTensor<float> z = zBuffer_.template Get<float>()[PICK(one_output_buffer, slot, 0) * t.tile];
      if constexpr (kFault != Id("no_v_mte2")) {
        WaitFlag<HardEvent::V_MTE2>(PICK(wait_other_slot, slot, slot ^ 1));  // @wait_free
      }
      DataCopyPad(loaded, xGm[at], Bytes<float>(count), {false, 0, 0, 0.0F});  // @load
      if constexpr (kFault == Id("wrong_event")) {
        SetFlag<HardEvent::MTE2_MTE3>(slot);  // @set_wrong_event
      } else if constexpr (kFault == Id("id_out_of_range")) {
        SetFlag<HardEvent::MTE2_V>(slot + 7);  // @set_id_out_of_range
      } else if constexpr (kFault != Id("no_mte2_v") && kFault != Id("nobody_sets") && kFault != Id("cycle")) {
        SetFlag<HardEvent::MTE2_V>(slot);  // @set_loaded
      }
      EDIT(set_twice, , SetFlag<HardEvent::MTE2_V>(slot));  // @set_loaded_again
      if constexpr (kFault == Id("id_out_of_range")) {
        WaitFlag<HardEvent::MTE2_V>(slot + 7);
      } else if constexpr (kFault != Id("no_mte2_v")) {
        WaitFlag<HardEvent::MTE2_V>(PICK(wrong_id, slot, slot + 2));  // @wait_loaded
      }
      if constexpr (kFault != Id("no_mte3_v")) {
        WaitFlag<HardEvent::MTE3_V>(slot);
      }
      Muls(z, x, 2.0F, count);  // @scale
      EDIT(v_mte2_too_early, , SetFlag<HardEvent::V_MTE2>(slot));
      PipeBarrier<PIPE_V>();
      if constexpr (kFault == Id("v_mte3_too_early")) {
        SetFlag<HardEvent::V_MTE3>(slot);
      }
      Add(z, z, x, count);  // @add_x
      if constexpr (kFault != Id("no_v_mte2") && kFault != Id("v_mte2_too_early")) {
        SetFlag<HardEvent::V_MTE2>(slot);  // @set_free
      }
      if constexpr (kFault != Id("no_v_mte3")) {
        if constexpr (kFault != Id("v_mte3_too_early")) {
          SetFlag<HardEvent::V_MTE3>(slot);
        }
        WaitFlag<HardEvent::V_MTE3>(slot);  // @wait_computed
      }
      DataCopyPad(zGm[at], z, Bytes<float>(count));  // @store
      if constexpr (kFault == Id("cycle")) {
        SetFlag<HardEvent::MTE3_MTE2>(slot);
        WaitFlag<HardEvent::MTE3_MTE2>(slot);  // @wait_stored_in_a_cycle
        SetFlag<HardEvent::MTE2_V>(slot);  // @set_loaded_in_a_cycle
      }
      if constexpr (kFault != Id("no_mte3_v")) {
        SetFlag<HardEvent::MTE3_V>(slot);  // @set_stored
      }
      slot ^= 1;
    }
    for (int32_t i = 0; i < 2; ++i) {
      if constexpr (kFault != Id("no_v_mte2")) {
        WaitFlag<HardEvent::V_MTE2>(i);
      }
      if constexpr (kFault != Id("never_waited")) {
        WaitFlag<HardEvent::MTE3_V>(i);
      }
    }
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> xBuffer_;
  TBuf<TPosition::VECCALC> zBuffer_;
};

KERNEL(PingPong, none)
KERNEL(PingPong, slot_slip)
KERNEL(PingPong, one_output_buffer)
KERNEL(PingPong, no_v_mte2)
KERNEL(PingPong, wait_other_slot)
KERNEL(PingPong, wrong_event)
KERNEL(PingPong, id_out_of_range)
KERNEL(PingPong, nobody_sets)
KERNEL(PingPong, cycle)
KERNEL(PingPong, first_turned)
KERNEL(PingPong, set_twice)
KERNEL(PingPong, no_mte2_v)
KERNEL(PingPong, wrong_id)
KERNEL(PingPong, no_mte3_v)
KERNEL(PingPong, v_mte2_too_early)
KERNEL(PingPong, v_mte3_too_early)
KERNEL(PingPong, no_v_mte3)
KERNEL(PingPong, never_waited)

// z = x + y, where the first pass leaves 2 x in the workspace and the second one halves it.
template <uint64_t kFault>
class TwoPasses {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t first = core * t.perCore;
    const uint32_t length = Least(t.perCore, t.total - first);
    const uint32_t room = RoundUp(t.perCore, kFloatsPerBlock);
    const uint32_t share = PICK(workspace_of_the_next_core, core, core + 1);
    const GlobalTensor<float> kept = Global<float>(workspace)[share * room];
    pipe_.InitBuffer(queue_, 2, t.tile * sizeof(float));
    // With two buffers the queue itself would order the two passes.
    pipe_.InitBuffer(outQueue_, 4, t.tile * sizeof(float));
    const DataCopyPadExtParams<float> noPad{false, 0, 0, 0.0F};
    for (uint32_t at = 0; at < length; at += t.tile) {
      const uint32_t count = Least(t.tile, length - at);
      LocalTensor<float> in = queue_.template AllocTensor<float>();
      DataCopyPad(in, Global<float>(x)[first + at], Bytes<float>(count), noPad);
      queue_.EnQue(in);
      in = queue_.template DeQue<float>();
      LocalTensor<float> twice = outQueue_.template AllocTensor<float>();
      Muls(twice, in, 2.0F, count);
      queue_.FreeTensor(in);
      outQueue_.EnQue(twice);
      twice = outQueue_.template DeQue<float>();
      if constexpr (kFault != Id("pass_forgotten")) {
        DataCopyPad(kept[at], twice, Bytes<float>(count));  // @keep
      }
      outQueue_.FreeTensor(twice);
    }
    if constexpr (kFault != Id("no_mte3_mte2")) {
      const TEventID event = pipe_.template FetchEventID<HardEvent::MTE3_MTE2>();
      SetFlag<HardEvent::MTE3_MTE2>(event);
      WaitFlag<HardEvent::MTE3_MTE2>(event);
    }
    for (uint32_t at = 0; at < length; at += t.tile) {
      const uint32_t count = Least(t.tile, length - at);
      LocalTensor<float> in = queue_.template AllocTensor<float>();
      DataCopyPad(in, kept[at], Bytes<float>(count), noPad);  // @fetch
      queue_.EnQue(in);
      in = queue_.template DeQue<float>();
      LocalTensor<float> other = queue_.template AllocTensor<float>();
      DataCopyPad(other, Global<float>(y)[first + at], Bytes<float>(count), noPad);
      queue_.EnQue(other);
      other = queue_.template DeQue<float>();
      LocalTensor<float> sum = outQueue_.template AllocTensor<float>();
      Muls(sum, in, 0.5F, count);
      PipeBarrier<PIPE_V>();
      Add(sum, sum, other, count);
      queue_.FreeTensor(in);
      queue_.FreeTensor(other);
      outQueue_.EnQue(sum);
      sum = outQueue_.template DeQue<float>();
      DataCopyPad(Global<float>(z)[first + at], sum, Bytes<float>(count));  // @store_sum
      outQueue_.FreeTensor(sum);
    }
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> queue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
};

KERNEL(TwoPasses, none)
KERNEL(TwoPasses, workspace_of_the_next_core)
KERNEL(TwoPasses, pass_forgotten)
KERNEL(TwoPasses, no_mte3_mte2)

// z = x with its odd tiles replaced by those of y: whole tiles first, then parts over them, on either side.
template <uint64_t kFault>
class Patches {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t half = t.tile / 2;
    pipe_.InitBuffer(buffer_, t.tile * sizeof(float));
    pipe_.InitBuffer(patch_, half * sizeof(float));
    const LocalTensor<float> tile = buffer_.template Get<float>();
    const LocalTensor<float> patch = patch_.template Get<float>();
    for (uint32_t at = 0; at < t.total; at += t.tile) {
      if (at > 0) {
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
      }
      DataCopy(tile, Global<float>(x)[at], t.tile);  // @load_tile
      EDIT(no_mte2_barrier, PipeBarrier<PIPE_MTE2>(), );
      DataCopy(tile[half], Global<float>(y)[at + half], half / 2);  // @load_over
      DataCopy(patch, Global<float>(y)[at], half);
      SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
      WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
      DataCopy(Global<float>(z)[at], tile, t.tile);  // @store_tile
      if constexpr (kFault != Id("no_mte3_barrier") && kFault != Id("barrier_of_another_pipe")) {
        PipeBarrier<PIPE_MTE3>();
      }
      EDIT(barrier_of_another_pipe, , PipeBarrier<PIPE_MTE2>());
      DataCopy(Global<float>(z)[at], patch, half);  // @store_over
      if (at + t.tile < t.total) {
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
      }
    }
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
  TBuf<TPosition::VECCALC> patch_;
};

KERNEL(Patches, none)
KERNEL(Patches, no_mte2_barrier)
KERNEL(Patches, no_mte3_barrier)
KERNEL(Patches, barrier_of_another_pipe)

// z = (x - x[0]) * (sum of y and of a table) + table, with scalars read from UB and written there: what automatic synchronisation would order.
template <uint64_t kFault>
class Scalars {
 public:
  __aicore__ inline void Run(GM_ADDR xGm, GM_ADDR yGm, GM_ADDR zGm, GM_ADDR, const Tiling& t) {
    pipe_.InitBuffer(x_, t.tile * sizeof(float));
    pipe_.InitBuffer(y_, t.tile * sizeof(float));
    pipe_.InitBuffer(z_, t.tile * sizeof(float));
    pipe_.InitBuffer(table_, 64 * sizeof(float));
    const LocalTensor<float> x = x_.template Get<float>();
    const LocalTensor<float> y = y_.template Get<float>();
    const LocalTensor<float> out = z_.template Get<float>();
    const LocalTensor<float> table = table_.template Get<float>();
    DataCopy(x, Global<float>(xGm), t.tile);  // @load_x
    DataCopy(y, Global<float>(yGm), t.tile);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Order<HardEvent::MTE2_S>(kFault != Id("no_mte2_s"));
    const float first = x.GetValue(0);  // @read_first
    for (uint32_t i = 0; i < 64; ++i) {
      table.SetValue(i, static_cast<float>(i));  // @write_table
    }
    Order<HardEvent::S_V>(kFault != Id("no_s_v"));
    Add(y, y, table, 64);  // @mix
    PipeBarrier<PIPE_V>();
    ReduceSum(out, y, table, t.tile);  // @sum
    Order<HardEvent::V_S>(kFault != Id("no_v_s"));
    const float sum = out.GetValue(0);  // @read_sum
    Order<HardEvent::S_V>(kFault != Id("no_s_v_after_read"));
    Adds(out, x, -first, t.tile);  // @subtract
    EDIT(no_v_barrier, PipeBarrier<PIPE_V>(), );
    Muls(out, out, sum, t.tile);  // @multiply
    PipeBarrier<PIPE_V>();
    Add(out, out, table, 64);  // @add_table
    Order<HardEvent::V_S>(kFault != Id("no_v_s_before_write"));
    table.SetValue(0, 100.0F);  // @write_again
    Order<HardEvent::S_V>(true);
    PipeBarrier<PIPE_V>();
    Adds(out, out, 1.0F, t.tile);  // @add_one
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(Global<float>(zGm), out, t.tile);
  }

 private:
  template <HardEvent kEvent>
  __aicore__ inline void Order(bool there) {
    if (there) {
      SetFlag<kEvent>(EVENT_ID1);
      WaitFlag<kEvent>(EVENT_ID1);
    }
  }

  TPipe pipe_;
  TBuf<TPosition::VECCALC> x_, y_, z_, table_;
};

KERNEL(Scalars, none)
KERNEL(Scalars, no_mte2_s)
KERNEL(Scalars, no_s_v)
KERNEL(Scalars, no_v_s)
KERNEL(Scalars, no_s_v_after_read)
KERNEL(Scalars, no_v_barrier)
KERNEL(Scalars, no_v_s_before_write)

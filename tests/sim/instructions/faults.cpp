// SPDX-License-Identifier: Apache-2.0
// One kernel per fault. The line that is wrong ends in "FAULT: <kind>"; a fault of the whole kernel is on its first line.
// SOC: <name> runs it there instead of on the default one.
// clang-format off: a wrong call stays on the line that names its fault.
#include "bench.h"

using namespace AscendC;

namespace {

struct Scratch {
  explicit Scratch(uint32_t bytes = 1024) { pipe.InitBuffer(buffer, bytes); }
  TPipe pipe;
  TBuf<> buffer;
};

}  // namespace

extern "C" __global__ void count_past_the_end(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  Adds(a, a, 1.0f, 256);
  Adds(a, a, 1.0f, 257);  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void mask_repeat_past_the_end(GM_ADDR) {
  Scratch s;
  LocalTensor<half> a = s.buffer.Get<half>();
  Add(a, a, a, 128, 4, {1, 1, 1, 8, 8, 8});
  Add(a, a, a, 128, 4, {1, 1, 1, 8, 8, 9});  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void sub_tensor_past_the_end(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  Exp(a[248], a[248], 8);
  Exp(a[256], a[256], 8);  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void element_past_the_end(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  a.SetValue(255, 1.0f);
  a.SetValue(256, 1.0f);  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void element_read_past_the_end(GM_ADDR gm) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  const float value = a.GetValue(1000);  // FAULT: ub-out-of-bounds
  Global<float>(gm).SetValue(0, value);
}

extern "C" __global__ void get_more_than_the_buffer(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>(257);  // FAULT: ub-out-of-bounds
  Adds(a, a, 1.0f, 8);
}

extern "C" __global__ void copy_into_too_small(GM_ADDR gm) {
  Scratch s;
  DataCopy(s.buffer.Get<float>(), Global<float>(gm), 264);  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void reduce_into_too_small(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  WholeReduceSum(a[254], a, 64, 3, 1, 1, 8);  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void transpose_outside(GM_ADDR) {
  Scratch s;
  LocalTensor<half> a = s.buffer.Get<half>();
  uint64_t dst[16];
  uint64_t src[16];
  for (int i = 0; i < 16; ++i) {
    dst[i] = src[i] = a[i * 16].GetPhyAddr();
  }
  src[15] = a[512].GetPhyAddr();
  TransDataTo5HD<half>(dst, src, {false, false, 1, 0, 0});  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void misaligned_source(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  Add(a, a, a[64], 8);
  Add(a, a, a[65], 8);  // FAULT: ub-misaligned
}

extern "C" __global__ void misaligned_copy(GM_ADDR gm) {
  Scratch s;
  DataCopy(s.buffer.Get<half>()[8], Global<half>(gm), 16);  // FAULT: ub-misaligned
}

extern "C" __global__ void misaligned_index_result(GM_ADDR) {
  Scratch s;
  LocalTensor<half> a = s.buffer.Get<half>();
  WholeReduceSum(a[1], a[128], 128, 1, 1, 1, 8);
  WholeReduceMax(a[1], a[128], 128, 1, 1, 1, 8);  // FAULT: ub-misaligned
}

extern "C" __global__ void tensor_without_buffer(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  LocalTensor<float> nothing;
  Add(a, a, nothing, 8);  // FAULT: ub-never-allocated
}

extern "C" __global__ void copy_past_the_tensor(GM_ADDR gm) {
  Scratch s(8192);
  DataCopy(s.buffer.Get<float>(), Global<float>(gm), 1024);
  DataCopy(s.buffer.Get<float>(), Global<float>(gm), 1032);  // FAULT: gm-out-of-bounds
}

extern "C" __global__ void copy_out_past_the_tensor(GM_ADDR gm) {
  Scratch s;
  DataCopyPad(Global<float>(gm)[1020], s.buffer.Get<float>(), DataCopyExtParams(1, 20, 0, 0, 0));  // FAULT: gm-out-of-bounds
}

extern "C" __global__ void copy_from_nowhere(GM_ADDR gm) {
  Scratch s;
  DataCopy(s.buffer.Get<float>(), Global<float>(gm + (1ull << 40)), 8);  // FAULT: gm-out-of-bounds
}

extern "C" __global__ void gm_element_past_the_tensor(GM_ADDR gm) {
  Scratch s;
  Global<int32_t>(gm).SetValue(1024, 1);  // FAULT: gm-out-of-bounds
}

extern "C" __global__ void gm_elements_up_to_beyond_the_tensor(GM_ADDR gm) {
  GlobalTensor<int64_t> numbers = Global<int64_t>(gm)[500];
  for (uint32_t i = 0; i <= 12; ++i) {
    numbers.SetValue(i, i);  // FAULT: gm-out-of-bounds
  }
}

extern "C" __global__ void gm_element_read_past_the_tensor(GM_ADDR gm) {
  const half last = Global<half>(gm).GetValue(2047);
  const half next = Global<half>(gm).GetValue(2048);  // FAULT: gm-out-of-bounds
  Global<half>(gm).SetValue(0, last == next ? last : next);
}

extern "C" __global__ void gm_element_named_past_the_tensor(GM_ADDR gm) {
  Global<uint8_t>(gm)(4095) = 1;
  Global<uint8_t>(gm)(4096) = 1;  // FAULT: gm-out-of-bounds
}

extern "C" __global__ void alloc_without_free(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> que;
  pipe.InitBuffer(que, 2, 256);
  LocalTensor<float> a = que.AllocTensor<float>();
  LocalTensor<float> b = que.AllocTensor<float>();
  LocalTensor<float> c = que.AllocTensor<float>();  // FAULT: queue-exhausted
  Add(a, b, c, 8);
}

extern "C" __global__ void free_twice(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> que;
  pipe.InitBuffer(que, 2, 256);
  LocalTensor<float> a = que.AllocTensor<float>();
  que.FreeTensor(a);
  que.FreeTensor(a);  // FAULT: queue-order
}

extern "C" __global__ void enque_freed(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> que;
  pipe.InitBuffer(que, 2, 256);
  LocalTensor<float> a = que.AllocTensor<float>();
  que.FreeTensor(a);
  que.EnQue(a);  // FAULT: queue-order
}

extern "C" __global__ void free_queued(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> que;
  pipe.InitBuffer(que, 2, 256);
  LocalTensor<float> a = que.AllocTensor<float>();
  que.EnQue(a);
  que.FreeTensor(a);  // FAULT: queue-order
}

extern "C" __global__ void enque_beyond_depth(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> que;
  pipe.InitBuffer(que, 2, 256);
  LocalTensor<float> a = que.AllocTensor<float>();
  LocalTensor<float> b = que.AllocTensor<float>();
  que.EnQue(a);
  que.EnQue(b);  // FAULT: queue-depth
}

extern "C" __global__ void deque_empty(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> que;
  pipe.InitBuffer(que, 1, 256);
  LocalTensor<float> a = que.DeQue<float>();  // FAULT: queue-empty
  Adds(a, a, 1.0f, 8);
}

extern "C" __global__ void free_into_another_queue(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 256);
  pipe.InitBuffer(out, 1, 256);
  LocalTensor<float> a = in.AllocTensor<float>();
  out.FreeTensor(a);  // FAULT: queue-foreign-tensor
}

extern "C" __global__ void queue_without_init(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> que;
  LocalTensor<float> a = que.AllocTensor<float>();  // FAULT: queue-not-initialised
  Adds(a, a, 1.0f, 8);
}

extern "C" __global__ void queued_at_the_end(GM_ADDR) {  // FAULT: queue-leak
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> que;
  pipe.InitBuffer(que, 1, 256);
  LocalTensor<float> a = que.AllocTensor<float>();
  que.EnQue(a);
}

extern "C" __global__ void wait_without_set(GM_ADDR) {
  TPipe pipe;
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);  // FAULT: deadlock
}

extern "C" __global__ void set_twice(GM_ADDR) {
  TPipe pipe;
  SetFlag<HardEvent::V_MTE3>(EVENT_ID3);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID3);  // FAULT: flag-set-twice
}

extern "C" __global__ void set_fetched_twice(GM_ADDR) {
  TPipe pipe;
  SetFlag<HardEvent::V_MTE3>(pipe.FetchEventID(HardEvent::V_MTE3));
  SetFlag<HardEvent::V_MTE3>(pipe.FetchEventID(HardEvent::V_MTE3));  // FAULT: flag-set-twice
}

extern "C" __global__ void event_id_eight(GM_ADDR) {
  TPipe pipe;
  SetFlag<HardEvent::V_MTE3>(8);  // FAULT: event-id-range
}

extern "C" __global__ void too_many_event_ids(GM_ADDR gm) {
  TPipe pipe;
  for (int i = 0; i < 9; ++i) {
    const TEventID id = pipe.AllocEventID<HardEvent::V_S>();  // FAULT: event-id-exhausted
    Global<int32_t>(gm).SetValue(0, id);
  }
}

extern "C" __global__ void no_such_key(GM_ADDR) {  // FAULT: tiling-key-unknown
  TPipe pipe;
  if (TILING_KEY_IS(11)) {
    return;
  } else if (TILING_KEY_IS(12)) {
    return;
  }
}

extern "C" __global__ void repeat_256(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  WholeReduceSum(a, a, 64, 256, 0, 1, 0);  // FAULT: repeat-range
}

extern "C" __global__ void cast_mode(GM_ADDR) {
  Scratch s;
  Cast(s.buffer.Get<bfloat16_t>(), s.buffer.Get<float>(), RoundMode::CAST_NONE, 8);  // FAULT: cast-unsupported
}

extern "C" __global__ void cast_pair(GM_ADDR) {
  Scratch s;
  Cast(s.buffer.Get<half>(), s.buffer.Get<bfloat16_t>(), RoundMode::CAST_RINT, 8);  // FAULT: cast-unsupported
}

extern "C" __global__ void tiling_struct_too_long(GM_ADDR gm) {
  struct Tiling {
    uint8_t fields[4104];
  };
  GET_TILING_DATA_WITH_STRUCT(Tiling, tiling, gm);  // FAULT: gm-out-of-bounds
  (void)tiling;
}

extern "C" __global__ void cast_absent_on_310p(GM_ADDR) {  // SOC: Ascend310P3
  Scratch s;
  Cast(s.buffer.Get<half>(), s.buffer.Get<float>(), RoundMode::CAST_RINT, 8);  // FAULT: cast-unsupported
}

extern "C" __global__ void widening_in_place(GM_ADDR) {
  Scratch s;
  Cast(s.buffer.Get<float>(), s.buffer.Get<half>(), RoundMode::CAST_NONE, 8);  // FAULT: overlap
}

extern "C" __global__ void add_of_bf16(GM_ADDR) {
  Scratch s;
  LocalTensor<bfloat16_t> a = s.buffer.Get<bfloat16_t>();
  Add(a, a, a, 8);  // FAULT: dtype-unsupported
}

extern "C" __global__ void exp_of_int(GM_ADDR) {
  Scratch s;
  LocalTensor<int32_t> a = s.buffer.Get<int32_t>();
  Exp(a, a, 8);  // FAULT: dtype-unsupported
}

extern "C" __global__ void duplicate_of_bytes(GM_ADDR) {
  Scratch s;
  Duplicate(s.buffer.Get<uint8_t>(), uint8_t(1), 32);  // FAULT: dtype-unsupported
}

extern "C" __global__ void compare_ints_lt(GM_ADDR) {
  Scratch s;
  LocalTensor<int32_t> a = s.buffer.Get<int32_t>();
  Compare(s.buffer.Get<uint8_t>(), a, a, CMPMODE::LT, 64);  // FAULT: dtype-unsupported
}

extern "C" __global__ void pad_on_310p(GM_ADDR gm) {  // SOC: Ascend310P3
  Scratch s;
  DataCopyPad(s.buffer.Get<half>(), Global<half>(gm), DataCopyExtParams(1, 6, 0, 0, 0), {false, 0, 0, half(0)});  // FAULT: instruction-absent
}

extern "C" __global__ void copy_on_910a(GM_ADDR) {  // SOC: Ascend910A
  Scratch s;
  LocalTensor<half> a = s.buffer.Get<half>();
  Copy(a, a[256], 128, 1, {1, 1, 8, 8});  // FAULT: instruction-absent
}

extern "C" __global__ void brcb_on_910a(GM_ADDR) {  // SOC: Ascend910A
  Scratch s;
  LocalTensor<half> a = s.buffer.Get<half>();
  Brcb(a, a[256], 1, {1, 8});  // FAULT: instruction-absent
}

extern "C" __global__ void order_on_310p(GM_ADDR) {  // SOC: Ascend310P3
  Scratch s;
  LocalTensor<half> a = s.buffer.Get<half>();
  WholeReduceMax(a, a[128], 128, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);  // FAULT: reduce-order
}

extern "C" __global__ void copy_too_many_blocks(GM_ADDR gm) {
  Scratch s;
  DataCopy(s.buffer.Get<float>(), Global<float>(gm), DataCopyParams(4096, 1, 0, 0));  // FAULT: copy-block-count
}

extern "C" __global__ void copy_half_an_element(GM_ADDR gm) {
  Scratch s;
  DataCopyPad(Global<float>(gm), s.buffer.Get<float>(), DataCopyExtParams(1, 6, 0, 0, 0));  // FAULT: copy-block-length
}

extern "C" __global__ void copy_padding(GM_ADDR gm) {
  Scratch s;
  DataCopyPad(s.buffer.Get<float>(), Global<float>(gm), DataCopyExtParams(1, 8, 0, 0, 0), {true, 0, 9, 0.0f});  // FAULT: copy-padding
}

extern "C" __global__ void copy_padding_value(GM_ADDR gm) {
  Scratch s;
  DataCopyPad(s.buffer.Get<int64_t>(), Global<int64_t>(gm), DataCopyExtParams(1, 8, 0, 0, 0), {true, 0, 1, 5});  // FAULT: copy-padding
}

extern "C" __global__ void shift_33(GM_ADDR) {
  Scratch s;
  LocalTensor<int32_t> a = s.buffer.Get<int32_t>();
  ShiftLeft(a, a, 32, 8);
  ShiftLeft(a, a, 33, 8);  // FAULT: shift-range
}

extern "C" __global__ void overlapping_operands(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  Adds(a, a[64], 1.0f, 64);
  Adds(a, a[8], 1.0f, 64);  // FAULT: overlap
}

extern "C" __global__ void overlapping_brcb(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  Brcb(a, a, 1, {1, 8});  // FAULT: overlap
}

extern "C" __global__ void too_much_ub(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in;
  TBuf<> rest;
  pipe.InitBuffer(in, 2, 65536);
  pipe.InitBuffer(rest, 65568);  // FAULT: ub-overflow
}

extern "C" __global__ void select_bytes_shape(GM_ADDR) {
  Scratch s(8192);
  SelectWithBytesMaskShapeInfo info;
  info.firstAxis = 1;
  info.srcLastAxis = info.maskLastAxis = 32;
  LocalTensor<float> a = s.buffer.Get<float>();
  SelectWithBytesMask(a, a, 0.0f, s.buffer.Get<uint8_t>()[1024], s.buffer.Get<uint8_t>()[4096], info);  // FAULT: shape
}

extern "C" __global__ void failed_assertion(GM_ADDR gm) {
  TPipe pipe;
  ASSERT(gm != nullptr);
  ASSERT(gm == nullptr && "never null");  // FAULT: assert
}

extern "C" __global__ void trapped(GM_ADDR) {
  TPipe pipe;
  Trap();  // FAULT: trap
}

extern "C" __global__ void wild_pointer(GM_ADDR) {
  TPipe pipe;
  volatile uintptr_t address = 0x10;
  auto* nowhere = reinterpret_cast<volatile float*>(address);
  *nowhere = 1.0f;  // FAULT: crash
}

extern "C" __global__ void aborted(GM_ADDR) {
  TPipe pipe;
  std::abort();  // FAULT: crash
}

extern "C" __global__ void divides_by_zero(GM_ADDR) {
  TPipe pipe;
  volatile int32_t rows = 0;
  volatile int32_t each = 64 / rows;  // FAULT: crash
  static_cast<void>(each);
}

static int32_t Deeper(int32_t by) { volatile int32_t here[1024]; here[by % 8] = by; return here[by % 8] < 0 ? 0 : Deeper(by + 1) + here[by % 8]; }  // FAULT: crash in full_stack
extern "C" __global__ void full_stack(GM_ADDR) {
  TPipe pipe;
  volatile int32_t depth = Deeper(0);
  static_cast<void>(depth);
}

// A member function as kernels have them: the last call is the wrong one, where an optimising compiler would jump.
struct Tail {
  __attribute__((noinline)) void Wait() { WaitFlag<HardEvent::MTE3_V>(EVENT_ID2); }  // FAULT: deadlock in last_call_of_a_function
};

extern "C" __global__ void last_call_of_a_function(GM_ADDR) {
  TPipe pipe;
  Tail tail;
  tail.Wait();
}

extern "C" __global__ void core_flag_never_waited_for(GM_ADDR) {
  TPipe pipe;
  CrossCoreSetFlag<0, PIPE_MTE3>(4);
  CrossCoreWaitFlag(4);
  CrossCoreSetFlag<0, PIPE_V>(4);  // FAULT: cross-core-flag
}

extern "C" __global__ void core_flag_of_syncall(GM_ADDR) {
  TPipe pipe;
  CrossCoreSetFlag<0, PIPE_MTE3>(12);
  CrossCoreWaitFlag(12);
  SyncAll();
  CrossCoreSetFlag<0, PIPE_MTE3>(12);  // FAULT: cross-core-flag
  SyncAll();
  CrossCoreWaitFlag(12);
}

extern "C" __global__ void core_flag_sixteen(GM_ADDR) {
  TPipe pipe;
  CrossCoreSetFlag<0, PIPE_MTE3>(15);
  CrossCoreWaitFlag(15);
  CrossCoreSetFlag<0, PIPE_MTE3>(16);  // FAULT: cross-core-flag
}

extern "C" __global__ void core_flag_overflow(GM_ADDR) {
  TPipe pipe;
  for (int i = 0; i < 16; ++i) {
    CrossCoreSetFlag<0, PIPE_V>(0);  // FAULT: cross-core-flag
  }
}

extern "C" __global__ void core_flag_waits_for_itself(GM_ADDR) {
  TPipe pipe;
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);  // FAULT: deadlock
  CrossCoreSetFlag<0, PIPE_MTE3>(0);
  CrossCoreWaitFlag(0);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
}

extern "C" __global__ void pool_too_small(GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool;
  TBuf<> a;
  TBuf<> b;
  pipe.InitBufPool(pool, 1024);
  pool.InitBuffer(a, 1000);
  pool.InitBuffer(b, 32);  // FAULT: ub-overflow
}

extern "C" __global__ void pool_of_too_many_buffers(GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool;
  TQue<TPosition::VECIN, 1> a;
  pipe.InitBufPool(pool, 4096);
  pool.InitBuffer(a, 5, 32);  // FAULT: ub-overflow
}

extern "C" __global__ void pool_longer_than_the_shared_one(GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool;
  TBufPool<TPosition::VECCALC> other;
  pipe.InitBufPool(pool, 1024);
  pipe.InitBufPool(other, 1056, pool);  // FAULT: ub-overflow
}

extern "C" __global__ void pool_without_bytes(GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool;
  TBuf<> a;
  pool.InitBuffer(a, 32);  // FAULT: queue-not-initialised
}

extern "C" __global__ void pool_larger_than_ub(GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool;
  pipe.InitBufPool(pool, 200 * 1024);  // FAULT: ub-overflow
}

struct Outside {
  Outside() { Init(); }
  EXTERN_IMPL_BUFPOOL(Outside, TPosition::VECCALC, 2);
};

extern "C" __global__ void buffer_beside_its_pool(GM_ADDR) {
  TPipe pipe;
  Outside pool;
  TBuf<> a;
  pipe.InitBufPool(pool, 64);
  a.InitStartBufHandle(pool.GetBufHandle(0), 1, 32);
  a.InitBufHandle(&pool, 0, pool.GetBufHandle(0), pool.GetCurAddr() + 64, 32);  // FAULT: ub-overflow
}

extern "C" __global__ void stale_tensor_of_a_pool(GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool;
  TQue<TPosition::VECIN, 1> a;
  pipe.InitBufPool(pool, 64);
  pool.InitBuffer(a, 1, 64);
  LocalTensor<float> x = a.AllocTensor<float>();
  pool.Reset();
  Duplicate(x, 1.0f, 16);  // FAULT: ub-use-after-free
}

extern "C" __global__ void layout_of_broken_tiles(GM_ADDR) {
  Scratch s(8192);
  LocalTensor<half> a = s.buffer.Get<half>();
  ConfusionTransposeTiling tiling;
  tiling.param1 = 16;
  tiling.param2 = 24;
  Transpose(a, a[1024], TransposeType::TRANSPOSE_ND2ND_ONLY, tiling);  // FAULT: shape
}

extern "C" __global__ void layout_outside(GM_ADDR) {
  Scratch s(2048);
  LocalTensor<half> a = s.buffer.Get<half>();
  ConfusionTransposeTiling tiling;
  tiling.param1 = 32;
  tiling.param2 = 32;
  Transpose(a, a[512], TransposeType::TRANSPOSE_ND2ND_ONLY, tiling);  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void comparison_register_past_the_end(GM_ADDR) {
  Scratch s;
  LocalTensor<uint8_t> a = s.buffer.Get<uint8_t>();
  GetCmpMask(a[1008]);
  GetCmpMask(a[1024]);  // FAULT: ub-out-of-bounds
}

extern "C" __global__ void endless_loop(GM_ADDR) {
  volatile uint32_t left = 1;
  while (left != 0) { left = left + 2; }  // FAULT: hang
}

extern "C" __global__ void endless_poll(GM_ADDR gm) {
  GlobalTensor<float> flag = Global<float>(gm);
  while (flag.GetValue(0) + flag.GetValue(512) == 0.0f) {}  // FAULT: hang
}

extern "C" __global__ void endless_poll_of_ub(GM_ADDR) {
  Scratch s;
  LocalTensor<float> a = s.buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  while (a.GetValue(0) == 1.0f) { a.SetValue(0, a.GetValue(32)); }  // FAULT: hang
}

extern "C" __global__ void endless_count(GM_ADDR) {
  volatile uint64_t bits = 5;
  while (ScalarGetCountOfValue<1>(bits) == 2) {}  // FAULT: hang
}

extern "C" __global__ void endless_tiles(GM_ADDR gm) {
  Scratch s;
  volatile uint32_t step = 0;
  for (uint32_t at = 0; at < 64; at += step) { DataCopy(s.buffer.Get<float>(), Global<float>(gm)[at], 64); }  // FAULT: hang
}

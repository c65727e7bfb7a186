// SPDX-License-Identifier: Apache-2.0
// Rules that pages of the device API state. A kernel whose name begins with "right_" keeps them all; of the others the line that
// breaks one ends in "FINDS: <kind>", or in "HINT: <kind>" where the page asks for more than hardware needs.
// SOC: <name> runs it there instead of on the default one. BLOCKS: <n> launches so many.
// clang-format off: a wrong call stays on the line that names its rule.
#include "bench.h"

using namespace AscendC;

namespace {

// 8 KB of UB that hold ones.
struct Ones {
  explicit Ones(float value = 1.0f) {
    pipe.InitBuffer(buffer, 8192);
    Duplicate(Get<float>(), value, 2048);
    PipeBarrier<PIPE_ALL>();
  }
  template <typename T>
  LocalTensor<T> Get(uint32_t byte = 0) { return buffer.Get<T>()[byte / sizeof(T)]; }
  TPipe pipe;
  TBuf<> buffer;
};

// Counts that the compiler does not know.
int32_t Below(int32_t zero) { volatile int32_t by = 64; return zero - by; }

}  // namespace

// --- counts -----------------------------------------------------------------------------------------------------------

extern "C" __global__ void negative_duplicate(GM_ADDR) { Ones s; Duplicate(s.Get<float>(), 0.0f, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_add(GM_ADDR) { Ones s; auto a = s.Get<float>(); Add(a, a, a, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_exp(GM_ADDR) { Ones s; auto a = s.Get<half>(); Exp(a, a, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_adds(GM_ADDR) { Ones s; auto a = s.Get<float>(); Adds(a, a, 1.0f, Below(63)); }  // FINDS: count-range
extern "C" __global__ void negative_shift(GM_ADDR) { Ones s; auto a = s.Get<int32_t>(); ShiftRight(a, a, 1, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_not(GM_ADDR) { Ones s; auto a = s.Get<uint16_t>(); Not(a, a, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_axpy(GM_ADDR) { Ones s; auto a = s.Get<float>(); Axpy(a, a, 2.0f, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_mul_add(GM_ADDR) { Ones s; auto a = s.Get<float>(); MulAddDst(a, a, a, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_sum(GM_ADDR) { Ones s; auto a = s.Get<float>(); ReduceSum(a, a, s.Get<float>(4096), Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_max(GM_ADDR) { Ones s; auto a = s.Get<half>(); ReduceMax(a, a, s.Get<half>(4096), Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_arange(GM_ADDR) { Ones s; ArithProgression(s.Get<float>(), 0.0f, 1.0f, Below(0)); }  // FINDS: count-range
extern "C" __global__ void negative_on_950(GM_ADDR) { /* SOC: Ascend950PR_9599 */ Ones s; auto a = s.Get<float>(); Adds(a, a, 1.0f, Below(0)); }  // FINDS: count-range
// A count that is unsigned in the API: billions of elements.
extern "C" __global__ void negative_cast(GM_ADDR) { Ones s; Cast(s.Get<half>(4096), s.Get<float>(), RoundMode::CAST_RINT, Below(0)); }  // FINDS: ub-out-of-bounds
extern "C" __global__ void right_counts(GM_ADDR) { Ones s; auto a = s.Get<float>(); Duplicate(a, 0.0f, 0); Adds(a, a, 1.0f, Below(64)); Adds(a, a, 1.0f, 1); }

// --- registers that other calls set ------------------------------------------------------------------------------------

extern "C" __global__ void dequantise_without_a_scale(GM_ADDR) { Ones s; AddDeqRelu(s.Get<half>(4096), s.Get<int32_t>(), s.Get<int32_t>(1024), 64); }  // FINDS: undefined-read
extern "C" __global__ void right_dequantise(GM_ADDR) { Ones s; SetDeqScale(half(2.0f)); AddDeqRelu(s.Get<half>(4096), s.Get<int32_t>(), s.Get<int32_t>(1024), 64); }

// --- indices ----------------------------------------------------------------------------------------------------------

// Half of all UB, and behind it work for a maximum.
struct Halves {
  Halves() {
    pipe.InitBuffer(buffer, 140000);
    pipe.InitBuffer(work, 16384);
    for (uint32_t done = 0; done < 70000; done += 10000) Duplicate(All()[done], half(1.0f), 10000);
    PipeBarrier<PIPE_ALL>();
  }
  LocalTensor<half> All() { return buffer.Get<half>(); }
  TPipe pipe;
  TBuf<> buffer, work;
};
extern "C" __global__ void index_of_half_above_65535(GM_ADDR) { Halves h; ReduceMax(h.work.Get<half>(), h.All(), h.work.Get<half>()[64], 65552, true); }  // FINDS: count-range
extern "C" __global__ void right_index_of_half(GM_ADDR) { Halves h; ReduceMax(h.work.Get<half>(), h.All(), h.work.Get<half>()[64], 65536, true); }
extern "C" __global__ void right_maximum_without_index(GM_ADDR) { Halves h; ReduceMin(h.work.Get<half>(), h.All(), h.work.Get<half>()[64], 65552); }

// --- masks ------------------------------------------------------------------------------------------------------------

extern "C" __global__ void high_mask_in_counter_mode(GM_ADDR) {
  Ones s;
  auto a = s.Get<float>();
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(~0ull, 64);  // HINT: mask-range
  Adds<float, false>(a, a, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
  SetMaskNorm();
  ResetMask();
}
extern "C" __global__ void right_mask_in_counter_mode(GM_ADDR) {
  Ones s;
  auto a = s.Get<float>();
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(0, 64);
  Adds<float, false>(a, a, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
  SetMaskNorm();
  SetVectorMask<float>(0, ~0ull);
  Adds<float, false>(a, a, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
  ResetMask();
}

// --- sorting ----------------------------------------------------------------------------------------------------------

extern "C" __global__ void sort_of_nothing(GM_ADDR) {
  Ones s;
  LocalTensor<float> work = s.Get<float>(4096);
  Sort<float, true>(s.Get<float>(2048), s.Get<float>(), s.Get<uint32_t>(1024), work, Below(64));  // FINDS: repeat-range
}
extern "C" __global__ void merge_of_nothing(GM_ADDR) {
  Ones s;
  const uint16_t lengths[4] = {8, 8, 8, 8};
  uint32_t sorted[4];
  auto a = s.Get<float>();
  MrgSort<float>(s.Get<float>(4096), MrgSortSrcList<float>(a, a[16], a[32], a[48]), lengths, sorted, 15, Below(64));  // FINDS: repeat-range
}
extern "C" __global__ void merge_256_times(GM_ADDR) {
  Ones s;
  const uint16_t lengths[4] = {1, 1, 1, 1};
  uint32_t sorted[4];
  auto a = s.Get<float>();
  MrgSort<float>(s.Get<float>(4096), MrgSortSrcList<float>(a, a[2], a[4], a[6]), lengths, sorted, 15, 256);  // FINDS: repeat-range
}
extern "C" __global__ void sort32_dst_off_256(GM_ADDR) { Ones s; Sort32(s.Get<float>(4096 + 32), s.Get<float>(), s.Get<uint32_t>(1024), 1); }  // HINT: sort-alignment
extern "C" __global__ void sort32_score_off_128(GM_ADDR) { Ones s; Sort32(s.Get<float>(4096), s.Get<float>(64), s.Get<uint32_t>(1024), 1); }  // HINT: sort-alignment
extern "C" __global__ void sort32_half_off_64(GM_ADDR) { Ones s; Sort32(s.Get<half>(4096), s.Get<half>(32), s.Get<uint32_t>(1024), 1); }  // HINT: sort-alignment
extern "C" __global__ void sort32_index_off_128(GM_ADDR) { Ones s; Sort32(s.Get<float>(4096), s.Get<float>(), s.Get<uint32_t>(1024 + 32), 1); }  // HINT: sort-alignment
extern "C" __global__ void right_sorts(GM_ADDR) {
  Ones s;
  LocalTensor<float> work = s.Get<float>(6144);
  Sort32(s.Get<float>(4096), s.Get<float>(), s.Get<uint32_t>(1024), 1);
  PipeBarrier<PIPE_V>();
  Sort32(s.Get<half>(4096), s.Get<half>(64), s.Get<uint32_t>(1024), 1);
  PipeBarrier<PIPE_V>();
  Sort<float, true>(s.Get<float>(4096), s.Get<float>(), s.Get<uint32_t>(1024), work, 2);
  PipeBarrier<PIPE_V>();
  const uint16_t lengths[4] = {8, 8, 8, 8};
  uint32_t sorted[4];
  auto a = s.Get<float>();
  MrgSort<float>(s.Get<float>(4096), MrgSortSrcList<float>(a, a[16], a[32], a[48]), lengths, sorted, 15, 1);
}

// --- overlap ----------------------------------------------------------------------------------------------------------

extern "C" __global__ void overlap_within_a_strided_repeat(GM_ADDR) { Ones s; auto a = s.Get<float>(); Abs(a[8], a, 64, 1, {2, 1, 8, 8}); }  // FINDS: overlap
extern "C" __global__ void overlap_of_a_later_repeat(GM_ADDR) { Ones s; auto a = s.Get<float>(); Abs(a[64], a, 32, 2, {1, 1, 8, 8}); }  // FINDS: overlap
extern "C" __global__ void overlap_by_other_strides(GM_ADDR) { Ones s; auto a = s.Get<float>(); Muls(a, a, 2.0f, 64, 2, {1, 1, 8, 4}); }  // FINDS: overlap
extern "C" __global__ void overlap_by_short_strides(GM_ADDR) { Ones s; auto a = s.Get<float>(); Muls(a, a, 2.0f, 64, 2, {1, 1, 4, 4}); }  // FINDS: overlap
extern "C" __global__ void overlap_by_no_stride(GM_ADDR) { Ones s; auto a = s.Get<float>(); Adds(a, a, 2.0f, 64, 2, {1, 1, 0, 0}); }  // FINDS: overlap
extern "C" __global__ void overlap_of_the_first_source(GM_ADDR) { Ones s; auto a = s.Get<float>(); Add(a[64], a, a[512], 64, 2, {1, 1, 1, 8, 8, 8}); }  // FINDS: overlap
extern "C" __global__ void overlap_of_division(GM_ADDR) { Ones s; auto a = s.Get<float>(); Div(a, a[512], a, 64, 2, {1, 1, 1, 0, 8, 0}); }  // FINDS: overlap
extern "C" __global__ void overlap_of_bits(GM_ADDR) { Ones s; auto a = s.Get<float>(); uint64_t mask[2] = {0xFF00, 0}; Abs(a[64], a, mask, 2, {1, 1, 8, 8}); }  // FINDS: overlap
extern "C" __global__ void right_overlaps(GM_ADDR) {
  Ones s;
  auto a = s.Get<float>();
  Max(a, a[64], a, 64, 7, {1, 1, 1, 0, 8, 0});  // the second source accumulates
  PipeBarrier<PIPE_V>();
  Add(a, a, a[512], 64, 2, {1, 1, 1, 0, 0, 8});
  PipeBarrier<PIPE_V>();
  Muls(a, a, 2.0f, 64, 4, {1, 1, 8, 8});
  PipeBarrier<PIPE_V>();
  Muls(a, a[64], 2.0f, 32, 4, {1, 1, 8, 8});  // below what is yet to be read
  PipeBarrier<PIPE_V>();
  Muls(a[32], a, 2.0f, 32, 4, {1, 1, 8, 8});  // between the blocks of the source
  PipeBarrier<PIPE_V>();
  Muls(a[8], a, 2.0f, 32, 4, {2, 2, 8, 8});  // likewise, block by block
  PipeBarrier<PIPE_V>();
  uint64_t mask[2] = {0xFF00, 0};
  Abs(a[8], a, mask, 2, {1, 1, 8, 8});  // one block works
  PipeBarrier<PIPE_V>();
  Cast(s.Get<half>(), a, RoundMode::CAST_RINT, 64, 4, {1, 1, 4, 8});
}

// --- masks ------------------------------------------------------------------------------------------------------------

extern "C" __global__ void mask_left_for_the_next(GM_ADDR gm) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 512);
  auto a = buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  PipeBarrier<PIPE_V>();
  SetVectorMask<float>(0, 0xFFFF);
  Adds<float, false>(a[64], a, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});  // FINDS: undefined-read
  ResetMask();
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(gm), a[64], 64);
}

// The count form of a scalar with isSetMask = false: the mask that was set counts, the count does not.
extern "C" __global__ void right_count_without_a_mask(GM_ADDR gm) {
  Ones s;
  auto a = s.Get<float>();
  Duplicate(a[64], 7.0f, 64);
  PipeBarrier<PIPE_V>();
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(0, 20);
  Muls<float, false>(a[64], a, 2.0f, 1);
  SetMaskNorm();
  ResetMask();
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<float>(gm), a[64], 64);
}

// --- turns of blocks --------------------------------------------------------------------------------------------------

namespace {
struct Turns {
  explicit Turns(GM_ADDR gm, uint32_t elements = 512) { pipe.InitBuffer(buffer, 4096); words.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(gm), elements); ub = buffer.Get<int32_t>(); }
  TPipe pipe;
  TBuf<> buffer;
  GlobalTensor<int32_t> words;
  LocalTensor<int32_t> ub;
};
}  // namespace

extern "C" __global__ void turn_without_words(GM_ADDR gm) {
  Turns t(gm);
  WaitPreBlock(t.words, t.ub);  // FINDS: sync-workspace
  NotifyNextBlock(t.words, t.ub);
}
extern "C" __global__ void turn_with_few_words(GM_ADDR gm) {  // BLOCKS: 4
  Turns t(gm, 8);
  InitDetermineComputeWorkspace(t.words, t.ub);  // FINDS: sync-workspace
  WaitPreBlock(t.words, t.ub);
  NotifyNextBlock(t.words, t.ub);
}
extern "C" __global__ void turn_passed_and_never_taken(GM_ADDR gm) {
  Turns t(gm);
  InitDetermineComputeWorkspace(t.words, t.ub);
  NotifyNextBlock(t.words, t.ub);  // FINDS: block-event
}
extern "C" __global__ void turn_taken_and_never_passed(GM_ADDR gm) {
  Turns t(gm);
  InitDetermineComputeWorkspace(t.words, t.ub);
  WaitPreBlock(t.words, t.ub);  // FINDS: block-event
}
extern "C" __global__ void turn_more_often_on_the_first(GM_ADDR gm) {  // BLOCKS: 2
  Turns t(gm);
  InitDetermineComputeWorkspace(t.words, t.ub);
  for (int64_t i = GetBlockIdx(); i < 2; ++i) {
    WaitPreBlock(t.words, t.ub);  // FINDS: block-event
    NotifyNextBlock(t.words, t.ub);
  }
}
extern "C" __global__ void turn_of_more_blocks_than_cores(GM_ADDR gm) {  // BLOCKS: 60
  Turns t(gm);
  InitDetermineComputeWorkspace(t.words, t.ub);
  WaitPreBlock(t.words, t.ub);  // FINDS: syncall-cores
  NotifyNextBlock(t.words, t.ub);
}
extern "C" __global__ void right_turns(GM_ADDR gm) {  // BLOCKS: 8
  Turns t(gm);
  InitDetermineComputeWorkspace(t.words, t.ub);
  for (int i = 0; i < 3; ++i) {
    WaitPreBlock(t.words, t.ub);
    NotifyNextBlock(t.words, t.ub);
  }
}

// --- atomics ----------------------------------------------------------------------------------------------------------

extern "C" __global__ void atomic_of_another_type(GM_ADDR gm) {
  Ones s;
  SetAtomicAdd<half>();
  DataCopy(Global<float>(gm), s.Get<float>(), 8);  // FINDS: atomic-dtype
  SetAtomicNone();
}
extern "C" __global__ void atomic_of_an_integer(GM_ADDR gm) {
  Ones s;
  SetAtomicMax<int32_t>();
  DataCopyPad(Global<float>(gm), s.Get<float>(), DataCopyExtParams(1, 8, 0, 0, 0));  // FINDS: atomic-dtype
  SetAtomicNone();
}
extern "C" __global__ void right_atomics(GM_ADDR gm) {
  Ones s;
  SetAtomicAdd<float>();
  DataCopy(Global<float>(gm), s.Get<float>(), 8);
  PipeBarrier<PIPE_MTE3>();
  DataCopy(Global<uint8_t>(gm), s.Get<uint8_t>(), 32);
  PipeBarrier<PIPE_MTE3>();
  SetAtomicAdd<int32_t>();
  DataCopy(Global<uint32_t>(gm), s.Get<uint32_t>(), 8);
  SetAtomicNone();
  PipeBarrier<PIPE_MTE3>();
  DataCopy(Global<half>(gm), s.Get<half>(), 16);
}

// --- event ids --------------------------------------------------------------------------------------------------------

extern "C" __global__ void event_id_kept(GM_ADDR) {
  TPipe pipe;
  const TEventID id = pipe.AllocEventID<HardEvent::V_S>();  // HINT: event-id-pair
  SetFlag<HardEvent::V_S>(id);
  WaitFlag<HardEvent::V_S>(id);
}
extern "C" __global__ void event_id_released_twice(GM_ADDR) {
  TPipe pipe;
  const TEventID id = pipe.AllocEventID<HardEvent::V_S>();
  pipe.ReleaseEventID<HardEvent::V_S>(id);
  pipe.ReleaseEventID<HardEvent::V_S>(id);  // HINT: event-id-pair
}
extern "C" __global__ void right_event_ids(GM_ADDR) {
  TPipe pipe;
  for (int i = 0; i < 20; ++i) {
    const TEventID id = pipe.AllocEventID<HardEvent::V_S>();
    SetFlag<HardEvent::V_S>(id);
    WaitFlag<HardEvent::V_S>(id);
    pipe.ReleaseEventID<HardEvent::V_S>(id);
  }
}

// --- the data cache ---------------------------------------------------------------------------------------------------

extern "C" __global__ void bypass_of_a_dirty_line(GM_ADDR gm) {
  GlobalTensor<int32_t> words = Global<int32_t>(gm);
  words.SetValue(1, 5);
  WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(gm), 9);  // FINDS: gm-cache
}
extern "C" __global__ void scalar_write_never_cleaned(GM_ADDR gm) {
  Global<int32_t>(gm).SetValue(1, 5);  // HINT: cache-left-dirty
}
extern "C" __global__ void bypass_while_the_line_is_cleaned(GM_ADDR gm) {
  GlobalTensor<int32_t> words = Global<int32_t>(gm);
  words.SetValue(1, 5);
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(words);
  WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(gm), 9);  // FINDS: gm-cache
}
extern "C" __global__ void right_bypass_of_clean_lines(GM_ADDR gm) {
  GlobalTensor<int32_t> words = Global<int32_t>(gm);
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(words);
  WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(gm), 9);
  words.SetValue(100, 5);
  DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(words);
  WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(gm), 10);
}
extern "C" __global__ void right_scalar_writes(GM_ADDR gm) {
  GlobalTensor<int32_t> words = Global<int32_t>(gm);
  words.SetValue(1, 5);
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(words);
  DataSyncBarrier<MemDsbT::DDR>();
  WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(gm), 9);
  words.SetValue(100, 5);
  WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(gm), 9);
  DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(words);
}

// --- high-level functions ---------------------------------------------------------------------------------------------

extern "C" __global__ void welford_of_two_rows(GM_ADDR) {
  Ones s;
  WelfordUpdate<float, float>(s.Get<float>(1024), s.Get<float>(2048), s.Get<float>(), s.Get<float>(256), s.Get<float>(512), s.Get<uint8_t>(4096), {2, 8, 8, 1.0f});  // FINDS: shape
}
extern "C" __global__ void any_of_numbers(GM_ADDR) {
  Ones s(2.0f);
  uint32_t shape[2] = {4, 8};
  ReduceAny<float, AscendC::Pattern::Reduce::AR>(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), shape, true);  // FINDS: value-range
}
extern "C" __global__ void all_of_numbers(GM_ADDR) {
  Ones s(0.5f);
  uint32_t shape[2] = {4, 8};
  ReduceAll<float, AscendC::Pattern::Reduce::RA>(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), shape, true);  // FINDS: value-range
}
extern "C" __global__ void sine_of_a_million(GM_ADDR) { Ones s(1e6f); Sin(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), 64); }  // FINDS: value-range
extern "C" __global__ void arcsine_of_two(GM_ADDR) { Ones s(2.0f); Asin(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), 64); }  // FINDS: value-range
extern "C" __global__ void acosh_of_a_half(GM_ADDR) { Ones s(0.5f); Acosh(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), 64); }  // FINDS: value-range
extern "C" __global__ void atanh_of_zero(GM_ADDR) { Ones s(0.0f); Atanh(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), 64); }  // FINDS: value-range
extern "C" __global__ void right_values(GM_ADDR) {
  Ones s;
  uint32_t shape[2] = {4, 8};
  ReduceAny<float, AscendC::Pattern::Reduce::AR>(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), shape, true);
  PipeBarrier<PIPE_V>();
  Sin(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), 64);
  PipeBarrier<PIPE_V>();
  Asin(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), 64);
  PipeBarrier<PIPE_V>();
  Tan(s.Get<float>(1024), s.Get<float>(), s.Get<uint8_t>(4096), 64);
  PipeBarrier<PIPE_V>();
  WelfordUpdate<float, float>(s.Get<float>(1024), s.Get<float>(2048), s.Get<float>(), s.Get<float>(256), s.Get<float>(512), s.Get<uint8_t>(4096), {1, 8, 8, 1.0f});
}

// --- what an architecture does not have -------------------------------------------------------------------------------

extern "C" __global__ void fused_on_910a(GM_ADDR) { /* SOC: Ascend910A */ Ones s; auto a = s.Get<half>(); FusedMulAdd(a, a, a, 64); }  // FINDS: instruction-absent
extern "C" __global__ void shift_on_310p(GM_ADDR) { /* SOC: Ascend310P3 */ Ones s; auto a = s.Get<int32_t>(); ShiftLeft(a, a, 1, 64); }  // FINDS: instruction-absent
extern "C" __global__ void block_sums_in_one_place_on_910a(GM_ADDR) { /* SOC: Ascend910A */ Ones s; auto a = s.Get<half>(); BlockReduceSum(a[1024], a, 2, 128, 0, 1, 8); }  // FINDS: stride-range
extern "C" __global__ void right_on_910a(GM_ADDR) {  // SOC: Ascend910A
  Ones s;
  auto a = s.Get<half>();
  Axpy(a[1024], a, half(2), 64);
  BlockReduceSum(a[2048], a, 2, 128, 1, 1, 8);
}
extern "C" __global__ void right_on_310p(GM_ADDR) {  // SOC: Ascend310P3
  Ones s;
  auto a = s.Get<half>();
  FusedMulAdd(a, a, a, 64);
  PipeBarrier<PIPE_V>();
  Brcb(a[1024], a, 1, {1, 8});
}

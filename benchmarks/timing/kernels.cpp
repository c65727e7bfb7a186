// SPDX-License-Identifier: Apache-2.0
// Kernels with the set-ups of published board experiments; validate.py says which, and launches them with these parameters.
#include "kernels.h"

namespace {

using Event = HardEvent;

// z = x + y, with `buffers` sets of x, y and z in UB. add(z, x, y, count) computes.
template <uint32_t buffers, typename Compute>
void AddTiles(GM_ADDR x, GM_ADDR y, GM_ADDR z, const Parameters& p, Compute add) {
  const Slice rows = RowsOf(p.rows);
  const uint64_t count = (rows.end - rows.begin) * p.columns;
  GlobalTensor<half> from[2] = {Global<half>(x, rows.begin * p.columns, count),
                                Global<half>(y, rows.begin * p.columns, count)};
  GlobalTensor<half> to = Global<half>(z, rows.begin * p.columns, count);
  if (p.bypass != 0) {
    from[0].SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    from[1].SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
  }
  for (uint32_t i = 0; i < buffers; ++i) {
    SetFlag<Event::V_MTE2>(static_cast<int32_t>(i));
    SetFlag<Event::MTE3_V>(static_cast<int32_t>(i));
  }
  uint32_t turn = 0;
  for (uint64_t at = 0; at < count; at += p.tile, ++turn) {
    const uint32_t set = turn % buffers;
    const auto id = static_cast<int32_t>(set);
    const auto now = static_cast<uint32_t>(count - at < p.tile ? count - at : p.tile);
    const LocalTensor<half> a = Local<half>(p.at[3 * set], p.tile);
    const LocalTensor<half> b = Local<half>(p.at[3 * set + 1], p.tile);
    const LocalTensor<half> c = Local<half>(p.at[3 * set + 2], p.tile);
    WaitFlag<Event::V_MTE2>(id);
    DataCopy(a, from[0][at], now);
    DataCopy(b, from[1][at], now);
    SetFlag<Event::MTE2_V>(id);
    WaitFlag<Event::MTE2_V>(id);
    WaitFlag<Event::MTE3_V>(id);
    add(c, a, b, now);
    SetFlag<Event::V_MTE2>(id);
    SetFlag<Event::V_MTE3>(id);
    WaitFlag<Event::V_MTE3>(id);
    DataCopy(to[at], c, now);
    SetFlag<Event::MTE3_V>(id);
  }
  for (uint32_t i = 0; i < buffers; ++i) {
    WaitFlag<Event::V_MTE2>(static_cast<int32_t>(i));
    WaitFlag<Event::MTE3_V>(static_cast<int32_t>(i));
  }
}

void AddVector(const LocalTensor<half>& c, const LocalTensor<half>& a, const LocalTensor<half>& b,
               uint32_t count) {
  Add(c, a, b, count);
}

}  // namespace

extern "C" __global__ __aicore__ void add_scalar(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                 GM_ADDR parameters) {
  AddTiles<1>(x, y, z, ParametersAt(parameters),
              [](const LocalTensor<half>& c, const LocalTensor<half>& a, const LocalTensor<half>& b,
                 uint32_t count) {
                for (uint32_t i = 0; i < count; ++i) {
                  const float sum =
                      static_cast<float>(a.GetValue(i)) + static_cast<float>(b.GetValue(i));
                  c.SetValue(i, static_cast<half>(sum));
                }
              });
}

extern "C" __global__ __aicore__ void add_single(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                 GM_ADDR parameters) {
  AddTiles<1>(x, y, z, ParametersAt(parameters), AddVector);
}

extern "C" __global__ __aicore__ void add_double(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                 GM_ADDR parameters) {
  AddTiles<2>(x, y, z, ParametersAt(parameters), AddVector);
}

// Tiles of a matrix from GM to UB, and nothing else.
extern "C" __global__ __aicore__ void read_tiles(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const GlobalTensor<half> from = Global<half>(x, 0, p.rows * p.columns);
  constexpr uint32_t kBlock = 32 / sizeof(half);
  const LocalTensor<half> to =
      Local<half>(0, p.tileRows * ((p.tile + kBlock - 1) / kBlock * kBlock));
  const Slice rows = RowsOf(p.rows);
  const uint64_t part = p.columns / p.parts;
  for (uint32_t index = 0; index < p.parts; ++index) {
    const uint64_t left = index * part;
    const uint64_t right = index + 1 == p.parts ? p.columns : left + part;
    for (uint32_t time = 0; time < p.times; ++time) {
      for (uint64_t row = rows.begin; row < rows.end; row += p.tileRows) {
        for (uint64_t column = left; column < right; column += p.tile) {
          const uint64_t width = right - column < p.tile ? right - column : p.tile;
          DataCopyPad(
              to, from[row * p.columns + column],
              DataCopyExtParams{static_cast<uint16_t>(p.tileRows),
                                static_cast<uint32_t>(width * sizeof(half)),
                                static_cast<uint32_t>((p.columns - width) * sizeof(half)), 0, 0},
              DataCopyPadExtParams<half>{false, 0, 0, 0});
        }
      }
    }
  }
}

// Every core reads the whole matrix, one core's share after the other; with a shift it begins with its own.
extern "C" __global__ __aicore__ void read_same(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const GlobalTensor<half> from = Global<half>(x, 0, p.rows * p.columns);
  const LocalTensor<half> to = Local<half>(0, p.tileRows * p.tile);
  const auto cores = static_cast<uint64_t>(GetBlockNum());
  const uint64_t share = p.rows / cores;
  for (uint64_t index = 0; index < cores; ++index) {
    const uint64_t block = p.shift != 0 ? (index + GetBlockIdx()) % cores : index;
    for (uint64_t row = block * share; row < (block + 1) * share; row += p.tileRows) {
      for (uint64_t column = 0; column < p.columns; column += p.tile) {
        DataCopyPad(
            to, from[row * p.columns + column],
            DataCopyExtParams{static_cast<uint16_t>(p.tileRows),
                              static_cast<uint32_t>(p.tile * sizeof(half)),
                              static_cast<uint32_t>((p.columns - p.tile) * sizeof(half)), 0, 0},
            DataCopyPadExtParams<half>{false, 0, 0, 0});
      }
    }
  }
}

// `times` copies of `tile` bytes, GM to UB or the other way: one after the other, or with a shift as the pipe likes.
extern "C" __global__ __aicore__ void copy_in(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const LocalTensor<uint8_t> to = Local<uint8_t>(0, p.tile);
  for (uint32_t time = 0; time < p.times; ++time) {
    DataCopy(to, Global<uint8_t>(x, static_cast<uint64_t>(time) * p.stride[0], p.tile), p.tile);
    if (p.shift == 0) {
      PipeBarrier<PIPE_ALL>();
    }
  }
}

extern "C" __global__ __aicore__ void copy_out(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const LocalTensor<uint8_t> from = Local<uint8_t>(0, p.tile);
  for (uint32_t time = 0; time < p.times; ++time) {
    DataCopy(Global<uint8_t>(x, static_cast<uint64_t>(time) * p.stride[0], p.tile), from, p.tile);
    if (p.shift == 0) {
      PipeBarrier<PIPE_ALL>();
    }
  }
}

// No board's time is known of these: atomic additions to one place, or with a shift cores that wait for each other.
extern "C" __global__ __aicore__ void atomics(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const LocalTensor<float> from = Local<float>(0, p.tile);
  Duplicate(from, 1.0f, p.tile);
  if (p.shift != 0) {
    SyncAll();
    return;
  }
  PipeBarrier<PIPE_ALL>();
  SetAtomicAdd<float>();
  DataCopy(Global<float>(x, 0, p.tile), from, p.tile);
  SetAtomicNone();
}

// `times` rounds in which all cores wait for a block that each has stored by a flag between cores, and load `tile` bytes:
// after that (0), between the set and the wait (1), or never (2).
extern "C" __global__ __aicore__ void rounds(GM_ADDR x, GM_ADDR y, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kBlock = 32;
  const LocalTensor<uint8_t> to = Local<uint8_t>(kBlock, p.tile);
  const GlobalTensor<uint8_t> part =
      Global<uint8_t>(x, static_cast<uint64_t>(GetBlockIdx()) * p.tile, p.tile);
  for (uint32_t time = 0; time < p.times; ++time) {
    DataCopy(Global<uint8_t>(y, GetBlockIdx() * kBlock, kBlock), Local<uint8_t>(0, kBlock), kBlock);
    CrossCoreSetFlag<0, PIPE_MTE3>(0);
    if (p.shift == 1) {
      DataCopy(to, part, p.tile);
    }
    CrossCoreWaitFlag(0);
    if (p.shift == 0) {
      DataCopy(to, part, p.tile);
    }
    PipeBarrier<PIPE_ALL>();
  }
}

// `times` stores of `tile` floats, or with a shift additions, by each core to places that are stride[0] bytes apart.
extern "C" __global__ __aicore__ void stores(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const LocalTensor<float> from = Local<float>(0, p.tile);
  Duplicate(from, 1.0f, p.tile);
  PipeBarrier<PIPE_ALL>();
  if (p.shift != 0) {
    SetAtomicAdd<float>();
  }
  const uint64_t at = static_cast<uint64_t>(GetBlockIdx()) * p.stride[0] / sizeof(float);
  for (uint32_t time = 0; time < p.times; ++time) {
    DataCopy(Global<float>(x, at, p.tile), from, p.tile);
  }
  SetAtomicNone();
}

// `times` repeats that turn 16 rows of 16 halves, stride[0] bytes apart.
extern "C" __global__ __aicore__ void turn_rows(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kRows = 16, kBlock = 32, kFrom = 65536;
  const LocalTensor<half> all = Local<half>(0, 2 * kFrom / sizeof(half));
  Duplicate(all, half(1.0f), 2 * kFrom / sizeof(half));
  PipeBarrier<PIPE_ALL>();
  uint64_t to[kRows], from[kRows];
  const auto base = reinterpret_cast<uint64_t>(all.GetPhyAddr());
  for (uint32_t i = 0; i < kRows; ++i) {
    to[i] = base + i * kBlock;
    from[i] = base + kFrom + i * p.stride[0];
  }
  TransDataTo5HD<half>(to, from,
                       TransDataTo5HDParams(false, false, static_cast<uint8_t>(p.times), kRows, 1));
  PipeBarrier<PIPE_ALL>();
}

// 1024 times `times` additions and multiplications of the scalar pipe.
extern "C" __global__ __aicore__ void scalar_loop(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  uint32_t sum = p.rows;
  for (uint32_t i = 0; i < p.times * 1024; ++i) {
    sum = sum * p.tile + i;
  }
  Local<uint32_t>(0, 8).SetValue(0, sum);
}

// A core looks at a word of GM until it is `core`: through the data cache, or by copies.
void LookThroughCache(const GlobalTensor<int32_t>& word, int32_t core) {
  do {
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(word);
  } while (word.GetValue(0) != core);
}
void LookByCopies(const GlobalTensor<int32_t>& word, int32_t core) {
  const LocalTensor<int32_t> room = Local<int32_t>(0, 8);
  do {
    DataCopy(room, word, 8);
    SetFlag<Event::MTE2_S>(0);
    WaitFlag<Event::MTE2_S>(0);
  } while (room.GetValue(0) != core);
}

// `times` additions by each core, one core after the other: by IBWait and IBSet (0), WaitPreBlock and NotifyNextBlock (1), reads
// and writes past the data cache (2), or all at once (3); by a word that the core before writes through its cache (4) or copies
// out (5).
extern "C" __global__ __aicore__ void chain(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kCount = 4096, kWords = 16384;
  GlobalTensor<int32_t> words = Global<int32_t>(x, 0, kWords);
  auto* const turn = reinterpret_cast<__gm__ int32_t*>(x) + kWords;
  GlobalTensor<int32_t> word = Global<int32_t>(x, kWords, 8);
  LocalTensor<int32_t> room = Local<int32_t>(0, 1024);
  const LocalTensor<float> a = Local<float>(4096, kCount);
  const auto core = static_cast<int32_t>(GetBlockIdx()),
             cores = static_cast<int32_t>(GetBlockNum());
  if (p.shift == 0 && core > 0) {
    IBWait(words, room, core - 1, 0);
  } else if (p.shift == 1) {
    InitDetermineComputeWorkspace(words, room);
    WaitPreBlock(words, room);
  } else if (p.shift == 2 && core > 0) {
    while (ReadGmByPassDCache(turn) != core) {
    }
  } else if (p.shift == 4 && core > 0) {
    LookThroughCache(word, core);
  } else if (p.shift == 5 && core > 0) {
    LookByCopies(word, core);
  }
  for (uint32_t time = 0; time < p.times; ++time) {
    Duplicate(a, 1.0f, kCount);
  }
  PipeBarrier<PIPE_ALL>();
  if (p.shift == 0 && core + 1 < cores) {
    IBSet(words, room, core, 0);
  } else if (p.shift == 1) {
    NotifyNextBlock(words, room);
  } else if (p.shift == 2) {
    WriteGmByPassDCache(turn, core + 1);
  } else if (p.shift == 4) {
    word.SetValue(0, core + 1);
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(word);
  } else if (p.shift == 5) {
    const LocalTensor<int32_t> next = Local<int32_t>(2048, 8);
    next.SetValue(0, core + 1);
    SetFlag<Event::S_MTE3>(0);
    WaitFlag<Event::S_MTE3>(0);
    DataCopy(word, next, 8);
  }
}

// The same by a queue of two buffers, of which a core takes the next one for each look.
extern "C" __global__ __aicore__ void chain_by_queue(GM_ADDR x, GM_ADDR, GM_ADDR,
                                                     GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kCount = 4096, kWords = 8;
  const GlobalTensor<int32_t> word = Global<int32_t>(x, 0, kWords);
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in;
  TBuf<TPosition::VECCALC> work;
  pipe.InitBuffer(in, 2, kWords * sizeof(int32_t));
  pipe.InitBuffer(work, kCount * sizeof(float));
  const auto core = static_cast<int32_t>(GetBlockIdx());
  for (int32_t turn = 0; turn != core;) {
    LocalTensor<int32_t> words = in.AllocTensor<int32_t>();
    DataCopy(words, word, kWords);
    in.EnQue(words);
    words = in.DeQue<int32_t>();
    turn = words.GetValue(0);
    in.FreeTensor(words);
  }
  for (uint32_t time = 0; time < p.times; ++time) {
    Duplicate(work.Get<float>(), 1.0f, kCount);
  }
  PipeBarrier<PIPE_ALL>();
  const LocalTensor<int32_t> next = work.Get<int32_t>();
  next.SetValue(0, core + 1);
  SetFlag<Event::S_MTE3>(0);
  WaitFlag<Event::S_MTE3>(0);
  DataCopy(word, next, kWords);
}

// A block and then `tile` bytes are loaded; the scalar pipe reads the block, having waited for it alone (shift) or left that to
// the compiler, before it has other bytes filled `times`.
extern "C" __global__ __aicore__ void read_early(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kBlock = 32, kCount = 4096;
  const LocalTensor<uint8_t> block = Local<uint8_t>(0, kBlock);
  DataCopy(block, Global<uint8_t>(x, 0, kBlock), kBlock);
  if (p.shift != 0) {
    SetFlag<Event::MTE2_S>(0);
  }
  DataCopy(Local<uint8_t>(kBlock, p.tile), Global<uint8_t>(x, kBlock, p.tile), p.tile);
  if (p.shift != 0) {
    WaitFlag<Event::MTE2_S>(0);
  }
  block.GetValue(0);
  const LocalTensor<float> other = Local<float>(kBlock + p.tile, kCount);
  for (uint32_t time = 0; time < p.times; ++time) {
    Duplicate(other, 1.0f, kCount);
  }
  PipeBarrier<PIPE_ALL>();
}

// The scalar pipe reads one value of GM `times`, of a line that it cleans each time (shift) or not.
extern "C" __global__ __aicore__ void read_line(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const GlobalTensor<float> from = Global<float>(x, 0, 16);
  for (uint32_t time = 0; time < p.times; ++time) {
    if (p.shift != 0) {
      DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(from);
    }
    from.GetValue(0);
  }
}

// `times` repeats of float out of a table of 64 KiB, one by one.
extern "C" __global__ __aicore__ void gather(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kRepeat = 64, kTable = 16384;
  const LocalTensor<float> table = Local<float>(0, kTable);
  const LocalTensor<uint32_t> offsets = Local<uint32_t>(kTable * sizeof(float), kRepeat);
  const LocalTensor<float> to = Local<float>((kTable + kRepeat) * sizeof(float), p.times * kRepeat);
  Duplicate(table, 1.0f, kTable);
  Duplicate(offsets.ReinterpretCast<int32_t>(), 0, kRepeat);
  PipeBarrier<PIPE_ALL>();
  for (uint32_t time = 0; time < p.times; ++time) {
    Gather(to[time * kRepeat], table, offsets, 0, kRepeat);
  }
  PipeBarrier<PIPE_ALL>();
}

// `times` additions of 64 repeats of float at given addresses of UB.
extern "C" __global__ __aicore__ void bank(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kCount = 4096;
  const LocalTensor<float> a = Local<float>(p.at[0], kCount);
  const LocalTensor<float> b = Local<float>(p.at[1], kCount);
  const LocalTensor<float> c = Local<float>(p.at[2], kCount);
  const auto blocks = static_cast<uint8_t>(p.stride[0]);
  const auto repeats = static_cast<uint8_t>(p.stride[1]);
  PipeBarrier<PIPE_ALL>();
  for (uint32_t time = 0; time < p.times; ++time) {
    Add(c, a, b, 64, 64, BinaryRepeatParams{1, blocks, 1, 8, repeats, 8});
  }
  PipeBarrier<PIPE_ALL>();
}

// 256 floats to their sum, `times`: two WholeReduceSum (0), three BlockReduceSum (1), or one of each (2).
extern "C" __global__ __aicore__ void reduce_chain(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const LocalTensor<float> x = Local<float>(0, 256);
  const LocalTensor<float> y = Local<float>(4096, 256);
  const LocalTensor<float> z = Local<float>(8192, 64);
  SetMaskCount();
  for (uint32_t time = 0; time < p.times; ++time) {
    SetVectorMask<float, MaskMode::COUNTER>(0, 256);
    if (p.shift == 0) {
      WholeReduceSum<float, false>(y, x, MASK_PLACEHOLDER, 1, 1, 1, 8);
      PipeBarrier<PIPE_V>();
      SetVectorMask<float, MaskMode::COUNTER>(0, 4);
      WholeReduceSum<float, false>(z, y, MASK_PLACEHOLDER, 1, 1, 1, 8);
    } else {
      BlockReduceSum<float, false>(y, x, 1, MASK_PLACEHOLDER, 1, 1, 8);
      PipeBarrier<PIPE_V>();
      SetVectorMask<float, MaskMode::COUNTER>(0, 32);
      if (p.shift == 1) {
        BlockReduceSum<float, false>(y, y, 1, MASK_PLACEHOLDER, 1, 1, 8);
        PipeBarrier<PIPE_V>();
        SetVectorMask<float, MaskMode::COUNTER>(0, 4);
        BlockReduceSum<float, false>(z, y, 1, MASK_PLACEHOLDER, 1, 1, 8);
      } else {
        WholeReduceSum<float, false>(z, y, MASK_PLACEHOLDER, 1, 1, 1, 8);
      }
    }
    PipeBarrier<PIPE_V>();
  }
  SetMaskNorm();
  ResetMask();
}

namespace {

// The steps of a sigmoid, in one buffer more.
template <typename T>
void Sigmoid(const LocalTensor<T>& to, const LocalTensor<T>* from, uint32_t count) {
  Muls(to, from[0], T(-1.0f), count);
  Exp(to, to, count);
  Adds(to, to, T(1.0f), count);
  Duplicate(from[0], T(1.0f), count);
  Div(to, from[0], to, count);
}
template <typename T>
void Maximum(const LocalTensor<T>& to, const LocalTensor<T>* from, uint32_t count) {
  Max(to, from[0], from[1], count);
}

}  // namespace

extern "C" __global__ __aicore__ void sigmoid_float(GM_ADDR x, GM_ADDR, GM_ADDR z,
                                                    GM_ADDR parameters) {
  Elementwise<float, 1>(x, x, z, ParametersAt(parameters), Sigmoid<float>);
}

extern "C" __global__ __aicore__ void sigmoid_half(GM_ADDR x, GM_ADDR, GM_ADDR z,
                                                   GM_ADDR parameters) {
  Elementwise<half, 1>(x, x, z, ParametersAt(parameters), Sigmoid<half>);
}

extern "C" __global__ __aicore__ void maximum_float(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                    GM_ADDR parameters) {
  Elementwise<float, 2>(x, y, z, ParametersAt(parameters), Maximum<float>);
}

extern "C" __global__ __aicore__ void maximum_half(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                   GM_ADDR parameters) {
  Elementwise<half, 2>(x, y, z, ParametersAt(parameters), Maximum<half>);
}

extern "C" __global__ __aicore__ void relu_half(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR parameters) {
  Elementwise<half, 1>(x, x, z, ParametersAt(parameters),
                       [](const LocalTensor<half>& to, const LocalTensor<half>* from,
                          uint32_t count) { Relu(to, from[0], count); });
}

// The steps of a quantiser of rows of 512 floats to four bits: a norm, 15 comparisons with bounds, and packing, `tile` rows together.
extern "C" __global__ __aicore__ void quantise_rows(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                    GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kRow = 512, kSlot = 320, kBounds = 15, kApart = 16;
  const uint32_t most = p.tile * kRow;
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> rooms[6], halves, masks, norms, bounds;
  pipe.InitBuffer(in, 1, most * sizeof(float));
  pipe.InitBuffer(out, 1, p.tile * kSlot);
  for (TBuf<TPosition::VECCALC>& room : rooms) {
    pipe.InitBuffer(room, most * sizeof(float) / (&room == &rooms[5] ? p.tile : 1));
  }
  pipe.InitBuffer(halves, most * sizeof(half));
  pipe.InitBuffer(masks, (most / 8 + 63) / 64 * 64);
  pipe.InitBuffer(norms, p.tile * kApart * sizeof(float));
  pipe.InitBuffer(bounds, 64);
  LocalTensor<float> bound = bounds.Get<float>();
  DataCopy(bound, Global<float>(y, 0, kApart), kApart);
  PipeBarrier<PIPE_ALL>();
  float limits[kBounds];
  for (uint32_t i = 0; i < kBounds; ++i) {
    limits[i] = (bound.GetValue(i) + bound.GetValue(i + 1)) * 0.5f;
  }
  LocalTensor<float> scaled = rooms[0].Get<float>(), number = rooms[1].Get<float>(),
                     some = rooms[2].Get<float>(), chosen = rooms[3].Get<float>(),
                     one = rooms[4].Get<float>(), work = rooms[5].Get<float>(),
                     norm = norms.Get<float>();
  LocalTensor<uint8_t> mask = masks.Get<uint8_t>();
  LocalTensor<half> packed = halves.Get<half>();
  Duplicate(one, 1.0f, most);
  PipeBarrier<PIPE_V>();
  const uint64_t each = (p.rows + GetBlockNum() - 1) / GetBlockNum();
  const uint64_t begin = GetBlockIdx() * each;
  const uint64_t end = begin + each < p.rows ? begin + each : p.rows;
  for (uint64_t row = begin; row < end; row += p.tile) {
    const auto rows = static_cast<uint32_t>(end - row < p.tile ? end - row : p.tile);
    const uint32_t count = rows * kRow;
    LocalTensor<float> from = in.AllocTensor<float>();
    DataCopy(from, Global<float>(x, row * kRow, count), count);
    in.EnQue(from);
    from = in.DeQue<float>();
    LocalTensor<uint8_t> to = out.AllocTensor<uint8_t>();
    Duplicate(to.ReinterpretCast<half>(), half(0.0f), rows * kSlot / 2);
    PipeBarrier<PIPE_V>();
    Mul(some, from, from, count);
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < rows; ++i) {
      ReduceSum(norm[i * kApart], some[i * kRow], work, kRow);
    }
    PipeBarrier<PIPE_V>();
    SetFlag<Event::V_S>(0);
    WaitFlag<Event::V_S>(0);
    for (uint32_t i = 0; i < rows; ++i) {
      Muls(scaled[i * kRow], from[i * kRow], 1.0f / (norm.GetValue(i * kApart) + 1.0f), kRow);
    }
    PipeBarrier<PIPE_V>();
    Duplicate(number, 0.0f, count);
    PipeBarrier<PIPE_V>();
    for (const float limit : limits) {
      CompareScalar(mask, scaled, limit, CMPMODE::GE, count);
      PipeBarrier<PIPE_V>();
      Select(chosen, mask, one, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
      PipeBarrier<PIPE_V>();
      Add(number, number, chosen, count);
      PipeBarrier<PIPE_V>();
    }
    CompareScalar(mask, number, 8.0f, CMPMODE::LT, count);
    PipeBarrier<PIPE_V>();
    Adds(chosen, number, -16.0f, count);
    PipeBarrier<PIPE_V>();
    Select(some, mask, number, chosen, SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
    PipeBarrier<PIPE_V>();
    Cast(packed, some, RoundMode::CAST_RINT, count);
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < rows; ++i) {
      Cast(to[i * kSlot].ReinterpretCast<int4b_t>(), packed[i * kRow], RoundMode::CAST_RINT, kRow);
    }
    PipeBarrier<PIPE_V>();
    SetFlag<Event::V_S>(0);
    WaitFlag<Event::V_S>(0);
    for (uint32_t i = 0; i < rows; ++i) {
      to.SetValue(i * kSlot + kRow / 2, uint8_t(1));
      to.SetValue(i * kSlot + kRow / 2 + 1, uint8_t(1));
    }
    in.FreeTensor(from);
    out.EnQue(to);
    to = out.DeQue<uint8_t>();
    DataCopy(Global<uint8_t>(z, row * kSlot, rows * kSlot), to, rows * kSlot);
    out.FreeTensor(to);
  }
}

// Eight cores that wait for one another, or add to the same bytes.
constexpr uint32_t kNumbers = 8;  // of a core: a block

extern "C" __global__ __aicore__ void atomicadd(GM_ADDR, GM_ADDR, GM_ADDR z, GM_ADDR) {
  TPipe pipe;
  TQue<QuePosition::VECOUT, 1> out;
  pipe.InitBuffer(out, 1, 64 * sizeof(float));
  LocalTensor<float> ones = out.AllocTensor<float>();
  Duplicate(ones, 1.0f, 64);
  out.EnQue(ones);
  ones = out.DeQue<float>();
  SetAtomicAdd<float>();
  DataCopy(Global<float>(z, 0, 64), ones, 64);
  SetAtomicNone();
  out.FreeTensor(ones);
}

// Each core writes a block, all meet, each core reads all blocks and writes their sum.
extern "C" __global__ __aicore__ void syncall(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> own, all, work;
  const auto core = static_cast<int32_t>(GetBlockIdx()),
             cores = static_cast<int32_t>(GetBlockNum());
  pipe.InitBuffer(own, kNumbers * sizeof(int32_t));
  pipe.InitBuffer(all, cores * kNumbers * sizeof(int32_t));
  pipe.InitBuffer(work, 256);
  LocalTensor<int32_t> one = own.Get<int32_t>();
  Duplicate(one, core + 1, kNumbers);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<int32_t>(x, core * kNumbers, kNumbers), one, kNumbers);
  PipeBarrier<PIPE_ALL>();
  LocalTensor<int32_t> room = work.Get<int32_t>();
  SyncAll<true>(Global<int32_t>(y, 0, cores * kNumbers), room, cores);
  LocalTensor<int32_t> found = all.Get<int32_t>();
  DataCopy(found, Global<int32_t>(x, 0, cores * kNumbers), cores * kNumbers);
  PipeBarrier<PIPE_ALL>();
  int32_t sum = 0;
  for (int32_t i = 0; i < cores; ++i) {
    sum += found.GetValue(i * kNumbers);
  }
  PipeBarrier<PIPE_ALL>();
  Duplicate(one, sum, kNumbers);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<int32_t>(z, core * kNumbers, kNumbers), one, kNumbers);
}

// Each core waits for the one before it, reads that one's number and writes the next.
extern "C" __global__ __aicore__ void ibsetwait(GM_ADDR x, GM_ADDR y, GM_ADDR, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> work, own;
  pipe.InitBuffer(work, 32);
  pipe.InitBuffer(own, 32);
  const auto core = static_cast<int32_t>(GetBlockIdx()),
             cores = static_cast<int32_t>(GetBlockNum());
  const GlobalTensor<int32_t> marks = Global<int32_t>(y, 0, cores * kNumbers);
  LocalTensor<int32_t> room = work.Get<int32_t>(), number = own.Get<int32_t>();
  int32_t before = 0;
  if (core > 0) {
    IBWait<true>(marks, room, core - 1, 0);
    DataCopy(number, Global<int32_t>(x, (core - 1) * kNumbers, kNumbers), kNumbers);
    PipeBarrier<PIPE_ALL>();
    before = number.GetValue(0);
  }
  PipeBarrier<PIPE_ALL>();
  Duplicate(number, before + 1, kNumbers);
  PipeBarrier<PIPE_ALL>();
  DataCopy(Global<int32_t>(x, core * kNumbers, kNumbers), number, kNumbers);
  PipeBarrier<PIPE_ALL>();
  if (core < cores - 1) {
    IBSet<true>(marks, room, core, 0);
  }
}

// Complex numbers of lengths x and angles y: cosines and sines beside one another, then interleaved by a table of offsets.
extern "C" __global__ __aicore__ void polar(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const Slice mine = RowsOf(p.rows);
  const uint32_t tile = p.tile, both = 2 * tile;
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> parts, offsets, work;
  pipe.InitBuffer(in, 2, both * sizeof(float));
  pipe.InitBuffer(out, 2, both * sizeof(float));
  pipe.InitBuffer(parts, both * sizeof(float));
  pipe.InitBuffer(offsets, both * sizeof(uint32_t));
  pipe.InitBuffer(work, 3 * tile * sizeof(float));
  const LocalTensor<float> packed = parts.Get<float>();
  const LocalTensor<int32_t> at = offsets.Get<int32_t>(), half = parts.Get<int32_t>();
  const auto distance = static_cast<int32_t>(4 * tile);
  CreateVecIndex(at, 0, both);
  ShiftRight(half, at, 1, static_cast<int32_t>(both));
  Muls(at, at, distance, both);
  Muls(half, half, 4 - 2 * distance, both);
  Add(at, at, half, both);
  const DataCopyPadExtParams<float> none{false, 0, 0, 0};
  for (uint64_t done = mine.begin; done < mine.end; done += tile) {
    const auto now = static_cast<uint32_t>(mine.end - done < tile ? mine.end - done : tile);
    const DataCopyExtParams read{1, now * 4, 0, 0, 0}, write{1, now * 8, 0, 0, 0};
    LocalTensor<float> from = in.AllocTensor<float>();
    DataCopyPad(from, Global<float>(x, done, now), read, none);
    DataCopyPad(from[tile], Global<float>(y, done, now), read, none);
    in.EnQue(from);
    from = in.DeQue<float>();
    const LocalTensor<uint8_t> room = work.Get<uint8_t>();
    Cos<float, false>(packed, from[tile], room, now);
    Sin<float, false>(packed[tile], from[tile], room, now);
    Mul(packed, packed, from, now);
    Mul(packed[tile], packed[tile], from, now);
    in.FreeTensor(from);
    LocalTensor<float> to = out.AllocTensor<float>();
    Gather(to, packed, offsets.Get<uint32_t>(), 0u, 2 * now);
    out.EnQue(to);
    to = out.DeQue<float>();
    DataCopyPad(Global<float>(z, 2 * done, 2 * now), to, write);
    out.FreeTensor(to);
  }
}

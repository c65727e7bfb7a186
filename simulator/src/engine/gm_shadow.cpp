// SPDX-License-Identifier: Apache-2.0
#include "engine/gm_shadow.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "engine/shared_reads.h"
#include "host/fork.h"
#include "host/lock.h"

namespace aclsim {

namespace {

struct Shadow {
  uint64_t base = 0;
  uint64_t size = 0;
  uint8_t* bits = nullptr;
};
std::array<Shadow, kMostGmRanges> shadows;
std::atomic<size_t> count{0};  // a shadow is complete before it counts
PerProcess<Mutex<10, "ranges of device memory">> rangesMutex;
std::atomic<GmBlock (*)(const void*)> blocks{nullptr};

// A part of device memory, as positions in the bits of its range.
struct Part {
  uint8_t* bits = nullptr;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The part of [address, address + bytes) that is device memory; false: none.
bool FindPart(const void* address, uint64_t bytes, Part* part) {
  const auto at = reinterpret_cast<uint64_t>(address);
  const size_t all = count.load(std::memory_order_acquire);
  for (size_t i = 0; i < all; ++i) {
    const Shadow& shadow = shadows[i];
    if (at - shadow.base < shadow.size) {
      part->bits = shadow.bits;
      part->begin = at - shadow.base;
      part->end = part->begin + std::min(bytes, shadow.size - part->begin);
      return bytes != 0;
    }
  }
  return false;
}

// Neighbouring tensors of other cores may share the byte.
void SetPart(uint8_t* byte, uint8_t mask, bool on) {
  if (on) {
    __atomic_fetch_or(byte, mask, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_and(byte, static_cast<uint8_t>(~mask), __ATOMIC_RELAXED);
  }
}

// The stores are atomic, as two cores set the same bytes when their copies conflict.
void SetBytes(uint8_t* byte, const uint8_t* end, bool on) {
  const uint64_t word = on ? ~0ull : 0;
  for (; byte != end && reinterpret_cast<uintptr_t>(byte) % sizeof(word) != 0; ++byte) {
    __atomic_store_n(byte, static_cast<uint8_t>(word), __ATOMIC_RELAXED);
  }
  for (; end - byte >= static_cast<ptrdiff_t>(sizeof(word)); byte += sizeof(word)) {
    __atomic_store_n(reinterpret_cast<uint64_t*>(byte), word, __ATOMIC_RELAXED);
  }
  for (; byte != end; ++byte) {
    __atomic_store_n(byte, static_cast<uint8_t>(word), __ATOMIC_RELAXED);
  }
}

void SetBits(const Part& part, bool on) {
  uint64_t first = part.begin / 8;
  const uint64_t last = part.end / 8;
  const auto head = static_cast<uint8_t>(0xFFu << (part.begin % 8));
  const auto tail = static_cast<uint8_t>((1u << (part.end % 8)) - 1);
  if (first == last) {
    SetPart(part.bits + first, head & tail, on);
    return;
  }
  if (part.begin % 8 != 0) {
    SetPart(part.bits + first++, head, on);
  }
  SetBytes(part.bits + first, part.bits + last, on);
  if (tail != 0) {
    SetPart(part.bits + last, tail, on);
  }
}

// Another core may be at the other bits of the byte.
uint8_t Byte(const Part& part, uint64_t index) {
  return __atomic_load_n(part.bits + index, __ATOMIC_RELAXED);
}

bool Bit(const Part& part, uint64_t position) {
  return (Byte(part, position / 8) >> (position % 8)) & 1;
}

bool AllSet(const Part& part) {
  uint64_t first = part.begin / 8;
  const uint64_t last = part.end / 8;
  const auto head = static_cast<uint8_t>(0xFFu << (part.begin % 8));
  const auto tail = static_cast<uint8_t>((1u << (part.end % 8)) - 1);
  const auto has = [&](uint64_t index, uint8_t mask) { return (Byte(part, index) & mask) == mask; };
  if (first == last) {
    return has(first, head & tail);
  }
  if (part.begin % 8 != 0 && !has(first++, head)) {
    return false;
  }
  uint64_t every = ~0ull;
  for (; first + 8 <= last; first += 8) {
    uint64_t word = 0;
    std::memcpy(&word, part.bits + first, sizeof(word));
    every &= word;
  }
  for (; first < last; ++first) {
    every &= has(first, 0xFF) ? ~0ull : 0;
  }
  return every == ~0ull && (tail == 0 || has(last, tail));
}

// All rows as one part of device memory; false: they do not all lie in it.
bool FindRows(const GmRows& rows, Part* part) {
  const uint64_t span = (rows.count - 1) * rows.step + rows.bytes;
  return FindPart(rows.backing, span, part) && part->end - part->begin == span;
}

// Calls each(row) until it returns false; returns what the last one did.
template <bool kWrite, typename Each>
bool ForRows(const GmRows& rows, const Part& part, const Each& each) {
  // Bits of rows lie far apart, where no prefetcher of the host's looks.
  constexpr uint32_t kAhead = 8;
  for (uint32_t i = 0; i < rows.count; ++i) {
    const uint64_t begin = part.begin + i * rows.step;
    if (i + kAhead < rows.count) {
      __builtin_prefetch(part.bits + (begin + kAhead * rows.step) / 8, kWrite ? 1 : 0, 2);
    }
    if (!each(Part{part.bits, begin, begin + rows.bytes})) {
      return false;
    }
  }
  return true;
}

}  // namespace

void AddGmShadow(const uint8_t* backing, uint64_t size, uint8_t* bits) {
  const std::lock_guard lock(*rangesMutex);
  const size_t last = count;
  shadows.at(last) = {reinterpret_cast<uint64_t>(backing), size, bits};
  count.store(last + 1, std::memory_order_release);
}

void SetGmBlocks(GmBlock (*find)(const void* backing)) { blocks = find; }

GmBlock GmBlockOf(const void* backing) {
  const auto find = blocks.load();
  return find != nullptr ? find(backing) : GmBlock{};
}

void MarkGm(const void* backing, uint64_t bytes, bool defined) {
  Part part;
  if (FindPart(backing, bytes, &part)) {
    SetBits(part, defined);
  }
}

void MarkGm(const GmRows& rows, bool defined) {
  Part part;
  if (FindRows(rows, &part)) {
    ForRows<true>(rows, part, [defined](const Part& row) {
      SetBits(row, defined);
      return true;
    });
    return;
  }
  for (uint32_t i = 0; i < rows.count; ++i) {
    MarkGm(rows.backing + i * rows.step, rows.bytes, defined);
  }
}

bool IsDefinedGm(const GmRows& rows) {
  const SharedReads reads;
  Part part;
  if (FindRows(rows, &part)) {
    return ForRows<false>(rows, part, AllSet);
  }
  uint32_t row = 0;
  while (row < rows.count &&
         FirstUndefinedGm(rows.backing + row * rows.step, rows.bytes) == rows.bytes) {
    ++row;
  }
  return row == rows.count;
}

void CopyGmShadow(const void* to, const void* from, uint64_t bytes) {
  Part part;
  if (!FindPart(from, bytes, &part)) {
    MarkGm(to, bytes, true);
    return;
  }
  if (FirstUndefinedGm(from, bytes) == bytes) {
    MarkGm(to, bytes, true);
    return;
  }
  uint8_t piece[4096];
  for (uint64_t at = 0; at < bytes; at += sizeof(piece)) {
    const uint64_t n = std::min<uint64_t>(sizeof(piece), bytes - at);
    LoadGmShadow(static_cast<const uint8_t*>(from) + at, n, piece);
    StoreGmShadow(static_cast<const uint8_t*>(to) + at, n, piece);
  }
}

uint64_t FirstUndefinedGm(const void* backing, uint64_t bytes) {
  const SharedReads reads;
  Part part;
  if (!FindPart(backing, bytes, &part)) {
    return bytes;
  }
  const auto [bits, begin, end] = part;
  // Tiles of a large tensor follow each other: the next one's bits may come from memory meanwhile.
  constexpr uint64_t kLine = 64, kMostAhead = 4096;
  for (uint64_t ahead = 0; ahead < std::min((end - begin) / 8, kMostAhead); ahead += kLine) {
    __builtin_prefetch(bits + end / 8 + ahead, 0, 2);
  }
  const auto all = [bits = bits](uint64_t position, uint64_t count) {
    uint64_t every = ~0ull;
    for (uint64_t i = 0; i < count; i += 64) {
      uint64_t word = 0;
      std::memcpy(&word, bits + (position + i) / 8, sizeof(word));
      every &= word;
    }
    return every == ~0ull;
  };
  uint64_t at = begin;
  while (at < end) {
    if (at % 8 == 0 && end - at >= 4096 && all(at, 4096)) {
      at += 4096;
      continue;
    }
    if (at % 8 == 0 && end - at >= 64 && all(at, 64)) {
      at += 64;
      continue;
    }
    if (!Bit(part, at)) {
      return at - begin;
    }
    ++at;
  }
  return bytes;
}

void ForEachUndefinedGm(const void* backing, uint64_t bytes,
                        const std::function<void(uint64_t begin, uint64_t end)>& run) {
  const auto* memory = static_cast<const uint8_t*>(backing);
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t first = at + FirstUndefinedGm(memory + at, bytes - at);
    Part part;
    if (first >= bytes || !FindPart(memory + first, bytes - first, &part)) {
      return;
    }
    uint64_t until = part.begin;
    while (until < part.end && !Bit(part, until)) {
      until += until % 8 == 0 && Byte(part, until / 8) == 0 ? 8 : 1;
    }
    at = first + std::min(until, part.end) - part.begin;
    run(first, at);
  }
}

void LoadGmShadow(const void* backing, uint64_t bytes, uint8_t* image) {
  std::memset(image, 0, bytes);
  Part part;
  if (FirstUndefinedGm(backing, bytes) == bytes || !FindPart(backing, bytes, &part)) {
    return;
  }
  for (uint64_t at = part.begin; at < part.end; ++at) {
    image[at - part.begin] = Bit(part, at) ? 0 : 0xFF;
  }
}

void StoreGmShadow(const void* backing, uint64_t bytes, const uint8_t* image) {
  Part part;
  if (!FindPart(backing, bytes, &part)) {
    return;
  }
  for (uint64_t at = part.begin; at < part.end;) {
    const bool defined = image[at - part.begin] == 0;
    uint64_t until = at + 1;
    while (until < part.end && (image[until - part.begin] == 0) == defined) {
      ++until;
    }
    SetBits({part.bits, at, until}, defined);
    at = until;
  }
}

}  // namespace aclsim

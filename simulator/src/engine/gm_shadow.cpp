// SPDX-License-Identifier: Apache-2.0
#include "engine/gm_shadow.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace aclsim {

namespace {

struct Shadow {
  std::atomic<uint64_t> base{0};
  uint64_t size = 0;
  uint8_t* bits = nullptr;
};
Shadow shadow;
std::atomic<GmBlock (*)(const void*)> blocks{nullptr};

// The part of [address, address + bytes) that is device memory, as bit positions.
bool Positions(const void* address, uint64_t bytes, uint64_t* begin, uint64_t* end) {
  const auto at = reinterpret_cast<uint64_t>(address);
  const uint64_t base = shadow.base;
  if (base == 0 || at < base || at - base >= shadow.size) {
    return false;
  }
  *begin = at - base;
  *end = std::min(*begin + bytes, shadow.size);
  return *begin < *end;
}

// Neighbouring tensors of other cores may share the byte.
void SetPart(uint64_t byte, uint8_t mask, bool on) {
  if (on) {
    __atomic_fetch_or(shadow.bits + byte, mask, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_and(shadow.bits + byte, static_cast<uint8_t>(~mask), __ATOMIC_RELAXED);
  }
}

void SetBits(uint64_t begin, uint64_t end, bool on) {
  const uint64_t first = begin / 8;
  const uint64_t last = end / 8;
  const auto head = static_cast<uint8_t>(0xFFu << (begin % 8));
  const auto tail = static_cast<uint8_t>((1u << (end % 8)) - 1);
  if (first == last) {
    SetPart(first, head & tail, on);
    return;
  }
  SetPart(first, head, on);
  std::memset(shadow.bits + first + 1, on ? 0xFF : 0, last - first - 1);
  if (tail != 0) {
    SetPart(last, tail, on);
  }
}

// Another core may be at the other bits of the byte.
uint8_t Byte(uint64_t index) { return __atomic_load_n(shadow.bits + index, __ATOMIC_RELAXED); }

bool Bit(uint64_t position) { return (Byte(position / 8) >> (position % 8)) & 1; }

}  // namespace

void SetGmShadow(const uint8_t* backing, uint64_t size, uint8_t* bits) {
  shadow.size = size;
  shadow.bits = bits;
  shadow.base = reinterpret_cast<uint64_t>(backing);
}

void SetGmBlocks(GmBlock (*find)(const void* backing)) { blocks = find; }

GmBlock GmBlockOf(const void* backing) {
  const auto find = blocks.load();
  return find != nullptr ? find(backing) : GmBlock{};
}

void MarkGm(const void* backing, uint64_t bytes, bool defined) {
  uint64_t begin = 0, end = 0;
  if (Positions(backing, bytes, &begin, &end)) {
    SetBits(begin, end, defined);
  }
}

void CopyGmShadow(const void* to, const void* from, uint64_t bytes) {
  uint64_t begin = 0, end = 0;
  if (!Positions(from, bytes, &begin, &end)) {
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
  uint64_t begin = 0, end = 0;
  if (!Positions(backing, bytes, &begin, &end)) {
    return bytes;
  }
  // Tiles of a large tensor follow each other: the next one's bits may come from memory meanwhile.
  constexpr uint64_t kLine = 64, kMostAhead = 4096;
  for (uint64_t ahead = 0; ahead < std::min((end - begin) / 8, kMostAhead); ahead += kLine) {
    __builtin_prefetch(shadow.bits + end / 8 + ahead, 0, 2);
  }
  const auto all = [](uint64_t position, uint64_t count) {
    uint64_t every = ~0ull;
    for (uint64_t i = 0; i < count; i += 64) {
      uint64_t word = 0;
      std::memcpy(&word, shadow.bits + (position + i) / 8, sizeof(word));
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
    if (!Bit(at)) {
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
    uint64_t begin = 0, end = 0;
    if (first >= bytes || !Positions(memory + first, bytes - first, &begin, &end)) {
      return;
    }
    uint64_t until = begin;
    while (until < end && !Bit(until)) {
      until += until % 8 == 0 && Byte(until / 8) == 0 ? 8 : 1;
    }
    at = first + std::min(until, end) - begin;
    run(first, at);
  }
}

void LoadGmShadow(const void* backing, uint64_t bytes, uint8_t* image) {
  std::memset(image, 0, bytes);
  uint64_t begin = 0, end = 0;
  if (FirstUndefinedGm(backing, bytes) == bytes || !Positions(backing, bytes, &begin, &end)) {
    return;
  }
  for (uint64_t at = begin; at < end; ++at) {
    image[at - begin] = Bit(at) ? 0 : 0xFF;
  }
}

void StoreGmShadow(const void* backing, uint64_t bytes, const uint8_t* image) {
  uint64_t begin = 0, end = 0;
  if (!Positions(backing, bytes, &begin, &end)) {
    return;
  }
  for (uint64_t at = begin; at < end;) {
    const bool defined = image[at - begin] == 0;
    uint64_t until = at + 1;
    while (until < end && (image[until - begin] == 0) == defined) {
      ++until;
    }
    SetBits(at, until, defined);
    at = until;
  }
}

}  // namespace aclsim

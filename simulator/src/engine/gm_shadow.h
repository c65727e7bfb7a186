// SPDX-License-Identifier: Apache-2.0
// It says which bytes of device memory have ever been written: one bit per byte, kept by the runtime (allocations, host copies) and by
// the undefined-read check (kernels). Bits are set and cleared by several cores at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace aclsim {

inline constexpr uint64_t kLineBytes = 64;  // of a core's data cache

// Declares [backing, backing + size) device memory; bits has size / 8 zero bytes. For at most kMostGmRanges ranges, none of which lies
// beside another. The runtime has at most kMostDeviceRanges of them, the rest is memory between cores.
constexpr size_t kMostDeviceRanges = 64;
constexpr size_t kMostGmRanges = 2 * kMostDeviceRanges;
void AddGmShadow(const uint8_t* backing, uint64_t size, uint8_t* bits);

// The block of device memory that holds an address, as the program asked for it; empty when there is none.
struct GmBlock {
  uint64_t begin = 0;
  uint64_t end = 0;
};
GmBlock GmBlockOf(const void* backing);
void SetGmBlocks(GmBlock (*find)(const void* backing));

// Addresses outside device memory count as defined and are left alone.
void MarkGm(const void* backing, uint64_t bytes, bool defined);
// Rows of `bytes` bytes, `step` bytes apart.
struct GmRows {
  const uint8_t* backing;
  uint64_t bytes;
  uint64_t step;
  uint32_t count;
};
void MarkGm(const GmRows& rows, bool defined);
bool IsDefinedGm(const GmRows& rows);
void CopyGmShadow(const void* to, const void* from, uint64_t bytes);
// Offset of the first undefined byte, or bytes when all are defined.
uint64_t FirstUndefinedGm(const void* backing, uint64_t bytes);
// Calls run(begin, end), offsets, for every run of undefined bytes.
void ForEachUndefinedGm(const void* backing, uint64_t bytes,
                        const std::function<void(uint64_t begin, uint64_t end)>& run);
// One byte per byte of memory: 0 defined, 0xFF undefined.
void LoadGmShadow(const void* backing, uint64_t bytes, uint8_t* shadow);
void StoreGmShadow(const void* backing, uint64_t bytes, const uint8_t* shadow);

}  // namespace aclsim

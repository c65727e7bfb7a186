// SPDX-License-Identifier: Apache-2.0
// More of device_abi.h: instructions that choose, sort or transpose elements.
#pragma once

#include "ascendc/device_abi.h"
#include "ascendc/high_abi.h"

namespace aclsim {

// Lane i of dst is the element that lies base + offsets[i] bytes behind src.
ACLSIM_DEVICE_API void VecGather(const Ub& dst, const Ub& src, const Ub& offsets, uint32_t base,
                                 const VecCtl& ctl);
// It does the same by blocks of 32 bytes, eight per repeat.
ACLSIM_DEVICE_API void VecGatherBlocks(const Ub& dst, const Ub& src, const Ub& offsets,
                                       int32_t repeat, int32_t dstBlk, int32_t dstRep);
struct GatherMaskCtl {
  uint8_t pattern = 0;   // 1 to 7; used when there is no pattern tensor
  bool preset = false;   // the mask register and mode decide instead, and stay as they are
  bool counter = false;  // `mask` elements per repeat instead of 256 bytes
  uint32_t mask = 0;
  int32_t repeat = 0;
  int32_t srcBlk = 1;  // strides in blocks
  int32_t srcRep = 8;
  int32_t patternRep = 8;
};
// Packs the chosen elements together; returns how many there were.
ACLSIM_DEVICE_API uint64_t VecGatherMask(const Ub& dst, const Ub& src, const Ub* pattern,
                                         const GatherMaskCtl& ctl);
ACLSIM_DEVICE_API uint64_t GatheredCount();
// first, first + 1, ...
ACLSIM_DEVICE_API void VecCreateIndex(const Ub& dst, ScalarValue first, const VecCtl& ctl);
// first + i * step
ACLSIM_DEVICE_API void VecProgression(const Ub& dst, ScalarValue first, ScalarValue step,
                                      int32_t count);

// --- sorting: 8-byte structures of a score and an index -------------------------------------------------------------------
ACLSIM_DEVICE_API void VecSort32(const Ub& dst, const Ub& score, const Ub& index, int32_t repeat);
struct MergeCtl {
  Ub src[4];
  uint16_t lengths[4] = {};  // structures
  uint16_t validBit = 0;
  bool suspend = false;  // stop when a queue is empty
  int32_t repeat = 1;
  int32_t leastRepeat = 0;
};
ACLSIM_DEVICE_API void VecMergeSort(const Ub& dst, const MergeCtl& ctl);
ACLSIM_DEVICE_API void MergedCounts(uint16_t* counts);
// Sort32 and, when full, merges of everything; work is as large as dst then.
ACLSIM_DEVICE_API void VecSort(const Ub& dst, const Ub& score, const Ub& index, const Ub& work,
                               int32_t repeat, bool full);
// Takes structures apart again, 32 per repeat.
ACLSIM_DEVICE_API void VecExtract(const Ub& value, const Ub& index, const Ub& sorted,
                                  int32_t repeat);

// --- sorting: region proposals of eight elements ----------------------------------------------------------------------------
ACLSIM_DEVICE_API void VecProposalConcat(const Ub& dst, const Ub& src, int32_t repeat,
                                         int32_t field);
ACLSIM_DEVICE_API void VecProposalExtract(const Ub& dst, const Ub& src, int32_t repeat,
                                          int32_t field);
ACLSIM_DEVICE_API void VecProposalSort(const Ub& dst, const Ub& src, int32_t repeat);
ACLSIM_DEVICE_API void VecProposalMerge(const Ub& dst, const MergeCtl& ctl);

// --- transposition --------------------------------------------------------------------------------------------------------
// 16 rows of 16 elements of 2 bytes.
ACLSIM_DEVICE_API void VecTranspose(const Ub& dst, const Ub& src);
struct TransposeCtl {
  uint8_t type = 0;  // TransposeType
  uint32_t batches = 0;
  uint32_t channels = 0;
  uint32_t pixels = 0;  // H * W
};
// Between NZ and ND: of [batches, heads, rows, columns], in whole tiles of 16 by 16; for type 7 rows by columns.
struct LayoutCtl {
  uint8_t type = 0;  // TransposeType
  uint32_t batches = 1;
  uint32_t heads = 1;
  uint32_t rows = 0;
  uint32_t columns = 0;
  HighWork work;
};
ACLSIM_DEVICE_API void VecTransposeLayout(const Ub& dst, const Ub& src, const LayoutCtl& ctl);
ACLSIM_DEVICE_API void VecTransposeBatches(const Ub& dst, const Ub& src, const Ub& work,
                                           const TransposeCtl& ctl);

}  // namespace aclsim

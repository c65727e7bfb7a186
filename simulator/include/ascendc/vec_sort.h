// SPDX-License-Identifier: Apache-2.0
// Sorting in descending order. A sorted element is a structure of 8 bytes: the score first, its 32-bit index in the upper half.
// Architectures 1001 and 2002 sort region proposals instead: eight elements x1, y1, x2, y2, score, label and two of no meaning.
#pragma once

#include "ascendc/device_reorder.h"
#include "ascendc/tensor.h"

#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 1001 || __NPU_ARCH__ == 2002)
#define ACLSIM_HAS_PROPOSALS 1
#else
#define ACLSIM_HAS_PROPOSALS 0
#endif

namespace AscendC {

constexpr int32_t MRG_SORT_ELEMENT_LEN = 4;

struct MrgSort4Info {
  MrgSort4Info() = default;
  MrgSort4Info(const uint16_t lengths[4], bool suspend, uint16_t valid, uint16_t repeat)
      : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(static_cast<uint8_t>(repeat)) {
    for (int i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) {
      elementLengths[i] = lengths[i];
    }
  }
  uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint8_t repeatTimes = 1;
};

template <typename T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& first, const LocalTensor<T>& second,
                 const LocalTensor<T>& third, const LocalTensor<T>& fourth)
      : src1(first), src2(second), src3(third), src4(fourth) {}
  LocalTensor<T> src1;
  LocalTensor<T> src2;
  LocalTensor<T> src3;
  LocalTensor<T> src4;
};

// 32 scores per repeat.
template <typename T>
void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
            const LocalTensor<uint32_t>& src1, const int32_t repeatTime) {
  aclsim::VecSort32(dst, src0, src1, repeatTime);
  ACLSIM_KEEP_FRAME();
}

namespace detail {
template <typename T>
aclsim::MergeCtl MergeCtlOf(const MrgSortSrcList<T>& src, const MrgSort4Info& params) {
  aclsim::MergeCtl ctl;
  ctl.src[0] = src.src1;
  ctl.src[1] = src.src2;
  ctl.src[2] = src.src3;
  ctl.src[3] = src.src4;
  for (int i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) {
    ctl.lengths[i] = params.elementLengths[i];
  }
  ctl.validBit = params.validBit;
  ctl.suspend = params.ifExhaustedSuspension;
  ctl.repeat = params.repeatTimes;
  return ctl;
}
}  // namespace detail

// Merges two to four sorted queues.
template <typename T>
void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params) {
  aclsim::VecMergeSort(dst, detail::MergeCtlOf(src, params));
}
// Returns how much of each queue the last MrgSort took.
inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3,
                             uint16_t& mrgSortList4) {
  uint16_t counts[4];
  aclsim::MergedCounts(counts);
  mrgSortList1 = counts[0];
  mrgSortList2 = counts[1];
  mrgSortList3 = counts[2];
  mrgSortList4 = counts[3];
}
template <typename T, bool isExhaustedSuspension = false>
void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList,
             const uint16_t elementCountList[4], uint32_t sortedNum[4], uint16_t validBit,
             const int32_t repeatTime) {
  aclsim::MergeCtl ctl = detail::MergeCtlOf(
      sortList, MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, 1));
  ctl.repeat = repeatTime;
  ctl.leastRepeat = 1;
  aclsim::VecMergeSort(dst, ctl);
  if (isExhaustedSuspension) {
    uint16_t counts[4];
    aclsim::MergedCounts(counts);
    for (int i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) {
      sortedNum[i] = counts[i];
    }
  }
}

// Nothing to prepare where Sort takes plain scores.
template <typename T>
void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& /*tmp*/,
            const int32_t /*repeatTime*/) {
  concat = src;
}
template <typename T, bool isFullSort>
void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat,
          const LocalTensor<uint32_t>& index, LocalTensor<T>& tmp, const int32_t repeatTime) {
  aclsim::VecSort(dst, concat, index, tmp, repeatTime, isFullSort);
}
template <typename T>
void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex,
             const LocalTensor<T>& sorted, const int32_t repeatTime) {
  aclsim::VecExtract(dstValue, dstIndex, sorted, repeatTime);
}

#if ACLSIM_HAS_PROPOSALS
// 16 elements and proposals per repeat; modeNumber is the field, 0 for x1 to 5 for label.
template <typename T>
void ProposalConcat(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                    const int32_t modeNumber) {
  aclsim::VecProposalConcat(dst, src, repeatTime, modeNumber);
}
template <typename T>
void ProposalExtract(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                     const int32_t modeNumber) {
  aclsim::VecProposalExtract(dst, src, repeatTime, modeNumber);
}
template <typename T>
void RpSort16(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime) {
  aclsim::VecProposalSort(dst, src, repeatTime);
}
template <typename T>
void MrgSort4(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params) {
  aclsim::VecProposalMerge(dst, detail::MergeCtlOf(src, params));
}
#endif

// Elements of T that so many sorted structures or proposals take.
template <typename T>
uint32_t GetSortOffset(const uint32_t elemOffset) {
  return elemOffset * static_cast<uint32_t>(ACLSIM_HAS_PROPOSALS ? 8 : 8 / sizeof(T));
}
template <typename T>
uint32_t GetSortLen(const uint32_t elemCount) {
  return GetSortOffset<T>(elemCount);
}

}  // namespace AscendC

// SPDX-License-Identifier: Apache-2.0
// The fields of the high-level API's tiling structs, in order: what host tiling writes and what kernels read.
#pragma once

#define ACLSIM_SOFTMAX_TILING(X) \
  X(uint32_t, srcM)              \
  X(uint32_t, srcK)              \
  X(uint32_t, srcSize)           \
  X(uint32_t, outMaxM)           \
  X(uint32_t, outMaxK)           \
  X(uint32_t, outMaxSize)        \
  X(uint32_t, splitM)            \
  X(uint32_t, splitK)            \
  X(uint32_t, splitSize)         \
  X(uint32_t, reduceM)           \
  X(uint32_t, reduceK)           \
  X(uint32_t, reduceSize)        \
  X(uint32_t, rangeM)            \
  X(uint32_t, tailM)             \
  X(uint32_t, tailSplitSize)     \
  X(uint32_t, tailReduceSize)

#define ACLSIM_LAYER_NORM_TILING(X)  \
  X(uint32_t, bLength)               \
  X(uint32_t, sLength)               \
  X(uint32_t, hLength)               \
  X(uint32_t, originalHLength)       \
  X(uint32_t, inputXSize)            \
  X(uint32_t, meanVarSize)           \
  X(uint32_t, numberOfTmpBuf)        \
  X(uint32_t, meanTmpTensorPos)      \
  X(uint32_t, meanTmpTensorSize)     \
  X(uint32_t, varianceTmpTensorPos)  \
  X(uint32_t, varianceTmpTensorSize) \
  X(uint32_t, tmpBufSize)            \
  X(uint32_t, oneTmpSize)            \
  X(uint32_t, firstTmpStartPos)      \
  X(uint32_t, secondTmpStartPos)     \
  X(uint32_t, thirdTmpStartPos)      \
  X(uint32_t, loopRound)             \
  X(uint32_t, inputRoundSize)        \
  X(uint32_t, inputTailSize)         \
  X(uint32_t, inputTailPos)          \
  X(uint32_t, meanVarRoundSize)      \
  X(uint32_t, meanVarTailSize)       \
  X(uint32_t, meanVarTailPos)        \
  X(uint32_t, bshCurLength)          \
  X(uint32_t, bsCurLength)           \
  X(float, lastDimValueBack)

#define ACLSIM_LAYER_NORM_SEPARATE_TILING(X) \
  X(uint32_t, aLength)                       \
  X(uint32_t, rLength)                       \
  X(uint32_t, halfAddRepeatTimes)            \
  X(uint32_t, rHeadLength)                   \
  X(float, k2Rec)                            \
  X(float, k2RRec)                           \
  X(uint32_t, inputXSize)                    \
  X(uint32_t, meanVarSize)                   \
  X(uint32_t, numberOfTmpBuf)                \
  X(uint32_t, varianceTmpTensorPos)          \
  X(uint32_t, varianceTmpTensorSize)         \
  X(uint32_t, tmpBufSize)                    \
  X(uint32_t, oneTmpSize)                    \
  X(uint32_t, firstTmpStartPos)              \
  X(uint32_t, secondTmpStartPos)             \
  X(uint32_t, thirdTmpStartPos)              \
  X(uint32_t, loopRound)                     \
  X(uint32_t, inputRoundSize)                \
  X(uint32_t, inputTailSize)                 \
  X(uint32_t, inputTailPos)                  \
  X(uint32_t, meanVarRoundSize)              \
  X(uint32_t, meanVarTailSize)               \
  X(uint32_t, meanVarTailPos)                \
  X(uint32_t, arCurLength)                   \
  X(uint32_t, aCurLength)                    \
  X(float, rValueBack)

#define ACLSIM_RMS_NORM_TILING(X) \
  X(uint32_t, bLength)            \
  X(uint32_t, sLength)            \
  X(uint32_t, hLength)            \
  X(uint32_t, originalHLength)    \
  X(float, reciprocalOfHLength)   \
  X(uint32_t, mainBshLength)      \
  X(uint32_t, mainBsLength)       \
  X(uint32_t, mainBsLengthAlign)  \
  X(uint32_t, loopRound)          \
  X(uint32_t, inputTailPos)       \
  X(uint32_t, tailBshLength)      \
  X(uint32_t, tailBsLength)

#define ACLSIM_GROUP_NORM_TILING(X)  \
  X(uint32_t, n)                     \
  X(uint32_t, c)                     \
  X(uint32_t, hw)                    \
  X(uint32_t, g)                     \
  X(uint32_t, d)                     \
  X(uint32_t, hwAlignSize)           \
  X(uint32_t, dhwAlignSize)          \
  X(uint32_t, inputXSize)            \
  X(uint32_t, meanVarSize)           \
  X(uint32_t, numberOfTmpBuf)        \
  X(uint32_t, meanTmpTensorPos)      \
  X(uint32_t, meanTmpTensorSize)     \
  X(uint32_t, varianceTmpTensorPos)  \
  X(uint32_t, varianceTmpTensorSize) \
  X(uint32_t, tmpBufSize)            \
  X(uint32_t, oneTmpSize)            \
  X(uint32_t, firstTmpStartPos)      \
  X(uint32_t, secondTmpStartPos)     \
  X(uint32_t, thirdTmpStartPos)      \
  X(uint32_t, loopRound)             \
  X(uint32_t, inputRoundSize)        \
  X(uint32_t, inputTailSize)         \
  X(uint32_t, inputTailPos)          \
  X(uint32_t, meanVarRoundSize)      \
  X(uint32_t, meanVarTailSize)       \
  X(uint32_t, meanVarTailPos)        \
  X(uint32_t, bshCurLength)          \
  X(uint32_t, bsCurLength)           \
  X(float, factor)                   \
  X(bool, smallShape)

#define ACLSIM_BATCH_NORM_TILING(X) \
  X(uint32_t, originalBLength)      \
  X(uint32_t, meanVarSize)          \
  X(uint32_t, meanTmpTensorPos)     \
  X(uint32_t, varianceTmpTensorPos) \
  X(uint32_t, tmpBufSize)           \
  X(uint32_t, oneTmpSize)           \
  X(uint32_t, firstTmpStartPos)     \
  X(uint32_t, secondTmpStartPos)    \
  X(uint32_t, thirdTmpStartPos)     \
  X(uint32_t, loopRound)            \
  X(uint32_t, inputTailSize)        \
  X(uint32_t, inputTailPos)         \
  X(uint32_t, meanVarTailSize)      \
  X(uint32_t, meanVarTailPos)       \
  X(uint32_t, bshCurLength)         \
  X(uint32_t, shCurLength)          \
  X(float, firstDimValueBack)       \
  X(uint32_t, castHalfRepStride)    \
  X(uint32_t, shCurLengthBlockNum)  \
  X(uint32_t, castHalfOutRepStride)

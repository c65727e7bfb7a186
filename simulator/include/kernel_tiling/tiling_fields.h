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

// LayerNorm and GroupNorm share these fields: their scratch, and the pieces that they cut the rows into.
#define ACLSIM_NORM_PIECES_TILING(X) \
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
  X(uint32_t, meanVarTailPos)

#define ACLSIM_LAYER_NORM_TILING(X) \
  X(uint32_t, bLength)              \
  X(uint32_t, sLength)              \
  X(uint32_t, hLength)              \
  X(uint32_t, originalHLength)      \
  X(uint32_t, inputXSize)           \
  X(uint32_t, meanVarSize)          \
  X(uint32_t, numberOfTmpBuf)       \
  X(uint32_t, meanTmpTensorPos)     \
  X(uint32_t, meanTmpTensorSize)    \
  ACLSIM_NORM_PIECES_TILING(X)      \
  X(uint32_t, bshCurLength)         \
  X(uint32_t, bsCurLength)          \
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
  ACLSIM_NORM_PIECES_TILING(X)               \
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

#define ACLSIM_GROUP_NORM_TILING(X) \
  X(uint32_t, n)                    \
  X(uint32_t, c)                    \
  X(uint32_t, hw)                   \
  X(uint32_t, g)                    \
  X(uint32_t, d)                    \
  X(uint32_t, hwAlignSize)          \
  X(uint32_t, dhwAlignSize)         \
  X(uint32_t, inputXSize)           \
  X(uint32_t, meanVarSize)          \
  X(uint32_t, numberOfTmpBuf)       \
  X(uint32_t, meanTmpTensorPos)     \
  X(uint32_t, meanTmpTensorSize)    \
  ACLSIM_NORM_PIECES_TILING(X)      \
  X(uint32_t, bshCurLength)         \
  X(uint32_t, bsCurLength)          \
  X(float, factor)                  \
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

#define ACLSIM_TOPK_TILING(X)           \
  X(int32_t, tmpLocalSize)              \
  X(int32_t, allDataSize)               \
  X(int32_t, innerDataSize)             \
  X(uint32_t, sortRepeat)               \
  X(int32_t, mrgSortRepeat)             \
  X(int32_t, kAlignFourBytes)           \
  X(int32_t, kAlignTwoBytes)            \
  X(int32_t, maskOffset)                \
  X(int32_t, maskVreducev2FourBytes)    \
  X(int32_t, maskVreducev2TwoBytes)     \
  X(int32_t, mrgSortSrc1offset)         \
  X(int32_t, mrgSortSrc2offset)         \
  X(int32_t, mrgSortSrc3offset)         \
  X(int32_t, mrgSortTwoQueueSrc1Offset) \
  X(int32_t, mrgFourQueueTailPara1)     \
  X(int32_t, mrgFourQueueTailPara2)     \
  X(int32_t, srcIndexOffset)            \
  X(uint32_t, copyUbToUbBlockCount)     \
  X(int32_t, topkMrgSrc1MaskSizeOffset) \
  X(int32_t, topkNSmallSrcIndexOffset)  \
  X(uint32_t, vreduceValMask0)          \
  X(uint32_t, vreduceValMask1)          \
  X(uint32_t, vreduceIdxMask0)          \
  X(uint32_t, vreduceIdxMask1)          \
  X(uint16_t, vreducehalfValMask0)      \
  X(uint16_t, vreducehalfValMask1)      \
  X(uint16_t, vreducehalfValMask2)      \
  X(uint16_t, vreducehalfValMask3)      \
  X(uint16_t, vreducehalfValMask4)      \
  X(uint16_t, vreducehalfValMask5)      \
  X(uint16_t, vreducehalfValMask6)      \
  X(uint16_t, vreducehalfValMask7)

// The shape, and lengths derived from it that differ between the kinds of Transpose.
#define ACLSIM_TRANSPOSE_TILING(X) \
  X(uint32_t, param0)              \
  X(uint32_t, param1)              \
  X(uint32_t, param2)              \
  X(uint32_t, param3)              \
  X(uint32_t, param4)              \
  X(uint32_t, param5)              \
  X(uint32_t, param6)              \
  X(uint32_t, param7)              \
  X(uint32_t, param8)              \
  X(uint32_t, param9)              \
  X(uint32_t, param10)             \
  X(uint32_t, param11)             \
  X(uint32_t, param12)             \
  X(uint32_t, param13)             \
  X(uint32_t, param14)             \
  X(uint32_t, param15)             \
  X(uint32_t, param16)             \
  X(uint32_t, param17)

// Matmul's fields: how a product is cut for the cores, for L0 and for L1.
#define ACLSIM_CUBE_TILING(X) \
  X(int32_t, usedCoreNum)     \
  X(int32_t, M)               \
  X(int32_t, N)               \
  X(int32_t, Ka)              \
  X(int32_t, Kb)              \
  X(int32_t, singleCoreM)     \
  X(int32_t, singleCoreN)     \
  X(int32_t, singleCoreK)     \
  X(int32_t, baseM)           \
  X(int32_t, baseN)           \
  X(int32_t, baseK)           \
  X(int32_t, depthA1)         \
  X(int32_t, depthB1)         \
  X(int32_t, stepM)           \
  X(int32_t, stepN)           \
  X(int32_t, isBias)          \
  X(int32_t, transLength)     \
  X(int32_t, iterateOrder)    \
  X(int32_t, shareMode)       \
  X(int32_t, shareL1Size)     \
  X(int32_t, shareL0CSize)    \
  X(int32_t, shareUbSize)     \
  X(int32_t, batchM)          \
  X(int32_t, batchN)          \
  X(int32_t, singleBatchM)    \
  X(int32_t, singleBatchN)    \
  X(int32_t, stepKa)          \
  X(int32_t, stepKb)          \
  X(int32_t, depthAL1CacheUB) \
  X(int32_t, depthBL1CacheUB) \
  X(int32_t, dbL0A)           \
  X(int32_t, dbL0B)           \
  X(int32_t, dbL0C)           \
  X(int32_t, ALayoutInfoB)    \
  X(int32_t, ALayoutInfoS)    \
  X(int32_t, ALayoutInfoN)    \
  X(int32_t, ALayoutInfoG)    \
  X(int32_t, ALayoutInfoD)    \
  X(int32_t, BLayoutInfoB)    \
  X(int32_t, BLayoutInfoS)    \
  X(int32_t, BLayoutInfoN)    \
  X(int32_t, BLayoutInfoG)    \
  X(int32_t, BLayoutInfoD)    \
  X(int32_t, CLayoutInfoB)    \
  X(int32_t, CLayoutInfoS1)   \
  X(int32_t, CLayoutInfoN)    \
  X(int32_t, CLayoutInfoG)    \
  X(int32_t, CLayoutInfoS2)   \
  X(int32_t, BatchNum)        \
  X(int32_t, mxTypePara)

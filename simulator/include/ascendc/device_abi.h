// SPDX-License-Identifier: Apache-2.0
// A compiled kernel calls these functions of libascendcl.so. The Ascend C templates above only pack operands into these plain structs;
// legality, execution and records are in the library, so that one kernel binary serves every mode of the simulator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ascendc/half.h"
#include "ascendc/narrow_floats.h"

#define ACLSIM_DEVICE_API __attribute__((visibility("default")))
// After a library call with plain arguments: keeps the compiler from jumping there, which would take the kernel's line out of
// the fault report.
#define ACLSIM_KEEP_FRAME() __asm__ volatile("")

namespace aclsim {

enum class DType : uint8_t {
  kFloat,
  kHalf,
  kBf16,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kBool,
  kDouble,
  kE4m3,
  kE5m2,
  kHif8,
  kE2m1,  // two to a byte
  kE1m2,  // likewise
  kE8m0,
};

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat;
};
template <>
struct DTypeOf<half> {
  static constexpr DType value = DType::kHalf;
};
template <>
struct DTypeOf<bfloat16_t> {
  static constexpr DType value = DType::kBf16;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kUint8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::kInt16;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::kUint16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::kUint32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::kUint64;
};
template <>
struct DTypeOf<long long> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<unsigned long long> {
  static constexpr DType value = DType::kUint64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kDouble;
};
#define ACLSIM_DTYPE(type, name)                \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  };
ACLSIM_DTYPE(fp8_e4m3fn_t, kE4m3)
ACLSIM_DTYPE(fp8_e5m2_t, kE5m2)
ACLSIM_DTYPE(hifloat8_t, kHif8)
ACLSIM_DTYPE(fp4x2_e2m1_t, kE2m1)
ACLSIM_DTYPE(fp4x2_e1m2_t, kE1m2)
ACLSIM_DTYPE(fp8_e8m0_t, kE8m0)
#undef ACLSIM_DTYPE

// One UB operand: first byte, the buffer it was cut from (for bounds and names), element type. generation tells a tensor that
// was freed since from the one that AllocTensor hands out now.
struct Ub {
  uint8_t* addr = nullptr;
  uint32_t buf = 0;
  DType dtype = DType::kFloat;
  uint16_t generation = 0;
};

// This says which lanes an instruction works on and how it walks UB, in the terms of the API: strides in 32-byte blocks.
struct VecCtl {
  enum Mode : uint8_t {
    kCount,   // the first n elements; mask[0] = n
    kMask,    // per repeat the first mask[0] lanes
    kBits,    // per repeat the lanes whose bit is set
    kPreset,  // the mask that SetVectorMask left (isSetMask = false)
    // The count form with isSetMask = false: as kPreset, where mask[0] has no effect; on 3510 as kCount.
    kPresetCount,
  };
  Mode mode = kCount;
  uint64_t mask[2] = {0, 0};
  int32_t repeat = 1;
  int32_t blkStride[3] = {1, 1, 1};  // dst, src0, src1
  int32_t repStride[3] = {8, 8, 8};
};

inline VecCtl CountCtl(int64_t count) {
  VecCtl ctl;
  ctl.mask[0] = static_cast<uint64_t>(count);
  return ctl;
}
inline VecCtl CountCtl(bool setMask, int64_t count) {
  VecCtl ctl = CountCtl(count);
  ctl.mode = setMask ? VecCtl::kCount : VecCtl::kPresetCount;
  return ctl;
}
inline VecCtl MaskCtl(bool setMask, uint64_t mask, int32_t repeat) {
  VecCtl ctl;
  ctl.mode = setMask ? VecCtl::kMask : VecCtl::kPreset;
  ctl.mask[0] = mask;
  ctl.repeat = repeat;
  return ctl;
}
inline VecCtl BitsCtl(bool setMask, const uint64_t* mask, int32_t repeat) {
  VecCtl ctl;
  ctl.mode = setMask ? VecCtl::kBits : VecCtl::kPreset;
  ctl.mask[0] = mask[0];
  ctl.mask[1] = mask[1];
  ctl.repeat = repeat;
  return ctl;
}
inline VecCtl Strided(VecCtl ctl, int32_t dstBlk, int32_t src0Blk, int32_t src1Blk, int32_t dstRep,
                      int32_t src0Rep, int32_t src1Rep) {
  ctl.blkStride[0] = dstBlk, ctl.blkStride[1] = src0Blk, ctl.blkStride[2] = src1Blk;
  ctl.repStride[0] = dstRep, ctl.repStride[1] = src0Rep, ctl.repStride[2] = src1Rep;
  return ctl;
}

// A scalar operand with its type's exact value.
union ScalarValue {
  double f;
  int64_t i;
};

enum class Op2 : uint8_t {
#define ACLSIM_BINARY(Name, ...) k##Name,
#include "ascendc/instructions.def"
  kCount
};
enum class Op1 : uint8_t {
#define ACLSIM_UNARY(Name, ...) k##Name,
#include "ascendc/instructions.def"
  kCount
};
enum class OpScalar : uint8_t {
#define ACLSIM_SCALAR(Name, ...) k##Name,
#define ACLSIM_SCALAR_VARIANT(Name, ...) k##Name,
#include "ascendc/instructions.def"
  kCount
};
enum class ReduceOp : uint8_t {
#define ACLSIM_WHOLE_REDUCE(Name, op, ...) k##op,
#include "ascendc/instructions.def"
};
enum class Compare : uint8_t { kLt, kGt, kEq, kLe, kGe, kNe };  // as CMPMODE
enum class Round : uint8_t { kNone, kRint, kFloor, kCeil, kRound, kTrunc, kOdd };

// --- system variables -------------------------------------------------------------------------------------------------
ACLSIM_DEVICE_API int64_t BlockIdx();
ACLSIM_DEVICE_API int64_t AiCoreIdx();
ACLSIM_DEVICE_API int64_t SubBlockIdx();
ACLSIM_DEVICE_API int64_t SubBlockNum();
ACLSIM_DEVICE_API int64_t BlockNum();
ACLSIM_DEVICE_API bool TilingKeyIs(uint64_t key);
ACLSIM_DEVICE_API uint64_t TilingKey();
// GET_TILING_DATA: a kernel's struct that is larger than the tiling data is a fault.
ACLSIM_DEVICE_API void ReadTiling(void* dst, const void* tiling, uint64_t bytes);
ACLSIM_DEVICE_API uint64_t UbCapacity();
ACLSIM_DEVICE_API int64_t SystemCycle();

// --- buffers and queues -----------------------------------------------------------------------------------------------
struct Buffer {
  uint8_t* addr = nullptr;
  uint32_t bytes = 0;
  uint32_t buf = 0;
  uint16_t generation = 0;
};
// Each returns or takes the engine's handle; 0 is "not initialised". pos and dst are the TPositions of a queue's two ends.
ACLSIM_DEVICE_API uint32_t PipeOpen(void* object);
ACLSIM_DEVICE_API uint32_t PipeCopy(void* object, uint32_t from);
ACLSIM_DEVICE_API void PipeAssign(uint32_t pipe, uint32_t from);
ACLSIM_DEVICE_API void PipeInit(uint32_t pipe);
ACLSIM_DEVICE_API void PipeReset(uint32_t pipe);
ACLSIM_DEVICE_API void PipeDestroy(uint32_t pipe, bool barrier);
ACLSIM_DEVICE_API void PipeClose(uint32_t pipe);
// The object of the TPipe that was initialised last and still exists.
ACLSIM_DEVICE_API void* PipeCurrent();
// The registers that a kernel inherits from the one before it: mask and mask mode.
ACLSIM_DEVICE_API void InitSoc();
ACLSIM_DEVICE_API uint32_t QueInit(uint8_t pos, uint8_t dst, int32_t depth, uint32_t num,
                                   uint32_t bytes, bool tbuf, uint32_t pipe, uint32_t pool);
// A queue into TSCM. oneForBoth: the AIVs of an AI core have the same bytes of its L1.
ACLSIM_DEVICE_API uint32_t TscmInit(uint8_t pos, int32_t depth, uint32_t num, uint32_t bytes,
                                    bool oneForBoth, uint32_t pipe);
ACLSIM_DEVICE_API Buffer QueAlloc(uint32_t que);
ACLSIM_DEVICE_API void QueEnQue(uint32_t que, uint32_t buf);
ACLSIM_DEVICE_API Buffer QueDeQue(uint32_t que);
// The forms with positions of the caller's: on the way from src to dst.
ACLSIM_DEVICE_API void QueEnQueOn(uint32_t que, uint32_t buf, uint8_t src, uint8_t dst);
ACLSIM_DEVICE_API Buffer QueDeQueOn(uint32_t que, uint8_t src, uint8_t dst);
ACLSIM_DEVICE_API void QueFree(uint32_t que, uint32_t buf);
ACLSIM_DEVICE_API int32_t QueCount(uint32_t que);
ACLSIM_DEVICE_API bool QueHasIdle(uint32_t que);
// Waits for what FreeTensor has set, and gives the ids back.
ACLSIM_DEVICE_API void QueFreeEvents(uint32_t que);
// TBufPool: a range of UB with at most ids buffers of its own; parent 0 is the pipe, else that of the parent counts. shared: another
// pool whose range this one has as well, or 0.
ACLSIM_DEVICE_API uint32_t PoolInit(uint32_t pipe, uint32_t parent, uint32_t bytes, uint32_t ids,
                                    uint32_t shared);
ACLSIM_DEVICE_API void PoolReset(uint32_t pool);
ACLSIM_DEVICE_API uint32_t PoolBegin(uint32_t pool);
// Pools that place buffers themselves: a queue of buffers that have no place yet, and the place of one.
ACLSIM_DEVICE_API uint32_t QueOpen(uint32_t pool, uint8_t pos, uint8_t dst, int32_t depth,
                                   uint32_t num, bool tbuf);
ACLSIM_DEVICE_API void QuePlace(uint32_t que, uint32_t index, uint32_t pool, uint32_t offset,
                                uint32_t bytes);
ACLSIM_DEVICE_API Buffer TBufGet(uint32_t que, uint64_t offset, uint64_t bytes);
// A tensor at a fixed UB address, outside TPipe (LocalMemAllocator, LocalTensor(pos, addr, size)).
ACLSIM_DEVICE_API Buffer UbAt(uint64_t offset, uint64_t bytes);
// The same in the memory of a TPosition.
ACLSIM_DEVICE_API Buffer LocalAt(uint8_t pos, uint64_t offset, uint64_t bytes);
// The operand at an address, in the buffer that holds it and reaches furthest.
ACLSIM_DEVICE_API Ub UbPointer(const void* address, DType dtype);
// The parameters of the kernel, as GM_ADDR.
ACLSIM_DEVICE_API uint64_t ParaBase();

// --- tensors ----------------------------------------------------------------------------------------------------------
// A reference may be read or written: nobody knows.
enum class ScalarUse : uint8_t { kRead, kWrite, kReference };
// Checks that [addr, addr + bytes) lies in the buffer and returns addr.
ACLSIM_DEVICE_API uint8_t* UbScalar(const Ub& tensor, uint64_t offsetBytes, uint32_t bytes,
                                    ScalarUse use);
// Returns whether reads, or writes, of the tensor that holds addr leave its lines in L2.
ACLSIM_DEVICE_API void HintL2(const void* addr, bool read, bool write, bool bypass);
// A GlobalTensor begins there: findings about that memory show the call.
ACLSIM_DEVICE_API void NoteGlobalTensor(const void* addr);
ACLSIM_DEVICE_API uint8_t* GmScalar(const void* addr, uint64_t offsetBytes, uint32_t bytes,
                                    ScalarUse use);

// --- synchronisation --------------------------------------------------------------------------------------------------
ACLSIM_DEVICE_API void SetFlagEvent(uint8_t event, int32_t id);
ACLSIM_DEVICE_API void WaitFlagEvent(uint8_t event, int32_t id);
ACLSIM_DEVICE_API int32_t AllocEvent(uint32_t pipe, uint8_t event);
ACLSIM_DEVICE_API int32_t FetchEvent(uint32_t pipe, uint8_t event);
ACLSIM_DEVICE_API void ReleaseEvent(uint32_t pipe, uint8_t event, int32_t id);
ACLSIM_DEVICE_API void LockMutex(int32_t pipe, uint8_t id);
ACLSIM_DEVICE_API void UnlockMutex(int32_t pipe, uint8_t id);
ACLSIM_DEVICE_API uint8_t AllocMutex();
ACLSIM_DEVICE_API void ReleaseMutex(uint8_t id);
ACLSIM_DEVICE_API void Barrier(int32_t pipe);
// All cores of the launch, or the first `cores` of them; gm and ub are the soft form's scratch, null in the hard form.
ACLSIM_DEVICE_API void SyncAllCores(const void* gm, const Ub* ub, uint32_t cores);
ACLSIM_DEVICE_API void SyncBothKinds();
ACLSIM_DEVICE_API void CrossCoreSet(uint8_t mode, int32_t pipe, uint16_t flag);
ACLSIM_DEVICE_API void CrossCoreWait(uint8_t mode, int32_t pipe, uint16_t flag);
// addr of one line, or null for the whole cache.
ACLSIM_DEVICE_API void CleanCache(const void* addr);
enum class Atomic : uint8_t { kNone, kAdd, kMax, kMin };
ACLSIM_DEVICE_API void SetAtomic(Atomic op, DType dtype);
// The dtype alone. The operation stays, and is a sum where none is set, which is what the register's zero means.
ACLSIM_DEVICE_API void SetAtomicType(DType dtype);
// 1: results that overflow are Inf and NaN, which is how everything here computes. Anything else saturates them.
ACLSIM_DEVICE_API void SetOverflow(uint64_t mode);
ACLSIM_DEVICE_API void SetMaskMode(bool counter);
ACLSIM_DEVICE_API void SetMaskBits(uint64_t high, uint64_t low);
// It does the same for counter mode, where low is a number of lanes and high plays no part.
ACLSIM_DEVICE_API void SetMaskLanes(uint64_t high, uint64_t low);

// --- data movement ----------------------------------------------------------------------------------------------------
// Lengths and strides as in the API; pad describes DataCopyPad's fill, in bytes of the element type.
struct CopyCtl {
  uint32_t blockCount = 1;
  uint64_t blockLen = 0;  // bytes
  uint64_t srcGap = 0;    // bytes between the end of a block and the start of the next
  uint64_t dstGap = 0;
};
struct PadCtl {
  bool isPad = false;
  uint32_t left = 0;  // elements
  uint32_t right = 0;
  uint64_t value = 0;  // bits of one element
};
ACLSIM_DEVICE_API void CopyGmToUb(const Ub& dst, const void* src, const CopyCtl& ctl);
ACLSIM_DEVICE_API void CopyUbToGm(void* dst, const Ub& src, const CopyCtl& ctl);
ACLSIM_DEVICE_API void CopyUbToUb(const Ub& dst, const Ub& src, const CopyCtl& ctl);
// The UB side of the Pad forms starts every block on 32 bytes; gaps there count whole blocks (already in bytes here).
ACLSIM_DEVICE_API void CopyPadGmToUb(const Ub& dst, const void* src, const CopyCtl& ctl,
                                     const PadCtl& pad);
ACLSIM_DEVICE_API void CopyPadUbToGm(void* dst, const Ub& src, const CopyCtl& ctl);

// --- vector -----------------------------------------------------------------------------------------------------------
ACLSIM_DEVICE_API void VecBinary(Op2 op, const Ub& dst, const Ub& src0, const Ub& src1,
                                 const VecCtl& ctl);
ACLSIM_DEVICE_API void VecUnary(Op1 op, const Ub& dst, const Ub& src, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecScalar(OpScalar op, const Ub& dst, const Ub& src, ScalarValue scalar,
                                 const VecCtl& ctl);
ACLSIM_DEVICE_API void VecCast(const Ub& dst, const Ub& src, Round round, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecDuplicate(const Ub& dst, ScalarValue scalar, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecCopy(const Ub& dst, const Ub& src, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecBrcb(const Ub& dst, const Ub& src, int32_t repeat, int32_t dstBlk,
                               int32_t dstRep);
// One result per repeat. dstRep counts results; order as ReduceOrder (sums ignore it).
ACLSIM_DEVICE_API void VecWholeReduce(ReduceOp op, const Ub& dst, const Ub& src, const VecCtl& ctl,
                                      uint8_t order);
// One sum of all repeats, in order, in the register that GetAccVal reads.
ACLSIM_DEVICE_API void VecAccumulateSum(const Ub& src, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecBlockReduce(ReduceOp op, const Ub& dst, const Ub& src, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecPairReduceSum(const Ub& dst, const Ub& src, const VecCtl& ctl);
// One result for all repeats. Sums: repeats in order in the count form, as a tree otherwise. Extremes: the value, then the
// index when it is wanted.
ACLSIM_DEVICE_API void VecReduceSum(const Ub& dst, const Ub& src, const Ub& work,
                                    const VecCtl& ctl);
ACLSIM_DEVICE_API void VecReduceExtreme(ReduceOp op, const Ub& dst, const Ub& src, const Ub& work,
                                        const VecCtl& ctl, bool calIndex);
// dst gets one bit per element, lowest bit first. src1 is nullptr in the scalar form.
ACLSIM_DEVICE_API void VecCompare(Compare op, const Ub& dst, const Ub& src0, const Ub* src1,
                                  ScalarValue scalar, const VecCtl& ctl);
// Bit 1 takes src0, bit 0 takes src1 or, when that is nullptr, the scalar. sameBits: each repeat starts at the first bit again.
ACLSIM_DEVICE_API void VecSelect(const Ub& dst, const Ub& bits, const Ub& src0, const Ub* src1,
                                 ScalarValue scalar, bool sameBits, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecTransDataTo5HD(const uint64_t* dst, const uint64_t* src, DType dtype,
                                         bool dstHigh, bool srcHigh, int32_t repeat, int32_t dstRep,
                                         int32_t srcRep);
// It does the same with rows that registers of eight addresses name: this one and the next.
ACLSIM_DEVICE_API void SetAddresses(uint32_t which, const uint64_t* addresses);
ACLSIM_DEVICE_API void VecTransposeListed(uint32_t dst, uint32_t src, DType dtype, bool dstHigh,
                                          bool srcHigh, int32_t repeat, int32_t dstRep,
                                          int32_t srcRep);
// The high-level forms below have shapes of their own; sizes are those of the tensors, in elements.
struct SelectBytesCtl {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t maskColumns = 0;
  uint32_t srcSize = 0;
  uint32_t maskSize = 0;
  uint32_t workBytes = 0;
  bool scalarWhenSet = false;  // mask != 0 takes the scalar
};
ACLSIM_DEVICE_API void VecSelectBytes(const Ub& dst, const Ub& src, ScalarValue scalar,
                                      const Ub& mask, const Ub& work, const SelectBytesCtl& ctl);
struct DropOutCtl {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t maskColumns = 0;  // bytes of a row of the mask
  uint32_t workBytes = 0;
  float keepProb = 0;
  bool bits = false;        // a bit for an element, the lowest first; else a byte
  bool contiguous = false;  // the rows of the mask follow one another without padding
};
ACLSIM_DEVICE_API void VecDropOut(const Ub& dst, const Ub& src, const Ub& mask, const Ub& work,
                                  const DropOutCtl& ctl);
struct SoftmaxGradCtl {
  uint32_t rows = 0;
  uint32_t columns = 0;     // padded
  uint32_t sumColumns = 0;  // those that the sum takes in
  uint32_t workBytes = 0;
  bool front = false;  // only the sums, one 32-byte block per row
};
ACLSIM_DEVICE_API void VecSoftmaxGrad(const Ub& dst, const Ub& grad, const Ub& src, const Ub& work,
                                      const SoftmaxGradCtl& ctl);

// --- debugging --------------------------------------------------------------------------------------------------------
[[noreturn]] ACLSIM_DEVICE_API void AssertFail(const char* condition, const char* file, int line,
                                               const char* message);
// printf in one piece, so that cores do not interleave.
ACLSIM_DEVICE_API void Print(const char* format, ...);
ACLSIM_DEVICE_API void Dump(const Ub& tensor, uint32_t desc, uint32_t count);
ACLSIM_DEVICE_API void DumpGm(const void* addr, DType dtype, uint32_t desc, uint32_t count);
// Elements behind a bare address, in the memory that the kernel names ("L1"), or in whichever has them ("").
ACLSIM_DEVICE_API void DumpAt(const void* addr, const char* memory, DType dtype, uint32_t desc,
                              uint32_t count);
[[noreturn]] ACLSIM_DEVICE_API void Trap();

}  // namespace aclsim

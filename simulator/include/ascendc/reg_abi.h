// SPDX-License-Identifier: Apache-2.0
// The register-level templates call these functions of libascendcl.so: vector functions, their registers, masks and instructions.
#pragma once

#include "ascendc/device_abi.h"

namespace aclsim {

constexpr int32_t kRegBytes = 256;

// The value of a register waits for these: a cycle of its vector function, and loads of UB. Loads have numbers; `loads` has a bit for
// each of the 64 up to `lastLoad` (bit 0), and older ones count as waited for.
struct RegAfter {
  int64_t cycle = 0;
  uint64_t loads = 0;
  uint64_t lastLoad = 0;
  uint32_t stores = 0;    // so many stores of the function are complete before one of the loads
  uint32_t function = 0;  // the vector function that has set the register
};

// A vector register. What is behind its bytes is the simulator's: what of it nobody has written, and what it waits for.
struct alignas(64) Reg {
  enum State : uint32_t { kWritten, kPartly, kNever };
  uint8_t bytes[kRegBytes];
  uint32_t state;
  uint32_t origin;  // of what is undefined
  RegAfter after;
  uint8_t shadow[kRegBytes];  // per byte 0 or 0xFF, when the state is kPartly

  Reg() : state(kNever), origin(0) {}
};

// A bit per byte of a register; of a lane the lowest one counts.
struct RegMask {
  uint64_t bits[4];
  uint64_t undefined[4];
  uint32_t state;
  uint32_t origin;
  RegAfter after;

  RegMask() : state(Reg::kNever), origin(0) {}
};

// For loads the block of 32 bytes that the next load begins in; for stores the bytes behind the last whole block, until the next store
// or the end.
struct RegUnalign {
  uint8_t* at = nullptr;  // of the block, or of the first byte that is held back
  uint32_t bytes = 0;     // that are held back
  uint32_t origin = 0;
  uint32_t written = 0;  // by the stores that take their length from Squeeze
  uint32_t buf = 0;      // that the stores since the last end began in
  uint32_t filled = 0;   // stores of the function before the block was loaded,
  uint32_t ordered = 0;  // and those of them that were complete
  RegAfter after;
  uint8_t data[32];
  uint8_t shadow[32];
};

// --- a vector function ------------------------------------------------------------------------------------------------
ACLSIM_DEVICE_API void VectorFunctionBegin();
ACLSIM_DEVICE_API void VectorFunctionEnd();
// asc_vf_call has begun it, for the __simd_vf__ function that it is about to call.
ACLSIM_DEVICE_API void VectorFunctionIsCalled();
// The first statement of a __simd_vf__ function, which kernels call by its name as well. Returns whether a vector function begins there.
ACLSIM_DEVICE_API bool VectorFunctionEnter();
// The addresses that a function has as arguments, where it has no other way to one.
ACLSIM_DEVICE_API void VectorFunctionGets(const void* const* addresses, size_t count);
class VectorFunction {
 public:
  VectorFunction() { VectorFunctionBegin(); }
  ~VectorFunction() noexcept(false) { VectorFunctionEnd(); }
  VectorFunction(const VectorFunction&) = delete;
  VectorFunction& operator=(const VectorFunction&) = delete;
};
// The body of a __simd_vf__ function; ascc puts it there.
class VectorFunctionBody {
 public:
  VectorFunctionBody() : begins_(VectorFunctionEnter()) {}
  ~VectorFunctionBody() noexcept(false) {
    if (begins_) {
      VectorFunctionEnd();
    }
  }
  VectorFunctionBody(const VectorFunctionBody&) = delete;
  VectorFunctionBody& operator=(const VectorFunctionBody&) = delete;

 private:
  bool begins_;
};

// --- loads and stores -------------------------------------------------------------------------------------------------
enum class RegLoad : uint8_t {
  kNorm,
  kBroadcast,       // one element to all
  kUpsample,        // each of half the elements twice
  kDownsample,      // every other one of two registers' worth
  kUnpack,          // a zero behind each of half the elements
  kUnpack4,         // three behind each of a quarter
  kBlock,           // a block to all eight
  kElementToBlock,  // eight elements, each to a block
  kDeinterleave,    // even ones to the first register, odd ones to the second
};
enum class RegStore : uint8_t {
  kNorm,
  kFirst,       // the first element
  kPack,        // the lower half of each
  kPack4,       // the lowest quarter
  kInterleave,  // of two registers in turn
};
// width: bytes of an element in the register. dst1 and src1 are null but of the forms for two registers.
ACLSIM_DEVICE_API void RegLoadAligned(Reg* dst0, Reg* dst1, const void* src, RegLoad how,
                                      uint8_t width);
ACLSIM_DEVICE_API void RegStoreAligned(void* dst, const Reg* src0, const Reg* src1, RegStore how,
                                       uint8_t width, const RegMask& mask);
// Eight blocks, `stride` blocks apart; the mask's of their first bytes say which ones.
ACLSIM_DEVICE_API void RegLoadBlocks(Reg* dst, const void* src, uint32_t stride,
                                     const RegMask& mask);
ACLSIM_DEVICE_API void RegStoreBlocks(void* dst, const Reg* src, uint32_t stride, uint8_t width,
                                      const RegMask& mask);
ACLSIM_DEVICE_API void RegLoadUnalignedBegin(RegUnalign* unalign, const void* src);
ACLSIM_DEVICE_API void RegLoadUnaligned(Reg* dst, RegUnalign* unalign, const void* src);
ACLSIM_DEVICE_API void RegStoreUnaligned(void* dst, const Reg* src, RegUnalign* unalign,
                                         uint32_t bytes);
// dst: where the stores have ended, or null where the kernel's form does not say.
ACLSIM_DEVICE_API void RegStoreUnalignedEnd(RegUnalign* unalign, const void* dst);
// A lane per index, of indexWidth bytes; elements of 1 byte are widened to 2.
ACLSIM_DEVICE_API void RegGatherUb(Reg* dst, const void* base, const Reg* index, uint8_t width,
                                   uint8_t indexWidth, const RegMask& mask);
ACLSIM_DEVICE_API void RegGatherBlocks(Reg* dst, const void* base, const Reg* index,
                                       const RegMask& mask);
ACLSIM_DEVICE_API void RegScatterUb(void* base, const Reg* src, const Reg* index, uint8_t width,
                                    uint8_t indexWidth, const RegMask& mask);
// A mask's bits stand in UB in one of these ways: as they are, each twice, every other one.
enum class RegMaskCopy : uint8_t { kNorm, kUpsample, kDownsample };
ACLSIM_DEVICE_API void RegLoadMask(RegMask* dst, const void* src, RegMaskCopy how);
ACLSIM_DEVICE_API void RegStoreMask(void* dst, const RegMask& src, RegMaskCopy how);
// By MemType: vector stores and loads that are waited for, and those that wait.
ACLSIM_DEVICE_API void RegBarrier(bool storesBefore, bool loadsBefore, bool storesAfter,
                                  bool loadsAfter);

// --- instructions on registers ----------------------------------------------------------------------------------------
enum class RegOp2 : uint8_t {
#define ACLSIM_REG_BINARY_OP(Name, ...) k##Name,
#include "ascendc/instructions.def"
  kCount
};
enum class RegOp1 : uint8_t {
#define ACLSIM_REG_UNARY_OP(Name, ...) k##Name,
#include "ascendc/instructions.def"
  kCount
};
// merge: lanes outside of the mask keep what they hold; else they are 0.
ACLSIM_DEVICE_API void RegBinary(RegOp2 op, DType dtype, Reg* dst, const Reg* a, const Reg* b,
                                 const RegMask& mask, bool merge);
// b is one element of the type for all lanes; swapped: it is the first source.
ACLSIM_DEVICE_API void RegWithScalar(RegOp2 op, DType dtype, Reg* dst, const Reg* a, uint64_t b,
                                     const RegMask& mask, bool merge);
ACLSIM_DEVICE_API void RegUnary(RegOp1 op, DType dtype, Reg* dst, const Reg* a, const RegMask& mask,
                                bool merge);
ACLSIM_DEVICE_API void RegLeakyRelu(DType dtype, Reg* dst, const Reg* a, uint64_t slope,
                                    const RegMask& mask, bool merge);
// part: which of the wider elements' parts the narrow ones take, or come from.
ACLSIM_DEVICE_API void RegCast(DType to, DType from, Reg* dst, const Reg* src, Round round,
                               uint8_t part, bool saturate, const RegMask& mask, bool merge);
ACLSIM_DEVICE_API void RegCompare(Compare op, DType dtype, RegMask* dst, const Reg* a, const Reg* b,
                                  const RegMask& mask);
ACLSIM_DEVICE_API void RegCompareScalar(Compare op, DType dtype, RegMask* dst, const Reg* a,
                                        uint64_t b, const RegMask& mask);
ACLSIM_DEVICE_API void RegSelect(uint8_t width, Reg* dst, const Reg* a, const Reg* b,
                                 const RegMask& mask);
ACLSIM_DEVICE_API void RegDuplicate(uint8_t width, Reg* dst, uint64_t value, const RegMask* mask,
                                    bool merge);
// The lowest element to all lanes.
ACLSIM_DEVICE_API void RegSpread(uint8_t width, Reg* dst, const Reg* src, const RegMask& mask,
                                 bool merge);
ACLSIM_DEVICE_API void RegMove(uint8_t width, Reg* dst, const Reg* src, const RegMask* mask);
// Sums, and extremes with the index of the first.
ACLSIM_DEVICE_API void RegReduce(ReduceOp op, DType to, DType from, Reg* dst, const Reg* src,
                                 const RegMask& mask);
ACLSIM_DEVICE_API void RegReduceBlocks(ReduceOp op, DType to, DType from, Reg* dst, const Reg* src,
                                       const RegMask& mask);
ACLSIM_DEVICE_API void RegReducePairs(DType dtype, Reg* dst, const Reg* src, const RegMask& mask);
// width: bytes of the wider element.
ACLSIM_DEVICE_API void RegPack(uint8_t width, Reg* dst, const Reg* src, bool high);
ACLSIM_DEVICE_API void RegUnpack(uint8_t width, bool isSigned, Reg* dst, const Reg* src, bool high);
ACLSIM_DEVICE_API void RegInterleave(uint8_t width, Reg* dst0, Reg* dst1, const Reg* a,
                                     const Reg* b);
ACLSIM_DEVICE_API void RegDeinterleave(uint8_t width, Reg* dst0, Reg* dst1, const Reg* a,
                                       const Reg* b);
ACLSIM_DEVICE_API void RegArange(DType dtype, Reg* dst, uint64_t first, bool descending);
// Lanes of the mask to the front. store: their bytes are what RegStoreSqueezed writes.
ACLSIM_DEVICE_API void RegSqueeze(uint8_t width, Reg* dst, const Reg* src, const RegMask& mask,
                                  bool store);
// Counts the lanes of the mask that stand before each.
ACLSIM_DEVICE_API void RegUnsqueeze(uint8_t width, Reg* dst, const RegMask& mask);
ACLSIM_DEVICE_API uint32_t RegSqueezedBytes();
// It does the same for the StoreUnAlign that is next in turn.
ACLSIM_DEVICE_API uint32_t RegTakeSqueezed();
ACLSIM_DEVICE_API void RegClearSqueezed();
ACLSIM_DEVICE_API void RegGatherLanes(uint8_t width, Reg* dst, const Reg* src, const Reg* index);

// --- masks ------------------------------------------------------------------------------------------------------------
enum class RegMaskOp : uint8_t { kAnd, kOr, kXor, kNot, kMove, kSelect };
// The first `lanes` lanes; every: of them every one, every third or every fourth.
ACLSIM_DEVICE_API RegMask RegCreateMask(uint8_t width, uint32_t lanes, uint32_t every);
ACLSIM_DEVICE_API void RegMaskBits(RegMaskOp op, RegMask* dst, const RegMask& a, const RegMask& b,
                                   const RegMask* mask);
ACLSIM_DEVICE_API void RegMaskPack(RegMask* dst, const RegMask& src, bool high);
ACLSIM_DEVICE_API void RegMaskUnpack(RegMask* dst, const RegMask& src, bool high);
ACLSIM_DEVICE_API void RegMaskInterleave(uint8_t width, RegMask* dst0, RegMask* dst1,
                                         const RegMask& a, const RegMask& b);
ACLSIM_DEVICE_API void RegMaskDeinterleave(uint8_t width, RegMask* dst0, RegMask* dst1,
                                           const RegMask& a, const RegMask& b);
ACLSIM_DEVICE_API RegMask RegMaskOfVectorMask(uint8_t width);
ACLSIM_DEVICE_API void RegMaskOfRegister(uint8_t width, RegMask* dst, const Reg* src,
                                         uint32_t part);

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad: GM <-> UB by MTE2 and MTE3, UB <-> UB by the vector pipe. On an AIC, GM <-> L1 by MTE2 and MTE3.
#include <algorithm>
#include <cstring>

#include "ascendc/cube_abi.h"
#include "device/cube.h"
#include "device/lanes.h"
#include "device/tscm.h"
#include "engine/core.h"
#include "engine/options.h"
#include "soc/choices.h"

namespace aclsim {

namespace {

constexpr uint64_t kBlock = 32;
constexpr uint32_t kMaxBlockCount = 4095;
constexpr uint64_t kMaxPadBlockLen = 2097151;
constexpr const char* kAllTheSame = "done all the same";

uint64_t AlignUp(uint64_t value) { return (value + kBlock - 1) / kBlock * kBlock; }

void CheckBlockCount(const CopyCtl& ctl) {
  if (ctl.blockCount > kMaxBlockCount) {
    PassFault("copy-block-count",
              Format("blockCount %u, legal are 1..%u", ctl.blockCount, kMaxBlockCount),
              "Hardware keeps the low 12 bits and copies fewer blocks. Split the copy.",
              kAllTheSame);
  }
}

void CheckPad(const Core& core, const CopyCtl& ctl, DType dtype) {
  CheckBlockCount(ctl);
  if (core.kind == CoreKind::kCube && core.soc.matrix.Lacks("DataCopyPad")) {
    ThrowFault("instruction-absent", "DataCopyPad on an AIC",
               "The device compiler refuses it: on Atlas A2 only DataCopy moves between GM and L1. "
               "ND2NZ fills the tail of a row with zeros.");
  }
  if (!core.soc.dataCopyPad) {
    PassFault("instruction-absent",
              Format("DataCopyPad does not exist on %s", core.soc.name.c_str()),
              "The device compiler refuses it. Use DataCopy with 32-byte multiples and handle the "
              "tail yourself.",
              kAllTheSame);
  }
  if (ctl.blockLen > kMaxPadBlockLen || ctl.blockLen % WidthOf(dtype) != 0) {
    PassFault(
        "copy-block-length",
        Format("blockLen %llu bytes of %s; legal are multiples of %zu up to %llu",
               static_cast<unsigned long long>(ctl.blockLen), NameOf(dtype), WidthOf(dtype),
               static_cast<unsigned long long>(kMaxPadBlockLen)),
        "Hardware keeps the low 21 bits. DataCopyPad counts blockLen in bytes; split longer rows.",
        kAllTheSame);
  }
}

// Distance from the first byte of the first block to one past the last byte of the last.
uint64_t Span(uint64_t count, uint64_t len, uint64_t gap) {
  return (count - 1) * (len + gap) + len;
}

void CopyOfTensor(uint8_t* dst, const uint8_t* src, size_t n) { std::memcpy(dst, src, n); }

// Returns whether the host's caches do not hold the tensor.
bool IsLarge(const GmRegion& region) {
  constexpr uint64_t kBeyondCaches = 32 << 20;
  return region.bytes >= kBeyondCaches;
}

// Says how to copy to or from a GM tensor: a large one is read ahead of the copy and written past the caches.
LaneTable::Copy CopyOf(const GmRegion& region, bool write) {
  if (!IsLarge(region)) {
    return CopyOfTensor;
  }
  return write ? Lanes().stream : Lanes().load;
}

// Before a copy from GM to UB.
void Foresee(Core& core, const GmRegion& region, const uint8_t* from, const CopyCtl& ctl) {
  if (IsLarge(region) && (ctl.blockCount == 1 || ctl.srcGap == 0)) {
    core.readAhead.Copied(from, ctl.blockCount * ctl.blockLen, region.addr + region.bytes);
  }
}

// Blocks of GM that lie apart: each on a page of its own, the host's prefetchers see nothing in them.
void LoadBlocks(uint8_t* dst, uint64_t dstStep, const uint8_t* src, uint64_t srcStep, uint64_t len,
                uint32_t count) {
  constexpr uint64_t kLine = 64, kAhead = 4096;
  const auto ahead = static_cast<uint32_t>(std::clamp<uint64_t>(kAhead / len, 1, 16));
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t* const next = src + (i + ahead) * srcStep;
    for (uint64_t at = 0; i + ahead < count && at < len; at += kLine) {
      __builtin_prefetch(next + at, 0, 2);
    }
    std::memcpy(dst + i * dstStep, src + i * srcStep, len);
  }
}

void Move(LaneTable::Copy copy, uint8_t* dst, uint64_t dstStep, const uint8_t* src,
          uint64_t srcStep, uint64_t len, uint32_t count) {
  if (dstStep == len && srcStep == len) {
    copy(dst, src, len * count);
    return;
  }
  if (copy == Lanes().load && srcStep != len) {
    LoadBlocks(dst, dstStep, src, srcStep, len, count);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    copy(dst + i * dstStep, src + i * srcStep, len);
  }
}

void Store(Core& core, LaneTable::Copy copy, uint8_t* dst, uint64_t dstStep, const uint8_t* src,
           uint64_t srcStep, uint64_t len, uint32_t count, AtomicState atomic) {
  if (atomic.op == Atomic::kNone) {
    core.SettleAtomics(dst, (count - 1) * dstStep + len);
    Move(copy, dst, dstStep, src, srcStep, len, count);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    core.StoreGm(dst + i * dstStep, src + i * srcStep, len, atomic);
  }
}

// Raw bytes have no type of their own, and integers of one width add up to the same bits.
bool AddsAs(DType copied, DType added) {
  const auto isInteger = [](DType dtype) {
    return dtype != DType::kFloat && dtype != DType::kHalf && dtype != DType::kBf16 &&
           dtype != DType::kDouble;
  };
  return copied == added || copied == DType::kUint8 || copied == DType::kBool ||
         (isInteger(copied) && isInteger(added) && WidthOf(copied) == WidthOf(added));
}

}  // namespace

void CheckAtomic(Core& core, uint64_t len, DType copied) {
  if (core.atomic.op == Atomic::kNone) {
    return;
  }
  if (len % WidthOf(core.atomic.dtype) != 0) {
    ThrowFault("atomic-length",
               Format("%llu bytes with atomic %s set, legal are multiples of %zu",
                      static_cast<unsigned long long>(len), NameOf(core.atomic.dtype),
                      WidthOf(core.atomic.dtype)),
               "Hardware adds parts of elements. Call SetAtomicNone before other copies.");
  }
  if (!AddsAs(copied, core.atomic.dtype)) {
    KernelFault fault{
        "atomic-dtype",
        Format("a copy of %s while an atomic operation of %s is on", NameOf(copied),
               NameOf(core.atomic.dtype)),
        "Hardware takes the bits for numbers of the other type: wrong numbers. Set the atomic "
        "operation for the tensor's type, and call SetAtomicNone before other copies.",
        CaptureStack(),
        {},
        ""};
    fault.related.push_back({core.sites.Stack(core.atomicSite), "SetAtomic", "sets it"});
    core.GoOn(std::move(fault), "done, with numbers of the other type");
  }
}

namespace {

// Names of a copy by its way: an AIC copies between GM and L1 as an AIV does between GM and UB, a coupled core does both.
constexpr const char* kInNames[] = {"DataCopy (GM to UB)", "DataCopy (GM to L1)"};
constexpr const char* kOutNames[] = {"DataCopy (UB to GM)", "DataCopy (L1 to GM)"};
constexpr const char* kPadInNames[] = {"DataCopyPad (GM to UB)", "DataCopyPad (GM to L1)"};
constexpr const char* kPadOutNames[] = {"DataCopyPad (UB to GM)", "DataCopyPad (L1 to GM)"};
size_t OfL1(const Core& core, const Ub& local) {
  return core.kind == CoreKind::kCube ||
                 (core.kind == CoreKind::kCoupled && core.SpaceOf(local) != Space::kUb)
             ? 1
             : 0;
}
void CheckInL1(Core& core, const Ub& local, bool toLocal) {
  if (OfL1(core, local) != 0) [[unlikely]] {
    CheckOperandIn(core, local, {Space::kL1}, kBlock, toLocal ? "dst" : "src");
    CheckWay(core, toLocal ? Space::kGm : Space::kL1, toLocal ? Space::kL1 : Space::kGm);
  }
}

// Returns whether there is nothing to copy, which the documents allow.
bool IsIdleCopy(Core& core, const CopyCtl& ctl, const Ub* dst) {
  if (ctl.blockCount != 0 && ctl.blockLen != 0) [[likely]] {
    return false;
  }
  if (dst != nullptr) {
    core.MarkIdle(*dst, ctl.blockCount == 0
                            ? "copies nothing: its blockCount is 0"
                            : "copies nothing: its length is less than a block, or 0");
  }
  return true;
}

// Both sides of a copy: `count` blocks on each, `step` bytes apart.
struct Side {
  uint64_t len;
  uint64_t step;
};
void FillCopy(Record* record, const Core& core, bool toUb, const Ub& ub, Side ubSide,
              const void* gm, Side gmSide, uint32_t count) {
  record->repeat = static_cast<int32_t>(count);
  record->dtype = ub.dtype;
  record->atomic = !toUb && core.atomic.op != Atomic::kNone;
  if (record->atomic) {
    record->group = static_cast<uint8_t>(core.atomic.op);
  }
  const Space space = core.kind == CoreKind::kVector ? Space::kUb : core.SpaceOf(ub);
  record->Add(BlockAccess(space, toUb ? Use::kWrite : Use::kRead, core.UbOffset(ub.addr),
                          ubSide.len, count, ubSide.step, ub.buf));
  record->Add(BlockAccess(Space::kGm, toUb ? Use::kRead : Use::kWrite,
                          reinterpret_cast<uint64_t>(gm), gmSide.len, count, gmSide.step, 0));
}

// The copied bytes may be words that others write while the core polls them.
void TellWords(Core& core, const uint8_t* to, uint64_t bytes) {
  constexpr uint64_t kMostBytes = 2048;
  if (core.Observed() && bytes <= kMostBytes) {
    core.TellRead(to, static_cast<uint32_t>(bytes));
  }
}

// The copies themselves: everything is checked.
void IssueGmToUb(Core& core, const Ub& dst, const uint8_t* from, const CopyCtl& ctl,
                 const GmRegion& region) {
  core.progress.Moved(ctl.blockCount * ctl.blockLen);
  core.Issue(
      Pipe::kMte2,
      [&](Record& record) {
        record.flow = Flow::kCopy;
        FillCopy(&record, core, true, dst, {ctl.blockLen, ctl.blockLen + ctl.dstGap}, from,
                 {ctl.blockLen, ctl.blockLen + ctl.srcGap}, ctl.blockCount);
      },
      [&core, &region, ctl, from, to = dst.addr, copy = CopyOf(region, false)] {
        Foresee(core, region, from, ctl);
        core.SettleAtomics(from, Span(ctl.blockCount, ctl.blockLen, ctl.srcGap));
        Move(copy, to, ctl.blockLen + ctl.dstGap, from, ctl.blockLen + ctl.srcGap, ctl.blockLen,
             ctl.blockCount);
        if (ctl.blockCount == 1) {
          TellWords(core, to, ctl.blockLen);
        }
      });
}

// row: bytes from the start of a block in UB to the start of the next one, without the gap.
void IssueUbToGm(Core& core, uint8_t* to, const Ub& src, const CopyCtl& ctl, uint64_t row,
                 const GmRegion& region) {
  core.progress.Moved(ctl.blockCount * ctl.blockLen);
  core.Issue(
      Pipe::kMte3,
      [&](Record& record) {
        record.flow = Flow::kCopy;
        FillCopy(&record, core, false, src, {ctl.blockLen, row + ctl.srcGap}, to,
                 {ctl.blockLen, ctl.blockLen + ctl.dstGap}, ctl.blockCount);
      },
      [&core, ctl, to, row, from = src.addr, atomic = core.atomic, copy = CopyOf(region, true)] {
        Store(core, copy, to, ctl.blockLen + ctl.dstGap, from, row + ctl.srcGap, ctl.blockLen,
              ctl.blockCount, atomic);
      });
}

void IssueUbToUb(Core& core, const Ub& dst, const Ub& src, const CopyCtl& ctl) {
  const uint64_t dstStep = ctl.blockLen + ctl.dstGap;
  const uint64_t srcStep = ctl.blockLen + ctl.srcGap;
  const uint64_t to = core.UbOffset(dst.addr);
  const uint64_t from = core.UbOffset(src.addr);
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = static_cast<int32_t>(ctl.blockCount);
        record.dtype = dst.dtype;
        record.Add(BlockAccess(Space::kUb, Use::kWrite, to, ctl.blockLen, ctl.blockCount, dstStep,
                               dst.buf));
        record.Add(BlockAccess(Space::kUb, Use::kRead, from, ctl.blockLen, ctl.blockCount, srcStep,
                               src.buf));
      },
      [=](uint8_t* ub) {
        for (uint32_t i = 0; i < ctl.blockCount; ++i) {
          std::memmove(ub + to + i * dstStep, ub + from + i * srcStep, ctl.blockLen);
        }
      });
}

// --- what is left of a copy that leaves its tensor or its buffer, where cores go on after faults --------------------------

bool LeavesMemory(const KernelFault& fault) {
  return fault.kind == kUbOutOfBounds || fault.kind == kGmOutOfBounds ||
         fault.kind == kGmWriteToInput || fault.kind == kGmWriteToConstant;
}

Ub At(const Ub& tensor, uint64_t offset) {
  return {tensor.addr + offset, tensor.buf, tensor.dtype, tensor.generation};
}

CopyCtl OneBlock(uint64_t bytes) {
  CopyCtl ctl;
  ctl.blockLen = bytes;
  return ctl;
}

// Calls block(i, dst, src) for all blocks, at their distances from the first.
template <typename Block>
void ForBlocks(const CopyCtl& ctl, uint64_t dstLen, uint64_t srcLen, const Block& block) {
  for (uint64_t i = 0; i < ctl.blockCount; ++i) {
    block(i * (dstLen + ctl.dstGap), i * (srcLen + ctl.srcGap));
  }
}

// One block: zeros, `bytes` bytes of a tensor, zeros again up to `room`.
void CopyBetweenZeros(Core& core, const Ub& dst, uint64_t room, uint64_t left, const uint8_t* from,
                      uint64_t bytes) {
  if (room == 0) {
    return;
  }
  core.Issue(
      Pipe::kMte2,
      [&](Record& record) {
        record.dtype = dst.dtype;
        if (bytes > 0) {
          record.flow = Flow::kCopy;
          record.padLeft = static_cast<uint32_t>(left);
          FillCopy(&record, core, true, dst, {room, room}, from, {bytes, bytes}, 1);
        } else {
          record.flow = Flow::kNone;
          record.Add(DenseAccess(Use::kWrite, core.UbOffset(dst.addr), room, dst.buf));
        }
      },
      [&core, to = dst.addr, room, left, from, bytes] {
        core.SettleAtomics(from, bytes);
        std::memset(to, 0, room);
        if (bytes > 0) {
          std::memcpy(to + left, from, bytes);
          TellWords(core, to + left, bytes);
        }
      });
}

std::string Bytes(uint64_t bytes, const char* what) {
  return Format("the %llu bytes %s", static_cast<unsigned long long>(bytes), what);
}

// In UB each block takes row bytes: padding, its own, and padding again.
struct PaddedRow {
  uint64_t left;
  uint64_t row;
};

// whole(to, from) copies a block that lies inside with all of its row.
template <typename Whole>
void CopyInside(KernelFault&& fault, const Ub& dst, const uint8_t* from, const CopyCtl& ctl,
                PaddedRow padded, const Whole& whole) {
  if (!LeavesMemory(fault)) {
    SkipFault(std::move(fault));
    return;
  }
  Core& core = Core::Current();
  const auto [left, row] = padded;
  const GmRegion* const tensor = core.RegionOf(reinterpret_cast<uint64_t>(from));
  // These say what the buffer holds of a block's row, and what of the block is in the tensor.
  const auto rowAt = [&](uint64_t to) {
    return std::min(row, core.UbRoom(dst, static_cast<int64_t>(to)));
  };
  const auto blockAt = [&, own = left](uint64_t to, uint64_t at) {
    const uint64_t room = rowAt(to);
    return std::min(core.GmRoom(tensor, from + at, ctl.blockLen, false),
                    room > own ? room - own : 0);
  };
  uint64_t dropped = 0;
  uint64_t zeros = 0;
  ForBlocks(ctl, row, ctl.blockLen, [&](uint64_t to, uint64_t at) {
    const uint64_t lost = row - rowAt(to);
    dropped += lost;
    zeros += ctl.blockLen - core.GmRoom(tensor, from + at, ctl.blockLen, false);
  });
  std::string how;
  if (zeros > 0) {
    how = Bytes(zeros, "outside the tensor were read as 0");
  }
  if (dropped > 0) {
    how += (how.empty() ? "" : ", ") + Bytes(dropped, "past the buffer were not written");
  }
  SkipFault(std::move(fault), how);
  ForBlocks(ctl, row, ctl.blockLen, [&, own = left](uint64_t to, uint64_t at) {
    const uint64_t bytes = blockAt(to, at);
    if (rowAt(to) == row && bytes == ctl.blockLen) {
      whole(At(dst, to), from + at);
    } else {
      CopyBetweenZeros(core, At(dst, to), rowAt(to), own, from + at, bytes);
    }
  });
}

void CopyInside(KernelFault&& fault, uint8_t* to, const Ub& src, const CopyCtl& ctl, uint64_t row) {
  if (!LeavesMemory(fault)) {
    SkipFault(std::move(fault));
    return;
  }
  Core& core = Core::Current();
  const GmRegion* const tensor = core.RegionOf(reinterpret_cast<uint64_t>(to));
  const uint64_t unit = core.atomic.op != Atomic::kNone ? WidthOf(core.atomic.dtype) : 1;
  const auto bytesAt = [&](uint64_t dst, uint64_t from) {
    const uint64_t bytes = std::min(core.GmRoom(tensor, to + dst, ctl.blockLen, true),
                                    core.UbRoom(src, static_cast<int64_t>(from)));
    return bytes / unit * unit;
  };
  uint64_t dropped = 0;
  ForBlocks(ctl, ctl.blockLen, row,
            [&](uint64_t dst, uint64_t from) { dropped += ctl.blockLen - bytesAt(dst, from); });
  SkipFault(std::move(fault), Bytes(dropped, "outside were not written"));
  ForBlocks(ctl, ctl.blockLen, row, [&](uint64_t dst, uint64_t from) {
    if (const uint64_t bytes = bytesAt(dst, from); bytes > 0) {
      IssueUbToGm(core, to + dst, At(src, from), OneBlock(bytes), bytes, *tensor);
    }
  });
}

void CopyInside(KernelFault&& fault, const Ub& dst, const Ub& src, const CopyCtl& ctl) {
  if (!LeavesMemory(fault)) {
    SkipFault(std::move(fault));
    return;
  }
  Core& core = Core::Current();
  const auto bytesAt = [&](uint64_t to, uint64_t from) {
    return std::min({ctl.blockLen, core.UbRoom(dst, static_cast<int64_t>(to)),
                     core.UbRoom(src, static_cast<int64_t>(from))});
  };
  uint64_t dropped = 0;
  ForBlocks(ctl, ctl.blockLen, ctl.blockLen,
            [&](uint64_t to, uint64_t from) { dropped += ctl.blockLen - bytesAt(to, from); });
  SkipFault(std::move(fault), Bytes(dropped, "outside were not copied"));
  ForBlocks(ctl, ctl.blockLen, ctl.blockLen, [&](uint64_t to, uint64_t from) {
    if (const uint64_t bytes = bytesAt(to, from); bytes > 0) {
      IssueUbToUb(core, At(dst, to), At(src, from), OneBlock(bytes));
    }
  });
}

}  // namespace

void CopyGmToUb(const Ub& dst, const void* src, const CopyCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = kInNames[OfL1(core, dst)];
  CheckInL1(core, dst, true);
  CheckBlockCount(ctl);
  if (IsIdleCopy(core, ctl, &dst)) {
    return;
  }
  if (IsInTscm(core, dst)) [[unlikely]] {
    CopyGmToTscm(core, dst, src, ctl);
    return;
  }
  const auto* from = static_cast<const uint8_t*>(src);
  core.CheckUbAlign(dst, kBlock, "dst");
  core.CheckUb(dst, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.dstGap)), "dst");
  const GmRegion& region =
      core.CheckGm(from, Span(ctl.blockCount, ctl.blockLen, ctl.srcGap), false, "src");
  IssueGmToUb(core, dst, from, ctl, region);
} catch (KernelFault& fault) {
  CopyInside(std::move(fault), dst, static_cast<const uint8_t*>(src), ctl, {0, ctl.blockLen},
             [&](const Ub& to, const uint8_t* from) {
               Core& core = Core::Current();
               IssueGmToUb(core, to, from, OneBlock(ctl.blockLen),
                           *core.RegionOf(reinterpret_cast<uint64_t>(from)));
             });
}

void CopyUbToGm(void* dst, const Ub& src, const CopyCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = kOutNames[OfL1(core, src)];
  CheckInL1(core, src, false);
  CheckBlockCount(ctl);
  if (IsIdleCopy(core, ctl, nullptr)) {
    return;
  }
  auto* to = static_cast<uint8_t*>(dst);
  core.CheckUbAlign(src, kBlock, "src");
  core.CheckUb(src, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.srcGap)), "src");
  const GmRegion& region =
      core.CheckGm(to, Span(ctl.blockCount, ctl.blockLen, ctl.dstGap), true, "dst");
  CheckAtomic(core, ctl.blockLen, src.dtype);
  IssueUbToGm(core, to, src, ctl, ctl.blockLen, region);
} catch (KernelFault& fault) {
  CopyInside(std::move(fault), static_cast<uint8_t*>(dst), src, ctl, ctl.blockLen);
}

void CopyUbToUb(const Ub& dst, const Ub& src, const CopyCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "DataCopy (UB to UB)";
  if (core.kind == CoreKind::kCube) {
    // Into a table, whose units are not those of UB.
    CubeCopyToTable(dst, src, ctl.blockCount, ctl.blockLen / kBlock, ctl.srcGap / kBlock,
                    ctl.dstGap / kBlock);
    return;
  }
  if (core.kind == CoreKind::kCoupled &&
      (core.SpaceOf(dst) != Space::kUb || core.SpaceOf(src) != Space::kUb)) {
    CubeCopyUbToL1(dst, src, ctl);
    return;
  }
  CheckBlockCount(ctl);
  if (IsIdleCopy(core, ctl, &dst)) {
    return;
  }
  if (IsInTscm(core, dst)) [[unlikely]] {
    CopyUbToTscm(core, dst, src, ctl);
    return;
  }
  core.CheckUbAlign(dst, kBlock, "dst");
  core.CheckUbAlign(src, kBlock, "src");
  core.CheckUb(dst, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.dstGap)), "dst");
  core.CheckUb(src, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.srcGap)), "src");
  IssueUbToUb(core, dst, src, ctl);
} catch (KernelFault& fault) {
  CopyInside(std::move(fault), dst, src, ctl);
}

void CopyPadGmToUb(const Ub& dst, const void* src, const CopyCtl& ctl, const PadCtl& pad) try {
  Core& core = Core::Current();
  core.instruction = kPadInNames[OfL1(core, dst)];
  CheckPad(core, ctl, dst.dtype);
  CheckInL1(core, dst, true);
  if (IsIdleCopy(core, ctl, &dst)) {
    return;
  }
  const uint64_t width = WidthOf(dst.dtype);
  if (pad.left * width > kBlock || pad.right * width > kBlock) {
    PassFault("copy-padding",
              Format("padding of %u and %u elements of %zu bytes; each side may have 32 bytes",
                     pad.left, pad.right, static_cast<size_t>(width)),
              "Hardware fills a wrong number of bytes. Pad further lanes with Duplicate.",
              kAllTheSame);
  }
  if (pad.isPad && width == 8 && pad.value != 0) {
    PassFault("copy-padding",
              Format("paddingValue of an 8-byte type is 0x%llx",
                     static_cast<unsigned long long>(pad.value)),
              "Hardware pads 8-byte elements with 0 only. Pad with Duplicate afterwards.",
              kAllTheSame);
  }
  const auto* from = static_cast<const uint8_t*>(src);
  const uint64_t left = pad.left * width;
  const uint64_t used = left + ctl.blockLen + pad.right * width;
  const uint64_t row = AlignUp(used);  // every block starts on 32 bytes
  core.CheckUbAlign(dst, kBlock, "dst");
  core.CheckUb(dst, 0, static_cast<int64_t>(Span(ctl.blockCount, row, ctl.dstGap)), "dst");
  const GmRegion& region =
      core.CheckGm(from, Span(ctl.blockCount, ctl.blockLen, ctl.srcGap), false, "src");
  const bool bare = pad.left == 0 && pad.right == 0;
  // The register of SetPadValue is the one that paddingValue goes through.
  const bool known = pad.isPad || core.registers.padSet;
  const uint64_t padding = pad.isPad ? pad.value : core.registers.padValue;
  core.registers.padSet =
      core.registers.padSet && (!pad.isPad || ChosenOf(Choice::kPadRegister) != 0);
  core.progress.Moved(ctl.blockCount * ctl.blockLen);
  core.Issue(
      Pipe::kMte2,
      [&](Record& record) {
        record.flow = Flow::kCopy;
        record.padLeft = static_cast<uint32_t>(left);
        record.padDefined = known;
        FillCopy(&record, core, true, dst, {row, row + ctl.dstGap}, src,
                 {ctl.blockLen, ctl.blockLen + ctl.srcGap}, ctl.blockCount);
      },
      [&core, &region, ctl, known, padding, from, to = dst.addr, left, row, width, bare,
       copy = CopyOf(region, false)] {
        Foresee(core, region, from, ctl);
        core.SettleAtomics(from, Span(ctl.blockCount, ctl.blockLen, ctl.srcGap));
        if (row == ctl.blockLen) {
          Move(copy, to, row + ctl.dstGap, from, row + ctl.srcGap, row, ctl.blockCount);
          return;
        }
        // Documented fill: paddingValue with isPad, or what SetPadValue left; without them the hardware leaves junk, except
        // that a block with no padding at all is filled up with its own first element: nothing that a result may rest on.
        uint8_t junk[8];
        std::memset(junk, kPoisonByte, sizeof(junk));
        uint8_t fill[8];
        std::memcpy(fill, &padding, sizeof(fill));
        constexpr uint8_t kZero[8] = {};
        const bool zeros = ChosenOf(Choice::kPadBare) != 0;
        const auto fillLanes = [&](uint8_t* at, uint64_t bytes, const uint8_t* value) {
          for (uint64_t i = 0; i < bytes; i += width) {
            std::memcpy(at + i, value, width);
          }
        };
        for (uint32_t i = 0; i < ctl.blockCount; ++i) {
          uint8_t* line = to + i * (row + ctl.dstGap);
          const uint8_t* block = from + i * (ctl.blockLen + ctl.srcGap);
          const uint8_t* value = known ? fill : junk;
          fillLanes(line, left, value);
          copy(line + left, block, ctl.blockLen);
          fillLanes(line + left + ctl.blockLen, row - left - ctl.blockLen,
                    !bare ? value : (zeros ? kZero : block));
        }
      });
} catch (KernelFault& fault) {
  const uint64_t width = WidthOf(dst.dtype);
  const uint64_t left = pad.left * width;
  CopyInside(std::move(fault), dst, static_cast<const uint8_t*>(src), ctl,
             {left, AlignUp(left + ctl.blockLen + pad.right * width)},
             [&](const Ub& to, const uint8_t* from) {
               CopyPadGmToUb(to, from, OneBlock(ctl.blockLen), pad);
             });
}

void CopyPadUbToGm(void* dst, const Ub& src, const CopyCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = kPadOutNames[OfL1(core, src)];
  CheckPad(core, ctl, src.dtype);
  CheckInL1(core, src, false);
  if (IsIdleCopy(core, ctl, nullptr)) {
    return;
  }
  auto* to = static_cast<uint8_t*>(dst);
  const uint64_t row = AlignUp(ctl.blockLen);
  core.CheckUbAlign(src, kBlock, "src");
  core.CheckUb(src, 0,
               static_cast<int64_t>(Span(ctl.blockCount, row, ctl.srcGap) - row + ctl.blockLen),
               "src");
  const GmRegion& region =
      core.CheckGm(to, Span(ctl.blockCount, ctl.blockLen, ctl.dstGap), true, "dst");
  CheckAtomic(core, ctl.blockLen, src.dtype);
  IssueUbToGm(core, to, src, ctl, row, region);
} catch (KernelFault& fault) {
  CopyInside(std::move(fault), static_cast<uint8_t*>(dst), src, ctl, AlignUp(ctl.blockLen));
}

}  // namespace aclsim

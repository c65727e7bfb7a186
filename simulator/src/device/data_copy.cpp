// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad: GM <-> UB by MTE2 and MTE3, UB <-> UB by the vector pipe.
#include <algorithm>
#include <cstring>

#include "device/lanes.h"
#include "engine/core.h"

namespace aclsim {

namespace {

constexpr uint64_t kBlock = 32;
constexpr uint32_t kMaxBlockCount = 4095;
constexpr uint64_t kMaxPadBlockLen = 2097151;

uint64_t AlignUp(uint64_t value) { return (value + kBlock - 1) / kBlock * kBlock; }

void CheckBlockCount(const CopyCtl& ctl) {
  if (ctl.blockCount > kMaxBlockCount) {
    ThrowFault("copy-block-count",
               Format("blockCount %u, legal are 1..%u", ctl.blockCount, kMaxBlockCount),
               "Hardware keeps the low 12 bits and copies fewer blocks. Split the copy.");
  }
}

void CheckPad(const Core& core, const CopyCtl& ctl, DType dtype) {
  CheckBlockCount(ctl);
  if (!core.soc.dataCopyPad) {
    ThrowFault("instruction-absent",
               Format("DataCopyPad does not exist on %s", core.soc.name.c_str()),
               "The device compiler refuses it. Use DataCopy with 32-byte multiples and handle the "
               "tail yourself.");
  }
  if (ctl.blockLen > kMaxPadBlockLen || ctl.blockLen % WidthOf(dtype) != 0) {
    ThrowFault(
        "copy-block-length",
        Format("blockLen %llu bytes of %s; legal are multiples of %zu up to %llu",
               static_cast<unsigned long long>(ctl.blockLen), NameOf(dtype), WidthOf(dtype),
               static_cast<unsigned long long>(kMaxPadBlockLen)),
        "Hardware keeps the low 21 bits. DataCopyPad counts blockLen in bytes; split longer rows.");
  }
}

// Distance from the first byte of the first block to one past the last byte of the last.
uint64_t Span(uint64_t count, uint64_t len, uint64_t gap) {
  return (count - 1) * (len + gap) + len;
}

void Move(uint8_t* dst, uint64_t dstStep, const uint8_t* src, uint64_t srcStep, uint64_t len,
          uint32_t count) {
  if (dstStep == len && srcStep == len) {
    std::memcpy(dst, src, len * count);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    std::memcpy(dst + i * dstStep, src + i * srcStep, len);
  }
}

void EmitCopy(Core& core, Pipe pipe, bool toUb, const Ub& ub, uint64_t ubBytes, const void* gm,
              uint64_t gmBytes, uint32_t repeat) {
  if (!core.Observed()) {
    return;
  }
  Record record{core.instruction, pipe, {}, 2, static_cast<int32_t>(repeat)};
  record.access[0] = {false, toUb, core.UbOffset(ub.addr), ubBytes};
  record.access[1] = {true, !toUb, reinterpret_cast<uint64_t>(gm), gmBytes};
  core.Emit(record);
}

}  // namespace

void CopyGmToUb(const Ub& dst, const void* src, const CopyCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "DataCopy (GM to UB)";
  CheckBlockCount(ctl);
  if (ctl.blockCount == 0 || ctl.blockLen == 0) {
    return;
  }
  const auto* from = static_cast<const uint8_t*>(src);
  core.CheckUbAlign(dst, kBlock, "dst");
  core.CheckUb(dst, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.dstGap)), "dst");
  core.CheckGm(from, Span(ctl.blockCount, ctl.blockLen, ctl.srcGap), false, "src");
  EmitCopy(core, Pipe::kMte2, true, dst, Span(ctl.blockCount, ctl.blockLen, ctl.dstGap), src,
           ctl.blockCount * ctl.blockLen, ctl.blockCount);
  Move(dst.addr, ctl.blockLen + ctl.dstGap, from, ctl.blockLen + ctl.srcGap, ctl.blockLen,
       ctl.blockCount);
}

void CopyUbToGm(void* dst, const Ub& src, const CopyCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "DataCopy (UB to GM)";
  CheckBlockCount(ctl);
  if (ctl.blockCount == 0 || ctl.blockLen == 0) {
    return;
  }
  auto* to = static_cast<uint8_t*>(dst);
  core.CheckUbAlign(src, kBlock, "src");
  core.CheckUb(src, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.srcGap)), "src");
  core.CheckGm(to, Span(ctl.blockCount, ctl.blockLen, ctl.dstGap), true, "dst");
  EmitCopy(core, Pipe::kMte3, false, src, Span(ctl.blockCount, ctl.blockLen, ctl.srcGap), dst,
           ctl.blockCount * ctl.blockLen, ctl.blockCount);
  Move(to, ctl.blockLen + ctl.dstGap, src.addr, ctl.blockLen + ctl.srcGap, ctl.blockLen,
       ctl.blockCount);
}

void CopyUbToUb(const Ub& dst, const Ub& src, const CopyCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "DataCopy (UB to UB)";
  CheckBlockCount(ctl);
  if (ctl.blockCount == 0 || ctl.blockLen == 0) {
    return;
  }
  core.CheckUbAlign(dst, kBlock, "dst");
  core.CheckUbAlign(src, kBlock, "src");
  core.CheckUb(dst, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.dstGap)), "dst");
  core.CheckUb(src, 0, static_cast<int64_t>(Span(ctl.blockCount, ctl.blockLen, ctl.srcGap)), "src");
  if (core.Observed()) {
    Record record{core.instruction, Pipe::kVector, {}, 2, static_cast<int32_t>(ctl.blockCount)};
    record.access[0] = {false, true, core.UbOffset(dst.addr),
                        Span(ctl.blockCount, ctl.blockLen, ctl.dstGap)};
    record.access[1] = {false, false, core.UbOffset(src.addr),
                        Span(ctl.blockCount, ctl.blockLen, ctl.srcGap)};
    core.Emit(record);
  }
  for (uint32_t i = 0; i < ctl.blockCount; ++i) {
    std::memmove(dst.addr + i * (ctl.blockLen + ctl.dstGap),
                 src.addr + i * (ctl.blockLen + ctl.srcGap), ctl.blockLen);
  }
}

void CopyPadGmToUb(const Ub& dst, const void* src, const CopyCtl& ctl, const PadCtl& pad) {
  Core& core = Core::Current();
  core.instruction = "DataCopyPad (GM to UB)";
  CheckPad(core, ctl, dst.dtype);
  if (ctl.blockCount == 0 || ctl.blockLen == 0) {
    return;
  }
  const uint64_t width = WidthOf(dst.dtype);
  if (pad.left * width > kBlock || pad.right * width > kBlock) {
    ThrowFault("copy-padding",
               Format("padding of %u and %u elements of %zu bytes; each side may have 32 bytes",
                      pad.left, pad.right, static_cast<size_t>(width)),
               "Hardware fills a wrong number of bytes. Pad further lanes with Duplicate.");
  }
  if (pad.isPad && width == 8 && pad.value != 0) {
    ThrowFault("copy-padding",
               Format("paddingValue of an 8-byte type is 0x%llx",
                      static_cast<unsigned long long>(pad.value)),
               "Hardware pads 8-byte elements with 0 only. Pad with Duplicate afterwards.");
  }
  const auto* from = static_cast<const uint8_t*>(src);
  const uint64_t left = pad.left * width;
  const uint64_t used = left + ctl.blockLen + pad.right * width;
  const uint64_t row = AlignUp(used);  // every block starts on 32 bytes
  core.CheckUbAlign(dst, kBlock, "dst");
  core.CheckUb(dst, 0, static_cast<int64_t>(Span(ctl.blockCount, row, ctl.dstGap)), "dst");
  core.CheckGm(from, Span(ctl.blockCount, ctl.blockLen, ctl.srcGap), false, "src");
  EmitCopy(core, Pipe::kMte2, true, dst, Span(ctl.blockCount, row, ctl.dstGap), src,
           ctl.blockCount * ctl.blockLen, ctl.blockCount);
  if (row == ctl.blockLen) {
    Move(dst.addr, row + ctl.dstGap, from, row + ctl.srcGap, row, ctl.blockCount);
    return;
  }
  // Documented fill: paddingValue with isPad; without it the hardware leaves junk, except that a block with no padding at
  // all is filled up with its own first element.
  uint8_t fill[8];
  std::memcpy(fill, &pad.value, sizeof(fill));
  const auto fillLanes = [&](uint8_t* at, uint64_t bytes, const uint8_t* value) {
    for (uint64_t i = 0; i < bytes; i += width) {
      std::memcpy(at + i, value, width);
    }
  };
  uint8_t junk[8];
  std::memset(junk, kPoisonByte, sizeof(junk));
  const bool bare = pad.left == 0 && pad.right == 0;
  for (uint32_t i = 0; i < ctl.blockCount; ++i) {
    uint8_t* to = dst.addr + i * (row + ctl.dstGap);
    const uint8_t* block = from + i * (ctl.blockLen + ctl.srcGap);
    const uint8_t* value = pad.isPad ? fill : junk;
    fillLanes(to, left, value);
    std::memcpy(to + left, block, ctl.blockLen);
    fillLanes(to + left + ctl.blockLen, row - left - ctl.blockLen, bare ? block : value);
  }
}

void CopyPadUbToGm(void* dst, const Ub& src, const CopyCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "DataCopyPad (UB to GM)";
  CheckPad(core, ctl, src.dtype);
  if (ctl.blockCount == 0 || ctl.blockLen == 0) {
    return;
  }
  auto* to = static_cast<uint8_t*>(dst);
  const uint64_t row = AlignUp(ctl.blockLen);
  core.CheckUbAlign(src, kBlock, "src");
  core.CheckUb(src, 0,
               static_cast<int64_t>(Span(ctl.blockCount, row, ctl.srcGap) - row + ctl.blockLen),
               "src");
  core.CheckGm(to, Span(ctl.blockCount, ctl.blockLen, ctl.dstGap), true, "dst");
  EmitCopy(core, Pipe::kMte3, false, src, Span(ctl.blockCount, row, ctl.srcGap), dst,
           ctl.blockCount * ctl.blockLen, ctl.blockCount);
  Move(to, ctl.blockLen + ctl.dstGap, src.addr, row + ctl.srcGap, ctl.blockLen, ctl.blockCount);
}

}  // namespace aclsim

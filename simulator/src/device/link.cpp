// SPDX-License-Identifier: Apache-2.0
#include "device/link.h"

#include <cstring>

#include "device/cube.h"
#include "engine/pipe.h"

namespace aclsim {

namespace {

constexpr const char* kSplit = "Hardware keeps the low bits: it copies less. Split the copy.";

uint64_t SpanOf(uint64_t count, uint64_t step, uint64_t len) { return (count - 1) * step + len; }

// Checks that `bytes` from dst's address on lie in its tensor and in L1. Returns where in the AIC's image they begin.
uint64_t InCube(Core& core, const Ub& dst, uint64_t bytes) {
  const BufferInfo& info = core.Info(dst.buf);
  const uint64_t at = core.UbOffset(dst.addr) - core.image.Bytes();
  const uint64_t first = info.offset - core.image.Bytes();
  const uint64_t own = core.ques[info.que].bytes, there = core.soc.BytesOf(Space::kL1);
  const auto ull = [](uint64_t number) { return static_cast<unsigned long long>(number); };
  if (at < first || at + bytes > first + own || at + bytes > there) {
    ThrowFault(
        kUbOutOfBounds,
        Format("dst covers L1 [%llu, %llu); its tensor has [%llu, %llu), L1 of the AIC %llu bytes",
               ull(at), ull(at + bytes), ull(first), ull(first + own), ull(there)),
        "Hardware would overwrite what lies beside it in L1 without a word. Check the count and "
        "the strides against the tensor's length.");
  }
  if (at % kCubeBlock != 0) {
    ThrowFault("ub-misaligned",
               Format("dst starts at L1 byte %llu, %llu past a 32-byte boundary", ull(at),
                      ull(at % kCubeBlock)),
               "Hardware raises an unaligned-address exception or drops the low address bits. Keep "
               "L1 offsets a multiple of the alignment.");
  }
  return Image(core.soc, CoreKind::kCube, core.keepGoing).Begin(Space::kL1) + at;
}

// Blocks of this core's memory go to `target` in the other one's image: all is checked.
void IssueBlocks(Core& core, std::shared_ptr<Handover> handover, uint64_t target, const Ub& src,
                 const CopyCtl& ctl) {
  const uint64_t dstStep = ctl.blockLen + ctl.dstGap, srcStep = ctl.blockLen + ctl.srcGap;
  core.progress.Moved(ctl.blockCount * ctl.blockLen);
  for (uint64_t i = 0; i < ctl.blockCount; ++i) {
    handover->Add(target + i * dstStep, ctl.blockLen);
  }
  const auto gather = [from = core.UbOffset(src.addr), ctl, srcStep](const uint8_t* image,
                                                                     std::vector<uint8_t>* to) {
    to->resize(ctl.blockCount * ctl.blockLen);
    for (uint64_t i = 0; i < ctl.blockCount; ++i) {
      std::memcpy(to->data() + i * ctl.blockLen, image + from + i * srcStep, ctl.blockLen);
    }
  };
  core.Issue(
      handover->pipe,
      [&](Record& record) {
        record.flow = Flow::kStore;
        record.dtype = src.dtype;
        record.repeat = static_cast<int32_t>(CeilDiv(ctl.blockCount * ctl.blockLen, kCubeBlock));
        record.Add(PartOf(core, src, Use::kRead, 0, ctl.blockLen, ctl.blockCount, srcStep));
        record.handovers[0] = handover.get();
        record.move = [handover, gather](uint8_t* image) { gather(image, &handover->shadow); };
      },
      [&core, handover, gather] {
        gather(core.ub, &handover->data);
        core.meeting->HandOver(core, handover);
      });
}

}  // namespace

uint32_t CoreBeside(const Core& core, CoreKind kind, uint32_t sub) {
  const uint32_t first = core.launch.GroupOf(core.index) * core.launch.PerGroup();
  return first + sub + (kind == CoreKind::kCube ? 0 : core.launch.group.cubes);
}

std::shared_ptr<Handover> NewHandover(const Core& core, uint32_t to, Pipe pipe) {
  auto handover = std::make_shared<Handover>();
  handover->from = core.index;
  handover->to = to;
  handover->name = core.instruction;
  handover->pipe = pipe;
  return handover;
}

void CopyUbToCube(Core& core, const Ub& dst, const Ub& src, const CopyCtl& ctl) {
  core.instruction = "DataCopy (UB to L1)";
  CheckRange("blockCount", ctl.blockCount, 1, 4095, kSplit);
  if (ctl.blockLen == 0) {
    return;  // The AIC says what nobody has written when it reads.
  }
  const uint64_t dstStep = ctl.blockLen + ctl.dstGap, srcStep = ctl.blockLen + ctl.srcGap;
  const uint64_t target = InCube(core, dst, SpanOf(ctl.blockCount, dstStep, ctl.blockLen));
  core.CheckUbAlign(src, kCubeBlock, "src");
  core.CheckUb(src, 0, Signed(SpanOf(ctl.blockCount, srcStep, ctl.blockLen)), "src");
  const uint32_t to = CoreBeside(core, CoreKind::kCube, 0);
  IssueBlocks(core, NewHandover(core, to, Pipe::kMte3), target, src, ctl);
}

void CubeCopyL1ToUb(const Ub& dst, const Ub& src, const CopyCtl& ctl, uint64_t sub) try {
  Core& core = Core::Current();
  core.instruction = "DataCopyL1ToUB";
  CheckIsCube(core);
  CheckWay(core, Space::kL1, Space::kUb);
  if (!core.launch.Mixed() || core.launch.group.vectors != 2) {
    ThrowFault("instruction-absent",
               Format("%s in a kernel that has not two AIVs for each AIC", core.instruction),
               "It is of such kernels alone: KERNEL_TYPE_MIX_AIC_1_2, or __mix__(1, 2).");
  }
  CheckRange("blockCount", ctl.blockCount, 1, 4095, kSplit);
  CheckOperandIn(core, dst, {Space::kUb}, kCubeBlock, "dst");
  CheckOperandIn(core, src, {Space::kL1}, kCubeBlock, "src");
  if (ctl.blockLen == 0) {
    core.MarkIdle(dst, "copies nothing: its length is less than a block, or 0");
    return;
  }
  const uint64_t dstStep = ctl.blockLen + ctl.dstGap, srcStep = ctl.blockLen + ctl.srcGap;
  core.CheckUb(dst, 0, Signed(SpanOf(ctl.blockCount, dstStep, ctl.blockLen)), "dst");
  core.CheckUb(src, 0, Signed(SpanOf(ctl.blockCount, srcStep, ctl.blockLen)), "src");
  const auto to = CoreBeside(core, CoreKind::kVector, static_cast<uint32_t>(sub));
  IssueBlocks(core, NewHandover(core, to, Pipe::kMte1), core.UbOffset(dst.addr), src, ctl);
}
ACLSIM_SKIPS_FAULTS()

// The vector pipe makes the fractals in UB, and MTE3 copies them when it has waited for that: CANN's function has the flag in it.
void CopyNd2NzToCube(Core& core, const Ub& dst, const Ub& src, const Nd2NzCtl& ctl) {
  core.instruction = "DataCopy (ND to NZ, UB to L1)";
  const uint64_t width = WidthOf(dst.dtype);
  constexpr const char* kOne = "CANN's function takes one matrix. Copy one at a time.";
  constexpr const char* kRows = "CANN's function copies whole blocks of 32 bytes of each row.";
  CheckRange("ndNum", ctl.ndNum, 1, 1, kOne);
  CheckRange("nValue", ctl.nValue, 1, 16384, kSplit);
  CheckRange("dValue", ctl.dValue, 1, 65535, kSplit);
  CheckRange("srcDValue", ctl.srcDValue, 1, 65535, kSplit);
  CheckRange("dstNzC0Stride", ctl.dstNzC0Stride, 1, 16384, kSplit);
  CheckRange("dstNzNStride", ctl.dstNzNStride, 1, 16384, kSplit);
  for (const auto& [field, value] :
       {std::pair("dValue", ctl.dValue), {"srcDValue", ctl.srcDValue}}) {
    if (value * width % kCubeBlock != 0) {
      ThrowFault("value-range",
                 Format("%s of %s is %llu elements of %llu bytes, no whole blocks of 32 bytes",
                        field, core.instruction, static_cast<unsigned long long>(value),
                        static_cast<unsigned long long>(width)),
                 kRows);
    }
  }
  const uint64_t columns = ctl.dValue * width / kCubeBlock, row = ctl.dValue * width;
  const uint64_t pitch = ctl.srcDValue * width;
  const uint64_t c0Step = ctl.dstNzC0Stride * kCubeBlock, rowStep = ctl.dstNzNStride * kCubeBlock;
  const uint64_t target =
      InCube(core, dst, SpanOf(columns, c0Step, SpanOf(ctl.nValue, rowStep, kCubeBlock)));
  core.CheckUbAlign(src, kCubeBlock, "src");
  core.CheckUb(src, 0, Signed(SpanOf(ctl.nValue, pitch, row)), "src");
  core.progress.Moved(ctl.nValue * row);
  const std::shared_ptr<Handover> handover =
      NewHandover(core, CoreBeside(core, CoreKind::kCube, 0), Pipe::kMte3);
  for (uint64_t j = 0; j < columns; ++j) {
    for (uint64_t n = 0; n < ctl.nValue; ++n) {
      handover->Add(target + j * c0Step + n * rowStep, kCubeBlock);
    }
  }
  const auto gather = [from = core.UbOffset(src.addr), rows = ctl.nValue, columns, pitch](
                          const uint8_t* image, std::vector<uint8_t>* to) {
    to->resize(rows * columns * kCubeBlock);
    uint8_t* at = to->data();
    for (uint64_t j = 0; j < columns; ++j) {
      for (uint64_t n = 0; n < rows; ++n, at += kCubeBlock) {
        std::memcpy(at, image + from + n * pitch + j * kCubeBlock, kCubeBlock);
      }
    }
  };
  const auto repeat = static_cast<int32_t>(ctl.nValue * columns);
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = Flow::kStore;
        record.dtype = dst.dtype;
        record.repeat = repeat;
        record.Add(BlockAccess(Space::kUb, Use::kRead, core.UbOffset(src.addr), row, ctl.nValue,
                               pitch, src.buf));
        record.move = [handover, gather](uint8_t* image) { gather(image, &handover->shadow); };
      },
      [&core, handover, gather] { gather(core.ub, &handover->data); });
  for (const auto kind : {SyncEvent::Kind::kSet, SyncEvent::Kind::kWait}) {
    OrderPipes(core, kind, Pipe::kVector, Pipe::kMte3, EnQueFlag(0));
  }
  core.instruction = "DataCopy (UB to L1)";
  core.Issue(
      Pipe::kMte3,
      [&](Record& record) {
        record.flow = Flow::kNone;
        record.dtype = dst.dtype;
        record.repeat = repeat;
        record.handovers[0] = handover.get();
      },
      [&core, handover] { core.meeting->HandOver(core, handover); });
}

}  // namespace aclsim

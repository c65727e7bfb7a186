// SPDX-License-Identifier: Apache-2.0
#include "device/tscm.h"

#include <cstring>

#include "ascendc/matmul_abi.h"
#include "device/cube.h"
#include "device/link.h"
#include "device/matmul_flags.h"
#include "engine/pipe.h"

namespace aclsim {

namespace {

// An AIV asks its AIC for this. Requests begin with the number of an object.
struct TscmCopy {
  uint32_t object = FlagSenders::kTscm;
  uint32_t offset = 0, bytes = 0;  // of the buffer, in L1
  uint64_t at = 0;                 // byte of the buffer
  DType dtype = DType::kFloat;
  bool isNd2Nz = false;
  bool isAnswered = false;
  const void* src = nullptr;
  CopyCtl blocks;
  Nd2NzCtl nd2Nz;
};

uint64_t SpanOf(uint64_t count, uint64_t len, uint64_t gap) {
  return count == 0 ? 0 : (count - 1) * (len + gap) + len;
}

TscmCopy Described(Core& core, const Ub& dst, const void* src) {
  if (core.meeting->Objects(core) == 0) {
    EndCore("matmul-use",
            Format("%s into TSCM, and no Matmul object is registered", core.instruction),
            "The AIC that serves Matmul objects copies. Call REGIST_MATMUL_OBJ before.");
  }
  const BufferInfo& info = core.Info(dst.buf);
  if (dst.generation != info.generation || info.state == BufferState::kFree) {
    PassFault("ub-use-after-free",
              Format("dst is a tensor that FreeTensor gave back\n  buffer: %s",
                     core.DescribeBuffer(dst.buf).c_str()),
              "Hardware would overwrite what the queue has handed out since. Free a tensor after "
              "its last use.",
              "done, on what the buffer holds now");
  }
  TscmCopy copy;
  copy.offset = static_cast<uint32_t>(info.offset - core.image.Bytes());
  copy.bytes = core.ques[info.que].bytes;
  copy.at = core.UbOffset(dst.addr) - info.offset;
  copy.dtype = dst.dtype;
  copy.src = src;
  return copy;
}

void CheckInBuffer(Core& core, const TscmCopy& copy, const Ub& dst, uint64_t bytes) {
  if (copy.at + bytes > copy.bytes) {
    ThrowFault(kUbOutOfBounds,
               Format("dst covers bytes [%llu, %llu) of its buffer, which has %u\n  buffer: %s",
                      static_cast<unsigned long long>(copy.at),
                      static_cast<unsigned long long>(copy.at + bytes), copy.bytes,
                      core.DescribeBuffer(dst.buf).c_str()),
               "Hardware would overwrite the neighbouring buffer without a word. Check the count "
               "and the strides against the InitBuffer length.");
  }
}

void Ask(Core& core, const TscmCopy& copy) {
  const auto* first = reinterpret_cast<const uint8_t*>(&copy);
  PostBehindMte3(core, FlagSenders::kTscm, {first, first + sizeof(copy)});
}

// Bytes of UB lie in the AIV's part of the workspace until the AIC has copied them. Returns where; out(gm): brings them there.
template <typename Out>
uint8_t* ByWorkspace(Core& core, const Ub& src, uint64_t bytes, const Out& out) {
  const char* const name = core.instruction;
  AwaitTscmCopies(core);
  uint8_t* const gm =
      MatmulWorkspace(core.registers.matmulWorkspace, src.addr, bytes, "what goes to TSCM");
  for (const auto kind : {SyncEvent::Kind::kSet, SyncEvent::Kind::kWait}) {
    OrderPipes(core, kind, Pipe::kVector, Pipe::kMte3, EnQueFlag(0));
  }
  out(gm);
  core.instruction = name;
  core.registers.tscmCopyPending = true;
  return gm;
}

}  // namespace

void CopyGmToTscm(Core& core, const Ub& dst, const void* src, const CopyCtl& ctl) {
  core.instruction = "DataCopy (GM to TSCM)";
  TscmCopy copy = Described(core, dst, src);
  copy.blocks = ctl;
  CheckInBuffer(core, copy, dst, SpanOf(ctl.blockCount, ctl.blockLen, ctl.dstGap));
  core.CheckGm(src, SpanOf(ctl.blockCount, ctl.blockLen, ctl.srcGap), false, "src");
  Ask(core, copy);
}

void CopyUbToTscm(Core& core, const Ub& dst, const Ub& src, const CopyCtl& ctl) {
  if (IsLinked(core, dst)) {
    CopyUbToCube(core, dst, src, ctl);
    return;
  }
  core.instruction = "DataCopy (UB to TSCM)";
  TscmCopy copy = Described(core, dst, nullptr);
  CheckInBuffer(core, copy, dst, SpanOf(ctl.blockCount, ctl.blockLen, ctl.dstGap));
  CopyCtl out = ctl;
  out.dstGap = 0;
  copy.src = ByWorkspace(core, src, ctl.blockCount * ctl.blockLen,
                         [&](uint8_t* gm) { CopyUbToGm(gm, src, out); });
  copy.blocks = ctl;
  copy.blocks.srcGap = 0;
  copy.isAnswered = true;
  Ask(core, copy);
}

void CopyNd2NzToTscm(Core& core, const Ub& dst, const void* src, const Nd2NzCtl& ctl) {
  core.instruction = "DataCopy (ND to NZ into TSCM)";
  TscmCopy copy = Described(core, dst, src);
  copy.isNd2Nz = true;
  copy.nd2Nz = ctl;
  Ask(core, copy);
}

void TscmNd2NzFromUb(const Ub& dst, const Ub& src, const CopyCtl& out, bool isPadded,
                     const Nd2NzCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "DataCopy (ND to NZ, UB to TSCM)";
  if (!IsInTscm(core, dst)) {
    ThrowFault("instruction-absent", "dst of a copy with ND to NZ from UB does not lie in TSCM",
               "The device compiler refuses it. An AIV of a MIX kernel copies so into a tensor of "
               "a TSCM queue.");
  }
  if (!isPadded && IsLinked(core, dst)) {
    CopyNd2NzToCube(core, dst, src, ctl);
    return;
  }
  TscmCopy copy = Described(core, dst, nullptr);
  if (ctl.ndNum != 1) {
    ThrowFault("value-range",
               Format("ndNum of a copy from UB is %llu, legal is 1",
                      static_cast<unsigned long long>(ctl.ndNum)),
               "Copy one matrix at a time.");
  }
  copy.src =
      ByWorkspace(core, src, SpanOf(out.blockCount, out.blockLen, out.dstGap), [&](uint8_t* gm) {
        if (isPadded) {
          CopyPadUbToGm(gm, src, out);
        } else {
          CopyUbToGm(gm, src, out);
        }
      });
  copy.isNd2Nz = copy.isAnswered = true;
  copy.nd2Nz = ctl;
  Ask(core, copy);
}
ACLSIM_SKIPS_FAULTS()

bool CopiedToTscm(Core& core, uint32_t vector, const Request& request) {
  TscmCopy copy;
  if (request.body.size() != sizeof(copy)) {
    return false;
  }
  std::memcpy(&copy, request.body.data(), sizeof(copy));
  if (copy.object != FlagSenders::kTscm) {
    return false;
  }
  const uint64_t used = core.pipes[core.currentPipe].used[static_cast<size_t>(Space::kL1)];
  core.tscmBegin = std::min<uint64_t>(core.tscmBegin, copy.offset);
  if (used > core.tscmBegin) {
    EndCore("ub-overflow",
            Format("TSCM of the AIVs begins at L1 %llu, and %llu B below are the AIC's own, most "
                   "of them Matmul's\n  buffers:\n%s",
                   static_cast<unsigned long long>(core.tscmBegin),
                   static_cast<unsigned long long>(used), core.BufferTable().c_str()),
            "Hardware would let buffers overlap. Pass to SetBufferSpace of the tiling what TSCM "
            "leaves of L1, or shrink the tile.",
            request.stack);
  }
  const Buffer buffer =
      LocalAt(static_cast<uint8_t>(AscendC::TPosition::TSCM), copy.offset, copy.bytes);
  const Ub dst{buffer.addr + copy.at, buffer.buf, copy.dtype, buffer.generation};
  try {
    if (copy.isNd2Nz) {
      CubeNd2Nz(dst, copy.src, copy.nd2Nz);
    } else {
      CopyGmToUb(dst, copy.src, copy.blocks);
    }
  } catch (KernelFault& fault) {
    fault.stack = request.stack;
    throw;
  }
  for (const auto kind : {SyncEvent::Kind::kSet, SyncEvent::Kind::kWait}) {
    OrderPipes(core, kind, Pipe::kMte2, Pipe::kMte1, EnQueFlag(0));
  }
  if (copy.isAnswered) {
    AnswerBehind(core, Pipe::kMte2, vector, FlagSenders::kTscm, {});
  }
  return true;
}

void AwaitTscmCopies(Core& core) {
  if (core.registers.tscmCopyPending) {
    core.registers.tscmCopyPending = false;
    MatmulAwait(FlagSenders::kTscm, nullptr, 0);
  }
}

uint32_t TscmOffset(const Ub& operand) {
  Core& core = Core::Current();
  core.instruction = "Matmul";
  if (!IsInTscm(core, operand)) {
    MatmulMisuse("SetTensor", "its type says TSCM, and the tensor does not lie there",
                 "Take it from a TSCM queue: DataCopy, EnQue, DeQue.");
  }
  return static_cast<uint32_t>(core.UbOffset(operand.addr) - core.image.Bytes());
}

}  // namespace aclsim

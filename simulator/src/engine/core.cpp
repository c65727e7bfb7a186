// SPDX-License-Identifier: Apache-2.0
#include "engine/core.h"

namespace aclsim {

namespace {

thread_local Core* currentCore = nullptr;

const char* PositionName(uint8_t pos) {
  static const char* const kNames[] = {
      "GM",  "A1",    "A2",     "B1",      "B2",  "C1",   "C2",        "CO1",
      "CO2", "VECIN", "VECOUT", "VECCALC", "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL"};
  return pos < std::size(kNames) ? kNames[pos] : "?";
}

}  // namespace

const char* PipeName(Pipe pipe) {
  static const char* const kNames[] = {"SCALAR", "VECTOR", "MTE2", "MTE3"};
  return kNames[static_cast<size_t>(pipe)];
}

Core::Core(const KernelLaunch& launchIn, uint32_t indexIn, uint8_t* ubIn,
           const std::vector<Observer*>& observers)
    : launch(launchIn),
      index(indexIn),
      soc(*launchIn.soc),
      ub(ubIn),
      buffers(1),
      ques(1),
      observers_(observers) {}

Core& Core::Current() {
  if (currentCore == nullptr) {
    ThrowFault("no-core", "kernel code runs outside a kernel launch",
               "Launch it through its aclnn function.");
  }
  return *currentCore;
}

Core* Core::CurrentOrNull() { return currentCore; }

void Core::SetCurrent(Core* core) { currentCore = core; }

const BufferInfo& Core::Info(uint32_t buf) const {
  if (buf == 0 || buf >= buffers.size()) {
    ThrowFault("ub-never-allocated", "the LocalTensor was never given a buffer",
               "Hardware would use whatever address the register holds. Take it from AllocTensor, "
               "DeQue or TBuf::Get.");
  }
  return buffers[buf];
}

std::string Core::DescribeBuffer(uint32_t buf) const {
  if (buf == 0 || buf >= buffers.size()) {
    return "no buffer";
  }
  const BufferInfo& info = buffers[buf];
  if (info.que == 0) {
    return Format("UB [%u, %u)", info.offset, info.offset + info.bytes);
  }
  const QueInfo& que = ques[info.que];
  const SourceLine line = FindKernelLine({que.initPc});
  return Format(
      "%s %s%s, %u B at UB %u", PositionName(que.pos), que.tbuf ? "TBuf" : "TQue",
      line.line > 0
          ? Format(" from %s:%d `%s`", line.file.c_str(), line.line, line.text.c_str()).c_str()
          : "",
      info.bytes, info.offset);
}

std::string Core::BufferTable() const {
  std::string table;
  for (size_t i = 1; i < ques.size(); ++i) {
    const QueInfo& que = ques[i];
    const SourceLine line = FindKernelLine({que.initPc});
    table += Format("    %-7s %-4s %2zu x %7u B  %s:%d %s\n", PositionName(que.pos),
                    que.tbuf ? "TBuf" : "TQue", que.buffers.size(), que.bytes, line.file.c_str(),
                    line.line, line.text.c_str());
  }
  return table;
}

void Core::CheckUb(const Ub& operand, int64_t begin, int64_t end, const char* role) {
  const BufferInfo& info = Info(operand.buf);
  const int64_t base = static_cast<int64_t>(operand.addr - ub) - static_cast<int64_t>(info.offset);
  if (base + begin >= 0 && base + end <= static_cast<int64_t>(info.bytes)) [[likely]] {
    return;
  }
  const int64_t over = base + end - static_cast<int64_t>(info.bytes);
  ThrowFault(
      "ub-out-of-bounds",
      Format("%s covers bytes [%lld, %lld) of its buffer, which has %u: %s by %lld B\n  buffer: %s",
             role, static_cast<long long>(base + begin), static_cast<long long>(base + end),
             info.bytes, over > 0 ? "past the end" : "before the start",
             static_cast<long long>(over > 0 ? over : -(base + begin)),
             DescribeBuffer(operand.buf).c_str()),
      "Hardware would read or overwrite the neighbouring buffer without a word. Check the count, "
      "mask, repeat and "
      "strides against the InitBuffer length.");
}

void Core::CheckUbAlign(const Ub& operand, uint32_t align, const char* role) {
  if ((UbOffset(operand.addr) & (align - 1)) == 0) [[likely]] {
    return;
  }
  ThrowFault("ub-misaligned",
             Format("%s starts at UB byte %llu, %llu past a %u-byte boundary\n  buffer: %s", role,
                    static_cast<unsigned long long>(UbOffset(operand.addr)),
                    static_cast<unsigned long long>(UbOffset(operand.addr) % align), align,
                    DescribeBuffer(operand.buf).c_str()),
             "Hardware raises an unaligned-address exception or drops the low address bits. Keep "
             "UB offsets a multiple of "
             "the alignment.");
}

bool Core::IsWritable(const uint8_t* begin, uint64_t bytes) const {
  for (const GmRegion& region : launch.regions) {
    const bool writable =
        region.kind == RegionKind::kOutput || region.kind == RegionKind::kWorkspace;
    if (writable && begin >= region.addr && begin + bytes <= region.addr + region.bytes) {
      return true;
    }
  }
  return false;
}

const GmRegion& Core::CheckGm(const void* addr, uint64_t bytes, bool write, const char* role) {
  const auto* begin = static_cast<const uint8_t*>(addr);
  const auto& regions = launch.regions;
  for (size_t i = 0; i < regions.size(); ++i) {
    const GmRegion& region = regions[(lastRegion_ + i) % regions.size()];
    if (begin < region.addr || begin >= region.addr + region.bytes) {
      continue;
    }
    lastRegion_ = (lastRegion_ + i) % regions.size();
    const uint64_t offset = static_cast<uint64_t>(begin - region.addr);
    if (bytes > region.bytes - offset) {
      ThrowFault(
          "gm-out-of-bounds",
          Format("%s covers bytes [%llu, %llu) of %s, which has %llu: past the end by %llu B", role,
                 static_cast<unsigned long long>(offset),
                 static_cast<unsigned long long>(offset + bytes), region.name.c_str(),
                 static_cast<unsigned long long>(region.bytes),
                 static_cast<unsigned long long>(offset + bytes - region.bytes)),
          write ? "Hardware would overwrite other tensors or raise an MTE exception (507015). Use "
                  "DataCopyPad with the "
                  "exact byte length for the tail."
                : "Hardware would read other tensors or raise an MTE exception (507015). Use "
                  "DataCopyPad with the "
                  "exact byte length for the tail.");
    }
    if (write && (region.kind == RegionKind::kInput || region.kind == RegionKind::kTiling)) {
      if (IsWritable(begin, bytes)) {
        return region;  // the caller passed one buffer as input and output
      }
      ThrowFault(
          "gm-write-to-input",
          Format("%s writes into %s, which is an input", role, region.name.c_str()),
          "Hardware would change the caller's tensor. Write to an output or to the workspace.");
    }
    return region;
  }
  std::string known;
  for (const GmRegion& region : regions) {
    known += Format("\n    %-16s %llu B at %p", region.name.c_str(),
                    static_cast<unsigned long long>(region.bytes), static_cast<void*>(region.addr));
  }
  ThrowFault(
      "gm-out-of-bounds",
      Format("%s starts at %p, outside every tensor of this launch:%s", role, addr, known.c_str()),
      "Hardware would touch another tensor or raise an MTE exception (507015). Check the GM "
      "offset: it counts "
      "elements, not bytes.");
}

void Core::Emit(const Record& record) {
  for (Observer* observer : observers_) {
    observer->OnRecord(*this, record);
  }
}

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
#include "engine/core.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/flag_numbers.h"
#include "engine/globals.h"
#include "engine/gm_shadow.h"
#include "engine/meeting.h"
#include "engine/options.h"
#include "engine/positions.h"
#include "engine/scheduler.h"
#include "engine/shared_reads.h"
#include "engine/tiling_checks.h"

namespace aclsim {

namespace {

// Every call of the API asks for it: initial-exec is one load, not a call.
thread_local Core* currentCore __attribute__((tls_model("initial-exec"))) = nullptr;

// Says what lies behind a tensor, where the simulator knows its allocation: aclrtMalloc rounds sizes up to 32 bytes and adds 32, on
// 3510 it only rounds.
std::string PastTheEnd(const Soc& soc, const GmRegion& region, uint64_t over, bool write) {
  const char* const verb = write ? "overwrite" : "read";
  const auto end = reinterpret_cast<uint64_t>(region.addr) + region.bytes;
  const GmBlock block = region.bytes != 0 ? GmBlockOf(region.addr) : GmBlock{};
  if (block.end < end || block.begin == block.end) {
    return Format("Hardware would %s what lies behind it or raise an MTE exception (507015).",
                  verb);
  }
  const uint64_t asked = block.end - block.begin;
  const uint64_t has = (asked + 31) / 32 * 32 + (soc.npuArch == 3510 ? 0 : 32);
  const uint64_t behind = block.end - end;
  if (over > behind && end + over > block.begin + has) {
    return Format(
        "Hardware would %s other allocations or raise an MTE exception (507015): with its padding "
        "the allocation of %llu B ends %llu B behind the tensor.",
        verb, static_cast<unsigned long long>(asked),
        static_cast<unsigned long long>(block.begin + has - end));
  }
  if (behind == 0) {
    return Format(
        "Hardware would %s padding: the tensor ends its allocation of %llu B, for which "
        "aclrtMalloc "
        "takes %llu. Nothing else lies there, but what does is undefined, and a caller whose "
        "tensor "
        "is part of a larger allocation has other data there.",
        verb, static_cast<unsigned long long>(asked), static_cast<unsigned long long>(has));
  }
  return Format(
      "Hardware would %s other data of the same allocation: it has %llu B behind the tensor.", verb,
      static_cast<unsigned long long>(behind));
}

}  // namespace

uint64_t Access::Extent() const {
  if (repeat == 0 || bytes == 0) {
    return 0;
  }
  const auto end = [this](uint64_t active) {
    const uint64_t last = (active - 1) / chunk;
    return static_cast<int64_t>(last) * chunkStride + static_cast<int64_t>(active - last * chunk);
  };
  int64_t extent = (repeat - 1) * repStride + (lastBytes > 0 ? end(lastBytes) : 0);
  if (repeat > 1) {
    extent = std::max(extent, (repeat - 2) * repStride + end(bytes));
  }
  return static_cast<uint64_t>(extent);
}

Access DenseAccess(Use use, uint64_t ubOffset, uint64_t bytes, uint32_t buffer) {
  return BlockAccess(Space::kUb, use, ubOffset, bytes, 1, bytes, buffer);
}

Record RegisterAccess::ToRecord() const {
  Record record;
  record.name = name;
  record.pipe = Pipe::kVector;
  record.flow = Flow::kRegisters;
  record.site = site;
  record.vectorFunction = vectorFunction;
  record.held = held;
  record.Add(DenseAccess(use, begin, end - begin, buffer));
  return record;
}

void Observer::OnRegisters(Core& core, const RegisterAccess& access) {
  Record record = access.ToRecord();
  OnIssue(core, record);
  OnRecord(core, record);
}

Access BlockAccess(Space space, Use use, uint64_t addr, uint64_t len, uint64_t count, uint64_t step,
                   uint32_t buffer) {
  Access access;
  access.space = space;
  access.use = use;
  access.buffer = buffer;
  access.addr = addr;
  access.chunk = access.bytes = access.lastBytes = len;
  access.chunkStride = static_cast<int64_t>(len);
  access.repeat = static_cast<uint32_t>(count);
  access.repStride = static_cast<int64_t>(step);
  return access;
}

Core::Core(const KernelLaunch& launchIn, uint32_t indexIn, uint8_t* ubIn,
           std::vector<Observer*> observers, Meeting* meetingIn)
    : launch(launchIn),
      index(indexIn),
      blockIdx(launch.BlockIdxOf(index)),
      soc(*launchIn.soc),
      kind(launch.KindOf(index)),
      image(soc, kind, KeepGoing()),
      ub(ubIn),
      buffers(1),
      ques(1),
      pools(1),
      pipes(1),
      keepGoing(KeepGoing()),
      meeting(meetingIn),
      progress(ThreadProgress::OfThread()),
      deferring(LackingPipes(kind)),
      scheduler(std::make_unique<Scheduler>(*this, ChaosSeed())),
      autoSync(AutoSync() && kind != CoreKind::kCube),  // the compiler adds nothing there
      observers_(std::move(observers)),
      beyond_(image.Beyond()) {
  progress.KeepsRecords(Observed());
}

Core::~Core() = default;

Core& Core::Current() {
  if (currentCore == nullptr) {
    EndCore("no-core", "kernel code runs outside a kernel launch",
            "Launch it through its aclnn function.");
  }
  return *currentCore;
}

Core* Core::CurrentOrNull() { return currentCore; }

void Core::SetCurrent(Core* core) { currentCore = core; }

namespace {

constexpr std::string_view kInitBuffer = "InitBuffer(";

// The first argument of a line's n-th InitBuffer is what the kernel calls the queue.
std::string NameInCall(const std::string& text, size_t call, uint8_t pos) {
  size_t at = text.find(kInitBuffer);
  for (; call > 0 && at != std::string::npos; --call) {
    at = text.find(kInitBuffer, at + 1);
  }
  if (at == std::string::npos) {
    return PositionName(pos);
  }
  const size_t begin = at + kInitBuffer.size();
  return text.substr(begin, text.find_first_of(",)", begin) - begin);
}

}  // namespace

std::string QueNameOf(void* initPc, uint8_t pos) {
  return initPc == nullptr ? "UB" : NameInCall(FindKernelLine({initPc}).text, 0, pos);
}

std::string Core::QueName(const BufferInfo& info) const {
  const QueInfo& que = ques[info.que];
  if (info.que == 0 || que.initPc == nullptr) {
    return SpaceName(image.SpaceOf(info.offset));
  }
  const SourceLine line = FindKernelLine({que.initPc});
  if (line.text.find(kInitBuffer) == line.text.rfind(kInitBuffer)) {
    return NameInCall(line.text, 0, que.pos);
  }
  // Several calls on one line run one after the other, each from a place of its own.
  std::vector<void*> calls;
  for (const QueInfo& other : ques) {
    if (other.initPc == nullptr || std::ranges::find(calls, other.initPc) != calls.end()) {
      continue;
    }
    if (const SourceLine its = FindKernelLine({other.initPc});
        its.line == line.line && its.file == line.file) {
      calls.push_back(other.initPc);
    }
  }
  const auto call = std::ranges::find(calls, que.initPc) - calls.begin();
  return NameInCall(line.text, static_cast<size_t>(call), que.pos);
}

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
    return NameRange(info.offset, info.offset + info.bytes);
  }
  const QueInfo& que = ques[info.que];
  const SourceLine line = FindKernelLine({que.initPc});
  const auto inL1 = static_cast<unsigned long long>(info.offset - image.Bytes());
  if (que.inCube && que.initPc == nullptr) {
    return Format("%s tensor, %u B at L1 %llu of its AIC", PositionName(que.pos), que.bytes, inL1);
  }
  if (que.inCube) {
    return Format("%s queue from %s:%d `%s`, %u B at L1 %llu of its AIC",
                  que.linked ? PositionName(que.pos) : "TSCM", line.file.c_str(), line.line,
                  line.text.c_str(), que.bytes, inL1);
  }
  if (que.initPc == nullptr) {
    return Format("%s tensor of its AIC", PositionName(que.pos));
  }
  return Format(
      "%s %s%s, %u B at %s %llu", PositionName(que.pos), que.tbuf ? "TBuf" : "TQue",
      line.line > 0
          ? Format(" from %s:%d `%s`", line.file.c_str(), line.line, line.text.c_str()).c_str()
          : "",
      info.bytes, SpaceName(image.SpaceOf(info.offset)),
      static_cast<unsigned long long>(info.offset - image.Begin(image.SpaceOf(info.offset))));
}

std::string Core::NameRange(uint64_t begin, uint64_t end) const {
  const Space space = image.SpaceOf(begin);
  const uint64_t start = image.Begin(space);
  return Format("%s [%llu, %llu)", SpaceName(space), static_cast<unsigned long long>(begin - start),
                static_cast<unsigned long long>(end - start));
}

std::string Core::BufferTable(uint32_t pipe) const {
  std::string table;
  for (size_t i = 1; i < ques.size(); ++i) {
    const QueInfo& que = ques[i];
    if (que.pipe != pipe || que.gone) {
      continue;
    }
    const SourceLine line = FindKernelLine({que.initPc});
    table += Format("    %-7s %-4s %2zu x %7u B  %s:%d %s\n", PositionName(que.pos),
                    que.tbuf ? "TBuf" : "TQue", que.buffers.size(), que.bytes, line.file.c_str(),
                    line.line, line.text.c_str());
  }
  return table;
}

void Core::CheckUb(const Ub& operand, int64_t begin, int64_t end, const char* role) {
  const BufferInfo& info = Info(operand.buf);
  if (operand.generation != info.generation ||
      (info.state == BufferState::kFree && info.que != 0 && !ques[info.que].tbuf)) [[unlikely]] {
    PassFault("ub-use-after-free",
              Format("%s is a tensor that FreeTensor gave back\n  buffer: %s", role,
                     DescribeBuffer(operand.buf).c_str()),
              "Hardware would read or overwrite what the queue has handed out since. Free a tensor "
              "after its last use.",
              "done, on what the buffer holds now");
  }
  CheckUbRange(operand, begin, end, role);
}

void Core::CheckUbRange(const Ub& operand, int64_t begin, int64_t end, const char* role) {
  const BufferInfo& info = Info(operand.buf);
  const int64_t base = static_cast<int64_t>(operand.addr - ub) - static_cast<int64_t>(info.offset);
  if (base + begin >= 0 && base + end <= static_cast<int64_t>(info.bytes)) [[likely]] {
    return;
  }
  const QueInfo& que = ques[info.que];
  const Space ofCube = que.inCube ? Space::kL1 : PositionOf(que.pos).SpaceOn(CoreKind::kCube);
  if (que.inCube || (kind == CoreKind::kVector && launch.Mixed() && info.que != 0 &&
                     info.bytes == 0 && ofCube != Space::kUb)) {
    ThrowFault("instruction-absent",
               Format("%s lies in %s of the AIC, which %s on an AIV does not reach\n  buffer: %s",
                      role, SpaceName(ofCube), instruction, DescribeBuffer(operand.buf).c_str()),
               que.linked
                   ? "The device compiler refuses it. An AIV fills L1 of its AIC by DataCopy "
                     "from UB, and the AIC reads it."
                   : "The device compiler refuses it. An AIV fills TSCM by DataCopy from GM "
                     "and UB, and its Matmul objects read it.");
  }
  const int64_t over = base + end - static_cast<int64_t>(info.bytes);
  KernelFault fault{
      kUbOutOfBounds,
      Format("%s covers bytes [%lld, %lld) of its buffer, which has %u: %s by %lld B\n  buffer: %s",
             role, static_cast<long long>(base + begin), static_cast<long long>(base + end),
             info.bytes, over > 0 ? "past the end" : "before the start",
             static_cast<long long>(over > 0 ? over : -(base + begin)),
             DescribeBuffer(operand.buf).c_str()),
      "Hardware would read or overwrite the neighbouring buffer without a word. Check the count, "
      "mask, repeat and "
      "strides against the InitBuffer length.",
      CaptureStack(),
      {},
      ""};
  // Hardware does it like any other where it stays in its memory: no harm may come of it, and the numbers are these.
  const auto at = static_cast<int64_t>(operand.addr - ub);
  const Space space = image.SpaceOf(info.offset);
  if (at + begin < static_cast<int64_t>(image.Begin(space)) ||
      at + end > static_cast<int64_t>(image.End(space))) {
    throw fault;
  }
  GoOn(std::move(fault),
       Format("done as on hardware, with what lies next to the buffer in %s", SpaceName(space)));
}

void Core::CheckUbAlign(const Ub& operand, uint32_t align, const char* role) {
  if ((UbOffset(operand.addr) & (align - 1)) == 0) [[likely]] {
    return;
  }
  const Space space = SpaceOf(operand);
  const uint64_t at = UbOffset(operand.addr) - image.Begin(space);
  PassFault(
      "ub-misaligned",
      Format("%s starts at %s byte %llu, %llu past a %u-byte boundary\n  buffer: %s", role,
             SpaceName(space), static_cast<unsigned long long>(at),
             static_cast<unsigned long long>(at % align), align,
             DescribeBuffer(operand.buf).c_str()),
      Format("Hardware raises an unaligned-address exception or drops the low address bits. Keep "
             "%s offsets a multiple of the alignment.",
             SpaceName(space)),
      "done at this address");
}

bool Core::IsWritable(const uint8_t* begin, uint64_t bytes, RegionKind kind) const {
  const auto isOutput = [](const GmRegion& region) { return region.kind == RegionKind::kOutput; };
  if (kind == RegionKind::kInput && std::ranges::none_of(launch.regions, isOutput)) {
    return true;  // an operator whose definition names no output works in place
  }
  for (const GmRegion& region : launch.regions) {
    const bool writable = isOutput(region) || region.kind == RegionKind::kWorkspace;
    if (writable && begin >= region.addr && begin + bytes <= region.addr + region.bytes) {
      return true;
    }
  }
  return false;
}

const GmRegion& Core::CheckRegion(const GmRegion& region, const uint8_t* begin, uint64_t bytes,
                                  bool write, const char* role) {
  const auto offset = static_cast<uint64_t>(begin - region.addr);
  if (bytes > region.bytes - offset) {
    CheckWorkspace(launch, begin, bytes, write, role);
    ThrowGmOutOfBounds(
        &region, begin,
        Format("%s covers bytes [%llu, %llu) of %s, which has %llu: past the end by %llu B", role,
               static_cast<unsigned long long>(offset),
               static_cast<unsigned long long>(offset + bytes), region.name.c_str(),
               static_cast<unsigned long long>(region.bytes),
               static_cast<unsigned long long>(offset + bytes - region.bytes)),
        PastTheEnd(soc, region, offset + bytes - region.bytes, write) +
            " Use DataCopyPad with the exact byte length for the tail.");
  }
  if (write && region.kind == RegionKind::kConstant) {
    ThrowFault(
        kGmWriteToConstant,
        Format("%s writes into %s, a constant of the kernel's source", role, region.name.c_str()),
        "Hardware would change the table for every later launch, or raise an exception. "
        "Write to an output or to the workspace.");
  }
  if (write && (region.kind == RegionKind::kInput || region.kind == RegionKind::kTiling) &&
      !IsWritable(begin, bytes, region.kind)) {  // unless the caller passed it as an output too
    ThrowFault(kGmWriteToInput,
               Format("%s writes into %s, which is an input", role, region.name.c_str()),
               "Hardware would change the caller's tensor. Write to an output or to the "
               "workspace.");
  }
  return region;
}

const GmRegion* Core::GlobalOf(const void* addr) {
  const auto* at = static_cast<const uint8_t*>(addr);
  for (const GmRegion& known : globals_) {
    if (at >= known.addr && at < known.addr + known.bytes) {
      return &known;
    }
  }
  if (const GmRegion* between = meeting->ExchangeAt(addr)) {
    return &globals_.emplace_back(*between);
  }
  std::optional<GmRegion> found = FindGlobal(launch.entry, addr);
  return found ? &globals_.emplace_back(std::move(*found)) : nullptr;
}

void Core::ThrowGmOutOfBounds(const GmRegion* region, const void* addr, std::string detail,
                              std::string advice) const {
  KernelFault fault{kGmOutOfBounds, std::move(detail), std::move(advice), CaptureStack(), {}, ""};
  if (region != nullptr) fault.buffer = region->name;
  // An address outside of all memory belongs to the tensor that begins nearest below it.
  const GlobalTensorCall* made = nullptr;
  for (const GlobalTensorCall& call : globalTensors) {
    if (call.region == region && call.outside <= addr &&
        (made == nullptr || call.outside >= made->outside)) {
      made = &call;
    }
  }
  if (made != nullptr) {
    fault.related.push_back({sites.Stack(made->site), "SetGlobalBuffer",
                             region != nullptr ? "makes a tensor of " + region->name
                                               : "makes a tensor outside of all memory"});
  }
  throw fault;
}

const GmRegion& Core::FindGm(const void* addr, uint64_t bytes, bool write, const char* role) {
  const auto* begin = static_cast<const uint8_t*>(addr);
  const auto& regions = launch.regions;
  for (size_t i = 0; i < regions.size(); ++i) {
    const GmRegion& region = regions[(lastRegion_ + i) % regions.size()];
    if (begin >= region.addr && begin < region.addr + region.bytes) {
      lastRegion_ = (lastRegion_ + i) % regions.size();
      return CheckRegion(region, begin, bytes, write, role);
    }
  }
  if (const GmRegion* global = GlobalOf(addr)) {
    return CheckRegion(*global, begin, bytes, write, role);
  }
  CheckWorkspace(launch, begin, bytes, write, role);
  std::string known;
  for (const GmRegion& region : regions) {
    known += Format("\n    %-16s %llu B at %p", region.name.c_str(),
                    static_cast<unsigned long long>(region.bytes), static_cast<void*>(region.addr));
  }
  ThrowGmOutOfBounds(
      nullptr, addr,
      Format("%s starts at %p, outside every tensor of this launch:%s", role, addr, known.c_str()),
      "Hardware would touch another tensor or raise an MTE exception (507015). Check the GM "
      "offset: it counts "
      "elements, not bytes.");
}

uint32_t Core::CaptureSite() {
  ownTime.Enters();
  const uint32_t site = sites.Capture();
  if (lastSite == 0 || (instruction != kEndOfKernel && instruction != kEndOfPipe)) {
    lastSite = site;
    lastInstruction = instruction;
  }
  return site;
}

void Core::Stamp(Record& record) {
  record.site = CaptureSite();
  if (kind != CoreKind::kVector) {
    cube.origins.Forget(record);
  }
  for (Observer* observer : observers_) {
    observer->OnIssue(*this, record);
  }
  ownTime.Leaves();
}

void Core::Push(Record&& record, std::function<void()> body) {
  if (!HasPipe(kind, record.pipe)) {
    ThrowFault("instruction-absent",
               Format("%s runs on the %s pipe, which an AIC does not have", instruction,
                      PipeName(record.pipe)),
               "The device compiler refuses it for the cube core. Keep vector code in a kernel of "
               "the AIVs.");
  }
  scheduler->Push(std::move(record), std::move(body));
}

void Core::Tell(const RegisterAccess& access) {
  constexpr size_t kBesideChecks = 8;  // lines that memory delivers meanwhile
  readAhead.Ask(kBesideChecks);
  for (Observer* observer : observers_) {
    observer->OnRegisters(*this, access);
  }
  ownTime.Leaves();
}

void Core::Emit(const Record& record) {
  constexpr size_t kBesideChecks = 32;  // lines that memory delivers meanwhile
  readAhead.Ask(kBesideChecks);
  for (Observer* observer : observers_) {
    observer->OnRecord(*this, record);
  }
  ownTime.Leaves();
}

void Core::Sync(const SyncEvent& event) {
  for (Observer* observer : observers_) {
    observer->OnSync(*this, event);
  }
  ownTime.Leaves();
}

SyncEvent Core::MakeSync(SyncEvent::Kind kind, Pipe from, Pipe to, uint32_t flag, uint32_t number) {
  progress.Issued();
  const SyncEvent event{kind, from, to, flag, number, instruction, CaptureSite()};
  for (Observer* observer : observers_) {
    observer->OnIssueSync(*this, event);
  }
  ownTime.Leaves();
  return event;
}

void Core::Meet(CoreMeeting how, uint32_t number) {
  Sync(MakeSync(SyncEvent::Kind::kCores, Pipe::kScalar, Pipe::kScalar, how, number));
}

void Core::SyncWords(uint64_t begin, uint64_t end) {
  for (Observer* observer : observers_) {
    observer->OnSyncWords(*this, begin, end, sites.Capture());
  }
}

void Core::Meets(bool both) {
  for (Observer* observer : observers_) {
    observer->OnMeets(*this, both);
  }
}

void Core::Receive(Pipe by) {
  if (!launch.Mixed()) {
    return;
  }
  const std::vector<std::shared_ptr<const Handover>> all = meeting->Receive(*this);
  if (all.empty()) {
    return;
  }
  strips.Run();
  for (const std::shared_ptr<const Handover>& handover : all) {
    const uint8_t* from = handover->data.data();
    for (const Handover::Run& run : handover->runs) {
      std::memcpy(ub + run.at, from, run.bytes);
      from += run.bytes;
    }
    for (Observer* observer : observers_) {
      observer->OnHandover(*this, *handover, by, lastSite);
    }
  }
}

void Core::FreshUb(uint64_t begin, uint64_t end) {
  std::erase_if(idle, [=](const Idle& old) { return old.offset >= begin && old.offset < end; });
  for (Observer* observer : observers_) {
    observer->OnFreshUb(*this, begin, end);
  }
}

void Core::CacheClean(uint64_t begin, uint64_t end) {
  for (Observer* observer : observers_) {
    observer->OnCacheClean(*this, begin, end);
  }
  ownTime.Leaves();
}

void Core::BypassWrite(uint64_t begin, uint64_t end) {
  for (Observer* observer : observers_) {
    observer->OnBypassWrite(*this, begin, end, sites.Capture());
  }
  ownTime.Leaves();
}

void Core::TellLeftOut() {
  for (Observer* observer : observers_) {
    observer->OnLeftOut(*this);
  }
}

std::optional<double> Core::Nanoseconds() const {
  for (Observer* observer : observers_) {
    if (const std::optional<double> now = observer->Now(*this)) {
      return now;
    }
  }
  return std::nullopt;
}

uint8_t* Core::ReadScalar(uint8_t* from, uint32_t bytes) {
  if (bytes > scalar_.size()) {
    TellRead(from, bytes);
    return from;
  }
  // Another core may write meanwhile: observers and the kernel see the same.
  {
    const SharedReads reads;
    std::memcpy(scalar_.data(), from, bytes);
  }
  TellRead(scalar_.data(), bytes);
  return scalar_.data();
}

void Core::TellRead(const void* value, uint32_t bytes) {
  for (Observer* observer : observers_) {
    observer->OnRead(*this, value, bytes);
  }
  ownTime.Leaves();
}

void Core::ScalarAccess(const Access& access, DType dtype, bool reference) {
  if (autoSync && Defers(Pipe::kVector)) {
    scheduler->DrainConflicts(access);
  }
  if (!Observed()) {
    return;
  }
  progress.Recorded();
  Record record;
  record.name = instruction;
  record.dtype = dtype;
  record.flow = Flow::kNone;
  record.reference = reference;
  record.Add(access);
  Stamp(record);
  Emit(record);
}

void Core::ScalarWaits(Pipe pipe) {
  scheduler->Drain(pipe);
  SyncEvent event = MakeSync(SyncEvent::Kind::kSet, pipe, Pipe::kScalar, kScalarFlag);
  Sync(event);
  event.kind = SyncEvent::Kind::kWait;
  Sync(event);
}

void Core::RunDeferred(Record& record, const std::function<void()>& body) {
  strips.Run();
  RunAs(record.name, record.site, [&] {
    if (record.narrow) {
      record.narrow(record);
    }
    Emit(record);
    body();
  });
  ownTime.Leaves();
}

void Core::End() {
  for (Observer* observer : observers_) {
    observer->OnEnd(*this);
  }
}

Place Core::PlaceOf(const char* name, Pipe pipe, uint32_t site, const char* note) const {
  return {PipeName(pipe), name, note, sites.Resolve(site)};
}

KernelFault Core::FaultAt(const char* kind, uint32_t site, Pipe pipe, const char* name,
                          std::string detail, std::string advice,
                          const std::vector<uint32_t>& related) {
  instruction = name;
  KernelFault fault{kind, std::move(detail), std::move(advice), sites.Stack(site),
                    {},   PipeName(pipe)};
  for (const uint32_t other : related) {
    fault.related.push_back({sites.Stack(other)});
  }
  return fault;
}

Finding Core::FindingOf(const KernelFault& fault) const {
  Finding finding;
  finding.kind = fault.kind;
  finding.op = launch.opType;
  finding.core = index;
  finding.blockDim = launch.blockDim;
  finding.at.instruction = instruction;
  finding.at.pipe = fault.pipe;
  finding.at.line = FindKernelLine(runningSite != 0 ? sites.Stack(runningSite) : fault.stack);
  for (const FaultEnd& end : fault.related) {
    finding.related.push_back({"", end.instruction, end.note, FindKernelLine(end.stack)});
  }
  finding.detail = fault.detail;
  finding.buffer = fault.buffer;
  finding.advice = fault.advice;
  finding.soc = soc.name;
  finding.tiling = launch.tilingText;
  finding.tilingKey = launch.tilingKey;
  finding.afterFault = Faulted();
  return finding;
}

void Core::ThrowHang(Stuck how, double seconds, std::vector<void*> stack) {
  const std::string last = std::exchange(instruction, "");  // it may have ended long ago
  const char* const what =
      how == Stuck::kIdle
          ? "no core has issued an instruction, and this one has touched no memory but what it "
            "touches again and again"
          : "this core has issued instructions on the same memory again and again, and no other "
            "one has got on";
  hung = true;
  EndCore("hang",
          Format("for %.1f s of processor time %s%s%s", seconds, what,
                 last.empty() ? "" : "; its last call is ", last.c_str()),
          "Hardware would go on until the task is killed: a hang. Look at the condition of the "
          "loop, and at what should change it; a core waits for others by SyncAll, "
          "CrossCoreWaitFlag, IBWait or ReadGmByPassDCache. Next: if the kernel needs that "
          "long, set ACLGRAD_SIM_HANG_LIMIT to more seconds, or to 0 for no limit.",
          std::move(stack));
}

void Core::Find(Finding finding) {
  finding.op = launch.opType;
  finding.core = index;
  finding.blockDim = launch.blockDim;
  finding.soc = soc.name;
  finding.tiling = launch.tilingText;
  finding.tilingKey = launch.tilingKey;
  finding.afterFault = Faulted();
  findings.push_back(std::move(finding));
}

size_t Core::BufferAt(uint64_t offset) const {
  for (size_t i = 1; i < buffers.size(); ++i) {
    const BufferInfo& info = buffers[i];
    if (!ques[info.que].gone && offset >= info.offset &&
        offset < uint64_t{info.offset} + info.bytes) {
      return i;
    }
  }
  return 0;
}

std::string Core::BufferName(uint64_t offset, uint64_t* start) const {
  const size_t at = BufferAt(offset);
  if (at == 0) {
    const Space space = image.SpaceOf(offset);
    *start = image.Begin(space);
    return SpaceName(space);
  }
  *start = buffers[at].offset;
  return QueName(buffers[at]);
}

std::vector<Idle> Core::IdleAt(uint64_t offset) const {
  constexpr size_t kMost = 3;
  std::vector<Idle> found;
  for (const Idle& instruction : idle) {
    const BufferInfo& info = buffers[instruction.buf];
    if (found.size() < kMost && offset >= instruction.offset &&
        offset < uint64_t{info.offset} + info.bytes) {
      found.push_back(instruction);
    }
  }
  return found;
}

const GmRegion* Core::RegionOf(uint64_t addr) const {
  for (const GmRegion& region : launch.regions) {
    const auto begin = reinterpret_cast<uint64_t>(region.addr);
    if (addr >= begin && addr < begin + region.bytes) {
      return &region;
    }
  }
  for (const GmRegion& global : globals_) {
    const auto begin = reinterpret_cast<uint64_t>(global.addr);
    if (addr >= begin && addr < begin + global.bytes) {
      return &global;
    }
  }
  return nullptr;
}

void Core::HintL2(uint64_t addr, bool read, bool write, bool bypass) {
  const GmRegion* region = RegionOf(addr);
  if (region == nullptr || IsGlobal(region->kind)) {
    return;
  }
  bypassL2_.resize(launch.regions.size());
  std::array<bool, 2>& of = bypassL2_[static_cast<size_t>(region - launch.regions.data())];
  of[0] = read ? bypass : of[0];
  of[1] = write ? bypass : of[1];
}

bool Core::BypassesL2(uint64_t addr, bool write) const {
  const GmRegion* region = bypassL2_.empty() ? nullptr : RegionOf(addr);
  return region != nullptr && !IsGlobal(region->kind) &&
         bypassL2_[static_cast<size_t>(region - launch.regions.data())][write];
}

}  // namespace aclsim

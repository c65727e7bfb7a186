// SPDX-License-Identifier: Apache-2.0
#include "engine/keep_going.h"

#include <algorithm>

#include "engine/core.h"
#include "engine/going_on.h"
#include "findings/levels.h"

namespace aclsim {

namespace {

constexpr size_t kMostFaults = 1000;  // of one core; further ones are counted into the last

bool EndsCore(const std::string& kind, const std::vector<void*>& stack) {
  return !GoesOnAfterErrors() &&
         (!AnyTolerated() || LevelOf(kind, FindKernelLine(stack).file) == Level::kError);
}

}  // namespace

void PassFault(std::string kind, std::string detail, std::string advice, const char* how) {
  KernelFault fault{std::move(kind), std::move(detail), std::move(advice), CaptureStack(), {}, ""};
  Core::Current().GoOn(std::move(fault), how);
}

void SkipFault(KernelFault&& fault, std::string how) {
  Core* const core = Core::CurrentOrNull();
  if (core == nullptr || fault.endsCore) {
    throw std::move(fault);
  }
  const bool leftOut = how.empty();
  core->GoOn(std::move(fault),
             leftOut ? Format("this %s was left out", core->instruction) : std::move(how));
  if (leftOut) {
    core->TellLeftOut();
  }
}

void Core::GoOn(KernelFault fault, std::string how) {
  if (!keepGoing ||
      EndsCore(fault.kind, runningSite != 0 ? sites.Stack(runningSite) : fault.stack)) {
    throw fault;
  }
  progress.Issued();  // a loop of faults is none that does nothing
  auto key = std::make_pair(fault.kind, runningSite != 0 ? sites.Stack(runningSite) : fault.stack);
  if (const auto known = faults_.find(key); known != faults_.end()) {
    ++findings[known->second].count;
    return;
  }
  if (faults_.size() >= kMostFaults) {
    ++findings.back().count;
    return;
  }
  findings.push_back(FindingOf(fault));
  findings.back().goesOn = std::move(how);
  faults_.emplace(std::move(key), findings.size() - 1);
}

uint64_t Core::UbRoom(const Ub& operand, int64_t begin) const {
  const BufferInfo& info = Info(operand.buf);
  // Hardware does it so wherever it lies in its memory, whosever that is.
  const Space space = image.SpaceOf(info.offset);
  const auto memory = static_cast<int64_t>(image.End(space));
  if (const int64_t offset = static_cast<int64_t>(operand.addr - ub) + begin;
      info.offset < image.End(space) && offset >= static_cast<int64_t>(image.Begin(space)) &&
      offset < memory) {
    return static_cast<uint64_t>(memory - offset);
  }
  const int64_t at =
      static_cast<int64_t>(operand.addr - ub) - static_cast<int64_t>(info.offset) + begin;
  return at < 0 || at >= static_cast<int64_t>(info.bytes) ? 0
                                                          : info.bytes - static_cast<uint64_t>(at);
}

uint64_t Core::GmRoom(const GmRegion* region, const uint8_t* addr, uint64_t bytes,
                      bool write) const {
  if (region == nullptr || addr < region->addr || addr >= region->addr + region->bytes) {
    return 0;
  }
  const uint64_t room = std::min(bytes, region->bytes - static_cast<uint64_t>(addr - region->addr));
  const bool input = region->kind == RegionKind::kInput || region->kind == RegionKind::kTiling;
  const bool constant = region->kind == RegionKind::kConstant;
  return write && (constant || (input && !IsWritable(addr, room, region->kind))) ? 0 : room;
}

uint8_t* Core::Nowhere(uint32_t bytes) {
  // As far from its start as a reference into it may be moved.
  nowhere_.assign(std::max<size_t>(bytes, 64), 0);
  return nowhere_.data();
}

uint64_t Core::TakeBeyond(uint64_t bytes) {
  constexpr uint64_t kBlockBytes = 32;
  const uint64_t begin = beyond_;
  const uint64_t end = begin + (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  if (!keepGoing || end > image.Bytes()) {
    return 0;
  }
  beyond_ = end;
  return begin;
}

}  // namespace aclsim

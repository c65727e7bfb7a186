// SPDX-License-Identifier: Apache-2.0
// This tells where in the kernel the time goes.
#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "findings/finding.h"
#include "timing/profile_parts.h"

namespace aclsim {

namespace {

// Returns where a stack leaves the simulator: what msopprof calls pc_addr, relative to the kernel's library.
std::string AddressOf(const std::vector<void*>& stack) {
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&AddressOf), &self);
  for (void* frame : stack) {
    Dl_info info{};
    if (dladdr(frame, &info) != 0 && info.dli_fbase != self.dli_fbase) {
      return Format("0x%zx",
                    reinterpret_cast<size_t>(frame) - reinterpret_cast<size_t>(info.dli_fbase) - 1);
    }
  }
  return "0x0";
}

// This is what one line of the kernel does with one instruction.
struct LineCost {
  uint64_t count = 0, blocks = 0, unaligned = 0;
  double cycles = 0, bytes = 0, issue = 0;
};

}  // namespace

const KernelLines::Place& KernelLines::Of(const std::vector<void*>& stack) {
  const auto found = places_.find(stack);
  if (found != places_.end()) {
    return found->second;
  }
  const SourceLine line = FindKernelLine(stack);
  const std::string file = std::filesystem::path(line.file).lexically_normal().string();
  return places_
      .emplace(stack, Place{line.line > 0 ? Format("%s:%d", file.c_str(), line.line) : file,
                            line.text, AddressOf(stack)})
      .first->second;
}

std::string LinesJson(const Profile& profile, const std::vector<uint32_t>& cores) {
  using Key = std::tuple<std::vector<void*>, std::string, Pipe, bool>;  // bool: stands and waits
  std::map<Key, LineCost> found;
  const uint64_t alignment = CopyLawOf(*profile.soc).alignment;
  for (const uint32_t core : cores) {
    const Tape& tape = profile.tapes[core];
    const std::vector<Span>& spans = profile.times.cores[core].spans;
    InTurn lanes;
    std::map<std::tuple<uint32_t, uint16_t, Pipe, bool>, LineCost*> here;
    for (size_t i = 0; i < tape.steps.size(); ++i) {
      const Step& step = tape.steps[i];
      if (step.kind == StepKind::kSet) {
        continue;
      }
      const Span span = lanes.Next(step.pipe, spans[i]);
      const bool waits = IsWait(step.kind);
      LineCost*& row = here[{step.site, step.name, step.pipe, waits}];
      if (row == nullptr) {
        row = &found[{tape.stacks.at(step.site), tape.names[step.name], step.pipe, waits}];
      }
      row->count += 1;
      row->cycles += span.end - span.start;
      row->issue += step.issue;
      row->bytes += BytesOf(tape, step);
      if (step.kind == StepKind::kCopy) {
        row->blocks += tape.copies[step.copy].blocks;
        row->unaligned += UnalignedBlocks(tape.copies[step.copy], alignment);
      }
    }
  }
  KernelLines lines;
  std::string json = "[";
  for (const auto& [key, row] : found) {
    const auto& [stack, name, pipe, waits] = key;
    const KernelLines::Place& place = lines.Of(stack);
    json += Format(
        "%s{\"code\":%s,\"text\":%s,\"addr\":\"%s\",\"instruction\":%s,\"pipe\":\"%s\",\"waits\":%"
        "s,"
        "\"count\":%llu,\"cycles\":%.1f,\"issue\":%.1f,\"bytes\":%.0f,\"blocks\":%llu,"
        "\"unaligned\":%llu}",
        json.size() > 1 ? "," : "", JsonQuoted(place.code).c_str(), JsonQuoted(place.text).c_str(),
        place.address.c_str(), JsonQuoted(name).c_str(), PipeName(pipe), waits ? "true" : "false",
        static_cast<unsigned long long>(row.count), row.cycles, row.issue, row.bytes,
        static_cast<unsigned long long>(row.blocks),
        static_cast<unsigned long long>(row.unaligned));
  }
  return json + "]";
}

}  // namespace aclsim

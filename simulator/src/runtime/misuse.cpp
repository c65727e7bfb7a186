// SPDX-License-Identifier: Apache-2.0
#include "runtime/misuse.h"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <unordered_map>

#include "engine/gm_shadow.h"
#include "engine/options.h"
#include "host/fork.h"
#include "host/lock.h"
#include "launch/writer.h"
#include "runtime/errors.h"
#include "runtime/state.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr int32_t kExecutionFailed = 507035;
constexpr int kMostSearches = 4;  // of one launch: each runs it again

struct Consequence {
  const char* kind;
  const char* text;
};

// Hardware makes this of each mistake.
constexpr std::array kConsequences = {
    Consequence{"host-executor-reused",
                "On hardware the executor is gone by now: a crash, or a launch with what another "
                "call has put there."},
    Consequence{"host-workspace",
                "On hardware the kernel writes where its workspace would be: over other tensors, "
                "or the device stops with an address error."},
    Consequence{"host-memcpy-kind",
                "Hardware takes the kind at its word: the call fails, or the copy goes to or comes "
                "from a wrong place."},
    Consequence{"host-memcpy-size",
                "Hardware copies on: over what lies behind, or until an address error."},
    Consequence{"host-wrong-memory",
                "The device cannot reach host memory: the kernel ends with an address error "
                "(507015, 507035), long after the call that caused it."},
    Consequence{"host-out-of-bounds",
                "On hardware the kernel reads and writes whatever lies behind the block."},
    Consequence{"host-use-after-free",
                "On hardware the memory may belong to something else by now: silently wrong "
                "numbers, or a crash."},
    Consequence{"host-double-free",
                "Hardware frees what has become something else by now, or crashes."},
    Consequence{"host-destroyed-tensor",
                "Without the simulator this is a read of freed memory: a crash, or a call with "
                "another tensor's address and shape."},
    Consequence{"host-wrong-handle", "Without the simulator this is a crash or undefined."},
    Consequence{"host-unsynchronised",
                "Hardware runs the stream beside the host: sometimes the old bytes, sometimes the "
                "new ones, sometimes a mixture."},
    Consequence{"host-leak",
                "A process that goes on loses that much device memory each time round."},
};

const char* ConsequenceOf(const char* kind) {
  const auto* found =
      std::find_if(kConsequences.begin(), kConsequences.end(),
                   [&](const Consequence& one) { return std::strcmp(one.kind, kind) == 0; });
  return found != kConsequences.end() ? found->text : "";
}

// Frames between the program and the runtime: generated wrappers and the libraries themselves.
bool IsToolkit(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  static constexpr const char* kOwn[] = {"libascendcl", "libnnopbase", "libregister",
                                         "libacl_op_compiler", "libcust_"};
  return std::any_of(std::begin(kOwn), std::end(kOwn), [&](const char* own) {
    return std::strncmp(name, own, std::strlen(own)) == 0;
  });
}

// dladdr looks at all symbols of a library: it is asked once of a place, as calls come from few.
template <bool (*Is)(const char* path)>
bool InLibrary(const void* place) {
  constexpr size_t kMostPlaces = 1024;
  thread_local std::unordered_map<const void*, bool> known;
  const auto found = known.find(place);
  if (found != known.end()) {
    return found->second;
  }
  Dl_info info{};
  const bool is = dladdr(place, &info) != 0 && info.dli_fname != nullptr && Is(info.dli_fname);
  if (known.size() >= kMostPlaces) {
    known.clear();  // libraries of the program may come and go
  }
  known.emplace(place, is);
  return is;
}

bool IsOther(const char* path) { return !IsToolkit(path); }
bool IsFramework(const char* path) { return std::strstr(path, "/libtorch_npu.so") != nullptr; }

bool IsProgram(const void* frame) { return InLibrary<IsOther>(frame); }

std::string OverrunText(const DeviceMemory::Overrun& overrun) {
  const bool behind = overrun.begin >= 0;
  const auto bytes = static_cast<Ull>(overrun.end - overrun.begin);
  const auto distance = behind ? static_cast<Ull>(overrun.begin) - overrun.block.bytes
                               : static_cast<Ull>(-overrun.end);
  return Format(
      "%llu byte(s) were written from byte %lld of device block %llu on, which has %llu bytes at "
      "%p: %llu byte(s) %s",
      bytes, static_cast<long long>(overrun.begin), static_cast<Ull>(overrun.block.number),
      static_cast<Ull>(overrun.block.bytes), reinterpret_cast<void*>(overrun.block.start), distance,
      behind ? "behind its end" : "before its start");
}

Finding OverrunFinding(const DeviceMemory::Overrun& overrun) {
  Finding finding;
  finding.kind = "gm-overrun";
  finding.space = "GM";
  finding.begin = static_cast<uint64_t>(std::max<int64_t>(overrun.begin, 0));
  finding.end = static_cast<uint64_t>(std::max<int64_t>(overrun.end, 0));
  finding.detail = OverrunText(overrun);
  finding.advice =
      "Hardware writes into whatever tensor lies there. A plain GM pointer is bounded by nothing: "
      "check the index that it is used with, or go through GlobalTensor, whose bounds are checked "
      "at the line.";
  if (overrun.block.caller != nullptr) {
    finding.related.push_back(HostPlace("aclrtMalloc", "made the block", overrun.block.caller));
  }
  return finding;
}

// A program may make one mistake a million times, each with another address: some are kept apart,
// the others count with the first.
class Distinct {
 public:
  std::string Detail(const std::string& key, const std::string& detail) {
    constexpr size_t kMost = 16;
    const std::lock_guard lock(mutex_);
    std::vector<std::string>& known = details_[key];
    if (std::find(known.begin(), known.end(), detail) != known.end()) {
      return detail;
    }
    if (known.size() >= kMost) {
      return known.front();
    }
    known.push_back(detail);
    return detail;
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    details_.clear();
  }

 private:
  Mutex<10, "distinct details"> mutex_;
  std::unordered_map<std::string, std::vector<std::string>> details_;
};
PerProcess<Distinct> distinctDetails;

// Gaps that launches have left, by the number of the block. A launch that is given the block takes the place of those
// before it.
struct LeftUnwritten {
  Mutex<4, "memory left unwritten"> mutex;
  std::unordered_map<uint64_t, std::vector<UnwrittenMemory>> ofBlock;
};
PerProcess<LeftUnwritten> leftUnwritten;

struct LastLaunch {
  Mutex<10, "last launch"> mutex;
  std::string opType;
};
PerProcess<LastLaunch> lastLaunch;

struct KnownLines {
  Mutex<10, "known lines"> mutex;
  std::unordered_map<const void*, SourceLine> lines;
};
PerProcess<KnownLines> knownLines;

std::atomic<const ObjectKeeper*> objectKeeper{nullptr};

}  // namespace

bool OfFramework(const void* caller) { return caller != nullptr && InLibrary<IsFramework>(caller); }

SourceLine ProgramLine(const void* caller) {
  Dl_info info{};
  if (caller == nullptr || dladdr(caller, &info) == 0 || info.dli_fname == nullptr ||
      IsToolkit(info.dli_fname)) {
    return {};
  }
  auto& [mutex, known] = *knownLines;
  const std::lock_guard lock(mutex);
  const auto found = known.find(caller);
  if (found != known.end()) {
    return found->second;
  }
  SourceLine line = FindKernelLine({const_cast<void*>(caller)});
  if (line.line == 0) {
    line = {};  // a library without debug information says nothing about the program
  }
  return known.emplace(caller, std::move(line)).first->second;
}

const void* ProgramCaller() {
  const void* found = nullptr;
  // Ends at the first: the frames behind it can be the hundreds of an interpreter.
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* first) {
        void* const frame = reinterpret_cast<void*>(_Unwind_GetIP(context));
        if (!IsProgram(frame)) {
          return _URC_NO_REASON;
        }
        *static_cast<const void**>(first) = frame;
        return _URC_END_OF_STACK;
      },
      &found);
  return found;
}

Place HostPlace(const std::string& function, const std::string& note, const void* caller) {
  return {"host", function, note, ProgramLine(caller)};
}

void ReportMisuse(const Misuse& misuse) {
  if (!CheckedMode()) {
    return;
  }
  Finding finding;
  finding.kind = misuse.kind;
  finding.space = "host";
  finding.buffer = misuse.argument;
  finding.at = HostPlace(misuse.api, "", ProgramCaller());
  if (misuse.other.caller != nullptr || !misuse.other.function.empty()) {
    finding.related.push_back(
        HostPlace(misuse.other.function, misuse.other.note, misuse.other.caller));
  }
  finding.detail = distinctDetails->Detail(
      std::string(misuse.kind) + " " + misuse.api + " " + misuse.argument, misuse.detail);
  finding.advice = std::string(ConsequenceOf(misuse.kind)) + " Next: " + misuse.next + ".";
  ReportFinding(std::move(finding));
}

void ReportStreamRaces(const std::vector<PendingWork::Race>& races) {
  for (const PendingWork::Race& race : races) {
    const PendingWork::Use &a = race.first, &b = race.second;
    const auto verb = [](const PendingWork::Use& use) { return use.write ? "writes" : "reads"; };
    Finding finding;
    finding.kind = "stream-race";
    finding.space = "host";
    finding.buffer = b.name;
    finding.at = HostPlace(
        b.by, Format("%s %s on stream %llu", verb(b), b.name.c_str(), static_cast<Ull>(b.stream)),
        b.caller);
    finding.related.push_back(HostPlace(
        a.by, Format("%s %s on stream %llu", verb(a), a.name.c_str(), static_cast<Ull>(a.stream)),
        a.caller));
    const uintptr_t begin = std::max(a.begin, b.begin);
    const uintptr_t end = std::min(a.end, b.end);
    finding.detail = distinctDetails->Detail(
        "stream-race " + b.by + " " + b.name + " " + a.by,
        Format(
            "%llu bytes at %p: %s %s them on stream %llu, %s %s them on stream %llu, and nothing "
            "orders the two",
            static_cast<Ull>(end - begin), reinterpret_cast<void*>(begin), b.by.c_str(), verb(b),
            static_cast<Ull>(b.stream), a.by.c_str(), verb(a), static_cast<Ull>(a.stream)));
    finding.advice =
        "Hardware runs the streams side by side: wrong numbers now and then. Next: "
        "aclrtRecordEvent on "
        "the first stream and aclrtStreamWaitEvent on the second, or put both on one stream.";
    ReportFinding(std::move(finding));
  }
}

void ForgetMisuse() { distinctDetails->Clear(); }

void AdoptPointerWrites(const KernelLaunch& launch) {
  constexpr uint64_t kPiece = 4096;
  constexpr uint64_t kWord = 4;
  uint8_t poison[kWord];
  std::memset(poison, kPoisonByte, kWord);
  uint8_t shadow[kPiece];
  for (const GmRegion& region : launch.regions) {
    if (region.kind != RegionKind::kOutput ||
        FirstUndefinedGm(region.addr, region.bytes) == region.bytes) {
      continue;
    }
    for (uint64_t at = 0; at < region.bytes; at += kPiece) {
      const uint64_t bytes = std::min(kPiece, region.bytes - at);
      const uint8_t* piece = region.addr + at;
      const bool untouched = *piece == kPoisonByte && std::memcmp(piece, piece + 1, bytes - 1) == 0;
      if (untouched || FirstUndefinedGm(piece, bytes) == bytes) {
        continue;
      }
      LoadGmShadow(piece, bytes, shadow);
      for (uint64_t word = 0; word < bytes; word += kWord) {
        const uint64_t width = std::min(kWord, bytes - word);
        if (std::memcmp(piece + word, poison, width) != 0) {
          std::memset(shadow + word, 0, width);
        }
      }
      StoreGmShadow(piece, bytes, shadow);
    }
  }
}

// The first line of a kernel's entry that is not the simulator's own: a call packed by its headers begins with theirs.
static SourceLine LineOfEntry(const void* entry) {
  constexpr int kBytes = 512;
  constexpr int kStep = 16;
  auto* const code = static_cast<uint8_t*>(const_cast<void*>(entry));
  const SourceLine first = FindKernelLine({code + 1});
  for (int at = kStep; first.line == 0 && at < kBytes; at += kStep) {
    if (SourceLine line = FindKernelLine({code + 1 + at}); line.line > 0) {
      return line;
    }
  }
  return first;
}

void CheckGuardsAfter(const KernelLaunch& launch, LaunchResult* result) {
  {
    const std::lock_guard lock(lastLaunch->mutex);
    lastLaunch->opType = launch.opType;
  }
  DeviceMemory& device = Global().device;
  int searches = kMostSearches;
  for (const GmRegion& region : launch.regions) {
    for (const DeviceMemory::Overrun& overrun : device.TakeOverruns(region.addr)) {
      Finding finding = OverrunFinding(overrun);
      finding.op = launch.opType;
      finding.blockDim = launch.blockDim;
      finding.buffer = region.name;
      finding.at.instruction = "a write by pointer";
      const uint8_t* const block = overrun.block.contents;
      const auto writer = --searches >= 0
                              ? FindWriter(launch, block + overrun.begin, block + overrun.end)
                              : std::nullopt;
      if (writer) {
        finding.core = static_cast<int32_t>(writer->core);
        finding.at.line = FindKernelLine(writer->stack);
      } else {
        finding.at.note = "somewhere in the kernel that begins here";
        finding.at.line = LineOfEntry(launch.entry);
      }
      finding.detail =
          Format("kernel %s, outside of %s: ", launch.opType.c_str(), region.name.c_str()) +
          finding.detail;
      finding.soc = launch.soc->name;
      finding.tiling = launch.tilingText;
      finding.tilingKey = launch.tilingKey;
      result->status = kExecutionFailed;
      if (!result->message.empty()) {
        result->message += '\n';
      }
      result->message += FindingText(finding);
      ReportFinding(std::move(finding));
    }
  }
}

void KeepUnwritten(const KernelLaunch& launch, std::vector<UnwrittenMemory> unwritten) {
  constexpr size_t kMostBlocks = 4096;  // those of freed blocks stay until there are so many
  const DeviceMemory& device = Global().device;
  const std::lock_guard lock(leftUnwritten->mutex);
  auto& kept = leftUnwritten->ofBlock;
  for (const GmRegion& region : launch.regions) {
    if (!kept.empty() && region.kind == RegionKind::kOutput) {
      kept.erase(device.FindBacking(region.addr).number);
    }
  }
  if (kept.size() >= kMostBlocks) {
    kept.clear();
  }
  for (UnwrittenMemory& memory : unwritten) {
    if (!IsPartialOutput(launch.opType, memory.finding.buffer)) {
      kept[device.FindBacking(memory.begin).number].push_back(std::move(memory));
    }
  }
}

void ReportUnwrittenRead(const char* api, const void* caller, const uint8_t* bytes,
                         uint64_t count) {
  const uint64_t first = FirstUndefinedGm(bytes, count);
  if (first == count) {
    return;
  }
  std::optional<Finding> found;
  {
    const std::lock_guard lock(leftUnwritten->mutex);
    auto& kept = leftUnwritten->ofBlock;
    const auto known = kept.find(Global().device.FindBacking(bytes).number);
    if (known == kept.end()) {
      return;
    }
    const auto gap = std::ranges::find_if(known->second, [&](const UnwrittenMemory& memory) {
      return memory.begin < bytes + count && bytes + first < memory.end;
    });
    if (gap == known->second.end()) {
      return;
    }
    found = std::move(gap->finding);
    kept.erase(known);  // One gap of a kernel tells of all.
  }
  found->related.push_back(HostPlace(api, "copies them to the host", caller));
  ReportFinding(std::move(*found));
}

void ReportOverruns(const char* api, const std::vector<DeviceMemory::Overrun>& overruns,
                    const void* caller) {
  for (const DeviceMemory::Overrun& overrun : overruns) {
    Finding finding = OverrunFinding(overrun);
    finding.at = HostPlace(api, "", caller);
    {
      const std::lock_guard lock(lastLaunch->mutex);
      finding.op = lastLaunch->opType;
      finding.detail += "; it was no argument of the kernel that did it. The last launch was " +
                        (lastLaunch->opType.empty() ? "none" : lastLaunch->opType);
    }
    PrintError(FindingText(finding));
    ReportFinding(std::move(finding));
  }
}

void SetObjectKeeper(const ObjectKeeper* keeper) { objectKeeper = keeper; }

std::vector<LiveObjects> ListObjects() {
  const ObjectKeeper* keeper = objectKeeper;
  return keeper != nullptr ? keeper->list() : std::vector<LiveObjects>{};
}

void ForgetDestroyedObjects() {
  if (const ObjectKeeper* keeper = objectKeeper) {
    keeper->forgetDestroyed();
  }
  ForgetDestroyedDataBuffers();
  ForgetDestroyedDescriptions();
}

void ReportLeaks(const std::vector<LiveObjects>& leaks, const void* caller) {
  constexpr size_t kMostLines = 10;  // the findings have the rest
  std::string counts;
  std::vector<std::string> lines;
  for (const LiveObjects& leak : leaks) {
    if (leak.count == 0) {
      continue;
    }
    const std::string what = Format("%llu ", static_cast<Ull>(leak.count)) + leak.kind;
    counts += (counts.empty() ? "" : ", ") + what;
    Finding finding;
    finding.kind = "host-leak";
    finding.space = "host";
    finding.buffer = leak.kind;
    finding.at = HostPlace("aclFinalize", "", caller);
    finding.detail = what + " not released";
    const auto list = [&](const std::string& item) {
      lines.push_back("\n  " + item);
      finding.detail += "; " + item;
    };
    for (const LiveObject& object : leak.first) {
      const Place made = HostPlace(object.function, "made " + object.what, object.caller);
      list(object.what + (made.line.line == 0
                              ? ""
                              : Format(", made at %s:%d", made.line.file.c_str(), made.line.line)));
      if (made.line.line != 0) {
        finding.related.push_back(made);
      }
    }
    if (leak.count > leak.first.size()) {
      list(Format("and %llu more", static_cast<Ull>(leak.count - leak.first.size())));
    }
    finding.advice = std::string(ConsequenceOf("host-leak")) +
                     " Next: release each where its use ends, before aclrtResetDevice and "
                     "aclFinalize.";
    ReportFinding(std::move(finding));
  }
  if (!counts.empty()) {
    std::string text = "not released at aclFinalize: " + counts;
    const size_t shown = lines.size() <= kMostLines ? lines.size() : kMostLines - 1;
    for (size_t i = 0; i < shown; ++i) {
      text += lines[i];
    }
    if (shown < lines.size()) {
      text += Format("\n  and %zu lines more", lines.size() - shown);
    }
    PrintError(text);
  }
}

}  // namespace aclsim

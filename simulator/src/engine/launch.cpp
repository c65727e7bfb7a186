// SPDX-License-Identifier: Apache-2.0
// Spreads the cores of a launch over host threads and turns a fault into a report.
#include "engine/launch.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "checkers/checks.h"
#include "engine/core.h"
#include "engine/crash.h"
#include "engine/host_threads.h"
#include "engine/launch_line.h"
#include "engine/meeting.h"
#include "engine/options.h"
#include "engine/pages.h"
#include "engine/thrown.h"
#include "engine/touched.h"
#include "timing/profile.h"
#include "timing/race_times.h"

namespace aclsim {

namespace {

constexpr int32_t kVectorCoreException = 507035;  // ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
constexpr size_t kMaxKernelArgs = 48;

// Where UB lies in a mapping of three times its size: nowhere would the lower half of an address, which
// is all that some kernels keep, look like an offset in UB, which counts as an address as well.
constexpr uint64_t UbWithin(uint64_t mapped, uint64_t bytes) {
  const uint64_t low = mapped & UINT32_MAX;
  return low < bytes || low + bytes > UINT32_MAX ? mapped + 2 * bytes : mapped;
}
static_assert(UbWithin(0x7f01'0003'0000, 0x30000) == 0x7f01'0003'0000);
static_assert(UbWithin(0x7f01'0002'f000, 0x30000) == 0x7f01'0008'f000);
static_assert(UbWithin(0x7f00'fffd'1000, 0x30000) == 0x7f01'0003'1000);
static_assert(UbWithin(0x7f00'fffc'f000, 0x30000) == 0x7f00'fffc'f000);

// UB of the core that this host thread runs, big enough for every SoC and aligned to a page.
uint8_t* ThreadUb(uint64_t bytes) {
  struct Mapping {
    uint8_t* addr = nullptr;
    uint64_t mapped = 0;
    uint8_t* ub = nullptr;
    uint64_t bytes = 0;
    ~Mapping() { Unmap(); }
    void Unmap() {
      if (addr != nullptr) {
        munmap(addr, mapped);
        addr = nullptr;
        bytes = 0;
      }
    }
  };
  thread_local Mapping mapping;
  if (mapping.bytes < bytes) {
    mapping.Unmap();
    const uint64_t pages = RoundUp(bytes, PageBytes());
    void* addr =
        mmap(nullptr, 3 * pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (addr == MAP_FAILED) {
      throw std::runtime_error(Format(
          "no %llu bytes of address space or memory for a core's UB. Next: raise the host's limit "
          "(ulimit -v), or run on fewer host threads (ACLGRAD_SIM_THREADS)",
          static_cast<unsigned long long>(3 * pages)));
    }
    mapping.addr = static_cast<uint8_t*>(addr);
    mapping.mapped = 3 * pages;
    mapping.bytes = bytes;
    const auto mapped = reinterpret_cast<uint64_t>(addr);
    mapping.ub = mapping.addr + (UbWithin(mapped, pages) - mapped);
  }
  return mapping.ub;
}

template <size_t... I>
void CallEntry(const void* entry, const std::vector<uint8_t*>& args, std::index_sequence<I...>) {
  // The C calling conventions of our hosts let a function ignore arguments that it does not declare.
  using Kernel = void (*)(decltype(static_cast<void>(I), static_cast<uint8_t*>(nullptr))...);
  reinterpret_cast<Kernel>(const_cast<void*>(entry))((I < args.size() ? args[I] : nullptr)...);
}

void CallKernel(const KernelLaunch& launch) {
  if (launch.body) {
    launch.body(launch.args);
  } else {
    CallEntry(launch.entry, launch.args, std::make_index_sequence<kMaxKernelArgs>());
  }
}

// All findings go to the process's list; the launch fails with the errors among them. In the order of the cores, so that the
// report does not depend on host threads.
std::vector<Finding> Merged(std::vector<std::vector<Finding>>& found) {
  std::vector<Finding> merged;
  for (std::vector<Finding>& ofCore : found) {
    for (Finding& finding : ofCore) {
      MergeFinding(&merged, std::move(finding));
    }
  }
  return merged;
}

void Summarise(const std::vector<Finding>& merged, LaunchResult* result) {
  for (const Finding& finding : merged) {
    if (finding.severity == Severity::kError) {
      result->status = kVectorCoreException;
      result->message += result->message.empty() ? "" : "\n";
      result->message += FindingText(finding);
    }
    ReportFinding(finding);
  }
}

// Here and not in the header: libgraph.so offers every symbol of this library by its name, and a name that is a thread's own
// cannot be one of them.
thread_local TouchedGm* touchedGm = nullptr;

}  // namespace

TouchedGm::TouchedGm() : outer_(std::exchange(touchedGm, this)) {}
TouchedGm::~TouchedGm() { touchedGm = outer_; }
TouchedGm* TouchedGm::Current() { return touchedGm; }

LaunchResult Launch(const KernelLaunch& launch) noexcept {
  LaunchResult result;
  result.stats.blockDim = launch.blockDim;
  const auto refuse = [&](std::string message) {
    result.status = kVectorCoreException;
    result.message = std::move(message);
  };
  const bool tooMany = !launch.body && launch.args.size() > kMaxKernelArgs;
  if (launch.entry == nullptr || launch.soc == nullptr || tooMany) {
    refuse(Format("launch of %s refused: %zu arguments, at most %zu; entry %p",
                  launch.opType.c_str(), launch.args.size(), kMaxKernelArgs, launch.entry));
    return result;
  }
  try {
    LaunchLine line(launch);
    std::mutex resultMutex;
    std::vector<std::vector<Finding>> found(launch.blockDim);  // by core
    std::vector<std::vector<AtomicWrite>> atomics(launch.blockDim);
    const bool checked = CheckedMode();
    const bool profiled = ProfileMode();
    const bool taped = profiled || (checked && RaceTimes());
    std::vector<Tape> tapes(taped ? launch.blockDim : 0);
    std::atomic<uint64_t> gmWrites{0};
    Checks checks(launch);
    Meeting meeting(launch.blockDim);
    std::atomic<bool> over{false};   // cores that have not begun no longer do
    std::atomic<bool> ended{false};  // some core, before the end of the kernel
    std::atomic<bool> faulty{false};
    const auto runCore = [&](uint32_t index) {
      const auto hostFails = [&](const std::string& what) {
        over = true;
        meeting.Abandon();
        const std::lock_guard<std::mutex> lock(resultMutex);
        refuse(Format("%s, core %u: %s", launch.opType.c_str(), index, what.c_str()));
      };
      const uint64_t ubBytes = UbImageBytes(*launch.soc, KeepGoing());
      uint8_t* ub = nullptr;
      if (!over) {
        try {
          ub = ThreadUb(ubBytes);
        } catch (const std::exception& error) {
          hostFails(error.what());
        }
      }
      if (over) {
        ended = faulty = true;
        meeting.Leave(index, true);
        return;
      }
      CoreChecks observers;
      if (checked) {
        std::memset(ub, kPoisonByte, ubBytes);
        observers = checks.ForCore(index);
      }
      if (taped) {
        observers.AddTraffic();
        observers.owned.push_back(
            std::make_unique<TapeObserver>(*launch.soc, &tapes[index], &gmWrites));
        observers.list.push_back(observers.owned.back().get());
      }
      Core core(launch, index, ub, observers.list, &meeting);
      Core::SetCurrent(&core);
      bool failed = true;
      try {
        // Not around RunForeign, which has work of its own.
        const auto crash = RunForeign(launch.entry, [&] {
          if (profiled) {
            core.ownTime.Begin();
          }
          CallKernel(launch);
          core.ownTime.Enters();
        });
        if (crash) {
          if (crash->stuck != Stuck::kNo) {
            core.ThrowHang(crash->stuck, crash->seconds, crash->stack);
          }
          core.instruction = "";  // the last call of the API, which may have ended long ago
          EndCore("crash", CrashText(*crash),
                  "Hardware raises an exception, or goes on with whatever it finds there.",
                  crash->stack);
        }
        if (profiled) {
          tapes[index].ownSeconds = core.ownTime.Seconds();
        }
        CheckKernelEnd(core);
        core.End();
        failed = false;
      } catch (const CoreAbandoned&) {
        // Another core's finding says why.
      } catch (const KernelFault& fault) {
        over = over || core.hung;  // the others would take as long
        core.findings.push_back(core.FindingOf(fault));
        if (core.keepGoing) {
          core.findings.back().goesOn = "the core ends here, the others go on";
        }
      } catch (...) {
        hostFails(ThrownText());
      }
      ended = ended || failed;
      faulty = faulty || failed || core.Faulted();
      meeting.Leave(index, failed,
                    {core.sites.Stack(core.lastSite), core.lastInstruction,
                     "is the last it did in the kernel"});
      Core::SetCurrent(nullptr);
      line.CoreEnded();
      found[index] = std::move(core.findings);
      atomics[index] = core.TakeAtomics();
      const std::lock_guard<std::mutex> lock(resultMutex);
      observers.AddTo(&result.stats);
      result.stats.ubPeakBytes = std::max(result.stats.ubPeakBytes, core.ubPeak);
    };
    const std::vector<uint32_t> turns = TurnsOfCores(launch.blockDim);
    HostThreads::Instance().Run(launch.blockDim, HostThreadCount(),
                                [&](uint32_t turn) { runCore(turns[turn]); });
    LinkReads(&tapes);
    meeting.Publish();
    for (const uint32_t core : turns) {
      ApplyAtomics(atomics[core]);
    }
    if (!faulty) {
      found.push_back(meeting.LeftMarks(launch));
      found.push_back(meeting.LeftTurns(launch));
    }
    if (checked && result.status == 0) {  // else the host has failed, not the kernel
      found.push_back(checks.AcrossCores(!faulty));
      if (!faulty) {
        result.unwritten = checks.Unwritten();
      }
      if (TouchedGm* const touched = TouchedGm::Current()) {
        touched->ranges = checks.Touched();
      }
    }
    std::vector<Finding> merged = Merged(found);
    if (checked && RaceTimes() && !ended) {
      AddTimelines(launch, tapes, &merged);
    }
    Summarise(merged, &result);
    result.goesOn = KeepGoing();
    if (profiled && (result.status == 0 || (result.goesOn && !ended))) {
      KeepProfile(launch, result.stats, std::move(tapes));
    }
  } catch (const std::exception& error) {
    refuse(Format("%s: %s", launch.opType.c_str(), error.what()));
  }
  return result;
}

void RunAgain(const KernelLaunch& launch) {
  Meeting meeting(launch.blockDim);
  HostThreads::Instance().Run(launch.blockDim, 1, [&](uint32_t index) {
    Core core(launch, index, ThreadUb(UbImageBytes(*launch.soc, KeepGoing())), {}, &meeting);
    Core::SetCurrent(&core);
    bool failed = true;
    try {
      failed = RunForeign(launch.entry, [&] { CallKernel(launch); }).has_value();
      core.End();
    } catch (const CoreAbandoned&) {
    } catch (const KernelFault&) {
    } catch (...) {
      ThrownText();  // The first run has told it.
    }
    meeting.Leave(index, failed);
    Core::SetCurrent(nullptr);
  });
}

}  // namespace aclsim

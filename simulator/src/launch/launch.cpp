// SPDX-License-Identifier: Apache-2.0
// A launch is put together here: it spreads the cores over host threads, gives each its observers and turns faults into a report.
#include "launch/launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "checkers/checks.h"
#include "engine/core.h"
#include "engine/going_on.h"
#include "engine/meeting.h"
#include "engine/options.h"
#include "findings/levels.h"
#include "host/crash.h"
#include "host/host_threads.h"
#include "host/lock.h"
#include "host/options.h"
#include "host/thrown.h"
#include "launch/block_locals.h"
#include "launch/launch_line.h"
#include "launch/thread_ub.h"
#include "launch/touched.h"
#include "timing/options.h"
#include "timing/profile.h"
#include "timing/race_times.h"

namespace aclsim {

namespace {

constexpr int32_t kVectorCoreException = 507035;  // ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
constexpr size_t kMaxKernelArgs = 48;

template <size_t... I>
void CallEntry(const void* entry, const std::vector<uint8_t*>& args, std::index_sequence<I...>) {
  // The C calling conventions of our hosts let a function ignore arguments that it does not declare.
  using Kernel = void (*)(decltype(static_cast<void>(I), static_cast<uint8_t*>(nullptr))...);
  reinterpret_cast<Kernel>(const_cast<void*>(entry))((I < args.size() ? args[I] : nullptr)...);
}

void CallKernel(const KernelLaunch& launch, CoreKind kind) {
  const bool cube = launch.Mixed() && kind == CoreKind::kCube;
  if (const auto& body = cube ? launch.cubeBody : launch.body) {
    body(launch.args);
  } else {
    CallEntry(cube ? launch.cubeEntry : launch.entry, launch.args,
              std::make_index_sequence<kMaxKernelArgs>());
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

// endedBy: the kinds of the faults that have ended a core, after which there are no numbers to go on with. Those are errors.
void Summarise(const std::vector<Finding>& merged, const std::set<std::string>& endedBy,
               LaunchResult* result) {
  for (const Finding& finding : merged) {
    const Level level = endedBy.contains(finding.kind)
                            ? Level::kError
                            : LevelOf(finding.kind, finding.at.line.file);
    if (finding.severity == Severity::kError && level == Level::kError) {
      result->status = kVectorCoreException;
      result->message += result->message.empty() ? "" : "\n";
      result->message += FindingText(finding);
    }
    ReportFinding(finding, level);
  }
}

void Refuse(std::string message, LaunchResult* result) {
  result->status = kVectorCoreException;
  result->message = std::move(message);
}

// Here and not in the header: libgraph.so offers every symbol of this library by its name, and a name that is a thread's own
// cannot be one of them.
thread_local TouchedGm* touchedGm = nullptr;

}  // namespace

TouchedGm::TouchedGm() : outer_(std::exchange(touchedGm, this)) {}
TouchedGm::~TouchedGm() { touchedGm = outer_; }
TouchedGm* TouchedGm::Current() { return touchedGm; }

namespace {

// Who observes the cores of a launch, and who times them. A new checker goes into Checks, another model of time stands here.
class Audience {
 public:
  explicit Audience(const KernelLaunch& launch)
      : launch_(launch), tapes_(taped_ ? launch.Cores() : 0), checks_(launch) {}

  // The observers of one core, whose UB they find as they want it. From several host threads.
  CoreChecks ForCore(uint32_t index, uint8_t* ub, uint64_t ubBytes) {
    CoreChecks observers;
    if (checked_) {
      std::memset(ub, kPoisonByte, ubBytes);
      observers = checks_.ForCore(index);
    }
    if (taped_) {
      observers.AddTraffic();
      observers.owned.push_back(
          std::make_unique<TapeObserver>(*launch_.soc, &tapes_[index], &gmWrites_));
      observers.list.push_back(observers.owned.back().get());
    }
    return observers;
  }
  // Around the kernel's own code.
  void Begins(Core* core) const {
    if (profiled_) {
      core->ownTime.Begin();
    }
  }
  void Ended(const Core& core) {
    if (profiled_) {
      tapes_[core.index].ownSeconds = core.ownTime.Seconds();
    }
  }

  // When all cores are through.
  void Link() { LinkReads(&tapes_); }
  // Finds what the cores show together. faulty: some has not done all that its kernel says.
  void AddAcrossCores(bool faulty, std::vector<std::vector<Finding>>* found, LaunchResult* result) {
    if (!checked_ || result->status != 0) {  // the host has failed, not the kernel
      return;
    }
    found->push_back(checks_.AcrossCores(!faulty));
    if (!faulty) {
      result->unwritten = checks_.Unwritten();
    }
    if (TouchedGm* const touched = TouchedGm::Current()) {
      touched->ranges = checks_.Touched();
    }
  }
  // ended: every core has come to its end.
  void AddTimes(bool ended, std::vector<Finding>* findings) const {
    if (checked_ && RaceTimes() && ended) {
      AddTimelines(launch_, tapes_, findings);
    }
  }
  void KeepTimes(bool ended, const LaunchResult& result) {
    if (profiled_ && (result.status == 0 || (result.goesOn && ended))) {
      KeepProfile(launch_, result.stats, std::move(tapes_));
    }
  }

 private:
  const KernelLaunch& launch_;
  const bool checked_ = CheckedMode();
  const bool profiled_ = ProfileMode();
  const bool taped_ = profiled_ || (checked_ && RaceTimes());
  std::vector<Tape> tapes_;  // by core
  std::atomic<uint64_t> gmWrites_{0};
  Checks checks_;
};

// One launch, from the first core to the report.
class LaunchRun {
 public:
  LaunchRun(const KernelLaunch& launch, LaunchResult* result)
      : launch_(launch),
        result_(*result),
        line_(launch),
        locals_(launch.entry),
        found_(launch.Cores()),
        atomics_(launch.Cores()),
        audience_(launch),
        meeting_(launch) {}

  void Run() {
    const std::vector<uint32_t> turns = TurnsOfCores(launch_.Cores());
    HostThreads::Instance().Run(launch_.Cores(), HostThreadCount(),
                                [&](uint32_t turn) { RunCore(turns[turn]); });
    audience_.Link();
    meeting_.Publish();
    for (const uint32_t core : turns) {
      ApplyAtomics(atomics_[core]);
    }
    if (!faulty_) {
      found_.push_back(meeting_.LeftFlags());
      found_.push_back(meeting_.LeftMarks(launch_));
      found_.push_back(meeting_.LeftTurns(launch_));
    }
    audience_.AddAcrossCores(faulty_, &found_, &result_);
    std::vector<Finding> merged = Merged(found_);
    for (Finding& finding : merged) {
      if (launch_.Mixed() && finding.core >= 0) {
        finding.coreName = launch_.NameOf(static_cast<uint32_t>(finding.core));
      }
    }
    audience_.AddTimes(!failed_, &merged);
    Summarise(merged, endedBy_, &result_);
    result_.goesOn = GoesOnAfterErrors();
    audience_.KeepTimes(!failed_, result_);
  }

 private:
  void HostFails(uint32_t index, const std::string& what) {
    over_ = true;
    meeting_.Abandon();
    const std::lock_guard lock(resultMutex_);
    Refuse(
        Format("%s, %s: %s", launch_.opType.c_str(), launch_.NameOf(index).c_str(), what.c_str()),
        &result_);
  }

  void RunCore(uint32_t index) {
    const uint64_t ubBytes = Image(*launch_.soc, launch_.KindOf(index), KeepGoing()).Bytes();
    uint8_t* ub = nullptr;
    if (!over_) {
      try {
        ub = ThreadUb(ubBytes);
      } catch (const std::exception& error) {
        HostFails(index, error.what());
      }
    }
    if (over_) {
      failed_ = faulty_ = true;
      meeting_.Leave(index, true);
      return;
    }
    const CoreChecks observers = audience_.ForCore(index, ub, ubBytes);
    Core core(launch_, index, ub, observers.list, &meeting_);
    Core::SetCurrent(&core);
    const bool failed = !RunsToItsEnd(&core);
    failed_ = failed_ || failed;
    faulty_ = faulty_ || failed || divided_ || core.Faulted();
    meeting_.Leave(index, failed,
                   {core.sites.Stack(core.lastSite), core.lastInstruction,
                    "is the last it did in the kernel"});
    Core::SetCurrent(nullptr);
    line_.CoreEnded();
    found_[index] = std::move(core.findings);
    atomics_[index] = core.TakeAtomics();
    const std::lock_guard lock(resultMutex_);
    observers.AddTo(&result_.stats);
    result_.stats.ubPeakBytes = std::max(result_.stats.ubPeakBytes, core.ubPeak);
  }

  bool RunsToItsEnd(Core* core) {
    try {
      RunKernel(core);
      CheckKernelEnd(*core);
      core->End();
      return true;
    } catch (const CoreAbandoned&) {
      // Another core's finding says why.
    } catch (const KernelFault& fault) {
      over_ = over_ || core->hung;  // the others would take as long
      core->findings.push_back(core->FindingOf(fault));
      {
        const std::lock_guard lock(resultMutex_);
        endedBy_.insert(fault.kind);
      }
      if (core->keepGoing) {
        core->findings.back().goesOn = "the core ends here, the others go on";
      }
    } catch (...) {
      HostFails(core->index, ThrownText());
    }
    return false;
  }

  // Published kernels have one whose result they do not use, and end as they should.
  static void TellDivision(Core* core, const std::vector<void*>& stack) {
    core->instruction = "";  // the last call of the API, which may have ended long ago
    core->findings.push_back(
        core->FindingOf({"crash",
                         "SIGFPE, a division by zero",
                         "Hardware raises an exception, or goes on with whatever it finds there.",
                         stack,
                         {},
                         ""}));
    core->findings.back().goesOn =
        "done with all bits set for the quotient, and the dividend for the remainder";
  }

  void RunKernel(Core* core) {
    const DivisionsGoOn divisions;
    const BlockLocals::OfCore locals(locals_);
    // Not around RunForeign, which has work of its own.
    const auto crash = RunForeign(launch_.entry, [&] {
      audience_.Begins(core);
      CallKernel(launch_, core->kind);
      core->ownTime.Enters();
    });
    if (const std::vector<void*> stack = divisions.Stack(); !stack.empty()) {
      TellDivision(core, stack);
      divided_ = true;
    }
    if (crash) {
      if (crash->stuck != Stuck::kNo) {
        core->ThrowHang(crash->stuck, crash->seconds, crash->stack);
      }
      core->instruction = "";  // the last call of the API, which may have ended long ago
      EndCore("crash", CrashText(*crash),
              "Hardware raises an exception, or goes on with whatever it finds there.",
              crash->stack);
    }
    audience_.Ended(*core);
  }

  const KernelLaunch& launch_;
  LaunchResult& result_;
  Mutex<9, "results of a launch"> resultMutex_;
  std::set<std::string> endedBy_;
  LaunchLine line_;
  BlockLocals locals_;
  std::vector<std::vector<Finding>> found_;  // by core
  std::vector<std::vector<AtomicWrite>> atomics_;
  Audience audience_;
  Meeting meeting_;
  std::atomic<bool> over_{false};    // cores that have not begun no longer do
  std::atomic<bool> failed_{false};  // some core, before the end of the kernel
  std::atomic<bool> faulty_{false};  // or has gone on after a fault
  std::atomic<bool> divided_{false};
};

}  // namespace

LaunchResult Launch(const KernelLaunch& launch) noexcept {
  LaunchResult result;
  result.stats.blockDim = launch.blockDim;
  const bool tooMany = !launch.body && launch.args.size() > kMaxKernelArgs;
  if (launch.entry == nullptr || launch.soc == nullptr || tooMany) {
    Refuse(Format("launch of %s refused: %zu arguments, at most %zu; entry %p",
                  launch.opType.c_str(), launch.args.size(), kMaxKernelArgs, launch.entry),
           &result);
    return result;
  }
  try {
    LaunchRun(launch, &result).Run();
  } catch (const std::exception& error) {
    Refuse(Format("%s: %s", launch.opType.c_str(), error.what()), &result);
  }
  return result;
}

void RunAgain(const KernelLaunch& launch) {
  Meeting meeting(launch);
  const BlockLocals all(launch.entry);
  HostThreads::Instance().Run(launch.Cores(), 1, [&](uint32_t index) {
    const Image image(*launch.soc, launch.KindOf(index), KeepGoing());
    Core core(launch, index, ThreadUb(image.Bytes()), {}, &meeting);
    Core::SetCurrent(&core);
    bool failed = true;
    const BlockLocals::OfCore locals(all);
    try {
      failed = RunForeign(launch.entry, [&] { CallKernel(launch, core.kind); }).has_value();
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

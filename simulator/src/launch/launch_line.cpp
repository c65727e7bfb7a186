// SPDX-License-Identifier: Apache-2.0
#include "launch/launch_line.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "host/fork.h"
#include "host/format.h"
#include "host/lock.h"
#include "host/watchdog.h"

namespace aclsim {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kQuiet = 2;      // seconds until a launch is worth a line
constexpr double kRewrite = 0.2;  // seconds between two states of it
constexpr size_t kWidth = 80;     // of a terminal that does not tell its own

// The launch that began last has these.
struct Shown {
  Mutex<9, "progress of a launch"> mutex;
  const LaunchLine* line = nullptr;
  size_t length = 0;  // of what stands on the terminal; 0: nothing
  Clock::time_point since{};
};
PerProcess<Shown> shown;
std::atomic<int> showsProgress{-1};  // -1: not decided yet

// Returns whether the error stream is a terminal that takes a line now. A job in the background would be stopped, or write over what the
// one in front shows; a terminal that its user holds would hold the launch.
bool CanShow() {
  if (isatty(STDERR_FILENO) == 0) {
    return false;
  }
  const pid_t front = tcgetpgrp(STDERR_FILENO);
  pollfd terminal{STDERR_FILENO, POLLOUT, 0};
  return (front < 0 || front == getpgrp()) && poll(&terminal, 1, 0) == 1;
}

size_t TerminalWidth() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kWidth;
}

// No longer than a line of the terminal, or the next one would not begin where this one did. Spaces, not an escape sequence:
// any terminal knows these.
void Write(const std::string& text, size_t* length) {
  const std::string fits = text.substr(0, TerminalWidth() - 1);
  std::string all =
      "\r" + fits + std::string(*length > fits.size() ? *length - fits.size() : 0, ' ');
  all += fits.empty() ? "\r" : "";
  *length = write(STDERR_FILENO, all.data(), all.size()) < 0 ? 0 : fits.size();
}

std::string Size(uint64_t bytes) {
  return bytes < 1'000'000'000 ? Format("%.0f MB", static_cast<double>(bytes) * 1e-6)
                               : Format("%.1f GB", static_cast<double>(bytes) * 1e-9);
}

}  // namespace

Shows ShowsProgress() {
  int when = showsProgress;
  if (when < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_PROGRESS");
    const std::string_view word = text != nullptr ? text : "";
    when = static_cast<int>(word == "on"    ? Shows::kAlways
                            : word == "off" ? Shows::kNever
                                            : Shows::kOnTerminal);
    showsProgress = when;
  }
  return static_cast<Shows>(when);
}

void SetShowsProgress(Shows when) { showsProgress = static_cast<int>(when); }

LaunchLine::LaunchLine(const KernelLaunch& launch)
    : launch_(launch),
      wanted_(ShowsProgress() != Shows::kNever),
      begin_(Clock::now()),
      movedBefore_(wanted_ ? ThreadProgress::MovedByAll() : 0) {
  if (wanted_) {
    ThreadProgress::OnTick(&LaunchLine::Tick);
    const std::lock_guard lock(shown->mutex);
    shown->line = this;
  }
}

LaunchLine::~LaunchLine() {
  if (!wanted_) {
    return;
  }
  const std::lock_guard lock(shown->mutex);
  if (shown->line != this) {
    return;
  }
  if (shown->length > 0) {
    Write("", &shown->length);
  }
  shown->line = nullptr;
}

std::string LaunchLine::Text(uint64_t moved, double seconds) const {
  uint64_t tensors = 0;
  for (const GmRegion& region : launch_.regions) {
    const bool tensor = region.kind == RegionKind::kInput || region.kind == RegionKind::kOutput;
    tensors += tensor ? region.bytes : 0;
  }
  std::string text =
      Format("%s: %u of %u cores done", launch_.opType.c_str(), ended_.load(), launch_.Cores());
  if (moved > 0) {
    text += Format(", %s moved, the tensors have %s", Size(moved).c_str(), Size(tensors).c_str());
  }
  return text + Format(", %.0f s", seconds);
}

void LaunchLine::Tick(uint64_t moved) {
  const std::lock_guard lock(shown->mutex);
  const LaunchLine* const line = shown->line;
  if (line == nullptr) {
    return;
  }
  const auto now = Clock::now();
  const auto seconds = [now](Clock::time_point since) {
    return std::chrono::duration<double>(now - since).count();
  };
  if (seconds(line->begin_) < kQuiet || seconds(shown->since) < kRewrite) {
    return;
  }
  shown->since = now;
  if (ShowsProgress() == Shows::kAlways || CanShow()) {
    Write(line->Text(moved - line->movedBefore_, seconds(line->begin_)), &shown->length);
  }
}

}  // namespace aclsim

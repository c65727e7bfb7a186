// SPDX-License-Identifier: Apache-2.0
// Options of the engine: aclsimSetOption, else the environment, else the default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/finding.h"

namespace aclsim {

// ACLGRAD_SIM_THREADS, else the CPUs this process may use.
uint32_t HostThreadCount();
void SetHostThreadCount(uint32_t threads);  // 0: default

// Pipes run as late as the synchronisation allows, in an order that depends on the seed. 0: off. ACLGRAD_SIM_CHAOS.
uint64_t ChaosSeed();
void SetChaosSeed(uint64_t seed);

// Which instructions chaos holds back, by their numbers on a core; empty: all. The others run when they are issued, unless one
// of these stands before them on their pipe.
struct HeldBack {
  struct Range {
    uint32_t first = 0;
    uint32_t last = 0;
  };
  std::vector<Range> ranges;

  bool Has(uint32_t number) const;
  bool Few() const;  // so that each can be named
};
HeldBack Held();
std::string HeldText();  // "12+40-41", or "all"
// False: not such a text.
bool SetHeld(const std::string& text);
// The first of them that launches have held back since SetHeld, as what a person reads: JSON for aclsimHeld.
void NoteHeld(uint32_t number, uint32_t core, const Place& place);
std::string HeldJson();

// Whether the device compiler's automatic synchronisation counts as there (the toolkit's default). ACLGRAD_SIM_AUTOSYNC.
bool AutoSync();
void SetAutoSync(bool on);

// Whether a core goes on after a fault: as set, else only in fast mode. ACLGRAD_SIM_KEEP_GOING.
bool KeepGoing();
void SetKeepGoing(std::optional<bool> on);

// What a tiling function finds where it writes the tiling data. Anything but cleared also tells, as a hint, which bytes it leaves as
// they are. ACLGRAD_SIM_TILING_BUFFER.
enum class TilingBuffer : uint8_t {
  kCleared,  // zeros
  kWatched,  // zeros; the function runs twice
  kFilled,   // other bytes, as another call may have left them: the kernel gets these
};
TilingBuffer BufferOfTiling();
void SetBufferOfTiling(TilingBuffer buffer);

// Whether a stream works again once a synchronisation has returned its failure. ACLGRAD_SIM_RECOVER.
bool Recovers();
void SetRecovers(bool on);

// Seconds of processor time after which code that gets nothing done ends. 0: off. ACLGRAD_SIM_HANG_LIMIT.
double HangLimit();
void SetHangLimit(double seconds);
// The same, or less where the program has set a limit for operators (aclrtSetOpExecuteTimeOut).
double StuckLimit();
void SetExecuteLimit(double seconds);  // 0: none

// Whether a launch that takes long says on the error stream how far it is: else if that is a terminal. ACLGRAD_SIM_PROGRESS.
enum class Shows : uint8_t { kNever, kAlways, kOnTerminal };
Shows ShowsProgress();
void SetShowsProgress(Shows when);

// Outputs that operators write only in part on purpose, as "output" or "Operator.output", separated by commas; "*" is all.
// ACLGRAD_SIM_PARTIAL_OUTPUTS.
std::string PartialOutputs();
void SetPartialOutputs(const std::string& names);
// A tensor of a list, "y[0]", is also known by the list's name.
bool IsPartialOutput(const std::string& op, const std::string& output);
// Whether a kernel finds in an output what it held before the launch: "=y" among those names.
bool IsKeptOutput(const std::string& op, const std::string& output);

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// Reports about host programs: misuse of functions, overruns that guards show, leaks.
#pragma once

#include <string>
#include <vector>

#include "findings/finding.h"
#include "runtime/device_memory.h"
#include "runtime/pending.h"
#include "runtime/runtime.h"

namespace aclsim {

// The program's line at this return address; empty when it is unknown. Asked once per address.
SourceLine ProgramLine(const void* caller);
// An end of a finding in host code.
Place HostPlace(const std::string& function, const std::string& note, const void* caller);

// Uses of the same bytes by two streams that nothing orders.
void ReportStreamRaces(const std::vector<PendingWork::Race>& races);

// Goes with ClearFindings.
void ForgetMisuse();
// Writes by plain pointers leave no record: outputs that no longer hold the poison count as written.
void AdoptPointerWrites(const KernelLaunch& launch);
// Looks around the blocks that a launch was given; what it finds fails the launch.
void CheckGuardsAfter(const KernelLaunch& launch, LaunchResult* result);
// Keeps what a launch has left unwritten for ReportUnwrittenRead.
void KeepUnwritten(const KernelLaunch& launch, std::vector<UnwrittenMemory> unwritten);
// The host copies device memory, which lies at `bytes`: what the last launch that was given it has left unwritten is
// a fault of that kernel. Memory that no launch was given may be copied.
void ReportUnwrittenRead(const char* api, const void* caller, const uint8_t* bytes, uint64_t count);
// Overruns that no launch with that block as an argument has shown.
void ReportOverruns(const char* api, const std::vector<DeviceMemory::Overrun>& overruns,
                    const void* caller);

// Returns what a library above says that it has made for the program.
std::vector<LiveObjects> ListObjects();
void ForgetDestroyedObjects();
// The program still holds these.
void ReportLeaks(const std::vector<LiveObjects>& leaks, const void* caller);

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// The timing model's estimates of launches are kept for aclsimProfiles and aclsimWriteTrace.
#pragma once

#include <string>
#include <vector>

#include "engine/kernel_launch.h"
#include "timing/model.h"

namespace aclsim {

// Times a launch that has run and keeps the result; the last few keep their instructions for a trace.
void KeepProfile(const KernelLaunch& launch, const LaunchStats& stats, std::vector<Tape> tapes);
// Returns what all launches so far take, one after the other, by the model.
int64_t ModelledNanos();
void ClearProfiles();
std::string ProfilesJson();
// Returns what each line of the kernel costs on some cores, all of them when none is named; empty with a reason.
std::string ProfileLinesJson(size_t launch, std::vector<uint32_t> cores, std::string* why);
// Returns what the launch would take with one thing changed in its kernel; empty with a reason.
std::string ProfileChangesJson(size_t launch, std::string* why);
// False with a reason: no such launch or core, or a file that cannot be written.
bool WriteTrace(size_t launch, const std::vector<uint32_t>& cores, const std::string& path,
                std::string* why);

}  // namespace aclsim

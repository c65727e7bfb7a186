// SPDX-License-Identifier: Apache-2.0
// Options that cores obey: aclsimSetOption, else the environment, else the default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace aclsim {

// checked mode poisons memory and feeds observers; fast mode does neither. Bounds are checked in both.
bool CheckedMode();
void SetCheckedMode(bool on);

// The byte that fresh UB, workspace and outputs are filled with in checked mode: 0xFF.. is a NaN in fp32, fp16 and bf16.
inline constexpr uint8_t kPoisonByte = 0xFF;

// Pipes run as late as the synchronisation allows, in an order that depends on the seed. 0: off. ACLGRAD_SIM_CHAOS.
uint64_t ChaosSeed();
void SetChaosSeed(uint64_t seed);

// Says whether the device compiler's automatic synchronisation counts as there (the toolkit's default). ACLGRAD_SIM_AUTOSYNC.
bool AutoSync();
void SetAutoSync(bool on);

// Says whether a core goes on after a fault: as set, else only in fast mode. ACLGRAD_SIM_KEEP_GOING.
bool KeepGoing();
void SetKeepGoing(std::optional<bool> on);

// Outputs that operators write only in part on purpose, as "output" or "Operator.output", separated by commas; "*" is all.
// ACLGRAD_SIM_PARTIAL_OUTPUTS.
std::string PartialOutputs();
void SetPartialOutputs(const std::string& names);
// A tensor of a list, "y[0]", is also known by the list's name.
bool IsPartialOutput(const std::string& op, const std::string& output);
// Says whether a kernel finds in an output what it held before the launch: "=y" among those names.
bool IsKeptOutput(const std::string& op, const std::string& output);

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// Options of the model of time: aclsimSetOption, else the environment, else off.
#pragma once

namespace aclsim {

// Launches keep their profiles: ACLGRAD_SIM_PROFILE.
bool ProfileMode();
void SetProfileMode(bool on);
// Profiles say what each cost decides: ACLGRAD_SIM_SENSITIVITY.
bool SensitivityMode();
void SetSensitivityMode(bool on);
// Launches in checked mode keep tapes for AddTimelines: ACLGRAD_SIM_RACE_TIMES.
bool RaceTimes();
void SetRaceTimes(bool on);

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
#include "timing/options.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace aclsim {

namespace {

// -1: not decided yet.
std::atomic<int> profile{-1};
std::atomic<int> sensitivity{-1};
std::atomic<int> raceTimes{-1};

bool IsOn(std::atomic<int>* option, const char* variable) {
  int on = *option;
  if (on < 0) {
    const char* text = std::getenv(variable);
    on = text != nullptr && std::strcmp(text, "on") == 0 ? 1 : 0;
    *option = on;
  }
  return on != 0;
}

}  // namespace

bool ProfileMode() { return IsOn(&profile, "ACLGRAD_SIM_PROFILE"); }
void SetProfileMode(bool on) { profile = on ? 1 : 0; }

bool SensitivityMode() { return IsOn(&sensitivity, "ACLGRAD_SIM_SENSITIVITY"); }
void SetSensitivityMode(bool on) { sensitivity = on ? 1 : 0; }

bool RaceTimes() { return IsOn(&raceTimes, "ACLGRAD_SIM_RACE_TIMES"); }
void SetRaceTimes(bool on) { raceTimes = on ? 1 : 0; }

}  // namespace aclsim

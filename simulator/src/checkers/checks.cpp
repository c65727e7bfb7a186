// SPDX-License-Identifier: Apache-2.0
#include "checkers/checks.h"

#include "checkers/gm_use.h"
#include "checkers/race.h"
#include "checkers/traffic.h"
#include "checkers/undefined.h"
#include "engine/core.h"
#include "engine/options.h"

namespace aclsim {

void CoreChecks::AddTraffic() {
  if (traffic == nullptr) {
    auto observer = std::make_unique<TrafficObserver>();
    traffic = observer.get();
    list.push_back(traffic);
    owned.push_back(std::move(observer));
  }
}

void CoreChecks::AddTo(LaunchStats* stats) const {
  if (traffic != nullptr) {
    traffic->AddTo(stats);
  }
}

Checks::Checks(const KernelLaunch& launch)
    : launch_(launch), gmUse_(launch.blockDim), syncUse_(std::make_unique<SyncUse>()) {}

Checks::~Checks() = default;

CoreChecks Checks::ForCore(uint32_t index) {
  CoreChecks checks;
  checks.AddTraffic();
  auto race = std::make_unique<RaceObserver>(launch_.soc->UbMemory(), syncUse_.get());
  gmUse_[index] = std::make_unique<GmUse>(*race);
  checks.list.push_back(race.get());
  checks.owned.push_back(std::move(race));
  checks.owned.push_back(
      std::make_unique<UndefinedObserver>(UbImageBytes(*launch_.soc, KeepGoing())));
  checks.list.push_back(checks.owned.back().get());
  checks.list.push_back(gmUse_[index].get());
  return checks;
}

std::vector<Finding> Checks::AcrossCores() {
  std::vector<GmUse*> cores;
  for (const auto& use : gmUse_) {
    cores.push_back(use.get());
  }
  std::vector<Finding> findings = FindGmConflicts(launch_, cores);
  for (Finding& hint : syncUse_->Hints(launch_)) {
    findings.push_back(std::move(hint));
  }
  return findings;
}

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace aclsim {

// A destroyed stream no longer reports to any thread.
void ForgetReports(uint64_t streamId);

}  // namespace aclsim

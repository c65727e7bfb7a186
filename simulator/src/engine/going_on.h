// SPDX-License-Identifier: Apache-2.0
// Faults that end their core are told here: what the option keep_going says of errors, beside those that the user has made less than errors.
#pragma once

namespace aclsim {

// Returns whether a core goes on after any fault. KeepGoing of options.h is also true where only some faults end no core.
bool GoesOnAfterErrors();

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// Other name of forms.h.
#ifndef ACLSIM_HOST_LOG_ERROR_LOG_H_
#define ACLSIM_HOST_LOG_ERROR_LOG_H_

#include "aclsim/host_log/forms.h"

#endif  // ACLSIM_HOST_LOG_ERROR_LOG_H_

// SPDX-License-Identifier: Apache-2.0
// Everything of ACL that the simulator implements.
#pragma once

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

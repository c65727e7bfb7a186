// SPDX-License-Identifier: Apache-2.0
// Contexts, by CANN's name of the header.
#ifndef RUNTIME_CONTEXT_H_
#define RUNTIME_CONTEXT_H_

#include "runtime/rt.h"

#endif  // RUNTIME_CONTEXT_H_

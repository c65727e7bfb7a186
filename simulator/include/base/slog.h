// SPDX-License-Identifier: Apache-2.0
// Other path of toolchain/slog.h.
#ifndef BASE_SLOG_H_
#define BASE_SLOG_H_

#include "toolchain/slog.h"

#endif  // BASE_SLOG_H_

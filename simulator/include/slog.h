// SPDX-License-Identifier: Apache-2.0
// Other path of toolchain/slog.h.
#ifndef SLOG_H_
#define SLOG_H_

#include "toolchain/slog.h"

#endif  // SLOG_H_

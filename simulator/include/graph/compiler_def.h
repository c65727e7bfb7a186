// SPDX-License-Identifier: Apache-2.0
// Compiler attributes that registration macros use.
#pragma once

#define VAR_UNUSED __attribute__((unused))
#ifndef WEAK_SYMBOL
#define WEAK_SYMBOL __attribute__((weak))
#endif

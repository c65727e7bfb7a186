// SPDX-License-Identifier: Apache-2.0
// Compiler attributes that registration macros use.
#ifndef GRAPH_COMPILER_DEF_H_
#define GRAPH_COMPILER_DEF_H_

#define VAR_UNUSED __attribute__((unused))
#ifndef WEAK_SYMBOL
#define WEAK_SYMBOL __attribute__((weak))
#endif

#endif  // GRAPH_COMPILER_DEF_H_

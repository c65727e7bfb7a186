// SPDX-License-Identifier: Apache-2.0
// Return type of registered functions.
#ifndef EXE_GRAPH_RUNTIME_BASE_TYPE_H_
#define EXE_GRAPH_RUNTIME_BASE_TYPE_H_

typedef unsigned int UINT32;
typedef UINT32 KernelStatus;

#endif  // EXE_GRAPH_RUNTIME_BASE_TYPE_H_

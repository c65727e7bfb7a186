// SPDX-License-Identifier: Apache-2.0
// This file includes all layouts and loops of a row reduction, for kernels that take any view. Each
// tiling key of row_reduce_data.h is a call of Run<Layout> or, where cores share an axis, of
// RunShared, with the operands in GM and the tiling data.
#ifndef OP_KERNEL_COMMON_ROW_REDUCE_LAYOUTS_H_
#define OP_KERNEL_COMMON_ROW_REDUCE_LAYOUTS_H_

#include "common/layout_columns.h"
#include "common/layout_packed.h"
#include "common/layout_padded.h"
#include "common/layout_registers.h"
#include "common/layout_transposed.h"
#include "common/shared_axis.h"

#endif  // OP_KERNEL_COMMON_ROW_REDUCE_LAYOUTS_H_

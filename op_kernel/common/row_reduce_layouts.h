// SPDX-License-Identifier: Apache-2.0
// All layouts and loops of a row reduction, for kernels that take any view. RunByKey is all that such a kernel calls.
#ifndef OP_KERNEL_COMMON_ROW_REDUCE_LAYOUTS_H_
#define OP_KERNEL_COMMON_ROW_REDUCE_LAYOUTS_H_

#include "common/layout_columns.h"
#include "common/layout_packed.h"
#include "common/layout_padded.h"
#include "common/layout_registers.h"
#include "common/layout_transposed.h"
#include "common/shared_axis.h"

namespace rowreduce {

// RunByKey runs the layout or loop that the tiling key names. The operands are in GM.
template <typename T, typename Step>
__aicore__ inline void RunByKey(GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                                const RowReduceTilingData& t) {
  if (TILING_KEY_IS(ROW_REDUCE_PADDED)) {
    Run<Padded<T, Step>>(y, g, out, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_PACKED)) {
    Run<Packed<T, Step>>(y, g, out, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_TRANSPOSED)) {
    Run<Transposed<T, Step>>(y, g, out, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_COLUMNS)) {
    Run<Columns<T, Step>>(y, g, out, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_REGISTERS)) {
    Run<Registers<T, Step>>(y, g, out, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_SHARED_ROWS)) {
    RunShared<T, Step, true>(y, g, out, workspace, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_SHARED_COLUMNS)) {
    RunShared<T, Step, false>(y, g, out, workspace, t);
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_ROW_REDUCE_LAYOUTS_H_

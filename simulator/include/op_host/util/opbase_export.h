// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/util/opbase_export.h.
#ifndef OP_HOST_UTIL_OPBASE_EXPORT_H_
#define OP_HOST_UTIL_OPBASE_EXPORT_H_

#include "op_common/op_host/util/opbase_export.h"

#endif  // OP_HOST_UTIL_OPBASE_EXPORT_H_

// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/util/opbase_export.h.
#ifndef UTIL_OPBASE_EXPORT_H_
#define UTIL_OPBASE_EXPORT_H_

#include "op_common/op_host/util/opbase_export.h"

#endif  // UTIL_OPBASE_EXPORT_H_

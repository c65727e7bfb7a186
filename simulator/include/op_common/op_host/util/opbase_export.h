// SPDX-License-Identifier: Apache-2.0
// Visibility of what the toolkit exports to operators.
#ifndef OP_COMMON_OP_HOST_UTIL_OPBASE_EXPORT_H_
#define OP_COMMON_OP_HOST_UTIL_OPBASE_EXPORT_H_

#ifndef OPBASE_API
#define OPBASE_API __attribute__((visibility("default")))
#endif

#endif  // OP_COMMON_OP_HOST_UTIL_OPBASE_EXPORT_H_

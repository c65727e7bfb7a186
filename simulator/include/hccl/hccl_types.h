// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#ifndef HCCL_HCCL_TYPES_H_
#define HCCL_HCCL_TYPES_H_

#error "hccl/hccl_types.h is not in this simulator: it has one NPU and no HCCL"

#endif  // HCCL_HCCL_TYPES_H_

// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#ifndef TILING_HCCL_HCCL_TILING_H_
#define TILING_HCCL_HCCL_TILING_H_

#error "tiling/hccl/hccl_tiling.h is not in this simulator: it has one NPU and no HCCL"

#endif  // TILING_HCCL_HCCL_TILING_H_

// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#pragma once

#error "hccl/hccl.h is not in this simulator: it has one NPU and no HCCL"

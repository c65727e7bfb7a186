// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#pragma once

#error "hccl/hcom.h is not in this simulator: include hccl/hccl.h, whose calls communicate"

// SPDX-License-Identifier: Apache-2.0
// Marks of classes that a library shows to others: op_host code puts them on its own.
#pragma once

#define FMK_FUNC_HOST_VISIBILITY __attribute__((visibility("default")))
#define FMK_FUNC_DEV_VISIBILITY __attribute__((visibility("default")))

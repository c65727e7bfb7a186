// SPDX-License-Identifier: Apache-2.0
// In a folder that only the options name.
#pragma once
#define LISTED_WORD 4

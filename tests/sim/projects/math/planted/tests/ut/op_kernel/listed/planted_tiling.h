// SPDX-License-Identifier: Apache-2.0
// Put before everything by a library's build, by its name.
#pragma once
#define LISTED_FORCED 3

// SPDX-License-Identifier: Apache-2.0
// Kept for sources that include it; the tiling structs of the high-level API come with that API.
#pragma once

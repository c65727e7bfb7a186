// SPDX-License-Identifier: Apache-2.0
#pragma once

// What aclnnScaledOffset answers for a factor that it does not take.
constexpr int kNegativeFactor = 561999;

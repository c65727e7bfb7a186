// SPDX-License-Identifier: Apache-2.0
// Tiling of another architecture, by the template library that only that one has.
#include "atvoss/util/elems.h"

using Ones = Ops::Base::Elems<int>;

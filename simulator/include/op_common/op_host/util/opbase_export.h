// SPDX-License-Identifier: Apache-2.0
// Visibility of what the toolkit exports to operators.
#pragma once

#ifndef OPBASE_API
#define OPBASE_API __attribute__((visibility("default")))
#endif

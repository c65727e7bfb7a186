// SPDX-License-Identifier: Apache-2.0
// Tensors as files, for unit tests.
#pragma once

#include <cstddef>
#include <string>

bool Load(const std::string& path, void* to, size_t bytes);
bool Store(const std::string& path, const void* from, size_t bytes);

// SPDX-License-Identifier: Apache-2.0
// CMake compiles the standard headers that the libraries share with this file.

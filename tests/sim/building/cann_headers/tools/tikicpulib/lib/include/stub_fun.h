// SPDX-License-Identifier: Apache-2.0
// Stand-in for the declarations of the instructions.
#pragma once
#include "stub_def.h"
void vadd(__ubuf__ half* dst, __ubuf__ half* src0, __ubuf__ half* src1, uint64_t config);
void vadd(__ubuf__ float* dst, __ubuf__ float* src0, __ubuf__ float* src1, uint64_t config);
void vconv_f162f32(__ubuf__ float* dst, __ubuf__ half* src, uint64_t config);
void vconv_bf162f32(__ubuf__ float* dst, __ubuf__ bfloat16_t* src, uint64_t config);
void copy_gm_to_ubuf(__ubuf__ void* dst, __gm__ void* src, uint64_t config);

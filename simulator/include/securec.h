// SPDX-License-Identifier: Apache-2.0
// The bounds-checked memory functions that op_host sources call.
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef int errno_t;
#ifndef EOK
#define EOK 0
#endif
#ifndef EINVAL_AND_RESET
#define EINVAL_AND_RESET 150
#endif
#ifndef ERANGE_AND_RESET
#define ERANGE_AND_RESET 162
#endif

static inline errno_t memset_s(void* dest, size_t destMax, int c, size_t count) {
  if (dest == NULL) return EINVAL_AND_RESET;
  if (count > destMax) {
    memset(dest, c, destMax);
    return ERANGE_AND_RESET;
  }
  memset(dest, c, count);
  return EOK;
}

static inline errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count) {
  if (dest == NULL || (src == NULL && count > 0)) return EINVAL_AND_RESET;
  if (count > destMax) {
    memset(dest, 0, destMax);
    return ERANGE_AND_RESET;
  }
  if (count > 0) memmove(dest, src, count);
  return EOK;
}

static inline errno_t strcpy_s(char* dest, size_t destMax, const char* src) {
  if (dest == NULL || src == NULL || destMax == 0) return EINVAL_AND_RESET;
  size_t length = strlen(src);
  if (length >= destMax) {
    dest[0] = '\0';
    return ERANGE_AND_RESET;
  }
  memcpy(dest, src, length + 1);
  return EOK;
}

static inline errno_t strcat_s(char* dest, size_t destMax, const char* src) {
  if (dest == NULL || src == NULL || destMax == 0) return EINVAL_AND_RESET;
  size_t used = strnlen(dest, destMax);
  if (used + strlen(src) >= destMax) {
    dest[0] = '\0';
    return ERANGE_AND_RESET;
  }
  memcpy(dest + used, src, strlen(src) + 1);
  return EOK;
}

// -1, with an empty text in dest, if it does not fit.
__attribute__((format(printf, 3, 0))) static inline int vsprintf_s(char* dest, size_t destMax,
                                                                   const char* fmt, va_list args) {
  if (dest == NULL || destMax == 0) return -1;
  int length = vsnprintf(dest, destMax, fmt, args);
  if (length < 0 || (size_t)length >= destMax) {
    dest[0] = '\0';
    return -1;
  }
  return length;
}

__attribute__((format(printf, 3, 4))) static inline int sprintf_s(char* dest, size_t destMax,
                                                                  const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int length = vsprintf_s(dest, destMax, fmt, args);
  va_end(args);
  return length;
}

// The text is cut at `count` characters; -1 says so.
__attribute__((format(printf, 4, 0))) static inline int vsnprintf_s(char* dest, size_t destMax,
                                                                    size_t count, const char* fmt,
                                                                    va_list args) {
  if (dest == NULL || destMax == 0) return -1;
  if (count >= destMax) return vsprintf_s(dest, destMax, fmt, args);
  int length = vsnprintf(dest, count + 1, fmt, args);
  return length < 0 || (size_t)length > count ? -1 : length;
}

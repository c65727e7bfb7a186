// SPDX-License-Identifier: Apache-2.0
// Loaded before a program: the host as it would be with pages of 64 KB. The system calls refuse addresses that are no multiple of
// them, act on whole ones, and sysconf says so. What the C library maps for itself stays as it is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 64 << 10 };

static size_t Whole(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Refusals to the simulator are listed: those of a call whose result nobody looks at would not show.
static long Refuse(const char* call, const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "/toolkit/")) {
    dprintf(STDERR_FILENO, "no multiple of 64 KB: %s of %s\n", call, info.dli_fname);
  }
  errno = EINVAL;
  return -1;
}

void* mmap(void* address, size_t bytes, int rights, int flags, int file, off_t offset) {
  if ((uintptr_t)offset % kPage != 0 ||
      ((flags & MAP_FIXED) != 0 && (uintptr_t)address % kPage != 0)) {
    return (void*)Refuse(__func__, __builtin_return_address(0));
  }
  const size_t whole = Whole(bytes);
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0 || bytes == 0) {
    return (void*)syscall(SYS_mmap, address, whole, rights, flags, file, offset);
  }
  char* const room = (char*)syscall(SYS_mmap, NULL, whole + kPage, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    return MAP_FAILED;
  }
  char* const start = (char*)Whole((uintptr_t)room);
  if (start != room) {
    syscall(SYS_munmap, room, start - room);
  }
  syscall(SYS_munmap, start + whole, room + kPage - start);
  void* const made =
      (void*)syscall(SYS_mmap, start, whole, rights, flags | MAP_FIXED, file, offset);
  if (made == MAP_FAILED) {
    const int why = errno;
    syscall(SYS_munmap, start, whole);
    errno = why;
  }
  return made;
}

void* mmap64(void* address, size_t bytes, int rights, int flags, int file, off_t offset)
    __attribute__((alias("mmap")));

int munmap(void* address, size_t bytes) {
  if ((uintptr_t)address % kPage != 0) {
    return (int)Refuse(__func__, __builtin_return_address(0));
  }
  return (int)syscall(SYS_munmap, address, Whole(bytes));
}

int mprotect(void* address, size_t bytes, int rights) {
  if ((uintptr_t)address % kPage != 0) {
    return (int)Refuse(__func__, __builtin_return_address(0));
  }
  return (int)syscall(SYS_mprotect, address, Whole(bytes), rights);
}

int madvise(void* address, size_t bytes, int advice) {
  if ((uintptr_t)address % kPage != 0) {
    return (int)Refuse(__func__, __builtin_return_address(0));
  }
  return (int)syscall(SYS_madvise, address, Whole(bytes), advice);
}

void* mremap(void* old, size_t oldBytes, size_t newBytes, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : NULL;
  va_end(rest);
  if ((uintptr_t)old % kPage != 0 || (uintptr_t)to % kPage != 0) {
    return (void*)Refuse(__func__, __builtin_return_address(0));
  }
  return (void*)syscall(SYS_mremap, old, Whole(oldBytes), Whole(newBytes), flags, to);
}

long sysconf(int name) {
  if (name == _SC_PAGESIZE) {
    return kPage;
  }
  long (*const other)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return other(name);
}

int getpagesize(void) { return kPage; }

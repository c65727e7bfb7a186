// SPDX-License-Identifier: Apache-2.0
// switch [exchange|move A B]...: renames, one directly after the other; when one fails, those
// before it are undone. `exchange` swaps two names in one step, which mv of older coreutils cannot.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

namespace {

bool Rename(const char* how, const char* from, const char* to) {
  if (strcmp(how, "move") == 0) return rename(from, to) == 0;
  return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0;
}

}  // namespace

int main(int count, char** words) {
  constexpr int kWords = 3;
  for (int at = 1; at + kWords <= count; at += kWords) {
    if (Rename(words[at], words[at + 1], words[at + 2])) continue;
    perror(words[at + 2]);
    for (int back = at - kWords; back > 0; back -= kWords) {
      Rename(words[back], words[back + 2], words[back + 1]);
    }
    return 1;
  }
  return 0;
}

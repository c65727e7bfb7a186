// Prints the lines of addresses of a module: debug_lines MODULE, with the addresses on stdin.
#include "host/debug_lines.h"

#include <cstdio>
#include <iostream>

int main(int, char** words) {
  aclsim::DebugLines lines(words[1]);
  for (uint64_t at; std::cin >> std::hex >> at;) {
    printf("0x%llx\n", static_cast<unsigned long long>(at));
    for (const aclsim::CodeLine& line : lines.At(at)) {
      printf("%s:%d%s%s%s\n", line.file.c_str(), line.line, line.toolkit ? " toolkit" : "",
             line.standard ? " standard" : "", line.implicit ? " implicit" : "");
    }
  }
  printf("%s\n", lines.missing().c_str());
}

// SPDX-License-Identifier: Apache-2.0
// Lines of code addresses, read from the debug information of a module's file: DWARF 2 to 5, compressed or in a file of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace aclsim {

// One of the places that an address belongs to.
struct CodeLine {
  std::string file;
  int line = 0;
  // True if the file lies in an include folder of the toolkit that the code was compiled with: aclsim/toolkit_headers.h marks it.
  bool toolkit = false;
  // True if the file lies beside headers of the C++ standard library that the code was compiled with.
  bool standard = false;
  // True if the compiler wrote the function, as it does a destructor that the class does not have: its code has the line of the class.
  bool implicit = false;
};

// The debug information of one module. Bytes that are wrong or missing end the reading of a part, never the process.
class DebugLines {
 public:
  explicit DebugLines(const std::string& module);
  ~DebugLines();
  DebugLines(const DebugLines&) = delete;
  DebugLines& operator=(const DebugLines&) = delete;

  // The line of an address and those of the calls that were inlined around it, innermost first. The offset is from where the
  // module is loaded. Reads what it needs on the way: one thread at a time.
  std::vector<CodeLine> At(uint64_t offset);

  // The line of the head of the function that begins at an offset. Its first instruction may belong to a later line, if it needs no
  // prologue.
  std::vector<CodeLine> HeadAt(uint64_t offset);

  // The text says what keeps lines from being read and what to do, "build the kernel with -g"; empty where nothing does.
  const std::string& missing() const { return missing_; }

 private:
  struct Sections;
  struct Unit;
  class Reader;

  Unit* UnitOf(uint64_t address);

  std::unique_ptr<Sections> sections_;
  std::vector<Unit> units_;  // by their offsets
  std::string missing_;
};

}  // namespace aclsim

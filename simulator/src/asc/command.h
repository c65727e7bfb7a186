// SPDX-License-Identifier: Apache-2.0
// This reads a command line of ascc: words of a C++ compiler, and those of the device compiler that matter here.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "soc/soc.h"

namespace aclsim {

using Words = std::vector<std::string>;

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A command asks for these.
struct Command {
  std::string compiler;
  std::string arch = "dav-2201";
  std::string runMode = "npu";
  std::string output;
  std::string dependencies;  // file of -MF
  std::string target;        // of -MT
  std::string stage;         // -c, -E, -S, or empty: link
  bool frontEnd = false;
  bool deviceCode = false;
  bool cubeHalf = false;
  bool kernelCores = false;
  std::string calls;  // with it: the name of the table of calls into the half
  std::string
      assembly;  // with it: what the host's compiler has made of the source for that, see device_code.h
  std::string entry;  // with it: the kernel function that the operator's definition asks for
  bool depend = false;
  bool userHeadersOnly = false;  // -MMD
  bool launchesAsc = false;      // sources are .asc whatever their name
  bool optimised = false;
  bool standard = false;
  bool shared = false;
  Words macros;   // for preprocessing alone: folders of headers, too
  Words flags;    // for preprocessing and compiling
  Words linking;  // for linking alone, in order, objects among them
  Words sources;
};

// Reads a command line. UsageError for a word that lacks its value, has a wrong one or is not supported.
Command ParseCommand(Words words);

bool StartsWith(std::string_view text, std::string_view start);

// Architecture words of the device compiler. cube: for the cube cores of a split chip.
Words ArchitectureWords(uint32_t arch, bool cube);

// The first SoC of an architecture: dav-2201. UsageError for others.
const Soc& SocOfArchitecture(const std::string& name);

}  // namespace aclsim

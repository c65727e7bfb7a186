// SPDX-License-Identifier: Apache-2.0
// Headers that a program begins with, parsed once for all compiles with the same words: GCC's precompiled headers, kept in the user's
// cache where `aclgrad build` keeps its own. What cannot be kept is parsed as ever: by another compiler, or without a folder.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace aclsim {

// Returns the headers that a source includes before anything else but comments, as they stand there: "name" or <name>. What stands
// before them could change what they mean.
std::vector<std::string> LeadingHeaders(std::string_view text);

// A compile of some headers, in this order.
struct HeaderParse {
  std::vector<std::string> words;  // of the compiler, its name first
  std::vector<std::string> headers;
  std::string toolkitHeaders;  // the folder that has them
  // Writes a file; std::runtime_error if it cannot.
  std::function<void(const std::string& file, const std::string& text)> write;
};

// Returns the path of a file to include before all else, beside which its parsed form lies, or an empty text.
std::string ParsedHeader(const HeaderParse& parse);

// Returns the path of the parsed form.
inline std::string ParsedForm(const std::string& header) { return header + ".gch"; }

}  // namespace aclsim

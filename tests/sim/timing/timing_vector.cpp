// SPDX-License-Identifier: Apache-2.0
// The schedule of vector functions on its own: reads programs, prints the cycles of each. A line is
// "name bits result [source...]" with registers as words; "place number" goes on from there in the kernel, "end" ends a program.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <list>
#include <map>
#include <sstream>

#include "soc/overlay.h"
#include "timing/vector_schedule.h"

namespace aclsim {
const Overlay& BoardOverlay() {
  static const Overlay none;
  return none;
}
const std::vector<Soc>& AllSocs() {
  static const std::vector<Soc> none;
  return none;
}
std::string Format(const char* format, ...) { return format; }
}  // namespace aclsim

int main() {
  aclsim::VectorSchedule schedule(3510);
  std::list<std::string> names;  // where names stay
  std::map<std::string, int64_t> ready;
  size_t places = 0;  // of a program without loops
  schedule.Begin();
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name, result, source;
    int bits = 0;
    words >> name >> bits >> result;
    if (name == "place") {  // of the next instruction in the kernel
      places = static_cast<size_t>(bits);
      continue;
    }
    if (name == "end") {
      std::printf("%.0f", schedule.End());
      for (const std::string& unknown : schedule.TakeUnknown()) {
        std::printf(" %s", unknown.c_str());
      }
      std::printf("\n");
      ready.clear();
      schedule.Begin();
      places = 0;
      continue;
    }
    int64_t at = 0;
    while (words >> source) {
      at = std::max(at, ready[source]);
    }
    const auto known = std::find(names.begin(), names.end(), name);
    const std::string& kept = known != names.end() ? *known : names.emplace_back(name);
    const auto place = static_cast<uint32_t>(++places);
    ready[result] = schedule.Issue(
        kept.c_str(), bits == 16 ? aclsim::DType::kHalf : aclsim::DType::kFloat, at, place);
  }
  return 0;
}

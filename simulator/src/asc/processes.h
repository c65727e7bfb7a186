// SPDX-License-Identifier: Apache-2.0
// Commands that ascc runs, and the folder for what they make on the way.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace aclsim {

// Runs a command and returns its status, which is 0 when all is well. Its errors and its output go to files, if those are named.
// std::runtime_error where there can be no more processes.
int Execute(const std::vector<std::string>& words, const std::string& errors = {},
            const std::string& output = {});

// Temporary files. It goes on as the host's compiler does where TMPDIR is not there or cannot be written.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace aclsim

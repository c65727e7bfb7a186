// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdio>
#include <string>

namespace aclsim {

// A file of findings, of a profile or a trace, whose name comes from outside. It is a regular file, a character device or a
// pipe that somebody reads; nothing that another user has put into a folder that all may write to. Opening never waits, and a
// reader that goes away does not end the program.
class ReportFile {
 public:
  enum class Mode { kAppend, kReplace };

  ReportFile(const std::string& path, Mode mode);
  ~ReportFile() { Close(); }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  // Null when it could not be opened.
  std::FILE* get() const { return file_; }
  // Returns whether all has been written; else why() says what went wrong.
  bool Close();
  const std::string& why() const { return why_; }

 private:
  int Open(const std::string& path, Mode mode);

  std::FILE* file_ = nullptr;
  std::string why_;
  bool guarded_ = false;
  sigset_t before_{};
};

}  // namespace aclsim

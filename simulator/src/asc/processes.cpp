// SPDX-License-Identifier: Apache-2.0
#include "asc/processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace aclsim {

namespace fs = std::filesystem;

int Execute(const std::vector<std::string>& words, const std::string& errors,
            const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if ((!errors.empty() && std::freopen(errors.c_str(), "w", stderr) == nullptr) ||
        (!output.empty() && std::freopen(output.c_str(), "w", stdout) == nullptr)) {
      _exit(127);
    }
    execvp(arguments[0], arguments.data());
    std::fprintf(stderr, "ascc: %s: %s. Next: --host-compiler=g++ or CXX=g++\n", arguments[0],
                 std::strerror(errno));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TemporaryFolder::TemporaryFolder() {
  std::string tried;
  for (const char* place : {static_cast<const char*>(std::getenv("TMPDIR")), "/tmp", "/var/tmp"}) {
    if (place == nullptr || *place == '\0') {
      continue;
    }
    std::string name = (fs::absolute(place) / "ascc-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) {
      path_ = name;
      return;
    }
    tried += std::string(tried.empty() ? "" : ", ") + place + ": " + std::strerror(errno);
  }
  throw std::runtime_error("no temporary folder (" + tried +
                           "). Next: export TMPDIR=DIR with a folder that can be written");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
#include "host/report_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace aclsim {
namespace {

// Does what the kernel does for links in folders with the sticky bit, for all and everywhere.
bool IsPlanted(const std::string& path) {
  struct stat file{};
  struct stat folder{};
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (lstat(path.c_str(), &file) != 0 ||
      stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) {
    return false;
  }
  const bool own = file.st_uid == geteuid() || file.st_uid == folder.st_uid;
  return (folder.st_mode & S_IWOTH) != 0 && !own && !S_ISCHR(file.st_mode);
}

sigset_t PipeSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  return signals;
}

}  // namespace

ReportFile::ReportFile(const std::string& path, Mode mode) {
  const int descriptor = Open(path, mode);
  if (descriptor < 0) {
    return;
  }
  file_ = fdopen(descriptor, mode == Mode::kAppend ? "a" : "w");
  if (file_ == nullptr) {
    why_ = std::strerror(errno);
    close(descriptor);
    return;
  }
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGPIPE) == 0) {
    const sigset_t signals = PipeSignal();
    guarded_ = pthread_sigmask(SIG_BLOCK, &signals, &before_) == 0;
  }
}

int ReportFile::Open(const std::string& path, Mode mode) {
  if (IsPlanted(path)) {
    why_ = "another user has put it into a folder that all may write to";
    return -1;
  }
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_APPEND, 0666);
  if (descriptor < 0) {
    why_ = errno == ENXIO ? "is a pipe that nobody reads, or a socket" : std::strerror(errno);
    return -1;
  }
  struct stat file{};
  fstat(descriptor, &file);
  if (!S_ISREG(file.st_mode) && !S_ISCHR(file.st_mode) && !S_ISFIFO(file.st_mode)) {
    why_ = "is no regular file";
    close(descriptor);
    return -1;
  }
  if (S_ISREG(file.st_mode) && mode == Mode::kReplace && ftruncate(descriptor, 0) != 0) {
    why_ = std::strerror(errno);
    close(descriptor);
    return -1;
  }
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  return descriptor;
}

bool ReportFile::Close() {
  if (file_ != nullptr) {
    errno = 0;
    const bool failed = std::ferror(file_) != 0;
    if (std::fclose(file_) != 0 || failed) {
      why_ = std::string("not written: ") + std::strerror(errno != 0 ? errno : EIO);
    }
    file_ = nullptr;
  }
  if (guarded_) {
    guarded_ = false;
    const sigset_t signals = PipeSignal();
    const timespec none{};
    while (sigtimedwait(&signals, nullptr, &none) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  return why_.empty();
}

}  // namespace aclsim

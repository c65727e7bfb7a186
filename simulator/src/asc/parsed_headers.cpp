// SPDX-License-Identifier: Apache-2.0
#include "asc/parsed_headers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "asc/processes.h"

namespace aclsim {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Bytes of parsed headers in one cache, as aclgrad/building/compiler.py has it.
constexpr uintmax_t kLimit = 2'000'000'000;
// GCC begins its parsed forms so.
constexpr std::string_view kParsedByGcc = "gpch";

std::string ValueOf(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// Passes over blanks and comments; a spliced comment ends the file, which is right for what asks.
size_t BehindComments(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
    } else if (text.compare(at, 2, "//") == 0) {
      const size_t end = text.find('\n', at);
      at = end == std::string_view::npos || text[end - 1] == '\\' ? text.size() : end;
    } else if (text.compare(at, 2, "/*") == 0) {
      const size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      return at;
    }
  }
  return at;
}

size_t BehindBlanks(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(" \t", at), text.size());
}

// aclgrad/common/cache.py says which folder this is. One that others may write is none: what is in there is trusted.
fs::path Folder() {
  fs::path root = ValueOf("ACLGRAD_CACHE");
  if (root.empty()) {
    root = ValueOf("XDG_CACHE_HOME");
    root = root.is_absolute() ? root : fs::path(ValueOf("HOME")) / ".cache";
    root /= "aclgrad";
  }
  struct stat found{};
  std::error_code error;
  if (!root.is_absolute()) {
    return {};
  }
  const fs::path folder = root / "parsed";
  fs::create_directories(root.parent_path(), error);
  mkdir(root.c_str(), 0700);
  if (stat(root.c_str(), &found) != 0 || found.st_uid != geteuid() ||
      (found.st_mode & (S_IWOTH | (found.st_gid == getegid() ? 0U : S_IWGRP))) != 0) {
    return {};
  }
  fs::create_directory(folder, error);
  return fs::is_directory(folder, error) ? folder : fs::path();
}

// The file that a command's name stands for, past all links.
std::string Program(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) {
    return fs::canonical(name, error).string();
  }
  std::istringstream path(ValueOf("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    if (access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, error)) {
      return fs::canonical(file, error).string();
    }
  }
  return {};
}

// A file's size and times, or nothing if it is not there.
std::string StateOf(const std::string& file) {
  struct stat found{};
  if (stat(file.c_str(), &found) != 0) {
    return {};
  }
  std::ostringstream text;
  text << found.st_size << ' ' << found.st_mtim.tv_sec << '.' << found.st_mtim.tv_nsec << ' '
       << found.st_ctim.tv_sec << '.' << found.st_ctim.tv_nsec;
  return text.str();
}

std::string Read(const fs::path& name) {
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// A lock of one file, which ends with this object; others of this kind wait.
class FileLock {
 public:
  explicit FileLock(const fs::path& file)
      : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    held_ = file_ >= 0 && flock(file_, LOCK_EX) == 0;
  }
  ~FileLock() {
    if (file_ >= 0) {
      close(file_);
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool Held() const { return held_; }

 private:
  int file_;
  bool held_ = false;
};

class Parsed {
 public:
  Parsed(const HeaderParse& parse, fs::path folder, std::string compiler)
      : parse_(parse), compiler_(std::move(compiler)) {
    // The whole key stands in the file: no other text has its name.
    std::string key = "//";
    for (const std::string& word : parse.words) {
      key += ' ' + word;
    }
    for (const char* variable :
         {"CPATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"}) {
      key += ' ' + ValueOf(variable);
    }
    key += ' ' + parse.toolkitHeaders + ' ' + compiler_;
    std::replace(key.begin(), key.end(), '\n', ' ');
    text_ = key + " .\n";
    for (const std::string& header : parse.headers) {
      text_ += "#include " + header + "\n";
    }
    std::ostringstream name;
    name << "asc-" << std::hex << std::hash<std::string>()(text_) << ".h";
    header_ = std::move(folder) / name.str();
    form_ = ParsedForm(header_.string());
    inputs_ = form_ + ".inputs";
    used_ = form_ + ".used";
    refused_ = form_ + ".refused";
  }

  // Returns the path of the header once its parsed form is there.
  std::string Get() {
    if (!Fresh()) {
      if (const std::string state = StateOf(compiler_); state.empty() || Read(refused_) == state) {
        return {};
      }
      const FileLock lock(form_ + ".lock");
      if (!lock.Held() || (!Fresh() && !Make())) {
        return {};
      }
    }
    Keep(used_, "");
    return header_.string();
  }

 private:
  bool Keep(const fs::path& file, const std::string& text) const {
    try {
      parse_.write(file.string(), text);
    } catch (const std::runtime_error&) {
      return false;  // a full disk: the compile that follows says so, if it minds
    }
    return true;
  }

  bool Fresh() const {
    if (access(form_.c_str(), R_OK) != 0 || Read(header_) != text_) {
      return false;
    }
    std::ifstream lines(inputs_);
    bool any = false;
    for (std::string file, state; std::getline(lines, file) && std::getline(lines, state);) {
      if (StateOf(file) != state) {
        return false;
      }
      any = true;
    }
    return any;
  }

  bool Make() {
    DropUnused();
    const std::string part = form_ + "." + std::to_string(getpid()) + ".part";
    const std::string rule = part + ".d";
    timespec began{};
    clock_gettime(CLOCK_REALTIME, &began);
    Words words = parse_.words;
    words.insert(words.end(), {"-w", "-isystem", parse_.toolkitHeaders, "-MD", "-MF", rule, "-MT",
                               "all", "-x", "c++-header", header_.string(), "-o", part});
    std::error_code error;
    fs::remove(inputs_, error);
    // Errors are said again by the compile that includes the headers.
    bool made = Keep(header_, text_) && Execute(words, "/dev/null") == 0;
    if (made) {
      std::array<char, kParsedByGcc.size()> first{};
      std::ifstream(part, std::ios::binary).read(first.data(), first.size());
      made = std::string_view(first.data(), first.size()) == kParsedByGcc;
      // Another compiler behind a script would be asked in vain each time.
      if (!made) {
        Keep(refused_, StateOf(compiler_));
      }
    }
    if (made) {
      fs::rename(part, form_, error);
      made = !error && Keep(inputs_, Inputs(Read(rule), began.tv_sec));
    }
    fs::remove(part, error);
    fs::remove(rule, error);
    return made;
  }

  // Returns files that the form depends on, each with its state. Nothing if one has changed meanwhile.
  std::string Inputs(const std::string& rule, time_t began) const {
    std::istringstream words(rule);
    std::string list = compiler_ + "\n" + StateOf(compiler_) + "\n";
    std::string word;
    for (words >> word; words >> word;) {
      struct stat found{};
      if (word == "\\") {
        continue;
      }
      if (stat(word.c_str(), &found) != 0 || (found.st_mtime >= began && word != header_)) {
        return {};
      }
      list += word + "\n" + StateOf(word) + "\n";
    }
    return list;
  }

  // Forms that were used longest ago make room.
  void DropUnused() const {
    std::vector<std::tuple<fs::file_time_type, uintmax_t, fs::path>> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(header_.parent_path(), error)) {
      if (entry.path().extension() == ".gch") {
        const fs::path used = entry.path().string() + ".used";
        const auto time = fs::last_write_time(fs::exists(used, error) ? used : entry.path(), error);
        found.emplace_back(time, entry.file_size(error), entry.path());
      }
    }
    std::sort(found.rbegin(), found.rend());
    uintmax_t total = 0;
    for (const auto& [time, size, path] : found) {
      total += size;
      if (total > kLimit) {
        fs::remove(path, error);
        fs::remove(path.string() + ".used", error);
      }
    }
  }

  const HeaderParse& parse_;
  std::string compiler_;
  std::string text_;
  fs::path header_;
  std::string form_;
  std::string inputs_;
  std::string used_;
  std::string refused_;
};

}  // namespace

std::vector<std::string> LeadingHeaders(std::string_view text) {
  std::vector<std::string> found;
  for (size_t at = BehindComments(text, 0); at < text.size() && text[at] == '#';) {
    constexpr std::string_view kInclude = "include";
    at = BehindBlanks(text, at + 1);
    if (text.compare(at, kInclude.size(), kInclude) != 0) {
      break;
    }
    at = BehindBlanks(text, at + kInclude.size());
    const size_t line = std::min(text.find('\n', at), text.size());
    const char closing = at < line && text[at] == '<' ? '>' : '"';
    const size_t end = text.find(closing, at + 1);
    if (at >= line || (text[at] != '<' && text[at] != '"') || end >= line) {
      break;
    }
    found.emplace_back(text.substr(at, end + 1 - at));
    at = BehindComments(text, end + 1);
  }
  return found;
}

std::string ParsedHeader(const HeaderParse& parse) {
  if (parse.headers.empty()) {
    return {};
  }
  const std::string compiler = Program(parse.words.front());
  // Clang has other words for this, also behind ccache.
  const auto options = std::find_if(parse.words.begin(), parse.words.end(),
                                    [](const std::string& word) { return word[0] == '-'; });
  const bool clang = std::any_of(parse.words.begin(), options, [](const std::string& word) {
    return word.find("clang") != std::string::npos;
  });
  if (compiler.empty() || clang || compiler.find("clang") != std::string::npos) {
    return {};
  }
  const fs::path folder = Folder();
  return folder.empty() ? "" : Parsed(parse, folder, compiler).Get();
}

}  // namespace aclsim

// SPDX-License-Identifier: Apache-2.0
// Reads of GM, and of notes about it, that another core may write at that moment, as it may on hardware.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define ACLSIM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ACLSIM_THREAD_SANITIZER 1
#endif
#endif

#ifdef ACLSIM_THREAD_SANITIZER
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace aclsim {

// While one lives, ThreadSanitizer leaves out what the thread reads. A kernel that waits for a word which a copy of another core
// writes is legal and would end by its report; a kernel that races is named by the checkers of GM.
class SharedReads {
 public:
#ifdef ACLSIM_THREAD_SANITIZER
  SharedReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~SharedReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
#else
  SharedReads() {}
  ~SharedReads() {}
#endif
  SharedReads(const SharedReads&) = delete;
  SharedReads& operator=(const SharedReads&) = delete;
};

}  // namespace aclsim

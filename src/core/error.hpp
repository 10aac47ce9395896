// The one exception type of the library, and the check that throws it.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "kkc.h"

namespace kkc {

/// A refusal (status 1..99) or failure (100..) with a sentence for the caller.
class Error : public std::exception {
 public:
  Error(kkc_status_t status, std::string text) : status_(status), text_(std::move(text)) {}
  kkc_status_t status() const noexcept { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  kkc_status_t status_;
  std::string text_;
};

/// Joins values into one text: cat("rows is ", n, ", expected ", m).
template <class... Args>
std::string cat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

template <class... Args>
[[noreturn]] void fail(kkc_status_t status, const Args&... args) {
  throw Error(status, cat(args...));
}

template <class... Args>
void require(bool condition, kkc_status_t status, const Args&... args) {
  if (!condition) [[unlikely]]
    fail(status, args...);
}

}  // namespace kkc

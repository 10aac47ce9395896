// The library's only voice: KKC_LOG=level[:file], level one of off, error, info, debug. Silent without it.
#pragma once

#include "error.hpp"

namespace kkc {

enum class LogLevel { off = 0, error = 1, info = 2, debug = 3 };

bool logs(LogLevel level) noexcept;
void log_line(LogLevel level, const std::string& text) noexcept;

template <class... Args>
void log(LogLevel level, const Args&... args) {
  if (logs(level)) log_line(level, cat(args...));
}

}  // namespace kkc

#include "log.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace kkc {
namespace {

struct Sink {
  LogLevel level = LogLevel::off;
  std::FILE* file = stderr;
};

const Sink& sink() {
  static const Sink made = [] {
    Sink s;
    const char* setting = std::getenv("KKC_LOG");
    if (setting == nullptr) return s;
    const std::string_view text(setting);
    const size_t colon = text.find(':');
    const std::string_view level = text.substr(0, colon);
    if (level == "error") s.level = LogLevel::error;
    if (level == "info") s.level = LogLevel::info;
    if (level == "debug") s.level = LogLevel::debug;
    if (colon != std::string_view::npos) {
      s.file = std::fopen(std::string(text.substr(colon + 1)).c_str(), "a");
      if (s.file == nullptr) s.level = LogLevel::off;
    }
    return s;
  }();
  return made;
}

}  // namespace

bool logs(LogLevel level) noexcept { return level <= sink().level; }

void log_line(LogLevel level, const std::string& text) noexcept {
  static std::mutex mutex;
  static constexpr const char* names[] = {"off", "error", "info", "debug"};
  std::lock_guard lock(mutex);
  std::fprintf(sink().file, "kkc %s: %s\n", names[static_cast<int>(level)], text.c_str());
  std::fflush(sink().file);
}

}  // namespace kkc

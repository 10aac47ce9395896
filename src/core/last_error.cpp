#include "last_error.hpp"

#include <cstdio>

namespace kkc {
namespace {
thread_local char sentence[2048] = "";
}

void remember_error(const char* text) noexcept { std::snprintf(sentence, sizeof sentence, "%s", text); }

const char* last_error() noexcept { return sentence; }

}  // namespace kkc

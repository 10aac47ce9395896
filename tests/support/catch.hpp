// Catch2 2 and 3 behind one include.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace kkc_test {
namespace command_line = Catch::Clara;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
}  // namespace kkc_test
#else
#include <catch2/catch.hpp>
namespace kkc_test {
using Catch::Detail::Approx;
inline auto ContainsSubstring(const std::string& text) { return Catch::Contains(text); }
}  // namespace kkc_test
#ifdef CATCH_CONFIG_RUNNER
namespace kkc_test {
namespace command_line = Catch::clara;
}
#endif
#endif

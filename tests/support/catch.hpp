// Catch2 2 and 3 behind one include.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace kkc_test {
namespace command_line = Catch::Clara;
}
#else
#include <catch2/catch.hpp>
#ifdef CATCH_CONFIG_RUNNER
namespace kkc_test {
namespace command_line = Catch::clara;
}
#endif
#endif

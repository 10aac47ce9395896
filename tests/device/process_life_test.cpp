// How a device behaves over the life of a process: each case in a process of its own, which must print nothing.
#include <cstdlib>

#include "support/catch.hpp"
#include "support/devices.hpp"
#include "support/program.hpp"

namespace {

using namespace kkc_test;

void run_quietly(const std::string& mode) {
  // LeakSanitizer says so when it cannot stop a thread that is about to end.
  const char* set = std::getenv("ASAN_OPTIONS");
  const std::string options = (set != nullptr ? std::string(set) + ":" : "") + "detect_leaks=0";
  for (const kkc_device_t device : devices()) {
    const Outcome outcome = run_program(
        {(program_folder() / "device_probe").string(), mode, library_path().string(), std::to_string(device)},
        {{"ASAN_OPTIONS", options}});
    INFO("device " << name(device) << ": " << outcome.output);
    if (outcome.status == 77) continue;
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
  }
}

}  // namespace

TEST_CASE("libkkc can be closed and opened again after use", "[device]") { run_quietly("twice"); }

TEST_CASE("a child of fork is refused and ends quietly", "[device]") { run_quietly("fork"); }

TEST_CASE("the first use may come from inside a parallel region", "[device]") { run_quietly("parallel"); }

TEST_CASE("objects may be alive at exit", "[device]") { run_quietly("leave_open"); }

// Work is dealt to the threads that a context has: a team that the run-time made smaller would leave some undone.
TEST_CASE("the OpenMP run-time may be told to give fewer threads than asked for", "[device]") {
  for (const kkc_device_t device : devices()) {
    if (device != KKC_DEVICE_OPENMP) continue;
    for (const auto& [key, value] : {std::pair{"OMP_DYNAMIC", "true"}, std::pair{"OMP_MAX_ACTIVE_LEVELS", "0"},
                                     std::pair{"OMP_THREAD_LIMIT", "1"}, std::pair{"OMP_THREAD_LIMIT", "2"}}) {
      const Outcome outcome =
          run_program({std::filesystem::read_symlink("/proc/self/exe").string(), "--device", "openmp",
                       "sptrsv: a row without a diagonal*,sptrsv: a zero on the diagonal*,*missing diagonal entries*"},
                      {{"OMP_NUM_THREADS", "3"}, {key, value}});
      INFO(key << '=' << value << '\n' << outcome.output);
      CHECK(outcome.status == 0);
    }
  }
}

// Runs a test program: Catch2's options, and --device and --seed.
#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

#include <iostream>
#include <random>
#include <sstream>

#include "support/devices.hpp"

namespace kkc_test {
namespace {

std::vector<kkc_device_t> chosen_devices;
uint64_t chosen_seed = 0;

int32_t count_of(kkc_device_t device) {
  int32_t count = 0;
  return kkc_device_count(device, &count) == KKC_STATUS_SUCCESS ? count : 0;
}

/// False when a device is unknown or not present.
bool choose(const std::string& names) {
  for (const kkc_device_t device : {KKC_DEVICE_SERIAL, KKC_DEVICE_OPENMP, KKC_DEVICE_CUDA, KKC_DEVICE_HIP})
    if (names.empty() && count_of(device) > 0) chosen_devices.push_back(device);
  std::istringstream list(names);
  for (std::string one; std::getline(list, one, ',');) {
    kkc_device_t found = 0;
    for (const kkc_device_t device : {KKC_DEVICE_SERIAL, KKC_DEVICE_OPENMP, KKC_DEVICE_CUDA, KKC_DEVICE_HIP})
      if (one == name(device)) found = device;
    if (found == 0 || count_of(found) == 0) {
      std::cerr << "--device: " << one
                << (found == 0 ? " is not one of serial, openmp, cuda, hip\n" : " is not present\n");
      return false;
    }
    chosen_devices.push_back(found);
  }
  return true;
}

}  // namespace

const std::vector<kkc_device_t>& devices() { return chosen_devices; }
uint64_t seed() { return chosen_seed; }

const char* name(kkc_device_t device) {
  switch (device) {
    case KKC_DEVICE_SERIAL: return "serial";
    case KKC_DEVICE_OPENMP: return "openmp";
    case KKC_DEVICE_CUDA: return "cuda";
    case KKC_DEVICE_HIP: return "hip";
    default: return "unknown";
  }
}

}  // namespace kkc_test

int main(int argc, char* argv[]) {
  using kkc_test::command_line::Opt;
  Catch::Session session;
  std::string devices;
  uint64_t seed = std::random_device{}();
  session.cli(session.cli() |
              Opt(devices, "serial,openmp,cuda,hip")["--device"]("devices to test (default: every one present)") |
              Opt(seed, "number")["--seed"]("seed of the random cases"));
  if (const int code = session.applyCommandLine(argc, argv); code != 0) return code;
  if (!kkc_test::choose(devices)) return 2;
  kkc_test::chosen_seed = seed;
  // Listings are read by programs, so nothing else may be printed with them.
  if (session.config().showHelp() || argc == 1 || std::string(argv[1]).rfind("--list", 0) != 0) {
    std::cout << "seed " << seed << ", devices";
    for (const kkc_device_t device : kkc_test::devices()) std::cout << ' ' << kkc_test::name(device);
    std::cout << std::endl;
  }
  return session.run();
}

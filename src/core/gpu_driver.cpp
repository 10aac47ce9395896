#include "gpu_driver.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "error.hpp"
#include "process.hpp"

namespace kkc {
namespace {

template <class F>
F driver_function(void* driver, const char* name) {
  void* found = dlsym(driver, name);
  require(found != nullptr, KKC_STATUS_DEVICE_UNAVAILABLE, "libcuda.so.1 has no ", name,
          "; it is not a usable CUDA driver");
  return reinterpret_cast<F>(found);
}

// From cuda.h.
constexpr int cuda_no_device = 100;
constexpr int cuda_attribute_major = 75;
constexpr int cuda_attribute_minor = 76;

std::vector<std::string> cuda_architectures() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  require(driver != nullptr, KKC_STATUS_DEVICE_UNAVAILABLE, "there is no CUDA driver (libcuda.so.1)");
  const auto init = driver_function<int (*)(unsigned)>(driver, "cuInit");
  const auto device_count = driver_function<int (*)(int*)>(driver, "cuDeviceGetCount");
  const auto device_get = driver_function<int (*)(int*, int)>(driver, "cuDeviceGet");
  const auto attribute = driver_function<int (*)(int*, int, int)>(driver, "cuDeviceGetAttribute");

  note_device_use();
  const int started = init(0);
  require(started != cuda_no_device, KKC_STATUS_DEVICE_UNAVAILABLE, "the CUDA driver shows no GPU");
  require(started == 0, KKC_STATUS_DEVICE_UNAVAILABLE, "the CUDA driver does not start (cuInit gives ", started, ")");
  int count = 0;
  require(device_count(&count) == 0 && count > 0, KKC_STATUS_DEVICE_UNAVAILABLE, "the CUDA driver shows no GPU");
  std::vector<std::string> architectures;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0, major = 0, minor = 0;
    const bool known = device_get(&device, ordinal) == 0 && attribute(&major, cuda_attribute_major, device) == 0 &&
                       attribute(&minor, cuda_attribute_minor, device) == 0;
    architectures.push_back(known ? cat("sm_", major, minor) : "unknown");
  }
  return architectures;
}

// The kernel driver lists its nodes as files; processors are nodes with version 0.
std::vector<std::string> hip_architectures() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path nodes = "/sys/class/kfd/kfd/topology/nodes";
  require(fs::is_directory(nodes, none), KKC_STATUS_DEVICE_UNAVAILABLE, "there is no AMD GPU driver (amdkfd)");
  std::vector<std::pair<int, std::string>> found;
  for (const auto& node : fs::directory_iterator(nodes, none)) {
    std::ifstream properties(node.path() / "properties");
    std::string key;
    long long value = 0;
    while (properties >> key >> value)
      if (key == "gfx_target_version" && value > 0) {
        char text[64];
        std::snprintf(text, sizeof text, "gfx%lld%lld%llx", value / 10000, value / 100 % 100, value % 100);
        found.emplace_back(std::atoi(node.path().filename().c_str()), text);
      }
  }
  require(!found.empty(), KKC_STATUS_DEVICE_UNAVAILABLE, "the AMD GPU driver shows no GPU");
  std::sort(found.begin(), found.end());
  std::vector<std::string> architectures;
  for (auto& [node, architecture] : found) architectures.push_back(std::move(architecture));
  return architectures;
}

}  // namespace

std::vector<std::string> gpu_architectures(Device device) {
  return device == Device::cuda ? cuda_architectures() : hip_architectures();
}

bool runs_on(Device device, const std::string& module, const std::string& gpu) {
  if (device == Device::hip) return module == gpu;
  // Machine code runs on its own major version, from its minor version on.
  const int code = std::atoi(module.c_str() + 2),
            capability = gpu.rfind("sm_", 0) == 0 ? std::atoi(gpu.c_str() + 3) : 0;
  return code / 10 == capability / 10 && code <= capability;
}

}  // namespace kkc

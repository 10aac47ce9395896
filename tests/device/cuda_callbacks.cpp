#include "cuda_callbacks.hpp"

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <mutex>

namespace kkc_test {
namespace {

std::mutex mutex;
std::vector<std::string> names;
std::atomic<bool> watching{false};

bool starts(const std::string& text, const char* head) { return text.rfind(head, 0) == 0; }
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// What execute must not do.
bool is_forbidden(const std::string& name) {
  if (contains(name, "Synchronize")) return true;
  for (const char* head : {"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaHostRegister", "cuMemAlloc", "cuMemFree",
                           "cuMemHostAlloc", "cuMemHostRegister", "cuMemCreate", "cuMemPoolTrim", "cuModuleLoad",
                           "cuLibraryLoad", "cuStreamCreate", "cuStreamDestroy", "cuEventCreate", "cuMemMap"})
    if (starts(name, head)) return true;
  for (const char* head : {"cudaMemcpy", "cudaMemset", "cuMemcpy", "cuMemset"})
    if (starts(name, head)) return !contains(name, "Async");
  return false;
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto* info = static_cast<const CUpti_CallbackData*>(data);
  if (!watching || info->callbackSite != CUPTI_API_ENTER || info->functionName == nullptr) return;
  const std::string name = info->functionName;
  if (!is_forbidden(name)) return;
  std::lock_guard lock(mutex);
  names.push_back(name);
}

}  // namespace

bool open_callbacks() {
  namespace fs = std::filesystem;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  void* cupti = nullptr;
  for (const char* file : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
    for (const std::string& path : {(here / "../../modules" / file).string(), std::string(file)})
      if (cupti == nullptr) cupti = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (cupti == nullptr) return false;
  const auto subscribe = reinterpret_cast<decltype(&cuptiSubscribe)>(dlsym(cupti, "cuptiSubscribe"));
  const auto enable = reinterpret_cast<decltype(&cuptiEnableDomain)>(dlsym(cupti, "cuptiEnableDomain"));
  if (subscribe == nullptr || enable == nullptr) return false;
  CUpti_SubscriberHandle subscriber = nullptr;
  return subscribe(&subscriber, &on_call, nullptr) == CUPTI_SUCCESS &&
         enable(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) == CUPTI_SUCCESS &&
         enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS;
}

void watch_calls() {
  std::lock_guard lock(mutex);
  names.clear();
  watching = true;
}

std::vector<std::string> watched_calls() {
  watching = false;
  std::lock_guard lock(mutex);
  return names;
}

}  // namespace kkc_test

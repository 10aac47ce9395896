#include "module_loader.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "core/build_config.hpp"
#include "gpu_driver.hpp"
#include "log.hpp"
#include "module.hpp"
#include "process.hpp"

namespace kkc {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  fs::path file;
  std::string architecture;  // "sm90", "gfx90a"
};

/// KKC_MODULE_PATH, then libkkc's own folder, and the folder that its glibc-hwcaps level belongs to.
std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  if (const char* path = std::getenv("KKC_MODULE_PATH")) {
    const std::string list = path;
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(':', begin), list.size());
      if (end > begin) folders.emplace_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&load_module), &self) != 0 && self.dli_fname != nullptr) {
    std::error_code none;
    const fs::path folder = fs::absolute(self.dli_fname, none).parent_path();
    folders.push_back(folder);
    if (folder.parent_path().filename() == "glibc-hwcaps") folders.push_back(folder.parent_path().parent_path());
  }
  return folders;
}

std::string prefix(Device device) { return device == Device::cuda ? "libkkc_cuda_" : "libkkc_hip_"; }

bool is_architecture(Device device, const std::string& text) {
  const std::string lead = device == Device::cuda ? "sm" : "gfx";
  return text.size() > lead.size() && text.compare(0, lead.size(), lead) == 0 &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(lead.size()), text.end(), [&](unsigned char c) {
           return device == Device::cuda ? std::isdigit(c) != 0 : std::isxdigit(c) != 0;
         });
}

std::vector<Candidate> find_candidates(Device device, const std::vector<fs::path>& folders) {
  const std::string begin = prefix(device), end = ".so";
  std::vector<Candidate> candidates;
  for (const fs::path& folder : folders) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      const std::string file = entry.path().filename().string();
      if (file.size() <= begin.size() + end.size() || file.compare(0, begin.size(), begin) != 0 ||
          file.compare(file.size() - end.size(), end.size(), end) != 0)
        continue;
      const std::string architecture = file.substr(begin.size(), file.size() - begin.size() - end.size());
      if (is_architecture(device, architecture)) candidates.push_back({entry.path(), architecture});
    }
  }
  // Highest architecture first; folders keep their order.
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.architecture.size() != b.architecture.size() ? a.architecture.size() > b.architecture.size()
                                                          : a.architecture > b.architecture;
  });
  return candidates;
}

const CoreTable core_table = {&in_forked_child};

Backend& open_module(const Candidate& candidate) {
  void* library = dlopen(candidate.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    fail(KKC_STATUS_DEVICE_UNAVAILABLE, candidate.file.string(),
         " cannot be opened: ", why == nullptr ? "unknown reason" : why);
  }
  void* symbol = dlsym(library, module_entry_name);
  require(symbol != nullptr, KKC_STATUS_DEVICE_UNAVAILABLE, candidate.file.string(),
          " is not a module of kkc: it has no ", module_entry_name);
  Backend* backend = nullptr;
  char text[1024] = "";
  const kkc_status_t status = reinterpret_cast<ModuleEntry>(symbol)(build_id, &core_table, &backend, text, sizeof text);
  require(status == KKC_STATUS_SUCCESS && backend != nullptr, KKC_STATUS_DEVICE_UNAVAILABLE, candidate.file.string(),
          ": ", text);
  return *backend;
}

template <class List, class Text>
std::string join(const List& list, const Text& text) {
  std::string joined;
  for (const auto& item : list) joined += cat(joined.empty() ? "" : ", ", text(item));
  return joined;
}

Backend& find_module(Device device) {
  require(!in_forked_child(), KKC_STATUS_WRONG_STATE, "device ", name(device),
          " cannot be used in a child of fork whose parent had used a device");
  const std::vector<fs::path> folders = module_folders();
  const std::vector<Candidate> candidates = find_candidates(device, folders);
  require(!candidates.empty(), KKC_STATUS_DEVICE_UNAVAILABLE, "device ", name(device),
          " is unavailable: there is no module ", prefix(device), device == Device::cuda ? "sm<NN>.so" : "gfx<NNN>.so",
          " in ", join(folders, [](const fs::path& folder) { return folder.string(); }),
          " (KKC_MODULE_PATH adds folders)");
  const auto files = [&] { return join(candidates, [](const Candidate& c) { return c.file.string(); }); };
  std::vector<std::string> gpus;
  try {
    gpus = gpu_architectures(device);
  } catch (const Error& error) {
    fail(error.status(), "device ", name(device), " is unavailable for ", files(), ": ", error.what());
  }

  std::string reasons;
  for (const Candidate& candidate : candidates) {
    if (!std::any_of(gpus.begin(), gpus.end(),
                     [&](const std::string& gpu) { return runs_on(device, candidate.architecture, gpu); })) {
      reasons += cat("; ", candidate.file.string(), " is for architecture ", candidate.architecture,
                     ", the driver shows ", join(gpus, [](const std::string& gpu) { return gpu; }));
      continue;
    }
    try {
      Backend& backend = open_module(candidate);
      log(LogLevel::info, "module ", candidate.file.string(), " serves ", backend.count(), " of ", gpus.size(),
          " GPUs");
      return backend;
    } catch (const Error& error) {
      reasons += cat("; ", error.what());
    }
  }
  fail(KKC_STATUS_DEVICE_UNAVAILABLE, "device ", name(device), " is unavailable: ", reasons.substr(2));
}

}  // namespace

Backend& load_module(Device device) {
  struct Slot {
    std::mutex mutex;
    Backend* backend = nullptr;
  };
  // Never destroyed: calls may come from other libraries' exit handlers.
  static auto* slots = new Slot[2];
  Slot& slot = slots[device == Device::cuda ? 0 : 1];
  std::lock_guard lock(slot.mutex);
  if (slot.backend == nullptr) {
    try {
      slot.backend = &find_module(device);
    } catch (const Error& error) {
      log(LogLevel::info, error.what());
      throw;
    }
  }
  return *slot.backend;
}

}  // namespace kkc

#include "bench_session.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kkc::bench {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::string format(const char* pattern, ...) {
  char text[512];
  va_list args;
  va_start(args, pattern);
  std::vsnprintf(text, sizeof text, pattern, args);
  va_end(args);
  return text;
}

bool named(const std::string& list, const std::string& name) {
  if (list == "all") return true;
  std::istringstream names(list);
  for (std::string one; std::getline(names, one, ',');)
    if (one == name) return true;
  return false;
}

/// The build's list says "name:kind,...", found or not; kind is host or the GPU whose work the peer does.
std::vector<PeerSlot> find_peers(const Arguments& arguments) {
  const auto asked = [&](const std::string& kind) {
    for (const auto& device : arguments.devices)
      if (kind == (on_gpu(device_of(device)) ? device : "host")) return true;
    return false;
  };
  std::vector<PeerSlot> slots;
  std::istringstream known(KKC_BENCH_PEERS);
  for (std::string item; std::getline(known, item, ',');) {
    const std::string name = item.substr(0, item.find(':')), kind = item.substr(item.find(':') + 1);
    if (!asked(kind)) continue;
    PeerSlot slot{name, nullptr, ""};
    if (!named(arguments.peers, name)) {
      slot.why_not = "not asked for";
    } else if (void* module = open_module("kkc_bench_" + name + ".so", slot.why_not)) {
      using Open = Peer* (*)();
      const auto open = reinterpret_cast<Open>(dlsym(module, "kkc_bench_peer"));
      try {
        if (open == nullptr) throw std::runtime_error("its module has no entry");
        slot.peer.reset(open());
      } catch (const std::exception& error) {
        slot.why_not = error.what();
      }
    }
    slots.push_back(std::move(slot));
  }
  return slots;
}

int64_t least_array(const Machine& machine) { return std::max(int64_t{512} << 20, 4 * machine.last_level_cache); }

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

}  // namespace

void* open_module(const std::string& file, std::string& why_not) {
  const fs::path path = program_folder() / "kkc_bench.d" / file;
  if (!fs::exists(path)) {
    why_not = "not in this build";
    return nullptr;
  }
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) why_not = dlerror();
  return module;
}

Session::Session(const Arguments& arguments)
    : arguments_(arguments), machine_(this_machine()), peers_(find_peers(arguments)) {
  document_["kkc_bench"] = 1;
  document_["operation"] = arguments.operation;
  document_["date"] = today();
  document_["command"] = arguments.command;
  const int32_t version = kkc_version();
  document_["kkc"] = format("%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
  document_["machine"] = {
      {"cpu", machine_.cpu}, {"cores", machine_.cores}, {"last_level_cache", machine_.last_level_cache}};
  auto& listed = document_["peers"] = Json::object();
  for (const auto& slot : peers_) listed[slot.name] = slot.peer ? slot.peer->version() : "left out: " + slot.why_not;
  document_["devices"] = Json::array();
  document_["cases"] = Json::array();
}

Gpu& Session::gpu(kkc_device_t device) {
  if (gpu_) return *gpu_;
  const std::string file = device == KKC_DEVICE_CUDA ? "kkc_bench_cuda.so" : "kkc_bench_hip.so";
  std::string why_not;
  void* module = open_module(file, why_not);
  if (module == nullptr) throw std::runtime_error("cannot time GPU work: " + file + ": " + why_not);
  const auto open = reinterpret_cast<OpenGpu>(dlsym(module, "kkc_bench_gpu"));
  if (open == nullptr) throw std::runtime_error(file + " has no entry");
  gpu_.reset(open(0));
  return *gpu_;
}

Bench& Session::bench(kkc_device_t device, int32_t threads) {
  const auto key = std::make_pair(device, threads);
  if (const auto found = benches_.find(key); found != benches_.end()) return found->second;
  Bench bench;
  auto options = make<Options>("kkc_options_create", kkc_options_create);
  if (device == KKC_DEVICE_OPENMP) check(kkc_options_set_int(options.get(), "threads", threads), "kkc_options_set_int");
  bench.ctx = make<Context>("kkc_context_create", kkc_context_create, device, 0, nullptr, options.get());
  Json entry = Json::object();
  entry["device"] = device_name(device);
  if (on_gpu(device)) {
    Gpu& board = gpu(device);
    bench.timer = &board;
    bench.stream = board.stream();
    bench.last_level_cache = board.last_level_cache();
    check(kkc_context_set_stream(bench.ctx.get(), bench.stream), "kkc_context_set_stream");
    bench.bandwidth = board.bandwidth();
    entry["name"] = board.name();
    entry["runtime"] = board.runtime();
    print(board.name() + ", " + board.runtime());
  } else {
    bench.timer = &host_timer_;
    bench.last_level_cache = machine_.last_level_cache;
    // A quick look does not wait for gigabytes.
    constexpr int64_t small_array = int64_t{64} << 20;
    bench.bandwidth = host_bandwidth(threads, arguments_.size == "small" ? small_array : least_array(machine_));
    entry["name"] = machine_.cpu;
    entry["threads"] = threads;
    print(machine_.cpu + format(", %d of %d cores", threads, machine_.cores));
  }
  entry["last_level_cache"] = bench.last_level_cache;
  entry["read_gbs"] = bench.bandwidth.read;
  entry["copy_gbs"] = bench.bandwidth.copy;
  entry["triad_gbs"] = bench.bandwidth.triad;
  const char* info = nullptr;
  if (kkc_context_info(bench.ctx.get(), &info) == KKC_STATUS_SUCCESS)
    entry["context"] = Json::parse(info, nullptr, false);
  document_["devices"].push_back(entry);
  print(format("read %.1f, copy %.1f, triad %.1f GB/s", bench.bandwidth.read, bench.bandwidth.copy,
               bench.bandwidth.triad));
  return benches_.emplace(key, std::move(bench)).first->second;
}

std::vector<Peer*> Session::peers(kkc_device_t device) {
  std::vector<Peer*> serving;
  for (auto& slot : peers_)
    if (slot.peer && slot.peer->serves(device)) serving.push_back(slot.peer.get());
  return serving;
}

int32_t Session::threads_on(kkc_device_t device, int32_t asked) const {
  if (on_gpu(device)) return 0;
  if (device == KKC_DEVICE_SERIAL) return 1;
  return asked > 0 ? asked : machine_.cores;
}

double Session::batch_seconds(kkc_device_t device) const {
  if (arguments_.batch_seconds > 0.0) return arguments_.batch_seconds;
  return on_gpu(device) ? 0.005 : 0.02;
}

int Session::copies(const Bench& bench, int64_t bytes) const {
  constexpr int64_t most = 64;
  const int64_t wanted = 4 * bench.last_level_cache;
  if (bytes >= wanted) return 1;
  const int64_t count = (wanted + bytes - 1) / std::max<int64_t>(bytes, 1);
  return count <= most ? static_cast<int>(count) : 0;
}

void Session::attempt(const std::string& what, const std::function<void()>& work) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  if (arguments_.limit > 0.0 && passed.count() > arguments_.limit) {
    document_["not_run"].push_back(what);
    return;
  }
  const size_t before = document_["cases"].size();
  try {
    work();
  } catch (const std::exception& error) {
    ++failures_;
    auto& cases = document_["cases"];
    while (cases.size() > before) cases.erase(cases.size() - 1);
    document_["failed"][what] = error.what();
    print(what + ": " + error.what());
  }
}

void Session::print(const std::string& line) {
  std::FILE* out = arguments_.json == "-" ? stderr : stdout;
  std::fprintf(out, "%s\n", line.c_str());
  std::fflush(out);
}

void Session::write() {
  if (arguments_.json.empty()) return;
  const std::string text = document_.dump(1);
  if (arguments_.json == "-") {
    std::puts(text.c_str());
    return;
  }
  std::ofstream file(arguments_.json);
  file << text << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + arguments_.json);
}

Json plan_info(kkc_plan_t* plan) {
  const char* text = nullptr;
  check(kkc_plan_info(plan, &text), "kkc_plan_info");
  return Json::parse(text, nullptr, false);
}

void report(Session& session, const Bench& bench, Json& entry, const std::string& title,
            const std::vector<Measured>& measured, double bytes, double flops, bool in_cache) {
  entry["bytes"] = bytes;
  entry["flops"] = flops;
  entry["in_cache"] = in_cache;
  entry["contenders"] = Json::array();
  entry["ratios"] = Json::array();
  Json& contenders = entry["contenders"];  // not before the last key is there: adding one moves the others
  Json& ratios = entry["ratios"];
  session.print("\n" + title + (in_cache ? " (in cache: no bandwidth claimed)" : ""));
  std::string head = format("      %-36s %10s %8s %8s %8s %10s", "", "ms", "GB/s", "of copy", "GFLOP/s", "set-up ms");
  for (size_t k = 0; k < measured.size(); ++k)
    if (measured[k].is_kkc) head += format("  %-18s", format("time over [%zu]'s", k + 1).c_str());
  session.print(head);
  for (size_t k = 0; k < measured.size(); ++k) {
    const Measured& one = measured[k];
    const Quartiles time = quartiles(one.rounds);
    Json row{{"name", one.name},
             {"kkc", one.is_kkc},
             {"keeps_values", one.keeps_values},
             {"setup_seconds", one.setup_seconds},
             {"seconds", {{"median", time.median}, {"lower", time.lower}, {"upper", time.upper}, {"best", time.best}}},
             {"error", one.error}};
    row.update(one.details);
    std::string line = format("  [%zu] %-36s %10.4f", k + 1, one.name.c_str(), time.median * 1e3);
    if (!in_cache && bytes > 0.0) {
      const double rate = bytes / time.median * 1e-9;
      row["gbs"] = rate;
      row["share_of_copy"] = rate / bench.bandwidth.copy;
      row["share_of_read"] = rate / bench.bandwidth.read;
      line += format(" %8.1f %7.1f%%", rate, 100.0 * rate / bench.bandwidth.copy);
    } else {
      line += format(" %8s %8s", "", "");
    }
    row["gflops"] = flops / time.median * 1e-9;
    line += format(" %8.2f %10.3f", flops / time.median * 1e-9, one.setup_seconds * 1e3);
    for (const auto& ours : measured) {
      if (!ours.is_kkc) continue;
      const Quartiles times = ratio(one.rounds, ours.rounds);
      if (&one != &ours)
        ratios.push_back({{"kkc", ours.name},
                          {"other", one.name},
                          {"other_is_kkc", one.is_kkc},
                          {"median", times.median},
                          {"lower", times.lower},
                          {"upper", times.upper}});
      line += format("  %5.2f [%.2f %.2f]", times.median, times.lower, times.upper);
    }
    contenders.push_back(std::move(row));
    session.print(line);
  }
}

}  // namespace kkc::bench

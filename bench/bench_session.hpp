// One run of the program: its machine, its peers, its document. Operations add cases to it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_case.hpp"
#include "bench_gpu.hpp"
#include "bench_handles.hpp"
#include "bench_machine.hpp"
#include "bench_timing.hpp"
#include "peers/peer.hpp"

namespace kkc::bench {

using Json = nlohmann::ordered_json;

/// A loadable file beside the program, kept open to the end.
void* open_module(const std::string& file, std::string& why_not);

/// A peer, or why there is none.
struct PeerSlot {
  std::string name;
  std::shared_ptr<Peer> peer;
  std::string why_not;
};

/// A device made ready: context, clock, bandwidth, all kept for the following cases.
struct Bench {
  Context ctx;
  Timer* timer = nullptr;
  void* stream = nullptr;
  int64_t last_level_cache = 0;
  Bandwidth bandwidth;
};

class Session {
 public:
  explicit Session(const Arguments& arguments);

  const Arguments& arguments() const { return arguments_; }
  const Machine& machine() const { return machine_; }

  /// The device with this many threads; opened and its bandwidth measured on first use.
  Bench& bench(kkc_device_t device, int32_t threads);

  /// Those that --peers names and that serve the device. The others' reasons are in the document.
  std::vector<Peer*> peers(kkc_device_t device);

  /// Threads that --threads means on this device: 0 becomes every usable core; serial 1; GPUs 0.
  int32_t threads_on(kkc_device_t device, int32_t asked) const;

  double batch_seconds(kkc_device_t device) const;

  /// Copies of data that a case needs so that they do not stay in the caches (1: large enough by itself; 0: too many
  /// would be needed, so the case is in cache).
  int copies(const Bench& bench, int64_t bytes) const;

  /// A line for people: on stdout, or stderr when the document goes to stdout.
  void print(const std::string& line);

  Json& add_case() { return document_["cases"].emplace_back(Json::object()); }

  /// Runs one case, unless the time limit has passed; a failure is noted and the others go on.
  void attempt(const std::string& what, const std::function<void()>& work);
  int failures() const { return failures_; }
  void write();

 private:
  Gpu& gpu(kkc_device_t device);

  Arguments arguments_;
  Machine machine_;
  HostTimer host_timer_;
  std::unique_ptr<Gpu> gpu_;
  std::vector<PeerSlot> peers_;
  std::map<std::pair<kkc_device_t, int32_t>, Bench> benches_;
  Json document_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int failures_ = 0;
};

/// kkc_plan_info.
Json plan_info(kkc_plan_t* plan);

/// What a contender took, ready for the table and the document.
struct Measured {
  std::string name;
  bool is_kkc = false;
  bool keeps_values = false;
  double setup_seconds = 0.0;
  double error = 0.0;  // largest, in units of the condition of each sum
  Json details = Json::object();
  std::vector<double> rounds;
};

/// Fills a case's "contenders" and "ratios", and prints its table. bytes and flops are what the operation must move
/// and do; bytes = 0 claims no bandwidth.
void report(Session& session, const Bench& bench, Json& entry, const std::string& title,
            const std::vector<Measured>& measured, double bytes, double flops, bool in_cache);

/// An operation of the program; CMake lists every bench/<op>_bench.cpp.
struct Operation {
  const char* name;
  void (*run)(Session& session);
};
extern const Operation operations[];
extern const int operation_count;

}  // namespace kkc::bench

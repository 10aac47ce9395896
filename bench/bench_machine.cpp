#include "bench_machine.hpp"

#include <emmintrin.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <new>

#include "bench_timing.hpp"

namespace kkc::bench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Doubles = std::unique_ptr<double[], Free>;

constexpr int64_t block = 64;  // doubles: eight independent sums of the widest vectors

Doubles allocate(int64_t n, int32_t threads) {
  auto* data = static_cast<double*>(std::aligned_alloc(4096, static_cast<size_t>(n) * sizeof(double)));
  if (data == nullptr) throw std::bad_alloc();
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; ++i) data[i] = 1.0;
  return Doubles(data);
}

double read(const double* a, int64_t n, int32_t threads) {
  double total = 0.0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    alignas(64) double sums[block] = {};
#pragma omp for schedule(static)
    for (int64_t b = 0; b < n / block; ++b) {
#pragma omp simd
      for (int64_t j = 0; j < block; ++j) sums[j] += a[b * block + j];
    }
    for (const double s : sums) total += s;
  }
  return total;
}

void copy(double* a, const double* b, int64_t n, int32_t threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n / block; ++i)
    for (int64_t j = i * block; j < (i + 1) * block; j += 2) _mm_stream_pd(a + j, _mm_load_pd(b + j));
}

void triad(double* a, const double* b, const double* c, double s, int64_t n, int32_t threads) {
  const __m128d factor = _mm_set1_pd(s);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n / block; ++i)
    for (int64_t j = i * block; j < (i + 1) * block; j += 2)
      _mm_stream_pd(a + j, _mm_add_pd(_mm_load_pd(b + j), _mm_mul_pd(factor, _mm_load_pd(c + j))));
}

}  // namespace

Machine this_machine() {
  Machine machine;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.rfind("model name", 0) == 0) {
      machine.cpu = line.substr(line.find(':') + 2);
      break;
    }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) machine.cores = CPU_COUNT(&cpus);
  std::map<int, std::map<std::string, int64_t>> caches;  // level -> the cores sharing one -> bytes
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    for (int i = 0;; ++i) {
      const std::string folder =
          "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(i) + "/";
      const std::string size = first_line(folder + "size");
      if (size.empty()) break;
      caches[std::atoi(first_line(folder + "level").c_str())][first_line(folder + "shared_cpu_list")] =
          std::atoll(size.c_str()) * 1024;
    }
  }
  if (!caches.empty())
    for (const auto& [cores, bytes] : caches.rbegin()->second) machine.last_level_cache += bytes;
  if (machine.last_level_cache == 0) machine.last_level_cache = int64_t{64} << 20;
  return machine;
}

Bandwidth host_bandwidth(int32_t threads, int64_t bytes) {
  const int64_t n = bytes / 8 / block * block;
  const auto a = allocate(n, threads), b = allocate(n, threads), c = allocate(n, threads);
  volatile double sink = 0.0;
  const auto best = [](int64_t moved, const auto& work) {
    double least = 1e30;
    for (int pass = 0; pass < 8; ++pass) least = std::min(least, wall_seconds(work));
    return static_cast<double>(moved) / least * 1e-9;
  };
  Bandwidth result;
  result.read = best(8 * n, [&] { sink = read(b.get(), n, threads); });
  result.copy = best(16 * n, [&] { copy(a.get(), b.get(), n, threads); });
  result.triad = best(24 * n, [&] { triad(a.get(), b.get(), c.get(), 3.0, n, threads); });
  return result;
}

}  // namespace kkc::bench

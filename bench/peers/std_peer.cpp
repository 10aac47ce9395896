// The C++ standard library as a peer: std::inclusive_scan, and std::sort in libstdc++'s parallel form (OpenMP).
#include <omp.h>

#include <algorithm>
#include <numeric>
#include <parallel/algorithm>

#include "peer.hpp"

namespace kkc::bench {
namespace {

template <class F>
void with_type(kkc_scalar_t scalar, F&& f) {
  if (scalar == KKC_TYPE_F32) return f(float{});
  if (scalar == KKC_TYPE_F64) return f(double{});
  throw NotTaken("has no order of complex numbers");
}

class StdPeer final : public Peer {
 public:
  std::string name() const override { return "std"; }
  std::string version() const override { return "libstdc++ " + std::to_string(__GLIBCXX__); }
  bool serves(kkc_device_t device) const override { return device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP; }

  std::vector<Entrant> view_scan(const LinesProblem& p) override {
    Entrant scan{"std::inclusive_scan", false, 0, {}, {}};
    with_type(p.scalar, [&](auto zero) {
      using T = decltype(zero);
      scan.run = [p] {
        const auto* const x = static_cast<const T*>(p.x);
        auto* const y = static_cast<T*>(p.y);
#pragma omp parallel for num_threads(p.threads) if (p.threads > 1 && p.lines > 1)
        for (int64_t l = 0; l < p.lines; ++l) std::inclusive_scan(x + l * p.n, x + (l + 1) * p.n, y + l * p.n);
      };
    });
    return {scan};
  }

  std::vector<Entrant> view_sort(const LinesProblem& p) override {
    Entrant sort{p.lines > 1 ? "std::sort, a thread a line" : "__gnu_parallel::sort", false, 0, {}, {}};
    with_type(p.scalar, [&](auto zero) {
      using T = decltype(zero);
      sort.run = [p] {
        const auto* const x = static_cast<const T*>(p.x);
        auto* const y = static_cast<T*>(p.y);
        const int threads = std::max(p.threads, 1);
        omp_set_num_threads(threads);
        if (p.places != nullptr) {
          const auto line = [&](int64_t l) {
            int32_t* const places = p.places + l * p.n;
            const T* const keys = x + l * p.n;
            std::iota(places, places + p.n, 0);
            const auto before = [&](int32_t a, int32_t b) { return keys[a] < keys[b]; };
            if (p.lines > 1 || threads == 1)
              std::sort(places, places + p.n, before);
            else
              __gnu_parallel::sort(places, places + p.n, before);
            for (int64_t i = 0; i < p.n; ++i) y[l * p.n + i] = keys[places[i]];
          };
#pragma omp parallel for num_threads(threads) if (threads > 1 && p.lines > 1) schedule(dynamic, 16)
          for (int64_t l = 0; l < p.lines; ++l) line(l);
          return;
        }
#pragma omp parallel for num_threads(threads) if (threads > 1 && p.lines > 1) schedule(dynamic, 16)
        for (int64_t l = 0; l < p.lines; ++l) {
          T* const line = y + l * p.n;
          std::copy_n(x + l * p.n, p.n, line);
          if (p.lines > 1 || threads == 1)
            std::sort(line, line + p.n);
          else
            __gnu_parallel::sort(line, line + p.n);
        }
      };
    });
    return {sort};
  }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::StdPeer; }

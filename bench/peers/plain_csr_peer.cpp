// The loop that everyone writes first: one accumulator a row, rows shared out by OpenMP.
#include <complex>

#include "peer.hpp"

namespace kkc::bench {
namespace {

template <class T, class I, class O>
std::function<void()> rows(const SpmvProblem& p) {
  return [p] {
    const auto* offsets = static_cast<const O*>(p.offsets);
    const auto* indices = static_cast<const I*>(p.indices);
    const auto* values = static_cast<const T*>(p.values);
    const auto* x = static_cast<const T*>(p.x);
    auto* y = static_cast<T*>(p.y);
    const auto base = static_cast<O>(p.base);
#pragma omp parallel for schedule(static) num_threads(p.threads)
    for (int64_t i = 0; i < p.rows; ++i) {
      T sum{};
      for (O k = offsets[i] - base; k < offsets[i + 1] - base; ++k) sum += values[k] * x[indices[k] - p.base];
      y[i] = sum;
    }
  };
}

template <class T>
std::function<void()> diagonal(const PassProblem& p) {
  return [p] {
    const auto *offsets = static_cast<const int32_t*>(p.offsets), *indices = static_cast<const int32_t*>(p.indices);
    const auto* values = static_cast<const T*>(p.values);
    auto* d = static_cast<T*>(p.result);
#pragma omp parallel for schedule(static) num_threads(p.threads)
    for (int64_t i = 0; i < (p.rows < p.cols ? p.rows : p.cols); ++i) {
      T sum{};
      for (int32_t k = offsets[i] - p.base; k < offsets[i + 1] - p.base; ++k)
        if (indices[k] - p.base == i) sum += values[k];
      d[i] = sum;
    }
  };
}

template <class T>
std::function<void()> scale(const PassProblem& p) {
  return [p] {
    const auto *offsets = static_cast<const int32_t*>(p.offsets), *indices = static_cast<const int32_t*>(p.indices);
    const auto *r = static_cast<const T*>(p.row_factors), *c = static_cast<const T*>(p.col_factors);
    auto* values = static_cast<T*>(p.values);
#pragma omp parallel for schedule(static) num_threads(p.threads)
    for (int64_t i = 0; i < p.rows; ++i)
      for (int32_t k = offsets[i] - p.base; k < offsets[i + 1] - p.base; ++k)
        values[k] *= r[i] * c[indices[k] - p.base];
  };
}

std::function<void()> rows_of_entries(const PassProblem& p) {
  return [p] {
    const auto* offsets = static_cast<const int32_t*>(p.offsets);
    auto* row = static_cast<int32_t*>(p.result);
#pragma omp parallel for schedule(static) num_threads(p.threads)
    for (int64_t i = 0; i < p.rows; ++i)
      for (int32_t k = offsets[i] - p.base; k < offsets[i + 1] - p.base; ++k) row[k] = static_cast<int32_t>(i) + p.base;
  };
}

class PlainCsr final : public Peer {
 public:
  std::string name() const override { return "plain_csr"; }
  std::string version() const override { return "loop of three lines"; }
  bool serves(kkc_device_t device) const override { return device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP; }

  std::vector<Entrant> spmv(const SpmvProblem& p) override {
    if (p.op != KKC_OP_NONE || p.vectors != 1 || p.index != KKC_INDEX_32_32)
      throw NotTaken("only op N, one vector, 32-bit indices");
    if (p.scalar == KKC_TYPE_F32) return {{"", false, 0.0, rows<float, int32_t, int32_t>(p), nullptr}};
    if (p.scalar == KKC_TYPE_F64) return {{"", false, 0.0, rows<double, int32_t, int32_t>(p), nullptr}};
    throw NotTaken("only real elements");
  }
  std::vector<Entrant> matrix_diagonal(const PassProblem& p) override {
    return typed(p, [&](auto zero) { return diagonal<decltype(zero)>(p); });
  }
  std::vector<Entrant> matrix_scale(const PassProblem& p) override {
    return typed(p, [&](auto zero) { return scale<decltype(zero)>(p); });
  }
  std::vector<Entrant> csr_to_coo(const PassProblem& p) override {
    return typed(p, [&](auto) { return rows_of_entries(p); });
  }

 private:
  template <class F>
  static std::vector<Entrant> typed(const PassProblem& p, const F& f) {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("only 32-bit indices");
    if (p.scalar == KKC_TYPE_F32) return {{"", false, 0.0, f(float{}), nullptr}};
    if (p.scalar == KKC_TYPE_F64) return {{"", false, 0.0, f(double{}), nullptr}};
    throw NotTaken("only real elements");
  }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::PlainCsr; }

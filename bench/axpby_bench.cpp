// kkc_bench axpby: y = 0.5 x + 0.5 y. The figure for beta = 0 (y is not read) counts the same bytes, of which it moves
// two thirds.
#include <cmath>
#include <cstring>
#include <memory>

#include "bench_dense.hpp"

namespace kkc::bench {
namespace {

/// 0.5 x + 0.5 y, part by part.
template <class R>
bool combined_well(const std::vector<unsigned char>& x, const std::vector<unsigned char>& before,
                   const std::vector<unsigned char>& after) {
  for (size_t at = 0; at < x.size(); at += sizeof(R)) {
    R a, b, c;
    std::memcpy(&a, &x[at], sizeof a);
    std::memcpy(&b, &before[at], sizeof b);
    std::memcpy(&c, &after[at], sizeof c);
    const double wanted = 0.5 * static_cast<double>(a) + 0.5 * static_cast<double>(b);
    if (!(std::abs(static_cast<double>(c) - wanted) <= (sizeof(R) == 4 ? 1e-6 : 1e-15))) return false;
  }
  return true;
}

}  // namespace

void axpby(Session& session) {
  run_dense(session, "axpby", {"67108864"}, 2.0, [](Bench& bench, const DenseCase& c, int copies) {
    Candidate both{"kkc", {}}, scale{"kkc, beta = 0", {}};
    const auto half = element(c.scalar, 0.5), zero = element(c.scalar, 0.0);
    for (int k = 0; k < copies; ++k) {
      auto x = std::make_shared<DenseArray>(dense_array(bench, c, c.layout, 1));
      auto y = std::make_shared<DenseArray>(dense_array(bench, c, c.layout, 2));
      kkc_context_t* const ctx = bench.ctx.get();
      both.runs.push_back(
          [=] { check(kkc_axpby(ctx, half.data(), x->view.get(), half.data(), y->view.get()), "kkc_axpby"); });
      scale.runs.push_back(
          [=] { check(kkc_axpby(ctx, half.data(), x->view.get(), zero.data(), y->view.get()), "kkc_axpby"); });
      if (k > 0) continue;
      const auto before = bytes_of(*y);
      both.runs[0]();
      bench.timer->synchronize();
      const bool single = c.scalar == KKC_TYPE_F32 || c.scalar == KKC_TYPE_C64;
      require_result(single ? combined_well<float>(bytes_of(*x), before, bytes_of(*y))
                            : combined_well<double>(bytes_of(*x), before, bytes_of(*y)),
                     "kkc_axpby");
    }
    const double flops = 3.0 * static_cast<double>(c.count()) * (is_complex(c.scalar) ? 4 : 1);
    return DenseContenders{{both, scale}, {true, true}, 3.0 * static_cast<double>(c.bytes()), flops};
  });
}

}  // namespace kkc::bench

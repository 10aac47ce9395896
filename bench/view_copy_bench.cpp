// kkc_bench view_copy: the source in the other order than --layout, beside a copy of the same bytes.
#include <cstring>
#include <memory>

#include "bench_dense.hpp"

namespace kkc::bench {
namespace {

bool transposed_well(const DenseCase& c, const DenseArray& from, const DenseArray& to) {
  const auto a = bytes_of(from), b = bytes_of(to);
  const auto size = static_cast<size_t>(scalar_bytes(c.scalar));
  const size_t rank = c.extents.size();
  // Element k of the destination, counted in memory.
  std::vector<int64_t> index(rank, 0);
  for (int64_t k = 0; k < c.count(); ++k) {
    int64_t at = 0, stride = 1;
    for (size_t n = 0; n < rank; ++n) {
      const size_t d = c.layout == KKC_LAYOUT_LEFT ? rank - 1 - n : n;  // the source's order
      at += index[d] * stride;
      stride *= c.extents[d];
    }
    if (std::memcmp(&b[static_cast<size_t>(k) * size], &a[static_cast<size_t>(at) * size], size) != 0) return false;
    for (size_t n = 0; n < rank; ++n) {
      const size_t d = c.layout == KKC_LAYOUT_LEFT ? n : rank - 1 - n;
      if (++index[d] < c.extents[d]) break;
      index[d] = 0;
    }
  }
  return true;
}

}  // namespace

void view_copy(Session& session) {
  run_dense(
      session, "view_copy", {"8192x8192", "8191x8191", "16777216x3", "2097152x24"}, 2.0,
      [](Bench& bench, const DenseCase& c, int copies) {
        const kkc_layout_t other = c.layout == KKC_LAYOUT_LEFT ? KKC_LAYOUT_RIGHT : KKC_LAYOUT_LEFT;
        Candidate ours{"kkc", {}}, same{"kkc, same order", {}};
        for (int k = 0; k < copies; ++k) {
          auto from = std::make_shared<DenseArray>(dense_array(bench, c, other, 1));
          auto to = std::make_shared<DenseArray>(dense_array(bench, c, c.layout, 2));
          auto plain = std::make_shared<View>(wrap_dense(bench, c, c.scalar, c.extents, c.layout, from->memory.data()));
          kkc_context_t* const ctx = bench.ctx.get();
          ours.runs.push_back([=] { check(kkc_view_copy(ctx, from->view.get(), to->view.get()), "kkc_view_copy"); });
          same.runs.push_back([=] { check(kkc_view_copy(ctx, plain->get(), to->view.get()), "kkc_view_copy"); });
          if (k > 0) continue;
          ours.runs[0]();
          bench.timer->synchronize();
          require_result(transposed_well(c, *from, *to), "kkc_view_copy");
        }
        return DenseContenders{{ours, same}, {true, true}, 2.0 * static_cast<double>(c.bytes()), 0.0};
      });
}

}  // namespace kkc::bench

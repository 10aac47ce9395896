// kkc_bench view_scan: inclusive prefix sums along a vector or along the rows of a row-major view.
#include <cmath>

#include "bench_lines.hpp"

namespace kkc::bench {

void view_scan(Session& session) {
  run_dense(
      session, "view_scan", {"134217728", "1048576", "131072x1024", "1024x131072"}, 2.0,
      [&](Bench& bench, const DenseCase& c, int copies) {
        DenseCase rows = c;
        rows.layout = KKC_LAYOUT_RIGHT;
        Candidate ours{"kkc", {}};
        std::vector<LinesProblem> problems;
        std::vector<std::shared_ptr<DenseArray>> xs, ys;
        kkc_context_t* const ctx = bench.ctx.get();
        const auto dim = static_cast<int32_t>(c.extents.size()) - 1;
        for (int k = 0; k < copies; ++k) {
          xs.push_back(std::make_shared<DenseArray>(dense_array(bench, rows, rows.layout, 1)));
          ys.push_back(std::make_shared<DenseArray>(dense_array(bench, rows, rows.layout, 2)));
          ours.runs.push_back([ctx, dim, x = xs.back(), y = ys.back()] {
            check(kkc_view_scan(ctx, 0, dim, x->view.get(), y->view.get()), "kkc_view_scan");
          });
          problems.push_back(lines_of(bench, c, *xs.back(), *ys.back(), nullptr));
        }
        const auto check_result = [&](const char* name) {
          with_real(c.scalar, [&](auto zero) {
            using T = decltype(zero);
            const auto x = bytes_of(*xs[0]), y = bytes_of(*ys[0]);
            const int64_t n = c.extents.back();
            long double sum = 0, size = 0;
            for (int64_t i = 0; i < n; ++i) {
              T a, b;
              std::memcpy(&a, &x[static_cast<size_t>(i) * sizeof(T)], sizeof(T));
              std::memcpy(&b, &y[static_cast<size_t>(i) * sizeof(T)], sizeof(T));
              sum += a;
              size += std::abs(a);
              require_result(std::abs(sum - b) <= size * (sizeof(T) == 4 ? 1e-4L : 1e-10L), name);
            }
          });
        };
        ours.runs[0]();
        bench.timer->synchronize();
        check_result("kkc_view_scan");
        DenseContenders made{{ours}, {true}, 2.0 * static_cast<double>(c.bytes()), static_cast<double>(c.count())};
        add_peers(session, bench, c, made, problems, &Peer::view_scan, check_result);
        return made;
      });
}

}  // namespace kkc::bench

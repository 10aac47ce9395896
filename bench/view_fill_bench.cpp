// kkc_bench view_fill: every element of a contiguous view.
#include <cstring>
#include <memory>

#include "bench_dense.hpp"

namespace kkc::bench {

void view_fill(Session& session) {
  run_dense(session, "view_fill", {"134217728"}, 1.0, [](Bench& bench, const DenseCase& c, int copies) {
    Candidate ours{"kkc", {}};
    const auto value = element(c.scalar, 1.5);
    const auto size = static_cast<size_t>(scalar_bytes(c.scalar));
    for (int k = 0; k < copies; ++k) {
      auto to = std::make_shared<DenseArray>(dense_array(bench, c, c.layout, 1));
      kkc_context_t* const ctx = bench.ctx.get();
      ours.runs.push_back([=] { check(kkc_view_fill(ctx, value.data(), to->view.get()), "kkc_view_fill"); });
      if (k > 0) continue;
      ours.runs[0]();
      bench.timer->synchronize();
      const auto bytes = bytes_of(*to);
      for (size_t at = 0; at < bytes.size(); at += size)
        require_result(std::memcmp(&bytes[at], value.data(), size) == 0, "kkc_view_fill");
    }
    return DenseContenders{{ours}, {true}, static_cast<double>(c.bytes()), 0.0};
  });
}

}  // namespace kkc::bench

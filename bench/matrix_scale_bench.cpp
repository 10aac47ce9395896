// kkc_bench matrix_scale: A = diag(r) A diag(c) in place, by factors of one size, so that values stay in range.
#include <algorithm>
#include <cmath>

#include "bench_pass.hpp"

namespace kkc::bench {

void matrix_scale(Session& session) {
  run_pass(session, "matrix_scale", [](const PassInput& in) {
    const int64_t each = scalar_bytes(in.c.scalar), nnz = in.arrays.nnz,
                  longest = std::max(in.arrays.rows, in.arrays.cols);
    // 1 or -1, of which every product is exact.
    std::vector<unsigned char> signs(static_cast<size_t>(longest * each));
    for (int64_t i = 0; i < longest; ++i) {
      const auto one = element(in.c.scalar, i % 3 == 0 ? -1.0 : 1.0);
      std::copy_n(one.begin(), each, signs.begin() + i * each);
    }
    const auto factors = std::make_shared<DeviceArray>(in.bench.ctx.get(), signs.size());
    factors->upload(signs.data());
    const auto r = std::make_shared<View>(in.wrap(factors->data(), in.arrays.rows, in.c.scalar)),
               s = std::make_shared<View>(in.wrap(factors->data(), in.arrays.cols, in.c.scalar));
    const auto offsets = in.fetch(in.arrays.offsets, (in.arrays.rows + 1) * offset_bytes(in.c.index));
    const auto columns = in.fetch(in.arrays.indices, nnz * ordinal_bytes(in.c.index));
    const auto before = in.fetch(in.arrays.values, nnz * each);
    const auto right = [=] {
      const auto got = in.fetch(in.arrays.values, nnz * each);
      for (int64_t i = 0; i < in.arrays.rows; ++i)
        for (int64_t k = as_integer(in.c.index != KKC_INDEX_32_32, offsets.data(), i) - in.arrays.base;
             k < as_integer(in.c.index != KKC_INDEX_32_32, offsets.data(), i + 1) - in.arrays.base; ++k) {
          const int64_t j = as_integer(in.c.index == KKC_INDEX_64_64, columns.data(), k) - in.arrays.base;
          const double sign = (i % 3 == 0) == (j % 3 == 0) ? 1 : -1;
          if (as_double(in.c.scalar, &got[static_cast<size_t>(k * each)]) !=
              sign * as_double(in.c.scalar, &before[static_cast<size_t>(k * each)]))
            return false;
        }
      return true;
    };
    const auto restore = [&] {
      check(kkc_copy(in.bench.ctx.get(), in.arrays.values, before.data(), before.size(), KKC_COPY_HOST_TO_DEVICE),
            "kkc_copy");
    };
    PassContenders made;
    made.kept = {factors};
    made.bytes = static_cast<double>(nnz * (ordinal_bytes(in.c.index) + 2 * each) +
                                     in.arrays.rows * (offset_bytes(in.c.index) + each) + in.arrays.cols * each);
    const auto run = [r, s, ctx = in.bench.ctx.get(), A = in.A] {
      check(kkc_matrix_scale(ctx, r->get(), A, s->get()), "kkc_matrix_scale");
    };
    run();
    if (!right()) throw std::runtime_error(in.c.matrix + ": kkc's values are wrong");
    made.add_kkc("kkc", 0.0, run);
    PassProblem problem = in.problem();
    problem.row_factors = problem.col_factors = factors->data();
    made.add_peers(
        in, [&](Peer& peer) { return peer.matrix_scale(problem); }, restore, right);
    return made;
  });
}

}  // namespace kkc::bench

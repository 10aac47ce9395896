// kkc_bench matrix_diagonal: d_i = A(i, i).
#include <algorithm>
#include <cmath>

#include "bench_pass.hpp"

namespace kkc::bench {

void matrix_diagonal(Session& session) {
  run_pass(session, "matrix_diagonal", [](const PassInput& in) {
    const int64_t count = std::min(in.arrays.rows, in.arrays.cols), each = scalar_bytes(in.c.scalar);
    const auto result = std::make_shared<DeviceArray>(in.bench.ctx.get(), static_cast<size_t>(count * each));
    const auto d = std::make_shared<View>(in.wrap(result->data(), count, in.c.scalar));
    const bool wide_offsets = in.c.index != KKC_INDEX_32_32, wide_columns = in.c.index == KKC_INDEX_64_64;
    const auto offsets = in.fetch(in.arrays.offsets, (in.arrays.rows + 1) * offset_bytes(in.c.index));
    const auto columns = in.fetch(in.arrays.indices, in.arrays.nnz * ordinal_bytes(in.c.index));
    const auto values = in.fetch(in.arrays.values, in.arrays.nnz * each);
    const auto right = [=] {
      const auto got = in.fetch(result->data(), count * each);
      for (int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (int64_t k = as_integer(wide_offsets, offsets.data(), i);
             k < as_integer(wide_offsets, offsets.data(), i + 1); ++k) {
          const int64_t at = k - in.arrays.base;
          if (as_integer(wide_columns, columns.data(), at) - in.arrays.base == i)
            sum += as_double(in.c.scalar, &values[static_cast<size_t>(at * each)]);
        }
        if (std::abs(as_double(in.c.scalar, &got[static_cast<size_t>(i * each)]) - sum) > 1e-5 * std::abs(sum))
          return false;
      }
      return true;
    };
    const std::vector<unsigned char> wiped(result->bytes(), 0x7f);
    PassContenders made;
    made.kept = {result};
    made.bytes = static_cast<double>(in.arrays.nnz * ordinal_bytes(in.c.index) +
                                     in.arrays.rows * offset_bytes(in.c.index) + 2 * count * each);
    const auto run = [d, ctx = in.bench.ctx.get(), A = in.A] {
      check(kkc_matrix_diagonal(ctx, A, d->get()), "kkc_matrix_diagonal");
    };
    result->upload(wiped.data());
    run();
    if (!right()) throw std::runtime_error(in.c.matrix + ": kkc's diagonal is wrong");
    made.add_kkc("kkc", 0.0, run);
    PassProblem problem = in.problem();
    problem.result = result->data();
    made.add_peers(
        in, [&](Peer& peer) { return peer.matrix_diagonal(problem); }, [&] { result->upload(wiped.data()); }, right);
    return made;
  });
}

}  // namespace kkc::bench

// kkc_bench norm2: Euclidean norms, one a column; extents of one or two dimensions.
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>

#include "bench_dense.hpp"

namespace kkc::bench {
namespace {

std::vector<std::complex<double>> numbers(const DenseCase& c, const std::vector<unsigned char>& bytes) {
  std::vector<std::complex<double>> all(static_cast<size_t>(c.count()));
  const auto size = static_cast<size_t>(scalar_bytes(c.scalar));
  const bool complex = is_complex(c.scalar), single = c.scalar == KKC_TYPE_F32 || c.scalar == KKC_TYPE_C64;
  const auto part = [&](size_t at) {
    float f;
    double d;
    if (single)
      std::memcpy(&f, &bytes[at], sizeof f), d = f;
    else
      std::memcpy(&d, &bytes[at], sizeof d);
    return d;
  };
  for (size_t i = 0; i < all.size(); ++i) all[i] = {part(i * size), complex ? part(i * size + size / 2) : 0.0};
  return all;
}

}  // namespace

void norm2(Session& session) {
  run_dense(session, "norm2", {"134217728", "1048576"}, 1.0, [](Bench& bench, const DenseCase& c, int copies) {
    Candidate ours{"kkc", {}};
    const std::vector<int64_t> columns(c.extents.begin() + 1, c.extents.end());
    const int64_t count = columns.empty() ? 1 : columns[0];
    for (int k = 0; k < copies; ++k) {
      auto x = std::make_shared<DenseArray>(dense_array(bench, c, c.layout, 1));

      auto memory = std::make_shared<DeviceArray>(bench.ctx.get(), static_cast<size_t>(16 * count));
      auto result = std::make_shared<View>(wrap_dense(bench, c,
                                                      c.scalar == KKC_TYPE_C64    ? KKC_TYPE_F32
                                                      : c.scalar == KKC_TYPE_C128 ? KKC_TYPE_F64
                                                                                  : c.scalar,
                                                      columns, KKC_LAYOUT_LEFT, memory->data()));
      kkc_context_t* const ctx = bench.ctx.get();
      ours.runs.push_back([=, held = memory] { check(kkc_norm2(ctx, x->view.get(), result->get()), "kkc_norm2"); });
      if (k > 0) continue;
      ours.runs[0]();
      bench.timer->synchronize();
      std::vector<unsigned char> got(memory->bytes());
      memory->download(got.data());
      const auto a = numbers(c, bytes_of(*x));
      double sum = 0.0;
      // The first column.
      const int64_t rows = c.extents[0], stride = count > 1 && c.layout == KKC_LAYOUT_RIGHT ? count : 1;
      for (int64_t r = 0; r < rows; ++r) sum += std::norm(a[static_cast<size_t>(r * stride)]);
      DenseCase one = c;
      one.extents = {1};
      one.scalar = c.scalar == KKC_TYPE_C64 ? KKC_TYPE_F32 : c.scalar == KKC_TYPE_C128 ? KKC_TYPE_F64 : c.scalar;
      require_result(std::abs(numbers(one, got)[0].real() - std::sqrt(sum)) <= 1e-6 * std::sqrt(sum), "kkc_norm2");
    }
    return DenseContenders{{ours},
                           {true},
                           1.0 * static_cast<double>(c.bytes()),
                           2.0 * static_cast<double>(c.count()) * (is_complex(c.scalar) ? 2 : 1)};
  });
}

}  // namespace kkc::bench

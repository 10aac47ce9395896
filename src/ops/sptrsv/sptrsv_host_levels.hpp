// sptrsv, host_levels: rows from the caller's matrix, in blocks that threads solve level by level
// (ops/levels/levels_host_blocks.hpp). Eight right-hand sides share one reading of the matrix. The same bits run to
// run, for every number of threads.
#pragma once

#include "ops/levels/levels_host_blocks.hpp"
#include "ops/sptrsv/sptrsv_host_triangle.hpp"

namespace kkc::sptrsv {

namespace host_levels_parts {

template <class S>
struct Sides {
  const S* b;
  S* x;
  int64_t b_row, b_vector, x_row, x_vector;
};

template <class Dev, class S, class I, class O>
class LevelKernel final : public Kernel {
  using Triangle = HostTriangle<I, O>;
  static constexpr int most_vectors = 8;

 public:
  LevelKernel(const Desc& desc, Queue& queue)
      : ascending_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op)),
        triangle_(Triangle::template make<Dev>(desc, queue)),
        schedule_(levels::schedule_blocks<Dev, I>(queue, desc.memory, typename Triangle::Rows(triangle_, desc.A),
                                                  desc.A.rows, ascending_, threads_for(desc, queue))),
        runner_(schedule_.threads),
        zeros_(static_cast<size_t>(schedule_.threads)) {}

  void execute(Queue& queue, const Args& args) override {
    const S alpha = factor<S>(args.alpha).get();
    const int64_t n = args.x.extents[0], vectors = args.x.rank == 2 ? args.x.extents[1] : 1;
    Sides<S> sides{static_cast<const S*>(args.b.data),
                   static_cast<S*>(args.x.data),
                   args.b.strides[0],
                   args.b.rank == 2 ? args.b.strides[1] : 0,
                   args.x.strides[0],
                   args.x.rank == 2 ? args.x.strides[1] : 0};
    if (alpha == S{}) {
      for (int64_t k = 0; k < vectors; ++k)
        for (int64_t row = 0; row < n; ++row) sides.x[row * sides.x_row + k * sides.x_vector] = S{};
      return;
    }
    for (int64_t k = 0; k < vectors; k += most_vectors) {
      const auto count = static_cast<int>(std::min<int64_t>(most_vectors, vectors - k));
      Sides<S> some = sides;
      some.b += k * sides.b_vector;
      some.x += k * sides.x_vector;
      if (count == 1)
        solve<1>(queue, args.A, alpha, some, 1);
      else if (count == most_vectors)
        solve<most_vectors>(queue, args.A, alpha, some, count);
      else
        solve<0>(queue, args.A, alpha, some, count);
    }
  }

  void describe(Info& info) const override {
    info.add("levels", schedule_.levels);
    info.add("blocks", schedule_.blocks);
    info.add("rows_per_level",
             static_cast<double>(triangle_.rows()) / static_cast<double>(std::max<int64_t>(1, schedule_.levels)));
    info.add("phases", schedule_.phases);
    info.add("rows_of_one_thread", schedule_.serial_rows);
    info.add("threads", int64_t{schedule_.threads});
    info.add("plan_bytes", static_cast<int64_t>(triangle_.bytes()));
  }

 private:
  struct alignas(128) Zero {
    int64_t row;
  };

  /// K: number of vectors, or 0 for `vectors` of them, at most most_vectors.
  template <int K>
  void solve(Queue& queue, const CsrRef& A, const S& alpha, const Sides<S>& sides, int vectors) {
    for (Zero& zero : zeros_) zero.row = INT64_MAX;
    const typename Triangle::Rows rows(triangle_, A);
    const auto* values = static_cast<const S*>(A.values);
    const auto with = [&](const auto& value_of) {
      runner_.template run<Dev>(queue, schedule_, [&](int thread, int64_t phase) {
        const auto& share = schedule_.shares[static_cast<size_t>(thread)];
        int64_t first_zero = INT64_MAX;
        for (int64_t at = share.begin(phase); at < share.end(phase); ++at) {
          const levels::Block block = share.blocks[static_cast<size_t>(at)];
          for (int64_t step = block.first; step < block.first + block.count; ++step) {
            const int64_t row = ascending_ ? step : triangle_.rows() - 1 - step;
            S inverse{};
            if (!unit_) {
              const S d = triangle_.diagonal(values, row);
              if (d == S{}) [[unlikely]]
                first_zero = std::min(first_zero, row);
              inverse = inverse_of(conjugated(d, conjugate_));
            }
            solve_row<K>(rows, row, value_of, alpha, inverse, sides, vectors);
          }
        }
        auto& zero = zeros_[static_cast<size_t>(thread)].row;
        zero = std::min(zero, first_zero);
      });
    };
    if (triangle_.own())
      with([&](int64_t entry) { return conjugated(values[rows.place(entry)], conjugate_); });
    else
      with([&](int64_t entry) { return conjugated(values[entry], conjugate_); });
    int64_t first_zero = INT64_MAX;
    for (const Zero& zero : zeros_) first_zero = std::min(first_zero, zero.row);
    refuse_zero(first_zero, triangle_.rows());
  }

  template <int K, class Value>
  [[gnu::always_inline]] void solve_row(const typename Triangle::Rows& rows, int64_t row, const Value& value_of,
                                        const S& alpha, const S& inverse, const Sides<S>& sides, int vectors) const {
    const int count = K == 0 ? vectors : K;
    S sum[K == 0 ? most_vectors : K];
    const S* b = sides.b + row * sides.b_row;
    for (int k = 0; k < count; ++k) sum[k] = times(alpha, b[k * sides.b_vector]);
    const int64_t begin = rows.begin(row), end = rows.end(row);
    const auto subtract = [&](int64_t p) {
      const S a = value_of(p);
      const S* x = sides.x + rows.column(p) * sides.x_row;
      if (sides.x_vector == 1)
        for (int k = 0; k < count; ++k) sum[k] = minus(sum[k], times(a, x[k]));
      else
        for (int k = 0; k < count; ++k) sum[k] = minus(sum[k], times(a, x[k * sides.x_vector]));
    };
    // The neighbour's unknown, the last to come, is used last.
    if (ascending_)
      for (int64_t p = begin; p < end; ++p) subtract(p);
    else
      for (int64_t p = end - 1; p >= begin; --p) subtract(p);
    S* x = sides.x + row * sides.x_row;
    for (int k = 0; k < count; ++k) x[k * sides.x_vector] = unit_ ? sum[k] : times(sum[k], inverse);
  }

  bool ascending_, unit_, conjugate_;
  Triangle triangle_;
  levels::BlockSchedule schedule_;
  levels::BlockRunner runner_;
  std::vector<Zero> zeros_;
};

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_levels_parts

template <class Dev>
constexpr Implementation host_levels() {
  return {{"host_levels"}, true, host_levels_parts::unsupported, make_typed<Dev, host_levels_parts::LevelKernel>};
}

}  // namespace kkc::sptrsv

// sptrsv, host_levels, op T and H by one thread: the matrix is read as it lies, a row of A is a column of op(A), and
// each unknown is taken from those that its column names as soon as it is known (Golub, Van Loan, "Matrix
// Computations", 4th ed., section 3.1.3). No list of places, and the values follow one another; an unknown's terms are
// subtracted in the order in which sptrsv_host_levels_rows.hpp subtracts those of listed rows, so that bits are the
// same.
#pragma once

#include <utility>

#include "ops/levels/levels_host_blocks.hpp"
#include "ops/sptrsv/sptrsv_host_levels_rows.hpp"

namespace kkc::sptrsv::host_levels_parts {

/// K vectors, or 0 for `vectors` of them, at most most_vectors. K = 1: without a stride.
template <int K, class S, class T, bool Ascending>
struct PushedColumns {
  TriangleRows<S, T, Ascending, false> triangle;
  S alpha;
  Sides<S> sides;
  int vectors;

  /// first_zero: gets the first row whose diagonal is zero.
  [[gnu::noinline]] void solve(int64_t& first_zero) const {
    const PushedColumns mine = *this;
    const int64_t n = mine.triangle.triangle.rows();
    const Factor<S> alpha{mine.alpha};
    int64_t zero = first_zero;
    for (int64_t row = 0; row < n; ++row)
      for (int k = 0; k < mine.count(); ++k)
        mine.x(row)[k * mine.step()] = alpha.times(mine.sides.b[row * mine.sides.b_row + k * mine.sides.b_vector]);
    mine.triangle.each_row(
        0, n, levels::NoTurn(), [&](int64_t row) __attribute__((always_inline)) {
          mine.push(row, mine.triangle.inverse(row, zero));
        });
    first_zero = zero;
  }

 private:
  [[gnu::always_inline]] int count() const { return K == 0 ? vectors : K; }
  [[gnu::always_inline]] S* x(int64_t row) const { return sides.x + (K == 1 ? row : row * sides.x_row); }
  [[gnu::always_inline]] int64_t step() const { return K == 1 ? 1 : sides.x_vector; }

  [[gnu::always_inline]] void push(int64_t row, const S& inverse) const {
    S solved[K == 0 ? most_vectors : K];
    const Factor<S> scale{inverse};
    for (int k = 0; k < count(); ++k) {
      S& mine = x(row)[k * step()];
      if (!triangle.unit) mine = scale.times(mine);
      solved[k] = mine;
    }
    const auto& rows = triangle.rows;
    for (int64_t p = rows.begin(row), end = rows.end(row); p < end; ++p) {
      const Factor<S> value{triangle.value(p)};
      S* const other = x(rows.column(p));
      if (K > 1 && step() == 1)
        for (int k = 0; k < K; ++k) other[k] = minus(other[k], value.times(solved[k]));
      else
        for (int k = 0; k < count(); ++k) other[k * step()] = minus(other[k * step()], value.times(solved[k]));
    }
  }
};

template <class Dev, class S, class I, class O>
class ColumnKernel final : public Kernel {
  using Triangle = HostTriangle<I, O>;

 public:
  /// Null where a row's entries of the triangle do not lie side by side.
  static std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
    Triangle triangle = Triangle::template make<Dev>(desc, queue, Listed::never);
    if (triangle.own()) return nullptr;
    return std::unique_ptr<Kernel>(new ColumnKernel(desc, std::move(triangle)));
  }

  void execute(Queue&, const Args& args) override {
    const S alpha = factor<S>(args.alpha).get();
    const int64_t vectors = args.x.rank == 2 ? args.x.extents[1] : 1;
    const Sides<S> sides = sides_of<S>(args);
    if (alpha == S{}) {
      fill_with_zeros(sides, args.x.extents[0], vectors);
      return;
    }
    int64_t first_zero = INT64_MAX;
    each_few_vectors(sides, vectors, [&]<int K>(std::integral_constant<int, K>, const Sides<S>& some, int count) {
      const auto with = [&]<bool ascending>(std::bool_constant<ascending>) {
        const TriangleRows<S, Triangle, ascending, false> rows{triangle_, typename Triangle::Rows(triangle_, args.A),
                                                               static_cast<const S*>(args.A.values), unit_, conjugate_};
        if (K == 1 && some.x_row != 1)
          PushedColumns<0, S, Triangle, ascending>{rows, alpha, some, 1}.solve(first_zero);
        else
          PushedColumns<K, S, Triangle, ascending>{rows, alpha, some, count}.solve(first_zero);
      };
      ascending_ ? with(std::true_type()) : with(std::false_type());
    });
    refuse_zero(first_zero, triangle_.rows());
  }

  void describe(Info& info) const override {
    levels::schedule_for_one_thread({}, triangle_.rows()).describe(triangle_.rows(), info);
    info.add("by", "columns");
    info.add("plan_bytes", static_cast<int64_t>(triangle_.bytes()));
  }

 private:
  ColumnKernel(const Desc& desc, Triangle triangle)
      : ascending_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op)),
        triangle_(std::move(triangle)) {
    triangle_.take_runs();
  }

  bool ascending_, unit_, conjugate_;
  Triangle triangle_;
};

}  // namespace kkc::sptrsv::host_levels_parts

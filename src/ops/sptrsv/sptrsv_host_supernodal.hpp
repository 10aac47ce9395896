// sptrsv, host_supernodal: under values = kept a triangle's supernodes are dense blocks, those on the diagonal inverted
// and the inverse applied to what lies outside (partitioned inverse: Alvarado, Schreiber, "Optimal parallel solution of
// sparse triangular systems", SIAM J. Sci. Comput. 14(2), 1993), so that a supernode is solved by one product of a
// dense matrix and a vector (Yamazaki, Rajamanickam, Ellingwood, "Performance portable supernode-based sparse
// triangular solver for manycore architectures", ICPP 2020). Where columns share their pattern a supernode leaves what
// others subtract in a place of its own, and they gather it: no sums in memory, the same bits for every number of
// threads.
#pragma once

#include "ops/sptrsv/sptrsv_host_supernodal_schedule.hpp"
#include "ops/sptrsv/sptrsv_host_triangle.hpp"

namespace kkc::sptrsv {

namespace host_supernodal_parts {

inline constexpr int64_t most_width = 48, lanes = 8;

template <class S>
constexpr S one() {
  if constexpr (std::is_floating_point_v<S>)
    return S{1};
  else
    return {1, 0};
}

/// out[0..length) = the sum of in[j] times column j, of `columns` columns one after the other.
template <class S>
void add_columns(const S* block, int64_t columns, int64_t length, const S* in, S* __restrict out) {
  std::fill(out, out + length, S{});
  int64_t j = 0;
  for (; j + 4 <= columns; j += 4) {
    const S *a = block + j * length, *b = a + length, *c = b + length, *d = c + length;
    const S p = in[j], q = in[j + 1], r = in[j + 2], s = in[j + 3];
    for (int64_t i = 0; i < length; ++i)
      out[i] = plus(out[i], plus(plus(times(a[i], p), times(b[i], q)), plus(times(c[i], r), times(d[i], s))));
  }
  for (; j < columns; ++j) {
    const S* a = block + j * length;
    for (int64_t i = 0; i < length; ++i) out[i] = plus(out[i], times(a[i], in[j]));
  }
}

/// The product of a row and a vector, by a fixed number of partial sums.
template <class S>
S dot(const S* row, const S* in, int64_t length) {
  S sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= length; i += lanes)
    for (int64_t l = 0; l < lanes; ++l) sums[l] = plus(sums[l], times(row[i + l], in[i + l]));
  for (int64_t l = 0; i < length; ++i, ++l) sums[l] = plus(sums[l], times(row[i], in[i]));
  for (int64_t half = lanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l) sums[l] = plus(sums[l], sums[l + half]);
  return sums[0];
}

template <class Dev, class S, class I, class O>
class SupernodalKernel final : public Kernel {
  using Triangle = HostTriangle<I, O>;
  using Rows = typename Triangle::Rows;

 public:
  SupernodalKernel(const Desc& desc, Queue& queue)
      : n_(desc.A.rows),
        vectors_(desc.vectors),
        ascending_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op)),
        triangle_(Triangle::template make<Dev>(desc, queue)),
        nodes_(nodes(desc, queue)),
        schedule_(schedule(nodes_, threads_for(desc, queue))),
        runner_(schedule_.threads) {
    blocks_at_.assign(1, 0);
    zeros_of_part_.resize(static_cast<size_t>(schedule_.threads));
    int64_t longest = 0;
    for (int64_t s = 0; s < nodes_.count(); ++s) {
      blocks_at_.push_back(blocks_at_.back() + nodes_.width(s) * nodes_.length(s));
      longest = std::max(longest, nodes_.length(s));
    }
    blocks_ = Buffer(desc.memory, Space::host, static_cast<size_t>(blocks_at_.back()) * sizeof(S));
    stride_ = (longest + 15) / 16 * 16;
    scratch_ = Buffer(desc.memory, Space::host, static_cast<size_t>(stride_ * 2 * schedule_.threads) * sizeof(S));
    if (!nodes_.by_columns) return;
    // Where each step finds what to subtract.
    gather_from_.assign(static_cast<size_t>(n_) + 2, 0);
    for (const I step : nodes_.outer) ++gather_from_[static_cast<size_t>(step) + 2];
    for (size_t i = 2; i < gather_from_.size(); ++i) gather_from_[i] += gather_from_[i - 1];
    gather_.resize(nodes_.outer.size());
    for (size_t p = 0; p < nodes_.outer.size(); ++p)
      gather_[static_cast<size_t>(gather_from_[static_cast<size_t>(nodes_.outer[p]) + 1]++)] = static_cast<O>(p);
  }

  bool keeps_values() const override { return true; }

  void set_values(Queue& queue, const CsrRef& A) override {
    const Rows rows(triangle_, A);
    const auto* source = static_cast<const S*>(A.values);
    const int64_t parts = std::max<int64_t>(1, schedule_.threads), count = nodes_.count();
    std::vector<int64_t>& zeros = zeros_of_part_;
    zeros.assign(static_cast<size_t>(parts), INT64_MAX);
    S* const blocks = blocks_.template as<S>();
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      const auto from = blocks_at_[static_cast<size_t>(part_begin(count, parts, part))],
                 to = blocks_at_[static_cast<size_t>(part_begin(count, parts, part + 1))];
      std::fill(blocks + from, blocks + to, S{});
    });
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      for (int64_t step = part_begin(n_, parts, part); step < part_begin(n_, parts, part + 1); ++step)
        scatter(rows, source, step, zeros[static_cast<size_t>(part)]);
    });
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      for (int64_t s = part; s < count; s += parts) invert(s);
    });
    zero_ = *std::min_element(zeros.begin(), zeros.end());
  }

  void execute(Queue& queue, const Args& args) override {
    const S alpha = factor<S>(args.alpha).get();
    const Vectors v{static_cast<const S*>(args.b.data),
                    static_cast<S*>(args.x.data),
                    args.b.strides[0],
                    args.b.rank == 2 ? args.b.strides[1] : 0,
                    args.x.strides[0],
                    args.x.rank == 2 ? args.x.strides[1] : 0,
                    static_cast<S*>(args.workspace)};
    if (alpha == S{}) {
      for (int64_t k = 0; k < vectors_; ++k)
        for (int64_t row = 0; row < n_; ++row) v.x[row * v.x_row + k * v.x_vector] = S{};
      return;
    }
    refuse_zero(zero_, n_);
    runner_.template run<Dev>(queue, schedule_, [&](int thread, int64_t phase) {
      const auto& share = schedule_.shares[static_cast<size_t>(thread)];
      S* const scratch = scratch_.template as<S>() + thread * 2 * stride_;
      for (int64_t at = share.begin(phase); at < share.end(phase); ++at) {
        const levels::Block& block = share.blocks[static_cast<size_t>(at)];
        for (int64_t s = block.first; s < block.first + block.count; ++s)
          for (int64_t k = 0; k < vectors_; ++k)  // the block stays in a cache
            nodes_.by_columns ? solve_columns(s, k, alpha, v, scratch) : solve_rows(s, k, alpha, v, scratch);
      }
    });
  }

  size_t workspace_bytes() const override {
    return nodes_.by_columns ? nodes_.outer.size() * static_cast<size_t>(vectors_) * sizeof(S) : 0;
  }
  void describe(Info& info) const override {
    const int64_t count = std::max<int64_t>(1, nodes_.count());
    info.add("supernodes", nodes_.count());
    info.add("by", std::string(nodes_.by_columns ? "columns" : "rows"));
    info.add("mean_width", static_cast<double>(n_) / static_cast<double>(count));
    info.add("padding", nodes_.nonzeros == 0
                            ? 0.0
                            : static_cast<double>(nodes_.dense) / static_cast<double>(nodes_.nonzeros) - 1.0);
    info.add("levels", nodes_.levels);
    info.add("rows_per_level", static_cast<double>(n_) / static_cast<double>(std::max<int64_t>(1, nodes_.levels)));
    info.add("phases", schedule_.phases);
    info.add("rows_of_one_thread", schedule_.serial_rows);
    info.add("threads", int64_t{schedule_.threads});
    const size_t lists =
        (nodes_.first.size() + nodes_.owner.size() + nodes_.outer.size() + nodes_.level.size()) * sizeof(I) +
        (nodes_.outer_from.size() + gather_from_.size() + blocks_at_.size()) * sizeof(int64_t) +
        gather_.size() * sizeof(O);
    info.add("plan_bytes", static_cast<int64_t>(triangle_.bytes() + blocks_.bytes() + scratch_.bytes() + lists));
  }

 private:
  struct Vectors {
    const S* b;
    S* x;
    int64_t b_row, b_vector, x_row, x_vector;
    S* left;  // by columns: what outer steps subtract, for each vector
  };

  /// A step's row, and a row's step.
  int64_t row_of(int64_t step) const { return ascending_ ? step : n_ - 1 - step; }

  Supernodes<I> nodes(const Desc& desc, Queue& queue) const {
    const auto run = [&queue](int64_t parts, const auto& f) { host_parts_checked<Dev>(queue, parts, f); };
    const int64_t parts = threads_for(desc, queue);
    return find_supernodes(pattern(Rows(triangle_, desc.A), parts, run), most_width, parts, run);
  }

  template <class Run>
  StepPattern<I> pattern(const Rows& rows, int64_t parts, const Run& run) const {
    StepPattern<I> M;
    for (int64_t step = 0; step < n_; ++step) {
      const int64_t row = row_of(step);
      M.offsets.push_back(M.offsets.back() + rows.end(row) - rows.begin(row));
    }
    M.columns.resize(static_cast<size_t>(M.offsets.back()));
    std::vector<std::vector<std::pair<int64_t, int64_t>>> shorter(static_cast<size_t>(parts));  // steps and lengths
    run(parts, [&](int64_t part) {
      for (int64_t step = part_begin(n_, parts, part); step < part_begin(n_, parts, part + 1); ++step) {
        const int64_t row = row_of(step), begin = rows.begin(row), end = rows.end(row);
        const auto first = M.columns.begin() + M.offsets[static_cast<size_t>(step)];
        auto last = first;
        for (int64_t p = begin; p < end; ++p)
          *last++ = static_cast<I>(row_of(rows.column(ascending_ ? p : begin + end - 1 - p)));
        if (std::adjacent_find(first, last, std::greater_equal<I>()) == last) continue;
        std::sort(first, last);
        const auto kept = std::unique(first, last);
        if (kept != last) shorter[static_cast<size_t>(part)].emplace_back(step, kept - first);
      }
    });
    // What doubles leave behind is closed.
    auto to = M.columns.begin();
    int64_t step = 0;
    const auto close_until = [&](int64_t until) {
      for (; step < until; ++step) {
        const auto first = M.columns.begin() + M.offsets[static_cast<size_t>(step)],
                   last = M.columns.begin() + M.offsets[static_cast<size_t>(step) + 1];
        M.offsets[static_cast<size_t>(step)] = to - M.columns.begin();
        to = std::copy(first, last, to);
      }
    };
    bool any = false;
    for (const auto& of_part : shorter) any = any || !of_part.empty();
    if (!any) return M;
    for (const auto& of_part : shorter)
      for (const auto& [at, length] : of_part) {
        close_until(at);
        const auto first = M.columns.begin() + M.offsets[static_cast<size_t>(at)];
        M.offsets[static_cast<size_t>(at)] = to - M.columns.begin();
        to = std::copy(first, first + length, to);
        ++step;
      }
    close_until(n_);
    M.offsets[static_cast<size_t>(n_)] = to - M.columns.begin();
    M.columns.resize(static_cast<size_t>(M.offsets.back()));
    return M;
  }

  /// The number of a supernode's block for its inner step `inner` and its inner or outer step `other`.
  S& element(int64_t s, int64_t inner, int64_t other) {
    const int64_t first = nodes_.first[static_cast<size_t>(s)], length = nodes_.length(s);
    int64_t place = other - first;
    if (place < 0 || place >= nodes_.width(s))
      place = nodes_.width(s) + (std::lower_bound(nodes_.outer_begin(s), nodes_.outer_end(s), static_cast<I>(other)) -
                                 nodes_.outer_begin(s));
    return blocks_.template as<S>()[blocks_at_[static_cast<size_t>(s)] + (inner - first) * length + place];
  }

  void scatter(const Rows& rows, const S* source, int64_t step, int64_t& zero) {
    const int64_t row = row_of(step), mine = nodes_.owner[static_cast<size_t>(step)];
    for (int64_t p = rows.begin(row); p < rows.end(row); ++p) {
      const int64_t column = row_of(rows.column(p));
      S& to = nodes_.by_columns ? element(nodes_.owner[static_cast<size_t>(column)], column, step)
                                : element(mine, step, column);
      to = plus(to, conjugated(source[rows.place(p)], conjugate_));
    }
    S& diagonal = element(mine, step, step);
    diagonal = one<S>();
    if (unit_) return;
    const S d = triangle_.diagonal(rows, source, row);
    if (d == S{}) zero = std::min(zero, row);
    diagonal = conjugated(d, conjugate_);
  }

  /// By columns: (D; B) becomes (D^-1; B D^-1), a column after the other from the last; by rows: (D, C) becomes (D^-1,
  /// -D^-1 C), a row after the other.
  void invert(int64_t s) {
    const int64_t width = nodes_.width(s), length = nodes_.length(s);
    S* const block = blocks_.template as<S>() + blocks_at_[static_cast<size_t>(s)];
    S own[most_width];
    for (int64_t i = 0; i < width; ++i) {
      const int64_t j = nodes_.by_columns ? width - 1 - i : i;
      S* const mine = block + j * length;
      std::copy(mine, mine + width, own);
      std::fill(mine, mine + width, S{});
      mine[j] = one<S>();
      if (!nodes_.by_columns)
        for (int64_t e = width; e < length; ++e) mine[e] = minus(S{}, mine[e]);
      const int64_t from = nodes_.by_columns ? j + 1 : 0, to = nodes_.by_columns ? width : j;
      for (int64_t k = from; k < to; ++k) {
        const S* other = block + k * length;
        const S by = own[k];
        if (by == S{}) continue;
        for (int64_t e = 0; e < length; ++e) mine[e] = minus(mine[e], times(other[e], by));
      }
      const S inverse = inverse_of(own[j]);
      for (int64_t e = 0; e < length; ++e) mine[e] = times(mine[e], inverse);
    }
  }

  void solve_columns(int64_t s, int64_t k, const S& alpha, const Vectors& v, S* scratch) const {
    const int64_t first = nodes_.first[static_cast<size_t>(s)], width = nodes_.width(s), length = nodes_.length(s);
    const auto outer = static_cast<int64_t>(nodes_.outer.size());
    const S* const others = v.left + k * outer;
    S *const in = scratch, *const out = scratch + stride_;
    for (int64_t i = 0; i < width; ++i) {
      S sum{};
      for (int64_t p = gather_from_[static_cast<size_t>(first + i)];
           p < gather_from_[static_cast<size_t>(first + i) + 1]; ++p)
        sum = plus(sum, others[gather_[static_cast<size_t>(p)]]);
      in[i] = minus(times(alpha, v.b[row_of(first + i) * v.b_row + k * v.b_vector]), sum);
    }
    add_columns(blocks_.template as<S>() + blocks_at_[static_cast<size_t>(s)], width, length, in, out);
    for (int64_t i = 0; i < width; ++i) v.x[row_of(first + i) * v.x_row + k * v.x_vector] = out[i];
    std::copy(out + width, out + length, v.left + k * outer + nodes_.outer_from[static_cast<size_t>(s)]);
  }

  void solve_rows(int64_t s, int64_t k, const S& alpha, const Vectors& v, S* scratch) const {
    const int64_t first = nodes_.first[static_cast<size_t>(s)], width = nodes_.width(s), length = nodes_.length(s);
    for (int64_t i = 0; i < width; ++i) scratch[i] = times(alpha, v.b[row_of(first + i) * v.b_row + k * v.b_vector]);
    S* to = scratch + width;
    for (const I* o = nodes_.outer_begin(s); o < nodes_.outer_end(s); ++o)
      *to++ = v.x[row_of(*o) * v.x_row + k * v.x_vector];
    const S* block = blocks_.template as<S>() + blocks_at_[static_cast<size_t>(s)];
    for (int64_t i = 0; i < width; ++i, block += length)
      v.x[row_of(first + i) * v.x_row + k * v.x_vector] = dot(block, scratch, length);
  }

  int64_t n_, vectors_;
  bool ascending_, unit_, conjugate_;
  Triangle triangle_;
  Supernodes<I> nodes_;
  levels::BlockSchedule schedule_;
  levels::BlockRunner runner_;
  Buffer blocks_, scratch_;
  int64_t stride_ = 0, zero_ = INT64_MAX;
  std::vector<int64_t> blocks_at_, gather_from_, zeros_of_part_;
  std::vector<O> gather_;  // by columns: places among all outer steps
};

inline std::string unsupported(const Desc& desc) {
  return desc.values_kept ? std::string() : "needs option values = kept";
}

}  // namespace host_supernodal_parts

template <class Dev>
constexpr Implementation host_supernodal() {
  return {{"host_supernodal"},
          true,
          host_supernodal_parts::unsupported,
          make_typed<Dev, host_supernodal_parts::SupernodalKernel>};
}

}  // namespace kkc::sptrsv

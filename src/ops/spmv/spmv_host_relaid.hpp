// spmv, host_relaid: keeps the values in groups of eight rows, entry by entry, so that one vector load serves eight
// rows (SELL-8: Kreutzer, Hager, Wellein, Fehske, Bishop, "A unified sparse matrix data format", SIAM J. Sci. Comput.
// 36(5), 2014). Groups whose rows have the same relative columns share one list of offsets and read x by vector loads.
// The same bits run to run.
#pragma once

#include "device/host_shared_parts.hpp"
#include "ops/spmv/spmv_host_groups.hpp"

namespace kkc::spmv {

namespace host_relaid_parts {

/// How a run of groups is stored. `relative`: columns of the first row minus its number. `lanes`: eight lengths, then
/// eight columns an entry. `rows`: eight lengths, then columns row by row, when the lengths differ too much.
enum class Form : int32_t { relative, lanes, rows };

struct StoredRun {
  int64_t row;
  int64_t values, columns;  // where they begin
  int32_t groups, length;   // length: longest row
  Form form;
  int32_t rows;  // of a last, short group; else 8
};

/// Eight elements: reals, or real parts and imaginary parts.
template <class S>
struct Eight {
  using R = typename PartType<S>::type;
  Pack<R, 8> re{}, im{};

  void load_values(const S* from) {
    load(re, reinterpret_cast<const R*>(from));
    if constexpr (!is_real<S>) load(im, reinterpret_cast<const R*>(from) + 8);
  }
  /// Eight neighbours of a vector in its own order.
  void load_x(const S* from) {
    if constexpr (is_real<S>) {
      load(re, from);
    } else {
      Pack<R, 8> a, b;
      load(a, reinterpret_cast<const R*>(from));
      load(b, reinterpret_cast<const R*>(from) + 8);
      re = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
      im = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
    }
  }
  template <class I>
  void gather_x(const S* x, const I* columns) {
    if constexpr (is_real<S>) {
      gather<R>(re, x, columns);
    } else {
      for (int lane = 0; lane < 8; ++lane) {
        re[lane] = x[columns[lane]].re;
        im[lane] = x[columns[lane]].im;
      }
    }
  }
  /// this += sign * a * b, where the sign is that of a's imaginary part.
  void add(const Eight& a, const Eight& b, [[maybe_unused]] R sign) {
    re += a.re * b.re;
    if constexpr (!is_real<S>) {
      const Pack<R, 8> a_im = a.im * sign;
      re -= a_im * b.im;
      im += a.re * b.im + a_im * b.re;
    }
  }
  S lane(int i) const {
    if constexpr (is_real<S>)
      return re[i];
    else
      return {re[i], im[i]};
  }
};

template <class Dev, class S, class I, class O>
class RelaidKernel final : public Kernel {
  using R = typename PartType<S>::type;
  using Matrix = HostCsr<S, I, O>;

 public:
  RelaidKernel(const Desc& desc, Queue& queue) : sign_(conjugates(desc.op) ? -1 : 1) {
    const Matrix A(desc.A);
    const int64_t parts = shared_parts_for(A, queue);
    const std::vector<int64_t> cuts = group_cuts(A, parts);
    parts_.resize(static_cast<size_t>(parts));
    turns_ = SharedParts(parts, parts_for(A, queue));
    host_parts_checked<Dev>(queue, parts, [&](int64_t p) {
      Part& part = parts_[static_cast<size_t>(p)];
      for (const GroupRun& run : find_runs(A, cuts[static_cast<size_t>(p)], cuts[static_cast<size_t>(p) + 1]))
        lay_out(A, run, part);
    });
    // Each part begins on a boundary that vectors like.
    for (Part& part : parts_) {
      part.values_begin = values_count_;
      part.columns_begin = columns_count_;
      values_count_ += (part.values + 15) / 16 * 16;
      columns_count_ += (part.columns + 15) / 16 * 16;
    }
    values_ = Buffer(desc.memory, Space::host, static_cast<size_t>(values_count_) * sizeof(S));
    columns_ = Buffer(desc.memory, Space::host, static_cast<size_t>(columns_count_) * sizeof(I));
    turns_.run<Dev>(queue, [&](int64_t p) {
      Part& part = parts_[static_cast<size_t>(p)];
      for (StoredRun& run : part.runs) {
        run.values += part.values_begin;
        run.columns += part.columns_begin;
        fill_columns(A, run);
      }
    });
  }

  bool keeps_values() const override { return true; }

  /// The first call is the first touch too, by the threads that will mostly read.
  void set_values(Queue& queue, const CsrRef& source) override {
    const Matrix A(source);
    turns_.run<Dev>(queue, [&](int64_t p) {
      for (const StoredRun& run : parts_[static_cast<size_t>(p)].runs) fill_values(A, run);
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const Update<S> update(args.alpha, args.beta);
    if (is_zero(update.alpha)) return scale_all<Dev>(queue, args.y, update);
    const S* x = vector_of<S>(args.x, 0);
    S* y = vector_of<S>(args.y, 0);
    const int64_t y_stride = args.y.strides[0];
    turns_.run<Dev>(queue, [&](int64_t p) {
      for (const StoredRun& run : parts_[static_cast<size_t>(p)].runs) switch (run.form) {
          case Form::relative: multiply_relative(run, update, x, y, y_stride); break;
          case Form::lanes: multiply_lanes(run, update, x, y, y_stride); break;
          case Form::rows: multiply_rows(run, update, x, y, y_stride); break;
        }
    });
  }

  void describe(Info& info) const override {
    info.add("kept_value_bytes", static_cast<int64_t>(values_.bytes()));
    info.add("index_bytes", static_cast<int64_t>(columns_.bytes()));
  }

 private:
  struct Part {
    std::vector<StoredRun> runs;
    int64_t values = 0, columns = 0, values_begin = 0, columns_begin = 0;
  };

  static void lay_out(const Matrix& A, const GroupRun& run, Part& part) {
    const auto push = [&](int64_t row, int64_t groups, int64_t length, Form form, int64_t rows, int64_t values,
                          int64_t columns) {
      part.runs.push_back({row, part.values, part.columns, static_cast<int32_t>(groups), static_cast<int32_t>(length),
                           form, static_cast<int32_t>(rows)});
      part.values += values;
      part.columns += columns;
    };
    if (run.alike)
      return push(run.row, run.rows / group_rows, run.length, Form::relative, group_rows, run.rows * run.length,
                  run.length);
    for (int64_t row = run.row; row < run.row + run.rows; row += group_rows) {
      const int64_t last = std::min(row + group_rows, run.row + run.rows), entries = A.begin(last) - A.begin(row);
      int64_t longest = 0;
      for (int64_t r = row; r < last; ++r) longest = std::max(longest, A.begin(r + 1) - A.begin(r));
      if (last - row == group_rows && longest * group_rows <= entries + entries / 2)
        push(row, 1, longest, Form::lanes, group_rows, longest * group_rows, (longest + 1) * group_rows);
      else
        push(row, 1, longest, Form::rows, last - row, entries, entries + group_rows);
    }
  }

  void fill_columns(const Matrix& A, const StoredRun& run) {
    I* columns = columns_.as<I>() + run.columns;
    if (run.form == Form::relative) {
      for (int64_t i = 0; i < run.length; ++i) columns[i] = static_cast<I>(A.column(A.begin(run.row) + i) - run.row);
      return;
    }
    for (int64_t r = 0; r < group_rows; ++r)
      columns[r] = r < run.rows ? static_cast<I>(A.begin(run.row + r + 1) - A.begin(run.row + r)) : I{0};
    if (run.form == Form::rows) {
      for (int64_t p = A.begin(run.row), to = group_rows; p < A.begin(run.row + run.rows); ++p, ++to)
        columns[to] = static_cast<I>(A.column(p));
      return;
    }
    for (int64_t r = 0; r < group_rows; ++r) {
      const int64_t begin = A.begin(run.row + r);
      for (int64_t i = 0; i < run.length; ++i)
        columns[(i + 1) * group_rows + r] = i < columns[r] ? static_cast<I>(A.column(begin + i)) : I{0};
    }
  }

  /// Entry i of eight rows whose entries begin at from[0..7]; the parts of complex numbers in vectors of their own.
  static void store_entry(S* to, const S* const* from, const I* lengths, int64_t i) {
    if constexpr (is_real<S>) {
      for (int r = 0; r < 8; ++r) to[r] = lengths == nullptr || i < lengths[r] ? from[r][i] : S{};
    } else {
      R* parts = reinterpret_cast<R*>(to);
      for (int r = 0; r < 8; ++r) {
        const S v = lengths == nullptr || i < lengths[r] ? from[r][i] : S{};
        parts[r] = v.re;
        parts[r + 8] = v.im;
      }
    }
  }

  void fill_values(const Matrix& A, const StoredRun& run) {
    S* to = values_.as<S>() + run.values;
    const int64_t begin = A.begin(run.row);
    const S* source = A.values + begin;
    if (run.form == Form::rows) {
      std::copy_n(source, A.begin(run.row + run.rows) - begin, to);
      return;
    }
    const I* lengths = run.form == Form::lanes ? columns_.as<I>() + run.columns : nullptr;
    for (int64_t g = 0; g < run.groups; ++g) {
      const S* from[8];
      for (int64_t r = 0; r < 8; ++r)
        from[r] = lengths == nullptr ? source + (g * 8 + r) * run.length : A.values + A.begin(run.row + r);
      for (size_t byte = 0; byte < 8 * static_cast<size_t>(run.length) * sizeof(S); byte += 64)
        prefetch(reinterpret_cast<const char*>(from[0]) + 4096 + byte);
      for (int64_t i = 0; i < run.length; ++i, to += 8) store_entry(to, from, lengths, i);
    }
  }

  static void prefetch_values(const S* values) {
    for (size_t byte = 0; byte < 8 * sizeof(S); byte += 64)
      prefetch(reinterpret_cast<const char*>(values) + row_product::value_bytes_ahead + byte);
  }

  static void store_group(const Eight<S>& sum, const Update<S>& update, S* y, int64_t y_stride) {
    if constexpr (is_real<S>) {
      update_packed(update, sum.re, y, y_stride);
    } else {
      for (int r = 0; r < 8; ++r) update(y[r * y_stride], sum.lane(r));
    }
  }

  void multiply_relative(const StoredRun& run, const Update<S>& update, const S* x, S* y, int64_t y_stride) const {
    const I* columns = columns_.as<I>() + run.columns;
    const S* values = values_.as<S>() + run.values;
    for (int64_t row = run.row; row < run.row + run.groups * group_rows; row += group_rows) {
      Eight<S> even, odd, a, b;
      const S* x_row = x + row;
      int32_t i = 0;
      for (; i + 2 <= run.length; i += 2, values += 16) {
        prefetch_values(values);
        a.load_values(values);
        b.load_x(x_row + columns[i]);
        even.add(a, b, sign_);
        prefetch_values(values + 8);
        a.load_values(values + 8);
        b.load_x(x_row + columns[i + 1]);
        odd.add(a, b, sign_);
      }
      if (i < run.length) {
        prefetch_values(values);
        a.load_values(values);
        b.load_x(x_row + columns[i]);
        even.add(a, b, sign_);
        values += 8;
      }
      even.re += odd.re;
      even.im += odd.im;
      store_group(even, update, y + row * y_stride, y_stride);
    }
  }

  void multiply_lanes(const StoredRun& run, const Update<S>& update, const S* x, S* y, int64_t y_stride) const {
    const I* columns = columns_.as<I>() + run.columns;
    const S* values = values_.as<S>() + run.values;
    const I shortest = *std::min_element(columns, columns + 8);
    Eight<S> sum, a, b;
    for (int32_t i = 0; i < run.length; ++i, values += 8) {
      prefetch_values(values);
      a.load_values(values);
      b.gather_x(x, columns + 8 * (i + 1));
      // A lane past its row's end adds nothing, not even 0 times infinity.
      if (i >= shortest)
        for (int r = 0; r < 8; ++r)
          if (i >= columns[r]) b.re[r] = b.im[r] = 0;
      sum.add(a, b, sign_);
    }
    store_group(sum, update, y + run.row * y_stride, y_stride);
  }

  void multiply_rows(const StoredRun& run, const Update<S>& update, const S* x, S* y, int64_t y_stride) const {
    const I* lengths = columns_.as<I>() + run.columns;
    const I* columns = lengths + group_rows;
    const S* values = values_.as<S>() + run.values;
    int64_t p = 0;
    for (int32_t r = 0; r < run.rows; ++r) {
      update(y[(run.row + r) * y_stride], row_product::plain_row(values, columns, x, 1, p, p + lengths[r], sign_ < 0));
      p += lengths[r];
    }
  }

  R sign_;
  std::vector<Part> parts_;
  SharedParts turns_;
  int64_t values_count_ = 0, columns_count_ = 0;
  Buffer values_, columns_;
};

inline std::string unsupported(const Desc& desc) {
  if (!desc.values_kept) return "needs option values = kept";
  if (std::string refusal = group_refusal(desc); !refusal.empty()) return refusal;
  if (alike_share(desc.A) < 0.5) return "fewer than half of the groups of eight rows have the same relative columns";
  return {};
}

}  // namespace host_relaid_parts

template <class Dev>
constexpr Implementation host_relaid() {
  return {{"host_relaid"}, true, host_relaid_parts::unsupported, make_typed<Dev, host_relaid_parts::RelaidKernel>};
}

}  // namespace kkc::spmv

// spmv, host_sliced: keeps the values of eight rows entry by entry, so that one vector serves eight rows that have
// nothing in common but about their length (SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop, "A unified sparse
// matrix data format", SIAM J. Sci. Comput. 36(5), 2014). Nothing is padded: where rows have ended, a vector is loaded
// by a mask. Rows long enough to be shared by threads are cut (Merrill, Garland, "Merge-based parallel sparse
// matrix-vector multiplication", SC'16, section 3). The same bits run to run.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "device/host_shared_parts.hpp"
#include "ops/spmv/spmv_host_groups.hpp"

namespace kkc::spmv {

namespace host_sliced_parts {

/// Rows that are put in order of their lengths together.
inline constexpr int64_t sorted_rows = 256;

template <class Dev, class S, class I, class O>
class SlicedKernel final : public Kernel {
  using Matrix = HostCsr<S, I, O>;

 public:
  SlicedKernel(const Desc& desc, Queue& queue)
      : rows_(desc.memory, Space::host, static_cast<size_t>(desc.A.rows) * sizeof(I)),
        columns_(desc.memory, Space::host, static_cast<size_t>(desc.A.nnz) * sizeof(I)),
        values_(desc.memory, Space::host, static_cast<size_t>(desc.A.nnz) * sizeof(S)) {
    const Matrix A(desc.A);
    longest_ = most_of_one_thread(A.nnz);
    const int64_t parts = shared_parts_for(A, queue);
    const std::vector<int64_t> cuts = group_cuts(A, parts);
    parts_.resize(static_cast<size_t>(parts));
    host_parts_checked<Dev>(queue, parts, [&](int64_t p) {
      Part& part = parts_[static_cast<size_t>(p)];
      part.row = cuts[static_cast<size_t>(p)];
      lay_out(A, part, cuts[static_cast<size_t>(p) + 1]);
    });
    int64_t entries = 0;
    for (Part& part : parts_) entries += std::exchange(part.entry, entries);
    for (const Part& part : parts_)
      for (const int64_t row : part.long_rows) cut(A, row, entries);
    turns_ = SharedParts(parts + std::ssize(pieces_), parts_for(A, queue));
    each_entry(queue, A, [&](int64_t to, int64_t from) { columns_.as<I>()[to] = static_cast<I>(A.column(from)); });
  }

  bool keeps_values() const override { return true; }

  /// The first call is the first touch too, by the threads that will mostly read.
  void set_values(Queue& queue, const CsrRef& source) override {
    const Matrix A(source);
    each_entry(queue, A, [&](int64_t to, int64_t from) { values_.as<S>()[to] = A.values[from]; });
  }

  void execute(Queue& queue, const Args& args) override {
    const Update<S> by(args.alpha, args.beta);
    if (is_zero(by.alpha)) return scale_all<Dev>(queue, args.y, by);
    const S* const x = vector_of<S>(args.x, 0);
    S* const y = vector_of<S>(args.y, 0);
    const int64_t y_stride = args.y.strides[0];
    turns_.run<Dev>(queue, [&](int64_t p) {
      if (p < std::ssize(parts_)) return multiply(parts_[static_cast<size_t>(p)], by, x, y, y_stride);
      Piece& piece = pieces_[static_cast<size_t>(p - std::ssize(parts_))];
      piece.sum = row_product::masked_row(values_.as<S>(), columns_.as<I>(), x, piece.entry, piece.end);
    });
    for (size_t piece = 0; piece < pieces_.size();) {
      const int64_t row = pieces_[piece].row;
      S sum{};
      for (; piece < pieces_.size() && pieces_[piece].row == row; ++piece) sum += pieces_[piece].sum;
      y[row * y_stride] += by.alpha * sum;  // what was there has been scaled
    }
  }

  void describe(Info& info) const override {
    int64_t along = 0;
    for (const Part& part : parts_)
      for (const Group& group : part.groups) along += group.along ? group.rows : 0;
    info.add("parts", std::ssize(parts_) + std::ssize(pieces_));
    info.add("rows_by_themselves", along);
    info.add("kept_value_bytes", static_cast<int64_t>(values_.bytes()));
    info.add("index_bytes", static_cast<int64_t>(columns_.bytes() + rows_.bytes()));
  }

 private:
  /// Up to eight rows, the longest first.
  struct Group {
    int32_t full;     // entries that all eight rows have; of rows by themselves, none
    int32_t further;  // that some of them have: how many rows, one after the other in `lanes`
    uint8_t rows;
    bool follow;  // rows that follow one another
    bool along;   // rows by themselves: one is far longer than the others
  };
  struct Part {
    int64_t row = 0, entry = 0;  // entry: in lay_out(), how many
    std::vector<Group> groups;
    std::vector<uint8_t> lanes;
    std::vector<int32_t> lengths;    // of rows by themselves
    std::vector<int64_t> long_rows;  // to be cut
  };
  /// Of a long row; `from` in A.
  struct Piece {
    int64_t row, from, entry, end;
    S sum;
  };

  void cut(const Matrix& A, int64_t row, int64_t& entries) {
    constexpr int64_t most = 8192;
    const int64_t begin = A.begin(row), length = A.begin(row + 1) - begin, count = (length + most - 1) / most;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t first = part_begin(length, count, k), last = part_begin(length, count, k + 1);
      pieces_.push_back({row, begin + first, entries + first, entries + last, S{}});
    }
    entries += length;
  }

  void lay_out(const Matrix& A, Part& part, int64_t end) {
    I* const rows = rows_.template as<I>();
    // Here long rows have no entries.
    const auto length = [&](I row) {
      const int64_t entries = A.begin(row + 1) - A.begin(row);
      return entries > longest_ ? 0 : entries;
    };
    for (int64_t row = part.row; row < end; ++row) {
      part.entry += length(static_cast<I>(row));
      if (A.begin(row + 1) - A.begin(row) > longest_) part.long_rows.push_back(row);
    }
    std::iota(rows + part.row, rows + end, static_cast<I>(part.row));
    for (int64_t first = part.row; first < end; first += sorted_rows)
      std::stable_sort(rows + first, rows + std::min(end, first + sorted_rows),
                       [&](I a, I b) { return length(a) > length(b); });
    for (int64_t first = part.row; first < end; first += group_rows) {
      const I* const some = rows + first;
      const int64_t count = std::min(group_rows, end - first), longest = length(some[0]);
      int64_t vectors = 0;  // of rows by themselves
      for (int64_t r = 0; r < count; ++r) vectors += 2 + length(some[r]) / group_rows;
      Group group{0, 0, static_cast<uint8_t>(count), true, longest > vectors};
      for (int64_t r = 1; r < count; ++r) group.follow &= some[r] == some[r - 1] + 1;
      if (group.along) {
        for (int64_t r = 0; r < count; ++r) part.lengths.push_back(static_cast<int32_t>(length(some[r])));
      } else {
        group.full = static_cast<int32_t>(count == group_rows ? length(some[count - 1]) : 0);
        group.further = static_cast<int32_t>(longest - group.full);
        for (int64_t i = group.full, lanes = count; i < longest; ++i) {
          while (length(some[lanes - 1]) <= i) --lanes;
          part.lanes.push_back(static_cast<uint8_t>(lanes));
        }
      }
      part.groups.push_back(group);
    }
  }

  /// f(place, entry of A) for all entries.
  template <class F>
  void each_entry(Queue& queue, const Matrix& A, const F& f) {
    turns_.run<Dev>(queue, [&](int64_t p) {
      if (p < std::ssize(parts_)) return each_entry(A, parts_[static_cast<size_t>(p)], f);
      const Piece& piece = pieces_[static_cast<size_t>(p - std::ssize(parts_))];
      for (int64_t to = piece.entry; to < piece.end; ++to) f(to, piece.from + (to - piece.entry));
    });
  }
  template <class F>
  void each_entry(const Matrix& A, const Part& part, const F& f) const {
    const I* row = rows_.template as<I>() + part.row;
    const uint8_t* lanes = part.lanes.data();
    const int32_t* lengths = part.lengths.data();
    int64_t to = part.entry;
    for (const Group& group : part.groups) {
      if (group.along) {
        for (int64_t r = 0; r < group.rows; ++r, ++lengths)
          for (int64_t i = 0; i < *lengths; ++i) f(to++, A.begin(row[r]) + i);
      } else {
        int64_t begins[group_rows];
        for (int64_t r = 0; r < group.rows; ++r) begins[r] = A.begin(row[r]);
        for (int64_t i = 0; i < group.full; ++i)
          for (const int64_t begin : begins) f(to++, begin + i);
        for (int64_t i = group.full; i < group.full + group.further; ++i, ++lanes)
          for (int64_t r = 0; r < *lanes; ++r) f(to++, begins[r] + i);
      }
      row += group.rows;
    }
  }

  void multiply(const Part& part, const Update<S>& by, const S* x, S* y, int64_t y_stride) const {
    const Update<S> update = by;
    const I* row = rows_.template as<I>() + part.row;
    const uint8_t* lanes = part.lanes.data();
    const int32_t* lengths = part.lengths.data();
    const I* columns = columns_.template as<I>() + part.entry;
    const S* values = values_.template as<S>() + part.entry;
    for (const Group& group : part.groups) {
      if (group.along) {
        for (int64_t r = 0; r < group.rows; ++r, ++lengths) {
          update(y[row[r] * y_stride], row_product::masked_row(values, columns, x, int64_t{0}, int64_t{*lengths}));
          values += *lengths;
          columns += *lengths;
        }
      } else {
        Pack<S, 8> sums{}, v, w;
        for (int32_t i = 0; i < group.full; ++i) {
          row_product::prefetch_ahead(values, columns);
          gather<S>(w, x, columns);
          load(v, values);
          sums += v * w;
          values += 8;
          columns += 8;
        }
        for (int32_t i = 0; i < group.further; ++i, ++lanes) {
          load_some<S>(v, values, *lanes);
          gather_some<S>(w, x, columns, *lanes);
          sums += v * w;
          values += *lanes;
          columns += *lanes;
        }
        if (group.follow && group.rows == 8)
          update_packed(update, sums, y + row[0] * y_stride, y_stride);
        else
          for (int64_t r = 0; r < group.rows; ++r) update(y[row[r] * y_stride], sums[r]);
      }
      row += group.rows;
    }
  }

  int64_t longest_ = 0;  // row that one thread takes
  std::vector<Part> parts_;
  std::vector<Piece> pieces_;
  SharedParts turns_;
  Buffer rows_;  // I: in the order of groups
  Buffer columns_, values_;
};

inline std::string unsupported(const Desc& desc) {
  if (!desc.values_kept) return "needs option values = kept";
  if (!has_masks<double, int32_t>) return "this build of kkc has no vectors with masks (AVX-512)";
  if (desc.A.scalar != Scalar::f64 && desc.A.scalar != Scalar::f32) return "takes real numbers";
  return vector_refusal(desc);
}

/// Null where unsupported() refuses.
template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using S = Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    if constexpr (has_masks<S, typename P::ordinal>)
      kernel = std::make_unique<SlicedKernel<Dev, S, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

}  // namespace host_sliced_parts

template <class Dev>
constexpr Implementation host_sliced() {
  return {{"host_sliced"}, true, host_sliced_parts::unsupported, host_sliced_parts::make<Dev>};
}

}  // namespace kkc::spmv

#include "matrix_coordinates.hpp"

#include <atomic>
#include <string>

#include "dispatch.hpp"
#include "matrix_parallel.hpp"

namespace kkc {
namespace {

constexpr int64_t grain = 1 << 16;  // entries below which a further thread does not pay

template <class V>
V mirrored(const V& value, Mirror mirror) {
  if constexpr (std::is_same_v<V, NoValue>) {
    return value;
  } else {
    if (mirror == Mirror::negated) return -value;
    if constexpr (is_complex<V>)
      if (mirror == Mirror::conjugated) return std::conj(value);
    return value;
  }
}

template <class V>
constexpr bool has_value = !std::is_same_v<V, NoValue>;

/// Sorts one row by column, keeping the order of equal columns, and adds those up. Returns the new length.
template <class I, class V>
int64_t sort_and_merge(I* cols, V* values, int64_t n) {
  if constexpr (!has_value<V>) {
    std::sort(cols, cols + n);
    return std::unique(cols, cols + n) - cols;
  } else {
    struct Entry {
      I col;
      V value;
    };
    if (n <= 24) {
      for (int64_t k = 1; k < n; ++k) {
        const Entry e{cols[k], values[k]};
        int64_t at = k;
        for (; at > 0 && cols[at - 1] > e.col; --at) {
          cols[at] = cols[at - 1];
          values[at] = values[at - 1];
        }
        cols[at] = e.col;
        values[at] = e.value;
      }
    } else if (!std::is_sorted(cols, cols + n)) {
      std::vector<Entry> entries(static_cast<size_t>(n));
      for (int64_t k = 0; k < n; ++k) entries[static_cast<size_t>(k)] = {cols[k], values[k]};
      std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.col < b.col; });
      for (int64_t k = 0; k < n; ++k) {
        cols[k] = entries[static_cast<size_t>(k)].col;
        values[k] = entries[static_cast<size_t>(k)].value;
      }
    }
    int64_t kept = 0;
    for (int64_t k = 0; k < n; ++k) {
      if (kept > 0 && cols[kept - 1] == cols[k]) {
        values[kept - 1] += values[k];
      } else {
        cols[kept] = cols[k];
        values[kept] = values[k];
        ++kept;
      }
    }
    return kept;
  }
}

template <class I, class O, class V>
class Builder {
 public:
  Builder(const CoordinateRef& e, Mirror mirror, const std::shared_ptr<const Memory>& memory)
      : e_(e), mirror_(mirror), memory_(memory), threads_(host_threads(*memory)) {}

  HostCsr run() {
    out_.pair = e_.pair;
    out_.scalar = e_.scalar;
    out_.rows = e_.rows;
    out_.cols = e_.cols;
    const int64_t total = count_entries();
    require_entries_fit("the matrix", static_cast<unsigned __int128>(total), e_.pair);
    scatter(total);
    merge();
    return std::move(out_);
  }

 private:
  bool doubled(int64_t k) const { return mirror_ != Mirror::none && rows_[k] != cols_[k]; }

  int64_t count_entries() {
    if (mirror_ == Mirror::none) return e_.count;
    const int parts = part_count(threads_, e_.count, grain);
    std::vector<int64_t> counts(static_cast<size_t>(parts));
    run_parts(parts, [&](int part) {
      const Range r = part_of(e_.count, part, parts);
      int64_t count = 0;
      for (int64_t k = r.begin; k < r.end; ++k) count += rows_[k] != cols_[k] ? 2 : 1;
      counts[static_cast<size_t>(part)] = count;
    });
    int64_t total = 0;
    for (int64_t count : counts) total += count;
    return total;
  }

  // Each part counts and places its own run of the entries, so that a row receives them in the order given.
  void scatter(int64_t total) {
    const int64_t rows = e_.rows;
    // Counters of all parts together stay smaller than the entries.
    const int by_memory = static_cast<int>(std::clamp<int64_t>(total / std::max<int64_t>(rows, 1), 1, threads_));
    const int parts = std::min(by_memory, part_count(threads_, e_.count, grain));
    counters_ = host_array<O>(memory_, rows * parts);
    O* const counters = counters_.template as<O>();
    run_parts(parts, [&](int part) {
      O* const mine = counters + rows * part;
      std::fill_n(mine, rows, O{0});
      const Range r = part_of(e_.count, part, parts);
      for (int64_t k = r.begin; k < r.end; ++k) {
        ++mine[rows_[k]];
        if (doubled(k)) ++mine[cols_[k]];
      }
    });

    out_.offsets = host_array<O>(memory_, rows + 1);
    O* const offsets = out_.offsets.template as<O>();
    const int row_parts = part_count(threads_, rows, grain);
    run_parts(row_parts, [&](int part) {
      const Range r = part_of(rows, part, row_parts);
      for (int64_t i = r.begin; i < r.end; ++i) {
        O sum = 0;
        for (int p = 0; p < parts; ++p) sum += counters[rows * p + i];
        offsets[i] = sum;
      }
    });
    counts_to_offsets(offsets, rows, offsets, threads_);
    run_parts(row_parts, [&](int part) {
      const Range r = part_of(rows, part, row_parts);
      for (int64_t i = r.begin; i < r.end; ++i) {
        O at = offsets[i];
        for (int p = 0; p < parts; ++p) {
          const O count = counters[rows * p + i];
          counters[rows * p + i] = at;
          at += count;
        }
      }
    });

    allocate_entries(total);
    I* const out_cols = out_.indices.template as<I>();
    V* const out_values = out_.values.template as<V>();
    const V* const values = static_cast<const V*>(e_.values);
    run_parts(parts, [&](int part) {
      O* const next = counters + rows * part;
      const Range r = part_of(e_.count, part, parts);
      for (int64_t k = r.begin; k < r.end; ++k) {
        const O at = next[rows_[k]]++;
        out_cols[at] = cols_[k];
        if constexpr (has_value<V>) out_values[at] = values[k];
        if (doubled(k)) {
          const O other = next[cols_[k]]++;
          out_cols[other] = rows_[k];
          if constexpr (has_value<V>) out_values[other] = mirrored(values[k], mirror_);
        }
      }
    });
  }

  void allocate_entries(int64_t count) {
    out_.nnz = count;
    out_.indices = host_array<I>(memory_, count);
    if constexpr (has_value<V>) out_.values = host_array<V>(memory_, count);
  }

  void merge() {
    const int64_t rows = out_.rows;
    const O* const offsets = out_.offsets.template as<O>();
    I* const cols = out_.indices.template as<I>();
    V* const values = out_.values.template as<V>();
    O* const lengths = counters_.template as<O>();  // its first part's room is free again
    constexpr int64_t rows_a_step = 1024;
    const int parts = part_count(threads_, out_.nnz, grain);
    std::atomic<int64_t> next{0}, removed{0};
    run_parts(parts, [&](int) {
      int64_t gone = 0;
      for (int64_t begin; (begin = next.fetch_add(rows_a_step)) < rows;) {
        const int64_t end = std::min(rows, begin + rows_a_step);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t first = offsets[i], n = static_cast<int64_t>(offsets[i + 1]) - first;
          int64_t k = 1;
          while (k < n && cols[first + k - 1] < cols[first + k]) ++k;
          int64_t length = n;
          if (k < n) length = sort_and_merge(cols + first, has_value<V> ? values + first : nullptr, n);
          lengths[i] = static_cast<O>(length);
          gone += n - length;
        }
      }
      removed += gone;
    });
    if (removed > 0) compact(out_.nnz - removed);
  }

  void compact(int64_t count) {
    const HostCsr wide = std::move(out_);
    const int64_t rows = wide.rows;
    out_.pair = wide.pair;
    out_.scalar = wide.scalar;
    out_.rows = rows;
    out_.cols = wide.cols;
    out_.offsets = host_array<O>(memory_, rows + 1);
    const O* const from = wide.offsets.template as<O>();
    O* const to = out_.offsets.template as<O>();
    counts_to_offsets(counters_.template as<O>(), rows, to, threads_);
    allocate_entries(count);
    const int parts = part_count(threads_, count, grain);
    run_parts(parts, [&](int part) {
      const Range r = rows_of<O>(to, rows, 0, part, parts);
      for (int64_t i = r.begin; i < r.end; ++i) {
        const int64_t n = to[i + 1] - to[i];
        std::copy_n(wide.indices.template as<I>() + from[i], n, out_.indices.template as<I>() + to[i]);
        if constexpr (has_value<V>)
          std::copy_n(wide.values.template as<V>() + from[i], n, out_.values.template as<V>() + to[i]);
      }
    });
  }

  const CoordinateRef& e_;
  const Mirror mirror_;
  const std::shared_ptr<const Memory>& memory_;
  const int threads_;
  const I* const rows_ = static_cast<const I*>(e_.row_indices);
  const I* const cols_ = static_cast<const I*>(e_.col_indices);
  HostCsr out_;
  Buffer counters_;
};

template <class F>
void dispatch_with_none(Scalar scalar, IndexPair pair, F&& f) {
  if (scalar == Scalar::none)
    dispatch_index_pair(IndexPairs{}, pair, [&](auto p) { f(Type<NoValue>{}, p); });
  else
    dispatch(scalar, pair, f);
}

}  // namespace

HostCsr csr_from_coordinates(const CoordinateRef& entries, Mirror mirror, const std::shared_ptr<const Memory>& memory) {
  HostCsr out;
  dispatch_with_none(entries.scalar, entries.pair, [&](auto s, auto p) {
    using V = typename decltype(s)::type;
    using P = decltype(p);
    out = Builder<typename P::ordinal, typename P::offset, V>(entries, mirror, memory).run();
  });
  return out;
}

HostCsr sorted_csr(const CsrRef& a, const std::shared_ptr<const Memory>& memory) {
  HostCsr out;
  dispatch_index_pair(IndexPairs{}, a.pair, [&](auto p) {
    using I = typename decltype(p)::ordinal;
    using O = typename decltype(p)::offset;
    const Buffer row_indices = host_array<I>(memory, a.nnz), col_indices = host_array<I>(memory, a.nnz);
    const auto* offsets = static_cast<const O*>(a.offsets);
    const auto* indices = static_cast<const I*>(a.indices);
    const int parts = part_count(host_threads(*memory), a.nnz, grain);
    run_parts(parts, [&](int part) {
      const Range r = rows_of<O>(offsets, a.rows, static_cast<O>(a.base), part, parts);
      for (int64_t i = r.begin; i < r.end; ++i)
        for (int64_t k = offsets[i] - a.base; k < offsets[i + 1] - a.base; ++k) {
          row_indices.as<I>()[k] = static_cast<I>(i);
          col_indices.as<I>()[k] = static_cast<I>(indices[k] - a.base);
        }
    });
    const CoordinateRef entries{a.pair,  a.scalar, a.rows, a.cols, a.nnz, row_indices.data(), col_indices.data(),
                                a.values};
    out = csr_from_coordinates(entries, Mirror::none, memory);
  });
  return out;
}

void require_fits(const char* what, int64_t rows, int64_t cols, IndexPair pair) {
  if (pair == IndexPair::i64_64) return;
  const char* const kind = rows > INT32_MAX ? " rows" : " columns";
  require(rows <= INT32_MAX && cols <= INT32_MAX, KKC_STATUS_OVERFLOW, what, " has ", rows > INT32_MAX ? rows : cols,
          kind, ", which indices of 32 bits cannot count; expected at most ", INT32_MAX, " (or index pair 64_64)");
}

void require_entries_fit(const char* what, unsigned __int128 entries, IndexPair pair) {
  const auto most = static_cast<uint64_t>(pair == IndexPair::i32_32 ? INT32_MAX : INT64_MAX);
  if (entries <= most) return;
  std::string digits;
  for (auto rest = entries; rest != 0; rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  fail(KKC_STATUS_OVERFLOW, what, " has ", digits, " entries, which row offsets of ", 8 * offset_size(pair),
       " bits cannot count; expected at most ", most, pair == IndexPair::i32_32 ? " (or index pair 32_64)" : "");
}

}  // namespace kkc

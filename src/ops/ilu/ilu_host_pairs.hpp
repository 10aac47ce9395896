// Where rows are not alike and share few columns: the entries that each has in common with each row it needs, found
// once by the plan. Execute then reads neither the columns of needed rows nor numbers that it has no use for.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/host_parallel.hpp"
#include "ilu_host_column_filter.hpp"
#include "ilu_host_schedule.hpp"
#include "ops/ilu/ilu.hpp"

namespace kkc::ilu {

/// Entries of two rows in the same column: the first's by its place in the row, the needed row's by its place behind
/// the diagonal entry (LU) or behind the first entry (Cholesky).
struct HostPair {
  uint16_t own, needed;
};

template <class I, class O>
class HostPairs {
 public:
  /// Of a row: for each row that it needs, in order, how many pairs, and those. Not known of a row that is too long, or
  /// needs one that is.
  struct Row {
    const uint16_t* counts;
    const HostPair* pairs;
    bool known;
  };

  HostPairs() = default;
  HostPairs(Queue& queue, Form form, const LowerRows<I, O>& rows) : form_(form), rows_(rows) {
    const int64_t most = rows.rows > 0 ? worth_keeping(queue) : 0;
    if (most == 0) return;
    chunk_bits_ = std::bit_width(static_cast<uint64_t>(
        std::clamp<int64_t>(rows.rows / (16 * int64_t{queue.concurrency()}), least_chunk_rows, most_chunk_rows)));
    chunks_.resize(static_cast<size_t>(((rows.rows - 1) >> chunk_bits_) + 1));
    std::atomic<int64_t> next{0}, all{0};
    host_parts_checked<Host>(queue, std::clamp<int64_t>(rows.rows / 512, 1, queue.concurrency()), [&](int64_t) {
      Finder finder(*this);
      for (int64_t c; (c = next.fetch_add(1)) < std::ssize(chunks_);) {
        all += find(c, finder, most - all) ? std::ssize(chunks_[static_cast<size_t>(c)].pairs) : most + 1;
        if (all > most) return;
      }
    });
    if (all > most) chunks_ = {};
  }

  bool empty() const { return chunks_.empty(); }
  /// Whether each row has its own.
  bool complete() const { return complete_; }
  Row of(int64_t i) const {
    const Chunk& chunk = chunks_[static_cast<size_t>(i >> chunk_bits_)];
    const Start& start = chunk.starts[static_cast<size_t>(i & ((int64_t{1} << chunk_bits_) - 1))];
    if (start.pairs == none) [[unlikely]]
      return {nullptr, nullptr, false};
    return {chunk.counts.data() + start.counts, chunk.pairs.data() + start.pairs, true};
  }
  int64_t count() const {
    int64_t all = 0;
    for (const Chunk& chunk : chunks_) all += std::ssize(chunk.pairs);
    return all;
  }
  int64_t bytes() const {
    size_t all = 0;
    for (const Chunk& chunk : chunks_)
      all += chunk.starts.capacity() * sizeof(Start) + chunk.counts.capacity() * sizeof(uint16_t) +
             chunk.pairs.capacity() * sizeof(HostPair);
    return static_cast<int64_t>(all);
  }

 private:
  // A chunk's rows are the power of two above a share of all, within these bounds: 32 to 2048.
  static constexpr int64_t least_chunk_rows = 31, most_chunk_rows = 1024,
                           longest_row = std::numeric_limits<uint16_t>::max();
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
  // Pairs, of four bytes, that are kept for each entry of the factors: the more, the more columns of needed rows
  // execute would look through for one.
  static constexpr int64_t least_pairs = 5, most_pairs = 24, columns_spared = 2, sample = 1024, sample_parts = 16,
                           most_of_a_sample = 1 << 22;

  struct Start {
    uint32_t counts, pairs;
  };
  struct Chunk {
    std::vector<Start> starts;
    std::vector<uint16_t> counts;
    std::vector<HostPair> pairs;
  };

  /// Finds pairs of rows, one after the other.
  class Finder {
   public:
    explicit Finder(const HostPairs& pairs)
        : form_(pairs.form_), rows_(pairs.rows_), place_(static_cast<size_t>(rows_.rows)) {}

    std::vector<uint16_t> counts;
    std::vector<HostPair> found;  // the first `size` of them
    size_t size = 0;
    int64_t passed = 0;  // columns of needed rows

    void clear() {
      counts.clear();
      size = 0;
    }

    bool takes(int64_t i) const {
      if (length(i) > longest_row) return false;
      return std::none_of(rows_.indices + rows_.offsets[i], rows_.indices + rows_.diagonal[i],
                          [&](I k) { return length(k) > longest_row; });
    }

    /// False, with what was found in part, when there are more than `most`.
    bool row(int64_t i, int64_t most) {
      const O first = rows_.offsets[i];
      const I* const columns = rows_.indices + first;
      const int64_t entries = rows_.offsets[i + 1] - first, middle = rows_.diagonal[i] - first;
      fetch(i);
      if (middle == 0) return true;
      for (int64_t t = 0; t < entries; ++t) place_[static_cast<size_t>(columns[t])] = static_cast<I>(t + 1);
      filter_.set(columns, entries);
      for (int64_t s = 0; s < middle && static_cast<int64_t>(size) <= most; ++s) {
        const auto k = static_cast<int64_t>(columns[s]);
        const O begin = first_shared(k), end = form_ == Form::lu ? rows_.offsets[k + 1] : rows_.diagonal[k];
        const int64_t length = end - begin;
        make_room(static_cast<size_t>(length));
        passed += length;
        if (length > longer * entries)
          search(rows_.indices + begin, length, columns + (form_ == Form::lu ? s + 1 : 0),
                 form_ == Form::lu ? entries - s - 1 : s);
        else
          meet(rows_.indices + begin, static_cast<int32_t>(length));
        ends_.push_back(candidates_);
        if (candidates_ > most_candidates) settle();
      }
      settle();
      for (int64_t t = 0; t < entries; ++t) place_[static_cast<size_t>(columns[t])] = 0;
      filter_.clear(columns, entries);
      return static_cast<int64_t>(size) <= most;
    }

   private:
    static constexpr int64_t longer = 16;                       // times as long: searched instead of passed over
    static constexpr size_t spare = 16;                         // that may be written behind the last one
    static constexpr size_t most_candidates = size_t{1} << 16;  // of a row at once

    void make_room(size_t more) {
      if (columns_.size() >= candidates_ + more + spare) return;
      columns_.resize(2 * (candidates_ + more + spare));
      numbers_.resize(columns_.size());
    }
    void add(I column, int64_t q) {
      columns_[candidates_] = column;
      numbers_[candidates_++] = static_cast<uint16_t>(static_cast<uint32_t>(q) + skipped());
    }
    /// Of `count` columns of a needed row those that are also among `row_count` of the row.
    void search(const I* columns, int64_t count, const I* row, int64_t row_count) {
      int64_t q = 0;
      for (int64_t t = 0; t < row_count && q < count; ++t) {
        q = std::lower_bound(columns + q, columns + count, row[t]) - columns;
        if (q < count && columns[q] == row[t]) add(columns[q], q);
      }
    }
    /// Of `count` columns of a needed row those that the row has, and perhaps a few others.
    void meet(const I* columns, int32_t count) {
#if defined(__AVX512F__)
      if constexpr (ColumnFilter<I>::in_register) {
        for (int32_t q = 0; q < count; q += 16) {
          const auto here = static_cast<__mmask16>((1u << std::min(16, count - q)) - 1u);
          const __m512i these = _mm512_maskz_loadu_epi32(here, columns + q);
          const auto likely = static_cast<__mmask16>(filter_.may_have(these) & here);
          const __m512i numbers =
              _mm512_add_epi32(_mm512_set1_epi32(q + static_cast<int32_t>(skipped())),
                               _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
          _mm512_storeu_si512(columns_.data() + candidates_, _mm512_maskz_compress_epi32(likely, these));
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers_.data() + candidates_),
                              _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_maskz_compress_epi32(likely, numbers)));
          candidates_ += static_cast<size_t>(__builtin_popcount(likely));
        }
        return;
      }
#endif
      for (int32_t q = 0; q < count; ++q) {
        columns_[candidates_] = columns[q];
        numbers_[candidates_] = static_cast<uint16_t>(static_cast<uint32_t>(q) + skipped());
        candidates_ += filter_.may_have(columns[q]);
      }
    }
    /// Candidates that the row has become pairs, without a branch, and what each needed row has of them is counted.
    void settle() {
      if (found.size() < size + candidates_ + 1) found.resize(2 * (size + candidates_ + 1));
      if (before_.size() < candidates_ + 1) before_.resize(2 * (candidates_ + 1));
      const size_t first = size;
      for (size_t c = 0; c < candidates_; ++c) {
        before_[c] = static_cast<uint32_t>(size - first);
        const I known = place_[static_cast<size_t>(columns_[c])];
        found[size] = {static_cast<uint16_t>(known - 1), numbers_[c]};
        size += known != 0;
      }
      before_[candidates_] = static_cast<uint32_t>(size - first);
      uint32_t last = 0;
      for (const size_t end : ends_) {
        counts.push_back(static_cast<uint16_t>(before_[end] - last));
        last = before_[end];
      }
      ends_.clear();
      candidates_ = 0;
    }

    uint32_t skipped() const { return form_ == Form::lu; }  // the diagonal entry
    int64_t length(int64_t i) const { return rows_.offsets[i + 1] - rows_.offsets[i]; }
    /// LU: a row loses what it shares with row k behind its diagonal; Cholesky: to what it shares with row k before it.
    O first_shared(int64_t k) const { return form_ == Form::lu ? rows_.diagonal[k] + 1 : rows_.offsets[k]; }
    /// What rows soon after row i need: first where that lies, then the columns.
    [[gnu::always_inline]] void fetch(int64_t i) const {
      constexpr int64_t places_ahead = 6, columns_ahead = 2;
      if (const int64_t row = i + places_ahead; row < rows_.rows)
        for (O p = rows_.offsets[row]; p < rows_.diagonal[row]; ++p) {
          const auto k = static_cast<int64_t>(rows_.indices[p]);
          __builtin_prefetch(rows_.offsets + k);
          __builtin_prefetch(rows_.diagonal + k);
        }
      if (const int64_t row = i + columns_ahead; row < rows_.rows)
        for (O p = rows_.offsets[row]; p < rows_.diagonal[row]; ++p) {
          const I* const first = rows_.indices + first_shared(rows_.indices[p]);
          __builtin_prefetch(first);
          __builtin_prefetch(first + 16);
        }
    }

    Form form_;
    LowerRows<I, O> rows_;
    ColumnFilter<I> filter_;
    std::vector<I> place_;  // of each column in the row at hand, and 1; 0: not there
    // Entries of needed rows whose columns the row may have: column, place, pairs before it; of each needed row the
    // last.
    size_t candidates_ = 0;
    std::vector<I> columns_;
    std::vector<uint16_t> numbers_;
    std::vector<uint32_t> before_;
    std::vector<size_t> ends_;
  };

  /// How many pairs may be kept, by a sample of rows; 0: too many for what they spare.
  int64_t worth_keeping(Queue& queue) const {
    struct Seen {
      int64_t entries = 0, pairs = 0, passed = 0;
    };
    std::vector<Seen> seen(static_cast<size_t>(sample_parts));
    const int64_t step = 1 | (rows_.rows / sample);  // odd: rows at multiples of powers of two may be special
    const int64_t threads =
        std::clamp<int64_t>(rows_.rows / 512, 1, std::min<int64_t>(queue.concurrency(), sample_parts));
    host_parts_checked<Host>(queue, threads, [&](int64_t thread) {
      Finder finder(*this);
      for (int64_t part = thread; part < sample_parts; part += threads) {
        Seen& mine = seen[static_cast<size_t>(part)];
        finder.passed = 0;
        for (int64_t i = step / 2 + part * step; i < rows_.rows; i += sample_parts * step) {
          if (!finder.takes(i)) continue;
          finder.clear();
          const bool few = finder.row(i, most_of_a_sample);
          mine.entries += rows_.offsets[i + 1] - rows_.offsets[i];
          mine.pairs += static_cast<int64_t>(finder.size);
          // Far too many already.
          if (!few || mine.pairs > (most_of_a_sample / sample_parts) + most_pairs * mine.entries) {
            mine.pairs = std::numeric_limits<int64_t>::max() / sample_parts;
            break;
          }
        }
        mine.passed = finder.passed;
      }
    });
    int64_t entries = 0, pairs = 1, passed = 0;
    for (const Seen& part : seen) {
      entries += part.entries;
      pairs += part.pairs;
      passed += part.passed;
    }
    const int64_t most = std::clamp(columns_spared * passed / pairs, least_pairs, most_pairs);
    if (pairs > most * entries) return 0;
    return 3 * most * rows_.offsets[rows_.rows] / 2;  // the sample may mislead
  }

  /// False when there are more than `most`.
  bool find(int64_t c, Finder& finder, int64_t most) {
    Chunk& chunk = chunks_[static_cast<size_t>(c)];
    const int64_t first = c << chunk_bits_, end = std::min(rows_.rows, (c + 1) << chunk_bits_);
    chunk.starts.reserve(static_cast<size_t>(end - first));
    finder.clear();
    most = std::min<int64_t>(most, std::numeric_limits<int32_t>::max());
    for (int64_t i = first; i < end; ++i) {
      chunk.starts.push_back({static_cast<uint32_t>(finder.counts.size()), static_cast<uint32_t>(finder.size)});
      if (!finder.takes(i)) {
        chunk.starts.back().pairs = none;
        complete_ = false;
      } else if (!finder.row(i, most)) {
        return false;
      }
    }
    chunk.counts.assign(finder.counts.begin(), finder.counts.end());
    chunk.pairs.assign(finder.found.begin(), finder.found.begin() + static_cast<std::ptrdiff_t>(finder.size));
    return true;
  }

  Form form_ = Form::lu;
  LowerRows<I, O> rows_{};
  int chunk_bits_ = 0;
  std::vector<Chunk> chunks_;
  std::atomic<bool> complete_{true};
};

}  // namespace kkc::ilu

// host_restriction of an A^T with one entry in every row of A, whose rows of C are like no others: products are dealt
// to parts of C in the order of A's rows, as outer products are (Gu, Moreira, Edelsohn, Azad, "Bandwidth optimized
// parallel algorithms for sparse matrix-matrix multiplication using propagation blocking", SPAA'20, section 3). The
// plan alone waits for rows of B that lie far from each other: execute reads the values of A and B as they lie, and
// adds to a part of C that stays in a thread's cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/matrix_parallel.hpp"
#include "device/host_pattern_ref.hpp"
#include "device/host_shared_parts.hpp"
#include "ops/spgemm/spgemm_host_dealt_sample.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"
#include "ops/spgemm/spgemm_host_stored_runs.hpp"
#include "ops/spgemm/spgemm_host_unlike_rows.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

template <class E, class I, class O>
class DealtRestriction final : public Kernel {
  using Pattern = HostPatternRef<I, O>;

 public:
  DealtRestriction(const Desc& desc, Queue& queue) : products_(desc.B.nnz) {
    const Pattern A(desc.stored_A), B(desc.B);
    const int64_t threads = queue.concurrency(), rows = desc.A.rows, each = products_ / threads,
                  turns = std::max((each + products_of_part - 1) / products_of_part,
                                   std::min(wanted_turns, each / fewest_of_turn)),
                  parts = std::clamp<int64_t>(threads * turns, 1, products_ / fewest_of_part + 1);
    parts_.resize(static_cast<size_t>(parts) + 1);
    const Buffer sizes = host_array<uint32_t>(desc.memory, rows), listed = list_runs(desc, queue, A, B, rows);
    place_lists(desc);
    std::vector<std::vector<int32_t>> columns(static_cast<size_t>(parts));
    std::vector<Worker> workers(static_cast<size_t>(threads));
    deal(queue, parts, [&](int64_t id, int64_t part) {
      find_columns(B, listed.as<Run>(), static_cast<size_t>(part), workers[static_cast<size_t>(id)],
                   sizes.as<uint32_t>(), columns[static_cast<size_t>(part)]);
    });
    std::vector<int64_t> starts{0};
    for (const auto& of : columns) starts.push_back(starts.back() + static_cast<int64_t>(of.size()));
    allocate_output(desc, starts.back(), output);
    deal(queue, parts, [&](int64_t, int64_t part) {
      if (offset_size(output.pair) == 8)
        write<int64_t>(static_cast<size_t>(part), starts, sizes.as<uint32_t>(), columns[static_cast<size_t>(part)]);
      else
        write<int32_t>(static_cast<size_t>(part), starts, sizes.as<uint32_t>(), columns[static_cast<size_t>(part)]);
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const E alpha = factor<E>(args.alpha).get(), beta = factor<E>(args.beta).get();
    const auto *const a = static_cast<const E*>(args.A.values), *const b = static_cast<const E*>(args.B.values);
    auto* const C = static_cast<E*>(args.C);
    deal(queue, static_cast<int64_t>(parts_.size()) - 1, [&](int64_t, int64_t at) {
      const Part &part = parts_[static_cast<size_t>(at)], &next = parts_[static_cast<size_t>(at) + 1];
      const int64_t begin = offset(part.row), end = offset(next.row);
      if (beta == E{})
        std::fill(C + begin, C + end, E{});
      else
        for (int64_t p = begin; p < end; ++p) C[p] = times(beta, C[p]);
      if (alpha == E{}) return;
      dispatch(part, [&](auto step, auto place) {
        add_products<decltype(step), decltype(place)>(part, next.product - part.product, alpha, a, b, C + begin);
      });
    });
  }

  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("compression", output.nnz == 0 ? 1.0 : static_cast<double>(products_) / static_cast<double>(output.nnz));
    info.add("plan_bytes", static_cast<int64_t>(lists_.bytes() + parts_.size() * sizeof(Part)));
    info.add("row_classes", int64_t{0});
    info.add("rows_in_classes", int64_t{0});
    info.add("parts", static_cast<int64_t>(parts_.size()) - 1);
  }

 private:
  /// Rows of C, those of A that have products there, and these; where the parts' begin. Behind the last part another
  /// one begins.
  struct Part {
    int64_t row = 0, product = 0, listed = 0;
    // In lists_: for each product two steps, how many entries of B and rows of A lie from the one before to its own,
    // and its place in the part of C.
    size_t steps_at = 0, places_at = 0;
    int step_bytes = 1, place_bytes = 2;
    int64_t entry_before = 0, row_before = 0;  // the first product's steps begin there
  };

  /// Products of a part: if many meet others, its part of C then stays in a second-level cache.
  static constexpr int64_t products_of_part = int64_t{1} << 16, fewest_of_part = 1024;
  static constexpr int64_t wanted_turns = 4, fewest_of_turn = 2048;
  /// Ranges of rows that parts are put together from, at least so many, where there are so many rows; as many a part.
  static constexpr int64_t fewest_ranges = 128, ranges_of_part = 4;
  static constexpr int64_t grain = 4096;       // products and rows that are worth a thread
  static constexpr int64_t steps_at_once = 4;  // that are written; there is room for as many behind a part's
  static constexpr size_t alignment = 64, more_columns = UnlikeRows<int32_t>::more_room;

  /// Rows of A, and of B, whose products are added to one row of C, among the part's: the first one and how many, and
  /// B's entries.
  struct Run {
    uint32_t row, first, count;
    uint32_t column_and_rows;  // the latter in the lowest bits
    uint32_t column() const { return column_and_rows >> bits_of_rows; }
    uint32_t rows() const { return column_and_rows & ((1u << bits_of_rows) - 1); }
  };
  static constexpr int bits_of_rows = 8;

  struct Worker {
    std::optional<UnlikeRows<int32_t>> rows;
    std::vector<uint32_t> begins;    // of C's rows
    std::vector<uint64_t> products;  // of these: its number, and its column in the lower half
    std::vector<int32_t> columns;    // of a row's products
    std::vector<std::byte> places;
  };

  int64_t offset(int64_t row) const {
    return offset_size(output.pair) == 8 ? output.offsets->template as<int64_t>()[row]
                                         : output.offsets->template as<int32_t>()[row];
  }

  template <class F>
  static void dispatch(const Part& part, const F& f) {
    const auto with = [&](auto step) {
      if (part.place_bytes == 2)
        f(step, uint16_t{});
      else
        f(step, uint32_t{});
    };
    switch (part.step_bytes) {
      case 1: with(uint8_t{}); break;
      case 2: with(uint16_t{}); break;
      default: with(uint32_t{});
    }
  }

  /// Products in the lower half, runs above them.
  using Count = uint64_t;
  /// Of a part's runs in a chunk of A's rows.
  struct Cursor {
    uint32_t next = 0;  // where one is listed; at first their number
    uint32_t row = 0;   // of C, the part's first
  };

  /// Cuts C into parts of about as many products, and lists the rows of A, and so of B, of each in order.
  Buffer list_runs(const Desc& desc, Queue& queue, const Pattern& A, const Pattern& B, int64_t rows) {
    using Runs = StoredRuns<I, O>;
    const auto parts = static_cast<int64_t>(parts_.size()) - 1;
    const int64_t wanted = std::max(fewest_ranges, ranges_of_part * parts);
    const int shift = std::bit_width(static_cast<uint64_t>((rows - 1) / (2 * wanted)));
    const int64_t ranges = ((rows - 1) >> shift) + 1, chunks = parts_for_items(queue, B.nnz + B.rows, grain);
    std::vector<Count> counts(static_cast<size_t>(chunks * ranges));
    host_parts<Host>(queue, chunks, [&](int64_t chunk) {
      // What runs are made with is captured by value: they are too short to look it up behind pointers.
      Runs::each_run(A, chunks, chunk,
                     [mine = counts.data() + chunk * ranges, offsets = B.offsets, shift](
                         int64_t column, const I* starts, int64_t runs) {
                       for (int64_t r = 0; r < runs; ++r) {
                         const auto count = static_cast<uint32_t>(offsets[starts[r + 1]] - offsets[starts[r]]);
                         mine[(column + r) >> shift] += Count{count != 0} << 32 | count;
                       }
                     });
    });
    std::vector<Cursor> cursors(static_cast<size_t>(chunks * parts));
    std::vector<uint16_t> part_of(static_cast<size_t>(ranges));
    cut(counts, chunks, rows, shift, part_of, cursors);
    Buffer listed = host_array<Run>(desc.memory, parts_.back().listed);
    host_parts_checked<Host>(queue, chunks, [&](int64_t chunk) {
      std::vector<Cursor> mine(cursors.begin() + chunk * parts, cursors.begin() + (chunk + 1) * parts);
      Runs::each_run(
          A, chunks, chunk,
          [to = listed.template as<Run>(), of_parts = mine.data(), shift, part = part_of.data(), offsets = B.offsets,
           base = static_cast<O>(B.base)](int64_t column, const I* starts, int64_t runs) {
            for (int64_t r = 0; r < runs; ++r) {
              Cursor& of = of_parts[part[(column + r) >> shift]];
              const O first = offsets[starts[r]], end = offsets[starts[r + 1]];
              const auto rows = static_cast<uint32_t>(starts[r + 1] - starts[r]);
              if (first == end) continue;
              const Run run = {static_cast<uint32_t>(starts[r]), static_cast<uint32_t>(first - base),
                               static_cast<uint32_t>(end - first),
                               (static_cast<uint32_t>(column + r) - of.row) << bits_of_rows | rows};
              to[of.next++] = run;
            }
          });
    });
    deal(queue, parts, [&](int64_t, int64_t part) {
      const Run *const begin = listed.template as<Run>() + parts_[static_cast<size_t>(part)].listed,
                       *const end = listed.template as<Run>() + parts_[static_cast<size_t>(part) + 1].listed;
      uint32_t longest = 1;
      for (const Run* run = begin; run + 1 < end; ++run)
        longest = std::max({longest, run[1].rows(), longest_step(run[0], run[1])});
      const int bits = std::bit_width(longest);
      parts_[static_cast<size_t>(part)].step_bytes = bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
    });
    return listed;
  }

  /// At least from one to the rows and the first product of another, whose first rows may have none.
  static uint32_t longest_step(const Run& before, const Run& run) {
    return std::max(run.row + run.rows() - before.row, run.first - (before.first + before.count - 1));
  }

  void cut(const std::vector<Count>& counts, int64_t chunks, int64_t rows, int shift, std::vector<uint16_t>& part_of,
           std::vector<Cursor>& cursors) {
    const auto ranges = static_cast<int64_t>(part_of.size()), parts = static_cast<int64_t>(parts_.size()) - 1;
    int64_t part = -1, products = 0;
    for (int64_t range = 0; range < ranges; ++range) {
      int64_t sum = 0;
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        sum += static_cast<uint32_t>(counts[static_cast<size_t>(chunk * ranges + range)]);
      const int64_t wanted = products_ == 0 ? 0 : std::min(parts - 1, (products + sum / 2) * parts / products_);
      while (part < wanted) {
        Part& begun = parts_[static_cast<size_t>(++part)];
        begun.row = range << shift;
        begun.product = products;
      }
      part_of[static_cast<size_t>(range)] = static_cast<uint16_t>(part);
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        Cursor& of = cursors[static_cast<size_t>(chunk * parts + part)];
        of.next += static_cast<uint32_t>(counts[static_cast<size_t>(chunk * ranges + range)] >> 32);
      }
      products += sum;
    }
    while (part < parts) {
      Part& none = parts_[static_cast<size_t>(++part)];
      none.row = rows;
      none.product = products_;
    }
    uint32_t at = 0;
    for (int64_t p = 0; p <= parts; ++p) {
      parts_[static_cast<size_t>(p)].listed = at;
      for (int64_t chunk = 0; p < parts && chunk < chunks; ++chunk) {
        Cursor& of = cursors[static_cast<size_t>(chunk * parts + p)];
        of.row = static_cast<uint32_t>(parts_[static_cast<size_t>(p)].row);
        at += std::exchange(of.next, at);
      }
    }
  }

  void place_lists(const Desc& desc) {
    const auto aligned = [](size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    size_t bytes = 0;
    for (size_t p = 0; p + 1 < parts_.size(); ++p) {
      Part& part = parts_[p];
      const int64_t products = parts_[p + 1].product - part.product;
      part.place_bytes = products <= int64_t{std::numeric_limits<uint16_t>::max()} + 1 ? 2 : 4;
      part.steps_at = bytes;
      bytes += aligned(static_cast<size_t>((products + steps_at_once) * 2 * part.step_bytes));
      part.places_at = bytes;
      bytes += aligned(static_cast<size_t>(products * part.place_bytes));
    }
    lists_ = host_array<std::byte>(desc.memory, static_cast<int64_t>(bytes));
  }

  /// The columns of a part's rows, one row behind the other, how many each row has, and the part's lists.
  void find_columns(const Pattern& B, const Run* listed, size_t at, Worker& worker, uint32_t* sizes,
                    std::vector<int32_t>& found) {
    Part& part = parts_[at];
    const Part& next = parts_[at + 1];
    dispatch(part, [&](auto step, auto place) {
      sort_products<decltype(step)>(part, next, B, listed, worker);
      if (!worker.rows) worker.rows.emplace(B.cols);
      found.reserve(static_cast<size_t>(next.product - part.product));
      collect<decltype(place)>(part, next.row - part.row, worker, sizes + part.row, found);
    });
  }

  /// Writes a part's steps, and puts its products in the order of C's rows.
  template <class S>
  void sort_products(Part& part, const Part& next, const Pattern& B, const Run* listed, Worker& worker) {
    const Run *const begin = listed + part.listed, *const end = listed + next.listed;
    const int64_t rows = next.row - part.row;
    const auto room = static_cast<size_t>(next.product - part.product);
    // begins[row + 1] is where the row's next product goes, and at last where the next row begins.
    worker.begins.assign(static_cast<size_t>(rows) + 2, 0);
    if (worker.products.size() < room) worker.products.resize(room);
    uint32_t* const at = worker.begins.data();
    for (const Run* run = begin; run < end; ++run) at[run->column() + 2] += run->count;
    for (int64_t row = 0; row < rows; ++row) at[row + 2] += at[row + 1];
    if (begin < end) {
      part.row_before = begin->row;
      part.entry_before = static_cast<int64_t>(begin->first) - 1;
    }
    S* step = reinterpret_cast<S*>(lists_.as<std::byte>() + part.steps_at);
    auto last_row = static_cast<uint32_t>(part.row_before), last_entry = static_cast<uint32_t>(part.entry_before);
    uint32_t p = 0;
    for (const Run* run = begin; run < end; ++run) {
      const uint32_t count = run->count, to = at[run->column() + 1];
      if (count == 1) {
        worker.products[to] = uint64_t{p} << 32 | static_cast<uint32_t>(B.column(run->first));
      } else {
        put_products(B, run->first, count, p, worker.products.data() + to);
        constexpr S plain[] = {1, 0, 1, 0, 1, 0, 1, 0};
        for (uint32_t e = 0; e < count; e += steps_at_once) std::memcpy(step + 2 * e, plain, sizeof(plain));
      }
      step[0] = static_cast<S>(run->first - last_entry);
      step[1] = static_cast<S>(run->row - last_row);
      last_row = run->row;
      if (run->rows() > 1) {
        // Rows without entries leave their step to the next one that has some.
        const auto base = static_cast<O>(static_cast<O>(run->first) + static_cast<O>(B.base));
        const O* const offsets = B.offsets + run->row;
        uint32_t more = 0;
        for (uint32_t row = 1; row < run->rows(); ++row) {
          const auto behind = static_cast<size_t>(offsets[row] - base);
          if (behind >= count) break;
          step[2 * behind + 1] = static_cast<S>(step[2 * behind + 1] + 1);
          more = row;
        }
        last_row += more;
      }
      step += 2 * static_cast<size_t>(count);
      last_entry = run->first + count - 1;
      at[run->column() + 1] = to + count;
      p += count;
    }
  }

  /// `count` products from number p on, of B's entries from q on, with their columns.
  static void put_products(const Pattern& B, uint32_t q, uint32_t count, uint32_t p, uint64_t* to) {
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {
      const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
      const __m256i base = _mm256_set1_epi32(static_cast<int>(B.base));
      for (uint32_t e = 0; e < count; e += 8) {
        const auto inside = static_cast<__mmask8>(first_lanes<StepVector<double>>(count - e));
        const __m512i numbers = _mm512_add_epi64(lanes, _mm512_set1_epi64(p + e)),
                      names = _mm512_maskz_cvtepu32_epi64(
                          0xff, _mm256_sub_epi32(_mm256_maskz_loadu_epi32(inside, B.indices + q + e), base));
        _mm512_mask_storeu_epi64(to + e, inside, _mm512_or_epi64(_mm512_maskz_slli_epi64(0xff, numbers, 32), names));
      }
      return;
    }
#endif
    for (uint32_t e = 0; e < count; ++e) to[e] = uint64_t{p + e} << 32 | static_cast<uint32_t>(B.column(q + e));
  }

  /// The columns of rows whose products have been put in order, and where each goes.
  template <class M>
  void collect(const Part& part, int64_t rows, Worker& worker, uint32_t* sizes, std::vector<int32_t>& found) const {
    M* const places = reinterpret_cast<M*>(lists_.as<std::byte>() + part.places_at);
    const uint32_t* const at = worker.begins.data();
    for (int64_t row = 0; row < rows; ++row) {
      const uint32_t from = at[row], count = at[row + 1] - from;
      const auto before = static_cast<uint32_t>(found.size());
      const uint64_t* const products = worker.products.data() + from;
      int64_t m = count;
      if (count == 1) {
        found.push_back(static_cast<int32_t>(products[0]));
        places[products[0] >> 32] = static_cast<M>(before);
      } else if (count > 1) {
        if (worker.columns.size() < count + more_columns) worker.columns.resize(count + more_columns);
        for (uint32_t k = 0; k < count; ++k) worker.columns[k] = static_cast<int32_t>(products[k]);
        worker.places.clear();
        m = worker.rows->collect(worker.columns.data(), count, 0, 1, found, worker.places);
        switch (spgemm::place_bytes(m)) {
          case 1: put<uint8_t>(worker.places.data(), count, products, before, places); break;
          case 2: put<uint16_t>(worker.places.data(), count, products, before, places); break;
          default: put<uint32_t>(worker.places.data(), count, products, before, places);
        }
      }
      sizes[row] = static_cast<uint32_t>(m);
    }
  }
  template <class From, class M>
  static void put(const std::byte* from, uint32_t count, const uint64_t* products, uint32_t before, M* places) {
    for (uint32_t k = 0; k < count; ++k) {
      From place;
      std::memcpy(&place, from + k * sizeof(From), sizeof(From));
      places[products[k] >> 32] = static_cast<M>(before + place);
    }
  }

  /// A part of C's pattern.
  template <class Q>
  void write(size_t at, const std::vector<int64_t>& starts, const uint32_t* sizes,
             std::vector<int32_t>& columns) const {
    Q* const offsets = output.offsets->template as<Q>();
    int64_t start = starts[at];
    std::copy(columns.begin(), columns.end(), output.indices->template as<I>() + start);
    columns = {};
    for (int64_t row = parts_[at].row; row < parts_[at + 1].row; ++row) {
      offsets[row] = static_cast<Q>(start);
      start += sizes[row];
    }
    if (at + 2 == parts_.size()) offsets[output.rows] = static_cast<Q>(start);
  }

  template <class S, class M>
  void add_products(const Part& part, int64_t n, E alpha, const E* a, const E* b, E* c) const {
    constexpr int64_t at_once = 16;
    const S* const steps = reinterpret_cast<const S*>(lists_.as<std::byte>() + part.steps_at);
    const M* const places = reinterpret_cast<const M*>(lists_.as<std::byte>() + part.places_at);
    int64_t entry = part.entry_before, row = part.row_before, p = 0;
    for (; p + at_once <= n; p += at_once) {
      E with[at_once], values[at_once];
      for (int64_t k = 0; k < at_once; ++k) {
        entry += steps[2 * (p + k)];
        row += steps[2 * (p + k) + 1];
        with[k] = times(alpha, a[row]);
        values[k] = b[entry];
      }
      for (int64_t k = 0; k < at_once; ++k) c[places[p + k]] = added(with[k], values[k], c[places[p + k]]);
    }
    for (; p < n; ++p) {
      entry += steps[2 * p];
      row += steps[2 * p + 1];
      c[places[p]] = added(times(alpha, a[row]), b[entry], c[places[p]]);
    }
  }

  int64_t products_;
  std::vector<Part> parts_;  // and one behind the last
  Buffer lists_;
};

}  // namespace kkc::spgemm

// B's columns as (block of 64 columns, bits) pairs, where neighbouring columns fill them: the symbolic phase then
// unites whole words (Deveci, Trott, Rajamanickam, "Multithreaded sparse matrix-matrix multiplication for many-core and
// GPU architectures", Parallel Computing 78, 2018, section 3.2).
#pragma once

#include "core/matrix_parallel.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm_host_classes.hpp"
#include "ops/spgemm/spgemm_host_columns.hpp"

namespace kkc::spgemm {

template <class I, class O>
class ColumnBlocks {
 public:
  /// Makes the pairs if `products`, those that are to be looked at, repay it.
  ColumnBlocks(Queue& queue, const std::shared_ptr<const Memory>& memory, const HostPatternRef<I, O>& B,
               int64_t products)
      : B_(B) {
    if (products < 4 * B.nnz || B.nnz == 0) return;
    const int64_t sampled = std::min<int64_t>(B.rows, 4096);
    int64_t entries = 0, pairs = 0;
    for (int64_t s = 0; s < sampled; ++s) {
      const int64_t j = part_begin(B.rows, sampled, s);
      entries += B.end(j) - B.begin(j);
      each_pair(j, [&](int64_t, uint64_t) { ++pairs; });
    }
    if (2 * pairs > entries) return;
    offsets_ = host_array<int64_t>(memory, B.rows + 1);
    auto* const offsets = offsets_.as<int64_t>();
    const int64_t parts = parts_for_items(queue, B.nnz + B.rows);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      for (int64_t j = B.first_row(parts, part), end = B.first_row(parts, part + 1); j < end; ++j) {
        int64_t count = 0;
        each_pair(j, [&](int64_t, uint64_t) { ++count; });
        offsets[j] = count;
      }
    });
    counts_to_offsets(offsets, B.rows, offsets, std::max(1, queue.concurrency()));
    pairs_ = host_array<Pair>(memory, offsets[B.rows]);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      for (int64_t j = B.first_row(parts, part), end = B.first_row(parts, part + 1); j < end; ++j) {
        Pair* target = pairs_.template as<Pair>() + offsets[j];
        each_pair(j, [&](int64_t block, uint64_t bits) { *target++ = {bits, static_cast<I>(block)}; });
      }
    });
  }

  bool used() const { return pairs_.data() != nullptr; }

  /// The columns of row j of B.
  void insert(int64_t j, ColumnSet& columns) const {
    const auto* const pairs = pairs_.template as<Pair>();
    for (int64_t p = offsets_.as<int64_t>()[j], end = offsets_.as<int64_t>()[j + 1]; p < end; ++p)
      columns.insert_word(static_cast<size_t>(pairs[p].block), pairs[p].bits);
  }

 private:
  struct Pair {
    uint64_t bits;
    I block;
  };

  /// f(block, bits) for each run of columns of one block; rows out of order give a block more than once.
  template <class F>
  void each_pair(int64_t j, const F& f) const {
    int64_t block = -1;
    uint64_t bits = 0;
    for (int64_t q = B_.begin(j), end = B_.end(j); q < end; ++q) {
      const int64_t column = B_.column(q);
      if (column >> 6 != block) {
        if (bits != 0) f(block, bits);
        block = column >> 6;
        bits = 0;
      }
      bits |= uint64_t{1} << (column & 63);
    }
    if (bits != 0) f(block, bits);
  }

  HostPatternRef<I, O> B_;
  Buffer offsets_, pairs_;
};

}  // namespace kkc::spgemm

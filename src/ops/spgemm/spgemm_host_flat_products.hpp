// Products of rows so short that a row takes longer than they do: for each entry of C where the factors of its first
// product are, and the other products one behind the other, so that no loop ends after a few turns. (On GPUs:
// spgemm_gpu_listed_rows.hpp.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "device/host_pattern_ref.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {

class FlatProducts {
 public:
  /// Of the entries of A and B.
  struct Factors {
    uint32_t a, b;
  };
  /// Of a product that is added to entry `to` of a block.
  struct More {
    uint32_t to, a, b;
  };
  /// Whole rows of a chunk that follow each other; a chunk's last one is empty.
  struct Block {
    int64_t first, more;  // entry of C, and the first of its products but one for each entry
  };
  static constexpr int64_t entries_of_block = 1024;  // about: they stay in the innermost cache

  /// Of so many entries of C, of `bytes` each, and products.
  static bool suits(int64_t rows, int64_t entries, int64_t products, int64_t bytes, int64_t nnz_a, int64_t nnz_b) {
    constexpr int64_t most_of_row = 96;  // products: of more, rows lose less time than lists take to be read
    return products <= most_of_row * rows && std::max(nnz_a, nnz_b) < std::numeric_limits<uint32_t>::max() &&
           list_bytes(entries, products) <= 3 * bytes * entries;
  }

  /// Room for the lists of chunks of so many entries and products (sums of those before, and of all); none at all where
  /// there is no memory for it, which is thrown.
  void make_room(const std::shared_ptr<const Memory>& memory, const std::vector<int64_t>& entries,
                 const std::vector<int64_t>& products) {
    std::vector<int64_t> blocks_of(entries.size()), more_of(entries.size());
    for (size_t c = 0; c < entries.size(); ++c) {
      blocks_of[c] = entries[c] / entries_of_block + 2 * static_cast<int64_t>(c);
      more_of[c] = products[c] - entries[c];
    }
    Buffer firsts = host_array<Factors>(memory, entries.back()), more = host_array<More>(memory, more_of.back()),
           blocks = host_array<Block>(memory, blocks_of.back());
    firsts_ = std::move(firsts);
    more_ = std::move(more);
    blocks_ = std::move(blocks);
    blocks_of_ = std::move(blocks_of);
    more_of_ = std::move(more_of);
  }
  bool has_room() const { return !blocks_of_.empty(); }
  bool known() const { return known_; }
  void set_known() { known_ = true; }
  size_t bytes() const {
    return firsts_.bytes() + more_.bytes() + blocks_.bytes() + (blocks_of_.size() + more_of_.size()) * sizeof(int64_t);
  }

  /// Lists the products of the rows first..last-1, a chunk's, whose entries of C begin at start(i). Columns of C's rows
  /// ascend.
  template <class I, class O, class Start>
  void note(int64_t chunk, int64_t first, int64_t last, const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B,
            const I* columns, const Start& start) const {
    constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
    auto* const firsts = firsts_.template as<Factors>();
    auto* const all = more_.template as<More>();
    auto* block = blocks_.template as<Block>() + blocks_of_[static_cast<size_t>(chunk)];
    int64_t more = more_of_[static_cast<size_t>(chunk)];
    *block = {start(first), more};
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = start(i), end = start(i + 1);
      for (int64_t e = begin; e < end; ++e) firsts[e].a = none;
      for (int64_t p = A.begin(i); p < A.end(i); ++p) {
        int64_t next = begin;  // where the last product's neighbour is
        for (int64_t j = A.column(p), q = B.begin(j); q < B.end(j); ++q) {
          const auto column = static_cast<I>(B.column(q));
          if (next == end || columns[next] != column)
            next = std::lower_bound(columns + begin, columns + end, column) - columns;
          if (firsts[next].a == none)
            firsts[next] = {static_cast<uint32_t>(p), static_cast<uint32_t>(q)};
          else
            all[more++] = {static_cast<uint32_t>(next - block->first), static_cast<uint32_t>(p),
                           static_cast<uint32_t>(q)};
          ++next;
        }
      }
      if (end - block->first >= entries_of_block || i + 1 == last) *++block = {end, more};
    }
  }

  /// The entries of a chunk whose rows end before entry `end` of C: c = beta c + alpha a b, summed up as A's rows have
  /// the products.
  template <class E>
  void multiply(int64_t chunk, int64_t end, const E& alpha, const E* a, const E* b, const E& beta, E* c,
                bool streamed) const {
    const auto* const firsts = firsts_.template as<Factors>();
    const auto* const all = more_.template as<More>();
    alignas(cache_line) E made[2 * entries_of_block];
    for (const auto* block = blocks_.template as<Block>() + blocks_of_[static_cast<size_t>(chunk)]; block->first < end;
         ++block) {
      const int64_t count = block[1].first - block->first;
      const bool apart = streamed && count <= std::ssize(made);
      E* const old = c + block->first;
      E* const to = apart ? made : old;
      const Factors* const f = firsts + block->first;
      if (beta == E{})
        for (int64_t e = 0; e < count; ++e) to[e] = added(times(alpha, a[f[e].a]), b[f[e].b], E{});
      else
        for (int64_t e = 0; e < count; ++e) to[e] = added(times(alpha, a[f[e].a]), b[f[e].b], times(beta, old[e]));
      for (const More *m = all + block->more, *last = all + block[1].more; m < last; ++m)
        to[m->to] = added(times(alpha, a[m->a]), b[m->b], to[m->to]);
      if (apart) stream_out(old, made, static_cast<size_t>(count) * sizeof(E));
    }
    if (streamed) stream_fence();
  }

 private:
  static int64_t list_bytes(int64_t entries, int64_t products) {
    return entries * static_cast<int64_t>(sizeof(Factors)) + (products - entries) * static_cast<int64_t>(sizeof(More));
  }

  Buffer firsts_, more_, blocks_;
  std::vector<int64_t> blocks_of_, more_of_;  // of chunks
  bool known_ = false;
};

}  // namespace kkc::spgemm

// Columns of C's rows that are found before C's size is known, in the symbolic phase of spgemm on hosts
// (spgemm_host_symbolic.hpp): by chunks of rows, in memory that all chunks share.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <vector>

#include "core/matrix_parallel.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm_host_stamped_columns.hpp"

namespace kkc::spgemm {

/// Room for what workers find, piece by piece, of sizes that are known afterwards. One array that is used from its
/// beginning: no more pages are written than are needed, and none given back to the system in between.
template <class T>
class SharedRoom {
 public:
  /// For pieces of `most` elements together at most.
  SharedRoom(const std::shared_ptr<const Memory>& memory, int64_t most, int64_t workers)
      : block_(std::max<int64_t>(4096, most / (4 * workers))),
        array_(host_array<T>(memory, most + most / 7 + 1 + workers * block_)),
        parts_(static_cast<size_t>(workers)) {}

  /// Room for a piece of `most` elements.
  T* begin(int64_t worker, int64_t most) {
    if (most > block_ / 8) return cut(most);  // so that at most an eighth of a block is left
    Part& part = parts_[static_cast<size_t>(worker)];
    if (part.end - part.next < most) {
      part.next = cut(block_);
      part.end = part.next + block_;
    }
    return part.next;
  }
  /// The piece that begin() gave room for ends here.
  void end(int64_t worker, T* piece, T* end) {
    Part& part = parts_[static_cast<size_t>(worker)];
    if (piece == part.next) part.next = end;
  }

 private:
  struct alignas(cache_line) Part {
    T *next = nullptr, *end = nullptr;
  };
  T* cut(int64_t count) { return array_.template as<T>() + cut_.fetch_add(count, std::memory_order_relaxed); }

  int64_t block_;
  Buffer array_;
  std::atomic<int64_t> cut_{0};
  std::vector<Part> parts_;  // by workers
};

/// Of a chunk's rows without a class.
template <class I>
struct KeptColumns {
  I* columns = nullptr;
  uint16_t* places = nullptr;  // of the products of placed rows
  int64_t entries = 0, placed = 0;
};

/// Of all chunks.
template <class I>
class KeptChunks {
 public:
  /// Chunks of so many products.
  KeptChunks(const std::shared_ptr<const Memory>& memory, const std::vector<int64_t>& products, int64_t workers)
      : products_(products),
        chunks_(products.size()),
        columns_(memory, sum(products) + StampedColumns::lanes * std::ssize(products), workers),
        places_(memory, sum(products) + StampedColumns::lanes * std::ssize(products), workers) {}

  KeptColumns<I>& begin(int64_t worker, int64_t chunk) {
    const int64_t products = products_[static_cast<size_t>(chunk)];
    KeptColumns<I>& kept = chunks_[static_cast<size_t>(chunk)];
    kept.columns = columns_.begin(worker, products + StampedColumns::lanes);
    kept.places = places_.begin(worker, products + StampedColumns::lanes);
    return kept;
  }
  void end(int64_t worker, const KeptColumns<I>& kept) {
    columns_.end(worker, kept.columns, kept.columns + kept.entries);
    places_.end(worker, kept.places, kept.places + kept.placed);
  }
  const KeptColumns<I>& of(int64_t chunk) const { return chunks_[static_cast<size_t>(chunk)]; }

 private:
  static int64_t sum(const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  }

  const std::vector<int64_t>& products_;
  std::vector<KeptColumns<I>> chunks_;
  SharedRoom<I> columns_;
  SharedRoom<uint16_t> places_;
};

}  // namespace kkc::spgemm

// The plan of products of matrices with i-nodes (spgemm_gpu_inode_kernels.hpp): the reduced operand, whose rows are
// tiles, and what C's rows get from those of its product. Knows no element type.
#pragma once

#include "device/gpu_scan.hpp"
#include "spgemm_gpu_cut_rows.hpp"
#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_inode_kernels.hpp"
#include "spgemm_gpu_listed_rows.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr double least_reduction = 1.7;     // products of one of the reduced product
inline constexpr double least_rows_of_node = 1.5;  // of A
inline constexpr int64_t most_tile_entries = 16384, least_tile_mean = 8;

template <class I>
class Inodes {
  using Left = PlainLeft<I>;

 public:
  Inodes(Queue& queue, const Problem<Left, I>& problem) : queue_(queue), p_(problem) {}

  /// Whether lists of the products of rows are faster than tiles of a few rows, and have room.
  static bool lists_instead(const Problem<Left, I>& p) {
    const double products = expected_products(p);
    return products <= few_products && products <= most_ordered_mean * static_cast<double>(p.nnz_a) &&
           (p.most_slot_bytes < 0 || room_for_lists(p, static_cast<int64_t>(products), 0, p.most_slot_bytes));
  }
  /// By samples of rows that are like the one before. Rows of B of few entries leave lanes idle, those of A of very
  /// many are a warp's work.
  static bool worth(const Problem<Left, I>& p, const SampledTwins& a, const SampledTwins& b) {
    return p.A.list == nullptr && p.longest_a <= most_tile_entries && !lists_instead(p) &&
           p.nnz_b >= least_tile_mean * p.B.B.rows && a.rows_of_node() >= least_rows_of_node &&
           a.rows_of_node() * b.rows_of_node() >= least_reduction;
  }

  /// The product whose rows are C's tiles.
  Problem<Left, I> reduced() {
    const bool one = p_.A.A.columns == p_.B.B.columns && p_.A.A.offsets.data == p_.B.B.offsets.data;
    Buffer heads_b = tile_heads(p_.B.B, p_.nnz_b);
    Buffer heads_a = one ? Buffer() : tile_heads(p_.A.A, p_.nnz_a);
    const Buffer& heads = one ? heads_b : heads_a;
    const Buffer numbers = p_.template array<int32_t>(p_.rows + 1);
    tiles_ = gpu::exclusive_scan_total(queue_, heads.as<int32_t>(), numbers.as<int32_t>(), p_.rows);
    firsts_ = p_.template array<int32_t>(tiles_ + 1);
    launch_over(queue_, p_.rows + 1,
                PlaceNodes{heads.as<int32_t>(), numbers.as<int32_t>(), p_.rows, firsts_.template as<int32_t>()});

    const ReducedRows<I> rows{p_.A.A, firsts_.template as<int32_t>(), heads_b.as<int32_t>(), tiles_,
                              lanes_log2_for(p_.nnz_a, p_.rows)};
    const Buffer counts = p_.template array<int32_t>(tiles_);
    struct Counted {
      int64_t entries;
      unsigned long long products;
    };
    begins_ = p_.template array<int64_t>(tiles_ + 2);
    auto* const counted = reinterpret_cast<Counted*>(begins_.template as<int64_t>() + tiles_);  // read in one go
    gpu::clear_words(queue_, &counted->products, sizeof counted->products);
    launch_over(queue_, tiles_ << rows.lanes_log2,
                CountReduced<I>{rows, p_.B.B, counts.as<int32_t>(), &counted->products});
    const auto [entries, products] = gpu::exclusive_scan_and_read<Counted>(
        queue_, counts.as<int32_t>(), begins_.template as<int64_t>(), tiles_, counted);
    products_ = static_cast<int64_t>(products);
    columns_ = p_.template array<I>(entries);
    entries_ = p_.template array<ReducedEntry>(entries);
    launch_over(queue_, tiles_ << rows.lanes_log2,
                FillReduced<I>{rows, p_.B.B, begins_.template as<int64_t>(), columns_.template as<I>(),
                               entries_.template as<ReducedEntry>()});
    Problem<Left, I> reduced = p_;
    reduced.A = {{{begins_.data(), true, 0}, columns_.template as<I>(), tiles_}, nullptr};
    reduced.rows = tiles_;
    reduced.nnz_a = entries;
    reduced.positions_a = reduced.positions_b = {};
    return reduced;
  }

  void lengths(const Buffer& of_tiles, const Buffer& counts) {
    launch_over(queue_, tiles_,
                LengthsOfTiles{of_tiles.as<int32_t>(), firsts_.template as<int32_t>(), tiles_, counts.as<int32_t>()});
  }

  void columns(const Pattern<I>& tiles, int64_t nnz, const Offsets& offsets, I* columns) {
    const int lanes = lanes_log2_for(nnz, tiles_);
    launch_over(queue_, tiles_ << lanes,
                ColumnsOfTiles<I>{tiles, firsts_.template as<int32_t>(), lanes, offsets, columns});
  }

  Buffer kinds(const Buffer& lengths, int32_t few) {
    Buffer kinds = p_.template array<int32_t>(tiles_);
    launch_over(queue_, tiles_,
                KindsOfTiles{lengths.as<int32_t>(), firsts_.template as<int32_t>(), tiles_, few, kinds.as<int32_t>()});
    return kinds;
  }

  int64_t products() const { return products_; }  // of all rows
  int64_t bytes() const {
    return static_cast<int64_t>(firsts_.bytes() + begins_.bytes() + entries_.bytes() + columns_.bytes());
  }
  void keep(Tiles& tiles) {
    tiles.count = tiles_;
    tiles.firsts = std::move(firsts_);
    tiles.begins = std::move(begins_);
    tiles.entries = std::move(entries_);
    tiles.columns = std::move(columns_);
  }

 private:
  /// 1 for each row where a tile begins.
  Buffer tile_heads(const Pattern<I>& A, int64_t nnz) {
    Buffer heads = p_.template array<int32_t>(A.rows);
    const int lanes = lanes_log2_for(nnz, A.rows);
    launch_over(queue_, A.rows << lanes, MarkNodes<I>{A, lanes, heads.as<int32_t>()});
    const Buffer numbers = p_.template array<int32_t>(A.rows + 1);
    gpu::exclusive_scan(queue_, heads.as<int32_t>(), numbers.as<int32_t>(), A.rows);
    const Buffer firsts = p_.template array<int32_t>(A.rows + 1);
    launch_over(queue_, A.rows + 1,
                PlaceNodes{heads.as<int32_t>(), numbers.as<int32_t>(), A.rows, firsts.as<int32_t>()});
    launch_over(queue_, A.rows, MarkTiles{numbers.as<int32_t>(), firsts.as<int32_t>(), A.rows, heads.as<int32_t>()});
    return heads;
  }

  Queue& queue_;
  const Problem<Left, I>& p_;
  int64_t tiles_ = 0, products_ = 0;
  Buffer firsts_, begins_, columns_, entries_;
};

}  // namespace kkc::spgemm::gpu_parts

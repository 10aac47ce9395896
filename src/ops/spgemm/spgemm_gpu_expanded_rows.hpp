// The plan of products that are put in order by row (spgemm_gpu_expanded_kernels.hpp). Knows no element type.
#pragma once

#include "device/gpu_rows.hpp"
#include "spgemm_gpu_expanded_kernels.hpp"
#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_gathered_rows.hpp"
#include "spgemm_gpu_ordered_rows.hpp"
#include "spgemm_gpu_rows_by_column.hpp"

namespace kkc::spgemm::gpu_parts {

// Products an entry of C: slots of more take less to read, but for lanes along short rows of B. The lists of so many
// are less than four times C's bytes.
inline constexpr double most_expanded_compression = 2.5, most_expanded_compression_of_short = 6;
// The same for few rows, which lanes along B's short rows would leave most of the device idle for.
inline constexpr double most_compression_of_few = 16;
// And for few products of which a few long rows have many.
inline constexpr double most_compression_of_few_products = 24;
inline constexpr int64_t few_expanded_rows = 4096, least_products_of_few = 512;
inline constexpr int64_t most_tiled_few = int64_t{1} << 22;  // products, where few are one entry's
inline constexpr int64_t most_products_of_short = 1024;      // in the mean: slots of longer rows are found faster
inline constexpr int64_t most_expanded = int64_t{1} << 27;   // products: up to 48 bytes each while they are sorted

template <class I>
class ExpandedRows {
 public:
  ExpandedRows(Queue& queue, const Problem<PlainLeft<I>, I>& problem, int64_t products)
      : queue_(queue), p_(problem), n_(products) {}

  bool restricts() const { return names_rows_once(p_, n_); }
  /// Whether A has few rows, of many products, and names short rows of B.
  bool few_rows() const {
    return p_.rows <= few_expanded_rows && n_ >= least_products_of_few * p_.rows && n_ < most_gathered_mean * p_.nnz_a;
  }
  bool short_rows() const { return n_ <= most_products_of_short * p_.rows; }
  double most_compression() const {
    const bool of_short = static_cast<double>(n_) <= most_ordered_mean * static_cast<double>(p_.nnz_a);
    return of_short ? most_expanded_compression_of_short : most_expanded_compression;
  }
  /// Of C's entries those that are known.
  bool has_room(int64_t room, int64_t entries = 0) const {
    return p_.A.list == nullptr && room_for_lists(p_, n_, entries, room - bytes_of_parts());
  }

  /// begins: of each row's products.
  void count(const Buffer& begins, const Buffer& counts) {
    begins_ = p_.template array<int32_t>(p_.nnz_a + 1);
    scan<4>(NamedLengths<I>{p_.A.A, p_.B.B}, gpu::OffsetsTarget<int32_t>{{begins_.template as<int32_t>(), 0}},
            p_.nnz_a);
    of_entry_ = p_.template array<uint32_t>(n_);
    gpu::expand_rows(queue_, begins_.template as<int32_t>(), 0, p_.nnz_a, n_, of_entry_.template as<uint32_t>());
    const Buffer columns = p_.template array<int32_t>(n_);
    using F = ColumnsOfExpanded<I>;
    launch_over(queue_, (n_ + F::items - 1) / F::items, F{products(), columns.as<int32_t>()});
    order_ = p_.template array<uint32_t>(n_);
    met_ = p_.template array<uint32_t>(n_);
    const Buffer state = p_.template array<AggregateState>(1);
    clear(queue_, state);
    order_rows(queue_, p_.memory,
               RowsToOrder<int32_t>{.A = {{begins.data(), true, 0}, columns.as<int32_t>(), p_.rows},
                                    .B = {nullptr, 0},
                                    .entries = n_,
                                    .longest = n_,
                                    .cols = p_.cols},
               {.order = order_.template as<uint32_t>(),
                .places = nullptr,
                .tiles = {},
                .met = met_.template as<uint32_t>(),
                .counts = counts.as<int32_t>(),
                .diagonal = nullptr,
                .entry_of_diagonal = nullptr,
                .state = state.as<AggregateState>()});
  }

  /// Once C's arrays are there: the columns, and what GatherTiles or GatherEntries reads.
  Gathered place(int64_t entries, I* columns) {
    Gathered found;
    found.entries = entries;
    found.starts = p_.template array<int32_t>(entries + 1);
    auto* const starts = found.starts.template as<int32_t>();
    const auto* const met = met_.template as<uint32_t>();
    // Element by element, so that the lanes' entries of C are neighbours.
    scan<1>(FirstProducts{met}, PlaceFirstProducts<I>{met, columns, starts}, n_);
    found.of_a = p_.template array<uint32_t>(n_);
    found.of_b = p_.template array<uint32_t>(n_);
    using F = ListExpanded<I>;
    launch_over(queue_, (n_ + F::items - 1) / F::items,
                F{products(), p_.positions_a, p_.positions_b, order_.template as<uint32_t>(),
                  found.of_a.template as<uint32_t>(), found.of_b.template as<uint32_t>()});
    found.crowded = p_.template array<CrowdedPart>(most_crowded_parts(n_));
    const Buffer state = p_.template array<GatherState>(1);
    clear(queue_, state);
    // Where a thread for each entry keeps the device busy and adds up one product or two, tiles would only cost.
    if (restricts() && (n_ <= most_tiled_few || n_ >= 2 * entries)) {
      find_tiles(queue_, p_, n_, found, state.as<GatherState>());
    } else {
      find_long_sums(queue_, p_, n_, found.crowded.template as<CrowdedPart>(), state, found);
    }
    const auto s = read_back<GatherState>(queue_, state.data());
    take_long_sums(s, found);
    found.crowded_count = s.crowded;
    make_room_for_parts(queue_, p_, found);
    return found;
  }

 private:
  int64_t bytes_of_parts() const {
    const auto of_part = static_cast<int64_t>(sizeof(CrowdedPart) + sizeof(unsigned) + p_.element);
    return of_part * most_crowded_parts(n_);
  }

  ExpandedProducts<I> products() const {
    return {p_.A.A, p_.B.B, begins_.template as<int32_t>(), of_entry_.template as<uint32_t>(), n_};
  }

  template <int vector, class Source, class Target>
  void scan(const Source& source, const Target& target, int64_t n) {
    gpu::ScanTiles<int32_t, Source, Target, vector> f{};
    f.source = source;
    f.target = target;
    gpu::launch_scan(queue_, f, n);
  }

  Queue& queue_;
  const Problem<PlainLeft<I>, I>& p_;
  int64_t n_;  // products
  Buffer begins_, of_entry_, order_, met_;
};

}  // namespace kkc::spgemm::gpu_parts

// coo_to_csr, hosts: entries dealt to rows by a counting sort in parts, then rows sorted (ops/sort_rows).
#pragma once

#include <atomic>

#include "core/dispatch.hpp"
#include "core/error.hpp"
#include "device/host_bucket.hpp"
#include "device/host_bucket_scattered.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/coo_to_csr/coo_to_csr.hpp"
#include "ops/sort_rows/sort_rows.hpp"

namespace kkc::coo_to_csr {
namespace host_coordinate_parts {

/// target[k] = element k of the view - base; the first of those outside 0..limit-1 is refused.
template <class Dev, class I, class In>
void read_typed(Queue& queue, const DenseRef& view, int64_t base, int64_t limit, const char* argument, I* target) {
  const auto* const from = static_cast<const In*>(view.data);
  const int64_t n = view.extents[0], stride = view.strides[0], parts = parts_for_items(queue, n);
  std::atomic<int64_t> bad{n};
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    for (int64_t k = part_begin(n, parts, part), end = part_begin(n, parts, part + 1); k < end; ++k) {
      const auto index = static_cast<int64_t>(from[k * stride]);
      if (index < base || index - base >= limit) {
        int64_t known = bad.load();
        while (k < known && !bad.compare_exchange_weak(known, k)) {
        }
        return;
      }
      target[k] = static_cast<I>(index - base);
    }
  });
  if (const int64_t k = bad.load(); k < n)
    fail(KKC_STATUS_INDEX_OUT_OF_RANGE, argument, "[", k, "] is ", static_cast<int64_t>(from[k * stride]),
         ", expected ", base, " to ", limit - 1 + base);
}

template <class Dev, class I>
void read_indices(Queue& queue, const DenseRef& view, int64_t base, int64_t limit, const char* argument, I* target) {
  if (view.scalar == Scalar::i32)
    read_typed<Dev, I, int32_t>(queue, view, base, limit, argument, target);
  else
    read_typed<Dev, I, int64_t>(queue, view, base, limit, argument, target);
}

template <class Dev, class I, class O>
std::unique_ptr<EntryMap> make_typed(const Desc& desc, Queue& queue) {
  const int64_t n = desc.entries;
  const auto array = [&]<class T>(Type<T>, int64_t count) {
    return Buffer(desc.memory, Space::host, static_cast<size_t>(count) * sizeof(T));
  };
  const Buffer row_buffer = array(Type<I>{}, n), col_buffer = array(Type<I>{}, n), dealt_buffer = array(Type<I>{}, n),
               offsets = array(Type<O>{}, desc.rows + 1);
  I *const row = row_buffer.as<I>(), *const col = col_buffer.as<I>(), *const dealt = dealt_buffer.as<I>();
  read_indices<Dev>(queue, desc.row_indices, desc.base, desc.rows, "row_indices", row);
  read_indices<Dev>(queue, desc.col_indices, desc.base, desc.cols, "col_indices", col);

  auto places_buffer = shared_array<O>(desc.memory, Space::host, n);
  O* const places = places_buffer->template as<O>();
  const int64_t parts = parts_for_items(queue, n + desc.rows);
  const auto first = [&](int64_t part) { return part_begin(n, parts, part); };
  if (keys_scatter<O>(queue, row, n, desc.rows)) {
    const auto visit = [&](int64_t part, auto&& each) {
      for (int64_t k = first(part), end = first(part + 1); k < end; ++k) each(k, col[k]);
    };
    const Buffer room = array(Type<ScatteredItem<I, O>>{}, n);
    host_bucket_scattered<Dev>(queue, room.as<ScatteredItem<I, O>>(), row, 0, desc.rows, n, parts, offsets.as<O>(),
                               places, dealt, visit);
  } else {
    host_bucket<Dev>(queue, row, 0, desc.rows, parts, offsets.as<O>(), first, [&](int64_t part, auto&& next) {
      for (int64_t k = first(part), end = first(part + 1); k < end; ++k) {
        const O to = next(k);
        places[to] = static_cast<O>(k);
        dealt[to] = col[k];
      }
    });
  }

  const CsrRef A{desc.pair, Scalar::none, 0, desc.rows, desc.cols, n, offsets.data(), dealt, nullptr};
  auto map = std::make_unique<EntryMap>(sort_rows::sorted_pattern(queue, desc.memory, A, desc.add_duplicates));
  if (map->positions) {
    auto composed = shared_array<O>(desc.memory, Space::host, n);
    const O* const sorted = map->positions->template as<O>();
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      for (int64_t k = first(part), end = first(part + 1); k < end; ++k)
        composed->template as<O>()[k] = places[sorted[k]];
    });
    map->positions = std::move(composed);
  } else {
    map->positions = std::move(places_buffer);
  }
  return map;
}

template <class Dev>
std::unique_ptr<EntryMap> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<EntryMap> map;
  dispatch_index_pair(IndexPairs{}, desc.pair, [&](auto pair) {
    using P = decltype(pair);
    map = make_typed<Dev, typename P::ordinal, typename P::offset>(desc, queue);
  });
  return map;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_coordinate_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, true, host_coordinate_parts::unsupported, host_coordinate_parts::make<Dev>};
}

}  // namespace kkc::coo_to_csr

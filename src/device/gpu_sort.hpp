// Radix sort on GPUs, for plans of any operation: unsigned keys, alone or with a payload of 4 or 8 bytes; only the bits
// that matter are sorted; stable.
//
//   Buffer scratch(memory, Space::device, gpu::sort_scratch_bytes<uint32_t, int64_t>(n));
//   const int where = gpu::sort_pairs<uint32_t, int64_t>(queue, {keys, other_keys}, {places, other_places}, n, 0, bits,
//                                                        scratch.data());
//   // the sorted pairs lie in the arrays `where` (0 or 1) of each pair of arrays; the others are scribbled on
//   gpu::sort_keys(...): the same without payload.
//
// It only enqueues. An execute, which may be captured, calls radix_sort without counts_of_plans, behind prepare_sort in
// its plan. With PayloadIs::places the payload's first array is not read: the payload is
// the place of each key, 0..n-1, hence the result a permutation. Signed keys: flip the highest bit.
#pragma once

#include <algorithm>
#include <array>

#include "device/gpu_radix_kernels.hpp"
#include "device/gpu_scan.hpp"

namespace kkc::gpu {

template <class Key, class Payload>
int64_t radix_tiles(int64_t n) {
  return (std::min(n, radix_portion) + radix_tile<Key, Payload> - 1) / radix_tile<Key, Payload>;
}

/// Counts, then the bases of all passes, two times those of a later portion, tickets of all launches; then two arrays
/// of status words.
inline constexpr int64_t radix_tickets = 2048;
inline constexpr size_t radix_head_bytes = RadixCounts::bytes +
                                           size_t{radix_most_passes + 2} * radix_digits * sizeof(uint64_t) +
                                           radix_tickets * sizeof(uint32_t);

/// Device memory, at a multiple of 8.
template <class Key, class Payload = NoPayload>
size_t sort_scratch_bytes(int64_t n) {
  return radix_head_bytes + 2 * static_cast<size_t>(radix_tiles<Key, Payload>(n)) * radix_digits * sizeof(uint32_t);
}

/// At plan time.
template <class Key, class Payload = NoPayload, class Digits = BitDigits<Key>>
void prepare_sort(const Queue& queue) {
  using Pass = RadixPass<Key, Payload, Digits>;
  prepare<ClearWords>(queue);
  prepare<RadixHistogram<Key, Digits>>(queue);
  prepare<Pass>(queue, Pass::shared_bytes);
}

template <class Key, class Payload>
struct RadixArrays {
  Key* keys;
  Payload* payload;  // null as an input: the keys' places
};

/// Those of plans, which leave them as they found them: zero.
inline RadixCounts counts_of_plans(Queue& queue) { return {zero_words(queue, KeptWords::sorts, RadixCounts::bytes)}; }

/// The passes of a sort. Pass p reads route(p, false) and writes route(p, true), so that callers choose where input,
/// output and scratch lie. counts: counts_of_plans, or none: it has its own, by one launch more.
template <class Key, class Payload, class Digits, class Route>
void radix_sort(const Queue& queue, const Digits& digits, int passes, int64_t n, void* scratch, RadixCounts counts,
                const Route& route, int64_t portion = radix_portion) {
  if (n == 0) return;
  using Pass = RadixPass<Key, Payload, Digits>;
  if (counts.words == nullptr) {
    counts.words = static_cast<unsigned long long*>(scratch);
    clear_words(queue, scratch, RadixCounts::bytes);
  }
  unsigned long long* const bases = static_cast<unsigned long long*>(scratch) + RadixCounts::bytes / sizeof(uint64_t);
  unsigned long long* const later = bases + radix_most_passes * radix_digits;
  auto* const tickets = reinterpret_cast<unsigned*>(later + 2 * radix_digits);
  uint32_t* const status = reinterpret_cast<uint32_t*>(tickets + radix_tickets);
  portion = std::max<int64_t>(1, portion / Pass::tile) * Pass::tile;
  const int64_t most_tiles = (std::min(n, portion) + Pass::tile - 1) / Pass::tile, words = most_tiles * radix_digits;
  using Histogram = RadixHistogram<Key, Digits>;
  const unsigned blocks = std::min(blocks_for(n, Histogram::threads * Histogram::unroll * 4),
                                   static_cast<unsigned>(8 * queue.concurrency()));
  launch(queue, blocks, Histogram::threads, 0,
         Histogram{digits, route(0, false).keys, n, passes, counts, bases, tickets, radix_tickets + words});

  int64_t launches = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const RadixArrays<Key, Payload> from = route(pass, false), to = route(pass, true);
    for (int64_t begin = 0; begin < n; begin += portion) {
      const int64_t end = std::min(n, begin + portion);
      Pass f{};
      f.digits = digits;
      f.keys = from.keys;
      f.sorted_keys = to.keys;
      f.payload = from.payload;
      f.sorted_payload = to.payload;
      f.begin = begin;
      f.end = end;
      f.pass = pass;
      require(launches < radix_tickets, KKC_STATUS_NOT_SUPPORTED, "too many elements to sort");
      f.ticket = tickets + launches;
      const int64_t number = begin / portion;
      f.bases = number == 0 ? bases + pass * radix_digits : later + (number - 1) % 2 * radix_digits;
      f.next_bases = later + number % 2 * radix_digits;
      f.status = status + launches % 2 * words;
      f.cleared = status + (launches + 1) % 2 * words;
      f.cleared_words = words;
      ++launches;
      launch(queue, blocks_for(end - begin, Pass::tile), Pass::threads, Pass::shared_bytes, f);
    }
  }
}

inline constexpr int radix_passes(int begin_bit, int end_bit) {
  return std::max(1, (end_bit - begin_bit + radix_bits - 1) / radix_bits);
}
enum class PayloadIs { given, places };

/// Sorts by bits begin_bit..end_bit - 1 and returns which of the arrays holds the result. See the top of this file.
template <class Key, class Payload>
int sort_pairs(Queue& queue, const std::array<Key*, 2>& keys, const std::array<Payload*, 2>& payload, int64_t n,
               int begin_bit, int end_bit, void* scratch, PayloadIs what = PayloadIs::given) {
  const int passes = radix_passes(begin_bit, end_bit);
  const auto route = [&](int pass, bool output) {
    const auto which = static_cast<size_t>((pass + output) % 2);
    const bool places = what == PayloadIs::places && pass == 0 && !output;
    return RadixArrays<Key, Payload>{keys[which], places ? nullptr : payload[which]};
  };
  radix_sort<Key, Payload>(queue, BitDigits<Key>{begin_bit, end_bit}, passes, n, scratch, counts_of_plans(queue),
                           route);
  return passes % 2;
}

template <class Key>
int sort_keys(Queue& queue, const std::array<Key*, 2>& keys, int64_t n, int begin_bit, int end_bit, void* scratch) {
  return sort_pairs<Key, NoPayload>(queue, keys, {nullptr, nullptr}, n, begin_bit, end_bit, scratch);
}

}  // namespace kkc::gpu

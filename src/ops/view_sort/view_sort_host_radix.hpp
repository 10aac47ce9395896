// view_sort, host_radix: radix sort from the least significant byte, every thread with counts of its own (Zagha,
// Blelloch, "Radix sort for vector multiprocessors", SC'91); bytes that all keys share cost no pass. Long lines are
// sorted by all threads together, others by one thread each; very short ones by insertion. Stable.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/host_parallel.hpp"
#include "view_sort_order.hpp"
#include "view_sort_route.hpp"

namespace kkc::view_sort {

namespace host_radix_parts {

inline constexpr int64_t insertion_length = 48;
inline constexpr int64_t least_of_thread = 16384;  // elements of a line for which another thread pays

/// Carries nothing.
struct Nothing {};

template <class Dev, class K, class C>
class RadixKernel final : public Kernel {
  static constexpr bool carries = !std::is_same_v<C, Nothing>;
  static constexpr int digits = Order<K>::digits;
  using Counts = int64_t[256];

 public:
  RadixKernel(const Desc& desc, Queue& queue)
      : desc_(desc), order_{desc.descending}, places_(carried_by(desc) == Carried::places) {
    const int64_t threads = Dev::threads(queue);
    const int64_t together = std::clamp<int64_t>(desc.length / least_of_thread, 1, threads);
    // One thread a line, unless there are too few lines to go round.
    if (desc.lines < 2 * threads && together > 1)
      team_ = together;
    else
      slots_ = std::min(threads, desc.lines);
    const auto n = static_cast<size_t>(desc.length);
    const auto take = [&](size_t bytes) {
      const size_t at = slot_bytes_;
      slot_bytes_ += (bytes + 255) / 256 * 256;
      return at;
    };
    gathers_ = places_ && desc.payload == Payload::values;
    other_keys_ = take(n * sizeof(K));
    out_keys_ = take(own_out_keys() ? n * sizeof(K) : 0);
    if constexpr (carries) {
      other_carried_ = take(n * sizeof(C));
      out_carried_ = take(own_out_carried() ? n * sizeof(C) : 0);
    }
    gathered_ = take(gathers_ ? n * size_of(desc.value) : 0);
    counts_ = take(static_cast<size_t>(team_) * digits * sizeof(Counts));
  }

  size_t workspace_bytes() const override { return static_cast<size_t>(slots_) * slot_bytes_; }

  void execute(Queue& queue, const Args& args) override {
    if (team_ > 1) {
      for (int64_t line = 0; line < desc_.lines; ++line)
        sort_line(queue, args, line, static_cast<char*>(args.workspace));
      return;
    }
    host_parts<Dev>(queue, slots_, [&](int64_t slot) {
      char* const memory = static_cast<char*>(args.workspace) + slot * static_cast<int64_t>(slot_bytes_);
      for (int64_t line = part_begin(desc_.lines, slots_, slot); line < part_begin(desc_.lines, slots_, slot + 1);
           ++line)
        sort_line(queue, args, line, memory);
    });
  }

  void describe(Info& info) const override {
    info.add("threads_a_line", team_);
    info.add("lines_at_once", slots_);
  }

 private:
  // The last pass writes the output itself where that is a run.
  bool own_out_keys() const { return !desc_.keys_wanted || desc_.sorted_keys.step != 1; }
  bool own_out_carried() const { return gathers_ || desc_.sorted_values.step != 1; }

  template <class F>
  void for_parts(Queue& queue, F&& f) const {
    if (team_ == 1)
      f(int64_t{0});
    else
      host_parts<Dev>(queue, team_, f);
  }
  template <class F>
  void for_elements(Queue& queue, F&& f) const {
    for_parts(queue, [&](int64_t part) {
      for (int64_t i = part_begin(desc_.length, team_, part), end = part_begin(desc_.length, team_, part + 1); i < end;
           ++i)
        f(i);
    });
  }

  void sort_line(Queue& queue, const Args& args, int64_t line, char* memory) const {
    const auto keys_at = [&](const Lines& l) { return static_cast<K*>(l.data) + line * l.line; };
    Route<K> keys{keys_at(args.keys), args.keys.step, nullptr, reinterpret_cast<K*>(memory + other_keys_), 0};
    keys.out = own_out_keys() ? reinterpret_cast<K*>(memory + out_keys_) : keys_at(args.sorted_keys);
    [[maybe_unused]] Route<C> carried{};
    if constexpr (carries) {
      if (!places_) {
        carried.in = static_cast<const C*>(args.values.data) + line * args.values.line;
        carried.step = args.values.step;
      }
      carried.other = reinterpret_cast<C*>(memory + other_carried_);
      carried.out = own_out_carried() ? reinterpret_cast<C*>(memory + out_carried_)
                                      : static_cast<C*>(args.sorted_values.data) + line * args.sorted_values.line;
    }
    if (desc_.length <= insertion_length)
      insertion_sort(keys, carried);
    else
      radix_sort(queue, keys, carried, reinterpret_cast<Counts*>(memory + counts_));
    if (desc_.keys_wanted && own_out_keys())
      for_elements(queue,
                   [&, to = keys_at(args.sorted_keys)](int64_t i) { to[i * args.sorted_keys.step] = keys.out[i]; });
    if constexpr (carries) {
      if (gathers_)
        gather(queue, args, line, carried.out, memory + gathered_);
      else if (own_out_carried())
        for_elements(queue, [&, to = static_cast<C*>(args.sorted_values.data) + line * args.sorted_values.line](
                                int64_t i) { to[i * args.sorted_values.step] = carried.out[i]; });
    }
  }

  C carried_of(const Route<C>& carried, int64_t i) const {
    if constexpr (carries)
      return carried.in == nullptr ? static_cast<C>(i) : carried.in[i * carried.step];
    else
      return {};
  }

  void insertion_sort(const Route<K>& keys, const Route<C>& carried) const {
    K sorted[insertion_length];
    C moved[insertion_length];
    decltype(order_.rank(K{})) ranks[insertion_length];
    for (int64_t i = 0; i < desc_.length; ++i) {
      const K key = keys.in[i * keys.step];
      const auto rank = order_.rank(key);
      int64_t at = i;
      for (; at > 0 && rank < ranks[at - 1]; --at) {
        ranks[at] = ranks[at - 1];
        sorted[at] = sorted[at - 1];
        if constexpr (carries) moved[at] = moved[at - 1];
      }
      ranks[at] = rank;
      sorted[at] = key;
      if constexpr (carries) moved[at] = carried_of(carried, i);
    }
    std::copy_n(sorted, desc_.length, keys.out);
    if constexpr (carries) std::copy_n(moved, desc_.length, carried.out);
  }

  void radix_sort(Queue& queue, Route<K>& keys, Route<C>& carried, Counts* counts) const {
    // counts[part * digits + d]: the part's elements by digit d; for the first pass they are also what it needs.
    for_parts(queue, [&](int64_t part) {
      Counts* const mine = counts + part * digits;
      std::memset(mine, 0, digits * sizeof(Counts));
      for (int64_t i = begin(part); i < begin(part + 1); ++i) {
        const K key = keys.in[i * keys.step];
        for (int d = 0; d < digits; ++d) ++mine[d][order_.digit(key, d)];
      }
    });
    int which[digits], passes = 0;
    const K any = keys.in[0];
    for (int d = 0; d < digits; ++d) {
      int64_t same = 0;
      for (int64_t part = 0; part < team_; ++part) same += counts[part * digits + d][order_.digit(any, d)];
      if (same != desc_.length) which[passes++] = d;
    }
    keys.passes = carried.passes = std::max(passes, 1);
    if (passes == 0) which[0] = 0;  // one pass that keeps the order
    if (keys.copies_first()) for_elements(queue, [&, to = keys.copy()](int64_t i) { to[i] = keys.in[i * keys.step]; });
    if constexpr (carries)
      if (carried.copies_first())
        for_elements(queue, [&, to = carried.copy()](int64_t i) { to[i] = carried.in[i * carried.step]; });
    for (int pass = 0; pass < keys.passes; ++pass) {
      const K* const from = keys.source(pass);
      const int d = which[pass];
      if (pass > 0)
        for_parts(queue, [&](int64_t part) {
          int64_t(&mine)[256] = counts[part * digits + d];
          std::memset(mine, 0, sizeof(Counts));
          for (int64_t i = begin(part); i < begin(part + 1); ++i) ++mine[order_.digit(from[i], d)];
        });
      int64_t place = 0;
      for (int byte = 0; byte < 256; ++byte)
        for (int64_t part = 0; part < team_; ++part) {
          int64_t& count = counts[part * digits + d][byte];
          const int64_t n = count;
          count = place;
          place += n;
        }
      for_parts(queue, [&](int64_t part) {
        int64_t(&next)[256] = counts[part * digits + d];
        K* const to = keys.target(pass);
        const C* const carried_from = carries ? carried.source(pass) : nullptr;
        C* const carried_to = carries ? carried.target(pass) : nullptr;
        for (int64_t i = begin(part); i < begin(part + 1); ++i) {
          const int64_t at = next[order_.digit(from[i], d)]++;
          to[at] = from[i];
          if constexpr (carries) carried_to[at] = carried_from == nullptr ? static_cast<C>(i) : carried_from[i];
        }
      });
    }
  }

  /// sorted_values[i] = values[places[i]], through memory of the slot where both are the same array.
  void gather(Queue& queue, const Args& args, int64_t line, const C* places, char* memory) const {
    if constexpr (carries) {
      dispatch_word(size_of(desc_.value), [&](auto word) {
        using W = decltype(word);
        const W* const from = static_cast<const W*>(args.values.data) + line * args.values.line;
        W* const to = static_cast<W*>(args.sorted_values.data) + line * args.sorted_values.line;
        W* const kept = reinterpret_cast<W*>(memory);
        for_elements(
            queue, [&](int64_t i) { copy_word(kept + i, from + static_cast<int64_t>(places[i]) * args.values.step); });
        for_elements(queue, [&](int64_t i) { copy_word(to + i * args.sorted_values.step, kept + i); });
      });
    }
  }
  /// Callers' complex numbers are aligned for their parts only.
  template <class W>
  static void copy_word(W* to, const W* from) {
    std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), sizeof(W));
  }

  int64_t begin(int64_t part) const { return part_begin(desc_.length, team_, part); }

  Desc desc_;
  Order<K> order_;
  bool places_, gathers_ = false;
  int64_t team_ = 1, slots_ = 1;
  size_t slot_bytes_ = 0;
  size_t other_keys_ = 0, out_keys_ = 0, other_carried_ = 0, out_carried_ = 0, gathered_ = 0, counts_ = 0;
};

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch_scalar(AllElements{}, desc.key, [&](auto type) {
    using K = Element<typename decltype(type)::type>;
    switch (carried_bytes(desc)) {
      case 0: kernel = std::make_unique<RadixKernel<Dev, K, Nothing>>(desc, queue); break;
      case 4: kernel = std::make_unique<RadixKernel<Dev, K, uint32_t>>(desc, queue); break;
      default: kernel = std::make_unique<RadixKernel<Dev, K, uint64_t>>(desc, queue);
    }
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_radix_parts

template <class Dev>
constexpr Implementation host_radix() {
  return {{"host_radix"}, true, host_radix_parts::unsupported, host_radix_parts::make<Dev>};
}

}  // namespace kkc::view_sort

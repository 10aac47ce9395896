// When and how C's columns are found in one pass (spgemm_gpu_bucket_kernels.hpp), without counting them first.
#pragma once

#include "device/gpu_scan.hpp"
#include "spgemm_gpu_bucket_kernels.hpp"
#include "spgemm_gpu_found.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
class OnePass {
 public:
  /// begins: of each row's products; longest: the most products of a row.
  OnePass(Queue& queue, const Problem<Left, I>& problem, const Buffer& begins, int64_t products, int32_t longest)
      : queue_(queue), p_(problem), begins_(begins), products_(products), longest_(longest) {}

  /// Whether it found C's offsets and columns, counts (zero at first) and, where they may be kept, slots.
  bool run(const Buffer& counts, Found& found) {
    if (!promises()) return false;
    return longest_ <= Short::capacity ? run<Short>(counts, found) : run<Long>(counts, found);
  }

 private:
  using Short = BucketRows<Left, I, 128>;
  using Long = BucketRows<Left, I, 256>;
  // C's columns are stored where their products would fit: this part of the room may stay unused.
  static constexpr int64_t most_repeated = 64;  // one in so many
  static constexpr int64_t sampled_rows = 1024, chunks = 16;

  bool promises() const {
    const bool countable = offset_size(p_.pair) == 8 || products_ < INT32_MAX;
    return countable && p_.rows >= 2 * sampled_rows && longest_ <= Long::capacity && products_ >= 256 * p_.rows &&
           products_ / p_.rows * most_repeated <= 2 * p_.cols;
  }

  template <class Rows>
  bool run(const Buffer& counts, Found& found) {
    const Buffer state = p_.template array<BucketState>(1);
    clear(queue_, state);
    Rows rows{};
    rows.A = p_.A;
    rows.B = {p_.B.B};
    rows.begins = begins_.template as<int64_t>();
    rows.state = state.as<BucketState>();
    rows.stride = p_.rows / sampled_rows;
    const auto sample = launch_blocks_and_read<BucketState>(queue_, sampled_rows, rows, 0, state.data());
    if (sample.failed != 0 || sample.repeated * most_repeated > sample.products) return false;

    const int64_t slot_bytes = 2 * products_;
    const bool keeps_slots = slot_bytes <= products_ * static_cast<int64_t>(p_.element) / 2 &&
                             (p_.most_slot_bytes < 0 || slot_bytes <= p_.most_slot_bytes);
    Buffer slots = keeps_slots ? p_.template array<uint16_t>(products_) : Buffer();
    rows.slots = slots.template as<uint16_t>();
    rows.counts = counts.as<int32_t>();
    rows.stride = 1;
    auto offsets = std::make_shared<Buffer>(p_.memory, Space::device,
                                            (static_cast<size_t>(p_.rows + 1) * offset_size(p_.pair) + 7) / 8 * 8);
    auto columns = std::make_shared<const Buffer>(p_.memory, Space::device, static_cast<size_t>(products_) * sizeof(I));
    const int64_t nnz = offset_size(p_.pair) == 8 ? fill<Rows, int64_t>(rows, *offsets, columns->template as<I>())
                                                  : fill<Rows, int32_t>(rows, *offsets, columns->template as<I>());
    const bool failed = read_back<BucketState>(queue_, state.data()).failed != 0;
    if (failed || (products_ - nnz) * (most_repeated / 2) > products_) return false;
    found.output.nnz = nnz;
    found.output.offsets = std::move(offsets);
    found.output.indices = std::move(columns);
    found.slots = std::move(slots);
    found.one_pass = true;
    return true;
  }

  /// Chunk by chunk, so that little room is needed beside C. Returns C's entries.
  template <class Rows, class O>
  int64_t fill(Rows& rows, const Buffer& offsets, I* columns) {
    constexpr int64_t aligned = 1024;
    const int64_t chunk = std::min((p_.rows / chunks + aligned) / aligned * aligned, p_.rows);
    const Buffer room = p_.template array<I>(chunk * longest_);
    O* const to = offsets.template as<O>();
    rows.columns = room.template as<I>();
    for (int64_t first = 0; first < p_.rows; first += chunk) {
      const int64_t count = std::min(chunk, p_.rows - first);
      rows.first = first;
      launch_blocks(queue_, count, rows, 0);
      gpu::OffsetScan<int32_t, O, gpu::scan_vector<int32_t, O>> scan{};
      scan.source = {rows.counts + first, 0};
      scan.target = {{to + first, 0}};
      scan.base = first > 0 ? to + first : nullptr;
      gpu::launch_scan(queue_, scan, count);
      launch_over(queue_, count * 32,
                  MoveRows<I>{first, count, rows.begins, {to, sizeof(O) == 8, 0}, rows.columns, columns});
    }
    return static_cast<int64_t>(read_back<O>(queue_, to + p_.rows));
  }

  Queue& queue_;
  const Problem<Left, I>& p_;
  const Buffer& begins_;
  int64_t products_;
  int32_t longest_;
};

}  // namespace kkc::spgemm::gpu_parts

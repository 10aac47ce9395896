// The symbolic phase on GPUs: which columns each row of C has, and what the numeric phase wants to know about rows.
// Knows no element type. Classes of rows are tried first; else rows go to hash tables and bitmaps by size.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "device/gpu_scan.hpp"
#include "spgemm_gpu_bucket_rows.hpp"
#include "spgemm_gpu_cut_rows.hpp"
#include "spgemm_gpu_expanded_rows.hpp"
#include "spgemm_gpu_few_entries_kernels.hpp"
#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_gathered_rows.hpp"
#include "spgemm_gpu_mask_kernels.hpp"
#include "spgemm_gpu_products_of_rows.hpp"
#include "spgemm_gpu_sized_rows.hpp"
#include "spgemm_gpu_sorted_rows.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
class Symbolic {
 public:
  Symbolic(Queue& queue, const Problem<Left, I>& problem)
      : queue_(queue), p_(problem), tables_(shared_room(queue) >= large_room ? large_tables : small_tables) {}

  Found run() {
    if (!begin()) return std::move(found_);
    classify();
    if (!by_classes()) by_size();
    return std::move(found_);
  }

  /// C has only entries of the mask, whose rows ascend strictly.
  Found run(const Pattern<I>& mask, int64_t nnz) {
    if (!begin()) return std::move(found_);
    const Buffer bounds = look_at_rows();
    counts_ = p_.template array<int32_t>(p_.rows);
    launch_over(queue_, p_.rows, RowLengths{mask.offsets, p_.rows, counts_.template as<int32_t>()});
    Buffer lengths = std::move(counts_);
    using F = MarkHits<Left, I>;
    CutRows cuts(queue_, p_);
    const Pieces pieces = cuts.listed(cuts.cut(nullptr, p_.rows, lengths, F::capacity, products_of_piece, bounds));
    counts_ = p_.template array<int32_t>(p_.rows);
    clear(queue_, counts_);
    Buffer hits = p_.template array<uint8_t>(nnz);
    constexpr int warps = F::threads / 32;
    launch_blocks(queue_, (pieces.count + warps - 1) / warps,
                  F{p_.A, p_.B, mask, pieces.list.template as<Piece>(), pieces.count, found_.distinct,
                    hits.as<uint8_t>(), counts_.template as<int32_t>()},
                  F::shared_bytes);
    const auto [survey, sizes] = survey_counts(bounds);
    launch_over(queue_, p_.rows * 32,
                KeepHits<I>{mask, hits.as<uint8_t>(), offsets(), found_.output.indices->template as<I>()});
    list_rows(sizes, survey, bounds, true);
    return std::move(found_);
  }

 private:
  /// False: C has no entries, and that is all.
  bool begin() {
    found_.output.pair = p_.pair;
    found_.output.rows = p_.rows;
    found_.output.cols = p_.cols;
    if (p_.rows > 0 && p_.nnz_a > 0 && p_.nnz_b > 0) return true;
    counts_ = p_.template array<int32_t>(p_.rows + 1);
    clear(queue_, counts_);
    make_offsets(0);
    return false;
  }

  // ---- classes ----

  struct State {
    alignas(128) int32_t failed;  // which all look at while others count
    alignas(128) int32_t count_b;
    int32_t count_c, broken;
    unsigned long long cursors[2], total, products;
    int32_t largest, numbered;
  };
  static constexpr int least_class_log2 = 7, small_class_log2 = 10;  // tables of short rows: a small block's if many
  static constexpr int64_t columns_room = int64_t{1} << 20, slots_room = int64_t{1} << 22;

  State* state() const { return state_.template as<State>(); }

  void classify() {
    const int64_t inner = p_.B.B.rows;
    const int lanes_a = class_lanes(p_.nnz_a, p_.rows), lanes_b = class_lanes(p_.nnz_b, inner);
    tried_classes_ = p_.rows >= 4 * most_classes && p_.rows < INT32_MAX && inner < INT32_MAX;
    // The state and the tables behind it are cleared together.
    constexpr size_t table_bytes = 2 * class_places * sizeof(unsigned long long);
    state_ = p_.template array<char>(sizeof(State) + (tried_classes_ ? table_bytes : 0));
    clear(queue_, state_);
    if (!tried_classes_) return;
    Buffer classes_b = p_.template array<RowClass>(inner);
    classes_ = p_.template array<RowClass>(p_.rows);
    const ClassTable b{reinterpret_cast<unsigned long long*>(state() + 1), &state()->count_b, &state()->failed},
        c{b.words + class_places, &state()->count_c, &state()->failed};
    class_rows_ = p_.template array<int32_t>(most_classes);
    class_bases_ = p_.template array<int32_t>(most_classes);
    found_.number_of = p_.template array<uint16_t>(p_.rows);

    classify_rows(RightSignature<I>{p_.B.B}, inner, p_.longest_b, lanes_b, b, classes_b.as<RowClass>());
    classify_rows(LeftSignature<Left>{p_.A, classes_b.as<RowClass>()}, p_.rows, p_.longest_a, lanes_a, c,
                  classes_.template as<RowClass>());
    gpu::launch(
        queue_, class_places / NumberClasses::threads, NumberClasses::threads, 0,
        NumberClasses{c, &state()->numbered, classes_.template as<RowClass>(), found_.number_of.template as<uint16_t>(),
                      class_rows_.template as<int32_t>(), class_bases_.template as<int32_t>()});
  }
  /// Short rows are a thread's.
  static int class_lanes(int64_t entries, int64_t rows) {
    return entries <= 12 * rows ? 0 : lanes_log2_for(entries, rows);
  }

  template <class Signature>
  void classify_rows(const Signature& signature, int64_t rows, int64_t longest, int lanes_log2, const ClassTable& table,
                     RowClass* classes) {
    if constexpr (std::is_same_v<Signature, RightSignature<I>>) {
      if (longest <= 4) return classify_few<4>(signature, rows, longest, table, classes);
      if (longest <= few_entries) return classify_few<few_entries>(signature, rows, longest, table, classes);
    }
    if constexpr (requires { signature.begin(rows); }) {
      const auto classified = [&]<int Rows>() {
        using F = ClassifyShortRows<Signature, Rows>;
        if (!F::takes(longest)) return false;
        const size_t shared = F::shared_bytes(longest);
        const int64_t most = int64_t{gpu::prepare<F>(queue_, shared).blocks_per_sm} * queue_.concurrency();
        gpu::launch(queue_, static_cast<unsigned>(std::min<int64_t>(gpu::blocks_for(rows, F::threads * Rows), most)),
                    F::threads, shared,
                    F{signature, rows, static_cast<int32_t>(longest), table, classes, &state()->broken});
        return true;
      };
      if (classified.template operator()<4>() || classified.template operator()<1>()) return;
    }
    // So few blocks that they go round, and end soon when it was in vain.
    using F = ClassifyRows<Signature>;
    gpu::launch(
        queue_,
        std::min(gpu::blocks_for(rows << lanes_log2, F::threads), static_cast<unsigned>(8 * queue_.concurrency())),
        F::threads, 0, F{signature, rows, lanes_log2, table, classes, &state()->broken});
  }

  template <int most>
  void classify_few(const RightSignature<I>& signature, int64_t rows, int64_t longest, const ClassTable& table,
                    RowClass* classes) {
    using F = ClassifyFewEntries<I, most>;
    launch_round(queue_, rows, F{{signature, rows, static_cast<int32_t>(longest), table, classes, &state()->broken}});
  }

  bool by_classes() {
    if (!tried_classes_) return false;
    State s = read_back<State>(queue_, state());
    found_.distinct = s.broken == 0;
    const auto give_up = [&] {
      found_.number_of = Buffer();
      classes_ = Buffer();
      return false;
    };
    if (s.failed != 0) return give_up();

    const int32_t classes = s.count_c;
    found_.slots = p_.template array<uint16_t>(slots_room);
    found_.begins = p_.template array<int64_t>(classes);
    Buffer columns = p_.template array<int32_t>(columns_room);
    Buffer columns_at = p_.template array<int64_t>(classes), products = p_.template array<int64_t>(classes);
    Buffer class_counts = p_.template array<int32_t>(classes);
    const ClassTarget target{class_counts.as<int32_t>(),
                             class_bases_.template as<int32_t>(),
                             columns_at.as<int64_t>(),
                             found_.begins.template as<int64_t>(),
                             products.as<int64_t>(),
                             columns.as<int32_t>(),
                             found_.slots.template as<uint16_t>(),
                             state()->cursors,
                             columns_room,
                             slots_room,
                             &state()->failed};
    // Blocks of columns that no row exceeds fit in three quarters of the table.
    int log2 = least_class_log2;
    while (log2 < tables_.class_log2 && 3 * (int64_t{1} << log2) < 4 * p_.longest_a * p_.longest_b) ++log2;
    if (log2 <= small_class_log2 && classes > static_cast<int32_t>(queue_.concurrency()))
      class_rows<64>(classes, target, log2);
    else
      class_rows<1024>(classes, target, log2);
    counts_ = p_.template array<int32_t>(p_.rows);
    const Buffer base_of = p_.template array<int32_t>(p_.rows);
    gpu::launch(queue_, survey_blocks(p_.rows), SizesOfClasses::threads, 0,
                SizesOfClasses{classes_.template as<RowClass>(), found_.number_of.template as<uint16_t>(),
                               class_counts.as<int32_t>(), products.as<int64_t>(), p_.rows, base_of.as<int32_t>(),
                               counts_.template as<int32_t>(), &state()->total, &state()->products, &state()->largest});
    s = read_back<State>(queue_, state());
    if (s.failed != 0 || s.largest > most_slots) {
      found_.slots = Buffer();
      found_.begins = Buffer();
      return give_up();
    }
    found_.classes = classes;
    found_.products = static_cast<int64_t>(s.products);
    found_.longest = s.largest;
    require_countable(p_.cols, static_cast<int64_t>(s.total), p_.pair, "C");
    make_offsets(static_cast<int64_t>(s.total));
    if (orders_classes(p_, found_)) {
      OrderProducts<Left, I> f{};
      f.A = p_.A;
      f.A.list = class_rows_.template as<int32_t>();
      f.count = classes;
      f.sizes = class_counts.as<int32_t>();
      f.end_begins = columns_at.as<int64_t>();
      order_classes(queue_, p_, found_, f, static_cast<int64_t>(s.cursors[0]));
    }
    if (found_.longest <= thread_rows_longest) {
      launch_over(queue_, p_.rows,
                  ShiftShortColumns<I>{found_.number_of.template as<uint16_t>(), base_of.as<int32_t>(),
                                       columns_at.as<int64_t>(), columns.as<int32_t>(), offsets(),
                                       found_.output.indices->template as<I>(), p_.rows, found_.longest},
                  ShiftShortColumns<I>::shared_bytes(found_.longest));
    } else {
      if (!found_.ordered()) place_entries();
      const int lanes = lanes_log2_for(found_.output.nnz, p_.rows);
      launch_over(
          queue_, p_.rows << lanes,
          ShiftColumns<I>{found_.number_of.template as<uint16_t>(), base_of.as<int32_t>(), columns_at.as<int64_t>(),
                          columns.as<int32_t>(), offsets(), found_.output.indices->template as<I>(), p_.rows, lanes});
    }
    if (found_.ordered()) found_.end_begins = std::move(columns_at);
    return true;
  }

  template <int Threads>
  void class_rows(int32_t classes, const ClassTarget& target, int table_log2) {
    HashRowsBlock<Left, I, Phase::classes, Threads> f{};
    f.A = p_.A;
    f.A.list = class_rows_.template as<int32_t>();
    f.B = p_.B;
    f.classes = target;
    f.table_log2 = table_log2;
    f.order_words = std::min(tables_.class_order_words, 1 << table_log2);
    launch_blocks(queue_, classes, f, f.shared_bytes());
  }

  void place_entries() {
    const int32_t words = place_words(found_.longest);
    const int64_t size = found_.classes * p_.longest_a * words * 32;
    if (!found_.distinct || words > most_place_words || p_.longest_b >= no_entry || 4 * size > most_place_bytes) return;
    found_.longest_a = static_cast<int32_t>(p_.longest_a);
    found_.places = p_.template array<uint32_t>(size);
    using F = PlaceEntries<Left, I>;
    F f{p_.A,
        p_.B.B,
        found_.slots.template as<uint16_t>(),
        found_.begins.template as<int64_t>(),
        found_.longest_a,
        words,
        found_.places.template as<uint32_t>()};
    f.A.list = class_rows_.template as<int32_t>();
    gpu::launch(queue_, gpu::blocks_for(found_.classes, 1), F::threads, 0, f);
  }

  // ---- rows by size ----

  /// Returns the products of each row, cut off.
  Buffer look_at_rows() {
    ProductsOfRows products = products_of_rows(queue_, p_);
    product_begins_ = std::move(products.begins);
    found_.products = products.total;
    found_.distinct = products.distinct;
    return std::move(products.bounds);
  }

  void by_size() {
    const Buffer bounds = look_at_rows();
    counts_ = p_.template array<int32_t>(p_.rows);
    SurveyRows by_bounds{bounds.as<int32_t>(), nullptr, p_.rows, tables_.limits, 0, 0, nullptr};
    if (by_sorting(by_bounds, bounds)) return;
    Survey of_bounds = look(by_bounds);
    GatheredRows<Left, I> gathered(queue_, p_);
    bool gathers = gathered.find(bounds);
    if (by_expanding(bounds, gathers && gathered.are_most_of(found_.products), of_bounds.largest)) return;
    gathers = gathers && gathered.expand(bounds);
    const bool crowded = !gathers && gathered.any_crowded();
    if (gathers) of_bounds = look(by_bounds);
    clear(queue_, counts_);
    if (!gathers && !crowded &&
        OnePass<Left, I>(queue_, p_, product_begins_, found_.products, of_bounds.largest).run(counts_, found_)) {
      const auto [of_counts, sizes] = survey_counts(bounds);
      if (found_.slots.data() != nullptr) found_.begins = std::move(product_begins_);
      list_rows(sizes, of_counts, bounds, false);
      return;
    }
    Bins bins{};
    Buffer list = place(by_bounds, of_bounds, bins);

    clear(queue_, counts_);
    SymbolicTarget<I> target{};
    target.counts = counts_.template as<int32_t>();
    SizedRows<Left, I> rows(queue_, p_, tables_);
    rows.template run<false>(list, bins, target);

    if (gathers) gathered.size(counts_);
    auto [of_counts, sizes] = survey_counts(bounds);
    if (gathers) {
      found_.gathered = gathered.place(offsets(), found_.output.indices->template as<I>());
      gathered.forget(counts_);
      of_counts = look(sizes);
      found_.longest = of_counts.largest;
    }
    if (const int32_t most = tables_.limits.upper[2]; of_bounds.largest > most) {
      const Buffer fills = p_.template array<int32_t>(p_.rows);
      launch_over(queue_, p_.rows,
                  BoundFills<Left, I>{bounds.as<int32_t>(), counts_.template as<int32_t>(), p_.rows, most,
                                      fills.as<int32_t>()});
      SurveyRows by_fills = by_bounds;
      by_fills.sizes = fills.as<int32_t>();
      list = place(by_fills, look(by_fills), bins);
    }
    const int64_t slot_bytes = 2 * found_.products;
    bool hashes = true;
    for (int b = 0; b < tables_.limits.count; ++b)
      hashes = hashes && (bins[static_cast<size_t>(b)].count == 0 || (b < 6 && tables_.slots[b]));
    const bool keeps_slots =
        hashes && of_counts.largest <= most_slots && slot_bytes <= most_slots_of_output() && slot_bytes <= slot_room();
    if (keeps_slots) {
      found_.slots = p_.template array<uint16_t>(found_.products);
      found_.begins = std::move(product_begins_);
      target.slots = found_.slots.template as<uint16_t>();
      target.slot_begins = found_.begins.template as<int64_t>();
    }
    target.offsets = offsets();
    target.columns = found_.output.indices->template as<I>();
    if (!p_.sorted) target.any_order = keeps_slots ? INT32_MAX : numeric_limits.upper[hashed_bin - 1];
    rows.template run<true>(list, bins, target);
    list = Buffer();
    if (crowded) found_.gathered = gathered.place_crowded({offsets(), target.columns, p_.rows});
    list_rows(sizes, of_counts, bounds, false);
  }

  /// Whether all rows' products can be sorted, and was done.
  bool by_sorting(SurveyRows by_products, const Buffer& bounds) {
    SortedRows<Left, I> sorted(queue_, p_, found_.products);
    if (!sorted.candidate(slot_room())) return false;
    by_products.limits = sorted.limits;
    const Survey survey = look(by_products);
    if (!sorted.takes(survey.largest)) return false;
    Bins bins{};
    const Buffer list = place(by_products, survey, bins);
    clear(queue_, counts_);
    sorted.count(product_begins_, list, bins, counts_);
    const auto [of_counts, sizes] = survey_counts(bounds);
    if (2 * found_.products > most_slots_of_output()) return false;
    sorted.place(offsets(), found_.output.indices->template as<I>(), std::move(product_begins_), found_);
    list_rows(sizes, of_counts, bounds, false);
    return true;
  }

  /// The same for rows of any length, with lists of all products: of restrictions; where gathered rows are most of the
  /// product, for then lists of the rest cost less than another kernel; of few rows; and where some rows have too many
  /// products to be sorted or found in one pass, and those of the others hardly meet.
  bool by_expanding(const Buffer& bounds, bool gathers_most, int32_t most_products) {
    if constexpr (std::is_same_v<Left, PlainLeft<I>>) {
      ExpandedRows<I> expanded(queue_, p_, found_.products);
      if (!expanded.has_room(slot_room())) return false;
      double most = 0;  // products an entry of C
      if (gathers_most && found_.products <= most_expanded) {
        most = std::numeric_limits<double>::infinity();
      } else if (expanded.restricts()) {
        most = most_expanded_compression;
      } else if (found_.products > most_expanded) {
        return false;
      } else if (expanded.few_rows()) {
        most = most_compression_of_few;
      } else if (most_products > most_ordered_products && expanded.short_rows() &&
                 sampled_compression(queue_, p_, bounds, found_.products) <= most_expanded_compression) {
        most = std::numeric_limits<double>::infinity();
      } else {
        return false;
      }
      expanded.count(product_begins_, counts_);
      survey_counts(bounds);
      const int64_t entries = found_.output.nnz;
      if (static_cast<double>(found_.products) > most * static_cast<double>(entries) ||
          !expanded.has_room(slot_room(), entries))
        return false;
      found_.gathered = expanded.place(entries, found_.output.indices->template as<I>());
      return true;
    } else {
      return false;
    }
  }

  /// Bytes that slots may take beside C: twice its own.
  int64_t most_slots_of_output() const { return 2 * found_.output.nnz * static_cast<int64_t>(p_.element + sizeof(I)); }
  /// And beside what gathered rows keep.
  int64_t slot_room() const {
    if (p_.most_slot_bytes < 0) return INT64_MAX;
    return p_.most_slot_bytes - static_cast<int64_t>(found_.gathered.bytes());
  }

  /// Looks at C's rows and makes its arrays, unless they are there.
  std::pair<Survey, SurveyRows> survey_counts(const Buffer& bounds) {
    // A bitmap of 64 columns a word and hashes of half as many places cost the same from one entry in 128 columns.
    BinLimits limits = numeric_limits;
    limits.upper[hashed_bin] = static_cast<int32_t>(std::max<int64_t>(limits.upper[hashed_bin - 1], p_.cols / 128));
    SurveyRows sizes{counts_.template as<int32_t>(),
                     bounds.as<int32_t>(),
                     p_.rows,
                     limits,
                     heavy_products,
                     limits.upper[hashed_bin - 1] + 1,
                     nullptr};
    const Survey survey = look(sizes);
    found_.longest = survey.largest;
    require_countable(p_.cols, static_cast<int64_t>(survey.total), p_.pair, "C");
    if (found_.output.offsets == nullptr) make_offsets(static_cast<int64_t>(survey.total));
    return {survey, sizes};
  }

  /// For the numeric phase.
  void list_rows(const SurveyRows& sizes, const Survey& survey, const Buffer& bounds, bool masked) {
    found_.list = place(sizes, survey, found_.bins);
    if (found_.slots.data() != nullptr) return;
    if (!masked && keep_piece_slots(bounds)) return;
    CutRows cuts(queue_, p_);
    const auto pieces_of = [&](int b, int32_t capacity) {
      const Bin bin = found_.bins[static_cast<size_t>(b)];
      return cuts.listed(cuts.cut(rows_of(bin), bin.count, counts_, capacity, products_of_piece, bounds));
    };
    found_.hashed = pieces_of(hashed_bin, hashed_capacity);
    found_.ranked = pieces_of(ranked_bin, ranked_capacity);
  }
  const int32_t* rows_of(const Bin& bin) const {
    return found_.list.data() != nullptr ? found_.list.template as<int32_t>() + bin.first : nullptr;
  }

  /// Slots for the products of the last bins, if they take no more than half of C's bytes. Whether it kept them.
  bool keep_piece_slots(const Buffer& bounds) {
    const auto entry = static_cast<int64_t>(p_.element + ordinal_size(p_.pair));
    int64_t room = found_.output.nnz * entry / 2;
    room = std::min(room, slot_room());
    room -= 2 * found_.products;
    if (!found_.distinct || room <= 0 || found_.bins[hashed_bin].count + found_.bins[ranked_bin].count == 0)
      return false;
    const int32_t bytes = &tables_ == &large_tables ? slotted_bytes : small_slotted_bytes;
    const auto capacity = static_cast<int32_t>(static_cast<size_t>(bytes) / p_.element);
    // Long rows first: they take longest.
    CutRows rows(queue_, p_);
    std::array<PieceRun, slotted_bins> runs{};
    std::array<ListPieces, slotted_bins> cuts{};
    Pieces pieces;
    for (size_t i = 0; i < runs.size(); ++i) {
      const int b = ranked_bin - static_cast<int>(i);
      const Bin bin = found_.bins[static_cast<size_t>(b)];
      const int32_t most = b >= hashed_bin ? capacity : numeric_limits.upper[b];
      cuts[i] = rows.cut(rows_of(bin), bin.count, counts_, most, products_of_slotted, bounds);
      runs[i] = {pieces.count, rows.count(cuts[i]), most, i == 0};
      pieces.count += runs[i].count;
    }
    pieces.list = p_.template array<Piece>(pieces.count);
    for (size_t i = 0; i < runs.size(); ++i) rows.list(cuts[i], pieces.list.template as<Piece>() + runs[i].first);
    return keep_slots(queue_, p_, offsets(), found_.output.indices->template as<I>(), std::move(pieces), runs, room,
                      found_.slotted);
  }

  Survey look(SurveyRows& survey) {
    Buffer result = p_.template array<Survey>(1);
    clear(queue_, result);
    survey.survey = result.as<Survey>();
    gpu::launch(queue_, survey_blocks(survey.rows), SurveyRows::threads, 0, survey);
    return read_back<Survey>(queue_, result.data());
  }
  unsigned survey_blocks(int64_t rows) const {
    return std::min(gpu::blocks_for(rows, 1024), static_cast<unsigned>(8 * queue_.concurrency()));
  }

  /// Rows by bin; no list where one bin holds all.
  Buffer place(const SurveyRows& sizes, const Survey& survey, Bins& bins) {
    unsigned long long cursors[survey_bins];
    int used = 0;
    int64_t first = 0;
    for (int b = 0; b < survey_bins; ++b) {
      const auto count = static_cast<int64_t>(survey.histogram[b]);
      cursors[b] = static_cast<unsigned long long>(first);
      bins[static_cast<size_t>(b)] = {first, count};
      first += count;
      used += count > 0;
    }
    if (used == 1) return {};
    Buffer list = p_.template array<int32_t>(p_.rows);
    Buffer device = p_.template array<unsigned long long>(survey_bins);
    queue_.copy(device.data(), cursors, sizeof cursors);
    launch_over(queue_, p_.rows, PlaceRows{sizes, device.as<unsigned long long>(), list.as<int32_t>()});
    return list;
  }

  // ---- C ----

  Offsets offsets() const { return {found_.output.offsets->data(), offset_size(p_.pair) == 8, 0}; }

  template <class In, class Out>
  void scan(const Buffer& counts, Out* offsets) {
    Buffer scratch = p_.template array<char>(static_cast<int64_t>(gpu::scan_scratch_bytes<Out>(p_.rows)));
    gpu::exclusive_scan(queue_, counts.template as<In>(), offsets, p_.rows, scratch.data());
  }

  /// From counts_.
  void make_offsets(int64_t nnz) {
    OutputPattern& C = found_.output;
    C.nnz = nnz;
    auto offsets =
        std::make_shared<Buffer>(p_.memory, Space::device, static_cast<size_t>(p_.rows + 1) * offset_size(p_.pair));
    if (offset_size(p_.pair) == 8)
      scan<int32_t>(counts_, offsets->template as<int64_t>());
    else
      scan<int32_t>(counts_, offsets->template as<int32_t>());
    C.offsets = std::move(offsets);
    C.indices =
        std::make_shared<const Buffer>(p_.memory, Space::device, static_cast<size_t>(nnz) * ordinal_size(p_.pair));
  }

  Queue& queue_;
  const Problem<Left, I>& p_;
  const Tables& tables_;
  Found found_;
  bool tried_classes_ = false;
  Buffer state_, class_rows_, class_bases_, classes_, counts_, product_begins_;
};

}  // namespace kkc::spgemm::gpu_parts

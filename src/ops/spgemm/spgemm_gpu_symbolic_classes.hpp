// The symbolic phase on GPUs where rows have classes: they are the same but for a shift of all columns, and one row of
// each class is multiplied. Knows no element type.
#pragma once

#include "spgemm_gpu_few_entries_kernels.hpp"
#include "spgemm_gpu_listed_rows.hpp"
#include "spgemm_gpu_ordered_rows.hpp"
#include "spgemm_gpu_symbolic_rows.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
class SymbolicClasses : protected SymbolicRows<Left, I> {
 protected:
  using Rows = SymbolicRows<Left, I>;
  using Rows::counts_;
  using Rows::found_;
  using Rows::make_offsets;
  using Rows::offsets;
  using Rows::p_;
  using Rows::queue_;
  using Rows::survey_blocks;
  using Rows::tables_;

  /// reduced: rows are tiles of i-nodes, and none of them are looked for.
  SymbolicClasses(Queue& queue, const Problem<Left, I>& problem, bool reduced)
      : Rows(queue, problem), reduced_(reduced) {}

  struct State {
    alignas(128) int32_t failed;  // which all look at while others count
    alignas(128) int32_t count_b;
    int32_t count_c, broken;
    unsigned long long cursors[2], total, products;
    int32_t largest, numbered;
    KindCounts sampled_kinds;
    SampledTwins twins_a, twins_b;
  };
  static constexpr int least_class_log2 = 7, small_class_log2 = 10;  // tables of short rows: a small block's if many
  static constexpr int64_t columns_room = int64_t{1} << 20, slots_room = int64_t{1} << 22;

  State* state() const { return state_.template as<State>(); }

  /// Whether rows were classed at all (tried_classes_); what was seen is in seen_. Blocks.
  bool classify() {
    const int64_t inner = p_.B.B.rows;
    const int lanes_a = class_lanes(p_.nnz_a, p_.rows), lanes_b = class_lanes(p_.nnz_b, inner);
    tried_classes_ = p_.rows >= 4 * most_classes && p_.rows < INT32_MAX && inner < INT32_MAX &&
                     !has_few_long_rows(p_, expected_products(p_));
    // The state and the tables behind it are cleared together.
    constexpr int sample_places = 1 << SampledKinds::places_log2;
    constexpr size_t table_bytes = (2 * class_places + sample_places) * sizeof(unsigned long long);
    state_ = p_.template array<char>(sizeof(State) + (tried_classes_ ? table_bytes : 0));
    clear(queue_, state_);
    if (!tried_classes_) return false;
    auto* const tables = reinterpret_cast<unsigned long long*>(state() + 1);
    SampledKinds kinds{};
    if (inner >= 4 * most_classes) kinds = {tables + 2 * class_places, &state()->sampled_kinds, &state()->failed};
    if (!reduced_) sample_twins(queue_, p_, &state()->twins_a, &state()->twins_b, kinds);
    Buffer classes_b = p_.template array<RowClass>(inner);
    classes_ = p_.template array<RowClass>(p_.rows);
    const ClassTable b{tables, &state()->count_b, &state()->failed},
        c{tables + class_places, &state()->count_c, &state()->failed};
    class_rows_ = p_.template array<int32_t>(most_classes);
    class_bases_ = p_.template array<int32_t>(most_classes);
    found_.number_of = p_.template array<uint16_t>(p_.rows);

    classify_rows(RightSignature<I>{p_.B.B}, inner, p_.longest_b, lanes_b, b, classes_b.as<RowClass>());
    classify_rows(LeftSignature<Left>{p_.A, classes_b.as<RowClass>()}, p_.rows, p_.longest_a, lanes_a, c,
                  classes_.template as<RowClass>());
    seen_ = gpu::launch_and_read<State>(
        queue_, class_places / NumberClasses::threads, NumberClasses::threads, 0,
        NumberClasses{c, &state()->numbered, classes_.template as<RowClass>(), found_.number_of.template as<uint16_t>(),
                      class_rows_.template as<int32_t>(), class_bases_.template as<int32_t>()},
        state());
    found_.distinct = seen_.broken == 0;
    return true;
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

  bool give_up_classes() {
    found_.number_of = Buffer();
    found_.slots = Buffer();
    found_.begins = Buffer();
    classes_ = Buffer();
    return false;
  }

  bool by_classes() {
    if (!tried_classes_ || seen_.failed != 0) return give_up_classes();
    State& s = seen_;
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
    s = gpu::launch_and_read<State>(
        queue_, survey_blocks(p_.rows), SizesOfClasses::threads, 0,
        SizesOfClasses{classes_.template as<RowClass>(), found_.number_of.template as<uint16_t>(),
                       class_counts.as<int32_t>(), products.as<int64_t>(), p_.rows, base_of.as<int32_t>(),
                       counts_.template as<int32_t>(), &state()->total, &state()->products, &state()->largest},
        state());
    if (s.failed != 0 || s.largest > most_slots) return give_up_classes();
    found_.classes = classes;
    found_.products = static_cast<int64_t>(s.products);
    found_.longest = s.largest;
    require_countable(p_.cols, static_cast<int64_t>(s.total), p_.pair, "C");
    make_offsets(static_cast<int64_t>(s.total));
    const int64_t most_of_entry = found_.distinct ? p_.longest_a : p_.longest_a * p_.longest_b;
    const bool lists = lists_classes(most_of_entry);
    if (lists || (!reduced_ && orders_classes(p_, found_))) {
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
      if (!reduced_ && !found_.ordered()) {
        list_longer_rows();
        if (found_.thread_bin == 0) place_entries();
      }
      const int lanes = lanes_log2_for(found_.output.nnz, p_.rows);
      launch_over(
          queue_, p_.rows << lanes,
          ShiftColumns<I>{found_.number_of.template as<uint16_t>(), base_of.as<int32_t>(), columns_at.as<int64_t>(),
                          columns.as<int32_t>(), offsets(), found_.output.indices->template as<I>(), p_.rows, lanes});
    }
    if (found_.ordered()) found_.end_begins = std::move(columns_at);
    if (lists) list_products(products, most_of_entry);
    return true;
  }

  /// Whether lists of all products, which are made from the classes' words, are the faster way and have room.
  bool lists_classes(int64_t most_of_entry) const {
    return std::is_same_v<Left, PlainLeft<I>> && !reduced_ && p_.A.list == nullptr &&
           most_of_entry <= most_gathered_in_order && can_order_classes(p_, found_) &&
           lists_are_faster(found_.output, found_.products, found_.longest) &&
           room_for_lists(p_, found_.products, found_.output.nnz, this->slot_room());
  }
  /// Makes them, in place of words.
  void list_products(const Buffer& of_classes, int64_t most_of_entry) {
    if constexpr (std::is_same_v<Left, PlainLeft<I>>) {
      const OrderedLists words{found_.slots.template as<uint16_t>(),     found_.begins.template as<int64_t>(),
                               found_.ends.template as<uint16_t>(),      found_.end_begins.template as<int64_t>(),
                               found_.number_of.template as<uint16_t>(), found_.place_bits};
      found_.gathered = list_classes(queue_, p_, words, of_classes.as<int64_t>(), found_.products, offsets(),
                                     found_.output.nnz, most_of_entry);
      for (Buffer* no_longer : {&found_.slots, &found_.begins, &found_.ends, &found_.end_begins, &found_.number_of})
        *no_longer = Buffer();
    }
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

  /// Where few rows are longer than a thread's, and far longer than most.
  void list_longer_rows() {
    constexpr int64_t rows_of_a_longer_one = 16, far_longer = 2;
    const int64_t rows = p_.rows, nnz = found_.output.nnz;
    if (found_.longest * rows < far_longer * nnz || nnz > thread_rows_longest * rows ||
        lanes_log2_for(found_.products, p_.nnz_a, 3) > 4)
      return;
    SurveyRows sizes{counts_.template as<int32_t>(), nullptr, rows, class_limits, 0, 0, nullptr};
    const Survey survey = this->look(sizes);
    int64_t longer = rows - static_cast<int64_t>(survey.histogram[0]);
    for (int b = 1; b <= last_thread_bin && found_.thread_bin == 0; ++b) {
      longer -= static_cast<int64_t>(survey.histogram[b]);
      if (longer * rows_of_a_longer_one <= rows) found_.thread_bin = b;
    }
    if (found_.thread_bin > 0) found_.list = this->place(sizes, survey, found_.bins);
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

  const bool reduced_;
  bool tried_classes_ = false;
  State seen_{};
  Buffer state_, class_rows_, class_bases_, classes_;
};

}  // namespace kkc::spgemm::gpu_parts

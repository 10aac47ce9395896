// Rows of C that are alike: on grids, bands and their Galerkin products the rows of A reach rows of B of the same
// shapes at the same distances, so that C's columns and the places of all products are found once for a class of rows
// and only shifted for each of them. What the plan then keeps of a row is the number of its class. (Rows of like
// relative columns, as pattern-based formats of SpMV use them: Kourtis, Karakasis, Goumas, Koziris, "CSX", PPoPP'11,
// section 3; here for the product's rows.)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/host_pages.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "ops/spgemm/spgemm_host_classify.hpp"
#include "ops/spgemm/spgemm_host_left.hpp"
#include "ops/spgemm/spgemm_host_stretches.hpp"

namespace kkc::spgemm {

/// C's sizes, and arrays for its pattern. Refused before anything is allocated when the index pair cannot count nnz.
inline void allocate_output(const Desc& desc, int64_t nnz, OutputPattern& C) {
  C.pair = desc.pair;
  C.scalar = desc.scalar();
  C.rows = desc.rows();
  C.cols = desc.cols();
  C.nnz = nnz;
  require_countable(C.cols, C.nnz, C.pair, "C");
  const auto array = [&](int64_t count, size_t each) {
    return std::make_shared<const Buffer>(desc.memory, Space::host, static_cast<size_t>(count) * each);
  };
  C.offsets = array(C.rows + 1, offset_size(C.pair));
  C.indices = array(C.nnz, ordinal_size(C.pair));
  touch_pages(desc.memory->queue(), C.indices->data(), C.indices->bytes());
}

/// What steps a numeric phase wants: elements of a vector, or none, and whether a step's entries may leave lanes out.
struct StepShape {
  int lanes = 0;
  bool gaps = false;
};

/// The classes of C's rows. A row's columns are those of its class, shifted to the first column of the first row of B
/// that it reaches (`anchor`).
class RowClasses {
 public:
  static constexpr int32_t most_shapes = 4096, most_classes = 8192;
  static constexpr int64_t fewest_rows = 4, most_columns = 65535, most_left = 128;
  static constexpr int64_t column_padding = 16;  // so that columns are read by whole vectors
  // Of fewer a sample by their products takes as long as to find them.
  static constexpr int64_t sampled_rows = 7 * classify_block;
  // Classes of so few rows and products take longer to find than they save.
  static constexpr int64_t few_rows = 512;
  static constexpr double few_products = 32768;

  struct Class {
    int64_t columns_at, columns;
    int64_t lengths_at;  // of the rows of B
    int64_t products;
    int64_t places_at;  // of runs of products
    int32_t run;        // products of a run, at consecutive places
    bool stepped;       // has steps instead of places
    bool single;        // rows of B of one entry: places hold, for each column, how many products it has and which
    int64_t steps_at, counts_at;
    int64_t longest;  // row of B
    bool half;        // steps of at most half as many entries as a vector
  };
  /// Entries of a vector of C's row that take consecutive entries of one row of B, in order: with AVX-512 one load, one
  /// permutation, one multiplication; with AVX2 one load and one multiplication.
  struct Step {
    uint16_t left, first;  // entry of the left row; first entry of its row of B
    uint16_t lanes;
  };
  std::vector<Class> classes;
  std::vector<int32_t> columns;  // relative to the anchor, sorted; column_padding more at the end
  std::vector<int32_t> lengths;  // products of each entry of the left row
  std::vector<uint16_t> places;
  std::vector<Step> steps;
  std::vector<uint16_t> step_counts;  // for each vector of C's row

  /// What decides of a row of B: its first column (-1: it is empty) and the class of its columns relative to that.
  template <class I>
  struct Head {
    I first;
    int32_t shape;
  };

  size_t bytes() const {
    return classes.size() * sizeof(Class) + columns.size() * sizeof(int32_t) + lengths.size() * sizeof(int32_t) +
           places.size() * sizeof(uint16_t) + steps.size() * sizeof(Step) + step_counts.size() * sizeof(uint16_t);
  }

  template <class Row, class B>
  static int64_t anchor(const Row& row, const B& b) {
    for (int64_t k = 0; k < row.size(); ++k)
      if (const int64_t j = row.column(k), at = b.begin(j); at < b.end(j)) return b.column(at);
    return 0;
  }

  /// What find() needs room for: of each row of B.
  template <class I>
  struct Scratch {
    Head<I>* heads;
    uint16_t* follow;  // rows, with this one, to the end of its stretch
  };

  /// ids[row] = class or no_class. Where row is of a class, so are `follow[row]` rows, with this one, each one column
  /// to the right of the one before it.
  template <class Left, class I, class O>
  void find(Queue& queue, const Left& left, const HostPatternRef<I, O>& B, const StepShape& shape,
            const Scratch<I>& scratch, int32_t* ids, uint16_t* follow) {
    Head<I>* const heads = scratch.heads;
    using U = std::make_unsigned_t<I>;
    const auto mixed = [](uint64_t h, int64_t v) {
      h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      return h ^ h >> 29;
    };
    const auto mean = [](const auto& of) { return static_cast<double>(of.nnz) / static_cast<double>(of.rows); };
    const double products_of_row = mean(left.A) * mean(B);  // about
    const bool few = left.rows() < few_rows && products_of_row * static_cast<double>(left.rows()) < few_products;
    if (few || few_rows_differ(left, B)) {
      fill_parts(queue, ids, left.rows(), no_class);
      return;
    }
    const auto shape_hash = [&](int64_t j) {
      uint64_t h = 1;
      for (int64_t p = B.begin(j), end = B.end(j); p < end; ++p) h = mixed(h, B.column(p) - B.column(B.begin(j)));
      return h;
    };
    const auto same_shape = [&](int64_t i, int64_t j) {
      const int64_t n = B.end(i) - B.begin(i);
      if (B.end(j) - B.begin(j) != n) return false;
      const I *const p = B.indices + B.begin(i), *const q = B.indices + B.begin(j);
      U differ = 0;
      for (int64_t e = 1; e < n; ++e)
        differ |= (static_cast<U>(q[e]) - static_cast<U>(p[e])) ^ (static_cast<U>(q[0]) - static_cast<U>(p[0]));
      return differ == 0;
    };
    // A sample of C's rows is looked at by their products, before all of B is.
    const auto products_hash = [&](int64_t i) {
      const auto row = left.row(i);
      const int64_t origin = anchor(row, B);
      uint64_t h = 2;
      for (int64_t k = 0; k < row.size(); ++k) {
        const int64_t j = row.column(k), begin = B.begin(j);
        h = mixed(h, B.end(j) - begin);
        if (begin < B.end(j)) h = mixed(h ^ shape_hash(j), B.column(begin) - origin);
      }
      return h;
    };
    const auto same_products = [&](int64_t i, int64_t j) {
      const auto a = left.row(i), b = left.row(j);
      if (a.size() != b.size()) return false;
      const int64_t shift = anchor(b, B) - anchor(a, B);
      for (int64_t k = 0; k < a.size(); ++k) {
        const int64_t p = B.begin(a.column(k)), q = B.begin(b.column(k));
        if (!same_shape(a.column(k), b.column(k))) return false;
        if (p < B.end(a.column(k)) && B.column(q) - B.column(p) != shift) return false;
      }
      return true;
    };
    // Where rows of B, or of C, are hardly ever like another, none is but by chance.
    const bool large = products_of_row >= 16;
    const bool some =
        some_alike(queue, B.rows, most_shapes, large, shape_hash, same_shape,
                   [&](int64_t j) { return B.end(j) - B.begin(j) <= 1; }) &&
        (left.rows() <= sampled_rows || some_alike(queue, left.rows(), most_classes, large, products_hash,
                                                   same_products, [&](int64_t i) { return left.row(i).size() <= 1; }));
    const auto shapes = !some ? std::vector<int64_t>()
                              : classify(
                                    queue, B.rows, most_shapes, shape_hash, same_shape,
                                    [&](int64_t j, int64_t limit) {
                                      const int64_t end = end_of_stretch(B, j, limit);
                                      count_down(scratch.follow + j, end - j);
                                      return end;
                                    },
                                    [&](int64_t j) -> int32_t& { return heads[j].shape; });

    if (shapes.empty()) {
      fill_parts(queue, ids, left.rows(), no_class);
      return;
    }
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), B.rows / 4096));
    host_parts<Host>(queue, parts, [&](int64_t part) {
      for (int64_t j = part_begin(B.rows, parts, part), end = part_begin(B.rows, parts, part + 1); j < end; ++j)
        heads[j].first = static_cast<I>(B.begin(j) < B.end(j) ? B.column(B.begin(j)) : -1);
    });
    const auto members = classify(
        queue, left.rows(), most_classes,
        [&](int64_t i) {
          const auto row = left.row(i);
          uint64_t h = 2;
          int64_t origin = -1;
          for (int64_t k = 0; k < row.size(); ++k) {
            const Head<I> head = heads[row.column(k)];
            if (origin < 0) origin = head.first;
            h = mixed(mixed(h, head.shape == no_class ? -2 - row.column(k) : head.shape),
                      head.first < 0 ? 0 : head.first - origin);
          }
          return h;
        },
        [&](int64_t i, int64_t j) {
          const auto a = left.row(i), b = left.row(j);
          if (a.size() != b.size()) return false;
          if (a.size() == 0) return true;
          const int64_t shift = int64_t{heads[b.column(0)].first} - heads[a.column(0)].first;
          bool equal = true;
          for (int64_t k = 0; k < a.size(); ++k) {
            const int64_t p = a.column(k), q = b.column(k);
            const Head<I> x = heads[p], y = heads[q];
            // Rows of B without a class are like no other; empty ones lie nowhere.
            equal &=
                x.shape == y.shape && (x.shape != no_class || p == q) && (y.first - x.first == shift || y.first < 0);
          }
          return equal;
        },
        [&](int64_t i, int64_t limit) {
          const auto row = left.row(i);
          int64_t rows = limit - i;
          for (int64_t k = 0; k < row.size() && rows > 1; ++k) {
            const int64_t j = row.column(k);
            const bool alone = heads[j].shape == no_class || (k == 0 && heads[j].first < 0);
            rows = alone ? 1 : std::min<int64_t>(rows, scratch.follow[j]);
          }
          const int64_t end = end_of_stretch(left.A, i, i + rows);
          count_down(follow + i, end - i);
          return end;
        },
        [&](int64_t i) -> int32_t& { return ids[i]; });
    keep_frequent(queue, left, B, shape, members, ids, follow);
    columns.resize(columns.size() + column_padding);
  }

 private:
  /// Whether few long rows name many rows of B, whose shapes would take longer than the rows can gain, and by a sample
  /// hardly any two could be of one class: of its length, and with the ends of its rows of B so far apart.
  template <class Left, class I, class O>
  static bool few_rows_differ(const Left& left, const HostPatternRef<I, O>& B) {
    constexpr int64_t few = 16, sampled = 256;
    if (few * left.rows() > B.rows) return false;
    using Ends = std::array<int64_t, 4>;
    std::vector<Ends> ends;
    for (int64_t sample = 0, samples = std::min(left.rows(), sampled); sample < samples; ++sample) {
      const auto row = left.row(part_begin(left.rows(), samples, sample));
      if (row.size() == 0) continue;
      const int64_t first = row.column(0), last = row.column(row.size() - 1);
      const auto head = [&](int64_t j) { return B.begin(j) < B.end(j) ? B.column(B.begin(j)) : -1; };
      ends.push_back(
          {row.size(), B.end(first) - B.begin(first), B.end(last) - B.begin(last), head(last) - head(first)});
    }
    const auto count = std::ssize(ends);
    std::sort(ends.begin(), ends.end());
    return 8 * (std::unique(ends.begin(), ends.end()) - ends.begin()) > 7 * count;
  }

  static void count_down(uint16_t* follow, int64_t rows) {
    static_assert(classify_block <= std::numeric_limits<uint16_t>::max());
    for (int64_t r = 0; r < rows; ++r) follow[r] = static_cast<uint16_t>(rows - r);
  }

  /// Drops the classes of few rows and of too many columns; the others get their tables.
  template <class Left, class I, class O>
  void keep_frequent(Queue& queue, const Left& left, const HostPatternRef<I, O>& B, const StepShape& shape,
                     const std::vector<int64_t>& members, int32_t* ids, const uint16_t* follow) {
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), left.rows() / 4096));
    const auto each_stretch = [&](int64_t part, const auto& f) {
      for (int64_t i = part_begin(left.rows(), parts, part), last = part_begin(left.rows(), parts, part + 1);
           i < last;) {
        const int64_t end = ids[i] == no_class ? i + 1 : std::min(last, i + follow[i]);
        if (ids[i] != no_class) f(i, end);
        i = end;
      }
    };
    std::vector<std::vector<int64_t>> counts(static_cast<size_t>(parts), std::vector<int64_t>(members.size(), 0));
    host_parts<Host>(queue, parts, [&](int64_t part) {
      each_stretch(part, [&, &mine = counts[static_cast<size_t>(part)]](int64_t i, int64_t end) {
        mine[static_cast<size_t>(ids[i])] += end - i;
      });
    });
    std::vector<int32_t> names(members.size(), no_class);
    constexpr size_t block = 4;  // classes of many products take some microseconds each
    std::vector<RowClasses> made((members.size() + block - 1) / block);
    deal(queue, std::ssize(made), [&](int64_t, int64_t b) {
      RowClasses& mine = made[static_cast<size_t>(b)];
      Work work;
      for (size_t c = static_cast<size_t>(b) * block, end = std::min(c + block, members.size()); c < end; ++c) {
        int64_t rows = 0;
        for (const auto& of_part : counts) rows += of_part[c];
        if (rows >= fewest_rows && mine.add(left.row(members[c]), B, shape, work))
          names[c] = static_cast<int32_t>(mine.classes.size()) - 1;
      }
    });
    for (size_t b = 0; b < made.size(); ++b) {
      const auto before = static_cast<int32_t>(classes.size());
      for (size_t c = b * block, end = std::min(c + block, members.size()); c < end; ++c)
        if (names[c] != no_class) names[c] += before;
      append(made[b]);
    }
    host_parts<Host>(queue, parts, [&](int64_t part) {
      each_stretch(part,
                   [&](int64_t i, int64_t end) { std::fill(ids + i, ids + end, names[static_cast<size_t>(ids[i])]); });
    });
  }

  void append(const RowClasses& more) {
    for (Class c : more.classes) {
      c.columns_at += std::ssize(columns);
      c.lengths_at += std::ssize(lengths);
      c.places_at += std::ssize(places);
      c.steps_at += std::ssize(steps);
      c.counts_at += std::ssize(step_counts);
      classes.push_back(c);
    }
    const auto join = [](auto& all, const auto& of_more) { all.insert(all.end(), of_more.begin(), of_more.end()); };
    join(columns, more.columns);
    join(lengths, more.lengths);
    join(places, more.places);
    join(steps, more.steps);
    join(step_counts, more.step_counts);
  }

  struct Work {
    std::vector<int64_t> products, sorted;
    std::vector<uint64_t> words;   // a bit for each column
    std::vector<uint32_t> before;  // columns in the words before
    std::vector<uint16_t> each;
    std::vector<std::vector<Step>> by_vector;
  };

  template <class Row, class B>
  bool add(const Row& row, const B& b, const StepShape& shape, Work& work) {
    const int64_t base = anchor(row, b);
    auto& [products, sorted, words, before, each, by_vector] = work;
    products.clear();
    bool ascending = true;
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t begin = b.begin(row.column(k)), q = begin, end = b.end(row.column(k)); q < end; ++q) {
        products.push_back(b.column(q) - base);
        ascending &= q == begin || products[products.size() - 2] < products.back();
      }
    rank(work);
    if (static_cast<int64_t>(sorted.size()) > most_columns || row.size() > most_columns) return false;
    if (!sorted.empty() &&
        (sorted.front() < std::numeric_limits<int32_t>::min() || sorted.back() > std::numeric_limits<int32_t>::max()))
      return false;
    Class made{static_cast<int64_t>(columns.size()),
               static_cast<int64_t>(sorted.size()),
               static_cast<int64_t>(lengths.size()),
               static_cast<int64_t>(products.size()),
               static_cast<int64_t>(places.size()),
               1,
               false,
               false,
               static_cast<int64_t>(steps.size()),
               static_cast<int64_t>(step_counts.size()),
               0,
               false};
    for (const int64_t column : sorted) columns.push_back(static_cast<int32_t>(column));
    for (int64_t k = 0; k < row.size(); ++k)
      lengths.push_back(static_cast<int32_t>(b.end(row.column(k)) - b.begin(row.column(k))));
    if (row.size() > 0) made.longest = *std::max_element(lengths.begin() + made.lengths_at, lengths.end());
    made.run = common_run(made, row.size(), each);
    made.stepped =
        shape.lanes > 0 && ascending && row.size() <= most_left && add_steps(made, row.size(), each, shape, by_vector);
    made.single = !made.stepped && std::all_of(lengths.begin() + made.lengths_at, lengths.end(),
                                               [](int32_t length) { return length == 1; });
    if (made.single) {
      std::vector<std::vector<uint16_t>> of_column(sorted.size());
      for (size_t k = 0; k < each.size(); ++k) of_column[each[k]].push_back(static_cast<uint16_t>(k));
      for (const auto& products_of : of_column) {
        places.push_back(static_cast<uint16_t>(products_of.size()));
        places.insert(places.end(), products_of.begin(), products_of.end());
      }
    } else if (!made.stepped) {
      for (size_t p = 0; p < each.size(); p += static_cast<size_t>(made.run)) places.push_back(each[p]);
    }
    classes.push_back(made);
    return true;
  }

  /// The products' columns in order, and of each product which of these it has (the low bits: few enough are a class).
  static void rank(Work& work) {
    auto& [products, sorted, words, before, each, _] = work;
    each.resize(products.size());
    sorted.clear();
    if (products.empty()) return;
    const auto [least, largest] = std::minmax_element(products.begin(), products.end());
    const int64_t first = *least, range = (*largest - first) / 64 + 1;
    if (range > 4 * std::ssize(products) + 64) {  // far apart
      sorted.assign(products.begin(), products.end());
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      for (size_t p = 0; p < products.size(); ++p)
        each[p] = static_cast<uint16_t>(std::lower_bound(sorted.begin(), sorted.end(), products[p]) - sorted.begin());
      return;
    }
    words.assign(static_cast<size_t>(range), 0);
    before.resize(static_cast<size_t>(range));
    const auto word_of = [&](int64_t column) { return static_cast<size_t>((column - first) / 64); };
    const auto bit_of = [&](int64_t column) { return uint64_t{1} << (column - first) % 64; };
    for (const int64_t column : products) words[word_of(column)] |= bit_of(column);
    for (size_t w = 0; w < words.size(); ++w) {
      before[w] = static_cast<uint32_t>(sorted.size());
      for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1)
        sorted.push_back(first + static_cast<int64_t>(64 * w) + std::countr_zero(bits));
    }
    for (size_t p = 0; p < products.size(); ++p) {
      const size_t w = word_of(products[p]);
      each[p] =
          static_cast<uint16_t>(before[w] + static_cast<uint32_t>(std::popcount(words[w] & (bit_of(products[p]) - 1))));
    }
  }

  /// The products' places within each row of B fall into runs of consecutive ones: the length that all can be cut to.
  int32_t common_run(const Class& of, int64_t rows, const std::vector<uint16_t>& each) const {
    int64_t common = 0, at = 0;
    for (int64_t k = 0; k < rows; ++k) {
      const int64_t end = at + lengths[static_cast<size_t>(of.lengths_at + k)];
      for (int64_t run = 1; at < end; ++at, ++run)
        if (at + 1 == end || each[static_cast<size_t>(at) + 1] != each[static_cast<size_t>(at)] + 1) {
          common = std::gcd(common, run);
          run = 0;
        }
    }
    int32_t longest = 1;
    for (const int32_t length : {2, 3, 4, 6, 8, 9, 12, 16})
      if (common != 0 && common % length == 0) longest = length;
    return longest;
  }

  /// Steps in the order of C's vectors, of each in the order of the left row. False, and none, where places do better.
  bool add_steps(Class& of, int64_t rows, const std::vector<uint16_t>& each, const StepShape& shape,
                 std::vector<std::vector<Step>>& by_vector) {
    const int lanes = shape.lanes;
    by_vector.resize(static_cast<size_t>((of.columns + lanes - 1) / lanes));
    for (auto& of_vector : by_vector) of_vector.clear();
    size_t at = 0, count = 0;
    for (int64_t k = 0; k < rows; ++k) {
      const auto length = static_cast<size_t>(lengths[static_cast<size_t>(of.lengths_at + k)]);
      for (size_t q = 0; q < length; ++q, ++at) {
        auto& of_vector = by_vector[each[at] / static_cast<size_t>(lanes)];
        const bool follows = q > 0 && each[at] == each[at - 1] + 1;
        if (of_vector.empty() || of_vector.back().left != k || (!shape.gaps && !follows)) {
          of_vector.push_back({static_cast<uint16_t>(k), static_cast<uint16_t>(q), 0});
          ++count;
        }
        of_vector.back().lanes |= static_cast<uint16_t>(1 << each[at] % static_cast<size_t>(lanes));
      }
    }
    // Where a step is but a load and a multiplication, a single entry is worth one; not where all rows of B have but
    // one, or where long runs of places are as good.
    const bool worth = shape.gaps ? static_cast<int64_t>(count) * fewest_lanes_a_step <= of.products
                                  : of.longest > 1 && of.run <= longest_run_in_steps;
    if (!worth) return false;
    size_t pieces = 0;  // of half a vector's entries at most
    const int most = lanes / 2;
    for (const auto& of_vector : by_vector)
      for (const Step& step : of_vector) pieces += std::popcount(step.lanes) > most ? 2 : 1;
    of.half = shape.gaps && 3 * pieces <= 4 * count;  // loads of half a vector are cheaper, more so across lines
    for (const auto& of_vector : by_vector) {
      const size_t before = steps.size();
      for (const Step& step : of_vector) {
        if (!of.half || std::popcount(step.lanes) <= most) {
          steps.push_back(step);
          continue;
        }
        Step low = step, high = step;
        for (int taken = 0; taken < most; ++taken) high.lanes &= static_cast<uint16_t>(high.lanes - 1);
        low.lanes = static_cast<uint16_t>(step.lanes ^ high.lanes);
        high.first = static_cast<uint16_t>(step.first + most);
        steps.insert(steps.end(), {low, high});
      }
      step_counts.push_back(static_cast<uint16_t>(steps.size() - before));
    }
    return true;
  }
  static constexpr int64_t fewest_lanes_a_step = 2;
  static constexpr int32_t longest_run_in_steps = 4;
};

}  // namespace kkc::spgemm

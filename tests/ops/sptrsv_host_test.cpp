// sptrsv on hosts: threads that share the levels of a grid.
#include "support/catch.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

/// Of each row the columns left of the diagonal: a grid of 60 lines of 1000 / unknowns points, each coupled with those
/// beside and before it.
std::vector<std::vector<int64_t>> grid(int64_t unknowns) {
  const int64_t width = 1000 / unknowns;
  std::vector<std::vector<int64_t>> left;
  for (int64_t point = 0; point < width * 60; ++point)
    for (int64_t unknown = 0; unknown < unknowns; ++unknown) {
      std::vector<int64_t> columns;
      const auto all_of = [&](int64_t other, int64_t count) {
        for (int64_t i = 0; i < count; ++i) columns.push_back(other * unknowns + i);
      };
      if (point >= width) all_of(point - width, unknowns);
      if (point % width != 0) all_of(point - 1, unknowns);
      all_of(point, unknown);
      left.push_back(columns);
    }
  return left;
}

/// The same of a complete binary tree's nodes, `rows` each. Children first: a row needs up to `most` of those below
/// it, as in a factor in an order of nested dissection; else it needs some of those above, as in that factor's
/// transpose.
std::vector<std::vector<int64_t>> tree(Random& random, int depth, int64_t rows, int most, bool children_first) {
  std::vector<std::vector<int64_t>> left;
  std::vector<int64_t> above;  // their first rows
  const auto grow = [&](const auto& self, int level) -> void {
    const auto begin = static_cast<int64_t>(left.size());
    if (children_first && level < depth) {
      self(self, level + 1);
      self(self, level + 1);
    }
    const auto first = static_cast<int64_t>(left.size());
    for (int64_t row = first; row < first + rows; ++row) {
      std::vector<int64_t> columns;
      for (int i = 0; i < most; ++i) {
        if (children_first && first > begin) columns.push_back(random_int(random, begin, first - 1));
        if (!children_first && !above.empty())
          columns.push_back(above[static_cast<size_t>(random_int(random, 0, static_cast<int64_t>(above.size()) - 1))] +
                            random_int(random, 0, rows - 1));
      }
      if (children_first && first > begin) columns.push_back(first - 1);
      for (int64_t other = first; other < row; ++other) columns.push_back(other);
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      left.push_back(columns);
    }
    if (!children_first && level < depth) {
      above.push_back(first);
      self(self, level + 1);
      self(self, level + 1);
      above.pop_back();
    }
  };
  grow(grow, 1);
  return left;
}

/// Solves by so many threads and looks at the result; the plan's description.
std::string solved(const HostCsr<double>& A, int threads, const SptrsvCase<double>& c, Random& random) {
  const Context ctx(KKC_DEVICE_OPENMP, "{\"threads\": " + std::to_string(threads) + '}');
  INFO("seed " << seed() << ", " << threads << " threads, " << c.text());
  std::string info;
  const auto wrong = run_case(ctx, c, A, random, &info);
  REQUIRE(wrong);
  REQUIRE(*wrong == "");
  return info;
}

bool has_threads() {
  const auto asked = devices();
  return std::find(asked.begin(), asked.end(), KKC_DEVICE_OPENMP) != asked.end() &&
         has_kernels<double>(KKC_DEVICE_OPENMP, "sptrsv");
}

/// x = 0.7 T^-1 b by so many threads, and what kkc_plan_info says.
std::pair<std::vector<double>, std::string> solution_by(const std::string& options, const HostCsr<double>& host,
                                                        kkc_uplo_t uplo, int threads, const std::vector<double>& right,
                                                        kkc_index_pair_t pair = KKC_INDEX_32_32, int32_t base = 0) {
  const Context ctx(KKC_DEVICE_OPENMP, "{\"threads\": " + std::to_string(threads) + '}');
  const DeviceCsr<double> A(ctx, host, pair, base);
  const Array<double> b(ctx, right), x(ctx, right.size());
  const View from = wrap(ctx, b.data(), {host.rows}), to = wrap(ctx, x.data(), {host.rows});
  Plan plan;
  ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, uplo, KKC_DIAG_STORED, A, from, to, Options(options), plan.out()));
  if (options.find("kept") != std::string::npos) ok(kkc_sptrsv_set_values(plan, A));
  const double alpha = 0.7;
  ok(kkc_sptrsv_execute(plan, &alpha, A, from, to));
  return {x.get(), info_of_plan(plan)};
}
std::pair<std::vector<double>, std::string> solution_by_levels(const HostCsr<double>& host, kkc_uplo_t uplo,
                                                               int threads, const std::vector<double>& right) {
  return solution_by(R"({"implementation": "host_levels"})", host, uplo, threads, right);
}

}  // namespace

TEST_CASE("sptrsv: threads share the levels of a grid and wait for what they need", "[sptrsv]") {
  if (!has_threads()) return;
  Random random(seed());
  for (const int64_t unknowns : {1, 3})
    for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
      const auto A = triangle_of<double>(random, grid(unknowns), uplo, KKC_DIAG_STORED, {});
      for (const int threads : {2, 3})
        for (const char* implementation : {"host_levels", "host_relaid"}) {
          SptrsvCase<double> c;
          c.implementation = implementation;
          c.uplo = uplo;
          c.values_kept = true;
          c.vectors = random() % 2 == 0 ? 1 : 3;
          if (c.vectors == 3) c.b_lie = c.x_lie = Lie::right;
          const std::string info = solved(A, threads, c, random);
          INFO(unknowns << " unknowns: " << info);
          CHECK(number_in(info, "threads") == threads);
          CHECK(number_in(info, "levels") >= 60);
          CHECK(number_in(info, "rows_of_one_thread").value() * 4 < static_cast<double>(A.rows));
        }
    }
}

TEST_CASE("sptrsv: threads find the levels of trees, whose rows other threads come to late", "[sptrsv]") {
  if (!has_threads()) return;
  Random random(seed());
  for (const bool children_first : {true, false})
    for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
      // Short rows need no blocks.
      const bool short_rows = random() % 2 == 0;
      const auto left = short_rows ? tree(random, 12, 3, 6, children_first) : tree(random, 12, 4, 96, children_first);
      const auto A = triangle_of<double>(random, left, uplo, KKC_DIAG_STORED, {});
      for (const int threads : {2, 3, 7})
        for (const char* implementation : {"host_levels", "host_relaid"}) {
          SptrsvCase<double> c;
          c.implementation = implementation;
          c.uplo = uplo;
          c.values_kept = true;
          const std::string info = solved(A, threads, c, random);
          INFO(info);
          if (number_in(info, "blocks") == static_cast<double>(A.rows)) {  // eight rows of a level at once
            CHECK(short_rows);
            continue;
          }
          if (threads > 3) CHECK(number_in(info, "threads") == threads);
          if (children_first && threads == 2) {
            // Two subtrees, and what few nodes are above both or between them.
            CHECK(number_in(info, "threads") == threads);
            CHECK(number_in(info, "rows_of_own_parts").value() > 0.95 * static_cast<double>(A.rows));
            CHECK(number_in(info, "phases") <= 6);
          }
          if (!children_first) CHECK(number_in(info, "rows_of_own_parts") == 0);
          // A node may have been cut in two, or have become one with the next.
          CHECK(number_in(info, "levels") <= 14);
          if (threads > 3 && !children_first) CHECK(number_in(info, "levels") >= 6);
        }
    }
}

TEMPLATE_TEST_CASE("sptrsv: threads that keep values solve rows by level, or in turn", "[sptrsv]", float, double,
                   std::complex<double>) {
  using T = TestType;
  if (!has_threads() || !has_kernels<T>(KKC_DEVICE_OPENMP, "sptrsv")) return;
  constexpr int64_t n = 80'000;  // more than one thread's cache holds
  Random random(seed());
  for (const int64_t most : {1, 3, 40}) {  // entries of a row
    std::vector<std::vector<int64_t>> left(n);
    for (int64_t i = 1; i < n; ++i) {
      auto& columns = left[static_cast<size_t>(i)];
      // The last 300 rows are a level each, one before them is long.
      for (int64_t k = random_int(random, 0, i == n - 2000 ? 300 : most); k > 0; --k)
        columns.push_back(
            random_int(random, 0, std::max<int64_t>(1, std::min(i, n - 300) - (most == 40 ? 2000 : 0)) - 1));
      if (most < 40 && i >= n - 300) columns.push_back(i - 1);
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    }
    for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER})
      for (const int threads : {2, 3}) {
        SptrsvCase<T> c;
        c.implementation = "host_relaid";
        c.uplo = uplo;
        constexpr kkc_op_t ops[] = {KKC_OP_NONE, KKC_OP_TRANSPOSE, KKC_OP_CONJUGATE, KKC_OP_HERMITIAN};
        c.op = ops[random() % 4];
        c.diag = random() % 2 == 0 ? KKC_DIAG_STORED : KKC_DIAG_UNIT;
        c.pair = any_pair<T>(random, KKC_DEVICE_OPENMP, "sptrsv");
        c.base = static_cast<int32_t>(random() % 2);
        c.values_kept = true;
        c.alpha = T(0.7f);
        c.in_place = random() % 2 == 0;
        c.vectors = random() % 2 == 0 ? 1 : 3;
        if (c.vectors == 3) c.b_lie = c.x_lie = Lie::right;
        const Context ctx(KKC_DEVICE_OPENMP, "{\"threads\": " + std::to_string(threads) + '}');
        INFO("seed " << seed() << ", " << threads << " threads, " << c.text());
        std::string info;
        const auto wrong = run_case(ctx, c, triangle_of<T>(random, left, uplo, c.diag, {}), random, &info);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
        INFO(info);
        CHECK(number_in(info, "threads") == threads);
        if (most == 40)
          CHECK(number_in(info, "rows_in_turn") > 0);
        else
          CHECK(number_in(info, "rows_of_one_thread") >= 300);
      }
  }
}

TEST_CASE("sptrsv: threads that solve their own subtrees give the same bits for any number of them", "[sptrsv]") {
  if (!has_threads()) return;
  Random random(seed());
  for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
    const auto host = triangle_of<double>(random, tree(random, 12, 4, 96, true), uplo, KKC_DIAG_STORED, {});
    const std::vector<double> right = random_vector<double>(random, static_cast<size_t>(host.rows));
    std::vector<double> first;
    for (const int threads : {1, 2, 3, 4}) {
      const auto [solution, info] = solution_by_levels(host, uplo, threads, right);
      if (first.empty()) first = solution;
      INFO("seed " << seed() << ", uplo " << uplo << ", " << threads << " threads: " << info);
      const bool same = solution == first;
      REQUIRE(same);
    }
  }
}

TEMPLATE_TEST_CASE("sptrsv: op T and H by columns and by levels give the same bits", "[sptrsv]", double,
                   std::complex<float>) {
  using T = TestType;
  if (!has_threads() || !has_kernels<T>(KKC_DEVICE_OPENMP, "sptrsv")) return;
  Random random(seed());
  for (const Depth depth : {Depth::few, Depth::stencil})
    for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER})
      for (const int64_t vectors : {1, 3, 8}) {
        const kkc_diag_t diag = random() % 2 == 0 ? KKC_DIAG_STORED : KKC_DIAG_UNIT;
        Held held;
        held.full = random() % 2 == 0;
        const auto host = random_triangle<T>(random, depth, 60'000, uplo, diag, held);
        const kkc_op_t op = random() % 2 == 0 ? KKC_OP_TRANSPOSE : KKC_OP_HERMITIAN;
        const std::vector<T> right = random_vector<T>(random, static_cast<size_t>(host.rows * vectors));
        std::vector<T> first;
        for (const int threads : {1, 2, 6}) {
          const Context ctx(KKC_DEVICE_OPENMP, "{\"threads\": " + std::to_string(threads) + '}');
          const DeviceCsr<T> A(ctx, host, KKC_INDEX_32_32, 0);
          SpmvVectors<T> b(ctx, Lie::right, host.rows, vectors, T(77)), x(ctx, Lie::left, host.rows, vectors, T(77));
          b.set(right);
          Plan plan;
          ok(kkc_sptrsv_plan(ctx, op, uplo, diag, A, b, x, Options(R"({"implementation": "host_levels"})"),
                             plan.out()));
          const T alpha(0.7f);
          ok(kkc_sptrsv_execute(plan, &alpha, A, b, x));
          const std::vector<T> solution = x.get();
          if (first.empty()) first = solution;
          const std::string info = info_of_plan(plan);
          INFO("seed " << seed() << ", " << name(depth) << ", uplo " << uplo << ", " << vectors
                       << " vectors: " << info);
          const bool by_columns = info.find("\"by\":\"columns\"") != std::string::npos;
          if (threads < 6 || depth == Depth::few) CHECK(by_columns == (threads < 6));
          if (threads == 6 && depth == Depth::few) {
            if (std::is_floating_point_v<T>)
              CHECK(number_in(info, "blocks") == host.rows);  // by level
            else
              CHECK(number_in(info, "rows_in_turn") > 0);
          }
          const bool same = solution == first;
          REQUIRE(same);
        }
      }
}

TEST_CASE("sptrsv: rows in turn only by few threads, and where they are no chain", "[sptrsv]") {
  if (!has_threads() || !has_kernels<double>(KKC_DEVICE_OPENMP, "sptrsv")) return;
  constexpr int64_t n = 60'000;
  Random random(seed());
  INFO("seed " << seed());
  // The first third of the rows need the one before, or none do; the others need some far before.
  for (const bool chain : {false, true}) {
    std::vector<std::vector<int64_t>> left(n);
    for (int64_t i = 0; i < n; ++i) {
      auto& columns = left[static_cast<size_t>(i)];
      if (chain && i < n / 3) {
        if (i >= 40)
          columns = {i - 40, i - 1};
        else if (i > 0)
          columns = {i - 1};
        continue;
      }
      std::set<int64_t> far;  // ascending
      for (int64_t k = 0; k < 20 && i > 2000; ++k) far.insert(random_int(random, 0, i - 2000));
      columns.assign(far.begin(), far.end());
    }
    const auto host = triangle_of<double>(random, left, KKC_UPLO_LOWER, KKC_DIAG_STORED, {});
    const std::vector<double> right = random_vector<double>(random, static_cast<size_t>(n));
    std::vector<double> first;
    for (const int threads : {1, 2, 8, 12, 16}) {
      const auto [solution, info] = solution_by_levels(host, KKC_UPLO_LOWER, threads, right);
      if (first.empty()) first = solution;
      INFO(threads << " threads: " << info);
      CHECK((info.find("rows_in_turn") != std::string::npos) == (!chain && threads > 1 && threads < 12));
      const bool same = solution == first;
      REQUIRE(same);
    }
  }
}

TEST_CASE("sptrsv: rows that are alike are not taken in turn", "[sptrsv]") {
  if (!has_threads() || !has_kernels<double>(KKC_DEVICE_OPENMP, "sptrsv")) return;
  constexpr int64_t n = 60'000, line = 600;
  Random random(seed());
  INFO("seed " << seed());
  for (const int64_t each : {1, 3}) {  // every row needs the one a line before, or one in three many others, too
    std::vector<std::vector<int64_t>> left(n);
    for (int64_t i = line; i < n; ++i) {
      left[static_cast<size_t>(i)] = {i - line};
      if (each > 1 && i % each == 0 && i >= 2 * line) {
        std::set<int64_t> far;
        for (int64_t k = 0; k < 40; ++k) far.insert(random_int(random, 0, i - 2 * line));
        left[static_cast<size_t>(i)].insert(left[static_cast<size_t>(i)].begin(), far.begin(), far.end());
      }
    }
    for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
      const auto host = triangle_of<double>(random, left, uplo, KKC_DIAG_STORED, {});
      const std::vector<double> right = random_vector<double>(random, static_cast<size_t>(n));
      const auto one = solution_by_levels(host, uplo, 1, right), two = solution_by_levels(host, uplo, 2, right);
      INFO(two.second);
      CHECK((two.second.find("rows_in_turn") != std::string::npos) == (each > 1));
      const bool same = one.first == two.first;
      REQUIRE(same);
    }
  }
}

TEST_CASE("sptrsv: many threads list what short blocks wait for", "[sptrsv]") {
  if (!has_threads()) return;
  constexpr int64_t n = 40'000, line = 240;
  Random random(seed());
  // Blocks of four rows, each row with one of the line before.
  std::vector<std::vector<int64_t>> left(n);
  for (int64_t i = 0; i < n; ++i) {
    if (i >= line) left[static_cast<size_t>(i)].push_back(i - line);
    if (i % 4 != 0) left[static_cast<size_t>(i)].push_back(i - 1);
  }
  for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
    const auto A = triangle_of<double>(random, left, uplo, KKC_DIAG_STORED, {});
    for (const char* implementation : {"host_levels", "host_relaid"}) {
      SptrsvCase<double> c;
      c.implementation = implementation;
      c.uplo = uplo;
      c.values_kept = true;
      const std::string info = solved(A, 16, c, random);
      INFO(info);
      CHECK(number_in(info, "threads") == 16);
      const double waits = number_in(info, "waits_listed").value(), phases = number_in(info, "phases").value();
      // Rows of the caller's matrix keep threads busy longer than flags do.
      CHECK((waits > 0) == (c.implementation == "host_relaid"));
      // A thread needs few others, and does not look again at what it had to wait for before.
      CHECK(waits < 3 * 16 * phases);
    }
  }
}

TEST_CASE("sptrsv: rows of few entries are solved as with wide indices", "[sptrsv]") {
  if (!has_threads() || !supported(KKC_DEVICE_OPENMP, "sptrsv", KKC_INDEX_64_64, KKC_TYPE_F64)) return;
  Random random(seed());
  INFO("seed " << seed());
  // Every number of entries up to more than vectors hold, after each other in no order; rows that need the one before,
  // or hardly ever do.
  constexpr int64_t n = 3'000;
  for (const int64_t nearest : {1, 20}) {
    std::vector<std::vector<int64_t>> left(n);
    for (int64_t i = 0; i < n; ++i) {
      std::set<int64_t> columns;
      for (int64_t k = random_int(random, 0, 15); k > 0 && i >= 200; --k)
        columns.insert(i - random_int(random, nearest, nearest == 1 ? 12 : 200));
      left[static_cast<size_t>(i)].assign(columns.begin(), columns.end());
    }
    std::vector<double> right = random_vector<double>(random, static_cast<size_t>(n));
    for (size_t i = 0; i < right.size(); i += 7) right[i] = -0.0;
    for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
      const auto host = triangle_of<double>(random, left, uplo, KKC_DIAG_STORED, {});
      for (const bool kept : {false, true})
        for (const int threads : {1, 3}) {
          const std::string options =
              kept ? R"({"implementation": "host_relaid", "values": "kept"})" : R"({"implementation": "host_levels"})";
          const auto narrow = solution_by(options, host, uplo, threads, right, KKC_INDEX_32_32, 1).first,
                     wide = solution_by(options, host, uplo, threads, right, KKC_INDEX_64_64, 1).first;
          INFO(options << ", " << threads << " threads, nearest " << nearest);
          // The compiler may fuse either of two products of a copy's row, and another one for other indices.
          double error = 0, most = 0;
          for (size_t i = 0; i < narrow.size(); ++i) {
            error = std::max(error, std::abs(narrow[i] - wide[i]));
            most = std::max(most, std::abs(wide[i]));
          }
          REQUIRE(error <= 1e-13 * most);
          if (!kept) REQUIRE(std::memcmp(narrow.data(), wide.data(), narrow.size() * sizeof(double)) == 0);
        }
    }
  }
}

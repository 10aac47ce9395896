// spgemm and spgemm_jacobi on GPUs where B has exactly one entry in every row: rows of few kinds, short and long; rows
// of many kinds; entries of C of very many products.
#include "support/catch.hpp"

#include "support/output_case.hpp"
#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

/// Points of a grid of n^3 and what lies around them, of several unknowns a point; every row has its diagonal.
template <class T>
HostCsr<T> grid_of(Random& random, int64_t n, int64_t unknowns, int64_t reach, bool corners) {
  HostCsr<T> A;
  A.rows = A.cols = n * n * n * unknowns;
  const auto near = [&](int64_t at, int64_t step) { return at + step >= 0 && at + step < n; };
  for (int64_t row = 0; row < A.rows; ++row) {
    const int64_t point = row / unknowns, x = point % n, y = point / n % n, z = point / (n * n);
    for (int64_t w = -reach; w <= reach; ++w)
      for (int64_t v = -reach; v <= reach; ++v)
        for (int64_t u = -reach; u <= reach; ++u) {
          if (!near(x, u) || !near(y, v) || !near(z, w)) continue;
          if (!corners && (u != 0) + (v != 0) + (w != 0) > 1) continue;
          for (int64_t e = 0; e < unknowns; ++e) A.indices.push_back((point + u + n * (v + n * w)) * unknowns + e);
        }
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Its boxes of `edge` points a side.
template <class T>
HostCsr<T> boxes_of(Random& random, int64_t n, int64_t unknowns, int64_t edge) {
  HostCsr<T> P;
  const int64_t coarse = (n + edge - 1) / edge;
  P.rows = n * n * n * unknowns;
  P.cols = coarse * coarse * coarse * unknowns;
  for (int64_t row = 0; row < P.rows; ++row) {
    const int64_t point = row / unknowns, x = point % n, y = point / n % n, z = point / (n * n);
    P.indices.push_back(((z / edge * coarse + y / edge) * coarse + x / edge) * unknowns + row % unknowns);
    P.offsets.push_back(P.nnz());
  }
  P.values = random_vector<T>(random, P.indices.size());
  return P;
}

/// One entry in every row, in any but every third column.
template <class T>
HostCsr<T> one_a_row(Random& random, int64_t rows, int64_t cols) {
  HostCsr<T> P;
  P.rows = rows;
  P.cols = cols;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t column = random_int(random, 0, cols - 1);
    P.indices.push_back(column % 3 == 2 ? column - 1 : column);
    P.offsets.push_back(P.nnz());
  }
  P.values = random_vector<T>(random, P.indices.size());
  return P;
}

/// Rows of up to 12 entries in any order, columns twice, every `empty`-th row empty; row 3 has `longest` entries.
template <class T>
HostCsr<T> irregular(Random& random, int64_t rows, int64_t cols, int64_t empty, int64_t longest) {
  HostCsr<T> A;
  A.rows = rows;
  A.cols = cols;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t length = row == 3 ? longest : row % empty == 0 ? 0 : random_int(random, 1, 12);
    for (int64_t k = 0; k < length; ++k) A.indices.push_back(random_int(random, 0, cols - 1));
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Rows around the lengths, up to the longest, at which the plan goes another way, among short and empty ones.
template <class T>
HostCsr<T> of_all_lengths(Random& random, int64_t size, int64_t longest) {
  constexpr int64_t lengths[] = {31,   32,   33,   127,  128,  129,  255,  256,  257,  511,   513,
                                 1024, 1025, 2047, 2048, 2049, 4096, 4097, 8192, 8193, 16384, 16385};
  const auto count = static_cast<size_t>(std::upper_bound(std::begin(lengths), std::end(lengths), longest) - lengths);
  HostCsr<T> A;
  A.rows = A.cols = size;
  for (int64_t row = 0; row < size; ++row) {
    const int64_t length = row % 9 == 4 ? lengths[static_cast<size_t>(row / 9) % count] : row % 4;
    for (int64_t k = 0; k < length; ++k) A.indices.push_back(random_int(random, 0, size - 1));
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Rows longer than a tile of entries, one behind the other, and short ones between some.
template <class T>
HostCsr<T> long_side_by_side(Random& random, int64_t size) {
  HostCsr<T> A;
  A.rows = A.cols = size;
  for (int64_t row = 0; row < size; ++row) {
    const int64_t length = row % 5 > 2 ? random_int(random, 1025, 1600) : random_int(random, 0, 3);
    for (int64_t k = 0; k < length; ++k) A.indices.push_back(random_int(random, 0, size - 1));
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Its diagonal once in every row, away from zero.
template <class T>
void set_diagonal(Random& random, HostCsr<T>& A) {
  HostCsr<T> with;
  with.rows = A.rows;
  with.cols = A.cols;
  for (int64_t row = 0; row < A.rows; ++row) {
    const auto begin = A.offsets[static_cast<size_t>(row)], end = A.offsets[static_cast<size_t>(row) + 1];
    bool found = false;
    for (int64_t p = begin; p <= end; ++p) {
      const bool more = p < end;
      const int64_t column = more ? A.indices[static_cast<size_t>(p)] : row;
      if (column == row && found) continue;
      found |= column == row;
      with.indices.push_back(column);
      with.values.push_back(random_value<T>(random) + (column == row ? T(3) : T(0)));
    }
    with.offsets.push_back(with.nnz());
  }
  A = with;
}

struct Operands {
  const char* name;
  bool classes;
};
constexpr Operands all_operands[] = {{"cross", true},
                                     {"cross of two unknowns", true},
                                     {"cube", true},
                                     {"cube in boxes of two", true},
                                     {"cube of two unknowns", true},
                                     {"cube of three unknowns", true},
                                     {"long reach", true},
                                     {"points", true},
                                     {"many kinds", false},
                                     {"many products", false},
                                     {"long row", false},
                                     {"long row, many entries of C", false},
                                     {"lengths of a tile at most", false},
                                     {"many products in tiles", false},
                                     {"all lengths", false},
                                     {"all lengths, many columns", false},
                                     {"long rows side by side", false},
                                     {"mostly empty", true}};

template <class T>
std::pair<HostCsr<T>, HostCsr<T>> operands_of(Random& random, const std::string& name) {
  if (name == "cross") return {grid_of<T>(random, 15, 1, 1, false), boxes_of<T>(random, 15, 1, 3)};
  if (name == "cross of two unknowns") return {grid_of<T>(random, 15, 2, 1, false), boxes_of<T>(random, 15, 2, 3)};
  if (name == "cube") return {grid_of<T>(random, 13, 1, 1, true), boxes_of<T>(random, 13, 1, 3)};
  if (name == "cube in boxes of two") return {grid_of<T>(random, 12, 1, 1, true), boxes_of<T>(random, 12, 1, 2)};
  if (name == "cube of two unknowns") return {grid_of<T>(random, 10, 2, 1, true), boxes_of<T>(random, 10, 2, 3)};
  if (name == "cube of three unknowns") return {grid_of<T>(random, 10, 3, 1, true), boxes_of<T>(random, 10, 3, 3)};
  if (name == "long reach") return {grid_of<T>(random, 14, 1, 2, true), boxes_of<T>(random, 14, 1, 3)};
  if (name == "points") return {grid_of<T>(random, 12, 1, 1, true), boxes_of<T>(random, 12, 1, 1)};
  if (name == "many kinds") return {irregular<T>(random, 3000, 3000, 7, 30), one_a_row<T>(random, 3000, 400)};
  if (name == "many products") return {irregular<T>(random, 900, 900, 5, 3000), one_a_row<T>(random, 900, 2)};
  if (name == "long row") return {irregular<T>(random, 2000, 2000, 9, 20000), one_a_row<T>(random, 2000, 1500)};
  if (name == "long row, many entries of C")
    return {irregular<T>(random, 60000, 60000, 9, 20000), one_a_row<T>(random, 60000, 50000)};
  if (name == "lengths of a tile at most")
    return {of_all_lengths<T>(random, 2000, 1024), one_a_row<T>(random, 2000, 700)};
  if (name == "many products in tiles") return {of_all_lengths<T>(random, 900, 1024), one_a_row<T>(random, 900, 2)};
  if (name == "all lengths") return {of_all_lengths<T>(random, 500, 16385), one_a_row<T>(random, 500, 450)};
  if (name == "all lengths, many columns")
    return {of_all_lengths<T>(random, 500, 16385), one_a_row<T>(random, 500, 9'000'000)};
  if (name == "long rows side by side") return {long_side_by_side<T>(random, 350), one_a_row<T>(random, 350, 60)};
  return {irregular<T>(random, 9000, 9000, 1, 20), one_a_row<T>(random, 9000, 3000)};
}

std::string info_of(const Plan& plan) {
  const char* info = nullptr;
  ok(kkc_plan_info(plan, &info));
  return info;
}

template <class T, class F>
void for_all_pairs(const char* operation, const F& f) {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device)) continue;
    const Context ctx(device);
    for (const kkc_index_pair_t pair : all_index_pairs)
      if (supported(device, operation, pair, scalar_tag<T>)) f(ctx, pair);
  }
}
kkc_index_pair_t wider(Random& random, kkc_index_pair_t pair) {
  if (pair == KKC_INDEX_64_64) return pair;
  return random() % 2 == 0 ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: one entry in every row of B, on GPUs", "[spgemm][gpu]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for_all_pairs<T>("spgemm", [&](const Context& ctx, kkc_index_pair_t pair) {
    Random random(seed());
    for (const Operands& operands : all_operands)
      for (const bool scaled : {false, true}) {
        SpgemmCase<T> c;
        c.implementation = "gpu_aggregates";
        c.pair = pair;
        c.pair_c = wider(random, pair);
        c.base_a = static_cast<int32_t>(random() % 2);
        c.base_b = static_cast<int32_t>(random() % 2);
        c.base_c = static_cast<int32_t>(random() % 2);
        if (scaled) {
          c.alpha = random() % 3 == 0 ? T(0) : random_value<T>(random);
          c.beta = random_value<T>(random);
        }
        c.device_scalars = random() % 2 == 0;
        c.callers_arrays = random() % 2 == 0;
        c.deterministic = true;
        const auto [A, B] = operands_of<T>(random, operands.name);
        INFO("seed " << seed() << ", " << operands.name << ", " << c.text());
        const auto wrong = run_case<T>(ctx, c, A, B, nullptr, random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
        const DeviceCsr<T> a(ctx, A, c.pair, 0), b(ctx, B, c.pair, 0);
        Plan plan;
        ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, a, KKC_OP_NONE, b, nullptr, c.pair_c, nullptr, plan.out()));
        CHECK_THAT(info_of(plan), ContainsSubstring("\"implementation\":\"gpu_aggregates\""));
        CHECK((info_of(plan).find("\"row_classes\":0,") == std::string::npos) == operands.classes);
      }
  });
}

TEMPLATE_TEST_CASE("spgemm_jacobi: one entry in every row of B, on GPUs", "[spgemm_jacobi][gpu]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for_all_pairs<T>("spgemm_jacobi", [&](const Context& ctx, kkc_index_pair_t pair) {
    Random random(seed());
    for (const Operands& operands : all_operands)
      for (const bool given : {false, true}) {
        auto [A, B] = operands_of<T>(random, operands.name);
        set_diagonal(random, A);
        const kkc_index_pair_t pair_c = wider(random, pair);
        const auto base = static_cast<int32_t>(random() % 2);
        INFO("seed " << seed() << ", " << operands.name << ", D^-1 given " << given << ", index pairs " << pair << ' '
                     << pair_c << ", base " << base);
        const auto inverse = random_vector<T>(random, given ? static_cast<size_t>(A.rows) : 0);
        const DeviceCsr<T> a(ctx, A, pair, base), b(ctx, B, pair, 1 - base);
        Plan plan;
        Matrix C;
        ok(kkc_spgemm_jacobi_plan(ctx, a, b, pair_c, nullptr, plan.out()));
        CHECK_THAT(info_of(plan), ContainsSubstring("\"implementation\":\"gpu_aggregates\""));
        ok(kkc_plan_create_output(plan, C.out()));
        const Array<T> inverse_device(ctx, inverse);
        const View dinv = wrap(ctx, inverse_device.data(), {static_cast<int64_t>(inverse.size())});
        const T omega = random_value<T>(random);
        ok(kkc_spgemm_jacobi_execute(plan, &omega, given ? static_cast<kkc_view_t*>(dinv) : nullptr, a, b, C));
        int64_t where = 0, count = 0;
        CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_SUCCESS);
        const ProductRows expected = jacobi_rows(A, B, omega, given ? inverse : std::vector<T>());
        CHECK(wrong_product(SpgemmCase<T>(), expected, download<T>(ctx, C), std::vector<T>()) == "");
        if (given) continue;
        // Rows whose diagonal becomes zero are counted once each.
        auto zero = A;
        for (const int64_t row : {5, 77, 300})
          for (int64_t p = A.offsets[static_cast<size_t>(row)]; p < A.offsets[static_cast<size_t>(row) + 1]; ++p)
            if (A.indices[static_cast<size_t>(p)] == row) zero.values[static_cast<size_t>(p)] = T(0);
        const DeviceCsr<T> singular(ctx, zero, pair, base);
        ok(kkc_spgemm_jacobi_execute(plan, &omega, nullptr, singular, b, C));
        CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_ZERO_PIVOT);
        CHECK(where == 5);
        CHECK(count == 3);
      }
  });
}

TEST_CASE("spgemm: one entry in every row of B and a long row of A, which leaves the caches, on GPUs",
          "[spgemm][gpu]") {
  using T = double;
  for_all_pairs<T>("spgemm", [&](const Context& ctx, kkc_index_pair_t pair) {
    Random random(seed());
    const auto rows = irregular<T>(random, 900'000, 900'000, 7, 3000);
    const auto single = one_a_row<T>(random, rows.cols, 300'000);
    REQUIRE(rows.nnz() > int64_t{1} << 22);
    INFO("seed " << seed() << ", index pair " << pair);
    const DeviceCsr<T> A(ctx, rows, pair, 0), B(ctx, single, pair, 1);
    std::vector<HostCsr<T>> results;
    for (const char* implementation : {"gpu_aggregates", "gpu_hash"}) {
      SpgemmCase<T> c;
      c.implementation = implementation;
      c.pair = c.pair_c = pair;
      Plan plan;
      ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, pair, Options(c.options()), plan.out()));
      const OutputMatrix<T> C(ctx, c, plan, rows.rows, single.cols);
      const T alpha(2), beta(0);
      ok(kkc_spgemm_execute(plan, &alpha, A, B, &beta, C));
      results.push_back(download<T>(ctx, C));
    }
    CHECK(difference(results[0], results[1], 64) == "");
  });
}

TEST_CASE("spgemm: gpu_aggregates refuses masks and operands of other shapes", "[spgemm][gpu]") {
  using T = double;
  for_all_pairs<T>("spgemm", [&](const Context& ctx, kkc_index_pair_t pair) {
    Random random(seed());
    const auto A = irregular<T>(random, 40, 50, 7, 9);
    const auto refused = [&](const HostCsr<T>& B, bool masked, const char* more, const char* why) {
      const DeviceCsr<T> a(ctx, A, pair, 0), b(ctx, B, pair, 0),
          mask(ctx, irregular<T>(random, 40, B.cols, 7, 9), pair, 0);
      Plan plan;
      CHECK(kkc_spgemm_plan(ctx, KKC_OP_NONE, a, KKC_OP_NONE, b, masked ? static_cast<kkc_matrix_t*>(mask) : nullptr,
                            pair, Options(std::string(R"({"implementation": "gpu_aggregates")") + more + "}"),
                            plan.out()) == KKC_STATUS_NOT_SUPPORTED);
      CHECK_THAT(kkc_last_error(), ContainsSubstring(why));
    };
    const auto B = one_a_row<T>(random, 50, 20);
    refused(B, true, "", "takes no mask");
    refused(B, false, R"(, "max_workspace": 100)", "more than max_workspace");
    refused(irregular<T>(random, 50, 20, 60, 2), false, "", "rows of several entries");
    auto holed = B;
    for (size_t row = 30; row < holed.offsets.size(); ++row) --holed.offsets[row];
    holed.indices.pop_back();
    holed.values.pop_back();
    refused(holed, false, "", "rows without entries");
  });
}

// kkc_matrix_validate, kkc_matrix_info and kkc_matrix_laplacian, against what comparing all pairs of entries says.
#include <limits>
#include <map>
#include <set>

#include "support/catch.hpp"
#include "support/devices.hpp"
#include "support/host_csr.hpp"

using namespace kkc_test;

namespace {

template <class T>
bool has(kkc_index_pair_t pair = KKC_INDEX_32_32) {
  return supported(KKC_DEVICE_SERIAL, "spmv", pair, scalar_tag<T>);
}

/// Dense picture of a pattern.
template <class T>
std::set<std::pair<int64_t, int64_t>> places(const HostCsr<T>& A) {
  std::set<std::pair<int64_t, int64_t>> all;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t k = A.offsets[static_cast<size_t>(i)]; k < A.offsets[static_cast<size_t>(i) + 1]; ++k)
      all.insert({i, A.indices[static_cast<size_t>(k)]});
  return all;
}

template <class T>
kkc_matrix_properties_t expected_properties(const HostCsr<T>& A) {
  const auto all = places(A);
  bool sorted = true, diagonal = A.rows == A.cols, symmetric = A.rows == A.cols;
  for (size_t i = 0; i < static_cast<size_t>(A.rows); ++i) {
    sorted &= std::is_sorted(A.indices.begin() + A.offsets[i], A.indices.begin() + A.offsets[i + 1]);
    diagonal &= all.count({static_cast<int64_t>(i), static_cast<int64_t>(i)}) != 0;
  }
  for (const auto& [i, j] : all) symmetric &= all.count({j, i}) != 0;
  const bool unique = all.size() == A.indices.size();
  return (sorted ? KKC_MATRIX_SORTED : 0) | (unique ? KKC_MATRIX_NO_DUPLICATES : 0) |
         (diagonal ? KKC_MATRIX_FULL_DIAGONAL : 0) | (symmetric ? KKC_MATRIX_SYMMETRIC_PATTERN : 0);
}

/// Adds (j, i) for each (i, j), in any order, some twice.
HostCsr<double> made_symmetric(Random& random, const HostCsr<double>& A, bool with_diagonal) {
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(A.rows));
  for (const auto& [i, j] : places(A)) {
    if (i == j) continue;
    rows[static_cast<size_t>(i)].push_back(j);
    if (places(A).count({j, i}) == 0) rows[static_cast<size_t>(j)].push_back(i);
  }
  HostCsr<double> B;
  B.rows = B.cols = A.rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (with_diagonal) rows[i].push_back(static_cast<int64_t>(i));
    std::shuffle(rows[i].begin(), rows[i].end(), random);
    if (random() % 4 == 0) std::sort(rows[i].begin(), rows[i].end());
    B.indices.insert(B.indices.end(), rows[i].begin(), rows[i].end());
    B.offsets.push_back(B.nnz());
  }
  B.values.assign(B.indices.size(), 1.0);
  return B;
}

std::string info(kkc_matrix_t* A) {
  const char* json = nullptr;
  ok(kkc_matrix_info(A, &json));
  return json;
}

bool says(const std::string& json, const std::string& fact) {
  return json.find(fact + ",") != std::string::npos || json.find(fact + "}") != std::string::npos;
}

}  // namespace

TEST_CASE("matrix_validate: properties of random patterns") {
  if (!has<double>()) return;
  Random random(seed());
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    for (const kkc_index_pair_t pair : all_index_pairs) {
      if (!has<double>(pair)) continue;
      for (const Shape shape : all_shapes)
        for (int repeat = 0; repeat < 4; ++repeat) {
          const int64_t rows = random_int(random, 0, 40),
                        cols = random_int(random, 0, 2) == 0 ? random_int(random, 0, 40) : rows;
          auto A = random_csr<double>(random, shape, rows, cols);
          if (repeat > 1 && rows == cols) A = made_symmetric(random, A, repeat == 3);
          INFO("seed " << seed() << ", " << name(device) << ", pair " << pair << ", " << name(shape) << ", " << rows
                       << " x " << cols);
          const DeviceCsr<double> matrix(ctx, A, pair, static_cast<int32_t>(random() % 2));
          kkc_matrix_properties_t properties = -1;
          ok(kkc_matrix_validate(matrix, &properties));
          CHECK(properties == expected_properties(A));
        }
    }
  }
}

TEST_CASE("matrix_validate: large patterns on several threads, and one entry astray") {
  if (!has<double>()) return;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? "{\"threads\": 3}" : "");
    Matrix generated;
    ok(kkc_matrix_generate(ctx, "rmat17s", Options("{\"scale\": 14}"), KKC_INDEX_32_32, KKC_TYPE_F64, generated.out()));
    auto A = download<double>(ctx, generated);
    kkc_matrix_properties_t properties = 0;
    ok(kkc_matrix_validate(generated, &properties));
    CHECK(properties == 15);
    CHECK(says(info(generated), "\"symmetry\":\"symmetric\""));
    // Another value, then another column, below the diagonal of a late row: only one thread sees it.
    const auto all = places(A);
    size_t place = 0;
    for (size_t i = static_cast<size_t>(A.rows) - 1; i > 0 && place == 0; --i) {
      const auto k = static_cast<size_t>(A.offsets[i]);
      if (A.indices[k] > 0 && A.indices[k] < static_cast<int64_t>(i) &&
          all.count({static_cast<int64_t>(i), A.indices[k] - 1}) == 0)
        place = k;
    }
    REQUIRE(place > 0);
    A.values[place] += 1;
    CHECK(says(info(DeviceCsr<double>(ctx, A, KKC_INDEX_32_32, 0)), "\"symmetry\":\"general\""));
    A.indices[place] -= 1;
    ok(kkc_matrix_validate(DeviceCsr<double>(ctx, A, KKC_INDEX_32_32, 0), &properties));
    CHECK(properties == 7);
  }
}

TEST_CASE("matrix_validate: bad offsets and indices are named") {
  if (!has<double>()) return;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    for (const int32_t base : {0, 1}) {
      HostCsr<double> A;
      A.rows = 3;
      A.cols = 4;
      A.offsets = {0, 2, 3, 5};
      A.indices = {0, 3, 2, 1, 2};
      A.values.assign(5, 1.0);
      const DeviceCsr<double> matrix(ctx, A, KKC_INDEX_32_32, base);
      const auto refused = [&](kkc_status_t expected, const std::string& sentence) {
        kkc_matrix_properties_t properties = 7;
        CHECK(kkc_matrix_validate(matrix, &properties) == expected);
        INFO(kkc_last_error());
        CHECK(properties == 0);
        CHECK(std::string(kkc_last_error()).find(sentence) != std::string::npos);
        const char* json = "";
        CHECK(kkc_matrix_info(matrix, &json) == expected);
        CHECK(json == nullptr);
      };
      const auto put = [&](void* array, int k, int32_t v) {
        ok(kkc_copy(ctx, static_cast<int32_t*>(array) + k, &v, 4,
                    is_gpu(device) ? KKC_COPY_HOST_TO_DEVICE : KKC_COPY_HOST_TO_HOST));
      };
      put(matrix.indices(), 2, 4 + base);
      refused(KKC_STATUS_INDEX_OUT_OF_RANGE, "row 1 has column index " + std::to_string(4 + base) + ", expected " +
                                                 std::to_string(base) + " to " + std::to_string(3 + base));
      put(matrix.indices(), 2, INT32_MIN);
      refused(KKC_STATUS_INDEX_OUT_OF_RANGE, "row 1 has column index -2147483648");
      put(matrix.indices(), 2, 2 + base);
      put(matrix.offsets(), 1, 4 + base);
      refused(KKC_STATUS_INVALID_ARGUMENT, "backwards at row 1");
      put(matrix.offsets(), 1, 2 + base);
      put(matrix.offsets(), 0, 1 - base);
      refused(KKC_STATUS_INVALID_ARGUMENT, "row_offsets[0] is " + std::to_string(1 - base));
      put(matrix.offsets(), 0, base);
      put(matrix.offsets(), 3, 4 + base);
      refused(KKC_STATUS_INVALID_ARGUMENT, "row_offsets[3] is " + std::to_string(4 + base));
      put(matrix.offsets(), 3, 5 + base);
      kkc_matrix_properties_t properties = 0;
      ok(kkc_matrix_validate(matrix, &properties));
      CHECK(properties == (KKC_MATRIX_SORTED | KKC_MATRIX_NO_DUPLICATES));
    }
  }
}

TEST_CASE("matrix_info: facts") {
  if (!has<double>()) return;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    HostCsr<double> A;
    A.rows = 4;
    A.cols = 4;
    A.offsets = {0, 3, 3, 4, 6};
    A.indices = {3, 0, 0, 2, 3, 0};  // unsorted, with a duplicate that makes the values symmetric
    A.values = {-1, 1, 0.5, 2, 1, -1};
    const DeviceCsr<double> matrix(ctx, A, KKC_INDEX_32_32, 1);
    const std::string json = info(matrix);
    INFO(json);
    for (const char* fact : {"\"rows\":4",
                             "\"cols\":4",
                             "\"nnz\":6",
                             "\"index_pair\":\"32_32\"",
                             "\"scalar\":\"f64\"",
                             "\"base\":1",
                             "\"shortest_row\":0",
                             "\"longest_row\":3",
                             "\"mean_row\":1.5",
                             "\"empty_rows\":1",
                             "\"lower_bandwidth\":3",
                             "\"upper_bandwidth\":3",
                             "\"bandwidth\":3",
                             "\"sorted\":0",
                             "\"no_duplicates\":0",
                             "\"full_diagonal\":0",
                             "\"symmetric_pattern\":1",
                             "\"symmetry\":\"symmetric\"",
                             "\"hermitian\":1",
                             "\"positive_diagonal\":0",
                             "\"diagonal_dominance\":\"weak\""})
      CHECK((says(json, fact) ? "" : fact) == std::string());
    const auto symmetry = [&](const auto& B) {
      using T = typename std::decay_t<decltype(B.values)>::value_type;
      const std::string text = info(DeviceCsr<T>(ctx, B, KKC_INDEX_32_32, 0));
      const size_t at = text.find("\"symmetry\":\"") + 12;
      return text.substr(at, text.find('"', at) - at);
    };
    HostCsr<double> B;
    B.rows = B.cols = 2;
    B.offsets = {0, 1, 2};
    B.indices = {1, 0};
    B.values = {3, -3};
    CHECK(symmetry(B) == "skew");
    B.values = {3, 4};
    CHECK(symmetry(B) == "general");
    if (has<std::complex<double>>()) {
      HostCsr<std::complex<double>> H;
      H.rows = H.cols = 2;
      H.offsets = {0, 1, 2};
      H.indices = {1, 0};
      H.values = {{3, 1}, {3, -1}};
      CHECK(symmetry(H) == "hermitian");
      H.values = {{3, 1}, {3, 1}};
      CHECK(symmetry(H) == "symmetric");
    }
    Matrix lap;
    ok(kkc_matrix_generate(ctx, "lap3d7", Options("{\"size\": \"small\"}"), KKC_INDEX_32_32, KKC_TYPE_F64, lap.out()));
    CHECK(says(info(lap), "\"diagonal_dominance\":\"strict\""));
    CHECK(says(info(lap), "\"positive_diagonal\":1"));
    HostCsr<double> none;
    CHECK(says(info(DeviceCsr<double>(ctx, none, KKC_INDEX_32_32, 0)), "\"shortest_row\":0"));
  }
}

TEST_CASE("matrix_laplacian: degrees, mirrored edges and shift") {
  if (!has<double>()) return;
  Random random(seed());
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    for (const kkc_index_pair_t pair : all_index_pairs) {
      if (!has<double>(pair)) continue;
      for (const Shape shape : all_shapes) {
        const int64_t n = random_int(random, 0, 50);
        auto A = random_csr<double>(random, shape, n, n);
        if (random() % 2 == 0) A = made_symmetric(random, A, true);
        INFO("seed " << seed() << ", " << name(device) << ", pair " << pair << ", " << name(shape) << ", " << n
                     << " rows");
        const DeviceCsr<double> matrix(ctx, A, pair, static_cast<int32_t>(random() % 2));
        Matrix L;
        ok(kkc_matrix_laplacian(ctx, matrix, 0.25, L.out()));
        std::map<std::pair<int64_t, int64_t>, double> expected, found;
        for (int64_t i = 0; i < n; ++i) expected[{i, i}] = 0.25;
        std::set<std::pair<int64_t, int64_t>> edges;
        for (const auto& [i, j] : places(A))
          if (i != j) edges.insert({i, j}), edges.insert({j, i});
        for (const auto& [i, j] : edges) {
          expected[{i, j}] = -1;
          expected[{i, i}] += 1;
        }
        const auto B = download<double>(ctx, L);
        for (int64_t i = 0; i < n; ++i)
          for (auto k = static_cast<size_t>(B.offsets[static_cast<size_t>(i)]);
               k < static_cast<size_t>(B.offsets[static_cast<size_t>(i) + 1]); ++k)
            found[{i, B.indices[k]}] = B.values[k];
        CHECK(found == expected);
        CHECK(found.size() == B.values.size());
        kkc_matrix_properties_t properties = 0;
        ok(kkc_matrix_validate(L, &properties));
        CHECK(properties == 15);
      }
    }
    Matrix pattern, L;
    ok(kkc_matrix_generate(ctx, "rmat", Options("{\"size\": \"small\"}"), KKC_INDEX_32_32, KKC_TYPE_NONE,
                           pattern.out()));
    ok(kkc_matrix_laplacian(ctx, pattern, 1, L.out()));
    kkc_scalar_t scalar = 0;
    ok(kkc_csr_get(L, nullptr, nullptr, nullptr, nullptr, &scalar, nullptr, nullptr, nullptr, nullptr));
    CHECK(scalar == KKC_TYPE_F64);
    Matrix wide;
    ok(kkc_matrix_generate(ctx, "rand", Options("{\"rows\": 3, \"cols\": 4}"), KKC_INDEX_32_32, KKC_TYPE_F64,
                           wide.out()));
    CHECK(kkc_matrix_laplacian(ctx, wide, 1, L.out()) == KKC_STATUS_SIZE_MISMATCH);
    for (const double shift : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      CHECK(kkc_matrix_laplacian(ctx, pattern, shift, L.out()) == KKC_STATUS_INVALID_ARGUMENT);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("shift is "));
    }
  }
}

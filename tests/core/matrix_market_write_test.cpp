// kkc_matrix_write and kkc_view_write: what is written reads back to the same bits.
#include <sys/stat.h>

#include "support/catch.hpp"
#include "support/devices.hpp"
#include "support/files.hpp"
#include "support/host_csr.hpp"

using namespace kkc_test;

namespace {

template <class T>
bool has(kkc_index_pair_t pair = KKC_INDEX_32_32) {
  return supported(KKC_DEVICE_SERIAL, "spmv", pair, scalar_tag<T>);
}

/// Sorted copy with duplicates added up, as reading gives it.
template <class T>
HostCsr<T> tidied(const HostCsr<T>& A) {
  HostCsr<T> B;
  B.rows = A.rows;
  B.cols = A.cols;
  for (size_t i = 0; i < static_cast<size_t>(A.rows); ++i) {
    std::vector<std::pair<int64_t, T>> row;
    for (auto k = static_cast<size_t>(A.offsets[i]); k < static_cast<size_t>(A.offsets[i + 1]); ++k)
      row.emplace_back(A.indices[k], A.values[k]);
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].first == row[k - 1].first) {
        B.values.back() += row[k].second;
      } else {
        B.indices.push_back(row[k].first);
        B.values.push_back(row[k].second);
      }
    }
    B.offsets.push_back(B.nnz());
  }
  return B;
}

template <class T>
void round_trips(const Context& ctx, const TempDir& dir, kkc_index_pair_t pair, Random& random) {
  if (!has<T>(pair)) return;
  for (const Shape shape : all_shapes)
    for (const std::string file : {"r.mtx", "r.mtx.gz"}) {
      INFO(name(ctx.device()) << ", pair " << pair << ", scalar " << scalar_tag<T> << ", " << name(shape) << ", "
                              << file);
      const auto A = random_csr<T>(random, shape, random_int(random, 0, 90), random_int(random, 0, 90));
      const DeviceCsr<T> device(ctx, A, pair, static_cast<int32_t>(random() % 2));
      ok(kkc_matrix_write(device, (dir / file).c_str(), nullptr));
      Matrix B;
      ok(kkc_matrix_read(ctx, (dir / file).c_str(), pair, scalar_tag<T>, B.out()));
      const auto expected = tidied(A), read = download<T>(ctx, B);
      CHECK(read.rows == expected.rows);
      CHECK(read.cols == expected.cols);
      CHECK(read.offsets == expected.offsets);
      CHECK(read.indices == expected.indices);
      CHECK(read.values == expected.values);
    }
}

}  // namespace

TEST_CASE("matrix_write: what is written reads back to the same bits") {
  const TempDir dir;
  Random random(seed());
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    for (const kkc_index_pair_t pair : all_index_pairs) {
      round_trips<float>(ctx, dir, pair, random);
      round_trips<double>(ctx, dir, pair, random);
      round_trips<std::complex<float>>(ctx, dir, pair, random);
      round_trips<std::complex<double>>(ctx, dir, pair, random);
    }
  }
}

TEST_CASE("matrix_write: exact text and options") {
  if (!has<double>()) return;
  const TempDir dir;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    HostCsr<double> A;
    A.rows = A.cols = 2;
    A.offsets = {0, 2, 4};
    A.indices = {1, 0, 0, 1};
    A.values = {0.1, 1e300, 0.1, -2};
    const DeviceCsr<double> matrix(ctx, A, KKC_INDEX_32_32, 1);
    const auto written = [&](const std::string& options) {
      ok(kkc_matrix_write(matrix, (dir / "w.mtx").c_str(), Options(options)));
      return read_all(dir / "w.mtx");
    };
    const std::string general = "%%MatrixMarket matrix coordinate real general\n";
    CHECK(written("") == general + "2 2 4\n1 2 0.1\n1 1 1e+300\n2 1 0.1\n2 2 -2\n");
    CHECK(written("{\"precision\": 3, \"comment\": \"one\\ntwo\"}") ==
          general + "% one\n% two\n2 2 4\n1 2 1.00e-01\n1 1 1.00e+300\n2 1 1.00e-01\n2 2 -2.00e+00\n");
    CHECK(written("{\"symmetry\": \"symmetric\"}") ==
          "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1e+300\n2 1 0.1\n2 2 -2\n");
    CHECK(written("{\"symmetry\": \"hermitian\"}") ==
          "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1e+300\n2 1 0.1\n2 2 -2\n");
    const auto refused = [&](const std::string& options, kkc_status_t expected) {
      const std::string before = read_all(dir / "w.mtx");
      CHECK(kkc_matrix_write(matrix, (dir / "w.mtx").c_str(), Options(options)) == expected);
      INFO(kkc_last_error());
      CHECK(read_all(dir / "w.mtx") == before);
      CHECK(dir.names().size() == 1);
    };
    refused("{\"symmetry\": \"skew\"}", KKC_STATUS_INVALID_ARGUMENT);
    refused("{\"symmetry\": \"odd\"}", KKC_STATUS_UNKNOWN_OPTION);
    refused("{\"digits\": 3}", KKC_STATUS_UNKNOWN_OPTION);
    refused("{\"precision\": 0}", KKC_STATUS_INVALID_ARGUMENT);
    CHECK(std::string(kkc_last_error()).find("expected 1 to") != std::string::npos);
  }
}

TEST_CASE("matrix_write: symmetries") {
  using C = std::complex<double>;
  if (!has<C>() || !has<double>()) return;
  const TempDir dir;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const auto check = [&](const auto& A, const char* symmetry, const std::string& text) {
      using T = typename std::decay_t<decltype(A.values)>::value_type;
      const DeviceCsr<T> matrix(ctx, A, KKC_INDEX_32_32, 0);
      ok(kkc_matrix_write(matrix, (dir / "s.mtx").c_str(),
                          Options(std::string("{\"symmetry\": \"") + symmetry + "\"}")));
      CHECK(read_all(dir / "s.mtx") == text);
      Matrix B;
      ok(kkc_matrix_read(ctx, (dir / "s.mtx").c_str(), KKC_INDEX_32_32, scalar_tag<T>, B.out()));
      CHECK(download<T>(ctx, B).values == A.values);
    };
    HostCsr<C> H;
    H.rows = H.cols = 2;
    H.offsets = {0, 2, 4};
    H.indices = {0, 1, 0, 1};
    H.values = {1, C(2, 3), C(2, -3), 4};
    check(H, "hermitian", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 1 0\n2 1 2 -3\n2 2 4 0\n");
    HostCsr<double> S;
    S.rows = S.cols = 2;
    S.offsets = {0, 1, 2};
    S.indices = {1, 0};
    S.values = {-7, 7};
    check(S, "skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n");
    HostCsr<double> W = S;
    W.cols = 3;
    CHECK(kkc_matrix_write(DeviceCsr<double>(ctx, W, KKC_INDEX_32_32, 0), (dir / "w.mtx").c_str(),
                           Options("{\"symmetry\": \"symmetric\"}")) == KKC_STATUS_INVALID_ARGUMENT);
  }
}

TEST_CASE("matrix_write: patterns, and files that are replaced whole") {
  if (!has<double>()) return;
  const TempDir dir;
  const Context ctx(devices().front());
  Matrix A;
  ok(kkc_matrix_generate(ctx, "arrow", Options("{\"rows\": 3}"), KKC_INDEX_32_32, KKC_TYPE_NONE, A.out()));
  const std::string path = dir.file("p.mtx", "old");
  ::chmod(path.c_str(), 0600);
  ::symlink("p.mtx", (dir / "link.mtx").c_str());
  ok(kkc_matrix_write(A, (dir / "link.mtx").c_str(), nullptr));
  const std::string text =
      "%%MatrixMarket matrix coordinate pattern general\n3 3 7\n1 1\n1 2\n1 3\n2 1\n2 2\n3 1\n3 3\n";
  CHECK(read_all(path) == text);
  CHECK(std::filesystem::is_symlink(dir / "link.mtx"));
  CHECK(dir.names().size() == 2);
  CHECK(kkc_matrix_write(A, (dir / "no/such/folder.mtx").c_str(), nullptr) == KKC_STATUS_IO);
  CHECK(kkc_matrix_write(A, "/dev/null", nullptr) == KKC_STATUS_IO);
  CHECK(kkc_matrix_write(A, nullptr, nullptr) == KKC_STATUS_NULL_POINTER);
  CHECK(kkc_matrix_write(A, "", nullptr) == KKC_STATUS_IO);
}

TEST_CASE("view_write: dense arrays of every element type, layout and rank") {
  const TempDir dir;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const auto written = [&](auto values, const std::vector<int64_t>& extents, kkc_layout_t layout,
                             const std::vector<int64_t>& strides = {}) {
      using T = typename decltype(values)::value_type;
      const Array<T> data(ctx, values);
      const View view = wrap(ctx, data.data(), extents, layout, strides);
      ok(kkc_view_write(ctx, view, (dir / "d.mtx").c_str()));
      return read_all(dir / "d.mtx");
    };
    const std::string array = "%%MatrixMarket matrix array ";
    CHECK(written(std::vector<double>{1, 2, 3, 4, 5, 6.5}, {2, 3}, KKC_LAYOUT_RIGHT) ==
          array + "real general\n2 3\n1\n4\n2\n5\n3\n6.5\n");
    CHECK(written(std::vector<float>{0.1F, 2}, {2}, KKC_LAYOUT_LEFT) == array + "real general\n2 1\n0.1\n2\n");
    CHECK(written(std::vector<std::complex<float>>{{1, 2}}, {1, 1}, KKC_LAYOUT_LEFT) ==
          array + "complex general\n1 1\n1 2\n");
    CHECK(written(std::vector<uint8_t>{7, 255}, {1, 2}, KKC_LAYOUT_LEFT) == array + "integer general\n1 2\n7\n255\n");
    CHECK(written(std::vector<int64_t>{INT64_MIN, 9, 3, 9}, {2}, KKC_LAYOUT_STRIDED, {2}) ==
          array + "integer general\n2 1\n-9223372036854775808\n3\n");
    CHECK(written(std::vector<double>{}, {0, 4}, KKC_LAYOUT_LEFT) == array + "real general\n0 4\n");
  }
}

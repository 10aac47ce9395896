// kkc_matrix_read and kkc_view_read: every variant of the format, and every way in which a file can lie.
#include <map>

#include "support/catch.hpp"
#include "support/devices.hpp"
#include "support/files.hpp"
#include "support/host_csr.hpp"

using namespace kkc_test;

namespace {

const std::string banner = "%%MatrixMarket matrix ";

/// (row, column) -> value, from 1.
template <class T>
using Entries = std::map<std::pair<int64_t, int64_t>, T>;

template <class T>
Entries<T> entries_of(const HostCsr<T>& A) {
  Entries<T> entries;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t k = A.offsets[static_cast<size_t>(i)]; k < A.offsets[static_cast<size_t>(i) + 1]; ++k)
      entries[{i + 1, A.indices[static_cast<size_t>(k)] + 1}] = A.values[static_cast<size_t>(k)];
  CHECK(static_cast<int64_t>(entries.size()) == A.nnz());
  return entries;
}

template <class T>
HostCsr<T> read(const Context& ctx, const std::string& path, kkc_index_pair_t pair = KKC_INDEX_32_32,
                kkc_scalar_t scalar = scalar_tag<T>) {
  Matrix A;
  ok(kkc_matrix_read(ctx, path.c_str(), pair, scalar, A.out()));
  kkc_matrix_properties_t properties = 0;
  ok(kkc_matrix_validate(A, &properties));
  CHECK((properties & KKC_MATRIX_SORTED) != 0);
  CHECK((properties & KKC_MATRIX_NO_DUPLICATES) != 0);
  return download<T>(ctx, A);
}

template <class T>
bool has(kkc_index_pair_t pair = KKC_INDEX_32_32) {
  return supported(KKC_DEVICE_SERIAL, "spmv", pair, scalar_tag<T>);
}

using C = std::complex<double>;

}  // namespace

TEST_CASE("matrix_read: coordinates of every field and symmetry") {
  const TempDir dir;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    for (const kkc_index_pair_t pair : all_index_pairs) {
      if (!has<double>(pair)) continue;
      INFO("device " << name(device) << ", index pair " << pair);
      const auto real = [&](const std::string& text) {
        return entries_of(read<double>(ctx, dir.file("a.mtx", banner + text), pair));
      };
      CHECK(real("coordinate real general\n2 3 3\n2 1 -1.5\n1 3 2e3\n1 1 +.25\n") ==
            Entries<double>{{{1, 1}, .25}, {{1, 3}, 2000}, {{2, 1}, -1.5}});
      CHECK(real("coordinate real symmetric\n3 3 3\n1 1 4\n3 1 5\n3 3 6\n") ==
            Entries<double>{{{1, 1}, 4}, {{1, 3}, 5}, {{3, 1}, 5}, {{3, 3}, 6}});
      CHECK(real("coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 2 -5\n") ==
            Entries<double>{{{2, 1}, 4}, {{1, 2}, -4}, {{3, 2}, -5}, {{2, 3}, 5}});
      CHECK(real("coordinate integer general\n2 2 2\n1 1 -7\n2 2 +9007199254740993\n") ==
            Entries<double>{{{1, 1}, -7}, {{2, 2}, 9007199254740992.0}});
      CHECK(real("coordinate pattern symmetric\n2 2 1\n2 1\n") == Entries<double>{{{1, 2}, 1}, {{2, 1}, 1}});
      // Duplicates are added up, in rows longer and shorter than what is sorted in place.
      CHECK(real("coordinate real general\n1 3 5\n1 3 1\n1 1 2\n1 3 4\n1 1 8\n1 3 16\n") ==
            Entries<double>{{{1, 1}, 10}, {{1, 3}, 21}});
      std::string many = "coordinate integer general\n2 9 300\n";
      for (int k = 0; k < 300; ++k) many += "2 " + std::to_string(9 - k % 9) + " " + std::to_string(k % 9 + 1) + "\n";
      Entries<double> sums;
      for (int k = 0; k < 300; ++k) sums[{2, 9 - k % 9}] += k % 9 + 1;
      CHECK(real(many) == sums);
      // As a pattern.
      Matrix A;
      ok(kkc_matrix_read(ctx,
                         dir.file("a.mtx", banner + "coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 1\n").c_str(),
                         pair, KKC_TYPE_NONE, A.out()));
      int64_t nnz = 0;
      kkc_scalar_t scalar = -1;
      void* values = &nnz;
      ok(kkc_csr_get(A, nullptr, nullptr, &nnz, nullptr, &scalar, nullptr, nullptr, nullptr, &values));
      CHECK(nnz == 3);
      CHECK(scalar == KKC_TYPE_NONE);
      CHECK(values == nullptr);
    }
  }
}

TEST_CASE("matrix_read: complex files") {
  if (!has<C>()) return;
  const TempDir dir;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const auto complex = [&](const std::string& text) {
      return entries_of(read<C>(ctx, dir.file("a.mtx", banner + text)));
    };
    CHECK(complex("coordinate complex general\n2 2 2\n1 2 1 -2\n2 1 3 +4.5\n") ==
          Entries<C>{{{1, 2}, {1, -2}}, {{2, 1}, {3, 4.5}}});
    CHECK(complex("coordinate complex hermitian\n2 2 2\n1 1 5 0\n2 1 3 4\n") ==
          Entries<C>{{{1, 1}, {5, 0}}, {{1, 2}, {3, -4}}, {{2, 1}, {3, 4}}});
    CHECK(complex("coordinate complex symmetric\n2 2 1\n2 1 3 4\n") == Entries<C>{{{1, 2}, {3, 4}}, {{2, 1}, {3, 4}}});
    CHECK(complex("coordinate complex skew-symmetric\n2 2 1\n2 1 3 4\n") ==
          Entries<C>{{{1, 2}, {-3, -4}}, {{2, 1}, {3, 4}}});
    CHECK(complex("coordinate real general\n1 1 1\n1 1 3\n") == Entries<C>{{{1, 1}, {3, 0}}});
    CHECK(complex("array complex hermitian\n2 2\n1 0\n2 3\n4 0\n") ==
          Entries<C>{{{1, 1}, 1}, {{1, 2}, {2, -3}}, {{2, 1}, {2, 3}}, {{2, 2}, 4}});
  }
}

TEST_CASE("matrix_read: arrays") {
  if (!has<double>()) return;
  const TempDir dir;
  const Context ctx(devices().front());
  const auto real = [&](const std::string& text) {
    return entries_of(read<double>(ctx, dir.file("a.mtx", banner + text)));
  };
  CHECK(real("array real general\n2 3\n1\n2\n3\n0\n5\n6\n") ==
        Entries<double>{{{1, 1}, 1}, {{2, 1}, 2}, {{1, 2}, 3}, {{2, 2}, 0}, {{1, 3}, 5}, {{2, 3}, 6}});
  CHECK(real("array integer symmetric\n2 2\n1\n2\n3\n") ==
        Entries<double>{{{1, 1}, 1}, {{2, 1}, 2}, {{1, 2}, 2}, {{2, 2}, 3}});
  CHECK(real("array real skew-symmetric\n3 3\n1\n2\n3\n") ==
        Entries<double>{{{2, 1}, 1}, {{1, 2}, -1}, {{3, 1}, 2}, {{1, 3}, -2}, {{3, 2}, 3}, {{2, 3}, -3}});
  CHECK(real("array real skew-symmetric\n1 1\n").empty());
  CHECK(real("array real general\n0 5\n").empty());
}

TEST_CASE("matrix_read: what the format leaves free") {
  if (!has<double>()) return;
  const TempDir dir;
  const Context ctx(devices().front());
  const Entries<double> expected{{{1, 2}, 3}, {{2, 1}, 4}};
  const auto real = [&](const std::string& text) { return entries_of(read<double>(ctx, dir.file("a.mtx", text))); };
  CHECK(real("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 4") == expected);
  CHECK(real("%%matrixmarket MATRIX Coordinate REAL General\r\n% said\r\n%\r\n\r\n 2\t2  2 \r\n\r\n 1 2 3 "
             "\r\n\n2\t1\t4\r\n\r\n  \n") == expected);
  CHECK(real("%%MatrixMarket matrix coordinate real general\n% " + std::string(200000, 'x') +
             "\n2 2 2\n1 2 3\n2 1 4\n") == expected);
  CHECK(real("%%MatrixMarket matrix coordinate real general\n0 0 0\n").empty());
  CHECK(real("%%MatrixMarket matrix coordinate real general\n3 0 0").empty());
  const auto odd = real(
      "%%MatrixMarket matrix coordinate real general\n1 4 4\n1 1 inf\n1 2 -1e-400\n1 3 4.9e-324\n1 4 "
      "1.7976931348623157e308\n");
  CHECK(odd == Entries<double>{{{1, 1}, INFINITY}, {{1, 2}, 0}, {{1, 3}, 4.9e-324}, {{1, 4}, 1.7976931348623157e308}});
  CHECK(std::signbit(odd.at({1, 2})));
}

TEST_CASE("matrix_read: gzipped files") {
  if (!has<double>()) return;
  const TempDir dir;
  const Context ctx(devices().front());
  const std::string text = banner + "coordinate real general\n2 2 2\n1 2 3\n2 1 4\n";
  const Entries<double> expected{{{1, 2}, 3}, {{2, 1}, 4}};
  const auto real = [&](const std::string& bytes) {
    return entries_of(read<double>(ctx, dir.file("a.mtx.gz", bytes)));
  };
  CHECK(real(gzip(text)) == expected);
  CHECK(real(text) == expected);  // told by content, not by name
  CHECK(real(gzip(text.substr(0, 50)) + gzip("") + gzip(text.substr(50))) == expected);
  const auto refused = [&](const std::string& bytes, const std::string& sentence) {
    Matrix A;
    const std::string path = dir.file("a.mtx.gz", bytes);
    CHECK(kkc_matrix_read(ctx, path.c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()) == KKC_STATUS_PARSE);
    const std::string said = kkc_last_error();
    INFO(said);
    CHECK(said.find(path) != std::string::npos);
    CHECK(said.find(sentence) != std::string::npos);
  };
  refused(gzip(text).substr(0, 40), "end early");
  refused(gzip(text) + "rest", "not gzip");
  std::string damaged = gzip(text);
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] + 1);
  refused(damaged, "damaged");
}

TEST_CASE("matrix_read: lying files are refused with file and line") {
  const TempDir dir;
  const Context ctx(devices().front());
  const auto refused = [&](const std::string& text, const std::string& sentence,
                           kkc_status_t expected = KKC_STATUS_PARSE, kkc_index_pair_t pair = KKC_INDEX_32_32,
                           kkc_scalar_t scalar = KKC_TYPE_F64) {
    const std::string path = dir.file("lie.mtx", text);
    kkc_matrix_t* A = reinterpret_cast<kkc_matrix_t*>(&pair);
    const kkc_status_t status = kkc_matrix_read(ctx, path.c_str(), pair, scalar, &A);
    const std::string said = kkc_last_error();
    INFO(text.substr(0, 300) << "\n-> " << said);
    CHECK(std::string(kkc_status_name(status)) == kkc_status_name(expected));
    CHECK(A == nullptr);
    CHECK(said.find(path + " " + sentence) != std::string::npos);
  };
  const std::string real = banner + "coordinate real general\n";
  refused("", "line 1: the file is empty");
  refused("hello\n", "line 1: begins with \"hello\"");
  refused("%%MatrixMarket matrix coordinate real\n1 1 0\n", "line 1: has 4 words");
  refused("%%MatrixMarket tensor coordinate real general\n1 1 0\n", "line 1: holds a \"tensor\"");
  refused(banner + "list real general\n", "line 1: the format is \"list\", expected one of coordinate, array");
  refused(banner + "coordinate rational general\n", "line 1: the field is");
  refused(banner + "coordinate real triangular\n", "line 1: the symmetry is");
  refused(banner + "array pattern general\n1 1\n", "line 1: an array of field pattern");
  refused(banner + "coordinate real hermitian\n1 1 0\n", "line 1: hermitian with field real");
  refused(banner + "coordinate pattern skew-symmetric\n1 1 0\n", "line 1: skew-symmetric with field pattern");
  refused(real, "line 2: the file ends before");
  refused(real + "% only\n", "line 3: the file ends before");
  refused(real + "2 2\n", "line 2: has 2 words, expected 3");
  refused(real + "2 2 1 1\n", "line 2: has 4 words, expected 3");
  refused(real + "2 two 1\n", "line 2: the number of columns is \"two\"");
  refused(real + "-2 2 1\n", "line 2: the number of rows is \"-2\"");
  refused(real + "2 2 1.0\n", "line 2: the number of entries is \"1.0\"");
  refused(real + "99999999999999999999 2 1\n",
          "line 2: the number of rows is \"99999999999999999999\", which is beyond 64 bits");
  refused(real + "2 2 1000000000000000000\n1 1 1\n",
          "line 2: announces 2 rows, 2 columns, 1000000000000000000 entries, more than a file of this size");
  refused(real + "1000000000000000000 2 1\n1 1 1\n", "line 2: the matrix has 1000000000000000000 rows",
          KKC_STATUS_OVERFLOW);
  refused(real + "2 3000000000 1\n1 1 1\n", "line 2: the matrix has 3000000000 columns", KKC_STATUS_OVERFLOW);
  refused(real + "0 2 1\n1 1 1\n", "line 2: announces 1 entries in a matrix of 0 rows");
  refused(banner + "array real general\n1000000 1000000\n1\n",
          "line 2: announces 1000000 rows, 1000000 columns, more than");
  refused(banner + "array real symmetric\n2 3\n1\n", "line 2: announces a symmetric matrix of 2 rows and 3 columns");
  if (has<double>(KKC_INDEX_64_64))
    refused(real + "1000000000000000000 2 1\n1 1 1\n",
            "line 2: announces 1000000000000000000 rows for 1 entries, which is not plausible", KKC_STATUS_PARSE,
            KKC_INDEX_64_64);
  if (!has<double>()) return;
  refused(real + "2 2 2\n1 1 1\n", "line 3: the file ends after 1 of the 2 entries that line 2 announces");
  refused(real + "2 2 1\n1 1 1\n\n2 2 2\n", "line 5: a further entry, after the 1 that line 2 announces");
  refused(real + "2 2 1\nx 1 1\n", "line 3: row index is \"x\"");
  refused(real + "2 2 1\n1 y 1\n", "line 3: column index is \"y\"");
  refused(real + "2 2 1\n1 1 z\n", "line 3: the value is \"z\", expected a real number");
  refused(real + "2 2 1\n1 1 1.0d0\n", "line 3: the value is \"1.0d0\"");
  refused(real + "2 2 1\n1 1 1e999\n", "line 3: the value is \"1e999\", expected a real number that fits f64");
  refused(real + "2 2 1\n1 1 +-1\n", "line 3: the value is \"+-1\"");
  refused(real + "2 2 1\n1 1\n", "line 3: the value is missing");
  refused(real + "2 2 1\n1\n", "line 3: column index is missing");
  refused(real + "2 2 1\n1 1 1 1\n", "line 3: after the entry there is \"1\"");
  refused(real + "2 2 1\n1.0 1 1\n", "line 3: row index is \"1.0\"");
  refused(real + "2 3 1\n1 -1 1\n", "line 3: column index is \"-1\", expected a whole number from 1 to 3");
  refused(real + "2 2 1\n1 -1 1\n", "line 3: column index is \"-1\"");
  refused(real + "2 2 1\n0 1 1\n", "line 3: row index is 0, expected 1 to 2");
  refused(real + "2 2 1\n1 3 1\n", "line 3: column index is 3, expected 1 to 2");
  refused(real + "2 2 1\n123456789012345678901 1 1\n", "line 3: row index is \"123456789012345678901\"");
  refused(real + "2 2 1\n% late\n1 1 1\n", "line 3: row index is \"%\"");
  refused(real + "2 2 1\n1\v1 1\n", "line 3: ");
  refused(real + "2 2 1\n" + std::string(2000000, '1') + "\n", "line 3: the line is longer");
  refused(banner + std::string(2000000, 'x'), "line 1: the line is longer");
  refused(banner + "coordinate pattern general\n2 2 1\n1 1 1\n", "line 3: after the entry there is \"1\"");
  refused(banner + "coordinate integer general\n2 2 1\n1 1 1.5\n", "line 3: the value is \"1.5\", expected an integer");
  refused(banner + "coordinate integer general\n2 2 1\n1 1 9223372036854775808\n",
          "line 3: the value is \"9223372036854775808\"");
  refused(banner + "coordinate real symmetric\n2 2 1\n1 2 1\n",
          "line 3: entry (1, 2) lies above the diagonal, which a symmetric file");
  refused(banner + "coordinate real skew-symmetric\n2 2 1\n2 2 1\n",
          "line 3: entry (2, 2) of a skew-symmetric matrix is not 0");
  refused(banner + "array real general\n2 1\n1\n", "line 3: the file ends after 1 of the 2 entries");
  refused(banner + "array real general\n2 1\n1 2\n", "line 3: after the entry there is \"2\"");
  refused(banner + "coordinate complex general\n1 1 1\n1 1 1 1\n", "line 1 says that the values are complex",
          KKC_STATUS_TYPE_MISMATCH);
  refused(banner + "coordinate complex hermitian\n1 1 1\n1 1 1 1\n",
          "line 3: entry (1, 1) of a hermitian matrix is not real", KKC_STATUS_PARSE, KKC_INDEX_32_32, KKC_TYPE_NONE);
  refused(banner + "coordinate complex general\n1 1 1\n1 1 1\n", "line 3: the imaginary part is missing",
          KKC_STATUS_PARSE, KKC_INDEX_32_32, KKC_TYPE_NONE);
  if (has<float>())
    refused(real + "2 2 1\n1 1 1e39\n", "line 3: the value is \"1e39\", expected a real number that fits f32",
            KKC_STATUS_PARSE, KKC_INDEX_32_32, KKC_TYPE_F32);
}

TEST_CASE("matrix_read: paths that cannot be read") {
  const TempDir dir;
  const Context ctx(devices().front());
  kkc_matrix_t* A = nullptr;
  CHECK(kkc_matrix_read(ctx, (dir / "nothing.mtx").c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, &A) == KKC_STATUS_IO);
  CHECK(std::string(kkc_last_error()).find("nothing.mtx: No such file") != std::string::npos);
  CHECK(kkc_matrix_read(ctx, (dir / "").c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, &A) == KKC_STATUS_IO);
  CHECK(kkc_matrix_read(ctx, "/dev/zero", KKC_INDEX_32_32, KKC_TYPE_F64, &A) == KKC_STATUS_IO);
  CHECK(kkc_matrix_read(ctx, nullptr, KKC_INDEX_32_32, KKC_TYPE_F64, &A) == KKC_STATUS_NULL_POINTER);
}

TEST_CASE("matrix_read: large files, taken by several threads") {
  if (!has<double>()) return;
  const TempDir dir;
  Random random(seed());
  const int64_t rows = 3000, cols = 2500;
  const int count = 300000;
  std::string text = banner + "coordinate real general\n% large\n3000 2500 300000\n";
  HostCsr<double> expected;
  std::vector<std::map<int64_t, double>> sums(static_cast<size_t>(rows));
  for (int k = 0; k < count; ++k) {
    const int64_t i = random_int(random, 0, rows - 1), j = random_int(random, 0, cols - 1);
    const double v = static_cast<double>(random_int(random, -1000000, 1000000)) / 1024;
    text += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(v) + "\n";
    sums[static_cast<size_t>(i)][j] += std::stod(std::to_string(v));
    if (k % 1000 == 0) text += "\n";
  }
  for (const auto& row : sums) {
    for (const auto& [j, v] : row) {
      expected.indices.push_back(j);
      expected.values.push_back(v);
    }
    expected.offsets.push_back(expected.nnz());
  }
  REQUIRE(text.size() > (size_t{5} << 20));
  const std::string plain = dir.file("large.mtx", text), zipped = dir.file("large.mtx.gz", gzip(text));
  std::string broken = text;
  broken.replace(broken.find('\n', broken.size() * 3 / 4) + 1, 1, "x");
  const int64_t line =
      1 + std::count(broken.begin(), broken.begin() + static_cast<int64_t>(broken.find("\nx")) + 1, '\n');
  // A second mistake behind the first is not the one to be told.
  broken.replace(broken.find('\n', broken.size() * 7 / 8) + 1, 1, "y");
  const std::string bad = dir.file("broken.mtx", broken);
  // One thread comes to the first surplus entry while others are at entries further behind.
  std::string surplus = text;
  surplus.replace(surplus.find("300000"), 6, "30000");
  const std::string lying = dir.file("surplus.mtx", surplus);
  for (const kkc_device_t device : devices())
    for (const int threads : {1, 2, 3, 8}) {
      if (device != KKC_DEVICE_OPENMP && threads > 1) continue;
      const Context ctx(device, device == KKC_DEVICE_OPENMP ? "{\"threads\": " + std::to_string(threads) + "}" : "");
      for (const std::string& path : {plain, zipped}) {
        const auto A = read<double>(ctx, path);
        CHECK(A.offsets == expected.offsets);
        CHECK(A.indices == expected.indices);
        CHECK(A.values == expected.values);
      }
      Matrix A;
      CHECK(kkc_matrix_read(ctx, bad.c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()) == KKC_STATUS_PARSE);
      INFO(kkc_last_error());
      CHECK(std::string(kkc_last_error()).find("broken.mtx line " + std::to_string(line) + ": row index is \"x") !=
            std::string::npos);
      CHECK(kkc_matrix_read(ctx, lying.c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()) == KKC_STATUS_PARSE);
      INFO(kkc_last_error());
      CHECK(std::string(kkc_last_error()).find("line 30034: a further entry, after the 30000 that line 3 announces") !=
            std::string::npos);
    }
}

TEST_CASE("matrix_read: real matrices") {
  if (!has<double>()) return;
  struct Known {
    const char* file;
    int64_t rows, cols, nnz;
    int32_t properties;
  };
  const Known known[] = {{"wave.mtx.gz", 156317, 156317, 2118662, KKC_MATRIX_SYMMETRIC_PATTERN},
                         {"boyd1_A.mtx.gz", 93279, 93261, 652246, 0},
                         {"cont300_A.mtx.gz", 180895, 90597, 539396, 0}};
  for (const Known& k : known) {
    const std::string path = real_matrix(k.file);
    if (path.empty()) {
      WARN(k.file << " is skipped: KKC_DATA_DIR does not name a folder that holds it");
      continue;
    }
    const Context ctx(devices().front());
    Matrix A;
    ok(kkc_matrix_read(ctx, path.c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()));
    int64_t rows = 0, cols = 0, nnz = 0;
    ok(kkc_csr_get(A, &rows, &cols, &nnz, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
    CHECK(rows == k.rows);
    CHECK(cols == k.cols);
    CHECK(nnz == k.nnz);
    kkc_matrix_properties_t properties = 0;
    ok(kkc_matrix_validate(A, &properties));
    CHECK(properties == (KKC_MATRIX_SORTED | KKC_MATRIX_NO_DUPLICATES | k.properties));
  }
}

TEST_CASE("view_read: dense arrays of every element type") {
  const TempDir dir;
  const auto dense = [&](const Context& ctx, const std::string& text, auto example, kkc_layout_t layout) {
    using T = decltype(example);
    View view;
    ok(kkc_view_read(ctx, dir.file("d.mtx", banner + text).c_str(), scalar_tag<T>, layout, view.out()));
    int64_t extents[8], strides[8];
    int32_t rank = 0;
    void* data = nullptr;
    ok(kkc_view_get(view, nullptr, &rank, extents, strides, nullptr, nullptr, &data));
    REQUIRE(rank == 2);
    std::vector<T> all(static_cast<size_t>(extents[0] * extents[1])), by_rows;
    const bool gpu = native_space(ctx) == KKC_SPACE_DEVICE;
    ok(kkc_copy(ctx, all.data(), data, all.size() * sizeof(T), gpu ? KKC_COPY_DEVICE_TO_HOST : KKC_COPY_HOST_TO_HOST));
    for (int64_t i = 0; i < extents[0]; ++i)
      for (int64_t j = 0; j < extents[1]; ++j)
        by_rows.push_back(all[static_cast<size_t>(i * strides[0] + j * strides[1])]);
    return by_rows;
  };
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    for (const kkc_layout_t layout : {KKC_LAYOUT_LEFT, KKC_LAYOUT_RIGHT}) {
      CHECK(dense(ctx, "array real general\n2 3\n1\n4\n2\n5\n3\n6.5\n", 0.0, layout) ==
            std::vector<double>{1, 2, 3, 4, 5, 6.5});
      CHECK(dense(ctx, "array real skew-symmetric\n2 2\n3\n", 0.0F, layout) == std::vector<float>{0, -3, 3, 0});
      CHECK(dense(ctx, "array complex hermitian\n2 2\n1 0\n2 3\n4 0\n", C(), layout) ==
            std::vector<C>{1, {2, -3}, {2, 3}, 4});
      CHECK(dense(ctx, "array integer general\n1 2\n0\n255\n", uint8_t{}, layout) == std::vector<uint8_t>{0, 255});
      CHECK(dense(ctx, "coordinate integer symmetric\n2 2 3\n1 1 5\n2 1 -2\n2 1 -1\n", int32_t{}, layout) ==
            std::vector<int32_t>{5, -3, -3, 0});
      CHECK(dense(ctx, "coordinate pattern general\n1 3 2\n1 1\n1 3\n", int64_t{}, layout) ==
            std::vector<int64_t>{1, 0, 1});
    }
  }
  const Context ctx(devices().front());
  const auto refused = [&](const std::string& text, kkc_scalar_t scalar, kkc_status_t expected) {
    View view;
    INFO(text);
    CHECK(kkc_view_read(ctx, dir.file("d.mtx", banner + text).c_str(), scalar, KKC_LAYOUT_LEFT, view.out()) ==
          expected);
  };
  refused("array integer general\n1 1\n256\n", KKC_TYPE_U8, KKC_STATUS_PARSE);
  refused("array integer general\n1 1\n-1\n", KKC_TYPE_U8, KKC_STATUS_PARSE);
  refused("array real general\n1 1\n1\n", KKC_TYPE_I32, KKC_STATUS_TYPE_MISMATCH);
  refused("array complex general\n1 1\n1 1\n", KKC_TYPE_F64, KKC_STATUS_TYPE_MISMATCH);
  refused("coordinate integer general\n1 1 2\n1 1 200\n1 1 100\n", KKC_TYPE_U8, KKC_STATUS_OVERFLOW);
  refused("array integer skew-symmetric\n2 2\n1\n", KKC_TYPE_U8, KKC_STATUS_OVERFLOW);
  refused("coordinate real general\n4000000000 4000000000 1\n1 1 1\n", KKC_TYPE_F64, KKC_STATUS_PARSE);
}

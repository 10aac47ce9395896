// kkc_matrix_generate: every matrix is what docs/matrices.md defines, which this file spells out a second time.
#include <map>
#include <random>
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

template <class T>
HostCsr<T> generate(const Context& ctx, const std::string& name, const std::string& options = "",
                    kkc_index_pair_t pair = KKC_INDEX_32_32) {
  Matrix A;
  ok(kkc_matrix_generate(ctx, name.c_str(), Options(options), pair, scalar_tag<T>, A.out()));
  kkc_matrix_properties_t properties = 0;
  ok(kkc_matrix_validate(A, &properties));
  CHECK((properties & KKC_MATRIX_SORTED) != 0);
  CHECK((properties & KKC_MATRIX_NO_DUPLICATES) != 0);
  return download<T>(ctx, A);
}

/// Draw number n of a stream, found the slow way.
uint64_t draw(uint64_t seed, uint64_t stream, uint64_t n) {
  std::mt19937_64 engine(seed + stream * 0xd1b54a32d192ed03 + n / 65536 * 0x9e3779b97f4a7c15);
  engine.discard(n % 65536);
  return engine();
}
double value(uint64_t x) { return static_cast<double>(x >> 11) / 9007199254740992.0 - 0.5; }

using Columns = std::vector<std::set<int64_t>>;

template <class T>
Columns columns_of(const HostCsr<T>& A) {
  Columns rows(static_cast<size_t>(A.rows));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i].insert(A.indices.begin() + A.offsets[i], A.indices.begin() + A.offsets[i + 1]);
  return rows;
}

/// Points of a grid that are near one another, by comparing all pairs.
Columns grid(int64_t nx, int64_t ny, int64_t nz, bool box, int64_t unknowns) {
  Columns rows(static_cast<size_t>(nx * ny * nz * unknowns));
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t c = 0; c < static_cast<int64_t>(rows.size()); ++c) {
      const int64_t p = static_cast<int64_t>(r) / unknowns, q = c / unknowns;
      const int64_t dx = std::abs(p % nx - q % nx), dy = std::abs(p / nx % ny - q / nx % ny),
                    dz = std::abs(p / nx / ny - q / nx / ny);
      if (box ? std::max({dx, dy, dz}) <= 1 : dx + dy + dz <= 1) rows[r].insert(c);
    }
  return rows;
}

void check_stencil(const HostCsr<double>& A, const Columns& expected) {
  CHECK(columns_of(A) == expected);
  bool values = true;
  for (size_t i = 0; i < expected.size(); ++i)
    for (auto k = static_cast<size_t>(A.offsets[i]); k < static_cast<size_t>(A.offsets[i + 1]); ++k)
      values &= A.values[k] ==
                (A.indices[k] == static_cast<int64_t>(i) ? static_cast<double>(expected[i].size()) - 0.5 : -1.0);
  CHECK(values);
}

/// Random values in the order of the entries; above the diagonal of a symmetric matrix those from below.
void check_random(const HostCsr<double>& A, const Columns& expected, bool symmetric = false, uint64_t seed = 7) {
  REQUIRE(columns_of(A) == expected);
  std::map<std::pair<int64_t, int64_t>, double> drawn;
  std::mt19937_64 engine;
  size_t wrong = 0;
  for (int pass = 0; pass < 2; ++pass)  // what is above the diagonal needs what is below it
    for (int64_t i = 0; i < A.rows; ++i)
      for (auto k = A.offsets[static_cast<size_t>(i)]; k < A.offsets[static_cast<size_t>(i) + 1]; ++k) {
        const int64_t j = A.indices[static_cast<size_t>(k)];
        if (pass == 0) {
          const auto n = static_cast<uint64_t>(k);
          if (n % 65536 == 0) engine.seed(seed + 0xd1b54a32d192ed03 + n / 65536 * 0x9e3779b97f4a7c15);
          drawn[{i, j}] = value(engine());
        } else {
          wrong += A.values[static_cast<size_t>(k)] != (symmetric && j > i ? drawn.at({j, i}) : drawn.at({i, j}));
        }
      }
  CHECK(wrong == 0);
}

Columns rmat(int64_t scale, int64_t edges, uint64_t seed = 7) {
  const int64_t n = int64_t{1} << scale;
  Columns rows(static_cast<size_t>(n));
  std::vector<uint64_t> draws;
  std::mt19937_64 engine;
  const auto at = [&](uint64_t k) {
    while (draws.size() <= k) {
      if (draws.size() % 65536 == 0) engine.seed(seed + draws.size() / 65536 * 0x9e3779b97f4a7c15);
      draws.push_back(engine());
    }
    return draws[k];
  };
  for (int64_t e = 0; e < n * edges; ++e) {
    int64_t row = 0, col = 0;
    for (int64_t level = 0; level < scale; ++level) {
      const uint64_t x = at(static_cast<uint64_t>(e * ((scale + 1) / 2) + level / 2));
      const uint64_t u = level % 2 == 0 ? x & 0xffffffff : x >> 32;
      const int quadrant = u < 2448131359 ? 0 : u < 3264175145 ? 1 : u < 4080218931 ? 2 : 3;
      row = 2 * row + quadrant / 2;
      col = 2 * col + quadrant % 2;
    }
    rows[static_cast<size_t>(row)].insert(col);
  }
  return rows;
}

Columns symmetrised(Columns rows) {
  const Columns given = rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].insert(static_cast<int64_t>(i));
    for (const int64_t j : given[i]) rows[static_cast<size_t>(j)].insert(static_cast<int64_t>(i));
  }
  return rows;
}

}  // namespace

TEST_CASE("matrix_generate: stencils") {
  if (!has<double>()) return;
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const std::string small = "{\"size\": \"small\"}";
    check_stencil(generate<double>(ctx, "lap2d5", small), grid(31, 29, 1, false, 1));
    check_stencil(generate<double>(ctx, "lap3d7", small), grid(11, 9, 8, false, 1));
    check_stencil(generate<double>(ctx, "lap3d27", small), grid(9, 7, 6, true, 1));
    check_stencil(generate<double>(ctx, "elas3", small), grid(6, 4, 3, true, 3));
    check_stencil(generate<double>(ctx, "lap2d5", "{\"nx\": 3, \"ny\": 1}"), grid(3, 1, 1, false, 1));
    check_stencil(generate<double>(ctx, "lap3d27", "{\"nx\": 1, \"ny\": 2, \"nz\": 5, \"diagonal\": \"dominant\"}"),
                  grid(1, 2, 5, true, 1));
    CHECK(generate<double>(ctx, "lap3d7", "{\"nx\": 0}").nnz() == 0);
  }
}

TEST_CASE("matrix_generate: random matrices follow the numbered draws") {
  if (!has<double>()) return;
  Columns columns(1000);
  std::mt19937_64 first_block(7);
  for (uint64_t k = 0; k < 30000; ++k)
    columns[k / 30].insert(
        static_cast<int64_t>(static_cast<uint64_t>((static_cast<unsigned __int128>(first_block()) * 1000) >> 64)));
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    check_random(generate<double>(ctx, "rand30", "{\"size\": \"small\"}"), columns);
    check_random(generate<double>(ctx, "rand", "{\"rows\": 1000, \"symmetric\": 1}"), symmetrised(columns), true);
    check_random(generate<double>(ctx, "rmat", "{\"size\": \"small\"}"), rmat(10, 16));
    check_random(generate<double>(ctx, "rmat20", "{\"size\": \"small\", \"seed\": -3}"),
                 rmat(10, 16, static_cast<uint64_t>(-3)), false, static_cast<uint64_t>(-3));
    check_random(generate<double>(ctx, "rmat17s", "{\"size\": \"small\"}"), symmetrised(rmat(8, 16)), true);
    check_random(generate<double>(ctx, "rmat", "{\"scale\": 13, \"edges\": 20}"), rmat(13, 20));
    Columns band(100), arrow(100);
    for (int64_t i = 0; i < 100; ++i)
      for (int64_t j = 0; j < 100; ++j) {
        if (j - i >= -3 && j - i <= 2) band[static_cast<size_t>(i)].insert(j);
        if (i == 0 || j == 0 || i == j) arrow[static_cast<size_t>(i)].insert(j);
      }
    check_random(generate<double>(ctx, "band", "{\"rows\": 100, \"diagonals\": 6}"), band);
    check_random(generate<double>(ctx, "arrow", "{\"rows\": 100}"), arrow);
    const auto identity = generate<double>(ctx, "identity", "{\"rows\": 5}");
    CHECK(identity.indices == std::vector<int64_t>{0, 1, 2, 3, 4});
    CHECK(identity.values == std::vector<double>(5, 1.0));
    CHECK(generate<double>(ctx, "rand", "{\"rows\": 7, \"cols\": 3, \"per_row\": 50}").nnz() == 21);
    CHECK(generate<double>(ctx, "rand", "{\"rows\": 7, \"cols\": 0}").nnz() == 0);
    CHECK(generate<double>(ctx, "rmat", "{\"scale\": 0, \"edges\": 3}").nnz() == 1);
  }
}

TEST_CASE("matrix_generate: values of other types") {
  const Context ctx(devices().front());
  const std::string options = "{\"rows\": 50, \"symmetric\": 1}";
  if (has<float>()) {
    const auto A = generate<float>(ctx, "band", "{\"rows\": 50}");
    bool same = true;
    for (size_t k = 0; k < A.values.size(); ++k)
      same &= A.values[k] == static_cast<float>(static_cast<double>(draw(7, 1, k) >> 40) / 16777216.0 - 0.5);
    CHECK(same);
  }
  if (has<std::complex<double>>()) {
    const auto A = generate<std::complex<double>>(ctx, "arrow", options);
    CHECK(A.values[0] == std::complex<double>(value(draw(7, 1, 0)), 0));
    for (size_t i = 1; i < 50; ++i) {
      const auto below = static_cast<size_t>(A.offsets[i]);
      CHECK(A.values[below] == std::complex<double>(value(draw(7, 1, 2 * below)), value(draw(7, 1, 2 * below + 1))));
      CHECK(A.values[i] == std::conj(A.values[below]));
      CHECK(A.values[below + 1].imag() == 0);
    }
  }
  Matrix A;
  ok(kkc_matrix_generate(ctx, "rmat17s", Options("{\"size\": \"small\"}"), KKC_INDEX_32_32, KKC_TYPE_NONE, A.out()));
  kkc_matrix_properties_t properties = 0;
  ok(kkc_matrix_validate(A, &properties));
  CHECK(properties == 15);
}

TEST_CASE("matrix_generate: the same on any number of threads and for all index pairs") {
  if (!has<double>()) return;
  const std::pair<const char*, const char*> cases[] = {
      {"rand", "{\"rows\": 60000, \"per_row\": 5}"},
      {"rand", "{\"rows\": 60000, \"per_row\": 5, \"symmetric\": 1, \"diagonal\": \"dominant\"}"},
      {"rmat", "{\"scale\": 15}"},
      {"lap3d7", "{\"nx\": 40, \"ny\": 41, \"nz\": 42}"},
      {"arrow", "{\"rows\": 300000}"},
      {"band", "{\"rows\": 30000, \"symmetric\": 1}"}};
  const Context serial(KKC_DEVICE_SERIAL);
  for (const auto& [name, options] : cases) {
    INFO(name << " " << options);
    const auto expected = generate<double>(serial, name, options);
    const auto same = [&](const HostCsr<double>& A) {
      CHECK(A.offsets == expected.offsets);
      CHECK(A.indices == expected.indices);
      CHECK(A.values == expected.values);
    };
    for (const kkc_device_t device : devices()) {
      if (device == KKC_DEVICE_SERIAL) continue;
      same(generate<double>(Context(device, device == KKC_DEVICE_OPENMP ? "{\"threads\": 3}" : ""), name, options));
    }
    for (const kkc_index_pair_t pair : {KKC_INDEX_32_64, KKC_INDEX_64_64})
      if (has<double>(pair)) same(generate<double>(serial, name, options, pair));
  }
}

TEST_CASE("matrix_generate: dominant diagonals") {
  if (!has<double>()) return;
  const Context ctx(devices().front());
  for (const std::string name : {"lap2d5", "lap3d7", "lap3d27", "elas3", "rmat", "rand", "band", "arrow", "identity",
                                 "rmat17", "rmat17s", "rmat20s", "rand30"}) {
    INFO(name);
    const auto A = generate<double>(ctx, name, "{\"size\": \"small\", \"diagonal\": \"dominant\"}");
    REQUIRE(A.rows == A.cols);
    int64_t weak = 0;
    for (int64_t i = 0; i < A.rows; ++i) {
      double diagonal = 0, others = 0;
      for (auto k = static_cast<size_t>(A.offsets[static_cast<size_t>(i)]);
           k < static_cast<size_t>(A.offsets[static_cast<size_t>(i) + 1]); ++k)
        (A.indices[k] == i ? diagonal : others) += A.indices[k] == i ? A.values[k] : std::abs(A.values[k]);
      weak += diagonal < others + 0.4;
    }
    CHECK(weak == 0);
  }
}

TEST_CASE("matrix_generate: refusals") {
  const Context ctx(devices().front());
  const auto refused = [&](const char* name, const std::string& options, kkc_status_t expected,
                           const std::string& sentence) {
    kkc_matrix_t* A = nullptr;
    const kkc_status_t status = kkc_matrix_generate(ctx, name, Options(options), KKC_INDEX_32_32, KKC_TYPE_F64, &A);
    INFO(kkc_last_error());
    CHECK(std::string(kkc_status_name(status)) == kkc_status_name(expected));
    CHECK(std::string(kkc_last_error()).find(sentence) != std::string::npos);
    CHECK(A == nullptr);
  };
  refused("lap4d9", "", KKC_STATUS_INVALID_ARGUMENT, "name is \"lap4d9\", expected one of lap2d5, lap3d7");
  refused("lap2d5", "{\"nz\": 3}", KKC_STATUS_UNKNOWN_OPTION, "size, seed, symmetric, diagonal, nx, ny");
  refused("rmat", "{\"rows\": 3}", KKC_STATUS_UNKNOWN_OPTION, "scale, edges");
  refused("lap2d5", "{\"size\": \"tiny\"}", KKC_STATUS_UNKNOWN_OPTION, "expected one of full, small");
  refused("lap2d5", "{\"nx\": -1}", KKC_STATUS_INVALID_ARGUMENT, "\"nx\" is -1");
  if (!has<double>()) return;
  refused("lap3d7", "{\"nx\": 700, \"ny\": 700, \"nz\": 700}", KKC_STATUS_OVERFLOW, "2398060000 entries");
  refused("lap2d5", "{\"nx\": 1000000, \"ny\": 1000000}", KKC_STATUS_OVERFLOW, "1000000000000 rows");
  refused("lap3d7", "{\"nx\": 1000000000000, \"ny\": 1000000000000, \"nz\": 1000000000000}", KKC_STATUS_OVERFLOW,
          "beyond 64 bits");
  refused("rmat", "{\"scale\": 30}", KKC_STATUS_OVERFLOW, "17179869184 entries");
  refused("rand", "{\"rows\": 100000000}", KKC_STATUS_OVERFLOW, "3000000000 entries");
  refused("rand", "{\"rows\": 10, \"cols\": 11, \"symmetric\": 1}", KKC_STATUS_INVALID_ARGUMENT, "square");
  refused("band", "{\"rows\": 1000000000}", KKC_STATUS_OVERFLOW, "63999998976 entries");
  refused("arrow", "{\"rows\": 1000000000}", KKC_STATUS_OVERFLOW, "2999999998 entries");
  kkc_matrix_t* A = nullptr;
  CHECK(kkc_matrix_generate(ctx, nullptr, nullptr, KKC_INDEX_32_32, KKC_TYPE_F64, &A) == KKC_STATUS_NULL_POINTER);
}

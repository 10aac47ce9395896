// sptrsv, mostly on GPUs: deep chains, bands, lines of grids, levels wider than a device, rows of 10^5 entries, rows of
// one warp that need each other, zero pivots.
#include "support/catch.hpp"

#include <cmath>
#include <cstring>

#include "support/output_case.hpp"
#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

/// The given columns left of the diagonal, with values that keep solutions of any depth small.
HostCsr<double> lower_of(Random& random, const std::vector<std::vector<int64_t>>& left) {
  HostCsr<double> A;
  A.rows = A.cols = static_cast<int64_t>(left.size());
  A.offsets.assign(1, 0);
  for (size_t row = 0; row < left.size(); ++row) {
    for (const int64_t column : left[row]) {
      A.indices.push_back(column);
      A.values.push_back(random_value<double>(random) / static_cast<double>(left[row].size() + 1));
    }
    A.indices.push_back(static_cast<int64_t>(row));
    A.values.push_back(detail::away_from_zero<double>(random));
    A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
  }
  return A;
}

/// Every row needs the one before and `width` - 1 others near by.
std::vector<std::vector<int64_t>> band(int64_t rows, int64_t width) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = std::max<int64_t>(0, row - width); c < row; ++c) left[static_cast<size_t>(row)].push_back(c);
  return left;
}

/// Levels of `width` rows whose lengths go round through all from 1 to `longest`.
std::vector<std::vector<int64_t>> narrow_levels(Random& random, int64_t levels, int64_t width, int64_t longest) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(levels * width));
  for (int64_t row = width; row < levels * width; ++row) {
    auto& columns = left[static_cast<size_t>(row)];
    const int64_t begin = row / width * width, length = std::min(begin, 1 + row % longest);
    columns.push_back(random_int(random, begin - width, begin - 1));
    while (static_cast<int64_t>(columns.size()) < length) columns.push_back(random_int(random, 0, begin - 1));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  return left;
}

/// Each row needs the one before it in its line, and one or all neighbours in the line before.
std::vector<std::vector<int64_t>> lines(int64_t count, int64_t length, bool box) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(count * length));
  for (int64_t row = 0; row < count * length; ++row) {
    auto& columns = left[static_cast<size_t>(row)];
    for (int64_t d = box ? -1 : 0; d <= (box ? 1 : 0); ++d)
      if (row >= length && row % length + d >= 0 && row % length + d < length) columns.push_back(row - length + d);
    if (row % length != 0) columns.push_back(row - 1);
  }
  return left;
}

/// A box grid of `unknowns` a point, each of which needs those before it among its own and its point's 26 (or 6)
/// neighbours.
std::vector<std::vector<int64_t>> grid(int64_t nx, int64_t ny, int64_t nz, int64_t unknowns, bool box) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(nx * ny * nz * unknowns));
  for (int64_t row = 0; row < static_cast<int64_t>(left.size()); ++row) {
    const int64_t point = row / unknowns, x = point % nx, y = point / nx % ny, z = point / (nx * ny);
    for (int64_t k = z - 1; k <= z + 1; ++k)
      for (int64_t j = y - 1; j <= y + 1; ++j)
        for (int64_t i = x - 1; i <= x + 1; ++i) {
          if (i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz) continue;
          if (!box && (i != x) + (j != y) + (k != z) > 1) continue;
          for (int64_t u = 0; u < unknowns; ++u)
            if (const int64_t c = ((k * ny + j) * nx + i) * unknowns + u; c < row)
              left[static_cast<size_t>(row)].push_back(c);
        }
  }
  return left;
}

/// How many levels there are, row by row.
int64_t levels_of(const std::vector<std::vector<int64_t>>& left) {
  std::vector<int64_t> level(left.size(), 1);
  int64_t highest = 0;
  for (size_t row = 0; row < left.size(); ++row) {
    for (const int64_t c : left[row]) level[row] = std::max(level[row], level[static_cast<size_t>(c)] + 1);
    highest = std::max(highest, level[row]);
  }
  return highest;
}

/// A wide part, a long narrow one that looks back into it, and a wide one again.
std::vector<std::vector<int64_t>> hourglass(Random& random, int64_t wide, int64_t narrow) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(2 * wide + narrow));
  for (int64_t row = 0; row < 2 * wide + narrow; ++row) {
    auto& columns = left[static_cast<size_t>(row)];
    if (row >= wide && row < wide + narrow) {
      columns = {random_int(random, 0, wide - 1), row - random_int(random, 2, 40), row - 1};
      if (row % 11 == 0) columns.pop_back();
    } else if (row > wide) {
      columns = {random_int(random, 0, wide + narrow - 1)};
    } else if (row > wide / 2) {
      columns = {random_int(random, 0, wide / 2)};
    }
    std::erase_if(columns, [&](int64_t c) { return c < 0 || c >= row; });
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  return left;
}

template <class F>
void on_each_implementation(F&& f) {
  for (const Visit& visit : visits()) {
    if (!has_kernels<double>(visit.device, "sptrsv")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "sptrsv")) {
      INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ' ' << implementation);
      f(ctx, implementation);
    }
  }
}

void run(const Context& ctx, const std::string& implementation, const HostCsr<double>& A, kkc_op_t op, int64_t vectors,
         Random& random) {
  SptrsvCase<double> c;
  c.implementation = implementation;
  c.op = op;
  c.vectors = vectors;
  if (vectors > 1) c.b_lie = c.x_lie = Lie::right;
  c.values_kept = true;
  INFO(c.text() << ", " << A.rows << " rows, " << A.nnz() << " entries");
  const auto wrong = run_case(ctx, c, A, random);
  if (wrong) REQUIRE(*wrong == "");
}

/// What `kkc_plan_info` says of the plan, or -1.
int64_t number_of(const Plan& plan, const std::string& name) {
  return static_cast<int64_t>(number_in(info_of_plan(plan), name).value_or(-1));
}

/// The same of a plan of this implementation for one right-hand side.
int64_t number_of(const Context& ctx, const HostCsr<double>& A, kkc_op_t op, const std::string& implementation,
                  const std::string& name) {
  const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
  const SpmvVectors<double> b(ctx, Lie::vector, A.rows, 1, 0.0);
  Plan plan;
  ok(kkc_sptrsv_plan(ctx, op, KKC_UPLO_LOWER, KKC_DIAG_STORED, A_device, b, b,
                     Options("{\"implementation\": \"" + implementation + "\"}"), plan.out()));
  return number_of(plan, name);
}

/// Of 32 rows; -1: solved row by row.
int64_t blocks_of(const Context& ctx, const SptrsvCase<double>& c, const HostCsr<double>& A) {
  const DeviceCsr<double> A_device(ctx, A, c.pair, c.base);
  const SpmvVectors<double> b(ctx, Lie::vector, A.rows, 1, 0.0);
  Plan plan;
  ok(kkc_sptrsv_plan(ctx, c.op, c.uplo, c.diag, A_device, b, b, Options(c.options()), plan.out()));
  return number_of(plan, "blocks");
}

}  // namespace

TEST_CASE("sptrsv: chains that are longer than any buffer of theirs", "[sptrsv]") {
  Random random(seed());
  const HostCsr<double> chain = lower_of(random, band(20000, 1)), wide_band = lower_of(random, band(3000, 40)),
                        glass = lower_of(random, hourglass(random, 9000, 3000));
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const HostCsr<double>* A : {&chain, &wide_band, &glass})
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
        for (const int64_t vectors : {1, 3}) run(ctx, implementation, *A, op, vectors, random);
  });
}

TEST_CASE("sptrsv: narrow levels of rows of every length", "[sptrsv]") {
  Random random(seed());
  for (const int64_t width : {1, 16, 17, 64}) {
    const HostCsr<double> A = lower_of(random, narrow_levels(random, 270, width, width == 1 ? 270 : 140)),
                          B = lower_of(random, narrow_levels(random, 270, width, 5));
    on_each_implementation([&](const Context& ctx, const std::string& implementation) {
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
        for (const HostCsr<double>* x : {&A, &B}) run(ctx, implementation, *x, op, 1, random);
    });
  }
  // Slim levels between wider ones, of which some are no chain of their own.
  auto left = narrow_levels(random, 70, 16, 60);
  const auto join = [&](int64_t levels, int64_t width) {
    const auto before = static_cast<int64_t>(left.size());
    for (auto columns : narrow_levels(random, levels, width, width > 1000 ? 2 : 50)) {
      for (int64_t& c : columns) c += before;
      columns.insert(columns.begin(), random_int(random, 0, before - 1));
      left.push_back(std::move(columns));
    }
  };
  for (const auto& [levels, width] :
       {std::pair<int64_t, int64_t>{100, 64}, {63, 5}, {100, 17}, {64, 5}, {3, 9000}, {80, 1}})
    join(levels, width);
  const HostCsr<double> A = lower_of(random, left);
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    run(ctx, implementation, A, KKC_OP_NONE, 1, random);
  });
}

TEST_CASE("sptrsv: lines that end inside, at and behind a block of rows", "[sptrsv]") {
  Random random(seed());
  for (const int64_t length : {16, 31, 32, 33, 100})
    for (const bool box : {false, true}) {
      const HostCsr<double> A = lower_of(random, lines(5000 / length, length, box));
      on_each_implementation([&](const Context& ctx, const std::string& implementation) {
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) run(ctx, implementation, A, op, 1, random);
      });
    }
  // More rows than wait at once, and rows of 7, 33 and 70 entries that need each other.
  std::vector<HostCsr<double>> more{lower_of(random, lines(1000, 300, false))};
  for (const int64_t width : {7, 33, 70}) more.push_back(lower_of(random, band(3000, width)));
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const HostCsr<double>& A : more) run(ctx, implementation, A, KKC_OP_NONE, 1, random);
  });
}

TEST_CASE("sptrsv: bands of every width", "[sptrsv]") {
  Random random(seed());
  const auto upside_down = [](const HostCsr<double>& A) {  // row i of the lower triangle becomes row n - 1 - i
    HostCsr<double> U;
    U.rows = U.cols = A.rows;
    for (int64_t row = A.rows - 1; row >= 0; --row) {
      for (int64_t p = A.offsets[static_cast<size_t>(row) + 1] - 1; p >= A.offsets[static_cast<size_t>(row)]; --p) {
        U.indices.push_back(A.rows - 1 - A.indices[static_cast<size_t>(p)]);
        U.values.push_back(A.values[static_cast<size_t>(p)]);
      }
      U.offsets.push_back(U.nnz());
    }
    return U;
  };
  for (const int64_t width : {1, 2, 9, 32, 33, 70})
    for (const int64_t rows : {511, 512, 513, 1023, 1056, 1057}) {
      const HostCsr<double> lower = lower_of(random, band(rows, width)), upper = upside_down(lower);
      on_each_implementation([&](const Context& ctx, const std::string& implementation) {
        if (implementation.find("gpu_") != 0 && rows != 1057) return;  // one of them is enough for the others
        const bool blocks = implementation == "gpu_sync_free" && rows >= 512;
        for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER})
          for (const kkc_diag_t diag : {KKC_DIAG_STORED, KKC_DIAG_UNIT})
            for (const bool in_place : {false, true}) {
              SptrsvCase<double> c;
              c.implementation = implementation;
              c.uplo = uplo;
              c.diag = diag;
              c.in_place = in_place;
              c.alpha = in_place ? -2 : 1;
              c.values_kept = true;
              const HostCsr<double>& A = uplo == KKC_UPLO_LOWER ? lower : upper;
              INFO(c.text() << ", " << rows << " rows, width " << width);
              const auto wrong = run_case(ctx, c, A, random);
              if (wrong) REQUIRE(*wrong == "");
              if (blocks) CHECK(blocks_of(ctx, c, A) == (rows + 31) / 32);
            }
      });
    }
}

TEST_CASE("sptrsv: a NaN in b of a band reaches the rows that need it, and no others", "[sptrsv]") {
  Random random(seed());
  constexpr int64_t rows = 2000, width = 9, first = 777;
  const HostCsr<double> A = lower_of(random, band(rows, width));
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    // A whole supernode is reached; what a vendor does with it is not said anywhere.
    if (implementation.find("supernodal") != std::string::npos || implementation == "cusparse") return;
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    SpmvVectors<double> b(ctx, Lie::vector, rows, 1, 0.0), x(ctx, Lie::vector, rows, 1, 0.0);
    Plan plan;
    const std::string options = "{\"values\": \"kept\", \"implementation\": \"" + implementation + "\"}";
    const kkc_status_t planned = kkc_sptrsv_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED, A_device, b, x,
                                                 Options(options), plan.out());
    if (planned == KKC_STATUS_NOT_SUPPORTED) return;
    ok(planned);
    ok(kkc_sptrsv_set_values(plan, A_device));
    std::vector<double> right = random_vector<double>(random, static_cast<size_t>(rows));
    const double alpha = 1;
    for (const uint64_t bits : {0x7ff8000000000000ull, ~0ull}) {  // one whose bits are all ones, too
      std::memcpy(&right[first], &bits, sizeof bits);
      b.set(right);
      ok(kkc_sptrsv_execute(plan, &alpha, A_device, b, x));
      const std::vector<double> solution = x.get();
      int64_t wrong = 0;
      for (int64_t row = 0; row < rows; ++row)
        wrong += std::isnan(solution[static_cast<size_t>(row)]) != (row >= first);
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("sptrsv: what is a band at first sight only", "[sptrsv]") {
  Random random(seed());
  std::vector<HostCsr<double>> triangles;
  // A row that needs 40 blocks of rows; one out of order; blocks of 250 rows that need none of each other.
  auto left = band(4000, 3);
  left[3000].clear();
  for (int64_t c = 1; c < 3000; c += 70) left[3000].push_back(c);
  left[3000].push_back(2999);
  triangles.push_back(lower_of(random, left));
  triangles.push_back(lower_of(random, band(4000, 3)));
  const auto at = static_cast<size_t>(triangles.back().offsets[2000]);
  std::swap(triangles.back().indices[at], triangles.back().indices[at + 3]);
  std::swap(triangles.back().values[at], triangles.back().values[at + 3]);
  left = band(10000, 5);
  for (size_t row = 0; row < left.size(); ++row)
    std::erase_if(left[row], [&](int64_t c) { return c / 250 != static_cast<int64_t>(row) / 250; });
  triangles.push_back(lower_of(random, left));
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const HostCsr<double>& A : triangles) run(ctx, implementation, A, KKC_OP_NONE, 1, random);
  });
}

TEST_CASE("sptrsv: levels wider than a device", "[sptrsv]") {
  Random random(seed());
  const auto of_width = [&](int64_t width) {
    std::vector<std::vector<int64_t>> left(static_cast<size_t>(width / 4 * 9));
    for (auto row = width; row < static_cast<int64_t>(left.size()); ++row)
      left[static_cast<size_t>(row)] = {random_int(random, 0, (row < 2 * width ? width : 2 * width) - 1)};
    return lower_of(random, left);
  };
  const HostCsr<double> for_gpus = of_width(any_gpu() ? 200'000 : 4), for_hosts = of_width(20'000);
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    const HostCsr<double>& A = is_gpu(ctx.device()) ? for_gpus : for_hosts;
    run(ctx, implementation, A, KKC_OP_NONE, 1, random);
    run(ctx, implementation, A, KKC_OP_HERMITIAN, 2, random);
  });
}

TEST_CASE("sptrsv: one longer row behind a level of short ones", "[sptrsv]") {
  Random random(seed());
  std::vector<std::vector<int64_t>> left(40000);
  for (size_t row = 20000; row < left.size(); ++row)
    for (int64_t c = random_int(random, 0, 20), end = row == 30000 ? 20000 : 60; c < end;
         c += random_int(random, 40, 60))
      left[row].push_back(row == 30000 ? c : c * 300);
  const HostCsr<double> A = lower_of(random, left);
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) run(ctx, implementation, A, op, 1, random);
    if (implementation == "gpu_sync_free") CHECK(number_of(ctx, A, KKC_OP_NONE, implementation, "rows_by_warps") == 1);
  });
}

TEST_CASE("sptrsv: lines of grids, and what only begins like one", "[sptrsv]") {
  Random random(seed());
  for (const int64_t line : {50, 101, 700})
    for (const bool broken : {false, true}) {
      const int64_t rows = (any_gpu() ? 72000 : 36000) / line * line + (broken ? line / 3 : 0);
      std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
      for (int64_t row = 1; row < rows; ++row) {
        auto& columns = left[static_cast<size_t>(row)];
        if (row >= line) columns.push_back(row - line);
        if (row % line != 0) columns.push_back(row - 1);
        if (!broken || row < rows / 2) continue;
        columns = {random_int(random, 0, row - 1), random_int(random, std::max<int64_t>(0, row - 90), row - 1)};
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      }
      const HostCsr<double> A = lower_of(random, left);
      on_each_implementation([&](const Context& ctx, const std::string& implementation) {
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) run(ctx, implementation, A, op, 1, random);
      });
    }
}

TEST_CASE("sptrsv: rows of 10^5 entries", "[sptrsv]") {
  Random random(seed());
  constexpr int64_t rows = 100000;
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    if (row >= rows - 3)
      for (int64_t c = 0; c < row; ++c) left[static_cast<size_t>(row)].push_back(c);
    else if (row % 5 != 0)
      left[static_cast<size_t>(row)].push_back(row - 1);
  }
  const HostCsr<double> A = lower_of(random, left);
  // Columns of so many entries, too: long rows of the transposed triangle.
  for (int64_t row = 0; row < rows; ++row) {
    auto& columns = left[static_cast<size_t>(row)];
    columns.clear();
    for (int64_t c = 0; c < std::min<int64_t>(3, row); ++c) columns.push_back(c);
    if (row > 3 && row % 5 != 0) columns.push_back(row - 1);
  }
  const HostCsr<double> B = lower_of(random, left);
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
      for (const HostCsr<double>* x : {&A, &B}) run(ctx, implementation, *x, op, 1, random);
  });
}

TEST_CASE("sptrsv: a few rows of very many entries among short ones", "[sptrsv]") {
  Random random(seed());
  constexpr int64_t rows = 30'000;
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
  for (int64_t row = 1; row < rows; ++row) {
    auto& columns = left[static_cast<size_t>(row)];
    const bool is_long = row == 9000 || row == 9001 || row == 25'000;
    const int64_t entries = is_long ? 2500 + row % 1000 : 3, near = is_long ? row : std::min<int64_t>(row, 2000);
    for (int64_t k = 0; k < entries; ++k) columns.push_back(row - 1 - random_int(random, 0, near - 1));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  const HostCsr<double> A = lower_of(random, left);
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
      for (const int64_t vectors : {1, 2}) run(ctx, implementation, A, op, vectors, random);
    if (implementation == "gpu_sync_free") CHECK(number_of(ctx, A, KKC_OP_NONE, implementation, "segments") > 0);
  });
}

TEST_CASE("sptrsv: chains, then rows of very many entries", "[sptrsv]") {
  Random random(seed());
  constexpr int64_t rows = 12'000;
  for (const bool wide : {false, true}) {  // a level between two chains that is none
    std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
    for (int64_t row = 1; row < rows; ++row) {
      auto& columns = left[static_cast<size_t>(row)];
      const bool is_long = row == rows - 2000 || row == rows - 1000 || row == rows - 1;
      if (wide && row >= 5000 && row < 5500)
        columns.push_back(4999);
      else
        columns.push_back(row - 1);
      if (is_long)
        for (int64_t c = row % 3; c < row - 1; c += 2) columns.push_back(c);
      else if (row % 2 == 0)
        columns.push_back(random_int(random, 0, columns[0]));
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    }
    const HostCsr<double> A = lower_of(random, left);
    on_each_implementation([&](const Context& ctx, const std::string& implementation) {
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) run(ctx, implementation, A, op, 1, random);
      if (implementation != "gpu_sync_free") return;
      CHECK(number_of(ctx, A, KKC_OP_NONE, implementation, "segments") > 0);
      CHECK(number_of(ctx, A, KKC_OP_NONE, implementation, "chained_rows") > rows / 2);
    });
  }
}

TEST_CASE("sptrsv: wide levels of rows of some entries", "[sptrsv]") {
  Random random(seed());
  constexpr int64_t width = 4500, levels = 4;
  for (const int64_t most : {9, 25}) {
    std::vector<std::vector<int64_t>> left(static_cast<size_t>(width * levels));
    for (int64_t row = width; row < width * levels; ++row) {
      auto& columns = left[static_cast<size_t>(row)];
      const int64_t begin = row / width * width, length = 2 + row % most;
      columns.push_back(random_int(random, begin - width, begin - 1));
      while (static_cast<int64_t>(columns.size()) < length) columns.push_back(random_int(random, 0, begin - 1));
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    }
    const HostCsr<double> A = lower_of(random, left);
    on_each_implementation([&](const Context& ctx, const std::string& implementation) {
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN})
        run(ctx, implementation, A, op, 1, random);
      if (implementation == "gpu_sync_free") CHECK(number_of(ctx, A, KKC_OP_NONE, implementation, "renumbered") == 1);
    });
  }
}

TEST_CASE("sptrsv: zero pivots are reported and stop nobody", "[sptrsv]") {
  Random random(seed());
  HostCsr<double> A = lower_of(random, band(5000, 3));
  for (const int64_t row : {17, 1700, 4999})
    A.values[static_cast<size_t>(A.offsets[static_cast<size_t>(row) + 1] - 1)] = 0;
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
      SpmvVectors<double> b(ctx, Lie::vector, A.rows, 1, 0.0), x(ctx, Lie::vector, A.rows, 1, 0.0);
      Plan plan;
      const std::string options = "{\"values\": \"kept\", \"implementation\": \"" + implementation + "\"}";
      const kkc_status_t planned =
          kkc_sptrsv_plan(ctx, op, KKC_UPLO_LOWER, KKC_DIAG_STORED, A_device, b, x, Options(options), plan.out());
      if (planned == KKC_STATUS_NOT_SUPPORTED) continue;
      ok(planned);
      ok(kkc_sptrsv_set_values(plan, A_device));
      b.set(random_vector<double>(random, static_cast<size_t>(A.rows)));
      const double alpha = 1;
      for (int repeat = 0; repeat < 2; ++repeat) {
        const kkc_status_t executed = kkc_sptrsv_execute(plan, &alpha, A_device, b, x);
        int64_t where = -1, count = 0;
        if (executed == KKC_STATUS_SUCCESS) {  // GPUs
          CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_ZERO_PIVOT);
          CHECK(where == 17);
          CHECK(count == 3);
          ok(kkc_plan_check(plan, &where, &count));
        } else {
          CHECK(executed == KKC_STATUS_ZERO_PIVOT);
          CHECK(std::string(kkc_last_error()).find("row 17 ") != std::string::npos);
        }
      }
    }
  });
}

TEST_CASE("sptrsv: levels of grids, and of what differs from one in a row", "[sptrsv]") {
  Random random(seed());
  std::vector<std::vector<std::vector<int64_t>>> triangles{
      grid(700, 1, 1, 1, false), grid(33, 21, 1, 1, false), grid(33, 21, 1, 1, true), grid(12, 7, 9, 1, false),
      grid(12, 7, 9, 1, true),   grid(6, 5, 8, 3, true),    grid(2, 2, 300, 1, true), grid(150, 12, 10, 1, false)};
  // One line that ends early, one row that needs nothing, one that needs far more, one far off; a last plane cut short.
  triangles.push_back(grid(40, 30, 20, 1, false));
  std::erase(triangles.back()[19 * 1200 + 15 * 40 + 7], 19 * 1200 + 15 * 40 + 6);
  triangles.push_back(grid(40, 30, 20, 1, false));
  triangles.back()[22000].clear();
  triangles.push_back(grid(12, 7, 9, 1, true));
  triangles.back()[700].insert(triangles.back()[700].begin(), 100);
  triangles.push_back(grid(12, 7, 9, 1, true));
  triangles.back()[700].clear();
  for (int64_t c = 0; c < 700; ++c) triangles.back()[700].push_back(c);
  triangles.push_back(grid(12, 7, 9, 1, true));
  triangles.back().resize(12 * 7 * 8 + 31);
  for (const auto& left : triangles) {
    const HostCsr<double> A = lower_of(random, left);
    const int64_t levels = levels_of(left);
    on_each_implementation([&](const Context& ctx, const std::string& implementation) {
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
        run(ctx, implementation, A, op, 1, random);
        if (implementation == "gpu_levels") CHECK(number_of(ctx, A, op, implementation, "levels") == levels);
      }
    });
  }
}

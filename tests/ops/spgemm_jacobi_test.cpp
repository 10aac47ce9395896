// spgemm_jacobi: every implementation on every device against plain host loops.
#include "support/catch.hpp"

#include <array>

#include "support/aggregates_case.hpp"
#include "support/jacobi_case.hpp"
#include "support/output_case.hpp"

using namespace kkc_test;

namespace {

/// A square matrix with a diagonal entry in every row (two in some), away from zero.
template <class T>
HostCsr<T> with_diagonal(Random& random, Shape shape, int64_t n) {
  const HostCsr<T> from = random_csr<T>(random, shape, n, n);
  HostCsr<T> A;
  A.rows = A.cols = n;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    bool found = false;
    for (int64_t p = from.offsets[at]; p < from.offsets[at + 1]; ++p) {
      A.indices.push_back(from.indices[static_cast<size_t>(p)]);
      found |= A.indices.back() == i;
    }
    if (!found || random() % 5 == 0) A.indices.push_back(i);
    A.offsets.push_back(A.nnz());
  }
  A.values.resize(A.indices.size());
  return A;
}

HostCsr<double> identity(int64_t n) {
  HostCsr<double> I;
  I.rows = I.cols = n;
  for (int64_t i = 0; i < n; ++i) {
    I.indices.push_back(i);
    I.offsets.push_back(i + 1);
  }
  I.values.assign(static_cast<size_t>(n), 1.0);
  return I;
}

template <class T>
bool has_long_row(const HostCsr<T>& B) {
  for (size_t i = 0; i + 1 < B.offsets.size(); ++i)
    if (B.offsets[i + 1] - B.offsets[i] > 1) return true;
  return B.cols > B.rows;
}

}  // namespace

TEST_CASE("spgemm_jacobi: every implementation gives what host loops give", "[spgemm_jacobi]") {
  const uint64_t seed = kkc_test::seed();
  Random random(seed);
  for_all_types("spgemm_jacobi", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const std::string& implementation : implementations(device, "spgemm_jacobi"))
      for (const Shape shape : all_shapes)
        for (const int64_t n : {1, 37, 150}) {
          const auto wide = pair == KKC_INDEX_64_64 ? KKC_INDEX_64_64 : KKC_INDEX_32_64;
          const JacobiCase<T> c{implementation,
                                pair,
                                random() % 2 == 0 ? pair : wide,
                                static_cast<int32_t>(random() % 2),
                                random() % 2 == 0,
                                random() % 2 == 0};
          INFO("seed " << seed << ' ' << implementation << ' ' << name(shape) << ' ' << n << " base " << c.base
                       << " dinv given " << c.given);
          const HostCsr<T> A = with_diagonal<T>(random, shape, n);
          const HostCsr<T> B =
              random_csr<T>(random, all_shapes[random() % std::size(all_shapes)], n, random_int(random, 1, 60));
          const std::string text = wrong(ctx, c, A, B, random);
          if (text == not_taken)
            CHECK((has_long_row(B) || (implementation == "gpu_aggregates" && B.nnz() < B.rows)));
          else
            CHECK(text == "");
        }
  });
}

TEST_CASE("spgemm_jacobi: aggregates of one to thousands of rows", "[spgemm_jacobi]") {
  const uint64_t seed = kkc_test::seed();
  Random random(seed);
  for_all_types("spgemm_jacobi", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 3})" : "");
    for (const std::string& implementation : implementations(device, "spgemm_jacobi"))
      for (const Shape shape :
           {Shape::few, Shape::stencil, Shape::dense_row, Shape::unsorted_duplicates, Shape::blocks})
        for (const int64_t size : {1, 3, 27, 4000})
          for (const bool full : {true, false}) {
            const int64_t n = size == 4000 ? random_int(random, 1500, 4000) : random_int(random, 400, 1200);
            const int64_t cols = (n + size - 1) / size;
            HostCsr<T> B;
            B.rows = n;
            B.cols = cols;
            for (int64_t row = 0; row < n; ++row) {
              if (full || random() % 4 != 0)
                B.indices.push_back(size == 3 ? random_int(random, 0, cols - 1) : row / size);
              B.offsets.push_back(B.nnz());
            }
            B.values.resize(B.indices.size());
            const JacobiCase<T> c{implementation,    pair, pair, static_cast<int32_t>(random() % 2),
                                  random() % 2 == 0, false};
            INFO("seed " << seed << ' ' << implementation << ' ' << name(shape) << ' ' << n << " rows, aggregates of "
                         << size << " full " << full);
            const std::string text = wrong(ctx, c, with_diagonal<T>(random, shape, n), B, random);
            if (text == not_taken)
              CHECK((implementation == "gpu_aggregates" && !full));
            else
              CHECK(text == "");
          }
  });
}

TEST_CASE("spgemm_jacobi: aggregates of points with several unknowns", "[spgemm_jacobi]") {
  const uint64_t seed = kkc_test::seed();
  Random random(seed);
  for_all_types("spgemm_jacobi", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const int64_t unknowns : {1, 2, 3})
      for (const int64_t reach : {0, 1, 3, 9})
        for (const bool given : {true, false}) {
          const auto A = coupled_points<T>(random, 300, unknowns, reach),
                     B = point_aggregates<T>(random, 300, unknowns, 4);
          const std::string implementation = is_gpu(device) ? "gpu_aggregates" : "host_aggregates";
          const JacobiCase<T> c{implementation, pair, pair, static_cast<int32_t>(random() % 2), given, false};
          INFO("seed " << seed << ", " << unknowns << " unknowns, reach " << reach << ", D^-1 given " << given);
          CHECK(wrong(ctx, c, A, B, random) == "");
        }
  });
}

TEST_CASE("spgemm_jacobi: lines of a few rows that are alike", "[spgemm_jacobi]") {
  const uint64_t seed = kkc_test::seed();
  Random random(seed);
  for_all_types("spgemm_jacobi", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const int64_t entries : {6, 15, 16, 27})
      for (const bool given : {true, false}) {
        const auto A = short_lines<T>(random, 60, entries), B = point_aggregates<T>(random, A.rows, 1, 3);
        const std::string implementation = is_gpu(device) ? "gpu_aggregates" : "host_aggregates";
        const JacobiCase<T> c{implementation, pair, pair, static_cast<int32_t>(random() % 2), given, false};
        INFO("seed " << seed << ", " << entries << " entries, D^-1 given " << given);
        CHECK(wrong(ctx, c, A, B, random) == "");

        // Their diagonal is looked at like that of others.
        HostCsr<T> bad = A;
        new_values(random, bad);
        const int64_t row = A.rows - 2;
        for (int64_t p = A.offsets[static_cast<size_t>(row)]; p < A.offsets[static_cast<size_t>(row) + 1]; ++p)
          if (A.indices[static_cast<size_t>(p)] == row) bad.values[static_cast<size_t>(p)] = T(0);
        if (is_gpu(device)) continue;
        const DeviceCsr<T> zero(ctx, bad, pair, 0), b(ctx, B, pair, 0);
        Plan plan;
        ok(kkc_spgemm_jacobi_plan(ctx, zero, b, pair, Options(R"({"implementation": "host_aggregates"})"), plan.out()));
        Matrix C;
        ok(kkc_plan_create_output(plan, C.out()));
        const T omega(1);
        CHECK(kkc_spgemm_jacobi_execute(plan, &omega, nullptr, zero, b, C) == KKC_STATUS_ZERO_PIVOT);
        CHECK_THAT(kkc_last_error(), ContainsSubstring("diagonal is zero in row " + std::to_string(row) + ' '));
      }
  });
}

TEST_CASE("spgemm_jacobi: a grid in which one row is unlike the others", "[spgemm_jacobi]") {
  const uint64_t seed = kkc_test::seed();
  Random random(seed);
  for_all_types("spgemm_jacobi", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const Unlike unlike : all_unlike)
      for (int repeat = 0; repeat < 6; ++repeat) {
        const auto [A, B] = grid_and_boxes<T>(random, random_int(random, 9, 40), random_int(random, 9, 30), unlike);
        const std::string implementation = is_gpu(device) ? "gpu_aggregates" : "host_aggregates";
        const JacobiCase<T> c{implementation, pair, pair, static_cast<int32_t>(random() % 2), repeat % 2 == 0, false};
        INFO("seed " << seed << ", " << A.rows << " rows, unlike " << static_cast<int>(unlike));
        CHECK(wrong(ctx, c, A, B, random) == "");
      }
  });
}

TEST_CASE("spgemm_jacobi: rows behind others that are like none before have the bits of rows of a band",
          "[spgemm_jacobi]") {
  const uint64_t seed = kkc_test::seed();
  Random random(seed);
  for_all_types("spgemm_jacobi", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    if (is_gpu(device)) return;
    const Context ctx(device);
    constexpr int64_t n = 900, unlike = 200;
    for (const uint64_t empty : {0, 10})
      for (const bool given : {true, false}) {
        // The same band behind rows of random columns, which end the search for rows that are alike, and behind rows
        // of the diagonal alone.
        std::array<HostCsr<T>, 2> A;
        HostCsr<T> B;
        std::vector<T> tail;
        for (int64_t p = 0; p < 3 * n; ++p) tail.push_back(random_value<T>(random) + (p % 3 == 1 ? T(3) : T(0)));
        for (const bool random_rows : {true, false}) {
          HostCsr<T>& one = A[random_rows ? 0 : 1];
          one.rows = one.cols = n;
          for (int64_t row = 0; row < n; ++row) {
            const auto add = [&](int64_t column, T value) {
              one.indices.push_back(column);
              one.values.push_back(value);
            };
            if (row < unlike) {
              add(row, T(2));
              for (int64_t k = 0; random_rows && k < 8; ++k) add(random_int(random, 0, n - 1), random_value<T>(random));
            } else {
              for (int64_t k = 0; k < 3; ++k)
                if (row + k - 1 < n) add(row + k - 1, tail[static_cast<size_t>(3 * row + k)]);
            }
            one.offsets.push_back(one.nnz());
          }
        }
        B.rows = n;
        B.cols = n / 3;
        for (int64_t row = 0; row < n; ++row) {
          if (random() % 100 >= empty) B.indices.push_back(row / 3);
          B.offsets.push_back(B.nnz());
        }
        B.values = random_vector<T>(random, B.indices.size());
        const auto inverse = random_vector<T>(random, static_cast<size_t>(n));
        const Array<T> inverse_device(ctx, inverse);
        const View dinv = wrap(ctx, inverse_device.data(), {n});
        const T omega = random_value<T>(random);
        const auto base = static_cast<int32_t>(random() % 2);
        INFO("seed " << seed << ", " << empty << " % empty, D^-1 given " << given << ", base " << base);
        std::array<std::vector<T>, 2> bits;
        for (const size_t k : {0, 1}) {
          const DeviceCsr<T> a(ctx, A[k], pair, base), b(ctx, B, pair, base);
          Plan plan;
          ok(kkc_spgemm_jacobi_plan(ctx, a, b, pair, Options(R"({"implementation": "host_aggregates"})"), plan.out()));
          Matrix C;
          ok(kkc_plan_create_output(plan, C.out()));
          ok(kkc_spgemm_jacobi_execute(plan, &omega, given ? static_cast<kkc_view_t*>(dinv) : nullptr, a, b, C));
          const HostCsr<T> result = download<T>(ctx, C);
          bits[k].assign(result.values.begin() + result.offsets[unlike], result.values.end());
        }
        CHECK(bits[0] == bits[1]);
        for (const HostCsr<T>& one : A)
          CHECK(wrong(ctx, JacobiCase<T>{"host_aggregates", pair, pair, base, given, false}, one, B, random) == "");

        // Their diagonal is looked at like that of others.
        HostCsr<T> bad = A[0];
        const auto diagonal = static_cast<size_t>(bad.offsets[500] + 1);
        const DeviceCsr<T> b(ctx, B, pair, base);
        Plan plan;
        bad.values[diagonal] = T(0);
        const DeviceCsr<T> zero(ctx, bad, pair, base);
        ok(kkc_spgemm_jacobi_plan(ctx, zero, b, pair, Options(R"({"implementation": "host_aggregates"})"), plan.out()));
        Matrix C;
        ok(kkc_plan_create_output(plan, C.out()));
        CHECK(kkc_spgemm_jacobi_execute(plan, &omega, nullptr, zero, b, C) == KKC_STATUS_ZERO_PIVOT);
        CHECK_THAT(kkc_last_error(), ContainsSubstring("diagonal is zero in row 500 "));
        bad.indices[diagonal] = 499;
        const DeviceCsr<T> missing(ctx, bad, pair, base);
        Plan none;
        CHECK(kkc_spgemm_jacobi_plan(ctx, missing, b, pair, Options(R"({"implementation": "host_aggregates"})"),
                                     none.out()) != KKC_STATUS_SUCCESS);
        CHECK_THAT(kkc_last_error(), ContainsSubstring("500"));
      }
  });
}

TEST_CASE("spgemm_jacobi: a zero diagonal is a zero pivot of its row", "[spgemm_jacobi]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spgemm_jacobi", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(3);
    HostCsr<double> A = with_diagonal<double>(random, Shape::banded, 40);
    new_values(random, A);
    for (int64_t p = 0; p < A.nnz(); ++p)
      for (const int64_t row : {7, 21})
        if (p >= A.offsets[static_cast<size_t>(row)] && p < A.offsets[static_cast<size_t>(row) + 1] &&
            A.indices[static_cast<size_t>(p)] == row)
          A.values[static_cast<size_t>(p)] = 0;
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0), unit(ctx, identity(40), KKC_INDEX_32_32, 0);
    for (const std::string& implementation : implementations(device, "spgemm_jacobi")) {
      INFO(name(device) << ' ' << implementation);
      Plan plan;
      ok(kkc_spgemm_jacobi_plan(ctx, A_device, unit, KKC_INDEX_32_32,
                                Options("{\"implementation\": \"" + implementation + "\"}"), plan.out()));
      Matrix C;
      ok(kkc_plan_create_output(plan, C.out()));
      const double omega = 0.5;
      const kkc_status_t status = kkc_spgemm_jacobi_execute(plan, &omega, nullptr, A_device, unit, C);
      int64_t where = -1, count = -1;
      if (native_space(ctx) == KKC_SPACE_HOST) {
        CHECK(status == KKC_STATUS_ZERO_PIVOT);
        CHECK_THAT(kkc_last_error(), ContainsSubstring("diagonal is zero in row 7 "));
      } else {
        CHECK(status == KKC_STATUS_SUCCESS);
        CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_ZERO_PIVOT);
        CHECK(where == 7);
        CHECK(count == 2);
      }
      CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_SUCCESS);
      const Array<double> ones(ctx, std::vector<double>(40, 1.0));
      const View dinv = wrap(ctx, ones.data(), {40});
      CHECK(kkc_spgemm_jacobi_execute(plan, &omega, dinv, A_device, unit, C) == KKC_STATUS_SUCCESS);
      CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_SUCCESS);
    }
  }
}

TEST_CASE("spgemm_jacobi: bad operands are refused with a sentence", "[spgemm_jacobi]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spgemm_jacobi", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(5);
    const HostCsr<double> A = with_diagonal<double>(random, Shape::banded, 30);
    const HostCsr<double> wide = random_csr<double>(random, Shape::few, 29, 30);
    HostCsr<double> holed = A;
    for (int64_t p = A.offsets[12]; p < A.offsets[13]; ++p)
      if (A.indices[static_cast<size_t>(p)] == 12) holed.indices[static_cast<size_t>(p)] = 13;
    const DeviceCsr<double> good(ctx, A, KKC_INDEX_32_32, 0), flat(ctx, wide, KKC_INDEX_32_32, 0),
        hole(ctx, holed, KKC_INDEX_32_32, 1), other(ctx, A, KKC_INDEX_32_32, 0),
        unit(ctx, identity(30), KKC_INDEX_32_32, 0);
    const DeviceCsr<float> single(ctx, random_csr<float>(random, Shape::few, 30, 4), KKC_INDEX_32_32, 0);
    const auto plan_of = [&](kkc_matrix_t* a, kkc_matrix_t* b, const std::string& options = "{}",
                             kkc_index_pair_t pair = KKC_INDEX_32_32) {
      Plan plan;
      const kkc_status_t status = kkc_spgemm_jacobi_plan(ctx, a, b, pair, Options(options), plan.out());
      CHECK((status == KKC_STATUS_SUCCESS) == (plan != nullptr));
      return status;
    };
    CHECK(plan_of(flat, good) == KKC_STATUS_SIZE_MISMATCH);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("A is 29 x 30, expected a square matrix"));
    CHECK(plan_of(good, flat) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(plan_of(good, single) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(plan_of(good, good, "{}", KKC_INDEX_64_64) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(plan_of(good, good, "{}", 9) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("index_pair_C is 9"));
    CHECK(plan_of(good, good, R"({"omega": 1})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(plan_of(good, good, R"({"product": "fastest"})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("\"product\" is \"fastest\", expected one of "));
    for (const std::string& implementation : implementations(device, "spgemm_jacobi")) {
      INFO(implementation);
      CHECK(plan_of(hole, unit, "{\"implementation\": \"" + implementation + "\"}") == KKC_STATUS_INVALID_ARGUMENT);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("no diagonal entry in row 12 "));
    }
    if (native_space(ctx) == KKC_SPACE_HOST) {
      CHECK(plan_of(good, good, R"({"implementation": "host_aggregates"})") == KKC_STATUS_NOT_SUPPORTED);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("B has rows of several entries"));
    }

    Plan plan;
    ok(kkc_spgemm_jacobi_plan(ctx, good, good, KKC_INDEX_32_32, Options(R"({"checked": 1})"), plan.out()));
    Matrix C;
    ok(kkc_plan_create_output(plan, C.out()));
    const double omega = 1;
    CHECK(kkc_spgemm_jacobi_execute(plan, nullptr, nullptr, good, good, C) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_spgemm_jacobi_execute(plan, &omega, nullptr, flat, good, C) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_spgemm_jacobi_execute(plan, &omega, nullptr, good, good, other) != KKC_STATUS_SUCCESS);
    const Array<double> few(ctx, std::vector<double>(29, 1.0));
    const View dinv = wrap(ctx, few.data(), {29});
    CHECK(kkc_spgemm_jacobi_execute(plan, &omega, dinv, good, good, C) == KKC_STATUS_SIZE_MISMATCH);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("dinv is 29, expected a vector of 30 elements"));
  }
}

// sptrsv: every implementation on every device leaves the residual of a backward stable solve.
#include "support/catch.hpp"

#include <map>

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

constexpr kkc_uplo_t both_triangles[] = {KKC_UPLO_LOWER, KKC_UPLO_UPPER};

/// Everything but the implementation, the op and the triangle at random.
template <class T>
SptrsvCase<T> random_case(Random& random, kkc_device_t device, const std::string& implementation, kkc_op_t op) {
  SptrsvCase<T> c;
  c.implementation = implementation;
  c.op = op;
  c.diag = random() % 2 == 0 ? KKC_DIAG_STORED : KKC_DIAG_UNIT;
  c.pair = any_pair<T>(random, device, "sptrsv");
  c.base = static_cast<int32_t>(random() % 2);
  if (random() % 2 == 0) {
    c.b_lie = random() % 3 == 0 ? Lie::strided_vector : Lie::vector;
    c.x_lie = random() % 3 == 0 ? Lie::strided_vector : Lie::vector;
  } else {
    constexpr Lie lies[] = {Lie::left, Lie::left_padded, Lie::right, Lie::right_padded, Lie::strided};
    c.b_lie = lies[random() % 5];
    c.x_lie = random() % 2 == 0 ? c.b_lie : lies[random() % 5];
    constexpr int64_t counts[] = {1, 2, 3, 8, 17, 0};
    c.vectors = counts[random() % (random() % 8 == 0 ? 6 : 5)];
  }
  c.alpha = any_coefficient<T>(random);
  c.in_place = random() % 3 == 0;
  if (c.in_place) c.x_lie = c.b_lie;
  c.values_kept = random() % 2 == 0;
  c.device_scalars = random() % 4 == 0;
  return c;
}

Held random_hold(Random& random) {
  Held held;
  held.unsorted = random() % 4 == 0;
  held.full = random() % 2 == 0;
  held.no_diagonal = random() % 2 == 0;
  return held;
}

}  // namespace

TEMPLATE_TEST_CASE("sptrsv: every implementation solves triangles of every depth", "[sptrsv]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t sizes[] = {0, 1, 2, 7, 8, 9, 31, 64, 100, 257, 400};
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "sptrsv")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "sptrsv")) {
      Random random(seed());
      std::map<kkc_op_t, int> taken;
      for (const Depth depth : all_depths)
        for (const kkc_op_t op : all_ops)
          for (const kkc_uplo_t uplo : both_triangles)
            for (int repeat = 0; repeat < 3; ++repeat) {
              SptrsvCase<T> c = random_case<T>(random, visit.device, implementation, op);
              c.uplo = uplo;
              Held held = random_hold(random);
              // Once a case that each implementation for one vector takes.
              if (repeat == 0) {
                c.b_lie = c.x_lie = Lie::vector;
                c.vectors = 1;
                c.values_kept = true;
                held = {};
              }
              const int64_t n = repeat == 0 ? 400 : sizes[random() % 11];
              const HostCsr<T> A = random_triangle<T>(random, depth, n, uplo, c.diag, held);
              INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(depth)
                           << ", " << n << " rows" << (held.unsorted ? ", unsorted" : "") << (held.full ? ", full" : "")
                           << ", " << c.text());
              const auto wrong = run_case(ctx, c, A, random);
              if (!wrong) continue;
              ++taken[op];
              REQUIRE(*wrong == "");
            }
      INFO(implementation);
      CHECK(!taken.empty());
      if (implementation == "reference") CHECK(taken.size() == 4);
    }
  }
}

TEST_CASE("sptrsv: unit triangles whose rows hold their diagonal in part", "[sptrsv]") {
  for (const Visit& visit : visits()) {
    if (!has_kernels<double>(visit.device, "sptrsv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    // The first row is empty, or holds its diagonal alone; rows behind it end with theirs.
    for (const std::vector<int64_t>& first : {std::vector<int64_t>{}, std::vector<int64_t>{0}})
      for (const kkc_uplo_t uplo : both_triangles)
        for (const std::string& implementation : implementations(visit.device, "sptrsv")) {
          HostCsr<double> A;
          A.rows = A.cols = 5;
          A.offsets = {0};
          for (int64_t row = 0; row < A.rows; ++row) {
            if (row == 0)
              A.indices = first;
            else
              for (const int64_t column : {row - 1, row}) A.indices.push_back(column);
            A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
          }
          A.values = random_vector<double>(random, A.nnz());
          SptrsvCase<double> c;
          c.implementation = implementation;
          c.uplo = uplo;
          c.diag = KKC_DIAG_UNIT;
          c.values_kept = true;
          INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << c.text());
          const auto wrong = run_case(ctx, c, A, random);
          if (wrong) CHECK(*wrong == "");
        }
  }
}

TEMPLATE_TEST_CASE("sptrsv: every implementation on more work than one thread gets", "[sptrsv]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "sptrsv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Depth depth : all_depths) {
      if (depth == Depth::dense) continue;
      const int64_t n = random_int(random, 4000, 11000);
      for (const kkc_uplo_t uplo : both_triangles) {
        const kkc_diag_t diag = random() % 2 == 0 ? KKC_DIAG_STORED : KKC_DIAG_UNIT;
        const HostCsr<T> A = random_triangle<T>(random, depth, n, uplo, diag, random_hold(random));
        for (const std::string& implementation : implementations(visit.device, "sptrsv"))
          for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_HERMITIAN})
            for (int repeat = 0; repeat < (is_gpu(visit.device) ? 2 : 1); ++repeat) {
              SptrsvCase<T> c = random_case<T>(random, visit.device, implementation, op);
              c.uplo = uplo;
              c.diag = diag;
              c.vectors = std::min<int64_t>(c.vectors, 3);
              if (c.alpha == T(0)) c.alpha = T(2);
              INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(depth)
                           << ", " << n << " rows, " << c.text());
              const auto wrong = run_case(ctx, c, A, random);
              if (wrong) REQUIRE(*wrong == "");
            }
      }
    }
  }
}

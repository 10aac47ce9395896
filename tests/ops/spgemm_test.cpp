// spgemm: every implementation on every device against plain host loops.
#include "support/catch.hpp"

#include <set>

#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

/// A device as tests visit it: OpenMP also with more threads than some parts have work.
struct Visit {
  kkc_device_t device;
  std::string options;
};

std::vector<Visit> visits() {
  std::vector<Visit> all;
  for (const kkc_device_t device : devices()) {
    all.push_back({device, ""});
    if (device == KKC_DEVICE_OPENMP) all.push_back({device, R"({"threads": 3})"});
  }
  return all;
}

template <class T>
bool any_support(kkc_device_t device) {
  for (const kkc_index_pair_t pair : all_index_pairs)
    if (supported(device, "spgemm", pair, scalar_tag<T>)) return true;
  return false;
}

template <class T>
T any_coefficient(Random& random) {
  switch (random() % 5) {
    case 0: return T(0);
    case 1: return T(1);
    case 2: return T(-1);
    default: return random_value<T>(random);
  }
}

/// Everything but the implementation and the shapes at random.
template <class T>
SpgemmCase<T> random_case(Random& random, kkc_device_t device, const std::string& implementation) {
  SpgemmCase<T> c;
  c.implementation = implementation;
  std::vector<kkc_index_pair_t> pairs;
  for (const kkc_index_pair_t pair : all_index_pairs)
    if (supported(device, "spgemm", pair, scalar_tag<T>)) pairs.push_back(pair);
  c.pair = pairs[random() % pairs.size()];
  c.pair_c = c.pair == KKC_INDEX_64_64 ? KKC_INDEX_64_64 : random() % 2 == 0 ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
  c.op_a = random() % 2 == 0 ? KKC_OP_NONE : tested_ops[random() % std::size(tested_ops)];
  c.op_b = random() % 2 == 0 ? KKC_OP_NONE : tested_ops[random() % std::size(tested_ops)];
  c.base_a = static_cast<int32_t>(random() % 2);
  c.base_b = static_cast<int32_t>(random() % 2);
  c.base_c = static_cast<int32_t>(random() % 2);
  c.alpha = any_coefficient<T>(random);
  c.beta = any_coefficient<T>(random);
  c.sorted = random() % 4 != 0;
  c.deterministic = random() % 4 == 0;
  c.device_scalars = random() % 4 == 0;
  c.callers_arrays = random() % 2 == 0;
  return c;
}

template <class T>
void check_case(const Context& ctx, const Visit& visit, const SpgemmCase<T>& c, Shape shape_a, Shape shape_b,
                int64_t rows, int64_t inner, int64_t cols, bool masked, Random& random, std::set<std::string>& taken) {
  const bool turned_a = transposed(c.op_a), turned_b = transposed(c.op_b);
  const auto A = random_csr<T>(random, shape_a, turned_a ? inner : rows, turned_a ? rows : inner);
  const auto B = random_csr<T>(random, shape_b, turned_b ? cols : inner, turned_b ? inner : cols);
  const auto mask =
      random_csr<T>(random, random() % 2 == 0 ? Shape::unsorted_duplicates : Shape::power_law, rows, cols);
  INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(shape_a) << ' '
               << name(shape_b) << ' ' << rows << " x " << inner << " x " << cols << (masked ? " masked, " : ", ")
               << c.text());
  const auto wrong = run_case(ctx, c, A, B, masked ? &mask : nullptr, random);
  if (!wrong) return;
  taken.insert(c.implementation);
  REQUIRE(*wrong == "");
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: every implementation gives what host loops give", "[spgemm]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t sizes[] = {0, 1, 2, 7, 9, 31, 64, 100, 150};
  for (const Visit& visit : visits()) {
    if (!any_support<T>(visit.device)) continue;
    const Context ctx(visit.device, visit.options);
    std::set<std::string> taken;
    const auto names = implementations(visit.device, "spgemm");
    for (const std::string& implementation : names) {
      Random random(seed());
      for (const Shape shape : all_shapes)
        for (int repeat = 0; repeat < 8; ++repeat) {
          const bool square = repeat % 2 == 0;
          const int64_t rows = repeat == 0 ? 150 : sizes[random() % std::size(sizes)],
                        inner = square ? rows : sizes[random() % std::size(sizes)],
                        cols = square ? rows : sizes[random() % std::size(sizes)];
          SpgemmCase<T> c = random_case<T>(random, visit.device, implementation);
          const bool masked = repeat > 0 && random() % 3 == 0;
          const Shape other = square ? shape : all_shapes[random() % std::size(all_shapes)];
          check_case(ctx, visit, c, shape, other, rows, inner, cols, masked, random, taken);
        }
    }
    CHECK(taken == std::set<std::string>(names.begin(), names.end()));
  }
}

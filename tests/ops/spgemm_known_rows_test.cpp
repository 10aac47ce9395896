// spgemm with aggregates on hosts: rows of a grid that come again, shifted, and one among them that does not.
#include "support/catch.hpp"

#include "support/aggregates_case.hpp"

using namespace kkc_test;

TEMPLATE_TEST_CASE("spgemm: aggregates of a grid in which one row is unlike the others", "[spgemm]", float, double,
                   std::complex<double>) {
  using T = TestType;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    for (const kkc_index_pair_t pair : all_index_pairs) {
      if (!supported(device, "spgemm", pair, scalar_tag<T>)) continue;
      for (const Unlike unlike : all_unlike)
        for (int repeat = 0; repeat < 12; ++repeat) {
          const int64_t across = random_int(random, 9, 40);
          // Up to several chunks of rows.
          const auto [A, B] = grid_and_boxes<T>(random, across, repeat == 0 ? 400 : random_int(random, 9, 30), unlike);
          SpgemmCase<T> c;
          c.implementation = "host_aggregates";
          c.pair = c.pair_c = pair;
          c.base_a = static_cast<int32_t>(random() % 2);
          c.base_b = static_cast<int32_t>(random() % 2);
          INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << across << " points across of "
                       << A.rows << ", unlike " << static_cast<int>(unlike) << ", " << c.text());
          const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
        }
    }
  }
}

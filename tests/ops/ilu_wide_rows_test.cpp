// ilu and ic of long rows: dense blocks, whose rows have the columns of the one before, blocks of which some entries
// are missing, and such beside a strip of columns anywhere.
#include "support/ilu_rows.hpp"

using namespace kkc_test;

namespace {

/// Blocks of `size` rows, of which an entry is there with `share` of 8, and each of which has the columns of two strips
/// of `width`, among the first ones and the last, whose rows have no others.
Rows blocks_and_strips(Random& random, int64_t blocks, int64_t size, int share, int64_t width) {
  const int64_t apart = 2 * width, end = apart + blocks * size;
  Rows rows;
  for (int64_t i = 0; i < end + apart; ++i) rows.push_back({i});
  for (int64_t b = apart; b < end; b += size) {
    const int64_t first = random_int(random, 0, width), last = end + random_int(random, 0, width);
    for (int64_t i = b; i < b + size; ++i) {
      auto& row = rows[static_cast<size_t>(i)];
      for (int64_t j = b; j < b + size; ++j)
        if (random_int(random, 0, 7) < share) row.push_back(j);
      for (const int64_t strip : {first, last})
        for (int64_t j = strip; j < strip + width; ++j) row.push_back(j);
      put_in_order(row);
    }
  }
  return rows;
}

/// To which this is too much.
bool is_one_gpu_thread(const Context& ctx, const std::string& implementation) {
  return is_gpu(ctx.device()) && implementation == "reference";
}

}  // namespace

TEST_CASE("ilu, ic: long rows, alike and not", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    if (is_one_gpu_thread(ctx, implementation)) return;
    Random random(seed());
    for (const int64_t size : {66, 129, is_gpu(ctx.device()) ? 260 : 97})
      for (const int share : {8, 6}) {
        const Rows rows = blocks_and_strips(random, 4, size, share, share == 8 ? 0 : 40);
        const HostCsr<double> A = with_values<double>(random, rows, form);
        INFO(A.rows << " rows, " << share << " of 8");
        const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
        Plan plan;
        Matrix F;
        if (!plan_where_taken(ctx, form, implementation, A_device, plan, F)) continue;
        if (implementation == "gpu_sync_free" && size > 66)
          CHECK_THAT(info_of_plan(plan), !ContainsSubstring("\"entries_a_lane\":1"));
        check_executes(ctx, form, plan, A, A_device, F, is_gpu(ctx.device()) ? 3 : 1);
      }
  });
}

TEST_CASE("ilu, ic: long rows of other types, and breakdowns among them", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    if (is_one_gpu_thread(ctx, implementation)) return;
    Random random(seed());
    const Rows alike = blocks_and_strips(random, 5, 126, 8, 0), unlike = blocks_and_strips(random, 5, 106, 6, 25);
    for (const Rows* rows : {&alike, &unlike}) {
      check_breakdowns(ctx, form, implementation, *rows);
      if (has_kernels<float>(ctx.device(), name(form))) check_rows<float>(ctx, form, implementation, *rows, 0);
      if (has_kernels<std::complex<double>>(ctx.device(), name(form)))
        check_rows<std::complex<double>>(ctx, form, implementation, *rows, 0);
      if (supported(ctx.device(), name(form), KKC_INDEX_64_64, scalar_tag<double>))
        check_rows<double>(ctx, form, implementation, *rows, 0, KKC_INDEX_64_64);
    }
  });
}

TEST_CASE("ilu, ic: by whom long rows are factored on GPUs, and more of them alike than are counted",
          "[ilu][ic][gpu]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    if (!is_gpu(ctx.device()) || implementation != "gpu_sync_free") return;
    Random random(seed());
    for (const int64_t size : {140, 1100}) {
      const HostCsr<double> A = with_values<double>(random, blocks_and_strips(random, 4, size, 8, 0), form);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      ok(plan_factors(form, ctx, A_device, "{}", plan.out()));
      CHECK_THAT(info_of_plan(plan), ContainsSubstring("\"implementation\":\"gpu_sync_free\""));
      Matrix F;
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-9);
    }
  });
}

// ilu and ic on hosts: rows without a program, in each of the ways that they are eliminated, by any number of threads.
#include "support/ilu_rows.hpp"

using namespace kkc_test;

TEST_CASE("ilu: hosts eliminate rows with the same columns together", "[ilu]") {
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<double>(visit.device, "ilu")) continue;
    const Context ctx(visit.device, visit.options);
    for (const int64_t unknowns : {1, 3}) {
      Random random(seed());
      const HostCsr<double> A = with_values<double>(random, points(random, 900, unknowns, 4), Form::lu);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      ok(plan_factors(Form::lu, ctx, A_device, "{}", plan.out()));
      const std::string info = info_of_plan(plan);
      CHECK_THAT(info, ContainsSubstring("\"programs\":0"));
      // Neighbouring points may meet the same ones, too.
      if (unknowns == 1) CHECK_THAT(info, ContainsSubstring("\"joint_rows\":0"));
      if (unknowns == 3) CHECK_THAT(info, !ContainsSubstring("\"joint_rows\":0"));
    }
  }
}

TEST_CASE("ilu, ic: rows of blocks that share all columns but a few, which hosts hold in registers", "[ilu][ic]") {
  Random random(seed());
  constexpr int64_t n = 700;
  Rows rows(static_cast<size_t>(n));
  for (int64_t begin = 0, end; begin < n; begin = end) {
    end = std::min(n, begin + random_int(random, 5, 27));
    for (int64_t i = begin; i < end; ++i) {
      auto& row = rows[static_cast<size_t>(i)];
      row.push_back(i);
      for (int64_t j = begin; j < end; ++j)
        if (random_int(random, 0, 11) != 0) row.push_back(j);
      for (int64_t k = random_int(random, 0, 3); k > 0; --k)
        row.push_back(std::clamp<int64_t>(i + random_int(random, -60, 60), 0, n - 1));
      put_in_order(row);
    }
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    check_rows<double>(ctx, form, implementation, rows, 0);
    check_rows<double>(ctx, form, implementation, rows, 0, KKC_INDEX_64_64);
    check_rows<float>(ctx, form, implementation, rows, 0);
  });
}

TEST_CASE("ilu, ic: hosts spread rows that are alone and share much over all columns", "[ilu][ic]") {
  Random random(seed());
  constexpr int64_t n = 900;
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    for (int64_t j = std::max<int64_t>(i - 60, 0); j < std::min(n, i + 60); ++j)
      if (random_int(random, 0, 9) < 7) row.push_back(j);
    for (int64_t j = i; i == 100 && j < n; ++j) row.push_back(j);  // some that need it are searched for in it
    if (i > 800 && i < 804) row = {100, 101, i - 1, i};
    put_in_order(row);
  }
  std::vector<double> first[2];
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation != "host_rows") return;
    Random again(seed());
    HostCsr<double> A = with_values<double>(again, rows, form);
    const auto factor = [&](const std::string& by) {
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, R"({"implementation": ")" + by + "\"}", plan.out()));
      if (by == implementation) CHECK_THAT(info_of_plan(plan), ContainsSubstring("\"spread_rows\":900"));
      ok(kkc_plan_create_output(plan, F.out()));
      const Outcome end = outcome(form, ctx, plan, A_device, F);
      if (end.status != KKC_STATUS_SUCCESS) return end;
      const HostCsr<double> got = download<double>(ctx, F);
      CHECK(largest_residual(A, got, form) < 1e-11);
      auto& of_others = first[form == Form::lu];
      if (of_others.empty()) of_others = got.values;
      CHECK(got.values == of_others);  // with any number of threads
      return end;
    };
    CHECK(factor(implementation).status == KKC_STATUS_SUCCESS);
    // Only rows that have its column, too, are spoilt.
    A.values[static_cast<size_t>(form == Form::lu ? A.offsets[501] - 1 : A.offsets[500])] =
        std::numeric_limits<double>::quiet_NaN();
    const std::string sentence = factor(implementation).sentence;
    CHECK_THAT(sentence, ContainsSubstring("row 500 (counted from 0), the first of "));
    CHECK(sentence == factor("reference").sentence);
    for (int64_t p = A.offsets[400]; A.indices[static_cast<size_t>(p)] <= 400; ++p)
      A.values[static_cast<size_t>(p)] = 0;
    CHECK(factor(implementation).sentence == factor("reference").sentence);
  });
}

TEST_CASE("ilu, ic: hosts factor rows longer than two bytes count among short ones that are not alike", "[ilu][ic]") {
  constexpr int64_t n = 67'000;
  Random random(seed());
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    for (int64_t k = i == 40 || i == n - 1 ? 0 : 2; k > 0; --k)
      row.push_back(std::clamp<int64_t>(i + random_int(random, -9, 9), 41, n - 2));
    if (i % 1000 == 999) row.push_back(40);
    for (int64_t j = 0; (i == 40 || i == n - 1) && j < n; ++j) row.push_back(j);
    put_in_order(row);
  }
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || visit.options.empty()) continue;  // three threads
    const Context ctx(visit.device, visit.options);
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<double>(visit.device, name(form))) continue;
      HostCsr<double> A = with_values<double>(random, rows, form);
      for (int64_t i = 0; i < n; ++i)  // so small that each product counts
        for (int64_t p = A.offsets[static_cast<size_t>(i)]; p < A.offsets[static_cast<size_t>(i) + 1]; ++p) {
          double& value = A.values[static_cast<size_t>(p)];
          if (A.indices[static_cast<size_t>(p)] == i)
            value = 4;
          else if (i == 40 || i == n - 1)
            value /= 100;
        }
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, "{}", plan.out()));
      CHECK_THAT(info_of_plan(plan), !ContainsSubstring("\"pairs\":0"));
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
    }
  }
}

TEST_CASE("ilu, ic: many threads that share rows by levels give the bits of one", "[ilu][ic]") {
  constexpr int64_t n = 24'000;
  Random random(seed());
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    for (int64_t k = random_int(random, 4, 12); k > 0; --k) row.push_back(random_int(random, 0, n - 1));
    put_in_order(row);
  }
  for (const Form form : {Form::lu, Form::cholesky}) {
    if (!has_kernels<double>(KKC_DEVICE_OPENMP, name(form))) continue;
    const HostCsr<double> A = with_values<double>(random, rows, form);
    const auto factor = [&](const char* options, const char* schedule) {
      const Context ctx(KKC_DEVICE_OPENMP, options);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, R"({"implementation": "host_rows"})", plan.out()));
      CHECK_THAT(info_of_plan(plan), ContainsSubstring(schedule));
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      return download<double>(ctx, F).values;
    };
    const std::vector<double> one = factor(R"({"threads": 1})", "one thread");
    CHECK(factor(R"({"threads": 12})", "levels shared by work") == one);
  }
}

TEST_CASE("ilu, ic: neighbouring rows stay with their thread where what they need is long there", "[ilu][ic]") {
  constexpr int64_t n = 24'000;
  Random random(seed());
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {  // in two levels: the second half needs some of the first
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    for (int64_t k = 0; k < 4; ++k) row.push_back(random_int(random, 0, n / 2 - 1) + (i < n / 2 ? n / 2 : 0));
    put_in_order(row);
  }
  for (const Form form : {Form::lu, Form::cholesky}) {
    if (!has_kernels<double>(KKC_DEVICE_OPENMP, name(form))) continue;
    const HostCsr<double> A = with_values<double>(random, rows, form);
    std::vector<double> first;
    for (const int threads : {1, 2, 3}) {
      const Context ctx(KKC_DEVICE_OPENMP, "{\"threads\": " + std::to_string(threads) + '}');
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, R"({"implementation": "host_rows"})", plan.out()));
      const std::string info = info_of_plan(plan);
      INFO(info);
      if (threads > 1) CHECK_THAT(info, ContainsSubstring("rows to the thread that finishes them first"));
      CHECK(number_in(info, "granules") < static_cast<double>(n) / 16);
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      const std::vector<double> values = download<double>(ctx, F).values;
      if (threads == 1) first = values;
      CHECK(values == first);
    }
  }
}

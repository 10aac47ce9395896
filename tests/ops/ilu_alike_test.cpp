// ilu and ic where rows are eliminated alike, on grids, and where they are not: rows of every length, chains, levels of
// one row, executes that repeat bit by bit.
#include "support/ilu_rows.hpp"

using namespace kkc_test;

TEST_CASE("ilu, ic: rows of grids are factored alike", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    const Rows star = grid(19, 15, 1, false), cube = grid(8, 7, 6, false), box = grid(7, 6, 6, true),
               plane = grid(17, 14, 1, true), elastic = grid(5, 4, 4, true, 3);
    for (const int level : {0, 1}) {
      for (const Rows* rows : {&star, &cube, &box, &plane}) check_rows<double>(ctx, form, implementation, *rows, level);
      check_rows<double>(ctx, form, implementation, elastic, level);
    }
    if (has_kernels<std::complex<double>>(ctx.device(), name(form)))
      for (const Rows* rows : {&cube, &box, &elastic})
        check_rows<std::complex<double>>(ctx, form, implementation, *rows, 0);
    if (has_kernels<float>(ctx.device(), name(form)))
      for (const Rows* rows : {&cube, &elastic}) check_rows<float>(ctx, form, implementation, *rows, 0);
    for (const kkc_index_pair_t pair : {KKC_INDEX_32_64, KKC_INDEX_64_64})
      if (supported(ctx.device(), name(form), pair, scalar_tag<double>))
        for (const Rows* rows : {&cube, &box, &elastic}) check_rows<double>(ctx, form, implementation, *rows, 0, pair);
  });
}

TEST_CASE("ilu, ic: rows of every length, most of them left of the diagonal", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    Random random(seed());
    // With the diagonal entry and one right of it: lengths around those that a group of lanes takes.
    for (const int64_t most : {0, 1, 5, 6, 7, 8, 13, 14, 15, 16, 29, 30, 31, 32, 33, 64, 150})
      check_rows<double>(ctx, form, implementation, lower_heavy(random, 200, most), 0);
  });
}

TEST_CASE("ilu, ic: points of any number of unknowns", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    for (const int64_t unknowns : {2, 3, 4, 5, 9}) {
      const Rows rows = grid(6, 5, 4, true, unknowns), line = grid(40, 1, 1, false, unknowns);
      for (const Rows* some : {&rows, &line}) check_rows<double>(ctx, form, implementation, *some, 0);
      if (has_kernels<float>(ctx.device(), name(form))) check_rows<float>(ctx, form, implementation, line, 0);
      check_rows<double>(ctx, form, implementation, line, 1);
    }
  });
}

TEST_CASE("ilu, ic: points in no order, of any number of unknowns", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    for (const int64_t unknowns : {1, 2, 3, 4, 6})
      for (const int64_t neighbours : {1, 3, 9}) {
        Random random(seed());
        const Rows rows = points(random, 420 / unknowns, unknowns, neighbours);
        for (const int level : {0, 1}) check_rows<double>(ctx, form, implementation, rows, level);
        if (has_kernels<float>(ctx.device(), name(form))) check_rows<float>(ctx, form, implementation, rows, 0);
        if (has_kernels<std::complex<double>>(ctx.device(), name(form)))
          check_rows<std::complex<double>>(ctx, form, implementation, rows, 0);
        if (supported(ctx.device(), name(form), KKC_INDEX_64_64, scalar_tag<double>))
          check_rows<double>(ctx, form, implementation, rows, 0, KKC_INDEX_64_64);
      }
  });
}

TEST_CASE("ilu, ic: breakdowns are told row by row where rows are eliminated together", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    Random random(seed());
    // Points: of three unknowns, of one, of one with long rows.
    for (const Rows& rows :
         {grid(7, 6, 5, true, 3), points(random, 210, 3, 4), points(random, 630, 1, 4), points(random, 630, 1, 30)})
      check_breakdowns(ctx, form, implementation, rows);
  });
}

TEST_CASE("ilu: pivots without an inverse of enough digits", "[ilu]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    if (form != Form::lu) return;
    Random random(seed());
    const HostCsr<double> A = with_values<double>(random, grid(6, 5, 4, true, 3), form);
    for (const int exponent : {1014, -1029}) {  // the largest pivots are about 2^8: 2^1022 and 2^-1021
      HostCsr<double> scaled = A;
      for (double& value : scaled.values) value = std::ldexp(value, exponent);
      const DeviceCsr<double> A_device(ctx, scaled, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      if (!plan_where_taken(ctx, form, implementation, A_device, plan, F)) return;
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      HostCsr<double> got = download<double>(ctx, F);
      for (int64_t i = 0; i < got.rows; ++i)
        for (int64_t p = got.offsets[static_cast<size_t>(i)]; p < got.offsets[static_cast<size_t>(i) + 1]; ++p)
          if (got.indices[static_cast<size_t>(p)] >= i)
            got.values[static_cast<size_t>(p)] = std::ldexp(got.values[static_cast<size_t>(p)], -exponent);
      INFO("2^" << exponent);
      CHECK(largest_residual(A, got, form) < 1e-11);
    }
  });
}

TEST_CASE("ilu, ic: deep chains and rows that need none", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    check_rows<double>(ctx, form, implementation, grid(500, 1, 1, false), 0);
    check_rows<double>(ctx, form, implementation, grid(1, 1, 400, true), 2);
    Rows diagonal(300);
    for (size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = {static_cast<int64_t>(i)};
    check_rows<double>(ctx, form, implementation, diagonal, 0);
  });
}

TEST_CASE("ilu, ic: many rows give the same bits in every execute", "[ilu][ic]") {
  Random shape(seed());
  const Rows matrices[] = {grid(140, 120, 1, false),
                           grid(26, 25, 24, false),
                           grid(19, 18, 17, true),
                           grid(9, 9, 8, true, 3),
                           points(shape, 9000, 3, 4),
                           points(shape, 20'000, 1, 4),
                           points(shape, any_gpu() ? 20'000 : 9000, 1, 30)};
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation == "reference") return;
    for (const Rows& rows : matrices) {
      Random random(seed());
      const HostCsr<double> A = with_values<double>(random, rows, form);
      INFO(A.rows << " rows");
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      if (!plan_where_taken(ctx, form, implementation, A_device, plan, F)) continue;
      if (implementation == "gpu_programs") CHECK(info_of_plan(plan).find("\"programs\"") != std::string::npos);
      check_executes(ctx, form, plan, A, A_device, F, 3);
    }
  });
}

TEST_CASE("ilu, ic: a few rows of very many entries among short ones", "[ilu][ic]") {
  // More than a GPU's block holds; the first long row lies right of the diagonal for the most part, and others need it.
  constexpr int64_t n = 25'000;
  Random random(seed());
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    const bool is_long = i == 4000 || i == 15'000 || i == 15'001 || i == n - 1;
    for (int64_t k = is_long ? 14'000 : 8; k > 0; --k)
      row.push_back(is_long ? random_int(random, 0, n - 1)
                            : std::clamp<int64_t>(i + random_int(random, -300, 300), 0, n - 1));
    if (i % 500 == 3) row.push_back(4000);
    row.push_back(i);
    put_in_order(row);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    Random again(seed());
    const HostCsr<double> A = with_values<double>(again, rows, form);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan;
    Matrix F;
    if (!plan_where_taken(ctx, form, implementation, A_device, plan, F)) return;
    if (implementation == "gpu_sync_free") CHECK_THAT(info_of_plan(plan), !ContainsSubstring("\"rows_by_blocks\":0"));
    for (int run = 0; run < 2; ++run) {
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-9);
    }
  });
}

TEST_CASE("ilu, ic: rows of columns that hardly meet, on GPUs", "[ilu][ic][gpu]") {
  constexpr int64_t n = 60000;
  Random random(seed());
  INFO("seed " << seed());
  Rows rows(n);
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row = {i};
    for (int k = 0; k < 13; ++k) row.push_back(random_int(random, 0, n - 1));
    put_in_order(row);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (!is_gpu(ctx.device()) || implementation != "gpu_sync_free") return;
    const HostCsr<double> A = with_values<double>(random, rows, form);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan;
    ok(plan_factors(form, ctx, A_device, R"({"implementation": "gpu_sync_free"})", plan.out()));
    Matrix F;
    ok(kkc_plan_create_output(plan, F.out()));
    REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
    CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
  });
}

TEST_CASE("ilu, ic: short rows that need far longer ones", "[ilu][ic]") {
  // A few rows of hundreds of entries first; the others need some of these, and meet them, or nothing, behind it.
  constexpr int64_t n = 9000, hubs = 6, ordinary = hubs + 2000;
  Random random(seed());
  INFO("seed " << seed());
  Rows rows(n);
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row = {i};
    if (i < hubs)
      for (int k = 0; k < 700; ++k) row.push_back(random_int(random, i, n - 1));
    else if (i < ordinary)
      for (int64_t k = random_int(random, 0, 3); k > 0; --k) row.push_back(random_int(random, 0, hubs - 1));
    for (int k = 0; i < ordinary && k < 4; ++k) row.push_back(random_int(random, ordinary, n - 1));
    if (i % 3 == 0 && i >= ordinary) row.push_back(random_int(random, hubs, ordinary - 1));
    put_in_order(row);
  }
  // In the middle, with hundreds before the diagonal, for ic: those behind need some, and have some columns of theirs.
  Rows from_middle(n);
  for (int64_t i = 0; i < n; ++i) {
    auto& row = from_middle[static_cast<size_t>(i)];
    row = {i};
    const bool behind = i >= ordinary + hubs;
    for (int k = 0; k < (i < ordinary ? 0 : behind ? 4 : 700); ++k) row.push_back(random_int(random, 0, ordinary - 1));
    for (int64_t k = behind ? random_int(random, 0, 3) : 0; k > 0; --k)
      row.push_back(random_int(random, ordinary, ordinary + hubs - 1));
    put_in_order(row);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    for (const Rows* each : {&rows, &from_middle}) {
      INFO("long rows " << (each == &rows ? "first" : "in the middle"));
      Random again(seed());
      const HostCsr<double> A = with_values<double>(again, *each, form);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      if (!plan_where_taken(ctx, form, implementation, A_device, plan, F)) continue;
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-9);
    }
  });
}

TEST_CASE("ilu, ic: tables of unlike rows, on GPUs", "[ilu][ic][gpu]") {
  Random random(seed());
  INFO("seed " << seed());
  for (const int64_t longest : {20, 32, 50, 64, 100, 128, 150, 192, 193}) {
    constexpr int64_t blocks = 520;  // one row of each in a level
    Rows rows;
    for (int64_t b = 0; b < blocks; ++b)  // of `longest` rows, which need none of other blocks
      for (int64_t i = 0; i < longest; ++i) {
        rows.push_back({b * longest + i});
        for (int64_t j = 0; j < longest; ++j)
          if (i + 1 == longest || random_int(random, 0, 9) < (b < 40 ? 4 : 0)) rows.back().push_back(b * longest + j);
        put_in_order(rows.back());
      }
    on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
      if (implementation != "gpu_tables") return;
      INFO("longest row " << longest);
      const HostCsr<double> A = with_values<double>(random, rows, form);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      const kkc_status_t planned = plan_factors(form, ctx, A_device, R"({"implementation": "gpu_tables"})", plan.out());
      CHECK(planned == (longest <= 192 ? KKC_STATUS_SUCCESS : KKC_STATUS_NOT_SUPPORTED));
      if (planned != KKC_STATUS_SUCCESS) return;
      check_rows<double>(ctx, form, implementation, rows, 0, KKC_INDEX_64_64);
      check_rows<float>(ctx, form, implementation, rows, 0);
      check_rows<std::complex<double>>(ctx, form, implementation, rows, 0);
      Matrix F;
      ok(kkc_plan_create_output(plan, F.out()));
      check_executes(ctx, form, plan, A, A_device, F, 2);
    });
  }
}

TEST_CASE("ilu, ic: tables beside a few long rows, on GPUs", "[ilu][ic][gpu]") {
  constexpr int64_t n = 20'000, first = 50, middle = 10'000;
  for (const int64_t most : {2, 28}) {  // left and right of the diagonal of short rows
    Random random(seed());
    Rows rows(n);
    for (int64_t i = 0; i < n; ++i) {
      auto& row = rows[static_cast<size_t>(i)];
      row.push_back(i);
      const int64_t count = random_int(random, 0, i % 50 == 0 ? most : 2);
      for (int64_t k = 0; k < count; ++k) {
        if (i > 0) row.push_back(random_int(random, 0, i - 1));
        if (i + 1 < n) row.push_back(random_int(random, i + 1, n - 1));
      }
    }
    const auto add = [&](int64_t i, int64_t from, int64_t to, int64_t count) {
      for (int64_t k = 0; k < count; ++k) rows[static_cast<size_t>(i)].push_back(random_int(random, from, to));
    };
    // Long in U, in L and U, and in L; the first two are needed by rows that are short themselves.
    add(first, first + 1, n - 1, 900);
    add(middle, 0, n - 1, 1400);
    add(n - 1, 0, n - 2, 300);
    for (int64_t k = 0; k < 60; ++k) {
      rows[static_cast<size_t>(random_int(random, first + 1, n - 1))].push_back(first);
      rows[static_cast<size_t>(random_int(random, middle + 1, n - 1))].push_back(middle);
    }
    for (auto& row : rows) put_in_order(row);
    on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
      if (implementation != "gpu_tables") return;
      INFO("up to " << 2 * most + 1 << " entries");
      const HostCsr<double> A = with_values<double>(random, rows, form);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      REQUIRE(plan_where_taken(ctx, form, implementation, A_device, plan, F));
      CHECK(number_in(info_of_plan(plan), "longest_row") == (form == Form::lu && most == 28 ? 64 : 32));
      CHECK(number_in(info_of_plan(plan), "rows_without_table") > 40);
      check_executes(ctx, form, plan, A, A_device, F, 3);
      check_breakdowns(ctx, form, implementation, rows, {first, middle});
    });
  }
}

TEST_CASE("ilu, ic: a dense block among very many short rows, on GPUs", "[ilu][ic][gpu]") {
  constexpr int64_t n = 80'000, long_rows = 12;
  // Entries of rows that need each other one after the other; then of rows that do not.
  for (const auto& [entries, dense] : std::vector<std::pair<int64_t, bool>>{{42, true}, {76, true}, {76, false}}) {
    INFO("rows of " << entries << " entries" << (dense ? ", a block" : ""));
    Random random(seed());
    Rows rows(n);
    for (int64_t i = 0; i < n; ++i) rows[static_cast<size_t>(i)] = {i, random_int(random, 0, n - 1)};
    for (int64_t i = 0; i < (dense ? entries : long_rows); ++i) {
      auto& row = rows[static_cast<size_t>(dense ? n / 3 + 3 * i : n - 1 - i)];
      for (int64_t j = 0; j < entries; ++j) row.push_back(dense ? n / 3 + 3 * j : random_int(random, 0, n / 2));
    }
    for (auto& row : rows) put_in_order(row);
    on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
      if (implementation != "gpu_tables" && implementation != "gpu_sync_free") return;
      const HostCsr<double> A = with_values<double>(random, rows, form);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      REQUIRE(plan_where_taken(ctx, form, implementation, A_device, plan, F));
      if (implementation == "gpu_tables" && form == Form::lu)
        CHECK(number_in(info_of_plan(plan), "rows_without_table") == (dense ? 0 : long_rows));
      check_executes(ctx, form, plan, A, A_device, F, 3);
    });
  }
}

TEST_CASE("ilu, ic: where rows are eliminated in too many ways, gpu_programs says so", "[ilu][ic]") {
  Random random(seed());
  Rows rows(20000);
  for (int64_t i = 0; i < 20000; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row = {i, random_int(random, 0, 19999), random_int(random, 0, 19999)};
    put_in_order(row);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation != "gpu_programs") return;
    const HostCsr<double> A = with_values<double>(random, rows, form);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan, other;
    CHECK(plan_factors(form, ctx, A_device, R"({"implementation": "gpu_programs"})", plan.out()) ==
          KKC_STATUS_NOT_SUPPORTED);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("rows are eliminated in different ways"));
    const HostCsr<double> dense = with_values<double>(random, grid(1, 1, 1, true, 300), form);
    const DeviceCsr<double> dense_device(ctx, dense, KKC_INDEX_32_32, 0);
    Plan none;
    if (form == Form::lu) {
      CHECK(plan_factors(form, ctx, dense_device, R"({"implementation": "gpu_programs"})", none.out()) ==
            KKC_STATUS_NOT_SUPPORTED);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("takes rows of at most 224 entries on average"));
    }
    // One row after the other.
    Rows chain(5000);
    for (int64_t row = 0; row < 5000; ++row)
      for (int64_t column = std::max<int64_t>(0, row - 3); column < std::min<int64_t>(5000, row + 4); ++column)
        chain[static_cast<size_t>(row)].push_back(column);
    const DeviceCsr<double> chain_device(ctx, with_values<double>(random, chain, form), KKC_INDEX_32_32, 0);
    CHECK(plan_factors(form, ctx, chain_device, R"({"implementation": "gpu_programs"})", none.out()) ==
          KKC_STATUS_NOT_SUPPORTED);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("takes levels of 4 rows or more in the mean"));
    ok(plan_factors(form, ctx, A_device, "{}", other.out()));
    Matrix F;
    ok(kkc_plan_create_output(other, F.out()));
    REQUIRE(outcome(form, ctx, other, A_device, F).status == KKC_STATUS_SUCCESS);
    CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
  });
}

TEST_CASE("ilu: narrow levels of rows of a few entries have no programs, but by name, on GPUs", "[ilu][gpu]") {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !has_kernels<double>(device, "ilu")) continue;
    const Context ctx(device);
    // Levels of 33 rows, as those of a plane; of hundreds.
    for (const auto& [rows, narrow] : {std::pair(grid(100, 100, 1, true), true), {grid(30, 40, 60, false), false}}) {
      Random random(seed());
      INFO("seed " << seed() << ", " << rows.size() << " rows");
      const DeviceCsr<double> A(ctx, with_values<double>(random, rows, Form::lu), KKC_INDEX_32_32, 0);
      Plan chosen, named;
      ok(plan_factors(Form::lu, ctx, A, "{}", chosen.out()));
      const std::string expected = narrow ? "gpu_sync_free" : "gpu_programs";
      CHECK_THAT(info_of_plan(chosen), ContainsSubstring("\"implementation\":\"" + expected + "\""));
      CHECK(plan_factors(Form::lu, ctx, A, R"({"implementation": "gpu_programs"})", named.out()) == KKC_STATUS_SUCCESS);
    }
  }
}

// sptrsv, host_supernodal and gpu_supernodal: triangles whose supernodes are known.
#include "support/catch.hpp"

#include <cstdlib>

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

constexpr kkc_uplo_t both_triangles[] = {KKC_UPLO_LOWER, KKC_UPLO_UPPER};

using Left = std::vector<std::vector<int64_t>>;

struct Blocks {
  Left left;  // of each row the columns before it
  int64_t supernodes = 0, levels = 1, nonzeros = 0;
};

/// Supernodes of 1 to most_width columns, which all have the same entries below, in later supernodes but the next one,
/// so that no two can be joined.
Blocks random_blocks(Random& random, int64_t supernodes, int64_t most_width) {
  Blocks made;
  std::vector<int64_t> first{0}, owner;
  for (int64_t s = 0; s < supernodes; ++s) {
    // The first ones are wide, so that columns, not rows, are alike.
    const int64_t width = s < 2 ? most_width : random_int(random, 1, most_width);
    first.push_back(first.back() + width);
    owner.insert(owner.end(), static_cast<size_t>(width), s);
  }
  const int64_t n = first.back();
  made.left.resize(static_cast<size_t>(n));
  made.supernodes = supernodes;
  std::vector<int64_t> level(static_cast<size_t>(supernodes), 0);
  for (int64_t s = 0; s < supernodes; ++s) {
    const int64_t begin = first[static_cast<size_t>(s)], end = first[static_cast<size_t>(s) + 1];
    std::vector<int64_t> outer;
    if (s + 2 < supernodes) {
      const int64_t from = first[static_cast<size_t>(s) + 2], near = std::min(n - 1, from + 40);
      for (int64_t i = random_int(random, s == 0 ? 1 : 0, 6); i > 0; --i)
        outer.push_back(random_int(random, from, random() % 2 == 0 ? near : n - 1));
      std::sort(outer.begin(), outer.end());
      outer.erase(std::unique(outer.begin(), outer.end()), outer.end());
    }
    for (int64_t column = begin; column < end; ++column) {
      for (int64_t row = column + 1; row < end; ++row) made.left[static_cast<size_t>(row)].push_back(column);
      for (const int64_t row : outer) made.left[static_cast<size_t>(row)].push_back(column);
    }
    for (const int64_t row : outer) {
      int64_t& its = level[static_cast<size_t>(owner[static_cast<size_t>(row)])];
      its = std::max(its, level[static_cast<size_t>(s)] + 1);
      made.levels = std::max(made.levels, its + 1);
    }
  }
  for (auto& columns : made.left) {
    std::sort(columns.begin(), columns.end());
    made.nonzeros += static_cast<int64_t>(columns.size()) + 1;
  }
  return made;
}

/// The same triangle seen from the other end: rows are alike where columns were.
Left transposed(const Left& left) {
  const auto n = static_cast<int64_t>(left.size());
  Left made(left.size());
  for (int64_t row = n - 1; row >= 0; --row)
    for (const int64_t column : left[static_cast<size_t>(row)])
      made[static_cast<size_t>(n - 1 - column)].push_back(n - 1 - row);
  return made;
}

std::string supernodal(kkc_device_t device) { return is_gpu(device) ? "gpu_supernodal" : "host_supernodal"; }

/// A plan for doubles, by supernodes unless they are not wanted, with its description.
struct Planned {
  Planned(const Context& ctx, const HostCsr<double>& host, kkc_op_t op, kkc_uplo_t uplo, kkc_diag_t diag,
          bool named = true)
      : A(ctx, host, KKC_INDEX_32_32, 0),
        b(ctx, static_cast<size_t>(host.rows)),
        x(ctx, static_cast<size_t>(host.rows)),
        from(wrap(ctx, b.data(), {host.rows})),
        to(wrap(ctx, x.data(), {host.rows})) {
    const Options options(R"({"values": "kept")" +
                          (named ? ", \"implementation\": \"" + supernodal(ctx.device()) + '"' : "") + "}");
    ok(kkc_sptrsv_plan(ctx, op, uplo, diag, A, from, to, options, plan.out()));
    info = info_of_plan(plan);
  }
  std::string text(const std::string& key) const {
    const size_t at = info.find('"' + key + "\":");
    INFO(info << " has no " << key);
    REQUIRE(at != std::string::npos);
    return info.substr(at + key.size() + 3);
  }
  double number(const std::string& key) const {
    INFO(info << " has no " << key);
    const auto found = number_in(info, key);
    REQUIRE(found);
    return *found;
  }

  DeviceCsr<double> A;
  Array<double> b, x;
  View from, to;
  Plan plan;
  std::string info;
};

/// HIP's blocks must not wait for each other.
template <class T>
bool solves_supernodes(kkc_device_t device) {
  return device != KKC_DEVICE_HIP && has_kernels<T>(device, "sptrsv");
}

template <class F>
void each_device(const F& f) {
  for (const Visit& visit : visits())
    if (solves_supernodes<double>(visit.device)) f(visit);
}

}  // namespace

TEST_CASE("sptrsv: supernodes that are known are found", "[sptrsv]") {
  each_device([](const Visit& visit) {
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Blocks blocks = random_blocks(random, random_int(random, 3, 400), random_int(random, 3, 20));
      for (const kkc_uplo_t uplo : both_triangles)
        for (const kkc_op_t op : all_ops)
          for (const bool alike_rows : {false, true}) {
            const Left left = alike_rows ? transposed(blocks.left) : blocks.left;
            const HostCsr<double> A = triangle_of<double>(random, left, uplo, KKC_DIAG_STORED, {});
            const Planned p(ctx, A, op, uplo, KKC_DIAG_STORED);
            INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", op " << op << ", uplo "
                         << uplo << ", alike " << (alike_rows ? "rows" : "columns") << ' ' << p.info);
            CHECK(p.number("supernodes") == static_cast<double>(blocks.supernodes));
            CHECK(p.number("levels") == static_cast<double>(blocks.levels));
            CHECK(p.text("by").substr(0, 6) == (alike_rows != is_transposed(op) ? "\"rows\"" : "\"colum"));
          }
    }
  });
}

TEST_CASE("sptrsv: supernodes are joined where that pads little, and cut where they are wide", "[sptrsv]") {
  each_device([](const Visit& visit) {
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    INFO(name(visit.device) << ' ' << visit.options);
    // Columns 9 to 16, all in rows 18 to 57 but for the last four, which are not in row 57; column k < 8 in row 9 + k
    // keeps rows from being alike, columns 8 and 17 are alone.
    Left left(58);
    for (int64_t column = 9; column < 17; ++column) {
      for (int64_t row = column + 1; row < 58; ++row)
        if (row != 17 && row < (column < 13 ? 58 : 57)) left[static_cast<size_t>(row)].push_back(column);
      left[static_cast<size_t>(column)].push_back(column - 9);
    }
    for (auto& columns : left) std::sort(columns.begin(), columns.end());
    const Planned joined(ctx, triangle_of<double>(random, left, KKC_UPLO_LOWER, KKC_DIAG_STORED, {}), KKC_OP_NONE,
                         KKC_UPLO_LOWER, KKC_DIAG_STORED);
    INFO(joined.info);
    CHECK(joined.number("supernodes") == 8 + 2 + 1 + 40);
    CHECK(joined.number("levels") == 3);
    CHECK(joined.text("by").substr(0, 6) == "\"colum");
    const double held = 8 * 2 + 2 + 8 * (8 + 40) + 40, nonzeros = 8 * 2 + 2 + 36 + 4 * 40 + 4 * 39 + 40;
    CHECK(std::abs(joined.number("padding") - (held / nonzeros - 1)) < 1e-3);

    Left dense(100);
    for (int64_t row = 0; row < 100; ++row)
      for (int64_t column = 0; column < row; ++column) dense[static_cast<size_t>(row)].push_back(column);
    const Planned cut(ctx, triangle_of<double>(random, dense, KKC_UPLO_LOWER, KKC_DIAG_STORED, {}), KKC_OP_NONE,
                      KKC_UPLO_LOWER, KKC_DIAG_STORED);
    INFO(cut.info);
    CHECK(cut.number("supernodes") == 3);
    CHECK(cut.number("levels") == 3);
    CHECK(std::abs(cut.number("padding") - ((48. * 48 + 48 * 96 + 4 * 100) / 5050 - 1)) < 1e-3);
  });
}

TEMPLATE_TEST_CASE("sptrsv: triangles of supernodes are solved", "[sptrsv]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!solves_supernodes<T>(visit.device)) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (int repeat = 0; repeat < 3; ++repeat) {
      // The last one is work for several threads.
      const Blocks blocks = repeat < 2 ? random_blocks(random, random_int(random, 3, 200), random_int(random, 3, 48))
                                       : random_blocks(random, 1500, 16);
      for (const kkc_op_t op : all_ops)
        for (const kkc_uplo_t uplo : both_triangles)
          for (const kkc_diag_t diag : {KKC_DIAG_STORED, KKC_DIAG_UNIT})
            for (const int64_t vectors : {1, 3, 8, 19}) {
              if (!is_gpu(visit.device) && repeat < 2 && random() % 2 == 0) continue;
              if (repeat == 2 && (vectors > 8 || vectors == 3 || op > KKC_OP_TRANSPOSE)) continue;
              if (repeat == 2 && (diag == KKC_DIAG_UNIT) != ((op == KKC_OP_NONE) == (vectors == 8))) continue;
              Held held;
              held.unsorted = random() % 3 == 0;
              held.full = random() % 2 == 0;
              held.no_diagonal = random() % 2 == 0;
              SptrsvCase<T> c;
              c.implementation = supernodal(visit.device);
              do c.pair = all_index_pairs[random() % 3];
              while (!supported(visit.device, "sptrsv", c.pair, scalar_tag<T>));
              c.op = op;
              c.uplo = uplo;
              c.diag = diag;
              c.base = static_cast<int32_t>(random() % 2);
              c.vectors = vectors;
              c.alpha = T(0.5);
              c.in_place = random() % 2 == 0;
              c.values_kept = true;
              constexpr Lie lies[] = {Lie::left, Lie::left_padded, Lie::right, Lie::strided};
              c.b_lie = vectors == 1 ? Lie::strided_vector : lies[random() % 4];
              c.x_lie = c.in_place ? c.b_lie : vectors == 1 ? Lie::vector : lies[random() % 4];
              const Left left = random() % 2 == 0 ? blocks.left : transposed(blocks.left);
              const HostCsr<T> A = triangle_of<T>(random, left, uplo, diag, held);
              INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << A.rows << " rows"
                           << (held.unsorted ? ", unsorted" : "") << (held.full ? ", full" : "") << ", " << c.text());
              const auto wrong = run_case(ctx, c, A, random);
              REQUIRE(wrong.has_value());
              REQUIRE(*wrong == "");
            }
    }
  }
}

TEST_CASE("sptrsv: solves by supernodes give the same bits for any number of threads", "[sptrsv]") {
  for (const kkc_device_t device : devices()) {
    if (device != KKC_DEVICE_OPENMP) continue;
    Random random(seed());
    const Blocks blocks = random_blocks(random, 3000, 16);
    REQUIRE(blocks.nonzeros > 5 * 8192);  // work for five threads
    for (const bool alike_rows : {false, true}) {
      const HostCsr<double> A = triangle_of<double>(random, alike_rows ? transposed(blocks.left) : blocks.left,
                                                    KKC_UPLO_LOWER, KKC_DIAG_STORED, {});
      const std::vector<double> right = random_vector<double>(random, static_cast<size_t>(A.rows));
      std::vector<double> first;
      for (const int threads : {1, 2, 5}) {
        const Context ctx(device, "{\"threads\": " + std::to_string(threads) + "}");
        Planned p(ctx, A, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED);
        INFO("seed " << seed() << ", " << threads << " threads " << p.info);
        CHECK(p.number("threads") == threads);
        p.b.set(right);
        ok(kkc_sptrsv_set_values(p.plan, p.A));
        const double one = 1;
        for (int repeat = 0; repeat < 10; ++repeat) {
          ok(kkc_sptrsv_execute(p.plan, &one, p.A, p.from, p.to));
          const std::vector<double> x = p.x.get();
          if (first.empty()) first = x;
          REQUIRE(x == first);
        }
      }
    }
  }
}

TEST_CASE("sptrsv: solves by supernodes give the same bits run to run on a GPU", "[sptrsv]") {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !solves_supernodes<double>(device)) continue;
    const Context ctx(device);
    Random random(seed());
    const Blocks blocks = random_blocks(random, 3000, 40);
    for (const bool alike_rows : {false, true}) {
      const HostCsr<double> A = triangle_of<double>(random, alike_rows ? transposed(blocks.left) : blocks.left,
                                                    KKC_UPLO_LOWER, KKC_DIAG_STORED, {});
      Planned p(ctx, A, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED);
      INFO("seed " << seed() << ' ' << p.info);
      p.b.set(random_vector<double>(random, static_cast<size_t>(A.rows)));
      std::vector<double> first;
      const double one = 1;
      for (int repeat = 0; repeat < 20; ++repeat) {
        if (repeat % 5 == 0) ok(kkc_sptrsv_set_values(p.plan, p.A));
        ok(kkc_sptrsv_execute(p.plan, &one, p.A, p.from, p.to));
        const std::vector<double> x = p.x.get();
        if (first.empty()) first = x;
        REQUIRE(x == first);
      }
    }
  }
}

TEST_CASE("sptrsv: the first zero pivot among supernodes is reported", "[sptrsv]") {
  each_device([](const Visit& visit) {
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    const Blocks blocks = random_blocks(random, 200, 12);
    for (const kkc_uplo_t uplo : both_triangles)
      for (const kkc_op_t op : all_ops) {
        HostCsr<double> A = triangle_of<double>(random, blocks.left, uplo, KKC_DIAG_STORED, {});
        Planned p(ctx, A, op, uplo, KKC_DIAG_STORED);
        INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", op " << op << ", uplo "
                     << uplo);
        const std::vector<double> good = A.values;
        const int64_t row = random_int(random, 0, A.rows - 2);
        for (const int64_t zero : {row, A.rows - 1})
          A.values[static_cast<size_t>(uplo == KKC_UPLO_LOWER ? A.offsets[static_cast<size_t>(zero) + 1] - 1
                                                              : A.offsets[static_cast<size_t>(zero)])] = 0;
        const double one = 1;
        p.A.values().set(A.values);
        ok(kkc_sptrsv_set_values(p.plan, p.A));
        if (is_gpu(visit.device)) {
          ok(kkc_sptrsv_execute(p.plan, &one, p.A, p.from, p.to));
          int64_t where = -1, count = -1;
          CHECK(kkc_plan_check(p.plan, &where, &count) == KKC_STATUS_ZERO_PIVOT);
          CHECK(where == row);
          CHECK(count == 2);
        } else {
          CHECK(kkc_sptrsv_execute(p.plan, &one, p.A, p.from, p.to) == KKC_STATUS_ZERO_PIVOT);
          CHECK(std::string(kkc_last_error()).find("row " + std::to_string(row) + ' ') != std::string::npos);
        }
        p.A.values().set(good);
        ok(kkc_sptrsv_set_values(p.plan, p.A));
        ok(kkc_sptrsv_execute(p.plan, &one, p.A, p.from, p.to));
        int64_t where = -1, count = -1;
        ok(kkc_plan_check(p.plan, &where, &count));
      }
  });
}

TEST_CASE("sptrsv: supernodes are for whoever names them, with kept values and room for what they leave", "[sptrsv]") {
  each_device([](const Visit& visit) {
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    const Blocks blocks = random_blocks(random, 300, 12);
    const HostCsr<double> A = triangle_of<double>(random, blocks.left, KKC_UPLO_LOWER, KKC_DIAG_STORED, {});
    const Planned by_default(ctx, A, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED, false);
    CHECK(by_default.info.find("\"supernodes\"") == std::string::npos);
    const Planned named(ctx, A, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED);
    CHECK(named.number("workspace_bytes") > 0);
    const std::string name = supernodal(visit.device);
    Plan refused;
    CHECK(kkc_sptrsv_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED, named.A, named.from, named.to,
                          Options("{\"implementation\": \"" + name + "\"}"),
                          refused.out()) == KKC_STATUS_NOT_SUPPORTED);
    CHECK(std::string(kkc_last_error()).find("values = kept") != std::string::npos);
    CHECK(kkc_sptrsv_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED, named.A, named.from, named.to,
                          Options("{\"implementation\": \"" + name + R"(", "values": "kept", "max_workspace": 8})"),
                          refused.out()) == KKC_STATUS_NOT_SUPPORTED);
    CHECK(std::string(kkc_last_error()).find("max_workspace") != std::string::npos);
  });
}

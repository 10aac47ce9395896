// spgemm on GPUs where A names each row of B about once, as the transposes of tentative prolongators do, and rows are
// like no other, where dense rows of A are most of the product, where rows are few, and where some have too many
// products to be sorted otherwise: all products of a row are put in order.
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

struct Products {
  std::vector<std::vector<int64_t>> a, b;  // columns of the rows

  /// A row of A that names new rows of B of up to `most` entries each, `count` products in all; columns below `cols`
  /// come in any order and may come twice.
  void add(Random& random, int64_t count, int64_t most, int64_t cols) {
    a.emplace_back();
    while (count > 0) {
      const int64_t entries = random_int(random, 0, std::min(count, most));
      a.back().push_back(static_cast<int64_t>(b.size()));
      b.emplace_back();
      for (int64_t k = 0; k < entries; ++k) b.back().push_back(random_int(random, 0, cols - 1));
      count -= entries;
    }
    std::shuffle(a.back().begin(), a.back().end(), random);
  }
};

/// Rows around the numbers of products at which the plan goes another way, among short and empty ones.
Products of_all_lengths(Random& random, int64_t cols) {
  constexpr int64_t lengths[] = {31,   32,   33,   127,  128,  129,  255,  256,  257,  511,   512,  513,
                                 1024, 1025, 2047, 2048, 2049, 4096, 4097, 8192, 8193, 16384, 16385};
  Products p;
  for (int64_t i = 0; i < 500; ++i)
    p.add(random, i % 9 == 4 ? lengths[static_cast<size_t>(i / 9) % std::size(lengths)] : random_int(random, 0, 40),
          i % 9 == 4 ? 30 : 9, cols);
  return p;
}

/// The same operand to be transposed.
template <class T>
HostCsr<T> transposed_of(const std::vector<std::vector<int64_t>>& rows, int64_t cols) {
  std::vector<std::vector<int64_t>> of(static_cast<size_t>(cols));
  for (size_t i = 0; i < rows.size(); ++i)
    for (const int64_t j : rows[i]) of[static_cast<size_t>(j)].push_back(static_cast<int64_t>(i));
  return from_rows<T>(static_cast<int64_t>(rows.size()), of);
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: rows of B that are named about once, on GPUs", "[spgemm][gpu]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    for (const int64_t cols : {20'000, 9'000'000}) {
      const Products p = of_all_lengths(random, cols);
      const auto inner = static_cast<int64_t>(p.b.size());
      const auto A = from_rows<T>(inner, p.a), B = from_rows<T>(cols, p.b);
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      c.beta = T(0.5);
      REQUIRE(said("gathered_entries", ctx, c, A, B) == said("nnz", ctx, c, A, B));
      SpgemmCase<T> bounded = c;
      bounded.max_workspace = 0;
      REQUIRE(said("gathered_entries", ctx, bounded, A, B) == 0);
      REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
      const auto At = transposed_of<T>(p.a, inner);
      for (const kkc_op_t op : {KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN})
        for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
          if (!supported(device, "spgemm", pair, scalar_tag<T>)) continue;
          c.op_a = op;
          c.pair = c.pair_c = pair;
          c.base_a = c.base_b = c.base_c = static_cast<int32_t>(random() % 2);
          c.alpha = random() % 3 == 0 ? T(0) : T(-2);
          INFO(c.text() << ", " << cols << " columns");
          REQUIRE(said("gathered_entries", ctx, c, At, B) == said("nnz", ctx, c, At, B));
          run(ctx, c, At, B, nullptr, random);
        }
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: rows of B that are named about once and sums of very many products", "[spgemm][gpu]",
                   double, std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    constexpr int64_t cols = 50'000;
    Products p = of_all_lengths(random, cols);
    // Columns in which as many products of a row meet as one thread adds up, one more, as a block adds in order, ...
    for (const int64_t meet : {64, 65, 1023, 1024, 1025, 3000}) {
      p.add(random, 9000, 4, cols);
      for (int64_t k = 0; k < meet; ++k) p.b[static_cast<size_t>(p.a.back()[static_cast<size_t>(k)])].push_back(77);
    }
    const auto inner = static_cast<int64_t>(p.b.size());
    SpgemmCase<T> c;
    c.implementation = "gpu_hash";
    c.alpha = T(3);
    const auto A = from_rows<T>(inner, p.a), B = from_rows<T>(cols, p.b);
    REQUIRE(said("gathered_entries", ctx, c, A, B) == said("nnz", ctx, c, A, B));
    c.beta = T(-1);
    run(ctx, c, A, B, nullptr, random);
    c.alpha = T(0);
    run(ctx, c, A, B, nullptr, random);

    // Where nearly all products meet, too.
    for (auto& row : p.b)
      for (int64_t& column : row) column %= 20;
    const auto few = from_rows<T>(cols, p.b);
    c.alpha = T(1);
    REQUIRE(said("gathered_entries", ctx, c, A, few) == said("nnz", ctx, c, A, few));
    run(ctx, c, A, few, nullptr, random);
  }
}

TEMPLATE_TEST_CASE("spgemm: short rows of products that are sorted at once and listed", "[spgemm][gpu]", float, double,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Of few columns, entries of C have more products than one tile's last may have.
    for (const int64_t cols : {3, 40, 700, 20'000, 9'000'000})
      for (const int64_t rows : {1, 40, 3000}) {
        Products p;
        for (int64_t i = 0; i < rows; ++i) {
          constexpr int64_t lengths[] = {255, 256, 257, 511, 512, 513, 1023, 1024};
          p.add(random,
                i % 7 == 3 ? lengths[static_cast<size_t>(i / 7) % std::size(lengths)] : random_int(random, 0, 90), 12,
                cols);
        }
        p.add(random, 600, 12, cols);  // a last row that reaches beyond its tile
        p.a.emplace_back();
        const auto inner = static_cast<int64_t>(p.b.size());
        const auto A = from_rows<T>(inner, p.a), B = from_rows<T>(cols, p.b);
        SpgemmCase<T> c;
        c.implementation = "gpu_hash";
        c.beta = T(0.5);
        INFO(c.text() << ", " << rows << " rows, " << cols << " columns");
        REQUIRE(said("gathered_entries", ctx, c, A, B) == said("nnz", ctx, c, A, B));
        SpgemmCase<T> bounded = c;
        bounded.max_workspace = 0;
        REQUIRE(said("gathered_entries", ctx, bounded, A, B) == 0);
        REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
        const auto At = transposed_of<T>(p.a, inner), Bt = transposed_of<T>(p.b, cols);
        c.base_a = c.base_b = c.base_c = static_cast<int32_t>(random() % 2);
        c.op_a = KKC_OP_TRANSPOSE;
        run(ctx, c, At, B, nullptr, random);
        if (cols > 100'000) continue;
        c.op_b = KKC_OP_TRANSPOSE;
        run(ctx, c, At, Bt, nullptr, random);
        c.op_a = KKC_OP_NONE;
        c.alpha = T(0);
        run(ctx, c, A, Bt, nullptr, random);
      }
  }
}

TEST_CASE("spgemm: products that are listed, of entries of B that lie far apart", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Each row of A names rows from all over B, whose entries' numbers 32 bits do not hold beside a product's.
    constexpr int64_t rows = 5000, entries = 100, inner = rows * entries, cols = 26'000;
    std::vector<std::vector<int64_t>> of_a(rows), of_b(inner);
    for (int64_t j = 0; j < inner; ++j) {
      of_a[static_cast<size_t>(j % rows)].push_back(j);
      for (int64_t c = 0; c < 10; ++c) of_b[static_cast<size_t>(j)].push_back((j % rows * 5 + j / rows + 3 * c) % cols);
      std::sort(of_b[static_cast<size_t>(j)].begin(), of_b[static_cast<size_t>(j)].end());
    }
    const auto A = from_rows(inner, of_a), B = from_rows(cols, of_b);
    SpgemmCase<double> c;
    c.implementation = "gpu_hash";
    REQUIRE(said("gathered_entries", ctx, c, A, B) > 0);
    run(ctx, c, A, B, nullptr, random);
  }
}

TEMPLATE_TEST_CASE("spgemm: dense rows with the transpose, on GPUs", "[spgemm][gpu]", double, std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // More products meet in the first row's entry on the diagonal than the threads of a block have parts.
    constexpr int64_t inner = 256 * 2048 + 5000;
    std::vector<std::vector<int64_t>> of(3);
    for (int64_t j = 0; j < inner; ++j) {
      of[0].push_back(j);
      if (j % 50 == 7) of[1].push_back(j);
      if (j % 200 == 7) of[2].push_back(j);
    }
    for (int64_t i = 0; i < 4000; ++i) of.push_back({random_int(random, 0, inner - 1)});
    std::shuffle(of.begin() + 1, of.end(), random);
    const auto A = from_rows<T>(inner, of);
    for (const kkc_op_t op : {KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN}) {
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      c.op_b = op;
      c.beta = T(0.5);
      c.base_a = c.base_b = 1;
      REQUIRE(said("gathered_entries", ctx, c, A, A) == said("nnz", ctx, c, A, A));
      run(ctx, c, A, A, nullptr, random);
      // For want of room the block looks for the products, and adds them up in the same order.
      SpgemmCase<T> bounded = c;
      bounded.max_workspace = (static_cast<int64_t>(A.indices.size() * sizeof(T)) + 255) / 256 * 256;
      REQUIRE(said("gathered_entries", ctx, bounded, A, A) == 0);
      REQUIRE(bits(ctx, c, A, A) == bits(ctx, bounded, A, A));
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: few rows, and a few long ones among short ones, on GPUs", "[spgemm][gpu]", float,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    SpgemmCase<T> c;
    c.implementation = "gpu_hash";
    c.alpha = T(-2);
    c.beta = T(0.5);
    std::vector<std::vector<int64_t>> of(60);
    for (auto& row : of) row = different(random, random_int(random, 900, 1100), 20'000);
    of[7].clear();
    const auto few = from_rows<T>(20'000, of);
    for (const kkc_op_t op : {KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN}) {
      c.op_b = op;
      REQUIRE(said("gathered_entries", ctx, c, few, few) > 0);
      run(ctx, c, few, few, nullptr, random);
    }
    c.op_b = KKC_OP_NONE;

    // Rows that name a long one have its products; the column of a long one is named by others.
    constexpr int64_t rows = 20'000;
    of.assign(static_cast<size_t>(rows), {});
    for (auto& row : of) row = {random_int(random, 0, rows - 1), random_int(random, 0, rows - 1)};
    of[100] = different(random, 5000, rows);
    of[101] = different(random, 1500, rows);
    of[15'000] = different(random, 3000, rows);
    for (auto& row : of) std::sort(row.begin(), row.end());
    const auto A = from_rows<T>(rows, of);
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
      c.op_a = c.op_b = op;
      REQUIRE(said("gathered_entries", ctx, c, A, A) == said("nnz", ctx, c, A, A));
      run(ctx, c, A, A, nullptr, random);
    }
    // Where lists of all products have no room, those of long rows may have.
    c.op_a = c.op_b = KKC_OP_NONE;
    std::vector<std::vector<int64_t>> narrow(static_cast<size_t>(rows));
    for (auto& row : narrow) row = {random_int(random, 0, 1), random_int(random, 0, 1)};
    for (auto& row : of)
      if (row.size() == 2)
        for (int k = 0; k < 10; ++k) row.push_back(random_int(random, 0, rows - 1));
    const auto wider = from_rows<T>(rows, of), B = from_rows<T>(2, narrow);
    REQUIRE(said("gathered_entries", ctx, c, wider, B) == said("nnz", ctx, c, wider, B));
    run(ctx, c, wider, B, nullptr, random);
    c.max_workspace = without_lists * said("products", ctx, c, wider, B);
    REQUIRE(said("gathered_entries", ctx, c, wider, B) > 0);
    REQUIRE(said("gathered_entries", ctx, c, wider, B) < said("nnz", ctx, c, wider, B));
    run(ctx, c, wider, B, nullptr, random);
  }
}

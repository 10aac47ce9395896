// spmv on GPUs: borders of gpu_row_streamed's tiles (640 rows and entries) and of its long rows (more than 512
// entries), and which implementation is chosen for what.
#include "support/catch.hpp"

#include "support/plan_info.hpp"
#include "support/spmv_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of these lengths with columns anywhere, the first and last one far apart: 16 bits are too few.
template <class T>
HostCsr<T> rows_of_lengths(Random& random, const std::vector<int64_t>& lengths, int64_t cols) {
  HostCsr<T> A;
  A.rows = static_cast<int64_t>(lengths.size());
  A.cols = cols;
  for (const int64_t length : lengths) {
    for (int64_t k = 0; k < length; ++k) A.indices.push_back(random_int(random, 0, cols - 1));
    A.offsets.push_back(A.nnz());
  }
  if (A.nnz() > 1) A.indices.front() = 0, A.indices.back() = cols - 1;
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

void append(std::vector<int64_t>& lengths, int64_t count, int64_t length) {
  lengths.insert(lengths.end(), static_cast<size_t>(count), length);
}

/// Which implementation the library chooses for one vector.
std::string chosen(const Context& ctx, const HostCsr<double>& A, kkc_op_t op, const char* options) {
  DeviceCsr<double> a(ctx, A, KKC_INDEX_32_32, 0);
  const Array<double> x(ctx, static_cast<size_t>(std::max(A.rows, A.cols))), y(ctx, x.get().size());
  Plan plan;
  const bool flipped = is_transposed(op);
  ok(kkc_spmv_plan(ctx, op, a, wrap(ctx, x.data(), {flipped ? A.rows : A.cols}),
                   wrap(ctx, y.data(), {flipped ? A.cols : A.rows}), Options(options), plan.out()));
  const std::string info = info_of_plan(plan), key = "\"implementation\":\"";
  const size_t at = info.find(key);
  if (at == std::string::npos) return info;
  return info.substr(at + key.size(), info.find('"', at + key.size()) - at - key.size());
}

}  // namespace

TEMPLATE_TEST_CASE("spmv: tiles of rows that end anywhere, with rows almost too long, too long and empty", "[spmv]",
                   float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t cols = 100000, tile = 640, longest = 512;
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !has_kernels<T>(device, "spmv")) continue;
    const Context ctx(device);
    Random random(seed());
    std::vector<std::vector<int64_t>> matrices;
    // Rows that end with their tile, by entries and rows, and around it; what follows is moved through the tiles.
    for (const int64_t shift : {0, 1, 2, 319, 638, 639, 640, 641}) {
      std::vector<int64_t> lengths(static_cast<size_t>(shift), 0);
      append(lengths, 64, 9);
      for (const int64_t length :
           {longest - 1, longest, longest + 1, tile - 1, tile, tile + 1, int64_t{32}, int64_t{33}}) {
        lengths.push_back(length);
        append(lengths, 700, 3);
      }
      append(lengths, 5 * tile + 3, 0);
      append(lengths, 3, longest);
      lengths.push_back(7000);
      append(lengths, 12000, 4);
      append(lengths, shift, 0);
      matrices.push_back(lengths);
    }
    // Few rows a tile, so that many lanes share one; no entries at all; one row; one row among empty ones.
    matrices.emplace_back(900, 20).push_back(300);
    matrices.emplace_back(300, 40).push_back(500);
    matrices.emplace_back(3000, 0);
    matrices.emplace_back(1, 5);
    matrices.emplace_back(2000, 0)[1000] = 5;
    for (const std::vector<int64_t>& lengths : matrices) {
      const HostCsr<T> A = rows_of_lengths<T>(random, lengths, cols);
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_CONJUGATE})
        for (const T beta : {T(0), T(-0.5)})
          for (const kkc_index_pair_t pair : all_index_pairs) {
            if (!supported(device, "spmv", pair, scalar_tag<T>)) continue;
            SpmvCase<T> c;
            c.implementation = "gpu_row_streamed";
            c.op = op;
            c.pair = pair;
            c.base = static_cast<int32_t>(random() % 2);
            c.x_lie = random() % 2 == 0 ? Lie::vector : Lie::strided_vector;
            c.y_lie = random() % 2 == 0 ? Lie::vector : Lie::strided_vector;
            c.alpha = random() % 8 == 0 ? T(0) : T(1.5);
            c.beta = beta;
            c.device_scalars = random() % 2 == 0;
            INFO("seed " << seed() << ", " << name(device) << ", " << A.rows << " rows, " << A.nnz() << " entries, "
                         << c.text());
            const auto wrong = run_case(ctx, c, A, random);
            REQUIRE(wrong);
            REQUIRE(*wrong == "");
          }
    }
  }
}

TEST_CASE("spmv: which of uneven rows are streamed", "[spmv]") {
  constexpr int64_t cols = 300000;
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !supported(device, "spmv", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    const auto choice = [&](const std::vector<int64_t>& lengths) {
      return chosen(ctx, rows_of_lengths<double>(random, lengths, cols), KKC_OP_NONE, "{}");
    };
    INFO("seed " << seed() << ", " << name(device));
    // As of links between pages, and of a circuit with a few dense rows.
    std::vector<int64_t> web, circuit(60000, 4), graph(20000, 8), uneven, even;
    for (int64_t row = 0; row < 20000; ++row) web.push_back(row % 500 == 0 ? 350 : 3 + row % 7);
    append(circuit, 2, 6000);
    CHECK(choice(web) == "gpu_row_streamed");
    CHECK(choice(circuit) == "gpu_row_streamed");
    // Most entries of this one are in rows that are cut.
    append(graph, 30, 20000);
    CHECK(choice(graph) == "gpu_row_binned");
    // Not irregular.
    for (int64_t row = 0; row < 10000; ++row) {
      uneven.push_back(5 + row % 40);
      even.push_back(20 + row % 10);
    }
    CHECK(choice(uneven) == "gpu_row_split");
    append(uneven, 10, 60);
    CHECK(choice(uneven) == "gpu_row_streamed");
    CHECK(choice(even) == "gpu_row_staged");
  }
}

TEST_CASE("spmv: few columns of many entries are scattered, where the same bits are asked for gathered", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !supported(device, "spmv", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    const auto blocks = [&](int64_t count, int64_t size) {
      HostCsr<double> A;
      A.rows = A.cols = count * size;
      for (int64_t row = 0; row < A.rows; ++row) {
        for (int64_t k = 0; k < size; ++k) A.indices.push_back(row / size * size + k);
        A.offsets.push_back(A.nnz());
      }
      A.values = random_vector<double>(random, A.indices.size());
      return A;
    };
    INFO("seed " << seed() << ", " << name(device));
    CHECK(chosen(ctx, blocks(20, 150), KKC_OP_TRANSPOSE, "{}") == "gpu_transpose_scatter");
    CHECK(chosen(ctx, blocks(20, 150), KKC_OP_TRANSPOSE, R"({"deterministic": 1})") == "gpu_transpose_pattern");
    CHECK(chosen(ctx, blocks(1000, 6), KKC_OP_TRANSPOSE, "{}") == "gpu_transpose_pattern");
    CHECK(chosen(ctx, blocks(2500, 24), KKC_OP_TRANSPOSE, "{}") == "gpu_transpose_pattern");
  }
}

TEMPLATE_TEST_CASE("spmv: rows scattered together, of the same columns but for some", "[spmv]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !has_kernels<T>(device, "spmv")) continue;
    const Context ctx(device);
    Random random(seed());
    for (const int64_t size : {20, 24, 40, 61, 150, 600, 1100}) {
      HostCsr<T> A;
      A.rows = 5 * size + 7;
      A.cols = 8000;
      for (int64_t row = 0; row < A.rows; ++row) {
        // One entry more in front of some, fewer at the end of others.
        if (random() % 3 == 0) A.indices.push_back(random_int(random, 0, A.cols - 1));
        for (int64_t k = random() % 8 == 0 ? 3 : 0; k < size; ++k) A.indices.push_back(row / size * size + k);
        A.offsets.push_back(A.nnz());
      }
      A.values = random_vector<T>(random, A.indices.size());
      for (const kkc_op_t op : {KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN})
        for (const T beta : {T(0), T(0.5)})
          for (const kkc_index_pair_t pair : all_index_pairs) {
            if (!supported(device, "spmv", pair, scalar_tag<T>)) continue;
            SpmvCase<T> c;
            c.implementation = "gpu_transpose_scatter";
            c.op = op;
            c.pair = pair;
            c.base = static_cast<int32_t>(random() % 2);
            c.x_lie = random() % 2 == 0 ? Lie::vector : Lie::strided_vector;
            c.y_lie = random() % 2 == 0 ? Lie::vector : Lie::strided_vector;
            c.alpha = T(1.5);
            c.beta = beta;
            INFO("seed " << seed() << ", " << name(device) << ", blocks of " << size << ", " << c.text());
            const auto wrong = run_case(ctx, c, A, random);
            REQUIRE(wrong);
            REQUIRE(*wrong == "");
          }
    }
  }
}

// kkc_bench coo_to_csr: a CSR matrix from its entries in no order.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "bench_pass.hpp"

namespace kkc::bench {
namespace {

/// A matrix's entries as coordinates of the width of its columns.
struct Coordinates {
  std::vector<unsigned char> rows, cols, values;
};

/// The same in every run.
Coordinates shuffled(const CsrArrays& A, const std::vector<unsigned char>& offsets,
                     const std::vector<unsigned char>& columns, const std::vector<unsigned char>& values) {
  const auto width = static_cast<size_t>(ordinal_bytes(A.index)), each = static_cast<size_t>(scalar_bytes(A.scalar));
  std::vector<int64_t> order(static_cast<size_t>(A.nnz));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::minstd_rand random(11);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> row_of(order.size());
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t k = as_integer(A.index != KKC_INDEX_32_32, offsets.data(), i) - A.base;
         k < as_integer(A.index != KKC_INDEX_32_32, offsets.data(), i + 1) - A.base; ++k)
      row_of[static_cast<size_t>(k)] = i + A.base;
  Coordinates to{std::vector<unsigned char>(columns.size()), std::vector<unsigned char>(columns.size()),
                 std::vector<unsigned char>(values.size())};
  for (size_t k = 0; k < order.size(); ++k) {
    const auto from = static_cast<size_t>(order[k]);
    std::memcpy(&to.rows[k * width], &row_of[from], width);  // low bytes come first
    std::memcpy(&to.cols[k * width], &columns[from * width], width);
    std::memcpy(&to.values[k * each], &values[from * each], each);
  }
  return to;
}

}  // namespace

void coo_to_csr(Session& session) {
  run_pass(session, "coo_to_csr", [](const PassInput& in) {
    const CsrArrays& A = in.arrays;
    kkc_context_t* const ctx = in.bench.ctx.get();
    const auto expected_offsets = in.fetch(A.offsets, (A.rows + 1) * offset_bytes(A.index)),
               expected_columns = in.fetch(A.indices, A.nnz * ordinal_bytes(A.index)),
               expected_values = in.fetch(A.values, A.nnz * scalar_bytes(A.scalar));
    const Coordinates entries = shuffled(A, expected_offsets, expected_columns, expected_values);
    const auto on_device = [&](const std::vector<unsigned char>& host) {
      auto array = std::make_shared<DeviceArray>(ctx, host.size());
      array->upload(host.data());
      return array;
    };
    const auto rows = on_device(entries.rows), cols = on_device(entries.cols), values = on_device(entries.values);
    const kkc_scalar_t integer = A.index == KKC_INDEX_64_64 ? KKC_TYPE_I64 : KKC_TYPE_I32;
    const auto row_view = std::make_shared<View>(in.wrap(rows->data(), A.nnz, integer)),
               col_view = std::make_shared<View>(in.wrap(cols->data(), A.nnz, integer)),
               value_view = std::make_shared<View>(in.wrap(values->data(), A.nnz, A.scalar));
    const auto is_right = [=](const CsrArrays& C) {
      return in.fetch(C.offsets, (A.rows + 1) * offset_bytes(A.index)) == expected_offsets &&
             in.fetch(C.indices, A.nnz * ordinal_bytes(A.index)) == expected_columns &&
             in.fetch(C.values, A.nnz * scalar_bytes(A.scalar)) == expected_values;
    };
    const auto plan_it = [=] {
      return make<Plan>("kkc_coo_to_csr_plan", kkc_coo_to_csr_plan, ctx, A.rows, A.cols, A.base, row_view->get(),
                        col_view->get(), A.index, A.scalar, nullptr);
    };
    std::shared_ptr<kkc_plan_t> plan;
    std::vector<double> seconds;
    for (int attempt = 0; attempt < 4; ++attempt) {
      plan.reset();
      in.bench.timer->synchronize();
      seconds.push_back(wall_seconds([&] {
        plan = plan_it();
        in.bench.timer->synchronize();
      }));
    }
    const std::shared_ptr<kkc_matrix_t> C = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan.get());
    const auto execute = [=] {
      check(kkc_coo_to_csr_execute(plan.get(), value_view->get(), C.get()), "kkc_coo_to_csr_execute");
    };
    execute();
    if (!is_right(arrays_of(C.get()))) throw std::runtime_error(in.c.matrix + ": kkc's result is wrong");
    PassContenders made;
    made.bytes = static_cast<double>(A.nnz * (offset_bytes(A.index) + 2 * scalar_bytes(A.scalar)));
    made.add_kkc("kkc execute", quartiles(std::vector<double>(seconds.begin() + 1, seconds.end())).median, execute);
    made.add_kkc("kkc plan, output and execute", 0.0, [=] {
      const Plan fresh = plan_it();
      const Matrix result = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, fresh.get());
      check(kkc_coo_to_csr_execute(fresh.get(), value_view->get(), result.get()), "kkc_coo_to_csr_execute");
    });
    const auto offsets_C = on_device(expected_offsets), indices_C = on_device(expected_columns),
               values_C = on_device(expected_values);
    const ReorderProblem problem{in.c.device,
                                 0,
                                 in.bench.stream,
                                 in.c.threads,
                                 A.scalar,
                                 A.index,
                                 A.base,
                                 A.rows,
                                 A.cols,
                                 A.nnz,
                                 nullptr,
                                 cols->data(),
                                 values->data(),
                                 offsets_C->data(),
                                 indices_C->data(),
                                 values_C->data(),
                                 rows->data()};
    const auto wipe = [&] {
      for (const auto& array : {offsets_C, indices_C, values_C})
        array->upload(std::vector<unsigned char>(array->bytes(), 0xff).data());
    };
    CsrArrays result = A;
    result.offsets = offsets_C->data();
    result.indices = indices_C->data();
    result.values = values_C->data();
    made.kept = {rows, cols, values, offsets_C, indices_C, values_C};
    made.add_peers(
        in, [&](Peer& peer) { return peer.coo_to_csr(problem); }, wipe, [&] { return is_right(result); });
    return made;
  });
}

}  // namespace kkc::bench

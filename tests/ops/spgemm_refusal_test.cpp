// spgemm: what is refused, each with a sentence.
#include "support/catch.hpp"

#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

HostCsr<double> example(int64_t rows, int64_t cols) {
  Random random(11);
  return random_csr<double>(random, Shape::few, rows, cols);
}

bool serial() { return supported(KKC_DEVICE_SERIAL, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64); }

struct Operands {
  Context ctx{KKC_DEVICE_SERIAL};
  DeviceCsr<double> A{ctx, example(20, 30), KKC_INDEX_32_32, 0}, B{ctx, example(30, 10), KKC_INDEX_32_32, 0};
  Plan plan;
  const double one = 1, zero = 0;

  kkc_status_t make(const std::string& options = "", kkc_index_pair_t pair = KKC_INDEX_32_32,
                    const kkc_matrix_t* mask = nullptr) {
    return kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, mask, pair, Options(options), plan.out());
  }
};

}  // namespace

TEST_CASE("spgemm: operands that do not fit are refused with a sentence", "[spgemm]") {
  if (!serial()) return;
  Operands o;
  CHECK(kkc_spgemm_plan(o.ctx, KKC_OP_NONE, o.A, KKC_OP_TRANSPOSE, o.B, nullptr, KKC_INDEX_32_32, nullptr,
                        o.plan.out()) == KKC_STATUS_SIZE_MISMATCH);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("the columns of op_A(A)"));
  CHECK(kkc_spgemm_plan(o.ctx, 9, o.A, KKC_OP_NONE, o.B, nullptr, KKC_INDEX_32_32, nullptr, o.plan.out()) ==
        KKC_STATUS_INVALID_ARGUMENT);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("op_A is 9"));
  CHECK(kkc_spgemm_plan(o.ctx, KKC_OP_NONE, o.A, 0, o.B, nullptr, KKC_INDEX_32_32, nullptr, o.plan.out()) ==
        KKC_STATUS_INVALID_ARGUMENT);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("op_B is 0"));
  CHECK(o.make("", 9) == KKC_STATUS_INVALID_ARGUMENT);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("index_pair_C is 9"));
  CHECK(kkc_spgemm_plan(o.ctx, KKC_OP_NONE, nullptr, KKC_OP_NONE, o.B, nullptr, KKC_INDEX_32_32, nullptr,
                        o.plan.out()) == KKC_STATUS_NULL_POINTER);
  CHECK(o.make("", KKC_INDEX_64_64) == KKC_STATUS_TYPE_MISMATCH);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("column indices as wide as those of A"));
  const DeviceCsr<double> wide(o.ctx, example(30, 10), KKC_INDEX_32_64, 0),
      mask(o.ctx, example(20, 11), KKC_INDEX_32_32, 0);
  CHECK(kkc_spgemm_plan(o.ctx, KKC_OP_NONE, o.A, KKC_OP_NONE, wide, nullptr, KKC_INDEX_32_32, nullptr, o.plan.out()) ==
        KKC_STATUS_TYPE_MISMATCH);
  CHECK(o.make("", KKC_INDEX_32_32, mask) == KKC_STATUS_SIZE_MISMATCH);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("mask is 20 x 11"));
  CHECK(o.make(R"({"values": "kept"})") == KKC_STATUS_NOT_SUPPORTED);
  CHECK(o.make(R"({"order": 1})") == KKC_STATUS_UNKNOWN_OPTION);
  CHECK(o.make(R"({"base": 2})") != KKC_STATUS_SUCCESS);
  CHECK(o.make(R"({"implementation": "magic"})") == KKC_STATUS_UNKNOWN_OPTION);
  static_cast<int32_t*>(o.B.indices())[3] = 10;
  CHECK(o.make() == KKC_STATUS_INDEX_OUT_OF_RANGE);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("B: col_indices[3] is 10"));
}

TEST_CASE("spgemm: a C or values that are not the planned ones are refused", "[spgemm]") {
  if (!serial()) return;
  Operands o;
  ok(o.make());
  Matrix C;
  ok(kkc_plan_create_output(o.plan, C.out()));
  ok(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, C));
  CHECK(kkc_spgemm_execute(o.plan, nullptr, o.A, o.B, &o.zero, C) == KKC_STATUS_NULL_POINTER);
  CHECK(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, nullptr, C) == KKC_STATUS_NULL_POINTER);
  CHECK(kkc_spgemm_execute(o.plan, &o.one, o.B, o.B, &o.zero, C) == KKC_STATUS_SIZE_MISMATCH);
  CHECK(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, o.A) == KKC_STATUS_SIZE_MISMATCH);
  int64_t nnz = 0;
  ok(kkc_plan_output_nnz(o.plan, &nnz));
  std::vector<int32_t> offsets(21), indices(static_cast<size_t>(nnz));
  Matrix over_a;  // C's values where A's are
  std::vector<double> room(static_cast<size_t>(nnz) + o.A.values().size());
  ok(kkc_csr_create_output(o.ctx, 20, 10, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets.data(), indices.data(),
                           o.A.values().data(), over_a.out()));
  CHECK(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, over_a) == KKC_STATUS_INVALID_ARGUMENT);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("overlap those of A"));
}

TEST_CASE("spgemm: a changed pattern is found in checked mode", "[spgemm]") {
  if (!serial()) return;
  Operands o;
  ok(o.make(R"({"checked": 1})"));
  Matrix C;
  ok(kkc_plan_create_output(o.plan, C.out()));
  ok(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, C));
  auto* const column = static_cast<int32_t*>(o.B.indices()) + 2;
  const int32_t before = std::exchange(*column, *column == 0 ? 1 : 0);
  CHECK(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, C) == KKC_STATUS_PATTERN_CHANGED);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("B has another pattern"));
  *column = before;
  // An entry of A moved to the next row.
  auto* const offsets = static_cast<int32_t*>(o.A.offsets());
  int64_t row = 1;
  while (row < 19 && offsets[row] == offsets[row + 1]) ++row;
  ++offsets[row];
  CHECK(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, C) == KKC_STATUS_PATTERN_CHANGED);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("A has another pattern"));
  --offsets[row];
  ok(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, C));

  int64_t nnz = 0;
  ok(kkc_plan_output_nnz(o.plan, &nnz));
  std::vector<int32_t> starts(21), columns(static_cast<size_t>(nnz));
  std::vector<double> values(static_cast<size_t>(nnz));
  Matrix own;
  ok(kkc_csr_create_output(o.ctx, 20, 10, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 0, starts.data(), columns.data(),
                           values.data(), own.out()));
  ok(kkc_plan_output_pattern(o.plan, own));
  ok(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, own));
  columns[0] = columns[0] == 0 ? 1 : 0;
  CHECK(kkc_spgemm_execute(o.plan, &o.one, o.A, o.B, &o.zero, own) == KKC_STATUS_PATTERN_CHANGED);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("C has another pattern"));
}

TEST_CASE("spgemm: more entries than 32 bits count are refused with their number", "[spgemm]") {
  if (!serial()) return;
  const Context ctx(KKC_DEVICE_SERIAL);
  // A column of 50000 ones times a row of 50000 ones: 2.5e9 entries.
  HostCsr<double> column, row;
  column.rows = row.cols = 50000;
  column.cols = row.rows = 1;
  for (int64_t i = 1; i <= 50000; ++i)
    column.offsets.push_back(i), column.indices.push_back(0), row.indices.push_back(i - 1);
  row.offsets.push_back(50000);
  column.values.assign(50000, 1);
  row.values.assign(50000, 1);
  const DeviceCsr<double> A(ctx, column, KKC_INDEX_32_32, 0), B(ctx, row, KKC_INDEX_32_32, 0);
  Plan plan;
  CHECK(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, KKC_INDEX_32_32, nullptr, plan.out()) ==
        KKC_STATUS_OVERFLOW);
  CHECK_THAT(kkc_last_error(), ContainsSubstring("2500000000"));
}

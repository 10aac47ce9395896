// What tests of sparse products on GPUs share: rows of given columns, the same bits in two ways, what plans say.
#pragma once

#include <set>
#include <type_traits>

#include "support/catch.hpp"
#include "support/spgemm_case.hpp"

namespace kkc_test {

/// `count` different columns below `cols`, in order.
inline std::vector<int64_t> different(Random& random, int64_t count, int64_t cols) {
  if (16 * count < cols) {
    std::set<int64_t> few;
    while (static_cast<int64_t>(few.size()) < count)
      few.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(cols)));
    return {few.begin(), few.end()};
  }
  std::vector<bool> taken(static_cast<size_t>(cols), false);
  for (int64_t left = count; left > 0;) {
    const auto column = static_cast<size_t>(random() % static_cast<uint64_t>(cols));
    if (taken[column]) continue;
    taken[column] = true;
    --left;
  }
  std::vector<int64_t> columns;
  for (size_t column = 0; column < taken.size(); ++column)
    if (taken[column]) columns.push_back(static_cast<int64_t>(column));
  return columns;
}

/// Row i: count(i) of the `width` columns from begin(i) on.
template <class Count, class Begin>
std::vector<std::vector<int64_t>> rows_within(Random& random, int64_t rows, int64_t width, const Count& count,
                                              const Begin& begin) {
  std::vector<std::vector<int64_t>> of(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) {
    auto& row = of[static_cast<size_t>(i)];
    row = different(random, count(i), width);
    for (int64_t& column : row) column += begin(i);
  }
  return of;
}

/// The GPUs whose library multiplies such matrices.
template <class T>
std::vector<kkc_device_t> gpus_for() {
  std::vector<kkc_device_t> gpus;
  for (const kkc_device_t device : devices())
    if (is_gpu(device) && supported(device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>)) gpus.push_back(device);
  return gpus;
}

template <class T>
void run(const Context& ctx, const SpgemmCase<T>& c, const HostCsr<T>& A, const HostCsr<T>& B,
         const std::type_identity_t<HostCsr<T>>* mask, Random& random) {
  const auto wrong = run_case(ctx, c, A, B, mask, random);
  if (wrong) REQUIRE(*wrong == "");
}

/// C's values, of the same operands' values in each call.
template <class T>
std::vector<T> bits(const Context& ctx, const SpgemmCase<T>& c, const HostCsr<T>& A, const HostCsr<T>& B) {
  Random same(seed());
  std::vector<T> values;
  const HostCsr<T>* const none = nullptr;
  const auto wrong = run_case(ctx, c, A, B, none, same, &values);
  REQUIRE(wrong);
  REQUIRE(*wrong == "");
  return values;
}

/// Bytes of workspace for a product: slots and words have room then, lists of products have not.
inline constexpr int64_t without_lists = 7;

/// The number that the plan says under `key`.
template <class T>
int64_t said(const char* key, const Context& ctx, const SpgemmCase<T>& c, const HostCsr<T>& A, const HostCsr<T>& B) {
  const DeviceCsr<T> a(ctx, A, c.pair, c.base_a), b(ctx, B, c.pair, c.base_b);
  Plan plan;
  ok(kkc_spgemm_plan(ctx, c.op_a, a, c.op_b, b, nullptr, c.pair_c, Options(c.options()), plan.out()));
  const char* info = nullptr;
  ok(kkc_plan_info(plan, &info));
  const std::string text = info, name = "\"" + std::string(key) + "\":";
  const auto at = text.find(name);
  REQUIRE(at != std::string::npos);
  return std::stoll(text.substr(at + name.size()));
}

/// Row i holds the columns i + at for all `at`.
inline HostCsr<double> diagonals(int64_t rows, const std::vector<int64_t>& at) {
  std::vector<std::vector<int64_t>> of(static_cast<size_t>(rows), at);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t& column : of[static_cast<size_t>(i)]) column += i;
  return from_rows(rows + at.back(), of);
}
inline std::vector<int64_t> every(int64_t step, int64_t count) {
  std::vector<int64_t> at;
  for (int64_t k = 0; k < count; ++k) at.push_back(k * step);
  return at;
}

}  // namespace kkc_test

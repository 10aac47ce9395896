// One Jacobi-fused product through kkc.h, and what loops over the host's copies give.
#pragma once

#include <string>

#include "support/spgemm_case.hpp"

namespace kkc_test {

/// Diagonal entries away from zero.
template <class T>
void new_values(Random& random, HostCsr<T>& A) {
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t p = A.offsets[static_cast<size_t>(i)]; p < A.offsets[static_cast<size_t>(i) + 1]; ++p) {
      const auto at = static_cast<size_t>(p);
      A.values[at] = random_value<T>(random) + (A.indices[at] == i ? T(3) : T(0));
    }
}

template <class T>
struct JacobiCase {
  std::string implementation;
  kkc_index_pair_t pair, pair_c;
  int32_t base;
  bool given, device_scalars;
};

inline const std::string not_taken = "not taken";

/// "", what is wrong with C in one of two executes, or not_taken.
template <class T>
std::string wrong(const Context& ctx, const JacobiCase<T>& c, HostCsr<T> A, HostCsr<T> B, Random& random) {
  new_values(random, A);
  B.values = random_vector<T>(random, B.values.size());
  DeviceCsr<T> A_device(ctx, A, c.pair, c.base), B_device(ctx, B, c.pair, 1 - c.base);
  Plan plan;
  const kkc_status_t planned =
      kkc_spgemm_jacobi_plan(ctx, A_device, B_device, c.pair_c,
                             Options("{\"implementation\": \"" + c.implementation + "\", \"scalars\": \"" +
                                     (c.device_scalars ? "device" : "host") + "\"}"),
                             plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && c.implementation.find("aggregates") != std::string::npos) return not_taken;
  ok(planned);
  Matrix C;
  ok(kkc_plan_create_output(plan, C.out()));
  for (int repeat = 0; repeat < 2; ++repeat) {
    new_values(random, A);
    B.values = random_vector<T>(random, B.values.size());
    A_device.values().set(A.values);
    B_device.values().set(B.values);
    const auto inverse = random_vector<T>(random, c.given ? static_cast<size_t>(A.rows) : 0);
    const Array<T> inverse_device(ctx, inverse);
    const View dinv = wrap(ctx, inverse_device.data(), {static_cast<int64_t>(inverse.size())});
    const T omega = random_value<T>(random);
    const Array<T> omega_device(ctx, std::vector<T>{omega});
    const kkc_view_t* given = c.given ? static_cast<kkc_view_t*>(dinv) : nullptr;
    ok(kkc_spgemm_jacobi_execute(plan, c.device_scalars ? omega_device.data() : &omega, given, A_device, B_device, C));
    int64_t where = 0, count = 0;
    ok(kkc_plan_check(plan, &where, &count));
    SpgemmCase<T> as_product;
    const std::string text =
        wrong_product(as_product, jacobi_rows(A, B, omega, inverse), download<T>(ctx, C), std::vector<T>());
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace kkc_test

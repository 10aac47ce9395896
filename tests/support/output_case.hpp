// Plans whose output is a matrix: its pattern through both ways of the API, and patterns without values on devices.
#pragma once

#include <cstring>
#include <string>

#include "support/catch.hpp"
#include "support/devices.hpp"
#include "support/host_csr.hpp"
#include "support/plan_info.hpp"

namespace kkc_test {

/// A matrix over arrays of the test's own, to be filled by a plan.
template <class T>
class OutputCsr {
 public:
  OutputCsr(const Context& ctx, int64_t rows, int64_t cols, int64_t nnz, kkc_index_pair_t pair, int32_t base)
      : offsets_(ctx, static_cast<size_t>(rows + 1) * (pair == KKC_INDEX_32_32 ? 4 : 8)),
        indices_(ctx, static_cast<size_t>(nnz) * (pair == KKC_INDEX_64_64 ? 8 : 4)),
        values_(ctx, static_cast<size_t>(nnz)) {
    ok(kkc_csr_create_output(ctx, rows, cols, nnz, pair, scalar_tag<T>, base, offsets_.data(), indices_.data(),
                             values_.data(), matrix_.out()));
  }
  operator kkc_matrix_t*() const { return matrix_; }
  Array<T>& values() { return values_; }

 private:
  Array<unsigned char> offsets_, indices_;
  Array<T> values_;
  Matrix matrix_;
};

template <class T>
void check_same(const HostCsr<T>& is, const HostCsr<T>& expected) {
  CHECK(is.rows == expected.rows);
  CHECK(is.cols == expected.cols);
  CHECK((is.offsets == expected.offsets));
  CHECK((is.indices == expected.indices));
  // Bits, so that a NaN is equal to itself and -0 is not 0.
  REQUIRE(is.values.size() == expected.values.size());
  CHECK(
      (is.values.empty() || std::memcmp(is.values.data(), expected.values.data(), is.values.size() * sizeof(T)) == 0));
}

/// Calls f(T{}, device, pair) for all that this build has kernels for.
template <class F>
void for_all_types(const char* operation, F&& f) {
  for (const kkc_device_t device : devices())
    for (const kkc_index_pair_t pair : all_index_pairs) {
      const auto one = [&]<class T>(T) {
        if (!supported(device, operation, pair, scalar_tag<T>)) return;
        INFO(name(device) << " pair " << pair << " scalar " << scalar_tag<T>);
        f(T{}, device, pair);
      };
      one(float{});
      one(double{});
      one(std::complex<float>{});
      one(std::complex<double>{});
    }
}

}  // namespace kkc_test

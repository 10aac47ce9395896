// alpha and beta as kernels take them.
#include "core/operands.hpp"

#include "support/catch.hpp"

namespace {

/// As kernels' complex types are, which Kokkos and GPUs align as a whole.
struct alignas(16) Pair {
  double re, im;
};

}  // namespace

TEST_CASE("coefficients of host memory may be aligned as their parts are", "[parts]") {
  alignas(16) const double numbers[3] = {1, 2, 3};
  const double* volatile second = numbers + 1;  // 8 bytes behind a multiple of 16
  const auto f = kkc::factor<Pair>({second, false});
  CHECK(f.pointer == nullptr);
  CHECK(f.get().re == 2);
  CHECK(f.get().im == 3);
}

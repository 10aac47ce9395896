// The application's own Kokkos works before, between and after its use of kkc.
#include <Kokkos_Core.hpp>
#include <cstdio>

extern "C" int use_kkc(int argc, char** argv);

static bool own_sum_is_right() {
  const int n = 100000;
  Kokkos::View<double*> v("v", n);
  Kokkos::parallel_for(
      n, KOKKOS_LAMBDA(int i) { v(i) = i; });
  double sum = 0;
  Kokkos::parallel_reduce(
      n, KOKKOS_LAMBDA(int i, double& s) { s += v(i); }, sum);
  return sum == 0.5 * n * (n - 1.0);
}

int main(int argc, char** argv) {
  if (use_kkc(argc, argv) != 0) return 1;
  {
    Kokkos::ScopeGuard guard(argc, argv);
    if (!own_sum_is_right()) return 2;
    if (use_kkc(argc, argv) != 0) return 3;
    if (!own_sum_is_right()) return 4;
  }
  if (use_kkc(argc, argv) != 0) return 5;
  std::puts("both Kokkos work");
  return 0;
}

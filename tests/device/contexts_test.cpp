// Several contexts in one process: two of one device at once on one matrix, and devices of different kinds.
#include <thread>

#include "support/catch.hpp"
#include "support/devices.hpp"
#include "support/handles.hpp"

namespace {

using namespace kkc_test;

constexpr int64_t vectors = 3;

Matrix generate(const Context& ctx, const char* name) {
  Matrix A;
  ok(kkc_matrix_generate(ctx, name, Options("{\"size\": \"small\"}"), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()));
  return A;
}

int64_t rows_of(const Matrix& A) {
  int64_t n = 0;
  ok(kkc_csr_get(A, &n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  return n;
}

/// Small integers, so that sums are exact in any order.
std::vector<double> integers(int64_t n, int64_t shift) {
  std::vector<double> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i)] = static_cast<double>((i * 7 + shift) % 11 - 5);
  return v;
}

/// y = times A x for small integers; the stencils' values are halves, so every order of summing gives the same bits.
std::vector<double> products(const Context& ctx, const Matrix& A, int64_t shift, int times) {
  const int64_t n = rows_of(A);
  const Array<double> x_data(ctx, integers(n * vectors, shift)),
      y_data(ctx, std::vector<double>(static_cast<size_t>(n * vectors), 0.0));
  const View x = wrap(ctx, x_data.data(), {n, vectors}), y = wrap(ctx, y_data.data(), {n, vectors});
  Plan plan;
  ok(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, nullptr, plan.out()));
  const double alpha = 1, beta = 1;
  for (int i = 0; i < times; ++i) ok(kkc_spmv_execute(plan, &alpha, A, x, &beta, y));
  return y_data.get();
}

}  // namespace

TEST_CASE("two contexts of one device work at once on one matrix", "[device]") {
  for (const kkc_device_t device : devices()) {
    INFO("device " << name(device));
    const bool openmp = device == KKC_DEVICE_OPENMP;
    const Context a(device, openmp ? "{\"threads\": 2}" : ""), b(device, openmp ? "{\"threads\": 3}" : "");
    const Matrix A = generate(a, "lap3d27");
    const std::vector<double> first = products(a, A, 1, 20), second = products(b, A, 4, 20);
    std::vector<double> first_again, second_again;
    std::string failure;
    const auto work = [&](const Context& ctx, int64_t shift, std::vector<double>& result) {
      try {
        for (int i = 0; i < 5; ++i) result = products(ctx, A, shift, 20);
      } catch (const std::exception& error) {
        failure = error.what();
      }
    };
    std::thread one([&] { work(a, 1, first_again); }), two([&] { work(b, 4, second_again); });
    one.join();
    two.join();
    INFO(failure);
    CHECK(failure.empty());
    CHECK(first_again == first);
    CHECK(second_again == second);
  }
}

TEST_CASE("devices of different kinds work in one process", "[device]") {
  const Context serial(KKC_DEVICE_SERIAL);
  const Matrix on_serial = generate(serial, "lap3d27");
  const std::vector<double> expected = products(serial, on_serial, 2, 3);
  for (const kkc_device_t device : devices()) {
    INFO("device " << name(device));
    const Context ctx(device);
    Matrix A;
    ok(kkc_matrix_copy(ctx, on_serial, A.out()));
    std::vector<double> there, here;
    std::thread other([&] { here = products(serial, on_serial, 2, 3); });
    there = products(ctx, A, 2, 3);
    other.join();
    CHECK(there == expected);
    CHECK(here == expected);
  }
}

TEST_CASE("contexts come and go while another works", "[device]") {
  for (const kkc_device_t device : devices()) {
    INFO("device " << name(device));
    const Context kept(device);
    const Matrix A = generate(kept, "lap3d7");
    const std::vector<double> expected = products(kept, A, 3, 4);
    std::thread churn([&] {
      for (int i = 0; i < 6; ++i) {
        const Context brief(device);
        products(brief, A, i, 1);
      }
    });
    for (int i = 0; i < 6; ++i) CHECK(products(kept, A, 3, 4) == expected);
    churn.join();
  }
}

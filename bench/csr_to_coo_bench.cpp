// kkc_bench csr_to_coo: the row of each entry.
#include "bench_pass.hpp"

namespace kkc::bench {

void csr_to_coo(Session& session) {
  run_pass(session, "csr_to_coo", [](const PassInput& in) {
    const int64_t nnz = in.arrays.nnz, each = ordinal_bytes(in.c.index);
    const bool wide = in.c.index == KKC_INDEX_64_64;
    const auto result = std::make_shared<DeviceArray>(in.bench.ctx.get(), static_cast<size_t>(nnz * each));
    const auto rows = std::make_shared<View>(in.wrap(result->data(), nnz, wide ? KKC_TYPE_I64 : KKC_TYPE_I32));
    const auto offsets = in.fetch(in.arrays.offsets, (in.arrays.rows + 1) * offset_bytes(in.c.index));
    const auto right = [=] {
      const auto got = in.fetch(result->data(), nnz * each);
      for (int64_t i = 0; i < in.arrays.rows; ++i)
        for (int64_t k = as_integer(in.c.index != KKC_INDEX_32_32, offsets.data(), i) - in.arrays.base;
             k < as_integer(in.c.index != KKC_INDEX_32_32, offsets.data(), i + 1) - in.arrays.base; ++k)
          if (as_integer(wide, got.data(), k) != i + in.arrays.base) return false;
      return true;
    };
    const std::vector<unsigned char> wiped(result->bytes(), 0xff);
    PassContenders made;
    made.kept = {result};
    made.bytes = static_cast<double>(in.arrays.rows * offset_bytes(in.c.index) + nnz * each);
    const auto run = [rows, ctx = in.bench.ctx.get(), A = in.A] {
      check(kkc_csr_to_coo(ctx, A, rows->get()), "kkc_csr_to_coo");
    };
    result->upload(wiped.data());
    run();
    if (!right()) throw std::runtime_error(in.c.matrix + ": kkc's rows are wrong");
    made.add_kkc("kkc", 0.0, run);
    PassProblem problem = in.problem();
    problem.result = result->data();
    made.add_peers(
        in, [&](Peer& peer) { return peer.csr_to_coo(problem); }, [&] { result->upload(wiped.data()); }, right);
    return made;
  });
}

}  // namespace kkc::bench

// kkc_bench sptrsv: op(T) x = b for the lower and the upper triangle of a matrix (NAME, or NAME:lower and NAME:upper),
// or for its factors (ilu0:NAME, superlu:NAME).
#include <algorithm>

#include "bench_triangle.hpp"
#include "bench_vectors.hpp"

namespace kkc::bench {
namespace {

/// Everything that one copy of a case's data owns.
struct Copy {
  Matrix T;
  DeviceArray b, x;
  View b_view, x_view;
  SptrsvProblem problem;
};

Copy copy_of(Bench& bench, const Case& c, const HostTriangle& host, const std::vector<unsigned char>& right) {
  kkc_context_t* ctx = bench.ctx.get();
  Matrix T = make<Matrix>("kkc_csr_create_copy", kkc_csr_create_copy, ctx, host.rows, host.rows, host.nnz, host.index,
                          host.scalar, 0, host.offsets.data(), host.indices.data(), host.values.data());
  const CsrArrays arrays = arrays_of(T.get());
  DeviceArray b(ctx, right.size()), x(ctx, right.size());
  b.upload(right.data());
  const int64_t extents[2] = {host.rows, c.vectors};
  const auto wrap = [&](void* data) {
    return make<View>("kkc_view_wrap", kkc_view_wrap, ctx, c.scalar, c.vectors == 1 ? 1 : 2, extents, c.layout, nullptr,
                      on_gpu(c.device) ? KKC_SPACE_DEVICE : KKC_SPACE_HOST, data);
  };
  View b_view = wrap(b.data()), x_view = wrap(x.data());
  SptrsvProblem p{};
  p.device = c.device;
  p.stream = bench.stream;
  p.threads = c.threads;
  p.scalar = c.scalar;
  p.index = c.index;
  p.rows = host.rows, p.nnz = host.nnz;
  p.offsets = arrays.offsets, p.indices = arrays.indices, p.values = arrays.values;
  p.op = c.op;
  p.lower = host.lower;
  p.vectors = c.vectors;
  p.layout = c.layout;
  p.b = b.data();
  p.x = x.data();
  p.ld = c.layout == KKC_LAYOUT_LEFT ? host.rows : c.vectors;
  return {std::move(T), std::move(b), std::move(x), std::move(b_view), std::move(x_view), p};
}

/// kkc's calls on each copy.
PlannedVectors calls_of(Bench& bench, const Case& c, const std::vector<Copy>& copies) {
  return {[&bench, &c, &copies](size_t k, kkc_options_t* options) {
            const Copy& at = copies[k];
            return make<Plan>("kkc_sptrsv_plan", kkc_sptrsv_plan, bench.ctx.get(), c.op,
                              at.problem.lower ? KKC_UPLO_LOWER : KKC_UPLO_UPPER, KKC_DIAG_STORED, at.T.get(),
                              at.b_view.get(), at.x_view.get(), options);
          },
          [&copies](kkc_plan_t* plan, size_t k) {
            check(kkc_sptrsv_set_values(plan, copies[k].T.get()), "kkc_sptrsv_set_values");
          },
          [&copies, one = element(c.scalar, 1.0)](kkc_plan_t* plan, size_t k) {
            const Copy& at = copies[k];
            check(kkc_sptrsv_execute(plan, one.data(), at.T.get(), at.b_view.get(), at.x_view.get()),
                  "kkc_sptrsv_execute");
          }};
}

/// Runs once into an x full of NaN.
double verify(Bench& bench, const Case& c, Copy& copy, const HostTriangle& host, const std::vector<unsigned char>& b,
              const VectorContender& contender) {
  std::vector<unsigned char> x(copy.x.bytes(), 0xff);
  copy.x.upload(x.data());
  contender.candidate.runs.front()();
  bench.timer->synchronize();
  if (contender.fetch) contender.fetch();
  check(kkc_context_synchronize(bench.ctx.get()), "kkc_context_synchronize");
  copy.x.download(x.data());
  const bool left = c.layout == KKC_LAYOUT_LEFT;
  return solve_error(host, c.op, c.vectors, b.data(), x.data(), left ? 1 : c.vectors, left ? host.rows : 1);
}

void run_case(Session& session, const Case& c, const HostTriangle& host) {
  Bench& bench = session.bench(c.device, c.threads);
  const int64_t s = scalar_bytes(c.scalar);
  const int64_t bytes =
      host.nnz * (s + ordinal_bytes(c.index)) + (host.rows + 1) * offset_bytes(c.index) + 2 * host.rows * c.vectors * s;
  const auto b = random_vector(c.scalar, host.rows * c.vectors, 1);
  const int wanted = session.copies(bench, bytes);
  std::vector<Copy> copies;
  for (int k = 0; k < std::max(wanted, 1); ++k) copies.push_back(copy_of(bench, c, host, b));

  Json& entry = session.add_case();
  entry = {{"matrix", c.matrix},
           {"rows", host.rows},
           {"nnz", host.nnz},
           {"device", device_name(c.device)},
           {"threads", c.threads},
           {"scalar", scalar_name(c.scalar)},
           {"index", index_name(c.index)},
           {"op", op_name(c.op)},
           {"vectors", c.vectors},
           {"layout", layout_name(c.layout)},
           {"copies", copies.size()}};
  auto& left_out = entry["left_out"] = Json::object();

  std::vector<VectorContender> contenders;
  std::vector<std::pair<std::string, std::string>> variants;
  for (const auto& options : session.arguments().options)
    variants.emplace_back(options.empty() || options == "{}" ? "kkc" : "kkc " + options, options);
  if (variants.empty()) variants = {{"kkc", ""}, {"kkc kept", R"({"values":"kept"})"}};
  for (const auto& [name, options] : variants) {
    try {
      contenders.push_back(vector_contender(bench, copies.size(), name, options, calls_of(bench, c, copies)));
    } catch (const std::exception& error) {
      left_out[name] = error.what();
      session.print("  " + name + ": " + error.what());
    }
  }
  for (Peer* peer : session.peers(c.device)) {
    try {
      std::vector<std::vector<Entrant>> entrants;
      for (const Copy& copy : copies) entrants.push_back(peer->sptrsv(copy.problem));
      for (auto& contender : vector_contenders(*peer, std::move(entrants))) contenders.push_back(std::move(contender));
    } catch (const std::exception& error) {
      left_out[peer->name()] = error.what();
    }
  }
  drop_wrong(
      contenders, c.matrix,
      [&](const VectorContender& contender) { return verify(bench, c, copies.front(), host, b, contender); }, left_out);
  measure_vectors(session, bench, entry, "sptrsv", c, host.rows, host.nnz, wanted, contenders,
                  static_cast<double>(bytes), 2.0 * static_cast<double>(host.nnz * c.vectors));
}

}  // namespace

void sptrsv(Session& session) {
  const Arguments& a = session.arguments();
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  for (const auto& given : a.matrices)
    for (const bool lower : {true, false}) {
      const std::string suffix = lower ? ":lower" : ":upper";
      const auto ends_in = [&](const std::string& end) {
        return given.size() > end.size() && given.compare(given.size() - end.size(), end.size(), end) == 0;
      };
      if (ends_in(lower ? ":upper" : ":lower")) continue;
      const std::string matrix = ends_in(suffix) ? given.substr(0, given.size() - suffix.size()) : given;
      for (const auto& scalar : a.scalars)
        for (const auto& index : a.indices) {
          std::unique_ptr<HostTriangle> host;  // only for cases that are run
          for (const auto& device : a.devices)
            for (const int32_t threads : a.threads)
              for (const auto& op : a.ops)
                for (const int64_t vectors : a.vectors)
                  for (const auto& layout : a.layouts) {
                    if (vectors == 1 && layout != a.layouts.front()) continue;
                    const kkc_device_t on = device_of(device);
                    const Case c{matrix + suffix, on,      scalar_of(scalar), index_of(index),
                                 op_of(op),       vectors, layout_of(layout), session.threads_on(on, threads)};
                    session.attempt("sptrsv " + c.matrix + " " + scalar + " op " + op + " on " + device, [&] {
                      if (!host)
                        host = std::make_unique<HostTriangle>(
                            load_triangle(session, loader.get(), matrix, lower, c.index, c.scalar));
                      run_case(session, c, *host);
                    });
                  }
        }
    }
}

}  // namespace kkc::bench

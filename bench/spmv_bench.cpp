// kkc_bench spmv: y = op(A) x.
#include <algorithm>
#include <limits>

#include "bench_matrix.hpp"
#include "bench_vectors.hpp"
#include "spmv_oracle.hpp"

namespace kkc::bench {
namespace {

/// Everything that one copy of a case's data owns.
struct Copy {
  Matrix own;  // null: the loaded matrix itself serves
  kkc_matrix_t* A;
  DeviceArray x, y;
  View x_view, y_view;
  SpmvProblem problem;
};

struct Variant {
  std::string name, options;
};

std::vector<Variant> variants(const Arguments& arguments, kkc_op_t op) {
  std::vector<Variant> list;
  for (const auto& options : arguments.options)
    list.push_back({options.empty() || options == "{}" ? "kkc" : "kkc " + options, options});
  if (!list.empty()) return list;
  const bool transposed = op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN;
  return {{"kkc", ""}, {"kkc kept", transposed ? R"({"values":"kept","transpose":"kept"})" : R"({"values":"kept"})"}};
}

View wrap(kkc_context_t* ctx, const SpmvProblem& p, void* data, int64_t rows) {
  const int64_t extents[2] = {rows, p.vectors};
  const kkc_space_t space = on_gpu(p.device) ? KKC_SPACE_DEVICE : KKC_SPACE_HOST;
  return make<View>("kkc_view_wrap", kkc_view_wrap, ctx, p.scalar, p.vectors == 1 ? 1 : 2, extents, p.layout, nullptr,
                    space, data);
}

Copy copy_of(Bench& bench, const Case& c, const Matrix& loaded, const CsrArrays& host, bool share,
             const std::vector<unsigned char>& x) {
  Matrix own;
  if (!share) own = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), loaded.get());
  kkc_matrix_t* A = share ? loaded.get() : own.get();
  const CsrArrays arrays = arrays_of(A);
  SpmvProblem p{};
  p.device = c.device;
  p.stream = bench.stream;
  p.threads = c.threads;
  p.scalar = c.scalar;
  p.index = c.index;
  p.base = arrays.base;
  p.rows = host.rows, p.cols = host.cols, p.nnz = host.nnz;
  p.offsets = arrays.offsets, p.indices = arrays.indices, p.values = arrays.values;
  p.op = c.op;
  p.vectors = c.vectors;
  p.layout = c.layout;
  p.ldx = c.layout == KKC_LAYOUT_LEFT ? p.x_rows() : c.vectors;
  p.ldy = c.layout == KKC_LAYOUT_LEFT ? p.y_rows() : c.vectors;
  DeviceArray x_data(bench.ctx.get(), x.size());
  DeviceArray y_data(bench.ctx.get(), static_cast<size_t>(p.y_rows() * c.vectors * scalar_bytes(c.scalar)));
  x_data.upload(x.data());
  p.x = x_data.data();
  p.y = y_data.data();
  auto x_view = wrap(bench.ctx.get(), p, x_data.data(), p.x_rows());
  auto y_view = wrap(bench.ctx.get(), p, y_data.data(), p.y_rows());
  return {std::move(own), A, std::move(x_data), std::move(y_data), std::move(x_view), std::move(y_view), p};
}

/// kkc's calls on each copy.
PlannedVectors calls_of(Bench& bench, const Case& c, const std::vector<Copy>& copies) {
  return {
      [&bench, &c, &copies](size_t k, kkc_options_t* options) {
        return make<Plan>("kkc_spmv_plan", kkc_spmv_plan, bench.ctx.get(), c.op, copies[k].A, copies[k].x_view.get(),
                          copies[k].y_view.get(), options);
      },
      [&copies](kkc_plan_t* plan, size_t k) { check(kkc_spmv_set_values(plan, copies[k].A), "kkc_spmv_set_values"); },
      [&copies, one = element(c.scalar, 1.0), zero = element(c.scalar, 0.0)](kkc_plan_t* plan, size_t k) {
        const Copy& at = copies[k];
        check(kkc_spmv_execute(plan, one.data(), at.A, at.x_view.get(), zero.data(), at.y_view.get()),
              "kkc_spmv_execute");
      }};
}

/// Runs once into a y full of NaN; the error as the oracle tells it.
double verify(Bench& bench, const Case& c, Copy& copy, const SpmvOracle& oracle, const VectorContender& contender) {
  std::vector<unsigned char> y(copy.y.bytes(), 0xff);
  copy.y.upload(y.data());
  contender.candidate.runs.front()();
  bench.timer->synchronize();
  if (contender.fetch) contender.fetch();
  check(kkc_context_synchronize(bench.ctx.get()), "kkc_context_synchronize");
  copy.y.download(y.data());
  const bool left = c.layout == KKC_LAYOUT_LEFT;
  return oracle.error(c.scalar, y.data(), left ? 1 : c.vectors, left ? copy.problem.y_rows() : 1);
}

void run_case(Session& session, const Case& c, kkc_device_t loaded_on, const Matrix& loaded) {
  Bench& bench = session.bench(c.device, c.threads);
  const CsrArrays host = arrays_of(loaded.get());
  const bool transposed = c.op == KKC_OP_TRANSPOSE || c.op == KKC_OP_HERMITIAN;
  const int64_t x_rows = transposed ? host.rows : host.cols, y_rows = transposed ? host.cols : host.rows;
  const int64_t s = scalar_bytes(c.scalar);
  const int64_t bytes = host.nnz * (s + ordinal_bytes(c.index)) + (host.rows + 1) * offset_bytes(c.index) +
                        (x_rows + y_rows) * c.vectors * s;
  const double flops = static_cast<double>(host.nnz * c.vectors) * (is_complex(c.scalar) ? 8.0 : 2.0);

  const auto x = random_vector(c.scalar, x_rows * c.vectors, 1);
  const bool left = c.layout == KKC_LAYOUT_LEFT;
  const SpmvOracle oracle(host, c.op, c.vectors, x.data(), left ? 1 : c.vectors, left ? x_rows : 1);

  const int wanted = session.copies(bench, bytes);
  std::vector<Copy> copies;
  for (int k = 0; k < std::max(wanted, 1); ++k)
    copies.push_back(copy_of(bench, c, loaded, host, wanted == 1 && loaded_on == c.device, x));

  Json& entry = session.add_case();
  entry = {{"matrix", c.matrix},
           {"rows", host.rows},
           {"cols", host.cols},
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
  for (const auto& variant : variants(session.arguments(), c.op)) {
    try {
      contenders.push_back(
          vector_contender(bench, copies.size(), variant.name, variant.options, calls_of(bench, c, copies)));
    } catch (const std::exception& error) {
      left_out[variant.name] = error.what();
      session.print("  " + variant.name + ": " + error.what());
    }
  }
  for (Peer* peer : session.peers(c.device)) {
    try {
      std::vector<std::vector<Entrant>> entrants;
      for (const Copy& copy : copies) entrants.push_back(peer->spmv(copy.problem));
      for (auto& contender : vector_contenders(*peer, std::move(entrants))) contenders.push_back(std::move(contender));
    } catch (const std::exception& error) {
      left_out[peer->name()] = error.what();
    }
  }
  drop_wrong(
      contenders, c.matrix,
      [&](const VectorContender& contender) { return verify(bench, c, copies.front(), oracle, contender); }, left_out);
  measure_vectors(session, bench, entry, "spmv", c, host.rows, host.nnz, wanted, contenders, static_cast<double>(bytes),
                  flops);
}

}  // namespace

void spmv(Session& session) {
  const Arguments& a = session.arguments();
  constexpr kkc_device_t loaded_on = KKC_DEVICE_OPENMP;
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, loaded_on, 0, nullptr, nullptr);
  for (const auto& matrix : a.matrices)
    for (const auto& scalar : a.scalars)
      for (const auto& index : a.indices) {
        Matrix loaded;  // only for cases that are run
        for (const auto& device : a.devices)
          for (const int32_t threads : a.threads)
            for (const auto& op : a.ops)
              for (const int64_t vectors : a.vectors)
                for (const auto& layout : a.layouts) {
                  if (vectors == 1 && layout != a.layouts.front()) continue;
                  const kkc_device_t on = device_of(device);
                  const Case c{matrix,    on,      scalar_of(scalar), index_of(index),
                               op_of(op), vectors, layout_of(layout), session.threads_on(on, threads)};
                  session.attempt("spmv " + matrix + " " + scalar + " op " + op + " on " + device, [&] {
                    if (!loaded) loaded = load_matrix(session, loader.get(), matrix, c.index, c.scalar);
                    run_case(session, c, loaded_on, loaded);
                  });
                }
      }
}

}  // namespace kkc::bench

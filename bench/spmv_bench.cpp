// kkc_bench spmv: y = op(A) x.
#include <algorithm>
#include <limits>

#include "bench_matrix.hpp"
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

/// One way to do the job, on every copy.
struct Contender {
  Measured measured;
  Candidate candidate;
  std::function<void()> fetch;
};

/// Plans as often as tells a warm plan's time from the first's.
Contender plan_kkc(Bench& bench, const Case& c, const std::vector<Copy>& copies, const Variant& variant) {
  Contender contender;
  contender.measured.name = contender.candidate.name = variant.name;
  contender.measured.is_kkc = true;
  const Options options = options_from(variant.options);
  const auto one = element(c.scalar, 1.0), zero = element(c.scalar, 0.0);
  std::vector<double> plan_seconds, set_seconds;
  for (size_t k = 0; k < copies.size(); ++k) {
    const Copy& copy = copies[k];
    std::shared_ptr<kkc_plan_t> plan;
    for (int attempt = 0; attempt < (k == 0 ? 4 : 1); ++attempt) {
      plan.reset();
      bench.timer->synchronize();
      plan_seconds.push_back(wall_seconds([&] {
        plan = make<Plan>("kkc_spmv_plan", kkc_spmv_plan, bench.ctx.get(), c.op, copy.A, copy.x_view.get(),
                          copy.y_view.get(), options.get());
        bench.timer->synchronize();
      }));
      if (variant.options.find("\"kept\"") != std::string::npos)
        set_seconds.push_back(wall_seconds([&] {
          check(kkc_spmv_set_values(plan.get(), copy.A), "kkc_spmv_set_values");
          bench.timer->synchronize();
        }));
      if (plan_seconds.back() > 2.0) break;
    }
    contender.candidate.runs.push_back([plan, one, zero, A = copy.A, x = copy.x_view.get(), y = copy.y_view.get()] {
      check(kkc_spmv_execute(plan.get(), one.data(), A, x, zero.data(), y), "kkc_spmv_execute");
    });
    if (k == 0) {
      const char* info = nullptr;
      check(kkc_plan_info(plan.get(), &info), "kkc_plan_info");
      contender.measured.details["plan"] = Json::parse(info, nullptr, false);
    }
  }
  const auto warm = [](const std::vector<double>& all) {
    return all.empty() ? 0.0 : quartiles(std::vector<double>(all.begin() + (all.size() > 1 ? 1 : 0), all.end())).median;
  };
  auto& details = contender.measured.details;
  details["options"] = variant.options.empty() ? "{}" : variant.options;
  details["implementation"] = details["plan"].value("implementation", "");
  details["first_plan_seconds"] = plan_seconds.front();
  details["plan_seconds"] = warm(plan_seconds);
  details["set_values_seconds"] = warm(set_seconds);
  contender.measured.setup_seconds = warm(plan_seconds) + warm(set_seconds);
  contender.measured.keeps_values = !set_seconds.empty();
  if (variant.options.empty() || variant.name == "kkc kept") {
    const std::string implementation = details["implementation"];
    contender.measured.name = contender.candidate.name = variant.name + " (" + implementation + ")";
  }
  return contender;
}

std::vector<Contender> prepare_peer(Peer& peer, const std::vector<Copy>& copies) {
  std::vector<Contender> contenders;
  for (size_t k = 0; k < copies.size(); ++k) {
    auto entrants = peer.spmv(copies[k].problem);
    if (k == 0) contenders.resize(entrants.size());
    for (size_t e = 0; e < entrants.size(); ++e) {
      auto& contender = contenders[e];
      if (k == 0) {
        contender.measured.name = contender.candidate.name =
            peer.name() + (entrants[e].name.empty() ? "" : " " + entrants[e].name);
        contender.measured.keeps_values = entrants[e].keeps_values;
        contender.measured.setup_seconds = entrants[e].setup_seconds;
        contender.measured.details["peer"] = peer.name();
      }
      contender.candidate.runs.push_back(std::move(entrants[e].run));
      if (k == 0) contender.fetch = std::move(entrants[e].fetch);
    }
  }
  return contenders;
}

/// Runs once into a y full of NaN; the error as the oracle tells it.
double verify(Bench& bench, const Case& c, Copy& copy, const SpmvOracle& oracle, const Contender& contender) {
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

  std::vector<Contender> contenders;
  for (const auto& variant : variants(session.arguments(), c.op)) {
    try {
      contenders.push_back(plan_kkc(bench, c, copies, variant));
    } catch (const std::exception& error) {
      left_out[variant.name] = error.what();
      session.print("  " + variant.name + ": " + error.what());
    }
  }
  for (Peer* peer : session.peers(c.device)) {
    try {
      for (auto& contender : prepare_peer(*peer, copies)) contenders.push_back(std::move(contender));
    } catch (const std::exception& error) {
      left_out[peer->name()] = error.what();
    }
  }
  for (auto it = contenders.begin(); it != contenders.end();) {
    std::string reason;
    try {
      it->measured.error = verify(bench, c, copies.front(), oracle, *it);
      if (it->measured.error < 0.0) reason = "its result is wrong";
    } catch (const std::exception& error) {
      reason = error.what();
    }
    if (reason.empty()) {
      ++it;
      continue;
    }
    if (it->measured.is_kkc) throw std::runtime_error(c.matrix + ", " + it->measured.name + ": " + reason);
    left_out[it->measured.name] = reason;
    it = contenders.erase(it);
  }

  std::vector<Candidate> candidates;
  for (auto& contender : contenders) candidates.push_back(std::move(contender.candidate));
  const Rounds rounds =
      interleave(*bench.timer, candidates, session.arguments().repeat, session.batch_seconds(c.device));
  std::vector<Measured> measured;
  for (size_t k = 0; k < contenders.size(); ++k) {
    contenders[k].measured.rounds = rounds[k];
    measured.push_back(std::move(contenders[k].measured));
  }
  std::string title = "spmv " + c.matrix + " " + scalar_name(c.scalar) + " " + index_name(c.index) + " op " +
                      op_name(c.op) + " on " + device_name(c.device);
  if (c.threads > 0) title += " x" + std::to_string(c.threads);
  if (c.vectors > 1) title += ", " + std::to_string(c.vectors) + " vectors " + layout_name(c.layout);
  title += ": " + std::to_string(host.rows) + " rows, " + std::to_string(host.nnz) + " nonzeros";
  if (copies.size() > 1) title += ", " + std::to_string(copies.size()) + " copies in turn";
  report(session, bench, entry, title, measured, static_cast<double>(bytes), flops, wanted == 0);
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

// kkc_bench sptrsv: op(T) x = b for the lower and the upper triangle of a matrix (NAME, or NAME:lower and NAME:upper).
#include <algorithm>

#include "bench_triangle.hpp"

namespace kkc::bench {
namespace {

/// Everything that one copy of a case's data owns.
struct Copy {
  Matrix T;
  DeviceArray b, x;
  View b_view, x_view;
  SptrsvProblem problem;
};

/// One way to do the job, on every copy.
struct Contender {
  Measured measured;
  Candidate candidate;
  std::function<void()> fetch;
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

/// Plans as often as tells a warm plan's time from the first's.
Contender plan_kkc(Bench& bench, const Case& c, const std::vector<Copy>& copies, const std::string& name,
                   const std::string& text) {
  Contender contender;
  contender.measured.is_kkc = true;
  const Options options = options_from(text);
  const auto one = element(c.scalar, 1.0);
  const bool keeps = text.find("\"kept\"") != std::string::npos;
  std::vector<double> plan_seconds, set_seconds;
  for (size_t k = 0; k < copies.size(); ++k) {
    const Copy& copy = copies[k];
    std::shared_ptr<kkc_plan_t> plan;
    for (int attempt = 0; attempt < (k == 0 ? 4 : 1); ++attempt) {
      plan.reset();
      bench.timer->synchronize();
      plan_seconds.push_back(wall_seconds([&] {
        plan = make<Plan>("kkc_sptrsv_plan", kkc_sptrsv_plan, bench.ctx.get(), c.op,
                          copy.problem.lower ? KKC_UPLO_LOWER : KKC_UPLO_UPPER, KKC_DIAG_STORED, copy.T.get(),
                          copy.b_view.get(), copy.x_view.get(), options.get());
        bench.timer->synchronize();
      }));
      if (keeps)
        set_seconds.push_back(wall_seconds([&] {
          check(kkc_sptrsv_set_values(plan.get(), copy.T.get()), "kkc_sptrsv_set_values");
          bench.timer->synchronize();
        }));
      if (plan_seconds.back() > 2.0) break;
    }
    contender.candidate.runs.push_back([plan, one, T = copy.T.get(), b = copy.b_view.get(), x = copy.x_view.get()] {
      check(kkc_sptrsv_execute(plan.get(), one.data(), T, b, x), "kkc_sptrsv_execute");
    });
    if (k == 0) {
      const char* info = nullptr;
      check(kkc_plan_info(plan.get(), &info), "kkc_plan_info");
      contender.measured.details["plan"] = Json::parse(info, nullptr, false);
    }
  }
  // The median but for the first, where there are more.
  const auto warm = [](std::vector<double> all) {
    if (all.size() > 1) all.erase(all.begin());
    return all.empty() ? 0.0 : quartiles(all).median;
  };
  auto& details = contender.measured.details;
  details["options"] = text.empty() ? "{}" : text;
  details["implementation"] = details["plan"].value("implementation", "");
  details["first_plan_seconds"] = plan_seconds.front();
  details["plan_seconds"] = warm(plan_seconds);
  details["set_values_seconds"] = warm(set_seconds);
  contender.measured.setup_seconds = warm(plan_seconds) + warm(set_seconds);
  contender.measured.keeps_values = keeps;
  const std::string implementation = details["implementation"];
  contender.measured.name = contender.candidate.name = name + " (" + implementation + ")";
  return contender;
}

std::vector<Contender> prepare_peer(Peer& peer, const std::vector<Copy>& copies) {
  std::vector<Contender> contenders;
  for (size_t k = 0; k < copies.size(); ++k) {
    auto entrants = peer.sptrsv(copies[k].problem);
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

/// Runs once into an x full of NaN.
double verify(Bench& bench, const Case& c, Copy& copy, const HostTriangle& host, const std::vector<unsigned char>& b,
              const Contender& contender) {
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

  std::vector<Contender> contenders;
  std::vector<std::pair<std::string, std::string>> variants;
  for (const auto& options : session.arguments().options)
    variants.emplace_back(options.empty() || options == "{}" ? "kkc" : "kkc " + options, options);
  if (variants.empty()) variants = {{"kkc", ""}, {"kkc kept", R"({"values":"kept"})"}};
  for (const auto& [name, options] : variants) {
    try {
      contenders.push_back(plan_kkc(bench, c, copies, name, options));
    } catch (const std::exception& error) {
      left_out[name] = error.what();
      session.print("  " + name + ": " + error.what());
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
      it->measured.error = verify(bench, c, copies.front(), host, b, *it);
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
  std::string title = "sptrsv " + c.matrix + " " + scalar_name(c.scalar) + " " + index_name(c.index) + " op " +
                      op_name(c.op) + " on " + device_name(c.device);
  if (c.threads > 0) title += " x" + std::to_string(c.threads);
  if (c.vectors > 1) title += ", " + std::to_string(c.vectors) + " vectors " + layout_name(c.layout);
  title += ": " + std::to_string(host.rows) + " rows, " + std::to_string(host.nnz) + " nonzeros";
  if (copies.size() > 1) title += ", " + std::to_string(copies.size()) + " copies in turn";
  report(session, bench, entry, title, measured, static_cast<double>(bytes),
         2.0 * static_cast<double>(host.nnz * c.vectors), wanted == 0);
}

}  // namespace

void sptrsv(Session& session) {
  const Arguments& a = session.arguments();
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  for (const auto& given : a.matrices)
    for (const bool lower : {true, false}) {
      const std::string suffix = lower ? ":lower" : ":upper";
      const size_t colon = given.find(':');
      if (colon != std::string::npos && given.substr(colon) != suffix) continue;
      const std::string matrix = given.substr(0, colon);
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
                      if (!host) {
                        const Matrix loaded = load_matrix(session, loader.get(), matrix, c.index, c.scalar);
                        host = std::make_unique<HostTriangle>(triangle_of(arrays_of(loaded.get()), lower));
                      }
                      run_case(session, c, *host);
                    });
                  }
        }
    }
}

}  // namespace kkc::bench

#include "bench_pass.hpp"

namespace kkc::bench {

std::vector<unsigned char> PassInput::fetch(const void* from, int64_t bytes) const {
  std::vector<unsigned char> to(static_cast<size_t>(bytes));
  bench.timer->synchronize();
  check(kkc_context_synchronize(bench.ctx.get()), "kkc_context_synchronize");
  check(kkc_copy(bench.ctx.get(), to.data(), from, to.size(), KKC_COPY_DEVICE_TO_HOST), "kkc_copy");
  return to;
}

View PassInput::wrap(void* data, int64_t count, kkc_scalar_t type) const {
  const kkc_space_t space = on_gpu(c.device) ? KKC_SPACE_DEVICE : KKC_SPACE_HOST;
  return make<View>("kkc_view_wrap", kkc_view_wrap, bench.ctx.get(), type, 1, &count, KKC_LAYOUT_LEFT, nullptr, space,
                    data);
}

PassProblem PassInput::problem() const {
  return {c.device,    0,          bench.stream,   c.threads,      c.scalar,      c.index, arrays.base, arrays.rows,
          arrays.cols, arrays.nnz, arrays.offsets, arrays.indices, arrays.values, nullptr, nullptr,     nullptr};
}

void PassContenders::add_kkc(const std::string& name, double setup_seconds, std::function<void()> run) {
  Measured one;
  one.name = name;
  one.is_kkc = true;
  one.setup_seconds = setup_seconds;
  measured.push_back(one);
  candidates.push_back({name, {std::move(run)}});
}

void PassContenders::add_peers(const PassInput& input, const std::function<std::vector<Entrant>(Peer&)>& entrants_of,
                               const std::function<void()>& wipe, const std::function<bool()>& right) {
  for (Peer* peer : input.session.peers(input.c.device)) {
    try {
      for (Entrant& entrant : entrants_of(*peer)) {
        Measured one;
        one.name = peer->name() + (entrant.name.empty() ? "" : " " + entrant.name);
        one.setup_seconds = entrant.setup_seconds;
        one.details["peer"] = peer->name();
        wipe();
        entrant.run();
        input.bench.timer->synchronize();
        if (entrant.fetch) entrant.fetch();
        if (!right()) {
          input.left_out[one.name] = "its result is wrong";
          input.session.print("  " + one.name + ": its result is wrong");
          continue;
        }
        measured.push_back(one);
        candidates.push_back({one.name, {entrant.run}});
      }
    } catch (const std::exception& error) {
      input.left_out[peer->name()] = error.what();
    }
  }
}

namespace {

void run_case(Session& session, const char* name, const Case& c, const Matrix& loaded,
              const std::function<PassContenders(const PassInput&)>& make_contenders) {
  Bench& bench = session.bench(c.device, c.threads);
  const Matrix A = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), loaded.get());
  const CsrArrays arrays = arrays_of(A.get());
  Json& entry = session.add_case();
  entry = {{"matrix", c.matrix},
           {"rows", arrays.rows},
           {"cols", arrays.cols},
           {"nnz", arrays.nnz},
           {"device", device_name(c.device)},
           {"threads", c.threads},
           {"scalar", scalar_name(c.scalar)},
           {"index", index_name(c.index)},
           {"op", ""},
           {"vectors", 1},
           {"layout", ""}};
  Json left_out = Json::object();
  PassContenders made = make_contenders({session, bench, c, A.get(), arrays, left_out});
  entry["left_out"] = left_out;
  const Rounds rounds =
      interleave(*bench.timer, made.candidates, session.arguments().repeat, session.batch_seconds(c.device));
  for (size_t k = 0; k < rounds.size(); ++k) made.measured[k].rounds = rounds[k];
  std::string title = std::string(name) + " " + c.matrix + " " + scalar_name(c.scalar) + " " + index_name(c.index) +
                      " on " + device_name(c.device);
  if (c.threads > 0) title += " x" + std::to_string(c.threads);
  title += ": " + std::to_string(arrays.rows) + " rows, " + std::to_string(arrays.nnz) + " nonzeros";
  report(session, bench, entry, title, made.measured, made.bytes, 0.0,
         session.copies(bench, static_cast<int64_t>(made.bytes)) != 1);
}

}  // namespace

void run_pass(Session& session, const char* name,
              const std::function<PassContenders(const PassInput&)>& make_contenders) {
  const Arguments& a = session.arguments();
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  for (const auto& matrix : a.matrices)
    for (const auto& scalar : a.scalars)
      for (const auto& index : a.indices) {
        Matrix loaded;
        for (const auto& device : a.devices)
          for (const int32_t threads : a.threads) {
            const kkc_device_t on = device_of(device);
            const Case c{matrix,      on, scalar_of(scalar), index_of(index),
                         KKC_OP_NONE, 1,  KKC_LAYOUT_RIGHT,  session.threads_on(on, threads)};
            session.attempt(std::string(name) + " " + matrix + " " + scalar + " on " + device, [&] {
              if (!loaded) loaded = load_matrix(session, loader.get(), matrix, c.index, c.scalar);
              run_case(session, name, c, loaded, make_contenders);
            });
          }
      }
}

}  // namespace kkc::bench

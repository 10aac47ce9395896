#include "bench_reorder.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace kkc::bench {
namespace {

/// A CSR matrix in host memory as 64-bit numbers from 0, its values as bytes.
struct Plain {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> offsets, indices;
  std::vector<unsigned char> values;
};

std::vector<int64_t> widened(const void* from, size_t n, bool wide, int32_t base) {
  std::vector<int64_t> to(n);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i)
    to[i] = (wide ? static_cast<const int64_t*>(from)[i] : static_cast<const int32_t*>(from)[i]) - base;
  return to;
}

Plain plain_of(const CsrArrays& A) {
  Plain p{A.rows,
          A.cols,
          widened(A.offsets, static_cast<size_t>(A.rows) + 1, A.index != KKC_INDEX_32_32, A.base),
          widened(A.indices, static_cast<size_t>(A.nnz), A.index == KKC_INDEX_64_64, A.base),
          {}};
  const auto* const values = static_cast<const unsigned char*>(A.values);
  p.values.assign(values, values + A.nnz * scalar_bytes(A.scalar));
  return p;
}

/// Entry k of the result is entry order[k] of `A`.
Plain reordered(const Plain& A, const std::vector<int64_t>& order, size_t bytes) {
  Plain C{A.rows, A.cols, A.offsets, std::vector<int64_t>(order.size()), std::vector<unsigned char>(A.values.size())};
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < order.size(); ++k) {
    const auto from = static_cast<size_t>(order[k]);
    C.indices[k] = A.indices[from];
    std::memcpy(&C.values[k * bytes], &A.values[from * bytes], bytes);
  }
  return C;
}

/// The same in every run, on any number of threads.
Plain shuffled(const Plain& A, size_t bytes) {
  std::vector<int64_t> order(A.indices.size());
  std::iota(order.begin(), order.end(), int64_t{0});
#pragma omp parallel for schedule(dynamic, 1024)
  for (size_t i = 0; i < static_cast<size_t>(A.rows); ++i) {
    std::minstd_rand random(static_cast<uint32_t>(i + 7));
    random.discard(3);
    for (int64_t k = A.offsets[i + 1] - A.offsets[i]; k > 1; --k)
      std::swap(order[static_cast<size_t>(A.offsets[i] + k - 1)],
                order[static_cast<size_t>(A.offsets[i]) + random() % static_cast<uint64_t>(k)]);
  }
  return reordered(A, order, bytes);
}

Plain sorted(const Plain& A, size_t bytes) {
  std::vector<int64_t> order(A.indices.size());
  std::iota(order.begin(), order.end(), int64_t{0});
#pragma omp parallel for schedule(dynamic, 1024)
  for (size_t i = 0; i < static_cast<size_t>(A.rows); ++i)
    std::stable_sort(order.begin() + A.offsets[i], order.begin() + A.offsets[i + 1], [&](int64_t a, int64_t b) {
      return A.indices[static_cast<size_t>(a)] < A.indices[static_cast<size_t>(b)];
    });
  return reordered(A, order, bytes);
}

Plain transposed(const Plain& A, size_t bytes) {
  Plain C{A.cols, A.rows, std::vector<int64_t>(static_cast<size_t>(A.cols) + 1), std::vector<int64_t>(A.indices.size()),
          std::vector<unsigned char>(A.values.size())};
  for (const int64_t column : A.indices) ++C.offsets[static_cast<size_t>(column) + 1];
  std::partial_sum(C.offsets.begin(), C.offsets.end(), C.offsets.begin());
  std::vector<int64_t> next = C.offsets;
  for (size_t i = 0; i + 1 < A.offsets.size(); ++i)
    for (auto p = static_cast<size_t>(A.offsets[i]); p < static_cast<size_t>(A.offsets[i + 1]); ++p) {
      const auto to = static_cast<size_t>(next[static_cast<size_t>(A.indices[p])]++);
      C.indices[to] = static_cast<int64_t>(i);
      std::memcpy(&C.values[to * bytes], &A.values[p * bytes], bytes);
    }
  return C;
}

/// C's arrays in device memory.
struct Output {
  DeviceArray offsets, indices, values;
};

struct Run {
  Session& session;
  const Reorder& reorder;
  const Case& c;
  Bench& bench;
  Plain A, expected;
  Matrix input;
  std::vector<Measured> measured;
  std::vector<Candidate> candidates;
  Json& left_out;

  Output output() const {
    const auto bytes = [](int64_t n, int64_t each) { return static_cast<size_t>(n * each); };
    const auto nnz = static_cast<int64_t>(expected.indices.size());
    return {DeviceArray(bench.ctx.get(), bytes(expected.rows + 1, offset_bytes(c.index))),
            DeviceArray(bench.ctx.get(), bytes(nnz, ordinal_bytes(c.index))),
            DeviceArray(bench.ctx.get(), bytes(nnz, scalar_bytes(c.scalar)))};
  }

  /// Bit by bit.
  bool right(const CsrArrays& arrays) const {
    const auto fetch = [&](const void* from, size_t n, int64_t each) {
      std::vector<unsigned char> to(n * static_cast<size_t>(each));
      check(kkc_copy(bench.ctx.get(), to.data(), from, to.size(), KKC_COPY_DEVICE_TO_HOST), "kkc_copy");
      return to;
    };
    bench.timer->synchronize();
    check(kkc_context_synchronize(bench.ctx.get()), "kkc_context_synchronize");
    const auto offsets = fetch(arrays.offsets, expected.offsets.size(), offset_bytes(c.index));
    const auto indices = fetch(arrays.indices, expected.indices.size(), ordinal_bytes(c.index));
    const auto values = fetch(arrays.values, expected.indices.size(), scalar_bytes(c.scalar));
    return widened(offsets.data(), expected.offsets.size(), c.index != KKC_INDEX_32_32, arrays.base) ==
               expected.offsets &&
           widened(indices.data(), expected.indices.size(), c.index == KKC_INDEX_64_64, arrays.base) ==
               expected.indices &&
           values == expected.values;
  }

  void add_kkc(const std::string& options_text) {
    const Options options = options_from(options_text);
    std::vector<double> plan_seconds;
    std::shared_ptr<kkc_plan_t> plan;
    for (int attempt = 0; attempt < 4; ++attempt) {
      plan.reset();
      bench.timer->synchronize();
      plan_seconds.push_back(wall_seconds([&] {
        plan = reorder.plan(bench.ctx.get(), input.get(), options.get());
        bench.timer->synchronize();
      }));
    }
    const std::shared_ptr<kkc_matrix_t> C = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan.get());
    const auto execute = [plan, C, A = input.get(), f = reorder.execute] {
      check(f(plan.get(), A, C.get()), "execute");
    };
    execute();
    if (!right(arrays_of(C.get()))) throw std::runtime_error(c.matrix + ": kkc's result is wrong");
    Measured one;
    one.name = "kkc execute";
    one.is_kkc = true;
    one.details["plan"] = plan_info(plan.get());
    one.details["options"] = options_text.empty() ? "{}" : options_text;
    one.setup_seconds = quartiles(std::vector<double>(plan_seconds.begin() + 1, plan_seconds.end())).median;
    measured.push_back(one);
    candidates.push_back({one.name, {execute}});

    Measured whole = one;
    whole.name = "kkc plan, output and execute";
    whole.setup_seconds = 0.0;
    measured.push_back(whole);
    candidates.push_back({whole.name, {[this, options_text] {
                            const Options text = options_from(options_text);
                            const Plan fresh = reorder.plan(bench.ctx.get(), input.get(), text.get());
                            const Matrix result =
                                make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, fresh.get());
                            check(reorder.execute(fresh.get(), input.get(), result.get()), "execute");
                          }}});
  }

  void add_peer(Peer& peer) {
    const CsrArrays arrays = arrays_of(input.get());
    const auto result = std::make_shared<Output>(output());
    const ReorderProblem problem{c.device,
                                 0,
                                 bench.stream,
                                 c.threads,
                                 c.scalar,
                                 c.index,
                                 arrays.base,
                                 arrays.rows,
                                 arrays.cols,
                                 arrays.nnz,
                                 arrays.offsets,
                                 arrays.indices,
                                 arrays.values,
                                 result->offsets.data(),
                                 result->indices.data(),
                                 result->values.data()};
    for (Entrant& entrant : (peer.*reorder.peer)(problem)) {
      Measured one;
      one.name = peer.name() + (entrant.name.empty() ? "" : " " + entrant.name);
      one.setup_seconds = entrant.setup_seconds;
      one.details["peer"] = peer.name();
      entrant.run();
      bench.timer->synchronize();
      if (entrant.fetch) entrant.fetch();
      CsrArrays is = arrays;
      is.offsets = result->offsets.data();
      is.indices = result->indices.data();
      is.values = result->values.data();
      if (!right(is)) {
        left_out[one.name] = "its result is wrong";
        session.print("  " + one.name + ": its result is wrong");
        continue;
      }
      measured.push_back(one);
      candidates.push_back({one.name, {[result, run = entrant.run] { run(); }}});
    }
  }
};

void run_case(Session& session, const Reorder& reorder, const Case& c, const Matrix& loaded, kkc_context_t* loader) {
  Bench& bench = session.bench(c.device, c.threads);
  const auto bytes_each = static_cast<size_t>(scalar_bytes(c.scalar));
  Plain A = plain_of(arrays_of(loaded.get()));
  if (reorder.shuffled) A = shuffled(A, bytes_each);
  Plain expected = reorder.transposed ? transposed(A, bytes_each) : sorted(A, bytes_each);

  // The loaded matrix takes the shuffled order on its way to the device.
  Matrix host = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, loader, loaded.get());
  const CsrArrays arrays = arrays_of(host.get());
  for (size_t k = 0; k < A.indices.size(); ++k) {
    if (c.index == KKC_INDEX_64_64)
      static_cast<int64_t*>(const_cast<void*>(arrays.indices))[k] = A.indices[k] + arrays.base;
    else
      static_cast<int32_t*>(const_cast<void*>(arrays.indices))[k] = static_cast<int32_t>(A.indices[k]) + arrays.base;
  }
  std::memcpy(arrays.values, A.values.data(), A.values.size());

  Json& entry = session.add_case();
  entry = {{"matrix", c.matrix},
           {"rows", A.rows},
           {"cols", A.cols},
           {"nnz", A.indices.size()},
           {"device", device_name(c.device)},
           {"threads", c.threads},
           {"scalar", scalar_name(c.scalar)},
           {"index", index_name(c.index)},
           {"op", ""},
           {"vectors", 1},
           {"layout", ""}};
  auto& left_out = entry["left_out"] = Json::object();
  Run run{session, reorder, c, bench, std::move(A), std::move(expected), nullptr, {}, {}, left_out};
  run.input = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), host.get());
  host.reset();
  const auto& options = session.arguments().options;
  run.add_kkc(options.empty() ? "" : options.front());
  for (Peer* peer : session.peers(c.device)) {
    try {
      run.add_peer(*peer);
    } catch (const std::exception& error) {
      left_out[peer->name()] = error.what();
    }
  }
  const Rounds rounds =
      interleave(*bench.timer, run.candidates, session.arguments().repeat, session.batch_seconds(c.device));
  for (size_t k = 0; k < rounds.size(); ++k) run.measured[k].rounds = rounds[k];

  // Execute: a position, a value read, a value written for each entry.
  const auto nnz = static_cast<int64_t>(run.expected.indices.size());
  const int64_t bytes = nnz * (offset_bytes(c.index) + 2 * scalar_bytes(c.scalar));
  std::string title = std::string(reorder.name) + " " + c.matrix + " " + scalar_name(c.scalar) + " " +
                      index_name(c.index) + " on " + device_name(c.device);
  if (c.threads > 0) title += " x" + std::to_string(c.threads);
  title += ": " + std::to_string(run.A.rows) + " rows, " + std::to_string(nnz) + " nonzeros";
  report(session, bench, entry, title, run.measured, static_cast<double>(bytes), 0.0,
         session.copies(bench, bytes) != 1);
}

}  // namespace

void run_reorder(Session& session, const Reorder& reorder) {
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
            session.attempt(std::string(reorder.name) + " " + matrix + " " + scalar + " on " + device, [&] {
              if (!loaded) loaded = load_matrix(session, loader.get(), matrix, c.index, c.scalar);
              run_case(session, reorder, c, loaded, loader.get());
            });
          }
      }
}

}  // namespace kkc::bench

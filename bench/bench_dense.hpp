// Benchmarks of dense views: one case for each device, type, shape and layout asked for.
#pragma once

#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_matrix.hpp"
#include "bench_session.hpp"

namespace kkc::bench {

struct DenseCase {
  kkc_device_t device;
  int32_t threads;
  kkc_scalar_t scalar;
  std::vector<int64_t> extents;
  kkc_layout_t layout;

  int64_t count() const { return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>()); }
  int64_t bytes() const { return count() * scalar_bytes(scalar); }
};

/// An array of a case's shape.
struct DenseArray {
  DeviceArray memory;
  View view;
};

inline View wrap_dense(Bench& bench, const DenseCase& c, kkc_scalar_t scalar, const std::vector<int64_t>& extents,
                       kkc_layout_t layout, void* data) {
  const kkc_space_t space = on_gpu(c.device) ? KKC_SPACE_DEVICE : KKC_SPACE_HOST;
  return make<View>("kkc_view_wrap", kkc_view_wrap, bench.ctx.get(), scalar, static_cast<int32_t>(extents.size()),
                    extents.data(), layout, nullptr, space, data);
}

inline DenseArray dense_array(Bench& bench, const DenseCase& c, kkc_layout_t layout, uint64_t seed) {
  DeviceArray memory(bench.ctx.get(), static_cast<size_t>(c.bytes()));
  memory.upload(random_vector(c.scalar, c.count(), seed).data());
  auto view = wrap_dense(bench, c, c.scalar, c.extents, layout, memory.data());
  return {std::move(memory), std::move(view)};
}

inline std::vector<unsigned char> bytes_of(const DenseArray& array) {
  std::vector<unsigned char> bytes(array.memory.bytes());
  array.memory.download(bytes.data());
  return bytes;
}

/// The contenders of a case, each with one run for each copy of the data.
struct DenseContenders {
  std::vector<Candidate> candidates;
  std::vector<bool> is_kkc;
  double bytes = 0.0, flops = 0.0;  // of one run
};

/// `prepare` makes a case's contenders for `copies` copies and throws when a result is wrong. Shapes by default: those
/// of `shapes`.
inline void run_dense(Session& session, const char* operation, const std::vector<std::string>& shapes, double arrays,
                      const std::function<DenseContenders(Bench&, const DenseCase&, int copies)>& prepare) {
  const Arguments& a = session.arguments();
  for (const auto& device : a.devices)
    for (const int32_t threads : a.threads)
      for (const auto& scalar : a.scalars)
        for (const auto& shape : a.extents.empty() ? shapes : a.extents)
          for (const auto& layout : a.layouts) {
            DenseCase c{device_of(device), 0, scalar_of(scalar), {}, layout_of(layout)};
            c.threads = session.threads_on(c.device, threads);
            for (size_t at = 0; at <= shape.size();) {
              const size_t end = std::min(shape.find('x', at), shape.size());
              c.extents.push_back(std::stoll(shape.substr(at, end - at)));
              at = end + 1;
            }
            const std::string title = std::string(operation) + " " + shape + " " + scalar + " " + layout + " on " +
                                      device + (c.threads > 0 ? " x" + std::to_string(c.threads) : "");
            session.attempt(title, [&] {
              Bench& bench = session.bench(c.device, c.threads);
              const int wanted = session.copies(bench, static_cast<int64_t>(arrays * static_cast<double>(c.bytes())));
              DenseContenders made = prepare(bench, c, std::max(wanted, 1));
              const Rounds rounds =
                  interleave(*bench.timer, made.candidates, a.repeat, session.batch_seconds(c.device));
              std::vector<Measured> measured;
              for (size_t k = 0; k < made.candidates.size(); ++k) {
                Measured one;
                one.name = made.candidates[k].name;
                one.is_kkc = made.is_kkc[k];
                one.rounds = rounds[k];
                measured.push_back(std::move(one));
              }
              Json& entry = session.add_case();
              entry = {{"operation", operation},       {"extents", c.extents}, {"device", device},
                       {"threads", c.threads},         {"scalar", scalar},     {"layout", layout},
                       {"copies", std::max(wanted, 1)}};
              report(session, bench, entry, title, measured, made.bytes, made.flops, wanted == 0);
            });
          }
}

inline void require_result(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": the result is wrong");
}

}  // namespace kkc::bench

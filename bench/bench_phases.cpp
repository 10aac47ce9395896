#include "bench_phases.hpp"

#include <cstdio>
#include <stdexcept>

namespace kkc::bench {
namespace {

/// What a phase, or both, take beside each of kkc's.
void compare(Session& session, Json& entry, const char* what, const std::vector<Contender>& contenders,
             const std::vector<std::vector<double>>& rounds) {
  auto& rows = entry[what] = Json::array();
  for (size_t k = 0; k < contenders.size(); ++k) {
    if (rounds[k].empty()) continue;
    const Quartiles time = quartiles(rounds[k]);
    char line[160];
    std::snprintf(line, sizeof line, "  %-9s [%zu] %-36s %10.4f ms", what, k + 1, contenders[k].measured.name.c_str(),
                  time.median * 1e3);
    std::string text = line;
    Json row{{"name", contenders[k].measured.name}, {"seconds", time.median}, {"ratios", Json::array()}};
    for (size_t ours = 0; ours < contenders.size(); ++ours) {
      if (!contenders[ours].measured.is_kkc || ours == k) continue;
      const Quartiles times = ratio(rounds[k], rounds[ours]);
      row["ratios"].push_back({{"kkc", contenders[ours].measured.name},
                               {"median", times.median},
                               {"lower", times.lower},
                               {"upper", times.upper}});
      std::snprintf(line, sizeof line, "  %6.2f of [%zu]'s", times.median, ours + 1);
      text += line;
    }
    rows.push_back(std::move(row));
    session.print(text);
  }
}

}  // namespace

HostResult HostCopy::of(const Bench& bench, const kkc_matrix_t* result) {
  check(kkc_context_synchronize(bench.ctx.get()), "kkc_context_synchronize");
  if (!host_) host_ = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_SERIAL, 0, nullptr, nullptr);
  copy_ = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, host_.get(), result);
  const CsrArrays a = arrays_of(copy_.get());
  return {a.rows,
          a.nnz,
          static_cast<int>(offset_bytes(a.index)),
          static_cast<int>(ordinal_bytes(a.index)),
          a.base,
          a.offsets,
          a.indices,
          a.values};
}

void drop_wrong(std::vector<Contender>& contenders, const std::string& matrix,
                const std::function<double(const HostResult&)>& error, Json& left_out) {
  for (auto it = contenders.begin(); it != contenders.end();) {
    it->phases.numeric();
    it->measured.error = error(it->phases.fetch());
    if (it->measured.error >= 0.0) {
      ++it;
      continue;
    }
    if (it->measured.is_kkc) throw std::runtime_error(matrix + ", " + it->measured.name + ": its result is wrong");
    left_out[it->measured.name] = "its result is wrong";
    it = contenders.erase(it);
  }
}

void measure_phases(Session& session, Bench& bench, Json& entry, const std::string& operation, const Case& c,
                    const std::string& sizes, std::vector<Contender>& contenders, double bytes, double flops,
                    bool in_cache) {
  const int repeat = session.arguments().repeat;
  for (int round = -1; round < repeat; ++round)
    for (auto& one : contenders) {
      double seconds = 0.0;
      if (one.phases.symbolic) {
        bench.timer->synchronize();
        seconds = wall_seconds([&] {
          one.phases.symbolic();
          bench.timer->synchronize();
        });
      }
      if (round >= 0) one.symbolic.push_back(seconds);  // the first one warms up
    }
  std::vector<Candidate> candidates;
  for (auto& one : contenders) candidates.push_back({one.measured.name, {one.phases.numeric}});
  const Rounds numeric = interleave(*bench.timer, candidates, repeat, session.batch_seconds(c.device));
  std::vector<Measured> measured;
  std::vector<std::vector<double>> symbolic, whole;
  for (size_t k = 0; k < contenders.size(); ++k) {
    auto& one = contenders[k];
    one.measured.rounds = numeric[k];
    one.measured.setup_seconds = quartiles(one.symbolic).median;
    symbolic.push_back(one.phases.symbolic ? one.symbolic : std::vector<double>());
    whole.push_back(numeric[k]);
    for (size_t r = 0; r < whole.back().size(); ++r) whole.back()[r] += one.symbolic[r];
    measured.push_back(one.measured);
  }
  std::string title = operation + " " + c.matrix + " " + scalar_name(c.scalar) + " " + index_name(c.index) + " on " +
                      device_name(c.device);
  if (c.threads > 0) title += " x" + std::to_string(c.threads);
  title += ": " + sizes + "; numeric phase";
  report(session, bench, entry, title, measured, bytes, flops, in_cache);
  compare(session, entry, "symbolic", contenders, symbolic);
  compare(session, entry, "whole", contenders, whole);
}

}  // namespace kkc::bench

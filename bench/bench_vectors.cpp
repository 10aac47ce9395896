#include "bench_vectors.hpp"

#include <stdexcept>

namespace kkc::bench {

VectorContender vector_contender(Bench& bench, size_t copies, const std::string& name, const std::string& text,
                                 const PlannedVectors& calls) {
  VectorContender contender;
  contender.measured.is_kkc = true;
  const Options options = options_from(text);
  const bool keeps = text.find("\"kept\"") != std::string::npos;
  std::vector<double> plan_seconds, set_seconds, again_seconds;
  for (size_t k = 0; k < copies; ++k) {
    std::shared_ptr<kkc_plan_t> plan;
    for (int attempt = 0; attempt < (k == 0 ? 4 : 1); ++attempt) {
      plan.reset();
      bench.timer->synchronize();
      plan_seconds.push_back(wall_seconds([&] {
        plan = calls.plan(k, options.get());
        bench.timer->synchronize();
      }));
      if (keeps)
        for (auto* const seconds : {&set_seconds, &again_seconds})
          seconds->push_back(wall_seconds([&] {
            calls.set_values(plan.get(), k);
            bench.timer->synchronize();
          }));
      if (plan_seconds.back() > 2.0) break;
    }
    contender.candidate.runs.push_back([plan, k, execute = calls.execute] { execute(plan.get(), k); });
    if (k == 0) contender.measured.details["plan"] = plan_info(plan.get());
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
  details["set_values_again_seconds"] = warm(again_seconds);  // of a plan that has values
  contender.measured.setup_seconds = warm(plan_seconds) + warm(set_seconds);
  contender.measured.keeps_values = keeps;
  const std::string implementation = details["implementation"];
  contender.measured.name = contender.candidate.name = name + " (" + implementation + ")";
  return contender;
}

std::vector<VectorContender> vector_contenders(Peer& peer, std::vector<std::vector<Entrant>> entrants) {
  std::vector<VectorContender> contenders(entrants.empty() ? 0 : entrants.front().size());
  for (size_t k = 0; k < entrants.size(); ++k)
    for (size_t e = 0; e < contenders.size(); ++e) {
      Entrant& entrant = entrants[k][e];
      auto& contender = contenders[e];
      contender.candidate.runs.push_back(std::move(entrant.run));
      if (k > 0) continue;
      contender.measured.name = contender.candidate.name =
          peer.name() + (entrant.name.empty() ? "" : " " + entrant.name);
      contender.measured.keeps_values = entrant.keeps_values;
      contender.measured.setup_seconds = entrant.setup_seconds;
      contender.measured.details["peer"] = peer.name();
      contender.fetch = std::move(entrant.fetch);
    }
  return contenders;
}

void drop_wrong(std::vector<VectorContender>& contenders, const std::string& matrix,
                const std::function<double(const VectorContender&)>& error, Json& left_out) {
  for (auto it = contenders.begin(); it != contenders.end();) {
    std::string reason;
    try {
      it->measured.error = error(*it);
      if (it->measured.error < 0.0) reason = "its result is wrong";
    } catch (const std::exception& failure) {
      reason = failure.what();
    }
    if (reason.empty()) {
      ++it;
      continue;
    }
    if (it->measured.is_kkc) throw std::runtime_error(matrix + ", " + it->measured.name + ": " + reason);
    left_out[it->measured.name] = reason;
    it = contenders.erase(it);
  }
}

void measure_vectors(Session& session, Bench& bench, Json& entry, const std::string& operation, const Case& c,
                     int64_t rows, int64_t nnz, int copies, std::vector<VectorContender>& contenders, double bytes,
                     double flops) {
  std::vector<Candidate> candidates;
  for (auto& contender : contenders) candidates.push_back(std::move(contender.candidate));
  const Rounds rounds =
      interleave(*bench.timer, candidates, session.arguments().repeat, session.batch_seconds(c.device));
  std::vector<Measured> measured;
  for (size_t k = 0; k < contenders.size(); ++k) {
    contenders[k].measured.rounds = rounds[k];
    measured.push_back(std::move(contenders[k].measured));
  }
  std::string title = operation + " " + c.matrix + " " + scalar_name(c.scalar) + " " + index_name(c.index) + " op " +
                      op_name(c.op) + " on " + device_name(c.device);
  if (c.threads > 0) title += " x" + std::to_string(c.threads);
  if (c.vectors > 1) title += ", " + std::to_string(c.vectors) + " vectors " + layout_name(c.layout);
  title += ": " + std::to_string(rows) + " rows, " + std::to_string(nnz) + " nonzeros";
  if (copies > 1) title += ", " + std::to_string(copies) + " copies in turn";
  report(session, bench, entry, title, measured, bytes, flops, copies == 0);
}

}  // namespace kkc::bench

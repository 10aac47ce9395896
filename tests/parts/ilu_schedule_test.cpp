// Schedules of rows that need earlier rows: every row is taken once, after those that it needs, whatever thread is
// slow, and no thread waits for ever.
#include <atomic>
#include <random>
#include <string>

#include "ops/ilu/ilu_host_scheduler.hpp"
#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

using namespace kkc::ilu;
using kkc::testing::PartsQueue;

namespace {

struct Pattern {
  std::vector<int32_t> offsets = {0}, diagonal, indices;

  void add_row(std::vector<int32_t> needed) {
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    indices.insert(indices.end(), needed.begin(), needed.end());
    diagonal.push_back(static_cast<int32_t>(indices.size()));
    indices.push_back(static_cast<int32_t>(diagonal.size()) - 1);
    offsets.push_back(static_cast<int32_t>(indices.size()));
  }
  LowerRows<int32_t, int32_t> rows() const {
    return {offsets.data(), diagonal.data(), indices.data(), std::ssize(diagonal)};
  }
};

/// Rows that need those that `needed(row)` names.
template <class F>
Pattern pattern(int32_t rows, F&& needed) {
  Pattern made;
  for (int32_t i = 0; i < rows; ++i) made.add_row(needed(i));
  return made;
}

std::vector<Pattern> patterns() {
  std::mt19937 random(11);
  const auto some = [&](int32_t i, int32_t count, int32_t back) {
    std::vector<int32_t> needed;
    for (int32_t e = 0; i > 0 && e < count; ++e)
      needed.push_back(i - 1 - static_cast<int32_t>(random() % static_cast<uint32_t>(std::min(i, back))));
    return needed;
  };
  constexpr int32_t width = 40;
  std::vector<Pattern> all;
  all.push_back(pattern(3000, [](int32_t) { return std::vector<int32_t>(); }));
  all.push_back(pattern(3000, [](int32_t i) { return i == 0 ? std::vector<int32_t>() : std::vector<int32_t>{i - 1}; }));
  all.push_back(pattern(4000, [&](int32_t i) { return some(i, 3, 4000); }));
  all.push_back(pattern(4000, [&](int32_t i) { return some(i, 7, 300); }));
  all.push_back(pattern(2000, [&](int32_t i) { return some(i, i % 500 == 499 ? 400 : 2, 2000); }));
  all.push_back(pattern(width * 60, [&](int32_t i) {
    std::vector<int32_t> needed;
    if (i % width > 0) needed.push_back(i - 1);
    if (i >= width) needed.push_back(i - width);
    return needed;
  }));
  all.push_back(pattern(2, [](int32_t i) { return std::vector<int32_t>(static_cast<size_t>(i), 0); }));
  return all;
}

/// Whether each row's waits cover all that it needs and the lanes come to an end; lanes take turns, granule by granule.
void check_on_paper(const HostSchedule& schedule, const LowerRows<int32_t, int32_t>& rows) {
  const auto& lanes = schedule.lanes();
  std::vector<bool> done(static_cast<size_t>(rows.rows));
  std::vector<size_t> finished(lanes.size()), wait(lanes.size());
  int64_t taken = 0, violations = 0;
  std::vector<std::vector<bool>> seen(lanes.size(), done);  // rows that a thread knows to be done
  std::vector<std::vector<size_t>> known(lanes.size(), std::vector<size_t>(lanes.size()));
  const auto see = [&](size_t t, size_t u, size_t granules) {
    for (size_t& g = known[t][u]; g < granules; ++g)
      for (int32_t r = 0; r < lanes[u].granules[g].rows; ++r)
        seen[t][static_cast<size_t>(lanes[u].granules[g].first + r)] = true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t t = 0; t < lanes.size(); ++t) {
      if (finished[t] == lanes[t].granules.size()) continue;
      bool ready = true;
      size_t w = wait[t];
      for (; w < lanes[t].waits.size() && static_cast<size_t>(lanes[t].waits[w].before) == finished[t]; ++w)
        ready = ready &&
                finished[static_cast<size_t>(lanes[t].waits[w].thread)] >= static_cast<size_t>(lanes[t].waits[w].done);
      if (!ready) continue;
      for (; wait[t] < w; ++wait[t])
        see(t, static_cast<size_t>(lanes[t].waits[wait[t]].thread), static_cast<size_t>(lanes[t].waits[wait[t]].done));
      const HostSchedule::Granule granule = lanes[t].granules[finished[t]++];
      for (int32_t i = granule.first; i < granule.first + granule.rows; ++i, ++taken) {
        const auto row = static_cast<size_t>(i);
        violations += done[row];
        done[row] = seen[t][row] = true;
        for (int32_t p = rows.offsets[i]; p < rows.diagonal[i]; ++p)
          violations += !seen[t][static_cast<size_t>(rows.indices[p])];
      }
      moved = true;
    }
  }
  CHECK(taken == rows.rows);
  CHECK(violations == 0);
}

void check_run(const HostSchedule& schedule, PartsQueue& queue, const LowerRows<int32_t, int32_t>& rows) {
  std::vector<std::atomic<int32_t>> done(static_cast<size_t>(rows.rows));
  std::atomic<int64_t> violations{0};
  schedule.run(queue, [&](int64_t, int64_t i) {
    for (int32_t p = rows.offsets[i]; p < rows.diagonal[i]; ++p)
      violations += done[static_cast<size_t>(rows.indices[p])].load(std::memory_order_relaxed) != 1;
    done[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed);
  });
  for (const auto& row : done) violations += row != 1;
  CHECK(violations == 0);
}

}  // namespace

TEST_CASE("schedules take each row after those that it needs") {
  for (const int32_t threads : {2, 3, 6}) {
    PartsQueue queue(threads);
    for (const Pattern& p : patterns())
      for (const RowCost cost : {RowCost{6, 2}, RowCost{25, 12}, RowCost{400, 300}}) {
        if (threads == 6 && cost.row != 25) continue;  // they wait for each other's cores
        const auto rows = p.rows();
        HostList list(rows, threads, cost);
        CHECK(list.efficiency() > 0);
        CHECK(list.efficiency() <= 1.0001);
        std::vector<HostSchedule> schedules;
        schedules.push_back(std::move(list).schedule());
        const HostLevels levels(queue, rows, threads, cost);
        CHECK(levels.efficiency() > 0);
        CHECK(levels.efficiency() <= 1.0001);
        schedules.push_back(levels.schedule(queue));
        const NearestNeeded nearest(queue, rows);
        for (const int cut : {0, 5, 17})
          schedules.push_back(HostBlocks(queue, rows, threads, cost, nearest, cut).schedule());
        for (const HostSchedule& schedule : schedules) {
          CHECK(schedule.threads() == threads);
          check_on_paper(schedule, rows);
          check_run(schedule, queue, rows);
        }
        check_run(host_schedule(queue, rows, threads, cost, true), queue, rows);
        check_run(host_schedule(queue, rows, threads, cost, false), queue, rows);
      }
  }
}

TEST_CASE("rows that all need the one before are left to one thread") {
  PartsQueue queue(4);
  const std::vector<Pattern> all = patterns();
  for (const bool alike : {false, true}) {
    CHECK(host_schedule(queue, all[0].rows(), 4, {25, 12}, alike).threads() == 4);
    CHECK(host_schedule(queue, all[1].rows(), 4, {25, 12}, alike).threads() == 1);
  }
}

TEST_CASE("many threads share rows that are not alike by levels") {
  constexpr int32_t threads = 12, each = 100;
  PartsQueue queue(threads);
  const Pattern wide = pattern(40 * each * threads, [](int32_t i) {
    return i < each * threads ? std::vector<int32_t>() : std::vector<int32_t>{i - each * threads};
  });
  const HostSchedule schedule = host_schedule(queue, wide.rows(), threads, {200, 100}, false);
  CHECK(schedule.why() == "levels shared by work");
  CHECK(schedule.threads() == threads);
  check_on_paper(schedule, wide.rows());
  check_run(schedule, queue, wide.rows());
  const std::vector<Pattern> all = patterns();
  CHECK(host_schedule(queue, all[1].rows(), threads, {25, 12}, false).threads() == 1);
}

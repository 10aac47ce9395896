// kkc_bench view_sort: a vector, or each row of a row-major view; keys alone, then keys with their places (i32). A key
// counts as one operation, so that Gflop/s read as 10^9 keys a second.
#include <algorithm>

#include "bench_lines.hpp"

namespace kkc::bench {
namespace {

void sort_cases(Session& session, const char* title, bool with_places) {
  run_dense(session, title, {"67108864", "1048576", "8192", "262144x256", "16384x4096"}, 2.0,
            [&](Bench& bench, const DenseCase& c, int copies) {
              DenseCase rows = c;
              rows.layout = KKC_LAYOUT_RIGHT;
              Candidate ours{"kkc", {}};
              std::vector<LinesProblem> problems;
              std::vector<std::shared_ptr<DenseArray>> xs, ys;
              std::vector<std::shared_ptr<DeviceArray>> memory;
              kkc_context_t* const ctx = bench.ctx.get();
              const auto dim = static_cast<int32_t>(c.extents.size()) - 1;
              std::shared_ptr<Plan> plan;
              for (int k = 0; k < copies; ++k) {
                xs.push_back(std::make_shared<DenseArray>(dense_array(bench, rows, rows.layout, 1)));
                ys.push_back(std::make_shared<DenseArray>(dense_array(bench, rows, rows.layout, 2)));
                std::shared_ptr<DeviceArray> held;
                std::shared_ptr<View> places;
                int32_t* data = nullptr;
                if (with_places) {
                  held = std::make_shared<DeviceArray>(ctx, static_cast<size_t>(4 * c.count()));
                  memory.push_back(held);
                  data = static_cast<int32_t*>(held->data());
                  places = std::make_shared<View>(wrap_dense(bench, c, KKC_TYPE_I32, c.extents, rows.layout, data));
                }
                kkc_view_t* const out = places ? places->get() : nullptr;
                if (!plan)
                  plan =
                      std::make_shared<Plan>(make<Plan>("kkc_view_sort_plan", kkc_view_sort_plan, ctx, dim,
                                                        xs[0]->view.get(), ys[0]->view.get(), nullptr, out, nullptr));
                ours.runs.push_back([plan, held, places, out, x = xs.back(), y = ys.back()] {
                  check(kkc_view_sort_execute(plan->get(), x->view.get(), y->view.get(), nullptr, out),
                        "kkc_view_sort_execute");
                });
                problems.push_back(lines_of(bench, c, *xs.back(), *ys.back(), data));
              }
              const auto check_result = [&](const char* name) {
                with_real(c.scalar, [&](auto zero) {
                  using T = decltype(zero);
                  const int64_t n = c.extents.back();
                  const auto x = bytes_of(*xs[0]), y = bytes_of(*ys[0]);
                  std::vector<T> first(static_cast<size_t>(n)), got(first.size());
                  std::memcpy(first.data(), x.data(), first.size() * sizeof(T));
                  std::memcpy(got.data(), y.data(), got.size() * sizeof(T));
                  if (with_places) {
                    std::vector<int32_t> places(static_cast<size_t>(c.count()));
                    memory[0]->download(places.data());
                    for (size_t i = 0; i < got.size(); ++i)
                      require_result(first[static_cast<size_t>(places[i])] == got[i], name);
                  }
                  std::sort(first.begin(), first.end());
                  require_result(first == got, name);
                });
              };
              ours.runs[0]();
              bench.timer->synchronize();
              check_result("kkc_view_sort");
              DenseContenders made{{ours}, {true}, 0.0, static_cast<double>(c.count())};
              add_peers(session, bench, c, made, problems, &Peer::view_sort, check_result);
              return made;
            });
}

}  // namespace

void view_sort(Session& session) {
  sort_cases(session, "view_sort", false);
  sort_cases(session, "view_sort with places", true);
}

}  // namespace kkc::bench

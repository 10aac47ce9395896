#include <algorithm>

#include "host_threads.hpp"
#include "openmp.hpp"

namespace kkc {
namespace {

/// Kokkos deals work to as many threads as its instance has, and adds up what each of them found: a team that the
/// run-time makes smaller (OMP_DYNAMIC, OMP_MAX_ACTIVE_LEVELS=0) would leave parts undone. Such settings of the calling
/// thread are put aside while work runs.
class WholeTeams {
 public:
  WholeTeams() : dynamic_(omp_get_dynamic()), levels_(omp_get_max_active_levels()) {
    if (dynamic_ != 0) omp_set_dynamic(0);
    if (levels_ < 1) omp_set_max_active_levels(1);
  }
  ~WholeTeams() {
    if (dynamic_ != 0) omp_set_dynamic(dynamic_);
    if (levels_ < 1) omp_set_max_active_levels(levels_);
  }
  WholeTeams(const WholeTeams&) = delete;
  WholeTeams& operator=(const WholeTeams&) = delete;

 private:
  int dynamic_, levels_;
};

}  // namespace

OpenMPQueue::OpenMPQueue(int threads) : threads_(std::max(1, std::min(threads, omp_get_thread_limit()))) {
  outside_parallel([&] { space_ = std::make_unique<Kokkos::OpenMP>(threads_); });
}

void OpenMPQueue::enter(Thunk thunk, void* argument, Failure&) const {
  const WholeTeams whole;
  thunk(argument);
}

OpenMPQueue::~OpenMPQueue() {
  outside_parallel([&] { space_.reset(); });
}

}  // namespace kkc

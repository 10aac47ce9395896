// levels: those that are known, by the pattern they belong to.
#include "levels_known.hpp"

#include <algorithm>
#include <mutex>

namespace kkc::levels {
namespace {

/// Neither keeps a pattern nor its levels alive.
struct Known {
  std::weak_ptr<const Buffer> offsets;
  std::weak_ptr<const Levels> levels;
};

struct Shelf {
  std::mutex mutex;
  std::vector<Known> all;
};

Shelf& shelf() {
  static auto* shelf = new Shelf;
  return *shelf;
}

}  // namespace

std::shared_ptr<const Levels> known(const std::shared_ptr<const Buffer>& offsets, Uplo uplo, bool transposed) {
  if (offsets == nullptr) return nullptr;
  const std::lock_guard lock(shelf().mutex);
  for (const Known& each : shelf().all)
    if (each.offsets.lock() == offsets)
      if (auto levels = each.levels.lock(); levels && levels->uplo == uplo && levels->transposed == transposed)
        return levels;
  return nullptr;
}

void remember(const std::shared_ptr<const Buffer>& offsets, const std::shared_ptr<const Levels>& levels) {
  if (offsets == nullptr || levels == nullptr) return;
  const std::lock_guard lock(shelf().mutex);
  auto& all = shelf().all;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const Known& each) { return each.offsets.expired() || each.levels.expired(); }),
            all.end());
  all.push_back({offsets, levels});
}

}  // namespace kkc::levels

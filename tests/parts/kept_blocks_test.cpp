// core/kept_blocks.hpp: which block is taken, which is let go, and the sizes that take each other's place.
#include "core/kept_blocks.hpp"

#include "support/catch.hpp"

using kkc::KeptBlocks;

namespace {

struct Freed {
  std::vector<KeptBlocks::Block>& blocks;
  void operator()(const KeptBlocks::Block& block) const { blocks.push_back(block); }
};

}  // namespace

TEST_CASE("kept blocks: sizes that take each other's place") {
  for (size_t bytes = 1; bytes < size_t{1} << 40; bytes = bytes * 9 / 8 + 1) {
    const size_t room = kkc::size_class(bytes, 512);
    INFO(bytes << " in " << room);
    CHECK(room >= bytes);
    CHECK(room - bytes < std::max<size_t>(512, bytes / 8 + 1));
    CHECK(kkc::size_class(room, 512) == room);
  }
}

TEST_CASE("kept blocks: the newest is taken, the oldest let go") {
  std::vector<KeptBlocks::Block> freed;
  const Freed free{freed};
  KeptBlocks kept(1000);
  char places[200];
  CHECK(kept.take(100) == nullptr);
  CHECK(!kept.keep({places, 501}, free));
  for (int i = 0; i < 10; ++i) CHECK(kept.keep({places + i, 100}, free));
  CHECK(freed.empty());
  CHECK(kept.take(99) == nullptr);
  CHECK(kept.take(100) == places + 9);
  CHECK(kept.keep({places + 20, 300}, free));
  REQUIRE(freed.size() == 2);
  CHECK(freed[0].data == places);
  CHECK(freed[1].data == places + 1);
  CHECK(kept.take(300) == places + 20);
  const auto rest = kept.take_all();
  REQUIRE(rest.size() == 7);
  CHECK(rest.front().data == places + 2);
  CHECK(kept.take(100) == nullptr);
  freed.clear();
  for (int i = 0; i < 200; ++i) CHECK(kept.keep({places + i, 1}, free));
  CHECK(freed.size() == 72);
  CHECK(freed.back().data == places + 71);
}

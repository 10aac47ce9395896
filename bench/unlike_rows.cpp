// Writes matrices whose rows are not alike, for kkc_bench.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace {

using Index = int32_t;

/// Columns of each row, in any order, some twice.
struct Pattern {
  std::vector<std::vector<Index>> rows;
  Index cols = 0;

  explicit Pattern(Index n) : rows(static_cast<size_t>(n)), cols(n) {}
  Pattern(Index rows, Index cols) : rows(static_cast<size_t>(rows)), cols(cols) {}
  void add(Index row, Index column) { rows[static_cast<size_t>(row)].push_back(column); }
  void add_both(Index i, Index j) {
    add(i, j);
    add(j, i);
  }
};

class Random {
 public:
  /// 0 to n - 1
  Index below(Index n) { return static_cast<Index>(engine_() % static_cast<uint64_t>(n)); }
  /// 0 to n - 1 in any order
  std::vector<Index> order(Index n) {
    std::vector<Index> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (Index i = n - 1; i > 0; --i)
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(below(i + 1))]);
    return order;
  }
  /// [0, 1)
  double share() { return static_cast<double>(engine_() >> 11) / 9007199254740992.0; }

 private:
  std::mt19937_64 engine_{11};
};

/// Links between pages: most within a site, the others to pages that many name.
Pattern web(Random& random) {
  constexpr Index n = 600'000;
  Pattern A(n);
  for (Index site = 0; site < n;) {
    Index size = 10 + std::min(3000, static_cast<Index>(10 / std::pow(random.share() + 1e-4, 0.9)));
    size = std::min(size, n - site);
    for (Index i = site; i < site + size; ++i) {
      const Index links = std::min(400, 1 + static_cast<Index>(2.2 / std::pow(random.share() + 1e-5, 0.6)));
      A.add(i, i);
      for (Index k = 0; k < links; ++k) {
        const bool within = random.share() < 0.8;
        const double share = random.share();
        A.add(i, within ? site + static_cast<Index>(size * (share * share))
                        : static_cast<Index>(n * (share * share * share)));
      }
    }
    site += size;
  }
  return A;
}

/// Few entries near the diagonal, some anywhere.
Pattern economy(Random& random) {
  constexpr Index n = 206'500;
  Pattern A(n);
  for (Index i = 0; i < n; ++i) {
    A.add(i, i);
    for (Index k = 0; k < 4; ++k)
      if (const Index j = i + random.below(200) - 100; j >= 0 && j < n) A.add(i, j);
    if (random.share() < 0.5) A.add(i, random.below(n));
    if (random.share() < 0.5) A.add(i, (i + 5000) % n);
  }
  return A;
}

/// A grid with constraints of six neighbouring unknowns each.
Pattern saddle(Random& random) {
  constexpr Index side = 50, points = side * side * side, n = points + points / 2;
  Pattern A(n);
  const auto inside = [](Index x) { return x >= 0 && x < side; };
  for (Index z = 0; z < side; ++z)
    for (Index y = 0; y < side; ++y)
      for (Index x = 0; x < side; ++x)
        for (Index a = -1; a <= 1; ++a)
          for (Index b = -1; b <= 1; ++b)
            for (Index c = -1; c <= 1; ++c)
              if (inside(x + a) && inside(y + b) && inside(z + c) && std::abs(a) + std::abs(b) + std::abs(c) <= 2)
                A.add((z * side + y) * side + x, ((z + c) * side + y + b) * side + x + a);
  for (Index i = points; i < n; ++i) {
    A.add(i, i);
    const Index begin = random.below(points);
    for (Index k = 0; k < 6; ++k) A.add_both(i, std::min(points - 1, begin + random.below(60)));
  }
  return A;
}

/// A grid that lacks connections, with some far ones and six hubs.
Pattern circuit(Random& random) {
  constexpr Index side = 700, n = side * side;
  Pattern A(n);
  for (Index i = 0; i < n; ++i) {
    A.add(i, i);
    if (i % side + 1 < side && random.share() < 0.8) A.add_both(i, i + 1);
    if (i + side < n && random.share() < 0.7) A.add_both(i, i + side);
    if (random.share() < 0.1) A.add_both(i, random.below(n));
  }
  for (Index k = 0; k < 6; ++k) {
    const Index hub = random.below(n);
    for (Index j = 0; j < 20'000; ++j) A.add_both(hub, random.below(n));
  }
  return A;
}

/// Constraints of a linear program, thirty of them with thousands of unknowns.
Pattern linear_program(Random& random) {
  constexpr Index rows = 60'000, cols = 120'000;
  Pattern A(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    const Index entries = i < 30 ? 4000 : 2 + random.below(12), begin = random.below(cols);
    for (Index k = 0; k < entries; ++k) {
      const bool near = random.share() < 0.7;
      A.add(i, near ? std::min(cols - 1, begin + random.below(100)) : random.below(cols));
    }
  }
  return A;
}

/// Points of six unknowns that meet others, most of them near by.
Pattern points(Random& random) {
  constexpr Index unknowns = 6, count = 40'000;
  std::vector<std::vector<Index>> meets(count);
  for (Index p = 0; p < count; ++p) {
    meets[static_cast<size_t>(p)].push_back(p);
    for (Index k = 0; k < 5; ++k) {
      const bool near = random.share() < 0.8;
      const Index q = near ? std::clamp(p + random.below(400) - 200, 0, count - 1) : random.below(count);
      meets[static_cast<size_t>(p)].push_back(q);
      meets[static_cast<size_t>(q)].push_back(p);
    }
  }
  Pattern A(count * unknowns);
  for (Index p = 0; p < count; ++p)
    for (const Index q : meets[static_cast<size_t>(p)])
      for (Index i = 0; i < unknowns; ++i)
        for (Index j = 0; j < unknowns; ++j) A.add(p * unknowns + i, q * unknowns + j);
  return A;
}

/// Entries some thousands of columns from the diagonal, as after a reordering for a small bandwidth.
Pattern near(Random& random) {
  constexpr Index n = 200'000, each = 20;
  Pattern A(n);
  for (Index i = 0; i < n; ++i) {
    A.add(i, i);
    for (Index k = 0; k < each; ++k) {
      const double before = -3000 * std::log(1 - random.share());
      A.add(i, std::max(0, i - 1 - static_cast<Index>(before)));
      A.add(i, std::min(n - 1, i + 1 + random.below(3000)));
    }
  }
  return A;
}

/// A grid of 700 x 700 points, of whose links to points before them one in a hundred is missing.
Pattern holes(Random& random) {
  constexpr Index k = 700;
  Pattern A(k * k);
  for (Index i = 0; i < k * k; ++i) {
    A.add(i, i);
    if (i % k > 0 && random.share() > 0.01) A.add(i, i - 1);
    if (i >= k && random.share() > 0.01) A.add(i, i - k);
    if (i % k < k - 1) A.add(i, i + 1);
    if (i < k * (k - 1)) A.add(i, i + k);
  }
  return A;
}

/// Dense blocks on the diagonal; `more`: and an entry anywhere in each row.
Pattern blocks(Random& random, Index size, Index count, bool more) {
  Pattern A(size * count);
  for (Index i = 0; i < size * count; ++i) {
    for (Index j = 0; j < size; ++j) A.add(i, i / size * size + j);
    if (more) A.add(i, random.below(size * count));
  }
  return A;
}

/// Streets: chains of points, some of which end, and a few ways between them.
Pattern road(Random& random) {
  constexpr Index n = 600'000;
  Pattern A(n);
  for (Index i = 0; i < n; ++i) {
    A.add(i, i);
    if (i + 1 < n && random.share() < 0.93) A.add_both(i, i + 1);
    if (random.share() < 0.18)
      A.add_both(i, std::min(n - 1, i + 1 + static_cast<Index>(std::exp2(random.share() * 12))));
  }
  return A;
}

/// Hexagons, 700 x 700 points, in patches of 20 x 20 that follow each other in any order.
Pattern honeycomb(Random& random) {
  constexpr Index k = 700, patch = 20, patches = k / patch;
  const std::vector<Index> order = random.order(patches * patches);
  const auto number = [&](Index x, Index y) {
    return order[static_cast<size_t>(y / patch * patches + x / patch)] * patch * patch + y % patch * patch + x % patch;
  };
  Pattern A(k * k);
  for (Index y = 0; y < k; ++y)
    for (Index x = 0; x < k; ++x) {
      A.add(number(x, y), number(x, y));
      if (x + 1 < k) A.add_both(number(x, y), number(x + 1, y));
      if ((x + y) % 2 == 1 && y + 1 < k) A.add_both(number(x, y), number(x, y + 1));
    }
  return A;
}

/// A grid of 450 x 450 points, each cell cut by one of its diagonals.
Pattern triangles(Random& random) {
  constexpr Index k = 450;
  Pattern A(k * k);
  for (Index i = 0; i < k * k; ++i) {
    const bool right = i % k + 1 < k, above = i + k < k * k;
    A.add(i, i);
    if (right) A.add_both(i, i + 1);
    if (above) A.add_both(i, i + k);
    if (right && above) random.share() < 0.5 ? A.add_both(i, i + k + 1) : A.add_both(i + 1, i + k);
  }
  return A;
}

/// Optimal control: states on a grid of 36^3 points, controls, and multipliers of the grid's equations.
Pattern control(Random&) {
  constexpr Index k = 36, n = k * k * k;
  Pattern A(3 * n);
  for (Index i = 0; i < n; ++i) {
    const auto meets = [&](Index j) {
      A.add(i, j);
      A.add_both(j, 2 * n + i);
    };
    meets(i);
    if (i % k > 0) meets(i - 1);
    if (i % k + 1 < k) meets(i + 1);
    if (i / k % k > 0) meets(i - k);
    if (i / k % k + 1 < k) meets(i + k);
    if (i >= k * k) meets(i - k * k);
    if (i + k * k < n) meets(i + k * k);
    A.add(n + i, n + i);
    A.add_both(n + i, 2 * n + i);
    A.add(2 * n + i, 2 * n + i);
  }
  return A;
}

/// A grid of 70^3 points in no order.
Pattern shuffled(Random& random) {
  constexpr Index k = 70, n = k * k * k;
  const std::vector<Index> order = random.order(n);
  Pattern A(n);
  for (Index i = 0; i < n; ++i) {
    const auto at = [&](Index j) { return order[static_cast<size_t>(j)]; };
    A.add(at(i), at(i));
    if (i % k + 1 < k) A.add_both(at(i), at(i + 1));
    if (i / k % k + 1 < k) A.add_both(at(i), at(i + k));
    if (i + k * k < n) A.add_both(at(i), at(i + k * k));
  }
  return A;
}

/// Dense blocks on the diagonal, and a strip of columns beside each, as in power networks.
Pattern power(Random& random) {
  constexpr Index n = 15'000;
  Pattern A(n);
  for (Index block = 0; block < n;) {
    const Index size = std::min(n - block, 40 + random.below(200)), width = 60 + random.below(120),
                strip = random.below(n - 200);
    for (Index i = block; i < block + size; ++i) {
      for (Index j = block; j < block + size; ++j)
        if (i == j || size < 150 || random.share() < 0.5) A.add(i, j);
      for (Index j = 0; j < width; ++j) A.add(i, strip + j);
    }
    block += size;
  }
  return A;
}

/// Points on a line, of `unknowns` each.
Pattern line(Random&, Index points, Index unknowns) {
  Pattern A(points * unknowns);
  for (Index p = 0; p < points; ++p)
    for (Index q = std::max(p - 1, 0); q <= std::min(p + 1, points - 1); ++q)
      for (Index i = 0; i < unknowns; ++i)
        for (Index j = 0; j < unknowns; ++j) A.add(p * unknowns + i, q * unknowns + j);
  return A;
}

void write(const std::filesystem::path& file, Pattern A) {
  size_t entries = 0;
  for (auto& row : A.rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    entries += row.size();
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "w"), std::fclose);
  if (!out) throw std::runtime_error(file.string() + " cannot be written");
  std::fprintf(out.get(), "%%%%MatrixMarket matrix coordinate real general\n%zu %d %zu\n", A.rows.size(), A.cols,
               entries);
  std::mt19937_64 values(7);
  for (size_t i = 0; i < A.rows.size(); ++i)
    for (const Index j : A.rows[i]) {
      double value = static_cast<double>(values() >> 40) / (1 << 24) - 0.5;
      const bool dominant = static_cast<size_t>(A.cols) == A.rows.size() && static_cast<size_t>(j) == i;
      if (dominant) value = static_cast<double>(A.rows[i].size()) * 0.6 + 1;
      std::fprintf(out.get(), "%zu %d %.4f\n", i + 1, j + 1, value);
    }
}

}  // namespace

int main(int argc, char** argv) {
  using std::placeholders::_1;
  std::map<std::string, std::function<Pattern(Random&)>> kinds{{"web", web},         {"economy", economy},
                                                               {"saddle", saddle},   {"circuit", circuit},
                                                               {"points", points},   {"linear_program", linear_program},
                                                               {"near", near},       {"holes", holes},
                                                               {"road", road},       {"honeycomb", honeycomb},
                                                               {"power", power},     {"triangles", triangles},
                                                               {"control", control}, {"shuffled", shuffled}};
  // 6 million entries of dense blocks, and these that an entry more makes unlike.
  for (const Index size : {24, 64, 150, 300, 600})
    kinds["dense" + std::to_string(size)] = std::bind(blocks, _1, size, 6'000'000 / (size * size), false);
  kinds["line1"] = std::bind(line, _1, 1'000'000, 1);
  kinds["line5"] = std::bind(line, _1, 40'000, 5);
  kinds["blocks24"] = std::bind(blocks, _1, 24, 15'000, true);
  kinds["blocks96"] = std::bind(blocks, _1, 96, 781, true);
  kinds["blocks150"] = std::bind(blocks, _1, 150, 500, true);

  CLI::App app("Writes matrices whose rows are not alike, NAME.mtx.");
  std::string folder;
  std::vector<std::string> names;
  app.add_option("folder", folder)->required()->check(CLI::ExistingDirectory);
  app.add_option("names", names, "all of them if none is named")->check(CLI::IsMember(kinds));
  CLI11_PARSE(app, argc, argv);
  if (names.empty())
    for (const auto& [name, make] : kinds) names.push_back(name);
  for (const std::string& name : names) {
    Random random;
    write(std::filesystem::path(folder) / (name + ".mtx"), kinds.at(name)(random));
  }
}

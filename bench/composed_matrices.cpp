// Writes matrices composed of random pieces, for kkc_bench: a survey of what no one has tuned for.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include "support/composed.hpp"

namespace {

using namespace kkc_test;

/// 20 000 to 1 000 000 rows with their diagonal and 150 000 to 8 000 000 entries, whose square takes less than a
/// second.
RowsOfColumns rows_of(uint64_t seed) {
  Random random(seed);
  for (;;) {
    const int64_t n = any_size(random, 20'000, 1'000'000), entries = any_size(random, 200'000, 6'000'000);
    RowsOfColumns rows = composed_rows(random, n, n, entries);
    add_diagonal(rows);
    int64_t nnz = 0, products = 0;
    for (const auto& row : rows) {
      nnz += static_cast<int64_t>(row.size());
      for (const int64_t column : row) products += static_cast<int64_t>(rows[static_cast<size_t>(column)].size());
    }
    if (nnz >= std::max<int64_t>(150'000, n + n / 3) && nnz <= 8'000'000 && products <= 300'000'000) return rows;
  }
}

/// The diagonal is dominant.
void write(const std::filesystem::path& file, const RowsOfColumns& rows, uint64_t seed) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "w"), std::fclose);
  if (!out) throw std::runtime_error(file.string() + " cannot be written");
  size_t nnz = 0;
  for (const auto& row : rows) nnz += row.size();
  std::fprintf(out.get(), "%%%%MatrixMarket matrix coordinate real general\n%zu %zu %zu\n", rows.size(), rows.size(),
               nnz);
  Random values(seed);
  for (size_t i = 0; i < rows.size(); ++i)
    for (const int64_t column : rows[i]) {
      const bool diagonal = static_cast<size_t>(column) == i;
      const double value = diagonal ? static_cast<double>(rows[i].size()) + 2 : one_in(values, 2) ? 0.5 : -0.75;
      std::fprintf(out.get(), "%zu %lld %g\n", i + 1, static_cast<long long>(column + 1), value);
    }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes matrices composed of random pieces, cSEED.mtx.");
  std::string folder;
  uint64_t first = 0, last = 0;
  app.add_option("folder", folder)->required()->check(CLI::ExistingDirectory);
  app.add_option("first", first, "seed of the first one")->required();
  app.add_option("last", last, "seed of the last one; one matrix if it is left out");
  CLI11_PARSE(app, argc, argv);
  for (uint64_t seed = first; seed <= std::max(first, last); ++seed)
    write(std::filesystem::path(folder) / ("c" + std::to_string(seed) + ".mtx"), rows_of(seed), seed);
}

#include "matrix_generate.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "dispatch.hpp"
#include "matrix_coordinates.hpp"
#include "matrix_generate_pattern.hpp"
#include "matrix_mirror.hpp"
#include "matrix_random.hpp"
#include "options.hpp"

namespace kkc {
namespace {

constexpr int64_t grain = 1 << 16;
constexpr int64_t most = int64_t{1} << 40;  // of any size that a caller may ask for

enum class Family { grid2, grid3_star, grid3_box, rmat, random, band, arrow, identity };

struct Recipe {
  const char* name;
  Family family;
  int64_t full, small;  // grid: points along each axis (small: along x); rmat: scale; else rows
  int64_t detail;       // grid: unknowns a point; rmat: edges a vertex; random: entries a row; band: diagonals
  bool symmetric;
};

constexpr Recipe recipes[] = {
    {"lap2d5", Family::grid2, 2000, 31, 1, true},
    {"lap3d7", Family::grid3_star, 160, 11, 1, true},
    {"lap3d27", Family::grid3_box, 112, 9, 1, true},
    {"elas3", Family::grid3_box, 56, 6, 3, true},
    {"rmat", Family::rmat, 20, 10, 16, false},
    {"rand", Family::random, 1000000, 1000, 30, false},
    {"band", Family::band, 1000000, 1000, 64, false},
    {"arrow", Family::arrow, 1000000, 1000, 0, false},
    {"identity", Family::identity, 1000000, 1000, 0, true},
    {"rmat17", Family::rmat, 17, 8, 16, false},
    {"rmat18", Family::rmat, 18, 9, 16, false},
    {"rmat19", Family::rmat, 19, 9, 16, false},
    {"rmat20", Family::rmat, 20, 10, 16, false},
    {"rmat17s", Family::rmat, 17, 8, 16, true},
    {"rmat20s", Family::rmat, 20, 10, 16, true},
    {"rand30", Family::random, 1000000, 1000, 30, false},
};

const Recipe& find_recipe(std::string_view name) {
  std::string list;
  for (const Recipe& recipe : recipes) {
    if (name == recipe.name) return recipe;
    list += (list.empty() ? "" : ", ") + std::string(recipe.name);
  }
  fail(KKC_STATUS_INVALID_ARGUMENT, "name is \"", name, "\", expected one of ", list);
}

std::vector<std::string> known_options(Family family) {
  std::vector<std::string> keys = {"size", "seed", "symmetric", "diagonal"};
  const auto add = [&](std::initializer_list<const char*> more) { keys.insert(keys.end(), more.begin(), more.end()); };
  switch (family) {
    case Family::grid2: add({"nx", "ny"}); break;
    case Family::grid3_star:
    case Family::grid3_box: add({"nx", "ny", "nz"}); break;
    case Family::rmat: add({"scale", "edges"}); break;
    case Family::random: add({"rows", "cols", "per_row"}); break;
    case Family::band: add({"rows", "diagonals"}); break;
    case Family::arrow:
    case Family::identity: add({"rows"}); break;
  }
  return keys;
}

/// What becomes of a pattern's values.
struct ValueRule {
  bool stencil;  // -1 off the diagonal, on it the number of neighbours + 0.5
  bool unit;     // 1 on the diagonal
  bool symmetric, dominant;
  uint64_t seed;
};

HostCsr make_pattern(const Recipe& recipe, const Options& options, const ValueRule& rule, IndexPair pair,
                     const std::shared_ptr<const Memory>& memory) {
  const bool small = options.choice("size", {"full", "small"}) == "small";
  const int64_t size = small ? recipe.small : recipe.full;
  const auto rows = [&] { return options.integer("rows", size, 0, most); };
  const RandomShape shape{rule.seed, rule.symmetric, rule.symmetric || rule.dominant};
  switch (recipe.family) {
    case Family::grid2:
    case Family::grid3_star:
    case Family::grid3_box: {
      // Small grids differ in each direction, so that swapped ones are noticed.
      const int64_t nx = options.integer("nx", size, 0, most);
      const int64_t ny = options.integer("ny", small ? size - 2 : size, 0, most);
      const int64_t nz = recipe.family == Family::grid2 ? 1 : options.integer("nz", small ? size - 3 : size, 0, most);
      return grid_pattern({nx, ny, nz, recipe.family == Family::grid3_box, static_cast<int>(recipe.detail)}, pair,
                          memory);
    }
    case Family::rmat:
      return rmat_pattern(options.integer("scale", size, 0, 40), options.integer("edges", recipe.detail, 0, 1 << 20),
                          shape, pair, memory);
    case Family::random: {
      const int64_t n = rows();
      return random_pattern(n, options.integer("cols", n, 0, most),
                            options.integer("per_row", recipe.detail, 0, 1 << 20), shape, pair, memory);
    }
    case Family::band: {
      const int64_t diagonals = options.integer("diagonals", recipe.detail, 1, 1 << 20), half = diagonals / 2;
      return band_pattern(rows(), -half, rule.symmetric ? half : diagonals - 1 - half, pair, memory);
    }
    case Family::arrow: return arrow_pattern(rows(), pair, memory);
    case Family::identity: return band_pattern(rows(), 0, 0, pair, memory);
  }
  fail(KKC_STATUS_INTERNAL, "a recipe without a pattern");
}

/// |v| as a sum of parts, which every machine rounds alike.
template <class V>
double size_of_value(const V& v) {
  if constexpr (is_complex<V>)
    return std::abs(static_cast<double>(v.real())) + std::abs(static_cast<double>(v.imag()));
  else
    return std::abs(static_cast<double>(v));
}

template <class I, class O, class V>
class Values {
 public:
  Values(HostCsr& a, const std::shared_ptr<const Memory>& memory)
      : memory_(memory),
        threads_(host_threads(*memory)),
        parts_(part_count(threads_, a.nnz, grain)),
        rows_(a.rows),
        offsets_(a.offsets.as<O>()),
        indices_(a.indices.as<I>()),
        values_(a.values.as<V>()) {}

  void fill(const ValueRule& rule) {
    if (rule.stencil || rule.unit) {
      fill_stencil(rule.unit);
    } else {
      fill_random(rule.seed);
      if (rule.symmetric) mirror();
    }
    if (rule.dominant && !rule.stencil) dominate();
  }

 private:
  template <class F>
  void over_rows(const F& f) {
    run_parts(parts_, [&](int part) {
      const Range r = rows_of<O>(offsets_, rows_, O{0}, part, parts_);
      f(r);
    });
  }

  void fill_stencil(bool unit) {
    over_rows([&](Range r) {
      for (int64_t i = r.begin; i < r.end; ++i) {
        const auto neighbours = static_cast<Real<V>>(offsets_[i + 1] - offsets_[i] - 1);
        const V diagonal = V(unit ? Real<V>(1) : neighbours + Real<V>(0.5));
        for (O k = offsets_[i]; k < offsets_[i + 1]; ++k) values_[k] = indices_[k] == i ? diagonal : V(Real<V>(-1));
      }
    });
  }

  void fill_random(uint64_t seed) {
    constexpr int parts_of_value = is_complex<V> ? 2 : 1;
    over_rows([&](Range r) {
      if (r.begin == r.end) return;
      Draws random(seed, Stream::values, static_cast<uint64_t>(offsets_[r.begin]) * parts_of_value);
      for (O k = offsets_[r.begin]; k < offsets_[r.end]; ++k) {
        const auto re = centred<Real<V>>(random.next());
        if constexpr (is_complex<V>)
          values_[k] = V(re, centred<Real<V>>(random.next()));
        else
          values_[k] = re;
      }
    });
  }

  /// Above the diagonal: the conjugate of what is below. Complex numbers on the diagonal lose their imaginary part.
  void mirror() {
    const CsrPattern<I, O> pattern{rows_, rows_, 0, offsets_, indices_};
    walk_mirrored(pattern, threads_, memory_, [&](int, int64_t, int64_t k, int64_t image) {
      const V below = values_[k];
      if constexpr (is_complex<V>)
        values_[image] = k == image ? V(below.real()) : std::conj(below);
      else
        values_[image] = below;
      return true;
    });
  }

  void dominate() {
    over_rows([&](Range r) {
      for (int64_t i = r.begin; i < r.end; ++i) {
        double others = 0;
        O diagonal = offsets_[i];
        for (O k = offsets_[i]; k < offsets_[i + 1]; ++k) {
          if (indices_[k] == i)
            diagonal = k;
          else
            others += size_of_value(values_[k]);
        }
        values_[diagonal] = V(static_cast<Real<V>>(others + 0.5));
      }
    });
  }

  const std::shared_ptr<const Memory>& memory_;
  const int threads_, parts_;
  const int64_t rows_;
  const O* const offsets_;
  const I* const indices_;
  V* const values_;
};

}  // namespace

HostCsr generate_matrix(std::string_view name, const Options& options, IndexPair pair, Scalar scalar,
                        const std::shared_ptr<const Memory>& memory) {
  const Recipe& recipe = find_recipe(name);
  options.allow_only(cat("kkc_matrix_generate of ", recipe.name).c_str(), known_options(recipe.family));
  ValueRule rule{};
  rule.stencil =
      recipe.family == Family::grid2 || recipe.family == Family::grid3_star || recipe.family == Family::grid3_box;
  rule.unit = recipe.family == Family::identity;
  rule.symmetric = options.flag("symmetric", recipe.symmetric) || rule.stencil || rule.unit;
  rule.dominant = options.choice("diagonal", {"natural", "dominant"}) == "dominant" && !rule.unit;
  rule.seed = static_cast<uint64_t>(options.integer("seed", 7));
  if (scalar != Scalar::none) dispatch_scalar(Scalars{}, scalar, [](auto) {});
  HostCsr out = make_pattern(recipe, options, rule, pair, memory);
  if (scalar == Scalar::none) return out;
  dispatch(scalar, pair, [&](auto s, auto p) {
    using V = typename decltype(s)::type;
    out.scalar = scalar;
    out.values = host_array<V>(memory, out.nnz);
    Values<typename decltype(p)::ordinal, typename decltype(p)::offset, V>(out, memory).fill(rule);
  });
  return out;
}

}  // namespace kkc

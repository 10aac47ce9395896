// SuperLU (Demmel, Eisenstat, Gilbert, Li, Liu, SIAM J. Matrix Anal. Appl. 20(3), 1999) with METIS' nested dissection
// order (Karypis, Kumar, SIAM J. Sci. Comput. 20(1), 1998), as a module of the benchmark.
#include "superlu.hpp"

#include <metis.h>
#include <slu_ddefs.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace {

using kkc::bench::DirectFactor;
using kkc::bench::DirectFactors;

/// place[old] = new
std::vector<int> dissection(int n, const int* offsets, const int* columns) {
  std::vector<idx_t> starts(1, 0), neighbours, order(static_cast<size_t>(n)), place(static_cast<size_t>(n));
  for (int row = 0; row < n; ++row) {
    for (int p = offsets[row]; p < offsets[row + 1]; ++p)
      if (columns[p] != row) neighbours.push_back(columns[p]);
    starts.push_back(static_cast<idx_t>(neighbours.size()));
  }
  idx_t vertices = n;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  if (METIS_NodeND(&vertices, starts.data(), neighbours.data(), nullptr, options, order.data(), place.data()) !=
      METIS_OK)
    throw std::runtime_error("METIS_NodeND failed");
  return {place.begin(), place.end()};
}

/// Entries given column by column become rows.
class ByRows {
 public:
  ByRows(int n) : counts_(static_cast<size_t>(n) + 1, 0) {}

  template <class Each>
  DirectFactor made(const Each& each) {
    each([&](int row, int, double) { ++counts_[static_cast<size_t>(row) + 1]; });
    for (size_t i = 1; i < counts_.size(); ++i) counts_[i] += counts_[i - 1];
    DirectFactor F;
    F.offsets = counts_;
    F.columns.resize(static_cast<size_t>(counts_.back()));
    F.values.resize(F.columns.size());
    each([&](int row, int column, double value) {
      const auto at = static_cast<size_t>(counts_[static_cast<size_t>(row)]++);
      F.columns[at] = column;
      F.values[at] = value;
    });
    return F;
  }

 private:
  std::vector<int64_t> counts_;
};

DirectFactors split(int n, const SuperMatrix& L, const SuperMatrix& U) {
  const auto& l = *static_cast<const SCformat*>(L.Store);
  const auto& u = *static_cast<const NCformat*>(U.Store);
  const auto* const l_values = static_cast<const double*>(l.nzval);
  const auto* const u_values = static_cast<const double*>(u.nzval);
  // Columns of a supernode have their rows in common, those of U's part first.
  const auto each_in_supernodes = [&](const auto& f) {
    for (int column = 0; column < n; ++column) {
      const int first = l.sup_to_col[l.col_to_sup[column]];
      const int* const rows = l.rowind + l.rowind_colptr[first];
      const int count = l.rowind_colptr[first + 1] - l.rowind_colptr[first];
      for (int k = 0; k < count; ++k) f(rows[k], column, l_values[l.nzval_colptr[column] + k]);
    }
  };
  DirectFactors factors;
  factors.L = ByRows(n).made([&](const auto& put) {
    each_in_supernodes([&](int row, int column, double value) {
      if (row == column) put(row, column, 1.0);
      if (row > column && value != 0) put(row, column, value);
    });
  });
  factors.U = ByRows(n).made([&](const auto& put) {
    for (int column = 0; column < n; ++column) {
      for (int p = u.colptr[column]; p < u.colptr[column + 1]; ++p)
        if (u_values[p] != 0) put(u.rowind[p], column, u_values[p]);
      const int first = l.sup_to_col[l.col_to_sup[column]];
      const int* const rows = l.rowind + l.rowind_colptr[first];
      const int count = l.rowind_colptr[first + 1] - l.rowind_colptr[first];
      for (int k = 0; k < count; ++k) {
        const double value = l_values[l.nzval_colptr[column] + k];
        if (rows[k] == column || (rows[k] < column && value != 0)) put(rows[k], column, value);
      }
    }
  });
  for (DirectFactor* F : {&factors.L, &factors.U})
    for (int row = 0; row < n; ++row) {
      const auto begin = static_cast<size_t>(F->offsets[static_cast<size_t>(row)]),
                 end = static_cast<size_t>(F->offsets[static_cast<size_t>(row) + 1]);
      for (size_t p = begin + 1; p < end; ++p)
        if (F->columns[p] <= F->columns[p - 1]) throw std::runtime_error("SuperLU's factors have unsorted rows");
    }
  return factors;
}

DirectFactors factorize(int64_t rows, const int32_t* offsets, const int32_t* columns, const double* values) {
  const auto n = static_cast<int>(rows);
  const int nnz = offsets[n];
  // By columns; with a symmetric pattern these are the rows' places.
  std::vector<int> next(offsets, offsets + n), starts(offsets, offsets + n + 1), index(columns, columns + nnz);
  std::vector<double> by_columns(static_cast<size_t>(nnz));
  for (int row = 0; row < n; ++row)
    for (int p = offsets[row]; p < offsets[row + 1]; ++p) {
      int& at = next[static_cast<size_t>(columns[p])];
      if (at >= offsets[columns[p] + 1] || index[static_cast<size_t>(at)] != row)
        throw std::runtime_error("its pattern is not symmetric");
      by_columns[static_cast<size_t>(at++)] = values[p];
    }

  superlu_options_t options;
  set_default_options(&options);
  options.ColPerm = MY_PERMC;
  options.SymmetricMode = YES;
  options.DiagPivotThresh = 0.0;
  options.Equil = NO;
  SuperMatrix A, permuted, L, U;
  dCreate_CompCol_Matrix(&A, n, n, nnz, by_columns.data(), index.data(), starts.data(), SLU_NC, SLU_D, SLU_GE);
  std::vector<int> column_places = dissection(n, offsets, columns), row_places(static_cast<size_t>(n)),
                   tree(static_cast<size_t>(n));
  sp_preorder(&options, &A, column_places.data(), tree.data(), &permuted);
  SuperLUStat_t statistics;
  StatInit(&statistics);
  GlobalLU_t shared;
  int info = 0;
  dgstrf(&options, &permuted, sp_ienv(2), sp_ienv(1), tree.data(), nullptr, 0, column_places.data(), row_places.data(),
         &L, &U, &shared, &statistics, &info);
  StatFree(&statistics);
  Destroy_CompCol_Permuted(&permuted);
  Destroy_SuperMatrix_Store(&A);
  if (info != 0) throw std::runtime_error("SuperLU's dgstrf returns " + std::to_string(info));
  const bool diagonal_pivots = row_places == column_places;
  DirectFactors factors;
  if (diagonal_pivots) factors = split(n, L, U);
  Destroy_SuperNode_Matrix(&L);
  Destroy_CompCol_Matrix(&U);
  if (!diagonal_pivots) throw std::runtime_error("SuperLU pivoted off the diagonal");
  return factors;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) kkc::bench::DirectFactorize kkc_bench_superlu() { return factorize; }

// dcsrilu0: sequential, one call without phases, doubles, indices from 1 (a copy is made in set-up).
#include "mkl_ilu.hpp"

#include <mkl.h>
#include <mkl_rci.h>

#include <memory>

namespace kkc::bench::mkl_ilu {
namespace {

struct Factors {
  std::vector<MKL_INT> offsets, indices, ipar = std::vector<MKL_INT>(128, 0);
  std::vector<double> values, dpar = std::vector<double>(128, 0.0);
};

}  // namespace

std::vector<TwoPhases> factors(const FactorProblem& p) {
  if (p.cholesky) throw NotTaken("has no incomplete Cholesky factorization");
  if (p.scalar != KKC_TYPE_F64) throw NotTaken("factors doubles only");
  if (p.A.index != KKC_INDEX_32_32) throw NotTaken("the LP64 library has 32-bit indices only");
  const auto made = std::make_shared<Factors>();
  const MKL_INT shift = 1 - p.A.base;
  const auto* offsets = static_cast<const MKL_INT*>(p.A.offsets);
  const auto* indices = static_cast<const MKL_INT*>(p.A.indices);
  for (int64_t i = 0; i <= p.A.rows; ++i) made->offsets.push_back(offsets[i] + shift);
  for (int64_t k = 0; k < p.A.nnz; ++k) made->indices.push_back(indices[k] + shift);
  made->values.resize(static_cast<size_t>(p.A.nnz));
  made->ipar[1] = 6;  // messages, of which there are none: the next two are 0
  const auto run = [=] {
    const auto n = static_cast<MKL_INT>(p.A.rows);
    MKL_INT status = 0;
    dcsrilu0(&n, static_cast<const double*>(p.A.values), made->offsets.data(), made->indices.data(),
             made->values.data(), made->ipar.data(), made->dpar.data(), &status);
    if (status != 0) throw std::runtime_error("dcsrilu0: status " + std::to_string(status));
  };
  const auto fetch = [=] {
    return HostResult{
        p.A.rows,           p.A.nnz, sizeof(MKL_INT), sizeof(MKL_INT), 1, made->offsets.data(), made->indices.data(),
        made->values.data()};
  };
  return {{"dcsrilu0 (one thread)", nullptr, run, fetch}};
}

}  // namespace kkc::bench::mkl_ilu

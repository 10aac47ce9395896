// krylov: conjugate gradients, BiCGSTAB and restarted GMRES. The methods run on the host (krylov_solve.cpp,
// krylov_gmres.cpp); the operation's implementations are the steps over vectors between products with A, each one pass,
// which keep the methods' scalars in the device's memory. Contract of the implementations.
#pragma once

#include <cstdint>
#include <string>

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc::krylov {

/// A scalar of a method, in double precision for every element type; im stays 0 for real ones.
struct Number {
  double re, im;
};

/// Norms that steps keep before the host takes them away; a power of 2.
constexpr int64_t history_capacity = 4096;

enum class Phase : int32_t { running, converged, broken };

/// Why a method could not go on.
enum class Breakdown : int32_t {
  none,
  direction,        // cg: (p, A p) is not positive
  preconditioner,   // cg: (r, M^-1 r) is not positive
  shadow,           // bicgstab: (r0, A p) is zero
  shadow_residual,  // bicgstab: (r0, r) is zero
  stabilizer,       // bicgstab: omega is zero
  not_finite        // a residual is NaN or infinite
};

/// What steps tell one another and the host, in the device's memory. Steps of cg and bicgstab do nothing unless
/// `phase` is running, so the host may look at it every few iterations only.
struct Progress {
  Number rho, alpha, beta, omega;
  double threshold;  // a residual norm that ends the iteration
  double norm;       // of the residual, as the recurrence has it
  double value;      // the number that broke the method
  double scale;      // gmres: 1 / norm of the next basis vector
  double best;       // bicgstab: least norm so far
  double* history;   // norm after iteration i in place i mod history_capacity
  int64_t iteration;
  int32_t current, best_at;  // bicgstab: which of the two x is the latest and which the best
  Phase phase;
  Breakdown breakdown;
};

/// Every vector has n elements of one type, side by side; those of a step do not overlap unless they are the same.
/// M^-1 is the diagonal `inverse` where that is given, else the identity where the vector that it makes is the vector
/// that it takes, else somebody else's work.
struct Args {
  Scalar scalar;
  int64_t n;
  Progress* progress;
  const void* inverse;  // diagonal of M^-1, or null
  bool external;        // M^-1 is applied between steps
  void* x[2];           // bicgstab writes to one and keeps the best in the other
  void *r, *z, *p, *q;
  void *shadow, *v, *t, *direction, *half;  // bicgstab: r0, A p, A s, M^-1 p, M^-1 s
  void* basis;                              // gmres: vectors `stride` elements apart
  int64_t stride, columns;                  // gmres: vectors before the one at hand
  Number* hessenberg;                       // gmres: columns + 1 coefficients of the vector at hand
  Number* correction;                       // gmres: columns coefficients
};

enum class Step : int32_t {
  invert,               // inverse -> 1 / inverse (in place); norm = its norm
  cg_start,             // p = z = M^-1 r; rho = (r, z); norm = ||r||
  cg_curvature,         // alpha = rho / (p, q)
  cg_update,            // x += alpha p; r -= alpha q; z = M^-1 r; norm; unless external: beta
  cg_product,           // external: beta = (r, z) / rho
  cg_direction,         // p = z + beta p
  bicgstab_start,       // shadow = p = r; direction = M^-1 p; rho = (shadow, r); norm
  bicgstab_alpha,       // alpha = rho / (shadow, v)
  bicgstab_half,        // r -= alpha v; half = M^-1 r; is it enough?
  bicgstab_omega,       // omega = (t, r) / (t, t)
  bicgstab_update,      // x += alpha direction + omega half; r -= omega t; norm; beta
  bicgstab_direction,   // p = r + beta (p - omega v); direction = M^-1 p
  gmres_start,          // norm of w = basis[columns]; scale = 1 / norm
  gmres_orthogonalize,  // w -= its part in basis[0 .. columns - 1]; hessenberg; scale
  gmres_next,           // w = scale w; z = M^-1 w
  gmres_combine,        // external: z = sum of correction_c basis[c]; else x += M^-1 of that sum
  add                   // x += z
};

struct Desc {
  Scalar scalar;
  int64_t n;
};

struct Implementation : Entry {
  bool deterministic;
  std::string (*unsupported)(const Desc& desc);
  /// Plan time: loads the kernels for an element type.
  void (*load)(Queue& queue, Scalar scalar);
  /// scratch: the context's. Hosts block; GPUs only enqueue, and never allocate.
  void (*run)(Queue& queue, void* scratch, Step step, const Args& args);
};

}  // namespace kkc::krylov

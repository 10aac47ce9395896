// The steps of the methods as functors of one element, for all devices: element(i) writes, pairs of vectors are then
// multiplied and summed, and finish() makes the next scalars of the sums. T: an Element of core/parts.hpp.
//
// Sources: M. R. Hestenes, E. Stiefel, Methods of conjugate gradients for solving linear systems, J. Res. NBS 49
// (1952), section 3; H. A. van der Vorst, Bi-CGSTAB, SIAM J. Sci. Stat. Comput. 13 (1992), section 3, preconditioned
// from the right, so that the recurrence's residual is that of the system.
#pragma once

#include "krylov.hpp"
#include "ops/dot/dot_sum.hpp"

namespace kkc::krylov {

using dot::Sum;

template <int count>
struct Sums {
  Sum of[count];
  constexpr void add(const Sums& other) {
    for (int k = 0; k < count; ++k) of[k].add(other.of[k]);
  }
};

template <class T>
struct Made {
  static constexpr T from(const Number& a) { return static_cast<T>(a.re); }
};
template <class R>
struct Made<Parts<R>> {
  static constexpr Parts<R> from(const Number& a) { return {static_cast<R>(a.re), static_cast<R>(a.im)}; }
};

constexpr Number negative(const Number& a) { return {-a.re, -a.im}; }
constexpr Number product(const Number& a, const Number& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// The larger part: 0, infinite or NaN where the number is.
constexpr double size(const Number& a) {
  const double re = a.re < 0 ? -a.re : a.re, im = a.im < 0 ? -a.im : a.im;
  return re >= im || re != re ? re : im;
}
constexpr Number quotient(const Number& a, const Number& b) {
  const double d = b.re * b.re + b.im * b.im;
  if (d > 1e-280 && d < 1e280) return {(a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d};
  // The square leaves the range: divided by the larger part first.
  const double large = size(b), x = b.re / large, y = b.im / large, e = x * x + y * y;
  const Number by{a.re / large / e, a.im / large / e};
  return {by.re * x + by.im * y, by.im * x - by.re * y};
}
constexpr Number number(const Sum& sum) { return {sum.re, sum.im}; }
constexpr bool finite(double a) { return a - a == 0; }

template <class R>
constexpr R reciprocal(R a) {
  return R(1) / a;
}
template <class R>
constexpr Parts<R> reciprocal(Parts<R> a) {
  // Scaled by the larger part, so that the square neither overflows nor vanishes.
  const R re = a.re < 0 ? -a.re : a.re, im = a.im < 0 ? -a.im : a.im, large = re > im ? re : im;
  const R x = a.re / large, y = a.im / large, d = (x * x + y * y) * large;
  return {x / d, -y / d};
}

/// What all steps share: no effect once the method has ended.
struct Running {
  Progress* s;
  constexpr bool active() const { return s->phase == Phase::running; }
  constexpr void end(Breakdown why, double value) const {
    s->phase = Phase::broken;
    s->breakdown = why;
    s->value = value;
  }
  /// A norm of the start or after an iteration.
  constexpr void judge(double norm) const {
    s->norm = norm;
    s->history[s->iteration & (history_capacity - 1)] = norm;
    if (norm <= s->threshold)
      s->phase = Phase::converged;
    else if (!finite(norm))
      end(Breakdown::not_finite, norm);
  }
};

/// inverse -> 1 / inverse
template <class T>
struct Invert {
  static constexpr int sums = 1;
  Progress* s;
  T* d;
  constexpr bool active() const { return true; }
  constexpr void load() {}
  constexpr int pairs() const { return 1; }
  constexpr void element(int64_t i) const { d[i] = reciprocal(d[i]); }
  constexpr const T* left(int) const { return d; }
  constexpr const T* right(int) const { return d; }
  template <class Sqrt>
  constexpr void finish(const Sums<1>& sum, Sqrt sqrt) const {
    s->norm = sqrt(sum.of[0].re);
  }
};

template <class T>
struct CgStart : Running {
  static constexpr int sums = 2;
  const T *inverse, *r;
  T *z, *p;
  constexpr void load() {}
  constexpr int pairs() const { return z == r ? 1 : 2; }
  constexpr void element(int64_t i) const {
    if (inverse != nullptr) z[i] = times(inverse[i], r[i]);
    p[i] = z[i];
  }
  constexpr const T* left(int) const { return r; }
  constexpr const T* right(int k) const { return k == 0 ? r : z; }
  template <class Sqrt>
  constexpr void finish(const Sums<2>& sum, Sqrt sqrt) const {
    judge(sqrt(sum.of[0].re));
    s->rho = number(sum.of[pairs() - 1]);
    if (active() && !(s->rho.re > 0)) end(Breakdown::preconditioner, s->rho.re);
  }
};

template <class T>
struct CgCurvature : Running {
  static constexpr int sums = 1;
  const T *p, *q;
  constexpr void load() {}
  constexpr int pairs() const { return 1; }
  constexpr void element(int64_t) const {}
  constexpr const T* left(int) const { return p; }
  constexpr const T* right(int) const { return q; }
  template <class Sqrt>
  constexpr void finish(const Sums<1>& sum, Sqrt) const {
    const double curvature = sum.of[0].re, alpha = s->rho.re / curvature;
    if (curvature > 0 && finite(alpha))
      s->alpha = {alpha, 0};
    else
      end(Breakdown::direction, curvature);
  }
};

/// beta of the next direction.
constexpr void cg_turn(const Running& step, double product) {
  Progress* const s = step.s;
  s->beta = {product / s->rho.re, 0};
  s->rho = {product, 0};
  if (!(product > 0)) step.end(Breakdown::preconditioner, product);
}

template <class T>
struct CgUpdate : Running {
  static constexpr int sums = 2;
  const T *inverse, *p, *q;
  T *x, *r, *z;
  bool external;
  T alpha, minus_alpha;
  constexpr void load() {
    alpha = Made<T>::from(s->alpha);
    minus_alpha = Made<T>::from(negative(s->alpha));
  }
  constexpr int pairs() const { return external || z == r ? 1 : 2; }
  constexpr void element(int64_t i) const {
    x[i] = plus(x[i], times(alpha, p[i]));
    const T left = plus(r[i], times(minus_alpha, q[i]));
    r[i] = left;
    if (inverse != nullptr) z[i] = times(inverse[i], left);
  }
  constexpr const T* left(int) const { return r; }
  constexpr const T* right(int k) const { return k == 0 ? r : z; }
  template <class Sqrt>
  constexpr void finish(const Sums<2>& sum, Sqrt sqrt) const {
    ++s->iteration;
    judge(sqrt(sum.of[0].re));
    if (active() && !external) cg_turn(*this, sum.of[pairs() - 1].re);
  }
};

template <class T>
struct CgProduct : Running {
  static constexpr int sums = 1;
  const T *r, *z;
  constexpr void load() {}
  constexpr int pairs() const { return 1; }
  constexpr void element(int64_t) const {}
  constexpr const T* left(int) const { return r; }
  constexpr const T* right(int) const { return z; }
  template <class Sqrt>
  constexpr void finish(const Sums<1>& sum, Sqrt) const {
    cg_turn(*this, sum.of[0].re);
  }
};

template <class T>
struct CgDirection : Running {
  static constexpr int sums = 0;
  const T* z;
  T* p;
  T beta;
  constexpr void load() { beta = Made<T>::from(s->beta); }
  constexpr void element(int64_t i) const { p[i] = plus(z[i], times(beta, p[i])); }
};

template <class T>
struct BicgstabStart : Running {
  static constexpr int sums = 1;
  const T *inverse, *r;
  T *shadow, *p, *direction;
  constexpr void load() {}
  constexpr int pairs() const { return 1; }
  constexpr void element(int64_t i) const {
    shadow[i] = p[i] = r[i];
    if (inverse != nullptr) direction[i] = times(inverse[i], r[i]);
  }
  constexpr const T* left(int) const { return r; }
  constexpr const T* right(int) const { return r; }
  template <class Sqrt>
  constexpr void finish(const Sums<1>& sum, Sqrt sqrt) const {
    s->rho = number(sum.of[0]);
    judge(sqrt(sum.of[0].re));
    s->best = s->norm;
    s->current = s->best_at = 0;
  }
};

template <class T>
struct BicgstabAlpha : Running {
  static constexpr int sums = 1;
  const T *shadow, *v;
  constexpr void load() {}
  constexpr int pairs() const { return 1; }
  constexpr void element(int64_t) const {}
  constexpr const T* left(int) const { return shadow; }
  constexpr const T* right(int) const { return v; }
  template <class Sqrt>
  constexpr void finish(const Sums<1>& sum, Sqrt) const {
    const Number bottom = number(sum.of[0]);
    s->alpha = quotient(s->rho, bottom);
    const double alpha = size(s->alpha);
    if (!(alpha > 0) || !finite(alpha)) end(Breakdown::shadow, size(bottom));
  }
};

template <class T>
struct BicgstabHalf : Running {
  static constexpr int sums = 1;
  const T *inverse, *v;
  T *r, *half;
  T minus_alpha;
  constexpr void load() { minus_alpha = Made<T>::from(negative(s->alpha)); }
  constexpr int pairs() const { return 1; }
  constexpr void element(int64_t i) const {
    const T left = plus(r[i], times(minus_alpha, v[i]));
    r[i] = left;
    if (inverse != nullptr) half[i] = times(inverse[i], left);
  }
  constexpr const T* left(int) const { return r; }
  constexpr const T* right(int) const { return r; }
  template <class Sqrt>
  constexpr void finish(const Sums<1>& sum, Sqrt sqrt) const {
    s->norm = sqrt(sum.of[0].re);
  }
};

template <class T>
struct BicgstabOmega : Running {
  static constexpr int sums = 2;
  const T *t, *r;
  constexpr void load() {}
  constexpr int pairs() const { return 2; }
  constexpr void element(int64_t) const {}
  constexpr const T* left(int) const { return t; }
  constexpr const T* right(int k) const { return k == 0 ? r : t; }
  template <class Sqrt>
  constexpr void finish(const Sums<2>& sum, Sqrt) const {
    // Where half of the iteration is enough, the other half would divide rounding errors by each other.
    const bool enough = s->norm <= s->threshold || sum.of[1].re == 0;
    s->omega = enough ? Number{0, 0} : quotient(number(sum.of[0]), number(sum.of[1]));
  }
};

template <class T>
struct BicgstabUpdate : Running {
  static constexpr int sums = 2;
  const T *direction, *half, *t, *shadow;
  T *first, *second, *r;
  const T* from;
  T* to;
  T alpha, omega, minus_omega;
  /// The best x so far is not written over.
  constexpr int target() const { return s->current == s->best_at ? 1 - s->current : s->current; }
  constexpr void load() {
    from = s->current == 0 ? first : second;
    to = target() == 0 ? first : second;
    alpha = Made<T>::from(s->alpha);
    omega = Made<T>::from(s->omega);
    minus_omega = Made<T>::from(negative(s->omega));
  }
  constexpr int pairs() const { return 2; }
  constexpr void element(int64_t i) const {
    to[i] = plus(plus(from[i], times(alpha, direction[i])), times(omega, half[i]));
    r[i] = plus(r[i], times(minus_omega, t[i]));
  }
  constexpr const T* left(int k) const { return k == 0 ? r : shadow; }
  constexpr const T* right(int) const { return r; }
  template <class Sqrt>
  constexpr void finish(const Sums<2>& sum, Sqrt sqrt) const {
    ++s->iteration;
    s->current = target();
    judge(sqrt(sum.of[0].re));
    if (s->norm < s->best) {
      s->best = s->norm;
      s->best_at = s->current;
    }
    if (!active()) return;
    const Number rho = number(sum.of[1]);
    s->beta = product(quotient(rho, s->rho), quotient(s->alpha, s->omega));
    s->rho = rho;
    const double beta = size(s->beta);
    if (size(s->omega) == 0)
      end(Breakdown::stabilizer, 0);
    else if (!(beta > 0) || !finite(beta))
      end(Breakdown::shadow_residual, size(rho));
  }
};

template <class T>
struct BicgstabDirection : Running {
  static constexpr int sums = 0;
  const T *inverse, *r, *v;
  T *p, *direction;
  T beta, minus_omega;
  constexpr void load() {
    beta = Made<T>::from(s->beta);
    minus_omega = Made<T>::from(negative(s->omega));
  }
  constexpr void element(int64_t i) const {
    const T next = plus(r[i], times(beta, plus(p[i], times(minus_omega, v[i]))));
    p[i] = next;
    if (inverse != nullptr) direction[i] = times(inverse[i], next);
  }
};

template <class T>
struct GmresStart {
  static constexpr int sums = 1;
  Progress* s;
  const T* w;
  constexpr bool active() const { return true; }
  constexpr void load() {}
  constexpr int pairs() const { return 1; }
  constexpr void element(int64_t) const {}
  constexpr const T* left(int) const { return w; }
  constexpr const T* right(int) const { return w; }
  template <class Sqrt>
  constexpr void finish(const Sums<1>& sum, Sqrt sqrt) const {
    s->norm = sqrt(sum.of[0].re);
    s->scale = s->norm > 0 ? 1 / s->norm : 0;
  }
};

template <class T>
struct GmresNext {
  static constexpr int sums = 0;
  Progress* s;
  const T* inverse;
  T *w, *z;
  T scale;
  constexpr bool active() const { return true; }
  constexpr void load() { scale = Made<T>::from({s->scale, 0}); }
  constexpr void element(int64_t i) const {
    const T next = times(scale, w[i]);
    w[i] = next;
    if (inverse != nullptr) z[i] = times(inverse[i], next);
  }
};

template <class T>
struct Add {
  static constexpr int sums = 0;
  const T* z;
  T* x;
  constexpr bool active() const { return true; }
  constexpr void load() {}
  constexpr void element(int64_t i) const { x[i] = plus(x[i], z[i]); }
};

/// Calls f with the functor of a step that works element by element; false for the others.
template <class T, class F>
bool with_step(Step step, const Args& a, const F& f) {
  const auto in = [](const void* p) { return static_cast<const T*>(p); };
  const auto out = [](void* p) { return static_cast<T*>(p); };
  T* const w = out(a.basis) + a.stride * a.columns;
  switch (step) {
    case Step::invert: f(Invert<T>{a.progress, static_cast<T*>(const_cast<void*>(a.inverse))}); return true;
    case Step::cg_start: f(CgStart<T>{{a.progress}, in(a.inverse), in(a.r), out(a.z), out(a.p)}); return true;
    case Step::cg_curvature: f(CgCurvature<T>{{a.progress}, in(a.p), in(a.q)}); return true;
    case Step::cg_update:
      f(CgUpdate<T>{
          {a.progress}, in(a.inverse), in(a.p), in(a.q), out(a.x[0]), out(a.r), out(a.z), a.external, T{}, T{}});
      return true;
    case Step::cg_product: f(CgProduct<T>{{a.progress}, in(a.r), in(a.z)}); return true;
    case Step::cg_direction: f(CgDirection<T>{{a.progress}, in(a.z), out(a.p), T{}}); return true;
    case Step::bicgstab_start:
      f(BicgstabStart<T>{{a.progress}, in(a.inverse), in(a.r), out(a.shadow), out(a.p), out(a.direction)});
      return true;
    case Step::bicgstab_alpha: f(BicgstabAlpha<T>{{a.progress}, in(a.shadow), in(a.v)}); return true;
    case Step::bicgstab_half:
      f(BicgstabHalf<T>{{a.progress}, in(a.inverse), in(a.v), out(a.r), out(a.half), T{}});
      return true;
    case Step::bicgstab_omega: f(BicgstabOmega<T>{{a.progress}, in(a.t), in(a.r)}); return true;
    case Step::bicgstab_update:
      f(BicgstabUpdate<T>{{a.progress},
                          in(a.direction),
                          in(a.half),
                          in(a.t),
                          in(a.shadow),
                          out(a.x[0]),
                          out(a.x[1]),
                          out(a.r),
                          nullptr,
                          nullptr,
                          T{},
                          T{},
                          T{}});
      return true;
    case Step::bicgstab_direction:
      f(BicgstabDirection<T>{{a.progress}, in(a.inverse), in(a.r), in(a.v), out(a.p), out(a.direction), T{}, T{}});
      return true;
    case Step::gmres_start: f(GmresStart<T>{a.progress, w}); return true;
    case Step::gmres_next: f(GmresNext<T>{a.progress, in(a.inverse), w, out(a.z), T{}}); return true;
    case Step::add: f(Add<T>{in(a.z), out(a.x[0])}); return true;
    case Step::gmres_orthogonalize:
    case Step::gmres_combine: break;
  }
  return false;
}

}  // namespace kkc::krylov

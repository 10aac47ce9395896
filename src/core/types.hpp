// The element types, index pairs and layouts that kkc is built for. This file alone lists types.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kkc.h"

namespace kkc {

// Numeric values are those of kkc.h; the core works with these strong types.
enum class Device : int32_t {
  serial = KKC_DEVICE_SERIAL,
  openmp = KKC_DEVICE_OPENMP,
  cuda = KKC_DEVICE_CUDA,
  hip = KKC_DEVICE_HIP
};
constexpr bool is_host(Device device) { return device == Device::serial || device == Device::openmp; }
enum class Scalar : int32_t {
  none = KKC_TYPE_NONE,
  u8 = KKC_TYPE_U8,
  i32 = KKC_TYPE_I32,
  i64 = KKC_TYPE_I64,
  f32 = KKC_TYPE_F32,
  f64 = KKC_TYPE_F64,
  c64 = KKC_TYPE_C64,
  c128 = KKC_TYPE_C128
};
enum class IndexPair : int32_t { i32_32 = KKC_INDEX_32_32, i32_64 = KKC_INDEX_32_64, i64_64 = KKC_INDEX_64_64 };
enum class Layout : int32_t { left = KKC_LAYOUT_LEFT, right = KKC_LAYOUT_RIGHT, strided = KKC_LAYOUT_STRIDED };
enum class Space : int32_t {
  host = KKC_SPACE_HOST,
  device = KKC_SPACE_DEVICE,
  pinned = KKC_SPACE_PINNED,
  managed = KKC_SPACE_MANAGED
};
enum class Op : int32_t {
  none = KKC_OP_NONE,
  transpose = KKC_OP_TRANSPOSE,
  conjugate = KKC_OP_CONJUGATE,
  hermitian = KKC_OP_HERMITIAN
};
enum class Uplo : int32_t { lower = KKC_UPLO_LOWER, upper = KKC_UPLO_UPPER };
enum class Diag : int32_t { stored = KKC_DIAG_STORED, unit = KKC_DIAG_UNIT };

/// Where a device's own data lie.
constexpr Space own_space(Device device) { return is_host(device) ? Space::host : Space::device; }

constexpr bool transposes(Op op) { return op == Op::transpose || op == Op::hermitian; }
constexpr bool conjugates(Op op) { return op == Op::conjugate || op == Op::hermitian; }

template <class... Ts>
struct TypeList {};

/// Carries a type as a value, so that a generic lambda can receive it.
template <class T>
struct Type {
  using type = T;
};

/// Column index type and row offset type of a compressed matrix.
template <class I, class O>
struct Indices {
  using ordinal = I;
  using offset = O;
};

using c64 = std::complex<float>;
using c128 = std::complex<double>;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

// Full lists: what exists. Views hold all elements; matrices and kernels use scalars.
using AllElements = TypeList<uint8_t, int32_t, int64_t, float, double, c64, c128>;
using AllScalars = TypeList<float, double, c64, c128>;
using AllIndexPairs = TypeList<Indices<int32_t, int32_t>, Indices<int32_t, int64_t>, Indices<int64_t, int64_t>>;

// What this build instantiates kernels for. CMake's KKC_SCALARS and KKC_INDEX_PAIRS narrow the lists
// through two bit masks (bit i: i-th entry of the full list).
#ifndef KKC_SCALAR_MASK
#define KKC_SCALAR_MASK 15
#endif
#ifndef KKC_INDEX_PAIR_MASK
#define KKC_INDEX_PAIR_MASK 7
#endif

namespace detail {
template <class... A, class... B>
TypeList<A..., B...> join(TypeList<A...>, TypeList<B...>);
template <unsigned Mask, class List>
struct Select {
  using type = TypeList<>;
};
template <unsigned Mask, class T, class... Ts>
struct Select<Mask, TypeList<T, Ts...>> {
  using head = std::conditional_t<(Mask & 1u) != 0, TypeList<T>, TypeList<>>;
  using type = decltype(join(head{}, typename Select<(Mask >> 1), TypeList<Ts...>>::type{}));
};
}  // namespace detail

using Scalars = detail::Select<KKC_SCALAR_MASK, AllScalars>::type;
using IndexPairs = detail::Select<KKC_INDEX_PAIR_MASK, AllIndexPairs>::type;

template <class T>
inline constexpr Scalar scalar_of = Scalar::none;
template <>
inline constexpr Scalar scalar_of<uint8_t> = Scalar::u8;
template <>
inline constexpr Scalar scalar_of<int32_t> = Scalar::i32;
template <>
inline constexpr Scalar scalar_of<int64_t> = Scalar::i64;
template <>
inline constexpr Scalar scalar_of<float> = Scalar::f32;
template <>
inline constexpr Scalar scalar_of<double> = Scalar::f64;
template <>
inline constexpr Scalar scalar_of<c64> = Scalar::c64;
template <>
inline constexpr Scalar scalar_of<c128> = Scalar::c128;

template <class P>
inline constexpr IndexPair index_pair_of = IndexPair::i32_32;
template <>
inline constexpr IndexPair index_pair_of<Indices<int32_t, int64_t>> = IndexPair::i32_64;
template <>
inline constexpr IndexPair index_pair_of<Indices<int64_t, int64_t>> = IndexPair::i64_64;

/// Bytes of one element; 0 for none.
constexpr size_t size_of(Scalar s) {
  switch (s) {
    case Scalar::u8: return 1;
    case Scalar::i32:
    case Scalar::f32: return 4;
    case Scalar::i64:
    case Scalar::f64:
    case Scalar::c64: return 8;
    case Scalar::c128: return 16;
    case Scalar::none: break;
  }
  return 0;
}
/// What a device asks of an array's address: GPUs load complex numbers whole, hosts by their parts.
constexpr size_t alignment_of(Scalar s, Device device) {
  const size_t bytes = size_of(s);
  return bytes == 0 ? 1 : is_host(device) ? 1 : bytes;
}
constexpr bool is_floating(Scalar s) {
  return s == Scalar::f32 || s == Scalar::f64 || s == Scalar::c64 || s == Scalar::c128;
}
constexpr bool is_complex_scalar(Scalar s) { return s == Scalar::c64 || s == Scalar::c128; }
constexpr size_t ordinal_size(IndexPair p) { return p == IndexPair::i64_64 ? 8 : 4; }
constexpr size_t offset_size(IndexPair p) { return p == IndexPair::i32_32 ? 4 : 8; }

// Names as they appear in errors, JSON and options.
const char* name(Device);
const char* name(Scalar);
const char* name(IndexPair);
const char* name(Layout);
const char* name(Space);
const char* name(Op);
const char* name(Uplo);
const char* name(Diag);

}  // namespace kkc

#include "types.hpp"

namespace kkc {

const char* name(Device d) {
  switch (d) {
    case Device::serial: return "serial";
    case Device::openmp: return "openmp";
    case Device::cuda: return "cuda";
    case Device::hip: return "hip";
  }
  return "unknown";
}

const char* name(Scalar s) {
  switch (s) {
    case Scalar::none: return "none";
    case Scalar::u8: return "u8";
    case Scalar::i32: return "i32";
    case Scalar::i64: return "i64";
    case Scalar::f32: return "f32";
    case Scalar::f64: return "f64";
    case Scalar::c64: return "c64";
    case Scalar::c128: return "c128";
  }
  return "unknown";
}

const char* name(IndexPair p) {
  switch (p) {
    case IndexPair::i32_32: return "32_32";
    case IndexPair::i32_64: return "32_64";
    case IndexPair::i64_64: return "64_64";
  }
  return "unknown";
}

const char* name(Layout l) {
  switch (l) {
    case Layout::left: return "left";
    case Layout::right: return "right";
    case Layout::strided: return "strided";
  }
  return "unknown";
}

const char* name(Space s) {
  switch (s) {
    case Space::host: return "host";
    case Space::device: return "device";
    case Space::pinned: return "pinned";
    case Space::managed: return "managed";
  }
  return "unknown";
}

const char* name(Op op) {
  switch (op) {
    case Op::none: return "N";
    case Op::transpose: return "T";
    case Op::conjugate: return "conj";
    case Op::hermitian: return "H";
  }
  return "unknown";
}

const char* name(Uplo uplo) { return uplo == Uplo::lower ? "lower" : "upper"; }

const char* name(Diag diag) { return diag == Diag::stored ? "stored" : "unit"; }

}  // namespace kkc

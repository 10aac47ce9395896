// What the command line asks for, and one point of its product.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kkc.h"

namespace kkc::bench {

/// The lists as given; every operation uses those that mean something to it.
struct Arguments {
  std::string operation;
  std::vector<std::string> matrices{"lap3d7"};
  std::vector<std::string> devices{"openmp"};
  std::vector<std::string> scalars{"f64"};
  std::vector<std::string> indices{"32_32"};
  std::vector<std::string> ops{"N"};
  std::vector<int64_t> vectors{1};
  std::vector<std::string> layouts{"right"};
  std::vector<int32_t> threads{0};
  std::vector<std::string> options;  // JSON texts: each is one more variant of kkc; none: the operation's own choice
  std::vector<std::string> files;    // operations on files
  std::vector<std::string> extents;  // "4096x4096": operations on views
  std::string peers = "all";
  std::string size = "full";
  std::string json;
  std::string command;
  int repeat = 15;
  double limit = 0.0;          // seconds after which no further case is begun; 0: none
  double batch_seconds = 0.0;  // 0: 0.02 on hosts, 0.005 on GPUs
};

struct Case {
  std::string matrix;
  kkc_device_t device;
  kkc_scalar_t scalar;
  kkc_index_pair_t index;
  kkc_op_t op;
  int64_t vectors;
  kkc_layout_t layout;
  int32_t threads;  // 1 on serial; 0 on GPUs
};

// Names as on the command line and in the JSON; the parsers throw std::runtime_error with the list of names.
kkc_device_t device_of(const std::string& name);
kkc_scalar_t scalar_of(const std::string& name);
kkc_index_pair_t index_of(const std::string& name);
kkc_op_t op_of(const std::string& name);
kkc_layout_t layout_of(const std::string& name);
std::string device_name(kkc_device_t device);
std::string scalar_name(kkc_scalar_t scalar);
std::string index_name(kkc_index_pair_t index);
std::string op_name(kkc_op_t op);
std::string layout_name(kkc_layout_t layout);

constexpr bool on_gpu(kkc_device_t device) { return device == KKC_DEVICE_CUDA || device == KKC_DEVICE_HIP; }
constexpr bool is_complex(kkc_scalar_t scalar) { return scalar == KKC_TYPE_C64 || scalar == KKC_TYPE_C128; }
constexpr int64_t scalar_bytes(kkc_scalar_t scalar) {
  return scalar == KKC_TYPE_F32 ? 4 : scalar == KKC_TYPE_C128 ? 16 : scalar == KKC_TYPE_NONE ? 0 : 8;
}
constexpr int64_t ordinal_bytes(kkc_index_pair_t index) { return index == KKC_INDEX_64_64 ? 8 : 4; }
constexpr int64_t offset_bytes(kkc_index_pair_t index) { return index == KKC_INDEX_32_32 ? 4 : 8; }

}  // namespace kkc::bench

#include "bench_case.hpp"

#include <array>
#include <stdexcept>
#include <utility>

namespace kkc::bench {
namespace {

template <size_t n>
using Names = std::array<std::pair<const char*, int32_t>, n>;

constexpr Names<4> devices{
    {{"serial", KKC_DEVICE_SERIAL}, {"openmp", KKC_DEVICE_OPENMP}, {"cuda", KKC_DEVICE_CUDA}, {"hip", KKC_DEVICE_HIP}}};
constexpr Names<4> scalars{
    {{"f32", KKC_TYPE_F32}, {"f64", KKC_TYPE_F64}, {"c64", KKC_TYPE_C64}, {"c128", KKC_TYPE_C128}}};
constexpr Names<3> indices{{{"32_32", KKC_INDEX_32_32}, {"32_64", KKC_INDEX_32_64}, {"64_64", KKC_INDEX_64_64}}};
constexpr Names<4> ops{{{"N", KKC_OP_NONE}, {"T", KKC_OP_TRANSPOSE}, {"C", KKC_OP_CONJUGATE}, {"H", KKC_OP_HERMITIAN}}};
constexpr Names<2> layouts{{{"left", KKC_LAYOUT_LEFT}, {"right", KKC_LAYOUT_RIGHT}}};

template <size_t n>
int32_t find(const Names<n>& names, const std::string& text, const char* what) {
  std::string known;
  for (const auto& [name, value] : names) {
    if (text == name) return value;
    known += std::string(known.empty() ? "" : ", ") + name;
  }
  throw std::runtime_error(std::string(what) + " '" + text + "' is not one of: " + known);
}

template <size_t n>
std::string find(const Names<n>& names, int32_t value) {
  for (const auto& [name, number] : names)
    if (number == value) return name;
  return std::to_string(value);
}

}  // namespace

kkc_device_t device_of(const std::string& name) { return find(devices, name, "device"); }
kkc_scalar_t scalar_of(const std::string& name) { return find(scalars, name, "scalar"); }
kkc_index_pair_t index_of(const std::string& name) { return find(indices, name, "index"); }
kkc_op_t op_of(const std::string& name) { return find(ops, name, "op"); }
kkc_layout_t layout_of(const std::string& name) { return find(layouts, name, "layout"); }
std::string device_name(kkc_device_t device) { return find(devices, device); }
std::string scalar_name(kkc_scalar_t scalar) { return find(scalars, scalar); }
std::string index_name(kkc_index_pair_t index) { return find(indices, index); }
std::string op_name(kkc_op_t op) { return find(ops, op); }
std::string layout_name(kkc_layout_t layout) { return find(layouts, layout); }

}  // namespace kkc::bench

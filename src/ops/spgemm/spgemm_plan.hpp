// What the C boundary calls: plan and execute of spgemm.
#pragma once

#include "core/matrix.hpp"
#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "ops/entry_map/entry_map.hpp"
#include "spgemm.hpp"

namespace kkc::spgemm {

/// How a planned matrix becomes the operand that the kernel multiplies: itself, or its transpose (a pattern of the
/// plan's), its values gathered into the workspace at each execute or by the kernel as it reads them, or itself for a
/// kernel that knows the transpose.
struct Operand {
  Op op = Op::none;
  PlannedMatrix planned;
  EntryMap transpose;  // if op transposes
  bool gathers = false;
  bool by_kernel = false;  // the kernel reads the values through transpose.positions: nothing is gathered
  bool stored = false;     // the kernel was made from Desc::stored_A: no transpose is there
  size_t at = 0;           // in the workspace
};

class State final : public PlanState {
 public:
  static constexpr const char* name = "spgemm";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return total_bytes; }
  const OutputPattern* output() const override { return &kernel->output; }

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;
  Operand A, B;
  size_t total_bytes = 0;  // the kernel's workspace and the gathered values
  bool masked = false, device_scalars = false, checked = false;
};

/// mask: null for none.
std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op_a, const Matrix& A, Op op_b, const Matrix& B,
                           const Matrix* mask, IndexPair pair, const Options& options);
void execute(Plan& plan, const void* alpha, const Matrix& A, const Matrix& B, const void* beta, Matrix& C);

}  // namespace kkc::spgemm

// sptrsv, cusparse: NVIDIA's library (cusparseSpSV and cusparseSpSM), for comparison and as a second opinion. Its
// analysis copies A's values, new ones are handed over by cusparseSpSV_updateMatrix: only under values = kept. The plan
// runs the library on memory of its own, so that nothing is analysed or loaded later.
#include <memory>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "ops/spmv/spmv_vendor.hpp"
#include "ops/sptrsv/sptrsv.hpp"
#include "sptrsv_gpu_kernels.hpp"
#include "sptrsv_vendor_kernels.hpp"
#include "vendor/cusparse/cusparse.hpp"

namespace kkc::sptrsv {
namespace {

using namespace gpu_parts;

Op plain_op(const Desc& desc) {
  if (is_complex_scalar(desc.A.scalar)) return desc.op;
  return transposes(desc.op) ? Op::transpose : Op::none;
}

/// Numbers of the plan's own in the shape of an operand: 1 in f32, 2^-7 in f64.
class Lent {
 public:
  Lent(const Desc& desc, Queue& queue, int64_t count)
      : bytes_((static_cast<size_t>(count) * size_of(desc.A.scalar) + 15) / 16 * 16),
        buffer_(desc.memory, Space::device, bytes_) {
    const auto words = static_cast<int64_t>(bytes_ / sizeof(uint4));
    gpu::launch(queue, std::min(gpu::blocks_for(words, Fill::threads * 4), 4096u), Fill::threads, 0,
                Fill{buffer_.as<uint4>(), words, 0x3f800000u});
  }
  void* data() const { return buffer_.data(); }

 private:
  size_t bytes_;
  Buffer buffer_;
};

struct Single {
  using Operand = cusparse::Vector;
  using Descriptor = cusparse::TriangularVector;
};
struct Multiple {
  using Operand = cusparse::DenseMatrix;
  using Descriptor = cusparse::TriangularMatrix;
};

template <class Case>
class CusparseKernel final : public Kernel {
 public:
  CusparseKernel(const Desc& desc, Queue& queue)
      : scalar_(desc.A.scalar),
        pair_(desc.A.pair),
        op_(cusparse::operation_of(plain_op(desc))),
        unit_(desc.diag == Diag::unit),
        b_elements_(spmv::span_of_elements(desc.b)),
        handle_(queue),
        own_b_(desc, queue, b_elements_),
        zeros_(desc.memory, queue),
        kept_zeros_(desc.memory, queue) {
    const Lent values(desc, queue, desc.A.nnz), x(desc, queue, spmv::span_of_elements(desc.x));
    CsrRef A = desc.A;
    A.values = values.data();
    DenseRef b_ref = desc.b, x_ref = desc.x;
    b_ref.data = own_b_.data();
    x_ref.data = x.data();
    A_ = std::make_unique<cusparse::SparseMatrix>(A);
    A_->set_triangle(desc.uplo, desc.diag);
    b_ = std::make_unique<Operand>(b_ref);
    x_ = std::make_unique<Operand>(x_ref);
    const cusparseHandle_t handle = handle_.on(queue);
    buffer_ = Buffer(desc.memory, Space::device,
                     std::max<size_t>(16, descriptor_.buffer_bytes(handle, op_, spmv::one(scalar_), *A_, *b_, *x_,
                                                                   cusparse::type_of(scalar_))));
    descriptor_.analyse(handle, op_, spmv::one(scalar_), *A_, *b_, *x_, cusparse::type_of(scalar_), buffer_.data());
    descriptor_.update(handle, values.data());
    for (const void* alpha : {spmv::one(scalar_), spmv::two(scalar_)}) solve(queue, alpha);
    spmv::prepare_scale(queue, desc.x);
    gpu::prepare<AddZeros>(queue);
    gpu::prepare<ResetZeros>(queue);
    with_types([&]<class T, class I, class O>(T, I, O) { gpu::prepare<FindZeros<T, I, O>>(queue); });
    queue.synchronize();  // the memory that was lent is free again
  }

  bool keeps_values() const override { return true; }

  void set_values(Queue& queue, const CsrRef& A) override {
    A_->set(A);
    descriptor_.update(handle_.on(queue), const_cast<void*>(A.values));
    gpu::launch(queue, 1, 1, 0, ResetZeros{kept_zeros_.counter()});
    if (unit_) return;
    with_types([&]<class T, class I, class O>(T, I, O) {
      gpu::launch_over(queue, A.rows,
                       FindZeros<T, I, O>{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices),
                                          static_cast<const T*>(A.values), A.rows, A.base, kept_zeros_.counter()});
    });
  }

  void execute(Queue& queue, const Args& args) override {
    if (spmv::is_zero(args.alpha, scalar_)) return spmv::scale(queue, {spmv::zero(scalar_), false}, args.x);
    DenseRef b = args.b;
    if (b.data == args.x.data) {
      queue.copy(own_b_.data(), b.data, static_cast<size_t>(b_elements_) * size_of(scalar_));
      b.data = own_b_.data();
    }
    A_->set(args.A);
    b_->set(b);
    x_->set(args.x);
    solve(queue, args.alpha.pointer);
    gpu::launch(queue, 1, 1, 0, AddZeros{kept_zeros_.counter(), zeros_.counter()});
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }
  void describe(Info& info) const override { info.add("cusparse_buffer_bytes", static_cast<int64_t>(buffer_.bytes())); }

 private:
  using Operand = typename Case::Operand;

  void solve(Queue& queue, const void* alpha) {
    descriptor_.solve(handle_.on(queue), op_, alpha, *A_, *b_, *x_, cusparse::type_of(scalar_));
  }
  template <class F>
  void with_types(const F& f) const {
    dispatch(scalar_, pair_, [&](auto s, auto p) {
      using P = decltype(p);
      f(gpu::Element<typename decltype(s)::type>{}, typename P::ordinal{}, typename P::offset{});
    });
  }

  Scalar scalar_;
  IndexPair pair_;
  cusparseOperation_t op_;
  bool unit_;
  int64_t b_elements_;
  cusparse::Handle handle_;
  Lent own_b_;
  gpu::ZeroRows zeros_, kept_zeros_;
  std::unique_ptr<cusparse::SparseMatrix> A_;
  std::unique_ptr<Operand> b_, x_;
  typename Case::Descriptor descriptor_;
  Buffer buffer_;
};

/// No rows: nothing to do.
class EmptyKernel final : public Kernel {
 public:
  bool keeps_values() const override { return true; }
  void execute(Queue&, const Args&) override {}
};

/// Whether rows ascend strictly.
bool in_order(const Desc& desc) {
  Queue& queue = desc.memory->queue();
  bool ordered = true;
  queue.run([&] {
    gpu::ZeroRows unordered(desc.memory, queue);
    dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto p) {
      using P = decltype(p);
      using Check = CheckOrder<typename P::ordinal, typename P::offset>;
      gpu::launch_over(queue, desc.A.rows,
                       Check{static_cast<const typename P::offset*>(desc.A.offsets),
                             static_cast<const typename P::ordinal*>(desc.A.indices), desc.A.rows, desc.A.base,
                             unordered.counter()});
    });
    int64_t row = 0, count = 0;
    ordered = unordered.check(queue, row, count) == KKC_STATUS_SUCCESS;
  });
  return ordered;
}

std::string unsupported(const Desc& desc) {
  std::string reason;
  const cusparse::Library* library = cusparse::library(&reason);
  if (library == nullptr) return reason;
  if (!library->solves_triangles())
    return "this libcusparse.so.12 lacks cusparseSpSV_updateMatrix or cusparseSpSM_updateMatrix";
  if (desc.A.nnz == 0) return "cuSPARSE refuses new values of a matrix without entries";
  if (!desc.values_kept) return "cuSPARSE's analysis copies the values: needs values = kept";
  if (desc.A.pair == IndexPair::i32_64) return "cuSPARSE takes no 64-bit offsets with 32-bit columns";
  if (desc.device_scalars) return "cuSPARSE reads A and b even when a coefficient on the device is 0";
  if (plain_op(desc) == Op::conjugate) return "cuSPARSE has no conjugate without transpose";
  if (desc.b.rank == 1) {
    if (desc.A.rows > 1 && (desc.b.strides[0] != 1 || desc.x.strides[0] != 1))
      return "cuSPARSE takes no strided vectors";
  } else if (!panel_of(desc.b).valid || !panel_of(desc.x).valid ||
             panel_of(desc.b).by_rows != panel_of(desc.x).by_rows) {
    return "cuSPARSE takes multi-vectors of one order only, with one dimension that is not strided";
  }
  return in_order(desc) ? "" : "cuSPARSE takes rows that ascend strictly only";
}

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  if (desc.diag == Diag::stored) static_cast<void>(levels_of(desc, queue));  // refuses missing diagonal entries
  if (desc.A.rows == 0 || desc.vectors == 0) return std::make_unique<EmptyKernel>();
  if (desc.b.rank == 1) return std::make_unique<CusparseKernel<Single>>(desc, queue);
  return std::make_unique<CusparseKernel<Multiple>>(desc, queue);
}

}  // namespace

extern const Implementation cusparse_cuda;
const Implementation cusparse_cuda = {{"cusparse"}, false, &unsupported, &make};

}  // namespace kkc::sptrsv

// Values of pieces of C's long rows, whose segments of B's rows and slots the plan keeps, and of whole rows whose slots
// it keeps.
#pragma once

#include "spgemm_gpu_numeric_kernels.hpp"
#include "spgemm_gpu_piece_plan.hpp"

namespace kkc::spgemm::gpu_parts {

/// Whole rows as pieces.
template <class I>
struct RowPieces {
  static constexpr int batch = 8;
  SlotLists lists;
  const int32_t* list;  // null: all rows

  __device__ Piece piece(int64_t item, const Offsets& C) const {
    const int32_t row = list != nullptr ? list[item] : static_cast<int32_t>(item);
    return {row, 0, static_cast<int32_t>(C.at(row + 1) - C.at(row))};
  }
  template <class Left, class T>
  __device__ PieceSegment segment(int64_t, int32_t k, const Left& A, const LeftRow& row,
                                  const RightValues<T, I>& B) const {
    const int64_t j = A.column(row, k), begin = B.B.begin(j);
    return PieceSegment::of(begin, B.B.end(j) - begin);
  }
  __device__ const uint16_t* slots_of(int64_t, const Piece& piece) const { return lists.of(piece.row); }
};

/// A warp a piece, a block each, so that shared memory is given back as each ends. It goes in steps of up to 32
/// products of one segment; what the next steps add is loaded before that of these is added: few warps fit beside their
/// sums, so each keeps many loads under way.
template <class Left, class T, class I, class Lists>
struct SlottedPieces {
  static constexpr int threads = 32;
  static constexpr int batch = sizeof(T) <= 8 ? Lists::batch : 4;  // steps
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  Lists lists;
  int32_t capacity;

  struct Step {
    int64_t begin;
    int32_t product, count;
  };
  /// What a lane adds in a step.
  struct Term {
    T factor, b;
    int32_t slot;  // -1: nothing
  };

  static size_t shared_bytes(int32_t capacity) {
    return 32 * sizeof(Step) + (static_cast<size_t>(capacity) + 32) * sizeof(T);
  }

  /// The steps of a piece, 32 at a time. Each lane has a segment, finds the segment of one of the next steps by a
  /// search in the sums of steps, and leaves the step in shared memory for all.
  struct Steps {
    Step* steps;  // [32]
    T* factors;
    int64_t item;
    LeftRow row;
    int lane;
    int32_t next = 0, from = 0, total = 0, products = 0;  // entry of A, step of the segments, steps, slots passed
    PieceSegment here{}, then{};
    T factor{}, then_factor{};
    int32_t end = 0, first_product = 0;  // of this lane's segment: sums of steps and products

    __device__ void look_ahead(const SlottedPieces& f) {
      const int32_t k = next + lane;
      then.word = 0;
      if (k >= row.length) return;
      then = f.lists.segment(item, k, f.A, row, f.B);
      then_factor = f.A.value(row, k);
    }
    __device__ static int32_t steps_of(int32_t count) { return (count + 31) / 32; }

    /// How many it left.
    __device__ int32_t produce(const SlottedPieces& f) {
      while (from == total) {
        if (next >= row.length) return 0;
        here = then;
        factor = then_factor;
        next += 32;
        look_ahead(f);
        const int32_t count = here.count();
        end = gpu::subgroup_scan(steps_of(count), 32);
        total = gpu::shuffle_from(end, 31, 32);
        from = 0;
        const int32_t inclusive = gpu::subgroup_scan(count, 32);
        first_product = products + inclusive - count;
        products += gpu::shuffle_from(inclusive, 31, 32);
      }
      const int32_t step = from + lane;
      int owner = 0;
#pragma unroll
      for (int by = 16; by > 0; by >>= 1)
        if (gpu::shuffle_from(end, owner + by - 1, 32) <= step) owner += by;
      const PieceSegment segment{gpu::shuffle_from(here.word, owner, 32)};
      const int32_t count = segment.count();
      const int32_t done = 32 * (step - (gpu::shuffle_from(end, owner, 32) - steps_of(count)));
      const int32_t product = gpu::shuffle_from(first_product, owner, 32) + done;
      gpu::sync32();
      steps[lane] = {segment.begin() + done, product, step < total ? (count - done < 32 ? count - done : 32) : 0};
      factors[lane] = gpu::shuffle_from(factor, owner, 32);
      gpu::sync32();
      const int32_t produced = total - from < 32 ? total - from : 32;
      from += produced;
      return produced;
    }
  };

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x);
    const int64_t item = blockIdx.x;
    const Piece piece = lists.piece(item, C.offsets);
    const int64_t at = C.offsets.at(piece.row) + piece.first;
    Steps s{};
    s.steps = reinterpret_cast<Step*>(shared);
    s.factors = reinterpret_cast<T*>(s.steps + 32);
    s.item = item;
    s.row = A.row(piece.row);
    s.lane = lane;
    T* const sums = s.factors + 32;
    const Coefficients<T> c(C);
    if (c.live()) s.look_ahead(*this);
    for (int32_t j = lane; j < piece.length; j += 32) sums[j] = T{};
    gpu::sync32();
    if (c.live()) run(s, sums, lists.slots_of(item, piece) + lane);
    for (int32_t j = lane; j < piece.length; j += 32) c.finish_once(C.data[at + j], sums[j]);
  }

  __device__ void run(Steps& s, T* sums, const uint16_t* slots) const {
    const int lane = s.lane;
    int32_t produced = 0, at = 0;
    const auto more = [&] {
      at += batch;
      if (at < produced) return true;
      at = 0;
      produced = s.produce(*this);
      return produced > 0;
    };
    const auto load = [&](Term(&terms)[batch]) {
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const Step step = s.steps[at + u];
        terms[u].factor = s.factors[at + u];
        terms[u].slot = -1;
        if (lane < step.count) {
          terms[u].slot = gpu::load_once(slots + step.product);
          terms[u].b = B.value(step.begin + lane);
        }
      }
    };
    const auto add = [&](const Term(&terms)[batch]) {
#pragma unroll
      for (const Term& term : terms) {
        if (term.slot >= 0) sums[term.slot] = gpu::multiply_add(term.factor, term.b, sums[term.slot]);
        gpu::sync32();
      }
    };
    Term even[batch], odd[batch];
    if (!more()) return;
    load(even);
    for (;;) {
      const bool second = more();
      if (second) load(odd);
      add(even);
      if (!second || !more()) {
        if (second) add(odd);
        return;
      }
      load(even);
      add(odd);
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts

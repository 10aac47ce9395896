// sptrsv, host_relaid: under values = kept each thread has its rows in a stream of its own, in order of solution (the
// reordering for locality of Böhnlein, Papp, Steiner, Yzelman, arXiv 2503.05408, without a permutation of the
// unknowns), in blocks that threads solve level by level, or rows that they take in turn
// (ops/levels/levels_host_blocks.hpp). Columns at the same distances in neighbouring rows are held once, as diagonals
// are in DIA, and such rows are computed by vectors; rows of one point's unknowns share a list of columns. The same
// bits run to run with one number of threads.
#pragma once

#include "ops/levels/levels_host_runner.hpp"
#include "ops/sptrsv/sptrsv_host_relaid_kernels.hpp"
#include "ops/sptrsv/sptrsv_host_relaid_levels.hpp"
#include "ops/sptrsv/sptrsv_host_triangle.hpp"

namespace kkc::sptrsv {

namespace host_relaid_parts {

template <class Dev, class S, class I, class O>
class RelaidKernel final : public Kernel {
  using Triangle = HostTriangle<I, O>;
  using Rows = typename Triangle::Rows;
  // Its rows lie behind the last one's.
  static constexpr levels::BlockCost block_cost = {40, 0, 5, 50, has_short_rows<S, I> ? 12 : 5, has_short_rows<S, I>};
  static constexpr int64_t most_sharing = 63;

 public:
  RelaidKernel(const Desc& desc, Queue& queue)
      : n_(desc.A.rows),
        ascending_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op)),
        triangle_(Triangle::template make<Dev>(desc, queue)),
        schedule_(levels::schedule_blocks<Dev, I>(queue, desc.memory, Rows(triangle_, desc.A), n_, ascending_,
                                                  threads_for(desc, queue), block_cost, triangle_.take_runs())),
        runner_(schedule_.threads),
        streams_(static_cast<size_t>(schedule_.threads)) {
    const Rows rows(triangle_, desc.A);
    if (schedule_.order.data() != nullptr) {
      slices_.resize(static_cast<size_t>(schedule_.threads));
      host_parts_checked<Dev>(queue, schedule_.threads, [&](int64_t thread) {
        slices_[static_cast<size_t>(thread)].plan(desc.memory, schedule_, thread, rows);
      });
      schedule_.order = Buffer();
      schedule_.forget_lengths();
      return;
    }
    medium_ = has_short_rows<S, I> && seldom_chained(rows, n_, ascending_);
    far_apart_ = columns_far_apart(desc.A);
    shared_ = points_share_columns(rows);
    in_place_ = !far_apart_ && !shared_ && schedule_.steps_in_turn == 0 && schedule_.blocks * 8 <= n_;
    host_parts_checked<Dev>(queue, schedule_.threads, [&](int64_t thread) {
      Stream& stream = streams_[static_cast<size_t>(thread)];
      int64_t indices = 0, values = 0;
      std::vector<uint8_t> shares;
      const int64_t turn = schedule_.steps_in_turn;
      for (int64_t step = thread * turn; turn > 0 && step < n_; step += schedule_.threads * turn)
        stream.pieces.push_back({step, static_cast<int32_t>(std::min(turn, n_ - step)), -1, 0});
      for (int64_t phase = 0; phase < schedule_.phases; ++phase) {
        const auto& share = schedule_.shares[static_cast<size_t>(thread)];
        for (int64_t at = share.begin(phase); at < share.end(phase); ++at)
          cut(rows, share.blocks[static_cast<size_t>(at)], share.begin(phase) == at, stream.pieces);
        stream.ends.push_back(static_cast<int64_t>(stream.pieces.size()));
      }
      for (const Piece& piece : stream.pieces) count(rows, piece, shares, indices, values);
      stream.indices =
          Buffer(desc.memory, Space::host, static_cast<size_t>(indices + entries_ahead + most_medium + 1) * sizeof(I));
      stream.values = Buffer(desc.memory, Space::host, static_cast<size_t>(values) * sizeof(S));
      I* index = stream.indices.template as<I>();
      const uint8_t* share = shares.data();
      for (const Piece& piece : stream.pieces) write_columns(rows, piece, share, index);
      std::fill(index, index + entries_ahead + most_medium + 1, I{0});
    });
  }

  bool keeps_values() const override { return true; }

  void set_values(Queue& queue, const CsrRef& A) override {
    const Rows rows(triangle_, A);
    const auto* source = static_cast<const S*>(A.values);
    host_parts<Dev>(queue, schedule_.threads, [&](int64_t thread) {
      Stream& stream = streams_[static_cast<size_t>(thread)];
      S* value = stream.values.template as<S>();
      stream.zero = INT64_MAX;
      if (!slices_.empty())
        slices_[static_cast<size_t>(thread)].set_values(
            rows, [&](int64_t row) { return inverse(rows, source, row, stream.zero); },
            [&](int64_t entry, const S& by) { return scaled(rows, source, entry, by); });
      for (const Piece& piece : stream.pieces) write_values(rows, piece, source, stream.zero, value);
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const S alpha = factor<S>(args.alpha).get();
    const int64_t vectors = args.x.rank == 2 ? args.x.extents[1] : 1;
    const Sides<S> sides = sides_of<S>(args);
    if (alpha == S{}) {
      fill_with_zeros(sides, n_, vectors);
      return;
    }
    int64_t zero = INT64_MAX;
    for (const Stream& stream : streams_) zero = std::min(zero, stream.zero);
    refuse_zero(zero, n_);
    each_few_vectors(sides, vectors, [&](auto, const Sides<S>& some, int count) {
      if (!slices_.empty())
        solve_slices(queue, alpha, some, count);
      else if (in_place_)
        solve(queue, PlaceColumns<I, Rows>(Rows(triangle_, args.A)), alpha, some, count);
      else
        solve(queue, StreamColumns<I>{shared_}, alpha, some, count);
    });
  }

  void describe(Info& info) const override {
    schedule_.describe(n_, info);
    int64_t in_runs = 0, bytes = static_cast<int64_t>(triangle_.bytes());
    for (const Stream& stream : streams_) {
      bytes +=
          static_cast<int64_t>(stream.indices.bytes() + stream.values.bytes() + stream.pieces.size() * sizeof(Piece));
      for (const Piece& piece : stream.pieces) in_runs += piece.length < 0 ? 0 : piece.rows;
    }
    for (const auto& slices : slices_) bytes += static_cast<int64_t>(slices.bytes());
    info.add("rows_in_runs", in_runs);
    info.add("plan_bytes", bytes);
  }

 private:
  struct alignas(128) Stream {
    std::vector<Piece> pieces;
    std::vector<int64_t> ends;  // of each phase
    Buffer indices, values;
    int64_t zero = INT64_MAX;  // the first row whose diagonal is zero
    Cursor<S, I> at{};
  };

  /// Whether most neighbouring entries belong to unknowns in different cache lines, of an x that no inner cache holds.
  static bool columns_far_apart(const CsrRef& A) {
    constexpr int64_t samples = 4096, inner_cache = int64_t{1} << 19, line = 64;
    if (A.rows * static_cast<int64_t>(sizeof(S)) < inner_cache || A.nnz < samples) return false;
    const auto* indices = static_cast<const I*>(A.indices);
    int64_t jumps = 0;
    for (int64_t i = 0; i < samples; ++i) {
      const int64_t at = std::min(i * (A.nnz / samples), A.nnz - 2);
      const auto distance = static_cast<int64_t>(indices[at + 1]) - static_cast<int64_t>(indices[at]);
      jumps += std::abs(distance) * static_cast<int64_t>(sizeof(S)) > line;
    }
    return jumps * 10 > samples * 6;
  }

  /// How many steps from `step` on, before `end`, need what the one before them needs and that one itself.
  int64_t rows_sharing(const Rows& rows, int64_t step, int64_t end) const {
    int64_t row = row_of(step), length = rows.end(row) - rows.begin(row), more = 0;
    for (; more < most_sharing && step + more + 1 < end; ++more, ++length) {
      const int64_t next = row_of(step + more + 1), begin = rows.begin(next);
      if (rows.end(next) - begin != length + 1 || rows.column(ascending_ ? begin + length : begin) != row) break;
      if (rows.same_columns(begin + (ascending_ ? 0 : 1), rows.begin(row), length) != length) break;
      row = next;
    }
    return more;
  }

  /// By a sample: whether at least a third of the steps share their columns with the one after them.
  bool points_share_columns(const Rows& rows) const {
    constexpr int64_t places = 128, steps = 12;
    int64_t looked = 0, sharing = 0;
    for (int64_t place = 0; place < places; ++place)
      for (int64_t step = place * (n_ / places), end = std::min(n_, step + steps); step < end; ++step, ++looked)
        sharing += rows_sharing(rows, step, std::min(n_, step + 2));
    return sharing * 3 >= looked && sharing > 0;
  }

  int64_t row_of(int64_t step) const { return ascending_ ? step : n_ - 1 - step; }

  /// The k-th entry of a row of `length`, nearest last: the unknown of the step before is needed last.
  int64_t entry(const Rows& rows, int64_t row, int64_t length, int64_t k) const {
    return ascending_ ? rows.begin(row) + k : rows.begin(row) + length - 1 - k;
  }

  void cut(const Rows& rows, const levels::Block& block, bool opens_phase, std::vector<Piece>& pieces) const {
    constexpr int64_t most = std::numeric_limits<int32_t>::max() / 2;
    const int64_t end = block.first + block.count;
    auto run = schedule_.runs.begin() + block.run;
    for (int64_t step = block.first, taken = 0; step < end; step += taken) {
      while (run->first + run->rows <= step) ++run;
      taken = std::min({end, run->first + run->rows, step + most}) - step;
      if (run->alike && taken >= levels::shortest_run) {
        const int64_t row = row_of(step), length = rows.end(row) - rows.begin(row);
        int32_t far = 0;
        for (; far < length; ++far) {
          const int64_t distance = rows.column(entry(rows, row, length, far)) - row;
          if (distance < lanes && distance > -lanes) break;
        }
        pieces.push_back({step, static_cast<int32_t>(taken), static_cast<int32_t>(length), far});
        continue;
      }
      const bool joins = !pieces.empty() && pieces.back().length < 0 &&
                         pieces.back().first + pieces.back().rows == step && pieces.back().rows + taken <= most &&
                         !(opens_phase && step == block.first);
      if (joins)
        pieces.back().rows += static_cast<int32_t>(taken);
      else
        pieces.push_back({step, static_cast<int32_t>(taken), -1, 0});
    }
  }

  /// shares: gets rows_sharing of each group of a piece's rows.
  void count(const Rows& rows, const Piece& piece, std::vector<uint8_t>& shares, int64_t& indices,
             int64_t& values) const {
    const int64_t diagonals = unit_ ? 0 : 1;
    if (piece.length >= 0) {
      indices += piece.length;
      values += (piece.rows + lanes - 1) / lanes * lanes * (piece.length + diagonals);
      return;
    }
    const int64_t end = piece.first + piece.rows;
    for (int64_t step = piece.first; step < end;) {
      const int64_t more = shared_ ? rows_sharing(rows, step, end) : 0;
      const int64_t row = row_of(step), length = rows.end(row) - rows.begin(row);
      if (shared_) shares.push_back(static_cast<uint8_t>(more));
      if (!in_place_) indices += length + more + (shared_ ? 2 : 1);
      values += (more + 1) * (length + diagonals) + more * (more + 1) / 2;
      step += more + 1;
    }
  }

  void write_columns(const Rows& rows, const Piece& piece, const uint8_t*& share, I*& index) const {
    const bool run = piece.length >= 0;
    if (!run && in_place_) return;
    for (int64_t step = piece.first, end = run ? step + 1 : step + piece.rows; step < end; ++step) {
      if (!run && shared_) {
        const int64_t more = *share++;
        *index++ = static_cast<I>(more);
        step += more;  // the last row's columns are all of them
        const int64_t last = row_of(step);
        *index++ = static_cast<I>(rows.end(last) - rows.begin(last) - more);
      }
      const int64_t row = row_of(step), length = rows.end(row) - rows.begin(row);
      if (!run && !shared_) *index++ = static_cast<I>(length);
      for (int64_t k = 0; k < length; ++k)
        *index++ = static_cast<I>(rows.column(entry(rows, row, length, k)) - (run ? row : 0));
    }
  }

  /// Of the diagonal element. zero: gets the row where it is zero and comes before.
  S inverse(const Rows& rows, const S* source, int64_t row, int64_t& zero) const {
    if (unit_) return S{};
    const S d = triangle_.diagonal(rows, source, row);
    if (d == S{}) zero = std::min(zero, row);
    return inverse_of(conjugated(d, conjugate_));
  }
  S scaled(const Rows& rows, const S* source, int64_t entry, const S& by) const {
    const S a = conjugated(source[rows.place(entry)], conjugate_);
    return unit_ ? a : times(a, by);
  }

  void write_values(const Rows& rows, const Piece& piece, const S* source, int64_t& zero, S*& value) const {
    if (piece.length < 0) {
      for (int64_t step = piece.first; step < piece.first + piece.rows; ++step) {
        const int64_t row = row_of(step), length = rows.end(row) - rows.begin(row);
        const S by = inverse(rows, source, row, zero);
        if (!unit_) *value++ = by;
        for (int64_t k = 0; k < length; ++k) *value++ = scaled(rows, source, entry(rows, row, length, k), by);
      }
      return;
    }
    const int64_t width = piece.length + (unit_ ? 0 : 1);
    for (int64_t done = 0; done < piece.rows; done += lanes, value += width * lanes) {
      const int64_t size = std::min<int64_t>(lanes, piece.rows - done), step = piece.first + done,
                    low = ascending_ ? step : n_ - step - size;
      for (int64_t j = 0; j < lanes; ++j) {
        S* to = value + j;
        if (j >= size) {
          for (int64_t k = 0; k < width; ++k, to += lanes) *to = S{};
          continue;
        }
        const S by = inverse(rows, source, low + j, zero);
        if (!unit_) {
          *to = by;
          to += lanes;
        }
        for (int64_t k = 0; k < piece.length; ++k, to += lanes)
          *to = scaled(rows, source, entry(rows, low + j, piece.length, k), by);
      }
    }
  }

  void solve_slices(Queue& queue, const S& alpha, const Sides<S>& sides, int vectors) {
    runner_.template run<Dev>(queue, schedule_, [&](int thread, int64_t phase) {
      const auto& mine = slices_[static_cast<size_t>(thread)];
      if (unit_)
        mine.template solve<true>(phase, sides, alpha, vectors);
      else
        mine.template solve<false>(phase, sides, alpha, vectors);
    });
  }

  template <class Columns>
  void solve(Queue& queue, const Columns& columns, const S& alpha, const Sides<S>& sides, int vectors) {
    if (vectors == 1 && (sides.x_row == 1 || n_ == 1))
      one_vector(queue, columns, alpha, sides);
    else if (vectors == most_vectors)
      run(queue, SeveralVectors<S, I, most_vectors, Columns>{columns, sides, alpha, n_, vectors, ascending_, unit_});
    else
      run(queue, SeveralVectors<S, I, 0, Columns>{columns, sides, alpha, n_, vectors, ascending_, unit_});
  }

  template <class Columns>
  void one_vector(Queue& queue, const Columns& columns, const S& alpha, const Sides<S>& sides) {
    const auto with = [&]<bool ascending, bool unit>(std::bool_constant<ascending>, std::bool_constant<unit>) {
      run(queue, OneVector<S, I, ascending, unit, Columns>{
                     {sides.b, sides.b_row, sides.x, alpha, n_}, columns, far_apart_, medium_});
    };
    const std::true_type yes;
    const std::false_type no;
    if (ascending_)
      unit_ ? with(yes, yes) : with(yes, no);
    else
      unit_ ? with(no, yes) : with(no, no);
  }

  template <class F>
  void run(Queue& queue, const F& solve) {
    for (Stream& stream : streams_) stream.at = {stream.indices.template as<I>(), stream.values.template as<S>()};
    if (schedule_.steps_in_turn > 0) {
      const int64_t stride = schedule_.steps_in_turn * schedule_.threads;
      runner_.template run_in_turn<Dev>(queue, schedule_, n_,
                                        [&](int thread, int64_t first, int64_t, levels::BlockRunner::Turn& turn) {
                                          Stream& stream = streams_[static_cast<size_t>(thread)];
                                          Cursor<S, I> at = stream.at;
                                          solve.in_turn(stream.pieces[static_cast<size_t>(first / stride)], at, turn);
                                          stream.at = at;
                                        });
      return;
    }
    runner_.template run<Dev>(queue, schedule_, [&](int thread, int64_t phase) {
      Stream& stream = streams_[static_cast<size_t>(thread)];
      Cursor<S, I> at = stream.at;
      const auto p = static_cast<size_t>(phase);
      for (int64_t i = p == 0 ? 0 : stream.ends[p - 1]; i < stream.ends[p]; ++i)
        solve(stream.pieces[static_cast<size_t>(i)], at);
      stream.at = at;
    });
  }

  int64_t n_;
  bool ascending_, unit_, conjugate_, far_apart_ = false, medium_ = false;
  bool in_place_ = false;  // columns of rows outside runs are read from the caller's matrix, not kept
  bool shared_ = false;    // neighbouring rows outside runs have their columns in one place
  Triangle triangle_;
  levels::BlockSchedule schedule_;
  levels::BlockRunner runner_;
  std::vector<Stream> streams_;
  std::vector<LevelSlices<S, I>> slices_;  // of threads; not empty: instead of streams
};

inline std::string unsupported(const Desc& desc) {
  return desc.values_kept ? std::string() : "needs option values = kept";
}

}  // namespace host_relaid_parts

template <class Dev>
constexpr Implementation host_relaid() {
  return {{"host_relaid"}, true, host_relaid_parts::unsupported, make_typed<Dev, host_relaid_parts::RelaidKernel>};
}

}  // namespace kkc::sptrsv

// kkc_bench spgemm: products of sparse matrices. --op names them: N (A A), T (A A^T), AP and PtAP (A times the
// tentative prolongator of aggregates of 3 grid points a dimension, and the Galerkin product's second half). Each
// product is two cases: execute (C's values again, for new values) and whole (from nothing to C). One peer at a time
// stands beside kkc: results are too large to hold many.
#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "bench_matrix.hpp"

namespace kkc::bench {
namespace {

using Wide = std::complex<double>;

/// Calls f(ordinal, offset) of an index pair with zeros of its types.
template <class F>
void with_indices(kkc_index_pair_t index, F&& f) {
  switch (index) {
    case KKC_INDEX_32_32: f(int32_t{}, int32_t{}); break;
    case KKC_INDEX_32_64: f(int32_t{}, int64_t{}); break;
    default: f(int64_t{}, int64_t{}); break;
  }
}

Wide value_at(kkc_scalar_t scalar, const void* values, int64_t p) {
  switch (scalar) {
    case KKC_TYPE_F32: return static_cast<const float*>(values)[p];
    case KKC_TYPE_F64: return static_cast<const double*>(values)[p];
    case KKC_TYPE_C64: return static_cast<const std::complex<float>*>(values)[p];
    default: return static_cast<const std::complex<double>*>(values)[p];
  }
}

/// op(A) x, or |op(A)| x, for a matrix in host memory.
std::vector<Wide> apply(const SparseOperand& A, kkc_scalar_t scalar, bool transposed, bool absolute,
                        const std::vector<Wide>& x) {
  std::vector<Wide> y(static_cast<size_t>(transposed ? A.cols : A.rows));
  with_indices(A.index, [&](auto ordinal, auto offset) {
    const auto* offsets = static_cast<const decltype(offset)*>(A.offsets);
    const auto* indices = static_cast<const decltype(ordinal)*>(A.indices);
    for (int64_t i = 0; i < A.rows; ++i)
      for (int64_t p = offsets[i] - A.base; p < offsets[i + 1] - A.base; ++p) {
        const auto j = static_cast<size_t>(indices[p] - A.base), row = static_cast<size_t>(i);
        const Wide a = value_at(scalar, A.values, p);
        y[transposed ? j : row] += (absolute ? Wide(std::abs(a)) : a) * x[transposed ? row : j];
      }
  });
  return y;
}

int64_t products_of(const SparseOperand& A, bool transposed_a, const SparseOperand& B, bool transposed_b) {
  const auto inner = static_cast<size_t>(transposed_a ? A.rows : A.cols);
  std::vector<int64_t> in_a(inner, 0), in_b(inner, 0);
  const auto count = [](const SparseOperand& M, bool by_rows, std::vector<int64_t>& to) {
    with_indices(M.index, [&](auto ordinal, auto offset) {
      const auto* offsets = static_cast<const decltype(offset)*>(M.offsets);
      const auto* indices = static_cast<const decltype(ordinal)*>(M.indices);
      if (by_rows)
        for (int64_t i = 0; i < M.rows; ++i) to[static_cast<size_t>(i)] = offsets[i + 1] - offsets[i];
      else
        for (int64_t p = 0; p < M.nnz; ++p) ++to[static_cast<size_t>(indices[p] - M.base)];
    });
  };
  count(A, transposed_a, in_a);
  count(B, !transposed_b, in_b);
  int64_t products = 0;
  for (size_t k = 0; k < inner; ++k) products += in_a[k] * in_b[k];
  return products;
}

SparseOperand operand(const kkc_matrix_t* A) {
  const CsrArrays a = arrays_of(A);
  return {a.rows, a.cols, a.nnz, a.index, a.base, a.offsets, a.indices, a.values};
}

/// Aggregates of 3 points a dimension of the matrix's grid; `unknowns` of each aggregate, one for each of a point.
Matrix prolongator(kkc_context_t* ctx, const std::string& name, const CsrArrays& A) {
  const bool flat = name == "lap2d5", elastic = name == "elas3";
  if (!flat && !elastic && name != "lap3d7" && name != "lap3d27")
    throw std::runtime_error("AP and PtAP need a grid: lap2d5, lap3d7, lap3d27 or elas3");
  if (A.index == KKC_INDEX_64_64) throw std::runtime_error("AP and PtAP take 32-bit columns");
  const int64_t unknowns = elastic ? 3 : 1, points = A.rows / unknowns;
  const auto n = static_cast<int64_t>(
      std::llround(flat ? std::sqrt(static_cast<double>(points)) : std::cbrt(static_cast<double>(points))));
  const int64_t planes = flat ? 1 : n, coarse = (n + 2) / 3;
  if (n * n * planes != points) throw std::runtime_error("the grid is not as long as wide");
  std::vector<int64_t> wide_offsets;
  std::vector<int32_t> offsets, indices;
  for (int64_t row = 0; row <= A.rows; ++row) {
    wide_offsets.push_back(row);
    offsets.push_back(static_cast<int32_t>(row));
    const int64_t point = row / unknowns, x = point % n / 3, y = point / n % n / 3, z = point / (n * n) / 3;
    if (row < A.rows)
      indices.push_back(static_cast<int32_t>(((z * coarse + y) * coarse + x) * unknowns + row % unknowns));
  }
  const auto values = random_vector(A.scalar, A.rows, 3);
  const int64_t cols = coarse * coarse * (flat ? 1 : coarse) * unknowns;
  const void* starts = A.index == KKC_INDEX_32_32 ? static_cast<const void*>(offsets.data()) : wide_offsets.data();
  return make<Matrix>("kkc_csr_create_copy", kkc_csr_create_copy, ctx, A.rows, cols, A.rows, A.index, A.scalar, 0,
                      starts, indices.data(), values.data());
}

/// kkc's own way, as a peer would do it.
struct Ours {
  kkc_context_t* ctx;
  Timer* timer;
  kkc_matrix_t *A, *B;
  const SpgemmProblem& problem;
  Options options;
  std::array<unsigned char, 16> one, zero;
  Plan plan;
  Matrix C;

  Ours(Bench& bench, const SpgemmProblem& p, kkc_matrix_t* a, kkc_matrix_t* b, const std::string& json)
      : ctx(bench.ctx.get()),
        timer(bench.timer),
        A(a),
        B(b),
        problem(p),
        options(options_from(json)),
        one(element(p.scalar, 1.0)),
        zero(element(p.scalar, 0.0)) {}

  void make_plan() {
    C.reset();
    plan.reset();
    plan = make<Plan>("kkc_spgemm_plan", kkc_spgemm_plan, ctx, problem.op_a, A, problem.op_b, B, nullptr,
                      problem.index_c, options.get());
    timer->synchronize();
  }
  void numeric() {
    check(kkc_spgemm_execute(plan.get(), one.data(), A, B, zero.data(), C.get()), "kkc_spgemm_execute");
  }
  void whole() {
    make_plan();
    C = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan.get());
    numeric();
    timer->synchronize();
  }
  Json info() const {
    const char* text = nullptr;
    check(kkc_plan_info(plan.get(), &text), "kkc_plan_info");
    return Json::parse(text, nullptr, false);
  }
};

/// C x against op(A) (op(B) x): the largest difference in units of |op(A)| |op(B)| |x|; negative when it is wrong.
class Check {
 public:
  Check(const SpgemmProblem& p, const SparseOperand& A, const SparseOperand& B) : scalar_(p.scalar) {
    const bool ta = p.op_a == KKC_OP_TRANSPOSE, tb = p.op_b == KKC_OP_TRANSPOSE;
    const auto bytes = random_vector(KKC_TYPE_F64, tb ? B.rows : B.cols, 5);
    for (size_t i = 0; i < bytes.size() / 8; ++i)
      x_.push_back(value_at(KKC_TYPE_F64, bytes.data(), static_cast<int64_t>(i)));
    std::vector<Wide> size(x_);
    for (Wide& e : size) e = std::abs(e);
    value_ = apply(A, p.scalar, ta, false, apply(B, p.scalar, tb, false, x_));
    weight_ = apply(A, p.scalar, ta, true, apply(B, p.scalar, tb, true, size));
  }
  double error(Bench& bench, const SparseOperand& C, kkc_device_t device) const {
    if (C.rows != static_cast<int64_t>(value_.size()) || C.cols != static_cast<int64_t>(x_.size())) return -1.0;
    SparseOperand host = C;
    std::vector<std::vector<unsigned char>> arrays;
    const auto fetch = [&](const void* from, int64_t bytes) -> void* {
      arrays.emplace_back(static_cast<size_t>(bytes));
      if (bytes > 0)
        check(kkc_copy(bench.ctx.get(), arrays.back().data(), from, arrays.back().size(), KKC_COPY_DEVICE_TO_HOST),
              "kkc_copy");
      return arrays.back().data();
    };
    if (on_gpu(device)) {
      host.offsets = fetch(C.offsets, (C.rows + 1) * offset_bytes(C.index));
      host.indices = fetch(C.indices, C.nnz * ordinal_bytes(C.index));
      host.values = fetch(C.values, C.nnz * scalar_bytes(scalar_));
    }
    const auto y = apply(host, scalar_, false, false, x_);
    const double room = scalar_ == KKC_TYPE_F32 || scalar_ == KKC_TYPE_C64 ? 1e-4 : 1e-12;
    double largest = 0.0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double distance = std::abs(y[i] - value_[i]), weight = weight_[i].real();
      if (!(distance <= room * weight)) return -1.0;
      if (weight > 0.0) largest = std::max(largest, distance / weight);
    }
    return largest;
  }

 private:
  kkc_scalar_t scalar_;
  std::vector<Wide> x_, value_, weight_;
};

/// Rows of one of the two tables: kkc's variants, then peers with their ratio to each variant.
struct Table {
  std::vector<Measured> measured;
  Json ratios = Json::array();
};

class Product {
 public:
  Product(Session& session, Bench& bench, const Case& c, const std::string& op, const SpgemmProblem& p, kkc_matrix_t* A,
          kkc_matrix_t* B, const SparseOperand& host_a, const SparseOperand& host_b)
      : session_(session), bench_(bench), c_(c), op_(op), p_(p), A_(A), B_(B), check_(p, host_a, host_b) {
    products_ = products_of(host_a, p.op_a == KKC_OP_TRANSPOSE, host_b, p.op_b == KKC_OP_TRANSPOSE);
  }

  void run() {
    std::vector<std::string> variants = session_.arguments().options;
    if (variants.empty()) variants.push_back("");
    for (const auto& options : variants) run_variant(options);
    for (Table* table : {&execute_, &whole_}) write(*table, table == &execute_ ? "execute" : "whole");
  }

 private:
  void run_variant(const std::string& options) {
    Ours ours(bench_, p_, A_, B_, options);
    std::vector<double> plans;
    for (int repeat = 0; repeat < 3 && (repeat == 0 || plans.back() < 5.0); ++repeat)
      plans.push_back(wall_seconds([&] { ours.make_plan(); }));
    ours.whole();
    Measured numeric;
    const Json info = ours.info();
    const std::string implementation = info.value("implementation", "");
    numeric.name = options.empty() ? "kkc (" + implementation + ")" : "kkc " + options;
    numeric.is_kkc = true;
    numeric.setup_seconds = quartiles(plans).median;
    numeric.error = check_.error(bench_, operand(ours.C.get()), p_.device);
    if (numeric.error < 0.0) throw std::runtime_error(numeric.name + ": its result is wrong");
    nnz_ = info.value("nnz", int64_t{0});
    size_t workspace = 0;
    check(kkc_plan_workspace_size(ours.plan.get(), &workspace), "kkc_plan_workspace_size");
    numeric.details = {{"plan", info},
                       {"implementation", implementation},
                       {"plan_seconds", numeric.setup_seconds},
                       {"workspace_bytes", workspace + info.value("plan_bytes", int64_t{0})}};
    Measured whole = numeric;
    std::vector<Candidate> alone{{numeric.name, {[&] { ours.numeric(); }}}};
    numeric.rounds = interleave(*bench_.timer, alone, repeats(), session_.batch_seconds(c_.device)).front();
    whole.rounds = {wall_seconds([&] { ours.whole(); }), wall_seconds([&] { ours.whole(); })};
    execute_.measured.push_back(std::move(numeric));
    whole_.measured.push_back(std::move(whole));
    const std::string name = execute_.measured.back().name;

    for (Peer* peer : session_.peers(c_.device)) {
      try {
        for (auto& entrant : peer->spgemm(p_)) {
          try {
            against(name, ours, *peer, entrant);
          } catch (const std::exception& error) {  // its other ways may take the case
            left_out_[peer->name() + " " + entrant.name] = error.what();
            session_.print("  " + peer->name() + " " + entrant.name + ": " + error.what());
          }
        }
      } catch (const std::exception& error) {
        left_out_[peer->name()] = error.what();
        session_.print("  " + peer->name() + ": " + error.what());
      }
    }
  }

  int repeats() const { return std::min(session_.arguments().repeat, 7); }

  void against(const std::string& ours_name, Ours& ours, Peer& peer, SpgemmEntrant& entrant) {
    Measured numeric;
    numeric.name = peer.name() + (entrant.name.empty() ? "" : " " + entrant.name);
    numeric.details["peer"] = peer.name();
    std::vector<double> theirs{wall_seconds([&] { entrant.whole(), bench_.timer->synchronize(); })};
    const SparseOperand C = entrant.result();
    if (C.nnz != nnz_) numeric.details["nnz"] = C.nnz;
    numeric.error = check_.error(bench_, C, p_.device);
    if (numeric.error < 0.0) throw std::runtime_error("its result is wrong");
    if (entrant.workspace_bytes) numeric.details["workspace_bytes"] = entrant.workspace_bytes();
    Measured whole = numeric;
    if (!entrant.numeric) entrant.whole();  // the check may have taken the result away
    // The first round warms up.
    std::vector<double> own;
    theirs.clear();
    for (int round = 0; round < 3; ++round) {
      own.push_back(wall_seconds([&] { ours.whole(); }));
      theirs.push_back(wall_seconds([&] { entrant.whole(), bench_.timer->synchronize(); }));
    }
    add(whole_, std::move(whole), theirs, ours_name, own);
    if (!entrant.numeric) return;
    std::vector<Candidate> two{{ours_name, {[&] { ours.numeric(); }}}, {numeric.name, {entrant.numeric}}};
    const Rounds rounds = interleave(*bench_.timer, two, repeats(), session_.batch_seconds(c_.device));
    numeric.setup_seconds = std::max(0.0, quartiles(theirs).median - quartiles(rounds[1]).median);
    add(execute_, std::move(numeric), rounds[1], ours_name, rounds[0]);
  }

  static void add(Table& table, Measured&& peer, const std::vector<double>& theirs, const std::string& ours_name,
                  const std::vector<double>& own) {
    const Quartiles r = ratio(theirs, own);
    table.ratios.push_back({{"kkc", ours_name},
                            {"other", peer.name},
                            {"other_is_kkc", false},
                            {"median", r.median},
                            {"lower", r.lower},
                            {"upper", r.upper}});
    peer.rounds = theirs;
    table.measured.push_back(std::move(peer));
  }

  void write(const Table& table, const std::string& phase) {
    const double flops = static_cast<double>(products_) * (is_complex(c_.scalar) ? 8.0 : 2.0);
    const auto bytes_of = [&](const SparseOperand& M) {
      return static_cast<double>(M.nnz * (scalar_bytes(c_.scalar) + ordinal_bytes(M.index)) +
                                 (M.rows + 1) * offset_bytes(M.index));
    };
    const double bytes = bytes_of(p_.A) + bytes_of(p_.B) + static_cast<double>(nnz_ * scalar_bytes(c_.scalar));
    Json& entry = session_.add_case();
    entry = {{"matrix", c_.matrix},
             {"rows", p_.A.rows},
             {"nnz", p_.A.nnz},
             {"nnz_C", nnz_},
             {"products", products_},
             {"device", device_name(c_.device)},
             {"threads", c_.threads},
             {"scalar", scalar_name(c_.scalar)},
             {"index", index_name(c_.index)},
             {"op", op_ + ", " + phase},
             {"vectors", 1},
             {"layout", "right"},
             {"copies", 1},
             {"bytes", bytes},
             {"flops", flops},
             {"in_cache", false},
             {"left_out", left_out_},
             {"ratios", table.ratios}};
    session_.print("\nspgemm " + c_.matrix + " " + op_ + ", " + phase + ", " + scalar_name(c_.scalar) + " " +
                   index_name(c_.index) + " on " + device_name(c_.device) +
                   (c_.threads > 0 ? " x" + std::to_string(c_.threads) : "") + ": " + std::to_string(products_) +
                   " products, " + std::to_string(nnz_) + " entries of C");
    auto& contenders = entry["contenders"] = Json::array();
    for (const Measured& one : table.measured) {
      const Quartiles time = quartiles(one.rounds);
      const double rate = bytes / time.median * 1e-9;
      Json row{
          {"name", one.name},
          {"kkc", one.is_kkc},
          {"keeps_values", false},
          {"setup_seconds", one.setup_seconds},
          {"seconds", {{"median", time.median}, {"lower", time.lower}, {"upper", time.upper}, {"best", time.best}}},
          {"error", one.error},
          {"gbs", rate},
          {"share_of_copy", rate / bench_.bandwidth.copy},
          {"share_of_read", rate / bench_.bandwidth.read},
          {"gflops", flops / time.median * 1e-9}};
      row.update(one.details);
      std::string line = "  " + one.name + std::string(std::max<size_t>(40, one.name.size()) - one.name.size(), ' ');
      char text[160];
      std::snprintf(text, sizeof text, " %10.3f ms %8.3f GFLOP/s %7.1f GB/s", time.median * 1e3,
                    flops / time.median * 1e-9, rate);
      line += text;
      if (phase == "execute") {
        std::snprintf(text, sizeof text, ", plan %10.3f ms", one.setup_seconds * 1e3);
        line += text;
      }
      if (one.details.contains("workspace_bytes")) {
        std::snprintf(text, sizeof text, ", workspace %9.2f MB", one.details["workspace_bytes"].get<double>() * 1e-6);
        line += text;
      }
      for (const auto& r : table.ratios)
        if (r["other"] == one.name) {
          std::snprintf(text, sizeof text, "  %6.2f [%.2f %.2f]", r["median"].get<double>(), r["lower"].get<double>(),
                        r["upper"].get<double>());
          line += text;
        }
      session_.print(line);
      contenders.push_back(std::move(row));
    }
  }

  Session& session_;
  Bench& bench_;
  const Case& c_;
  std::string op_;
  const SpgemmProblem& p_;
  kkc_matrix_t *A_, *B_;
  Check check_;
  int64_t products_ = 0, nnz_ = 0;
  Json left_out_ = Json::object();
  Table execute_, whole_;
};

/// op(P) times what: AP itself, or P^T times AP.
Matrix multiplied(kkc_context_t* ctx, kkc_matrix_t* A, kkc_matrix_t* B, kkc_index_pair_t index, kkc_scalar_t scalar) {
  const auto plan =
      make<Plan>("kkc_spgemm_plan", kkc_spgemm_plan, ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, index, nullptr);
  Matrix C = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan.get());
  const auto one = element(scalar, 1.0), zero = element(scalar, 0.0);
  check(kkc_spgemm_execute(plan.get(), one.data(), A, B, zero.data(), C.get()), "kkc_spgemm_execute");
  return C;
}

void run_case(Session& session, const Case& c, const std::string& op, kkc_context_t* loader, const Matrix& loaded) {
  Bench& bench = session.bench(c.device, c.threads);
  Matrix host_p, host_ap;
  kkc_matrix_t *left = loaded.get(), *right = loaded.get();
  if (op == "AP" || op == "PtAP") {
    host_p = prolongator(loader, c.matrix, arrays_of(loaded.get()));
    right = host_p.get();
    if (op == "PtAP") {
      host_ap = multiplied(loader, left, right, c.index, c.scalar);
      left = host_p.get();
      right = host_ap.get();
    }
  } else if (op != "N" && op != "T") {
    throw std::runtime_error("--op is " + op + ", expected N, T, AP or PtAP");
  }
  Matrix device_left, device_right;
  kkc_matrix_t *A = left, *B = right;
  if (on_gpu(c.device)) {
    device_left = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), left);
    A = B = device_left.get();
    if (right != left) {
      device_right = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), right);
      B = device_right.get();
    }
  } else if (c.device != KKC_DEVICE_OPENMP) {
    throw std::runtime_error("devices of this operation are openmp and the GPUs");
  }
  const SpgemmProblem p{c.device,
                        0,
                        bench.stream,
                        c.threads,
                        c.scalar,
                        c.index,
                        operand(A),
                        operand(B),
                        op == "PtAP" ? KKC_OP_TRANSPOSE : KKC_OP_NONE,
                        op == "T" ? KKC_OP_TRANSPOSE : KKC_OP_NONE};
  Product(session, bench, c, op, p, A, B, operand(left), operand(right)).run();
}

}  // namespace

void spgemm(Session& session) {
  const Arguments& a = session.arguments();
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  for (const auto& matrix : a.matrices)
    for (const auto& scalar : a.scalars)
      for (const auto& index : a.indices) {
        Matrix loaded;  // only for cases that are run
        for (const auto& device : a.devices)
          for (const int32_t threads : a.threads)
            for (const auto& op : a.ops) {
              const kkc_device_t on = device_of(device);
              const Case c{matrix,      on, scalar_of(scalar), index_of(index),
                           KKC_OP_NONE, 1,  KKC_LAYOUT_RIGHT,  session.threads_on(on, threads)};
              session.attempt("spgemm " + matrix + " " + scalar + " " + op + " on " + device, [&] {
                if (!loaded) loaded = load_matrix(session, loader.get(), matrix, c.index, c.scalar);
                run_case(session, c, op, loader.get(), loaded);
              });
            }
      }
}

}  // namespace kkc::bench

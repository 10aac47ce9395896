#include "bench_product.hpp"

#include <algorithm>
#include <cmath>

namespace kkc::bench {
namespace {

/// Calls f(ordinal, offset) of an index pair with zeros of its types.
template <class F>
void with_indices(kkc_index_pair_t index, F&& f) {
  switch (index) {
    case KKC_INDEX_32_32: f(int32_t{}, int32_t{}); break;
    case KKC_INDEX_32_64: f(int32_t{}, int64_t{}); break;
    default: f(int64_t{}, int64_t{}); break;
  }
}

/// f(row, column, p) for each entry of a matrix in host memory.
template <class F>
void each_entry(const SparseOperand& A, F&& f) {
  with_indices(A.index, [&](auto ordinal, auto offset) {
    const auto* offsets = static_cast<const decltype(offset)*>(A.offsets);
    const auto* indices = static_cast<const decltype(ordinal)*>(A.indices);
    for (int64_t i = 0; i < A.rows; ++i)
      for (int64_t p = offsets[i] - A.base; p < offsets[i + 1] - A.base; ++p)
        f(static_cast<size_t>(i), static_cast<size_t>(indices[p] - A.base), p);
  });
}

/// Whether the columns of each row of a matrix in host memory ascend.
bool in_order(const SparseOperand& A) {
  bool ascend = true;
  with_indices(A.index, [&](auto ordinal, auto offset) {
    const auto* offsets = static_cast<const decltype(offset)*>(A.offsets);
    const auto* indices = static_cast<const decltype(ordinal)*>(A.indices);
    for (int64_t i = 0; ascend && i < A.rows; ++i)
      ascend = std::is_sorted(indices + (offsets[i] - A.base), indices + (offsets[i + 1] - A.base));
  });
  return ascend;
}

/// kkc's own way, as a peer would do it.
class Ours {
 public:
  Ours(Bench& bench, const ProductCase& product, const std::string& json)
      : timer_(bench.timer), product_(product), options_(options_from(json)) {}

  void make_plan() {
    C_.reset();
    plan_.reset();
    plan_ = product_.plan(options_.get());
    timer_->synchronize();
  }
  void numeric() { product_.execute(plan_.get(), C_.get()); }
  void whole() {
    make_plan();
    C_ = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan_.get());
    numeric();
    timer_->synchronize();
  }
  Json info() const { return plan_info(plan_.get()); }
  size_t workspace_bytes() const {
    size_t workspace = 0;
    check(kkc_plan_workspace_size(plan_.get(), &workspace), "kkc_plan_workspace_size");
    return workspace;
  }
  SparseOperand result() const { return operand(C_.get()); }

 private:
  Timer* timer_;
  const ProductCase& product_;
  Options options_;
  Plan plan_;
  Matrix C_;
};

/// Rows of one of the two tables: kkc's variants, then the others with their ratio to each variant.
struct Table {
  std::vector<Measured> measured;
  Json ratios = Json::array();
};

class Run {
 public:
  Run(Session& session, Bench& bench, const ProductCase& product)
      : session_(session), bench_(bench), product_(product), c_(product.c) {}

  void all() {
    std::vector<std::string> variants = session_.arguments().options;
    if (variants.empty()) variants.push_back("");
    for (const auto& options : variants) run_variant(options);
    for (Table* table : {&execute_, &whole_}) write(*table, table == &execute_ ? "execute" : "whole");
  }

 private:
  void run_variant(const std::string& options) {
    Ours ours(bench_, product_, options);
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
    const Checked own = checked(ours.result());
    numeric.error = own.error;
    if (numeric.error < 0.0) throw std::runtime_error(numeric.name + ": its result is wrong");
    nnz_ = info.value("nnz", int64_t{0});
    numeric.details = {{"plan", info},
                       {"implementation", implementation},
                       {"plan_seconds", numeric.setup_seconds},
                       {"rows_in_order", own.in_order},
                       {"workspace_bytes", ours.workspace_bytes() + info.value("plan_bytes", size_t{0})}};
    Measured whole = numeric;
    std::vector<Candidate> alone{{numeric.name, {[&] { ours.numeric(); }}}};
    numeric.rounds = interleave(*bench_.timer, alone, repeats(), session_.batch_seconds(c_.device)).front();
    std::vector<Candidate> whole_alone{{whole.name, {[&] { ours.whole(); }}}};
    whole.rounds = rounds_of_wholes(whole_alone).front();
    execute_.measured.push_back(std::move(numeric));
    whole_.measured.push_back(std::move(whole));

    name_ = execute_.measured.back().name;
    if (product_.others)
      for (const auto& other : product_.others()) beside(ours, "kkc", other);
    for (Peer* peer : session_.peers(c_.device)) {
      try {
        for (const auto& entrant : product_.entrants(*peer)) beside(ours, peer->name(), entrant);
      } catch (const std::exception& error) {
        leave_out(peer->name(), error.what());
      }
    }
  }

  int repeats() const { return std::min(session_.arguments().repeat, 7); }

  /// Several of one candidate in a row, where they are short: a library that was called before may have left a team of
  /// another size, whose threads the first call ends or starts.
  Rounds rounds_of_wholes(std::vector<Candidate>& candidates) const {
    HostTimer wall;
    return interleave(wall, candidates, std::min(repeats(), 3), session_.batch_seconds(c_.device));
  }

  void leave_out(const std::string& name, const std::string& reason) {
    left_out_[name] = reason;
    session_.print("  " + name + ": " + reason);
  }

  /// One entrant beside kkc; where it fails, others may take the case.
  void beside(Ours& ours, const std::string& owner, const SpgemmEntrant& entrant) {
    const std::string name = owner + (entrant.name.empty() ? "" : " " + entrant.name);
    try {
      against(ours, owner, name, entrant);
    } catch (const std::exception& error) {
      leave_out(name, error.what());
    }
  }

  void against(Ours& ours, const std::string& owner, const std::string& name, const SpgemmEntrant& entrant) {
    Measured numeric;
    numeric.name = name;
    numeric.details["peer"] = owner;
    std::vector<double> theirs{wall_seconds([&] { entrant.whole(), bench_.timer->synchronize(); })};
    const SparseOperand C = entrant.result();
    if (C.nnz != nnz_) numeric.details["nnz"] = C.nnz;
    const Checked their = checked(C);
    numeric.error = their.error;
    if (numeric.error < 0.0) throw std::runtime_error("its result is wrong");
    numeric.details["rows_in_order"] = their.in_order;
    if (entrant.workspace_bytes) numeric.details["workspace_bytes"] = entrant.workspace_bytes();
    Measured whole = numeric;
    std::vector<Candidate> wholes{{name_, {[&] { ours.whole(); }}},
                                  {name, {[&] { entrant.whole(), bench_.timer->synchronize(); }}}};
    const Rounds made = rounds_of_wholes(wholes);
    theirs = made[1];
    add(whole_, std::move(whole), theirs, made[0]);
    if (!entrant.numeric) return;
    std::vector<Candidate> two{{name_, {[&] { ours.numeric(); }}}, {numeric.name, {entrant.numeric}}};
    const Rounds rounds = interleave(*bench_.timer, two, repeats(), session_.batch_seconds(c_.device));
    numeric.setup_seconds = std::max(0.0, quartiles(theirs).median - quartiles(rounds[1]).median);
    add(execute_, std::move(numeric), rounds[1], rounds[0]);
  }

  void add(Table& table, Measured&& peer, const std::vector<double>& theirs, const std::vector<double>& own) const {
    const Quartiles r = ratio(theirs, own);
    table.ratios.push_back({{"kkc", name_},
                            {"other", peer.name},
                            {"other_is_kkc", false},
                            {"median", r.median},
                            {"lower", r.lower},
                            {"upper", r.upper}});
    peer.rounds = theirs;
    table.measured.push_back(std::move(peer));
  }

  struct Checked {
    double error = -1.0;  // of C x, in units of the weights; negative when C is wrong
    bool in_order = false;
  };
  Checked checked(const SparseOperand& C) const {
    if (C.rows != static_cast<int64_t>(product_.value.size()) || C.cols != static_cast<int64_t>(product_.x.size()))
      return {};
    SparseOperand host = C;
    std::vector<std::vector<unsigned char>> arrays;
    const auto fetch = [&](const void* from, int64_t bytes) -> void* {
      arrays.emplace_back(static_cast<size_t>(bytes));
      if (bytes > 0)
        check(kkc_copy(bench_.ctx.get(), arrays.back().data(), from, arrays.back().size(), KKC_COPY_DEVICE_TO_HOST),
              "kkc_copy");
      return arrays.back().data();
    };
    if (on_gpu(c_.device)) {
      host.offsets = fetch(C.offsets, (C.rows + 1) * offset_bytes(C.index));
      host.indices = fetch(C.indices, C.nnz * ordinal_bytes(C.index));
      host.values = fetch(C.values, C.nnz * scalar_bytes(c_.scalar));
    }
    const auto y = apply(host, c_.scalar, false, false, product_.x);
    const double room = c_.scalar == KKC_TYPE_F32 || c_.scalar == KKC_TYPE_C64 ? 1e-4 : 1e-12;
    double largest = 0.0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double distance = std::abs(y[i] - product_.value[i]), weight = product_.weight[i].real();
      if (!(distance <= room * weight)) return {};
      if (weight > 0.0) largest = std::max(largest, distance / weight);
    }
    return {largest, in_order(host)};
  }

  void write(const Table& table, const std::string& phase) {
    const auto bytes_of = [&](const SparseOperand& M) {
      return static_cast<double>(M.nnz * (scalar_bytes(c_.scalar) + ordinal_bytes(M.index)) +
                                 (M.rows + 1) * offset_bytes(M.index));
    };
    const double bytes =
        bytes_of(product_.A) + bytes_of(product_.B) + static_cast<double>(nnz_ * scalar_bytes(c_.scalar));
    const std::string op = product_.op + (product_.op.empty() ? "" : ", ") + phase;
    Json& entry = session_.add_case();
    entry = {{"matrix", c_.matrix},
             {"rows", product_.A.rows},
             {"nnz", product_.A.nnz},
             {"nnz_C", nnz_},
             {"products", product_.products},
             {"device", device_name(c_.device)},
             {"threads", c_.threads},
             {"scalar", scalar_name(c_.scalar)},
             {"index", index_name(c_.index)},
             {"op", op},
             {"vectors", 1},
             {"layout", "right"},
             {"copies", 1},
             {"bytes", bytes},
             {"flops", product_.flops},
             {"in_cache", false},
             {"left_out", left_out_},
             {"ratios", table.ratios}};
    session_.print("\n" + product_.operation + " " + c_.matrix + " " + op + ", " + scalar_name(c_.scalar) + " " +
                   index_name(c_.index) + " on " + device_name(c_.device) +
                   (c_.threads > 0 ? " x" + std::to_string(c_.threads) : "") + ": " +
                   std::to_string(product_.products) + " products, " + std::to_string(nnz_) + " entries of C");
    auto& contenders = entry["contenders"] = Json::array();
    for (const Measured& one : table.measured) contenders.push_back(write(table, one, phase, bytes));
  }

  Json write(const Table& table, const Measured& one, const std::string& phase, double bytes) {
    const Quartiles time = quartiles(one.rounds);
    const double rate = bytes / time.median * 1e-9, gflops = product_.flops / time.median * 1e-9;
    Json row{{"name", one.name},
             {"kkc", one.is_kkc},
             {"keeps_values", false},
             {"setup_seconds", one.setup_seconds},
             {"seconds", {{"median", time.median}, {"lower", time.lower}, {"upper", time.upper}, {"best", time.best}}},
             {"error", one.error},
             {"gbs", rate},
             {"share_of_copy", rate / bench_.bandwidth.copy},
             {"share_of_read", rate / bench_.bandwidth.read},
             {"gflops", gflops}};
    row.update(one.details);
    std::string line = "  " + one.name + std::string(std::max<size_t>(40, one.name.size()) - one.name.size(), ' ');
    char text[160];
    std::snprintf(text, sizeof text, " %10.3f ms %8.3f GFLOP/s %7.1f GB/s", time.median * 1e3, gflops, rate);
    line += text;
    if (phase == "execute") {
      std::snprintf(text, sizeof text, ", plan %10.3f ms", one.setup_seconds * 1e3);
      line += text;
    }
    if (one.details.contains("workspace_bytes")) {
      std::snprintf(text, sizeof text, ", workspace %9.2f MB", one.details["workspace_bytes"].get<double>() * 1e-6);
      line += text;
    }
    if (!one.details["rows_in_order"].get<bool>()) line += ", rows not in order";
    for (const auto& r : table.ratios)
      if (r["other"] == one.name) {
        std::snprintf(text, sizeof text, "  %6.2f [%.2f %.2f]", r["median"].get<double>(), r["lower"].get<double>(),
                      r["upper"].get<double>());
        line += text;
      }
    session_.print(line);
    return row;
  }

  Session& session_;
  Bench& bench_;
  const ProductCase& product_;
  const Case& c_;
  int64_t nnz_ = 0;
  Json left_out_ = Json::object();
  std::string name_;  // of the variant that runs
  Table execute_, whole_;
};

}  // namespace

Wide value_at(kkc_scalar_t scalar, const void* values, int64_t p) {
  switch (scalar) {
    case KKC_TYPE_F32: return static_cast<const float*>(values)[p];
    case KKC_TYPE_F64: return static_cast<const double*>(values)[p];
    case KKC_TYPE_C64: return static_cast<const std::complex<float>*>(values)[p];
    default: return static_cast<const std::complex<double>*>(values)[p];
  }
}

SparseOperand operand(const kkc_matrix_t* A) {
  const CsrArrays a = arrays_of(A);
  return {a.rows, a.cols, a.nnz, a.index, a.base, a.offsets, a.indices, a.values};
}

std::vector<Wide> apply(const SparseOperand& A, kkc_scalar_t scalar, bool transposed, bool absolute,
                        const std::vector<Wide>& x) {
  std::vector<Wide> y(static_cast<size_t>(transposed ? A.cols : A.rows));
  each_entry(A, [&](size_t row, size_t column, int64_t p) {
    const Wide a = value_at(scalar, A.values, p);
    y[transposed ? column : row] += (absolute ? Wide(std::abs(a)) : a) * x[transposed ? row : column];
  });
  return y;
}

std::vector<Wide> check_vector(int64_t length) {
  const auto bytes = random_vector(KKC_TYPE_F64, length, 5);
  std::vector<Wide> x;
  for (int64_t i = 0; i < length; ++i) x.push_back(value_at(KKC_TYPE_F64, bytes.data(), i));
  return x;
}

std::vector<Wide> magnitudes(std::vector<Wide> x) {
  for (Wide& e : x) e = std::abs(e);
  return x;
}

std::vector<Wide> diagonal_of(const SparseOperand& A, kkc_scalar_t scalar) {
  std::vector<Wide> d(static_cast<size_t>(std::min(A.rows, A.cols)));
  each_entry(A, [&](size_t row, size_t column, int64_t p) {
    if (row == column) d[row] += value_at(scalar, A.values, p);
  });
  return d;
}

int64_t products_of(const SparseOperand& A, bool transposed_a, const SparseOperand& B, bool transposed_b) {
  const auto inner = static_cast<size_t>(transposed_a ? A.rows : A.cols);
  std::vector<int64_t> in_a(inner, 0), in_b(inner, 0);
  each_entry(A, [&](size_t row, size_t column, int64_t) { ++in_a[transposed_a ? row : column]; });
  each_entry(B, [&](size_t row, size_t column, int64_t) { ++in_b[transposed_b ? column : row]; });
  int64_t products = 0;
  for (size_t k = 0; k < inner; ++k) products += in_a[k] * in_b[k];
  return products;
}

kkc_matrix_t* on_device(Bench& bench, const Case& c, kkc_matrix_t* m, Matrix& copy) {
  if (c.device == KKC_DEVICE_OPENMP) return m;
  copy = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), m);
  return copy.get();
}

void run_product(Session& session, Bench& bench, const ProductCase& product) { Run(session, bench, product).all(); }

void each_product_case(
    Session& session, const std::string& operation, const std::vector<std::string>& ops,
    const std::function<Matrix(kkc_context_t* loader, const Case& c)>& load,
    const std::function<void(const Case& c, const std::string& op, kkc_context_t* loader, const Matrix& loaded)>& run) {
  const Arguments& a = session.arguments();
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  for (const auto& matrix : a.matrices)
    for (const auto& scalar : a.scalars)
      for (const auto& index : a.indices) {
        Matrix loaded;  // only for cases that are run
        for (const auto& device : a.devices)
          for (const int32_t threads : a.threads)
            for (const auto& op : ops) {
              const kkc_device_t on = device_of(device);
              const Case c{matrix,      on, scalar_of(scalar), index_of(index),
                           KKC_OP_NONE, 1,  KKC_LAYOUT_RIGHT,  session.threads_on(on, threads)};
              session.attempt(operation + " " + matrix + " " + scalar + " " + op + " on " + device, [&] {
                if (!loaded) loaded = load(loader.get(), c);
                run(c, op, loader.get(), loaded);
              });
            }
      }
}

}  // namespace kkc::bench

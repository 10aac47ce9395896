// kkc_bench spadd: C = A + B, symbolic and numeric phase apart. --matrix takes pairs:
//   rand@N          two matrices of N rows with 30 random entries each
//   NAME+T          the transpose of NAME plus NAME
//   NAME+I          NAME plus the identity
//   stencil+rmat    lap3d7 and R-MAT of 2^20 rows (2^12 at the small size)
//   NAME+NAME       any two of one size
#include <algorithm>
#include <complex>
#include <cstring>

#include "bench_matrix.hpp"
#include "bench_phases.hpp"

namespace kkc::bench {
namespace {

struct Operands {
  Matrix A, B;  // B null: A itself
  kkc_op_t op_A = KKC_OP_NONE;
  kkc_matrix_t* b() const { return B ? B.get() : A.get(); }
};

Matrix generate(kkc_context_t* ctx, const char* name, const Case& c,
                const std::vector<std::pair<const char*, int64_t>>& options) {
  auto set = make<Options>("kkc_options_create", kkc_options_create);
  for (const auto& [key, value] : options) check(kkc_options_set_int(set.get(), key, value), "kkc_options_set_int");
  return make<Matrix>("kkc_matrix_generate", kkc_matrix_generate, ctx, name, set.get(), c.index, c.scalar);
}

Operands operands_of(const Session& session, kkc_context_t* ctx, const Case& c) {
  const std::string& name = c.matrix;
  Operands x;
  if (name.rfind("rand@", 0) == 0) {
    const int64_t rows = std::stoll(name.substr(5));
    for (const int64_t seed : {7, 8})
      (seed == 7 ? x.A : x.B) =
          generate(ctx, "rand", c, {{"rows", rows}, {"cols", rows}, {"per_row", 30}, {"seed", seed}});
    return x;
  }
  if (name == "stencil+rmat") {
    const bool small = session.arguments().size == "small";
    const int64_t n = small ? 16 : 128;
    x.A = generate(ctx, "lap3d7", c, {{"nx", n}, {"ny", n}, {"nz", small ? 16 : 64}});
    x.B = generate(ctx, "rmat", c, {{"scale", small ? 12 : 20}, {"edges", 16}});
    return x;
  }
  const size_t plus = name.find('+');
  if (plus == std::string::npos)
    throw std::runtime_error("\"" + name + "\" is not a pair of matrices: rand@N, A+T, A+I, A+B");
  const std::string first = name.substr(0, plus), second = name.substr(plus + 1);
  x.A = load_matrix(session, ctx, first, c.index, c.scalar);
  if (second == "T")
    x.op_A = KKC_OP_TRANSPOSE;
  else if (second == "I")
    x.B = generate(ctx, "identity", c, {{"rows", arrays_of(x.A.get()).rows}});
  else
    x.B = load_matrix(session, ctx, second, c.index, c.scalar);
  return x;
}

std::complex<double> value_at(kkc_scalar_t scalar, const void* values, int64_t i) {
  switch (scalar) {
    case KKC_TYPE_F32: return static_cast<const float*>(values)[i];
    case KKC_TYPE_F64: return static_cast<const double*>(values)[i];
    case KKC_TYPE_C64: return static_cast<const std::complex<float>*>(values)[i];
    default: return static_cast<const std::complex<double>*>(values)[i];
  }
}
int64_t integer_at(const void* array, int64_t bytes_each, int64_t i) {
  return bytes_each == 8 ? static_cast<const int64_t*>(array)[i] : static_cast<const int32_t*>(array)[i];
}

/// Rows of a matrix in host memory: its own arrays, or those of its transpose.
class Rows {
 public:
  Rows(const CsrArrays& X, bool transposed) : X_(X), transposed_(transposed) {
    if (!transposed) return;
    offsets_.assign(static_cast<size_t>(X.cols) + 1, 0);
    for (int64_t p = 0; p < X.nnz; ++p) ++offsets_[static_cast<size_t>(own_column(p)) + 1];
    for (size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
    std::vector<int64_t> next = offsets_;
    columns_.resize(static_cast<size_t>(X.nnz));
    places_.resize(static_cast<size_t>(X.nnz));
    for (int64_t row = 0; row < X.rows; ++row)
      for (int64_t p = own_begin(row); p < own_begin(row + 1); ++p) {
        const auto to = static_cast<size_t>(next[static_cast<size_t>(own_column(p))]++);
        columns_[to] = static_cast<int32_t>(row);
        places_[to] = p;
      }
  }
  int64_t count() const { return transposed_ ? X_.cols : X_.rows; }
  int64_t begin(int64_t row) const { return transposed_ ? offsets_[static_cast<size_t>(row)] : own_begin(row); }
  int64_t column(int64_t p) const { return transposed_ ? columns_[static_cast<size_t>(p)] : own_column(p); }
  std::complex<double> value(int64_t p) const {
    return value_at(X_.scalar, X_.values, transposed_ ? places_[static_cast<size_t>(p)] : p);
  }

 private:
  int64_t own_begin(int64_t row) const { return integer_at(X_.offsets, offset_bytes(X_.index), row) - X_.base; }
  int64_t own_column(int64_t p) const { return integer_at(X_.indices, ordinal_bytes(X_.index), p) - X_.base; }

  CsrArrays X_;
  bool transposed_;
  std::vector<int64_t> offsets_, places_;
  std::vector<int32_t> columns_;
};

/// The sum by a plain merge of rows, made again for each check: the largest inputs leave no room to keep it.
class Oracle {
 public:
  Oracle(const CsrArrays& A, bool transposed, const CsrArrays& B) : scalar_(A.scalar), a_(A, transposed), b_(B, false) {
    merge([&](int64_t, int64_t, std::complex<double>) { ++nnz_; }, [](int64_t, int64_t) {});
  }

  int64_t nnz() const { return nnz_; }

  /// The largest error; negative when the pattern or a value is wrong.
  double error(const HostResult& C) const {
    if (C.nnz != nnz_ || C.rows != a_.count() || integer_at(C.offsets, C.offset_bytes, 0) != C.base) return -1.0;
    const double most = scalar_ == KKC_TYPE_F32 || scalar_ == KKC_TYPE_C64 ? 1e-5 : 1e-13;
    double worst = 0.0;
    bool right = true;
    merge(
        [&](int64_t k, int64_t column, std::complex<double> sum) {
          right = right && integer_at(C.indices, C.index_bytes, k) - C.base == column;
          const double off = std::abs(value_at(scalar_, C.values, k) - sum);
          right = right && off <= most * std::max(1.0, std::abs(sum));
          worst = std::max(worst, off);
        },
        [&](int64_t row, int64_t end) {
          right = right && integer_at(C.offsets, C.offset_bytes, row + 1) - C.base == end;
        });
    return right ? worst : -1.0;
  }

 private:
  /// entry(k, column, sum) for each entry of the sum, end(row, entries so far) after each row.
  template <class Entry, class End>
  void merge(Entry&& entry, End&& end) const {
    int64_t k = 0;
    for (int64_t row = 0; row < a_.count(); ++row) {
      int64_t i = a_.begin(row), j = b_.begin(row);
      const int64_t i_end = a_.begin(row + 1), j_end = b_.begin(row + 1);
      while (i < i_end || j < j_end) {
        const int64_t p = i < i_end ? a_.column(i) : INT64_MAX, q = j < j_end ? b_.column(j) : INT64_MAX;
        std::complex<double> sum = 0;
        if (p <= q) sum += a_.value(i++);
        if (q <= p) sum += b_.value(j++);
        entry(k++, std::min(p, q), sum);
      }
      end(row, k);
    }
  }

  kkc_scalar_t scalar_;
  Rows a_, b_;
  int64_t nnz_ = 0;
};

/// kkc as a contender: each symbolic() plans anew.
class Ours {
 public:
  Ours(Bench& bench, const Case& c, const Operands& x, const std::string& options)
      : bench_(bench), case_(c), x_(x), options_(options_from(options)), one_(element(c.scalar, 1.0)) {
    symbolic();
    C_ = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan_.get());
  }

  void symbolic() {
    plan_.reset();  // the library's memory for the last plan is free again, as in an application that plans anew
    plan_ = make<Plan>("kkc_spadd_plan", kkc_spadd_plan, bench_.ctx.get(), x_.op_A, x_.A.get(), KKC_OP_NONE, x_.b(),
                       case_.index, options_.get());
  }
  void numeric() {
    check(kkc_spadd_execute(plan_.get(), one_.data(), x_.A.get(), one_.data(), x_.b(), C_.get()), "kkc_spadd_execute");
  }
  HostResult fetch() { return on_host_.of(bench_, C_.get()); }
  Json info() const { return plan_info(plan_.get()); }

 private:
  Bench& bench_;
  Case case_;
  const Operands& x_;
  Options options_;
  std::array<unsigned char, 16> one_;
  Plan plan_;
  Matrix C_;
  HostCopy on_host_;
};

std::vector<Contender> contenders_of(Session& session, Bench& bench, const Case& c, const Operands& x, Json& left_out) {
  std::vector<Contender> list;
  auto variants = session.arguments().options;
  if (variants.empty()) variants.push_back("");
  for (const auto& options : variants) {
    Contender one;
    const auto ours = std::make_shared<Ours>(bench, c, x, options);
    one.measured.details["plan"] = ours->info();
    one.measured.details["implementation"] = one.measured.details["plan"].value("implementation", "");
    one.measured.details["options"] = options.empty() ? "{}" : options;
    one.measured.name =
        options.empty() ? "kkc (" + one.measured.details["implementation"].get<std::string>() + ")" : "kkc " + options;
    one.measured.is_kkc = true;
    one.phases = {"", [ours] { ours->symbolic(); }, [ours] { ours->numeric(); }, [ours] { return ours->fetch(); }};
    list.push_back(std::move(one));
  }
  const auto operand = [](const CsrArrays& a) {
    return SparseOperand{a.rows, a.cols, a.nnz, a.index, a.base, a.offsets, a.indices, a.values};
  };
  const SpaddProblem problem{c.device,
                             0,
                             bench.stream,
                             c.threads,
                             c.scalar,
                             c.index,
                             x.op_A,
                             KKC_OP_NONE,
                             operand(arrays_of(x.A.get())),
                             operand(arrays_of(x.b())),
                             1.0,
                             1.0};
  for (Peer* peer : session.peers(c.device)) {
    try {
      for (auto& phases : peer->spadd(problem)) {
        Contender one;
        one.measured.name = peer->name() + (phases.name.empty() ? "" : " " + phases.name);
        one.measured.details["peer"] = peer->name();
        one.phases = std::move(phases);
        list.push_back(std::move(one));
      }
    } catch (const std::exception& error) {
      left_out[peer->name()] = error.what();
    }
  }
  return list;
}

void run_case(Session& session, const Case& c, kkc_context_t* loader) {
  Bench& bench = session.bench(c.device, c.threads);
  const Operands host = operands_of(session, loader, c);
  const Oracle oracle(arrays_of(host.A.get()), host.op_A != KKC_OP_NONE, arrays_of(host.b()));
  Operands copy;  // on other devices than the loader's
  copy.op_A = host.op_A;
  if (c.device != KKC_DEVICE_OPENMP) {
    copy.A = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), host.A.get());
    if (host.B) copy.B = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), host.B.get());
  }
  const Operands& x = copy.A ? copy : host;
  const CsrArrays a = arrays_of(x.A.get()), b = arrays_of(x.b());
  const int64_t bytes = (a.nnz + b.nnz + oracle.nnz()) * scalar_bytes(c.scalar);
  const bool in_cache = session.copies(bench, bytes) != 1;

  Json& entry = session.add_case();
  entry = {{"matrix", c.matrix},
           {"rows", a.rows},
           {"nnz_A", a.nnz},
           {"nnz_B", b.nnz},
           {"nnz", oracle.nnz()},
           {"device", device_name(c.device)},
           {"threads", c.threads},
           {"scalar", scalar_name(c.scalar)},
           {"index", index_name(c.index)}};
  auto& left_out = entry["left_out"] = Json::object();
  auto contenders = contenders_of(session, bench, c, x, left_out);
  drop_wrong(
      contenders, c.matrix, [&](const HostResult& C) { return oracle.error(C); }, left_out);
  const std::string sizes = std::to_string(a.rows) + " rows, " + std::to_string(a.nnz) + " + " + std::to_string(b.nnz) +
                            " = " + std::to_string(oracle.nnz()) + " nonzeros";
  measure_phases(session, bench, entry, "spadd", c, sizes, contenders, static_cast<double>(bytes),
                 static_cast<double>(oracle.nnz()), in_cache);
}

}  // namespace

void spadd(Session& session) {
  const Arguments& a = session.arguments();
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  for (const auto& matrix : a.matrices)
    for (const auto& scalar : a.scalars)
      for (const auto& index : a.indices)
        for (const auto& device : a.devices)
          for (const int32_t threads : a.threads) {
            const kkc_device_t on = device_of(device);
            const Case c{matrix,      on, scalar_of(scalar), index_of(index),
                         KKC_OP_NONE, 1,  KKC_LAYOUT_RIGHT,  session.threads_on(on, threads)};
            session.attempt("spadd " + matrix + " " + scalar + " on " + device,
                            [&] { run_case(session, c, loader.get()); });
          }
}

}  // namespace kkc::bench

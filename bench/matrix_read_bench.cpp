// kkc_bench matrix_read --file F: MB/s of Matrix Market text. Without --file each --matrix is written and read back.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench_matrix.hpp"

namespace kkc::bench {
namespace {

namespace fs = std::filesystem;

/// Bytes of text: of a .gz file what its trailer says (modulo 2^32).
int64_t text_bytes(const fs::path& path) {
  if (path.extension() != ".gz") return static_cast<int64_t>(fs::file_size(path));
  std::ifstream file(path, std::ios::binary);
  unsigned char tail[4] = {};
  file.seekg(-4, std::ios::end);
  file.read(reinterpret_cast<char*>(tail), 4);
  return tail[0] | tail[1] << 8 | tail[2] << 16 | static_cast<int64_t>(tail[3]) << 24;
}

void read_case(Session& session, const Case& c, const fs::path& path) {
  Bench& bench = session.bench(c.device, c.threads);
  const double bytes = static_cast<double>(text_bytes(path));
  Json& entry = session.add_case();
  Measured ours;
  ours.name = "kkc";
  ours.is_kkc = true;
  CsrArrays arrays;
  for (int round = 0; round < session.arguments().repeat; ++round) {
    Matrix A;
    ours.rounds.push_back(wall_seconds([&] {
      A = make<Matrix>("kkc_matrix_read", kkc_matrix_read, bench.ctx.get(), path.c_str(), c.index, c.scalar);
    }));
    arrays = arrays_of(A.get());
  }
  entry = {{"matrix", c.matrix},
           {"rows", arrays.rows},
           {"cols", arrays.cols},
           {"nnz", arrays.nnz},
           {"device", device_name(c.device)},
           {"threads", c.threads},
           {"scalar", scalar_name(c.scalar)},
           {"index", index_name(c.index)},
           {"op", ""},
           {"vectors", 1},
           {"layout", ""},
           {"text_bytes", bytes}};
  const double rate = bytes / quartiles(ours.rounds).median * 1e-6;
  entry["text_mbs"] = rate;
  char text[160];
  std::snprintf(text, sizeof text, "matrix_read %s on %s x%d: %.1f MB of text, %.0f MB/s", c.matrix.c_str(),
                device_name(c.device).c_str(), c.threads, bytes * 1e-6, rate);
  report(session, bench, entry, text, {ours}, 0.0, 0.0, false);
}

/// A file that goes away with the object.
struct Temporary {
  fs::path path = fs::temp_directory_path() / ("kkc_bench_" + std::to_string(getpid()) + ".mtx");
  ~Temporary() { fs::remove(path); }
};

}  // namespace

void matrix_read(Session& session) {
  const Arguments& a = session.arguments();
  for (const auto& device : a.devices)
    for (const int32_t threads : a.threads)
      for (const auto& scalar : a.scalars)
        for (const auto& index : a.indices) {
          const kkc_device_t on = device_of(device);
          Case c{"",          on, scalar_of(scalar), index_of(index),
                 KKC_OP_NONE, 1,  KKC_LAYOUT_RIGHT,  session.threads_on(on, threads)};
          for (const auto& file : a.files) {
            c.matrix = fs::path(file).filename();
            session.attempt("matrix_read " + file, [&] { read_case(session, c, file); });
          }
          if (!a.files.empty()) continue;
          for (const auto& matrix : a.matrices) {
            c.matrix = matrix;
            session.attempt("matrix_read " + matrix, [&] {
              const Temporary file;
              {
                const Matrix A =
                    load_matrix(session, session.bench(on, c.threads).ctx.get(), matrix, c.index, c.scalar);
                check(kkc_matrix_write(A.get(), file.path.c_str(), nullptr), "kkc_matrix_write");
              }
              read_case(session, c, file.path);
            });
          }
        }
}

}  // namespace kkc::bench

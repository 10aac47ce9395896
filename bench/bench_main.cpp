// kkc_bench <op> [axes]: times kkc and its peers on the product of the axes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench_session.hpp"

using namespace kkc::bench;

int main(int argc, char** argv) {
  Arguments arguments;
  arguments.command = "kkc_bench";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--json")
      ++i;  // where results went says nothing about them
    else
      arguments.command += std::string(" ") + argv[i];
  }

  CLI::App app{
      "Times an operation of kkc beside every peer library that the build found, on the product of the lists given."};
  std::string known;
  for (int i = 0; i < operation_count; ++i) known += std::string(i == 0 ? "" : ", ") + operations[i].name;
  app.add_option("operation", arguments.operation, "one of: " + known)->required();
  app.add_option("--matrix", arguments.matrices,
                 "generated matrices and files (.mtx, .mtx.gz; KKC_DATA_DIR is searched too)")
      ->delimiter(',');
  app.add_option("--device", arguments.devices, "serial, openmp, cuda, hip")->delimiter(',');
  app.add_option("--scalar", arguments.scalars, "f32, f64, c64, c128")->delimiter(',');
  app.add_option("--index", arguments.indices, "32_32, 32_64, 64_64 (bits of columns, of offsets)")->delimiter(',');
  app.add_option("--op", arguments.ops, "N, T, C (conjugate), H; spgemm: N, T, AP, PtAP")->delimiter(',');
  app.add_option("--vectors", arguments.vectors, "vectors at once")->delimiter(',');
  app.add_option("--layout", arguments.layouts, "left (column-major), right (row-major); for more than one vector")
      ->delimiter(',');
  app.add_option("--threads", arguments.threads, "threads of openmp; 0: every core")->delimiter(',');
  app.add_option("--options", arguments.options,
                 "plan options as JSON; may be repeated, each is timed (default: the operation's own set)");
  app.add_option("--file", arguments.files, "files, for operations on files");
  app.add_option("--extents", arguments.extents, "shapes such as 4096x4096, for operations on views")->delimiter(',');
  app.add_option("--repeat", arguments.repeat, "rounds")->check(CLI::PositiveNumber);
  app.add_option("--batch", arguments.batch_seconds, "seconds of one turn (default 0.02 on hosts, 0.005 on GPUs)");
  app.add_option("--limit", arguments.limit, "seconds after which no further case is begun");
  app.add_option("--peers", arguments.peers, "all, none, or names with commas");
  app.add_option("--size", arguments.size, "full or small generated matrices")->check(CLI::IsMember({"full", "small"}));
  app.add_option("--json", arguments.json, "file for the results; - for stdout (the table then goes to stderr)");
  CLI11_PARSE(app, argc, argv);

  try {
    for (int i = 0; i < operation_count; ++i) {
      if (arguments.operation != operations[i].name) continue;
      Session session(arguments);
      operations[i].run(session);
      session.write();
      return session.failures() == 0 ? 0 : 1;
    }
    throw std::runtime_error("operation '" + arguments.operation + "' is not one of: " + known);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kkc_bench: %s\n", error.what());
    return 1;
  }
}

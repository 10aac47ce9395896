// GPU modules that are missing or wrong are refused with the file and the reason. A stand-in for the driver lets this
// run anywhere.
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/program.hpp"

namespace {

using namespace kkc_test;
namespace fs = std::filesystem;

/// A copy of libkkc in a folder of its own, with modules beside it or on KKC_MODULE_PATH.
class Installation {
 public:
  Installation() { fs::copy_file(library_path(), library()); }
  std::string library() const { return folder_ / "libkkc.so"; }
  void add(const std::string& name, const fs::path& from) { fs::copy_file(from, folder_ / name); }
  void add_text(const std::string& name, const std::string& text) { folder_.file(name, text); }

  /// The sentence with which CUDA is refused while the stand-in shows `gpus`.
  std::string refusal(const std::string& gpus, const std::string& module_path = "") const {
    const Outcome outcome = run_program(
        {(program_folder() / "device_probe").string(), "refused", library(), std::to_string(KKC_DEVICE_CUDA)},
        {{"LD_LIBRARY_PATH", (program_folder() / "fake").string()},
         {"KKC_FAKE_GPUS", gpus},
         {"KKC_MODULE_PATH", module_path}});
    INFO(outcome.output);
    CHECK(outcome.status == 0);
    return outcome.output;
  }

 private:
  TempDir folder_;
};

fs::path fake(const std::string& name) { return program_folder() / "fake" / name; }

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a missing module is named", "[device]") {
  const Installation kkc;
  const std::string text = kkc.refusal("90");
  has(text, "there is no module libkkc_cuda_sm<NN>.so");
  has(text, fs::path(kkc.library()).parent_path().string());
}

TEST_CASE("a module without driver or GPU is refused", "[device]") {
  Installation kkc;
  kkc.add("libkkc_cuda_sm90.so", fake("libkkc_fake_module.so"));
  has(kkc.refusal(""), "the CUDA driver shows no GPU");
  has(kkc.refusal("error"), "cuInit gives 999");
}

TEST_CASE("a module for another GPU is refused", "[device]") {
  Installation kkc;
  kkc.add("libkkc_cuda_sm75.so", fake("libkkc_fake_module.so"));
  const std::string text = kkc.refusal("90 80");
  has(text, "libkkc_cuda_sm75.so is for architecture sm75");
  has(text, "sm_90, sm_80");
}

TEST_CASE("a module of another build is refused", "[device]") {
  Installation kkc;
  kkc.add("libkkc_cuda_sm90.so", fake("libkkc_fake_module.so"));
  has(kkc.refusal("90"), "libkkc_cuda_sm90.so: it is of build 0.0.0-fake");
}

TEST_CASE("a file that is no module is refused", "[device]") {
  Installation kkc;
  kkc.add("libkkc_cuda_sm90.so", fake("libkkc_fake_no_entry.so"));
  kkc.add_text("libkkc_cuda_sm80.so", "not a library");
  const std::string text = kkc.refusal("90 80");
  has(text, "libkkc_cuda_sm90.so is not a module of kkc");
  has(text, "libkkc_cuda_sm80.so cannot be opened");
}

TEST_CASE("KKC_MODULE_PATH comes before libkkc's folder", "[device]") {
  Installation kkc;
  const TempDir other;
  fs::copy_file(fake("libkkc_fake_module.so"), other / "libkkc_cuda_sm90.so");
  kkc.add("libkkc_cuda_sm90.so", fake("libkkc_fake_no_entry.so"));
  const std::string folder = fs::path(other / "").parent_path().string();
  const std::string text = kkc.refusal("90", "/nonexistent:" + folder);
  const size_t first = text.find("it is of build"), second = text.find("is not a module");
  INFO(text);
  CHECK(first != std::string::npos);
  CHECK(second != std::string::npos);
  CHECK(first < second);
}

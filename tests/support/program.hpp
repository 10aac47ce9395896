// Programs beside the tests, run with their output caught.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kkc.h"

namespace kkc_test {

/// The folder of this program, where its companions lie.
inline std::filesystem::path program_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

/// The libkkc that this program uses.
inline std::filesystem::path library_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&kkc_version), &info) == 0)
    throw std::runtime_error("libkkc is not to be found");
  return std::filesystem::canonical(info.dli_fname);
}

struct Outcome {
  int status;          // exit status; 1000 + signal when killed
  std::string output;  // stdout and stderr
};

inline Outcome run_program(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  int pipe_ends[2];  // a program that another thread starts now must not keep them open
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], 1);
    dup2(pipe_ends[1], 2);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    for (const auto& [key, value] : environment) setenv(key.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  Outcome outcome{0, ""};
  char buffer[4096];
  for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    outcome.output.append(buffer, static_cast<size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return outcome;
}

}  // namespace kkc_test

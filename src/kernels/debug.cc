// The environment is read once, when the first kernel is generated.
#include "kernels/debug.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace fbg::kernels {
namespace {

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

void write_file(const std::string& path, int flags, const void* data, std::size_t bytes,
                const char* variable) {
  const auto fail = [&] {
    throw std::system_error(errno, std::generic_category(),
                            std::string(variable) + ": cannot write " + path);
  };
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
  if (fd < 0) fail();
  const ssize_t written = write(fd, data, bytes);
  if (close(fd) != 0 || written != static_cast<ssize_t>(bytes)) fail();
}

}  // namespace

void dump_code(const std::string& name, const void* code, std::size_t bytes) {
  // Never destroyed: a thread may generate a kernel while the process exits.
  static const std::string& directory = *new std::string(environment("FBG_DUMP_KERNELS"));
  if (directory.empty()) return;
  std::error_code ignored;  // writing will tell
  std::filesystem::create_directories(directory, ignored);
  write_file(directory + "/" + name + ".bin", O_TRUNC, code, bytes, "FBG_DUMP_KERNELS");
}

void add_to_perf_map(const std::string& name, const void* address, std::size_t bytes) {
  static const bool wanted = [] {
    const std::string value = environment("FBG_PERF_MAP");
    return !value.empty() && value != "0";
  }();
  if (!wanted) return;
  char range[64];
  std::snprintf(range, sizeof range, "%" PRIxPTR " %zx ", reinterpret_cast<std::uintptr_t>(address),
                bytes);
  const std::string line = range + name + "\n";
  // Appended in one write: the interpreter and other generators of code share this file. The name
  // has the pid of now: after a fork, perf looks for what the child generates under the child's.
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  write_file(path, O_APPEND, line.data(), line.size(), "FBG_PERF_MAP");
}

}  // namespace fbg::kernels

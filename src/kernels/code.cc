// Pages are never writable and executable at once. Where the instruction cache does not follow
// writes, as on AArch64, it is flushed before the code runs; on x86-64 this is no instruction.
#include "kernels/code.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "kernels/debug.h"

namespace fbg::kernels {

const void* make_executable(const void* code, std::size_t bytes, const std::string& name) {
  dump_code(name, code, bytes);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED && errno == ENOMEM) throw std::bad_alloc();
  if (pages == MAP_FAILED)
    throw std::runtime_error(std::string("JIT: no pages for generated code: ") +
                             std::strerror(errno));
  std::memcpy(pages, code, bytes);
  if (mprotect(pages, bytes, PROT_READ | PROT_EXEC) != 0) {
    const std::string reason = std::strerror(errno);
    munmap(pages, bytes);
    throw std::runtime_error("JIT: this system denies executable memory (" + reason +
                             "); set FBG_MAX_ISA=generic to run without generated code");
  }
  __builtin___clear_cache(static_cast<char*>(pages), static_cast<char*>(pages) + bytes);
  add_to_perf_map(name, pages, bytes);
  return pages;
}

}  // namespace fbg::kernels

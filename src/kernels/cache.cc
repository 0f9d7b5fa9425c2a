// One lock for all kinds: kernels are few (tens per model), never removed, and found before a run.
#include "kernels/cache.h"

#include <array>
#include <mutex>
#include <unordered_map>

#include "core/no_fork.h"
#include "kernels/code.h"

namespace fbg::kernels {
namespace {

struct Cache {
  std::mutex mutex;
  // For each kind, from the bytes of a key to the kernel's number.
  std::array<std::unordered_map<std::string, std::size_t>, kNumKernelKinds> index;
  std::vector<KernelInfo> kernels;

  // Under the lock.
  const void* find(KernelKind kind, const std::string& key) {
    const auto& keys = index[static_cast<std::size_t>(kind)];
    const auto found = keys.find(key);
    if (found == keys.end()) return nullptr;
    KernelInfo& kernel = kernels[found->second];
    ++kernel.hits;
    return kernel.code;
  }

  // Under the lock. If memory runs out, nothing is added: everything that allocates comes before
  // the kernel is added.
  const void* add(KernelInfo kernel, const std::uint8_t* code) {
    if (kernels.size() == kernels.capacity()) kernels.reserve(2 * kernels.size() + 16);
    auto& keys = index[static_cast<std::size_t>(kernel.kind)];
    const auto entry = keys.emplace(kernel.key, kernels.size()).first;
    try {
      kernel.code = make_executable(code, kernel.bytes, kernel.name);
    } catch (...) {
      keys.erase(entry);
      throw;
    }
    kernels.push_back(std::move(kernel));
    return kernels.back().code;
  }
};

// Leaked: kernels may still run while static objects are destroyed.
Cache& cache() {
  static Cache* const instance = new Cache;
  return *instance;
}

}  // namespace

const char* kernel_kind_name(KernelKind kind) noexcept {
  switch (kind) {
    case KernelKind::gemm:
      return "gemm";
    case KernelKind::lanewise:
      return "lanewise";
    case KernelKind::sliding:
      return "sliding";
    case KernelKind::peak:
      return "peak";
    case KernelKind::lookup:
      return "lookup";
  }
  return "unknown kind";
}

const void* find(KernelKind kind, std::string_view key) {
  const std::string bytes(key);
  Cache& c = cache();
  const NoFork no_fork;
  const std::lock_guard lock(c.mutex);
  return c.find(kind, bytes);
}

const void* generate(KernelKind kind, std::string_view key, Isa isa, const std::string& name,
                     const CodeGenerator& generator) {
  if (const void* ready = find(kind, key)) return ready;
  // Not under the lock: the generator may need other kernels.
  const std::vector<std::uint8_t> code = generator();
  if (code.empty()) return nullptr;
  std::string bytes(key);
  Cache& c = cache();
  const NoFork no_fork;
  const std::lock_guard lock(c.mutex);
  if (const void* ready = c.find(kind, bytes)) return ready;
  return c.add({kind, std::move(bytes), isa, name, nullptr, code.size()}, code.data());
}

std::vector<KernelInfo> generated_kernels() {
  Cache& c = cache();
  const NoFork no_fork;
  const std::lock_guard lock(c.mutex);
  return c.kernels;
}

}  // namespace fbg::kernels

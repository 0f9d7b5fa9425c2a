// One map under one lock; kernels are few (tens per model), never removed, found before the run.
#include "kernels/cache.h"

#include <pthread.h>

#include <mutex>
#include <unordered_map>

#include "kernels/code.h"
#include "kernels/x64/gemm_generator.h"

namespace fbg::kernels {
namespace {

struct KeyHash {
  std::size_t operator()(const KernelKey& k) const noexcept {
    std::size_t h = 0;
    const auto mix = [&h](std::size_t value) { h = (h ^ value) * 0x9e3779b97f4a7c15ull; };
    mix(static_cast<std::size_t>(k.accumulator) | static_cast<std::size_t>(k.isa) << 8 |
        static_cast<std::size_t>(k.rows) << 16 | static_cast<std::size_t>(k.vectors) << 24);
    mix(static_cast<std::size_t>(k.masked | k.load_c << 1 | k.correct_a << 2 | k.correct_b << 3 |
                                 k.streams << 4));
    for (int s = 0; s < k.num_stages; ++s)
      mix(static_cast<std::size_t>(k.stages[s].kind) |
          static_cast<std::size_t>(k.stages[s].in) << 8 |
          static_cast<std::size_t>(k.stages[s].out) << 16 |
          static_cast<std::size_t>(k.stages[s].operand) << 24);
    return h ^ h >> 29;
  }
};

struct Cache {
  std::mutex mutex;
  std::unordered_map<KernelKey, std::size_t, KeyHash> index;
  std::vector<KernelInfo> kernels;

  // Under the lock.
  TileFunction find(const KernelKey& key) {
    const auto found = index.find(key);
    if (found == index.end()) return nullptr;
    KernelInfo& kernel = kernels[found->second];
    ++kernel.hits;
    return kernel.code;
  }
};

// Leaked: kernels may still run while static objects are destroyed.
Cache& cache() {
  static Cache* const instance = new Cache;
  return *instance;
}

// Nobody holds the lock while the process forks: the child may go on generating.
void lock_cache() { cache().mutex.lock(); }
void unlock_cache() { cache().mutex.unlock(); }
[[maybe_unused]] const int g_at_fork = pthread_atfork(lock_cache, unlock_cache, unlock_cache);

}  // namespace

TileFunction find(const KernelKey& key) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  return c.find(key);
}

TileFunction generate(const KernelKey& key, const std::string& name) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  if (const TileFunction ready = c.find(key)) return ready;
  const std::vector<std::uint8_t> code = generate_gemm(key);
  if (code.empty()) return nullptr;
  const auto kernel = reinterpret_cast<TileFunction>(
      const_cast<void*>(make_executable(code.data(), code.size(), name)));
  c.index.emplace(key, c.kernels.size());
  c.kernels.push_back({key, name, kernel, code.size()});
  return kernel;
}

std::vector<KernelInfo> generated_kernels() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  return c.kernels;
}

}  // namespace fbg::kernels

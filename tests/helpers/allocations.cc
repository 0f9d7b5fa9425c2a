// The counting functions: names in the program come before those of libraries.
#include "helpers/allocations.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

thread_local constinit std::int64_t t_allocations = 0;
constinit std::atomic<std::int64_t> g_allocations{0};

void count() noexcept {
  ++t_allocations;
  g_allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::int64_t fbg::allocations() noexcept { return t_allocations; }
std::int64_t fbg::allocations_of_all_threads() noexcept { return g_allocations.load(); }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Declared in sanitizer/allocator_interface.h, which GCC does not install everywhere.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));
namespace {
[[maybe_unused]] const int kHooked = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { count(); }, [](const volatile void*) {});
}  // namespace
#else
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) {
  count();
  return __libc_calloc(number, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  count();
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  count();
  *result = __libc_memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
           off_t offset) noexcept {
  count();
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
}
}
#endif

// A library to be preloaded that makes chosen calls fail: allocations of a library, or operations
// on files. tests/faults/injection.py builds it and speaks to it.
//
//   faults_watch(name)            the library whose allocations count, and the C++ library with it
//   faults_arm(kind, n, error)    call number n from now on fails, counted from 1; 0: none does
//   faults_disarm()               returns how many calls there were
//   faults_exempt(bytes)          note the places that allocate so many bytes (-1: any number) from
//                                 now on: they never fail, and are not counted. 0 ends the noting
//
// Operations on files count for regular files and for paths. A short write writes half of the
// bytes.
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>

namespace {

enum Kind : int { kNothing, kAllocations, kFiles, kShortWrites };

constinit std::atomic<int> g_kind{kNothing}, g_error{0};
constinit std::atomic<std::int64_t> g_calls{0}, g_failing{0};

// Where the code of a library lies.
struct Code {
  const char* name = nullptr;
  std::uintptr_t begin = 0, end = 0;

  bool has(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return begin <= at && at < end;
  }
  void find(const char* library) {
    *this = {library};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
          Code& code = *static_cast<Code*>(data);
          if (!std::strstr(info->dlpi_name, code.name)) return 0;
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& part = info->dlpi_phdr[i];
            if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
            code.begin = info->dlpi_addr + part.p_vaddr;
            code.end = code.begin + part.p_memsz;
          }
          return 1;
        },
        this);
  }
};
constinit Code g_watched, g_runtime;

constinit std::int64_t g_exempting = 0;
constinit const void* g_exempt[64] = {};

bool is_exempt(const void* place, std::size_t bytes) noexcept {
  const auto last = std::end(g_exempt);
  if (std::find(std::begin(g_exempt), last, place) != last) return true;
  if (g_exempting != -1 && g_exempting != static_cast<std::int64_t>(bytes)) return false;
  const auto free = std::find(std::begin(g_exempt), last, nullptr);
  if (free != last) *free = place;
  return true;
}

bool is_failing(int kind) noexcept {
  if (g_kind.load(std::memory_order_relaxed) != kind) return false;
  return g_calls.fetch_add(1) + 1 == g_failing.load(std::memory_order_relaxed);
}

bool allocation_fails(const void* caller, std::size_t bytes) noexcept {
  if (!g_watched.has(caller) && !g_runtime.has(caller)) return false;
  return !is_exempt(caller, bytes) && is_failing(kAllocations);
}

bool file_fails() noexcept {
  if (!is_failing(kFiles)) return false;
  errno = g_error.load();
  return true;
}

bool is_regular(int fd) noexcept {
  if (g_kind.load(std::memory_order_relaxed) == kNothing) return false;
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

__attribute__((visibility("default"))) int faults_watch(const char* library) {
  g_watched.find(library);
  g_runtime.find("libstdc++.so");
  return g_watched.end != 0;
}
__attribute__((visibility("default"))) void faults_arm(int kind, std::int64_t n, int error) {
  g_calls = 0;
  g_failing = n;
  g_error = error;
  g_kind = kind;
}
__attribute__((visibility("default"))) std::int64_t faults_disarm() {
  g_kind = kNothing;
  return g_calls;
}
__attribute__((visibility("default"))) void faults_exempt(std::int64_t bytes) {
  g_exempting = bytes;
}
}

// Allocations ------------------------------------------------------------------------------------

#define FBG_EXPORT __attribute__((visibility("default")))
#define FBG_CALLER __builtin_return_address(0)

FBG_EXPORT void* operator new(std::size_t bytes) {
  void* const memory = allocation_fails(FBG_CALLER, bytes)
                           ? nullptr
                           : __libc_malloc(std::max<std::size_t>(bytes, 1));
  if (!memory) throw std::bad_alloc();
  return memory;
}
FBG_EXPORT void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocation_fails(FBG_CALLER, bytes) ? nullptr
                                             : __libc_malloc(std::max<std::size_t>(bytes, 1));
}
FBG_EXPORT void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* const memory = allocation_fails(FBG_CALLER, bytes)
                           ? nullptr
                           : __libc_memalign(static_cast<std::size_t>(alignment), bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}
FBG_EXPORT void* operator new(std::size_t bytes, std::align_val_t alignment,
                              const std::nothrow_t&) noexcept {
  return allocation_fails(FBG_CALLER, bytes)
             ? nullptr
             : __libc_memalign(static_cast<std::size_t>(alignment), bytes);
}

extern "C" {
FBG_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (!allocation_fails(FBG_CALLER, bytes)) return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}
FBG_EXPORT int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  if (allocation_fails(FBG_CALLER, bytes)) return ENOMEM;
  *result = __libc_memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
FBG_EXPORT void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                      off_t offset) {
  if (!allocation_fails(FBG_CALLER, bytes))
    return reinterpret_cast<void*>(
        syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
  errno = ENOMEM;
  return MAP_FAILED;
}

// Files ------------------------------------------------------------------------------------------

FBG_EXPORT ssize_t write(int fd, const void* data, std::size_t bytes) {
  if (is_regular(fd)) {
    if (file_fails()) return -1;
    if (bytes > 1 && is_failing(kShortWrites)) bytes /= 2;
  }
  return syscall(SYS_write, fd, data, bytes);
}
FBG_EXPORT ssize_t pwrite(int fd, const void* data, std::size_t bytes, off_t offset) {
  if (is_regular(fd) && file_fails()) return -1;
  return syscall(SYS_pwrite64, fd, data, bytes, offset);
}
FBG_EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  if (is_regular(fd) && file_fails()) return -1;
  return syscall(SYS_writev, fd, parts, count);
}
FBG_EXPORT ssize_t sendfile(int out, int in, off_t* offset, std::size_t bytes) {
  if (is_regular(out)) {
    if (file_fails()) return -1;
    if (bytes > 1 && is_failing(kShortWrites)) bytes = 1;
  }
  return syscall(SYS_sendfile, out, in, offset, bytes);
}
FBG_EXPORT ssize_t sendfile64(int out, int in, off64_t* offset, std::size_t bytes) {
  return sendfile(out, in, offset, bytes);
}
FBG_EXPORT int fsync(int fd) {
  return is_regular(fd) && file_fails() ? -1 : static_cast<int>(syscall(SYS_fsync, fd));
}
FBG_EXPORT int ftruncate(int fd, off_t bytes) noexcept {
  return is_regular(fd) && file_fails() ? -1 : static_cast<int>(syscall(SYS_ftruncate, fd, bytes));
}
FBG_EXPORT int ftruncate64(int fd, off64_t bytes) noexcept { return ftruncate(fd, bytes); }
FBG_EXPORT int rename(const char* from, const char* to) noexcept {
  return file_fails() ? -1
                      : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
FBG_EXPORT int renameat2(int from_fd, const char* from, int to_fd, const char* to,
                         unsigned flags) noexcept {
  return file_fails() ? -1
                      : static_cast<int>(syscall(SYS_renameat2, from_fd, from, to_fd, to, flags));
}
FBG_EXPORT int mkdir(const char* path, mode_t mode) noexcept {
  return file_fails() ? -1 : static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
FBG_EXPORT int fchmod(int fd, mode_t mode) noexcept {
  return file_fails() ? -1 : static_cast<int>(syscall(SYS_fchmod, fd, mode));
}
FBG_EXPORT int close(int fd) {
  const bool written = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
  const bool fails = written && is_regular(fd) && file_fails();  // closed all the same, as it is
  const int result = static_cast<int>(syscall(SYS_close, fd));
  if (!fails) return result;
  errno = g_error.load();
  return -1;
}
}

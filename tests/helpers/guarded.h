// A buffer next to an inaccessible page, for tests of kernels: a read or write one byte outside it
// faults. By default the buffer ends where the guard begins; Guard::before checks the front
// instead.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace fbg::test {

enum class Guard { before, after };

template <class T>
class Guarded {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Guarded(std::size_t count, Guard side = Guard::after) : count_(count) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (count * sizeof(T) + page - 1) / page * page;
    bytes_ = inner + 2 * page;
    base_ = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    char* first = static_cast<char*>(base_) + page;
    if (inner > 0 && ::mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = reinterpret_cast<T*>(side == Guard::after ? first + inner - count * sizeof(T) : first);
  }
  explicit Guarded(const std::vector<T>& values, Guard side = Guard::after)
      : Guarded(values.size(), side) {
    std::copy(values.begin(), values.end(), data_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { ::munmap(base_, bytes_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
  T* data_ = nullptr;
};

}  // namespace fbg::test

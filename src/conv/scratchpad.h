// The memory of a thread, divided into arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/core/types.h"

namespace fbg {

// Each array begins at a multiple of 64 bytes. A step lays out the memory of its threads in one
// function, which also tells how much they need: if it is given null, the bytes are only counted.
class Scratchpad {
 public:
  explicit Scratchpad(std::byte* begin) : begin_(begin) {}

  template <class T>
  T* take(std::int64_t count) {
    std::byte* const at = begin_ ? begin_ + bytes_ : nullptr;
    bytes_ += round_up(count * static_cast<std::int64_t>(sizeof(T)), 64);
    return reinterpret_cast<T*>(at);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* const begin_;
  std::int64_t bytes_ = 0;
};

}  // namespace fbg

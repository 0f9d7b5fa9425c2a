// The checksum of everything that fbg stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fbg {

// FNV-1a on words of eight bytes, with a shift that lets high bits reach low ones. Each step is a
// bijection, so that one damaged word always shows. Four chains hide the latency of the multiply.
class Checksum {
 public:
  // Pieces of a multiple of 32 bytes; the last may have any length, and counts as if zeros followed
  // up to the next multiple.
  void add(const std::byte* data, std::size_t bytes) {
    const std::size_t whole = bytes - bytes % sizeof lanes_;
    for (std::size_t i = 0; i < whole; i += sizeof lanes_) add_block(data + i);
    if (whole == bytes) return;
    std::byte last[sizeof lanes_] = {};
    std::memcpy(last, data + whole, bytes - whole);
    add_block(last);
  }
  std::uint64_t value() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes_) sum = mix(sum, lane);
    return sum;
  }

 private:
  void add_block(const std::byte* data) {
    std::uint64_t words[4];
    std::memcpy(words, data, sizeof words);
    for (int lane = 0; lane < 4; ++lane) lanes_[lane] = mix(lanes_[lane], words[lane]);
  }
  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3ull;
    return hash ^ hash >> 29;
  }
  std::uint64_t lanes_[4] = {0xcbf29ce484222325ull, 1, 2, 3};
};

}  // namespace fbg

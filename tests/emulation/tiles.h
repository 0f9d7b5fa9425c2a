// The tile registers of AMX in software: what the instructions do, without how they are encoded.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace fbg::emulation {

constexpr int kTiles = 8, kMaxRows = 16, kMaxRowBytes = 64, kConfigBytes = 64;

enum class Product { s8_s8, s8_u8, u8_s8, u8_u8, bf16 };

// The tiles of a thread. Every function returns null, or what the processor would refuse. Memory is
// accessed as the processor does it: exactly the bytes of the configured rows.
class Tiles {
 public:
  const char* configure(const std::byte* config) noexcept;  // ldtilecfg
  void store_config(std::byte* config) const noexcept;      // sttilecfg
  void release() noexcept;                                  // tilerelease
  const char* zero(int tile) noexcept;
  const char* load(int tile, const std::byte* from, std::int64_t stride) noexcept;
  const char* store(int tile, std::byte* to, std::int64_t stride) const noexcept;
  // sums += a * b.
  const char* multiply(Product product, int sums, int a, int b) noexcept;

 private:
  struct Shape {
    int rows = 0, row_bytes = 0;
  };
  template <class A, class B>
  void multiply_bytes(int sums, int a, int b) noexcept;
  void multiply_bf16(int sums, int a, int b) noexcept;
  const char* check(int tile) const noexcept;

  template <class T>
  T* row(int tile, int index) noexcept {
    return reinterpret_cast<T*>(data_[static_cast<std::size_t>(tile)][index]);
  }

  bool configured_ = false;
  std::array<Shape, kTiles> shapes_{};
  alignas(64) std::array<std::byte[kMaxRows][kMaxRowBytes], kTiles> data_{};
};

}  // namespace fbg::emulation

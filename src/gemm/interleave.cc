// See interleave.h. The loops interleave words, which compilers do with vectors.
#include "gemm/interleave.h"

#include <cstring>

namespace fbg {
namespace {

// out[2 i] = x[i], out[2 i + 1] = y[i].
template <class Word>
void interleave(const std::byte* x, const std::byte* y, std::int64_t count,
                std::byte* out) noexcept {
  constexpr std::int64_t kSize = sizeof(Word);
  for (std::int64_t i = 0; i < count; ++i) {
    Word both[2];
    std::memcpy(&both[0], x + i * kSize, sizeof(Word));
    std::memcpy(&both[1], y + i * kSize, sizeof(Word));
    std::memcpy(out + 2 * i * kSize, both, sizeof both);
  }
}

}  // namespace

void interleave_rows(const std::byte* a, std::int64_t lda, std::int64_t rows, std::int64_t bytes,
                     std::int64_t groups, std::byte* out, std::int64_t ld) noexcept {
  constexpr std::int64_t kPair = kGroupPairBytes;
  const std::int64_t whole = bytes / kPair, rest = bytes % kPair;
  for (std::int64_t i = 0; i < rows; i += 2, a += 2 * lda, out += 2 * ld) {
    const bool has_second = i + 1 < rows;
    // A missing row: the first stands for it, and zeros follow.
    const std::byte* const second = has_second ? a + lda : a;
    interleave<std::uint64_t>(a, second, whole, out);
    if (whole * kPair < interleaved_bytes(groups)) {
      std::byte ends[2][kPair] = {};
      std::memcpy(ends[0], a + whole * kPair, static_cast<std::size_t>(rest));
      std::memcpy(ends[1], second + whole * kPair, static_cast<std::size_t>(rest));
      std::memcpy(out + 2 * whole * kPair, ends, sizeof ends);
    }
    if (has_second) continue;
    for (std::int64_t k = 0; k < interleaved_bytes(groups); k += kPair)
      std::memset(out + 2 * k + kPair, 0, kPair);
  }
}

void interleave_columns(const std::byte* panel, std::int64_t group_bytes, std::int64_t columns,
                        std::int64_t groups, std::byte* out) noexcept {
  const std::int64_t out_bytes = columns * kGroupPairBytes;
  std::int64_t g = 0;
  for (; g + 1 < groups; g += 2, panel += 2 * group_bytes, out += out_bytes)
    interleave<std::uint32_t>(panel, panel + group_bytes, columns, out);
  if (g == groups) return;
  std::memset(out, 0, static_cast<std::size_t>(out_bytes));
  for (std::int64_t j = 0; j < columns; ++j)
    std::memcpy(out + j * kGroupPairBytes, panel + j * 4, 4);
}

}  // namespace fbg

// Reads codes of a checkpoint as columns of panels.
#include "gemm/pack_codes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fbg {
namespace {

constexpr std::int64_t kWord = 8;  // codes of a word of 4 bits
constexpr std::uint64_t kSigns = 0x8080808080808080, kHalf = 0x0808080808080808;
constexpr std::size_t kOutputs[kWord] = {0, 2, 4, 6, 1, 3, 5, 7};

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The codes of a word as int8, the lowest bits first: the codes less 8.
std::uint64_t widen(std::uint32_t word) {
  std::uint64_t x = word;
  x = (x | x << 16) & 0x0000ffff0000ffff;
  x = (x | x << 8) & 0x00ff00ff00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
  return ((x | kSigns) - kHalf) ^ kSigns;  // no byte borrows from its neighbour
}

// m[i] becomes the bytes i of all.
void transpose_bytes(std::uint64_t (&m)[kWord]) {
  constexpr std::uint64_t kMasks[] = {0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  for (int stage = 0; stage < 3; ++stage)
    for (int i = 0, width = 1 << stage; i < kWord; ++i) {
      if (i & width) continue;
      const std::uint64_t moved = (m[i] >> 8 * width ^ m[i + width]) & kMasks[stage];
      m[i + width] ^= moved;
      m[i] ^= moved << 8 * width;
    }
}

std::int64_t all_outputs(const std::vector<CodeMatrix>& parts) {
  std::int64_t outputs = 0;
  for (const CodeMatrix& part : parts) outputs += part.outputs;
  return outputs;
}

}  // namespace

CodePacker::CodePacker(GemmType family, std::vector<CodeMatrix> parts, std::int64_t inputs,
                       WeightQuant quant, MatrixView<const float16> scales,
                       std::optional<MatrixView<const float16>> offsets)
    : PanelWriter({family, inputs, all_outputs(parts), !quant.scale.empty(),
                   offsets.has_value() || !quant.zero_point.empty()}),
      parts_(std::move(parts)),
      scales_(scales),
      offsets_(offsets) {
  PackedHeader& h = block_.header;
  h.per_column = !format_.nibbles;
  std::ranges::copy(quant.scale, block_.at<float>(h.scale_offset));
  std::ranges::copy(quant.zero_point, block_.at<std::int32_t>(h.zero_point_offset));
}

void CodePacker::read(Chunk& chunk) noexcept {
  auto part = parts_.begin();
  std::int64_t row = chunk.first;  // of the part
  for (std::int64_t j = 0, count = 1; j < chunk.columns; j += count, row += count) {
    for (; row >= part->outputs; ++part) row -= part->outputs;
    count = std::min(chunk.columns - j, part->outputs - row);
    if (part->form == CodeForm::bytes)
      read_elements(chunk, j, count,
                    part->data + row * part->row_stride + chunk.begin * part->col_stride,
                    part->col_stride, part->row_stride);
    else
      read_words(*part, row, j, count, chunk);
  }
  if (!format_.nibbles) return;
  const std::int64_t first = chunk.begin / format_.kr, groups = ceil_div(chunk.size, format_.kr);
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t j = 0; j < chunk.columns; ++j) {
      const auto at = static_cast<std::size_t>(g), column = static_cast<std::size_t>(j);
      chunk.scale[at][column] = scales_(first + g, chunk.first + j);
      if (offsets_) chunk.offset[at][column] = (*offsets_)(first + g, chunk.first + j);
    }
}

// Reads `count` outputs of words, from `row` of the part on.
void CodePacker::read_words(const CodeMatrix& part, std::int64_t row, std::int64_t j,
                            std::int64_t count, Chunk& chunk) const noexcept {
  const std::int64_t down = part.row_stride, along = part.col_stride;
  auto* const to = chunk.room + j;
  if (part.form == CodeForm::words_of_inputs) {
    for (std::int64_t w = 0; w < ceil_div(chunk.size, kWord); ++w)
      for (std::int64_t i = 0; i < count; ++i) {
        const std::byte* const word =
            part.data + (row + i) * down + (chunk.begin / kWord + w) * along;
        const std::uint64_t codes = widen(load<std::uint32_t>(word));
        std::memcpy(to[i] + w * kWord, &codes, sizeof codes);
      }
    return;
  }
  for (std::int64_t i = 0; i < count; i += kWord)
    for (std::int64_t k = 0; k < chunk.size; k += kWord) {
      std::uint64_t codes[kWord] = {};
      for (std::int64_t r = 0; r < std::min(kWord, chunk.size - k); ++r)
        codes[r] = widen(load<std::uint32_t>(part.data + (row + i) / kWord * down +
                                             (chunk.begin + k + r) * along));
      transpose_bytes(codes);
      for (std::size_t r = 0; r < kWord; ++r)
        std::memcpy(to[i + static_cast<std::int64_t>(kOutputs[r])] + k, codes + r, kWord);
    }
}

}  // namespace fbg

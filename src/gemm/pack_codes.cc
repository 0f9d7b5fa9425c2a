// Packing codes panel by panel; fbg/gemm/pack_b.h draws the layout of a panel.
#include "gemm/pack_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/float16.h"
#include "core/int4.h"
#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "gemm/packed_block.h"

namespace fbg {
namespace {

constexpr std::int64_t kChunk = policy::gemm::kPackedInputs;
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

// The sums of pairs of bytes, of 16 bits each; and the sum of such sums.
std::uint64_t add_bytes(std::uint64_t x) {
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ff;
  return (x & kEven) + (x >> 8 & kEven);
}
std::int64_t add_parts(std::uint64_t x) {
  return static_cast<std::int64_t>(x * 0x0001000100010001 >> 48);
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

}  // namespace

// The codes of 32 outputs. Rows are padded so that they do not compete for the same lines of the
// L1 cache.
struct CodePacker::Chunk {
  alignas(64) std::byte rows[kPanelColumns][kChunk + 64];
  std::array<const std::byte*, kPanelColumns> row;  // of each output: here, or in place
};

CodePacker::CodePacker(GemmType family, std::vector<CodeMatrix> parts, std::int64_t inputs,
                       WeightQuant quant, MatrixView<const float16> scales,
                       std::optional<MatrixView<const float16>> offsets)
    : format_(packed_format(family)), parts_(std::move(parts)), scales_(scales), offsets_(offsets) {
  std::int64_t outputs = 0;
  for (const CodeMatrix& part : parts_) outputs += part.outputs;
  const bool has_offsets = offsets.has_value() || !quant.zero_point.empty();
  block_ = std::make_unique<PackedBlock>(
      lay_out({family, inputs, outputs, !quant.scale.empty(), has_offsets}), Fill::none);
  PackedHeader& h = block_->header;
  h.per_column = !format_.nibbles;
  const std::int64_t panels = ceil_div(outputs, kPanelColumns);
  const std::int64_t bytes = panels * ceil_div(inputs, format_.kr) * format_.b_group(has_offsets);
  std::fill(block_->at<std::byte>(h.panels_offset + bytes), block_->at<std::byte>(h.total_bytes),
            std::byte{});
  std::ranges::copy(quant.scale, block_->at<float>(h.scale_offset));
  std::ranges::copy(quant.zero_point, block_->at<std::int32_t>(h.zero_point_offset));
}

CodePacker::~CodePacker() = default;

void CodePacker::run(int thread_id, int num_threads) noexcept {
  const FloatEnvironment environment;
  const std::int64_t panels = ceil_div(block_->header.n, kPanelColumns);
  for (std::int64_t p = panels * thread_id / num_threads;
       p < panels * (thread_id + 1) / num_threads; ++p)
    pack_panel(p);
}

void CodePacker::pack_panel(std::int64_t panel) noexcept {
  const PackedHeader& h = block_->header;
  const std::int64_t first = panel * kPanelColumns, kr = format_.kr;
  const std::int64_t columns = std::min<std::int64_t>(kPanelColumns, h.n - first);
  const std::int64_t group_bytes = format_.b_group(offsets_.has_value());
  auto* out = block_->at<std::byte>(h.panels_offset) + panel * ceil_div(h.k, kr) * group_bytes;
  const std::int64_t at = h.col_offsets_offset + first * std::int64_t{sizeof(float)};
  Chunk chunk;
  std::memset(chunk.rows, 0, sizeof chunk.rows);
  for (std::size_t j = 0; j < kPanelColumns; ++j) chunk.row[j] = chunk.rows[j];
  for (std::int64_t begin = 0; begin < h.k; begin += kChunk) {
    const std::int64_t size = std::min(kChunk, h.k - begin), groups = ceil_div(size, kr);
    read(first, columns, begin, size, chunk);
    if (format_.nibbles)
      put_nibbles(chunk, first, columns, begin, size, out, block_->at<float>(at));
    else
      put_bytes(chunk, groups, out, block_->at<std::int32_t>(at));
    out += groups * group_bytes;
  }
}

// Points the rows of a chunk to codes [begin, begin + size) of some outputs, with zeros behind them
// up to a whole group, and a whole word.
void CodePacker::read(std::int64_t first, std::int64_t columns, std::int64_t begin,
                      std::int64_t size, Chunk& chunk) const noexcept {
  const std::int64_t whole = round_up(size, std::max<std::int64_t>(format_.kr, kWord));
  auto part = parts_.begin();
  std::int64_t row = first;  // of the part
  for (std::int64_t j = 0, count = 1; j < columns; j += count, row += count) {
    for (; row >= part->outputs; ++part) row -= part->outputs;
    count = std::min(columns - j, part->outputs - row);
    const std::byte* const from = part->data;
    const std::int64_t down = part->row_stride, along = part->col_stride;
    std::byte(*const to)[kChunk + 64] = chunk.rows + j;
    switch (part->form) {
      case CodeForm::bytes:
        for (std::int64_t i = 0; i < count; ++i) {
          const std::byte* const codes = from + (row + i) * down + begin * along;
          const bool in_place = along == 1 && whole == size;
          chunk.row[static_cast<std::size_t>(j + i)] = in_place ? codes : to[i];
          if (along == 1 && !in_place) std::memcpy(to[i], codes, static_cast<std::size_t>(size));
        }
        for (std::int64_t k = 0; along != 1 && k < size; ++k)
          for (std::int64_t i = 0; i < count; ++i)
            to[i][k] = from[(row + i) * down + (begin + k) * along];
        break;
      case CodeForm::words_of_inputs:
        for (std::int64_t w = 0; w < ceil_div(size, kWord); ++w)
          for (std::int64_t i = 0; i < count; ++i) {
            const std::byte* const word = from + (row + i) * down + (begin / kWord + w) * along;
            const std::uint64_t codes = widen(load<std::uint32_t>(word));
            std::memcpy(to[i] + w * kWord, &codes, sizeof codes);
          }
        break;
      case CodeForm::words_of_outputs:
        for (std::int64_t i = 0; i < count; i += kWord)
          for (std::int64_t k = 0; k < size; k += kWord) {
            std::uint64_t codes[kWord] = {};
            for (std::int64_t r = 0; r < std::min(kWord, size - k); ++r)
              codes[r] = widen(
                  load<std::uint32_t>(from + (row + i) / kWord * down + (begin + k + r) * along));
            transpose_bytes(codes);
            for (std::size_t r = 0; r < kWord; ++r)
              std::memcpy(to[i + static_cast<std::int64_t>(kOutputs[r])] + k, codes + r, kWord);
          }
        break;
    }
    for (std::int64_t i = 0; i < count; ++i)
      std::memset(to[i] + size, 0, static_cast<std::size_t>(whole - size));
  }
}

void CodePacker::put_bytes(const Chunk& chunk, std::int64_t groups, std::byte* out,
                           std::int32_t* sums) const noexcept {
  constexpr std::int64_t kBlock = 8;  // words of a line of the cache
  const std::int64_t words = ceil_div(groups, std::int64_t{2}), group_bytes = format_.b_group();
  for (std::int64_t first = 0; first < words; first += kBlock)
    for (std::int64_t j = 0; j < kPanelColumns; ++j) {
      const std::int64_t end = std::min(words, first + kBlock);
      const std::byte* const codes = chunk.row[static_cast<std::size_t>(j)];
      std::byte* const to = out + j * format_.b_column_group();
      std::uint64_t sum = 0;  // of codes plus 128, in 4 parts
      for (std::int64_t w = first; w < end; ++w) {
        const auto word = load<std::uint64_t>(codes + w * kWord), high = word >> 32;
        std::memcpy(to + 2 * w * group_bytes, &word, 4);
        if (2 * w + 1 < groups) std::memcpy(to + (2 * w + 1) * group_bytes, &high, 4);
        sum += add_bytes(word ^ kSigns);
      }
      sums[j] += static_cast<std::int32_t>(add_parts(sum) - 128 * kWord * (end - first));
    }
}

void CodePacker::put_nibbles(const Chunk& chunk, std::int64_t first, std::int64_t columns,
                             std::int64_t begin, std::int64_t size, std::byte* out,
                             float* weighted) const noexcept {
  constexpr std::uint64_t kNibbles = 0x0f0f0f0f0f0f0f0f;
  const std::int64_t kr = format_.kr;
  for (std::int64_t at = 0; at < size; at += kr, out += format_.b_group(offsets_.has_value())) {
    const std::int64_t group = (begin + at) / kr, used = std::min(kr, size - at);
    for (std::int64_t j = 0; j < kPanelColumns; ++j) {
      std::uint64_t sums = 0;  // of codes plus 8: at most 16 of each byte
      for (std::int64_t k = 0; k < kr; k += kWord) {
        const auto codes =
            load<std::uint64_t>(chunk.row[static_cast<std::size_t>(j)] + at + k) & kNibbles;
        sums += codes ^ kHalf;
        const auto word = static_cast<std::uint32_t>(codes | codes >> 28);
        std::memcpy(out + int4_byte(j, k), &word, sizeof word);
      }
      const std::int64_t sum = add_parts(add_bytes(sums)) - 8 * kr;
      const bool is_weight = j < columns;
      const float16 scale = is_weight ? scales_(group, first + j) : float16{};
      put_int4_scale(out, j, kr, scale);
      weighted[j] = std::fma(to_float(scale), static_cast<float>(sum), weighted[j]);
      if (!offsets_) continue;
      const float16 offset = is_weight ? (*offsets_)(group, first + j) : float16{};
      put_int4_offset(out, j, kr, offset);
      weighted[j] = std::fma(to_float(offset), static_cast<float>(used), weighted[j]);
    }
  }
}

PackedMatrix CodePacker::finish(bool checksum) {
  const std::int64_t bytes = block_->header.total_bytes;
  return PackedMatrix::from_bytes(block_->finish(checksum), bytes, false);
}

}  // namespace fbg

// See panel_writer.h.
#include "gemm/panel_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/float16.h"
#include "core/int4.h"
#include "fbg/core/float_environment.h"

namespace fbg {
namespace {

// Writes `groups` k-groups of all columns: [groups][32][kr].
template <std::int64_t kBytes>
void interleave(const std::array<const std::byte*, kPanelColumns>& columns, std::int64_t groups,
                std::byte* out) {
  constexpr std::int64_t kBlock = 16;
  constexpr std::int64_t kStride = kPanelColumns * kBytes;
  for (std::int64_t g = 0; g < groups; g += kBlock) {
    const std::int64_t count = std::min(kBlock, groups - g);
    for (std::size_t j = 0; j < kPanelColumns; ++j) {
      const std::byte* const from = columns[j] + g * kBytes;
      std::byte* const to = out + g * kStride + static_cast<std::int64_t>(j) * kBytes;
      if (count == kBlock)
        for (std::int64_t i = 0; i < kBlock; ++i)
          std::memcpy(to + i * kStride, from + i * kBytes, kBytes);
      else
        for (std::int64_t i = 0; i < count; ++i)
          std::memcpy(to + i * kStride, from + i * kBytes, kBytes);
    }
  }
}

}  // namespace

PanelWriter::PanelWriter(const BlockShape& shape)
    : format_(packed_format(shape.gemm_type)), block_(lay_out(shape), Fill::none) {
  const PackedHeader& h = block_.header;
  const std::int64_t panels =
      ceil_div(h.n, kPanelColumns) * ceil_div(h.k, format_.kr) * format_.b_group(h.has_zero_point);
  std::fill(block_.at<std::byte>(h.panels_offset + panels), block_.at<std::byte>(h.total_bytes),
            std::byte{});
}

void PanelWriter::run(int thread_id, int num_threads) noexcept {
  const FloatEnvironment environment;
  const PackedHeader& h = block_.header;
  const std::int64_t panels = ceil_div(h.n, kPanelColumns), kr = format_.kr;
  const std::int64_t group_bytes = format_.b_group(h.has_zero_point);
  Chunk chunk;
  for (std::int64_t p = panels * thread_id / num_threads;
       p < panels * (thread_id + 1) / num_threads; ++p) {
    chunk.first = p * kPanelColumns;
    chunk.columns = std::min<std::int64_t>(kPanelColumns, h.n - chunk.first);
    chunk.scale = chunk.offset = {};
    std::memset(chunk.room[chunk.columns], 0,
                static_cast<std::size_t>(kPanelColumns - chunk.columns) * sizeof chunk.room[0]);
    auto* out = block_.at<std::byte>(h.panels_offset) + p * ceil_div(h.k, kr) * group_bytes;
    chunk.begin = 0;
    do {  // once without any k, too: scales are read with the first chunk
      chunk.size = std::min(Chunk::kDepth, h.k - chunk.begin);
      for (std::size_t j = 0; j < kPanelColumns; ++j) chunk.column[j] = chunk.room[j];
      read(chunk);
      const std::int64_t used = chunk.size * format_.b_bytes;
      const std::int64_t whole = round_up(chunk.size, kr) * format_.b_bytes;
      for (std::int64_t j = 0; used < whole && j < chunk.columns; ++j)
        std::memset(chunk.room[j] + used, 0, static_cast<std::size_t>(whole - used));
      format_.nibbles ? write_nibbles(chunk, out) : write(chunk, out);
      out += ceil_div(chunk.size, kr) * group_bytes;
      chunk.begin += Chunk::kDepth;
    } while (chunk.begin < h.k);
  }
}

PackedMatrix PanelWriter::finish(bool checksum) {
  const std::int64_t bytes = block_.header.total_bytes;
  return PackedMatrix::from_bytes(block_.finish(checksum), bytes, false);
}

void PanelWriter::read_elements(Chunk& chunk, std::int64_t j, std::int64_t count,
                                const std::byte* from, std::int64_t down,
                                std::int64_t along) const noexcept {
  if (down == format_.b_bytes) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::byte* const column = from + i * along;
      if (chunk.size % format_.kr == 0)
        chunk.column[static_cast<std::size_t>(j + i)] = column;
      else
        std::memcpy(chunk.room[j + i], column, static_cast<std::size_t>(chunk.size * down));
    }
    return;
  }
  with_constant(format_.b_bytes, [&](auto size) {
    for (std::int64_t k = 0; k < chunk.size; ++k)
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(chunk.room[j + i] + k * size, from + k * down + i * along, size);
  });
}

// Writes the k-groups of a chunk, and adds their values to the column offsets of integers.
void PanelWriter::write(const Chunk& chunk, std::byte* out) noexcept {
  const PackedHeader& h = block_.header;
  const std::int64_t groups = ceil_div(chunk.size, format_.kr);
  with_constant(format_.b_column_group(),
                [&](auto bytes) { interleave<bytes>(chunk.column, groups, out); });
  if (!is_integer(h.gemm_type)) return;
  auto* const sums = block_.at<std::int32_t>(h.col_offsets_offset) + chunk.first;
  for (std::size_t j = 0; j < kPanelColumns; ++j) {
    const auto* const q = reinterpret_cast<const std::int8_t*>(chunk.column[j]);
    sums[j] = std::accumulate(q, q + groups * format_.kr, sums[j]);
  }
}

// Writes the values, scales and offsets of groups of 4-bit weights, and adds what they are to the
// weighted offsets.
void PanelWriter::write_nibbles(const Chunk& chunk, std::byte* out) noexcept {
  constexpr std::int64_t kWord = PackedFormat::kNibbleDepth;
  constexpr std::uint64_t kNibbles = 0x0f0f0f0f0f0f0f0f, kHalf = 0x0808080808080808,
                          kEven = 0x00ff00ff00ff00ff, kAdd = 0x0001000100010001;
  const PackedHeader& h = block_.header;
  const bool has_offsets = h.has_zero_point;
  const std::int64_t kr = format_.kr;
  auto* const weighted = block_.at<float>(h.col_offsets_offset) + chunk.first;
  for (std::int64_t at = 0; at < chunk.size; at += kr, out += format_.b_group(has_offsets)) {
    const auto group = static_cast<std::size_t>(at / kr);
    const std::int64_t used = std::min(kr, chunk.size - at);
    for (std::size_t j = 0; j < kPanelColumns; ++j) {
      const auto column = static_cast<std::int64_t>(j);
      std::uint64_t sums = 0;  // of values plus 8: at most 16 of each byte
      for (std::int64_t k = 0; k < kr; k += kWord) {
        std::uint64_t values;
        std::memcpy(&values, chunk.column[j] + at + k, sizeof values);
        values &= kNibbles;
        sums += values ^ kHalf;
        const auto word = static_cast<std::uint32_t>(values | values >> 28);
        std::memcpy(out + int4_byte(column, k), &word, sizeof word);
      }
      sums = ((sums & kEven) + (sums >> 8 & kEven)) * kAdd >> 48;
      const auto sum = static_cast<float>(static_cast<std::int64_t>(sums) - 8 * kr);
      put_int4_scale(out, column, kr, chunk.scale[group][j]);
      weighted[j] = std::fma(to_float(chunk.scale[group][j]), sum, weighted[j]);
      if (!has_offsets) continue;
      put_int4_offset(out, column, kr, chunk.offset[group][j]);
      weighted[j] =
          std::fma(to_float(chunk.offset[group][j]), static_cast<float>(used), weighted[j]);
    }
  }
}

}  // namespace fbg

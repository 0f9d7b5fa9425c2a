// See packing.h.
#include "gemm/packing.h"

#include <algorithm>
#include <cstring>

#include "fbg/core/phase.h"
#include "gemm/interleave.h"

namespace fbg {

Packing::Space Packing::lay_out(WorkspaceLayout& layout) const {
  Space space{};
  space.block.features = features;
  space.block.ld = ld;
  layout.place(space.block.scale, rows * 4);
  layout.place(space.block.zero_point, rows * 4);
  if (row_offsets) layout.place(space.block.row_offsets, rows * 4);
  std::byte* packed = nullptr;
  layout.place(packed, rows * ld);
  space.block.packed = packed;
  if (wide.wide_a) layout.place(space.wide, rows * 2 * ld);
  if (interleaved_rows > 0) layout.place(space.interleaved, round_up(rows, 2) * ld);
  layout.place(space.tail, rows * group_bytes());
  if (group_sums) layout.place(space.group_sums, groups * rows * 4);
  return space;
}

// Whether kernels should read a matrix in place as far as its alignment is concerned. A matrix unit
// loads 64 bytes of a row at a time, and takes twice as long if they are in two cache lines.
bool Packing::is_aligned(const std::byte* data, std::int64_t ld_bytes) const noexcept {
  const std::int64_t line = block_groups * group_bytes();
  return block_groups == 1 ||
         (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data)) | ld_bytes) % line == 0;
}

RowPlaces Packing::pack(const RowSource& a, Range block_rows, const Space& space) const noexcept {
  const PhaseTimer timer(Phase::pack);
  const std::int64_t count = block_rows.size();
  ABlock block = space.block;
  a.prepare(a.packer, block_rows, block);
  const bool in_place = a.in_place && is_aligned(a.in_place, a.in_place_ld);
  if (!in_place) a.pack(a.packer, block_rows, block);
  const std::byte* const data = in_place ? a.in_place + block_rows.begin * a.in_place_ld
                                         : static_cast<const std::byte*>(block.packed);
  const std::int64_t from_ld = in_place ? a.in_place_ld : block.ld;
  // Kernels multiply zero points of B by K * zA_i - (sum of row i of A), which takes the place of
  // the row offset.
  if (block.row_offsets)
    for (std::int64_t i = 0; i < count; ++i)
      block.row_offsets[i] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(block.zero_point[i]) -
          static_cast<std::uint32_t>(block.row_offsets[i]));

  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(data);
  if (group_sums) sum_groups(bytes, from_ld, count, k, format.kr, space.group_sums, rows, features);

  RowPlaces places;
  if (wide.wide_a) {
    if (format.a_bytes == 1)
      widen_rows(bytes, from_ld, count, k, space.wide, 2 * ld, features);
    else
      widen_rows(reinterpret_cast<const bfloat16*>(data), from_ld / 2, count, k, space.wide, 2 * ld,
                 features);
    places.add({space.wide, 2 * ld, nullptr, panel_bytes, groups});
    return places;
  }
  if (interleaved_rows > 0 && count > interleaved_rows) {
    interleave_rows(data, from_ld, count, k * format.a_bytes, groups, space.interleaved, ld);
    places.interleaved = true;
    places.add({space.interleaved, 2 * ld, nullptr, panel_bytes, groups});
    return places;
  }
  const std::int64_t whole = k / format.kr, rest = k - whole * format.kr;
  if (!in_place) {
    // A matrix unit takes whole blocks of each pair, and must find the same ones wherever A is.
    const bool apart = block_groups > 1 && rest;
    places.add({data, from_ld, nullptr, panel_bytes, apart ? whole : groups});
    if (apart) places.add({data + whole * group_bytes(), from_ld, nullptr, panel_bytes, 1});
    return places;
  }

  places.add({data, from_ld, nullptr, panel_bytes, whole});
  if (!rest) return places;
  // Kernels would read the last group past the end of the row: it is copied and padded with zeros.
  std::memset(space.tail, 0, static_cast<std::size_t>(count * group_bytes()));
  for (std::int64_t r = 0; r < count; ++r)
    std::memcpy(space.tail + r * group_bytes(), data + r * from_ld + whole * group_bytes(),
                static_cast<std::size_t>(rest * format.a_bytes));
  places.add({space.tail, group_bytes(), nullptr, panel_bytes, 1});
  return places;
}

RowPlaces Packing::part(const RowPlaces& whole, Range range) const noexcept {
  RowPlaces part;
  part.interleaved = whole.interleaved;
  std::int64_t begin = 0;  // start of the pair
  for (const BlockPair& pair : whole.blocks()) {
    const std::int64_t from = std::max(range.begin, begin);
    const std::int64_t to = std::min(range.end, begin + pair.groups);
    if (from < to) {
      BlockPair own = pair;
      own.a = static_cast<const std::byte*>(pair.a) +
              (from - begin) * (whole.interleaved ? 2 : 1) * group_bytes();
      own.groups = to - from;
      part.add(own);
    }
    begin += pair.groups;
  }
  return part;
}

}  // namespace fbg

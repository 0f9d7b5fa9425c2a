// Layout, checksum and validation of packed blocks.
#include "gemm/packed_block.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "core/checksum.h"
#include "core/memory.h"

namespace fbg {
namespace {

std::atomic<std::int64_t> g_pack_count{0};

// The layout of a block with that header; the header in memory is not read.
std::uint64_t checksum_of(PackedHeader header, const std::byte* block) {
  header.checksum = 0;
  Checksum checksum;
  checksum.add(reinterpret_cast<const std::byte*>(&header), sizeof header);
  checksum.add(block + sizeof header, static_cast<std::size_t>(header.total_bytes) - sizeof header);
  return checksum.value();
}

[[noreturn]] void refuse(const std::string& reason) {
  throw std::invalid_argument("PackedB: " + reason);
}

void require(bool condition, const char* reason) {
  if (!condition) refuse(reason);
}

bool is_flag(std::uint8_t value) { return value <= 1; }

// Scales and zero points must be such as packing admits. N says how many there are only where the
// block has them: without rows, a block of floats has no section that N would have to fit in.
void check_parameters(const PackedHeader& h, const std::byte* block) {
  const std::int64_t columns = std::max<std::int64_t>(h.n, 1);
  const auto* scale = reinterpret_cast<const float*>(block + h.scale_offset);
  const auto* zero_point = reinterpret_cast<const std::int32_t*>(block + h.zero_point_offset);
  for (std::int64_t j = 0; h.scale_offset && j < columns; ++j)
    if (!(std::isfinite(scale[j]) && scale[j] > 0))
      refuse("scale " + std::to_string(j) + " is not finite and positive");
  for (std::int64_t j = 0; h.zero_point_offset && j < columns; ++j)
    if (zero_point[j] < -128 || zero_point[j] > 127)
      refuse("zero point " + std::to_string(j) + " is outside [-128, 127]");
}

// Column pointers that ascend from 0 to the number of outliers, and rows that ascend within K.
void check_outliers(const PackedHeader& h, const Outliers& outliers) {
  require(outliers.indptr.front() == 0 && outliers.indptr.back() == h.num_outliers &&
              std::ranges::is_sorted(outliers.indptr),
          "the column pointers of the outliers do not ascend to their number");
  for (std::int64_t j = 0; j < h.n; ++j)
    for (std::int64_t p = outliers.indptr[j], least = 0; p < outliers.indptr[j + 1]; ++p) {
      const std::int64_t row = outliers.rows[p];
      require(row >= least && row < h.k, "the rows of the outliers do not ascend within K");
      least = row + 1;
    }
}

// Column pointers and rows lead nowhere outside, and every spill is preceded by a step.
void check_int16(const PackedMatrix& b) {
  const PackedHeader& h = b.header();
  check_outliers(h, b.outliers());
  for (std::int64_t p = 0; p < b.num_panels(); ++p)
    require(b.spill_groups()[p] >= 1, "a spill depth is not positive");
}

}  // namespace

std::int64_t pack_b_count() noexcept { return g_pack_count.load(std::memory_order_relaxed); }

OutlierLayout OutlierLayout::of(std::int64_t offset, std::int64_t n, std::int64_t num_outliers) {
  const std::int64_t rows = offset + round_up((n + 1) * 8, 64);
  const std::int64_t values = rows + round_up(num_outliers * 4, 64);
  return {offset, rows, values, values + round_up(num_outliers, 64)};
}

PackedHeader lay_out(const BlockShape& s) {
  PackedHeader h;
  h.gemm_type = s.gemm_type;
  const PackedFormat format = packed_format(s.gemm_type);
  h.kr = static_cast<std::uint8_t>(format.kr);
  if (format.nibbles) h.group_size = static_cast<std::uint32_t>(format.kr);
  h.k = s.k;
  h.n = s.n;
  h.has_scale = s.scale;
  h.has_zero_point = s.zero_point;
  for (const std::int64_t size : {s.k, s.n, s.num_outliers})
    checked_bytes(static_cast<std::size_t>(size), 1);
  const std::int64_t columns = round_up(s.n, kPanelColumns);
  // The k-groups of all panels: refused where their bytes cannot be counted.
  const std::size_t panel_bytes =
      checked_bytes(static_cast<std::size_t>(ceil_div(s.k, format.kr)),
                    checked_bytes(static_cast<std::size_t>(columns / kPanelColumns),
                                  static_cast<std::size_t>(format.b_group(s.zero_point))));
  // Without a column there still is the parameter of the tensor.
  const std::size_t column_bytes =
      checked_bytes(static_cast<std::size_t>(std::max<std::int64_t>(columns, kPanelColumns)), 4);
  std::int64_t offset = sizeof(PackedHeader);
  const auto place = [&offset](std::size_t bytes) {
    const std::int64_t at = offset;
    const std::int64_t size = round_up(static_cast<std::int64_t>(bytes), 64);
    offset = static_cast<std::int64_t>(
        checked_bytes(static_cast<std::size_t>(offset) + static_cast<std::size_t>(size), 1));
    return at;
  };
  h.panels_offset = place(panel_bytes);
  if (s.scale) h.scale_offset = place(column_bytes);
  if (s.zero_point && !format.nibbles) h.zero_point_offset = place(column_bytes);
  if (reads_bytes(s.gemm_type)) h.col_offsets_offset = place(column_bytes);
  if (s.gemm_type == GemmType::int16) {
    h.num_outliers = s.num_outliers;
    h.spill_offset = place(column_bytes / kPanelColumns);
    // Per outlier 5 bytes and per column 8, counted generously for the padding.
    checked_bytes(static_cast<std::size_t>(s.num_outliers), 8);
    checked_bytes(static_cast<std::size_t>(columns) + kPanelColumns, 16);
    h.outliers_offset = offset;
    place(static_cast<std::size_t>(OutlierLayout::of(offset, s.n, s.num_outliers).end - offset));
  }
  h.total_bytes = offset;
  return h;
}

PackedBlock::PackedBlock(const PackedHeader& h, Fill fill)
    : buffer(std::make_shared<AlignedBuffer>(static_cast<std::size_t>(h.total_bytes), fill)),
      header(h) {}

std::shared_ptr<const std::byte> PackedBlock::finish(bool checksum) {
  header.checksum = checksum ? checksum_of(header, buffer->data()) : 0;
  std::memcpy(buffer->data(), &header, sizeof header);
  g_pack_count.fetch_add(1, std::memory_order_relaxed);
  return {buffer, buffer->data()};
}

PackedHeader packed_header(const std::byte* data, std::int64_t size) {
  PackedHeader h;
  const PackedHeader expected;
  require(size >= static_cast<std::int64_t>(sizeof h), "the block is shorter than its header");
  std::memcpy(&h, data, sizeof h);
  require(std::equal(h.magic, h.magic + sizeof h.magic, expected.magic),
          "the block does not begin with FBGPACKB");
  if (h.version > kPackedVersion)
    refuse("format version " + std::to_string(h.version) + " is newer than version " +
           std::to_string(kPackedVersion) + ", the newest that this fbg reads");
  require(h.version == kPackedVersion, "unknown format version 0");
  require(static_cast<std::size_t>(h.gemm_type) < kWeightFormats.size(), "unknown accumulator");
  return h;
}

PackedMatrix PackedMatrix::from_bytes(std::shared_ptr<const std::byte> data, std::int64_t size,
                                      bool verify, std::optional<GemmType> wanted) {
  const PackedHeader h = packed_header(data.get(), size);
  require(h.gemm_type == wanted.value_or(h.gemm_type), "the block is of another accumulator");
  require(h.total_bytes == size, "the block has another size than its header says");
  require(reinterpret_cast<std::uintptr_t>(data.get()) % kCacheLine == 0,
          "the block is not aligned to 64 bytes");
  // The layout follows from a few fields. All others must agree with it, those that this version
  // leaves at 0 included.
  constexpr std::int64_t kLargest = std::int64_t{1} << 48;
  require(h.k >= 0 && h.n >= 0 && h.k <= kLargest && h.n <= kLargest, "impossible K or N");
  require(h.num_outliers >= 0 && h.num_outliers <= kLargest, "an impossible number of outliers");
  require(is_flag(h.has_scale) && is_flag(h.has_zero_point) && is_flag(h.per_column),
          "a flag of the header is neither 0 nor 1");
  PackedHeader expected;
  try {
    expected =
        lay_out({h.gemm_type, h.k, h.n, h.has_scale != 0, h.has_zero_point != 0, h.num_outliers});
  } catch (const std::length_error&) {
    refuse("K and N do not fit in the block");
  }
  expected.per_column = h.per_column;
  expected.checksum = h.checksum;
  require(std::memcmp(&h, &expected, sizeof h) == 0,
          "K, N, sizes and offsets of the header contradict each other");
  if (verify) require(checksum_of(h, data.get()) == h.checksum, "the checksum does not match");
  check_parameters(h, data.get());
  const PackedMatrix b(std::move(data));
  if (h.gemm_type == GemmType::int16) check_int16(b);
  return b;
}

Outliers PackedMatrix::outliers() const noexcept {
  const PackedHeader& h = header();
  const auto at = OutlierLayout::of(h.outliers_offset, h.n, h.num_outliers);
  const auto count = static_cast<std::size_t>(h.num_outliers);
  return {{section<std::int64_t>(at.indptr), static_cast<std::size_t>(h.n) + 1},
          {section<std::int32_t>(at.rows), count},
          {section<std::int8_t>(at.values), count}};
}

PackedMatrix PackedMatrix::clone() const {
  auto buffer = std::make_shared<AlignedBuffer>(bytes().size());
  std::ranges::copy(bytes(), buffer->data());
  return PackedMatrix({buffer, buffer->data()});
}

}  // namespace fbg

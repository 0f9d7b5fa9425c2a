// Packing B into panels: the only place that writes the layout drawn in fbg/pack_b.h.
#include "fbg/pack_b.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/float16.h"
#include "core/memory.h"
#include "fbg/gemm.h"

namespace fbg {
namespace {

std::atomic<std::int64_t> g_pack_count{0};

// FNV-1a on words of eight bytes, with a shift that lets high bits reach low ones. Each step is a
// bijection, so that one damaged word always shows. Four chains hide the latency of the multiply.
class Checksum {
 public:
  // `bytes` is a multiple of 32: header and sections are padded to 64.
  void add(const std::byte* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += sizeof lanes_) {
      std::uint64_t words[4];
      std::memcpy(words, data + i, sizeof words);
      for (int lane = 0; lane < 4; ++lane) lanes_[lane] = mix(lanes_[lane], words[lane]);
    }
  }
  std::uint64_t value() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes_) sum = mix(sum, lane);
    return sum;
  }

 private:
  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3ull;
    return hash ^ hash >> 29;
  }
  std::uint64_t lanes_[4] = {0xcbf29ce484222325ull, 1, 2, 3};
};

// Of a block with that header; whatever stands in its place in memory is not read.
std::uint64_t checksum_of(PackedHeader header, const std::byte* block) {
  header.checksum = 0;
  Checksum checksum;
  checksum.add(reinterpret_cast<const std::byte*>(&header), sizeof header);
  checksum.add(block + sizeof header, static_cast<std::size_t>(header.total_bytes) - sizeof header);
  return checksum.value();
}

// Adding and taking away 1.5 * 2^23 leaves a float rounded half to even; |x| stays below 2^22 here.
float round_half_even(float x) {
  constexpr float kMagic = 12582912.0f;
  return (x + kMagic) - kMagic;
}

template <class Acc>
PackedHeader lay_out(std::int64_t k, std::int64_t n, bool scale, bool zero_point,
                     bool col_offsets) {
  PackedHeader h;
  h.accumulator = Acc::kind;
  h.kr = Acc::kr;
  h.k = k;
  h.n = n;
  h.has_scale = scale;
  h.has_zero_point = zero_point;
  for (const std::int64_t size : {k, n}) checked_bytes(static_cast<std::size_t>(size), 1);
  const std::int64_t columns = round_up(n, kPanelColumns);
  const std::int64_t element = sizeof(typename Acc::B);
  // K rounded up to k-groups, times padded columns: refused where it cannot be counted.
  const std::size_t panel_bytes =
      checked_bytes(static_cast<std::size_t>(round_up(k, Acc::kr)),
                    checked_bytes(static_cast<std::size_t>(columns), element));
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
  if (scale) h.scale_offset = place(column_bytes);
  if (zero_point) h.zero_point_offset = place(column_bytes);
  if (col_offsets) h.col_offsets_offset = place(column_bytes);
  h.total_bytes = offset;
  return h;
}

// Writes every panel; element(k, column) is called once per element, in the order of the source
// rows.
template <class Acc, class F>
void write_panels(std::byte* panels, std::int64_t k, std::int64_t n, F element) {
  using B = typename Acc::B;
  constexpr std::int64_t kGroup = kPanelColumns * Acc::kr;
  const std::int64_t groups = ceil_div(k, Acc::kr);
  auto* out = reinterpret_cast<B*>(panels);
  for (std::int64_t first = 0; first < n; first += kPanelColumns, out += groups * kGroup) {
    const std::int64_t columns = std::min<std::int64_t>(kPanelColumns, n - first);
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t depth = std::min<std::int64_t>(Acc::kr, k - g * Acc::kr);
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t r = 0; r < depth; ++r)
          out[g * kGroup + j * Acc::kr + r] = element(g * Acc::kr + r, first + j);
    }
  }
}

struct Storage {
  std::shared_ptr<AlignedBuffer> buffer;
  PackedHeader header;
  template <class T>
  T* at(std::int64_t offset) {
    return reinterpret_cast<T*>(buffer->data() + offset);
  }
  explicit Storage(const PackedHeader& h)
      : buffer(
            std::make_shared<AlignedBuffer>(static_cast<std::size_t>(h.total_bytes), Fill::zero)),
        header(h) {}
  // The header goes in last, over finished sections.
  std::shared_ptr<const std::byte> finish() {
    header.checksum = checksum_of(header, buffer->data());
    std::memcpy(buffer->data(), &header, sizeof header);
    g_pack_count.fetch_add(1, std::memory_order_relaxed);
    return {buffer, buffer->data()};
  }
};

template <class Acc>
void fill_col_offsets(Storage& s) {
  if constexpr (is_integer(Acc::kind)) {
    const PackedHeader& h = s.header;
    constexpr std::int64_t kGroup = kPanelColumns * Acc::kr;
    const std::int64_t groups = ceil_div(h.k, Acc::kr);
    const auto* panel = s.at<std::int8_t>(h.panels_offset);
    auto* sums = s.at<std::int32_t>(h.col_offsets_offset);
    for (std::int64_t first = 0; first < h.n; first += kPanelColumns, sums += kPanelColumns)
      for (std::int64_t g = 0; g < groups; ++g, panel += kGroup)
        for (std::int64_t j = 0; j < kPanelColumns; ++j)
          sums[j] += panel[4 * j] + panel[4 * j + 1] + panel[4 * j + 2] + panel[4 * j + 3];
  }
}

[[noreturn]] void refuse(const std::string& reason) {
  throw std::invalid_argument("PackedB: " + reason);
}

void require(bool condition, const char* reason) {
  if (!condition) refuse(reason);
}

bool is_flag(std::uint8_t value) { return value <= 1; }

// Scales and zero points must be such as packing admits.
void check_parameters(const PackedHeader& h, const std::byte* block) {
  const std::int64_t columns = std::max<std::int64_t>(h.n, 1);
  const auto* scale = reinterpret_cast<const float*>(block + h.scale_offset);
  const auto* zero_point = reinterpret_cast<const std::int32_t*>(block + h.zero_point_offset);
  for (std::int64_t j = 0; j < columns; ++j) {
    if (h.scale_offset && !(std::isfinite(scale[j]) && scale[j] > 0))
      refuse("scale " + std::to_string(j) + " is not finite and positive");
    if (h.zero_point_offset && (zero_point[j] < -128 || zero_point[j] > 127))
      refuse("zero point " + std::to_string(j) + " is outside [-128, 127]");
  }
}

struct ColumnRange {
  std::vector<float> lo, hi;
};

ColumnRange column_ranges(const MatrixView<const float>& w, Granularity granularity) {
  ColumnRange r{std::vector<float>(static_cast<std::size_t>(w.cols), 0.0f),
                std::vector<float>(static_cast<std::size_t>(w.cols), 0.0f)};
  const auto widen = [&](std::int64_t j, float x) {
    r.lo[j] = std::min(r.lo[j], x);
    r.hi[j] = std::max(r.hi[j], x);
  };
  if (w.row_stride == 1) {  // stored by columns, as torch keeps (N, K)
    for (std::int64_t j = 0; j < w.cols; ++j)
      for (std::int64_t k = 0; k < w.rows; ++k) widen(j, w(k, j));
  } else {
    for (std::int64_t k = 0; k < w.rows; ++k)
      for (std::int64_t j = 0; j < w.cols; ++j) widen(j, w(k, j));
  }
  if (granularity == Granularity::tensor && w.cols > 0) {
    std::fill(r.lo.begin(), r.lo.end(), *std::min_element(r.lo.begin(), r.lo.end()));
    std::fill(r.hi.begin(), r.hi.end(), *std::max_element(r.hi.begin(), r.hi.end()));
  }
  return r;
}

}  // namespace

std::int64_t pack_b_count() noexcept { return g_pack_count.load(std::memory_order_relaxed); }

template <class Acc>
PackedB<Acc> PackedB<Acc>::pack(MatrixView<const Element> w, WeightQuant quant) {
  constexpr bool integer = is_integer(Acc::kind);
  const bool zero_points = std::any_of(quant.zero_point.begin(), quant.zero_point.end(),
                                       [](std::int32_t z) { return z != 0; });
  Storage s(lay_out<Acc>(w.rows, w.cols, !quant.scale.empty(), zero_points, integer));
  s.header.per_column = quant.scale.size() > 1 || quant.granularity == Granularity::column;
  write_panels<Acc>(s.at<std::byte>(s.header.panels_offset), w.rows, w.cols,
                    [&](std::int64_t k, std::int64_t j) { return w(k, j); });
  const auto spread = [&](auto* out, auto values) {
    for (std::int64_t j = 0; j < std::max<std::int64_t>(w.cols, 1); ++j)
      out[j] = values[values.size() == 1 ? 0 : j];
  };
  if (!quant.scale.empty()) spread(s.at<float>(s.header.scale_offset), quant.scale);
  if (zero_points) spread(s.at<std::int32_t>(s.header.zero_point_offset), quant.zero_point);
  if (integer) fill_col_offsets<Acc>(s);
  PackedB b;
  b.data_ = s.finish();
  return b;
}

template <class Acc>
PackedB<Acc> PackedB<Acc>::convert(MatrixView<const float> w) {
  if constexpr (is_integer(Acc::kind)) {
    return quantize(w, Granularity::column, true);
  } else {
    Storage s(lay_out<Acc>(w.rows, w.cols, false, false, false));
    write_panels<Acc>(s.template at<std::byte>(s.header.panels_offset), w.rows, w.cols,
                      [&](std::int64_t k, std::int64_t j) { return from_float<Element>(w(k, j)); });
    PackedB b;
    b.data_ = s.finish();
    return b;
  }
}

template <class Acc>
PackedB<Acc> PackedB<Acc>::quantize(MatrixView<const float> w, Granularity granularity,
                                    bool symmetric) {
  if constexpr (!is_integer(Acc::kind)) {
    return convert(w);
  } else {
    const FloatEnvironment environment;
    const ColumnRange range = column_ranges(w, granularity);
    Storage s(lay_out<Acc>(w.rows, w.cols, true, !symmetric, true));
    s.header.per_column = granularity == Granularity::column;
    auto* scale = s.template at<float>(s.header.scale_offset);
    scale[0] = 1.0f;
    std::vector<float> zero(static_cast<std::size_t>(w.cols), 0.0f);
    const float lowest = symmetric ? -127.0f : -128.0f;
    for (std::int64_t j = 0; j < w.cols; ++j) {
      const float lo = range.lo[j], hi = range.hi[j];
      // Halved before they are subtracted: hi - lo may not fit in a float.
      const float span = symmetric ? std::max(-lo, hi) / 127.0f : hi / 255.0f - lo / 255.0f;
      const bool usable = span >= 1.17549435e-38f;  // smallest normal: w / span stays finite
      scale[j] = usable ? span : 1.0f;
      if (!symmetric) {
        zero[j] = round_half_even(std::clamp(-128.0f - lo / scale[j], -128.0f, 127.0f));
        s.template at<std::int32_t>(s.header.zero_point_offset)[j] =
            static_cast<std::int32_t>(zero[j]);
      }
    }
    write_panels<Acc>(s.template at<std::byte>(s.header.panels_offset), w.rows, w.cols,
                      [&](std::int64_t k, std::int64_t j) {
                        const float q = round_half_even(w(k, j) / scale[j]) + zero[j];
                        return static_cast<std::int8_t>(std::clamp(q, lowest, 127.0f));
                      });
    fill_col_offsets<Acc>(s);
    PackedB b;
    b.data_ = s.finish();
    return b;
  }
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
  require(h.accumulator <= Accumulator::float32_f16, "unknown accumulator");
  return h;
}

template <class Acc>
PackedB<Acc> PackedB<Acc>::from_bytes(std::shared_ptr<const std::byte> data, std::int64_t size,
                                      bool verify) {
  const PackedHeader h = packed_header(data.get(), size);
  require(h.accumulator == Acc::kind, "the block is of another accumulator");
  require(h.total_bytes == size, "the block has another size than its header says");
  require(reinterpret_cast<std::uintptr_t>(data.get()) % kCacheLine == 0,
          "the block is not aligned to 64 bytes");
  // The layout follows from a few fields. All others must be what it gives, those that this version
  // leaves at 0 included.
  constexpr std::int64_t kLargest = std::int64_t{1} << 48;
  require(h.k >= 0 && h.n >= 0 && h.k <= kLargest && h.n <= kLargest, "impossible K or N");
  require(is_flag(h.has_scale) && is_flag(h.has_zero_point) && is_flag(h.per_column),
          "a flag of the header is neither 0 nor 1");
  PackedHeader expected;
  try {
    expected = lay_out<Acc>(h.k, h.n, h.has_scale, h.has_zero_point, is_integer(Acc::kind));
  } catch (const std::length_error&) {
    refuse("K and N do not fit in the block");
  }
  expected.per_column = h.per_column;
  expected.checksum = h.checksum;
  require(std::memcmp(&h, &expected, sizeof h) == 0,
          "K, N, sizes and offsets of the header contradict each other");
  if (verify) require(checksum_of(h, data.get()) == h.checksum, "the checksum does not match");
  check_parameters(h, data.get());
  PackedB b;
  b.data_ = std::move(data);
  return b;
}

template <class Acc>
typename PackedB<Acc>::Element PackedB<Acc>::at(std::int64_t k, std::int64_t n) const {
  const auto* panel =
      reinterpret_cast<const Element*>(panels() + n / kPanelColumns * panel_bytes());
  return panel[(k / Acc::kr * kPanelColumns + n % kPanelColumns) * Acc::kr + k % Acc::kr];
}

template <class Acc>
void PackedB<Acc>::unpack(MatrixView<Element> w) const {
  for (std::int64_t k = 0; k < rows(); ++k)
    for (std::int64_t j = 0; j < cols(); ++j) w(k, j) = at(k, j);
}

template class PackedB<Int32>;
template class PackedB<Float32>;
template class PackedB<BFloat16>;
template class PackedB<Float32BF16>;
template class PackedB<Float32F16>;

}  // namespace fbg

// Stored blocks of packed B: what bytes() gives, from_bytes takes back; anything else is refused or
// read within its bounds. Blocks end where an inaccessible page begins.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fbg/gemm/pack_b.h"
#include "helpers/guarded.h"

namespace fbg {
namespace {

using test::Guarded;

using Bytes = std::vector<std::byte>;

template <class Acc>
PackedB<Acc> make_int4(const MatrixView<const float>& w) {
  const std::int64_t groups = ceil_div(w.rows, Acc::format.kr);
  std::vector<std::int8_t> q;
  for (std::int64_t i = 0; i < w.rows * w.cols; ++i)
    q.push_back(static_cast<std::int8_t>(std::clamp(w.data[i], -8.0f, 7.0f)));
  const std::vector<float16> scales(static_cast<std::size_t>(groups * w.cols), float16{0x3400});
  const MatrixView<const float16> view{scales.data(), groups, w.cols, w.cols, 1};
  std::optional<MatrixView<const float16>> offsets;
  if (Acc::format.kr == 64) offsets = view;  // one of the three sizes has them
  return PackedB<Acc>::pack(MatrixView<const std::int8_t>{q.data(), w.rows, w.cols, w.cols, 1},
                            view, offsets);
}

template <class Acc>
PackedB<Acc> make(std::int64_t k, std::int64_t n) {
  std::vector<float> w(static_cast<std::size_t>(k * n));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i * 7 % 23) - 9.5f;
  const MatrixView<const float> view{w.data(), k, n, n, 1};
  if constexpr (Acc::kind == GemmType::int16)
    return *PackedB<Int16>::split(make<Int32>(k, n), 7);
  else if constexpr (is_int4(Acc::kind))
    return make_int4<Acc>(view);
  else if constexpr (is_integer(Acc::kind))
    return PackedB<Acc>::quantize(view, Granularity::column, false);
  else
    return PackedB<Acc>::convert(view);
}

template <class Acc>
Bytes bytes_of(const PackedB<Acc>& b) {
  return {b.bytes().begin(), b.bytes().end()};
}

// The block against a guard page, as an owner that from_bytes can share.
std::shared_ptr<const std::byte> guarded(const Bytes& bytes) {
  const auto block = std::make_shared<Guarded<std::byte>>(bytes);
  return {block, block->data()};
}

template <class Acc>
PackedB<Acc> read(const Bytes& bytes, bool verify = true) {
  return PackedB<Acc>::from_bytes(guarded(bytes), std::ssize(bytes), verify);
}

// Reads all that a product would.
template <class Acc>
void touch(const PackedB<Acc>& b) {
  std::vector<typename Acc::B> w(static_cast<std::size_t>(b.rows() * b.cols()));
  b.unpack({w.data(), b.rows(), b.cols(), b.cols(), 1});
  const Bytes panels(b.panels(), b.panels() + b.num_panels() * b.panel_bytes());
  std::int64_t sum = 0;
  for (std::int64_t j = 0; j < round_up(b.cols(), kPanelColumns); ++j) {
    if (b.scale()) sum += b.scale()[j] > 0;
    if (b.zero_point()) sum += b.zero_point()[j];
    if (b.col_offsets()) sum ^= b.col_offsets()[j];
  }
  if constexpr (is_int4(Acc::kind))
    for (std::int64_t j = 0; j < round_up(b.cols(), kPanelColumns); ++j)
      sum += b.weighted_offsets()[j] > 0;
  if constexpr (Acc::kind == GemmType::int16) {
    for (const std::int32_t row : b.outliers().rows) sum += row;
    for (std::int64_t p = 0; p < b.num_panels(); ++p) sum += b.spill_groups()[p];
  }
  volatile std::int64_t sink = sum;
  (void)sink;
}

template <class Acc>
std::string reason(const Bytes& bytes, bool verify = true) {
  try {
    read<Acc>(bytes, verify);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

template <class>
class StoredBlock : public testing::Test {};
using Families = testing::Types<Int32, Int16, Float32, BFloat16, Float32F16, Float16, Int4<32>,
                                Int4<64>, Int4<128>>;
TYPED_TEST_SUITE(StoredBlock, Families);

TYPED_TEST(StoredBlock, ComesBackWithoutACopyOrAPack) {
  const auto b = make<TypeParam>(37, 70);
  const auto data = guarded(bytes_of(b));
  const std::int64_t packed = pack_b_count();
  const auto again = PackedB<TypeParam>::from_bytes(data, b.nbytes());
  EXPECT_EQ(again.bytes().data(), data.get());
  EXPECT_EQ(data.use_count(), 2);
  EXPECT_EQ(pack_b_count(), packed);
  EXPECT_EQ(bytes_of(again), bytes_of(b));
  touch(again);
}

TYPED_TEST(StoredBlock, OfAnotherFamilyIsRefused) {
  const Bytes bytes = bytes_of(make<TypeParam>(8, 8));
  int accepted = 0;
  accepted += reason<Int32>(bytes).empty();
  accepted += reason<Int16>(bytes).empty();
  accepted += reason<Float32>(bytes).empty();
  accepted += reason<BFloat16>(bytes).empty();
  accepted += reason<Float32BF16>(bytes).empty();
  accepted += reason<Float32F16>(bytes).empty();
  accepted += reason<Float16>(bytes).empty();
  accepted += reason<Int4<32>>(bytes).empty();
  accepted += reason<Int4<64>>(bytes).empty();
  accepted += reason<Int4<128>>(bytes).empty();
  EXPECT_EQ(accepted, 1);
}

TYPED_TEST(StoredBlock, CutAnywhereIsRefused) {
  const Bytes bytes = bytes_of(make<TypeParam>(9, 33));
  for (std::size_t size = 0; size < bytes.size(); size += size < 256 ? 1 : 31) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(reason<TypeParam>(cut), "") << size;
    EXPECT_NE(reason<TypeParam>(cut, false), "") << size;
  }
}

TYPED_TEST(StoredBlock, AnyChangeOfOneByteIsNoticed) {
  Bytes bytes = bytes_of(make<TypeParam>(9, 33));
  for (std::size_t i = 0; i < bytes.size(); i += i < 128 ? 1 : 13) {
    const std::byte before = bytes[i];
    for (const int mask : {0x01, 0x80, 0xff}) {
      bytes[i] = before ^ static_cast<std::byte>(mask);
      EXPECT_NE(reason<TypeParam>(bytes), "") << i;
    }
    bytes[i] = before;
  }
}

TYPED_TEST(StoredBlock, IsReadWithinItsBoundsWhateverItHolds) {
  const Bytes bytes = bytes_of(make<TypeParam>(9, 33));
  Bytes changed = bytes;
  for (std::size_t i = 0; i < sizeof(PackedHeader); ++i)
    for (int value = 0; value < 256; ++value) {
      changed[i] = static_cast<std::byte>(value);
      if (reason<TypeParam>(changed, false).empty()) touch(read<TypeParam>(changed, false));
      changed[i] = bytes[i];
    }
  // Numbers that overflow when they are multiplied or rounded up.
  for (const std::int64_t k : {INT64_MAX, INT64_MAX / 2, std::int64_t{1} << 48, INT64_MIN, -1l})
    for (const std::int64_t n : {INT64_MAX, std::int64_t{1} << 48, std::int64_t{33}, 0l, -1l}) {
      std::memcpy(changed.data() + offsetof(PackedHeader, k), &k, 8);
      std::memcpy(changed.data() + offsetof(PackedHeader, n), &n, 8);
      EXPECT_NE(reason<TypeParam>(changed, false), "") << k << " " << n;
    }
}

TEST(StoredBlockErrors, NameWhatIsWrong) {
  const Bytes good = bytes_of(make<Int32>(9, 33));
  const auto with = [&good](std::size_t offset, auto value) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return reason<Int32>(bytes);
  };
  EXPECT_EQ(with(0, 'X'), "PackedB: the block does not begin with FBGPACKB");
  EXPECT_EQ(with(8, std::uint32_t{3}),
            "PackedB: format version 3 is newer than version 1, the newest that this fbg reads");
  EXPECT_EQ(with(8, std::uint32_t{0}), "PackedB: unknown format version 0");
  EXPECT_EQ(with(12, std::uint8_t{99}), "PackedB: unknown accumulator");
  EXPECT_EQ(with(200, std::uint8_t{99}), "PackedB: the checksum does not match");
  const auto block = std::make_shared<Bytes>(good.size() + 65);
  auto* misaligned = block->data();
  while (reinterpret_cast<std::uintptr_t>(misaligned) % 64 != 1) ++misaligned;
  std::memcpy(misaligned, good.data(), good.size());
  EXPECT_THROW(PackedB<Int32>::from_bytes({block, misaligned}, std::ssize(good)),
               std::invalid_argument);
}

}  // namespace
}  // namespace fbg

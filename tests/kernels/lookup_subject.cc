// Kernels of embedding tables: rows of every format, of which bags are made that are empty, long,
// or have a wrong index. Reference: the portable kernel.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/float16.h"
#include "helpers/common_nans.h"
#include "kernels/lookup.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

using kernels::LookupArgs;
using kernels::LookupKey;

constexpr RowFormat kFormats[] = {RowFormat::float32,      RowFormat::float16, RowFormat::bfloat16,
                                  RowFormat::int8,         RowFormat::int4,    RowFormat::int2,
                                  RowFormat::float8_e4m3fn};
constexpr RowScale kScales[] = {RowScale::float32, RowScale::float16};
constexpr BagMode kModes[] = {BagMode::sum, BagMode::mean, BagMode::max};
constexpr ValueType kOutputs[] = {ValueType::float32, ValueType::float32, ValueType::float16,
                                  ValueType::bfloat16};
constexpr std::uint16_t kPrefetches[] = {0, 1, 4, 16, 1 << 15};

class LookupSubject final : public Subject {
 public:
  LookupSubject(const LookupKey& key, kernels::LookupFunction function)
      : key_(key), function_(function) {}

  std::string run(Choices& choices, unsigned seed) override {
    random_.seed(seed);
    draw_kind_of_floats(choices);
    return key_.index == IndexType::int64 ? compare<std::int64_t>(choices)
                                          : compare<std::int32_t>(choices);
  }

 private:
  // As they are in bags; large ones cancel out mostly, so that the order of additions shows.
  // Integers are also midway between two 16-bit floats.
  enum class Floats { normal, integers, cancelling };

  struct Operands {
    Operand rows, indices, offsets, weights, out, args;
  };
  static Operands& operands() {
    static Operands instance;
    return instance;
  }

  template <class T>
  std::string compare(Choices& choices) {
    const RowLayout layout = key_.layout();
    const Guard side = choices.flag() ? Guard::before : Guard::after;
    LookupArgs args{};
    args.num_rows = choices.within(1, 9);
    args.stride = layout.row_bytes() + (choices.flag() ? choices.within(1, 70) : 0);
    const std::int64_t bytes = (args.num_rows - 1) * args.stride + layout.row_bytes();
    std::byte* const rows = operands().rows.place(bytes, side);
    std::generate_n(rows, bytes, [&] { return static_cast<std::byte>(random_()); });
    for (std::int64_t row = 0; row < args.num_rows; ++row) fill_row(rows + row * args.stride);
    args.rows = rows;
    args.padding = choices.flag() ? choices.within(0, args.num_rows - 1) : -1;

    // Indices before and behind these bags belong to others, and may be wrong.
    std::vector<T> offsets{static_cast<T>(choices.within(0, 3))};
    for (std::int64_t bags = choices.within(1, 6); bags > 0; --bags) {
      const bool is_long = choices.byte() % 8 == 0;
      offsets.push_back(static_cast<T>(offsets.back() + choices.within(0, is_long ? 40 : 5)));
    }
    const std::int64_t begin = offsets.front(), end = offsets.back();
    std::vector<T> indices(static_cast<std::size_t>(end + choices.within(0, 20)));
    for (T& index : indices) index = wrong_index<T>(choices, args.num_rows);
    for (std::int64_t i = begin; i < end; ++i)
      indices[static_cast<std::size_t>(i)] =
          static_cast<T>(random_() % static_cast<std::uint32_t>(args.num_rows));
    if (end > begin && choices.byte() % 4 == 0) {
      T& index = indices[static_cast<std::size_t>(choices.within(begin, end - 1))];
      index = wrong_index<T>(choices, args.num_rows);
      if (choices.byte() % 4 == 0) args.padding = index;
    }
    args.bags = std::ssize(offsets) - 1;
    args.last = std::ssize(indices) - 1;
    args.indices = operands().indices.place(indices, side);
    args.offsets = operands().offsets.place(offsets, side);
    if (key_.weighted) {
      std::vector<float> weights(indices.size());
      for (float& weight : weights) weight = value();
      args.weights = operands().weights.place(weights, side);
    }

    const std::int64_t size = value_size(key_.output);
    args.out_stride = size * (layout.columns + (choices.flag() ? choices.within(1, 9) : 0));
    const std::int64_t out_bytes = (args.bags - 1) * args.out_stride + size * layout.columns;
    std::byte* const out = operands().out.place(out_bytes, side);
    std::generate_n(out, out_bytes, [&] { return static_cast<std::byte>(random_()); });
    std::vector<std::byte> expected(out, out + out_bytes);
    args.out = expected.data();
    const std::int64_t wanted = kernels::look_up(key_, args);
    args.out = out;
    const std::int64_t got = function_(operands().args.place(std::vector<LookupArgs>{args}, side));

    if (got != wanted)
      return "another position: " + std::to_string(got) + ", not " + std::to_string(wanted) + ": " +
             kernels::lookup_name(key_);
    copy_common_nans(key_.output, out, expected.data(), args.bags, layout.columns, args.out_stride);
    if (std::memcmp(out, expected.data(), expected.size()) != 0)
      return "results differ: " + kernels::lookup_name(key_) +
             (side == Guard::after ? ", page after" : ", page before");
    const auto& [all_rows, all_indices, all_offsets, all_weights, all_out, all_args] = operands();
    for (const Operand* operand :
         {&all_rows, &all_indices, &all_offsets, &all_weights, &all_out, &all_args})
      if (!operand->intact())
        return "memory beside an operand was written: " + kernels::lookup_name(key_);
    return {};
  }

  // Next to the table, or far from it; of 64 bits, also one whose lower half is right.
  template <class T>
  static T wrong_index(Choices& choices, std::int64_t num_rows) {
    using Limits = std::numeric_limits<T>;
    const T kWrong[] = {static_cast<T>(num_rows), T{-1}, Limits::max(), Limits::min()};
    const std::uint8_t which = choices.byte();
    if (sizeof(T) == 8 && which % 8 == 0)
      return static_cast<T>((std::int64_t{which} + 1) << 32 | which % 2);
    return kWrong[which % std::size(kWrong)];
  }

  void draw_kind_of_floats(Choices& choices) {
    static constexpr Floats kKinds[] = {Floats::normal, Floats::integers, Floats::cancelling};
    floats_ = choices.one_of(kKinds);
    magnitude_ = std::ldexp(1.0f, static_cast<int>(choices.within(-12, 6)));
    if (choices.byte() % 16 == 0) magnitude_ = 0x1p-130f;  // subnormal numbers
    specials_ = choices.byte() % 4 == 0;
    static constexpr float kIntegerScales[] = {8, 250, 3000};
    integer_scale_ = choices.one_of(kIntegerScales);
  }

  float value() {
    static constexpr float kSpecials[] = {std::numeric_limits<float>::quiet_NaN(),
                                          std::bit_cast<float>(0x7fffffffu),
                                          std::numeric_limits<float>::infinity(),
                                          -std::numeric_limits<float>::infinity(),
                                          -0.0f,
                                          3e38f,
                                          1e-40f};
    const std::uint32_t r = random_();
    if (specials_ && r % 32 == 0) return kSpecials[r / 32 % std::size(kSpecials)];
    const float x = static_cast<float>(static_cast<std::int32_t>(r)) * 0x1p-30f;
    if (floats_ == Floats::integers) return std::rint(integer_scale_ * x);
    if (floats_ == Floats::cancelling && r % 3 == 0) return x < 0 ? -0x1p12f : 0x1p12f;
    return x * magnitude_;
  }

  template <class T>
  void put(std::byte* to) {
    T x;
    if constexpr (std::is_same_v<T, bfloat16>)  // rounding would make a number of a NaN
      x = {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value()) >> 16)};
    else
      x = from_float<T>(value());
    std::memcpy(to, &x, sizeof x);
  }

  // The bytes that are there are values of fewer than 16 bits.
  void fill_row(std::byte* row) {
    const RowLayout layout = key_.layout();
    const std::int64_t values = layout.value_bytes(), size = row_bits(layout.format) / 8;
    for (std::int64_t at = 0; size >= 2 && at < values; at += size) {
      if (layout.format == RowFormat::float32) put<float>(row + at);
      if (layout.format == RowFormat::float16) put<float16>(row + at);
      if (layout.format == RowFormat::bfloat16) put<bfloat16>(row + at);
    }
    for (std::int64_t at = values; at < layout.row_bytes(); at += layout.scale_bytes())
      layout.scale == RowScale::float16 ? put<float16>(row + at) : put<float>(row + at);
  }

  const LookupKey key_;
  const kernels::LookupFunction function_;
  QuickRandom random_;
  Floats floats_ = Floats::normal;
  float magnitude_ = 1, integer_scale_ = 1;
  bool specials_ = false;
};

}  // namespace

std::unique_ptr<Subject> draw_lookup(Isa isa, Choices& choices) {
  if (!kernels::has_lookup(isa)) return nullptr;
  static constexpr std::int64_t kWidths[] = {40, 130, 1100};
  LookupKey key{};
  key.columns = static_cast<std::int32_t>(choices.within(1, choices.one_of(kWidths)));
  if (choices.byte() % 4 == 0)  // whole vectors
    key.columns = static_cast<std::int32_t>(round_up(std::int64_t{key.columns}, 16));
  key.format = choices.one_of(kFormats);
  key.scale = choices.one_of(kScales);
  key.mode = choices.one_of(kModes);
  key.index = choices.flag() ? IndexType::int64 : IndexType::int32;
  key.weighted = choices.flag() && key.mode != BagMode::max;
  key.isa = isa;
  key.prefetch = choices.one_of(kPrefetches);
  key.output = choices.one_of(kOutputs);
  key.far = choices.flag();
  return std::make_unique<LookupSubject>(key, kernels::find_lookup(key));
}

}  // namespace fbg::test

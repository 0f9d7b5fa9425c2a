// Sliding kernels, by the convolutions that use them, which choose their keys and lay out operands.
// Elements are such that sums are exact in any order, also of floats.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "fbg/conv/conv.h"
#include "helpers/plain_conv.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

constexpr std::int64_t kMostWork = 1 << 18, kMostResults = 1 << 13;  // of a case
constexpr std::size_t kImages = 16;     // widths and borders of a kernel at a time
constexpr std::size_t kRoom = 4 << 20;  // bytes of an operand

// Kernels depend on the channels, the kernel and the strides, not on borders and images. Depthwise,
// or with as many channels in as out of each group.
ConvGeometry draw_geometry(Choices& choices, bool integers) {
  static constexpr std::int64_t kGroupWidths[] = {4, 8, 16, 2, 32};
  ConvGeometry g;
  const bool depthwise = choices.byte() % 3 != 0;
  const std::int64_t width = depthwise ? 1 : kGroupWidths[choices.byte() % (integers ? 3 : 5)];
  g.groups = choices.within(1, depthwise ? 70 : 5);
  g.in_channels = g.groups * width;
  g.out_channels = g.groups * (depthwise && integers && choices.byte() % 4 == 0 ? 2 : width);
  for (std::size_t axis = choices.byte() % 8 == 0 ? 0 : 1; axis < kSpatialAxes; ++axis) {
    g.kernel[axis] = choices.within(1, axis == 0 ? 2 : axis == 1 ? 5 : 7);
    g.stride[axis] = choices.within(1, 3);
    if (axis < 2) g.dilation[axis] = choices.within(1, 2);
  }
  return g;
}

// Borders and an image, where they go together.
std::optional<ConvShape> draw_image(Choices& choices, ConvGeometry& g) {
  Extent3 input{1, 1, 1};
  for (std::size_t axis = g.kernel[0] > 1 ? 0 : 1; axis < kSpatialAxes; ++axis) {
    g.pad_before[axis] = choices.within(0, 3);
    g.pad_after[axis] = choices.within(0, 3);
    // Kernels make several lines and columns at a time, and what is left over apart.
    const bool is_long = choices.flag();
    input[axis] = choices.within(1, axis == 2 ? (is_long ? 70 : 20) : (is_long ? 14 : 5));
  }
  try {
    g.validate();
    const ConvShape shape = ConvShape::of(g, choices.within(1, 2), input);
    if (shape.out_pixels() == 0 || shape.operations(g) > 2.0 * kMostWork) return std::nullopt;
    if (shape.out_pixels() * g.out_channels > kMostResults) return std::nullopt;
    return shape;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

template <class Acc>
class SlidingSubject final : public Subject {
 public:
  using X = typename Acc::A;
  using W = typename Acc::B;
  static constexpr bool kInteger = is_integer(Acc::kind);

  SlidingSubject(Isa isa, const ConvGeometry& geometry, Choices& choices)
      : isa_(isa),
        geometry_(geometry),
        w_(static_cast<std::size_t>(geometry.out_channels * geometry.depth())),
        bias_(static_cast<std::size_t>(geometry.out_channels)),
        integer_bias_(bias_.size()),
        b_scale_(bias_.size()),
        zero_point_(choices.byte()) {
    random_.seed(choices.byte());
    for (W& w : w_) w = static_cast<W>(kInteger ? small(128) : small(8));
    for (float& b : bias_) b = static_cast<float>(small(64)) * 0.25f;
    for (std::int32_t& b : integer_bias_) b = small(1000);
    for (float& s : b_scale_) s = 0.01f + static_cast<float>(small(8)) * 0.001f;
    choose_stages(choices);
    if (kInteger) quant_.scale = b_scale_;
    options_.algorithm = "sliding_window";
    options_.has_scale = kInteger && !stages_.empty();
    options_.exact = true;
    for (int tries = 0; tries < 60 && images_.size() < kImages; ++tries) add_image(choices);
    if (images_.empty()) throw std::invalid_argument("no image goes with this geometry");
  }

  std::string run(Choices& choices, unsigned seed) override {
    random_.seed(seed);
    // Often another border and image.
    if (choices.flag() && add_image(choices) && images_.size() > kImages) images_.pop_front();
    vary_requantization(choices);
    const Image& image = choices.flag() ? images_.back() : choices.element_of(images_);
    const ConvGeometry& g = image.geometry;
    const Guard side = choices.flag() ? Guard::before : Guard::after;
    const std::int64_t count = image.shape.in_pixels() * g.in_channels;
    auto* const x = reinterpret_cast<X*>(
        operands().x.place(count * static_cast<std::int64_t>(sizeof(X)), side));
    for (std::int64_t i = 0; i < count; ++i)
      x[i] = kInteger ? static_cast<X>(random_()) : static_cast<X>(small(8));
    const ValueType type = image.conv.output_type();
    const std::int64_t row = g.out_channels * value_size(type);
    const std::int64_t ld = row + value_size(type) * choices.within(0, 9);
    const std::int64_t bytes = (image.shape.out_pixels() - 1) * ld + row;
    std::byte* const y = operands().y.place(bytes, side);
    std::fill_n(y, bytes, std::byte{0x3c});
    std::vector<std::byte> expected(y, y + bytes);
    fill_expected(image, x, type, ld, expected);
    std::byte* const workspace = operands().workspace.place(
        round_up(static_cast<std::int64_t>(image.conv.workspace_bytes()), 64), Guard::after);
    ConvInput input = ConvInput::dense(x, g, image.shape);
    if (kInteger) input.scale = kScale, input.zero_point = zero_point_;
    for (int phase = 0; phase < image.conv.phases(); ++phase)
      image.conv.run(input, stages_, {y, ld}, workspace, phase, 0, 1);
    if (std::memcmp(y, expected.data(), expected.size()) != 0)
      return "results differ: " + image.conv.kernel_name();
    if (!operands().x.intact() || !operands().y.intact() || !operands().workspace.intact())
      return "memory beside an operand was written: " + image.conv.kernel_name();
    return {};
  }

 private:
  static constexpr float kScale = 0.5f;

  struct Image {
    Image(const ConvGeometry& g, const ConvShape& s, const W* w, const WeightQuant& quant,
          const std::vector<Stage>& stages, const ConvOptions& options, Isa isa)
        : geometry(g),
          shape(s),
          weights(PackedConv::pack<Acc>(w, g, quant)),
          conv(weights, stages, s, options, isa_features(isa)) {}
    const ConvGeometry geometry;
    const ConvShape shape;
    const PackedConv weights;
    const Conv conv;
  };
  struct Operands {
    Operand x{kRoom}, y{kRoom}, workspace{8 << 20};
  };
  static Operands& operands() {
    static Operands instance;
    return instance;
  }

  std::int32_t small(int limit) {
    return static_cast<std::int32_t>(random_() % (2 * static_cast<unsigned>(limit))) - limit;
  }

  // Whether it goes together with the geometry.
  bool add_image(Choices& choices) {
    ConvGeometry g = geometry_;
    const auto shape = draw_image(choices, g);
    if (shape) images_.emplace_back(g, *shape, w_.data(), quant_, stages_, options_, isa_);
    return shape.has_value();
  }

  void vary_requantization(Choices& choices) {
    static constexpr float kScales[] = {0.3f, 4.0f, 0.011f, 1e-9f};  // also beyond any integer
    const float scale = choices.one_of(kScales);
    const std::int64_t point = choices.within(0, 255);
    if (stages_.empty() || stages_.back().kind != StageKind::requantize) return;
    Stage& last = stages_.back();
    const int lowest = last.wanted == ValueType::int8 ? -128 : 0;
    last = Requantize{scale, static_cast<std::int32_t>(point) + lowest, last.wanted,
                      last.specialization}
               .stage();
  }

  // Those that the kernels run themselves, and others.
  void choose_stages(Choices& choices) {
    const std::uint8_t which = choices.byte();
    if (which % 8 == 0) return;
    if (!kInteger) {
      if (which & 8) stages_.push_back(Bias{bias_.data()}.stage());
      if (which & 16) stages_.push_back(which & 32 ? Relu{}.stage() : Clip(-3.0f, 6.0f).stage());
      if (which & 64) stages_.push_back(Scale(0.5f).stage());
      return;
    }
    if (which & 8) stages_.push_back(BiasInt32{integer_bias_.data()}.stage());
    if (which & 16) {
      stages_.push_back(Dequantize{}.stage());
      if (which & 32) stages_.push_back(Bias{bias_.data()}.stage());
      return;
    }
    const bool high_point = which & 64;
    stages_.push_back(Requantize{which & 32 ? 0.3f : 4.0f, high_point ? 100 : 7,
                                 which & 128 ? ValueType::int8 : ValueType::uint8}
                          .stage());
  }

  void fill_expected(const Image& image, const X* x, ValueType type, std::int64_t ld,
                     std::vector<std::byte>& expected) const {
    using Sum = std::conditional_t<kInteger, std::int32_t, float>;
    const auto sums =
        plain_conv(image.geometry, image.shape, x, w_.data(),
                   static_cast<Sum>(kInteger && !stages_.empty() ? zero_point_ : pad()));
    const TypedPipeline typed =
        type_pipeline(stages_, kInteger ? ValueType::acc : ValueType::float32);
    for (std::int64_t i = 0; i < image.shape.out_pixels(); ++i)
      for (std::int64_t j = 0; j < image.geometry.out_channels; ++j) {
        Element e{i, j, kScale, b_scale_[static_cast<std::size_t>(j)], zero_point_, 0, 0, 0};
        for (std::int64_t k = 0; kInteger && k < image.geometry.depth(); ++k)
          e.col_offset += static_cast<std::int32_t>(
              w_[static_cast<std::size_t>(j * image.geometry.depth() + k)]);
        Value value;
        const Sum sum = sums[static_cast<std::size_t>(i * image.geometry.out_channels + j)];
        if constexpr (kInteger)
          value.i = sum;
        else
          value.f = sum;
        std::array<Value, kMaxSlots> slots;
        e.slots = slots.data();
        for (int s = 0; s < typed.count; ++s)
          value = apply_stage(typed.codes[static_cast<std::size_t>(s)],
                              stages_[static_cast<std::size_t>(s)].args, value, e);
        store_values(&value, 1, type, expected.data() + i * ld + j * value_size(type));
      }
  }
  std::int32_t pad() const { return kInteger ? zero_point_ : 0; }

  const Isa isa_;
  const ConvGeometry geometry_;
  QuickRandom random_;
  std::vector<W> w_;
  std::vector<float> bias_;
  std::vector<std::int32_t> integer_bias_;
  std::vector<float> b_scale_;
  const std::int32_t zero_point_;
  std::vector<Stage> stages_;
  WeightQuant quant_;
  ConvOptions options_;
  std::deque<Image> images_;
};

template <class Acc>
std::unique_ptr<Subject> draw(Isa isa, Choices& choices) {
  if (choose_geometry(Acc::kind, isa_features(isa)).isa != isa) return nullptr;
  const ConvGeometry geometry = draw_geometry(choices, is_integer(Acc::kind));
  try {
    return std::make_unique<SlidingSubject<Acc>>(isa, geometry, choices);
  } catch (const std::invalid_argument&) {  // another algorithm than these kernels
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<Subject> draw_sliding(Isa isa, Choices& choices) {
  return choices.flag() ? draw<Int32>(isa, choices) : draw<Float32>(isa, choices);
}

}  // namespace fbg::test

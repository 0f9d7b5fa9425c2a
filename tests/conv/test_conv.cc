// Convolutions against plain loops: every algorithm that applies, on every ISA, over geometries at
// random, with each operand next to a guard page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "conv/line_layout.h"
#include "core/float16.h"
#include "core/memory.h"
#include "fbg/conv/conv.h"
#include "helpers/guarded.h"
#include "helpers/plain_conv.h"

namespace fbg {
namespace {

using test::Guard;
using test::Guarded;

struct Case {
  ConvGeometry geometry;
  ConvShape shape;
};

// A geometry at random; groups are 1, all channels, or something between. One in four is
// transposed. Each field of an axis is drawn by itself, and often such that the axis is the least
// that there is: a kernel of one tap, or an output of one pixel, whatever padding and stride are.
// `deep`: also so many channels, or groups, that a matrix unit multiplies whole blocks of them.
Case random_case(std::mt19937& random, bool deep = false) {
  const auto pick = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random() % static_cast<unsigned>(hi - lo + 1));
  };
  ConvGeometry g;
  const std::int64_t kind = pick(0, deep ? 5 : 3);
  const std::int64_t inputs = kind == 1 ? 1 : pick(1, 9), outputs = pick(1, kind == 1 ? 2 : 20);
  g.groups = kind == 0 || kind >= 3 ? 1 : pick(1, kind == 1 ? 40 : 6);
  g.in_channels = inputs * g.groups;
  g.out_channels = outputs * g.groups;
  if (kind == 3) g.in_channels = 4 * pick(1, 20), g.out_channels = pick(1, 70);
  if (kind == 4) g.in_channels = 64 * pick(1, 2), g.out_channels = pick(1, 70);
  if (kind == 5) {  // groups that a block of the unit holds several of
    const std::int64_t narrow = std::int64_t{1} << pick(1, 5);
    g.groups = 64 / narrow * pick(1, 2);
    g.in_channels = g.groups * narrow, g.out_channels = g.groups * pick(1, 9);
  }
  g.transposed = pick(0, 3) == 0;
  const std::int64_t first = pick(0, 2);  // the axes before have size 1
  Extent3 input{1, 1, 1};
  for (int axis = static_cast<int>(first); axis < kSpatialAxes; ++axis) {
    g.kernel[axis] = pick(0, 2) == 0 ? 1 : pick(1, axis == 0 ? 2 : 4);
    g.stride[axis] = pick(1, 3);
    g.dilation[axis] = pick(1, 2);
    g.pad_before[axis] = pick(0, 3);
    g.pad_after[axis] = pick(0, 3);
    const std::int64_t reach = g.dilation[axis] * (g.kernel[axis] - 1) + 1;
    const std::int64_t pads = g.pad_before[axis] + g.pad_after[axis];
    const std::int64_t least =
        g.transposed ? 1 + ceil_div(std::max<std::int64_t>(pads - reach, 0), g.stride[axis])
                     : std::max<std::int64_t>(1, reach - pads);
    input[axis] = least + (pick(0, 2) == 0 ? 0 : pick(0, axis == 2 ? 30 : 4));
    if (g.transposed) g.output_padding[axis] = pick(0, g.stride[axis] - 1);
  }
  return {g, ConvShape::of(g, pick(1, 2), input)};
}

// Groups with as many outputs as inputs, which kernels of their own compute.
Case groupwise_case(std::mt19937& random) {
  const auto pick = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random() % static_cast<unsigned>(hi - lo + 1));
  };
  constexpr std::int64_t kChannels[] = {1, 1, 2, 4, 8, 16, 32};
  const std::int64_t channels = kChannels[random() % std::size(kChannels)];
  ConvGeometry g;
  const bool is_long = channels <= 2 && pick(0, 2) == 0;
  g.groups = pick(2, (is_long ? 40 : 150) / channels);
  g.in_channels = g.out_channels = channels * g.groups;
  Extent3 input{1, 1, 1};
  for (int axis = static_cast<int>(pick(0, 1)); axis < kSpatialAxes; ++axis) {
    g.kernel[axis] = pick(1, axis == 0 ? 3 : axis == 1 ? 5 : 7);
    g.stride[axis] = pick(1, 2);
    g.pad_before[axis] = pick(0, 3);
    g.pad_after[axis] = pick(0, 3);
    input[axis] = pick(0, axis == 2 ? 140 : 4);
  }
  // Kernels that are longer than what registers hold, along one axis, and far between.
  const auto along = static_cast<std::size_t>(pick(1, 2));
  if (is_long) {
    g.kernel[0] = 1, g.kernel[along] = pick(8, 63), g.kernel[3 - along] = pick(1, 3);
    g.pad_before[along] = pick(0, 40);
    input[0] = 0, input[1] = pick(0, 12), input[2] = pick(0, 30);
  }
  if (pick(0, 2) == 0) g.dilation[along] = !is_long && pick(0, 3) == 0 ? 65 : pick(2, 4);
  if (pick(0, 5) == 0) g.stride[along] = pick(3, 10);
  for (std::size_t axis = 0; axis < kSpatialAxes; ++axis)
    input[axis] += std::max<std::int64_t>(
        1, g.dilation[axis] * (g.kernel[axis] - 1) + 1 - g.pad_before[axis] - g.pad_after[axis]);
  return {g, ConvShape::of(g, pick(1, 2), input)};
}

// In double or int64.
template <class X, class W, class Sum>
std::vector<Sum> plain(const Case& c, const X* x, const W* w, Sum pad) {
  return test::plain_conv(c.geometry, c.shape, x, w, pad);
}

template <class T>
std::vector<T> random_vector(std::mt19937& random, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) {
    if constexpr (!std::is_integral_v<T>)
      v = from_float<T>(static_cast<float>(random()) / 2147483648.0f - 1.0f);
    else
      v = static_cast<T>(random());
  }
  return values;
}

// What one convolution gives, by `threads` threads one after the other in each phase.
template <class T>
void compute(const Conv& conv, const ConvInput& x, RuntimePipeline stages, Guarded<T>& y,
             std::int64_t channels, int threads) {
  Guarded<std::byte> workspace(
      static_cast<std::size_t>(round_up(static_cast<std::int64_t>(conv.workspace_bytes()), 64)));
  std::fill(workspace.begin(), workspace.end(), std::byte{0xa5});
  std::fill(y.begin(), y.end(), T{});
  for (int phase = 0; phase < conv.phases(); ++phase)
    for (int t = 0; t < threads; ++t)
      conv.run(x, stages, {y.data(), channels * static_cast<std::int64_t>(sizeof(T))},
               workspace.data(), phase, t, threads);
}

class ConvTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { set_isa_limit(GetParam()); }
  void TearDown() override { set_isa_limit(std::nullopt); }
};

// Raw, or of weights and pixels without their zero points.
TEST_P(ConvTest, IntegerSumsAreThoseOfPlainLoops) {
  std::mt19937 random(7);
  const Stage correct[] = {CorrectZeroPoints{}.stage()};
  for (int i = 0; i < 120; ++i) {
    const Case c = i % 3 == 2 ? groupwise_case(random) : random_case(random, true);
    const ConvGeometry& g = c.geometry;
    const Guard side = i % 2 ? Guard::before : Guard::after;
    const Guarded<std::uint8_t> x(
        random_vector<std::uint8_t>(random, c.shape.in_pixels() * g.in_channels), side);
    const Guarded<std::int8_t> w(random_vector<std::int8_t>(random, g.out_channels * g.depth()),
                                 side);
    const bool corrects = i % 4 > 1;
    const auto stages = std::span<const Stage>(correct).first(corrects);
    const auto points = random_vector<std::int8_t>(random, corrects ? g.out_channels : 0);
    const std::vector<std::int32_t> zero_points(points.begin(), points.end());
    WeightQuant quant;
    quant.zero_point = zero_points;
    const auto weights = PackedConv::pack<Int32>(w.data(), g, quant);
    ConvInput input = ConvInput::dense(x.data(), g, c.shape);
    input.zero_point = static_cast<std::int32_t>(random() % 256);
    std::vector<std::int32_t> real_x(x.data(), x.data() + x.size());
    std::vector<std::int32_t> real_w(w.data(), w.data() + w.size());
    if (corrects) {
      for (std::int32_t& value : real_x) value -= input.zero_point;
      for (std::size_t j = 0; j < real_w.size(); ++j)
        real_w[j] -= zero_points[j / static_cast<std::size_t>(g.depth())];
    }
    const auto expected = plain<std::int32_t, std::int32_t, std::int64_t>(
        c, real_x.data(), real_w.data(), corrects ? 0 : input.zero_point);
    ConvOptions options;
    options.has_scale = corrects;
    options.threads = 3;
    for (const ConvAlgorithm& algorithm : conv_algorithms(weights, stages, c.shape, options)) {
      options.algorithm = algorithm.name;
      const Conv conv(weights, stages, c.shape, options);
      EXPECT_EQ(conv.algorithm(), algorithm.name);
      for (const int threads : {1, 3}) {
        Guarded<std::int32_t> y(expected.size(), side);
        compute(conv, input, stages, y, g.out_channels, threads);
        ASSERT_TRUE(std::ranges::equal(y, expected))
            << algorithm.name << " " << to_string(g) << " case " << i << " kernel "
            << conv.kernel_name();
      }
    }
  }
}

// Bytes at random with the scales 0.5 (x) and 0.01 (w); a zero point of x may be set.
struct ScaledBytes {
  ScaledBytes(std::mt19937& random, const Case& shape, Guard side)
      : c(shape),
        x(random_vector<std::uint8_t>(random, c.shape.in_pixels() * c.geometry.in_channels), side),
        w(random_vector<std::int8_t>(random, c.geometry.out_channels * c.geometry.depth()), side),
        weights(PackedConv::pack<Int32>(w.data(), c.geometry, quant())),
        input(ConvInput::dense(x.data(), c.geometry, c.shape)) {
    input.scale = 0.5f;
  }

  // The sums of x - zero point, times the scales.
  std::vector<float> reals(float factor = 0.5f * 0.01f) const {
    const auto sums =
        plain<std::uint8_t, std::int8_t, std::int64_t>(c, x.data(), w.data(), input.zero_point);
    std::vector<float> result;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const auto o = static_cast<std::int64_t>(j) % c.geometry.out_channels;
      const std::int64_t corrected = sums[j] - input.zero_point * weights.col_offsets()[o];
      result.push_back(static_cast<float>(corrected) * factor);
    }
    return result;
  }

  const Case c;
  const Guarded<std::uint8_t> x;
  const Guarded<std::int8_t> w;
  const PackedConv weights;
  ConvInput input;

 private:
  static WeightQuant quant() {
    static const std::vector<float> scale(1, 0.01f);
    WeightQuant quant;
    quant.scale = scale;
    return quant;
  }
};

template <class T>
void expect_with_every_algorithm(const ScaledBytes& bytes, std::span<const Stage> stages,
                                 const std::vector<T>& expected, Guard side) {
  const Case& c = bytes.c;
  ConvOptions options;
  options.has_scale = true;
  for (const ConvAlgorithm& algorithm : conv_algorithms(bytes.weights, stages, c.shape, options)) {
    options.algorithm = algorithm.name;
    const Conv conv(bytes.weights, stages, c.shape, options);
    Guarded<T> y(expected.size(), side);
    compute(conv, bytes.input, stages, y, c.geometry.out_channels, 1);
    ASSERT_TRUE(std::ranges::equal(y, expected))
        << algorithm.name << " " << to_string(c.geometry) << " width " << c.shape.input[2]
        << " kernel " << conv.kernel_name();
  }
}

TEST_P(ConvTest, GroupwiseBytesFollowTheFormulaWithEveryAlgorithm) {
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    const Case c = groupwise_case(random);
    const ConvGeometry& g = c.geometry;
    const Guard side = i % 2 ? Guard::before : Guard::after;
    ScaledBytes bytes(random, c, side);
    bytes.input.zero_point = static_cast<std::int32_t>(random() % 256);
    const auto type = i % 3 ? ValueType::uint8 : ValueType::int8;
    const auto zero = i % 2 ? 0 : static_cast<std::int32_t>(random() % 128);
    const Requantize requantize{3.0f, zero, type};
    const Stage stages[] = {requantize.stage()};
    std::vector<std::uint8_t> expected;
    for (const float real : bytes.reals((0.5f * 0.01f) / 3.0f))
      expected.push_back(static_cast<std::uint8_t>(Requantize::apply(real, stages[0].args)));
    ConvOptions options;
    options.has_scale = true;
    options.threads = 3;
    for (const ConvAlgorithm& algorithm :
         conv_algorithms(bytes.weights, stages, c.shape, options)) {
      options.algorithm = algorithm.name;
      const Conv conv(bytes.weights, stages, c.shape, options);
      for (const int threads : {1, 3}) {
        Guarded<std::uint8_t> y(expected.size(), side);
        compute(conv, bytes.input, stages, y, g.out_channels, threads);
        ASSERT_TRUE(std::ranges::equal(y, expected))
            << algorithm.name << " " << to_string(g) << " case " << i << " kernel "
            << conv.kernel_name();
      }
    }
  }
}

// Code that is unrolled for every tap would be longer than a kernel may be.
TEST_P(ConvTest, GroupsWithLargeWindowsFollowTheFormulaWithEveryAlgorithm) {
  std::mt19937 random(13);
  for (const Extent3& kernel : {Extent3{1, 7, 7}, Extent3{1, 5, 7}, Extent3{2, 5, 7}}) {
    ConvGeometry g;
    g.groups = 2;
    g.in_channels = g.out_channels = 32;
    g.kernel = kernel;
    g.pad_before[1] = g.pad_before[2] = 3;
    const Case c{g, ConvShape::of(g, 1, {2, 9, 9})};
    ScaledBytes bytes(random, c, Guard::after);
    bytes.input.zero_point = 7;
    const Stage stages[] = {Requantize{3.0f, 5}.stage()};
    std::vector<std::uint8_t> expected;
    for (const float real : bytes.reals((0.5f * 0.01f) / 3.0f))
      expected.push_back(static_cast<std::uint8_t>(Requantize::apply(real, stages[0].args)));
    ASSERT_NO_FATAL_FAILURE(
        expect_with_every_algorithm<std::uint8_t>(bytes, stages, expected, Guard::after));
  }
}

// Pipelines that most kernels do not run themselves, on channels that fill no whole vector, and
// lines that are split into tiles of every height.
TEST_P(ConvTest, DequantizedDepthwiseBytesFollowTheFormulaWithEveryAlgorithm) {
  std::mt19937 random(17);
  constexpr Extent3 kKernels[] = {{1, 1, 1}, {1, 3, 3}, {1, 5, 7}, {2, 3, 5}};
  constexpr std::int64_t kChannels[] = {5, 20, 38, 48, 64};
  for (const Extent3& kernel : kKernels)
    for (const std::int64_t channels : kChannels)
      for (std::int64_t width = 1; width < 30; width += 1 + width / 13) {
        ConvGeometry g;
        g.groups = g.in_channels = g.out_channels = channels;
        g.kernel = kernel;
        for (std::size_t axis = 0; axis < kSpatialAxes; ++axis)
          g.pad_before[axis] = g.pad_after[axis] = kernel[axis] / 2;
        const Case c{g, ConvShape::of(g, 1, {1, 2, width})};
        const Guard side = width % 2 ? Guard::before : Guard::after;
        ScaledBytes bytes(random, c, side);
        bytes.input.zero_point = 7;
        const Stage stages[] = {Dequantize{}.stage()};
        const std::vector<float> expected = bytes.reals();
        ASSERT_NO_FATAL_FAILURE(expect_with_every_algorithm<float>(bytes, stages, expected, side));
      }
}

template <class T>
std::vector<float> as_floats(const Guarded<T>& values) {
  std::vector<float> floats(values.size());
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = to_float(values[i]);
  return floats;
}

template <class Acc>
void expect_sums_near_those_in_double() {
  using A = typename Acc::A;
  using B = typename Acc::B;
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    const Case c = i % 3 == 2 ? groupwise_case(random) : random_case(random);
    const ConvGeometry& g = c.geometry;
    const Guard side = i % 2 ? Guard::before : Guard::after;
    const Guarded<A> x(random_vector<A>(random, c.shape.in_pixels() * g.in_channels), side);
    const Guarded<B> w(random_vector<B>(random, g.out_channels * g.depth()), side);
    const auto weights = PackedConv::pack<Acc>(w.data(), g);
    const auto expected =
        plain<float, float, double>(c, as_floats(x).data(), as_floats(w).data(), 0.0);
    const std::vector<float> bias(static_cast<std::size_t>(g.out_channels), 0.25f);
    const Stage stages[] = {Bias{bias.data()}.stage(), Relu{}.stage()};
    for (const ConvAlgorithm& algorithm : conv_algorithms(weights, stages, c.shape)) {
      ConvOptions options;
      options.algorithm = algorithm.name;
      options.threads = 2;
      const Conv conv(weights, stages, c.shape, options);
      Guarded<float> y(expected.size(), side);
      compute(conv, ConvInput::dense(x.data(), g, c.shape), stages, y, g.out_channels, 2);
      for (std::size_t j = 0; j < y.size(); ++j)
        ASSERT_NEAR(y[j], std::max(expected[j] + 0.25, 0.0), 1e-4)
            << algorithm.name << " " << to_string(g) << " case " << i << " at " << j;
    }
  }
}

TEST_P(ConvTest, FloatSumsAreNearThoseInDouble) { expect_sums_near_those_in_double<Float32>(); }
TEST_P(ConvTest, SumsOfBfloat16AreNearThoseInDouble) {
  expect_sums_near_those_in_double<BFloat16>();
}
TEST_P(ConvTest, SumsOfWeightsInBfloat16AreNearThoseInDouble) {
  expect_sums_near_those_in_double<Float32BF16>();
}
TEST_P(ConvTest, SumsOfWeightsInFloat16AreNearThoseInDouble) {
  expect_sums_near_those_in_double<Float32F16>();
}

// float32 images quantized one by one, int8 weights, dequantized: as the formula has it.
TEST_P(ConvTest, QuantizedImagesDoNotDependOnTheirBatch) {
  std::mt19937 random(13);
  for (int i = 0; i < 20; ++i) {
    const Case c = random_case(random);
    const ConvGeometry& g = c.geometry;
    const std::int64_t image = volume(c.shape.input) * g.in_channels;
    const std::int64_t pixels = volume(c.shape.output);
    const Guarded<float> x(random_vector<float>(random, c.shape.batch * image));
    const Guarded<float> w(random_vector<float>(random, g.out_channels * g.depth()));
    const auto weights = PackedConv::convert(GemmType::int32, w.data(), g);
    const Stage stages[] = {Dequantize{}.stage()};
    const ConvShape alone = ConvShape::of(g, 1, c.shape.input);
    ConvOptions options;
    options.source = ConvSource::quantize;
    options.threads = 2;
    for (const ConvAlgorithm& algorithm : conv_algorithms(weights, stages, c.shape, options)) {
      options.algorithm = algorithm.name;
      const Conv conv(weights, stages, c.shape, options);
      Guarded<float> y(static_cast<std::size_t>(c.shape.out_pixels() * g.out_channels));
      compute(conv, ConvInput::dense(x.data(), g, c.shape), stages, y, g.out_channels, 2);
      const Conv single(weights, stages, alone, options);
      for (std::int64_t n = 0; n < c.shape.batch; ++n) {
        Guarded<float> one(static_cast<std::size_t>(pixels * g.out_channels));
        compute(single, ConvInput::dense(x.data() + n * image, g, alone), stages, one,
                g.out_channels, 1);
        EXPECT_TRUE(std::equal(one.begin(), one.end(), y.begin() + n * pixels * g.out_channels))
            << algorithm.name << " " << to_string(g);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ConvTest, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return std::string(isa_name(isa.param)); });

// Without a matrix unit, too: what `flattened_rows` says that it covers is where its positions
// lead.
TEST(LineLayout, EveryTapOfWhatItCoversReadsACopiedLineOfTheOnlyPlane) {
  std::mt19937 random(5);
  int covered = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto [g, shape] = random_case(random, true);
    if (!covers_lines(g, shape)) continue;
    ++covered;
    const LineLayout l(g, shape, 1);
    for (std::int64_t k = 0; k < g.kernel[0]; ++k)
      for (std::int64_t z = 0; z < shape.output[0]; ++z)
        ASSERT_EQ(z * g.stride[0] - g.pad_before[0] + k * g.dilation[0], 0) << to_string(g);
    const std::int64_t last = (shape.output[2] - 1) * g.stride[2];
    ASSERT_EQ(last + (g.kernel[2] - 1) * g.dilation[2] + 1, l.needed) << to_string(g);
    ASSERT_EQ(l.pitch % g.stride[2], 0) << to_string(g);
    // Lines overlap by no more than the padding that one has after it and the next before it.
    const std::int64_t pixels = std::min(l.needed - g.pad_before[2], shape.input[2]);
    ASSERT_GE(l.pitch, g.pad_before[2] + std::max<std::int64_t>(pixels, 0)) << to_string(g);
    ASSERT_GE(l.pitch, l.needed - g.pad_before[2]) << to_string(g);
  }
  EXPECT_GT(covered, 1000);
}

TEST(ConvGeometry, SizesFollowTheFormula) {
  ConvGeometry g;
  g.kernel = {1, 3, 3};
  g.stride = {1, 2, 2};
  g.pad_before = g.pad_after = {0, 1, 1};
  EXPECT_EQ(ConvShape::of(g, 2, {1, 224, 7}).output, (Extent3{1, 112, 4}));
  EXPECT_EQ(ConvShape::of(g, 0, {1, 5, 5}).out_pixels(), 0);
  EXPECT_EQ(ConvShape::of(g, 1, {1, 0, 5}).out_pixels(), 0);
  g.kernel[1] = 9;
  EXPECT_THROW(ConvShape::of(g, 1, {1, 5, 5}), std::invalid_argument);
  g.kernel[1] = 1;
  EXPECT_THROW(ConvShape::of(g, 1 << 30, {1 << 30, 1 << 30, 1}), std::length_error);
  g.in_channels = 6;
  g.groups = 4;
  EXPECT_THROW(g.validate(), std::invalid_argument);
}

}  // namespace
}  // namespace fbg

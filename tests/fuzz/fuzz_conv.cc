// Convolutions over their argument space: geometries that may be impossible, every algorithm that
// applies, every family, source of x, stages and number of threads. Integer sums are compared with
// plain loops, and all algorithms that promise the same bits with each other.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/float16.h"
#include "core/memory.h"
#include "fbg/conv/conv.h"
#include "fuzz/fuzz_input.h"
#include "helpers/plain_conv.h"

namespace fbg::fuzz {
namespace {

constexpr std::int64_t kMostWork = 1 << 18;  // multiplications of a case

struct Case {
  ConvGeometry geometry;
  ConvShape shape;
};

// Numbers that no convolution has, or none that memory holds.
std::int64_t any_number(Choices& choices) {
  static constexpr std::int64_t kNumbers[] = {0,
                                              -1,
                                              1,
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::min(),
                                              std::int64_t{1} << 31,
                                              std::int64_t{1} << 40,
                                              std::int64_t{1} << 62};
  return choices.one_of(kNumbers);
}

// A geometry and an input; nothing where they are refused.
std::optional<Case> choose_case(Choices& choices) {
  ConvGeometry g;
  const std::uint8_t kind = choices.byte() % 4;
  g.groups = kind <= 1 ? 1 : choices.within(1, kind == 2 ? 20 : 5);
  g.in_channels = g.groups * (kind == 2 ? 1 : choices.within(1, 20));
  g.out_channels = g.groups * choices.within(1, kind == 2 ? 2 : 40);
  if (kind == 1) g.in_channels = 4 * choices.within(1, 18);
  g.transposed = choices.byte() % 8 == 7;
  Extent3 input{1, 1, 1};
  for (std::size_t axis = choices.byte() % 3; axis < kSpatialAxes; ++axis) {
    g.kernel[axis] = choices.within(1, axis == 0 ? 2 : 4);
    g.stride[axis] = choices.within(1, 3);
    g.dilation[axis] = choices.within(1, 2);
    g.pad_before[axis] = choices.within(0, 3);
    g.pad_after[axis] = choices.within(0, 3);
    if (g.transposed) g.output_padding[axis] = choices.within(0, g.stride[axis] - 1);
    input[axis] = choices.within(1, axis == 2 ? 30 : 6);
  }
  std::int64_t batch = choices.within(0, 2);
  if (choices.byte() % 16 == 15) {
    std::int64_t* const members[] = {&g.in_channels,       &g.out_channels, &g.groups,
                                     &g.kernel[2],         &g.stride[1],    &g.dilation[2],
                                     &g.pad_before[2],     &g.pad_after[1], &input[2],
                                     &g.output_padding[2], &batch,          &input[1]};
    *choices.one_of(members) = any_number(choices);
  }
  try {
    g.validate();
    const Case c{g, ConvShape::of(g, batch, input)};
    if (c.shape.operations(g) > 2.0 * kMostWork) return std::nullopt;
    const std::int64_t sizes = c.shape.in_pixels() * g.in_channels + g.out_channels * g.depth() +
                               c.shape.out_pixels() * g.out_channels;
    if (sizes > kMostWork) return std::nullopt;
    return c;
  } catch (const std::invalid_argument&) {
  } catch (const std::length_error&) {
  }
  return std::nullopt;
}

// Dense results as bytes.
std::vector<std::byte> compute(const PackedConv& weights, std::span<const Stage> stages,
                               const Case& c, const ConvOptions& options, const ConvInput& x) {
  static GuardedPages y_pages(16 << 20), workspace_pages(64 << 20);
  const Conv conv(weights, stages, c.shape, options);
  const std::int64_t row = c.geometry.out_channels * value_size(conv.output_type());
  auto* const y = y_pages.place<std::byte>(c.shape.out_pixels() * row);
  auto* const workspace = workspace_pages.place<std::byte>(
      round_up(static_cast<std::int64_t>(conv.workspace_bytes()), 64));
  for (int phase = 0; phase < conv.phases(); ++phase)
    for (int t = 0; t < options.threads; ++t)
      conv.run(x, stages, {y, row}, workspace, phase, t, options.threads);
  y_pages.require_intact();
  workspace_pages.require_intact();
  return {y, y + c.shape.out_pixels() * row};
}

struct Stages {
  std::vector<float> bias;
  std::vector<Stage> list;
};

Stages choose_stages(Choices& choices, std::int64_t channels, bool integers) {
  Stages stages{std::vector<float>(static_cast<std::size_t>(channels), 0.25f), {}};
  const std::uint8_t which = choices.byte();
  if (which % 4 == 0) return stages;
  if (integers) stages.list.push_back(Dequantize{}.stage());
  if (which & 4) stages.list.push_back(Bias{stages.bias.data()}.stage());
  if (which & 8) stages.list.push_back(Relu{}.stage());
  if (which & 16) stages.list.push_back(Clip(choices.number(), choices.number()).stage());
  if (which & 32) stages.list.push_back(Gelu{}.stage());
  if (which & 64) stages.list.push_back(Requantize{choices.number(), choices.byte()}.stage());
  return stages;
}

template <class Acc, class T>
void run(Choices& choices, Filler& fill, const Case& c, ConvSource source) {
  static GuardedPages x_pages(8 << 20);
  using Element = typename Acc::B;
  const ConvGeometry& g = c.geometry;
  std::vector<Element> w(static_cast<std::size_t>(g.out_channels * g.depth()));
  const std::int64_t count = c.shape.in_pixels() * g.in_channels;
  auto* const x = x_pages.place<T>(count);
  const auto fill_any = [&]<class E>(E* to, std::int64_t n) {
    if constexpr (std::is_integral_v<E>) {
      fill.integers(to, n);
    } else {
      std::vector<float> floats(static_cast<std::size_t>(n));
      fill.floats(floats.data(), n);
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = from_float<E>(floats[static_cast<std::size_t>(i)]);
    }
  };
  fill_any(w.data(), static_cast<std::int64_t>(w.size()));
  fill_any(x, count);
  const float scale = 0.01f;
  const bool integers = is_integer(Acc::kind);
  WeightQuant quant;
  if (integers) quant.scale = {&scale, 1};
  const auto weights = PackedConv::pack<Acc>(w.data(), g, quant);
  const Stages stages = choose_stages(choices, g.out_channels, integers);
  ConvInput input = ConvInput::dense(x, g, c.shape);
  if (integers)
    input.scale = 0.5f, input.zero_point = choices.byte() - (source == ConvSource::int8 ? 128 : 0);
  ConvOptions options;
  options.source = source;
  options.has_scale = integers && !stages.list.empty();
  options.exact = true;
  std::optional<std::vector<std::byte>> first;
  try {
    for (const ConvAlgorithm& algorithm : conv_algorithms(weights, stages.list, c.shape, options)) {
      options.algorithm = algorithm.name;
      options.threads = static_cast<int>(choices.within(1, 3));
      auto y = compute(weights, stages.list, c, options, input);
      if (integers && first) require(y == *first, "two algorithms for integers differ");
      first = std::move(y);
    }
  } catch (const std::invalid_argument&) {  // stages that do not fit
    return;
  }
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (first && stages.list.empty() && source == ConvSource::native) {
      const auto want = test::plain_conv(c.geometry, c.shape, x, w.data(), input.zero_point);
      require(std::ranges::equal(std::as_bytes(std::span(want)), *first),
              "the sums of a convolution are not those of plain loops");
    }
}

void run_case(Choices choices) {
  const std::optional<Case> c = choose_case(choices);
  if (!c) return;
  const std::uint8_t family = choices.byte();
  Filler fill(choices);
  switch (family % 8) {
    case 1:
      return run<Int32, std::int8_t>(choices, fill, *c, ConvSource::int8);
    case 2:
      return run<Int32, float>(choices, fill, *c, ConvSource::quantize);
    case 3:
      return run<Int16, std::uint8_t>(choices, fill, *c, ConvSource::native);
    case 4:
      return run<Float32, float>(choices, fill, *c, ConvSource::native);
    case 5:
      return run<BFloat16, bfloat16>(choices, fill, *c, ConvSource::native);
    case 6:
      return run<Float32F16, float>(choices, fill, *c, ConvSource::native);
    default:
      return run<Int32, std::uint8_t>(choices, fill, *c, ConvSource::native);
  }
}

}  // namespace
}  // namespace fbg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<fbg::Isa> isas = fbg::supported_isas();
  fbg::fuzz::Choices choices(data, size);
  fbg::set_isa_limit(choices.element_of(isas));
  fbg::fuzz::run_case(choices);
  return 0;
}

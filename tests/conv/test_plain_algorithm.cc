// The algorithm that docs/convolution.md shows as a pattern gives the results of those in the
// table.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "conv/algorithm.h"
#include "core/memory.h"
#include "fbg/conv/conv.h"

namespace fbg {

ConvMethod plain_method();  // examples/conv/plain.cc

namespace {

TEST(PlainAlgorithm, GivesTheResultsOfTheOthers) {
  ConvGeometry g;
  g.in_channels = 6;
  g.out_channels = 34;
  g.groups = 2;
  g.kernel = {1, 3, 2};
  g.stride = {1, 2, 1};
  g.dilation = {1, 1, 3};
  g.pad_before = {0, 1, 2};
  g.pad_after = {0, 2, 1};
  const ConvShape shape = ConvShape::of(g, 2, {1, 7, 9});
  std::mt19937 random(3);
  const auto numbers = [&](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& v : values) v = static_cast<float>(random()) / 2147483648.0f - 1.0f;
    return values;
  };
  const std::vector<float> x = numbers(shape.in_pixels() * g.in_channels);
  const auto weights = PackedConv::pack<Float32>(numbers(g.out_channels * g.depth()).data(), g);
  const Stage stages[] = {Relu{}.stage()};
  const ConvInput input = ConvInput::dense(x.data(), g, shape);
  const std::int64_t ld = g.out_channels * 4;

  ConvOptions options;
  options.algorithm = "im2col";
  const Conv conv(weights, stages, shape, options);
  std::vector<float> expected(static_cast<std::size_t>(shape.out_pixels() * g.out_channels));
  AlignedBuffer workspace(conv.workspace_bytes(), Fill::none);
  conv.run(input, stages, {expected.data(), ld}, workspace.data(), 0, 0, 1);

  constexpr int kThreads = 3;
  const ConvProblem problem{weights, g, shape, stages, false, active_features(), kThreads};
  const ConvMethod method = plain_method();
  ASSERT_TRUE(method.applies(problem));
  EXPECT_GT(method.cost(problem), 0);
  const auto step = method.prepare(problem);
  std::vector<float> y(expected.size());
  ConvRun run{};
  run.x = reinterpret_cast<const std::byte*>(x.data());
  run.batch_stride = input.batch_stride * 4;
  for (int axis = 0; axis < kSpatialAxes; ++axis) run.strides[axis] = input.strides[axis] * 4;
  run.end = run.x + x.size() * sizeof(float);
  run.stages = stages;
  run.c = {y.data(), ld};
  run.grid = PixelGrid::dense(shape.output);
  workspace = AlignedBuffer(step->workspace_bytes(), Fill::none);
  for (int thread = 0; thread < kThreads; ++thread)
    step->run(run, workspace.data(), 0, thread, kThreads);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-5) << i;
}

}  // namespace
}  // namespace fbg

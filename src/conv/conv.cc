// A prepared convolution: the choice of an algorithm, and x as its kernels read it.
#include "fbg/conv/conv.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "conv/algorithm.h"
#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"
#include "simd/kernels.h"

namespace fbg {

ConvInput ConvInput::dense(const void* data, const ConvGeometry& g, const ConvShape& shape) {
  const std::int64_t line = shape.input[2] * g.in_channels, plane = shape.input[1] * line;
  return {data, shape.input[0] * plane, {plane, line, g.in_channels}};
}

struct Conv::State {
  PackedConv weights;
  ConvGeometry geometry;
  ConvShape shape;
  ConvSource source;
  bool has_scale;
  std::string algorithm;
  std::vector<SubConvolution> subconvolutions;
  std::vector<std::unique_ptr<ConvStep>> steps;  // one for each of them, in their order
  ValueType output;
  const simd::RowKernels& rows;
  int threads;
  bool widens = false;       // kernels read elements that are wider than those of the image
  bool copies = false;       // x is converted first
  std::int64_t element = 0;  // bytes of x as they read it
  // Workspace: parameters of each image, the extents that threads found, x converted, the step's.
  std::size_t extents_at = 0, image_at = 0, step_at = 0, bytes = 0;

  bool is_integer() const { return fbg::is_integer(weights.family()); }
  int quantizing_phases() const { return source == ConvSource::quantize ? 1 : 0; }
  int first_step_phase() const { return quantizing_phases() + (copies ? 1 : 0); }
  bool unshifts() const { return source == ConvSource::int8 && output == ValueType::acc; }
  void find_extents(const ConvInput& x, std::byte* workspace, int id, int count) const noexcept;
  void convert(const ConvInput& x, std::byte* workspace, int id, int count) const noexcept;
  void convert_floats(const ConvInput& x, std::byte* image, int id, int count) const noexcept;
  void unshift(OutputView c, int id, int count) const noexcept;
  // The scale and zero point of every image, from the extents that `count` threads found. Each
  // thread has its own copy.
  struct Parameters {
    float* scale;
    std::int32_t* zero_point;
  };
  Parameters find_parameters(const ConvInput& x, std::byte* workspace, int id,
                             int count) const noexcept;
  std::size_t parameter_bytes() const {
    return static_cast<std::size_t>(round_up(shape.batch * 8, 64));
  }
  // Calls use(line of x, its number) for the lines of the batch that thread `id` of `count` has.
  template <class F>
  void for_each_line(const ConvInput& x, int id, int count, std::int64_t size,
                     F use) const noexcept;
};

Conv::Conv(const PackedConv& weights, RuntimePipeline pipeline, const ConvShape& shape,
           const ConvOptions& options, Features features) {
  const FloatEnvironment environment(Subnormals::keep);  // what algorithms compute of weights
  const bool rounds = options.source == ConvSource::round;
  const bool halves = options.source == ConvSource::widen;
  if (rounds   ? weights.family() != GemmType::bfloat16
      : halves ? weights.format().packed.a_bytes != 4
               : options.source != ConvSource::native && !is_integer(weights.family()))
    throw std::invalid_argument(rounds ? "conv: only weights of bfloat16 round x"
                                       : "conv: float weights take x as it is");
  const ConvGeometry& geometry = weights.geometry();
  std::vector<SubConvolution> subconvolutions = decompose_phases(weights, shape);
  const ConvProblems problems =
      conv_problems(weights, shape, subconvolutions, pipeline, options, features);
  // Types the stages, and checks that operands have what they ask for.
  const KernelKey key =
      conv_kernel_key(problems.whole, choose_geometry(weights.family(), features));
  if (is_integer(weights.family())) {
    const std::int64_t limit = pipeline.empty() ? kMaxDepthRaw : kMaxDepthCorrected;
    if (geometry.depth() > limit)
      throw std::invalid_argument(
          "conv: " + std::to_string(geometry.depth()) + " products for an output element exceed " +
          std::to_string(limit) + ", the most that int32 sums hold exactly");
  }
  const ConvMethod& method = choose_method(problems, options);
  std::vector<std::unique_ptr<ConvStep>> steps;
  if (method.whole) {
    steps.push_back(method.prepare(problems.whole));
    subconvolutions = {{weights, geometry, shape, PixelGrid::dense(shape.output)}};
  } else {
    for (const ConvProblem& problem : problems.phases) steps.push_back(method.prepare(problem));
  }
  state_ = std::make_unique<State>(State{weights, geometry, shape, options.source,
                                         problems.whole.has_scale, method.name,
                                         std::move(subconvolutions), std::move(steps), key.output(),
                                         simd::kernels(features).rows, options.threads});
  State& s = *state_;
  const bool wide = s.steps.front()->widens(), reads_halves = s.steps.front()->reads_halves();
  s.widens = wide || (halves && !reads_halves);
  s.copies = s.widens || (options.source != ConvSource::native && !halves);
  s.element = reads_halves ? 2 : weights.format().packed.a_bytes * (wide ? 2 : 1);
  const auto place = [&](std::size_t bytes) {
    const std::size_t at = s.bytes;
    s.bytes += (bytes + 63) / 64 * 64;
    return at;
  };
  const auto threads = static_cast<std::size_t>(s.threads);
  place(threads * s.parameter_bytes());
  if (s.source == ConvSource::quantize)
    s.extents_at = place(threads * static_cast<std::size_t>(shape.batch) * sizeof(RowExtent));
  if (s.copies)
    s.image_at =
        place(static_cast<std::size_t>(shape.in_pixels() * geometry.in_channels * s.element));
  std::size_t most = 0;
  for (const auto& step : s.steps) most = std::max(most, step->workspace_bytes());
  s.step_at = place(most);
}

Conv::~Conv() = default;
Conv::Conv(Conv&&) noexcept = default;
Conv& Conv::operator=(Conv&&) noexcept = default;

ValueType Conv::output_type() const { return state_->output; }
const ConvShape& Conv::shape() const { return state_->shape; }
std::string_view Conv::algorithm() const { return state_->algorithm; }
std::string Conv::kernel_name() const { return state_->steps.front()->kernel(); }
bool Conv::copies_x() const noexcept { return state_->copies; }
int Conv::phases() const noexcept {
  int phases = state_->first_step_phase() + (state_->unshifts() ? 1 : 0);
  for (const auto& step : state_->steps) phases += step->phases();
  return phases;
}
std::size_t Conv::workspace_bytes() const noexcept { return state_->bytes; }

template <class F>
void Conv::State::for_each_line(const ConvInput& x, int id, int count, std::int64_t size,
                                F use) const noexcept {
  const std::int64_t lines = shape.batch * shape.input[0] * shape.input[1];
  for (std::int64_t i = lines * id / count; i < lines * (id + 1) / count; ++i) {
    const std::int64_t y = i % shape.input[1], z = i / shape.input[1] % shape.input[0],
                       n = i / (shape.input[1] * shape.input[0]);
    const std::byte* const line = static_cast<const std::byte*>(x.data) +
                                  (n * x.batch_stride + z * x.strides[0] + y * x.strides[1]) * size;
    // A line without gaps is one run.
    const bool dense = x.strides[2] == geometry.in_channels;
    const std::int64_t runs = dense ? 1 : shape.input[2];
    const std::int64_t length = geometry.in_channels * (dense ? shape.input[2] : 1);
    for (std::int64_t r = 0; r < runs; ++r)
      use(line + r * x.strides[2] * size, (i * runs + r) * length, length, n);
  }
}

void Conv::State::find_extents(const ConvInput& x, std::byte* workspace, int id,
                               int count) const noexcept {
  auto* const extents = reinterpret_cast<RowExtent*>(workspace + extents_at) + id * shape.batch;
  std::fill_n(extents, shape.batch, RowExtent{0, 0});
  for_each_line(x, id, count, 4,
                [&](const std::byte* from, std::int64_t, std::int64_t length, std::int64_t n) {
                  const auto* values = reinterpret_cast<const float*>(from);
                  float lo = extents[n].lo, hi = extents[n].hi;
                  float bad = 0;  // NaN as soon as something is not finite
                  for (std::int64_t i = 0; i < length; ++i) {
                    lo = values[i] < lo ? values[i] : lo;
                    hi = values[i] > hi ? values[i] : hi;
                    bad += values[i] * 0.0f;
                  }
                  extents[n] = {lo + bad, hi + bad};
                });
}

auto Conv::State::find_parameters(const ConvInput& x, std::byte* workspace, int id,
                                  int count) const noexcept -> Parameters {
  auto* const scale =
      reinterpret_cast<float*>(workspace + static_cast<std::size_t>(id) * parameter_bytes());
  const Parameters found{scale, reinterpret_cast<std::int32_t*>(scale + shape.batch)};
  const std::int32_t shift = source == ConvSource::int8 ? 128 : 0;
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    found.scale[n] = x.scale;
    found.zero_point[n] = x.zero_point + shift;
    if (source != ConvSource::quantize) continue;
    const auto* extents = reinterpret_cast<const RowExtent*>(workspace + extents_at);
    float both[2] = {0, 0};
    for (int t = 0; t < count; ++t) {
      const RowExtent& e = extents[t * shape.batch + n];
      both[0] = e.lo < both[0] || std::isnan(e.lo) ? e.lo : both[0];
      both[1] = e.hi > both[1] || std::isnan(e.hi) ? e.hi : both[1];
    }
    const simd::RowQuant quant = rows.choose_row_quant(both, nullptr, 2);
    found.scale[n] = quant.scale;
    found.zero_point[n] = quant.zero_point;
  }
  return found;
}

// bfloat16 is the only type of floats that x is rounded to, or that kernels read in a wider form.
void Conv::State::convert_floats(const ConvInput& x, std::byte* image, int id,
                                 int count) const noexcept {
  constexpr std::int64_t kPiece = policy::tensors::kFloats;
  std::uint16_t piece[kPiece];
  const bool rounds = source == ConvSource::round;
  for_each_line(x, id, count, rounds ? 4 : 2,
                [&](const std::byte* from, std::int64_t at, std::int64_t length, std::int64_t) {
                  for (std::int64_t i = 0; i < length; i += kPiece) {
                    const auto n = static_cast<std::size_t>(std::min(kPiece, length - i));
                    std::byte* const to = image + (at + i) * element;
                    const auto* read = reinterpret_cast<const std::uint16_t*>(from) + i;
                    if (rounds) {
                      auto* const y = widens ? piece : reinterpret_cast<std::uint16_t*>(to);
                      rows.float_to_bfloat16(reinterpret_cast<const float*>(from) + i, n, y);
                      read = y;
                    }
                    if (widens) rows.bfloat16_to_float(read, n, reinterpret_cast<float*>(to));
                  }
                });
}

void Conv::State::convert(const ConvInput& x, std::byte* workspace, int id,
                          int count) const noexcept {
  auto* const image = workspace + image_at;
  if (!is_integer()) return convert_floats(x, image, id, count);
  const Parameters found = find_parameters(x, workspace, id, count);
  constexpr std::int64_t kPiece = policy::tensors::kFloats;  // a multiple of a k-group
  std::uint8_t piece[kPiece];
  const std::int64_t size = source == ConvSource::quantize ? 4 : 1;
  for_each_line(x, id, count, size,
                [&](const std::byte* from, std::int64_t at, std::int64_t length, std::int64_t n) {
                  for (std::int64_t i = 0; i < length; i += kPiece) {
                    const std::int64_t left = std::min(kPiece, length - i);
                    const auto part = static_cast<std::size_t>(left);
                    std::byte* const to = image + (at + i) * element;
                    std::uint8_t* const q = widens ? piece : reinterpret_cast<std::uint8_t*>(to);
                    const std::uint8_t* read = q;
                    if (source == ConvSource::quantize)
                      rows.quantize_row(reinterpret_cast<const float*>(from) + i, nullptr, part,
                                        {found.scale[n], found.zero_point[n]}, q);
                    else if (source == ConvSource::int8)
                      rows.shift_row(reinterpret_cast<const std::int8_t*>(from) + i, part, q);
                    else
                      read = reinterpret_cast<const std::uint8_t*>(from) + i;
                    if (widens) rows.widen_groups(read, part, reinterpret_cast<std::uint16_t*>(to));
                  }
                });
}

// Corrects the raw sums of a shifted x: sum (x + s) w - s sum w, modulo 2^32.
void Conv::State::unshift(OutputView c, int id, int count) const noexcept {
  for (const SubConvolution& sub : subconvolutions) {
    const Extent3& out = sub.shape.output;
    const std::int64_t pixels = sub.shape.out_pixels();
    for (std::int64_t i = pixels * id / count; i < pixels * (id + 1) / count; ++i) {
      const std::int64_t at = sub.grid.row(i / volume(out), i / (out[1] * out[2]) % out[0],
                                           i / out[2] % out[1], i % out[2]);
      auto* row = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(c.data) + at * c.ld);
      for (std::int64_t o = 0; o < geometry.out_channels; ++o)
        row[o] -= 128u * static_cast<std::uint32_t>(sub.weights.col_offsets()[o]);
    }
  }
}

void Conv::run(const ConvInput& x, RuntimePipeline pipeline, OutputView c, std::byte* workspace,
               int phase, int thread_id, int num_threads) const noexcept {
  const State& s = *state_;
  if (s.shape.out_pixels() == 0) return;
  const FloatEnvironment environment;
  if (phase < s.quantizing_phases()) return s.find_extents(x, workspace, thread_id, num_threads);
  if (phase < s.first_step_phase()) return s.convert(x, workspace, thread_id, num_threads);
  phase -= s.first_step_phase();
  std::size_t i = 0;
  for (; i < s.steps.size() && phase >= s.steps[i]->phases(); ++i) phase -= s.steps[i]->phases();
  if (i == s.steps.size()) return s.unshift(c, thread_id, num_threads);
  if (s.subconvolutions[i].shape.out_pixels() == 0) return;

  const std::int64_t channels = s.geometry.in_channels * s.element;
  ConvRun run{};
  run.stages = pipeline;
  run.c = c;
  run.grid = s.subconvolutions[i].grid;
  if (s.copies) {
    const std::int64_t line = s.shape.input[2] * channels, plane = s.shape.input[1] * line;
    run.x = workspace + s.image_at;
    run.strides = {plane, line, channels};
    run.batch_stride = s.shape.input[0] * plane;
  } else {
    run.x = static_cast<const std::byte*>(x.data);
    for (int axis = 0; axis < kSpatialAxes; ++axis) run.strides[axis] = x.strides[axis] * s.element;
    run.batch_stride = x.batch_stride * s.element;
  }
  run.end = run.x + (s.shape.batch - 1) * run.batch_stride + channels;
  for (int axis = 0; axis < kSpatialAxes; ++axis)
    run.end += (s.shape.input[axis] - 1) * run.strides[axis];
  if (s.is_integer()) {
    const State::Parameters found = s.find_parameters(x, workspace, thread_id, num_threads);
    run.scale = s.has_scale ? found.scale : nullptr;
    run.zero_point = found.zero_point;
  }
  s.steps[i]->run(run, workspace + s.step_at, phase, thread_id, num_threads);
}

}  // namespace fbg

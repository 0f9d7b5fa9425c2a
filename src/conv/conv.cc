// A prepared convolution: the choice of an algorithm, and x as its kernels read it.
#include "fbg/conv/conv.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "conv/algorithm.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"
#include "simd/kernels.h"

namespace fbg {

ConvInput ConvInput::dense(const void* data, const ConvGeometry& g, const ConvShape& shape) {
  const std::int64_t line = shape.input[2] * g.in_channels, plane = shape.input[1] * line;
  return {data, shape.input[0] * plane, {plane, line, g.in_channels}};
}

namespace {

template <class Acc>
std::vector<ConvProblem<Acc>> problems_of(const std::vector<ConvPart<Acc>>& parts,
                                          RuntimePipeline pipeline, const ConvOptions& options,
                                          Features features) {
  const bool has_scale = options.has_scale || options.source == ConvSource::quantize;
  std::vector<ConvProblem<Acc>> problems;
  for (const ConvPart<Acc>& part : parts)
    problems.push_back(
        {part.weights, part.geometry, part.shape, pipeline, has_scale, features, options.threads});
  return problems;
}

}  // namespace

template <class Acc>
struct Conv<Acc>::State {
  PackedConv<Acc> weights;
  ConvGeometry geometry;
  ConvShape shape;
  ConvSource source;
  bool has_scale;
  std::string algorithm;
  std::vector<ConvPart<Acc>> parts;
  std::vector<std::unique_ptr<ConvStep<Acc>>> steps;  // one for each part, one after the other
  ValueType output;
  const simd::RowKernels& rows;
  // Workspace: parameters of each image, the extents that threads found, x converted, the step's.
  std::int64_t element;  // bytes of x as kernels read it
  std::size_t extents_at = 0, image_at = 0, step_at = 0, bytes = 0;
  int threads;

  bool converts() const { return source != ConvSource::native || widens(); }
  // Whether kernels read elements that are wider than those of the image.
  bool widens() const { return element != sizeof(typename Acc::A); }
  int quantizing_phases() const { return source == ConvSource::quantize ? 1 : 0; }
  int first_step_phase() const { return quantizing_phases() + (converts() ? 1 : 0); }
  bool unshifts() const { return source == ConvSource::int8 && output == ValueType::acc; }
  void find_extents(const ConvInput& x, std::byte* workspace, int id, int count) const noexcept;
  void convert(const ConvInput& x, std::byte* workspace, int id, int count) const noexcept;
  void unshift(OutputView c, int id, int count) const noexcept;
  // Scale and zero point of every image, from what `count` threads found.
  void set_parameters(const ConvInput& x, std::byte* workspace, int count, float* scale,
                      std::int32_t* zero_point) const noexcept;
  // use(line of x, its number): the lines of the batch that one of `count` threads has.
  template <class F>
  void for_each_line(const ConvInput& x, int id, int count, std::int64_t size,
                     F use) const noexcept;
};

template <class Acc>
Conv<Acc>::Conv(const PackedConv<Acc>& weights, RuntimePipeline pipeline, const ConvShape& shape,
                const ConvOptions& options, Features features) {
  if (options.source != ConvSource::native && !is_integer(Acc::kind))
    throw std::invalid_argument("conv: float weights take x as it is");
  const ConvGeometry& geometry = weights.geometry();
  std::vector<ConvPart<Acc>> parts = conv_parts(weights, shape);
  const std::vector<ConvProblem<Acc>> problems = problems_of(parts, pipeline, options, features);
  // Types the stages, and checks that operands have what they ask for.
  const KernelKey key = conv_kernel_key(problems.front(), choose_geometry(Acc::kind, features));
  if constexpr (is_integer(Acc::kind)) {
    const std::int64_t limit = pipeline.empty() ? kMaxDepthRaw : kMaxDepthCorrected;
    if (geometry.depth() > limit)
      throw std::invalid_argument(
          "conv: " + std::to_string(geometry.depth()) + " products for an output element exceed " +
          std::to_string(limit) + ", the most that int32 sums hold exactly");
  }
  const ConvMethod<Acc>& method = choose_method<Acc>(problems, geometry, options);
  std::vector<std::unique_ptr<ConvStep<Acc>>> steps;
  for (const ConvProblem<Acc>& problem : problems) steps.push_back(method.prepare(problem));
  state_ = std::make_unique<State>(
      State{weights, geometry, shape, options.source, problems.front().has_scale, method.name,
            std::move(parts), std::move(steps), key.output(), simd::kernels(features).rows, 0, 0, 0,
            0, 0, options.threads});
  State& s = *state_;
  s.element = s.steps.front()->element_bytes();
  const auto place = [&](std::size_t bytes) {
    const std::size_t at = s.bytes;
    s.bytes += (bytes + 63) / 64 * 64;
    return at;
  };
  const auto batch = static_cast<std::size_t>(shape.batch);
  // [thread] of the step's phases: each thread keeps scales and zero points of its own.
  place(static_cast<std::size_t>(s.threads) * ((batch * 8 + 63) / 64 * 64));
  if (s.source == ConvSource::quantize)
    s.extents_at = place(static_cast<std::size_t>(s.threads) * batch * sizeof(RowExtent));
  if (s.converts())
    s.image_at =
        place(static_cast<std::size_t>(shape.in_pixels() * geometry.in_channels * s.element));
  std::size_t most = 0;
  for (const auto& step : s.steps) most = std::max(most, step->workspace_bytes());
  s.step_at = place(most);
}

template <class Acc>
Conv<Acc>::~Conv() = default;
template <class Acc>
Conv<Acc>::Conv(Conv&&) noexcept = default;
template <class Acc>
Conv<Acc>& Conv<Acc>::operator=(Conv&&) noexcept = default;

template <class Acc>
ValueType Conv<Acc>::output_type() const {
  return state_->output;
}
template <class Acc>
const ConvShape& Conv<Acc>::shape() const {
  return state_->shape;
}
template <class Acc>
std::string_view Conv<Acc>::algorithm() const {
  return state_->algorithm;
}
template <class Acc>
std::string Conv<Acc>::kernel_name() const {
  return state_->steps.front()->kernel();
}
template <class Acc>
int Conv<Acc>::phases() const noexcept {
  int phases = state_->first_step_phase() + (state_->unshifts() ? 1 : 0);
  for (const auto& step : state_->steps) phases += step->phases();
  return phases;
}
template <class Acc>
std::size_t Conv<Acc>::workspace_bytes() const noexcept {
  return state_->bytes;
}

template <class Acc>
template <class F>
void Conv<Acc>::State::for_each_line(const ConvInput& x, int id, int count, std::int64_t size,
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

template <class Acc>
void Conv<Acc>::State::find_extents(const ConvInput& x, std::byte* workspace, int id,
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

template <class Acc>
void Conv<Acc>::State::set_parameters(const ConvInput& x, std::byte* workspace, int count,
                                      float* scale, std::int32_t* zero_point) const noexcept {
  const std::int32_t shift = source == ConvSource::int8 ? 128 : 0;
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    scale[n] = x.scale;
    zero_point[n] = x.zero_point + shift;
    if (source != ConvSource::quantize) continue;
    const auto* extents = reinterpret_cast<const RowExtent*>(workspace + extents_at);
    float both[2] = {0, 0};
    for (int t = 0; t < count; ++t) {
      const RowExtent& e = extents[t * shape.batch + n];
      both[0] = e.lo < both[0] || std::isnan(e.lo) ? e.lo : both[0];
      both[1] = e.hi > both[1] || std::isnan(e.hi) ? e.hi : both[1];
    }
    const simd::RowQuant quant = rows.choose_row_quant(both, nullptr, 2);
    scale[n] = quant.scale;
    zero_point[n] = quant.zero_point;
  }
}

template <class Acc>
void Conv<Acc>::State::convert(const ConvInput& x, std::byte* workspace, int id,
                               int count) const noexcept {
  auto* const image = workspace + image_at;
  if constexpr (!is_integer(Acc::kind)) {
    // bfloat16, the only float whose kernels want it wider.
    for_each_line(x, id, count, sizeof(typename Acc::A),
                  [&](const std::byte* from, std::int64_t at, std::int64_t length, std::int64_t) {
                    rows.bfloat16_to_float(reinterpret_cast<const std::uint16_t*>(from),
                                           static_cast<std::size_t>(length),
                                           reinterpret_cast<float*>(image + at * element));
                  });
    return;
  }
  auto* const parameters =
      workspace +
      static_cast<std::size_t>(id) * ((static_cast<std::size_t>(shape.batch) * 8 + 63) / 64 * 64);
  auto* const scale = reinterpret_cast<float*>(parameters);
  auto* const zero_point = reinterpret_cast<std::int32_t*>(scale + shape.batch);
  set_parameters(x, workspace, count, scale, zero_point);
  constexpr std::int64_t kPiece = 1024;  // a multiple of a k-group
  std::uint8_t piece[kPiece];
  const std::int64_t size = source == ConvSource::quantize ? 4 : 1;
  for_each_line(x, id, count, size,
                [&](const std::byte* from, std::int64_t at, std::int64_t length, std::int64_t n) {
                  for (std::int64_t i = 0; i < length; i += kPiece) {
                    const std::int64_t left = std::min(kPiece, length - i);
                    const auto part = static_cast<std::size_t>(left);
                    std::byte* const to = image + (at + i) * element;
                    std::uint8_t* const q = widens() ? piece : reinterpret_cast<std::uint8_t*>(to);
                    const std::uint8_t* read = q;
                    if (source == ConvSource::quantize)
                      rows.quantize_row(reinterpret_cast<const float*>(from) + i, nullptr, part,
                                        {scale[n], zero_point[n]}, q);
                    else if (source == ConvSource::int8)
                      rows.shift_row(reinterpret_cast<const std::int8_t*>(from) + i, part, q);
                    else
                      read = reinterpret_cast<const std::uint8_t*>(from) + i;
                    if (widens())
                      rows.widen_groups(read, part, reinterpret_cast<std::uint16_t*>(to));
                  }
                });
}

// Raw sums of what was shifted: sum (x + s) w - s sum w, modulo 2^32.
template <class Acc>
void Conv<Acc>::State::unshift(OutputView c, int id, int count) const noexcept {
  for (const ConvPart<Acc>& part : parts) {
    const Extent3& out = part.shape.output;
    const std::int64_t pixels = part.shape.out_pixels();
    for (std::int64_t i = pixels * id / count; i < pixels * (id + 1) / count; ++i) {
      const std::int64_t at = part.grid.row(i / volume(out), i / (out[1] * out[2]) % out[0],
                                            i / out[2] % out[1], i % out[2]);
      auto* row = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(c.data) + at * c.ld);
      for (std::int64_t o = 0; o < geometry.out_channels; ++o)
        row[o] -= 128u * static_cast<std::uint32_t>(part.weights.col_offsets()[o]);
    }
  }
}

template <class Acc>
void Conv<Acc>::run(const ConvInput& x, RuntimePipeline pipeline, OutputView c,
                    std::byte* workspace, int phase, int thread_id,
                    int num_threads) const noexcept {
  const State& s = *state_;
  if (s.shape.out_pixels() == 0) return;
  const FloatEnvironment environment;
  if (phase < s.quantizing_phases()) return s.find_extents(x, workspace, thread_id, num_threads);
  if (phase < s.first_step_phase()) return s.convert(x, workspace, thread_id, num_threads);
  phase -= s.first_step_phase();
  std::size_t part = 0;
  for (; part < s.steps.size() && phase >= s.steps[part]->phases(); ++part)
    phase -= s.steps[part]->phases();
  if (part == s.steps.size()) return s.unshift(c, thread_id, num_threads);
  if (s.parts[part].shape.out_pixels() == 0) return;

  const std::int64_t channels = s.geometry.in_channels * s.element;
  ConvRun run{};
  run.stages = pipeline;
  run.c = c;
  run.grid = s.parts[part].grid;
  if (s.converts()) {
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
  auto* const parameters =
      workspace + static_cast<std::size_t>(thread_id) *
                      ((static_cast<std::size_t>(s.shape.batch) * 8 + 63) / 64 * 64);
  auto* const scale = reinterpret_cast<float*>(parameters);
  auto* const zero_point = reinterpret_cast<std::int32_t*>(scale + s.shape.batch);
  if (is_integer(Acc::kind)) {
    s.set_parameters(x, workspace, num_threads, scale, zero_point);
    run.scale = s.has_scale ? scale : nullptr;
    run.zero_point = zero_point;
  }
  s.steps[part]->run(run, workspace + s.step_at, phase, thread_id, num_threads);
}

template <class Acc>
std::vector<ConvAlgorithm> conv_algorithms(const PackedConv<Acc>& weights, RuntimePipeline pipeline,
                                           const ConvShape& shape, const ConvOptions& options,
                                           Features features) {
  const std::vector<ConvPart<Acc>> parts = conv_parts(weights, shape);
  const std::vector<ConvProblem<Acc>> problems = problems_of(parts, pipeline, options, features);
  const ConvMethod<Acc>& chosen = choose_method<Acc>(problems, weights.geometry(), options);
  std::vector<ConvAlgorithm> found;
  for (const ConvMethod<Acc>& method : conv_methods<Acc>())
    if (applies_to_parts<Acc>(method, problems) && (method.exact || !options.exact))
      found.push_back(
          {method.name, cost_of_parts<Acc>(method, problems), rounds_alike(method, chosen)});
  std::ranges::sort(found, {}, &ConvAlgorithm::cost);
  return found;
}

template class Conv<Int32>;
template class Conv<Int16>;
template class Conv<Float32>;
template class Conv<BFloat16>;
template class Conv<Float32BF16>;
template class Conv<Float32F16>;
template std::vector<ConvAlgorithm> conv_algorithms(const PackedConv<Int32>&, RuntimePipeline,
                                                    const ConvShape&, const ConvOptions&, Features);
template std::vector<ConvAlgorithm> conv_algorithms(const PackedConv<Int16>&, RuntimePipeline,
                                                    const ConvShape&, const ConvOptions&, Features);
template std::vector<ConvAlgorithm> conv_algorithms(const PackedConv<Float32>&, RuntimePipeline,
                                                    const ConvShape&, const ConvOptions&, Features);
template std::vector<ConvAlgorithm> conv_algorithms(const PackedConv<BFloat16>&, RuntimePipeline,
                                                    const ConvShape&, const ConvOptions&, Features);
template std::vector<ConvAlgorithm> conv_algorithms(const PackedConv<Float32BF16>&, RuntimePipeline,
                                                    const ConvShape&, const ConvOptions&, Features);
template std::vector<ConvAlgorithm> conv_algorithms(const PackedConv<Float32F16>&, RuntimePipeline,
                                                    const ConvShape&, const ConvOptions&, Features);

}  // namespace fbg

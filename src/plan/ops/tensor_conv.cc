// Convolution of a tensor, and products with constant weights: a Conv prepared for one shape, whose
// phases are phases of the step.
#include <algorithm>
#include <array>
#include <utility>

#include "plan/ops/tensor_step.h"

namespace fbg {
namespace {

// The tensor that the result becomes a part of, if there is one, then x, then the residual, then
// scale and zero point of x.
std::vector<Buffer> operands(Buffer x, const ConvEpilogue& epilogue,
                             const ConvQuantization& computed) {
  std::vector<Buffer> buffers;
  if (epilogue.place && epilogue.place->before) buffers.push_back(*epilogue.place->before);
  buffers.push_back(x);
  for (const auto& each : {epilogue.residual, computed.scale, computed.zero_point})
    if (each) buffers.push_back(*each);
  return buffers;
}

class ConvOp final : public Op {
 public:
  ConvOp(Buffer x, PackedConv weights, const ConvShape& shape, const ConvOptions& options,
         ConvEpilogue epilogue, float scale, std::int32_t zero_point,
         const ConvQuantization& computed, ValueType result)
      : Op("conv " + to_string(weights.geometry()), operands(x, epilogue, computed)),
        weights_(std::move(weights)),
        shape_(shape),
        options_(options),
        algorithm_(options.algorithm),
        measured_(options.measured),
        epilogue_(std::move(epilogue)),
        scale_(scale),
        zero_point_(zero_point),
        computed_(computed),
        result_(result),
        first_operand_(epilogue_.place && epilogue_.place->before ? 1 : 0) {
    // No other op may read the memory that the results overwrite.
    in_place = first_operand_ == 1 && std::ranges::count(inputs, inputs[0]) == 1;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return std::make_unique<ConvOpStep>(*this, context);
  }
  Halves reads_bfloat16(std::size_t i, Features features) const override {
    if (i < first_operand_) return Halves::kept;
    const bool rounds = i == first_operand_ && options_.source == ConvSource::round;
    if (rounds) return Halves::rounded;
    const bool widens = is_residual(i) || (i == first_operand_ && reads_halves(features));
    return widens ? Halves::widened : Halves::no;
  }
  bool can_write_bfloat16() const override {
    return result_ == ValueType::float32 &&
           epilogue_.stages.size() < static_cast<std::size_t>(kMaxStages);
  }

 private:
  // Whether a depthwise convolution of floats reads bfloat16 as well.
  bool reads_halves(Features features) const {
    if (options_.source != ConvSource::native || weights_.geometry().groups == 1 ||
        weights_.format().packed.a_bytes != 4)
      return false;
    ConvOptions options = options_;
    options.source = ConvSource::widen;
    options.algorithm = algorithm_;
    options.measured = measured_;
    return !Conv(weights_, epilogue_.stages, shape_, options, features).copies_x();
  }
  bool is_residual(std::size_t i) const { return epilogue_.residual && i == first_operand_ + 1; }
  float scale_of(const Frame& frame) const noexcept {
    return computed_.scale ? *reinterpret_cast<const float*>(frame[*computed_.scale].data) : scale_;
  }
  std::int32_t zero_point_of(const Frame& frame) const noexcept {
    if (!computed_.zero_point) return zero_point_;
    const std::byte* const point = frame[*computed_.zero_point].data;
    return options_.source == ConvSource::int8 ? *reinterpret_cast<const std::int8_t*>(point)
                                               : *reinterpret_cast<const std::uint8_t*>(point);
  }

  class ConvOpStep final : public Step {
   public:
    ConvOpStep(const ConvOp& op, const PrepareContext& context)
        : op_(op),
          stages_(stages_for(op, context)),
          conv_(op.weights_, stages_, op.shape_, options_for(op, context), context.features) {}

    std::string kernel(std::int64_t, int) const override {
      return std::string(conv_.algorithm()) + " " + conv_.kernel_name();
    }
    std::size_t scratch_bytes() const noexcept override { return conv_.workspace_bytes(); }
    int phases(int) const noexcept override { return conv_.phases(); }

    void run(const Frame& frame, std::byte* scratch, int thread_id,
             int num_threads) const noexcept override {
      const ConvGeometry& g = op_.weights_.geometry();
      const std::size_t at = op_.first_operand_;
      ConvInput x = ConvInput::dense(frame[op_.inputs[at]].data, g, op_.shape_);
      x.scale = op_.scale_of(frame);
      x.zero_point = op_.zero_point_of(frame);
      std::array<Stage, kMaxStages> stages;
      std::ranges::copy(stages_, stages.begin());
      const std::size_t count = stages_.size();
      for (std::size_t s = 0; s < count; ++s)
        if (reads_matrix(stages[s])) stages[s].args.data = frame[op_.inputs[at + 1]].data;
      const OutputView c = view(frame, thread_id, num_threads);
      conv_.run(x, {stages.data(), count}, c, scratch, frame.phase, thread_id, num_threads);
    }

   private:
    // The place of the result. Channels of `before` are copied unless they are already there.
    OutputView view(const Frame& frame, int thread_id, int num_threads) const noexcept {
      const std::int64_t size = value_size(conv_.output_type());
      const std::int64_t own = op_.weights_.geometry().out_channels * size;
      std::byte* const y = frame[op_.output].data;
      if (!op_.epilogue_.place) return {y, own};
      const ConvPlace& place = *op_.epilogue_.place;
      const std::int64_t row = place.channels * size, first = place.first * size;
      const std::byte* const before = place.before ? frame[op_.inputs[0]].data : y;
      if (before != y && frame.phase == 0) {
        const Range rows = thread_rows(op_.shape_.out_pixels(), thread_id, num_threads);
        const std::int64_t last = first + own;
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
          std::copy_n(before + i * row, first, y + i * row);
          std::copy_n(before + i * row + last, row - last, y + i * row + last);
        }
      }
      return {y + first, row};
    }

    static ConvOptions options_for(const ConvOp& op, const PrepareContext& context) {
      ConvOptions options = op.options_;
      options.algorithm = op.algorithm_;
      options.measured = op.measured_;
      options.threads = context.capacity.threads;
      if (context.type(op.inputs[op.first_operand_]) == ValueType::bfloat16)
        options.source = options.source == ConvSource::round ? ConvSource::native  // it is rounded
                                                             : ConvSource::widen;
      return options;
    }
    static std::vector<Stage> stages_for(const ConvOp& op, const PrepareContext& context) {
      std::vector<Stage> stages = op.epilogue_.stages;
      for (Stage& stage : stages)
        if (reads_matrix(stage) && context.type(*op.epilogue_.residual) == ValueType::bfloat16)
          narrow_matrix(stage);
      if (context.type(op.output) == ValueType::bfloat16)
        stages.push_back(Cast{ValueType::bfloat16}.stage());
      return stages;
    }

    const ConvOp& op_;
    const std::vector<Stage> stages_;
    const Conv conv_;
  };

  const PackedConv weights_;
  const ConvShape shape_;
  const ConvOptions options_;
  const std::string algorithm_, measured_;
  const ConvEpilogue epilogue_;
  const float scale_;
  const std::int32_t zero_point_;
  const ConvQuantization computed_;
  const ValueType result_;           // as the graph has it
  const std::size_t first_operand_;  // which of the inputs is x
};

// Bytes of an element of x as the caller has it.
std::int64_t source_size(ConvSource source, const PackedConv& weights) {
  const bool floats = source == ConvSource::quantize || source == ConvSource::round;
  return floats ? 4 : weights.format().packed.a_bytes;
}

}  // namespace

Buffer convolve(Graph& graph, Buffer x, PackedConv weights, const ConvShape& shape,
                const ConvOptions& options, ConvEpilogue epilogue, float scale,
                std::int32_t zero_point, const ConvQuantization& computed) {
  const ConvGeometry& g = weights.geometry();
  require_bytes(graph, x, shape.in_pixels() * g.in_channels * source_size(options.source, weights),
                "conv: x");
  if (computed.scale) require_bytes(graph, *computed.scale, 4, "conv: scale");
  if (computed.zero_point) require_bytes(graph, *computed.zero_point, 1, "conv: zero point");
  require((!computed.scale && !computed.zero_point) ||
              (is_integer(weights.family()) && options.source != ConvSource::quantize),
          "conv: x must have a scale or zero point to compute them");
  const auto adds = std::ranges::count_if(epilogue.stages,
                                          [](const Stage& stage) { return reads_matrix(stage); });
  require(adds == (epilogue.residual ? 1 : 0),
          "conv: stages must hold one Add if there is a residual, and none otherwise");
  // Types the stages, and refuses stages that no algorithm computes.
  const Conv probe(weights, epilogue.stages, shape, options);
  const std::int64_t elements = shape.out_pixels() * g.out_channels;
  for (Stage& stage : epilogue.stages)
    if (reads_matrix(stage)) {
      require_bytes(graph, *epilogue.residual, elements * value_size(stage.wanted),
                    "conv: residual");
      stage.args.ld = g.out_channels * value_size(stage.wanted);
    }
  std::int64_t bytes = elements * value_size(probe.output_type());
  if (epilogue.place) {
    const ConvPlace& place = *epilogue.place;
    require(place.channels >= g.out_channels && place.channels <= std::int64_t{1} << 31 &&
                place.first >= 0 && place.first <= place.channels - g.out_channels,
            "conv: the result must lie within the channels that it becomes a part of");
    const std::int64_t sizes[] = {shape.out_pixels(), place.channels,
                                  value_size(probe.output_type())};
    bytes = checked_product(sizes, "conv");
    if (place.before) require_bytes(graph, *place.before, bytes, "conv: before");
  }
  const ValueType result = probe.output_type();
  const BufferShape written =
      result == ValueType::float32 ? tensor_of_floats(bytes / 4) : tensor_shape(bytes);
  return append_op(
      graph,
      std::make_shared<ConvOp>(x, std::move(weights), shape, options, std::move(epilogue), scale,
                               zero_point, computed, result),
      written);
}

}  // namespace fbg

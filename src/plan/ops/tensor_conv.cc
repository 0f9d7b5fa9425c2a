// Convolution of a tensor, and products with constant weights: a Conv prepared for one shape, whose
// phases are phases of the step.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "fbg/conv/conv.h"
#include "plan/ops/stage_field.h"
#include "plan/ops/tensor_step.h"

namespace fbg {

static std::span<const Choice<ConvSource>> choices(ConvSource) {
  static constexpr Choice<ConvSource> kSources[] = {{"native", ConvSource::native},
                                                    {"int8", ConvSource::int8},
                                                    {"quantize", ConvSource::quantize},
                                                    {"round", ConvSource::round}};
  return kSources;
}

namespace {

// A convolution of a dense channels-last tensor, or, as one of kernel size 1, a product with
// constant weights.
class ConvOp final : public Op {
 public:
  explicit ConvOp(Fields& f) : Op("conv", f) {
    const ConvGeometry& g = weights_.geometry();
    name = "conv " + to_string(g);
    for (const StageField& own : given_) stages_.push_back(own.kept(&arrays_, g.out_channels));
    if (channels_ > 0 && before_) {
      first_operand_ = 1;
      inputs.insert(inputs.begin(), *before_);
      // No other op may read the memory that the results overwrite.
      in_place = std::ranges::count(inputs, *before_) == 1;
    }
    check(f.graph());
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return std::make_unique<ConvOpStep>(*this, context);
  }
  Halves reads_bfloat16(std::size_t i, Features features) const override {
    if (i < first_operand_) return Halves::kept;
    const bool rounds = i == first_operand_ && source_ == ConvSource::round;
    if (rounds) return Halves::rounded;
    const bool widens = is_residual(i) || (i == first_operand_ && reads_halves(features));
    return widens ? Halves::widened : Halves::no;
  }
  bool can_write_bfloat16() const override {
    return result_ == ValueType::float32 && stages_.size() < static_cast<std::size_t>(kMaxStages);
  }

 private:
  // Whether a depthwise convolution of floats reads bfloat16 as well.
  bool reads_halves(Features features) const {
    if (source_ != ConvSource::native || weights_.geometry().groups == 1 ||
        weights_.format().packed.a_bytes != 4)
      return false;
    ConvOptions options = this->options();
    options.source = ConvSource::widen;
    return !Conv(weights_, stages_, shape_, options, features).copies_x();
  }
  bool is_residual(std::size_t i) const { return residual_ && i == first_operand_ + 1; }
  float scale_of(const Frame& frame) const noexcept {
    return computed_scale_ ? *reinterpret_cast<const float*>(frame[*computed_scale_].data) : scale_;
  }
  std::int32_t zero_point_of(const Frame& frame) const noexcept {
    if (!computed_zero_point_) return zero_point_;
    const std::byte* const point = frame[*computed_zero_point_].data;
    return source_ == ConvSource::int8 ? *reinterpret_cast<const std::int8_t*>(point)
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
      if (op_.channels_ <= 0) return {y, own};
      const std::int64_t row = op_.channels_ * size, first = op_.first_ * size;
      const std::byte* const before = op_.first_operand_ ? frame[op_.inputs[0]].data : y;
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
      ConvOptions options = op.options();
      options.threads = context.capacity.threads;
      if (context.type(op.inputs[op.first_operand_]) == ValueType::bfloat16)
        options.source = options.source == ConvSource::round ? ConvSource::native  // it is rounded
                                                             : ConvSource::widen;
      return options;
    }
    static std::vector<Stage> stages_for(const ConvOp& op, const PrepareContext& context) {
      std::vector<Stage> stages = op.stages_;
      for (Stage& stage : stages)
        if (reads_matrix(stage) && context.type(*op.residual_) == ValueType::bfloat16)
          narrow_matrix(stage);
      if (context.type(op.output) == ValueType::bfloat16)
        stages.push_back(Cast{ValueType::bfloat16}.stage());
      return stages;
    }

    const ConvOp& op_;
    const std::vector<Stage> stages_;
    const Conv conv_;
  };

  ConvOptions options() const {
    ConvOptions made;
    made.source = source_;
    made.has_scale = has_scale_;
    made.algorithm = algorithm_;
    made.measured = measured_;
    made.exact = exact_;
    return made;
  }

  // Of all fields; sets the shape of the output.
  void check(const Graph& graph) {
    const ConvGeometry& g = weights_.geometry();
    const bool floats = source_ == ConvSource::quantize || source_ == ConvSource::round;
    const std::int64_t x_size = floats ? 4 : weights_.format().packed.a_bytes;
    require_bytes(graph, x_, shape_.in_pixels() * g.in_channels * x_size, "conv: x");
    if (computed_scale_) require_bytes(graph, *computed_scale_, 4, "conv: scale");
    if (computed_zero_point_) require_bytes(graph, *computed_zero_point_, 1, "conv: zero point");
    require((!computed_scale_ && !computed_zero_point_) ||
                (is_integer(weights_.family()) && source_ != ConvSource::quantize),
            "conv: x must have a scale or zero point to compute them");
    const auto adds =
        std::ranges::count_if(stages_, [](const Stage& stage) { return reads_matrix(stage); });
    require(adds == (residual_ ? 1 : 0),
            "conv: stages must hold one Add if there is a residual, and none otherwise");
    // Types the stages, and refuses stages that no algorithm computes.
    result_ = Conv(weights_, stages_, shape_, options()).output_type();
    const std::int64_t elements = shape_.out_pixels() * g.out_channels;
    for (Stage& stage : stages_)
      if (reads_matrix(stage)) {
        require_bytes(graph, *residual_, elements * value_size(stage.wanted), "conv: residual");
        stage.args.ld = g.out_channels * value_size(stage.wanted);
      }
    std::int64_t bytes = elements * value_size(result_);
    if (channels_ > 0) {
      require(channels_ >= g.out_channels && channels_ <= std::int64_t{1} << 31 && first_ >= 0 &&
                  first_ <= channels_ - g.out_channels,
              "conv: the result must lie within the channels that it becomes a part of");
      bytes = checked_product({shape_.out_pixels(), channels_, value_size(result_)}, "conv");
      if (before_) require_bytes(graph, *before_, bytes, "conv: before");
    }
    shape = result_ == ValueType::float32 ? tensor_of_floats(bytes / 4) : tensor_shape(bytes);
  }

  // The inputs: the tensor that the result becomes a part of, if there is one, then x, then the
  // residual, then scale and zero point of x.
  const Buffer x_ = input("x");
  const PackedConv weights_ = field("weights");
  const std::int64_t batch_ = field("batch");
  const ConvShape shape_ =
      ConvShape::of(weights_.geometry(), batch_, fields().get<Extent3>("spatial"));
  const std::vector<StageField> given_ = field("stages");
  const ConvSource source_ = field("source", ConvSource::native);
  const bool has_scale_ = field("has_scale", false);
  // Those of x, unless runs compute them: a float32, and a byte of the type of x.
  const float scale_ = field("scale", 1.0f);
  const std::int32_t zero_point_ = field("zero_point", 0);
  const std::string algorithm_ = fields().get<std::string>("algorithm", {}),
                    measured_ = fields().get<std::string>("measured", {});
  const bool exact_ = field("exact", false);
  const std::optional<Buffer> residual_ = find_input("residual");
  // Results of convolutions side by side: one becomes channels [first, first + its channels) of a
  // tensor of `channels`. The others are those of `before`, a tensor of the same size, or
  // undefined.
  const std::int64_t channels_ = field("channels", 0), first_ = field("first", 0);
  const std::optional<Buffer> before_ = fields().find<Buffer>("before");
  const std::optional<Buffer> computed_scale_ = find_input("computed_scale"),
                              computed_zero_point_ = find_input("computed_zero_point");
  std::vector<Array> arrays_;  // of the stages
  std::vector<Stage> stages_;
  ValueType result_ = ValueType::float32;  // as the graph has it
  std::size_t first_operand_ = 0;          // which of the inputs is x
};

}  // namespace

Buffer kinds::convolve(Graph& graph, Fields& f) { return append_as<ConvOp>(graph, f); }

}  // namespace fbg

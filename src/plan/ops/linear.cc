// Linear layers: one Gemm with everything that follows the product in its output pipeline.
//
//   int8      rows quantized as they are packed | int32 sums | Dequantize, Bias, activation, Add
//   int4      rows quantized as they are packed | float sums |             Bias, activation, Add
//   bfloat16  rows rounded as they are packed, or bfloat16 that is read in place
//                                               | float sums |             Bias, activation, Add
//   float16 sums
//              rows scaled and rounded as they are packed, where the CPU multiplies float16
//                                               | float sums |             Bias, activation, Add
//   float32, float16 (weights widened)
//             rows read in place                | float sums |             Bias, activation, Add
//
// and a Cast in the end if all readers of the result would round it. If all would quantize its
// rows, it does so (quantized_rows.h). In a gated layer, the product is combined a block of columns
// at a time (fbg/gemm/pipeline.h).
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "fbg/core/phase.h"
#include "gemm/packers.h"
#include "plan/ops/gate.h"
#include "plan/ops/ops.h"
#include "plan/ops/quantized_rows.h"
#include "plan/ops/routes.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

// The family whose kernels multiply them on a CPU with these features.
GemmType family_on(const PackedMatrix& w, Features features) {
  const bool widens = w.family() == GemmType::float16 && !multiplies_halves(features);
  return widens ? GemmType::float32_f16 : w.family();
}

bool rounds(const PackedMatrix& w) { return w.family() == GemmType::bfloat16; }

// silu is x / (1 + e^-x).
enum class Activation : std::uint8_t { none, gelu, gelu_tanh, relu, silu };
constexpr Choice<Activation> kActivations[] = {{"none", Activation::none},
                                               {"gelu", Activation::gelu},
                                               {"gelu_tanh", Activation::gelu_tanh},
                                               {"relu", Activation::relu},
                                               {"silu", Activation::silu}};
std::span<const Choice<Activation>> choices(Activation) { return kActivations; }

// y = x * w, and what is done to it before it is stored. Rows of x are quantized as they are packed
// for int8 and int4 weights, rounded for bfloat16 ones (where x may also hold bfloat16), and read
// in place for the others. Weights that were split for int16 sums are refused.
class LinearOp final : public ProductOp {
 public:
  explicit LinearOp(Fields& f) : ProductOp("linear", f) {
    const auto expert = fields().get<std::int64_t>("expert", 0);
    if (routes_) routed = Routes{*routes_, expert};
    name = describe();
    check();
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return std::make_unique<LinearStep>(*this, context);
  }
  Halves reads_bfloat16(std::size_t i, Features) const override {
    return i == 0 && rounds(w_) ? Halves::rounded : Halves::no;
  }
  bool can_write_bfloat16() const override { return true; }
  std::optional<const float*> quantized_factors(std::size_t i) const override {
    if (i != 0 || !reads_bytes(w_.family())) return {};
    return channel_scale_.data.get();
  }
  bool can_write_quantized() const override { return QuantizedRows::serves(shape.cols); }

  ProductKind kind() const override { return {w_.family(), w_.rows(), w_.cols()}; }
  std::int64_t weight_bytes() const override { return w_.nbytes(); }

  std::shared_ptr<ProductOp> clone() const override {
    auto copy = std::make_shared<LinearOp>(*this);
    copy->w_ = w_.clone();
    return copy;
  }

 private:
  // How rows of that type become the elements that the family multiplies.
  PackerKind packer(ValueType x, GemmType family) const {
    if (reads_bytes(family)) return PackerKind::quantized;
    if (family == GemmType::float16) return PackerKind::to_float16;
    if (!rounds(w_)) return PackerKind::floats;
    return x == ValueType::bfloat16 ? PackerKind::bfloat16s : PackerKind::to_bfloat16;
  }

  // The stages of the pipeline, and how many there are.
  struct Stages {
    std::array<Stage, 5> stage;
    std::size_t count = 0;
    void add(const Stage& s) { stage[count++] = s; }
    operator std::span<const Stage>() const { return {stage.data(), count}; }
  };

  Stages stages(MatrixView<float> residual, bool writes_bfloat16) const noexcept {
    Stages s;
    if (is_integer(w_.family())) s.add(Dequantize{}.stage());
    if (bias_.data) s.add(Bias{bias_.data.get()}.stage());
    if (activation_ == Activation::gelu) s.add(Gelu{}.stage());
    if (activation_ == Activation::gelu_tanh) s.add(GeluTanh{}.stage());
    if (activation_ == Activation::relu) s.add(Relu{}.stage());
    if (activation_ == Activation::silu)
      s.add({StageKind::binary, ValueType::float32, {}, {}, {.operation = Operation::silu}});
    if (residual_) s.add(Add{residual.data, residual.row_stride}.stage());
    if (writes_bfloat16) s.add(Cast{ValueType::bfloat16}.stage());
    return s;
  }

  class LinearStep final : public Step {
   public:
    LinearStep(const LinearOp& op, const PrepareContext& context)
        : op_(op),
          family_(family_on(op.w_, context.features)),
          packer_(op.packer(context.type(op.x_), family_)),
          features_(context.features),
          reads_quantized_(holds_bytes(context.type(op.x_))),
          quantizes_(holds_bytes(context.type(op.output))),
          factors_(quantizes_ ? context.factors[static_cast<std::size_t>(op.output)] : nullptr),
          output_(quantizes_ ? ValueType::float32 : context.type(op.output)) {
      const Capacity& capacity = context.capacity;
      const std::int64_t most = max_rows(capacity, op.shape);
      // Tuned ranges of rows, which ascend, and the cost model's in between and beyond.
      for (const TunedProduct& tuned : capacity.tuned) {
        if (tuned.kind != op.kind() || tuned.first_rows > most || tuned.last_rows <= last_rows())
          continue;
        add_variant(std::min(tuned.first_rows - 1, most), {});
        add_variant(std::min(tuned.last_rows, most), tuned.blocking);
      }
      add_variant(most, {});
      for (const Variant& variant : variants_)
        thread_workspace_ = std::max(thread_workspace_, variant.gemm.workspace_bytes(1));
      scratch_bytes_ = thread_workspace_ * static_cast<std::size_t>(capacity.threads);
    }

    std::string kernel(std::int64_t tokens, int num_threads) const override {
      const std::int64_t rows = std::min(tokens, last_rows());  // no sequence is empty
      const auto serves = [&](const Variant& variant) { return rows <= variant.last_rows; };
      const auto found = std::ranges::find_if(variants_, serves);
      const Variant& variant = found == variants_.end() ? variants_.back() : *found;
      return variant.gemm.kernel_name(rows, num_threads);
    }
    std::string blocking() const override {
      std::string text;
      for (const Variant& variant : variants_) {
        if (variant.blocking == Blocking{}) continue;
        if (!text.empty()) text += "; ";
        text += "<=" + std::to_string(variant.last_rows) + " rows: " + to_string(variant.blocking);
      }
      return text;
    }
    std::size_t nbytes() const noexcept override {
      std::size_t bytes = sizeof *this;
      for (const Variant& variant : variants_) bytes += variant.gemm.nbytes();
      return bytes;
    }
    std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }
    int phases(int num_threads) const noexcept override {
      return quantizes_ && num_threads > 1 && QuantizedRows::gains(last_rows(), num_threads) ? 2
                                                                                             : 1;
    }

    void run(const Frame& frame, std::byte* scratch, int thread_id,
             int num_threads) const noexcept override {
      BufferView x = frame[op_.x_], y = frame[op_.output];
      if (op_.routed) {
        x.rows = y.rows = op_.routed->count(frame, y.rows);
        if (y.rows == 0) return;
      }
      const bool gains = QuantizedRows::gains(y.rows, num_threads);
      const bool bytes = reads_quantized_ && gains;
      const bool whole = quantizes_ && QuantizedRows::whole(y.rows, num_threads);
      const Range rows = thread_rows(y.rows, thread_id, num_threads);
      MatrixView<float> added = residual(frame);
      if (frame.phase == 0 && whole) {
        if (added.data) added.data += rows.begin * added.row_stride;
        std::byte* const workspace =
            scratch + static_cast<std::size_t>(thread_id) * thread_workspace_;
        multiply(x.part(rows), added, y.part(rows), bytes, workspace, 0, 1);
      } else if (frame.phase == 0) {
        multiply(x, added, y, bytes, scratch, thread_id, num_threads);
      }
      const int last_phase = whole ? 0 : phases(num_threads) - 1;
      if (!quantizes_ || !gains || frame.phase != last_phase) return;
      const PhaseTimer timer(Phase::pack);
      QuantizedRows(y.part(rows)).quantize(factors_, simd::kernels(features_).rows);
    }

   private:
    // How runs of more rows than the variant before has, up to last_rows, are cut.
    struct Variant {
      std::int64_t last_rows;
      Blocking blocking;
      GemmDriver gemm;
    };

    static bool holds_bytes(ValueType type) { return type == ValueType::uint8; }
    MatrixView<float> residual(const Frame& frame) const noexcept {
      return op_.residual_ ? frame.floats(*op_.residual_) : MatrixView<float>{};
    }

    // y = epilogue(x w), the share of thread_id. `bytes`: x is quantized.
    void multiply(const BufferView& x, MatrixView<float> residual, const BufferView& y, bool bytes,
                  std::byte* workspace, int thread_id, int num_threads) const noexcept {
      const Variant* variant = variants_.data();
      while (variant->last_rows < y.rows) ++variant;
      const auto run = [&](const RowSource& rows) {
        with_pipeline(residual, [&](const PipelineView& pipeline) {
          variant->gemm.run(rows, op_.w_, pipeline, {y.data, y.row_bytes}, workspace, thread_id,
                            num_threads);
        });
      };
      if (bytes)
        run(row_source(QuantizedRows(x)));
      else
        with_packer(packer_, [&]<class A, class T>(Type<A>, Type<T>) {
          run(row_source(make_packer<A>(
              x.as<const T>(),
              {.features = features_, .channel_scale = op_.channel_scale_.data.get()})));
        });
    }

    // Calls use(the stage after the product); a gate rounds its results itself.
    template <class Use>
    void with_pipeline(MatrixView<float> residual, Use use) const {
      const std::optional<Gate> gate = op_.gate_;
      const Stages stages = op_.stages(residual, !gate && output_ == ValueType::bfloat16);
      if (gate)
        use(pipeline_view(GatedStages(stages, simd::kernels(features_).rows, *gate, output_)));
      else
        use(pipeline_view(RuntimePipeline(stages)));
    }

    std::int64_t last_rows() const { return variants_.empty() ? 0 : variants_.back().last_rows; }

    void add_variant(std::int64_t rows, const Blocking& blocking) {
      if (rows <= last_rows()) return;
      if (!variants_.empty() && variants_.back().blocking == blocking) variants_.pop_back();
      with_pipeline({}, [&](const PipelineView& pipeline) {
        variants_.push_back({rows, blocking,
                             GemmDriver(product_types(packer_, family_), op_.w_, pipeline, rows,
                                        op_.w_.with_weights(features_), blocking)});
      });
    }

    const LinearOp& op_;
    const GemmType family_;
    const PackerKind packer_;
    const Features features_;
    const bool reads_quantized_, quantizes_;
    const float* const factors_;  // of the columns of what is quantized, or null
    const ValueType output_;      // of the pipeline
    std::vector<Variant> variants_;
    std::size_t thread_workspace_ = 0, scratch_bytes_ = 0;
  };

  std::string describe() const {
    std::string text =
        std::string("linear ") + (is_int4(w_.family()) ? "int4" : w_.format().name) + " ";
    text += std::to_string(w_.rows()) + "x" + std::to_string(w_.cols());
    if (activation_ != Activation::none)
      text += std::string(" ") + kActivations[static_cast<std::size_t>(activation_)].name;
    if (gate_) text += std::string(" ") + gate_name(*gate_);
    if (residual_) text += " add";
    if (routed) text += " routed";
    if (channel_scale_.data) text += " channel_scale";
    return text;
  }

  // Of all operands; sets the shape of the output.
  void check() {
    require(w_.family() != GemmType::int16, "linear: weights are packed for int16 sums");
    if (is_integer(w_.family()))
      require(w_.scale() != nullptr, "linear: int8 weights must have a scale");
    const BufferShape in = shape_of(x_);
    if (!(rounds(w_) && in.type == ValueType::bfloat16)) require_floats("linear", in);
    require(in.cols == w_.rows(), "linear: x has " + std::to_string(in.cols) + " columns, w has " +
                                      std::to_string(w_.rows()) + " rows");
    shape = {in.rows, w_.cols()};
    if (bias_.data) require_vector(bias_, shape.cols, "linear: bias");
    if (channel_scale_.data) {
      require(reads_bytes(w_.family()), "linear: channel_scale needs int8 or int4 weights");
      require_vector(channel_scale_, in.cols, "linear: channel_scale");
    }
    if (gate_) {
      require(activation_ == Activation::none && !residual_,
              "linear: a gated layer has neither an activation nor a residual");
      require(shape.cols % (2 * kPanelColumns) == 0,
              "linear: the columns of a gated layer must be a multiple of " +
                  std::to_string(2 * kPanelColumns) + ", got " + std::to_string(shape.cols));
      shape.cols /= 2;
    }
    if (routed) {
      require(!residual_, "linear: the layer of an expert has no residual");
      require_routes(in, shape_of(routed->weights), *routed);
    }
    if (residual_)
      require(shape_of(*residual_) == shape,
              "linear: the residual must have the shape of the output");
  }

  const Buffer x_ = input("x");
  PackedMatrix w_ = field("w");
  // After the product, each if it is there: the bias (N), the activation, the residual.
  const SharedMatrix bias_ = fields().vector("bias");
  const Activation activation_ = field("activation", Activation::none);
  const std::optional<Buffer> residual_ = find_input("residual");
  // (K): with int8 weights, what is quantized is x * this.
  const SharedMatrix channel_scale_ = fields().vector("channel_scale");
  // After the bias, in place of an activation and a residual: where a row is a, b end to end, the
  // output is gate(a) * b, half as many columns, which must be whole panels of w.
  const std::optional<Gate> gate_ = fields().find<Gate>("gate");
  // Only as many rows as go to an expert are multiplied, the first ones; the others mean nothing.
  const std::optional<Buffer> routes_ = find_input("routes");
};

}  // namespace

Buffer kinds::linear(Graph& graph, Fields& f) { return append_as<LinearOp>(graph, f); }

}  // namespace fbg

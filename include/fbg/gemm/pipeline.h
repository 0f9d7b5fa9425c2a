// Pipelines that are composed at compile time from built-in stages and from functors of the user:
//
//   Pipeline p(Dequantize{}, Bias{b}, [](float x) noexcept { return x * x; }, Requantize{s, z});
//
//   Dequantize, Bias   run in the microkernel: registers -> scratch tile, which stays in the L1
//   the functor        is inlined here, into a loop over the scratch tile
//   Requantize         runs in its scalar form: scratch tile -> C
//
// Stages after a functor are computed one element at a time, so put as many as possible before it.
// Without a functor, the microkernel computes all stages, and there is no scratch tile.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fbg/core/types.h"
#include "fbg/kernels/output.h"

namespace fbg {

// Where results go; ld counts bytes.
struct OutputView {
  void* data;
  std::int64_t ld;
};

// A stage of output.h: a row of the table of stages, and its parameters.
template <class S>
concept KernelStage = requires(const S stage) {
  { stage.stage() } -> std::same_as<Stage>;
  { S::kind } -> std::convertible_to<StageKind>;
};

// A callable on float32: f(x), or f(x, row, col) with its place in C. Every thread of a run calls
// the same one, so it is called as const.
template <class F>
concept PlacedFunctor =
    std::is_nothrow_invocable_r_v<float, const F&, float, std::int64_t, std::int64_t>;
template <class F>
concept FunctorStage =
    !KernelStage<F> && (std::is_nothrow_invocable_r_v<float, const F&, float> || PlacedFunctor<F>);

template <class S>
concept PipelineStage = KernelStage<S> || FunctorStage<S>;

// Whether stages fit together when the first of them gets `start`.
template <class... Stages>
constexpr bool composes_from(ValueType start) {
  std::optional<ValueType> type = start;
  bool ended = false;
  [[maybe_unused]] const auto step = [&]<class S>(std::type_identity<S>) {
    if (ended) type.reset();
    if constexpr (FunctorStage<S>) {
      if (type != ValueType::float32) type.reset();
    } else {
      constexpr const StageRow& row = stage_row(S::kind);
      ended = row.ends();
      ValueType wanted = ValueType::uint8;  // all that a stage may be asked for end a pipeline
      if constexpr (row.operand.kind == OperandKind::columns) wanted = S::type;
      if (type) type = row.result(*type, wanted);
    }
  };
  (step(std::type_identity<Stages>{}), ...);
  return type.has_value();
}

// A tile of float32 in scratch memory: element (0, 0) is (row, col) of C; ld counts elements.
struct ScratchTile {
  Value* data;
  std::int64_t ld, rows, columns, row, col;
};

// Stages composed at compile time; ill-typed compositions do not compile.
template <class... Stages>
class Pipeline {
 public:
  static_assert(
      (PipelineStage<Stages> && ...),
      "Pipeline: a stage must be one of fbg/kernels/output.h, or a callable that is const "
      "and noexcept and takes and returns float: float operator()(float) const noexcept, "
      "or with (float, std::int64_t row, std::int64_t col)");
  static_assert(
      !(PipelineStage<Stages> && ...) || composes_from<Stages...>(ValueType::acc) ||
          composes_from<Stages...>(ValueType::float32),
      "Pipeline: the stages do not fit together: Dequantize makes float32 of integer sums, which "
      "Bias and functions, functors included, take; CorrectZeroPoints and BiasInt32 come "
      "before it, and Requantize, Cast and RowRange can only be last");
  static constexpr bool kHasFunctor = (FunctorStage<Stages> || ...);

  constexpr explicit Pipeline(Stages... stages)
      : stages_(stages...), kernel_stages_(first_stages(std::make_index_sequence<kInKernel>{})) {}

  // The stages that are compiled into the microkernel: all of them up to the first functor.
  std::span<const Stage> kernel_stages() const noexcept { return kernel_stages_; }

  // All of them, for a Gemm of stages that only the run time knows.
  std::span<const Stage> stages() const noexcept requires(!kHasFunctor) { return kernel_stages_; }

  static constexpr bool accepts(ValueType start) { return composes_from<Stages...>(start); }

  // Whether a stage multiplies sums by the scales of A, which the packer must then have.
  static constexpr bool kScalesSums = [] {
    [[maybe_unused]] const auto scales = []<class S>(std::type_identity<S>) {
      if constexpr (KernelStage<S>) return stage_row(S::kind).scales;
      return false;
    };
    return (scales(std::type_identity<Stages>{}) || ...);
  }();

  // What remains after the kernel: its output type, and the work, from tile to c (ldc bytes between
  // rows).
  ValueType functor_output() const noexcept requires kHasFunctor {
    ValueType type = ValueType::float32;
    for_each_after_kernel([&](const auto& stage) noexcept { type = typed(stage).out; });
    return type;
  }
  void finish(const ScratchTile& tile, std::byte* c,
              std::int64_t ldc) const noexcept requires kHasFunctor {
    const ValueType output = functor_output();
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      Value* const x = tile.data + i * tile.ld;
      for_each_after_kernel([&](const auto& stage) noexcept {
        apply(stage, x, tile.columns, tile.row + i, tile.col);
      });
      store_values(x, tile.columns, output, c + i * ldc);
    }
  }

 private:
  static constexpr std::size_t kInKernel = [] {
    constexpr bool in_kernel[] = {KernelStage<Stages>..., false};
    return static_cast<std::size_t>(std::ranges::find(in_kernel, false) - in_kernel);
  }();

  template <std::size_t... I>
  constexpr std::array<Stage, kInKernel> first_stages(std::index_sequence<I...>) const {
    return {std::get<I>(stages_).stage()...};
  }

  template <class Use>
  void for_each_after_kernel(Use use) const noexcept {
    for_each(use, std::make_index_sequence<sizeof...(Stages) - kInKernel>{});
  }
  template <class Use, std::size_t... I>
  void for_each(Use& use, std::index_sequence<I...>) const noexcept {
    (use(std::get<kInKernel + I>(stages_)), ...);
  }

  // After a functor every stage is given float32.
  template <class S>
  static StageCode typed(const S& stage) noexcept {
    if constexpr (FunctorStage<S>) {
      return {{}, ValueType::float32, ValueType::float32};
    } else {
      return type_stage(stage.stage(), ValueType::float32,
                        *stage_row(S::kind).result(ValueType::float32, stage.stage().wanted));
    }
  }

  // One stage over a row of the tile.
  template <class S>
  static void apply(const S& stage, Value* x, std::int64_t columns, std::int64_t row,
                    std::int64_t col) noexcept {
    if constexpr (KernelStage<S>)
      apply_stage(typed(stage), stage.stage().args, x, columns, row, col);
    else if constexpr (PlacedFunctor<S>)
      for (std::int64_t j = 0; j < columns; ++j) x[j].f = stage(x[j].f, row, col + j);
    else
      for (std::int64_t j = 0; j < columns; ++j) x[j].f = stage(x[j].f);
  }

  std::tuple<Stages...> stages_;
  std::array<Stage, kInKernel> kernel_stages_;
};

// A gated pipeline: where a row of A * B is a, b end to end, the row of C is f(a, b), for example
// gelu(a) * b, element by element. `kernel_stages` run in the microkernel and give float32; gate()
// computes n elements of a row of C, of the type `output`, while a and b are in the caches. All
// threads share it.
inline constexpr std::int64_t kMaxGatedColumns = 512;  // the most that gate() is called with
template <class P>
concept GatedPipeline = requires(const P& p, const float* x, std::int64_t n, std::byte* y) {
  { p.kernel_stages() } -> std::same_as<std::span<const Stage>>;
  { p.output() } -> std::same_as<ValueType>;
  { p.gate(x, x, n, y) }
  noexcept;
};
template <class P>
inline constexpr bool kGates = GatedPipeline<P>;

// A Gemm takes a Pipeline, or stages that are known at run time.
using RuntimePipeline = std::span<const Stage>;

template <class P>
inline constexpr bool kHasFunctor = P::kHasFunctor;
template <>
inline constexpr bool kHasFunctor<RuntimePipeline> = false;
template <GatedPipeline P>
inline constexpr bool kHasFunctor<P> = false;

template <class P>
std::span<const Stage> kernel_stages(const P& pipeline) noexcept {
  if constexpr (std::is_same_v<P, RuntimePipeline>)
    return pipeline;
  else
    return pipeline.kernel_stages();
}

// Checked at compile time for a Pipeline, and for all by type_pipeline().
template <class P>
constexpr bool pipeline_accepts(ValueType start) {
  if constexpr (std::is_same_v<P, RuntimePipeline> || kGates<P>)
    return true;
  else
    return P::accepts(start);
}

// Whether that pipeline, known at compile time, needs scales of A when it starts with sums.
template <class P>
constexpr bool pipeline_needs_scales() {
  if constexpr (std::is_same_v<P, RuntimePipeline> || kGates<P>)
    return false;
  else
    return P::kScalesSums;
}

}  // namespace fbg

// Products over their whole argument space: family, ISA, shape, strides, packer of A, stages,
// blocking and threads. Integer products without stages are compared with plain loops, those with
// stages with the stages' scalar forms; all of them must be the same for any blocking and number of
// threads, and nothing outside of the operands may be read or written.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/memory.h"
#include "fbg/gemm/gemm.h"
#include "fuzz/fuzz_input.h"

namespace fbg::fuzz {
namespace {

constexpr std::size_t kRoom = 4 << 20;  // bytes of the largest operand

struct Shape {
  std::int64_t m, n, k;
};

Shape choose_shape(Choices& choices) {
  static constexpr std::int64_t kDepths[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100};
  Shape s{choices.within(0, 30), choices.within(0, 70), choices.one_of(kDepths)};
  switch (choices.byte() % 16) {
    case 0:
      s.k = choices.within(0, 2100);
      break;
    case 1:
      s.n = choices.within(0, 300);
      break;
    case 2:
      s.m = choices.within(0, 200);
      break;
    case 3:
      s.k = 0;
      break;
    default:
      break;
  }
  return s;
}

// Parameters of stages, as long as the product is.
struct StageData {
  std::vector<float> bias, residual;
  std::vector<std::int32_t> integer_bias;
  std::vector<RowExtent> extents;
};

Stage make_stage(Choices& choices, std::uint8_t kind, const Shape& s, StageData& data) {
  switch (kind) {
    case 0:
      return Dequantize{}.stage();
    case 1:
      return Bias{data.bias.data()}.stage();
    case 2:
      return Relu{}.stage();
    case 3:
      return Requantize{choices.number(), choices.byte()}.stage();
    case 4:
      return CorrectZeroPoints{}.stage();
    case 5:
      return BiasInt32{data.integer_bias.data()}.stage();
    case 6:
      return Gelu{}.stage();
    case 7:
      return GeluTanh{}.stage();
    case 8:
      return Clip(choices.number(), choices.number()).stage();
    case 9:
      return Scale(choices.number()).stage();
    case 10:
      return Add(data.residual.data(), s.n).stage();
    case 11:
      return Cast{choices.flag() ? ValueType::float16 : ValueType::bfloat16}.stage();
    case 12:
      return Requantize{choices.number(), choices.byte() - 128, ValueType::int8}.stage();
    default:
      return RowRange(data.extents.data()).stage();
  }
}

// Most cases have one of these chains, by the kinds above, so that they find their kernels ready:
// to generate those of a new chain takes as long as hundreds of products.
struct Chain {
  std::uint8_t count;
  std::uint8_t kinds[4];
};
constexpr Chain kIntegerChains[] = {{0, {}},         {1, {0}},        {2, {0, 1}},
                                    {3, {0, 1, 2}},  {3, {0, 1, 6}},  {4, {0, 1, 7, 13}},
                                    {3, {0, 8, 11}}, {3, {0, 1, 10}}, {1, {3}},
                                    {1, {12}},       {1, {4}},        {3, {4, 5, 2}},
                                    {2, {5, 3}},     {3, {0, 9, 12}}, {3, {5, 0, 13}}};
constexpr Chain kFloatChains[] = {{0, {}},         {1, {1}},     {2, {1, 2}},    {2, {1, 6}},
                                  {3, {1, 7, 13}}, {2, {1, 10}}, {2, {9, 8}},    {1, {11}},
                                  {2, {1, 3}},     {1, {12}},    {3, {2, 1, 13}}};
constexpr std::uint8_t kArbitrary = 16;  // of 256 cases have any stages in any order

std::vector<Stage> choose_stages(Choices& choices, const Shape& s, bool integers, StageData& data) {
  std::vector<Stage> stages;
  const std::uint8_t which = choices.byte();
  if (which < kArbitrary) {
    for (int left = which % 5; left > 0; --left)
      stages.push_back(make_stage(choices, choices.byte() % 14, s, data));
  } else {
    const std::span<const Chain> chains =
        integers ? std::span<const Chain>(kIntegerChains) : kFloatChains;
    const Chain& chain = chains[which % chains.size()];
    for (const std::uint8_t kind : std::span(chain.kinds, chain.count))
      stages.push_back(make_stage(choices, kind, s, data));
  }
  return stages;
}

StageData stage_data(Filler& fill, const Shape& s) {
  StageData data;
  data.bias.resize(static_cast<std::size_t>(s.n));
  data.residual.resize(static_cast<std::size_t>(s.m * s.n));
  data.integer_bias.resize(static_cast<std::size_t>(s.n));
  data.extents.resize(static_cast<std::size_t>(s.m));
  fill.floats(data.bias.data(), s.n);
  fill.floats(data.residual.data(), s.m * s.n);
  fill.integers(data.integer_bias.data(), s.n);
  return data;
}

Blocking choose_blocking(Choices& choices) {
  if (choices.flag()) return {};
  return {static_cast<int>(choices.within(0, 40)), static_cast<int>(choices.within(0, 9)),
          static_cast<int>(choices.within(0, 3)), static_cast<int>(choices.within(0, 5))};
}

struct Run {
  ValueType type;
  std::vector<std::byte> c;  // dense
};

// Nothing where the stages do not fit together.
template <class A, class Acc>
std::optional<Run> run(const A& a, const PackedB<Acc>& b, std::span<const Stage> stages,
                       Features features, const Blocking& blocking, int threads, std::int64_t pad) {
  static GuardedPages c_pages(kRoom), workspace_pages(64 << 20);
  try {
    const Gemm<A, Acc> gemm(b, stages, a.rows(), features, blocking);
    const std::int64_t row = b.cols() * value_size(gemm.output_type());
    const std::int64_t ld = row + pad * value_size(gemm.output_type());
    const std::int64_t bytes = a.rows() == 0 ? 0 : (a.rows() - 1) * ld + row;
    const auto workspace_bytes = static_cast<std::int64_t>(
        round_up(static_cast<std::int64_t>(gemm.workspace_bytes(threads)), 64));
    auto* const c = c_pages.place<std::byte>(bytes);
    auto* const workspace = workspace_pages.place<std::byte>(workspace_bytes);
    for (const Stage& stage : stages)
      if (stage.kind == StageKind::row_range)
        RowRange(static_cast<RowExtent*>(const_cast<void*>(stage.args.data))).reset(a.rows());
    for (int id = 0; id < threads; ++id) gemm.run(a, b, stages, {c, ld}, workspace, id, threads);
    c_pages.require_intact();
    workspace_pages.require_intact();
    Run result{gemm.output_type(),
               std::vector<std::byte>(static_cast<std::size_t>(a.rows() * row))};
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      std::copy_n(c + i * ld, row, result.c.data() + i * row);
      if (i + 1 < a.rows())
        require(std::all_of(c + i * ld + row, c + (i + 1) * ld,
                            [](std::byte x) { return x == std::byte{GuardedPages::kPattern}; }),
                "bytes between the rows of C were written");
    }
    return result;
  } catch (const std::invalid_argument&) {  // PipelineTypeError among them, and K beyond the limit
    return std::nullopt;
  }
}

// What the case does with any operands: two ways to cut the work give the same bits.
template <class A, class Acc>
std::optional<Run> run_twice(const A& a, const PackedB<Acc>& b, std::span<const Stage> stages,
                             Choices& choices) {
  static const std::vector<Isa> isas = supported_isas();
  const Features features = isa_features(choices.element_of(isas));
  const Blocking blocking = choose_blocking(choices);
  const int threads = static_cast<int>(choices.within(1, 5));
  auto first = run(a, b, stages, features, {}, 1, 0);
  const auto second = run(a, b, stages, features, blocking, threads, choices.within(0, 40));
  require(first.has_value() == second.has_value(),
          "whether a product is refused depends on its blocking");
  if (first) require(first->c == second->c, "a blocking or the number of threads changed a result");
  return first;
}

// C of integer operands from plain loops and the scalar forms of the stages. `a` as it is stored:
// zero_point is in its terms.
template <class T>
void check_integers(const Run& got, const Shape& s, const T* a, std::int64_t lda,
                    const std::int8_t* w, float a_scale, std::int32_t a_zero, float b_scale,
                    std::int32_t b_zero, std::span<const Stage> stages) {
  const TypedPipeline typed = type_pipeline(stages, ValueType::acc);
  const std::int64_t size = value_size(got.type);
  const std::int32_t shift = std::is_signed_v<T> ? 128 : 0;  // sums are those of uint8
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      std::int32_t sum = 0, row = 0, column = 0;
      for (std::int64_t p = 0; p < s.k; ++p) {
        const std::int32_t x = a[i * lda + p] + shift, y = w[p * s.n + j];
        sum += x * y;
        row += x;
        column += y;
      }
      const std::int32_t zero = a_zero + shift;
      const Element e{
          i,     j, a_scale, b_scale, zero, b_zero, static_cast<std::int32_t>(s.k) * zero - row,
          column};
      Value value;
      value.i = got.type == ValueType::acc ? sum - shift * column : sum;  // in the terms of A
      for (int k = 0; k < typed.count; ++k)
        value = apply_stage(typed.codes[static_cast<std::size_t>(k)],
                            stages[static_cast<std::size_t>(k)].args, value, e);
      std::byte want[4];
      store_values(&value, 1, got.type, want);
      const std::byte* const at = got.c.data() + (i * s.n + j) * size;
      if (std::equal(want, want + size, at)) continue;
      std::uint32_t wanted = 0, found = 0;
      std::memcpy(&wanted, want, static_cast<std::size_t>(size));
      std::memcpy(&found, at, static_cast<std::size_t>(size));
      for (const Stage& stage : stages)
        std::fprintf(stderr, "%s(%g, %g, %g, %d) ", stage_name(stage.kind), stage.args.f0,
                     stage.args.f1, stage.args.f2, stage.args.i0);
      std::fprintf(stderr, "at (%lld, %lld): sum %d, want %08x, got %08x\n",
                   static_cast<long long>(i), static_cast<long long>(j), sum, wanted, found);
      require(false, "an integer product is not that of plain loops");
    }
}

// Stages whose scalar form gives the bits of the vector form for every operand.
bool is_exact(std::span<const Stage> stages) {
  return std::ranges::none_of(stages, [](const Stage& stage) {
    return stage.kind == StageKind::row_range || stage.kind == StageKind::gelu ||
           stage.kind == StageKind::gelu_tanh;
  });
}

void run_integers(Choices& choices, Filler& fill, const Shape& s, std::span<const Stage> stages) {
  static GuardedPages a_pages(kRoom);
  std::vector<std::int8_t> w(static_cast<std::size_t>(s.k * s.n));
  fill.integers(w.data(), s.k * s.n);
  const bool signed_a = choices.flag(), int16 = choices.flag(), has_scale = choices.flag();
  const float a_scale = 0.02f, b_scale = 0.01f;
  const std::int32_t b_zero = choices.flag() ? choices.byte() - 128 : 0;
  const std::int32_t a_zero = choices.byte() - (signed_a ? 128 : 0);
  const auto b = PackedB<Int32>::pack({w.data(), s.k, s.n, s.n, 1}, {{&b_scale, 1}, {&b_zero, 1}});
  const std::int64_t lda = s.k + choices.within(0, 70);
  const std::int64_t count = s.m == 0 ? 0 : (s.m - 1) * lda + s.k;
  const auto use = [&](const auto& a, const auto* values, float scale, std::int32_t zero) {
    std::optional<Run> got;
    if (int16) {
      const auto split = PackedB<Int16>::split(b, static_cast<int>(choices.within(0, 8)));
      if (!split) return;
      got = run_twice(a, *split, stages, choices);
    } else {
      got = run_twice(a, b, stages, choices);
    }
    if (got && is_exact(stages) && s.k <= kMaxDepthCorrected)
      check_integers(*got, s, values, lda, w.data(), scale, zero, b_scale, b_zero, stages);
  };
  if (signed_a) {
    auto* const a = a_pages.place<std::int8_t>(count);
    fill.integers(a, count);
    use(PackAWithRowOffset<std::int8_t>({a, s.m, s.k, lda, 1}, a_scale, a_zero), a, a_scale,
        a_zero);
  } else {
    auto* const a = a_pages.place<std::uint8_t>(count);
    fill.integers(a, count);
    if (has_scale)
      use(PackAWithRowOffset<std::uint8_t>({a, s.m, s.k, lda, 1}, a_scale, a_zero), a, a_scale,
          a_zero);
    else if (stages.empty())
      use(PackA<std::uint8_t>({a, s.m, s.k, lda, 1}), a, 1.0f, 0);
  }
}

template <class Acc>
void run_floats(Choices& choices, Filler& fill, const Shape& s, std::span<const Stage> stages) {
  static GuardedPages a_pages(kRoom);
  std::vector<float> w(static_cast<std::size_t>(s.k * s.n));
  fill.floats(w.data(), s.k * s.n);
  const std::int64_t pad = choices.within(0, 70);
  const bool transposed = choices.flag();
  const std::int64_t count = s.m == 0     ? 0
                             : transposed ? (s.k == 0 ? 0 : (s.k - 1) * (s.m + pad) + s.m)
                                          : (s.m - 1) * (s.k + pad) + s.k;
  auto* const a = a_pages.place<float>(count);
  fill.floats(a, count);
  if (count > 0 && choices.flag()) a[choices.within(0, count - 1)] = choices.number();
  const MatrixView<const float> view = transposed
                                           ? MatrixView<const float>{a, s.m, s.k, 1, s.m + pad}
                                           : MatrixView<const float>{a, s.m, s.k, s.k + pad, 1};
  const MatrixView<const float> weights{w.data(), s.k, s.n, s.n, 1};
  if constexpr (Acc::kind == Accumulator::int32)
    run_twice(
        PackAWithQuantRowOffset(view, choices.flag()),
        PackedB<Int32>::quantize(
            weights, choices.flag() ? Granularity::column : Granularity::tensor, choices.flag()),
        stages, choices);
  else if constexpr (Acc::kind == Accumulator::bfloat16)
    run_twice(PackAToBFloat16(view), PackedB<BFloat16>::convert(weights), stages, choices);
  else
    run_twice(PackA<float>(view), PackedB<Acc>::convert(weights), stages, choices);
}

void run_case(Choices choices) {
  const Shape s = choose_shape(choices);
  const std::uint8_t family = choices.byte();
  Filler fill(choices);
  StageData data = stage_data(fill, s);
  const bool integers = family % 8 < 2 || family % 8 > 5;
  const std::vector<Stage> stages = choose_stages(choices, s, integers, data);
  switch (family % 8) {
    case 1:
      return run_floats<Int32>(choices, fill, s, stages);
    case 2:
      return run_floats<Float32>(choices, fill, s, stages);
    case 3:
      return run_floats<BFloat16>(choices, fill, s, stages);
    case 4:
      return run_floats<Float32BF16>(choices, fill, s, stages);
    case 5:
      return run_floats<Float32F16>(choices, fill, s, stages);
    default:
      return run_integers(choices, fill, s, stages);
  }
}

}  // namespace
}  // namespace fbg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fbg::fuzz::run_case({data, size});
  return 0;
}

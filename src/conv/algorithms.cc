// The table of all algorithms of convolution, and the choice among them.
#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "conv/algorithm.h"

namespace fbg {

void skip_columns(Stage& stage, std::int64_t columns) noexcept {
  const OperandKind operand = operand_of(stage);
  if (operand == OperandKind::columns || operand == OperandKind::matrix)
    stage.args.data =
        static_cast<const std::byte*>(stage.args.data) + columns * value_size(stage.wanted);
}

std::span<const ConvMethod> conv_methods(GemmType family) {
  using Methods = std::array<std::vector<ConvMethod>, kWeightFormats.size()>;
  // It is never destroyed, because daemon threads may still use it when static objects are.
  static const auto& methods = *new Methods([] {
    std::vector<ConvMethod> all{
        pointwise_method(),          implicit_gemm_method(),  sliding_window_method(),
        channel_vectorized_method(), row_blocked_method(),    im2col_method(),
        blocked_im2col_method(),     flattened_rows_method(), col2im_method()};
    std::ranges::copy(block_diagonal_methods(), std::back_inserter(all));
    std::ranges::copy(winograd_methods(), std::back_inserter(all));
    std::ranges::copy(strassen_methods(), std::back_inserter(all));
    Methods by_family;
    for (std::size_t i = 0; i < by_family.size(); ++i)
      for (const ConvMethod& method : all)
        if (!method.serves || method.serves(static_cast<GemmType>(i)))
          by_family[i].push_back(method);
    return by_family;
  }());
  return methods[static_cast<std::size_t>(family)];
}

namespace {

// Whether the weights of a convolution are narrow for every algorithm: as one run of k, in runs of
// a row of the kernel and of a tap, which differ where the channels of a tap are not whole
// k-groups. Groups of few outputs leave most of a panel empty.
bool is_narrow(const PackedConv& weights, Features features) {
  const ConvGeometry& g = weights.geometry();
  if (weights.family() != GemmType::int32 ||
      (g.groups > 1 && g.group_outputs() < kPanelColumns / 2) ||
      !choose_geometry(GemmType::int32, features | feature::narrow_weights).narrow)
    return false;
  const std::int64_t tap = g.group_inputs();
  for (const std::int64_t run : {g.depth(), g.kernel[2] * tap, tap})
    for (std::int64_t group = 0; group < g.groups; ++group)
      if (!weights.panels(group, run).is_narrow()) return false;
  return true;
}

}  // namespace

ConvProblems conv_problems(const PackedConv& weights, const ConvShape& shape,
                           const std::vector<SubConvolution>& phases, std::span<const Stage> stages,
                           const ConvOptions& options, Features features) {
  const bool has_scale = options.has_scale || options.source == ConvSource::quantize;
  const bool narrow = std::ranges::all_of(
      phases, [&](const SubConvolution& phase) { return is_narrow(phase.weights, features); });
  if (narrow) features |= feature::narrow_weights;
  const bool halves = options.source == ConvSource::widen;
  ConvProblems problems{
      {weights, weights.geometry(), shape, stages, has_scale, features, options.threads, halves},
      {}};
  for (const SubConvolution& phase : phases)
    problems.phases.push_back({phase.weights, phase.geometry, phase.shape, stages, has_scale,
                               features, options.threads, halves});
  return problems;
}

namespace {

bool applies_to(const ConvMethod& method, const ConvProblems& problems) {
  if (method.whole) return method.applies(problems.whole);
  return (problems.phases.size() == 1 || method.any_grid) &&
         std::ranges::all_of(problems.phases, method.applies);
}

double cost_of(const ConvMethod& method, const ConvProblems& problems) {
  if (method.whole) return method.cost(problems.whole);
  double sum = 0;
  for (const ConvProblem& problem : problems.phases) sum += method.cost(problem);
  return sum;
}

// Whether two methods give the same bits for every problem to which both apply.
bool rounds_alike(const ConvMethod& a, const ConvMethod& b, const ConvProblems& problems) {
  const auto in_order = [](const ConvMethod& m) { return m.exact && m.in_kernel_order; };
  return problems.is_integer() || std::string_view(a.name) == b.name ||
         (in_order(a) && in_order(b));
}

// Names that algorithms had before, which programs and tuning files may still contain.
struct FormerName {
  std::string_view former, name;
};
constexpr FormerName kFormerNames[] = {
    {"taps", "implicit_gemm"},     {"lines", "flattened_rows"}, {"patches", "blocked_im2col"},
    {"merged", "block_diagonal"},  {"strips", "row_blocked"},   {"lanewise", "channel_vectorized"},
    {"sliding", "sliding_window"},
};
std::string_view current_name(std::string_view name) {
  const auto* const found = std::ranges::find(kFormerNames, name, &FormerName::former);
  return found == std::end(kFormerNames) ? name : found->name;
}

// "winograd4" has this name and also that of its family.
bool is_called(const char* name, std::string_view wanted) {
  const std::string_view whole = name;
  return wanted == whole || wanted == whole.substr(0, whole.find_last_not_of("0123456789") + 1);
}

}  // namespace

const ConvMethod& choose_method(const ConvProblems& problems, const ConvOptions& options) {
  const std::span<const ConvMethod> methods = conv_methods(problems.whole.family());
  const ConvMethod* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  const std::string_view wanted = current_name(options.algorithm);
  const std::string_view measured = current_name(options.measured);
  const bool direct = wanted == "direct", any = wanted.empty() || direct;
  bool exists = any;
  for (const ConvMethod& method : methods) {
    if (!any && !is_called(method.name, wanted)) continue;
    exists = true;
    if (!applies_to(method, problems)) continue;
    if (any && (options.exact || direct) && !method.exact) continue;
    const double cost = cost_of(method, problems);
    if (cost < least) {
      least = cost;
      best = &method;
    }
  }
  if (best && any)
    for (const ConvMethod& method : methods)
      if (method.name == measured && applies_to(method, problems) &&
          rounds_alike(method, *best, problems))
        return method;
  if (best) return *best;  // im2col applies to everything
  const std::string name(options.algorithm);
  if (!exists) {
    std::string names;
    for (const ConvMethod& method : methods)
      names += std::string(names.empty() ? "" : ", ") + method.name;
    throw std::invalid_argument("conv: algorithm must be 'direct' or one of " + names + ", got '" +
                                name + "'");
  }
  throw std::invalid_argument("conv: algorithm '" + name + "' does not apply to " +
                              to_string(problems.whole.geometry));
}

std::vector<ConvAlgorithm> conv_algorithms(const PackedConv& weights, RuntimePipeline pipeline,
                                           const ConvShape& shape, const ConvOptions& options,
                                           Features features) {
  const std::vector<SubConvolution> phases = decompose_phases(weights, shape);
  const ConvProblems problems = conv_problems(weights, shape, phases, pipeline, options, features);
  const ConvMethod& chosen = choose_method(problems, options);
  std::vector<ConvAlgorithm> found;
  for (const ConvMethod& method : conv_methods(weights.family()))
    if (applies_to(method, problems) && (method.exact || !options.exact))
      found.push_back(
          {method.name, cost_of(method, problems), rounds_alike(method, chosen, problems)});
  std::ranges::sort(found, {}, &ConvAlgorithm::cost);
  return found;
}

}  // namespace fbg

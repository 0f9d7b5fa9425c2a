// The table of all algorithms of convolution, and the choice among them.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "conv/algorithm.h"

namespace fbg {

void skip_columns(Stage& stage, std::int64_t columns) noexcept {
  const OperandKind operand = stage_row(stage.kind).operand.kind;
  if (operand == OperandKind::columns || operand == OperandKind::matrix)
    stage.args.data =
        static_cast<const std::byte*>(stage.args.data) + columns * value_size(stage.wanted);
}

template <class Acc>
std::span<const ConvMethod<Acc>> conv_methods() {
  // Never destroyed: daemon threads may still use it when static objects are.
  static const auto& methods = *new std::vector<ConvMethod<Acc>>([] {
    std::vector<ConvMethod<Acc>> all{pointwise_method<Acc>(), taps_method<Acc>(),
                                     sliding_method<Acc>(),   lanewise_method<Acc>(),
                                     strips_method<Acc>(),    im2col_method<Acc>()};
    if constexpr (Acc::kind == Accumulator::int32) {
      all.push_back(patches_method());
      all.push_back(lines_method());
      all.push_back(merged_method());
    }
    if constexpr (Acc::kind == Accumulator::float32) {
      const auto add = [&](const auto& family) {
        all.insert(all.end(), family.begin(), family.end());
      };
      add(winograd_methods());
      add(strassen_methods());
    }
    return all;
  }());
  return methods;
}

namespace {

// "winograd4" is called so, and also by the name of its family.
bool is_called(const char* name, std::string_view wanted) {
  const std::string_view whole = name;
  return wanted == whole || wanted == whole.substr(0, whole.find_last_not_of("0123456789") + 1);
}

template <class Acc>
std::string method_names() {
  std::string names;
  for (const ConvMethod<Acc>& method : conv_methods<Acc>())
    names += std::string(names.empty() ? "" : ", ") + method.name;
  return names;
}

}  // namespace

template <class Acc>
bool applies_to_parts(const ConvMethod<Acc>& method, std::span<const ConvProblem<Acc>> parts) {
  return (parts.size() == 1 || method.any_grid) && std::ranges::all_of(parts, method.applies);
}

template <class Acc>
double cost_of_parts(const ConvMethod<Acc>& method, std::span<const ConvProblem<Acc>> parts) {
  double sum = 0;
  for (const ConvProblem<Acc>& part : parts) sum += method.cost(part);
  return sum;
}

template <class Acc>
const ConvMethod<Acc>& choose_method(std::span<const ConvProblem<Acc>> parts,
                                     const ConvGeometry& geometry, const ConvOptions& options) {
  const ConvMethod<Acc>* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  const bool direct = options.algorithm == "direct", any = options.algorithm.empty() || direct;
  bool exists = any;
  for (const ConvMethod<Acc>& method : conv_methods<Acc>()) {
    if (!any && !is_called(method.name, options.algorithm)) continue;
    exists = true;
    if (!applies_to_parts(method, parts)) continue;
    if (any && (options.exact || direct) && !method.exact) continue;
    const double cost = cost_of_parts(method, parts);
    if (cost < least) {
      least = cost;
      best = &method;
    }
  }
  if (best && any)
    for (const ConvMethod<Acc>& method : conv_methods<Acc>())
      if (method.name == options.measured && applies_to_parts(method, parts) &&
          rounds_alike(method, *best))
        return method;
  if (best) return *best;  // im2col applies to everything
  const std::string name(options.algorithm);
  if (!exists)
    throw std::invalid_argument("conv: algorithm must be 'direct' or one of " +
                                method_names<Acc>() + ", got '" + name + "'");
  throw std::invalid_argument("conv: algorithm '" + name + "' does not apply to " +
                              to_string(geometry));
}

template std::span<const ConvMethod<Int32>> conv_methods();
template bool applies_to_parts(const ConvMethod<Int32>&, std::span<const ConvProblem<Int32>>);
template double cost_of_parts(const ConvMethod<Int32>&, std::span<const ConvProblem<Int32>>);
template const ConvMethod<Int32>& choose_method(std::span<const ConvProblem<Int32>>,
                                                const ConvGeometry&, const ConvOptions&);
template std::span<const ConvMethod<Int16>> conv_methods();
template bool applies_to_parts(const ConvMethod<Int16>&, std::span<const ConvProblem<Int16>>);
template double cost_of_parts(const ConvMethod<Int16>&, std::span<const ConvProblem<Int16>>);
template const ConvMethod<Int16>& choose_method(std::span<const ConvProblem<Int16>>,
                                                const ConvGeometry&, const ConvOptions&);
template std::span<const ConvMethod<Float32>> conv_methods();
template bool applies_to_parts(const ConvMethod<Float32>&, std::span<const ConvProblem<Float32>>);
template double cost_of_parts(const ConvMethod<Float32>&, std::span<const ConvProblem<Float32>>);
template const ConvMethod<Float32>& choose_method(std::span<const ConvProblem<Float32>>,
                                                  const ConvGeometry&, const ConvOptions&);
template std::span<const ConvMethod<BFloat16>> conv_methods();
template bool applies_to_parts(const ConvMethod<BFloat16>&, std::span<const ConvProblem<BFloat16>>);
template double cost_of_parts(const ConvMethod<BFloat16>&, std::span<const ConvProblem<BFloat16>>);
template const ConvMethod<BFloat16>& choose_method(std::span<const ConvProblem<BFloat16>>,
                                                   const ConvGeometry&, const ConvOptions&);
template std::span<const ConvMethod<Float32BF16>> conv_methods();
template bool applies_to_parts(const ConvMethod<Float32BF16>&,
                               std::span<const ConvProblem<Float32BF16>>);
template double cost_of_parts(const ConvMethod<Float32BF16>&,
                              std::span<const ConvProblem<Float32BF16>>);
template const ConvMethod<Float32BF16>& choose_method(std::span<const ConvProblem<Float32BF16>>,
                                                      const ConvGeometry&, const ConvOptions&);
template std::span<const ConvMethod<Float32F16>> conv_methods();
template bool applies_to_parts(const ConvMethod<Float32F16>&,
                               std::span<const ConvProblem<Float32F16>>);
template double cost_of_parts(const ConvMethod<Float32F16>&,
                              std::span<const ConvProblem<Float32F16>>);
template const ConvMethod<Float32F16>& choose_method(std::span<const ConvProblem<Float32F16>>,
                                                     const ConvGeometry&, const ConvOptions&);

}  // namespace fbg

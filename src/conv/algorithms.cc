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
  const auto skip = [&](std::int64_t bytes) {
    stage.args.data = static_cast<const std::byte*>(stage.args.data) + bytes;
  };
  if (stage.kind == StageKind::bias) skip(columns * 4);
  if (stage.kind == StageKind::add) skip(columns * value_size(stage.wanted));
}

template <class Acc>
std::span<const ConvMethod<Acc>> conv_methods() {
  static const std::vector<ConvMethod<Acc>> methods = [] {
    std::vector<ConvMethod<Acc>> all{pointwise_method<Acc>(), taps_method<Acc>(),
                                     sliding_method<Acc>(), lanewise_method<Acc>(),
                                     im2col_method<Acc>()};
    if constexpr (Acc::kind == Accumulator::float32) {
      const auto winograd = winograd_methods();
      all.insert(all.end(), winograd.begin(), winograd.end());
    }
    return all;
  }();
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
const ConvMethod<Acc>& choose_method(const ConvProblem<Acc>& p, const ConvOptions& options) {
  const ConvMethod<Acc>* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  const bool direct = options.algorithm == "direct", any = options.algorithm.empty() || direct;
  bool exists = any;
  for (const ConvMethod<Acc>& method : conv_methods<Acc>()) {
    if (!any && !is_called(method.name, options.algorithm)) continue;
    exists = true;
    if (!method.applies(p)) continue;
    if (any && (options.exact || direct) && !method.exact) continue;
    const double cost = method.cost(p);
    if (cost < least) {
      least = cost;
      best = &method;
    }
  }
  if (best) return *best;
  const std::string name(options.algorithm);
  if (!exists)
    throw std::invalid_argument("conv: algorithm must be 'direct' or one of " +
                                method_names<Acc>() + ", got '" + name + "'");
  if (any)
    throw std::invalid_argument("conv: no algorithm computes " + to_string(p.geometry) + " yet");
  throw std::invalid_argument("conv: algorithm '" + name + "' does not apply to " +
                              to_string(p.geometry));
}

template std::span<const ConvMethod<Int32>> conv_methods();
template std::span<const ConvMethod<Int16>> conv_methods();
template std::span<const ConvMethod<Float32>> conv_methods();
template std::span<const ConvMethod<BFloat16>> conv_methods();
template std::span<const ConvMethod<Float32BF16>> conv_methods();
template std::span<const ConvMethod<Float32F16>> conv_methods();
template const ConvMethod<Int32>& choose_method(const ConvProblem<Int32>&, const ConvOptions&);
template const ConvMethod<Int16>& choose_method(const ConvProblem<Int16>&, const ConvOptions&);
template const ConvMethod<Float32>& choose_method(const ConvProblem<Float32>&, const ConvOptions&);
template const ConvMethod<BFloat16>& choose_method(const ConvProblem<BFloat16>&,
                                                   const ConvOptions&);
template const ConvMethod<Float32BF16>& choose_method(const ConvProblem<Float32BF16>&,
                                                      const ConvOptions&);
template const ConvMethod<Float32F16>& choose_method(const ConvProblem<Float32F16>&,
                                                     const ConvOptions&);

}  // namespace fbg

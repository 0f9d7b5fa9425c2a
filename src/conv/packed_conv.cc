// Weights of a convolution and the forms that algorithms read them in.
#include "fbg/conv/packed_conv.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "core/float16.h"
#include "core/no_fork.h"

namespace fbg {

template <class Acc>
struct PackedConv<Acc>::State {
  ConvGeometry geometry;
  std::vector<Element> weights;
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point, col_offsets;
  Granularity granularity = Granularity::tensor;

  mutable std::mutex mutex;
  mutable std::map<std::string, Form> forms;
};

namespace {

std::int64_t count_weights(const ConvGeometry& g) {
  g.validate();
  return g.out_channels * g.depth();
}

template <class T>
std::vector<T> spread(std::span<const T> values, std::int64_t count, const char* name) {
  if (values.size() != 1 && static_cast<std::int64_t>(values.size()) != count)
    throw std::invalid_argument(std::string("PackedConv: ") + name + " must have 1 or " +
                                std::to_string(count) + " values, got " +
                                std::to_string(values.size()));
  if (values.size() == 1) return std::vector<T>(static_cast<std::size_t>(count), values[0]);
  return {values.begin(), values.end()};
}

}  // namespace

template <class Acc>
PackedConv<Acc> PackedConv<Acc>::pack(const Element* w, const ConvGeometry& geometry,
                                      WeightQuant quant) {
  auto state = std::make_shared<State>();
  state->geometry = geometry;
  state->weights.assign(w, w + count_weights(geometry));
  const std::int64_t outputs = geometry.out_channels;
  if (!quant.scale.empty()) {
    state->scale = spread(quant.scale, outputs, "scale");
    state->granularity = quant.granularity;
  }
  if (std::ranges::any_of(quant.zero_point, [](std::int32_t z) { return z != 0; }))
    state->zero_point = spread(quant.zero_point, outputs, "zero_point");
  if constexpr (is_integer(Acc::kind)) {
    const std::int64_t depth = geometry.depth();
    state->col_offsets.resize(static_cast<std::size_t>(outputs));
    for (std::int64_t o = 0; o < outputs; ++o) {
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += state->weights[o * depth + k];
      state->col_offsets[o] = sum;
    }
  }
  PackedConv packed;
  packed.state_ = std::move(state);
  return packed;
}

template <class Acc>
PackedConv<Acc> PackedConv<Acc>::convert(const float* w, const ConvGeometry& geometry,
                                         ConvGranularity granularity, bool symmetric) {
  const std::int64_t count = count_weights(geometry), depth = geometry.depth();
  std::vector<Element> elements(static_cast<std::size_t>(count));
  if constexpr (!is_integer(Acc::kind)) {
    std::transform(w, w + count, elements.begin(), [](float x) { return from_float<Element>(x); });
    return pack(elements.data(), geometry);
  } else {
    // One matrix for each set of columns that is quantized together.
    const bool by_group = granularity == ConvGranularity::group;
    const std::int64_t parts = by_group ? geometry.groups : 1;
    const std::int64_t columns = geometry.out_channels / parts;
    std::vector<float> scale;
    std::vector<std::int32_t> zero_point;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t first = part * columns * depth;
      const auto matrix = PackedB<Int32>::quantize(
          {w + first, depth, columns, 1, depth},
          granularity == ConvGranularity::column ? Granularity::column : Granularity::tensor,
          symmetric);
      matrix.unpack({elements.data() + first, depth, columns, 1, depth});
      scale.insert(scale.end(), matrix.scale(), matrix.scale() + columns);
      for (std::int64_t j = 0; j < columns; ++j)
        zero_point.push_back(matrix.zero_point() ? matrix.zero_point()[j] : 0);
    }
    return pack(
        elements.data(), geometry,
        {scale, zero_point,
         granularity == ConvGranularity::column ? Granularity::column : Granularity::tensor});
  }
}

template <class Acc>
const ConvGeometry& PackedConv<Acc>::geometry() const {
  return state_->geometry;
}

template <class Acc>
auto PackedConv<Acc>::weights() const -> std::span<const Element> {
  return state_->weights;
}

template <class Acc>
const float* PackedConv<Acc>::scale() const {
  return state_->scale.empty() ? nullptr : state_->scale.data();
}

template <class Acc>
const std::int32_t* PackedConv<Acc>::zero_point() const {
  return state_->zero_point.empty() ? nullptr : state_->zero_point.data();
}

template <class Acc>
const std::int32_t* PackedConv<Acc>::col_offsets() const {
  return state_->col_offsets.empty() ? nullptr : state_->col_offsets.data();
}

template <class Acc>
std::int64_t PackedConv<Acc>::nbytes() const {
  const State& s = *state_;
  const NoFork no_fork;
  const std::lock_guard lock(s.mutex);
  std::size_t bytes = s.weights.size() * sizeof(Element) + s.scale.size() * sizeof(float) +
                      (s.zero_point.size() + s.col_offsets.size()) * sizeof(std::int32_t);
  for (const auto& [name, form] : s.forms) bytes += static_cast<std::size_t>(form.bytes);
  return static_cast<std::int64_t>(bytes);
}

template <class Acc>
const void* PackedConv<Acc>::form(const std::string& name,
                                  const std::function<Form()>& make) const {
  const State& s = *state_;
  const NoFork no_fork;
  const std::lock_guard lock(s.mutex);
  auto found = s.forms.find(name);
  if (found == s.forms.end()) found = s.forms.emplace(name, make()).first;
  return found->second.object.get();
}

template <class Acc>
const PackedB<Acc>& PackedConv<Acc>::panels(std::int64_t group, std::int64_t run,
                                            std::int64_t unit) const {
  const ConvGeometry& g = geometry();
  const std::int64_t depth = g.depth(), columns = g.group_outputs();
  const std::int64_t padded = round_up(run, unit), runs = depth / run;
  // Without padding, or with that of every product, the matrix is the same for all runs.
  const bool plain = padded == run || (runs == 1 && unit == Acc::format.kr);
  const std::string name =
      "panels " + std::to_string(group) +
      (plain ? "" : " run " + std::to_string(run) + " of " + std::to_string(padded));
  const void* const object = form(name, [&]() -> Form {
    const State& s = *state_;
    const Element* w = s.weights.data() + group * columns * depth;
    WeightQuant quant;
    quant.granularity = s.granularity;
    quant.stores_zeros = true;  // as other groups may have to
    const auto part = [&](const auto& values) {
      return std::span(values).subspan(static_cast<std::size_t>(group * columns),
                                       static_cast<std::size_t>(columns));
    };
    if (!s.scale.empty()) quant.scale = part(s.scale);
    if (!s.zero_point.empty()) quant.zero_point = part(s.zero_point);
    std::vector<Element> spaced;
    MatrixView<const Element> matrix{w, depth, columns, 1, depth};
    if (!plain) {
      spaced.assign(static_cast<std::size_t>(runs * padded * columns), Element{});
      for (std::int64_t r = 0; r < runs * columns; ++r)
        std::copy_n(w + r * run, run, spaced.data() + r * padded);
      matrix = {spaced.data(), runs * padded, columns, 1, runs * padded};
    }
    const auto panels = [&] {
      if constexpr (Acc::kind == Accumulator::int16) {
        const auto exact = PackedB<Int32>::pack(matrix, quant);
        if (auto split = PackedB<Int16>::split(exact, 0)) return *split;
        return *PackedB<Int16>::split(exact, 8);
      } else {
        return PackedB<Acc>::pack(matrix, quant);
      }
    }();
    return {std::make_shared<const PackedB<Acc>>(panels), panels.nbytes()};
  });
  return *static_cast<const PackedB<Acc>*>(object);
}

template class PackedConv<Int32>;
template class PackedConv<Int16>;
template class PackedConv<Float32>;
template class PackedConv<BFloat16>;
template class PackedConv<Float32BF16>;
template class PackedConv<Float32F16>;

}  // namespace fbg

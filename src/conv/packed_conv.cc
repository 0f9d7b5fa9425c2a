// Weights of a convolution and the forms that algorithms read them in.
#include "fbg/conv/packed_conv.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>

#include "core/float16.h"
#include "core/no_fork.h"
#include "kernels/weight_codec.h"

namespace fbg {

struct PackedConv::State {
  GemmType family;
  ConvGeometry geometry;
  std::vector<std::byte> weights;
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

template <class T>
const T* data_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

}  // namespace

PackedConv PackedConv::pack(GemmType family, const void* w, const ConvGeometry& geometry,
                            const WeightQuant& quant) {
  auto state = std::make_shared<State>();
  state->family = family;
  state->geometry = geometry;
  const auto* const bytes = static_cast<const std::byte*>(w);
  state->weights.assign(bytes, bytes + count_weights(geometry) * packed_format(family).b_bytes);
  const std::int64_t outputs = geometry.out_channels, depth = geometry.depth();
  if (!quant.scale.empty()) {
    state->scale = spread(quant.scale, outputs, "scale");
    state->granularity = quant.granularity;
  }
  if (std::ranges::any_of(quant.zero_point, [](std::int32_t z) { return z != 0; }))
    state->zero_point = spread(quant.zero_point, outputs, "zero_point");
  if (is_integer(family))
    for (std::int64_t o = 0; o < outputs; ++o) {
      const auto* const column = static_cast<const std::int8_t*>(w) + o * depth;
      state->col_offsets.push_back(std::accumulate(column, column + depth, std::int32_t{0}));
    }
  PackedConv packed;
  packed.state_ = std::move(state);
  return packed;
}

PackedConv PackedConv::convert(GemmType family, const float* w, const ConvGeometry& geometry,
                               ConvGranularity granularity, bool symmetric) {
  const std::int64_t count = count_weights(geometry), depth = geometry.depth();
  std::vector<std::byte> elements(static_cast<std::size_t>(count * packed_format(family).b_bytes));
  if (!is_integer(family)) {
    kernels::weight_codec(family).round(w, static_cast<std::size_t>(count), elements.data());
    return pack(family, elements.data(), geometry);
  }
  // One matrix for each set of columns that is quantized together.
  const std::int64_t parts = granularity == ConvGranularity::group ? geometry.groups : 1;
  const std::int64_t columns = geometry.out_channels / parts;
  const Granularity of_part =
      granularity == ConvGranularity::column ? Granularity::column : Granularity::tensor;
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t first = part * columns * depth;
    const auto matrix =
        PackedMatrix::quantize({w + first, depth, columns, 1, depth}, of_part, symmetric);
    matrix.unpack(elements.data() + first, 1, depth);
    scale.insert(scale.end(), matrix.scale(), matrix.scale() + columns);
    for (std::int64_t j = 0; j < columns; ++j)
      zero_point.push_back(matrix.zero_point() ? matrix.zero_point()[j] : 0);
  }
  return pack(family, elements.data(), geometry, {scale, zero_point, of_part});
}

GemmType PackedConv::family() const { return state_->family; }
const ConvGeometry& PackedConv::geometry() const { return state_->geometry; }
const std::byte* PackedConv::weights() const { return state_->weights.data(); }
const float* PackedConv::scale() const { return data_or_null(state_->scale); }
const std::int32_t* PackedConv::zero_point() const { return data_or_null(state_->zero_point); }
const std::int32_t* PackedConv::col_offsets() const { return data_or_null(state_->col_offsets); }

WeightQuant PackedConv::quant() const {
  return {state_->scale, state_->zero_point, state_->granularity};
}

std::vector<float> PackedConv::floats() const {
  std::vector<float> values(static_cast<std::size_t>(size()));
  const auto widen = [&]<class T>(const T* w) {
    std::transform(w, w + size(), values.begin(), [](T x) { return to_float(x); });
  };
  if (format().packed.b_bytes == sizeof(float))
    widen(weights<float>());
  else if (family() == GemmType::float32_f16)
    widen(weights<float16>());
  else
    widen(weights<bfloat16>());
  return values;
}

std::int64_t PackedConv::nbytes() const {
  const State& s = *state_;
  const NoFork no_fork;
  const std::lock_guard lock(s.mutex);
  std::size_t bytes = s.weights.size() + s.scale.size() * sizeof(float) +
                      (s.zero_point.size() + s.col_offsets.size()) * sizeof(std::int32_t);
  for (const auto& [name, form] : s.forms) bytes += static_cast<std::size_t>(form.bytes);
  return static_cast<std::int64_t>(bytes);
}

const void* PackedConv::form(const std::string& name, const std::function<Form()>& make) const {
  const State& s = *state_;
  const NoFork no_fork;
  const std::lock_guard lock(s.mutex);
  auto found = s.forms.find(name);
  if (found == s.forms.end()) found = s.forms.emplace(name, make()).first;
  return found->second.object.get();
}

const PackedMatrix& PackedConv::panels(std::int64_t group, std::int64_t run,
                                       std::int64_t unit) const {
  const State& s = *state_;
  const ConvGeometry& g = s.geometry;
  const PackedFormat& packed = format().packed;
  const std::int64_t depth = g.depth(), columns = g.group_outputs(), first = group * columns;
  const std::int64_t padded = round_up(run, unit ? unit : packed.kr), runs = depth / run;
  // Without padding, or with the padding that every product has, all runs make the same matrix.
  const bool plain = padded == run || (runs == 1 && (unit == 0 || unit == packed.kr));
  const std::string name =
      "panels " + std::to_string(group) +
      (plain ? "" : " run " + std::to_string(run) + " of " + std::to_string(padded));
  return form_of(name, [&] {
    const std::byte* const w = s.weights.data() + first * depth * packed.b_bytes;
    WeightQuant quant = this->quant();
    quant.stores_zeros = true;  // because other groups may need them
    const auto part = [&](auto& values) {
      if (!values.empty())
        values = values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(columns));
    };
    part(quant.scale);
    part(quant.zero_point);
    std::vector<std::byte> spaced;
    ElementView matrix{w, depth, columns, 1, depth};
    if (!plain) {
      spaced.resize(static_cast<std::size_t>(runs * padded * columns * packed.b_bytes));
      for (std::int64_t r = 0; r < runs * columns; ++r)
        std::copy_n(w + r * run * packed.b_bytes, run * packed.b_bytes,
                    spaced.data() + r * padded * packed.b_bytes);
      matrix = {spaced.data(), runs * padded, columns, 1, runs * padded};
    }
    if (family() != GemmType::int16) return PackedMatrix::pack(family(), matrix, quant);
    const auto exact = PackedMatrix::pack(GemmType::int32, matrix, quant);
    const auto split = PackedMatrix::split(exact, 0);
    return split ? *split : *PackedMatrix::split(exact, 8);
  });
}

}  // namespace fbg

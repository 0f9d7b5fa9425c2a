// The weights of a convolution, quantized or converted once. Each algorithm reads them in a layout
// of its own, such as the panels of a product or the lanes of a depthwise kernel. A layout is made
// when an algorithm first asks for it, and kept for later uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fbg/conv/geometry.h"
#include "fbg/core/types.h"
#include "fbg/gemm/pack_b.h"

namespace fbg {

// How many scales weights have: one per output channel, one per group of channels, or one.
enum class ConvGranularity : std::uint8_t { column, group, tensor };

class PackedConv {
 public:
  PackedConv() = default;

  // w: dense [out_channels][taps][in_channels / groups] elements of the family, taps in the order
  // depth, height, width; of a transposed convolution too, whose output channel `o` belongs to
  // group o / (O / groups). Scales and zero points: 1 or out_channels of each, or none. Throws
  // std::invalid_argument.
  static PackedConv pack(GemmType family, const void* w, const ConvGeometry& geometry,
                         const WeightQuant& quant = {});
  template <class Acc>
  static PackedConv pack(const typename Acc::B* w, const ConvGeometry& geometry,
                         const WeightQuant& quant = {}) {
    return pack(Acc::kind, w, geometry, quant);
  }

  // Rounds half to even to the element type, or for int8 quantizes as PackedB::quantize does.
  static PackedConv convert(GemmType family, const float* w, const ConvGeometry& geometry,
                            ConvGranularity granularity = ConvGranularity::column,
                            bool symmetric = true);

  GemmType family() const;
  const WeightFormat& format() const { return weight_format(family()); }
  const ConvGeometry& geometry() const;
  std::int64_t size() const { return geometry().out_channels * geometry().depth(); }
  // As they were given to pack().
  const std::byte* weights() const;
  template <class T>
  const T* weights() const {
    return reinterpret_cast<const T*>(weights());
  }
  std::vector<float> floats() const;       // the weights of a family of floats, widened
  const float* scale() const;              // [out_channels], or null
  const std::int32_t* zero_point() const;  // [out_channels], or null where all are 0
  WeightQuant quant() const;               // both, for pack()
  // [out_channels] sums of weights; null for floats
  const std::int32_t* col_offsets() const;
  // Bytes of the weights and of all forms made so far.
  std::int64_t nbytes() const;

  // The weights of one group as the right operand of a product of depth() x group_outputs(), whose
  // k runs over taps and then channels. Each run of `run` consecutive k is padded with zeros to
  // a multiple of `unit`, which is a number of whole k-groups (0: one of them); run = depth() pads
  // the end alone.
  const PackedMatrix& panels(std::int64_t group, std::int64_t run, std::int64_t unit = 0) const;

  // A form of the weights that an algorithm knows by name: made by `make`, which returns the object
  // and its size in bytes, unless it is there. Thread-safe.
  struct Form {
    std::shared_ptr<const void> object;
    std::int64_t bytes = 0;
  };
  const void* form(const std::string& name, const std::function<Form()>& make) const;
  // The same, where `make` returns the object by value, which says its size by `nbytes()` or
  // `size()`.
  template <class Make>
  auto form_of(const std::string& name, Make make) const -> const decltype(make())& {
    using Object = decltype(make());
    return *static_cast<const Object*>(form(name, [&]() -> Form {
      auto object = std::make_shared<const Object>(make());
      if constexpr (requires { object->nbytes(); })
        return {object, static_cast<std::int64_t>(object->nbytes())};
      else
        return {object, static_cast<std::int64_t>(object->size())};
    }));
  }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fbg

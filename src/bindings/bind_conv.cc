// PackedConv and prepared convolutions: validate, release the GIL, run the team phase by phase.
#include <pybind11/stl.h>

#include <memory>
#include <tuple>

#include "bindings/bindings.h"
#include "bindings/gemm_call.h"
#include "bindings/gil.h"
#include "bindings/prepared_call.h"
#include "bindings/products.h"
#include "fbg/conv/conv.h"
#include "fbg/core/threads.h"

namespace fbg::bindings {
namespace {

// A Conv of one shape. Calls from several threads may share it: it is never changed.
struct PreparedConv {
  PackedConv weights;
  ConvSource source;
  int threads;
  Conv conv;

  const ConvGeometry& geometry() const { return weights.geometry(); }
  const ConvShape& shape() const { return conv.shape(); }
  py::dtype output() const { return dtype_of(conv.output_type()); }
  py::dtype input() const {
    if (source == ConvSource::int8) return dtype_of<std::int8_t>();
    if (source == ConvSource::native && weights.family() == GemmType::bfloat16)
      return dtype_of<bfloat16>();
    if (source == ConvSource::quantize || !reads_bytes(weights.family())) return dtype_of<float>();
    return dtype_of<std::uint8_t>();
  }
};

ConvSource source_of(const std::string& name) {
  if (name == "int8") return ConvSource::int8;
  if (name == "round") return ConvSource::round;
  return name == "quantize" ? ConvSource::quantize : ConvSource::native;
}

ConvOptions options_of(const std::string& source, bool has_scale, const std::string& algorithm,
                       const std::string& measured, bool exact, int threads) {
  ConvOptions options;
  options.source = source_of(source);
  options.has_scale = has_scale;
  options.algorithm = algorithm;
  options.measured = measured;
  options.exact = exact;
  options.threads = threads;
  return options;
}

// x as (N, D, H, W, C) with contiguous channels.
ConvInput input_of(const PreparedConv& p, const py::array& x) {
  const ElementType type(p.input());
  const ConvShape& shape = p.shape();
  const std::int64_t size = type.size();
  if (!type.matches(x)) throw py::type_error("conv: x has another dtype than was prepared");
  const std::int64_t sizes[] = {shape.batch, shape.input[0], shape.input[1], shape.input[2],
                                p.geometry().in_channels};
  bool fits = x.ndim() == 5;
  for (int axis = 0; axis < 5 && fits; ++axis)
    fits = x.shape(axis) == sizes[axis] && stride_of(x, axis, size) >= 0;
  if (!fits) throw py::value_error("conv: x has another shape than was prepared");
  if (x.size() == 0) return {};
  if (!is_aligned(x) || stride_of(x, 4, size) != size)
    throw py::value_error("conv: x must be aligned to its elements, with contiguous channels");
  ConvInput input;
  input.data = x.data();
  // An axis of one element has the stride of a dense array.
  const auto stride = [&](int axis, std::int64_t inner) {
    return stride_of(x, axis, inner * x.shape(axis + 1) * size) / size;
  };
  input.strides[2] = stride(3, 1);
  input.strides[1] = stride(2, input.strides[2]);
  input.strides[0] = stride(1, input.strides[1]);
  input.batch_stride = stride(0, input.strides[0]);
  return input;
}

// All phases, without the GIL.
void compute(const PreparedConv& p, const ConvInput& input, const std::vector<Stage>& stages,
             OutputView out, Subnormals subnormals) {
  const GilRelease release;
  const FloatEnvironment environment(subnormals);
  begin_run(stages, p.shape().out_pixels());
  std::byte* const workspace = thread_workspace(p.conv.workspace_bytes());
  for (int phase = 0; phase < p.conv.phases(); ++phase)
    run_shares(p.threads, [&](int thread_id, int threads) noexcept {
      p.conv.run(input, stages, out, workspace, phase, thread_id, threads);
    });
}

py::array run_conv(const PreparedConv& p, const py::array& x, const std::vector<PyStage>& py_stages,
                   float scale, std::int32_t zero_point, const py::object& out,
                   bool flush_subnormals) {
  ConvInput input = input_of(p, x);
  input.scale = scale;
  input.zero_point = zero_point;
  const std::int64_t m = p.shape().out_pixels(), n = p.geometry().out_channels;
  const std::vector<Stage> stages = native_stages(py_stages, m, n, "conv");
  const AOperand a{PackerKind::floats, x, scale, zero_point};
  require_apart(py_stages, a, "conv");
  const py::dtype dtype = p.output();
  py::array c;
  if (out.is_none()) {
    c = new_output(dtype, m, n);
  } else {
    require_output(out, dtype, m, n, a, py_stages, "conv");
    c = py::reinterpret_borrow<py::array>(out);
  }
  compute(p, input, stages, output_view(c), subnormals_of(flush_subnormals));
  return c;
}

// A prepared convolution with its pipeline, for calls in a loop. What the calls share was
// checked by an ordinary call.
class ConvCall {
 public:
  ConvCall(const PreparedConv& prepared, std::vector<PyStage> stages, float scale,
           std::int32_t zero_point, std::vector<py::ssize_t> x_shape,
           std::vector<py::ssize_t> out_shape, Subnormals subnormals)
      : prepared_(prepared),
        py_stages_(std::move(stages)),
        scale_(scale),
        zero_point_(zero_point),
        x_shape_(std::move(x_shape)),
        out_shape_(std::move(out_shape)),
        x_(prepared.input()),
        out_(prepared.output()),
        subnormals_(subnormals) {
    const std::int64_t n = prepared.geometry().out_channels;
    stages_ = native_stages(py_stages_, prepared.shape().out_pixels(), n, "conv");
    for (const PyStage& s : py_stages_) {
      if (s.has_array()) bound_.push_back(byte_range(s.array()));
      if (s.writes()) written_.push_back(bound_.back());
    }
  }

  // Writes the result for x to `out`. False, and nothing done, unless both are dense arrays of the
  // right shapes and types, apart from each other and from those of the stages: other arrays are
  // for an ordinary call, which knows every rule and what to say.
  bool run(py::handle x_object, py::handle out_object) const {
    if (!is_dense(x_object, x_shape_, x_) || !is_dense(out_object, out_shape_, out_)) return false;
    const auto x = py::reinterpret_borrow<py::array>(x_object);
    auto out = py::reinterpret_borrow<py::array>(out_object);
    if (!out.writeable() || x.size() == 0 || out.size() == 0) return false;
    const ByteRange from = byte_range(x), to = byte_range(out);
    const auto none_overlaps = [](const std::vector<ByteRange>& arrays, const ByteRange& bytes) {
      return std::ranges::none_of(arrays, [&](const ByteRange& r) { return bytes.overlaps(r); });
    };
    if (from.overlaps(to) || !none_overlaps(bound_, to) || !none_overlaps(written_, from))
      return false;
    ConvInput input = ConvInput::dense(x.data(), prepared_.geometry(), prepared_.shape());
    input.scale = scale_;
    input.zero_point = zero_point_;
    const OutputView view{out.mutable_data(), out_shape_.back() * out_.size()};
    compute(prepared_, input, stages_, view, subnormals_);
    return true;
  }

 private:
  static bool is_dense(py::handle object, const std::vector<py::ssize_t>& shape,
                       const ElementType& type) {
    if (!py::isinstance<py::array>(object)) return false;
    const auto a = py::reinterpret_borrow<py::array>(object);
    constexpr int kWanted =
        py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
    return std::equal(shape.begin(), shape.end(), a.shape(), a.shape() + a.ndim()) &&
           (a.flags() & kWanted) == kWanted && type.matches(a);
  }

  const PreparedConv& prepared_;
  const std::vector<PyStage> py_stages_;  // owners of the arrays
  const float scale_;
  const std::int32_t zero_point_;
  const std::vector<py::ssize_t> x_shape_, out_shape_;
  const ElementType x_, out_;
  const Subnormals subnormals_;
  std::vector<Stage> stages_;
  std::vector<ByteRange> bound_, written_;  // arrays of the stages; those they write
};

// Weights (O, taps, I / groups), dense, as Python laid them out.
template <class T>
const T* weight_data(const py::array& w, const ConvGeometry& g) {
  if (!has_dtype<T>(w)) throw py::type_error("PackedConv: w has the wrong dtype");
  if (w.ndim() != 3 || w.shape(0) != g.out_channels || w.shape(1) != g.taps() ||
      w.shape(2) != g.group_inputs() || !(w.flags() & py::array::c_style))
    throw py::value_error("PackedConv: w must be dense (O, taps, I / groups), got " +
                          shape_text(w));
  return static_cast<const T*>(w.data());
}

// An array of one value for each output channel, or None.
template <class T>
py::object per_channel(const PackedConv& w, const T* values) {
  if (!values) return py::none();
  return py::array_t<T>(w.geometry().out_channels, values);
}

py::array unpack(const PackedConv& w) {
  const ConvGeometry& g = w.geometry();
  py::array values(dtype_of(w.family()), {g.out_channels, g.taps(), g.group_inputs()});
  std::copy_n(w.weights(), values.nbytes(), static_cast<std::byte*>(values.mutable_data()));
  return values;
}

std::vector<Stage> stages_of(const std::vector<PyStage>& py_stages) {
  std::vector<Stage> stages;
  for (const PyStage& s : py_stages) stages.push_back(s.stage);
  return stages;
}

void bind_weights_of_convs(py::module_& m) {
  bound_class<PackedConv>(m, "ConvWeights")
      .def_property_readonly("dtype", [](const PackedConv& w) { return w.format().name; })
      .def_property_readonly("sums_int16",
                             [](const PackedConv& w) { return w.family() == GemmType::int16; })
      .def_property_readonly("nbytes", &PackedConv::nbytes)
      .def_property_readonly("scale", [](const PackedConv& w) { return per_channel(w, w.scale()); })
      .def_property_readonly("zero_point",
                             [](const PackedConv& w) { return per_channel(w, w.zero_point()); })
      .def("unpack", &unpack)
      .def("algorithms",
           [](const PackedConv& w, std::int64_t batch, Extent3 input,
              const std::vector<PyStage>& stages, const std::string& source, bool has_scale,
              bool exact, Features features) {
             const ConvShape shape = ConvShape::of(w.geometry(), batch, input);
             const ConvOptions options = options_of(source, has_scale, "", "", exact, 1);
             const Features chosen = checked_features(features, "algorithms");
             std::vector<std::tuple<std::string, double, bool>> found;
             for (const ConvAlgorithm& a :
                  conv_algorithms(w, stages_of(stages), shape, options, chosen))
               found.emplace_back(a.name, a.cost, a.same_bits);
             return found;
           })
      .def("prepare", [](const PackedConv& w, std::int64_t batch, Extent3 input,
                         const std::vector<PyStage>& py_stages, const std::string& source,
                         bool has_scale, const std::string& algorithm, const std::string& measured,
                         bool exact, int num_threads, Features features) {
        const ConvGeometry& g = w.geometry();
        const ConvShape shape = ConvShape::of(g, batch, input);
        const int threads = num_threads > 0
                                ? num_threads
                                : default_threads(shape.out_pixels(), g.out_channels, g.depth());
        const std::vector<Stage> stages = stages_of(py_stages);
        const ConvOptions options =
            options_of(source, has_scale, algorithm, measured, exact, threads);
        const Features chosen = checked_features(features, "prepare");
        const GilRelease release;
        return std::make_unique<PreparedConv>(
            PreparedConv{w, options.source, threads, Conv(w, stages, shape, options, chosen)});
      });
}

void bind_prepared(py::module_& m) {
  bound_class<ConvCall>(m, "ConvCall").def("run", &ConvCall::run);
  bound_class<PreparedConv>(m, "PreparedConv")
      .def("run", &run_conv)
      .def(
          "bind",
          [](const PreparedConv& p, const std::vector<PyStage>& stages, float scale,
             std::int32_t zero_point, const std::vector<py::ssize_t>& x_shape,
             const std::vector<py::ssize_t>& out_shape, bool flush_subnormals) {
            return std::make_unique<ConvCall>(p, stages, scale, zero_point, x_shape, out_shape,
                                              subnormals_of(flush_subnormals));
          },
          py::keep_alive<0, 1>())
      .def_property_readonly(
          "output",
          [](const PreparedConv& p) { return std::pair(p.shape().batch, p.shape().output); })
      .def_property_readonly("dtype", &PreparedConv::output)
      .def_property_readonly("algorithm",
                             [](const PreparedConv& p) { return std::string(p.conv.algorithm()); })
      .def_property_readonly("kernel", [](const PreparedConv& p) { return p.conv.kernel_name(); })
      .def_property_readonly("num_threads", [](const PreparedConv& p) { return p.threads; });
}

// Weights of the type that has that name, converted from float.
PackedConv convert(const py::array& w, const ConvGeometry& g, const std::string& dtype,
                   const std::string& granularity, bool symmetric) {
  g.validate();
  const float* const values = weight_data<float>(w, g);
  const auto kind = granularity == "group"    ? ConvGranularity::group
                    : granularity == "tensor" ? ConvGranularity::tensor
                                              : ConvGranularity::column;
  const std::optional<NamedWeights> named = named_weights(dtype);
  require(named.has_value() && !is_int4(named->family), "conv_convert: no such dtype: " + dtype);
  // x is float32: conv_bfloat16 makes weights for images of bfloat16.
  const GemmType family =
      named->family == GemmType::bfloat16 ? GemmType::float32_bf16 : named->family;
  const GilRelease release;
  return PackedConv::convert(family, values, g, kind, symmetric);
}

}  // namespace

void bind_conv(py::module_& m) {
  bound_class<ConvGeometry>(m, "ConvGeometry")
      .def(py::init([](std::int64_t in_channels, std::int64_t out_channels, std::int64_t groups,
                       Extent3 kernel, Extent3 stride, Extent3 dilation, Extent3 pad_before,
                       Extent3 pad_after, bool transposed, Extent3 output_padding) {
        ConvGeometry g{in_channels, out_channels, groups,    kernel,     stride,
                       dilation,    pad_before,   pad_after, transposed, output_padding};
        g.validate();
        return g;
      }))
      .def_readonly("stride", &ConvGeometry::stride)
      .def_readonly("dilation", &ConvGeometry::dilation)
      .def_readonly("pad_before", &ConvGeometry::pad_before)
      .def_readonly("pad_after", &ConvGeometry::pad_after)
      .def_readonly("output_padding", &ConvGeometry::output_padding)
      .def("output_shape", [](const ConvGeometry& g, std::int64_t batch,
                              Extent3 input) { return ConvShape::of(g, batch, input).output; })
      .def("__str__", [](const ConvGeometry& g) { return to_string(g); });
  bind_weights_of_convs(m);
  bind_prepared(m);
  m.def("conv_int8", [](const py::array& w, const ConvGeometry& g,
                        const std::optional<std::vector<float>>& scale,
                        const std::vector<std::int32_t>& zero_point) {
    WeightQuant quant;
    if (scale) quant.scale = *scale;
    quant.zero_point = zero_point;
    return PackedConv::pack<Int32>(weight_data<std::int8_t>(w, g), g, quant);
  });
  m.def("conv_int16", [](const PackedConv& w) {
    require(w.family() == GemmType::int32, "conv_int16: the weights must be int8");
    return PackedConv::pack(GemmType::int16, w.weights(), w.geometry(), w.quant());
  });
  m.def("conv_bfloat16", [](const PackedConv& w) {
    require(w.family() == GemmType::float32_bf16, "conv_bfloat16: the weights must be bfloat16");
    return PackedConv::pack(GemmType::bfloat16, w.weights(), w.geometry());
  });
  m.def("conv_convert", &convert);
}

}  // namespace fbg::bindings

// gemm as Python calls it: validate, find or make the prepared Gemm, release the GIL, run the team.
#include <pybind11/stl.h>

#include <limits>
#include <map>
#include <mutex>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/memory.h"
#include "fbg/gemm.h"
#include "fbg/threads.h"
#include "jit/kernel_cache.h"
#include "jit/peak.h"

namespace fbg::bindings {
namespace {

// A stage and the array that its pointer refers to.
struct PyStage {
  Stage stage;
  py::object owner;
  std::int64_t rows = -1, cols = -1;  // of that array; -1: any
};

// Prepared Gemms outlive every call: there is one per packer type, pipeline and set of features.
template <class A, class Acc>
const Gemm<A, Acc>& prepared(const PackedB<Acc>& b, std::span<const Stage> stages) {
  struct Key {
    Features features;
    std::int64_t k, n;
    bool scale, zero_point;
    std::vector<std::pair<StageKind, ValueType>> stages;
    auto operator<=>(const Key&) const = default;
  };
  static std::mutex mutex;
  static auto* const cache =
      new std::map<Key, Gemm<A, Acc>>;  // leaked: kernels have no owner either
  // Asked once: the limit may change at any time, and the key must say what the Gemm was made for.
  const Features features = active_features();
  Key key{features, b.rows(), b.cols(), b.scale() != nullptr, b.zero_point() != nullptr, {}};
  for (const Stage& s : stages) key.stages.emplace_back(s.kind, s.wanted);
  const std::lock_guard lock(mutex);
  const auto found = cache->find(key);
  if (found != cache->end()) return found->second;
  constexpr auto any_m = std::numeric_limits<std::int32_t>::max();
  return cache->emplace(std::move(key), Gemm<A, Acc>(b, stages, any_m, features)).first->second;
}

std::byte* workspace(std::size_t bytes) {
  thread_local AlignedBuffer buffer;
  if (buffer.size() < bytes) buffer = AlignedBuffer(bytes);
  return buffer.data();
}

py::dtype dtype_of(ValueType type) {
  switch (type) {
    case ValueType::float32:
      return py::dtype::of<float>();
    case ValueType::float16:
      return py::dtype("float16");
    case ValueType::bfloat16:  // as its bits: Python gives them a dtype
      return py::dtype::of<std::uint16_t>();
    case ValueType::uint8:
      return py::dtype::of<std::uint8_t>();
    case ValueType::int8:
      return py::dtype::of<std::int8_t>();
    default:
      return py::dtype::of<std::int32_t>();
  }
}

py::array output_array(const py::object& out, ValueType type, std::int64_t m, std::int64_t n,
                       const py::array& a) {
  const py::dtype dtype = dtype_of(type);
  if (out.is_none()) return py::array(dtype, {m, n});
  if (!py::isinstance<py::array>(out))
    throw py::type_error("gemm: out must be a NumPy array, got " +
                         py::type::of(out).attr("__name__").cast<std::string>());
  const auto array = py::reinterpret_borrow<py::array>(out);
  if (!array.dtype().is(dtype) && !array.dtype().equal(dtype))
    throw py::type_error("gemm: out must be " + py::str(dtype).cast<std::string>() + ", got " +
                         py::str(array.dtype()).cast<std::string>());
  if (array.ndim() != 2 || array.shape(0) != m || array.shape(1) != n)
    throw py::value_error("gemm: out must have shape (" + std::to_string(m) + ", " +
                          std::to_string(n) + "), got " + shape_text(array));
  if (!array.writeable()) throw py::value_error("gemm: out is read-only");
  const std::int64_t size = array.itemsize();
  if (m == 0 || n == 0) return array;
  if (n > 1 && array.strides(1) != size)
    throw py::value_error("gemm: out must have contiguous rows");
  if (m > 1 && array.strides(0) < n * size)
    throw py::value_error("gemm: rows of out overlap or run upwards");
  if ((m > 1 && array.strides(0) % size != 0) ||
      reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(size) != 0)
    throw py::value_error("gemm: out must be aligned to its elements");
  if (may_overlap(array, a)) throw py::value_error("gemm: out may not overlap A");
  return array;
}

// Elements are read by the stage just before they are written: a stage's array may be `out` itself,
// element for element, but not overlap it otherwise.
void require_apart(const py::array& out, const PyStage& stage) {
  if (stage.owner.is_none()) return;
  const auto operand = py::reinterpret_borrow<py::array>(stage.owner);
  const bool same = stage.rows >= 0 && operand.data() == out.data() &&
                    (out.shape(0) <= 1 || operand.strides(0) == out.strides(0));
  if (!same && may_overlap(out, operand))
    throw py::value_error(stage.rows >= 0
                              ? "gemm: out may be the residual of Add, not overlap it in part"
                              : "gemm: out may not overlap the values of Bias");
}

// Below this many multiply-adds, waking a team costs more than it brings.
constexpr double kSerialWork = 1 << 20;

template <class A, class Acc>
py::array run(const A& a, const py::array& source, const PackedB<Acc>& b,
              const std::vector<PyStage>& py_stages, const py::object& out, int num_threads) {
  const std::int64_t m = a.rows(), n = b.cols();
  if (a.depth() != b.rows())
    throw py::value_error("gemm: K of a is " + std::to_string(a.depth()) +
                          ", but packed_b has K = " + std::to_string(b.rows()));
  std::vector<Stage> stages;
  for (const PyStage& s : py_stages) {
    const bool fits = (s.cols < 0 || s.cols == n) && (s.rows < 0 || s.rows == m);
    if (!fits)
      throw py::value_error(std::string("gemm: ") + stage_name(s.stage.kind) + " holds " +
                            (s.rows < 0 ? "" : std::to_string(s.rows) + " x ") +
                            std::to_string(s.cols) + " values, C is " + std::to_string(m) + " x " +
                            std::to_string(n));
    stages.push_back(s.stage);
  }
  const Gemm<A, Acc>& gemm = prepared<A, Acc>(b, stages);
  py::array c = output_array(out, gemm.output_type(), m, n, source);
  if (!out.is_none())
    for (const PyStage& s : py_stages) require_apart(c, s);
  if (m == 0 || n == 0) return c;
  const OutputView view{c.mutable_data(), m > 1 ? c.strides(0) : n * c.itemsize()};
  if (num_threads <= 0) {
    const double work =
        static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(a.depth());
    num_threads = work < kSerialWork ? 1 : fbg::num_threads();
  }
  std::byte* const space = workspace(gemm.workspace_bytes(num_threads));
  const py::gil_scoped_release release;
  run_team(num_threads, [&](int thread_id, int threads) noexcept {
    gemm.run(a, b, stages, view, space, thread_id, threads);
  });
  return c;
}

struct AOperand {
  std::string kind;  // "plain", "row_offset", "quant_row", "quant_tensor"
  py::array array;
  float scale;
  std::int32_t zero_point;
};

template <class Acc>
py::array gemm_int8(const AOperand& a, const PackedB<Acc>& b, const std::vector<PyStage>& stages,
                    const py::object& out, int num_threads) {
  if (a.kind == "plain") {
    const PackA<std::uint8_t> packer(matrix<std::uint8_t>(a.array, "gemm: a with int8 weights"));
    return run(packer, a.array, b, stages, out, num_threads);
  }
  if (a.kind == "row_offset") {
    if (has_dtype<std::int8_t>(a.array))
      return run(PackAWithRowOffset<std::int8_t>(matrix<std::int8_t>(a.array, "gemm: a"), a.scale,
                                                 a.zero_point),
                 a.array, b, stages, out, num_threads);
    return run(PackAWithRowOffset<std::uint8_t>(matrix<std::uint8_t>(a.array, "gemm: a"), a.scale,
                                                a.zero_point),
               a.array, b, stages, out, num_threads);
  }
  return run(PackAWithQuantRowOffset(matrix<float>(a.array, "gemm: a"), a.kind == "quant_row"),
             a.array, b, stages, out, num_threads);
}

template <class Acc>
py::array gemm_float(const AOperand& a, const PackedB<Acc>& b, const std::vector<PyStage>& stages,
                     const py::object& out, int num_threads) {
  if (a.kind != "plain")
    throw py::type_error("gemm: float weights take PackA of float32, not this packer");
  return run(PackA<float>(matrix<float>(a.array, "gemm: a with float weights")), a.array, b, stages,
             out, num_threads);
}

// bfloat16 weights: float rows are multiplied in float, rows packed as bfloat16 by its dot product.
// Rows that are bfloat16 already come as their bits.
py::array gemm_bfloat16(const AOperand& a, const PackedB<BFloat16>& b,
                        const std::vector<PyStage>& stages, const py::object& out,
                        int num_threads) {
  if (a.kind != "bfloat16")
    return gemm_float(a, PackedB<Float32BF16>::share(b), stages, out, num_threads);
  if (has_dtype<float>(a.array))
    return run(PackAToBFloat16(matrix<float>(a.array, "gemm: a")), a.array, b, stages, out,
               num_threads);
  const auto bits = matrix<std::uint16_t>(a.array, "gemm: a");
  const PackA<bfloat16> packer({reinterpret_cast<const bfloat16*>(bits.data), bits.rows, bits.cols,
                                bits.row_stride, bits.col_stride});
  return run(packer, a.array, b, stages, out, num_threads);
}

template <class T>
PyStage bias_stage(const py::array& values) {
  auto a = py::array_t<T, py::array::c_style>::ensure(values);
  if (!a || a.ndim() != 1) throw py::value_error("Bias: values must be 1-D (N,)");
  return {BasicBias<T>{a.data()}.stage(), a, -1, a.size()};
}

// activation(x * w + bias) for a 2-D x, with the pipeline composed here rather than in Python.
template <class Packer, class Acc>
py::array linear(const py::array& x, const PackedB<Acc>& w, const std::optional<py::array>& bias,
                 const std::string& activation, int num_threads) {
  std::vector<PyStage> stages;
  if (is_integer(Acc::kind)) stages.push_back({Dequantize{}.stage(), py::none()});
  if (bias) stages.push_back(bias_stage<float>(*bias));
  if (activation == "relu") stages.push_back({Relu{}.stage(), py::none()});
  if (activation == "gelu") stages.push_back({Gelu{}.stage(), py::none()});
  return run(Packer(matrix<float>(x, "linear: x")), x, w, stages, py::none(), num_threads);
}

template <class Packer, class Acc>
void define_linear(py::module_& m) {
  m.def("linear", &linear<Packer, Acc>, py::arg("x"), py::arg("w"), py::arg("bias"),
        py::arg("activation"), py::arg("num_threads"));
}

}  // namespace

void bind_gemm(py::module_& m) {
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const PipelineTypeError& e) {
      py::set_error(PyExc_TypeError, e.what());
    }
  });
  py::class_<PyStage>(m, "Stage");
  m.def("stage_correct_zero_points", [] {
    return PyStage{CorrectZeroPoints{}.stage(), py::none()};
  });
  m.def("stage_dequantize", [] { return PyStage{Dequantize{}.stage(), py::none()}; });
  m.def("stage_relu", [] { return PyStage{Relu{}.stage(), py::none()}; });
  m.def("stage_gelu", [] { return PyStage{Gelu{}.stage(), py::none()}; });
  m.def("stage_gelu_tanh", [] { return PyStage{GeluTanh{}.stage(), py::none()}; });
  m.def("stage_tanh", [] { return PyStage{Tanh{}.stage(), py::none()}; });
  m.def("stage_sigmoid", [] { return PyStage{Sigmoid{}.stage(), py::none()}; });
  m.def("stage_clip", [](float lo, float hi) { return PyStage{Clip(lo, hi).stage(), py::none()}; });
  m.def("stage_scale", [](float factor) { return PyStage{Scale(factor).stage(), py::none()}; });
  m.def("stage_cast", [](bool bfloat) {
    return PyStage{Cast{bfloat ? ValueType::bfloat16 : ValueType::float16}.stage(), py::none()};
  });
  m.def("stage_bias", [](const py::array& values) {
    return has_dtype<float>(values) ? bias_stage<float>(values) : bias_stage<std::int32_t>(values);
  });
  m.def("stage_add", [](const py::array& residual) {
    const auto view = matrix<float>(residual, "Add: residual");
    if (view.rows > 0 && view.cols > 1 && view.col_stride != 1)
      throw py::value_error("Add: residual must have contiguous rows");
    return PyStage{Add{view.data, view.row_stride}.stage(), residual, view.rows, view.cols};
  });
  m.def("stage_requantize", [](float scale, std::int32_t zero_point, bool is_signed) {
    return PyStage{
        Requantize{scale, zero_point, is_signed ? ValueType::int8 : ValueType::uint8}.stage(),
        py::none()};
  });

  py::class_<AOperand>(m, "AOperand")
      .def(py::init([](std::string kind, py::array array, float scale, std::int32_t zero_point) {
             return AOperand{std::move(kind), std::move(array), scale, zero_point};
           }),
           py::arg("kind"), py::arg("array"), py::arg("scale") = 1.0f, py::arg("zero_point") = 0);
  m.def("gemm", &gemm_int8<Int32>, py::arg("a"), py::arg("b"), py::arg("stages"), py::arg("out"),
        py::arg("num_threads"));
  m.def("gemm", &gemm_int8<Int16>, py::arg("a"), py::arg("b"), py::arg("stages"), py::arg("out"),
        py::arg("num_threads"));
  m.def("gemm", &gemm_float<Float32>, py::arg("a"), py::arg("b"), py::arg("stages"), py::arg("out"),
        py::arg("num_threads"));
  m.def("gemm", &gemm_float<Float32F16>, py::arg("a"), py::arg("b"), py::arg("stages"),
        py::arg("out"), py::arg("num_threads"));
  m.def("gemm", &gemm_bfloat16, py::arg("a"), py::arg("b"), py::arg("stages"), py::arg("out"),
        py::arg("num_threads"));

  define_linear<PackAWithQuantRowOffset, Int32>(m);
  define_linear<PackAWithQuantRowOffset, Int16>(m);
  define_linear<PackA<float>, Float32>(m);
  define_linear<PackA<float>, Float32F16>(m);
  m.def(
      "linear",
      [](const py::array& x, const PackedB<BFloat16>& w, const std::optional<py::array>& bias,
         const std::string& activation, int num_threads) {
        return linear<PackA<float>>(x, PackedB<Float32BF16>::share(w), bias, activation,
                                    num_threads);
      },
      py::arg("x"), py::arg("w"), py::arg("bias"), py::arg("activation"), py::arg("num_threads"));

  m.def("kernels", [] {
    std::vector<std::tuple<std::string, std::string, std::size_t, std::int64_t>> kernels;
    for (const auto& kernel : jit::generated_kernels())
      kernels.emplace_back(kernel.name, isa_name(kernel.key.isa), kernel.bytes, kernel.hits);
    return kernels;
  });
  m.def("kernel_isa", [](const std::string& accumulator) {
    const auto kind = accumulator == "int32"      ? Accumulator::int32
                      : accumulator == "int16"    ? Accumulator::int16
                      : accumulator == "bfloat16" ? Accumulator::bfloat16
                                                  : Accumulator::float32;
    return isa_name(choose_geometry(kind, active_features()).isa);
  });
  m.def("peak_names", &jit::peak_names);
  m.def("measure_peak", &jit::measure_peak, py::arg("name"), py::arg("seconds"),
        py::call_guard<py::gil_scoped_release>());
  m.def("measure_read", &jit::measure_read, py::arg("bytes"), py::arg("seconds"),
        py::call_guard<py::gil_scoped_release>());
}

}  // namespace fbg::bindings

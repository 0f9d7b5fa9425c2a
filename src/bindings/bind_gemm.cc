// gemm as Python calls it: validate, find or make the prepared Gemm, release the GIL, run the team.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "bindings/bindings.h"
#include "bindings/gemm_call.h"
#include "bindings/gil.h"
#include "core/lru_cache.h"
#include "core/policy.h"
#include "fbg/core/threads.h"
#include "kernels/cache.h"
#include "kernels/peak.h"

namespace fbg::bindings {
namespace {

// The arguments for which a Gemm was prepared.
struct PreparedKey {
  PackerKind packer;
  GemmType family;
  Features features;
  std::int64_t max_m, k, n;
  bool scale, zero_point, narrow;
  Blocking blocking;
  std::vector<std::tuple<StageKind, ValueType, Specialization>> stages;
  auto operator<=>(const PreparedKey&) const = default;
};

// Gemms of earlier calls, about 20 kB each: one for every shape of weights, few rows or any number,
// kind of packer, pipeline and set of features. The cache is never destroyed, because daemon
// threads may still use it when static objects are.
using PreparedGemms = LruCache<PreparedKey, GemmDriver>;
constexpr std::size_t kMaxPreparedBytes = 16 << 20;
PreparedGemms& prepared_gemms() {
  static auto* const cache = new PreparedGemms(kMaxPreparedBytes);
  return *cache;
}

GemmDriver prepared(PackedAs as, const PackedMatrix& b, std::span<const Stage> stages,
                    std::int64_t m, const Blocking& blocking) {
  const std::int64_t max_m = m <= policy::gemm::kFewRows
                                 ? policy::gemm::kFewRows
                                 : std::int64_t{std::numeric_limits<std::int32_t>::max()};
  // Asked once: the limit may change at any time, and the key must record it.
  const Features features = active_features();
  PreparedKey key{as.packer,
                  as.family,
                  features,
                  max_m,
                  b.rows(),
                  b.cols(),
                  b.scale() != nullptr,
                  b.header().has_zero_point != 0,
                  b.is_narrow(),
                  blocking,
                  {}};
  for (const Stage& s : stages) key.stages.emplace_back(s.kind, s.wanted, s.specialization);
  return prepared_gemms().get(key, [&] {
    GemmDriver gemm(product_types(as.packer, as.family), b, pipeline_view(stages), max_m,
                    b.with_weights(features), blocking);
    const std::size_t bytes = gemm.nbytes();
    return PreparedGemms::Sized{std::move(gemm), bytes};
  });
}

py::array run(const AOperand& operand, PackedAs as, const Matrix& x, const PackedMatrix& b,
              const std::vector<PyStage>& py_stages, const py::object& out, int num_threads,
              bool flush_subnormals, const Blocking& blocking = {}) {
  const std::int64_t m = x.rows, n = b.cols(), k = b.rows();
  if (x.cols != k)
    throw py::value_error("gemm: K of a is " + std::to_string(x.cols) +
                          ", but packed_b has K = " + std::to_string(k));
  // The packer checked it, but an array's shape can be assigned to.
  if (operand.row_range && operand.row_range->shape(0) != m)
    throw py::value_error("gemm: the row_range of a has " +
                          std::to_string(operand.row_range->shape(0)) + " rows, a has " +
                          std::to_string(m));
  require_channel_scale(operand, k, "gemm");
  require_scale(operand, py_stages, "gemm");
  const std::vector<Stage> stages = native_stages(py_stages, m, n, "gemm");
  const GemmDriver gemm = prepared(as, b, stages, m, blocking);
  const py::dtype dtype = dtype_of(gemm.output_type());
  require_apart(py_stages, operand, "gemm");
  if (!out.is_none()) require_output(out, dtype, m, n, operand, py_stages, "gemm");
  py::array c = out.is_none() ? new_output(dtype, m, n) : py::reinterpret_borrow<py::array>(out);
  if (m == 0 || n == 0) {
    begin_run(stages, m);
    return c;
  }
  const OutputView view = output_view(c);
  if (num_threads <= 0) num_threads = default_threads(m, n, k);
  std::byte* const space = thread_workspace(gemm.workspace_bytes(num_threads));
  const GilRelease release;
  const FloatEnvironment environment(subnormals_of(flush_subnormals));
  run_product(gemm, as.packer, operand, x, b, stages, view, space, num_threads);
  return c;
}

py::array gemm(const PackedMatrix& b, const AOperand& a, const std::vector<PyStage>& stages,
               const py::object& out, int num_threads, bool flush_subnormals) {
  const char* const name = name_by_weights(b, "gemm: a for int4 weights",
                                           "gemm: a for int8 weights", "gemm: a for float weights");
  const PackedAs as = packed_as(a, b.family(), "gemm");
  return run(a, as, source(as.packer, a.array, name), b, stages, out, num_threads,
             flush_subnormals);
}

// activation(x * w + bias) for a 2-D x, with the pipeline composed here rather than in Python.
// rounds: x to bfloat16. Measurements name a blocking: the members of Blocking in order.
py::array linear(const PackedMatrix& w, const py::array& x, const std::optional<py::array>& bias,
                 const std::string& activation, int num_threads, bool flush_subnormals, bool rounds,
                 const std::optional<std::array<int, 4>>& blocking) {
  std::vector<PyStage> stages;
  if (is_integer(w.family())) stages.push_back(make_stage(stage_row(StageKind::dequantize)));
  if (bias) {
    if (!has_dtype<float>(*bias))
      throw py::type_error("linear: bias must be float32, got " +
                           py::str(bias->dtype()).cast<std::string>());
    if (bias->ndim() != 1 || bias->shape(0) != w.cols())
      throw py::value_error("linear: bias must have shape (" + std::to_string(w.cols()) +
                            ",), got " + shape_text(*bias));
    stages.push_back(make_stage(stage_row(StageKind::bias), {}, *bias));
  }
  if (!activation.empty()) stages.push_back(function_stage(activation));
  const AOperand a{reads_bytes(w.family()) ? PackerKind::quantized
                   : rounds                ? PackerKind::to_bfloat16
                                           : PackerKind::floats,
                   x};
  const PackedAs as = packed_as(a, w.family(), "linear");
  const Matrix rows = source(as.packer, x, "linear: x");
  if (rows.cols != w.rows())
    throw py::value_error("linear: x must have shape (..., " + std::to_string(w.rows()) +
                          "), got " + shape_text(x));
  Blocking chosen;
  if (blocking) chosen = {(*blocking)[0], (*blocking)[1], (*blocking)[2], (*blocking)[3]};
  return run(a, as, rows, w, stages, py::none(), num_threads, flush_subnormals, chosen);
}

// The types of sums, by the names of their dtypes.
struct NamedGemmType {
  std::string_view name;
  GemmType kind;
};
constexpr NamedGemmType kGemmTypes[] = {{"int32", GemmType::int32},
                                        {"int16", GemmType::int16},
                                        {"float32", GemmType::float32},
                                        {"bfloat16", GemmType::bfloat16},
                                        {"int4", GemmType::int4_g32}};

}  // namespace

void bind_gemm(py::module_& m) {
  bound_class<AOperand>(m, "AOperand")
      .def_static(
          "plain",
          [](const py::array& array, bool rounds) {
            const bool bits = has_dtype<bfloat16>(array);
            return AOperand{bits                             ? PackerKind::bfloat16s
                            : rounds                         ? PackerKind::to_bfloat16
                            : has_dtype<std::uint8_t>(array) ? PackerKind::bytes
                                                             : PackerKind::floats,
                            array};
          },
          py::arg("array"), py::arg("rounds"))
      .def_static(
          "with_offset",
          [](const py::array& array, std::optional<float> scale, std::int32_t zero_point) {
            const bool is_signed = has_dtype<std::int8_t>(array);
            return AOperand{is_signed ? PackerKind::offset_int8 : PackerKind::offset_uint8, array,
                            scale, zero_point};
          },
          py::arg("array"), py::arg("scale"), py::arg("zero_point"))
      .def_static(
          "quantized",
          [](const py::array& array, bool per_row, const std::optional<py::array>& row_range,
             const std::optional<py::array>& channel_scale) {
            if (row_range) require_extents(*row_range, "PackAWithQuantRowOffset: row_range");
            return AOperand{PackerKind::quantized, array, 1.0f, 0, per_row, row_range,
                            channel_scale};
          },
          py::arg("array"), py::arg("per_row") = true, py::arg("row_range") = py::none(),
          py::arg("channel_scale") = py::none());
  // Methods of the weights, which bind_pack.cc binds.
  const py::handle weights = py::type::of<PackedMatrix>();
  const auto define = [&](const char* name, auto function, auto... arguments) {
    py::setattr(weights, name,
                py::cpp_function(function, py::name(name), py::is_method(weights), arguments...));
  };
  define("gemm", &gemm, py::arg("a"), py::arg("stages"), py::arg("out"), py::arg("num_threads"),
         py::arg("flush_subnormals"));
  define("linear", &linear, py::arg("x"), py::arg("bias"), py::arg("activation"),
         py::arg("num_threads"), py::arg("flush_subnormals"), py::arg("rounds") = false,
         py::arg("blocking") = py::none());

  m.def("prepared_gemm_bytes", [] { return prepared_gemms().bytes(); });
  m.def("kernels", [] {
    std::vector<std::tuple<std::string, std::string, std::string, std::size_t, std::int64_t>>
        kernels;
    for (const auto& kernel : kernels::generated_kernels())
      kernels.emplace_back(kernels::kernel_kind_name(kernel.kind), kernel.name,
                           isa_name(kernel.isa), kernel.bytes, kernel.hits);
    return kernels;
  });
  m.def("kernel_isa", [](const std::string& accumulator) {
    const auto found = std::ranges::find(kGemmTypes, accumulator, &NamedGemmType::name);
    if (found == std::end(kGemmTypes))
      throw py::value_error(
          "kernel_isa: accumulator must be int32, int16, float32, bfloat16 or int4, got '" +
          accumulator + "'");
    const GemmType kind = found->kind;
    return isa_name(choose_geometry(kind, active_features(), {}, kMaxDepthRaw).isa);
  });
  m.def("peak_names", &kernels::peak_names);
  m.def("measure_peak", &kernels::measure_peak, py::arg("name"), py::arg("seconds"),
        py::call_guard<GilRelease>());
  m.def("measure_read", &kernels::measure_read, py::arg("bytes"), py::arg("seconds"),
        py::call_guard<GilRelease>());
}

}  // namespace fbg::bindings

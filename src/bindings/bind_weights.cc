// Weights of linear layers as a checkpoint keeps them: packing, and statistics for smoothing.
// See gemm/pack_linear.h. Results are the same for any number of threads.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/products.h"
#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"
#include "gemm/pack_linear.h"
#include "simd/kernels.h"

namespace fbg::bindings {
namespace {

using Vector = py::array_t<float, py::array::c_style>;

std::vector<float> values(const std::optional<Vector>& array) {
  if (!array) return {};
  return {array->data(), array->data() + array->size()};
}

LinearWeights linear_weights(const std::vector<py::array>& parts,
                             const std::optional<Vector>& divisor,
                             const std::optional<Vector>& factor) {
  LinearWeights weights{{}, values(divisor), values(factor)};
  for (const py::array& part : parts)
    weights.parts.push_back(matrix<float>(part, "pack_linear: a part"));
  weights.check();
  return weights;
}

PackedMatrix pack_linear(const std::vector<py::array>& parts, const std::string& dtype,
                         const std::optional<Vector>& divisor, const std::optional<Vector>& factor,
                         float limit, bool checksum, int num_threads) {
  LinearWeights weights = linear_weights(parts, divisor, factor);
  const std::optional<NamedWeights> named = named_weights(dtype);
  require(named.has_value(), "pack_linear: no such dtype: " + dtype);
  const GilRelease release;
  LinearPacker packer(named->family, std::move(weights), limit, !named->has_offsets);
  run_shares(num_threads, [&](int thread_id, int n) { packer.run(thread_id, n); });
  return packer.finish(checksum);
}

Vector largest_weights(const std::vector<py::array>& parts, const std::optional<Vector>& divisor,
                       int num_threads) {
  const LinearWeights weights = linear_weights(parts, divisor, std::nullopt);
  const std::int64_t k = weights.inputs();
  Vector largest(k);
  std::fill_n(largest.mutable_data(), k, 0.0f);
  {
    float* const result = largest.mutable_data();
    const GilRelease release;
    const FloatEnvironment environment;
    // Each thread has outputs of its own; their results are the rows of `partial`.
    std::vector<float> partial(static_cast<std::size_t>(k * std::max(num_threads, 1)), 0.0f);
    run_shares(num_threads, [&](int thread_id, int n) {
      const std::int64_t outputs = weights.outputs();
      widen_magnitudes(weights, {outputs * thread_id / n, outputs * (thread_id + 1) / n},
                       partial.data() + k * thread_id);
    });
    const auto& kernels = simd::kernels(active_features()).weights;
    for (std::size_t row = 0; row < partial.size(); row += static_cast<std::size_t>(k))
      kernels.widen_magnitudes(partial.data() + row, 1.0f, static_cast<std::size_t>(k), result);
  }
  return largest;
}

// A copy as floats of a contiguous array of them, or of float16 or bfloat16 as bits; and the
// largest magnitude in it: NaN where it holds one.
py::tuple copy_floats(const py::array& x, bool is_bfloat16, int num_threads) {
  const bool wide = has_dtype<float>(x);
  require((wide || has_dtype<std::uint16_t>(x)) && x.flags() & py::array::c_style && is_aligned(x),
          "copy_floats: x must be a contiguous array of floats or of bits of 16");
  constexpr std::int64_t kChunk = policy::tensors::kBytes;
  Vector copy(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
  std::vector<float> largest(static_cast<std::size_t>(num_threads), 0.0f);
  {
    const auto* const floats = static_cast<const float*>(x.data());
    const auto* const halves = static_cast<const std::uint16_t*>(x.data());
    float* const to = copy.mutable_data();
    const std::int64_t size = x.size(), chunks = ceil_div(size, kChunk);
    const GilRelease release;
    const FloatEnvironment environment;
    const auto& rows = simd::kernels(active_features()).rows;
    const auto& kernels = simd::kernels(active_features()).weights;
    const auto widen = is_bfloat16 ? rows.bfloat16_to_float : rows.half_to_float;
    run_shares(num_threads, [&](int thread_id, int n) {
      const std::int64_t end = std::min(size, chunks * (thread_id + 1) / n * kChunk);
      float magnitudes[kChunk] = {};
      for (std::int64_t i = chunks * thread_id / n * kChunk; i < end; i += kChunk) {
        const auto count = static_cast<std::size_t>(std::min(kChunk, end - i));
        if (wide)
          std::copy_n(floats + i, count, to + i);
        else
          widen(halves + i, count, to + i);
        kernels.widen_magnitudes(to + i, 1.0f, count, magnitudes);
      }
      largest[static_cast<std::size_t>(thread_id)] =
          kernels.largest_magnitude(magnitudes, 1.0f, nullptr, kChunk);
    });
    largest[0] = kernels.largest_magnitude(largest.data(), 1.0f, nullptr, largest.size());
  }
  return py::make_tuple(std::move(copy), largest[0]);
}

py::array_t<double> sum_squares(const py::array& x, int num_threads) {
  const auto view = matrix<float>(x, "sum_squares: x");
  require(view.col_stride == 1, "sum_squares: rows of x must be contiguous");
  py::array_t<double> sums(view.cols);
  double* const result = sums.mutable_data();
  const GilRelease release;
  const auto& kernels = simd::kernels(active_features()).weights;
  run_shares(num_threads, [&](int thread_id, int n) {
    const std::int64_t begin = view.cols * thread_id / n, end = view.cols * (thread_id + 1) / n;
    kernels.sum_squares(view.data + begin, static_cast<std::size_t>(view.rows),
                        static_cast<std::size_t>(view.row_stride),
                        static_cast<std::size_t>(end - begin), result + begin);
  });
  return sums;
}

}  // namespace

void bind_weights(py::module_& m) {
  m.def("pack_linear", &pack_linear, py::arg("parts"), py::arg("dtype"), py::arg("divisor"),
        py::arg("factor"), py::arg("limit"), py::arg("checksum"), py::arg("num_threads"));
  m.def("largest_weights", &largest_weights, py::arg("parts"), py::arg("divisor"),
        py::arg("num_threads"));
  m.def("copy_floats", &copy_floats, py::arg("x"), py::arg("is_bfloat16"), py::arg("num_threads"));
  m.def("sum_squares", &sum_squares, py::arg("x"), py::arg("num_threads"));
}

}  // namespace fbg::bindings

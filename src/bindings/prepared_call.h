// A product with its weights, its stages and the arrays of its packer: a call checks x and out,
// then runs the kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bindings/gemm_call.h"
#include "bindings/gil.h"
#include "core/memory.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"

namespace fbg::bindings {

// A workspace for one call at a time. A call that meets another one works in its thread's own
// memory instead: it neither waits nor disturbs.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : buffer_(bytes) {}

  class Lease {
   public:
    explicit Lease(Workspace& workspace)
        : workspace_(workspace.busy_.test_and_set(std::memory_order_acquire) ? nullptr
                                                                             : &workspace),
          data_(workspace_ ? workspace.buffer_.data()
                           : thread_workspace(workspace.buffer_.size())) {}
    ~Lease() {
      if (workspace_) workspace_->busy_.clear(std::memory_order_release);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* data() const { return data_; }

   private:
    Workspace* const workspace_;
    std::byte* const data_;
  };

 private:
  AlignedBuffer buffer_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

// Element type of an array, known by its number: comparing dtypes as Python does takes longer than
// all the rest of a check.
class ElementType {
 public:
  explicit ElementType(py::dtype dtype) : dtype_(std::move(dtype)), number_(dtype_.num()) {}
  bool matches(const py::array& a) const {
    const py::dtype dtype = a.dtype();
    return dtype.num() == number_ && dtype.byteorder() != kSwapped;
  }
  const py::dtype& dtype() const { return dtype_; }
  std::int64_t size() const { return dtype_.itemsize(); }

 private:
  static constexpr char kSwapped = std::endian::native == std::endian::little ? '>' : '<';
  py::dtype dtype_;
  int number_;
};

inline constexpr const char* kPreparedCall = "PreparedCall";

class PreparedCall {
 public:
  // `sample` stands for the operands of calls.
  PreparedCall(const AOperand& sample, PackedAs as, const PackedMatrix& b,
               std::vector<PyStage> stages, std::int64_t rows, py::dtype x,
               std::optional<py::dtype> out, int num_threads, Subnormals subnormals,
               std::string text, py::tuple origin)
      : packer_(as.packer),
        a_(sample),
        b_(b),
        rows_(rows),
        stages_(std::move(stages)),
        native_stages_(native_stages(stages_, rows, b_.cols(), "prepare")),
        gemm_(product_types(packer_, as.family), b_,
              pipeline_view(std::span<const Stage>(native_stages_)), rows,
              b_.with_weights(active_features())),
        x_(std::move(x)),
        out_(out ? *std::move(out) : dtype_of(gemm_.output_type())),
        out_size_(out_.size()),
        chosen_(num_threads > 0),
        num_threads_(chosen_ ? num_threads : default_threads(rows, n(), k())),
        subnormals_(subnormals),
        workspace_(gemm_.workspace_bytes(num_threads_)),
        text_(std::move(text)),
        origin_(std::move(origin)) {
    for (const PyStage& s : stages_) {
      if (s.has_array()) bound_.push_back(byte_range(s.array()));
      if (s.writes()) written_.push_back(bound_.back());
    }
    if (a_.row_range) bound_.push_back(byte_range(*a_.row_range));
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t k() const { return b_.rows(); }
  std::int64_t n() const { return b_.cols(); }
  int num_threads() const { return num_threads_; }
  std::string kernel() const { return gemm_.kernel_name(rows_, num_threads_); }
  const py::dtype& dtype() const { return out_.dtype(); }
  const py::tuple& origin() const { return origin_; }
  std::string repr() const {
    return std::string(kPreparedCall) + "(" + text_ +
           ", num_threads=" + std::to_string(num_threads_) + ")";
  }

  // Writes the product to `out`, or to an array of its own where that is None; returns it.
  py::object operator()(py::handle x_object, py::handle out_object) {
    auto out = py::reinterpret_borrow<py::object>(out_object);
    if (out.is_none()) out = new_output(out_.dtype(), require_x(x_object).rows, n());
    run(x_object, out, 1);
    return out;
  }

  // Seconds for the product alone, from checked arrays on: the mean of `repeats`.
  double seconds(py::handle x_object, py::handle out_object, int repeats) {
    const auto start = std::chrono::steady_clock::now();
    run(x_object, out_object, repeats);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return elapsed.count() / repeats;
  }

 private:
  void run(py::handle x_object, py::handle out_object, int repeats) {
    const Matrix x = require_x(x_object);
    const Matrix out = require_out(out_object, x_object, x);
    if (x.rows == 0) return;
    const int threads =
        chosen_ ? num_threads_ : std::min(num_threads_, default_threads(x.rows, n(), k()));
    const Workspace::Lease workspace(workspace_);
    const GilRelease release;
    const FloatEnvironment environment(subnormals_);
    for (int i = 0; i < repeats; ++i)
      run_product(gemm_, packer_, a_, x, b_, native_stages_, {out.data, out.row_stride},
                  workspace.data(), threads);
  }

  Matrix require_x(py::handle object) const {
    if (!py::isinstance<py::array>(object)) [[unlikely]]
      refuse_x(object);
    const auto x = py::reinterpret_borrow<py::array>(object);
    const bool fits = x.ndim() == 2 && x.shape(0) <= rows_ && x.shape(1) == k() && x_.matches(x) &&
                      (x.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_);
    if (!fits) [[unlikely]]
      refuse_x(x);
    return {const_cast<void*>(x.data()), x.shape(0), x.shape(1), x.strides(0), x.strides(1)};
  }

  [[noreturn]] void refuse_x(py::handle object) const {
    const std::string name = std::string(kPreparedCall) + ": x";
    if (!py::isinstance<py::array>(object)) throw no_array(object, name);
    const auto x = py::reinterpret_borrow<py::array>(object);
    if (!x_.matches(x))
      throw py::type_error(name + " must be " + py::str(x_.dtype()).cast<std::string>() + ", got " +
                           py::str(x.dtype()).cast<std::string>() + conversion(x));
    if (x.ndim() != 2 || x.shape(0) > rows_ || x.shape(1) != k())
      throw py::value_error(name + " must have shape (M, " + std::to_string(k()) +
                            ") with M <= " + std::to_string(rows_) + ", got " + shape_text(x));
    throw py::value_error(name + " must be aligned to its elements");
  }

  // How x gets the dtype that was prepared, where its values are real numbers of another width.
  std::string conversion(const py::array& x) const {
    const bool floats = x_.dtype().kind() == 'f' && x.dtype().kind() == 'f';
    return floats ? "; convert it with astype(np.float32)" : "";
  }

  // Quick checks settle most calls; require_output() knows every rule and what to say.
  Matrix require_out(py::handle object, py::handle x_object, const Matrix& x) const {
    if (py::isinstance<py::array>(object)) [[likely]] {
      const auto out = py::reinterpret_borrow<py::array>(object);
      constexpr int wanted =
          py::detail::npy_api::NPY_ARRAY_ALIGNED_ | py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
      if (out.ndim() == 2 && out.shape(0) == x.rows && out.shape(1) == n() && out_.matches(out) &&
          (out.flags() & wanted) == wanted && out.strides(1) == out_size_ &&
          out.strides(0) >= n() * out_size_ && out.strides(0) % out_size_ == 0) {
        const Matrix c{const_cast<void*>(out.data()), x.rows, n(), out.strides(0), out_size_};
        if (is_apart(c, x)) return c;
      }
    }
    AOperand a = a_;
    a.array = py::reinterpret_borrow<py::array>(x_object);
    require_apart(stages_, a, kPreparedCall);
    require_output(py::reinterpret_borrow<py::object>(object), out_.dtype(), x.rows, n(), a,
                   stages_, kPreparedCall);
    auto out = py::reinterpret_borrow<py::array>(object);
    const OutputView view = output_view(out);
    return {view.data, x.rows, n(), view.ld, out_size_};
  }

  // Whether the bytes between the first and the last of `out` hold none of x or of the arrays that
  // are bound, and those of x none that is written.
  bool is_apart(const Matrix& out, const Matrix& x) const {
    if (x.row_stride < 0 || x.col_stride < 0) return false;
    const auto range = [](const Matrix& m, std::int64_t size) {
      const auto* begin = static_cast<const char*>(m.data);
      return ByteRange{begin,
                       begin + (m.rows - 1) * m.row_stride + (m.cols - 1) * m.col_stride + size};
    };
    const ByteRange result = range(out, out_size_), source = range(x, x_.size());
    const auto none_overlaps = [](const std::vector<ByteRange>& arrays, const ByteRange& bytes) {
      return std::ranges::none_of(arrays, [&](const ByteRange& r) { return bytes.overlaps(r); });
    };
    return !result.overlaps(source) && none_overlaps(bound_, result) &&
           none_overlaps(written_, source);
  }

  const PackerKind packer_;
  const AOperand a_;
  const PackedMatrix b_;
  const std::int64_t rows_;
  const std::vector<PyStage> stages_;
  const std::vector<Stage> native_stages_;
  const GemmDriver gemm_;
  const ElementType x_, out_;
  const std::int64_t out_size_;
  std::vector<ByteRange> bound_, written_;  // arrays that calls share; those they write
  const bool chosen_;                       // by the caller
  const int num_threads_;
  const Subnormals subnormals_;
  Workspace workspace_;
  const std::string text_;
  const py::tuple origin_;  // a function and its arguments, which prepare such a call again
};

}  // namespace fbg::bindings

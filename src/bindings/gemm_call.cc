// Checks and memory that calls of a product share.
#include "bindings/gemm_call.h"

#include "core/memory.h"
#include "core/policy.h"
#include "fbg/core/threads.h"

namespace fbg::bindings {
namespace {

// A stage's array may be `out` itself, element for element, but not overlap it otherwise; one that
// the stage writes may not touch it at all.
void require_apart(const py::array& out, const PyStage& stage, const char* function) {
  if (!stage.has_array()) return;
  const py::array operand = stage.array();
  const StageRow& row = stage_row(stage.stage.kind);
  const bool residual = row.operand.kind == OperandKind::matrix;
  const bool same = residual && operand.data() == out.data() &&
                    operand.itemsize() == out.itemsize() &&
                    stride_of(operand, 0, 0) == stride_of(out, 0, 0);
  if (same || !may_overlap(out, operand)) return;
  const std::string name = std::string(function) + ": out";
  if (residual)
    throw py::value_error(name + " may be the " + row.operand.name + " of " + row.name +
                          ", but must not overlap it in part");
  throw py::value_error(name + " must not overlap the array of " + row.name);
}

}  // namespace

PackedAs packed_as(const AOperand& a, GemmType weights, const char* function) {
  const auto refuse = [&](const char* reason) {
    throw py::type_error(std::string(function) + ": " + reason);
  };
  const bool bfloat16s = a.packer == PackerKind::to_bfloat16 || a.packer == PackerKind::bfloat16s;
  const bool plain = a.packer == PackerKind::bytes || a.packer == PackerKind::floats;
  if (!reads_bytes(weights)) {
    // bfloat16 weights: float rows are multiplied in float, rows packed as bfloat16 by its dot
    // product.
    if (weights == GemmType::bfloat16 && bfloat16s) return {a.packer, weights};
    if (!plain) refuse("float weights take PackA of float32, not this packer");
    if (weights == GemmType::float16 && multiplies_halves(active_features()))
      return {PackerKind::to_float16, weights};
    if (weights == GemmType::float16) return {PackerKind::floats, GemmType::float32_f16};
    return {PackerKind::floats, weights == GemmType::bfloat16 ? GemmType::float32_bf16 : weights};
  }
  if (bfloat16s) refuse("int8 and int4 weights do not take PackA of bfloat16");
  if (plain && is_int4(weights)) refuse("int4 weights take a packer with scales, not PackA");
  if (is_int4(weights) && !a.scale)
    refuse("int4 weights need the scale of the left operand, which has none");
  return {plain ? PackerKind::bytes : a.packer, weights};
}

const char* name_by_weights(const PackedMatrix& weights, const char* int4, const char* int8,
                            const char* floats) {
  if (is_int4(weights.family())) return int4;
  return is_integer(weights.family()) ? int8 : floats;
}

void require_scale(const AOperand& a, const std::vector<PyStage>& stages, const char* function) {
  if (a.scale) return;
  for (const PyStage& s : stages) {
    const StageRow& row = stage_row(s.stage.kind);
    if (row.scales)
      throw py::type_error(std::string(function) + ": " + row.name +
                           " needs the scales of both operands, but the left one has none");
  }
}

Matrix source(PackerKind packer, const py::array& a, const char* name) {
  return with_packer(packer, [&]<class A, class T>(Type<A>, Type<T>) -> Matrix {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    const auto x = matrix<T>(a, name);
    return {const_cast<T*>(x.data), x.rows, x.cols, x.row_stride * size, x.col_stride * size};
  });
}

void run_product(const GemmDriver& gemm, PackerKind kind, const AOperand& a, const Matrix& x,
                 const PackedMatrix& b, std::span<const Stage> stages, OutputView c,
                 std::byte* workspace, int num_threads) noexcept {
  const PipelineView pipeline = pipeline_view(stages);
  const auto run_by_team = [&](const RowSource& rows) {
    run_shares(num_threads, [&](int thread_id, int threads) noexcept {
      gemm.run(rows, b, pipeline, c, workspace, thread_id, threads);
    });
  };
  begin_run(stages, x.rows);
  with_packer(kind, [&]<class A, class T>(Type<A>, Type<T>) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    const MatrixView<const T> view{static_cast<const T*>(x.data), x.rows, x.cols,
                                   x.row_stride / size, x.col_stride / size};
    const A packer = make_packer<A>(view, {gemm.features(), a.scale.value_or(1), a.zero_point,
                                           a.per_row, a.extents(), a.factors()});
    const RowSource rows = row_source(packer);
    if (num_threads != 1) return run_by_team(rows);
    gemm.run(rows, b, pipeline, c, workspace, 0, 1);
  });
}

void require_apart(const std::vector<PyStage>& stages, const AOperand& a, const char* function) {
  for (const PyStage& written : stages) {
    if (!written.writes()) continue;
    const py::array array = written.array();
    bool touched = may_overlap(array, a.array) || (a.row_range && may_overlap(array, *a.row_range));
    for (const PyStage& other : stages)
      if (other.has_array() && &other != &written)
        touched = touched || may_overlap(array, other.array());
    if (touched)
      throw py::value_error(std::string(function) + ": the array of " +
                            stage_name(written.stage.kind) + " must not overlap an operand");
  }
}

std::vector<Stage> native_stages(const std::vector<PyStage>& py_stages, std::int64_t m,
                                 std::int64_t n, const char* function) {
  std::vector<Stage> stages;
  stages.reserve(py_stages.size());
  for (const PyStage& s : py_stages) {
    const bool fits = (s.cols < 0 || s.cols == n) && (s.rows < 0 || s.rows == m);
    if (!fits) {
      // The values of the stage for a result of so many rows and columns.
      const auto share = [&](std::int64_t rows, std::int64_t cols) {
        if (s.rows < 0) return std::to_string(cols) + " values";
        if (s.cols < 0) return std::to_string(rows) + " rows";
        return std::to_string(rows) + " x " + std::to_string(cols) + " values";
      };
      throw py::value_error(std::string(function) + ": " + stage_name(s.stage.kind) +
                            " must have " + share(m, n) + ", as the result does, got " +
                            share(s.rows, s.cols));
    }
    stages.push_back(s.stage);
  }
  return stages;
}

py::dtype dtype_of(ValueType type) {
  switch (type) {
    case ValueType::float32:
      return dtype_of<float>();
    case ValueType::float16:
      return dtype_of<float16>();
    case ValueType::bfloat16:
      return dtype_of<bfloat16>();
    case ValueType::uint8:
      return dtype_of<std::uint8_t>();
    case ValueType::int8:
      return dtype_of<std::int8_t>();
    default:
      return dtype_of<std::int32_t>();
  }
}

ValueType type_named(const std::string& name) {
  constexpr ValueType kTypes[] = {ValueType::float32, ValueType::bfloat16, ValueType::float16,
                                  ValueType::uint8,   ValueType::int8,     ValueType::int32};
  for (const ValueType type : kTypes)
    if (name == value_type_name(type)) return type;
  throw py::value_error("no elements of type " + name);
}

py::array new_output(const py::dtype& dtype, std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kLarge = 16 << 10;
  const std::int64_t size = dtype.itemsize();
  const std::size_t bytes =
      checked_bytes(static_cast<std::size_t>(m * size), static_cast<std::size_t>(n));
  if (static_cast<std::int64_t>(bytes) < kLarge) return py::array(dtype, {m, n});
  const auto line = static_cast<std::int64_t>(kCacheLine);
  py::array_t<std::uint8_t> memory(static_cast<py::ssize_t>(bytes) + line);
  auto* const data = memory.mutable_data();
  const auto address = reinterpret_cast<std::intptr_t>(data);
  return py::array(dtype, {m, n}, {n * size, size}, data + round_up(address, line) - address,
                   memory);
}

void require_output(const py::object& out, const py::dtype& dtype, std::int64_t m, std::int64_t n,
                    const AOperand& a, const std::vector<PyStage>& stages, const char* function) {
  const auto name = [&] { return std::string(function) + ": out"; };
  if (!py::isinstance<py::array>(out)) throw no_array(out, name());
  const auto array = py::reinterpret_borrow<py::array>(out);
  if (!array.dtype().is(dtype) && !array.dtype().equal(dtype))
    throw py::type_error(name() + " must be " + py::str(dtype).cast<std::string>() + ", got " +
                         py::str(array.dtype()).cast<std::string>());
  if (array.ndim() != 2 || array.shape()[0] != m || array.shape()[1] != n)
    throw py::value_error(name() + " must have shape (" + std::to_string(m) + ", " +
                          std::to_string(n) + "), got " + shape_text(array));
  if (!array.writeable()) throw py::value_error(name() + " is read-only");
  const std::int64_t size = array.itemsize();
  if (m == 0 || n == 0) return;
  if (stride_of(array, 1, size) != size)
    throw py::value_error(name() + " must have contiguous rows");
  if (stride_of(array, 0, n * size) < n * size)
    throw py::value_error(name() + " must have rows that neither overlap nor run backwards");
  if (!is_aligned(array)) throw py::value_error(name() + " must be aligned to its elements");
  if (may_overlap(array, a.array) || (a.row_range && may_overlap(array, *a.row_range)))
    throw py::value_error(name() + " must not overlap the left operand");
  for (const PyStage& s : stages) require_apart(array, s, function);
}

std::byte* thread_workspace(std::size_t bytes) {
  thread_local AlignedBuffer buffer;
  if (buffer.size() < bytes) buffer = AlignedBuffer(bytes);
  return buffer.data();
}

int default_threads(std::int64_t m, std::int64_t n, std::int64_t k) {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return work < policy::gemm::kSerialWork ? 1 : num_threads();
}

}  // namespace fbg::bindings

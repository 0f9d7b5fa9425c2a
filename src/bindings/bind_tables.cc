// Embedding tables: look-ups in one or several of them, and rows made of floats. The package
// (python/fbg/tables) checks types and shapes first; what could lead outside of an array is checked
// here.
#include <pybind11/numpy.h>

#include <algorithm>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "core/policy.h"
#include "fbg/core/threads.h"
#include "fbg/tables/embedding_bag.h"

namespace fbg::bindings {
namespace {

// What Python says of one table in a call: EmbeddingBag._part, in python/fbg/tables.
enum Field {
  kRowsOf,
  kFormat,
  kHalf,
  kColumns,
  kMode,
  kPadding,
  kPrefetch,
  kIndices,
  kOffsets,
  kWeights,
  kOut,
  kEnds,
  kNumFields
};

std::int64_t number(const py::tuple& part, Field field) {
  return py::cast<std::int64_t>(part[field]);
}

RowLayout layout_of(std::int64_t format, bool half, std::int64_t columns) {
  require(format >= 0 && format <= static_cast<int>(RowFormat::float8_e4m3fn),
          "tables: no such dtype");
  require(columns >= 1 && columns <= 1 << 24, "tables: a row has 1 to 16777216 columns");
  return {static_cast<RowFormat>(format), half ? RowScale::float16 : RowScale::float32,
          static_cast<std::int32_t>(columns)};
}

// What one table does in a call.
struct LookUp {
  EmbeddingBag bag;
  EmbeddingRows rows;
  Bags bags;
  void* out;
  std::int64_t out_stride;
  std::int64_t bytes;  // that it reads and writes
};

// The elements of a contiguous array of `size` elements of a type; null for None.
const void* data_of(const py::tuple& part, Field field, const py::dtype& type, std::int64_t size) {
  if (part[field].is_none()) return nullptr;
  const auto array = py::cast<py::array>(part[field]);
  require(array.dtype().equal(type) && array.size() == size &&
              (array.flags() & py::array::c_style) && is_aligned(array),
          "look_up: indices, offsets and weights must be contiguous, of equal sizes and types");
  return array.data();
}

LookUp prepare(const py::tuple& part) {
  require(part.size() == kNumFields, "look_up: a table has other arguments");
  const RowLayout layout =
      layout_of(number(part, kFormat), number(part, kHalf) != 0, number(part, kColumns));
  const auto rows = py::cast<py::array>(part[kRowsOf]),
             indices = py::cast<py::array>(part[kIndices]);
  auto out = py::cast<py::array>(part[kOut]);
  const auto bytes = matrix<std::uint8_t>(rows, "look_up: rows");
  require(bytes.col_stride == 1 && bytes.cols == layout.row_bytes(),
          "look_up: rows must have the bytes of their layout");
  const ValueType output = has_dtype<float>(out)     ? ValueType::float32
                           : has_dtype<float16>(out) ? ValueType::float16
                                                     : ValueType::bfloat16;
  const std::int64_t size = value_size(output);
  require((output != ValueType::bfloat16 || has_dtype<bfloat16>(out)) && out.ndim() == 2 &&
              out.shape(1) == layout.columns && stride_of(out, 1, size) == size &&
              is_aligned(out) && out.writeable(),
          "look_up: out must be floats (bags, columns) with contiguous rows");
  const std::int64_t mode = number(part, kMode);
  require(mode >= 0 && mode <= static_cast<int>(BagMode::max), "look_up: no such mode");
  const bool wide = has_dtype<std::int64_t>(indices);
  const py::dtype index = wide ? dtype_of<std::int64_t>() : dtype_of<std::int32_t>();
  Bags b;
  b.num_indices = indices.size();
  b.num_bags = out.shape(0);
  b.ends = number(part, kEnds) != 0;
  b.indices = data_of(part, kIndices, index, b.num_indices);
  b.offsets = data_of(part, kOffsets, index, b.num_bags + (b.ends ? 1 : 0));
  b.length = b.num_bags > 0 ? b.num_indices / b.num_bags : 0;
  b.weights = static_cast<const float*>(data_of(part, kWeights, dtype_of<float>(), b.num_indices));
  require(b.offsets || b.length * b.num_bags == b.num_indices,
          "look_up: bags must have equal lengths");
  require(wide || b.num_indices < std::int64_t{1} << 31, "look_up: so many indices must be int64");
  const EmbeddingBag::Options options{.mode = static_cast<BagMode>(mode),
                                      .index = wide ? IndexType::int64 : IndexType::int32,
                                      .weighted = b.weights != nullptr,
                                      .padding_index = number(part, kPadding),
                                      .prefetch = static_cast<int>(number(part, kPrefetch)),
                                      .table_bytes = bytes.rows * bytes.cols,
                                      .output = output};
  const std::int64_t row_of_out = layout.columns * size;
  return {EmbeddingBag(layout, options),
          {reinterpret_cast<const std::byte*>(bytes.data), bytes.rows, bytes.row_stride},
          b,
          out.mutable_data(),
          stride_of(out, 0, row_of_out) / size,
          b.num_indices * layout.row_bytes() + b.num_bags * row_of_out};
}

// A position in the indices of a table.
struct Position {
  std::int64_t table = -1, index = -1;
  bool found() const { return table >= 0; }
};

// Calls use(look-up, its bags) for the share of a thread: the same number of bytes as any other,
// whichever tables they are in. Returns the first position that it returns.
template <class Use>
Position for_share(const std::vector<LookUp>& all, int thread_id, int num_threads, Use use) {
  constexpr int kParts = 1 << 16;  // of a table
  double total = 0, before = 0;
  for (const LookUp& one : all) total += static_cast<double>(one.bytes);
  for (std::size_t t = 0; t < all.size(); ++t) {
    const auto& one = all[t];
    const auto bag_at = [&](int thread) {
      const double bytes = static_cast<double>(std::max<std::int64_t>(one.bytes, 1));
      const double part = (total * thread / num_threads - before) / bytes;
      const int number = static_cast<int>(std::clamp(part, 0.0, 1.0) * kParts);
      return thread == num_threads || number == kParts
                 ? one.bags.num_bags
                 : one.bag.share(one.bags, number, kParts).begin;
    };
    const Range bags{thread_id == 0 ? 0 : bag_at(thread_id), bag_at(thread_id + 1)};
    const std::int64_t bad = bags.size() > 0 ? use(one, bags) : -1;
    if (bad >= 0) return {static_cast<std::int64_t>(t), bad};
    before += static_cast<double>(one.bytes);
  }
  return {};
}

template <class Use>
Position for_all(const std::vector<LookUp>& all, std::vector<Position>& bad, Use use) {
  std::fill(bad.begin(), bad.end(), Position{});
  run_shares(static_cast<int>(bad.size()), [&](int thread_id, int n) {
    bad[static_cast<std::size_t>(thread_id)] = for_share(all, thread_id, n, use);
  });
  const auto found = std::find_if(bad.begin(), bad.end(), [](auto& p) { return p.found(); });
  return found == bad.end() ? Position{} : *found;
}

// None, or what is wrong: (the table, "offsets" or "indices", the position). With `intact`, nothing
// is written unless all indices are right.
py::object look_up(const py::list& parts, bool intact, int num_threads) {
  std::vector<LookUp> all;
  std::int64_t bytes = 0;
  for (const py::handle part : parts) {
    all.push_back(prepare(py::cast<py::tuple>(part)));
    bytes += all.back().bytes;
  }
  Position bad;
  const char* what = "indices";
  {
    const GilRelease release;
    for (std::size_t t = 0; t < all.size() && !bad.found(); ++t)
      if (const std::int64_t b = all[t].bag.find_bad_offset(all[t].bags); b >= 0)
        bad = {static_cast<std::int64_t>(t), b}, what = "offsets";
    if (!bad.found()) {
      const std::int64_t most = bytes / policy::tables::kThreadBytes;
      std::vector<Position> found(
          static_cast<std::size_t>(std::clamp<std::int64_t>(most, 1, num_threads)));
      if (intact)
        bad = for_all(all, found, [](const LookUp& one, Range bags) {
          return one.bag.find_bad_index(one.bags, one.rows.rows, bags);
        });
      if (!bad.found())
        bad = for_all(all, found, [](const LookUp& one, Range bags) {
          return one.bag.run(one.rows, one.bags, one.out, one.out_stride, bags);
        });
    }
  }
  if (!bad.found()) return py::none();
  return py::make_tuple(bad.table, what, bad.index);
}

// The rows as uint8, or the number of the first one that has none.
py::object quantize(const py::array& x, int format, bool half, int num_threads) {
  const auto view = matrix<float>(x, "quantize_rows: x");
  require(view.col_stride == 1, "quantize_rows: rows of x must be contiguous");
  const RowLayout layout = layout_of(format, half, view.cols);
  require(row_parameters(layout.format) > 0, "quantize_rows: no such dtype");
  const std::int64_t stride = layout.row_bytes();
  py::array_t<std::uint8_t> rows({view.rows, stride});
  auto* const to = reinterpret_cast<std::byte*>(rows.mutable_data());
  std::int64_t bad = -1;
  {
    const GilRelease release;
    const std::int64_t most = view.rows / policy::tables::kThreadRows;
    const int threads = static_cast<int>(std::clamp<std::int64_t>(most, 1, num_threads));
    std::vector<std::int64_t> found(static_cast<std::size_t>(threads), -1);
    run_shares(threads, [&](int thread_id, int n) {
      const std::int64_t first = view.rows * thread_id / n, end = view.rows * (thread_id + 1) / n;
      const MatrixView<const float> part{view.data + first * view.row_stride, end - first,
                                         view.cols, view.row_stride, 1};
      const std::int64_t row = quantize_rows(layout, part, to + first * stride, stride);
      found[static_cast<std::size_t>(thread_id)] = row < 0 ? -1 : first + row;
    });
    for (const std::int64_t row : found)
      if (bad < 0) bad = row;
  }
  if (bad >= 0) return py::int_(bad);
  return rows;
}

}  // namespace

void bind_tables(py::module_& m) {
  m.def("look_up", &look_up, py::arg("parts"), py::arg("intact"), py::arg("num_threads"));
  m.def("quantize_rows", &quantize, py::arg("x"), py::arg("format"), py::arg("half"),
        py::arg("num_threads"));
}

}  // namespace fbg::bindings

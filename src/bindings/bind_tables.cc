// Embedding tables: look-ups in one or several of them, and rows made of floats. The package
// (python/fbg/tables) checks types and shapes first; what could lead outside of an array is checked
// here.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "core/policy.h"
#include "fbg/core/threads.h"
#include "fbg/tables/embedding_bag.h"

namespace fbg::bindings {
namespace {

// A table that Python owns, and how it is looked up.
struct Table {
  py::array array;
  RowLayout layout;
  BagMode mode;
  std::int64_t padding;
  int prefetch;
  EmbeddingRows rows;
};

RowLayout layout_of(int format, bool half, std::int64_t columns) {
  require(format >= 0 && format <= static_cast<int>(RowFormat::int2),
          "EmbeddingBag: no such dtype");
  require(columns >= 1 && columns <= 1 << 24, "EmbeddingBag: a table has 1 to 16777216 columns");
  return {static_cast<RowFormat>(format), half ? RowScale::float16 : RowScale::float32,
          static_cast<std::int32_t>(columns)};
}

Table make_table(const py::array& rows, int format, bool half, std::int64_t columns, int mode,
                 std::int64_t padding, int prefetch) {
  const auto bytes = matrix<std::uint8_t>(rows, "EmbeddingBag: table");
  const RowLayout layout = layout_of(format, half, columns);
  require(
      bytes.col_stride == 1 && bytes.cols == layout.row_bytes(),
      "EmbeddingBag: rows of the table must have " + std::to_string(layout.row_bytes()) + " bytes");
  require(mode >= 0 && mode <= static_cast<int>(BagMode::max), "EmbeddingBag: no such mode");
  return {rows,
          layout,
          static_cast<BagMode>(mode),
          padding,
          prefetch,
          {reinterpret_cast<const std::byte*>(bytes.data), bytes.rows, bytes.row_stride}};
}

// What one table does in a call.
struct LookUp {
  EmbeddingBag bag;
  EmbeddingRows rows;
  Bags bags;
  float* out;
  std::int64_t out_stride;
  std::int64_t bytes;  // that it reads and writes
};

template <class T>
const T* data_of(const std::optional<py::array>& array, std::int64_t size, const char* name) {
  if (!array) return nullptr;
  require(has_dtype<T>(*array) && array->size() == size && (array->flags() & py::array::c_style) &&
              is_aligned(*array),
          std::string("EmbeddingBag: ") + name + " must be contiguous, of the type of the indices");
  return static_cast<const T*>(array->data());
}

LookUp prepare(const Table& table, const py::array& indices,
               const std::optional<py::array>& offsets, const std::optional<py::array>& weights,
               py::array& out, bool ends) {
  const bool wide = has_dtype<std::int64_t>(indices);
  const std::int64_t count = indices.size();
  const std::int64_t bags = out.ndim() == 2 ? out.shape(0) : -1;
  require(has_dtype<float>(out) && bags >= 0 && out.shape(1) == table.layout.columns &&
              stride_of(out, 1, 4) == 4 && is_aligned(out) && out.writeable(),
          "EmbeddingBag: out must be float32 (bags, columns) with contiguous rows");
  const auto pointer = [&](const std::optional<py::array>& array, std::int64_t size,
                           const char* name) -> const void* {
    if (wide) return data_of<std::int64_t>(array, size, name);
    return data_of<std::int32_t>(array, size, name);
  };
  Bags b;
  b.indices = pointer(indices, count, "indices");
  b.num_indices = count;
  b.offsets = pointer(offsets, bags + (ends ? 1 : 0), "offsets");
  b.ends = ends;
  b.num_bags = bags;
  b.length = bags > 0 ? count / bags : 0;
  b.weights = data_of<float>(weights, count, "per_sample_weights");
  require(offsets || b.length * bags == count, "EmbeddingBag: bags must have equal lengths");
  require(wide || count < std::int64_t{1} << 31, "EmbeddingBag: so many indices must be int64");
  const EmbeddingBag::Options options{.mode = table.mode,
                                      .index = wide ? IndexType::int64 : IndexType::int32,
                                      .weighted = b.weights != nullptr,
                                      .padding_index = table.padding,
                                      .prefetch = table.prefetch};
  constexpr std::int64_t kFloat = sizeof(float);
  const std::int64_t bytes =
      count * table.layout.row_bytes() + bags * table.layout.columns * kFloat;
  const std::int64_t stride = stride_of(out, 0, table.layout.columns * kFloat) / kFloat;
  return {EmbeddingBag(table.layout, options),     table.rows, b,
          static_cast<float*>(out.mutable_data()), stride,     bytes};
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
  run_team(static_cast<int>(bad.size()), [&](int thread_id, int n) {
    bad[static_cast<std::size_t>(thread_id)] = for_share(all, thread_id, n, use);
  });
  const auto found = std::find_if(bad.begin(), bad.end(), [](auto& p) { return p.found(); });
  return found == bad.end() ? Position{} : *found;
}

// None, or what is wrong: (the table, "offsets" or "indices", the position). With `intact`, nothing
// is written unless all indices are right.
py::object look_up(const std::vector<const Table*>& tables, const std::vector<py::array>& indices,
                   const std::vector<std::optional<py::array>>& offsets,
                   const std::vector<std::optional<py::array>>& weights,
                   std::vector<py::array> outs, const std::vector<bool>& ends, bool intact,
                   int num_threads) {
  require(indices.size() == tables.size() && offsets.size() == tables.size() &&
              weights.size() == tables.size() && outs.size() == tables.size() &&
              ends.size() == tables.size(),
          "EmbeddingTables: every table has arguments of its own");
  std::vector<LookUp> all;
  std::int64_t bytes = 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    all.push_back(prepare(*tables[t], indices[t], offsets[t], weights[t], outs[t], ends[t]));
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
  require(is_integer(layout.format), "quantize_rows: no such dtype");
  const std::int64_t stride = layout.row_bytes();
  py::array_t<std::uint8_t> rows({view.rows, stride});
  auto* const to = reinterpret_cast<std::byte*>(rows.mutable_data());
  std::int64_t bad = -1;
  {
    const GilRelease release;
    const std::int64_t most = view.rows / policy::tables::kThreadRows;
    const int threads = static_cast<int>(std::clamp<std::int64_t>(most, 1, num_threads));
    std::vector<std::int64_t> found(static_cast<std::size_t>(threads), -1);
    run_team(threads, [&](int thread_id, int n) {
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
  bound_class<Table>(m, "EmbeddingTable")
      .def(py::init(&make_table), py::arg("rows"), py::arg("format"), py::arg("half"),
           py::arg("columns"), py::arg("mode"), py::arg("padding"), py::arg("prefetch"));
  m.def("look_up", &look_up, py::arg("tables"), py::arg("indices"), py::arg("offsets"),
        py::arg("weights"), py::arg("outs"), py::arg("ends"), py::arg("intact"),
        py::arg("num_threads"));
  m.def("quantize_rows", &quantize, py::arg("x"), py::arg("format"), py::arg("half"),
        py::arg("num_threads"));
}

}  // namespace fbg::bindings

// Rows of tensors by indices that a run brings or computes. An index that is out of range makes the
// run fail; until it ends, the nearest row takes the place of the one that there is not.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/ops/element_types.h"

namespace fbg {
namespace {

// An index moves by `stride` bytes, and is at least -extent and less than extent; negative ones
// count from the end.
struct IndexedAxis {
  explicit IndexedAxis(Fields& f) : extent(f("extent")), stride(f("stride")) {}
  std::int64_t extent, stride;
};

// Rows of a table, one for each step of a nest of loops. At the step (i, j, …), the indices begin
// at element i * index_strides[0] + …, one for each of `axes`; they and i * strides[0] + … lead to
// the row.
struct Indexing {
  explicit Indexing(Fields& f)
      : extents(f.get<Extents>("extents")),
        strides(f.get<Extents>("strides")),
        index_strides(f.get<Extents>("index_strides")),
        axes(f.get<std::vector<IndexedAxis>>("axes")),
        row_bytes(f("row_bytes")),
        index_bytes(f("index_bytes")) {}
  Extents extents, strides, index_strides;
  std::vector<IndexedAxis> axes;
  std::int64_t row_bytes;
  int index_bytes;  // of integers: 4 or 8
};

// The steps of the loops of an Indexing, line by line: a line is a run of the innermost loop.
class Places {
 public:
  Places(const Indexing& indexing, const std::byte* indices, std::int64_t step)
      : i_(indexing), indices_(indices), counts_(indexing.extents.size()) {
    for (std::size_t a = counts_.size(); a-- > 0; step /= i_.extents[a]) {
      counts_[a] = step % i_.extents[a];
      at_ += counts_[a] * i_.strides[a];
      index_at_ += counts_[a] * i_.index_strides[a];
    }
  }

  // Calls body(at, fits) for so many steps: where the row of each begins, and whether its indices
  // are in range; for those that are not, the nearest ones are taken. Returns whether all are.
  template <class Body>
  bool for_each(std::int64_t steps, Body body) {
    const auto each = [&]<class Index>(Index) {
      if (i_.axes.size() > 1) return each_of<Index>(steps, std::span(i_.axes), body);
      return each_of<Index>(steps, std::array{i_.axes.front()}, body);  // a copy stays in registers
    };
    return i_.index_bytes == 8 ? each(std::int64_t{}) : each(std::int32_t{});
  }

 private:
  template <class Index, class Axes, class Body>
  bool each_of(std::int64_t steps, const Axes axes, Body body) {
    const bool has_loops = !counts_.empty();
    const std::int64_t stride = has_loops ? i_.strides.back() : 0;
    const std::int64_t index_stride = has_loops ? i_.index_strides.back() : 0;
    bool all_fit = true;
    while (steps > 0) {
      const std::int64_t n =
          has_loops ? std::min(steps, i_.extents.back() - counts_.back()) : std::int64_t{1};
      const std::byte* index = indices_ + index_at_ * static_cast<std::int64_t>(sizeof(Index));
      std::int64_t at = at_;
      for (std::int64_t j = 0; j < n; ++j) {
        bool fits = true;
        const std::int64_t row = at + row_of<Index>(axes, index, fits);
        body(row, fits);
        all_fit = all_fit && fits;
        at += stride;
        index += index_stride * static_cast<std::int64_t>(sizeof(Index));
      }
      steps -= n;
      if (steps > 0) advance(n);
    }
    return all_fit;
  }

  // How far from where a step stands its indices lead.
  template <class Index, class Axes>
  static std::int64_t row_of(const Axes& axes, const std::byte* indices, bool& fits) {
    std::int64_t at = 0;
    for (const IndexedAxis& axis : axes) {
      Index given;
      std::memcpy(&given, indices, sizeof given);
      indices += sizeof given;
      std::int64_t index = given + (given < 0 ? axis.extent : 0);
      if (static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(axis.extent))
          [[unlikely]] {
        fits = false;
        index = given < 0 ? 0 : axis.extent - 1;
      }
      at += index * axis.stride;
    }
    return at;
  }

  // Goes on by steps that do not pass the end of the line.
  void advance(std::int64_t steps) {
    for (std::size_t a = counts_.size(); a-- > 0; steps = 1) {
      at_ += steps * i_.strides[a];
      index_at_ += steps * i_.index_strides[a];
      if ((counts_[a] += steps) < i_.extents[a]) return;
      at_ -= counts_[a] * i_.strides[a];
      index_at_ -= counts_[a] * i_.index_strides[a];
      counts_[a] = 0;
    }
  }

  const Indexing& i_;
  const std::byte* const indices_;
  std::vector<std::int64_t> counts_;
  std::int64_t at_ = 0, index_at_ = 0;
};

std::int64_t steps_of(const Indexing& i) {
  std::int64_t steps = 1;
  for (const std::int64_t extent : i.extents) steps *= extent;
  return steps;
}

// function(bytes), a constant where rows are single elements of a common type.
template <class Function>
bool with_row_bytes(std::int64_t bytes, Function function) {
  if (bytes == 4) return function(std::integral_constant<std::int64_t, 4>());
  if (bytes == 8) return function(std::integral_constant<std::int64_t, 8>());
  return function(bytes);
}

// Checks that rows and indices lie in their tensors; returns the bytes of all rows.
std::int64_t require_indexing(const Graph& graph, Buffer x, Buffer indices, const Indexing& i) {
  require(i.index_bytes == 4 || i.index_bytes == 8, "gather: indices must have 4 or 8 bytes");
  require(i.strides.size() == i.extents.size() && i.index_strides.size() == i.extents.size(),
          "gather: there must be strides for each extent");
  require(!i.axes.empty(), "gather: there must be an indexed axis");
  std::vector<std::int64_t> sizes = i.extents;
  sizes.push_back(i.row_bytes);
  const std::int64_t bytes = checked_product(sizes, "gather: the rows");
  std::int64_t last = i.row_bytes, last_index = static_cast<std::int64_t>(i.axes.size());
  for (std::size_t a = 0; a < i.extents.size(); ++a) {
    require(i.strides[a] >= 0 && i.index_strides[a] >= 0, "gather: strides must not be negative");
    last += (i.extents[a] - 1) * i.strides[a];
    last_index += (i.extents[a] - 1) * i.index_strides[a];
  }
  for (const IndexedAxis& axis : i.axes) {
    require(axis.extent >= 1 && axis.stride >= 0, "gather: an indexed axis must not be empty");
    last += (axis.extent - 1) * axis.stride;
  }
  const BufferShape from = graph.shape(x), index = graph.shape(indices);
  require(from.rows == RowKind::tensor && last <= tensor_bytes(graph, x),
          "gather: rows reach beyond the table");
  require(
      index.rows == RowKind::tensor && last_index * i.index_bytes <= tensor_bytes(graph, indices),
      "gather: there are fewer indices than rows");
  return bytes;
}

// The rows of x, one after the other. A run fails if an index is out of range (Plan::run).
class GatherOp final : public Op {
 public:
  explicit GatherOp(Fields& f) : Op("gather", f) {
    shape = tensor_shape(require_indexing(f.graph(), x_, indices_, i_));
  }

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return make_unit_step(steps_of(i_), 0,
                          [this](const Frame& frame, std::byte*, int, Range units) {
                            const std::byte* const x = frame[x_].data;
                            std::byte* y = frame[output].data + units.begin * i_.row_bytes;
                            Places places(i_, frame[indices_].data, units.begin);
                            const auto copy = [&](auto row_bytes) {
                              return places.for_each(units.size(), [&](std::int64_t at, bool) {
                                std::memcpy(y, x + at, static_cast<std::size_t>(row_bytes));
                                y += row_bytes;
                              });
                            };
                            const bool fits = with_row_bytes(i_.row_bytes, copy);
                            if (!fits) frame.fail(output);
                          });
  }

 private:
  const Buffer x_ = input("x"), indices_ = input("indices");
  const Indexing i_ = field("indexing");
};

// How rows of updates take the place of those rows of x, or are combined with them, in order of the
// loops.
enum class Scatter : std::uint8_t { replace, add, multiply, max, min };
std::span<const Choice<Scatter>> choices(Scatter) {
  static constexpr Choice<Scatter> kScatters[] = {{"replace", Scatter::replace},
                                                  {"add", Scatter::add},
                                                  {"multiply", Scatter::multiply},
                                                  {"max", Scatter::max},
                                                  {"min", Scatter::min}};
  return kScatters;
}

// Each thread writes a part of the result, and takes of every row what lies in it: rows that meet
// are combined in their order, whatever the number of threads.
class ScatterOp final : public Op {
 public:
  explicit ScatterOp(Fields& f) : Op("scatter", f) {
    in_place = x_ != indices_ && x_ != updates_;
    const Graph& graph = f.graph();
    const std::int64_t bytes = require_indexing(graph, x_, indices_, i_);
    require_bytes(graph, updates_, bytes, "scatter: updates");
    const std::int64_t element = element_bytes(type_);
    shape = tensor_shape(tensor_bytes(graph, x_));
    bool whole = shape.cols % element == 0 && i_.row_bytes % element == 0;
    for (const std::int64_t stride : i_.strides) whole = whole && stride % element == 0;
    for (const IndexedAxis& axis : i_.axes) whole = whole && axis.stride % element == 0;
    require(whole, "scatter: rows must consist of whole elements");
  }

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    const std::int64_t element = element_bytes(type_);
    const Combine combine = function();
    return make_unit_step(
        shape.cols / element, 0,
        [this, element, combine](const Frame& frame, std::byte*, int, Range units) {
          run(frame, {units.begin * element, units.end * element}, combine);
        });
  }

 private:
  using Combine = void (*)(const std::byte* x, std::int64_t bytes, std::byte* y);

  void run(const Frame& frame, Range own, Combine combine) const {
    const std::byte* const x = frame[x_].data;
    std::byte* const y = frame[output].data;
    if (x != y) std::memcpy(y + own.begin, x + own.begin, static_cast<std::size_t>(own.size()));
    const std::byte* row = frame[updates_].data;
    Places places(i_, frame[indices_].data, 0);
    const auto take = [&](auto row_bytes, auto use) {
      return places.for_each(steps_of(i_), [&](std::int64_t at, bool fits) {
        const std::int64_t begin = std::max(at, own.begin);
        const std::int64_t end = std::min(at + row_bytes, own.end);
        if (fits && begin < end) use(row + (begin - at), end - begin, y + begin);
        row += row_bytes;
      });
    };
    const bool fits = with_row_bytes(i_.row_bytes, [&](auto row_bytes) {
      if constexpr (!std::is_same_v<decltype(row_bytes), std::int64_t>)
        if (how_ == Scatter::replace && row_bytes == element_bytes(type_))  // of one thread
          return take(row_bytes, [](const std::byte* from, std::int64_t, std::byte* to) {
            std::memcpy(to, from, decltype(row_bytes)::value);
          });
      return take(row_bytes, combine);
    });
    if (!fits) frame.fail(output);
  }

  template <class T, auto kFunction>
  static void combine_rows(const std::byte* x, std::int64_t bytes, std::byte* y) {
    const T* const from = reinterpret_cast<const T*>(x);
    T* const to = reinterpret_cast<T*>(y);
    for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof(T); ++i)
      to[i] = kFunction(to[i], from[i]);
  }

  Combine function() const {
    if (how_ == Scatter::replace)
      return [](const std::byte* x, std::int64_t bytes, std::byte* y) {
        std::memcpy(y, x, static_cast<std::size_t>(bytes));
      };
    return with_number(type_, "scatter", [this]<class T>() -> Combine {
      if (how_ == Scatter::add) return combine_rows<T, sum_of<T>>;
      if (how_ == Scatter::multiply) return combine_rows<T, product_of<T>>;
      if (how_ == Scatter::max) return combine_rows<T, max_of<T>>;
      return combine_rows<T, min_of<T>>;
    });
  }

  const Buffer x_ = input("x"), indices_ = input("indices"), updates_ = input("updates");
  const Indexing i_ = field("indexing");
  const Scatter how_ = field("how");
  const ElementType type_ = field("type");
};

}  // namespace

Buffer kinds::gather(Graph& graph, Fields& f) { return append_as<GatherOp>(graph, f); }
Buffer kinds::scatter(Graph& graph, Fields& f) { return append_as<ScatterOp>(graph, f); }

}  // namespace fbg

// arrange: elements of tensors copied to other places. Every part is a nest of loops over its axes;
// axes that are one run in memory on both sides are merged first.
//
//   innermost axis one run on both sides   memcpy
//   innermost axis picked by a table       memcpy of the runs that it consists of
//   transposed                             a kernel, or blocks of 16 x 16 elements with gaps
//   anything else                          element by element
//
// Floats may become bfloat16 as they are moved.
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/float16.h"
#include "core/policy.h"
#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kBlock = policy::tensors::kTransposedRows;
constexpr std::int64_t kPixels = policy::tensors::kFloats;  // of few channels
constexpr std::int64_t kFewChannels = 4;
constexpr std::int64_t kColumns = 4 * kBlock;  // of a transposition: some lines of the cache
constexpr std::int64_t kLeastRun = 4;          // elements of the runs of a table, on average
constexpr std::size_t kMostCounted = 64;       // axes of a part: NumPy has no more

// An axis of what is copied. Element i of it goes to i * to_stride and comes from i * from_stride,
// or, where `table` is not empty, from table[i]; strides and entries of the table count elements. A
// negative entry leaves the element as it was filled.
struct ArrangeAxis {
  ArrangeAxis() = default;
  explicit ArrangeAxis(Fields& f)
      : extent(f("extent")),
        to_stride(f("to_stride")),
        from_stride(f("from_stride")),
        table(f.get<Extents>("table")) {}
  std::int64_t extent = 1, to_stride = 0, from_stride = 0;
  Extents table = {};
};

// A block of elements of inputs[input], from element `from` on, to element `to` of the output on.
struct ArrangePart {
  explicit ArrangePart(Fields& f)
      : input(static_cast<std::size_t>(f.get<std::int64_t>("input"))),
        to(f("to")),
        from(f("from")),
        axes(f.get<std::vector<ArrangeAxis>>("axes")) {}
  std::size_t input;
  std::int64_t to, from;
  std::vector<ArrangeAxis> axes;
};

// Copies elements of 1, 2, 4 or 8 bytes: transposition, slices, concatenation, padding, repetition,
// and whatever else an index for each axis describes. No two parts may write to the same element.
struct Arrangement {
  explicit Arrangement(Fields& f)
      : elements(f("elements")),
        element_bytes(f("element_bytes")),
        parts(f.get<std::vector<ArrangePart>>("parts")) {
    const auto given = f.get<Array>("fill", {});
    fill.assign(given.data.get(), given.data.get() + given.nbytes);
  }
  std::int64_t elements;  // of the output
  int element_bytes;
  std::vector<ArrangePart> parts;
  // One element: what the output holds where no part writes; empty where there is no such element.
  std::vector<std::byte> fill;
};

// Merges axes and sorts them by where they write, the innermost last.
std::vector<ArrangeAxis> simplify(std::vector<ArrangeAxis> axes) {
  std::erase_if(axes, [](const ArrangeAxis& a) { return a.extent == 1 && a.table.empty(); });
  std::ranges::stable_sort(axes, std::ranges::greater{}, &ArrangeAxis::to_stride);
  std::vector<ArrangeAxis> merged;
  for (ArrangeAxis& axis : axes) {
    if (!merged.empty()) {
      ArrangeAxis& outer = merged.back();
      const bool one_run = outer.table.empty() && axis.table.empty() &&
                           outer.to_stride == axis.to_stride * axis.extent &&
                           outer.from_stride == axis.from_stride * axis.extent;
      if (one_run) {
        axis.extent *= outer.extent;
        outer = std::move(axis);
        continue;
      }
    }
    merged.push_back(std::move(axis));
  }
  return merged;
}

// Elements of an axis whose sources are a step apart.
struct AxisRun {
  std::int64_t to, from, extent, step;
};

// The runs of an axis that a table picks, without what comes from nowhere; none if they are short.
std::vector<AxisRun> runs_of(const ArrangeAxis& axis) {
  std::vector<AxisRun> runs;
  for (std::int64_t i = 0; i < axis.extent; ++i) {
    const std::int64_t at = axis.table[static_cast<std::size_t>(i)];
    if (at < 0) continue;
    AxisRun* const last = runs.empty() ? nullptr : &runs.back();
    if (last && last->extent == 1 && last->to + 1 == i) last->step = at - last->from;
    if (last && last->to + last->extent == i && last->from + last->extent * last->step == at)
      ++last->extent;
    else
      runs.push_back({i, at, 1, 1});
  }
  if (static_cast<std::int64_t>(runs.size()) * kLeastRun > axis.extent) runs.clear();
  return runs;
}

// A part, ready to run: the two innermost axes are `outer` and `inner`; the others are counted.
struct Loops {
  std::size_t input;
  std::int64_t to, from;
  std::vector<ArrangeAxis> counted;
  ArrangeAxis outer, inner;
  std::int64_t units;         // counted iterations times blocks of the outer axis
  std::vector<AxisRun> runs;  // of the inner axis, if it has a table
  bool rounds = false;        // floats become bfloat16

  bool is_transposed() const {
    return outer.table.empty() && outer.from_stride == 1 && inner.table.empty() &&
           inner.from_stride != 1;
  }
  // Few rows of elements become one, an element of each in turn.
  std::int64_t block() const {
    if (!is_transposed()) return kBlock;
    return inner.extent <= kFewChannels ? kPixels : kColumns;
  }
  std::int64_t outer_blocks() const { return ceil_div(outer.extent, block()); }

  static Loops of(const ArrangePart& part) {
    Loops loops{part.input, part.to, part.from, simplify(part.axes), {}, {}, 1, {}};
    const auto take = [&](std::size_t at) {
      ArrangeAxis axis = std::move(loops.counted[at]);
      loops.counted.erase(loops.counted.begin() + static_cast<std::ptrdiff_t>(at));
      return axis;
    };
    if (!loops.counted.empty()) loops.inner = take(loops.counted.size() - 1);
    if (!loops.counted.empty()) {
      // A transposition is faster where its blocks are runs of both sides.
      std::size_t at = loops.counted.size() - 1;
      if (loops.inner.from_stride != 1)
        for (std::size_t i = 0; i < loops.counted.size(); ++i)
          if (loops.counted[i].table.empty() && loops.counted[i].from_stride == 1) at = i;
      loops.outer = take(at);
    }
    for (const ArrangeAxis& axis : loops.counted) loops.units *= axis.extent;
    loops.units *= loops.outer_blocks();
    if (!loops.inner.table.empty()) loops.runs = runs_of(loops.inner);
    return loops;
  }
};

std::int64_t from_of(const ArrangeAxis& axis, std::int64_t i) {
  return axis.table.empty() ? i * axis.from_stride : axis.table[static_cast<std::size_t>(i)];
}

// An element as its bits, or a float that is rounded to bfloat16.
template <class T>
T element(T x) {
  return x;
}
bfloat16 element(float x) { return from_float<bfloat16>(x); }

// Elements that are a stride apart on either side.
template <class From, class T>
void copy_run(const simd::Kernels& kernels, std::int64_t extent, const From* from,
              std::int64_t from_stride, T* to, std::int64_t to_stride) {
  if (extent == 1) {
    *to = element(*from);
  } else if (from_stride == 1 && to_stride <= 1) {
    const auto n = static_cast<std::size_t>(extent);
    if constexpr (std::is_same_v<From, T>)
      std::memcpy(to, from, n * sizeof(T));
    else
      kernels.rows.float_to_bfloat16(from, n, reinterpret_cast<std::uint16_t*>(to));
  } else if (from_stride == 0 && to_stride == 1) {
    std::fill_n(to, extent, element(*from));
  } else {
    for (std::int64_t i = 0; i < extent; ++i) to[i * to_stride] = element(from[i * from_stride]);
  }
}

// One line: the innermost axis.
template <class From, class T>
void copy_line(const Loops& l, const simd::Kernels& kernels, const From* from, T* to) {
  const ArrangeAxis& axis = l.inner;
  if (axis.table.empty())
    return copy_run(kernels, axis.extent, from, axis.from_stride, to, axis.to_stride);
  for (const AxisRun& run : l.runs)
    copy_run(kernels, run.extent, from + run.from, run.step, to + run.to * axis.to_stride,
             axis.to_stride);
  if (!l.runs.empty()) return;
  for (std::int64_t i = 0; i < axis.extent; ++i) {
    const std::int64_t at = axis.table[static_cast<std::size_t>(i)];
    if (at >= 0) to[i * axis.to_stride] = element(from[at]);
  }
}

template <class From, class T>
void copy_block(const Loops& l, const simd::Kernels& kernels, std::int64_t first, std::int64_t last,
                const From* from, T* to) {
  if (!l.is_transposed()) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = from_of(l.outer, i);
      if (at >= 0 || l.outer.table.empty())
        copy_line(l, kernels, from + at, to + i * l.outer.to_stride);
    }
    return;
  }
  if constexpr (std::is_same_v<From, T>)
    if (l.inner.to_stride == 1)
      return kernels.conversions.transpose[std::countr_zero(sizeof(T))](
          from + first, l.inner.from_stride, static_cast<std::size_t>(l.inner.extent),
          static_cast<std::size_t>(last - first), to + first * l.outer.to_stride,
          l.outer.to_stride);
  for (std::int64_t j = 0; j < l.inner.extent; j += kBlock) {
    const std::int64_t end = std::min(j + kBlock, l.inner.extent);
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t k = j; k < end; ++k)
        to[i * l.outer.to_stride + k * l.inner.to_stride] =
            element(from[i + k * l.inner.from_stride]);
  }
}

// Where the counted axes of a part stand: divided once, then counted.
class Counters {
 public:
  Counters(const Loops& loops, std::int64_t step) : l_(loops) {
    for (std::size_t a = l_.counted.size(); a-- > 0; step /= l_.counted[a].extent) {
      at_[a] = {0, 0, false};
      set(a, step % l_.counted[a].extent);
    }
  }
  void next() {
    for (std::size_t a = l_.counted.size(); a-- > 0;) {
      const bool ends = at_[a].count + 1 == l_.counted[a].extent;
      set(a, ends ? 0 : at_[a].count + 1);
      if (!ends) return;
    }
  }
  bool is_outside() const { return outside_ > 0; }
  std::int64_t from() const { return from_; }
  std::int64_t to() const { return to_; }

 private:
  struct Counter {
    std::int64_t count, from;
    bool outside;
  };

  void set(std::size_t a, std::int64_t i) {
    const ArrangeAxis& axis = l_.counted[a];
    Counter& own = at_[a];
    const std::int64_t from = from_of(axis, i);
    const bool outside = from < 0 && !axis.table.empty();
    outside_ += (outside ? 1 : 0) - (own.outside ? 1 : 0);
    from_ += from - own.from;
    to_ += (i - own.count) * axis.to_stride;
    own = {i, from, outside};
  }

  const Loops& l_;
  Counter at_[kMostCounted];
  std::int64_t from_ = 0, to_ = 0;
  int outside_ = 0;
};

template <class T, class From = T>
void copy_units(const Loops& l, const simd::Kernels& kernels, Range units,
                const std::byte* from_bytes, std::byte* to_bytes) {
  const From* const from = reinterpret_cast<const From*>(from_bytes) + l.from;
  T* const to = reinterpret_cast<T*>(to_bytes) + l.to;
  const std::int64_t blocks = l.outer_blocks(), size = l.block();
  Counters at(l, units.begin / blocks);
  std::int64_t block = units.begin % blocks;
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
    const std::int64_t first = block * size;
    if (!at.is_outside())
      copy_block(l, kernels, first, std::min(first + size, l.outer.extent), from + at.from(),
                 to + at.to());
    if (++block < blocks) continue;
    block = 0;
    at.next();
  }
}

class ArrangeStep final : public Step {
 public:
  ArrangeStep(Buffer output, std::vector<Buffer> inputs, const Arrangement& arrangement,
              const PrepareContext& context)
      : output_(output),
        inputs_(std::move(inputs)),
        elements_(arrangement.elements),
        size_(static_cast<std::size_t>(arrangement.element_bytes)),
        fill_(arrangement.fill),
        kernels_(simd::kernels(context.features)) {
    for (const ArrangePart& part : arrangement.parts) {
      parts_.push_back(Loops::of(part));
      units_ += parts_.back().units;
    }
    if (context.type(output) != ValueType::bfloat16) return;
    for (Loops& part : parts_)
      part.rounds = context.type(inputs_[part.input]) != ValueType::bfloat16;
    size_ = sizeof(bfloat16);
    if (fill_.empty()) return;
    float value;
    std::memcpy(&value, fill_.data(), sizeof value);
    const bfloat16 rounded = element(value);
    std::memcpy(fill_.data(), &rounded, sizeof rounded);
  }

  int phases(int) const noexcept override { return fill_.empty() ? 1 : 2; }

  void run(const Frame& frame, std::byte*, int thread_id, int num_threads) const noexcept override {
    std::byte* const to = frame[output_].data;
    if (frame.phase + 1 < phases(num_threads)) {
      const Range own = thread_rows(elements_, thread_id, num_threads);
      return with_elements([&]<class T>() {
        T value;
        std::memcpy(&value, fill_.data(), sizeof value);
        std::fill_n(reinterpret_cast<T*>(to) + own.begin, own.size(), value);
      });
    }
    const Range own = thread_rows(units_, thread_id, num_threads);
    std::int64_t first = 0;
    for (const Loops& part : parts_) {
      const Range units{std::max(own.begin - first, std::int64_t{0}),
                        std::min(own.end - first, part.units)};
      first += part.units;
      if (units.size() <= 0) continue;
      const std::byte* const from = frame[inputs_[part.input]].data;
      if (part.rounds)
        copy_units<bfloat16, float>(part, kernels_, units, from, to);
      else
        with_elements([&]<class T>() { copy_units<T>(part, kernels_, units, from, to); });
    }
  }

 private:
  // Calls function.operator()<T>() with an unsigned integer of the size of an element.
  template <class Function>
  void with_elements(Function function) const {
    if (size_ == 1)
      function.template operator()<std::uint8_t>();
    else if (size_ == 2)
      function.template operator()<std::uint16_t>();
    else if (size_ == 4)
      function.template operator()<std::uint32_t>();
    else
      function.template operator()<std::uint64_t>();
  }

  const Buffer output_;
  const std::vector<Buffer> inputs_;
  const std::int64_t elements_;
  std::size_t size_;  // of an element
  std::vector<std::byte> fill_;
  const simd::Kernels& kernels_;
  std::vector<Loops> parts_;
  std::int64_t units_ = 0;
};

// The places that a part writes to, as a box: an interval along each axis of a dense output whose
// axes are so many elements apart. Returns how many places there are.
std::int64_t written_box(const ArrangePart& part, std::span<const std::int64_t> strides,
                         std::int64_t elements, std::vector<Range>& box) {
  std::int64_t count = 1, size = elements;
  for (const std::int64_t stride : strides) {
    require(size % stride == 0, "arrange: the axes of a part must be those of a dense output");
    const std::int64_t first = part.to % size / stride;
    box.push_back({first, first + 1});
    for (const ArrangeAxis& axis : part.axes) {
      if (axis.to_stride != stride || axis.extent == 1) continue;
      require(box.back().size() == 1, "arrange: two axes of a part write to the same elements");
      box.back().end = first + axis.extent;
    }
    require(box.back().end <= size / stride, "arrange: an axis of a part reaches into the next");
    size = stride;
  }
  for (const ArrangeAxis& axis : part.axes) {
    require(axis.extent == 1 || axis.to_stride > 0, "arrange: an axis writes to one element");
    count *= axis.table.empty()
                 ? axis.extent
                 : std::ranges::count_if(axis.table, [](std::int64_t at) { return at >= 0; });
  }
  return count;
}

// Every element of the output must be written exactly once, or at most once where it is filled: the
// parts are boxes that lie apart along an axis, and have as many elements as the output.
void check_coverage(const Arrangement& arrangement) {
  std::vector<std::int64_t> strides;
  for (const ArrangePart& part : arrangement.parts)
    for (const ArrangeAxis& axis : part.axes)
      if (axis.to_stride > 0) strides.push_back(axis.to_stride);
  if (strides.empty()) strides.push_back(1);
  std::ranges::sort(strides, std::ranges::greater{});
  strides.erase(std::ranges::unique(strides).begin(), strides.end());
  std::int64_t written = 0;
  std::vector<std::vector<Range>> boxes(arrangement.parts.size());
  for (std::size_t i = 0; i < boxes.size(); ++i)
    written += written_box(arrangement.parts[i], strides, arrangement.elements, boxes[i]);
  require(!arrangement.fill.empty() || written == arrangement.elements,
          "arrange: parts write " + std::to_string(written) + " of " +
              std::to_string(arrangement.elements) + " elements, and there is no fill");
  if (boxes.size() < 2) return;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    const auto begin = [axis](const std::vector<Range>& box) { return box[axis].begin; };
    std::ranges::sort(boxes, {}, begin);
    const auto meet = [axis](const auto& a, const auto& b) { return a[axis].end > b[axis].begin; };
    if (std::ranges::adjacent_find(boxes, meet) == boxes.end()) return;
  }
  require(false, "arrange: parts must lie apart along an axis");
}

// Elements that the axes reach, from the first to the last, must be in [0, elements).
void check_part(const ArrangePart& part, std::int64_t elements, std::int64_t input_elements) {
  std::int64_t low = part.from, high = part.from, top = part.to;
  require(part.axes.size() <= kMostCounted,
          "arrange: a part must have at most " + std::to_string(kMostCounted) + " axes");
  for (const ArrangeAxis& axis : part.axes) {
    require(axis.extent >= 1 && axis.to_stride >= 0, "arrange: an axis must have an extent");
    top += (axis.extent - 1) * axis.to_stride;
    if (axis.table.empty()) {
      const std::int64_t reach = (axis.extent - 1) * axis.from_stride;
      (reach < 0 ? low : high) += reach;
      continue;
    }
    require(static_cast<std::int64_t>(axis.table.size()) == axis.extent,
            "arrange: a table must have an entry for each element of its axis");
    high += std::max(std::ranges::max(axis.table), std::int64_t{0});
  }
  require(part.to >= 0 && top < elements && low >= 0 && high < input_elements,
          "arrange: a part lies outside of its tensors");
}

class ArrangeOp final : public Op {
 public:
  explicit ArrangeOp(Fields& f)
      : Op("arrange", f.get<std::vector<Buffer>>("inputs")), arrangement_(f) {
    const std::int64_t size = arrangement_.element_bytes, elements = arrangement_.elements;
    require(size == 1 || size == 2 || size == 4 || size == 8,
            "arrange: elements must have 1, 2, 4 or 8 bytes, got " + std::to_string(size));
    require(elements >= 1, "arrange: the output must not be empty");
    const auto fill_bytes = static_cast<std::int64_t>(arrangement_.fill.size());
    require(fill_bytes == 0 || fill_bytes == size, "arrange: fill must be one element");
    for (const ArrangePart& part : arrangement_.parts) {
      require(part.input < inputs.size(), "arrange: a part has no input");
      check_part(part, elements, tensor_bytes(f.graph(), inputs[part.input]) / size);
    }
    check_coverage(arrangement_);
    const bool floats = !inputs.empty() && std::ranges::all_of(inputs, [&](Buffer x) {
      return f.graph().shape(x).type == ValueType::float32;
    });
    const std::int64_t bytes = checked_product({elements, size}, "arrange");
    shape = floats ? tensor_of_floats(elements) : tensor_shape(bytes);
  }
  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return std::make_unique<ArrangeStep>(output, inputs, arrangement_, context);
  }
  Halves reads_bfloat16(std::size_t, Features) const override { return Halves::moved; }
  bool can_write_bfloat16() const override { return true; }

 private:
  const Arrangement arrangement_;
};

}  // namespace

Buffer kinds::arrange(Graph& graph, Fields& f) { return append_as<ArrangeOp>(graph, f); }

}  // namespace fbg

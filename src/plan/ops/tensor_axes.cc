// What is computed of elements along an axis: reductions, running sums, the order of elements.
// Threads take lines along the axis, blocks of neighbours where those are the inner ones.
#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <limits>
#include <memory>
#include <ranges>
#include <span>

#include "plan/ops/element_types.h"

namespace fbg {
namespace {

constexpr std::int64_t kBlock = 64;  // neighbours at a time

// What is read of a tensor along an axis: x[outer][count][inner].
struct Axis {
  explicit Axis(Fields& f) : outer(f("outer")), count(f("count")), inner(f("inner")) {}
  std::int64_t outer, count, inner;
};

std::int64_t blocks_of(const Axis& axis) { return ceil_div(axis.inner, kBlock); }

// Calls use(first, count) for the blocks of units: `first` is the number of the first element of
// the first line of a block, which has `count` lines.
template <class Use>
void for_each_block(const Axis& axis, Range units, Use use) {
  const std::int64_t blocks = blocks_of(axis);
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
    const std::int64_t outer = unit / blocks, at = unit % blocks * kBlock;
    use(outer, at, std::min(kBlock, axis.inner - at));
  }
}

// One element for each line along an axis. The type is int64 for positions: those of the first
// extreme, or of the last one; a NaN is both the greatest and the least element.
enum class Reduction : std::uint8_t {
  sum,
  product,
  max,
  min,
  first_max,
  first_min,
  last_max,
  last_min
};
constexpr Choice<Reduction> kReductions[] = {{"sum", Reduction::sum},
                                             {"product", Reduction::product},
                                             {"max", Reduction::max},
                                             {"min", Reduction::min},
                                             {"first_max", Reduction::first_max},
                                             {"first_min", Reduction::first_min},
                                             {"last_max", Reduction::last_max},
                                             {"last_min", Reduction::last_min}};
std::span<const Choice<Reduction>> choices(Reduction) { return kReductions; }

bool gives_positions(Reduction r) { return r >= Reduction::first_max; }

// One result of consecutive elements: several at a time, each of every kAtOnce-th element.
template <class T, class Function>
T combine_line(const T* x, std::int64_t count, Function function) {
  constexpr std::int64_t kAtOnce = 32;
  T y[kAtOnce] = {};
  const std::int64_t first = std::min(kAtOnce, count);
  std::copy_n(x, first, y);
  std::int64_t j = first;
  for (; j + kAtOnce <= count; j += kAtOnce)
    for (std::int64_t i = 0; i < kAtOnce; ++i) y[i] = function(y[i], x[j + i]);
  for (std::int64_t i = 0; j < count; ++i, ++j) y[i] = function(y[i], x[j]);
  for (std::int64_t width = kAtOnce / 2; width > 0; width /= 2)
    for (std::int64_t i = 0; i < width && i + width < first; ++i)
      y[i] = function(y[i], y[i + width]);
  return y[0];
}

template <class T, class Function>
void combine(const T* x, const Axis& axis, std::int64_t n, T* y, Function function) {
  if (axis.inner == 1) {
    *y = combine_line(x, axis.count, function);
    return;
  }
  std::copy_n(x, n, y);
  for (std::int64_t j = 1; j < axis.count; ++j) {
    x += axis.inner;
    for (std::int64_t i = 0; i < n; ++i) y[i] = function(y[i], x[i]);
  }
}

// The position of the first or the last element of a line that is the extreme one, or NaN like it.
template <class T>
std::int64_t find_in_line(Reduction r, const T* x, std::int64_t count) {
  const bool max = r == Reduction::first_max || r == Reduction::last_max;
  const T best = max ? combine_line(x, count, [](T a, T b) { return max_of(a, b); })
                     : combine_line(x, count, [](T a, T b) { return min_of(a, b); });
  const auto is_best = [&](T own) { return own == best || (is_nan(own) && is_nan(best)); };
  const auto places = std::span(x, static_cast<std::size_t>(count));
  if (r == Reduction::first_max || r == Reduction::first_min)
    return std::ranges::find_if(places, is_best) - places.begin();
  const auto turned = std::views::reverse(places);
  return count - 1 - (std::ranges::find_if(turned, is_best) - turned.begin());
}

// Positions of extremes of n lines beside each other: is_better(x, best) replaces the best element
// so far. Position: a type as wide as T lets compilers compare several lines at a time.
template <class Position, class T, class Better>
void find(const T* x, const Axis& axis, std::int64_t n, std::int64_t* y, Better is_better) {
  std::array<T, kBlock> best;
  std::array<Position, kBlock> at{};
  std::copy_n(x, n, best.begin());
  for (std::int64_t j = 1; j < axis.count; ++j) {
    x += axis.inner;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto own = static_cast<std::size_t>(i);
      const bool better = is_better(x[i], best[own]);
      best[own] = better ? x[i] : best[own];
      at[own] = better ? static_cast<Position>(j) : at[own];
    }
  }
  std::copy_n(at.begin(), n, y);
}

template <class T>
void find(Reduction r, const T* x, const Axis& axis, std::int64_t n, std::int64_t* y) {
  const auto search = [&](auto is_better) {
    if (sizeof(T) <= 4 && axis.count <= std::numeric_limits<std::int32_t>::max())
      find<std::int32_t>(x, axis, n, y, is_better);
    else
      find<std::int64_t>(x, axis, n, y, is_better);
  };
  switch (r) {
    case Reduction::first_max:
      return search([](T a, T b) { return (a > b) | (is_nan(a) & !is_nan(b)); });
    case Reduction::first_min:
      return search([](T a, T b) { return (a < b) | (is_nan(a) & !is_nan(b)); });
    case Reduction::last_max:
      return search([](T a, T b) { return (a >= b) | is_nan(a); });
    default:
      return search([](T a, T b) { return (a <= b) | is_nan(a); });
  }
}

template <class T>
void reduce_block(Reduction r, const T* x, const Axis& axis, std::int64_t n, std::byte* to) {
  T* const y = reinterpret_cast<T*>(to);
  auto* const at = reinterpret_cast<std::int64_t*>(to);
  if (gives_positions(r)) {
    if (axis.inner > 1) return find(r, x, axis, n, at);
    *at = find_in_line(r, x, axis.count);
    return;
  }
  switch (r) {
    case Reduction::sum:
      return combine(x, axis, n, y, [](T a, T b) { return sum_of(a, b); });
    case Reduction::product:
      return combine(x, axis, n, y, [](T a, T b) { return product_of(a, b); });
    case Reduction::max:
      return combine(x, axis, n, y, [](T a, T b) { return max_of(a, b); });
    default:
      return combine(x, axis, n, y, [](T a, T b) { return min_of(a, b); });
  }
}

// An op along an axis of x.
class AxisOp : public Op {
 public:
  // Appends the op, with conversions where functions are not compiled for the type of its elements:
  // before it, and after it, too, if that is the type of its results.
  template <class T>
  static Buffer append(Graph& graph, Fields& f) {
    auto op = std::make_shared<T>(f);
    f.require_all_read();
    const ElementType type = op->type_, wide = computed_in(type);
    if (wide == type) return append_op(graph, std::move(op));
    op->type_ = wide;
    op->inputs[0] = convert(graph, op->inputs[0], type, wide);
    if (op->gives_positions_) return append_op(graph, std::move(op));
    op->shape.cols = op->shape.cols / element_bytes(type) * element_bytes(wide);
    return convert(graph, append_op(graph, std::move(op)), wide, type);
  }

 protected:
  AxisOp(const char* op_name, Fields& f) : Op(op_name, f) {}

  // Lines have so many results.
  void check(const char* kind, std::int64_t results, bool gives_positions) {
    gives_positions_ = gives_positions;
    const auto bytes = [&](std::int64_t count, std::int64_t size) {
      return checked_product({axis_.outer, count, axis_.inner, size}, kind);
    };
    require_bytes(fields().graph(), inputs[0], bytes(axis_.count, element_bytes(type_)),
                  (std::string(kind) + ": x").c_str());
    with_number(type_, kind, []<class T>() {});
    shape = tensor_shape(bytes(results, gives_positions ? 8 : element_bytes(type_)));
  }

 private:
  const Buffer given_ = input("x");

 protected:
  const Axis axis_ = fields().get<Axis>("axis");
  ElementType type_ = field("type");
  bool gives_positions_ = false;
};

class ReduceOp final : public AxisOp {
 public:
  explicit ReduceOp(Fields& f) : AxisOp("reduce", f) {
    name = std::string(kReductions[static_cast<std::size_t>(reduction_)].name) + " along an axis";
    check("reduce", 1, gives_positions(reduction_));
  }

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return with_wide_number(type_, "reduce", [this]<class T>() -> std::unique_ptr<Step> {
      const auto y_bytes =
          static_cast<std::int64_t>(gives_positions(reduction_) ? sizeof(std::int64_t) : sizeof(T));
      return make_unit_step(
          axis_.outer * blocks_of(axis_), 0,
          [this, y_bytes](const Frame& frame, std::byte*, int, Range units) {
            const T* const x = reinterpret_cast<const T*>(frame[inputs[0]].data);
            for_each_block(axis_, units, [&](std::int64_t outer, std::int64_t at, std::int64_t n) {
              reduce_block(reduction_, x + outer * axis_.count * axis_.inner + at, axis_, n,
                           frame[output].data + (outer * axis_.inner + at) * y_bytes);
            });
          });
    });
  }

 private:
  const Reduction reduction_ = field("function");
};

// y[j] = x[0] + … + x[j], or the product. exclusive: without x[j]. reverse: from the end.
class AccumulateOp final : public AxisOp {
 public:
  explicit AccumulateOp(Fields& f) : AxisOp("running sums", f) {
    if (multiplies_) name = "running products";
    check("accumulate", axis_.count, false);
  }

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return with_wide_number(type_, "accumulate", [this]<class T>() -> std::unique_ptr<Step> {
      return make_unit_step(
          axis_.outer * blocks_of(axis_), 0,
          [this](const Frame& frame, std::byte*, int, Range units) {
            for_each_block(axis_, units, [&](std::int64_t outer, std::int64_t at, std::int64_t n) {
              const std::int64_t first = outer * axis_.count * axis_.inner + at;
              lines(reinterpret_cast<const T*>(frame[inputs[0]].data) + first, n,
                    reinterpret_cast<T*>(frame[output].data) + first);
            });
          });
    });
  }

 private:
  template <class T>
  void lines(const T* x, std::int64_t n, T* y) const {
    const std::int64_t last = (axis_.count - 1) * axis_.inner;
    const std::int64_t step = reverse_ ? -axis_.inner : axis_.inner;
    if (reverse_) x += last, y += last;
    std::array<T, kBlock> running;
    running.fill(static_cast<T>(multiplies_ ? 1 : 0));
    for (std::int64_t j = 0; j < axis_.count; ++j, x += step, y += step) {
      for (std::int64_t i = 0; i < n; ++i) {
        T& own = running[static_cast<std::size_t>(i)];
        if (exclusive_) y[i] = own;
        own = multiplies_ ? product_of(own, x[i]) : sum_of(own, x[i]);
        if (!exclusive_) y[i] = own;
      }
    }
  }

  const bool multiplies_ = field("multiplies", false), exclusive_ = field("exclusive", false),
             reverse_ = field("reverse", false);
};

// Numbers in the order of elements of any type, so that one function sorts them all: -0 equals 0,
// and NaN is greater than all others.
template <class T>
std::uint64_t sort_key(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    if (std::isnan(x)) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<Bits>(x + T{0});
    return bits & kSign ? static_cast<Bits>(~bits) : bits | kSign;
  } else {
    constexpr auto kSign = std::is_signed_v<T> ? std::uint64_t{1} << 63 : std::uint64_t{0};
    return static_cast<std::uint64_t>(x) ^ kSign;
  }
}

// int64 positions of the `k` greatest or least elements of each line, those first; equal elements
// stay in order, and a NaN is greater than all numbers.
class TopPositionsOp final : public AxisOp {
 public:
  explicit TopPositionsOp(Fields& f) : AxisOp("top k", f) {
    require(k_ >= 1 && k_ <= axis_.count, "top_positions: k must be at least 1 and at most " +
                                              std::to_string(axis_.count) + ", got " +
                                              std::to_string(k_));
    check("top_positions", k_, true);
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const auto threads = static_cast<std::size_t>(context.capacity.threads);
    const auto own_bytes = static_cast<std::size_t>(axis_.count) * sizeof(Entry);
    return with_wide_number(type_, "top_positions", [&]<class T>() -> std::unique_ptr<Step> {
      return make_unit_step(
          axis_.outer * axis_.inner, threads * own_bytes,
          [this](const Frame& frame, std::byte* scratch, int thread_id, Range units) {
            const std::span entries(reinterpret_cast<Entry*>(scratch) + thread_id * axis_.count,
                                    static_cast<std::size_t>(axis_.count));
            const T* const x = reinterpret_cast<const T*>(frame[inputs[0]].data);
            auto* const y = reinterpret_cast<std::int64_t*>(frame[output].data);
            for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
              const std::int64_t outer = unit / axis_.inner, inner = unit % axis_.inner;
              const T* const from = x + outer * axis_.count * axis_.inner + inner;
              if (k_ * kFewOf <= axis_.count)
                pick(from, entries.first(static_cast<std::size_t>(k_)));
              else
                take_all(from, entries);
              for (std::int64_t j = 0; j < k_; ++j)
                y[(outer * k_ + j) * axis_.inner + inner] =
                    entries[static_cast<std::size_t>(j)].position;
            }
          });
    });
  }

 private:
  struct Entry {
    std::uint64_t key;  // the least comes first
    std::int64_t position;
    auto operator<=>(const Entry&) const = default;
  };

  // From so many times as many elements as are wanted, few replace one of those that are kept.
  static constexpr std::int64_t kFewOf = 16;
  static constexpr std::int64_t kAtOnce = 32;  // elements that are compared together

  template <class T>
  Entry entry(const T* from, std::int64_t j) const {
    const std::uint64_t key = sort_key(from[j * axis_.inner]);
    return {greatest_ ? ~key : key, j};
  }

  // Whether an element may come before a bound; so may everything that is no number.
  template <class T>
  bool may_precede(T element, T bound) const {
    return greatest_ ? !(element <= bound) : !(element >= bound);
  }

  // The kept entries, a heap, become the least of all. Elements that follow each other are first
  // compared with the last of these.
  template <class T>
  void pick(const T* from, std::span<Entry> kept) const {
    for (std::int64_t j = 0; j < k_; ++j) kept[static_cast<std::size_t>(j)] = entry(from, j);
    std::ranges::make_heap(kept);
    const auto last = [&] { return from[kept.front().position * axis_.inner]; };
    for (std::int64_t begin = k_; begin < axis_.count; begin += kAtOnce) {
      const std::int64_t end = std::min(begin + kAtOnce, axis_.count);
      const T bound = last();
      unsigned found = 0;
      for (std::int64_t j = begin; j < end; ++j)
        found |= may_precede(from[j * axis_.inner], bound) ? 1u : 0u;
      for (std::int64_t j = begin; found && j < end; ++j) {
        const Entry own = entry(from, j);
        if (!(own < kept.front())) continue;
        std::ranges::pop_heap(kept);
        kept.back() = own;
        std::ranges::push_heap(kept);
      }
    }
    std::ranges::sort_heap(kept);
  }

  // The first k entries become the least.
  template <class T>
  void take_all(const T* from, std::span<Entry> entries) const {
    for (std::int64_t j = 0; j < axis_.count; ++j)
      entries[static_cast<std::size_t>(j)] = entry(from, j);
    const auto kept = entries.begin() + k_;
    if (kept != entries.end()) std::nth_element(entries.begin(), kept, entries.end());
    std::sort(entries.begin(), kept);
  }

  const std::int64_t k_ = field("k");
  const bool greatest_ = field("greatest", true);
};

}  // namespace

Buffer kinds::reduce(Graph& graph, Fields& f) { return AxisOp::append<ReduceOp>(graph, f); }
Buffer kinds::accumulate(Graph& graph, Fields& f) { return AxisOp::append<AccumulateOp>(graph, f); }
Buffer kinds::top_positions(Graph& graph, Fields& f) {
  return AxisOp::append<TopPositionsOp>(graph, f);
}

}  // namespace fbg

// Pooling and reductions. Threads take output pixels, or, where there are few of those, blocks of
// channels of a pixel.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/policy.h"
#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kChannelBlock = policy::tensors::kChannels;

enum class WindowFunction : std::uint8_t { max, min, sum, mean };
constexpr Choice<WindowFunction> kFunctions[] = {{"max", WindowFunction::max},
                                                 {"min", WindowFunction::min},
                                                 {"sum", WindowFunction::sum},
                                                 {"mean", WindowFunction::mean}};
std::span<const Choice<WindowFunction>> choices(WindowFunction) { return kFunctions; }

std::string name_of(WindowFunction function) {
  return kFunctions[static_cast<std::size_t>(function)].name;
}

struct WindowSizes {
  explicit WindowSizes(Fields& f)
      : input(f("input")),
        output(f("output")),
        kernel(f("kernel")),
        stride(f("stride")),
        dilation(f("dilation")),
        pad_before(f("pad_before")),
        pad_after(f("pad_after")) {}
  Extent3 input, output, kernel, stride, dilation, pad_before, pad_after;
};

// For every channel, the maximum, minimum, sum or mean over a window of pixels. x is (batch,
// *input, channels); pixels outside of it are left out.
struct Window : WindowSizes {
  explicit Window(Fields& f)
      : WindowSizes(f.get<WindowSizes>("sizes")),
        function(f("function")),
        batch(f("batch")),
        channels(f("channels")),
        count_padding(f("count_padding", false)),
        type(f("type", ValueType::float32)),
        factor(f("factor", 1.0f)),
        zero_point(f("zero_point", 0)),
        output_zero_point(f("output_zero_point", 0)),
        float_output(f("float_output", false)) {}
  WindowFunction function;
  std::int64_t batch, channels;
  // Divisor of a mean: all pixels of the window that are not beyond input + pad_after, or, if
  // false, those of the image.
  bool count_padding;
  ValueType type;  // of x and y: float32, uint8 or int8
  // For a mean or sum of integers: r = (mean(x) - zero_point) * factor, and y is
  // saturate(rint(r) + output_zero_point), or r itself, as float32.
  float factor;
  std::int32_t zero_point, output_zero_point;
  bool float_output;
};

// The pixels of an axis that a window at output position `o` covers.
struct Cover {
  std::int64_t first = 0, count = 0;  // pixels of the image
  std::int64_t padded = 0;            // including pixels of the padding
};
Cover cover(const Window& w, std::size_t axis, std::int64_t o) {
  const std::int64_t d = w.dilation[axis], begin = o * w.stride[axis] - w.pad_before[axis];
  const std::int64_t skipped = begin < 0 ? ceil_div(-begin, d) : 0;
  const auto taps = [&](std::int64_t bound) {
    return std::clamp(ceil_div(bound - begin, d), std::int64_t{0}, w.kernel[axis]);
  };
  const std::int64_t last = taps(w.input[axis]);
  return {begin + skipped * d, std::max(last - skipped, std::int64_t{0}),
          taps(w.input[axis] + w.pad_after[axis])};
}

// What depends on T and Y, the elements of x and y; std::uint16_t stands for bfloat16.
struct Elements {
  std::int64_t x_size, y_size;
  void (*apply)(const simd::WindowKernels& kernels, WindowFunction function, const std::byte* x,
                const simd::PixelWindow& window, std::size_t n, const simd::SumScale& scale,
                std::byte* y);
  // n results of windows in the padding alone.
  void (*fill)(WindowFunction function, std::int32_t zero_point, std::size_t n, std::byte* y);
};

template <class T, class Y>
struct ElementsOf {
  static void apply(const simd::WindowKernels& kernels, WindowFunction function,
                    const std::byte* x_bytes, const simd::PixelWindow& window, std::size_t n,
                    const simd::SumScale& scale, std::byte* y_bytes) {
    const auto& own = std::get<simd::WindowsOf<T>>(kernels.windows);
    const T* const x = reinterpret_cast<const T*>(x_bytes);
    Y* const y = reinterpret_cast<Y*>(y_bytes);
    if constexpr (std::is_same_v<T, Y>) {
      if (function == WindowFunction::max) return own.max(x, window, n, y);
      if (function == WindowFunction::min) return own.min(x, window, n, y);
    }
    if constexpr (std::is_same_v<Y, float>)
      own.sum_float(x, window, n, scale, y);
    else
      own.sum(x, window, n, scale, y);
  }

  static void fill(WindowFunction function, std::int32_t zero_point, std::size_t n,
                   std::byte* y_bytes) {
    using Limits = std::numeric_limits<Y>;
    Y value{};
    // A sum or mean of no pixels is 0.
    if constexpr (!std::is_same_v<Y, float>)
      value = static_cast<Y>(std::clamp<std::int32_t>(zero_point, Limits::lowest(), Limits::max()));
    if (function == WindowFunction::max) value = Limits::lowest();
    if (function == WindowFunction::min) value = Limits::max();
    // Of bfloat16, only maxima: the lowest float, rounded.
    if constexpr (std::is_same_v<Y, std::uint16_t>) value = 0xFF80;
    std::fill_n(reinterpret_cast<Y*>(y_bytes), n, value);
  }

  static constexpr Elements value{sizeof(T), sizeof(Y), apply, fill};
};

class WindowRun {
 public:
  WindowRun(Buffer x, Buffer y, const Window& window, const Elements& elements, Features features)
      : x_(x),
        y_(y),
        function_(window.function),
        w_(window),
        elements_(elements),
        kernels_(simd::kernels(features).windows) {
    for (std::size_t a = 0; a < kSpatialAxes; ++a)
      for (std::int64_t o = 0; o < w_.output[a]; ++o) covers_[a].push_back(cover(w_, a, o));
    const std::vector<Cover>& last = covers_.back();
    alike_.assign(last.size(), 1);
    for (std::size_t o = last.size() - 1; o-- > 0;)
      if (last[o].count == last[o + 1].count && last[o].padded == last[o + 1].padded &&
          last[o].first + w_.stride.back() == last[o + 1].first)
        alike_[o] = alike_[o + 1] + 1;
  }

  std::int64_t blocks() const { return ceil_div(w_.channels, kChannelBlock); }
  std::int64_t units() const { return w_.batch * volume(w_.output) * blocks(); }

  void operator()(const Frame& frame, std::byte*, int, Range units) const {
    const std::byte* const x = frame[x_].data;
    std::byte* const y = frame[y_].data;
    for (std::int64_t unit = units.begin; unit < units.end;) {
      const std::int64_t pixel = unit / blocks(), block = unit % blocks();
      if (block == 0 && units.end - unit >= blocks()) {  // whole pixels
        const std::int64_t count = std::min((units.end - unit) / blocks(), alike(pixel));
        windows(x, y + pixel * w_.channels * elements_.y_size, pixel, count, w_.channels);
        unit += count * blocks();
        continue;
      }
      const std::int64_t until = std::min(units.end, (pixel + 1) * blocks());
      const std::int64_t first = block * kChannelBlock;
      const std::int64_t last = std::min((until - pixel * blocks()) * kChannelBlock, w_.channels);
      windows(x + first * elements_.x_size, y + (pixel * w_.channels + first) * elements_.y_size,
              pixel, 1, last - first);
      unit = until;
    }
  }

 private:
  // How many windows from this one on, on the same line, cover as many pixels each.
  std::int64_t alike(std::int64_t pixel) const {
    return alike_[static_cast<std::size_t>(pixel % w_.output.back())];
  }

  // `count` windows from the one of `pixel` on, which are alike.
  void windows(const std::byte* x, std::byte* y, std::int64_t pixel, std::int64_t count,
               std::int64_t channels) const {
    std::int64_t rest = pixel, pixels = 1, padded = 1;
    Cover covers[kSpatialAxes];
    for (std::size_t a = kSpatialAxes; a-- > 0;) {
      if (w_.output[a] == 1) {  // divisions take longer than small windows
        covers[a] = covers_[a][0];
      } else {
        covers[a] = covers_[a][static_cast<std::size_t>(rest % w_.output[a])];
        rest /= w_.output[a];
      }
      pixels *= covers[a].count;
      padded *= covers[a].padded;
    }
    const auto n = static_cast<std::size_t>(channels);
    if (pixels == 0) {  // all in the padding
      for (std::int64_t i = 0; i < count; ++i)
        elements_.fill(function_, w_.output_zero_point, n, y + i * w_.channels * elements_.y_size);
      return;
    }
    simd::PixelWindow window;
    window.windows = count;
    window.x_step = w_.stride.back() * w_.channels;
    window.y_step = w_.channels;
    std::int64_t distance = w_.channels;
    for (std::size_t a = kSpatialAxes; a-- > 0; distance *= w_.input[a]) {
      window.count[a] = covers[a].count;
      window.stride[a] = distance * w_.dilation[a];
      x += covers[a].first * distance * elements_.x_size;
      if (a == 0) x += rest * distance * w_.input[0] * elements_.x_size;
    }
    const std::int64_t divisor =
        function_ == WindowFunction::sum ? 1 : (w_.count_padding ? padded : pixels);
    const simd::SumScale scale{static_cast<std::int32_t>(pixels) * w_.zero_point,
                               w_.factor / static_cast<float>(divisor), w_.output_zero_point};
    elements_.apply(kernels_, function_, x, window, n, scale, y);
  }

  const Buffer x_, y_;
  const WindowFunction function_;
  const Window w_;
  const Elements& elements_;
  const simd::WindowKernels& kernels_;
  std::array<std::vector<Cover>, kSpatialAxes> covers_;  // by output position
  std::vector<std::int64_t> alike_;                      // for the last axis, by output position
};

bool chooses(WindowFunction function) {
  return function == WindowFunction::max || function == WindowFunction::min;
}

class WindowOp final : public Op {
 public:
  WindowOp(Buffer x, const Window& window)
      : Op(name_of(window.function) + " pool", {x}), function_(window.function), window_(window) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const bool real = window_.float_output;
    if (window_.type == ValueType::uint8)
      return real ? step<std::uint8_t, float>(context) : step<std::uint8_t, std::uint8_t>(context);
    if (window_.type == ValueType::int8)
      return real ? step<std::int8_t, float>(context) : step<std::int8_t, std::int8_t>(context);
    if (context.type(inputs[0]) != ValueType::bfloat16) return step<float, float>(context);
    if (!chooses(function_)) return step<std::uint16_t, float>(context);
    return step<std::uint16_t, std::uint16_t>(context);
  }
  // The maximum of rounded numbers is the rounded maximum; a sum of them is another one.
  Halves reads_bfloat16(std::size_t, Features) const override {
    if (function_ == WindowFunction::max) return Halves::kept;
    return chooses(function_) ? Halves::no : Halves::widened;
  }
  bool can_write_bfloat16() const override { return function_ == WindowFunction::max; }

 private:
  template <class T, class Y>
  std::unique_ptr<Step> step(const PrepareContext& context) const {
    WindowRun run(inputs[0], output, window_, ElementsOf<T, Y>::value, context.features);
    const std::int64_t units = run.units();
    return make_unit_step(units, 0, std::move(run));
  }

  const WindowFunction function_;
  const Window window_;
};

// Whether the pixels of each image of one channel lie side by side and make up one window.
bool is_row(const Window& w) {
  return w.channels == 1 && volume(w.output) == 1 && w.kernel == w.input &&
         w.pad_before == Extent3{0, 0, 0} && w.pad_after == Extent3{0, 0, 0};
}

class SumOfBytesOp final : public Op {
 public:
  SumOfBytesOp(Buffer x, const Window& window)
      : Op(name_of(window.function) + " of rows", {x}), w_(window) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const auto sum = simd::kernels(context.features).rows.sum_row;
    const std::int64_t pixels = volume(w_.input);
    const auto offset = static_cast<std::int32_t>(pixels * w_.zero_point);
    const float divisor = w_.function == WindowFunction::sum ? 1.0f : static_cast<float>(pixels);
    const float factor = w_.factor / divisor;
    return make_unit_step(
        w_.batch, 0,
        [this, sum, pixels, offset, factor](const Frame& frame, std::byte*, int, Range rows) {
          const auto* x = reinterpret_cast<const std::uint8_t*>(frame[inputs[0]].data);
          std::byte* const y = frame[output].data;
          for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const std::int32_t found = sum(x + i * pixels, static_cast<std::size_t>(pixels));
            const float real = static_cast<float>(found - offset) * factor;
            if (w_.float_output) {
              reinterpret_cast<float*>(y)[i] = real;
              continue;
            }
            const auto point = static_cast<float>(w_.output_zero_point);
            const float rounded = std::nearbyint(std::clamp(real, -point, 255.0f - point));
            reinterpret_cast<std::uint8_t*>(y)[i] = static_cast<std::uint8_t>(rounded + point);
          }
        });
  }

 private:
  const Window w_;
};

class ReduceRowsOp final : public Op {
 public:
  ReduceRowsOp(Buffer x, const Window& window)
      : Op(name_of(window.function) + " of rows", {x}),
        function_(window.function),
        rows_(window.batch),
        cols_(volume(window.input)) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::WindowKernels& kernels = simd::kernels(context.features).windows;
    const auto kernel = function_ == WindowFunction::max   ? kernels.row_max
                        : function_ == WindowFunction::min ? kernels.row_min
                                                           : kernels.row_sum;
    const float divisor = function_ == WindowFunction::mean ? static_cast<float>(cols_) : 1.0f;
    return make_unit_step(
        rows_, 0, [this, kernel, divisor](const Frame& frame, std::byte*, int, Range rows) {
          const auto* x = reinterpret_cast<const float*>(frame[inputs[0]].data);
          auto* y = reinterpret_cast<float*>(frame[output].data);
          for (std::int64_t i = rows.begin; i < rows.end; ++i)
            y[i] = kernel(x + i * cols_, static_cast<std::size_t>(cols_)) / divisor;
        });
  }

 private:
  const WindowFunction function_;
  const std::int64_t rows_, cols_;
};

}  // namespace

Buffer kinds::window(Graph& graph, Fields& f) {
  const auto x = f.get<Buffer>("x");
  const Window w(f);
  f.require_all_read();
  const bool picks = chooses(w.function);
  for (const Extent3* e : {&w.input, &w.output, &w.kernel, &w.stride, &w.dilation})
    for (const std::int64_t size : *e)
      require(size >= 1, "window: sizes, strides and dilations must be at least 1");
  const auto bytes = [&](const Extent3& e, std::int64_t size) {
    return checked_product({w.batch, e[0], e[1], e[2], w.channels, size}, "window");
  };
  require(w.type == ValueType::float32 || w.type == ValueType::uint8 || w.type == ValueType::int8,
          std::string("window: type cannot be ") + value_type_name(w.type));
  require(!w.float_output || !picks, "window: a maximum or minimum has the type of x");
  if (w.type != ValueType::float32 && !picks) {
    std::int64_t most = 255;  // the greatest sum of a window
    for (std::size_t a = 0; a < kSpatialAxes; ++a)
      if (__builtin_mul_overflow(most, std::min(w.kernel[a], w.input[a]), &most)) most = INT64_MAX;
    require(most <= std::numeric_limits<std::int32_t>::max(),
            "window: sums of integers must not exceed 32 bits, got a window of too many pixels");
    for (const std::int32_t point : {w.zero_point, w.output_zero_point})
      require(point >= -255 && point <= 255, "window: zero points must be within [-255, 255]");
  }
  require_bytes(graph, x, bytes(w.input, value_size(w.type)), "window: x");
  const std::int64_t size = w.float_output ? 4 : value_size(w.type);
  const BufferShape shape = w.type == ValueType::float32 ? tensor_of_floats(bytes(w.output, 1))
                                                         : tensor_shape(bytes(w.output, size));
  std::shared_ptr<Op> op;
  if (is_row(w) && w.type == ValueType::uint8 && !picks)
    op = std::make_shared<SumOfBytesOp>(x, w);
  else if (is_row(w) && w.type == ValueType::float32)
    op = std::make_shared<ReduceRowsOp>(x, w);
  else
    op = std::make_shared<WindowOp>(x, w);
  op->shape = shape;
  return append_op(graph, std::move(op));
}

}  // namespace fbg

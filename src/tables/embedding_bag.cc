// Bags by ranges: which kernel, which share of the bags, and the offsets that a kernel reads.
#include "fbg/tables/embedding_bag.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "kernels/lookup.h"

namespace fbg {
namespace {

constexpr std::int64_t kMostColumns = 1 << 24;
constexpr int kMostPrefetch = 1 << 15;
constexpr std::int64_t kCutBags = 256;  // for which offsets are made at a time

// use(T) with the type of indices.
template <class Use>
auto with_index(IndexType type, Use use) {
  return type == IndexType::int64 ? use(std::int64_t{}) : use(std::int32_t{});
}

// Where bag b begins; b may be the number of bags.
template <class T>
std::int64_t begin_of(const Bags& bags, std::int64_t b) {
  if (!bags.offsets) return b * bags.length;
  if (b == bags.num_bags && !bags.ends) return bags.num_indices;
  return static_cast<const T*>(bags.offsets)[b];
}

}  // namespace

struct EmbeddingBag::Kernel {
  kernels::LookupKey key;
  std::int64_t padding;
  kernels::LookupFunction function;  // null: the portable kernel

  std::int64_t call(const kernels::LookupArgs& args) const {
    return function ? function(&args) : kernels::look_up(key, args);
  }
};

namespace {

struct Ahead {
  std::uint16_t rows;
  bool far;
};

// Memory is slower than the L3, and a core may ask for more lines at a time if they go to the L2.
Ahead ahead_of(int prefetch, std::int64_t table_bytes) {
  const bool far = table_bytes > cpu_info().l3_bytes / 2;
  if (far) prefetch = std::min(policy::tables::kFartherAhead * prefetch, kMostPrefetch);
  return {static_cast<std::uint16_t>(prefetch), far};
}

}  // namespace

EmbeddingBag::EmbeddingBag(const RowLayout& layout, const Options& options) {
  const auto require = [](bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
  };
  require(layout.columns >= 1 && layout.columns <= kMostColumns,
          "EmbeddingBag: a table has 1 to 16777216 columns");
  require(!options.weighted || options.mode != BagMode::max,
          "EmbeddingBag: a maximum has no weights");
  require(options.prefetch >= 0 && options.prefetch <= kMostPrefetch,
          "EmbeddingBag: prefetch must be within [0, 32768]");
  require(options.output == ValueType::float32 || options.output == ValueType::float16 ||
              options.output == ValueType::bfloat16,
          "EmbeddingBag: output must be float32, float16 or bfloat16");
  const Ahead ahead = ahead_of(options.prefetch, options.table_bytes);
  const kernels::LookupKey key{layout.columns,
                               layout.format,
                               row_parameters(layout.format) ? layout.scale : RowScale::float32,
                               options.mode,
                               options.index,
                               options.weighted,
                               kernels::lookup_isa(options.features),
                               ahead.rows,
                               options.output,
                               ahead.far};
  const bool portable = key.isa == Isa::generic;
  kernel_ = std::make_shared<const Kernel>(
      Kernel{key, options.padding_index, portable ? nullptr : kernels::find_lookup(key)});
}

Range EmbeddingBag::share(const Bags& bags, int thread_id, int num_threads) const noexcept {
  return with_index(kernel_->key.index, [&]<class T>(T) -> Range {
    // A bag costs its rows, and one more for what it writes.
    const auto first = [&](int thread) {
      const std::int64_t all = bags.num_indices + bags.num_bags;
      const std::int64_t before =
          all / num_threads * thread + all % num_threads * thread / num_threads;
      std::int64_t lo = 0, hi = bags.num_bags;
      while (lo < hi) {
        const std::int64_t b = lo + (hi - lo) / 2;
        begin_of<T>(bags, b) + b < before ? lo = b + 1 : hi = b;
      }
      return thread == num_threads ? bags.num_bags : lo;
    };
    return {first(thread_id), first(thread_id + 1)};
  });
}

std::int64_t EmbeddingBag::run(const EmbeddingRows& table, const Bags& bags, void* out,
                               std::int64_t out_stride, Range range) const noexcept {
  const FloatEnvironment environment;
  const std::int64_t out_bytes = out_stride * value_size(kernel_->key.output);
  return with_index(kernel_->key.index, [&]<class T>(T) -> std::int64_t {
    const auto* offsets = static_cast<const T*>(bags.offsets);
    const auto* indices = static_cast<const T*>(bags.indices);
    std::array<T, kCutBags + 1> made;
    for (std::int64_t b = range.begin; b < range.end;) {
      std::int64_t end = range.end, base = 0;
      const T* begins = offsets ? offsets + b : nullptr;
      if (!offsets) {  // positions count from the first index of these bags
        const std::int64_t most =
            std::numeric_limits<T>::max() / std::max<std::int64_t>(bags.length, 1);
        end = std::min(end, b + std::clamp<std::int64_t>(most, 1, kCutBags));
        base = begin_of<T>(bags, b);
        begins = made.data();
        for (std::int64_t i = 0; i <= end - b; ++i)
          made[static_cast<std::size_t>(i)] = static_cast<T>(i * bags.length);
      } else if (!bags.ends && end == bags.num_bags) {  // the last bag ends with the indices
        if (b + 1 < end) {
          --end;
        } else {
          made = {offsets[b], static_cast<T>(bags.num_indices)};
          begins = made.data();
        }
      }
      const kernels::LookupArgs args{table.data,
                                     table.stride,
                                     table.rows,
                                     kernel_->padding,
                                     indices + base,
                                     bags.num_indices - base - 1,
                                     begins,
                                     bags.weights ? bags.weights + base : nullptr,
                                     static_cast<std::byte*>(out) + b * out_bytes,
                                     out_bytes,
                                     end - b};
      if (const std::int64_t bad = kernel_->call(args); bad >= 0) return base + bad;
      b = end;
    }
    return -1;
  });
}

std::int64_t EmbeddingBag::find_bad_index(const Bags& bags, std::int64_t rows,
                                          Range range) const noexcept {
  return with_index(kernel_->key.index, [&]<class T>(T) -> std::int64_t {
    const auto* indices = static_cast<const T*>(bags.indices);
    const std::int64_t end = begin_of<T>(bags, range.end);
    for (std::int64_t i = begin_of<T>(bags, range.begin); i < end; ++i)
      if (indices[i] < 0 || indices[i] >= rows) return i;
    return -1;
  });
}

std::int64_t EmbeddingBag::find_bad_offset(const Bags& bags) const noexcept {
  return with_index(kernel_->key.index, [&]<class T>(T) -> std::int64_t {
    if (!bags.offsets) return -1;
    const auto* offsets = static_cast<const T*>(bags.offsets);
    const std::int64_t count = bags.num_bags + (bags.ends ? 1 : 0);
    std::int64_t before = 0, most = 0;
    for (std::int64_t b = 0; b < count; ++b) {
      if (offsets[b] < before || offsets[b] > most) return b;
      before = offsets[b];
      most = bags.num_indices;
    }
    return -1;
  });
}

}  // namespace fbg

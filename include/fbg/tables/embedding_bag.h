// Sums, means or maxima of rows of an embedding table: the rows that `indices` names, bag by bag.
//
//   for each bag b
//     for each i in offsets[b] … offsets[b + 1] - 1         row indices[i], weight w[i]
//       sum += row                                          one chain, in the order of the bag
//     out[b] = sum
//
// What is done to an element x of the row, which in rows of integers is scale * q + bias, and in
// those of float8_e4m3fn scale * q:
//
//   floats             sum = sum + x             weighted: sum = fma(w, x, sum)
//   integers           sum = fma(q, scale, sum + bias), scale and bias being multiplied by w first
//   float8_e4m3fn      sum = fma(q, scale, sum), scale being multiplied by w first
//   mean               sum / number of rows
//   max                x > max ? x : max, from -inf on; integers: x = fma(q, scale, bias)
//
// Sums are float32, and are rounded once more where the result is float16 or bfloat16, half to
// even. Every step is rounded to float32, so the result has the same bits on every instruction set,
// for any number of threads and whatever else is in the call. They are those of FBGEMM's kernels. A
// bag without rows is 0.
//
// Once an EmbeddingBag exists, it creates no threads, allocates nothing and throws nothing: a
// caller with several threads gives each of them its share() of the bags.
#pragma once

#include <cstdint>
#include <memory>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"
#include "fbg/kernels/stage.h"
#include "fbg/tables/embedding_rows.h"

namespace fbg {

inline constexpr int kPrefetchDistance = 16;  // rows ahead that are fetched into the cache

// Which rows are in which bags. `offsets` has the type of the indices, and one element for each
// bag, or, if it has `ends`, one more; without it, every bag has `length` indices.
struct Bags {
  const void* indices = nullptr;
  std::int64_t num_indices = 0;
  const void* offsets = nullptr;
  bool ends = false;
  std::int64_t num_bags = 0;
  std::int64_t length = 0;
  const float* weights = nullptr;  // one for each index, if the bag is weighted
};

class EmbeddingBag {
 public:
  struct Options {
    BagMode mode = BagMode::sum;
    IndexType index = IndexType::int64;
    bool weighted = false;            // a sum or a mean
    std::int64_t padding_index = -1;  // a row that is left out; -1: none
    // 0: none. Rows of a table that is larger than half of the L3 are fetched into the L2, four
    // times as far ahead.
    int prefetch = kPrefetchDistance;
    std::int64_t table_bytes = 0;           // of all rows; 0: unknown
    ValueType output = ValueType::float32;  // or float16, or bfloat16
    Features features = active_features();
  };

  // Generates the kernel. Throws std::invalid_argument for a layout without columns, for
  // weighted maxima and for other outputs; std::runtime_error where executable memory is denied.
  EmbeddingBag(const RowLayout& layout, const Options& options);

  // The bags of a thread: as much to read as any other has.
  Range share(const Bags& bags, int thread_id, int num_threads) const noexcept;

  // Computes some of the bags; that of bag b goes to out + b * out_stride, which counts elements of
  // the type `output`, of which out is an array. An index outside of the table ends the run, before
  // anything of its bag is written: returns its position, and -1 if there is none. Offsets must be
  // checked: see find_bad_offset().
  std::int64_t run(const EmbeddingRows& table, const Bags& bags, void* out, std::int64_t out_stride,
                   Range range) const noexcept;

  // The position of the first index of some bags that is outside of a table of so many rows, or -1.
  std::int64_t find_bad_index(const Bags& bags, std::int64_t rows, Range range) const noexcept;

  // The first offset that is not within [the one before it, num_indices], or not 0 if it is the
  // first; -1 if there is none.
  std::int64_t find_bad_offset(const Bags& bags) const noexcept;

 private:
  struct Kernel;
  std::shared_ptr<const Kernel> kernel_;
};

}  // namespace fbg

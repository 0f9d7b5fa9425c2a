// Kernels that look rows of an embedding table up and add them, bag by bag; what they compute is
// stated in fbg/tables/embedding_bag.h. A kernel is generated for a number of columns: these are
// cut into blocks whose sums stay in registers while the rows of a bag pass by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/kernels/embedding_rows.h"
#include "fbg/kernels/stage.h"

namespace fbg::kernels {

struct LookupKey {
  std::int32_t columns;
  RowFormat format;
  RowScale scale;
  BagMode mode;
  IndexType index;
  bool weighted;
  Isa isa;
  std::uint16_t prefetch;                 // indices ahead; 0: none
  ValueType output = ValueType::float32;  // or float16, or bfloat16
  bool far = false;                       // prefetches go to the L2, not to the L1
  std::uint8_t reserved[2] = {};
  friend bool operator==(const LookupKey&, const LookupKey&) = default;

  RowLayout layout() const { return {format, scale, columns}; }
};

struct LookupArgs {
  const std::byte* rows;
  std::int64_t stride, num_rows;
  std::int64_t padding;     // an index that is left out
  const void* indices;      // position 0
  std::int64_t last;        // the position of the last index, which prefetches do not pass
  const void* offsets;      // of the first bag; one more than there are bags
  const float* weights;     // position 0
  std::byte* out;           // of the type of the key
  std::int64_t out_stride;  // bytes
  std::int64_t bags;        // at least 1
};

// Returns the position of an index that is outside of the table, or -1.
using LookupFunction = std::int64_t (*)(const LookupArgs*);

// The assembler of the architecture defines these, as it does generated_families()
// (kernels/table.h).
bool has_lookup(Isa isa) noexcept;
std::vector<std::uint8_t> generate_lookup(const LookupKey& key);

// What has a generator, of these features; else generic, for which there is look_up().
Isa lookup_isa(Features features) noexcept;
std::string lookup_name(const LookupKey& key);
// Finds or generates the kernel; thread-safe. Throws std::runtime_error where executable memory is
// denied.
LookupFunction find_lookup(const LookupKey& key);

// The portable kernel.
std::int64_t look_up(const LookupKey& key, const LookupArgs& args) noexcept;

}  // namespace fbg::kernels

// Writing panels: the one place that puts elements where kernels read them (fbg/gemm/pack_b.h draws
// a panel). Every way of packing is a PanelWriter that reads the columns of B from somewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/policy.h"
#include "fbg/gemm/pack_b.h"
#include "gemm/packed_block.h"

namespace fbg {

// The caller brings the threads: each calls run() once, then one of them finish(). The bytes are
// the same for any number of threads.
class PanelWriter {
 public:
  explicit PanelWriter(const BlockShape& shape);
  virtual ~PanelWriter() = default;
  PanelWriter(const PanelWriter&) = delete;
  PanelWriter& operator=(const PanelWriter&) = delete;

  void run(int thread_id, int num_threads) noexcept;
  // A matrix that is never stored needs no checksum, which one thread computes.
  virtual PackedMatrix finish(bool checksum = true);

 protected:
  // A part of a panel that stays in the L1: elements [begin, begin + size) along K of columns
  // [first, first + columns) of B. Weights of 4 bits are bytes here.
  struct Chunk {
    static constexpr std::int64_t kDepth = policy::gemm::kPackedInputs;

    std::int64_t first, columns, begin, size;
    // Where the elements of a column are: in its room or, if they are whole k-groups, elsewhere.
    std::array<const std::byte*, kPanelColumns> column;
    // Of groups of 4-bit weights, by group and column.
    std::array<std::array<float16, kPanelColumns>, kDepth / 32> scale, offset;
    // Rows are padded so that they do not compete for the same lines of the L1.
    alignas(64) std::byte room[kPanelColumns][kDepth * sizeof(float) + 64];
  };
  // Reads the columns of a chunk. What lies behind `size` and beyond `columns` is none of them.
  virtual void read(Chunk& chunk) noexcept = 0;
  // Reads `count` columns from column j of the chunk on, which are `along` bytes apart, and their
  // elements `down` bytes.
  void read_elements(Chunk& chunk, std::int64_t j, std::int64_t count, const std::byte* from,
                     std::int64_t down, std::int64_t along) const noexcept;

  const PackedFormat format_;
  PackedBlock block_;

 private:
  void write(const Chunk& chunk, std::byte* out) noexcept;
  void write_nibbles(const Chunk& chunk, std::byte* out) noexcept;
};

}  // namespace fbg

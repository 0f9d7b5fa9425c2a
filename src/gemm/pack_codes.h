// Packing integers that a checkpoint has already, from where it keeps them: no scale is searched,
// and no copy of the matrix is made. Parts are the outputs of layers that read the same input, side
// by side, as in gemm/pack_linear.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fbg/gemm/pack_b.h"

namespace fbg {

struct PackedBlock;

// How a matrix (N, K) of codes is stored. Words are of 32 bits, the lowest bits first, and hold
// codes of 4 bits plus 8.
enum class CodeForm : std::uint8_t {
  bytes,             // int8, (N, K)
  words_of_inputs,   // (N, ceil(K / 8)): 8 inputs of an output
  words_of_outputs,  // (N / 8, K): outputs 0, 2, 4, 6, 1, 3, 5, 7 of 8, for an input
};

struct CodeMatrix {
  CodeForm form;
  const std::byte* data;
  std::int64_t outputs;
  std::int64_t row_stride, col_stride;  // in bytes, of the stored matrix
};

// The caller brings the threads, as for LinearPacker: each calls run() once, then one of them
// finish(). The bytes are the same for any number of threads.
class CodePacker {
 public:
  // K inputs. int8 takes the parameters of `quant`, one for each output; int4 takes scales and
  // offsets of groups, (ceil(K / group), N). Parts of whole words have a multiple of 8 outputs, if
  // words are of outputs. What the arguments point to must live until finish().
  CodePacker(GemmType family, std::vector<CodeMatrix> parts, std::int64_t inputs, WeightQuant quant,
             MatrixView<const float16> scales = {},
             std::optional<MatrixView<const float16>> offsets = std::nullopt);
  ~CodePacker();
  CodePacker(const CodePacker&) = delete;
  CodePacker& operator=(const CodePacker&) = delete;

  void run(int thread_id, int num_threads) noexcept;
  PackedMatrix finish(bool checksum = true);

 private:
  struct Chunk;
  void pack_panel(std::int64_t panel) noexcept;
  void read(std::int64_t first, std::int64_t columns, std::int64_t begin, std::int64_t size,
            Chunk& chunk) const noexcept;
  void put_bytes(const Chunk& chunk, std::int64_t groups, std::byte* out,
                 std::int32_t* sums) const noexcept;
  void put_nibbles(const Chunk& chunk, std::int64_t first, std::int64_t columns, std::int64_t begin,
                   std::int64_t size, std::byte* out, float* weighted) const noexcept;

  const PackedFormat format_;
  const std::vector<CodeMatrix> parts_;
  const MatrixView<const float16> scales_;
  const std::optional<MatrixView<const float16>> offsets_;
  std::unique_ptr<PackedBlock> block_;
};

}  // namespace fbg

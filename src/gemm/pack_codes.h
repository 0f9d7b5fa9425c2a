// Packing integers that a checkpoint has already, from where it keeps them: no scale is searched,
// and no copy of the matrix is made. Parts are the outputs of layers that read the same input, side
// by side, as in gemm/pack_linear.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gemm/panel_writer.h"

namespace fbg {

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

class CodePacker final : public PanelWriter {
 public:
  // K inputs. int8 takes the parameters of `quant`, one for each output; int4 takes scales and
  // offsets of groups, (ceil(K / group), N). Parts of whole words have a multiple of 8 outputs, if
  // words are of outputs. What the arguments point to must live until finish().
  CodePacker(GemmType family, std::vector<CodeMatrix> parts, std::int64_t inputs, WeightQuant quant,
             MatrixView<const float16> scales = {},
             std::optional<MatrixView<const float16>> offsets = std::nullopt);

 private:
  void read(Chunk& chunk) noexcept override;
  void read_words(const CodeMatrix& part, std::int64_t row, std::int64_t j, std::int64_t count,
                  Chunk& chunk) const noexcept;

  const std::vector<CodeMatrix> parts_;
  const MatrixView<const float16> scales_;
  const std::optional<MatrixView<const float16>> offsets_;
};

}  // namespace fbg

// What the steps of taps, lines and patches have in common: the memory of a thread, and the terms
// of the output channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/algorithm.h"
#include "fbg/core/types.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/kernels/microkernel.h"

namespace fbg {

// Cuts memory into arrays, each at a multiple of 64 bytes. A step lays out the memory of its
// threads in one function, which also says how much they need: given null, it only counts the
// bytes.
class MemoryCutter {
 public:
  explicit MemoryCutter(std::byte* begin) : begin_(begin) {}

  template <class T>
  T* take(std::int64_t count) {
    std::byte* const at = begin_ ? begin_ + bytes_ : nullptr;
    bytes_ += round_up(count * static_cast<std::int64_t>(sizeof(T)), 64);
    return reinterpret_cast<T*>(at);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* const begin_;
  std::int64_t bytes_ = 0;
};

// Scales and corrections of the output channels (ColumnTerms): [group][column of the group], with
// the columns of a group in whole panels, because kernels read these. Empty if kernels compute the
// terms themselves.
class GroupTerms {
 public:
  GroupTerms(const ConvGeometry& g, const KernelKey& key)
      : key_(key),
        columns_(g.group_outputs()),
        padded_(round_up(columns_, kPanelColumns)),
        count_(key.column_terms ? g.groups * padded_ : 0) {}

  ColumnTerms take(MemoryCutter& memory) const {
    float* const scale = memory.take<float>(count_);
    return {scale, memory.take<std::int32_t>(count_)};
  }

  // The terms of image n; `weights` by group.
  void fill(const ConvRun& run, std::int64_t n, const StageArgs* stages,
            std::span<const PackedMatrix* const> weights, const ColumnTerms& terms) const noexcept {
    for (std::int64_t at = 0; at < count_; at += padded_) {
      const std::int64_t group = at / padded_;
      const PackedMatrix& b = *weights[static_cast<std::size_t>(group)];
      fill_column_terms(key_, stages, run.image_scale(n), run.image_zero_point(n), b.scale(),
                        b.col_offsets(), {group * columns_, (group + 1) * columns_}, padded_,
                        {terms.scale + at, terms.offset + at});
    }
  }

  // What a kernel for the columns of a group from `col` on is given.
  void set(TileArgs& args, const ColumnTerms& terms, std::int64_t group,
           std::int64_t col) const noexcept {
    if (count_ == 0) return;
    args.b_scale = terms.scale + group * padded_ + col;
    args.col_offsets = terms.offset + group * padded_ + col;
  }

 private:
  const KernelKey key_;
  const std::int64_t columns_, padded_, count_;
};

}  // namespace fbg

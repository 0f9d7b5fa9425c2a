// Stored blocks of packed weights: any bytes are refused with an exception, or make a matrix that
// can be read and multiplied without leaving the block.
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/memory.h"
#include "fbg/gemm/gemm.h"
#include "fuzz/fuzz_input.h"
#include "gemm/packed_block.h"
#include "gemm/packers.h"

namespace fbg::fuzz {
namespace {

constexpr std::int64_t kLargest = 1 << 16;  // elements that are worth unpacking
constexpr std::int64_t kSmall = 1 << 8;     // elements that are unpacked in every case

// What a case does with a block that is accepted.
struct Effort {
  bool verify;  // the checksum
  bool whole;   // unpacks more than a few elements, and multiplies: by far the slowest part
};

// Whether libFuzzer makes whole efforts of a case: one of 16, by all of its bytes, so that
// mutations do not breed slow cases. Those that are replayed are always whole.
bool is_chosen([[maybe_unused]] const std::uint8_t* data, [[maybe_unused]] std::size_t size) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 16777619u;
  return hash >> 28 == 0;
#else
  return true;
#endif
}

// A copy of exactly that size, so that AddressSanitizer sees what reads beyond it.
std::shared_ptr<const std::byte> aligned_copy(const std::uint8_t* data, std::size_t size) {
  std::shared_ptr<std::byte> copy(
      static_cast<std::byte*>(
          ::operator new (std::max<std::size_t>(size, 1), std::align_val_t{64})),
      [](std::byte* p) { ::operator delete (p, std::align_val_t{64}); });
  std::memcpy(copy.get(), data, size);
  return copy;
}

template <class T>
void multiply(PackerKind packer, const PackedMatrix& b) {
  const std::vector<T> x(static_cast<std::size_t>(2 * b.rows()));
  const PackA<T> a({x.data(), 2, b.rows(), b.rows(), 1});
  const PipelineView none = pipeline_view(RuntimePipeline{});
  const GemmDriver gemm(product_types(packer, b.family()), b, none, 2,
                        b.with_weights(active_features()));
  AlignedBuffer workspace(gemm.workspace_bytes(1));
  std::vector<std::int32_t> c(static_cast<std::size_t>(2 * b.cols()));
  gemm.run(row_source(a), b, none, {c.data(), b.cols() * 4}, workspace.data(), 0, 1);
}

void multiply(const PackedMatrix& b) {
  if (is_integer(b.family())) return multiply<std::uint8_t>(PackerKind::bytes, b);
  if (b.family() == GemmType::bfloat16) return multiply<bfloat16>(PackerKind::bfloat16s, b);
  multiply<float>(PackerKind::floats, b);
}

void read(const std::shared_ptr<const std::byte>& data, std::size_t size, Effort effort) {
  const auto b = PackedMatrix::from_bytes(data, static_cast<std::int64_t>(size), effort.verify);
  require(b.nbytes() == static_cast<std::int64_t>(size), "a block says that it has another size");
  float element;
  if (b.rows() > 0 && b.cols() > 0) b.read(b.rows() - 1, b.cols() - 1, &element);
  const std::int64_t most = effort.whole ? kLargest : kSmall;
  if (b.rows() > most || b.cols() > most || b.rows() * b.cols() > most) return;
  std::vector<std::byte> w(
      static_cast<std::size_t>(b.rows() * b.cols() * b.format().packed.b_bytes));
  b.unpack(w.data(), b.cols(), 1);
  if (!is_int4(b.family()) && effort.whole && b.rows() <= kMaxDepthRaw) multiply(b);
}

void read_any(const std::shared_ptr<const std::byte>& block, std::size_t size, Effort effort) {
  try {
    read(block, size, effort);
  } catch (const std::invalid_argument&) {
  } catch (const std::length_error&) {
  }
}

// A block whose header fits its size, with contents from the case, and a few bytes then changed:
// what bytes at random would hardly ever hit.
std::vector<std::uint8_t> consistent_block(Choices& choices) {
  static constexpr std::int64_t kDepths[] = {0, 1, 3, 4, 5, 8, 31, 32, 33, 64, 129, 300};
  static constexpr std::int64_t kColumns[] = {0, 1, 16, 31, 32, 33, 64, 100};
  BlockShape shape{};
  shape.gemm_type = static_cast<GemmType>(choices.within(0, 8));
  shape.k = choices.one_of(kDepths);
  shape.n = choices.one_of(kColumns);
  const bool quantized = is_integer(shape.gemm_type);
  shape.scale = quantized && choices.flag();
  shape.zero_point = (quantized || is_int4(shape.gemm_type)) && choices.flag();
  if (shape.gemm_type == GemmType::int16) shape.num_outliers = choices.within(0, 9);
  const PackedHeader header = lay_out(shape);
  std::vector<std::uint8_t> block(static_cast<std::size_t>(header.total_bytes));
  std::memcpy(block.data(), &header, sizeof header);
  const std::int64_t changes = choices.within(0, 3);
  for (std::int64_t i = 0; i < changes; ++i) {
    const auto at = choices.within(0, choices.flag() ? 127 : header.total_bytes - 1);
    block[static_cast<std::size_t>(at)] = choices.byte();
  }
  // The sections of parameters, where a single byte decides whether the block is accepted.
  const auto put = [&](std::int64_t offset, std::int64_t count, auto value) {
    if (offset != 0 && offset + count * 4 <= header.total_bytes)
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(block.data() + offset + 4 * i, &value, sizeof value);
  };
  put(header.scale_offset, std::max<std::int64_t>(shape.n, 1), choices.number());
  put(header.spill_offset, ceil_div(shape.n, kPanelColumns),
      static_cast<std::int32_t>(choices.within(0, 70)) - 1);
  for (std::size_t at = sizeof header; at < block.size() && !choices.empty(); ++at)
    block[at] ^= choices.byte();
  return block;
}

void run(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const Effort effort{choices.flag(), is_chosen(data, size)};
  if (choices.flag()) {
    const std::vector<std::uint8_t> block = consistent_block(choices);
    read_any(aligned_copy(block.data(), block.size()), block.size(), effort);
  } else if (size > 2) {
    read_any(aligned_copy(data + 2, size - 2), size - 2, effort);
  }
}

}  // namespace
}  // namespace fbg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fbg::fuzz::run(data, size);
  return 0;
}

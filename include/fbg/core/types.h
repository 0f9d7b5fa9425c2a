// Matrices, GEMM types, and the vocabulary that all other files use:
//
//   M N K      C is M x N, A is M x K, B is K x N; every shape tuple is (M, N, K)
//   kr         consecutive k that one instruction consumes: 4 for uint8 x int8, 2 for bfloat16, 1
//              for float and float16; for int4, the k that share a scale. Those kr values are a
//              k-group
//   panel      32 columns of packed B, stored [K/kr][32][kr], or as Int4 says
//   mr nr      rows and columns of a tile of C, which one call of a microkernel computes
//   mc         rows of A that are packed at a time
//   kc nc      where K is long: the k that one call of a microkernel covers, and the columns whose
//              partial sums are kept until the next kc
//   lda ldc    distance between rows
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fbg {

// Element (i, j) is data[i * row_stride + j * col_stride]; strides count elements.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 0, col_stride = 1;

  T& operator()(std::int64_t i, std::int64_t j) const {
    return data[i * row_stride + j * col_stride];
  }
  // Whether columns, as torch keeps (N, K), are contiguous rather than rows.
  bool is_by_columns() const { return row_stride == 1; }
};

struct Range {
  std::int64_t begin = 0, end = 0;
  constexpr std::int64_t size() const { return end - begin; }
};

// The least and the greatest value of a row; both are NaN if the row contains a NaN.
struct alignas(8) RowExtent {
  float lo, hi;
};

// 16-bit floats as storage; arithmetic happens in float, but for that of Float16.
struct bfloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(bfloat16, bfloat16) = default;
};
struct float16 {
  std::uint16_t bits = 0;
  friend bool operator==(float16, float16) = default;
};

// GEMM types: what the operands are and what their products are summed in. Stored weights
// name theirs by these numbers.
enum class GemmType : std::uint8_t {
  int32,
  float32,
  bfloat16,
  float32_bf16,
  float32_f16,
  int16,
  int4_g32,
  int4_g64,
  int4_g128,
  float16
};

inline constexpr int kPanelColumns = 32;

// The layout of operands as kernels read them: a row of A consists of k-groups of `kr` consecutive
// elements, and B of panels [K/kr][panel_columns][kr].
struct PackedFormat {
  int kr;
  int panel_columns;
  int a_bytes, b_bytes;  // of an element
  // A is widened before kernels read it: bfloat16 to float, or uint8 to uint16. A k-group of uint16
  // is {a0, a2, a1, a3}, so that one instruction that multiplies and adds pairs takes the even k,
  // and another one the odd k.
  bool wide_a = false;
  // B has 4 bits per element, and a k-group of a panel ends with a scale for each column, or with a
  // scale and an offset: see Int4.
  bool nibbles = false;

  // The bytes of a k-group of a row of A, from one column of a panel to the next, and of a k-group
  // of all columns of a panel.
  constexpr std::int64_t a_group() const { return std::int64_t{kr} * a_bytes; }
  constexpr std::int64_t b_column_group() const {
    return nibbles ? kNibbleBytes : std::int64_t{kr} * b_bytes;
  }
  constexpr std::int64_t b_group(bool has_offsets = false) const {
    return nibbles
               ? panel_columns * (std::int64_t{kr} / 2 + kNibbleScaleBytes * (has_offsets ? 2 : 1))
               : panel_columns * b_column_group();
  }
  // Bytes of the next panel that a tile fetches into the L2 while it reads so many k-groups.
  constexpr std::int64_t fetched_bytes(std::int64_t groups) const {
    return 64 * (nibbles ? groups * kr / kNibbleDepth : (groups + 1) / 2);
  }
  static constexpr std::int64_t kNibbleBytes = 4;       // of a column in a block of kNibbleDepth k
  static constexpr std::int64_t kNibbleDepth = 8;       // two to a byte
  static constexpr std::int64_t kNibbleScaleBytes = 2;  // of a float16: a scale or an offset
};

// A family as data: all code that packs, stores, names or multiplies weights reads this.
struct WeightFormat {
  const char* name;      // of the type of its weights, as fbg.load has it
  const char* operands;  // sums, A and B in the names of kernels
  PackedFormat packed;   // of the operands in memory
};

// In the order of GemmType.
inline constexpr std::array<WeightFormat, 10> kWeightFormats{
    {{"int8", "int32_u8_s8", {4, kPanelColumns, 1, 1}},
     {"float32", "fp32_f32_f32", {1, kPanelColumns, 4, 4}},
     {"bfloat16", "fp32_bf16_bf16", {2, kPanelColumns, 2, 2}},
     {"bfloat16", "fp32_f32_bf16", {2, kPanelColumns, 4, 2}},
     {"float16", "fp32_f32_f16", {1, kPanelColumns, 4, 2}},
     {"int8", "int16_u8_s8", {4, kPanelColumns, 1, 1}},
     {"int4", "fp32_u8_s4g32", {32, kPanelColumns, 1, 1, false, true}},
     {"int4_g64", "fp32_u8_s4g64", {64, kPanelColumns, 1, 1, false, true}},
     {"int4_g128", "fp32_u8_s4g128", {128, kPanelColumns, 1, 1, false, true}},
     {"float16_accum", "fp16_f16_f16", {1, kPanelColumns, 2, 2}}}};

constexpr const WeightFormat& weight_format(GemmType gemm_type) {
  return kWeightFormats[static_cast<std::size_t>(gemm_type)];
}

// The format in which memory holds the operands of a family.
constexpr PackedFormat packed_format(GemmType gemm_type) { return weight_format(gemm_type).packed; }

// Whether kernels read A as bytes, which have a scale and a zero point for each row.
constexpr bool reads_bytes(GemmType gemm_type) { return packed_format(gemm_type).a_bytes == 1; }

// Weights of 4 bits in groups along K, each with a scale of its own: see Int4.
constexpr bool is_int4(GemmType gemm_type) { return packed_format(gemm_type).nibbles; }

// Whether sums are integers, which stages then convert.
constexpr bool is_integer(GemmType gemm_type) {
  return reads_bytes(gemm_type) && !is_int4(gemm_type);
}

// A family as a type, by which C++ programs choose it: the elements of A and B and their sums.
template <GemmType kFamily, class AElement, class BElement, class Sum>
struct FamilyOf {
  using A = AElement;
  using B = BElement;
  using C = Sum;
  static constexpr GemmType kind = kFamily;
  static constexpr PackedFormat format = packed_format(kFamily);
  static_assert(format.a_bytes == sizeof(A) && format.b_bytes == sizeof(B));
};

struct Int32 : FamilyOf<GemmType::int32, std::uint8_t, std::int8_t, std::int32_t> {};

// int16 sums that are added to int32 sums before they can overflow. Values of B that are too large
// for this are kept separately, in sparse columns. The results equal those of Int32 bit for bit.
struct Int16 : FamilyOf<GemmType::int16, std::uint8_t, std::int8_t, std::int32_t> {};

struct Float32 : FamilyOf<GemmType::float32, float, float, float> {};

// bfloat16 x bfloat16 summed in float: vdpbf16ps, two k at a time.
struct BFloat16 : FamilyOf<GemmType::bfloat16, bfloat16, bfloat16, float> {};

// float x 16-bit weights, widened as they are loaded. bfloat16 weights have the layout of BFloat16.
struct Float32BF16 : FamilyOf<GemmType::float32_bf16, float, bfloat16, float> {};

struct Float32F16 : FamilyOf<GemmType::float32_f16, float, float16, float> {};

// float16 x float16, multiplied and added in float16, for CPUs that do so twice as fast. The sums
// of kHalfDepth consecutive k are added up in float, times the scale of the row, a power of two by
// which its elements were divided (PackAToFloat16). Weights have the layout of Float32F16. For n
// such k:
//
//   s0 = s1 = 0;  s_(k % 2) = fma(a_k, b_k, s_(k % 2)) for k below n / 4 * 4
//   s0 = fma(a_k, b_k, s0) for the others;  C = fma(float(s0 + s1), scale, C)
//
// A sum beyond 65504 is infinite. As rows are scaled, none is if weights are at most 250.
struct Float16 : FamilyOf<GemmType::float16, float16, float16, float> {};
inline constexpr int kHalfDepth = 128;

// uint8 x 4-bit weights q in [-8, 7], in groups of kGroup along K that have a scale of their own
// for each column. A group is a k-group. Its dot products are exact int32 sums, which are then
// scaled and added up in float, in the order of the groups:
//
//   S = 0;  S = fma(float(sum_k a_k q_k), scale_g, S) for g = 0, 1, …
//   C = (S - zero point of the row * weighted offset of the column) * scale of the row
//
// Where groups have offsets, too, a weight is scale_g * q + offset_g, and the sum of each group of
// A is multiplied by the offset, after what is above:
//
//   S = fma(float(sum_k a_k), offset_g, S)
//
// The panel of a group consists of blocks of 8 k, [kGroup / 8][32 columns][4 bytes], and of 32
// float16 scales, behind which 32 float16 offsets may follow. Byte r of a block has q of k = r in
// its low half and of k = r + 4 in its high half, both in two's complement. Results are float32, so
// that pipelines begin as those of float weights.
template <int kGroup>
struct Int4 : FamilyOf<kGroup == 32   ? GemmType::int4_g32
                       : kGroup == 64 ? GemmType::int4_g64
                                      : GemmType::int4_g128,
                       std::uint8_t, std::int8_t, float> {
  static_assert(Int4::format.kr == kGroup);
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// Splits `units` into the fewest parts of at most `max_size`. The sizes of the parts differ by at
// most one, so that no part is much less efficient than the others: 64 rows in tiles of at most 12
// rows are cut into 11 11 11 11 10 10 and not into 12 12 12 12 12 4. The units may be rows,
// k-groups or bytes.
struct BalancedSplit {
  std::int64_t count;        // parts
  std::int64_t largest;      // size of the largest part
  std::int64_t num_largest;  // the first parts have that size, the rest one unit less

  constexpr Range operator[](std::int64_t i) const {
    const auto begin = [this](std::int64_t part) {
      return part * largest - (part > num_largest ? part - num_largest : 0);
    };
    return {begin(i), begin(i + 1)};
  }
  static constexpr BalancedSplit split(std::int64_t units, std::int64_t max_size) {
    if (units == 0) return {0, 0, 0};
    if (units <= max_size) return {1, units, 1};  // the usual case: two divisions less
    const std::int64_t count = ceil_div(units, max_size);
    const std::int64_t largest = ceil_div(units, count);
    return {count, largest, units - count * (largest - 1)};
  }
};

}  // namespace fbg

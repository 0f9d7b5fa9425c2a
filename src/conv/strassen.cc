// strassen: large pointwise convolutions in float32 by fewer products.
//
//   for each chunk of pixels of an image         as many as the L2 holds
//     for each product of the list               strassen_products()
//       S = sum of blocks of A                   rows of the chunk, halves of the channels
//       M = S * (sum of blocks of B)             packed once
//       sums of blocks of C += M
//     the stages                                 a microkernel that multiplies nothing
//
// Blocks of A and C are parts of a chunk of pixels, so that sums stay in the L2 and cost little
// compared to the products. A chunk belongs to one image, and the division into chunks depends only
// on its size, so that a result depends neither on the batch nor on the number of threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conv/algorithm.h"
#include "conv/cost.h"
#include "conv/epilogue.h"
#include "core/memory.h"
#include "core/policy.h"
#include "fbg/conv/pack_im2col.h"
#include "fbg/gemm/pack_a.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

// One of 4^levels blocks of a matrix, row by row, and 1 or -1.
struct StrassenTerm {
  int block, sign;
};

// M = (sum of terms of A) * (sum of terms of B), added to the blocks of C that `c` names.
struct StrassenProduct {
  std::vector<StrassenTerm> a, b, c;
};

// Blocks 0 1 / 2 3 of each matrix (Strassen, "Gaussian elimination is not optimal", 1969).
struct Step {
  std::array<StrassenTerm, 2> a, b, c;  // a term of sign 0 is none
};
constexpr StrassenTerm kNone{0, 0};
constexpr Step kSteps[] = {
    {{{{0, 1}, {3, 1}}}, {{{0, 1}, {3, 1}}}, {{{0, 1}, {3, 1}}}},
    {{{{2, 1}, {3, 1}}}, {{{0, 1}, kNone}}, {{{2, 1}, {3, -1}}}},
    {{{{0, 1}, kNone}}, {{{1, 1}, {3, -1}}}, {{{1, 1}, {3, 1}}}},
    {{{{3, 1}, kNone}}, {{{2, 1}, {0, -1}}}, {{{0, 1}, {2, 1}}}},
    {{{{0, 1}, {1, 1}}}, {{{3, 1}, kNone}}, {{{1, 1}, {0, -1}}}},
    {{{{2, 1}, {0, -1}}}, {{{0, 1}, {1, 1}}}, {{{3, 1}, kNone}}},
    {{{{1, 1}, {3, -1}}}, {{{2, 1}, {3, 1}}}, {{{0, 1}, kNone}}},
};

// The terms of a step, each of which stands for the terms of a product within its quarter.
std::vector<StrassenTerm> combine(const std::array<StrassenTerm, 2>& outer,
                                  const std::vector<StrassenTerm>& inner, int side) {
  std::vector<StrassenTerm> terms;
  for (const StrassenTerm& o : outer)
    for (const StrassenTerm& i : inner) {
      if (o.sign == 0) continue;
      const int row = o.block / 2 * side + i.block / side,
                col = o.block % 2 * side + i.block % side;
      terms.push_back({row * 2 * side + col, o.sign * i.sign});
    }
  return terms;
}

// The 7^levels products; without levels the one of whole matrices.
std::vector<StrassenProduct> strassen_products(int levels) {
  std::vector<StrassenProduct> products{{{{0, 1}}, {{0, 1}}, {{0, 1}}}};
  for (int level = 0; level < levels; ++level) {
    const int side = 1 << level;
    std::vector<StrassenProduct> next;
    for (const Step& step : kSteps)
      for (const StrassenProduct& p : products)
        next.push_back(
            {combine(step.a, p.a, side), combine(step.b, p.b, side), combine(step.c, p.c, side)});
    products = std::move(next);
  }
  return products;
}

// The sums of blocks of B, one for each product.
struct StrassenWeights {
  std::vector<StrassenProduct> products;
  std::vector<PackedB<Float32>> b;

  std::int64_t nbytes() const {
    std::int64_t bytes = 0;
    for (const PackedB<Float32>& packed : b) bytes += packed.nbytes();
    return bytes;
  }
};

StrassenWeights make_weights(const PackedConv& weights, int levels) {
  const ConvGeometry& g = weights.geometry();
  const std::int64_t side = std::int64_t{1} << levels;
  const std::int64_t depth = g.in_channels / side, columns = g.out_channels / side;
  StrassenWeights made{strassen_products(levels), {}};
  std::vector<float> sum(static_cast<std::size_t>(depth * columns));
  for (const StrassenProduct& product : made.products) {
    std::ranges::fill(sum, 0.0f);
    for (const StrassenTerm& term : product.b) {
      const float* const w = weights.weights<float>() +
                             term.block % side * columns * g.in_channels +
                             term.block / side * depth;
      for (std::int64_t o = 0; o < columns; ++o)
        for (std::int64_t i = 0; i < depth; ++i)
          sum[static_cast<std::size_t>(o * depth + i)] +=
              static_cast<float>(term.sign) * w[o * g.in_channels + i];
    }
    made.b.push_back(PackedB<Float32>::pack({sum.data(), depth, columns, 1, depth}));
  }
  return made;
}

class StrassenStep final : public ConvStep {
 public:
  StrassenStep(const ConvProblem& p, int levels)
      : shape_(p.shape),
        inputs_(p.geometry.in_channels),
        outputs_(p.geometry.out_channels),
        side_(std::int64_t{1} << levels),
        depth_(inputs_ / side_),
        columns_(outputs_ / side_),
        chunks_(BalancedSplit::split(volume(p.shape.output), policy::strassen::kBlockRows * side_)),
        stages_(p, choose_geometry(GemmType::float32, p.features)),
        rows_(simd::kernels(p.features).rows),
        threads_(p.threads) {
    const std::string name = "strassen " + std::to_string(levels);
    weights_ = &p.weights.form_of(name, [&] { return make_weights(p.weights, levels); });
    const auto row = [](std::int64_t channels) {
      constexpr std::int64_t size = sizeof(float);
      return row_distance(channels * size) / size;
    };
    s_row_ = row(depth_);
    m_row_ = row(columns_);
    c_row_ = row(outputs_);
    product_ = std::make_unique<Product>(weights_->b.front(), RuntimePipeline{},
                                         policy::strassen::kBlockRows, p.features);
    thread_bytes_ = policy::strassen::kBlockRows * (s_row_ + m_row_ + side_ * c_row_) * kFloat +
                    static_cast<std::int64_t>(product_->workspace_bytes(1));
  }

  std::string kernel() const override { return stages_.kernel(); }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(thread_bytes_ * threads_);
  }

  void run(const ConvRun& run, std::byte* workspace, int, int thread_id,
           int num_threads) const noexcept override {
    std::byte* at = workspace + thread_id * thread_bytes_;
    const auto take = [&](std::int64_t rows, std::int64_t row) {
      return reinterpret_cast<float*>(std::exchange(at, at + rows * row * kFloat));
    };
    Scratch t{};
    t.s = take(policy::strassen::kBlockRows, s_row_);
    t.m = take(policy::strassen::kBlockRows, m_row_);
    t.c = take(policy::strassen::kBlockRows * side_, c_row_);
    t.product = at;
    TilePlace place(run.stages, run.c, 1);
    const std::int64_t count = shape_.batch * chunks_.count;
    for (std::int64_t i = count * thread_id / num_threads;
         i < count * (thread_id + 1) / num_threads; ++i) {
      const Range pixels = chunks_[i % chunks_.count];
      const std::int64_t image = i / chunks_.count;
      multiply(run, image, pixels, t);
      stages_.run(t.c, c_row_, pixels.size(), image * volume(shape_.output) + pixels.begin,
                  {0, outputs_}, place);
    }
  }

 private:
  using Product = Gemm<PackA<float>, Float32>;

  // The memory of a thread: a sum of blocks of A, a product, the sums of a chunk, and that of Gemm.
  struct Scratch {
    float *s, *m, *c;
    std::byte* product;
  };

  const float* pixel(const ConvRun& run, std::int64_t image, std::int64_t index) const {
    const Extent3& in = shape_.input;
    const std::int64_t x = index % in[2], y = index / in[2] % in[1], z = index / (in[2] * in[1]);
    return reinterpret_cast<const float*>(run.x + image * run.batch_stride + z * run.strides[0] +
                                          y * run.strides[1] + x * run.strides[2]);
  }

  // Computes c = A B for the pixels of a chunk. The last block of rows may be shorter.
  void multiply(const ConvRun& run, std::int64_t image, Range pixels,
                const Scratch& t) const noexcept {
    const std::int64_t rows = ceil_div(pixels.size(), side_);
    const auto rows_of = [&](std::int64_t block_row) {
      return std::clamp<std::int64_t>(pixels.size() - block_row * rows, 0, rows);
    };
    std::uint32_t started = 0;  // blocks of C that have a sum
    for (std::size_t p = 0; p < weights_->products.size(); ++p) {
      const StrassenProduct& product = weights_->products[p];
      for (std::int64_t i = 0; i < rows; ++i) {
        float* const to = t.s + i * s_row_;
        bool first = true;
        for (const StrassenTerm& term : product.a) {
          const std::int64_t block_row = term.block / side_;
          if (i >= rows_of(block_row)) continue;
          const float* const from =
              pixel(run, image, pixels.begin + block_row * rows + i) + term.block % side_ * depth_;
          add_row(from, term.sign, depth_, first, to);
          first = false;
        }
        if (first) std::fill_n(to, depth_, 0.0f);
      }
      // M is computed in the first block of C that it belongs to, unless that has a sum already.
      const auto block = [&](const StrassenTerm& term) {
        return t.c + term.block / side_ * rows * c_row_ + term.block % side_ * columns_;
      };
      const auto is_new = [&](const StrassenTerm& term) {
        return term.sign > 0 && !(started >> term.block & 1);
      };
      const auto own = std::ranges::find_if(product.c, is_new);
      const bool direct = own != product.c.end();
      float* const m = direct ? block(*own) : t.m;
      const std::int64_t m_row = direct ? c_row_ : m_row_;
      if (direct) started |= 1u << own->block;
      product_->run(PackA<float>({t.s, rows, depth_, s_row_, 1}), weights_->b[p], {},
                    {m, m_row * kFloat}, t.product, 0, 1);
      for (auto term = product.c.begin(); term != product.c.end(); ++term) {
        if (direct && term == own) continue;
        const bool first = !(started >> term->block & 1);
        started |= 1u << term->block;
        for (std::int64_t i = 0; i < rows_of(term->block / side_); ++i)
          add_row(m + i * m_row, term->sign, columns_, first, block(*term) + i * c_row_);
      }
    }
  }

  // to = or += sign * from
  void add_row(const float* from, int sign, std::int64_t count, bool first,
               float* to) const noexcept {
    const auto n = static_cast<std::size_t>(count);
    if (first && sign > 0)
      std::memcpy(to, from, n * sizeof(float));
    else if (first)
      std::transform(from, from + count, to, std::negate<>());
    else if (sign > 0)
      rows_.add(from, to, n, to);
    else
      rows_.accumulate(from, -1.0f, n, to);
  }

  const ConvShape shape_;
  const std::int64_t inputs_, outputs_, side_, depth_, columns_;
  const BalancedSplit chunks_;  // of the pixels of an image
  const SumsEpilogue stages_;
  std::unique_ptr<Product> product_;
  const simd::RowKernels& rows_;
  const int threads_;
  const StrassenWeights* weights_;
  std::int64_t s_row_, m_row_, c_row_, thread_bytes_;
};

bool applies(const ConvProblem& p, int levels) {
  const ConvGeometry& g = p.geometry;
  const std::int64_t side = std::int64_t{1} << levels;
  return is_pointwise(g) && g.groups == 1 && g.in_channels % side == 0 &&
         g.out_channels % (side * 16) == 0;
}

// The cost consists of multiply-adds as in a product, of reading the sums of blocks of B for every
// chunk of pixels, and of the other sums.
double cost(const ConvProblem& p, int levels) {
  using namespace policy::strassen;
  const std::int64_t chunk = policy::strassen::kBlockRows << levels;
  const double side = static_cast<double>(std::int64_t{1} << levels);
  const double lanes = choose_geometry(GemmType::float32, p.features).lanes;
  const double rows = static_cast<double>(p.shape.out_pixels()) / side;
  const double depth = static_cast<double>(p.geometry.in_channels) / side;
  const double columns = static_cast<double>(p.geometry.out_channels) / side;
  double products = 0, a_terms = 0, c_terms = 0;
  for (const StrassenProduct& product : strassen_products(levels)) {
    products += 1;
    a_terms += static_cast<double>(product.a.size());
    c_terms += static_cast<double>(product.c.size());
  }
  const double multiply = products * rows * (depth + kProduct) * columns / lanes * costs::kDriver;
  const double bytes = products * depth * columns * kFloat;
  const double load =
      read_cost(bytes, bytes) * static_cast<double>(p.shape.batch) *
      static_cast<double>(BalancedSplit::split(volume(p.shape.output), chunk).count);
  const double sums = rows * (a_terms * depth + (c_terms + side * side) * columns) / lanes * kSum;
  return (multiply + load + sums) * kError;
}

template <int Levels>
ConvMethod method() {
  static constexpr const char* kNames[] = {"strassen1", "strassen2"};
  return {kNames[Levels - 1],
          false,
          [](const ConvProblem& p) { return applies(p, Levels); },
          [](const ConvProblem& p) { return cost(p, Levels); },
          [](const ConvProblem& p) -> std::unique_ptr<ConvStep> {
            return std::make_unique<StrassenStep>(p, Levels);
          },
          false,
          true,
          only<GemmType::float32>};
}

}  // namespace

std::array<ConvMethod, 2> strassen_methods() { return {method<1>(), method<2>()}; }

}  // namespace fbg

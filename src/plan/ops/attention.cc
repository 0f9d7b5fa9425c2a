// Attention, fused per (sequence, head): scores, softmax and context never leave the cache.
//
//   pack    K^T into panels [T/32][words of d][32], V into panels [d/32][words of T][32]
//   for each block of query rows
//     S = Q K^T [+ bias]   rows x T; with a window, x the keys that the block sees
//     P = softmax(S / sqrt(d))
//     context = P V        straight into the head's columns of the output
//
// Both products are raw microkernels that sum floats. A k-group is a 32-bit word: one float, or two
// bfloat16 where those are allowed and the ISA has their dot product. Floats are read where they
// are: Q in qkv, P in the place of S. Pairs of bfloat16 are made by rounding Q, K and V as they are
// packed, if the layer before has not done so, and P as softmax writes it, which then leaves its
// division to the rows of the context.
//
// The float operations of a row depend on its sequence alone: blocks and threads only decide who
// computes it. Where there is a window, blocks begin at multiples of their height, so that the keys
// of a block, among which others have a weight of 0, are a matter of the sequence too.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "fbg/core/phase.h"
#include "fbg/gemm/gemm.h"
#include "plan/ops/attention_operands.h"
#include "plan/ops/ops.h"
#include "simd/rows.h"

namespace fbg {
namespace {

constexpr std::int64_t kFloat = sizeof(float);  // and of any word

// Score tiles of about this size stay in L1 beside a panel of K or V.
constexpr std::int64_t kScoreBytes = 24 << 10;

// C = A * B for operands that are already in place and in panels, whose k-groups are words.
class PanelProduct {
 public:
  // `columns` is what N may be, modulo whole panels.
  PanelProduct(Accumulator accumulator, const Geometry& geometry, std::int64_t columns)
      : geometry_(geometry),
        kernels_(geometry, make_kernel_key(geometry, accumulator, {}, false, false, false), columns,
                 1, geometry.max_rows) {}

  // `depth`: k-groups of a whole panel, of which the product takes a.cols.
  void run(const MatrixView<const float>& a, const float* panels, std::int64_t depth,
           const MatrixView<float>& c, Phase phase) const {
    const PhaseTimer timer(phase);
    const BalancedSplit tiles = BalancedSplit::split(a.rows, geometry_.max_rows);
    const std::int64_t lanes = geometry_.lanes;
    const std::int64_t nr =
        lanes * geometry_.max_vectors[static_cast<std::size_t>(tiles.largest - 1)];
    BlockPair pair{nullptr, a.row_stride * kFloat, nullptr, depth * kPanelColumns * kFloat, a.cols};
    TileArgs args;
    args.set_blocks({&pair, 1});
    args.ldc = c.row_stride * kFloat;
    for (std::int64_t col = 0; col < c.cols; col += nr) {
      args.columns = std::min(nr, c.cols - col);
      const std::int64_t vectors = ceil_div(args.columns, lanes);
      const bool masked = args.columns % lanes != 0;
      pair.b = panels + col / kPanelColumns * depth * kPanelColumns + col % kPanelColumns;
      std::int64_t row = 0;
      for (std::int64_t t = 0; t < tiles.count; ++t) {
        const std::int64_t height = tiles.largest - (t >= tiles.num_largest);
        pair.a = a.data + row * a.row_stride;
        args.c = c.data + row * c.row_stride + col;
        args.key = &kernels_.key(height, vectors, masked);
        kernels_.find(height, vectors, masked)(&args);
        row += height;
      }
    }
  }

 private:
  const Geometry geometry_;
  const KernelTable kernels_;
};

// Where a thread's work begins or ends: a query row of a head of a sequence.
struct Position {
  std::int64_t sequence, head, row;
  friend auto operator<=>(const Position&, const Position&) = default;
};

// The position before which `part` of `parts` of the work of all rows lies; a row of a sequence of
// T tokens costs T, and `reach` at most. Positions inside a sequence are multiples of `step` rows.
Position cut_work(const RunArgs& args, std::int64_t heads, std::int64_t reach, std::int64_t step,
                  int part, int parts) {
  const auto length = [&](std::int64_t s) {
    return static_cast<std::int64_t>(args.offsets[s + 1]) - args.offsets[s];
  };
  if (part == 0) return {0, 0, 0};
  if (part == parts) return {args.sequences, 0, 0};
  std::int64_t total = 0;
  for (std::int64_t s = 0; s < args.sequences; ++s) total += length(s) * std::min(length(s), reach);
  std::int64_t left = total * heads * part / parts;
  for (std::int64_t s = 0; s < args.sequences; ++s) {
    const std::int64_t t = length(s), row_work = std::min(t, reach), head_work = t * row_work;
    if (left >= head_work * heads) {
      left -= head_work * heads;
      continue;
    }
    const std::int64_t row = round_up(left % head_work / row_work, step);
    if (row < t) return {s, left / head_work, row};
    const std::int64_t next = left / head_work + 1;
    return next < heads ? Position{s, next, 0} : Position{s + 1, 0, 0};
  }
  return {args.sequences, 0, 0};
}

std::string op_name(const AttentionOptions& options) {
  std::string name = "attention";
  if (options.distance_bias.data) name += " distance_bias";
  if (options.window) name += " window " + std::to_string(*options.window);
  return name;
}

class AttentionOp final : public Op {
 public:
  AttentionOp(Buffer qkv, std::int64_t num_heads, std::int64_t head_size, AttentionOptions options)
      : Op(op_name(options), {qkv}),
        num_heads_(num_heads),
        head_size_(head_size),
        options_(std::move(options)) {}

  std::unique_ptr<Step> prepare(const Capacity& capacity, const Formats& formats) const override {
    const bool reads_bfloat16 = formats.is_bfloat16(inputs[0]);
    if (reads_bfloat16 || rounds())
      return std::make_unique<AttentionStep<BFloat16>>(*this, capacity, reads_bfloat16);
    return std::make_unique<AttentionStep<Float32>>(*this, capacity, false);
  }
  // Words of a row must not straddle Q, K and V or two heads.
  bool rounds_input() const override { return rounds() && head_size_ % 2 == 0; }

 private:
  bool rounds() const {
    return options_.allow_bfloat16 &&
           choose_geometry(Accumulator::bfloat16, active_features()).isa == Isa::avx512_bf16;
  }

  template <class Acc>
  class AttentionStep final : public Step {
   public:
    AttentionStep(const AttentionOp& op, const Capacity& capacity, bool reads_bfloat16)
        : op_(op),
          reads_bfloat16_(reads_bfloat16),
          geometry_(choose_geometry(Acc::kind, active_features())),
          scores_(Acc::kind, geometry_, kAllScoreColumns),
          context_(Acc::kind, geometry_, op.head_size_),
          kernels_(simd::row_kernels(active_features())),
          scale_(1.0f / std::sqrt(static_cast<float>(op.head_size_))),
          reach_(2 * op.options_.window.value_or(kEverything) + 1) {
      const std::int64_t length = std::min(capacity.length, capacity.tokens);
      const std::int64_t d = op.head_size_;
      const auto place = [&](std::int64_t& offset, std::int64_t words) {
        offset = thread_words_;
        thread_words_ += round_up(words, 16);
      };
      const std::int64_t score =
          std::max(kScoreBytes / kFloat, geometry_.max_rows * score_stride(length));
      place(keys_, round_up(length, kPanelColumns) * words(d));
      place(values_, round_up(d, kPanelColumns) * words(length));
      place(score_, score);
      place(rounded_, kPairs ? length * words(d) : 0);
      place(probabilities_, kPairs ? score / Acc::format.kr : 0);
      place(bias_, op.options_.distance_bias.data ? length : 0);
      scratch_bytes_ = static_cast<std::size_t>(thread_words_ * kFloat * capacity.threads);
    }

    std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

    void run(const Frame& frame, std::byte* scratch, int thread_id,
             int num_threads) const noexcept override {
      const RunArgs& args = frame.args;
      const std::int64_t heads = op_.num_heads_, step = geometry_.max_rows;
      const auto cut = [&](int part) {
        return cut_work(args, heads, reach_, step, part, num_threads);
      };
      const Position begin = cut(thread_id), end = cut(thread_id + 1);
      float* base = reinterpret_cast<float*>(scratch) + thread_id * thread_words_;
      for (Position at = begin; at < end;) {
        const Range tokens{args.offsets[at.sequence], args.offsets[at.sequence + 1]};
        const bool last = at.sequence == end.sequence && at.head == end.head;
        run_head(frame, tokens, at.head, {at.row, last ? end.row : tokens.size()}, base);
        at = at.head + 1 < heads ? Position{at.sequence, at.head + 1, 0}
                                 : Position{at.sequence + 1, 0, 0};
      }
    }

   private:
    static constexpr bool kPairs = Acc::format.kr == 2;
    static constexpr std::int64_t words(std::int64_t k) { return ceil_div(k, Acc::format.kr); }

    // Scores are computed for a multiple of 16 keys; this N has every such multiple as a tile.
    static constexpr std::int64_t kAllScoreColumns = 16 * kPanelColumns + kTransposedPadding;

    static constexpr std::int64_t kEverything = std::numeric_limits<std::int32_t>::max();

    static std::int64_t score_stride(std::int64_t length) {
      const std::int64_t stride = round_up(length, kTransposedPadding);
      return stride % 1024 == 0 ? stride + 16 : stride;
    }

    // Query rows `rows` of one head of the sequence that spans `tokens`.
    void run_head(const Frame& frame, Range tokens, std::int64_t head, Range rows,
                  float* scratch) const noexcept {
      const MatrixView<float>& qkv = frame[op_.inputs[0]];
      const MatrixView<float>& out = frame[op_.output];
      const std::int64_t d = op_.head_size_, length = tokens.size();
      // Floats, or words of two bfloat16.
      const std::int64_t q_cols = reads_bfloat16_ ? d / 2 : d, parts = op_.num_heads_ * q_cols;
      const float* q = qkv.data + tokens.begin * qkv.row_stride + head * q_cols;
      float* const keys = scratch + keys_;
      float* const values = scratch + values_;
      float* const score = scratch + score_;
      {
        const PhaseTimer timer(Phase::pack);
        pack_keys({q + parts, length, q_cols, qkv.row_stride, 1}, keys, scratch + rounded_);
        pack_values({q + 2 * parts, length, q_cols, qkv.row_stride, 1}, values);
      }

      const std::int32_t* const positions =
          frame.args.sequence_positions ? frame.args.sequence_positions + tokens.begin : nullptr;
      const bool local =
          op_.options_.window && positions[length - 1] - positions[0] > *op_.options_.window;
      const std::int64_t tallest = geometry_.max_rows;
      const std::int64_t fit = kScoreBytes / (score_stride(length) * kFloat) / tallest * tallest;
      const BalancedSplit blocks = BalancedSplit::split(rows.size(), std::max(fit, tallest));
      std::int64_t row = rows.begin;
      for (std::int64_t b = 0; row < rows.end; ++b) {
        const std::int64_t count =
            local ? std::min(tallest, rows.end - row) : blocks.largest - (b >= blocks.num_largest);
        Range keys_seen{0, length};
        if (local) {
          keys_seen.begin = seen(positions, length, row).begin / kPanelColumns * kPanelColumns;
          keys_seen.end = seen(positions, length, row + count - 1).end;
        }
        const std::int64_t n = keys_seen.size(), stride = score_stride(n);
        MatrixView<const float> queries{q + row * qkv.row_stride, count, q_cols, qkv.row_stride, 1};
        if (kPairs && !reads_bfloat16_) queries = round_rows(queries, scratch + rounded_);
        scores_.run(queries, keys + keys_seen.begin * words(d), words(d),
                    {score, count, round_up(n, kTransposedPadding), stride, 1}, Phase::scores);
        const MatrixView<float> p = probability_rows({score, count, n, stride, 1}, scratch);
        {
          const PhaseTimer timer(Phase::softmax);
          for (std::int64_t i = 0; i < count; ++i) {
            const Range visible = local ? seen(positions, length, row + i) : keys_seen;
            const Range columns{visible.begin - keys_seen.begin, visible.end - keys_seen.begin};
            float* const s = score + i * stride;
            if (op_.options_.distance_bias.data)
              add_bias(head, positions, row + i, visible, scratch + bias_, s + columns.begin);
            softmax(s, columns, n, &p(i, 0));
          }
        }
        const MatrixView<float> context{out.data + (tokens.begin + row) * out.row_stride + head * d,
                                        count, d, out.row_stride, 1};
        context_.run({p.data, count, p.cols, p.row_stride, 1},
                     values + words(keys_seen.begin) * kPanelColumns, words(length), context,
                     Phase::context);
        if (kPairs) divide_rows(context, score, stride);
        row += count;
      }
    }

    // The keys that a query of a sequence sees; positions ascend.
    Range seen(const std::int32_t* positions, std::int64_t length,
               std::int64_t query) const noexcept {
      const std::int64_t window = *op_.options_.window, position = positions[query];
      const std::int32_t* const end = positions + length;
      return {std::lower_bound(positions, end, position - window) - positions,
              std::upper_bound(positions, end, position + window) - positions};
    }

    // Adds what belongs to the distance of each visible key to its score.
    void add_bias(std::int64_t head, const std::int32_t* positions, std::int64_t query,
                  Range visible, float* gathered, float* scores) const noexcept {
      const SharedMatrix& table = op_.options_.distance_bias;
      const float* const bias = table.row(head) + table.cols / 2 - positions[query];
      const float* row = bias + positions[visible.begin];
      if (positions[visible.end - 1] - positions[visible.begin] !=
          visible.size() - 1) {  // hidden tokens
        for (std::int64_t j = 0; j < visible.size(); ++j)
          gathered[j] = bias[positions[visible.begin + j]];
        row = gathered;
      }
      kernels_.add(scores, row, static_cast<std::size_t>(visible.size()), scores);
    }

    void pack_keys(const MatrixView<const float>& x, float* panels, float* rounded) const noexcept {
      if (kPairs && !reads_bfloat16_) {
        for (std::int64_t first = 0; first < x.rows; first += kPanelColumns) {
          const std::int64_t rows = std::min<std::int64_t>(x.rows - first, kPanelColumns);
          const float* from = x.data + first * x.row_stride;
          pack_transposed(round_rows({from, rows, x.cols, x.row_stride, 1}, rounded),
                          panels + first * words(x.cols));
        }
      } else {
        pack_transposed(x, panels);
      }
    }

    void pack_values(const MatrixView<const float>& x, float* panels) const noexcept {
      if (reads_bfloat16_)
        pack_word_pairs(x, kernels_, panels);
      else if (kPairs)
        pack_row_pairs(x, kernels_, panels);
      else
        pack_rows(x, panels);
    }

    // Rows of x as words of two bfloat16; an odd row ends with a zero.
    MatrixView<const float> round_rows(const MatrixView<const float>& x,
                                       float* rounded) const noexcept {
      const std::int64_t cols = words(x.cols);
      for (std::int64_t i = 0; i < x.rows; ++i) {
        float* const row = rounded + i * cols;
        row[cols - 1] = 0.0f;
        kernels_.float_to_bfloat16(x.data + i * x.row_stride, static_cast<std::size_t>(x.cols),
                                   reinterpret_cast<std::uint16_t*>(row));
      }
      return {rounded, x.rows, cols, cols, 1};
    }

    // Where the probabilities go, as words: in the place of the scores, or rounded.
    MatrixView<float> probability_rows(const MatrixView<float>& score,
                                       float* scratch) const noexcept {
      return {kPairs ? scratch + probabilities_ : score.data, score.rows, words(score.cols),
              score.row_stride / Acc::format.kr, 1};
    }

    // Probabilities of the visible ones of n scores; those of the others, and what makes them whole
    // words, are 0. Rounded ones are not yet divided by their sum: its reciprocal takes the place
    // of the first score.
    void softmax(float* score, Range visible, std::int64_t n, float* probabilities) const noexcept {
      using Element = std::conditional_t<kPairs, std::uint16_t, float>;
      auto* const p = reinterpret_cast<Element*>(probabilities);
      float* const seen_scores = score + visible.begin;
      const auto count = static_cast<std::size_t>(visible.size());
      if constexpr (kPairs)
        score[0] = 1.0f / kernels_.exp_bfloat16(seen_scores, count, scale_, p + visible.begin);
      else
        kernels_.softmax(seen_scores, count, scale_);
      std::fill(p, p + visible.begin, Element{});
      std::fill(p + visible.end, p + words(n) * Acc::format.kr, Element{});
    }

    // Multiplies each row by the first of a row of factors.
    void divide_rows(const MatrixView<float>& x, const float* factors,
                     std::int64_t stride) const noexcept {
      const PhaseTimer timer(Phase::softmax);
      for (std::int64_t i = 0; i < x.rows; ++i)
        kernels_.multiply(&x(i, 0), factors[i * stride], static_cast<std::size_t>(x.cols));
    }

    const AttentionOp& op_;
    const bool reads_bfloat16_;
    const Geometry geometry_;
    const PanelProduct scores_, context_;
    const simd::RowKernels& kernels_;
    const float scale_;
    const std::int64_t reach_;  // keys that a query sees at most
    // Where a thread has what, in words of its scratch: rows rounded are a panel's keys, then a
    // block's queries.
    std::int64_t keys_, values_, score_, rounded_, probabilities_, bias_, thread_words_ = 0;
    std::size_t scratch_bytes_;
  };

  const std::int64_t num_heads_, head_size_;
  const AttentionOptions options_;
};

}  // namespace

std::shared_ptr<Op> make_attention(Buffer qkv, std::int64_t num_heads, std::int64_t head_size,
                                   AttentionOptions options) {
  return std::make_shared<AttentionOp>(qkv, num_heads, head_size, std::move(options));
}

}  // namespace fbg

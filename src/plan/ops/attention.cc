// Attention, fused per (sequence, head): scores, softmax and context never leave the cache.
//
//   pack    K^T into panels [T/32][words of d][32], V into panels [d/32][words of T][32], once for
//           all query heads that share them
//   for each block of query rows
//     S = Q K^T [+ bias]   rows x T; with a window or a causal mask, x the keys that the block sees
//     P = softmax(scale S), scale S perhaps soft-capped
//     context = P V        straight into the head's columns of the output
//
// A block sees up to 2048 keys at a time. The contexts of more are joined in their order: each
// counts by the sum of its terms, all of which are relative to the largest score so far.
//
// Both products are raw microkernels that sum floats. A k-group is a 32-bit word: one float, or two
// bfloat16 where those are allowed and the ISA has their dot product. Floats are read where they
// are: Q in qkv, P where S was. Pairs of bfloat16 are made by rounding Q, K and V as they are
// packed, if the layer before has not done so, and P as softmax writes it, which then leaves its
// division to the rows of the context.
//
// Where there is a matrix unit (AMX) for them, it computes the pairs of long sequences; in short
// ones most of its tiles would be empty.
//
// The float operations of a row depend on its sequence alone: blocks and threads only decide who
// computes it. Where queries see different keys, blocks begin at multiples of their height, so that
// the keys of a block, among which those that a row does not see have a weight of 0, do not depend
// on the threads either.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "core/policy.h"
#include "fbg/core/phase.h"
#include "gemm/panel_product.h"
#include "plan/ops/attention_panels.h"
#include "plan/ops/attention_relative.h"
#include "plan/ops/attention_shape.h"
#include "plan/ops/ops.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kFloat = sizeof(float);  // and of any word
constexpr std::int64_t kSumWords = sizeof(simd::ExpSum) / kFloat;

using policy::attention::kKeys, policy::attention::kLongSequence, policy::attention::kTilesOfKeys;

// Scores are computed for a multiple of 16 keys; this N has every such multiple as a tile.
constexpr std::int64_t kAllScoreColumns = 16 * kPanelColumns + kKeyPadding;

// softmax(scale Q K^T) V within each sequence: (tokens, q_heads * head_dim).
class AttentionOp final : public Op {
 public:
  explicit AttentionOp(Fields& f) : Op("attention", f) {
    require_attention_input("attention", shape_of(qkv_), shape_);
    check();
    if (shape_.kv_heads != shape_.q_heads)
      name += " heads " + std::to_string(shape_.q_heads) + "/" + std::to_string(shape_.kv_heads);
    if (shape_.causal) name += " causal";
    if (distance_bias_.data) name += " distance_bias";
    if (relative_.num_rows()) name += " relative";
    if (shape_.window) name += " window " + std::to_string(*shape_.window);
    if (softcap_) name += " softcap";
    shape = {RowKind::token, shape_.q_heads * shape_.head_dim};
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    if (context.type(qkv_) == ValueType::bfloat16 || rounds(context.features))
      return std::make_unique<AttentionStep>(*this, context, GemmType::bfloat16);
    return std::make_unique<AttentionStep>(*this, context, GemmType::float32);
  }
  // Words of a row must not straddle Q, K and V or two heads.
  Halves reads_bfloat16(std::size_t, Features features) const override {
    return rounds(features) && shape_.head_dim % 2 == 0 ? Halves::rounded : Halves::no;
  }

 private:
  // A run has no position beyond what the tables have, and none that is no number of 32 bits.
  void check() {
    const SharedMatrix& bias = distance_bias_;
    require(!bias.data || (bias.rows == shape_.q_heads && bias.cols % 2 == 1),
            "attention: distance_bias must have a row for each of " +
                std::to_string(shape_.q_heads) + " query heads and an odd number of columns, got " +
                shape_text(bias));
    for (const auto& [what, value] : {std::pair{"scale", scale_}, std::pair{"softcap", softcap_}})
      require(!value || (*value > 0 && std::isfinite(*value)),
              std::string("attention: ") + what + " must be positive and finite, got " +
                  std::to_string(value.value_or(0)));
    std::int64_t& limit = limits.sequence_position;
    if (bias.data) lower_limit(limit, (bias.cols + 1) / 2);
    if (relative_.num_rows()) {
      require_relative_positions(relative_, shape_);
      lower_limit(limit, (static_cast<std::int64_t>(relative_.rows.size()) + 1) / 2);
    }
    if (shape_.window) lower_limit(limit, std::numeric_limits<std::int32_t>::max());
  }

  bool rounds(Features features) const {
    return allow_bfloat16_ && (isa_features(Isa::avx512_bf16) & ~features) == 0;
  }

  class AttentionStep final : public Step {
   public:
    AttentionStep(const AttentionOp& op, const PrepareContext& context, GemmType type)
        : op_(op),
          shape_(op.shape_),
          kernels_(simd::kernels(context.features).rows),
          panels_(kernels_, type, context.type(op.qkv_) == ValueType::bfloat16),
          short_(shape_, type, choose_geometry(type, context.features)),
          long_(shape_, type, choose_geometry(type, context.features, {}, words(shape_.head_dim))),
          relative_(op.relative_, shape_, kernels_, type),
          scale_(op.scale_.value_or(1.0f / std::sqrt(static_cast<float>(shape_.head_dim)))) {
      const Capacity& capacity = context.capacity;
      const std::int64_t length = std::min(capacity.length, capacity.tokens);
      const std::int64_t d = shape_.head_dim;
      const auto place = [&](std::int64_t& offset, std::int64_t words) {
        offset = thread_words_;
        thread_words_ += round_up(words, 16);
      };
      const std::int64_t keys = std::min(length, kKeys);
      const std::int64_t score =
          std::max(policy::attention::kScoreBytes / kFloat, tallest() * row_stride(keys));
      place(keys_, round_up(length, kPanelColumns) * words(d));
      place(values_, round_up(d, kPanelColumns) * panels_.depth(long_.geometry(), length));
      place(score_, score);
      const std::int64_t rounded_rows = length + (relative_ ? kPanelColumns : 0);
      place(rounded_, panels_.pairs() ? rounded_rows * words(d) : 0);
      place(probabilities_, panels_.pairs() ? score : 0);
      place(bias_, op.distance_bias_.data ? length : 0);
      place(relative_scratch_, relative_.scratch_words(length, tallest()));
      place(partial_, length > kKeys ? tallest() * d : 0);
      const std::int64_t sums = length > kKeys ? tallest() * kSumWords : 0;
      place(sums_, kTilesOfKeys * sums);
      place(joining_, sums);
      scratch_bytes_ = static_cast<std::size_t>(thread_words_ * kFloat * capacity.threads);
    }

    std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

    void run(const Frame& frame, std::byte* scratch, int thread_id,
             int num_threads) const noexcept override {
      const RunArgs& args = frame.args;
      const auto cut = [&](int part) {
        return cut_attention(shape_, args, blocks(), part, num_threads);
      };
      const QueryPosition begin = cut(thread_id), end = cut(thread_id + 1);
      float* const base = reinterpret_cast<float*>(scratch) + thread_id * thread_words_;
      const std::int64_t group = shape_.q_heads / shape_.kv_heads;
      std::int64_t packed = -1;  // the key/value head of this sequence that is in the panels
      for (QueryPosition at = begin; at < end;) {
        const Range tokens{args.offsets[at.sequence], args.offsets[at.sequence + 1]};
        const bool last = at.sequence == end.sequence && at.head == end.head;
        if (at.head / group != packed) {
          packed = at.head / group;
          pack(frame, tokens, packed, base);
        }
        run_head(frame, tokens, at.head, {at.row, last ? end.row : tokens.size()}, base);
        if (at.head + 1 < shape_.q_heads) {
          at = {at.sequence, at.head + 1, 0};
        } else {
          at = {at.sequence + 1, 0, 0};
          packed = -1;
        }
      }
    }

   private:
    std::int64_t words(std::int64_t k) const { return panels_.words(k); }
    // Of so many keys of a sequence of that length.
    std::int64_t depth(std::int64_t keys, std::int64_t length) const {
      return panels_.depth(products(length).geometry(), keys);
    }

    // Both products of sequences of a kind.
    struct Products {
      Products(const AttentionShape& shape, GemmType type, const Geometry& g)
          : scores(panel_kernels(type, g, kAllScoreColumns)),
            context(panel_kernels(type, g, shape.head_dim)) {}
      const Geometry& geometry() const { return scores.geometry(); }
      KernelTable scores, context;
    };
    const Products& products(std::int64_t length) const {
      return length < kLongSequence ? short_ : long_;
    }
    // Rows of a block at most where queries see different keys.
    std::int64_t tallest() const {
      return std::max(short_.geometry().max_rows, long_.geometry().max_rows);
    }
    // Where threads may share a head. If the blocks of short sequences have another height, those
    // are not divided.
    QueryBlocks blocks() const {
      const bool alike = short_.geometry().max_rows == long_.geometry().max_rows;
      return {long_.geometry().max_rows, alike ? 0 : kLongSequence};
    }

    // A head of the sequence that spans `tokens`: first come those of Q, then those of K and V.
    MatrixView<const float> head_rows(const Frame& frame, Range tokens,
                                      std::int64_t head) const noexcept {
      const MatrixView<float> qkv = frame.floats(op_.qkv_);
      const std::int64_t d = panels_.columns(shape_.head_dim);
      return {qkv.data + tokens.begin * qkv.row_stride + head * d, tokens.size(), d, qkv.row_stride,
              1};
    }

    // K and V of one key/value head of the sequence that spans `tokens`.
    void pack(const Frame& frame, Range tokens, std::int64_t head, float* scratch) const noexcept {
      const PhaseTimer timer(Phase::pack);
      const std::int64_t first = shape_.q_heads + head;
      panels_.keys(head_rows(frame, tokens, first), scratch + keys_, scratch + rounded_);
      panels_.values(head_rows(frame, tokens, first + shape_.kv_heads),
                     depth(tokens.size(), tokens.size()), scratch + values_);
    }

    // What the blocks of queries of one head of a sequence share.
    struct Head {
      std::int64_t number;
      const Products& product;
      MatrixView<const float> queries;
      MatrixView<float> context;
      const std::int32_t* positions;
      bool masked;  // whether queries see different keys
      RelativeHead relative;
      float* scratch;
    };
    // Some of its queries, the keys that any of them sees, and what a context holds so far.
    struct Block {
      Range rows, keys;
      simd::ExpSum* sums;
    };

    // Query rows `rows` of one head of the sequence that spans `tokens`.
    void run_head(const Frame& frame, Range tokens, std::int64_t head, Range rows,
                  float* scratch) const noexcept {
      const MatrixView<float> out = frame.floats(op_.output);
      const std::int64_t d = shape_.head_dim, length = tokens.size();
      const Products& product = products(length);
      const std::int32_t* const positions =
          frame.args.sequence_positions ? frame.args.sequence_positions + tokens.begin : nullptr;
      const bool masked =
          shape_.causal || (shape_.window && positions[length - 1] - positions[0] > *shape_.window);
      Head at{head,
              product,
              head_rows(frame, tokens, head),
              {out.data + tokens.begin * out.row_stride + head * d, length, d, out.row_stride, 1},
              positions,
              masked,
              {},
              scratch};
      if (relative_) {
        const MatrixView<const float> k =
            panels_.rows(head_rows(frame, tokens, shape_.q_heads + head), scratch + rounded_);
        at.relative = relative_.begin(head, positions, k, product.scores,
                                      scratch + relative_scratch_, scratch + rounded_);
      }

      const std::int64_t tallest = product.geometry().max_rows;
      const BalancedSplit split =
          BalancedSplit::split(rows.size(), query_rows(tallest, std::min(length, kKeys)));
      auto* const sums = reinterpret_cast<simd::ExpSum*>(scratch + sums_);
      const std::int64_t most = length > kKeys ? kTilesOfKeys : 1;
      std::array<Block, kTilesOfKeys> blocks;
      std::int64_t number = 0;
      for (std::int64_t row = rows.begin; row < rows.end;) {
        std::int64_t count = 0, longest = 0;
        for (; count < most && row < rows.end; ++count, ++number) {
          const std::int64_t height = masked || relative_
                                          ? std::min(tallest, rows.end - row)
                                          : split.largest - (number >= split.num_largest);
          const Range keys{visible(at, row).begin / kPanelColumns * kPanelColumns,
                           visible(at, row + height - 1).end};
          blocks[count] = {{row, row + height}, keys, sums + count * tallest};
          longest = std::max(longest, keys.size());
          row += height;
        }
        for (std::int64_t first = 0; first < longest; first += kKeys)
          for (const Block& block : std::span(blocks).first(count)) {
            const std::int64_t begin = block.keys.begin + first;
            if (begin < block.keys.end)
              attend(at, block, {begin, std::min(begin + kKeys, block.keys.end)});
          }
      }
    }

    Range visible(const Head& at, std::int64_t query) const noexcept {
      const std::int64_t length = at.queries.rows;
      return at.masked ? visible_keys(shape_, at.positions, length, query) : Range{0, length};
    }

    // The context of a block for some of its keys, joined with that for the keys before.
    void attend(const Head& at, const Block& block, Range keys) const noexcept {
      const std::int64_t d = shape_.head_dim, length = at.queries.rows;
      const std::int64_t n = keys.size(), stride = row_stride(n);
      const std::int64_t row = block.rows.begin, count = block.rows.size();
      float* const scratch = at.scratch;
      float* const score = scratch + score_;
      const MatrixView<const float> queries =
          panels_.rows({at.queries.data + row * at.queries.row_stride, count, at.queries.cols,
                        at.queries.row_stride, 1},
                       scratch + rounded_);
      {
        const PhaseTimer timer(Phase::scores);
        multiply_panels(at.product.scores, queries, scratch + keys_ + keys.begin * words(d),
                        words(d), {score, count, round_up(n, kKeyPadding), stride, 1});
        if (relative_) relative_.begin_rows(at.relative, queries, at.product.scores);
      }
      const bool first = keys.begin == block.keys.begin, last = keys.end == block.keys.end;
      const bool whole = first && last;
      simd::ExpSum* const sums =
          first ? block.sums : reinterpret_cast<simd::ExpSum*>(scratch + joining_);
      const MatrixView<float> context{at.context.data + row * at.context.row_stride, count, d,
                                      at.context.row_stride, 1};
      const MatrixView<float> made =
          first ? context : MatrixView<float>{scratch + partial_, count, d, d, 1};
      prefetch_rows(made);
      const std::int64_t summed = depth(n, length);
      const MatrixView<float> p =
          panels_.pairs()
              ? MatrixView<float>{scratch + probabilities_, count, summed, row_stride(summed), 1}
              : MatrixView<float>{score, count, n, stride, 1};
      {
        const PhaseTimer timer(Phase::softmax);
        for (std::int64_t i = 0; i < count; ++i) {
          const simd::ExpSum sum = probabilities(at, row + i, i, keys, score + i * stride,
                                                 {&p(i, 0), 1, p.cols, p.row_stride, 1});
          if (!whole) sums[i] = sum;
        }
      }
      {
        const PhaseTimer timer(Phase::context);
        multiply_panels(at.product.context, {p.data, count, p.cols, p.row_stride, 1},
                        scratch + values_ + words(keys.begin) * kPanelColumns,
                        depth(length, length), made);
      }
      if (panels_.pairs()) divide_rows(made, score, stride);
      if (!first) join(made, sums, context, block.sums);
    }

    // The probabilities of the keys that a query sees among some, row i of a block.
    simd::ExpSum probabilities(const Head& at, std::int64_t query, std::int64_t i, Range keys,
                               float* score, const MatrixView<float>& row) const noexcept {
      const Range all = visible(at, query);
      const std::int64_t begin = std::clamp(all.begin, keys.begin, keys.end);
      const Range seen{begin, std::clamp(all.end, begin, keys.end)};
      const Range columns{seen.begin - keys.begin, seen.end - keys.begin};
      if (seen.size() > 0) {
        float* const s = score + columns.begin;
        if (op_.distance_bias_.data)
          add_bias(at.number, at.positions, query, seen, at.scratch + bias_, s);
        if (relative_) relative_.add(at.relative, at.positions, i, at.positions[query], seen, s);
        if (op_.softcap_) cap(s, columns.size());
      }
      return softmax(score, columns, row);
    }

    // Adds contexts for further keys to those so far, each counting by the sum of its terms.
    void join(const MatrixView<float>& made, const simd::ExpSum* sums,
              const MatrixView<float>& context, simd::ExpSum* so_far) const noexcept {
      const PhaseTimer timer(Phase::softmax);
      const auto d = static_cast<std::size_t>(context.cols);
      for (std::int64_t i = 0; i < context.rows; ++i) {
        if (sums[i].sum == 0) continue;  // it sees none of them
        const float max = std::max(so_far[i].max, sums[i].max);
        const float before = so_far[i].sum * std::exp(so_far[i].max - max);
        const float more = sums[i].sum * std::exp(sums[i].max - max);
        const float total = before + more;
        kernels_.multiply(&context(i, 0), before / total, d);
        kernels_.accumulate(&made(i, 0), more / total, d, &context(i, 0));
        so_far[i] = {total, max};
      }
    }

    // Adds the bias for the distance of each visible key to its score.
    void add_bias(std::int64_t head, const std::int32_t* positions, std::int64_t query,
                  Range visible, float* gathered, float* scores) const noexcept {
      const SharedMatrix& table = op_.distance_bias_;
      const float* const bias = table.row(head) + table.cols / 2 - positions[query];
      const float* row = bias + positions[visible.begin];
      // Where masked tokens stood between the keys, their distances are no range.
      if (positions[visible.end - 1] - positions[visible.begin] != visible.size() - 1) {
        for (std::int64_t j = 0; j < visible.size(); ++j)
          gathered[j] = bias[positions[visible.begin + j]];
        row = gathered;
      }
      kernels_.add(scores, row, static_cast<std::size_t>(visible.size()), scores);
    }

    // Leaves s = tanh(scale * score / cap) where the scores were; softmax multiplies them by cap.
    void cap(float* scores, std::int64_t count) const noexcept {
      const auto n = static_cast<std::size_t>(count);
      kernels_.multiply(scores, scale_ / *op_.softcap_, n);
      kernels_.tanh(scores, n, scores);
    }

    // Probabilities of the visible scores, as a row of words: over the scores, or rounded
    // elsewhere. The others are 0. Rounded ones are not yet divided by their sum, whose reciprocal
    // is left where the first score was.
    simd::ExpSum softmax(float* score, Range visible, const MatrixView<float>& row) const noexcept {
      const auto count = static_cast<std::size_t>(visible.size());
      const float factor = op_.softcap_.value_or(scale_);
      const auto clear_others = [&](auto* p, std::int64_t end) {
        std::fill(p, p + visible.begin, 0);
        std::fill(p + visible.end, p + end, 0);
      };
      simd::ExpSum sum;
      if (panels_.pairs()) {
        auto* const p = reinterpret_cast<std::uint16_t*>(row.data);
        sum = kernels_.exp_bfloat16(score + visible.begin, count, factor, p + visible.begin);
        score[0] = count ? 1.0f / sum.sum : 0.0f;
        clear_others(p, 2 * row.cols);
      } else {
        sum = kernels_.softmax(score + visible.begin, count, factor);
        clear_others(score, row.cols);
      }
      if (!count) sum.max = -std::numeric_limits<float>::infinity();
      return sum;
    }

    // Multiplies each row by the first of a row of factors.
    void divide_rows(const MatrixView<float>& x, const float* factors,
                     std::int64_t stride) const noexcept {
      const PhaseTimer timer(Phase::softmax);
      for (std::int64_t i = 0; i < x.rows; ++i)
        kernels_.multiply(&x(i, 0), factors[i * stride], static_cast<std::size_t>(x.cols));
    }

    const AttentionOp& op_;
    const AttentionShape& shape_;
    const simd::RowKernels& kernels_;
    const AttentionPanels panels_;
    const Products short_, long_;
    const RelativeScores relative_;
    const float scale_;
    // Where a thread has what, in words of its scratch: rows rounded are a panel's keys, then a
    // block's queries.
    std::int64_t keys_, values_, score_, rounded_, probabilities_, bias_, relative_scratch_;
    std::int64_t partial_, sums_, joining_;
    std::int64_t thread_words_ = 0;
    std::size_t scratch_bytes_;
  };

  const Buffer qkv_ = input("qkv");
  const AttentionShape shape_ = field("heads");
  // Both products may take operands rounded to bfloat16, which they do on CPUs with AVX512-BF16.
  const bool allow_bfloat16_ = field("rounds", false);
  // (q_heads, 2 L - 1), added to Q K^T before it is scaled: the column is L - 1 + position of the
  // key - position of the query. Sequence positions must be less than L.
  const SharedMatrix distance_bias_ = fields().table("distance_bias");
  // Factor of the scores; 1 / sqrt(head_dim) where it is not given. Positive.
  const std::optional<float> scale_ = fields().find<float>("scale");
  // Soft-capping: scaled scores s become cap * tanh(s / cap). Positive.
  const std::optional<float> softcap_ = fields().find<float>("softcap");
  const RelativePositions relative_ =
      fields().find<RelativePositions>("relative").value_or(RelativePositions{});
};

}  // namespace

Buffer kinds::attention(Graph& graph, Fields& f) { return append_as<AttentionOp>(graph, f); }

}  // namespace fbg

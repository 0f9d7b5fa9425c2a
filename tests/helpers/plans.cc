// See plans.h.
#include "helpers/plans.h"

#include <algorithm>
#include <cmath>

namespace fbg::test {

std::vector<double> plain_attention(const Tables& tables, const Input& in,
                                    const AttentionShape& shape, const AttentionOptions& options) {
  const std::int64_t d = shape.head_dim, group = shape.q_heads / shape.kv_heads;
  const std::int64_t keys = shape.q_heads * d, values = keys + shape.kv_heads * d, width = keys;
  const SharedMatrix& bias = options.distance_bias;
  const RelativePositions& relative = options.relative;
  const auto position = [&](std::int64_t token) {
    return in.sequence_positions[static_cast<std::size_t>(token)];
  };
  std::vector<double> x;
  for (std::int64_t t = 0; t < in.offsets.back(); ++t)
    for (std::int64_t i = 0; i < tables.width; ++i) x.push_back(tables.at(in, t, i));
  const auto at = [&](std::int64_t token, std::int64_t i) {
    return x[static_cast<std::size_t>(token * tables.width + i)];
  };
  std::vector<double> out(in.ids.size() * static_cast<std::size_t>(width));
  for (std::size_t s = 0; s + 1 < in.offsets.size(); ++s)
    for (std::int64_t h = 0; h < shape.q_heads; ++h)
      for (std::int64_t i = in.offsets[s]; i < in.offsets[s + 1]; ++i) {
        const std::int64_t shared_head = h / group * d;
        std::vector<double> p;
        std::vector<std::int64_t> seen;
        for (std::int64_t j = in.offsets[s]; j < in.offsets[s + 1]; ++j) {
          const std::int64_t distance = position(j) - position(i);
          if (shape.window && std::abs(distance) > *shape.window) continue;
          if (shape.causal && j > i) continue;
          double dot = bias.data ? bias.row(h)[bias.cols / 2 + distance] : 0;
          for (std::int64_t c = 0; c < d; ++c)
            dot += at(i, h * d + c) * at(j, keys + shared_head + c);
          if (relative.num_rows()) {
            const std::size_t zero = relative.rows.size() / 2;
            const std::int64_t r =
                relative.rows[static_cast<std::size_t>(static_cast<std::int64_t>(zero) + distance)];
            for (std::int64_t c = h * d; c < (h + 1) * d; ++c) {
              if (relative.keys.data) dot += at(i, c) * relative.keys.row(r)[c];
              if (relative.queries.data) dot += at(j, keys + c) * relative.queries.row(r)[c];
            }
          }
          dot *= options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(d));
          if (options.softcap) dot = *options.softcap * std::tanh(dot / *options.softcap);
          p.push_back(dot);
          seen.push_back(j);
        }
        const double top = *std::max_element(p.begin(), p.end());
        double sum = 0;
        for (double& e : p) sum += e = std::exp(e - top);
        for (std::int64_t c = 0; c < d; ++c) {
          double value = 0;
          for (std::size_t j = 0; j < p.size(); ++j)
            value += p[j] / sum * at(seen[j], values + shared_head + c);
          out[static_cast<std::size_t>(i * width + h * d + c)] = value;
        }
      }
  return out;
}

}  // namespace fbg::test

// hardswish(embedding[indices] * w + bias), requantized to uint8: one product with a packer and an
// output stage that fbg does not have, computed by two threads and checked against plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "embedding_rows.h"
#include "fbg/gemm/gemm.h"

namespace {

// x * min(max(x + 3, 0), 6) / 6  (Howard et al. 2019, MobileNetV3): any callable on float will do.
struct HardSwish {
  float operator()(float x) const noexcept {
    return x * (std::min(std::max(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f));
  }
};

// The same from the definition, in double: element (i, j) before it is requantized.
double plain(const EmbeddingTable& table, std::int64_t index, const fbg::PackedB<fbg::Int32>& w,
             std::int64_t j, double bias) {
  double x = bias;
  for (std::int64_t k = 0; k < table.columns; ++k) {
    const int q = table.row(index)[k / 2] >> (k % 2 * 4) & 15;
    x += double{table.scale[index]} * (q - table.zero_point[index]) * double{w.scale()[j]} *
         (w.at(k, j) - (w.zero_point() ? w.zero_point()[j] : 0));
  }
  return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0;
}

}  // namespace

int main() {
  constexpr std::int64_t kVocabulary = 1000, kRows = 77, kDepth = 301, kColumns = 130;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;

  EmbeddingTable table{kDepth, std::vector<std::uint8_t>(kVocabulary * ((kDepth + 1) / 2)), {}, {}};
  for (auto& pair : table.nibbles) pair = static_cast<std::uint8_t>(random());
  for (int i = 0; i < kVocabulary; ++i) {
    table.scale.push_back(0.01f + 0.01f * static_cast<float>(i % 7));
    table.zero_point.push_back(5 + i % 6);
  }
  std::vector<std::int64_t> indices(kRows);
  for (auto& index : indices) index = random() % kVocabulary;

  std::vector<float> weights(kDepth * kColumns), bias(kColumns);
  for (float& x : weights) x = normal(random) * 0.2f;
  for (float& x : bias) x = normal(random);
  const auto w = fbg::PackedB<fbg::Int32>::quantize({weights.data(), kDepth, kColumns, kColumns},
                                                    fbg::Granularity::column, false);

  // Dequantize and Bias run in the microkernel, HardSwish and Requantize on the tile it leaves.
  const float scale = 0.05f;
  const std::int32_t zero_point = 8;
  const fbg::Pipeline pipeline(fbg::Dequantize{}, fbg::Bias{bias.data()}, HardSwish{},
                               fbg::Requantize{scale, zero_point, fbg::ValueType::uint8});
  const PackEmbeddingRows a(table, indices);

  // Everything that can fail or allocates is here; run() does neither.
  constexpr int kThreads = 2;
  const fbg::Gemm<PackEmbeddingRows, fbg::Int32, decltype(pipeline)> gemm(w, pipeline, kRows);
  const std::unique_ptr<void, decltype(&std::free)> workspace(
      std::aligned_alloc(64, gemm.workspace_bytes(kThreads)), &std::free);
  if (!workspace) return EXIT_FAILURE;

  std::vector<std::uint8_t> c(kRows * kColumns);
  const auto share = [&](int thread_id) {
    gemm.run(a, w, pipeline, {c.data(), kColumns}, static_cast<std::byte*>(workspace.get()),
             thread_id, kThreads);
  };
  std::thread other(share, 1);
  share(0);
  other.join();

  // Half a step is what rounding may cost; the rest is float against double.
  double worst = 0;
  int saturated = 0;
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const double exact = plain(table, indices[i], w, j, bias[j]) / scale + zero_point;
      const int q = c[i * kColumns + j];
      saturated += q == 0 || q == 255;
      worst = std::max(worst, std::fabs(q - std::clamp(exact, 0.0, 255.0)));
    }
  std::printf("%lld x %lld x %lld on %s: largest distance from plain loops %.4f steps\n",
              static_cast<long long>(kRows), static_cast<long long>(kColumns),
              static_cast<long long>(kDepth), fbg::isa_name(fbg::active_isa()), worst);
  const bool meaningful = saturated < kRows * kColumns / 2;
  return worst <= 0.501 && meaningful ? EXIT_SUCCESS : EXIT_FAILURE;
}

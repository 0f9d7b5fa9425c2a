// Scores of pairs of embeddings, and the search for the best ones. Results are the same for any
// number of threads.
#include <pybind11/numpy.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"
#include "simd/best.h"
#include "simd/kernels.h"

namespace fbg::bindings {
namespace {

using policy::search::kBlockScores, policy::search::kLeastRows;
constexpr float kLeastLength = 1e-12f;

// A metric that is one of the kernels.
template <class Element, class Result, auto kKernel>
struct Plain {
  using T = Element;
  using Score = Result;
  static void score(const simd::SearchKernels& kernels, const simd::SearchOperands<T>& operands,
                    Score* y, std::size_t ldy, float*) {
    (kernels.*kKernel)(operands, y, ldy);
  }
};
using DotFloat = Plain<float, float, &simd::SearchKernels::dot_float>;
using DotInt8 = Plain<std::int8_t, std::int32_t, &simd::SearchKernels::dot_int8>;
using Hamming = Plain<std::uint8_t, std::int32_t, &simd::SearchKernels::minus_different_bits>;

// Queries have length 1 already; scores are divided by the lengths of the rows, which are written
// to `lengths`.
struct Cosine : DotFloat {
  static void score(const simd::SearchKernels& kernels, const simd::SearchOperands<T>& operands,
                    Score* y, std::size_t ldy, float* lengths) {
    DotFloat::score(kernels, operands, y, ldy, nullptr);
    kernels.square_float(operands, lengths);
    for (std::size_t r = 0; r < operands.num_rows; ++r)
      lengths[r] = std::max(std::sqrt(lengths[r]), kLeastLength);
    for (std::size_t q = 0; q < operands.num_queries; ++q)
      for (std::size_t r = 0; r < operands.num_rows; ++r) y[q * ldy + r] /= lengths[r];
  }
};

template <class Metric>
simd::SearchOperands<typename Metric::T> operands_of(const py::array& queries,
                                                     const py::array& corpus) {
  using T = typename Metric::T;
  const auto left = matrix<T>(queries, "search: queries"),
             right = matrix<T>(corpus, "search: corpus");
  require(left.cols == right.cols, "search: queries and corpus must have equally many columns");
  require(left.col_stride == 1 && left.row_stride == left.cols,
          "search: queries must be contiguous");
  require(right.col_stride == 1, "search: rows of corpus must be contiguous");
  require(right.row_stride >= 0, "search: corpus must not be reversed");
  constexpr std::int64_t kMostBytes = (1 << 17) - 1;
  require(!std::is_same_v<T, std::int8_t> || right.cols <= kMostBytes,
          "search: sums of int8 products are exact for at most " + std::to_string(kMostBytes) +
              " columns, got " + std::to_string(right.cols));
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {left.data,        size(left.rows),        right.data,
          size(right.rows), size(right.row_stride), size(right.cols)};
}

std::int64_t block_rows(std::size_t queries) {
  const auto count = static_cast<std::int64_t>(queries);
  return std::max(kLeastRows, kBlockScores / std::max<std::int64_t>(count, 1));
}

// Threads that have something to do.
int useful_threads(std::size_t rows, int num_threads) {
  const std::int64_t blocks = static_cast<std::int64_t>(rows) / kLeastRows;
  return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, num_threads));
}

// Calls use(operands, first) for the rows of a thread in blocks, the first of which is row `first`.
template <class T, class Use>
void for_each_block(const simd::SearchOperands<T>& all, int thread_id, int num_threads, Use use) {
  const auto rows = static_cast<std::int64_t>(all.num_rows);
  const std::int64_t block = block_rows(all.num_queries);
  const std::int64_t end = rows * (thread_id + 1) / num_threads;
  for (std::int64_t row = rows * thread_id / num_threads; row < end; row += block) {
    simd::SearchOperands<T> part = all;
    part.rows += row * static_cast<std::int64_t>(all.stride);
    part.num_rows = static_cast<std::size_t>(std::min(block, end - row));
    use(part, row);
  }
}

template <class Metric>
py::array scores(const py::array& queries, const py::array& corpus, int num_threads) {
  using Score = typename Metric::Score;
  const auto operands = operands_of<Metric>(queries, corpus);
  py::array_t<Score> y({queries.shape(0), corpus.shape(0)});
  Score* const to = y.mutable_data();
  {
    const GilRelease release;
    const auto& kernels = simd::kernels(active_features()).search;
    const int threads = useful_threads(operands.num_rows, num_threads);
    const std::int64_t block = block_rows(operands.num_queries);
    const FloatEnvironment environment;
    std::vector<float> lengths(static_cast<std::size_t>(threads * block));
    run_shares(threads, [&](int thread_id, int n) {
      for_each_block(operands, thread_id, n, [&](const auto& part, std::int64_t row) {
        Metric::score(kernels, part, to + row, operands.num_rows,
                      lengths.data() + thread_id * block);
      });
    });
  }
  return y;
}

// The memory of a thread of a search, allocated before it runs.
template <class Score>
struct SearchThread {
  SearchThread(std::size_t k, std::size_t queries, std::int64_t block,
               const simd::SearchKernels& kernels)
      : scores(queries * static_cast<std::size_t>(block)),
        lengths(static_cast<std::size_t>(block)) {
    best.reserve(queries);
    for (std::size_t q = 0; q < queries; ++q) best.emplace_back(k, kernels);
  }
  std::vector<Score> scores;
  std::vector<float> lengths;
  std::vector<simd::Best<Score>> best;
};

template <class Metric>
py::tuple search(const py::array& queries, const py::array& corpus, std::int64_t top_k,
                 int num_threads) {
  using Score = typename Metric::Score;
  const auto operands = operands_of<Metric>(queries, corpus);
  require(top_k >= 0, "search: top_k must not be negative");
  const std::size_t k = std::min(static_cast<std::size_t>(top_k), operands.num_rows);
  const std::vector<py::ssize_t> shape{queries.shape(0), static_cast<py::ssize_t>(k)};
  py::array_t<Score> values(shape);
  py::array_t<std::int64_t> indices(shape);
  Score* value = values.mutable_data();
  std::int64_t* index = indices.mutable_data();
  {
    const GilRelease release;
    const auto& kernels = simd::kernels(active_features()).search;
    const int threads = useful_threads(operands.num_rows, num_threads);
    const std::int64_t block = block_rows(operands.num_queries);
    const std::size_t count = operands.num_queries;
    const FloatEnvironment environment;
    std::vector<SearchThread<Score>> parts;
    for (int t = 0; t < threads; ++t) parts.emplace_back(k, count, block, kernels);
    run_shares(threads, [&](int thread_id, int n) {
      auto& own = parts[static_cast<std::size_t>(thread_id)];
      for_each_block(operands, thread_id, n, [&](const auto& part, std::int64_t row) {
        Metric::score(kernels, part, own.scores.data(), part.num_rows, own.lengths.data());
        for (std::size_t q = 0; q < count; ++q)
          own.best[q].add(own.scores.data() + q * part.num_rows, part.num_rows, row);
      });
    });
    for (std::size_t q = 0; q < count; ++q) {
      auto& best = parts[0].best[q];
      for (std::size_t t = 1; t < parts.size(); ++t) best.merge(parts[t].best[q]);
      for (const auto& found : best.finish()) {
        *value++ = found.score;
        *index++ = found.index;
      }
    }
  }
  return py::make_tuple(std::move(values), std::move(indices));
}

// use.template operator()<Metric>() with the metric of that name and of the queries' dtype.
template <class Use>
auto with_metric(const std::string& metric, const py::array& queries, Use use) {
  if (metric == "cosine") return use.template operator()<Cosine>();
  if (metric == "hamming") return use.template operator()<Hamming>();
  require(metric == "dot", "search: no such metric: " + metric);
  return has_dtype<float>(queries) ? use.template operator()<DotFloat>()
                                   : use.template operator()<DotInt8>();
}

}  // namespace

void bind_search(py::module_& m) {
  m.def(
      "similarity",
      [](const py::array& queries, const py::array& corpus, const std::string& metric,
         int num_threads) {
        return with_metric(metric, queries, [&]<class Metric>() {
          return scores<Metric>(queries, corpus, num_threads);
        });
      },
      py::arg("queries"), py::arg("corpus"), py::arg("metric"), py::arg("num_threads"));
  m.def(
      "search",
      [](const py::array& queries, const py::array& corpus, const std::string& metric,
         std::int64_t top_k, int num_threads) {
        return with_metric(metric, queries, [&]<class Metric>() {
          return search<Metric>(queries, corpus, top_k, num_threads);
        });
      },
      py::arg("queries"), py::arg("corpus"), py::arg("metric"), py::arg("top_k"),
      py::arg("num_threads"));
}

}  // namespace fbg::bindings

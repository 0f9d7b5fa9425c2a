// The largest k of a stream of scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "simd/search.h"

namespace fbg::simd {

// Keeps the k largest of the scores that it is given, and their positions. Where scores
// are equal, the first are kept; NaN counts as the lowest of all numbers.
template <class T>
class Best {
 public:
  struct Found {
    T score;
    std::int64_t index;
    // Whether this one comes first.
    bool operator<(const Found& other) const {
      return score != other.score ? score > other.score : index < other.index;
    }
  };

  Best(std::size_t k, const SearchKernels& kernels) : k_(k), kernels_(&kernels) {
    found_.reserve(2 * k);
  }

  // Adds n scores, the first of which stands at `index`.
  void add(const T* scores, std::size_t n, std::int64_t index) {
    if (k_ == 0) return;
    std::size_t i = 0;
    for (; i < n && found_.size() < k_; ++i) keep(scores[i], index + static_cast<std::int64_t>(i));
    while ((i += find_above(scores + i, n - i)) < n) {
      keep(scores[i], index + static_cast<std::int64_t>(i));
      ++i;
    }
  }

  // Adds the scores that another one has kept.
  void merge(const Best& other) {
    for (const Found& found : other.found_)
      if (k_ != 0) keep(found.score, found.index);
  }

  // The best ones, in order.
  const std::vector<Found>& finish() {
    prune();
    std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  std::size_t find_above(const T* x, std::size_t n) const {
    if constexpr (std::is_floating_point_v<T>)
      return kernels_->find_above_float(x, n, bound_);
    else
      return kernels_->find_above_int32(x, n, bound_);
  }

  void keep(T score, std::int64_t index) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(score)) score = -std::numeric_limits<T>::infinity();
    found_.push_back({score, index});
    if (found_.size() == k_ || found_.size() == 2 * k_) prune();
  }

  // Drops scores that are not among the k best. A later score has to be above the least of them.
  void prune() {
    if (k_ == 0 || found_.size() < k_) return;
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(found_.begin(), last, found_.end());
    bound_ = last->score;
    found_.resize(k_);
  }

  std::size_t k_;
  const SearchKernels* kernels_;
  std::vector<Found> found_;
  T bound_{};  // meaningful once there are k
};

}  // namespace fbg::simd

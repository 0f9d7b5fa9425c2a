// Which rows go to an expert: those whose weight is not 0, in their order (experts.cc).
#pragma once

#include <cstdint>

#include "plan/ops/row_step.h"

namespace fbg {

inline float Routes::weight(const Frame& frame, std::int64_t row) const {
  return row_of(frame[weights], row)[expert];
}

inline std::int64_t Routes::count(const Frame& frame, std::int64_t rows) const {
  std::int64_t found = 0;
  for (std::int64_t row = 0; row < rows; ++row) found += weight(frame, row) != 0;
  return found;
}

// Throws std::invalid_argument unless they are of rows such as those of x.
void require_routes(const BufferShape& x, const BufferShape& weights, const Routes& routes);

}  // namespace fbg

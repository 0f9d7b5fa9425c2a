// The limit of look-ups: nothing but reads of the lines of random rows, which
// bench/tables_lookup.py compiles and loads. Rows are read where the look-ups find them, with their
// indices.
#include <cstdint>

namespace {

constexpr std::int64_t kLine = 64;

template <int kLocality>
std::uint64_t read(const char* rows, std::int64_t stride, std::int64_t bytes,
                   const std::int64_t* indices, std::int64_t count, std::int64_t ahead) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (ahead > 0 && i + ahead < count) {
      const char* const next = rows + indices[i + ahead] * stride;
      for (std::int64_t at = 0; at < bytes; at += kLine)
        __builtin_prefetch(next + at, 0, kLocality);
      __builtin_prefetch(next + bytes - 1, 0, kLocality);
    }
    const char* const row = rows + indices[i] * stride;
    for (std::int64_t at = 0; at < bytes; at += kLine) sum += static_cast<unsigned char>(row[at]);
    sum += static_cast<unsigned char>(row[bytes - 1]);
  }
  return sum;
}

}  // namespace

// near: prefetches go to the L1, otherwise to the L2.
extern "C" std::uint64_t read_rows(const char* rows, std::int64_t stride, std::int64_t bytes,
                                   const std::int64_t* indices, std::int64_t count,
                                   std::int64_t ahead, int near) {
  return near ? read<3>(rows, stride, bytes, indices, count, ahead)
              : read<2>(rows, stride, bytes, indices, count, ahead);
}

// Each index depends on what was read before: the latency.
extern "C" std::uint64_t follow(const char* rows, std::int64_t stride, const std::int64_t* indices,
                                std::int64_t count) {
  std::uint64_t zero = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    zero += static_cast<unsigned char>(rows[indices[i + static_cast<std::int64_t>(zero)] * stride]);
    asm volatile("and $0, %0" : "+r"(zero));
  }
  return zero;
}

// The cache that is bounded by bytes: what it keeps, what it drops, and what outlives it.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/lru_cache.h"

namespace fbg {
namespace {

using Cache = LruCache<std::string, std::shared_ptr<const int>>;

// What the cache has for a key; a new value takes `bytes`, and the key is added to `made`.
std::shared_ptr<const int> get(Cache& cache, const std::string& key, std::size_t bytes,
                               std::vector<std::string>* made = nullptr) {
  return cache.get(key, [&] {
    if (made) made->push_back(key);
    return Cache::Sized{std::make_shared<const int>(static_cast<int>(key.size())), bytes};
  });
}

TEST(LruCache, MakesAValueOnce) {
  Cache cache(100);
  const auto first = get(cache, "a", 10);
  EXPECT_EQ(get(cache, "a", 10), first);
  EXPECT_EQ(cache.bytes(), 10u);
}

TEST(LruCache, DropsWhatWasUsedLeastRecently) {
  Cache cache(30);
  for (const char* key : {"a", "b", "c"}) get(cache, key, 10);
  get(cache, "a", 10);
  get(cache, "d", 10);
  std::vector<std::string> made;
  for (const char* key : {"a", "c", "d", "b"}) get(cache, key, 10, &made);
  EXPECT_EQ(made, std::vector<std::string>{"b"});
}

TEST(LruCache, BytesStayWithinTheBound) {
  Cache cache(1000);
  for (int i = 0; i < 500; ++i) {
    get(cache, std::to_string(i), static_cast<std::size_t>(i % 90));
    EXPECT_LE(cache.bytes(), 1000u);
  }
}

TEST(LruCache, AValueLargerThanTheBoundIsKeptUntilTheNext) {
  Cache cache(30);
  const auto large = get(cache, "large", 1000);
  EXPECT_EQ(get(cache, "large", 1000), large);
  get(cache, "small", 1);
  EXPECT_EQ(cache.bytes(), 1u);
}

TEST(LruCache, AValueInUseOutlivesItsEntry) {
  Cache cache(10);
  const auto used = get(cache, "used", 10);
  get(cache, "next", 10);
  EXPECT_EQ(*used, 4);
  EXPECT_EQ(used.use_count(), 1);
}

TEST(LruCache, AFailedMakeLeavesTheCacheAsItWas) {
  Cache cache(100);
  get(cache, "a", 10);
  const auto fail = []() -> Cache::Sized { throw std::runtime_error("no"); };
  EXPECT_THROW(cache.get("b", fail), std::runtime_error);
  EXPECT_EQ(cache.bytes(), 10u);
  EXPECT_NE(get(cache, "b", 5), nullptr);
}

}  // namespace
}  // namespace fbg

// A cache that is bounded by bytes: the value that was used least recently is dropped first.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "core/no_fork.h"

namespace fbg {

// Keys are ordered by <. The caller gets a copy of a value, so values are shared pointers: one that
// is dropped lives on while somebody uses it. Thread-safe.
template <class Key, class Value>
class LruCache {
 public:
  // A value and the memory it takes.
  struct Sized {
    Value value;
    std::size_t bytes;
  };

  explicit LruCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // The value of `key`. Where there is none, make() returns it, a Sized: one thread at a time makes
  // values. The newest value is kept however large it is.
  template <class Make>
  Value get(const Key& key, Make make) {
    const NoFork no_fork;
    const std::lock_guard lock(mutex_);
    if (const auto found = index_.find(key); found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->sized.value;
    }
    Entries made;
    made.push_front({key, make()});
    index_.emplace(key, made.begin());
    entries_.splice(entries_.begin(), made);
    bytes_ += entries_.front().sized.bytes;
    while (bytes_ > max_bytes_ && entries_.size() > 1) {
      bytes_ -= entries_.back().sized.bytes;
      index_.erase(entries_.back().key);
      entries_.pop_back();
    }
    return entries_.front().sized.value;
  }

  // The total size of all values that are kept.
  std::size_t bytes() const {
    const NoFork no_fork;
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    Key key;
    Sized sized;
  };
  using Entries = std::list<Entry>;  // the most recently used first

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::map<Key, typename Entries::iterator> index_;
  std::size_t bytes_ = 0;
};

}  // namespace fbg

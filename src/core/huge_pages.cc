// Regions of address space that are cut into blocks: the first that is large enough, from its
// beginning. Free memory is listed in itself, in the order of addresses, so that giving memory
// back needs none. Regions without a block are unmapped, all but one.
#include "core/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "core/no_fork.h"

namespace fbg::huge_pages {
namespace {

// Only address space is reserved: pages that no block needs are never touched.
constexpr std::size_t kRegion = 8 * kPage;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

struct FreeBlock {
  std::size_t size;
  FreeBlock* next;
};

class Region {
 public:
  explicit Region(std::size_t bytes) : size_(bytes), mapped_bytes_(bytes + kPage) {
    mapped_ =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    base_ =
        reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(mapped_), kPage));
#if defined(MADV_HUGEPAGE)
    // Advice only: a system without transparent huge pages works as before.
    madvise(base_, size_, MADV_HUGEPAGE);
#endif
    free_ = ::new (base_) FreeBlock{size_, nullptr};
  }
  void unmap() noexcept { munmap(mapped_, mapped_bytes_); }

  bool holds(const std::byte* data) const noexcept { return data >= base_ && data < base_ + size_; }
  bool is_empty() const noexcept { return free_ && free_->size == size_; }

  // Gives the system the pages that are free; they come back as zeros when they are used.
  void trim() noexcept {
    for (FreeBlock* block = free_; block; block = block->next) {
      const auto data = reinterpret_cast<std::uintptr_t>(block);
      const std::size_t begin = round_up(data + sizeof(FreeBlock), kPage);
      const std::size_t end = (data + block->size) / kPage * kPage;
      if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
  }

  // nullptr where no free block is large enough.
  std::byte* take(std::size_t bytes) noexcept {
    for (FreeBlock** link = &free_; *link; link = &(*link)->next) {
      FreeBlock* const block = *link;
      if (block->size < bytes) continue;
      const FreeBlock found = *block;
      auto* const data = reinterpret_cast<std::byte*>(block);
      *link = found.size == bytes ? found.next
                                  : ::new (data + bytes) FreeBlock{found.size - bytes, found.next};
      return data;
    }
    return nullptr;
  }

  void give_back(std::byte* data, std::size_t bytes) noexcept {
    FreeBlock* before = nullptr;
    FreeBlock* after = free_;
    while (after && reinterpret_cast<std::byte*>(after) < data) {
      before = after;
      after = after->next;
    }
    FreeBlock* block = ::new (data) FreeBlock{bytes, after};
    (before ? before->next : free_) = block;
    if (after) join(block);
    if (before) join(before);
  }

 private:
  // Makes a block and the next one in the list one block if they are neighbours.
  static void join(FreeBlock* block) noexcept {
    const FreeBlock* next = block->next;
    if (reinterpret_cast<std::byte*>(block) + block->size !=
        reinterpret_cast<const std::byte*>(next))
      return;
    block->size += next->size;
    block->next = next->next;
  }

  std::byte* base_;
  std::size_t size_;
  void* mapped_;
  std::size_t mapped_bytes_;
  FreeBlock* free_;
};

// Never destroyed: buffers of static objects may outlive everything else.
struct Pool {
  std::mutex mutex;
  std::vector<Region> regions;
};
Pool& pool() {
  static Pool* const the = new Pool;
  return *the;
}

}  // namespace

std::byte* allocate(std::size_t bytes) {
  Pool& p = pool();
  const NoFork no_fork;
  const std::lock_guard lock(p.mutex);
  for (Region& region : p.regions)
    if (std::byte* const data = region.take(bytes)) return data;
  p.regions.reserve(p.regions.size() + 1);
  return p.regions.emplace_back(std::max(round_up(bytes, kPage), kRegion)).take(bytes);
}

void release(std::byte* data, std::size_t bytes) noexcept {
  Pool& p = pool();
  const NoFork no_fork;
  const std::lock_guard lock(p.mutex);
  const auto region =
      std::ranges::find_if(p.regions, [&](const Region& r) { return r.holds(data); });
  region->give_back(data, bytes);
  // One empty region stays: buffers that come and go would map it anew each time.
  const auto empty = [](const Region& r) { return r.is_empty(); };
  if (!region->is_empty() || std::ranges::count_if(p.regions, empty) == 1) return;
  region->unmap();
  p.regions.erase(region);
}

void trim() noexcept {
  Pool& p = pool();
  const NoFork no_fork;
  const std::lock_guard lock(p.mutex);
  std::erase_if(p.regions, [](Region& region) {
    const bool empty = region.is_empty();
    empty ? region.unmap() : region.trim();
    return empty;
  });
}

}  // namespace fbg::huge_pages

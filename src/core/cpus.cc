// How many CPUs this process may use (affinity mask and cgroup quota), and the sizes of their
// caches.
#include "core/cpus.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/files.h"
#include "fbg/core/threads.h"

namespace fbg {
namespace {

constexpr double kUnlimited = 0;

// Parses "<quota> <period>", in microseconds.
double quotient(const std::string& text) {
  long long quota = 0, period = 0;
  const bool known = std::sscanf(text.c_str(), "%lld %lld", &quota, &period) == 2;
  return known && quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period)
                                          : kUnlimited;
}

// cpu.max of version 2 has both; a quota of "max" means none.
double quota_v2(const std::string& group) { return quotient(read_file(group + "/cpu.max")); }

// Version 1 keeps the two in files of their own; a quota of -1 means none.
double quota_v1(const std::string& group) {
  return quotient(read_file(group + "/cpu.cfs_quota_us") + " " +
                  read_file(group + "/cpu.cfs_period_us"));
}

// The smallest quota of `path` and its ancestors. Inside a container the path may be the host's and
// lead nowhere; then the mount point, which is the container's own group, still answers.
double smallest_quota(const std::string& mount, std::string path,
                      double (*quota)(const std::string&)) {
  double smallest = kUnlimited;
  for (;;) {
    const double here = quota(mount + path);
    if (here != kUnlimited && (smallest == kUnlimited || here < smallest)) smallest = here;
    if (path.empty()) return smallest;
    path.resize(std::min(path.rfind('/'), path.size() - 1));
  }
}

bool lists_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

int affinity_count() {
  // cpu_set_t holds 1024 CPUs; the kernel answers EINVAL where it knows more.
  for (int capacity = CPU_SETSIZE; capacity <= 64 * CPU_SETSIZE; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

int cgroup_cpu_limit(const std::string& membership, const std::string& mount) {
  double smallest = kUnlimited;
  const std::string text = read_file(membership);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string line(take_line(rest));  // "hierarchy:controllers:/path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();

    double quota = kUnlimited;
    if (controllers.empty()) {
      quota = smallest_quota(mount, path, quota_v2);
    } else if (lists_cpu(controllers)) {
      quota = smallest_quota(mount + "/" + controllers, path, quota_v1);
      if (quota == kUnlimited) quota = smallest_quota(mount + "/cpu", path, quota_v1);
    }
    if (quota != kUnlimited && (smallest == kUnlimited || quota < smallest)) smallest = quota;
  }
  return static_cast<int>(std::min(std::ceil(smallest), 1e9));
}

std::int64_t cache_bytes(const std::string& cpu, int level, std::int64_t fallback) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = cpu + "/cache/index" + std::to_string(index) + "/";
    const auto read = [&](const char* file) {
      const std::string text = read_file(folder + file);
      std::string_view rest = text;
      return std::string(take_line(rest));
    };
    if (read("level") != std::to_string(level) || read("type") == "Instruction") continue;
    const std::string size = read("size");  // "1024K"
    const std::int64_t number = std::atoll(size.c_str());
    if (number > 0) return size.back() == 'M' ? number << 20 : number << 10;
  }
  return fallback;
}

int available_cpus() noexcept {
  const int cpus = affinity_count();
  try {
    const int quota = cgroup_cpu_limit("/proc/self/cgroup", "/sys/fs/cgroup");
    return quota > 0 ? std::min(cpus, quota) : cpus;
  } catch (...) {  // out of memory while reading: the affinity mask alone is a sound answer
    return cpus;
  }
}

}  // namespace fbg

// The CPU quota of a container, read from the cgroup files (version 1 and 2).
#pragma once

#include <string>

namespace fbg {

// ceil(quota / period), the smallest on the way from the process's own group up to the mount point;
// 0 where nothing limits it. `membership` has the format of /proc/self/cgroup, `mount` is where the
// hierarchies are mounted, /sys/fs/cgroup.
int cgroup_cpu_limit(const std::string& membership, const std::string& mount);

}  // namespace fbg

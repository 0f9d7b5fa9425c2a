// Facts in files of Linux about the CPUs of a process: the quota of a container (cgroups of
// version 1 and 2) and the sizes of caches.
#pragma once

#include <cstdint>
#include <string>

namespace fbg {

// ceil(quota / period), the smallest on the way from the process's own group up to the mount point;
// 0 where nothing limits it. `membership` has the format of /proc/self/cgroup, `mount` is where the
// hierarchies are mounted, /sys/fs/cgroup.
int cgroup_cpu_limit(const std::string& membership, const std::string& mount);

// Bytes of the data or unified cache of a level, as the kernel reports it for a CPU, whose folder
// is `cpu` (/sys/devices/system/cpu/cpu0); `fallback` where it reports none. sysconf may give the
// size that the whole host has where a virtual machine owns only a slice.
std::int64_t cache_bytes(const std::string& cpu, int level, std::int64_t fallback);

}  // namespace fbg

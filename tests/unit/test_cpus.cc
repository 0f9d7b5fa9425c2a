// What is read from the files of Linux: the quota of a container, the sizes of caches.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/cpus.h"

namespace fbg {
namespace {

// Files as Linux has them below /sys.
class SystemFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fbg-cpus-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

class CgroupTest : public SystemFiles {
 protected:
  int limit(const std::string& membership) {
    write("membership", membership);
    return cgroup_cpu_limit(root() + "/membership", root());
  }
};

TEST_F(CgroupTest, NoQuotaIsZero) {
  EXPECT_EQ(limit(""), 0);
  EXPECT_EQ(limit("0::/\n"), 0);
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(limit("0::/\n"), 0);
  write("cpu.max", "nonsense");
  EXPECT_EQ(limit("0::/\nnonsense\n"), 0);
}

TEST_F(CgroupTest, Version2RoundsUpAndTakesTheSmallestAncestor) {
  write("cpu.max", "max 100000");
  write("a/cpu.max", "250000 100000");
  write("a/b/cpu.max", "800000 100000");
  EXPECT_EQ(limit("0::/a/b\n"), 3);
  EXPECT_EQ(limit("0::/a/b/c\n"), 3);
  EXPECT_EQ(limit("0::/other\n"), 0);
}

TEST_F(CgroupTest, Version1InAContainerFallsBackToTheMountPoint) {
  write("cpu/cpu.cfs_quota_us", "50000");
  write("cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(limit("4:memory:/x\n3:cpu,cpuacct:/host/path/of/container\n"), 1);
  EXPECT_EQ(limit("3:cpuset:/\n"), 0);
  write("cpu/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(limit("3:cpu:/\n"), 0);
}

class CacheTest : public SystemFiles {
 protected:
  void cache(int index, const char* level, const char* type, const char* size) {
    const std::string folder = "cache/index" + std::to_string(index) + "/";
    write(folder + "level", level);
    write(folder + "type", type);
    write(folder + "size", size);
  }
};

TEST_F(CacheTest, SizesAreThoseOfDataAndUnifiedCaches) {
  cache(0, "1\n", "Instruction\n", "64K\n");
  cache(1, "1\n", "Data\n", "48K\n");
  cache(2, "2\n", "Unified\n", "2M\n");
  EXPECT_EQ(cache_bytes(root(), 1, 1), 48 << 10);
  EXPECT_EQ(cache_bytes(root(), 2, 1), 2 << 20);
}

TEST_F(CacheTest, SizesThatAreMissingOrNotNumbersAreTheFallback) {
  EXPECT_EQ(cache_bytes(root(), 1, 32 << 10), 32 << 10);  // no files, as on some AArch64 machines
  cache(0, "1\n", "Data\n", "\n");
  cache(1, "2\n", "Unified\n", "unknown\n");
  cache(2, "3\n", "Unified\n", "0K\n");
  EXPECT_EQ(cache_bytes(root(), 1, 32 << 10), 32 << 10);
  EXPECT_EQ(cache_bytes(root(), 2, 512 << 10), 512 << 10);
  EXPECT_EQ(cache_bytes(root(), 3, 8 << 20), 8 << 20);
}

}  // namespace
}  // namespace fbg

// Files of /proc and /sys do not say how long they are, so they are read until they end.
#include "core/files.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace fbg {

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  std::string text;
  char part[4096];
  while (file) {
    const std::size_t count = std::fread(part, 1, sizeof part, file.get());
    if (count == 0) break;
    text.append(part, count);
  }
  return text;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace fbg

// Small files of the system, read by the C library: streams of C++ would bring all of its locales
// into the wheels, which hold the C++ library themselves.
#pragma once

#include <string>
#include <string_view>

namespace fbg {

// The content of a file; empty if it cannot be read.
std::string read_file(const std::string& path);

// Cuts the first line off a text, and returns it without its end.
std::string_view take_line(std::string_view& text);

}  // namespace fbg

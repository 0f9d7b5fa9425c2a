// Executable memory for generated code: written while it is read-write, then switched to
// read-execute.
#pragma once

#include <cstddef>
#include <string>

namespace fbg::kernels {

// Copies position-independent code into pages of its own, which live as long as the process, and
// makes it known by its name where the environment asks for it (kernels/debug.h). Throws
// std::runtime_error where the system denies executable memory.
const void* make_executable(const void* code, std::size_t bytes, const std::string& name);

}  // namespace fbg::kernels

// Generated code made visible to tools: names for perf, bytes for a disassembler. Off unless the
// environment asks for it:
//
//   FBG_PERF_MAP=1 perf record python program.py; perf report
//   FBG_DUMP_KERNELS=dump python program.py; objdump -D -b binary -m i386:x86-64 dump/<name>.bin
#pragma once

#include <cstddef>
#include <string>

namespace fbg::kernels {

// FBG_DUMP_KERNELS=<directory>: writes <directory>/<name>.bin, the code as it will run. Throws
// std::runtime_error when it cannot write the file.
void dump_code(const std::string& name, const void* code, std::size_t bytes);

// FBG_PERF_MAP=1: adds a line to /tmp/perf-<pid>.map, where perf looks for names of code that lies
// in no file. Throws std::runtime_error when it cannot write the file.
void add_to_perf_map(const std::string& name, const void* address, std::size_t bytes);

}  // namespace fbg::kernels

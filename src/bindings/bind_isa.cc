// Features of the machine and which ones are used: ISA, CPU, threads, version.
#include <pybind11/stl.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "core/huge_pages.h"
#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "fbg/core/types.h"
#include "fbg/gemm/gemm.h"

namespace py = pybind11;

namespace fbg::bindings {
namespace {

std::vector<std::string> supported_names() {
  std::vector<std::string> names;
  for (Isa isa : supported_isas()) names.emplace_back(isa_name(isa));
  return names;
}

// The ISA of that name, or a ValueError that says what this machine has.
Isa supported_isa(const std::string& name) {
  const std::optional<Isa> isa = isa_from_name(name);
  if (isa && isa_supported(*isa)) return *isa;
  std::string message = isa ? "this CPU does not support '" : "unknown ISA '";
  message += name + "'; supported:";
  for (const std::string& supported : supported_names()) message += " " + supported;
  throw py::value_error(message);
}

py::dict cpu() {
  const CpuInfo& info = cpu_info();
  py::dict d;
  d["name"] = info.name;
  d["l1d_bytes"] = info.l1d_bytes;
  d["l2_bytes"] = info.l2_bytes;
  d["l3_bytes"] = info.l3_bytes;
  return d;
}

// Gives the system the memory that allocators keep for the buffers to come.
void trim_memory() {
  const GilRelease no_gil;
  huge_pages::trim();
#if defined(__GLIBC__)
  // Unless thresholds are set, freeing a large block raises them: up to 64 MiB at the end of each
  // heap of a thread then stay for ever, where malloc_trim does not look.
  constexpr int kKept = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_TRIM_THRESHOLD, kKept);
  malloc_trim(0);
#endif
}

}  // namespace

void bind_isa(py::module_& m) {
  m.attr("__version__") = FBG_VERSION;
  m.attr("MAX_DEPTH") = kMaxDepthCorrected;
  m.attr("MAX_THREADS") = kMaxThreads;
  m.attr("PANEL_COLUMNS") = kPanelColumns;

  m.def("supported_isas", &supported_names);
  m.def("active_isa", [] { return isa_name(active_isa()); });
  m.def("active_features", &active_features);
  m.def("best_isa", [](Features features) { return isa_name(best_isa(features)); });
  m.def("isa_limit", []() -> std::optional<std::string> {
    const std::optional<Isa> limit = isa_limit();
    return limit ? std::optional<std::string>(isa_name(*limit)) : std::nullopt;
  });
  m.def(
      "set_isa_limit",
      [](const std::optional<std::string>& name) {
        set_isa_limit(name ? std::optional<Isa>(supported_isa(*name)) : std::nullopt);
      },
      py::arg("name"));
  m.def("cpu_info", &cpu);

  m.def("available_cpus", &available_cpus);
  m.def("num_threads", &num_threads);
  m.def("set_num_threads", &set_num_threads, py::arg("n"));
  m.def("enter_call", &enter_call);
  m.def("leave_call", &leave_call);
  m.def("rest_team", &rest_team);
  m.def("own_team", &own_team, py::arg("max_threads"));
  m.def("gives_way", &gives_way);
  m.def("set_gives_way", &set_gives_way, py::arg("gives_way"));
  m.def("trim_memory", &trim_memory);
}

}  // namespace fbg::bindings

// Runs kernels on operands at random and compares them with references, in processes of their own:
//
//   kernel_tester [--isa NAME]... [--cases N] [--seed S]     N cases on each instruction set
//   kernel_tester --isa NAME --group G [--seed S]            one kernel, on which something failed
//   kernel_tester --list                                     the names of those with kernels
//   kernel_tester --serve                                    for scripts/instruction_mutants.py
//
// A group is a kernel that is drawn at random and kCasesOfGroup cases of it. Operands lie against
// inaccessible pages, with canaries on their other side; kernels are called through a trampoline
// that compares what they must preserve (checked_code.h).
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/checked_code.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

constexpr std::int64_t kCasesOfGroup = 16, kGroupsOfProcess = 256;
constexpr unsigned kSeconds = 60;  // of CPU time for the groups of a process

// What a child tells its parent.
struct Shared {
  std::int64_t group, cases, groups;
  std::uint64_t calls;
  char problem[1000];
};
Shared* const g_shared = [] {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Shared*>(memory);
}();

class Bytes {
 public:
  Bytes(std::uint64_t seed, Isa isa, std::int64_t group) {
    random_.seed(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(isa) * 0x10001u +
                 static_cast<std::uint64_t>(group) * 0x2545f4914f6cdd1du);
    for (int i = 0; i < 8; ++i) random_();
  }
  // Choices of new bytes, which are valid until the next call.
  Choices next() {
    for (std::uint8_t& byte : bytes_) byte = static_cast<std::uint8_t>(random_());
    return {bytes_.data(), bytes_.size()};
  }
  unsigned seed() { return random_(); }

 private:
  QuickRandom random_;
  std::array<std::uint8_t, 1280> bytes_{};
};

std::unique_ptr<Subject> draw_subject(Isa isa, Bytes& bytes) {
  while (true) {
    Choices choices = bytes.next();
    const std::uint8_t kind = choices.byte() % 16;
    std::unique_ptr<Subject> subject = kind == 0  ? draw_sliding(isa, choices)
                                       : kind < 4 ? draw_lanewise(isa, choices)
                                                  : draw_gemm(isa, choices);
    if (subject) return subject;
  }
}

// The first problem of a group, or nothing.
std::string run_group(std::uint64_t seed, Isa isa, std::int64_t group, std::int64_t cases) {
  Bytes bytes(seed, isa, group);
  const std::unique_ptr<Subject> subject = draw_subject(isa, bytes);
  take_violations();
  for (std::int64_t i = 0; i < cases; ++i) {
    Choices choices = bytes.next();
    std::string problem = subject->run(choices, bytes.seed());
    const std::string violations = take_violations();
    if (!violations.empty())
      problem += (problem.empty() ? "not preserved: " : "; not preserved: ") + violations;
    if (!problem.empty()) return problem;
    ++g_shared->cases;
  }
  return {};
}

// Runs `body` in a child that has so many seconds of CPU time; returns what waitpid() does.
template <class F>
int in_child(unsigned seconds, F body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    std::perror("kernel_tester: fork");
    std::exit(2);
  }
  if (child == 0) {
    const rlimit cpu{seconds, seconds}, core{0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    int status = 1;
    try {
      status = body();
    } catch (const std::exception& error) {
      std::snprintf(g_shared->problem, sizeof g_shared->problem, "%s", error.what());
    }
    g_shared->calls += kernel_calls();
    std::fflush(stdout);
    _exit(status);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return status;
}

std::string verdict(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGXCPU || signal == SIGKILL) return "timeout";
    return std::string("signal ") + strsignal(signal);
  }
  const int code = WEXITSTATUS(status);
  if (code == 0) return "";
  // A broken kernel may have written to the page that the processes share.
  g_shared->problem[sizeof g_shared->problem - 1] = 0;
  std::string problem = g_shared->problem;
  std::ranges::replace(problem, '\n', ' ');
  return problem.empty() ? "exit status " + std::to_string(code) : problem;
}

// Whether all is well.
bool test_isa(std::uint64_t seed, Isa isa, std::int64_t cases, std::int64_t only) {
  *g_shared = {};
  const auto begin = std::chrono::steady_clock::now();
  bool well = true;
  const std::int64_t groups = only >= 0 ? 1 : (cases + kCasesOfGroup - 1) / kCasesOfGroup;
  for (std::int64_t first = 0; first < groups && well; first += kGroupsOfProcess) {
    const std::int64_t end = std::min(groups, first + kGroupsOfProcess);
    const int status = in_child(kSeconds, [&] {
      for (std::int64_t i = first; i < end; ++i) {
        g_shared->group = only >= 0 ? only : i;
        const std::string problem = run_group(seed, isa, g_shared->group, kCasesOfGroup);
        ++g_shared->groups;
        if (problem.empty()) continue;
        std::snprintf(g_shared->problem, sizeof g_shared->problem, "%s", problem.c_str());
        return 1;
      }
      return 0;
    });
    const std::string problem = verdict(status);
    if (problem.empty()) continue;
    std::printf("%s: %s\n  kernel_tester --isa %s --seed %llu --group %lld\n", isa_name(isa),
                problem.c_str(), isa_name(isa), static_cast<unsigned long long>(seed),
                static_cast<long long>(g_shared->group));
    well = false;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%s: %lld cases of %lld kernels, %llu calls, %.0f s, %.0f cases/s%s\n", isa_name(isa),
              static_cast<long long>(g_shared->cases), static_cast<long long>(g_shared->groups),
              static_cast<unsigned long long>(g_shared->calls), seconds,
              static_cast<double>(g_shared->cases) / seconds, well ? "" : ", FAILED");
  std::fflush(stdout);
  return well;
}

void print_hex(const std::vector<std::uint8_t>& bytes) {
  for (const std::uint8_t byte : bytes) std::printf("%02x", byte);
}

std::vector<std::uint8_t> from_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

// Commands on standard input, each answered by lines of which the last is "end":
//
//   code ISA SEED GROUP                          a line "NAME HEX" for each kernel that a group
//   calls try ISA SEED GROUP CASES NAME OFFSET HEX     what is wrong where NAME has HEX at OFFSET,
//   or
//                                                "survived"
int serve() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, isa_text;
    std::uint64_t seed = 0;
    std::int64_t group = 0, cases = kCasesOfGroup;
    words >> command >> isa_text >> seed >> group;
    const std::optional<Isa> isa = isa_from_name(isa_text);
    if (!words || !isa || !isa_supported(*isa)) return 2;
    *g_shared = {};
    if (command == "code") {
      const int status = in_child(kSeconds, [&] {
        const std::string problem = run_group(seed, *isa, group, cases);
        for (const MadeCode& code : made_code()) {
          if (code.calls == 0) continue;
          std::printf("%s ", code.name.c_str());
          print_hex(code.bytes);
          std::printf("\n");
        }
        return problem.empty() ? 0 : 1;
      });
      if (status != 0) return 2;
    } else {
      CodeChange change;
      std::string hex;
      words >> cases >> change.name >> change.offset >> hex;
      if (command != "try" || !words) return 2;
      change.bytes = from_hex(hex);
      const int status = in_child(static_cast<unsigned>(2 + cases / 500), [&] {
        change_code(change);
        const std::string problem = run_group(seed, *isa, group, cases);
        std::snprintf(g_shared->problem, sizeof g_shared->problem, "%s", problem.c_str());
        return g_shared->problem[0] == 0 ? 0 : 1;
      });
      const std::string problem = verdict(status);
      std::printf("%s\n", problem.empty() ? "survived" : problem.c_str());
    }
    std::printf("end\n");
    std::fflush(stdout);
  }
  return 0;
}

// Those with kernels of their own.
std::vector<Isa> isas_with_kernels() {
  std::vector<Isa> isas = supported_isas();
  std::erase_if(isas, [](Isa isa) { return families_of(isa).empty(); });
  return isas;
}

int list() {
  for (const Isa isa : isas_with_kernels()) std::printf("%s\n", isa_name(isa));
  return 0;
}

int test(int argc, char** argv) {
  std::vector<Isa> isas;
  std::int64_t cases = 20000, group = -1;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--serve") return serve();
    if (option == "--list") return list();
    if (i + 1 == argc) throw std::invalid_argument(std::string(option) + ": a value is missing");
    const char* const value = argv[++i];
    if (option == "--isa") {
      const std::optional<Isa> isa = isa_from_name(value);
      if (!isa || !isa_supported(*isa))
        throw std::invalid_argument(std::string("--isa: this CPU has no ") + value);
      isas.push_back(*isa);
    } else if (option == "--cases") {
      cases = std::stoll(value);
    } else if (option == "--seed") {
      seed = std::stoull(value);
    } else if (option == "--group") {
      group = std::stoll(value);
    } else {
      throw std::invalid_argument(std::string(option) + ": no such option");
    }
  }
  if (isas.empty()) isas = isas_with_kernels();
  bool well = true;
  for (const Isa isa : isas) well = test_isa(seed, isa, cases, group) && well;
  return well ? 0 : 1;
}

}  // namespace
}  // namespace fbg::test

int main(int argc, char** argv) {
  try {
    return fbg::test::test(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel_tester: %s\n", error.what());
    return 2;
  }
}

// Runs kernels on operands at random and compares them with references:
//
//   kernel_tester [--isa NAME] [--cases N] [--seed S]     N cases on each instruction set
//   kernel_tester --kind gemm|lanewise|lookup|sliding ... of one kind only
//   kernel_tester --isa NAME --group G [--seed S] ...     one kernel, on which something failed
//     --code                                              prints the code that was called, too
//     --change NAME:OFFSET:HEX                            other bytes in the code of that name
//
// A group is a kernel that is drawn at random and kCasesOfGroup cases of it. Operands lie against
// inaccessible pages, with canaries on their other side; kernels are called through a trampoline
// that compares what they must preserve (checked_code.h). Groups run in processes of their own.
#include <getopt.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <exception>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/checked_code.h"
#include "kernels/lanewise.h"
#include "kernels/lookup.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

constexpr std::int64_t kCasesOfGroup = 16, kGroupsOfProcess = 256;
constexpr std::int64_t kTimedCases = 100;
constexpr int kMostDraws = 100000;
constexpr itimerval kTimeOfThem = {{}, {2, 0}};  // seconds of CPU time for so many cases

// A kind of kernels, and how many of all that are drawn are of it. Null draws fit no kernel.
struct Kind {
  std::string_view name;
  int share;
  bool (*exists)(Isa);
  std::unique_ptr<Subject> (*draw)(Isa, Choices&);
};
bool has_family(Isa isa) { return !families_of(isa).empty(); }
// An ISA that adds no instruction for convolutions takes their kernels from another one.
bool has_convolutions(Isa isa) {
  return has_family(isa) &&
         std::ranges::any_of(std::array{GemmType::int32, GemmType::float32}, [&](GemmType type) {
           return choose_geometry(type, isa_features(isa)).isa == isa;
         });
}
bool has_lanewise(Isa isa) { return has_convolutions(isa) && kernels::has_lanewise(isa); }
constexpr Kind kKinds[] = {{"sliding", 1, has_convolutions, draw_sliding},
                           {"lanewise", 3, has_lanewise, draw_lanewise},
                           {"lookup", 2, kernels::has_lookup, draw_lookup},
                           {"gemm", 10, has_family, draw_gemm}};

struct Options {
  std::vector<Isa> isas = supported_isas();
  std::vector<Kind> kinds{std::begin(kKinds), std::end(kKinds)};
  std::uint64_t seed = 1;
  std::int64_t first = 0, groups = 1250, cases_of_group = kCasesOfGroup;
  bool prints_code = false;
  CodeChange change;
};

// What a child tells its parent, also if it dies.
struct Progress {
  std::int64_t group = 0, cases = 0;
  std::uint64_t calls = 0;
};
Progress& g_progress = *[] {
  void* const memory =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Progress*>(memory);
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

std::unique_ptr<Subject> draw_subject(const std::vector<Kind>& kinds, Isa isa, Bytes& bytes) {
  std::vector<const Kind*> shares;
  for (const Kind& kind : kinds) shares.insert(shares.end(), kind.share, &kind);
  for (int tries = 0; tries < kMostDraws; ++tries) {
    Choices choices = bytes.next();
    if (auto subject = choices.element_of(shares)->draw(isa, choices)) return subject;
  }
  throw std::runtime_error("no kernel was drawn");
}

// The first problem of a group, or nothing.
std::string run_group(const Options& options, Isa isa, std::int64_t group) try {
  Bytes bytes(options.seed, isa, group);
  const std::unique_ptr<Subject> subject = draw_subject(options.kinds, isa, bytes);
  take_violations();
  for (std::int64_t i = 0; i < options.cases_of_group; ++i) {
    if (i % kTimedCases == 0) setitimer(ITIMER_PROF, &kTimeOfThem, nullptr);
    Choices choices = bytes.next();
    std::string problem = subject->run(choices, bytes.seed());
    const std::string violations = take_violations();
    if (!violations.empty())
      problem += (problem.empty() ? "not preserved: " : "; not preserved: ") + violations;
    if (!problem.empty()) return problem;
    ++g_progress.cases;
  }
  return {};
} catch (const std::exception& error) {
  return error.what();
}

// A line "code NAME HEX" for each kernel that was called.
void print_code() {
  for (const MadeCode& code : made_code()) {
    if (code.calls == 0) continue;
    std::cout << "code " << code.name << ' ' << std::hex << std::setfill('0');
    for (const int byte : code.bytes) std::cout << std::setw(2) << byte;
    std::cout << std::dec << '\n';
  }
}

// Runs groups, up to one with a problem, which it prints; returns the exit status.
int run_groups(const Options& options, Isa isa, std::int64_t first, std::int64_t end) {
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  change_code(options.change);
  std::string problem;
  for (std::int64_t group = first; group < end && problem.empty(); ++group) {
    g_progress.group = group;
    problem = run_group(options, isa, group);
  }
  g_progress.calls += kernel_calls();
  if (!problem.empty()) std::cout << isa_name(isa) << ": " << problem << '\n';
  if (options.prints_code) print_code();
  std::cout.flush();
  return problem.empty() ? 0 : 1;
}

// Does so in a process of its own; whether all is well.
bool run_apart(const Options& options, Isa isa, std::int64_t first, std::int64_t end) {
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) _exit(run_groups(options, isa, first, end));
  int status = 0;
  waitpid(child, &status, 0);
  if (status == 0) return true;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGPROF)
    std::cout << isa_name(isa) << ": timeout\n";
  else if (signal != 0)
    std::cout << isa_name(isa) << ": signal " << strsignal(signal) << '\n';
  else if (WEXITSTATUS(status) != 1)  // the emulator refuses what the unit would
    std::cout << isa_name(isa) << ": exit status " << WEXITSTATUS(status) << '\n';
  std::cout << "  kernel_tester --isa " << isa_name(isa) << " --seed " << options.seed
            << (options.kinds.size() == 1 ? " --kind " + std::string(options.kinds[0].name) : "")
            << " --group " << g_progress.group << '\n';
  return false;
}

bool test_isa(const Options& options, Isa isa) {
  g_progress = {};
  const std::int64_t end = options.first + options.groups;
  bool well = true;
  for (std::int64_t first = options.first; first < end && well; first += kGroupsOfProcess)
    well = run_apart(options, isa, first, std::min(end, first + kGroupsOfProcess));
  std::cout << isa_name(isa) << ": " << g_progress.cases << " cases of "
            << g_progress.group + 1 - options.first << " kernels, " << g_progress.calls << " calls"
            << (well ? "" : ", FAILED") << std::endl;
  return well;
}

// NAME:OFFSET:HEX.
CodeChange change_from(const std::string& text) {
  const std::size_t colon = text.find(':'), next = text.find(':', colon + 1);
  if (next == std::string::npos) throw std::invalid_argument("--change: not NAME:OFFSET:HEX");
  CodeChange change{text.substr(0, colon), std::stoul(text.substr(colon + 1)), {}};
  for (std::size_t i = next + 1; i < text.size(); i += 2)
    change.bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return change;
}

std::vector<Kind> kinds_from(std::string_view name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return {kind};
  throw std::invalid_argument("--kind: no kind of kernels has this name");
}

Isa isa_from(const std::string& name) {
  const std::optional<Isa> isa = isa_from_name(name);
  if (!isa || !isa_supported(*isa)) throw std::invalid_argument("--isa: this CPU has no " + name);
  return *isa;
}

int test(int argc, char** argv) {
  static constexpr option kOptions[] = {
      {"isa", required_argument, nullptr, 'i'},   {"kind", required_argument, nullptr, 'k'},
      {"cases", required_argument, nullptr, 'n'}, {"seed", required_argument, nullptr, 's'},
      {"group", required_argument, nullptr, 'g'}, {"change", required_argument, nullptr, 'x'},
      {"code", no_argument, nullptr, 'c'},        {}};
  Options options;
  std::optional<std::int64_t> cases, group;
  for (int c = 0; (c = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    if (c == '?') return 2;
    if (c == 'i') options.isas = {isa_from(optarg)};
    if (c == 'k') options.kinds = kinds_from(optarg);
    if (c == 'n') cases = std::stoll(optarg);
    if (c == 's') options.seed = std::stoull(optarg);
    if (c == 'g') group = std::stoll(optarg);
    if (c == 'x') options.change = change_from(optarg);
    if (c == 'c') options.prints_code = true;
  }
  if (group) {
    options.first = *group;
    options.groups = 1;
    options.cases_of_group = cases.value_or(kCasesOfGroup);
  } else if (cases) {
    options.groups = (*cases + kCasesOfGroup - 1) / kCasesOfGroup;
  }
  bool well = true;
  for (const Isa isa : options.isas)
    if (std::ranges::any_of(options.kinds, [&](const Kind& kind) { return kind.exists(isa); }))
      well = test_isa(options, isa) && well;
  return well ? 0 : 1;
}

}  // namespace
}  // namespace fbg::test

int main(int argc, char** argv) {
  try {
    return fbg::test::test(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "kernel_tester: " << error.what() << '\n';
    return 2;
  }
}

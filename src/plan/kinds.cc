// The table of kinds.
#include "plan/kinds.h"

#include <stdexcept>

namespace fbg {
namespace {

constexpr struct {
  const char* name;
  kinds::Append* append;
} kKinds[] = {
    {"accumulate", kinds::accumulate},
    {"add_routed", kinds::add_routed},
    {"arrange", kinds::arrange},
    {"attend", kinds::attend},
    {"attention", kinds::attention},
    {"constant", kinds::constant},
    {"convert", kinds::convert},
    {"convolve", kinds::convolve},
    {"elementwise", kinds::elementwise},
    {"embed", kinds::embed},
    {"expression", kinds::expression},
    {"function", kinds::function},
    {"gather", kinds::gather},
    {"grid_sample", kinds::grid_sample},
    {"group_norm", kinds::group_norm},
    {"input", kinds::input},
    {"linear", kinds::linear},
    {"look_up", kinds::look_up},
    {"multiply", kinds::multiply},
    {"norm", kinds::norm},
    {"pool", kinds::pool},
    {"recur", kinds::recur},
    {"reduce", kinds::reduce},
    {"resample", kinds::resample},
    {"rotate", kinds::rotate},
    {"route", kinds::route},
    {"scatter", kinds::scatter},
    {"take_routed", kinds::take_routed},
    {"top_positions", kinds::top_positions},
    {"unfold", kinds::unfold},
    {"window", kinds::window},
};

}  // namespace

Buffer Graph::append(const std::string& kind, FieldValue::List given, Named named) {
  for (const auto& [name, append] : kKinds)
    if (kind == name) {
      Fields fields(*this, kind, std::move(given), std::move(named));
      return append(*this, fields);
    }
  throw std::invalid_argument("graph: there is no op " + kind);
}

}  // namespace fbg

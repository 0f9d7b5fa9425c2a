// Appending an op by its kind.
#include "plan/record.h"

#include <algorithm>
#include <utility>

#include "plan/kinds.h"

namespace fbg {
namespace {

const Kind& kind_named(const std::string& name) {
  for (const std::span<const Kind> kinds : {row_kinds(), tensor_kinds(), element_kinds()}) {
    const auto found = std::ranges::find(kinds, name, &Kind::name);
    if (found != kinds.end()) return *found;
  }
  throw std::invalid_argument("graph: there is no op " + name);
}

}  // namespace

class Recorder {
 public:
  static Buffer append(Graph& graph, const Kind& kind, Fields fields) {
    const std::size_t inputs = graph.inputs_.size();
    const Graph::Limits limits = graph.limits_;
    const Buffer output = kind.append(graph, fields);
    if (!fields.all_read()) {  // which is known only now
      graph.ops_.pop_back();
      graph.shapes_.pop_back();
      graph.records_.pop_back();
      graph.inputs_.resize(inputs);
      graph.limits_ = limits;
      fields.require_all_read();
    }
    graph.records_.back() = std::make_shared<Record>(std::move(fields).record());
    return output;
  }
};

Buffer append(Graph& graph, const std::string& kind, FieldValue::List given,
              std::vector<std::pair<std::string, FieldValue>> named) {
  return Recorder::append(graph, kind_named(kind),
                          Fields(kind, std::move(given), std::move(named)));
}

}  // namespace fbg

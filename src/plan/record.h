// An op as plain data: its kind and the values of its fields, as Python and files have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fbg/conv/packed_conv.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/plan/graph.h"

namespace fbg {

// Dense elements of a type that `dtype` names as NumPy does.
struct Array {
  std::shared_ptr<const std::byte> data;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t nbytes = 0;
};

// A number, a text, weights, a list of any of these; nothing where an optional field is left out.
struct FieldValue {
  using List = std::vector<FieldValue>;
  std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::int64_t>, List,
               Array, PackedMatrix, PackedConv>
      is;
};

struct Record {
  std::string kind;
  std::vector<std::pair<std::string, FieldValue>> fields;
};

// Appends an op of that kind (src/plan/kinds.cc). `given` are its first fields, in their order;
// `named` are others. Throws std::invalid_argument where there is no such kind or field, or where
// the op does not fit.
Buffer append(Graph& graph, const std::string& kind, FieldValue::List given,
              std::vector<std::pair<std::string, FieldValue>> named = {});

}  // namespace fbg

// The kinds of ops as data: how each reads its fields and appends itself to a graph.
//
// The fields of a kind, in the order in which they may be given without names, are those that its
// function reads. Python and files of programs build graphs by these tables alone.
#pragma once

#include <span>

#include "fbg/plan/graph.h"
#include "plan/fields.h"

namespace fbg {

struct Kind {
  const char* name;
  Buffer (*append)(Graph& graph, Fields& fields);
};

std::span<const Kind> row_kinds();      // ops of fbg/plan/graph.h
std::span<const Kind> tensor_kinds();   // ops of fbg/plan/tensor.h
std::span<const Kind> element_kinds();  // ops of fbg/plan/elements.h

}  // namespace fbg

// The kinds of ops: how each is appended to a graph. The fields of a kind, in the order in which
// they may be given without names, are those that its op reads (ops/ops.h).
#pragma once

#include "plan/fields.h"

namespace fbg::kinds {

// Each function is beside its op; src/plan/kinds.cc has their names.
using Append = Buffer(Graph& graph, Fields& fields);
Append input, constant;                                 // graph.cc
Append embed, pool, unfold, rotate, attention, linear;  // rows of tokens
Append route, take_routed, add_routed;                  // experts
Append norm, group_norm;
Append elementwise, expression, function, look_up, convert;  // elements
Append arrange, gather, scatter, resample, grid_sample;
Append window, reduce, accumulate, top_positions;
Append convolve, multiply, attend, recur;

}  // namespace fbg::kinds

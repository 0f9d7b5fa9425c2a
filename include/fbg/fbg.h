// The public API of products, of embedding tables and of plans of whole networks. Convolutions by
// themselves are in fbg/conv/conv.h, and the ops of networks from ONNX files in fbg/plan/tensor.h
// and elements.h.
#pragma once

#include "fbg/core/float_environment.h"
#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/gemm.h"
#include "fbg/plan/plan.h"
#include "fbg/plan/tuning.h"
#include "fbg/tables/embedding_bag.h"

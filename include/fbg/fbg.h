// The public API of products, of embedding tables and of plans of whole networks. Convolutions by
// themselves are in fbg/conv/conv.h.
#pragma once

#include "fbg/core/float_environment.h"
#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/gemm.h"
#include "fbg/plan/plan.h"
#include "fbg/plan/tuning.h"
#include "fbg/tables/embedding_bag.h"

// The whole public API: products first, then plans of whole networks.
#pragma once

#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/gemm.h"
#include "fbg/plan/plan.h"
#include "fbg/plan/tuning.h"

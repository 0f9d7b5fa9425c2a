// What Gemm is made of (fbg/gemm/gemm.h): the driver, compiled once for all packers, families of
// weights and pipelines, and the functions by which a Gemm tells it what it knows of these types.
// They are called for a block of rows, for a tile or for a part of a row: seldom next to what
// kernels do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"
#include "fbg/gemm/blocking.h"
#include "fbg/gemm/pack_a.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/gemm/pipeline.h"

namespace fbg {

// What is the same in all runs, beside the weights.
struct ProductTypes {
  GemmType gemm_type;
  bool a_has_scale;
  std::int32_t a_shift;
};

// A packer (PackAModel) of a run.
struct RowSource {
  const void* packer;
  std::int64_t rows;
  const std::byte* in_place;  // or null
  std::int64_t in_place_ld;   // bytes
  void (*prepare)(const void* packer, Range rows, ABlock& block) noexcept;
  void (*pack)(const void* packer, Range rows, ABlock& block) noexcept;
};

template <PackAModel A>
RowSource row_source(const A& a) noexcept {
  return {&a,
          a.rows(),
          reinterpret_cast<const std::byte*>(a.in_place()),
          a.in_place_ld() * static_cast<std::int64_t>(sizeof(typename A::Element)),
          [](const void* packer, Range rows, ABlock& block) noexcept {
            static_cast<const A*>(packer)->prepare(rows, block);
          },
          [](const void* packer, Range rows, ABlock& block) noexcept {
            static_cast<const A*>(packer)->pack(rows, block);
          }};
}

// A pipeline: the stages of kernels, and what follows them, which gives `output`. That is nothing,
// the functors of a tile (Pipeline) or a gate (GatedPipeline).
struct PipelineView {
  std::span<const Stage> stages;
  const void* pipeline = nullptr;
  void (*finish)(const void* pipeline, const ScratchTile& tile, std::byte* c,
                 std::int64_t ldc) noexcept = nullptr;
  void (*gate)(const void* pipeline, const float* a, const float* b, std::int64_t n,
               std::byte* y) noexcept = nullptr;
  ValueType output = ValueType::float32;
};

template <class P>
PipelineView pipeline_view(const P& pipeline) noexcept {
  PipelineView view{kernel_stages(pipeline)};
  view.pipeline = &pipeline;
  if constexpr (kHasFunctor<P>) {
    view.output = pipeline.functor_output();
    view.finish = [](const void* p, const ScratchTile& tile, std::byte* c,
                     std::int64_t ldc) noexcept { static_cast<const P*>(p)->finish(tile, c, ldc); };
  }
  if constexpr (kGates<P>) {
    view.output = pipeline.output();
    view.gate = [](const void* p, const float* a, const float* b, std::int64_t n,
                   std::byte* y) noexcept { static_cast<const P*>(p)->gate(a, b, n, y); };
  }
  return view;
}

// The loops of a product that is prepared: for the shape and the kinds of parameters of B, the
// stages and the features of a CPU. Plans and Python, which know packers and weights only at run
// time, use it as it is; a Gemm knows the types. Copies share everything.
class GemmDriver {
 public:
  // Runs may have any B of the same shape that stores the same kinds of parameters. Where
  // `features` have what narrow weights add (PackedMatrix::with_weights), only narrow ones.
  // Throws as Gemm does.
  GemmDriver(const ProductTypes& types, const PackedMatrix& b, const PipelineView& pipeline,
             std::int64_t max_m, Features features, const Blocking& blocking = {});

  ValueType output_type() const noexcept;
  // The features that its kernels and its packing were chosen for.
  Features features() const noexcept;

  // Name of the kernel of the largest tile, which computes most of a C of max_m rows; or of what
  // the first of several threads computes of a C of `rows` rows.
  std::string kernel_name() const;
  std::string kernel_name(std::int64_t rows, int num_threads) const;

  // Bytes of memory that it takes; kernels are shared by all.
  std::size_t nbytes() const noexcept;

  // Bytes of workspace for all threads of a run of at most max_m rows.
  std::size_t workspace_bytes(int num_threads) const noexcept;

  bool serves(const PackedMatrix& b) const noexcept;
  void run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline, OutputView c,
           std::byte* workspace, int thread_id, int num_threads) const noexcept;
  // Computes a part of C, in the workspace of one thread.
  void run_part(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline,
                OutputView c, std::byte* workspace, Range rows, Range cols) const noexcept;

 private:
  struct Parts;                       // src/gemm/driver.h
  const Parts& own() const noexcept;  // for weights like those of the constructor

  // For all weights and, where those of the constructor are narrow, for such weights.
  std::shared_ptr<const Parts> parts_, narrow_;
};

}  // namespace fbg

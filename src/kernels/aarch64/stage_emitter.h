// What the emitters of stages share: the assembler, the position of the vector in the tile,
// temporary registers and the parameters of the stage. The methods are defined in these files:
//
//   stage_emitters.cc      an emitter for each stage, and their table
//   function_emitter.cc    the instructions of functions of elements
//   element_emitters.cc    operands and results of 8, 16 and 32 bits in memory
//   row_range_emitter.cc   the least and the greatest value of a row
#pragma once

#include <cstddef>

#include "kernels/aarch64/epilogue.h"
#include "kernels/aarch64/neon_assembler.h"
#include "kernels/function_code.h"
#include "kernels/microkernel.h"

namespace fbg::kernels {

// General registers of the epilogue.
struct EpilogueRegisters {
  using XReg = NeonAssembler::XReg;
  const XReg args{0};                                         // the TileArgs
  const XReg c{1}, ldc{2};                                    // row of C, bytes between rows
  const XReg stages{3};                                       // the StageArgs
  const XReg a_scale{4}, a_zero_point{5}, row_terms{6};       // row 0 of the tile
  const XReg b_scale{7}, b_zero_point{8}, column_offsets{9};  // column 0 of the tile
  const XReg scratch{10}, scratch2{11}, scratch3{12},
      rest{13};  // rest: columns of a partial vector
};

// Where one vector of results stands.
struct StagePosition {
  int row, vector;  // of the tile
  bool partial;     // fewer columns than lanes
};

class StageEmitter {
 public:
  using Vec = NeonAssembler::Vec;
  using XReg = NeonAssembler::XReg;
  using WReg = NeonAssembler::WReg;

  // first_free: of kEpilogueTemps vector registers.
  StageEmitter(NeonAssembler& as, const KernelKey& key, const StagePosition& position, int stage,
               int first_free)
      : as_(as),
        key_(key),
        at_(position),
        t0_(as.vec(first_free)),
        t1_(as.vec(first_free + 1)),
        t2_(as.vec(first_free + 2)),
        t3_(as.vec(0)),
        stage_offset_(static_cast<std::size_t>(stage) * sizeof(StageArgs)) {}

  // Stores x in its columns of the row of C.
  void store(const Vec& x, ValueType type);
  // RowRange: widens the extent of a row by its vectors in the tile, numbered from `first` on,
  // after they are stored; their registers are used up.
  void row_range(int first);

 protected:
  void row_pointer(const XReg& to);
  void load_elements(const Vec& to, int size);

  // x = the function of an operation, of x and of y, which is in t0.
  void apply(const Binary& binary, const Vec& x);
  Vec register_of(std::uint32_t number, const Vec& x) const;
  void select(const Vec& to, const Vec& mask, const Vec& then, const Vec& otherwise);
  void emit(const FunctionStep& step, const Vec& x);
  aarch64::At slot(int number) { return at(aarch64::sp, number * NeonAssembler::kVectorBytes); }

  // The parameter of the stage in lane 0, or in every lane.
  void load_field(const Vec& to, std::size_t field) {
    as_.ldr(to.s, at(r_.stages, stage_offset_ + field));
  }
  void broadcast_field(const Vec& to, std::size_t field) {
    load_field(to, field);
    as_.dup(to.s4, to.s4[0]);
  }
  // The value of the row in lane 0; those of the columns.
  void load_row_value(const Vec& to, const XReg& values) { as_.ldr(to.s, at(values, 4 * at_.row)); }
  void load_column_values(const Vec& to, const XReg& values) {
    as_.ldr(to.q, at(values, at_.vector * NeonAssembler::kVectorBytes));
  }

  NeonAssembler& as_;
  const KernelKey& key_;
  const StagePosition at_;
  const EpilogueRegisters r_;
  const Vec t0_, t1_, t2_, t3_;
  const std::size_t stage_offset_;
};

// x = stage(x). x holds int32 or float32 lanes; requantize leaves int32 lanes in the range of its
// type.
void emit_stage(NeonAssembler& as, const KernelKey& key, const StagePosition& position, int stage,
                int first_free, const NeonAssembler::Vec& x);

}  // namespace fbg::kernels

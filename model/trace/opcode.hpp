// The instructions a kernel may consist of, under the names their machine code has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace warpscope::trace {

/// Execution pipe of a sub-core that an instruction occupies. `lsu` stands for the memory-input-output (MIO)
/// path that shared and global memory, shuffles and asynchronous copies share.
enum class Pipe : std::uint8_t { tensor, fma, alu, xu, lsu, uniform, control };

/// What the model does with an instruction; the timing of a class is a property of the hardware
/// configuration.
enum class OpClass : std::uint8_t {
  hmma_16816,        ///< m16n8k16 tensor instruction, fp32 accumulate
  hmma_1688,         ///< m16n8k8 tensor instruction, fp32 accumulate
  fma,               ///< FP32 multiply, add, multiply-add
  imad,              ///< integer multiply-add and moves on the heavy half of the FMA pipe
  alu,               ///< integer, logic, compare, select, min/max, fp32 -> fp16 packing
  xu,                ///< transcendental functions
  uniform,           ///< uniform datapath, one instruction for the whole warp
  branch,            ///< branches; the closing branch of a loop is taken while trips remain, another jumps
                     ///< over `immediate` instructions
  convergence,       ///< BSYNC: lanes that parted go on together, as late as behind a jump
  constant_load,     ///< LDC: a parameter of the launch into a register
  constant_operand,  ///< ULDC: the same to the uniform datapath; issues once the constant is at hand
  nop,               ///< control instructions without further effect
  exit,              ///< end of the warp
  barrier,           ///< CTA-wide named barrier, arrive and wait
  shared_load,       ///< LDS, LDSM
  shared_store,      ///< STS
  shared_atomic,     ///< ATOMS without return value
  shuffle,           ///< SHFL; S2R, which takes the same way
  async_copy,        ///< LDGSTS: global to shared memory without registers
  async_commit,      ///< LDGDEPBAR: closes a group of asynchronous copies
  async_wait,        ///< DEPBAR.LE: waits until at most `immediate` groups are pending
  global_load,       ///< LDG
  global_store,      ///< STG
  global_reduce,     ///< RED
  local_load,        ///< LDL (register spill)
  local_store,       ///< STL (register spill)
  wgmma,             ///< HGMMA: a warp's quarter of an asynchronous product of four warps
  wgmma_wait,        ///< WARPGROUP.DEPBAR.LE: waits until at most `immediate` groups of these are unfinished
  mbarrier_arrive,   ///< SYNCS.ARRIVE: arrives at the warp's next phase of ring `immediate`
  mbarrier_wait,     ///< SYNCS.PHASECHK.TRYWAIT: waits for the warp's next phase of ring `immediate`
  bulk_load,         ///< UTMALDG: a box of a tensor to shared memory, for a phase of ring `immediate`
  bulk_store,        ///< UTMASTG: the way back
};

// One line per pipe or kind.
// clang-format off
enum class Opcode : std::uint8_t {
  HMMA_16816_F32, HMMA_16816_F32_BF16, HMMA_1688_F32, HMMA_1688_F32_BF16,
  HGMMA_64X64X16_F32, HGMMA_64X128X16_F32, HGMMA_64X176X16_F32, HGMMA_64X256X16_F32,
  FFMA, FMUL, FADD, HADD2, HMUL2, HFMA2,
  IMAD, IMAD_WIDE, IMAD_MOV,
  FMNMX, FSETP, FSEL, FCHK, F2FP_PACK_AB, IADD3, LEA, LOP3, SHF, ISETP, IMNMX, SEL, PRMT, MOV, PLOP3, I2FP, VOTE,
  MUFU_EX2, MUFU_RCP, MUFU_LG2, MUFU_RSQ, F2F, I2F, F2I,
  UMOV, UIADD3, ULEA, ULDC, UISETP, ULOP3, UIMAD, R2UR, S2UR, UTMALDG, UTMASTG,
  BRA, BSSY, BSYNC, WARPSYNC, NOP, EXIT, S2R, CS2R, LDC, WARPGROUP_ARRIVE, USETMAXREG,
  BAR_SYNC, WARPGROUP_DEPBAR_LE, SYNCS_ARRIVE, SYNCS_PHASECHK_TRYWAIT,
  LDSM_X4, LDSM_X2, LDSM_X1, LDSM_T_X4, LDSM_T_X2, LDS_32, LDS_64, LDS_128, STS_32, STS_64, STS_128, STSM_X4,
  ATOMS_MAX,
  SHFL_BFLY, SHFL_DOWN, SHFL_IDX,
  LDGSTS_128, LDGSTS_64, LDGSTS_32, LDGDEPBAR, DEPBAR_LE,
  LDG_16, LDG_32, LDG_64, LDG_128, ATOM_32, STG_16, STG_32, STG_64, STG_128, RED_ADD_F32,
  LDL, LDL_64, LDL_128, STL, STL_64, STL_128,
};
// clang-format on

/// Everything that is fixed about an opcode.
struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;  ///< SASS-style name, unique, used in trace files
  Pipe pipe;
  OpClass op_class;
  /// Floating-point operations of all lanes, as Nsight Compute counts them: a multiply-add is two; maxima,
  /// conversions and transcendental functions are none. HADD2 is none, for kernels widen fp16 with it.
  std::uint32_t flops = 0;
};

/// All opcodes in enum order.
std::span<const OpcodeInfo> all_opcodes();
/// Fixed facts of `opcode`.
const OpcodeInfo& info(Opcode opcode);
/// The opcode of that name, or nothing.
std::optional<Opcode> opcode_from_name(std::string_view name);
/// True for LDS, LDSM, STS and ATOMS: their operand is in shared memory.
bool is_shared_memory(OpClass op_class);
/// True for classes whose latency the compiler cannot know (they need a scoreboard, not a stall count).
bool has_variable_latency(OpClass op_class);
/// True for instructions that move data between the SM and the memory system.
bool is_global_memory(OpClass op_class);
/// True for UTMALDG and UTMASTG, which one thread issues for all bytes of a box.
bool is_bulk_copy(OpClass op_class);
/// True for LDC and ULDC, which read a line of constants.
bool is_constant(OpClass op_class);
/// True for classes that have `Instruction::immediate`.
bool has_immediate(OpClass op_class);

std::string_view name(Pipe pipe);

}  // namespace warpscope::trace

#include "model/trace/opcode.hpp"

#include <algorithm>
#include <array>

namespace warpscope::trace {
namespace {

using enum Opcode;

constexpr std::array kOpcodes = {
    OpcodeInfo{HMMA_16816_F32, "HMMA.16816.F32", Pipe::tensor, OpClass::hmma_16816, 4096},
    OpcodeInfo{HMMA_16816_F32_BF16, "HMMA.16816.F32.BF16", Pipe::tensor, OpClass::hmma_16816, 4096},
    OpcodeInfo{HMMA_1688_F32, "HMMA.1688.F32", Pipe::tensor, OpClass::hmma_1688, 2048},
    OpcodeInfo{HMMA_1688_F32_BF16, "HMMA.1688.F32.BF16", Pipe::tensor, OpClass::hmma_1688, 2048},
    OpcodeInfo{HGMMA_64X64X16_F32, "HGMMA.64x64x16.F32", Pipe::tensor, OpClass::wgmma, 32768},
    OpcodeInfo{HGMMA_64X128X16_F32, "HGMMA.64x128x16.F32", Pipe::tensor, OpClass::wgmma, 65536},
    OpcodeInfo{HGMMA_64X176X16_F32, "HGMMA.64x176x16.F32", Pipe::tensor, OpClass::wgmma, 90112},
    OpcodeInfo{HGMMA_64X256X16_F32, "HGMMA.64x256x16.F32", Pipe::tensor, OpClass::wgmma, 131072},
    OpcodeInfo{FFMA, "FFMA", Pipe::fma, OpClass::fma, 64},
    OpcodeInfo{FMUL, "FMUL", Pipe::fma, OpClass::fma, 32},
    OpcodeInfo{FADD, "FADD", Pipe::fma, OpClass::fma, 32},
    OpcodeInfo{HADD2, "HADD2", Pipe::fma, OpClass::fma},
    OpcodeInfo{HMUL2, "HMUL2", Pipe::fma, OpClass::fma, 64},
    OpcodeInfo{HFMA2, "HFMA2", Pipe::fma, OpClass::fma, 128},
    OpcodeInfo{IMAD, "IMAD", Pipe::fma, OpClass::imad},
    OpcodeInfo{IMAD_WIDE, "IMAD.WIDE", Pipe::fma, OpClass::imad},
    OpcodeInfo{IMAD_MOV, "IMAD.MOV", Pipe::fma, OpClass::imad},
    OpcodeInfo{FMNMX, "FMNMX", Pipe::alu, OpClass::alu},
    OpcodeInfo{FSETP, "FSETP", Pipe::alu, OpClass::alu},
    OpcodeInfo{FSEL, "FSEL", Pipe::alu, OpClass::alu},
    OpcodeInfo{FCHK, "FCHK", Pipe::xu, OpClass::xu},
    OpcodeInfo{F2FP_PACK_AB, "F2FP.PACK_AB", Pipe::alu, OpClass::alu},
    OpcodeInfo{IADD3, "IADD3", Pipe::alu, OpClass::alu},
    OpcodeInfo{LEA, "LEA", Pipe::alu, OpClass::alu},
    OpcodeInfo{LOP3, "LOP3", Pipe::alu, OpClass::alu},
    OpcodeInfo{SHF, "SHF", Pipe::alu, OpClass::alu},
    OpcodeInfo{ISETP, "ISETP", Pipe::alu, OpClass::alu},
    OpcodeInfo{IMNMX, "IMNMX", Pipe::alu, OpClass::alu},
    OpcodeInfo{SEL, "SEL", Pipe::alu, OpClass::alu},
    OpcodeInfo{PRMT, "PRMT", Pipe::alu, OpClass::alu},
    OpcodeInfo{MOV, "MOV", Pipe::alu, OpClass::alu},
    OpcodeInfo{PLOP3, "PLOP3", Pipe::alu, OpClass::alu},
    OpcodeInfo{I2FP, "I2FP", Pipe::alu, OpClass::alu},
    OpcodeInfo{VOTE, "VOTE", Pipe::alu, OpClass::alu},
    OpcodeInfo{MUFU_EX2, "MUFU.EX2", Pipe::xu, OpClass::xu},
    OpcodeInfo{MUFU_RCP, "MUFU.RCP", Pipe::xu, OpClass::xu},
    OpcodeInfo{MUFU_LG2, "MUFU.LG2", Pipe::xu, OpClass::xu},
    OpcodeInfo{MUFU_RSQ, "MUFU.RSQ", Pipe::xu, OpClass::xu},
    OpcodeInfo{F2F, "F2F", Pipe::xu, OpClass::xu},
    OpcodeInfo{I2F, "I2F", Pipe::xu, OpClass::xu},
    OpcodeInfo{F2I, "F2I", Pipe::xu, OpClass::xu},
    OpcodeInfo{UMOV, "UMOV", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{UIADD3, "UIADD3", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{ULEA, "ULEA", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{ULDC, "ULDC", Pipe::uniform, OpClass::constant_operand},
    OpcodeInfo{UISETP, "UISETP", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{ULOP3, "ULOP3", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{UIMAD, "UIMAD", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{R2UR, "R2UR", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{S2UR, "S2UR", Pipe::uniform, OpClass::uniform},
    OpcodeInfo{UTMALDG, "UTMALDG", Pipe::uniform, OpClass::bulk_load},
    OpcodeInfo{UTMASTG, "UTMASTG", Pipe::uniform, OpClass::bulk_store},
    OpcodeInfo{BRA, "BRA", Pipe::control, OpClass::branch},
    OpcodeInfo{BSSY, "BSSY", Pipe::control, OpClass::nop},
    OpcodeInfo{BSYNC, "BSYNC", Pipe::control, OpClass::convergence},
    OpcodeInfo{WARPSYNC, "WARPSYNC", Pipe::control, OpClass::nop},
    OpcodeInfo{NOP, "NOP", Pipe::control, OpClass::nop},
    OpcodeInfo{EXIT, "EXIT", Pipe::control, OpClass::exit},
    OpcodeInfo{S2R, "S2R", Pipe::lsu, OpClass::shuffle},
    OpcodeInfo{CS2R, "CS2R", Pipe::alu, OpClass::alu},
    OpcodeInfo{LDC, "LDC", Pipe::control, OpClass::constant_load},
    OpcodeInfo{WARPGROUP_ARRIVE, "WARPGROUP.ARRIVE", Pipe::control, OpClass::nop},
    OpcodeInfo{USETMAXREG, "USETMAXREG", Pipe::control, OpClass::nop},
    OpcodeInfo{BAR_SYNC, "BAR.SYNC", Pipe::control, OpClass::barrier},
    OpcodeInfo{WARPGROUP_DEPBAR_LE, "WARPGROUP.DEPBAR.LE", Pipe::control, OpClass::wgmma_wait},
    OpcodeInfo{SYNCS_ARRIVE, "SYNCS.ARRIVE", Pipe::control, OpClass::mbarrier_arrive},
    OpcodeInfo{SYNCS_PHASECHK_TRYWAIT, "SYNCS.PHASECHK.TRYWAIT", Pipe::control, OpClass::mbarrier_wait},
    OpcodeInfo{LDSM_X4, "LDSM.x4", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{LDSM_X2, "LDSM.x2", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{LDSM_X1, "LDSM.x1", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{LDSM_T_X4, "LDSM.T.x4", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{LDSM_T_X2, "LDSM.T.x2", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{LDS_32, "LDS.32", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{LDS_64, "LDS.64", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{LDS_128, "LDS.128", Pipe::lsu, OpClass::shared_load},
    OpcodeInfo{STS_32, "STS.32", Pipe::lsu, OpClass::shared_store},
    OpcodeInfo{STS_64, "STS.64", Pipe::lsu, OpClass::shared_store},
    OpcodeInfo{STS_128, "STS.128", Pipe::lsu, OpClass::shared_store},
    OpcodeInfo{STSM_X4, "STSM.x4", Pipe::lsu, OpClass::shared_store},
    OpcodeInfo{ATOMS_MAX, "ATOMS.MAX", Pipe::lsu, OpClass::shared_atomic},
    OpcodeInfo{SHFL_BFLY, "SHFL.BFLY", Pipe::lsu, OpClass::shuffle},
    OpcodeInfo{SHFL_DOWN, "SHFL.DOWN", Pipe::lsu, OpClass::shuffle},
    OpcodeInfo{SHFL_IDX, "SHFL.IDX", Pipe::lsu, OpClass::shuffle},
    OpcodeInfo{LDGSTS_128, "LDGSTS.128", Pipe::lsu, OpClass::async_copy},
    OpcodeInfo{LDGSTS_64, "LDGSTS.64", Pipe::lsu, OpClass::async_copy},
    OpcodeInfo{LDGSTS_32, "LDGSTS.32", Pipe::lsu, OpClass::async_copy},
    OpcodeInfo{LDGDEPBAR, "LDGDEPBAR", Pipe::lsu, OpClass::async_commit},
    OpcodeInfo{DEPBAR_LE, "DEPBAR.LE", Pipe::control, OpClass::async_wait},
    OpcodeInfo{LDG_16, "LDG.16", Pipe::lsu, OpClass::global_load},
    OpcodeInfo{LDG_32, "LDG.32", Pipe::lsu, OpClass::global_load},
    OpcodeInfo{LDG_64, "LDG.64", Pipe::lsu, OpClass::global_load},
    OpcodeInfo{LDG_128, "LDG.128", Pipe::lsu, OpClass::global_load},
    OpcodeInfo{ATOM_32, "ATOM.32", Pipe::lsu, OpClass::global_load},
    OpcodeInfo{STG_16, "STG.16", Pipe::lsu, OpClass::global_store},
    OpcodeInfo{STG_32, "STG.32", Pipe::lsu, OpClass::global_store},
    OpcodeInfo{STG_64, "STG.64", Pipe::lsu, OpClass::global_store},
    OpcodeInfo{STG_128, "STG.128", Pipe::lsu, OpClass::global_store},
    OpcodeInfo{RED_ADD_F32, "RED.ADD.F32", Pipe::lsu, OpClass::global_reduce},
    OpcodeInfo{LDL, "LDL", Pipe::lsu, OpClass::local_load},
    OpcodeInfo{LDL_64, "LDL.64", Pipe::lsu, OpClass::local_load},
    OpcodeInfo{LDL_128, "LDL.128", Pipe::lsu, OpClass::local_load},
    OpcodeInfo{STL, "STL", Pipe::lsu, OpClass::local_store},
    OpcodeInfo{STL_64, "STL.64", Pipe::lsu, OpClass::local_store},
    OpcodeInfo{STL_128, "STL.128", Pipe::lsu, OpClass::local_store},
};

consteval bool in_enum_order() {
  for (std::size_t i = 0; i < kOpcodes.size(); ++i) {
    if (static_cast<std::size_t>(kOpcodes[i].opcode) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_enum_order(), "kOpcodes must list the opcodes in the order of the enum");
static_assert(kOpcodes.size() == static_cast<std::size_t>(STL_128) + 1, "every opcode needs a row");

}  // namespace

std::span<const OpcodeInfo> all_opcodes() {
  return kOpcodes;
}

const OpcodeInfo& info(Opcode opcode) {
  return kOpcodes[static_cast<std::size_t>(opcode)];
}

std::optional<Opcode> opcode_from_name(std::string_view name) {
  const auto* found = std::ranges::find(kOpcodes, name, &OpcodeInfo::name);
  return found == kOpcodes.end() ? std::nullopt : std::optional(found->opcode);
}

bool has_variable_latency(OpClass op_class) {
  switch (op_class) {
    case OpClass::xu:
    case OpClass::constant_load:
    case OpClass::shared_load:
    case OpClass::shared_store:
    case OpClass::shared_atomic:
    case OpClass::shuffle:
    case OpClass::async_copy:
    case OpClass::global_load:
    case OpClass::global_store:
    case OpClass::global_reduce:
    case OpClass::local_load:
    case OpClass::local_store:
      return true;
    default:
      return false;
  }
}

bool is_shared_memory(OpClass op_class) {
  return op_class == OpClass::shared_load || op_class == OpClass::shared_store ||
         op_class == OpClass::shared_atomic;
}

bool is_global_memory(OpClass op_class) {
  return op_class == OpClass::async_copy || op_class == OpClass::global_load ||
         op_class == OpClass::global_store || op_class == OpClass::global_reduce ||
         op_class == OpClass::local_load || op_class == OpClass::local_store || is_bulk_copy(op_class);
}

bool is_bulk_copy(OpClass op_class) {
  return op_class == OpClass::bulk_load || op_class == OpClass::bulk_store;
}

bool has_immediate(OpClass op_class) {
  return op_class == OpClass::barrier || op_class == OpClass::branch || op_class == OpClass::async_wait ||
         op_class == OpClass::wgmma || op_class == OpClass::wgmma_wait ||
         op_class == OpClass::mbarrier_arrive || op_class == OpClass::mbarrier_wait ||
         is_constant(op_class) || is_bulk_copy(op_class);
}

bool is_constant(OpClass op_class) {
  return op_class == OpClass::constant_load || op_class == OpClass::constant_operand;
}

std::string_view name(Pipe pipe) {
  constexpr std::array<std::string_view, 7> kNames = {"tensor", "fma",     "alu",    "xu",
                                                      "lsu",    "uniform", "control"};
  return kNames[static_cast<std::size_t>(pipe)];
}

}  // namespace warpscope::trace

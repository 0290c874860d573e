#include "tests/validation/instruction_kinds.hpp"

#include <stdexcept>
#include <string_view>
#include <vector>

namespace warpscope::validation {
namespace {

using trace::Opcode;
using trace::RegisterRange;

enum class Form { alu, hmma, shared_load, shared_store };

/// One instruction of a link: `width` registers result, `bytes` of shared memory.
struct Step {
  Opcode opcode;
  Form form;
  int width = 1;
  std::uint32_t bytes = 0;
};

struct Kind {
  std::string_view name;
  std::vector<Step> steps;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds = {
      {"ffma", {{Opcode::FFMA, Form::alu}}},
      {"fmax", {{Opcode::FMNMX, Form::alu}}},
      {"ex2", {{Opcode::MUFU_EX2, Form::alu}}},
      {"lop3", {{Opcode::LOP3, Form::alu}}},
      {"imad", {{Opcode::IMAD, Form::alu}}},
      {"fsel", {{Opcode::FSETP, Form::alu}, {Opcode::FSEL, Form::alu}}},
      {"cvt_f16x2", {{Opcode::F2FP_PACK_AB, Form::alu}}},
      {"mma_m16n8k16_f16_f32", {{Opcode::HMMA_16816_F32, Form::hmma, 4}}},
      {"mma_m16n8k16_bf16_f32", {{Opcode::HMMA_16816_F32_BF16, Form::hmma, 4}}},
      // Chains of loads hold one integer add per load, which makes the next address.
      {"ldmatrix_x4", {{Opcode::LDSM_X4, Form::shared_load, 4, 512}, {Opcode::IADD3, Form::alu}}},
      {"ldmatrix_x4_trans", {{Opcode::LDSM_T_X4, Form::shared_load, 4, 512}, {Opcode::IADD3, Form::alu}}},
      {"lds_32", {{Opcode::LDS_32, Form::shared_load, 1, 128}, {Opcode::IADD3, Form::alu}}},
      {"sts_128", {{Opcode::STS_128, Form::shared_store, 4, 512}}},
  };
  return kKinds;
}

const Kind& find_kind(std::string_view name) {
  for (const Kind& kind : kinds()) {
    if (kind.name == name) {
      return kind;
    }
  }
  throw std::invalid_argument("unknown instruction kind '" + std::string(name) + "'");
}

/// The registers of a chain; 0 to 15 hold what all chains share.
RegisterRange chain_register(int chain, int width) {
  return reg(16 + 4 * chain, width);
}

void add_step(ProgramBuilder& builder, const Step& step, int chain) {
  const RegisterRange value = chain_register(chain, step.width);
  switch (step.form) {
    case Form::alu:
      // Of the other bank, as a compiler would have it.
      builder.add(step.opcode, chain_register(chain, 1), {chain_register(chain, 1), reg(5)});
      break;
    case Form::hmma:
      builder.add(step.opcode, value, {reg(4, 4), reg(8, 2), value});
      break;
    case Form::shared_load:
      builder.add_shared(step.opcode, value, {chain_register(chain, 1)}, step.bytes);
      break;
    case Form::shared_store:
      builder.add_shared(step.opcode, {}, {reg(2), value}, step.bytes);
      break;
  }
}

}  // namespace

void add_chains(ProgramBuilder& builder, const std::string& name, int first_chain, int chains, int links) {
  const std::vector<Step>& steps = find_kind(name).steps;
  // Two chains leave nothing to put between: both first instructions, then both second ones.
  const int lag = chains > 2 ? chains / 2 : 0;
  if (steps.size() > 1 && chains == 2) {
    for (int k = 0; k < 4 * links; ++k) {
      add_step(builder, k % 4 < 2 ? steps.front() : steps.back(), first_chain + k % 2);
    }
    return;
  }
  for (int k = 0; k < chains * links + lag; ++k) {
    if (k < chains * links) {
      add_step(builder, steps.front(), first_chain + k % chains);
    }
    if (steps.size() > 1 && k >= lag) {
      add_step(builder, steps.back(), first_chain + (k - lag) % chains);
    }
  }
}

void add_independent(ProgramBuilder& builder, const std::string& name, int number) {
  // Eight chains of their own: no result is needed again before its latency has passed.
  constexpr int kFirst = 16;
  add_step(builder, find_kind(name).steps.front(), kFirst + number % 8);
}

}  // namespace warpscope::validation

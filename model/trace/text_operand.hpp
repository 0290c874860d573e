// The operands of an instruction as text: registers, affine addresses, memory operands, control bits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/trace/program.hpp"
#include "model/trace/text_cursor.hpp"

namespace warpscope::trace {

/// Index of the tensor of that name; the reader fails at the cursor where there is none.
using TensorLookup = std::function<std::uint16_t(TextCursor&, const std::string&)>;

RegisterRange read_register_range(TextCursor& cursor);
AffineIndex read_affine_index(TextCursor& cursor);
/// Reads from `[` to `]`.
MemoryOperand read_memory_operand(TextCursor& cursor, const TensorLookup& tensor_index);
/// Reads from `{` to `}`.
ControlBits read_control_bits(TextCursor& cursor);

void append(std::string& text, const RegisterRange& range);
void append(std::string& text, const AffineIndex& index);
/// `tensor_name` is used unless the operand is in shared memory.
void append(std::string& text, const MemoryOperand& operand, const std::string& tensor_name);
void append(std::string& text, const ControlBits& control);

}  // namespace warpscope::trace

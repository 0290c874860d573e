// The parts of validate(), which launch.hpp declares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/trace/launch.hpp"
#include "model/trace/trace_error.hpp"

namespace warpscope::trace {

/// Names the part of a trace being checked, so that a broken rule can say where.
struct ValidationContext {
  const Trace* trace = nullptr;
  TracePosition position;

  /// Throws ValidationError: `launch 'L', program 'P', instruction 3 (LDS.32): what 'value': legal`.
  [[noreturn]] void fail(std::string_view what, std::string_view value, std::string_view legal) const;
  ValidationContext at_launch(std::size_t launch) const;
  ValidationContext at_program(std::size_t program) const;
  ValidationContext at_instruction(std::size_t instruction) const;
};

/// Rules of one program that need no CTA class.
void validate_program(const ValidationContext& context, const WarpProgram& program);
/// Trip slots and symbols that a program refers to exist in a class with these sizes.
void validate_references(const ValidationContext& context, const WarpProgram& program,
                         std::size_t class_number, const CtaClass& cta_class);
/// Addresses of program number `number` stay within kMostAddress, in all CTAs, warps and iterations.
void validate_addresses(const ValidationContext& context, const Launch& launch, std::size_t number);
/// The warps of each CTA pass every barrier equally often; otherwise some would wait forever.
void validate_barriers(const ValidationContext& context, const Launch& launch);

}  // namespace warpscope::trace

#include "kernels/numeric/run_numeric.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include "kernels/machine/check_plan.hpp"
#include "kernels/numeric/numeric_machine.hpp"
#include "kernels/numeric/rounding.hpp"

namespace warpscope::kernels {

namespace {

NumericTensor make_tensor(const TensorSpec& spec, const TensorValues& inputs) {
  const auto elements = static_cast<std::size_t>(spec.segments * spec.rows * spec.cols);
  const auto input = inputs.find(spec.name);
  if (input == inputs.end() && !spec.values.empty()) {
    return {spec, spec.values};
  }
  if (input == inputs.end()) {
    if (spec.kind == trace::TensorKind::input) {
      throw std::invalid_argument("no values for input tensor " + spec.name);
    }
    return {spec, std::vector<float>(elements, kUnwritten)};
  }
  if (input->second.size() != elements) {
    throw std::invalid_argument("tensor " + spec.name + " needs " + std::to_string(elements) +
                                " values, got " + std::to_string(input->second.size()));
  }
  NumericTensor tensor{spec, input->second};
  std::ranges::transform(tensor.values, tensor.values.begin(),
                         [&](float value) { return round_to(spec.type, value); });
  return tensor;
}

std::vector<NumericTensor> make_tensors(const KernelPlan& plan, const TensorValues& inputs) {
  std::vector<NumericTensor> tensors;
  for (const TensorSpec& spec : plan.tensors) {
    tensors.push_back(make_tensor(spec, inputs));
  }
  for (const auto& [name, values] : inputs) {
    if (std::ranges::find(plan.tensors, name, &TensorSpec::name) == plan.tensors.end()) {
      throw std::invalid_argument("the kernel has no tensor " + name);
    }
  }
  return tensors;
}

const PlanClass& class_of(const LaunchPlan& launch, const std::array<std::uint32_t, 3>& block) {
  std::size_t number = 0;
  for (std::size_t d = 0; d < block.size(); ++d) {
    if (!launch.class_of_block[d].empty()) {
      number += launch.class_of_block[d].at(block[d]);
    }
  }
  return launch.classes.at(number);
}

FlopCount run_launch(const LaunchPlan& launch, std::vector<NumericTensor>& tensors) {
  FlopCount flops;
  std::array<std::uint32_t, 3> block{};
  for (block[2] = 0; block[2] < launch.grid[2]; ++block[2]) {
    for (block[1] = 0; block[1] < launch.grid[1]; ++block[1]) {
      for (block[0] = 0; block[0] < launch.grid[0]; ++block[0]) {
        const PlanClass& cta_class = class_of(launch, block);
        NumericMachine machine(tensors, launch, CtaPosition(cta_class, block), flops);
        launch.programs.at(static_cast<std::size_t>(cta_class.program)).text(machine);
      }
    }
  }
  return flops;
}

}  // namespace

NumericResult run_numeric(const KernelPlan& plan, const TensorValues& inputs) {
  std::vector<NumericTensor> tensors = make_tensors(plan, inputs);
  NumericResult result;
  for (const LaunchPlan& launch : plan.launches) {
    try {
      check_launch(launch);
      result.flops_by_launch.push_back(run_launch(launch, tensors));
    } catch (const std::logic_error& error) {
      throw std::logic_error("launch " + launch.name + ": " + error.what());
    }
    result.flops += result.flops_by_launch.back();
  }
  for (NumericTensor& tensor : tensors) {
    result.tensors[tensor.spec.name] = std::move(tensor.values);
  }
  return result;
}

}  // namespace warpscope::kernels

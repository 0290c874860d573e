#include "experiments/page/nearest_references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "experiments/study/forward_grid.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

constexpr const char* kMeasuredGpu = "h200-sxm-141gb";

std::string generation(const std::string& gpu) {
  return hw::load(gpu, {}, config_directory()).config.gpu.compute_capability;
}

/// How far two points of one kernel are apart; a factor of two in a length counts one.
double distance(const Point& a, const Point& b) {
  const auto octaves = [](auto x, auto y) {
    return std::abs(std::log2(static_cast<double>(x) / static_cast<double>(y)));
  };
  constexpr double kOtherGpu = 100;
  constexpr double kOtherGeneration = 100;
  constexpr double kOtherHeadDim = 8;
  constexpr double kOtherMask = 4;
  const kernels::Problem& p = a.problem;
  const kernels::Problem& q = b.problem;
  const bool same_gpu = a.model.gpu == b.model.gpu;
  const double gpus =
      same_gpu ? 0 : kOtherGpu + (generation(a.model.gpu) == generation(b.model.gpu) ? 0 : kOtherGeneration);
  return gpus + kOtherHeadDim * octaves(p.head_dim, q.head_dim) + (p.causal == q.causal ? 0 : kOtherMask) +
         octaves(p.seqlen_q, q.seqlen_q) + octaves(p.seqlen_k, q.seqlen_k) +
         octaves(p.batch * p.heads, q.batch * q.heads) / 2;
}

// Wall times stand on the page as TFLOP/s.
constexpr std::array kShown = {kCycles, kTflops, kHbmBytes};

bool is_shown(const Observation& observation) {
  return std::ranges::any_of(kShown,
                             [&](const char* number) { return observation.numbers.contains(number); });
}

/// What the model owes to a reference, so that being near it there proves less.
std::string in_sample(const Point& point, const std::string& source) {
  const bool solved = point.kernel == "fa2_torch" || point.problem.pass == kernels::Pass::backward;
  if (solved && source == "counters.csv" &&
      (point.problem.seqlen_q == 512 || point.problem.seqlen_q == 8192)) {
    return "instruction counts solved from it";
  }
  return {};
}

bool same_point(const Point& a, const Point& b) {
  return a.model.gpu == b.model.gpu && distance(a, b) == 0;
}

}  // namespace

std::optional<double> NearReference::error() const {
  return model ? std::optional<double>(*model / reference - 1) : std::nullopt;
}

std::vector<Observation> page_observations(const std::filesystem::path& directory) {
  std::vector<Observation> observations = all_observations(directory);
  const ForwardReferences references(directory);
  for (const kernels::Kernel& kernel : kernels::all_kernels()) {
    for (const int head_dim : kGridHeadDims) {
      for (const bool causal : {false, true}) {
        for (const int seqlen : kGridSeqlens) {
          const ForwardKey key{kMeasuredGpu, std::string(kernel.name), head_dim, causal, seqlen};
          const ForwardReference* measured = references.find(key);
          if (measured != nullptr && measured->tflops) {
            observations.push_back({grid_point(kMeasuredGpu, kernel.name, head_dim, causal, seqlen),
                                    "time on an H200",
                                    {{kTflops, *measured->tflops}}});
          }
        }
      }
    }
  }
  return observations;
}

std::vector<NearReference> nearest_references(const Point& point, std::span<const Observation> observations,
                                              std::size_t most) {
  std::vector<const Observation*> near;
  for (const Observation& observation : observations) {
    if (observation.point.kernel == point.kernel && observation.point.problem.pass == point.problem.pass &&
        is_shown(observation)) {
      near.push_back(&observation);
    }
  }
  std::map<const Observation*, double> distances;
  for (const Observation* one : near) {
    distances[one] = distance(one->point, point);
  }
  std::ranges::stable_sort(near, {}, [&](const Observation* one) { return distances.at(one); });
  std::vector<NearReference> result;
  std::size_t points = 0;
  const Point* last = nullptr;
  for (const Observation* one : near) {
    if (last == nullptr || !same_point(*last, one->point)) {
      last = &one->point;
      if (++points > most) {
        break;
      }
    }
    for (const char* number : kShown) {
      if (const auto found = one->numbers.find(number); found != one->numbers.end() && found->second > 0) {
        result.push_back({one->point, one->source, number, found->second, std::nullopt,
                          in_sample(one->point, one->source)});
      }
    }
  }
  return result;
}

void add_model(std::vector<NearReference>& references, const PoolOptions& workers) {
  std::vector<Point> points;
  points.reserve(references.size());
  for (const NearReference& reference : references) {
    points.push_back(reference.point);
  }
  const std::vector<Numbers> numbers = simulate_numbers(points, workers, "references");
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (!numbers[i].empty()) {
      references[i].model = numbers[i].at(references[i].number);
    }
  }
}

Chart reference_chart(std::span<const NearReference> references) {
  Chart chart("table", "The model beside the nearest measured and published numbers",
              {{"point", "point", Format::text},
               {"gpu", "GPU", Format::text},
               {"source", "source", Format::text},
               {"number", "number", Format::text},
               {"reference", "reference", Format::number},
               {"model", "model", Format::number},
               {"error", "error", Format::change},
               {"in_sample", "in-sample", Format::text}});
  for (const NearReference& reference : references) {
    const kernels::Problem& problem = reference.point.problem;
    const std::optional<double> error = reference.error();
    chart.add_row(
        {fmt::format("{}, batch {}, {} heads", label(reference.point), problem.batch, problem.heads),
         reference.point.model.gpu, reference.source, reference.number, reference.reference,
         reference.model ? nlohmann::ordered_json(*reference.model) : nlohmann::ordered_json(),
         error ? nlohmann::ordered_json(*error) : nlohmann::ordered_json(),
         reference.in_sample.empty() ? "no" : reference.in_sample});
  }
  return chart;
}

std::string reference_sentence(std::span<const NearReference> references) {
  if (references.empty()) {
    return "Nobody has measured or published this kernel as far as the reference data go, so how near the "
           "model is "
           "to hardware here is not known.";
  }
  const auto is_speed = [](const NearReference& one) { return one.number != kHbmBytes && one.model; };
  const auto first = std::ranges::find_if(references, is_speed);
  if (first == references.end()) {
    return "At the nearest reference points the model has no result.";
  }
  return fmt::format("At the nearest reference point ({} on {}, {}) the model's {} are {:.1f} % too {}{}.",
                     label(first->point), first->point.model.gpu, first->source, first->number,
                     100 * std::abs(first->error().value()), first->error().value() < 0 ? "low" : "high",
                     first->in_sample.empty() ? "" : ", in-sample: " + first->in_sample);
}

}  // namespace warpscope::experiments

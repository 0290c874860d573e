#include "experiments/page/ladder_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

/// A count that a step may change; less than `kLeast` of a change is none.
struct Count {
  const char* name;
  double (*of)(const LadderPoint& point);
};
constexpr double kLeast = 0.01;

constexpr std::array kCounts = {
    Count{"HBM bytes", [](const LadderPoint& point) { return point.total_hbm_bytes(); }},
    Count{"shared-memory wavefronts", [](const LadderPoint& point) { return point.shared_wavefronts; }},
    Count{"barriers", [](const LadderPoint& point) { return point.barriers; }},
    Count{"non-matmul instructions per score",
          [](const LadderPoint& point) { return point.non_matmul_per_score; }},
    Count{"warps per SM", [](const LadderPoint& point) { return point.resident_warps; }},
    Count{"waves", [](const LadderPoint& point) { return point.waves; }},
};

/// The last point before `index` that has numbers.
const LadderPoint* point_before(const LadderSetting& setting, std::size_t index) {
  while (index-- > 0) {
    if (setting.ladder[index].error.empty()) {
      return &setting.ladder[index];
    }
  }
  return nullptr;
}

std::string times(double factor) {
  return fmt::format("{:.2f}", factor);
}

std::string counts_text(const LadderPoint& before, const LadderPoint& now) {
  std::vector<std::pair<double, std::string>> changes;
  for (const Count& count : kCounts) {
    const double was = count.of(before);
    const double is = count.of(now);
    if (std::abs(is - was) <= kLeast * std::max(was, is)) {
      continue;
    }
    const double size = was > 0 && is > 0 ? std::abs(std::log(is / was)) : HUGE_VAL;
    changes.emplace_back(size, was <= 0        ? fmt::format("{} appear", count.name)
                               : is <= 0       ? fmt::format("{} vanish", count.name)
                               : is >= 2 * was ? fmt::format("{} times {:.1f}", count.name, is / was)
                               : is <= 0.1 * was
                                   ? fmt::format("{} down to 1/{:.0f}", count.name, was / is)
                                   : fmt::format("{} {:+.0f} %", count.name, 100 * (is / was - 1)));
  }
  std::ranges::stable_sort(changes, std::greater(), &std::pair<double, std::string>::first);
  std::vector<std::string> texts;
  texts.reserve(changes.size());
  for (auto& [size, text] : changes) {
    texts.push_back(std::move(text));
  }
  return texts.empty() ? "None of the counts changes by more than 1 %."
                       : fmt::format("Counted: {}.", fmt::join(texts, ", "));
}

std::string stall_text(const LadderPoint& before, const LadderPoint& now) {
  std::string reason;
  double largest = 0;
  std::pair<double, double> warps;
  for (const auto& [name, is] : now.stalls) {
    const auto was = std::ranges::find(before.stalls, name, &std::pair<std::string, double>::first);
    const double then = was == before.stalls.end() ? 0 : was->second;
    if (name != "selected" && std::abs(is - then) > largest) {
      largest = std::abs(is - then);
      reason = name;
      warps = {then, is};
    }
  }
  constexpr double kLeastWarps = 0.1;
  return largest < kLeastWarps ? ""
                               : fmt::format(" Warps per issue that wait for {}: {:.2f}, before {:.2f}.",
                                             reason, warps.second, warps.first);
}

std::vector<std::string> labels_where(const LadderSetting& setting, auto&& condition) {
  std::vector<std::string> labels;
  for (std::size_t i = 1; i < setting.ladder.size(); ++i) {
    if (setting.ladder[i].error.empty() && setting.ladder[i].speedup && condition(setting.ladder[i])) {
      labels.push_back(setting.ladder[i].label);
    }
  }
  return labels;
}

const LadderPoint* find_variant(const LadderSetting& setting, std::string_view variant) {
  const auto found = std::ranges::find(setting.ladder, variant, &LadderPoint::variant);
  return found != setting.ladder.end() && found->error.empty() ? &*found : nullptr;
}

std::string largest_steps(const LadderSetting& setting) {
  std::vector<const LadderPoint*> steps;
  const LadderPoint* fa1 = find_variant(setting, "fa1");
  for (const LadderPoint& point : setting.ladder) {
    // From standard attention to FA1 is another argument.
    if (point.error.empty() && &point != fa1 && point.differs() && *point.speedup > 1) {
      steps.push_back(&point);
    }
  }
  if (steps.empty()) {
    return {};
  }
  std::ranges::stable_sort(steps, std::greater(), [](const LadderPoint* step) { return *step->speedup; });
  std::string text;
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(kMost, steps.size()); ++i) {
    text += fmt::format("{}{} ({} times as fast)", i == 0 ? "" : ", then ", steps[i]->label,
                        times(*steps[i]->speedup));
  }
  return fmt::format("What wins most on the way from FA1: {}.", text);
}

}  // namespace

std::string gpu_label(const std::string& gpu) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 4> kLabels = {
      {{"a100-sxm4-80gb", "A100 80 GB"},
       {"a100-sxm4-40gb", "A100 40 GB"},
       {"h100-sxm5-80gb", "H100"},
       {"h200-sxm-141gb", "H200"}}};
  const auto found = std::ranges::find(kLabels, gpu, &std::pair<std::string_view, const char*>::first);
  return found == kLabels.end() ? gpu : found->second;
}

std::vector<std::string> setting_sentences(const LadderSetting& setting) {
  std::vector<std::string> sentences;
  const LadderPoint* standard = nullptr;
  for (const LadderPoint& point : setting.ladder) {
    if (point.variant.starts_with("standard") && point.error.empty()) {
      standard = &point;
      break;
    }
  }
  const LadderPoint* fa1 = find_variant(setting, "fa1");
  const LadderPoint* fa2 = find_variant(setting, "fa2");
  if (fa1 != nullptr && fa2 != nullptr) {
    sentences.push_back(fmt::format(
        "On the {} {}FA2 takes {} and FA1 {}: FA2 is {} times as fast, {:.0f} TFLOP/s instead of {:.0f}.",
        gpu_label(setting.gpu), setting.pass == "bwd" ? "the backward pass of " : "", time_text(fa2->time_us),
        time_text(fa1->time_us), times(fa1->time_us / fa2->time_us), fa2->tflops, fa1->tflops));
  }
  if (std::string text = largest_steps(setting); !text.empty()) {
    sentences.push_back(std::move(text));
  }
  const auto same = labels_where(setting, [](const LadderPoint& point) { return !point.differs(); });
  if (!same.empty()) {
    sentences.push_back(fmt::format("No difference here that is larger than chance, or than 1 %: {}.",
                                    fmt::join(same, ", ")));
  }
  const auto slower =
      labels_where(setting, [](const LadderPoint& point) { return point.differs() && *point.speedup < 1; });
  if (!slower.empty()) {
    sentences.push_back(fmt::format("Slower here than the step before: {}.", fmt::join(slower, ", ")));
  }
  if (standard != nullptr && fa1 != nullptr && fa1->time_us > standard->time_us) {
    sentences.push_back(fmt::format(
        "FA1 is slower than standard attention here, {} against {}: it moves {} across HBM, standard "
        "attention {}; its tensor pipes work {} of the time, those of standard attention {}.",
        time_text(fa1->time_us), time_text(standard->time_us),
        bytes_text(static_cast<std::uint64_t>(fa1->total_hbm_bytes())),
        bytes_text(static_cast<std::uint64_t>(standard->total_hbm_bytes())), percent(fa1->tensor_share),
        percent(standard->tensor_share)));
  }
  return sentences;
}

std::string step_text(const Ladder& ladder, const LadderSetting& setting, std::size_t index) {
  const LadderPoint& point = setting.ladder[index];
  const std::size_t index_of_rung = rung_of(ladder, setting.pass, point.variant);
  const Rung rung = index_of_rung < ladder.rungs.size() ? ladder.rungs[index_of_rung] : Rung{};
  std::string text = rung.change;
  if (!text.empty() && !text.ends_with('.')) {
    text += '.';
  }
  text += text.empty() ? "" : " ";
  if (!point.error.empty()) {
    return text + "Not simulated: " + point.error;
  }
  if (!point.same_as.empty()) {
    return text + "On this problem the kernel already does that, or has nothing to do it to: it is the same.";
  }
  const LadderPoint* before = point_before(setting, index);
  if (before == nullptr || !point.speedup) {
    return text + fmt::format("{}, {:.0f} TFLOP/s.", time_text(point.time_us), point.tflops);
  }
  const std::string how_sure = point.plus_minus ? fmt::format("({} \u00b1 {} times as fast)",
                                                              times(*point.speedup), times(*point.plus_minus))
                                                : fmt::format("({} times as fast)", times(*point.speedup));
  if (!point.differs()) {
    text += fmt::format("{} on the {} {}.",
                        point.plus_minus ? "No measurable difference" : "Less than 1 % of difference",
                        gpu_label(setting.gpu), how_sure);
  } else if (*point.speedup < 1) {
    text += fmt::format("It does not help on the {}: slower, from {} to {} {}.", gpu_label(setting.gpu),
                        time_text(before->time_us), time_text(point.time_us), how_sure);
  } else {
    text += fmt::format("Faster, from {} to {} {}.", time_text(before->time_us), time_text(point.time_us),
                        how_sure);
  }
  return text + ' ' + counts_text(*before, point) + stall_text(*before, point) +
         (rung.relieves.empty() ? "" : fmt::format(" Meant to relieve: {}.", rung.relieves));
}

}  // namespace warpscope::experiments

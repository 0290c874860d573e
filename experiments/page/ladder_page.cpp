#include "experiments/page/ladder_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/page/ladder_charts.hpp"
#include "experiments/page/ladder_text.hpp"
#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

std::string mask(bool causal) {
  return causal ? "causal" : "none";
}

Json choice(const LadderSetting& setting) {
  return {{"pass", setting.pass},
          {"gpu", setting.gpu},
          {"head_dim", std::to_string(setting.head_dim)},
          {"mask", mask(setting.causal)},
          {"seqlen", std::to_string(setting.seqlen)}};
}

/// The list of a key: each value once, in the order of the settings.
Json selector(const Ladder& ladder, const char* key, const char* label, auto&& text_of) {
  Json options = Json::array();
  for (const LadderSetting& setting : ladder.settings) {
    const Json option = {{"value", choice(setting)[key]}, {"label", text_of(setting)}};
    if (std::ranges::find(options, option) == options.end()) {
      options.push_back(option);
    }
  }
  return {{"key", key}, {"label", label}, {"options", options}};
}

Json setting_json(const Ladder& ladder, const LadderSetting& setting, const LadderColumns& columns) {
  Json texts = Json::array();
  for (std::size_t i = 0; i < setting.ladder.size(); ++i) {
    texts.push_back({{"label", setting.ladder[i].label}, {"text", step_text(ladder, setting, i)}});
  }
  Json rows = Json::array();
  for (const Chart& chart : ladder_charts(setting, columns)) {
    rows.push_back(chart.json()["rows"]);
  }
  return {{"choice", choice(setting)},
          {"sentences", setting_sentences(setting)},
          {"texts", std::move(texts)},
          {"rows", std::move(rows)}};
}

/// Where most is known: most speed-ups with their spread, then most points.
std::size_t first_shown(const Ladder& ladder) {
  const auto known = [](const LadderSetting& setting) {
    std::pair<std::ptrdiff_t, std::size_t> spreads_and_points;
    for (const auto* series :
         {&setting.ladder, &setting.alone_on_fa1, &setting.taken_from_fa2, &setting.beyond_fa2}) {
      spreads_and_points.first += std::ranges::count_if(
          *series, [](const LadderPoint& point) { return point.plus_minus.has_value(); });
      spreads_and_points.second += series->size();
    }
    return spreads_and_points;
  };
  return static_cast<std::size_t>(std::ranges::max_element(ladder.settings, {}, known) -
                                  ladder.settings.begin());
}

Json choices(const Ladder& ladder) {
  const LadderColumns columns = ladder_columns(ladder);
  Json charts = Json::array();
  for (const Chart& chart : ladder_charts({}, columns)) {
    charts.push_back(chart.json());
  }
  Json settings = Json::array();
  for (const LadderSetting& setting : ladder.settings) {
    settings.push_back(setting_json(ladder, setting, columns));
  }
  Json selectors = {
      selector(ladder, "pass", "Pass",
               [](const auto& one) { return one.pass == "bwd" ? "backward" : "forward"; }),
      selector(ladder, "gpu", "GPU", [](const auto& one) { return gpu_label(one.gpu); }),
      selector(ladder, "head_dim", "Head dimension",
               [](const auto& one) { return std::to_string(one.head_dim); }),
      selector(ladder, "mask", "Mask", [](const auto& one) { return mask(one.causal); }),
      selector(ladder, "seqlen", "Tokens", [](const auto& one) { return grouped(one.seqlen); })};
  return {{"selectors", std::move(selectors)},  {"charts", std::move(charts)},
          {"texts_title", "Step by step"},      {"texts_before", 1},
          {"first_shown", first_shown(ladder)}, {"settings", std::move(settings)}};
}

std::vector<std::string> words_of(const LadderColumns& columns) {
  std::vector<std::string> words = {"FlashAttention",
                                    "TFLOP/s",
                                    "non-matmul FLOP",
                                    "\u00b1",
                                    "split-Q",
                                    "sliced-K",
                                    "deferred normalisation",
                                    "LSE",
                                    "sequence-length parallelism",
                                    "cp.async",
                                    "CTA",
                                    "wave",
                                    "wavefront",
                                    "occupancy",
                                    "tensor pipe"};
  words.insert(words.end(), columns.stalls.begin(), columns.stalls.end());
  return words;
}

}  // namespace

Page ladder_page(const Ladder& ladder) {
  Page page;
  page.title = ladder.title.empty() ? "Why FlashAttention-2 wins" : ladder.title;
  page.subtitle = "From FlashAttention-1 to FlashAttention-2, one change at a time, on a modelled GPU";
  page.sentences = ladder.sentences;
  PageSection section{"ladder", "The ladder", {}, {}};
  section.paragraphs = {
      "Each step has all changes of the steps before it. A difference that is not larger than what CTAs make "
      "which start a "
      "few cycles later counts as none."};
  section.has_choices = !ladder.settings.empty();
  page.sections.push_back(std::move(section));
  if (!ladder.settings.empty()) {
    page.choices = choices(ladder);
  }
  page.words = words_of(ladder_columns(ladder));
  return page;
}

}  // namespace warpscope::experiments

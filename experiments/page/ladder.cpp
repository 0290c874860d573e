#include "experiments/page/ladder.hpp"

#include <algorithm>

namespace warpscope::experiments {
namespace {

using Json = nlohmann::json;

/// None where the number is null, or not there.
std::optional<double> optional_number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional<double>(found->get<double>())
                                                   : std::nullopt;
}

double number(const Json& json, const char* key) {
  return optional_number(json, key).value_or(0);
}

std::string text(const Json& json, const char* key, const char* absent = "") {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string(absent);
}

std::string pass_of(const Json& json) {
  return text(json, "pass", "fwd");
}

LadderPoint read_point(const Json& json) {
  LadderPoint point;
  point.variant = json.at("variant");
  point.change = text(json, "change");
  point.label = text(json, "label");
  point.same_as = text(json, "same_as");
  point.error = text(json, "error");
  if (!point.error.empty()) {
    return point;
  }
  point.time_us = json.at("time_us");
  point.tflops = json.at("tflops");
  point.speedup = optional_number(json, "speedup");
  point.plus_minus = optional_number(json, "speedup_deviation");
  for (const Json& tensor : json.at("hbm_traffic")) {
    point.hbm_bytes.emplace_back(tensor.at("tensor"),
                                 number(tensor, "read_bytes") + number(tensor, "write_bytes"));
  }
  point.shared_wavefronts = number(json, "shared_wavefronts");
  point.barriers = number(json, "barriers");
  point.non_matmul_per_score = number(json, "non_matmul_per_score");
  point.tensor_share = number(json, "tensor_share");
  for (const auto& [reason, warps] : json.at("stalls").items()) {
    point.stalls.emplace_back(reason, warps.is_number() ? warps.get<double>() : 0);
  }
  point.resident_warps = number(json, "resident_warps");
  point.waves = number(json, "waves");
  point.limiter = text(json, "limiter");
  return point;
}

LadderSetting& setting_of(const Json& point, std::vector<LadderSetting>& settings) {
  const std::string pass = pass_of(point);
  const std::string gpu = point.at("gpu");
  const int head_dim = point.at("head_dim");
  const bool causal = point.at("causal");
  const int seqlen = point.at("seqlen");
  const auto found = std::ranges::find_if(settings, [&](const LadderSetting& one) {
    return one.pass == pass && one.gpu == gpu && one.head_dim == head_dim && one.causal == causal &&
           one.seqlen == seqlen;
  });
  return found != settings.end()
             ? *found
             : settings.emplace_back(LadderSetting{pass, gpu, head_dim, causal, seqlen, {}, {}, {}, {}});
}

/// What the step of the ladder with the same change is called.
std::string label_of(const LadderSetting& setting, const LadderPoint& point) {
  const auto step = std::ranges::find(setting.ladder, point.change, &LadderPoint::change);
  return step != setting.ladder.end() && !point.change.empty() ? step->label
         : point.change.empty()                                ? point.variant
                                                               : point.change;
}

std::vector<LadderPoint>* series_of(LadderSetting& setting, const std::string& name) {
  return name == "ladder"           ? &setting.ladder
         : name == "alone_on_fa1"   ? &setting.alone_on_fa1
         : name == "taken_from_fa2" ? &setting.taken_from_fa2
         : name == "beyond_fa2"     ? &setting.beyond_fa2
                                    : nullptr;
}

}  // namespace

double LadderPoint::total_hbm_bytes() const {
  double bytes = 0;
  for (const auto& [tensor, of_tensor] : hbm_bytes) {
    bytes += of_tensor;
  }
  return bytes;
}

std::size_t rung_of(const Ladder& ladder, const std::string& pass, const std::string& variant) {
  const auto of = [&](auto&& matches) {
    const auto found = std::ranges::find_if(
        ladder.rungs, [&](const Rung& rung) { return rung.pass == pass && matches(rung); });
    return static_cast<std::size_t>(found - ladder.rungs.begin());
  };
  const std::size_t exact = of([&](const Rung& rung) { return rung.variant == variant; });
  return exact < ladder.rungs.size()
             ? exact
             : of([&](const Rung& rung) { return variant.starts_with(rung.variant + '_'); });
}

Ladder read_ladder(const Json& study) {
  Ladder ladder;
  ladder.title = text(study, "title");
  ladder.sentences = study.value("sentences", std::vector<std::string>());
  for (const Json& rung : study.at("rungs")) {
    ladder.rungs.push_back(
        {pass_of(rung), rung.at("variant"), rung.at("label"), text(rung, "change"), text(rung, "relieves")});
  }
  for (const Json& point : study.at("points")) {
    if (std::vector<LadderPoint>* series =
            series_of(setting_of(point, ladder.settings), point.value("series", ""))) {
      series->push_back(read_point(point));
    }
  }
  // Points may come in any order; the ladder has that of the rungs.
  for (LadderSetting& setting : ladder.settings) {
    std::ranges::stable_sort(setting.ladder, {}, [&](const LadderPoint& point) {
      return rung_of(ladder, setting.pass, point.variant);
    });
    for (LadderPoint& point : setting.ladder) {
      const std::size_t rung = rung_of(ladder, setting.pass, point.variant);
      point.label = rung < ladder.rungs.size() ? ladder.rungs[rung].label : point.variant;
    }
  }
  for (LadderSetting& setting : ladder.settings) {
    for (auto* series : {&setting.alone_on_fa1, &setting.taken_from_fa2, &setting.beyond_fa2}) {
      for (LadderPoint& point : *series) {
        point.label = point.label.empty() ? label_of(setting, point) : point.label;
      }
    }
  }
  return ladder;
}

}  // namespace warpscope::experiments

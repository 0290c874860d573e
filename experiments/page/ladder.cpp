#include "experiments/page/ladder.hpp"

#include <algorithm>

namespace warpscope::experiments {
namespace {

using Json = nlohmann::json;

/// Numbers that were not counted are null, or not there.
double number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

LadderPoint read_point(const Json& json) {
  LadderPoint point;
  point.variant = json.at("variant");
  point.change = text(json, "change");
  point.error = text(json, "error");
  if (!point.error.empty()) {
    return point;
  }
  point.time_us = json.at("time_us");
  point.tflops = json.at("tflops");
  if (const auto found = json.find("speedup"); found != json.end() && found->is_number()) {
    point.speedup = found->get<double>();
  }
  point.speedup_deviation = number(json, "speedup_deviation");
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
  const std::string gpu = point.at("gpu");
  const int head_dim = point.at("head_dim");
  const bool causal = point.at("causal");
  const int seqlen = point.at("seqlen");
  const auto found = std::ranges::find_if(settings, [&](const LadderSetting& one) {
    return one.gpu == gpu && one.head_dim == head_dim && one.causal == causal && one.seqlen == seqlen;
  });
  return found != settings.end()
             ? *found
             : settings.emplace_back(LadderSetting{gpu, head_dim, causal, seqlen, {}, {}, {}, {}});
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

std::string Ladder::label_of(const std::string& change) const {
  for (const Rung& rung : rungs) {
    if (rung.variant == change || rung.variant.ends_with('+' + change)) {
      return rung.label;
    }
  }
  for (const LadderSetting& setting : settings) {
    for (std::size_t i = 0; i < setting.ladder.size() && i < rungs.size(); ++i) {
      if (setting.ladder[i].change == change) {
        return rungs[i].label;
      }
    }
  }
  return change;
}

Ladder read_ladder(const Json& study) {
  Ladder ladder;
  ladder.title = text(study, "title");
  ladder.sentences = study.value("sentences", std::vector<std::string>());
  for (const Json& rung : study.at("rungs")) {
    ladder.rungs.push_back(
        {rung.at("variant"), rung.at("label"), text(rung, "change"), text(rung, "relieves")});
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
      return std::ranges::find(ladder.rungs, point.variant, &Rung::variant) - ladder.rungs.begin();
    });
  }
  return ladder;
}

}  // namespace warpscope::experiments

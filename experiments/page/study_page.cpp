#include "experiments/page/study_page.hpp"

#include "experiments/page/ladder_page.hpp"
#include "experiments/page/picture_chart.hpp"

namespace warpscope::experiments {

Page study_page(std::string_view name, const StudyOutput& output) {
  Page page;
  if (output.json.contains("rungs")) {
    page = ladder_page(read_ladder(output.json));
  } else {
    page.title = name;
    for (const Study& study : all_studies()) {
      page.subtitle = study.name == name ? study.description : page.subtitle;
    }
    page.sentences = output.json.value("sentences", std::vector<std::string>());
  }
  PageSection charts{"charts", "Charts", {}, {}};
  for (const Picture& picture : output.pictures) {
    charts.charts.push_back(
        std::visit([](const auto& chart) { return picture_chart(chart); }, picture.chart));
  }
  if (!charts.charts.empty()) {
    page.sections.push_back(std::move(charts));
  }
  PageSection report{"report", "Report", {}, {}};
  report.report = output.report;
  report.is_open = page.choices.is_null();
  page.sections.push_back(std::move(report));
  return page;
}

}  // namespace warpscope::experiments

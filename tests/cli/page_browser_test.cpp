// What a browser makes of pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/page/ladder_page.hpp"
#include "experiments/page/page.hpp"
#include "experiments/page/run_charts.hpp"
#include "experiments/page/study_page.hpp"
#include "tests/cli/browser.hpp"
#include "tests/cli/page_sample.hpp"

namespace warpscope::cli_test {
namespace {

using Json = nlohmann::ordered_json;

std::string cell_text(const Json& value) {
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

/// As JavaScript reads a number and writes it: what has no fraction has no point.
double number(const std::string& text) {
  return text.empty() ? 0 : std::stod(text);
}

/// A table as long as this is made when a reader opens it; its data are there as CSV.
constexpr std::size_t kLongTable = 1001;

void expect_cells(const ShownChart& chart, const Json& rows) {
  EXPECT_EQ(std::ranges::count(chart.csv, '\n'), static_cast<std::ptrdiff_t>(rows.size() + 1)) << chart.title;
  if (rows.size() >= kLongTable) {
    EXPECT_EQ(chart.cells.size(), 0U) << chart.title;
    return;
  }
  std::size_t at = 0;
  for (const Json& row : rows) {
    for (const Json& value : row) {
      ASSERT_LT(at, chart.cells.size()) << chart.title;
      if (value.is_number()) {
        EXPECT_EQ(number(chart.cells[at]), value.get<double>()) << chart.title << " cell " << at;
      } else {
        EXPECT_EQ(chart.cells[at], cell_text(value)) << chart.title << " cell " << at;
      }
      ++at;
    }
  }
  EXPECT_EQ(at, chart.cells.size()) << chart.title;
}

const ShownChart& find_chart(const std::vector<ShownChart>& charts, const std::string& title) {
  const auto found = std::ranges::find(charts, title, &ShownChart::title);
  if (found == charts.end()) {
    throw std::runtime_error("no chart " + title);
  }
  return *found;
}

const Json& find_spec(const Json& specs, const std::string& title) {
  for (const Json& spec : specs) {
    if (spec["title"] == title) {
      return spec;
    }
  }
  throw std::runtime_error("no data of " + title);
}

class BrowserPage : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_browser()) {
      GTEST_SKIP() << "there is no browser: the package chromium is missing";
    }
  }

  /// Opens the page; nothing on its console.
  std::vector<ShownChart> charts_of(const std::string& file) {
    const BrowsedPage browsed = browse(directory_ / file, directory_.path());
    EXPECT_EQ(browsed.messages, std::vector<std::string>());
    std::vector<ShownChart> charts = shown_charts(browsed.dom);
    for (const ShownChart& chart : charts) {
      if (chart.kind != "table") {
        EXPECT_GE(chart.drawings, 1U) << chart.title;
        EXPECT_TRUE(chart.alternative.starts_with(chart.title)) << chart.alternative;
      }
    }
    return charts;
  }

  TemporaryDirectory directory_;
};

TEST_F(BrowserPage, ErrorsOfScriptsAreNoticed) {
  write_text(directory_ / "broken.html", "<!DOCTYPE html><title>x</title><script>nothing.there();</script>");
  EXPECT_FALSE(browse(directory_ / "broken.html", directory_.path()).messages.empty());
}

TEST_F(BrowserPage, ShowsARun) {
  const ProgramResult result = run_program(
      small_run("fa2", {"--why", "--set", "l2.ways=8", "--json", "run.json", "--report", "run.html"}),
      directory_.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const Json run = Json::parse(file_text(directory_ / "run.json"));
  const std::string html = file_text(directory_ / "run.html");
  EXPECT_NE(html.find("<code>l2.ways=8</code>"), std::string::npos);
  const Json specs = data_of(html)["charts"];
  const std::vector<ShownChart> charts = charts_of("run.html");
  ASSERT_EQ(charts.size(), specs.size());
  for (std::size_t i = 0; i < charts.size(); ++i) {
    EXPECT_EQ(charts[i].title, specs[i]["title"]);
    expect_cells(charts[i], specs[i]["rows"]);
  }
  const ShownChart& traffic = find_chart(charts, "HBM traffic by tensor");
  EXPECT_EQ(traffic.marks, 2 * run["hbm_traffic"].size());
  const ShownChart& busy = find_chart(charts, "Busy share of each unit");
  EXPECT_EQ(busy.marks, run["busy"].size());
  for (const Json& row : find_spec(specs, "Busy share of each unit")["rows"]) {
    EXPECT_EQ(row[1].get<double>(), run["busy"][row[0].get<std::string>()].get<double>());
  }
  for (const Json& row : find_spec(specs, "What warps waited for")["rows"]) {
    EXPECT_GT(run["stalls"][row[0].get<std::string>()].get<double>(), 0);
  }
  EXPECT_EQ(find_chart(charts, "Time with more of each resource").marks, run["why"].size());
  EXPECT_EQ(find_chart(charts, "Roofline: matmul and non-matmul work").marks, 4U);
  EXPECT_EQ(find_chart(charts, "CTAs on the SMs").marks, run["metrics"]["launch__grid_size"]);
  for (const Json& row : find_spec(specs, "Busy share of each unit")["rows"]) {
    EXPECT_NE(html.find("<dt>" + row[0].get<std::string>() + "</dt>"), std::string::npos)
        << row[0] << " is explained";
  }
  // The nearest launch of this kernel that was measured, on the same GPU.
  EXPECT_EQ(find_spec(specs, "The model beside the nearest measured and published numbers")["rows"][0][1],
            "h200-sxm-141gb");
}

TEST_F(BrowserPage, ShowsALadder) {
  write_text(directory_ / "ladder.html", experiments::html(experiments::ladder_page(sample())));
  const std::vector<ShownChart> charts = charts_of("ladder.html");
  const Json choices = data_of(file_text(directory_ / "ladder.html"))["choices"];
  // The one with most points.
  ASSERT_EQ(choices["first_shown"], 1);
  const Json& first = choices["settings"][1];
  ASSERT_EQ(charts.size(), choices["charts"].size());
  for (std::size_t i = 0; i < charts.size(); ++i) {
    EXPECT_EQ(charts[i].title, choices["charts"][i]["title"]);
    expect_cells(charts[i], first["rows"][i]);
  }
  const Json study = Json::parse(sample_text());
  std::vector<double> times;
  for (const Json& point : study["points"]) {
    if (point["gpu"] == "a100-sxm4-80gb" && point["head_dim"] == 64 && point["series"] == "ladder") {
      times.push_back(point["time_us"]);
    }
  }
  ASSERT_EQ(times.size(), study["rungs"].size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(first["rows"][0][i][1], times[i]);
  }
  const std::size_t steps = study["rungs"].size();
  EXPECT_EQ(find_chart(charts, "Time, step by step").marks, steps);
  EXPECT_EQ(find_chart(charts, "Each change alone").marks, 12U);
  EXPECT_EQ(find_chart(charts, "Barriers").marks, steps);
  EXPECT_EQ(find_chart(charts, "HBM bytes by tensor").marks, 6 * steps);
  EXPECT_EQ(find_chart(charts, "Beyond FA2").marks, 4U);
}

TEST_F(BrowserPage, ShowsTheSettingThatIsChosen) {
  std::string html = experiments::html(experiments::ladder_page(sample()));
  const std::string choose =
      "<script>const list = document.querySelector('select[name=gpu]'); list.value = 'h100-sxm5-80gb';"
      "list.dispatchEvent(new Event('change'));</script>";
  html.insert(html.find("</body>"), choose);
  write_text(directory_ / "chosen.html", html);
  const std::vector<ShownChart> charts = charts_of("chosen.html");
  // Nothing was run there with the other choices: the setting that has most of them.
  const Json settings = data_of(html)["choices"]["settings"];
  ASSERT_EQ(settings[0]["choice"]["gpu"], "h100-sxm5-80gb");
  // Charts without rows are not drawn.
  Json rows = settings[0]["rows"];
  EXPECT_EQ(
      std::erase_if(rows.get_ref<Json::array_t&>(), [](const Json& of_chart) { return of_chart.empty(); }),
      1U);
  ASSERT_EQ(charts.size(), rows.size());
  for (std::size_t i = 0; i < charts.size(); ++i) {
    expect_cells(charts[i], rows[i]);
  }
  EXPECT_EQ(find_chart(charts, "Barriers").marks, rows[0].size() - 1) << "one step has no numbers";
}

TEST_F(BrowserPage, ShowsAComparison) {
  Arguments arguments = small_run(
      "fa2", {"--json", "c.json", "--report", "c.html", "--", "--set", "sm.xu.lanes=4", "--causal"});
  arguments[0] = "compare";
  ASSERT_EQ(run_program(arguments, directory_.path()).status, 0);
  const Json comparison = Json::parse(file_text(directory_ / "c.json"));
  const std::string html = file_text(directory_ / "c.html");
  EXPECT_NE(html.find(comparison["sentence"].get<std::string>()), std::string::npos);
  const std::vector<ShownChart> charts = charts_of("c.html");
  const Json specs = data_of(html)["charts"];
  ASSERT_EQ(charts.size(), specs.size());
  for (std::size_t i = 0; i < charts.size(); ++i) {
    expect_cells(charts[i], specs[i]["rows"]);
    EXPECT_EQ(charts[i].marks, specs[i]["rows"].size()) << charts[i].title;
  }
  const auto first_stall = std::ranges::find_if(
      comparison["differences"], [](const Json& difference) { return difference["group"] == "stalls"; });
  const Json& stall = find_spec(specs, "Warps that wait, per issue")["rows"][0];
  EXPECT_EQ(stall[0], (*first_stall)["name"]);
  EXPECT_EQ(stall[1].get<double>(), (*first_stall)["b"].get<double>() - (*first_stall)["a"].get<double>());
  EXPECT_EQ(stall[2], (*first_stall)["plus_minus"]);
}

TEST_F(BrowserPage, ShowsATimeline) {
  metrics::TimelineData timeline;
  timeline.sm = 1;
  timeline.launches.push_back({{0, 120}, 0, 1000, "launch", {4, 1, 1}, 4, 2, 4, {}});
  // In the order in which they ended.
  for (const auto& [sm, slot, number, begin, end] : std::vector<std::array<int, 5>>{
           {0, 1, 2, 5, 80}, {0, 0, 0, 0, 90}, {1, 0, 1, 0, 95}, {0, 1, 3, 85, 120}}) {
    timeline.ctas.push_back({{begin, end}, 0, sm, slot, static_cast<std::uint64_t>(number), {}, 0});
  }
  timeline.warps.push_back({{3, 8}, 2, 5, trace::Pipe::tensor, metrics::Stall::selected});
  timeline.warps.push_back({{8, 20}, 0, 5, trace::Pipe::control, metrics::Stall::barrier});
  timeline.warps.push_back({{4, 9}, 1, 0, trace::Pipe::xu, metrics::Stall::selected});
  experiments::Page page;
  page.sections.push_back({"ctas", "CTAs", {}, {experiments::cta_chart(timeline)}});
  page.sections.push_back({"warps", "Warps", {}, {experiments::warp_chart(timeline)}});
  write_text(directory_ / "timeline.html", experiments::html(page));
  const std::vector<ShownChart> charts = charts_of("timeline.html");
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[0].marks, 4U);
  EXPECT_EQ(charts[0].csv,
            "sm,slot,cta,start_cycles,end_cycles\n0,0,0,0,90\n0,1,2,5,80\n0,1,3,85,120\n1,0,1,0,95\n");
  EXPECT_EQ(charts[1].marks, 3U);
  EXPECT_EQ(charts[1].csv,
            "subcore,warp,start_cycles,end_cycles,state,kind\n0,0,4,9,1 to xu,XU pipe\n1,5,3,8,2 to "
            "tensor,tensor pipe\n"
            "1,5,8,20,barrier,waits at barrier\n");
}

TEST_F(BrowserPage, ShowsTheChartsOfAStudy) {
  experiments::LineChart lines{"Lines", "of bytes", "tokens", "bytes", false, {}};
  lines.panels.push_back({"left",
                          {{512, "512"}, {1024, "1k"}},
                          {{"counted", "#1f6fa8", false, {{512, 10}, {1024, 25}}},
                           {"law", "#444444", true, {{512, 8}, {1024, 16}}}}});
  experiments::BarChart bars{"Bars", "of speed", "tokens", "TFLOP/s", false, {}};
  bars.panels.push_back(
      {"d 64", {"512", "1k"}, {{"fa2", "#1f6fa8", "#1f6fa8", {100, std::nullopt}, {"", ""}}}});
  const experiments::StudyOutput output{
      "the <report>\n", "", {{"study", "tiny"}}, {{"a", lines}, {"b", bars}}};
  const std::string html = experiments::html(experiments::study_page("tiny", output));
  EXPECT_NE(html.find("the &lt;report&gt;\n</pre>"), std::string::npos);
  write_text(directory_ / "study.html", html);
  const std::vector<ShownChart> charts = charts_of("study.html");
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[0].marks, 2U) << "a reference is a line without marks";
  EXPECT_EQ(charts[0].csv,
            "panel,series,x,y,is_reference\nleft,counted,512,10,false\nleft,counted,1024,25,false\nleft,law,"
            "512,8,true\n"
            "left,law,1024,16,true\n");
  EXPECT_EQ(charts[1].marks, 1U);
  EXPECT_EQ(charts[1].csv, "panel,series,x,y,is_reference\nd 64,fa2,0,100,false\nd 64,fa2,1,,false\n");
}

}  // namespace
}  // namespace warpscope::cli_test

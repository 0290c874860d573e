// The bars of paper-figures, and its report from made-up results.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/batch/point_simulator.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/data/forward_reference.hpp"
#include "experiments/data/number.hpp"
#include "experiments/plot/gnuplot.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "experiments/study/paper_figures.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::experiments {
namespace {

using kernels::Pass;

std::vector<kernels::Problem> passes_of(const PaperBar& bar) {
  return kernels::problem_by_pass(bar.problem);
}

/// Every bar that is modelled is 10 % above the published one, and 100 TFLOP/s where that is OOM.
class PaperFigures : public testing::Test {
 protected:
  PaperFigures() : bars_(paper_bars(reference_directory())) {
    for (PaperBar& bar : bars_) {
      const double tflops = bar.published.tflops ? 1.1 * *bar.published.tflops : 100;
      for (const Point& pass : bar.passes) {
        StudyResult outcome;
        outcome.result.time_us =
            credited_flops(bar.problem) / tflops / 1e6 / static_cast<double>(passes_of(bar).size());
        outcome.result.busiest = "tensor pipe";
        outcome.result.busiest_share = pass.problem.pass == Pass::forward ? 0.6 : 0.7;
        bar.outcomes.push_back(outcome);
      }
    }
  }

  PaperBar& find(int figure, const std::string& method, int head_dim, bool causal, int seqlen) {
    const auto found = std::ranges::find_if(bars_, [&](const PaperBar& bar) {
      return bar.published.figure == figure && bar.published.method == method &&
             bar.published.head_dim == head_dim && bar.published.causal == causal &&
             bar.published.seqlen == seqlen;
    });
    if (found == bars_.end()) {
      throw std::runtime_error("no such bar");
    }
    return *found;
  }

  std::vector<PaperBar> bars_;
};

TEST_F(PaperFigures, BarsAreThoseOfThePaper) {
  EXPECT_EQ(bars_.size(), 3U * 5 * 24 + 3 * 24) << "five methods on A100, three on H100";
  const PaperBar& bar = find(5, "pytorch", 64, false, 512);
  EXPECT_EQ(bar.published.tflops, 29.45);
  EXPECT_EQ(bar.published.gpu, "a100-sxm4-80gb");
  EXPECT_EQ(bar.published.pass, Pass::forward);
  EXPECT_EQ(find(7, "fa2", 128, true, 16384).published.gpu, "h100-sxm5-80gb");
  const auto out_of_memory =
      std::ranges::count_if(bars_, [](const PaperBar& one) { return !one.published.tflops.has_value(); });
  EXPECT_EQ(out_of_memory, 4 * 4) << "PyTorch at 16384 tokens in each panel";
  for (const PaperBar& one : bars_) {
    EXPECT_EQ(one.problem.batch * one.problem.seqlen_q, 16384);
    EXPECT_EQ(one.problem.heads * one.problem.head_dim, 2048);
  }
}

TEST_F(PaperFigures, AKernelThatHasThePassIsModelled) {
  for (const PaperBar& bar : bars_) {
    const auto kernels = kernels::all_kernels();
    const auto kernel = std::ranges::find(kernels, bar.method->kernel, &kernels::Kernel::name);
    EXPECT_EQ(bar.is_modelled(), kernel != kernels.end() && kernel->has(bar.published.pass));
    const bool tries_two = bar.published.pass != Pass::forward && !bar.method->backward_alternative.empty();
    EXPECT_EQ(bar.passes.size(), bar.is_modelled() ? passes_of(bar).size() + (tries_two ? 1 : 0) : 0U);
  }
  EXPECT_TRUE(find(6, "fa2", 64, false, 512).is_modelled());
}

TEST_F(PaperFigures, BothPassesAreThePointsOfTheOtherFigures) {
  PointSimulator simulator;
  std::set<std::string> alone;
  std::set<std::string> together;
  for (const PaperBar& bar : bars_) {
    for (const Point& point : bar.passes) {
      if (bar.published.figure != 7) {
        (bar.published.figure == 4 ? together : alone).insert(simulator.keyed(point).key);
      }
    }
  }
  EXPECT_GE(together.size(), 4U * 24);
  EXPECT_TRUE(std::ranges::includes(alone, together));
}

TEST_F(PaperFigures, TimesOfBothPassesAddUp) {
  PaperBar& bar = find(4, "fa2", 64, true, 2048);
  ASSERT_EQ(bar.outcomes.size(), 2U);
  bar.outcomes.at(0).result.time_us = 1000;
  bar.outcomes.at(1).result.time_us = 3000;
  const double forward_flops = 4.0 * 8 * 32 * 2048 * 2048 * 64 / 2;
  EXPECT_DOUBLE_EQ(bar.tflops().value(), 3.5 * forward_flops / 4000e-6 / 1e12);
  bar.outcomes.at(0).error = "no luck";
  EXPECT_EQ(bar.error(), "no luck");
  EXPECT_FALSE(bar.tflops().has_value());
}

TEST_F(PaperFigures, OfTwoSettingsTheFasterCounts) {
  PaperBar& bar = find(4, "fa_triton", 64, true, 2048);
  ASSERT_EQ(bar.outcomes.size(), 3U) << "forward, and backward in two settings";
  EXPECT_EQ(bar.passes[1].kernel, "triton");
  EXPECT_EQ(bar.passes[2].kernel, "triton_seqpar");
  bar.outcomes[0].result.time_us = 1000;
  bar.outcomes[1].result.time_us = 3000;
  bar.outcomes[2].result.time_us = 2000;
  EXPECT_EQ(bar.time_us(), 3000);
  bar.outcomes[2].error = "out of memory";
  EXPECT_EQ(bar.time_us(), 4000);
  EXPECT_EQ(bar.error(), "") << "the benchmark takes the one that runs";
  bar.outcomes[1].error = "no luck";
  EXPECT_EQ(bar.error(), "no luck");
  EXPECT_FALSE(bar.time_us().has_value());
}

TEST_F(PaperFigures, MeasuredNumbersStandBeside) {
  EXPECT_NEAR(find(5, "fa2", 64, false, 512).measured_tflops.value(), 270.36, 0.005);
  // Two rows of time_standard.csv.
  const double both_flops = 3.5 * 4 * 32 * 32 * 512 * 512 * 64;
  EXPECT_DOUBLE_EQ(find(7, "pytorch", 64, false, 512).measured_tflops.value(),
                   both_flops / (1124.992 + 1971.024) / 1e6);
  EXPECT_FALSE(find(5, "fa_triton", 64, false, 512).measured_tflops.has_value());
}

TEST_F(PaperFigures, BytesAliveAreWhatPyTorchAllocates) {
  constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;  // of a handle of cuBLAS on Hopper
  const CsvTable table = read_csv((reference_directory() / "measured-h200/time_standard.csv").string());
  ASSERT_EQ(table.rows.size(), 48U);
  std::int64_t workspaces = 1;  // backward brings a thread, whose handle stays
  for (const CsvRecord& row : table.rows) {
    const bool backward = cell(table, row, "pass") == "bwd";
    workspaces = backward ? 2 : workspaces;
    const PaperBar& bar = find(backward ? 6 : 5, "pytorch", integer(table, row, "head_dim"),
                               integer(table, row, "causal") == 1, integer(table, row, "seqlen_q"));
    EXPECT_EQ(bar.live_bytes + workspaces * kWorkspace, std::stoll(cell(table, row, "peak_allocated_bytes")))
        << describe_shape(bar);
  }
}

TEST_F(PaperFigures, BytesAliveOfOtherKernelsAreTheirTensors) {
  // Q, K, V and O in fp16, a logarithm in fp32 for each query.
  EXPECT_EQ(find(5, "fa2", 64, false, 512).live_bytes, 16384 * (4 * 2048 * 2 + 32 * 4));
}

TEST_F(PaperFigures, OutOfMemoryIsCounted) {
  PaperBar& bar = find(6, "pytorch", 64, false, 16384);
  EXPECT_EQ(bar.memory_bytes, std::int64_t{80} << 30);
  EXPECT_FALSE(bar.runs_out_of_memory());
  bar.memory_bytes = bar.live_bytes;
  EXPECT_FALSE(bar.runs_out_of_memory());
  bar.memory_bytes = bar.live_bytes - 1;
  EXPECT_TRUE(bar.runs_out_of_memory());
  bar.outcomes.at(0).error = "out of memory: ...";
  EXPECT_NE(paper_memory_table(bars_).find("OOM      69.1           69.1  out of memory"), std::string::npos)
      << paper_memory_table(bars_);
  const BarSeries& model = paper_chart(paper_figures()[2], bars_).panels[0].series[1];
  EXPECT_EQ(model.name, "PyTorch model");
  EXPECT_EQ(model.labels.back(), "OOM");
}

TEST_F(PaperFigures, ErrorsAreByFigureMethodHeadDimensionAndMask) {
  find(5, "fa2", 128, true, 1024).outcomes.at(0).result.time_us /= 2;
  const std::vector<PaperErrors> errors = paper_errors(bars_);
  EXPECT_GE(errors.size(), 4U * (2 + 3 + 2 + 2));
  const CsvTable table = parse_csv(paper_errors_csv(errors), "errors.csv");
  ASSERT_EQ(table.rows.size(), errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const PublishedBar& bar = errors[i].first->published;
    EXPECT_EQ(errors[i].errors.count(), bar.method == "pytorch" ? 5U : 6U);
    const bool altered = bar.figure == 5 && bar.method == "fa2" && bar.head_dim == 128 && bar.causal;
    EXPECT_NEAR(errors[i].errors.worst(), altered ? 1.2 : 0.1, 1e-9);
    EXPECT_EQ(cell(table, table.rows[i], "measured_h200_over_published").empty(), bar.figure != 7);
  }
  EXPECT_NE(worst_bars_table(bars_, 1).find("5  FA2, d 128 causal, 1024 tokens"), std::string::npos);
  const std::string both = worst_bars_table(bars_, bars_.size());
  EXPECT_NE(both.find("fwd +10.0 %, bwd +10.0 %"), std::string::npos);
  EXPECT_NE(both.find("fwd tensor pipe 60 %, bwd tensor pipe 70 %"), std::string::npos);
}

TEST_F(PaperFigures, OutputsHaveEveryBar) {
  find(5, "fa1", 64, false, 512).outcomes.at(0).error = "no\nluck";
  const StudyOutput output = paper_output(bars_);
  const CsvTable table = parse_csv(output.csv, "paper-figures.csv");
  ASSERT_EQ(table.rows.size(), bars_.size());
  for (std::size_t i = 0; i < bars_.size(); ++i) {
    const CsvRecord& row = table.rows[i];
    EXPECT_EQ(cell(table, row, "published_tflops") == "OOM", !bars_[i].published.tflops);
    EXPECT_EQ(cell(table, row, "model_error") == "not modelled", !bars_[i].is_modelled());
    EXPECT_EQ(cell(table, row, "model_tflops").empty(), !bars_[i].tflops());
  }
  EXPECT_NE(output.csv.find("no; luck"), std::string::npos);
  EXPECT_NE(output.report.find("not simulated: fa1 fwd fp16 b 32 h 32/32 q 512"), std::string::npos);
  EXPECT_EQ(output.report.find("not modelled, published bars alone: ") != std::string::npos,
            std::ranges::any_of(bars_, [](const PaperBar& bar) { return !bar.is_modelled(); }));
  EXPECT_EQ(output.pictures.size(), 4U);
  EXPECT_EQ(output.tables.front().name, "errors.csv");
}

TEST_F(PaperFigures, InSampleIsWhatInstructionCountsWereTakenFrom) {
  EXPECT_TRUE(find(6, "fa2", 64, false, 8192).is_in_sample);
  EXPECT_FALSE(find(6, "fa2", 64, false, 4096).is_in_sample);
  EXPECT_TRUE(find(4, "fa2", 64, false, 8192).is_in_sample) << "its backward pass is";
  EXPECT_FALSE(find(5, "fa2", 64, false, 8192).is_in_sample);
}

TEST_F(PaperFigures, ChartsHaveModelsWhereThereAreSome) {
  const BarChart chart = paper_chart(paper_figures()[3], bars_);
  ASSERT_EQ(chart.panels.size(), 4U);
  EXPECT_EQ(chart.panels[3].title, "head dimension 128, causal");
  const BarSeries& last = chart.panels[3].series.back();
  EXPECT_EQ(last.name, "FA2 H200");
  EXPECT_EQ(last.values.size(), 6U);
  for (const PaperFigure& figure : paper_figures()) {
    for (const BarPanel& panel : paper_chart(figure, bars_).panels) {
      for (const BarSeries& series : panel.series) {
        EXPECT_EQ(series.values.size(), panel.groups.size()) << series.name;
      }
    }
  }
}

TEST_F(PaperFigures, DrawsCharts) {
  try {
    require_gnuplot();
  } catch (const std::exception& error) {
    GTEST_SKIP() << error.what();
  }
  const cli_test::TemporaryDirectory directory;
  draw(paper_chart(paper_figures()[0], bars_), directory / "figure-4");
  const std::string picture = cli_test::file_text(directory / "figure-4.svg");
  EXPECT_NE(picture.find("Triton paper"), std::string::npos);
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
}

TEST_F(PaperFigures, EachBarGetsTheResultsOfItsOwnPoints) {
  try {
    require_gnuplot();
  } catch (const std::exception& error) {
    GTEST_SKIP() << error.what();
  }
  const cli_test::TemporaryDirectory directory;
  {
    PointSimulator simulator;
    ResultStore store(directory / "paper-figures.store", ResultStore::Use::fresh, model_version());
    std::map<std::string, double> times_us;  // all different
    for (PaperBar& bar : bars_) {
      for (std::size_t i = 0; i < bar.passes.size(); ++i) {
        const std::string key = simulator.keyed(bar.passes[i]).key;
        const double next_us = 1000.0 + static_cast<double>(times_us.size());
        bar.outcomes[i].result.time_us = times_us.emplace(key, next_us).first->second;
        store.put(key, "", {Fate::done, to_json(bar.outcomes[i].result).dump()});
      }
    }
  }
  testing::internal::CaptureStdout();
  run_paper_figures({directory.path().string(), {1, {}}, true});
  EXPECT_TRUE(testing::internal::GetCapturedStdout().starts_with(paper_report(bars_)));
  EXPECT_EQ(cli_test::file_text(directory / "paper-figures.csv"), paper_output(bars_).csv);
  EXPECT_TRUE(nlohmann::json::accept(cli_test::file_text(directory / "paper-figures.json")));
  EXPECT_EQ(directory.files().size(), 5U + 4 * 2) << "texts, a table and a page; script and picture of each";
}

}  // namespace
}  // namespace warpscope::experiments

#include "experiments/data/forward_reference.hpp"

#include <array>
#include <string_view>

#include "experiments/base/data_directory.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/data/number.hpp"

namespace warpscope::experiments {
namespace {

struct Alias {
  std::string_view there;
  std::string_view here;
};

// Methods of the paper's Figure 5 that are kernels here; the other bars are not used.
constexpr std::array kMethods = {Alias{"pytorch", "standard"}, Alias{"fa1", "fa1"}, Alias{"fa2", "fa2"}};
constexpr std::string_view kPublishedForward = "Fig5";
constexpr const char* kPublishedGpu = "a100-sxm4-80gb";
constexpr const char* kMeasuredGpu = "h200-sxm-141gb";

}  // namespace

std::filesystem::path reference_directory() {
  return data_directory("reference", "experiments/reference");
}

ForwardReferences::ForwardReferences(const std::filesystem::path& directory) {
  read_published(directory / "published/fa2_published_tflops_hires.csv");
  for (const char* file : {"time_fa1.csv", "time_fa2.csv", "time_sdpa.csv"}) {
    read_measured(directory / "measured-h200" / file);
  }
}

const ForwardReference* ForwardReferences::find(const ForwardKey& key) const {
  const auto found = references_.find(key);
  return found == references_.end() ? nullptr : &found->second;
}

void ForwardReferences::read_published(const std::filesystem::path& file) {
  const CsvTable table = read_csv(file.string());
  for (const CsvRecord& row : table.rows) {
    const std::string method = cell(table, row, "method");
    for (const Alias& alias : kMethods) {
      if (alias.there != method || !cell(table, row, "figure").starts_with(kPublishedForward)) {
        continue;
      }
      const ForwardKey key{kPublishedGpu, std::string(alias.here), integer(table, row, "head_dim"),
                           integer(table, row, "causal") == 1, integer(table, row, "seqlen")};
      const bool out_of_memory =
          cell(table, row, "barheight_tflops").empty() || cell(table, row, "label_tflops") == "OOM";
      references_[key] = {
          out_of_memory ? std::nullopt : std::optional<double>(number(table, row, "barheight_tflops")),
          "published"};
    }
  }
}

void ForwardReferences::read_measured(const std::filesystem::path& file) {
  const CsvTable table = read_csv(file.string());
  for (const CsvRecord& row : table.rows) {
    if (cell(table, row, "pass") == "fwd") {
      const ForwardKey key{kMeasuredGpu, cell(table, row, "impl"), integer(table, row, "head_dim"),
                           integer(table, row, "causal") == 1, integer(table, row, "seqlen_q")};
      references_[key] = {number(table, row, "tflops"), "measured"};
    }
  }
}

}  // namespace warpscope::experiments

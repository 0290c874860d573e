// A report as one HTML file that needs nothing else: text, charts with their data, a glossary.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/page/chart.hpp"

namespace warpscope::experiments {

/// A heading, what is said below it, and charts.
struct PageSection {
  std::string id;  ///< what links name it by
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<Chart> charts;
  bool has_choices = false;  ///< the place of Page::choices
  bool is_open = false;      ///< whether the report shows before anybody asks for it
  std::string report{};      ///< text with its line breaks, behind the charts
};

struct Page {
  std::string title;
  std::string subtitle;                                    ///< what was run
  std::vector<std::string> changes;                        ///< what was set differently
  std::vector<std::pair<std::string, std::string>> facts;  ///< the few numbers that matter most, with names
  std::vector<std::string> sentences;                      ///< what the numbers say
  std::vector<PageSection> sections;
  std::vector<std::string> words;  ///< that stand on the page and may want explaining
  nlohmann::ordered_json
      choices;  ///< charts that a reader chooses among, see charts/choices.js; null if none
};

/// All of it; equal pages give equal bytes.
std::string html(const Page& page);

/// Text as it stands in HTML, attributes included.
std::string escape_html(std::string_view text);
/// JSON as it may stand within <script>: nothing in it can end the element.
std::string script_json(const nlohmann::ordered_json& json);

/// True for names of files that should hold a page.
bool names_page(std::string_view file);

}  // namespace warpscope::experiments

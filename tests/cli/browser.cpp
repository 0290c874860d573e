#include "tests/cli/browser.hpp"

#include <sstream>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

/// What stands between `begin` and `end`, from `at` on; `at` moves behind it, or to npos where there is none.
std::string between(const std::string& text, const std::string& begin, const std::string& end,
                    std::size_t& at) {
  const std::size_t from = text.find(begin, at);
  const std::size_t to = from == std::string::npos ? from : text.find(end, from + begin.size());
  at = to == std::string::npos ? to : to + end.size();
  return to == std::string::npos ? "" : text.substr(from + begin.size(), to - from - begin.size());
}

std::string first_between(const std::string& text, const std::string& begin, const std::string& end) {
  std::size_t at = 0;
  return between(text, begin, end, at);
}

std::vector<std::string> all_between(const std::string& text, const std::string& begin,
                                     const std::string& end) {
  std::vector<std::string> found;
  for (std::size_t at = 0;;) {
    std::string one = between(text, begin, end, at);
    if (at == std::string::npos) {
      return found;
    }
    found.push_back(std::move(one));
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string unescaped(const std::string& text) {
  return replaced(replaced(replaced(replaced(text, "&lt;", "<"), "&gt;", ">"), "&quot;", "\""), "&amp;", "&");
}

std::string percent_decoded(const std::string& text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      decoded += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

ShownChart shown_chart(const std::string& figure) {
  ShownChart chart;
  chart.kind = first_between(figure, "chart-", "\"");
  chart.title = unescaped(first_between(figure, "<h3>", "</h3>"));
  chart.alternative = unescaped(first_between(figure, "role=\"img\" aria-label=\"", "\""));
  chart.drawings = all_between(figure, "role=\"img\" aria-label=\"", ".\"").size();
  chart.marks = all_between(figure, "class=\"mark ", "\"").size();
  for (const std::string& cell : all_between(figure, "<data value=\"", "\"")) {
    chart.cells.push_back(unescaped(cell));
  }
  chart.csv = percent_decoded(first_between(figure, "data:text/csv;charset=utf-8,", "\""));
  return chart;
}

}  // namespace

bool has_browser() {
  return std::filesystem::exists("/usr/bin/chromium");
}

BrowsedPage browse(const std::filesystem::path& page, const std::filesystem::path& directory) {
  const std::filesystem::path profile = directory / "browser";
  const ProgramResult result =
      run({"/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
           "--no-first-run", "--disable-background-networking", "--disable-component-update",
           "--disable-sync", "--user-data-dir=" + profile.string(), "--enable-logging=stderr",
           "--window-size=1000,800", "--dump-dom", "file://" + page.string()},
          directory);
  BrowsedPage browsed{result.out, {}};
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("CONSOLE") != std::string::npos) {
      browsed.messages.push_back(line);
    }
  }
  return browsed;
}

std::vector<ShownChart> shown_charts(const std::string& dom) {
  std::vector<ShownChart> charts;
  for (const std::string& figure : all_between(dom, "<figure class=\"", "</figure>")) {
    charts.push_back(shown_chart(figure));
  }
  return charts;
}

}  // namespace warpscope::cli_test

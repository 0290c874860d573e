// A browser without a window, to see what a page makes of itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpscope::cli_test {

/// What a browser made of a page.
struct BrowsedPage {
  std::string dom;                    ///< once all scripts have run
  std::vector<std::string> messages;  ///< that the page left on the console: errors and the like
};

/// True where Chromium is installed.
bool has_browser();

/// Opens a page with Chromium. Its own files go into `directory`.
BrowsedPage browse(const std::filesystem::path& page, const std::filesystem::path& directory);

/// A chart of a page as its reader finds it.
struct ShownChart {
  std::string title;
  std::string kind;
  std::string alternative;         ///< text of the first drawing
  std::size_t drawings = 0;        ///< all with role="img" and a text
  std::size_t marks = 0;           ///< bars, points, spans
  std::vector<std::string> cells;  ///< of the table, as numbers are stored
  std::string csv;                 ///< what the link downloads
};

/// The charts of a page in order.
std::vector<ShownChart> shown_charts(const std::string& dom);

}  // namespace warpscope::cli_test

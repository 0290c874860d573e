#include "experiments/page/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "experiments/explain/glossary.hpp"
#include "experiments/page/page_files.hpp"
#include "experiments/store/model_version.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

std::string paragraphs(const std::vector<std::string>& texts, const char* style) {
  std::string page;
  for (const std::string& text : texts) {
    page += fmt::format("<p{}>{}</p>\n", style, escape_html(text));
  }
  return page;
}

std::string header(const Page& page) {
  std::string text = fmt::format("<h1>{}</h1>\n", escape_html(page.title));
  if (!page.subtitle.empty()) {
    text += fmt::format("<p class=\"subtitle\">{}</p>\n", escape_html(page.subtitle));
  }
  if (!page.changes.empty()) {
    text +=
        fmt::format("<p class=\"changes\">Changed against the GPU as it is described: <code>{}</code></p>\n",
                    escape_html(fmt::format("{}", fmt::join(page.changes, " "))));
  }
  if (!page.facts.empty()) {
    text += "<dl class=\"facts\">\n";
    for (const auto& [name, value] : page.facts) {
      text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(name), escape_html(value));
    }
    text += "</dl>\n";
  }
  text += paragraphs(page.sentences, " class=\"sentence\"");
  text += "<nav aria-label=\"Sections\"><ul>\n";
  for (const PageSection& section : page.sections) {
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escape_html(section.title));
  }
  return text + "</ul></nav>";
}

/// The section; its charts join `charts`, and stand in the page as numbered places.
std::string section_html(const PageSection& section, Json& charts) {
  std::string text =
      fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n",
                  section.id, escape_html(section.title));
  text += paragraphs(section.paragraphs, "");
  if (section.has_choices) {
    text += "<div id=\"choices\"></div>\n";
  }
  for (const Chart& chart : section.charts) {
    text += fmt::format("<div class=\"chart\" data-chart=\"{}\"></div>\n", charts.size());
    charts.push_back(chart.json());
  }
  if (!section.report.empty()) {
    text += fmt::format(
        "<details{}><summary>The report as text</summary><pre class=\"report\" "
        "tabindex=\"0\">{}</pre></details>\n",
        section.is_open ? " open" : "", escape_html(section.report));
  }
  return text + "</section>\n";
}

/// What the glossary says of the words; each entry once, and those that it lacks left out.
std::string words_html(const std::vector<std::string>& words) {
  std::string entries;
  std::set<const GlossaryEntry*> shown;
  for (const std::string& word : words) {
    if (const auto hit = find_word(word); hit && shown.insert(hit->entry).second) {
      entries += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(word), escape_html(hit->entry->text));
    }
  }
  return entries.empty() ? ""
                         : "<section id=\"glossary\" aria-labelledby=\"glossary-title\">\n"
                           "<h2 id=\"glossary-title\">Words</h2>\n<dl class=\"glossary\">\n" +
                               entries + "</dl>\n</section>\n";
}

/// "5.16.0", out of the first line of the library: "// https://d3js.org v5.16.0 Copyright ...".
std::string library_version() {
  const std::string_view line = page_files::d3_js.substr(0, page_files::d3_js.find('\n'));
  const std::size_t begin = line.find(" v");
  return begin == std::string_view::npos
             ? ""
             : std::string(line.substr(begin + 2, line.find(' ', begin + 1) - begin - 2));
}

std::string footer() {
  return fmt::format(
      "<p>Made by warpscope {}, model {}. Every number was counted by the model while it ran, but for what "
      "is "
      "called a reference.</p>\n<details><summary>Charts by D3 {}, under the 3-clause BSD licence</summary>"
      "<pre>{}</pre></details>",
      WARPSCOPE_VERSION, escape_html(model_version()), escape_html(library_version()),
      escape_html(page_files::d3_licence_txt));
}

/// The template with its places filled; what is filled in is not looked at again.
std::string filled(std::string_view text, const std::map<std::string, std::string, std::less<>>& places) {
  std::string page;
  for (std::size_t begin = text.find("{{"); begin != std::string_view::npos; begin = text.find("{{")) {
    const std::size_t end = text.find("}}", begin);
    page += text.substr(0, begin);
    page += places.find(text.substr(begin + 2, end - begin - 2))->second;
    text.remove_prefix(end + 2);
  }
  page += text;
  return page;
}

}  // namespace

std::string html(const Page& page) {
  Json charts = Json::array();
  std::string sections;
  for (const PageSection& section : page.sections) {
    sections += section_html(section, charts);
  }
  sections += words_html(page.words);
  return filled(page_files::page_html,
                {{"title", escape_html(page.title)},
                 {"style", std::string(page_files::page_css)},
                 {"header", header(page)},
                 {"sections", sections},
                 {"footer", footer()},
                 {"data", script_json({{"charts", charts}, {"choices", page.choices}})},
                 {"library", std::string(page_files::d3_js)},
                 {"script", std::string(page_files::page_js)}});
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char symbol : text) {
    switch (symbol) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += symbol;
    }
  }
  return escaped;
}

std::string script_json(const Json& json) {
  std::string text;
  for (const char symbol : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    switch (symbol) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += symbol;
    }
  }
  return text;
}

bool names_page(std::string_view file) {
  return file.ends_with(".html") || file.ends_with(".htm");
}

}  // namespace warpscope::experiments

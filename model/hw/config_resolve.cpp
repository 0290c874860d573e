#include "model/hw/config_resolve.hpp"

#include <fmt/format.h>

#include <boost/locale/utf.hpp>

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>
#include <type_traits>

#include "model/hw/config_bounds.hpp"
#include "model/hw/config_rules.hpp"
#include "model/hw/config_schema.hpp"

namespace warpscope::hw {
namespace {

/// Descriptions that are based on one another.
constexpr std::size_t most_files = 16;

/// No more than one byte beyond what a description may have.
std::optional<std::string> read_file(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return std::nullopt;
  }
  std::ifstream in(file, std::ios::binary);
  std::string text(most_file_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (in.fail() && !in.eof())) {
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

/// What is wrong with a value that is a text.
std::optional<std::string> text_problem(const std::string& text) {
  if (text.empty()) {
    return "must not be empty";
  }
  using Utf8 = boost::locale::utf::utf_traits<char>;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const auto byte = static_cast<unsigned char>(*at);
    const boost::locale::utf::code_point code = Utf8::decode(at, end);
    if (code == boost::locale::utf::illegal || code == boost::locale::utf::incomplete) {
      return fmt::format("is not UTF-8 at byte \\x{:02x}; legal is printable text", byte);
    }
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
      return fmt::format("contains control character \\x{:02x}; legal is printable text", code);
    }
  }
  return std::nullopt;
}

/// Writes the value into the field if type and range allow, else says why not.
std::optional<std::string> store(const KeySpec& spec, const RawValue& raw, HwConfig& config) {
  const auto in_range = [&](auto value) {
    const auto number = static_cast<double>(value);
    return number >= spec.min && number <= spec.max;
  };
  const auto out_of_range = [&] { return fmt::format("{} is not in {}", display(raw), legal_values(spec)); };
  return std::visit(
      [&](auto* field) -> std::optional<std::string> {
        using Value = std::remove_pointer_t<decltype(field)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          const auto* const text = std::get_if<std::string>(&raw);
          if (text == nullptr) {
            return fmt::format("{} is not a text in quotes", display(raw));
          }
          if (auto problem = text_problem(*text)) {
            return problem;
          }
          *field = *text;
        } else if (const auto* const integer = std::get_if<std::int64_t>(&raw)) {
          if (!in_range(*integer)) {
            return out_of_range();
          }
          *field = static_cast<Value>(*integer);
        } else if constexpr (std::is_integral_v<Value>) {
          return fmt::format("{} is not an integer", display(raw));
        } else {
          const auto* const number = std::get_if<double>(&raw);
          if (number == nullptr) {
            return fmt::format("{} is not a number", display(raw));
          }
          if (!in_range(*number)) {
            return out_of_range();
          }
          *field = *number;
        }
        return std::nullopt;
      },
      spec.field(config));
}

std::string unknown_key(const Setting& setting) {
  return fmt::format("{}: unknown key; the nearest legal key is {}", place(setting.origin, setting.key),
                     nearest_key(setting.key));
}

}  // namespace

bool is_config_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
}

std::filesystem::path config_file(const std::string& name_or_path, const std::filesystem::path& search_dir) {
  return is_config_path(name_or_path) ? std::filesystem::path(name_or_path)
                                      : search_dir / (name_or_path + ".toml");
}

void ConfigBuilder::add_file(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_file(file);
  if (!text) {
    problems_.push_back(fmt::format("{}: cannot be read", one_line(file.string())));
    unreadable_ = true;
    return;
  }
  if (text->size() > most_file_bytes) {
    problems_.push_back(fmt::format("{}: more than {} bytes; legal is at most that", one_line(file.string()),
                                    most_file_bytes));
    unreadable_ = true;
    return;
  }
  const std::optional<ConfigText> parsed = parse_config_text(*text, file.string(), problems_);
  if (!parsed) {
    unreadable_ = true;
    return;
  }
  if (open_files_.empty()) {
    top_file_ = file;
  }
  open_files_.push_back(file);
  if (parsed->base) {
    add_base(*parsed->base, file);
  }
  open_files_.pop_back();
  std::ranges::for_each(parsed->settings, [&](const Setting& setting) { apply(setting); });
  config_.id = file.stem().string();
}

void ConfigBuilder::add_base(const Setting& base, const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& reason) {
    problems_.push_back(fmt::format("{}: base: {}", base.origin, reason));
    unreadable_ = true;
  };
  const auto* const name = std::get_if<std::string>(&base.value);
  if (name == nullptr) {
    return refuse(fmt::format("{} is not a text in quotes", display(base.value)));
  }
  // A description outside the search directory may build on a neighbour of its own.
  std::error_code error;
  std::filesystem::path target = config_file(*name, file.parent_path());
  if (!is_config_path(*name) && !std::filesystem::exists(target, error)) {
    target = config_file(*name, search_dir_);
  }
  const auto is_target = [&](const std::filesystem::path& open) {
    return std::filesystem::equivalent(open, target, error);
  };
  if (std::ranges::any_of(open_files_, is_target)) {
    return refuse(fmt::format("\"{}\" is based on this file in turn", one_line(*name)));
  }
  if (open_files_.size() == most_files) {
    return refuse(fmt::format("\"{}\" would be file {} of a chain; legal is at most {}", one_line(*name),
                              most_files + 1, most_files));
  }
  if (!std::filesystem::is_regular_file(target, error)) {
    return refuse(fmt::format("no file {}", one_line(target.string())));
  }
  add_file(target);
}

void ConfigBuilder::add_override(std::string_view text) {
  std::optional<Setting> setting = parse_override(text, problems_);
  if (!setting) {
    return;
  }
  // On a command line a text needs no quotes, so the key decides how the value is read: 9.0 may be either.
  const KeySpec* const spec = find_key(setting->key);
  if (spec != nullptr && !std::holds_alternative<std::string*>(spec->field(config_))) {
    setting->value = number_or_text(std::get<std::string>(setting->value));
  }
  apply(*setting);
}

void ConfigBuilder::apply(const Setting& setting) {
  const KeySpec* const spec = find_key(setting.key);
  if (spec == nullptr) {
    problems_.push_back(unknown_key(setting));
    return;
  }
  origins_[setting.key] = setting.origin;
  if (const auto reason = store(*spec, setting.value, config_)) {
    problems_.push_back(fmt::format("{}: {}", place(setting.origin, setting.key), *reason));
  }
}

void ConfigBuilder::finish() {
  if (!unreadable_) {
    for (const KeySpec& spec : key_specs()) {
      if (!origins_.contains(std::string(spec.key))) {
        problems_.push_back(fmt::format("{}: {}: missing; legal is {}", one_line(top_file_.string()),
                                        spec.key, legal_values(spec)));
      }
    }
  }
  if (!problems_.empty()) {
    return;  // rules between values mean nothing while a value is wrong
  }
  for (const BrokenRule& broken : broken_rules(config_)) {
    problems_.push_back(fmt::format("{}: {}", place(origin(broken.key), broken.key), broken.message));
  }
}

}  // namespace warpscope::hw

// Reads the part of VCD (IEEE 1364) that SystemC writes.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpscope::test {

struct Vcd {
  using Changes = std::vector<std::pair<std::uint64_t, double>>;  ///< time and value

  std::string timescale;
  std::map<std::string, Changes> signals;  ///< by full name, as "gpu.sm0.resident_ctas"
  bool times_rise = true;
  std::uint64_t end = 0;

  /// The sum of the values of a signal over time.
  double area(const std::string& signal) const {
    double sum = 0;
    const Changes& changes = signals.at(signal);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::uint64_t until = i + 1 < changes.size() ? changes[i + 1].first : end;
      sum += changes[i].second * static_cast<double>(until - changes[i].first);
    }
    return sum;
  }
};

/// Throws std::runtime_error at what is no VCD.
inline Vcd read_vcd(std::istream& stream) {
  const auto require = [](bool holds, const std::string& word) {
    if (!holds) {
      throw std::runtime_error("not in VCD: " + word);
    }
  };
  Vcd vcd;
  std::map<std::string, std::string> names;  // by identifier
  std::vector<std::string> scopes;
  std::string word;
  const auto words_to_end = [&] {
    std::vector<std::string> words;
    while (stream >> word && word != "$end") {
      words.push_back(word);
    }
    return words;
  };
  while (stream >> word && word != "$enddefinitions") {
    const std::string section = word;
    const std::vector<std::string> words = words_to_end();
    if (section == "$timescale") {
      for (const std::string& part : words) {
        vcd.timescale += (vcd.timescale.empty() ? "" : " ") + part;
      }
    } else if (section == "$scope") {
      scopes.push_back(words.at(1));
    } else if (section == "$upscope") {
      scopes.pop_back();
    } else if (section == "$var") {
      std::string name;
      for (const std::string& scope : scopes) {
        name += scope == "SystemC" ? "" : scope + '.';
      }
      names[words.at(2)] = name + words.at(3);
      vcd.signals[names[words.at(2)]];
    } else {
      require(section == "$date" || section == "$version" || section == "$comment", section);
    }
  }
  words_to_end();
  bool is_first = true;
  while (stream >> word) {
    if (word == "$comment") {
      words_to_end();
    } else if (word[0] == '#') {
      const std::uint64_t time = std::stoull(word.substr(1));
      vcd.times_rise = vcd.times_rise && (is_first || time > vcd.end);
      vcd.end = time;
      is_first = false;
    } else if (word[0] == 'b' || word[0] == 'r') {
      const double value = word[0] == 'b' ? static_cast<double>(std::stoull(word.substr(1), nullptr, 2))
                                          : std::stod(word.substr(1));
      require(static_cast<bool>(stream >> word) && names.contains(word), word);
      vcd.signals[names[word]].emplace_back(vcd.end, value);
    } else {
      require(word == "$dumpvars" || word == "$end", word);
    }
  }
  return vcd;
}

}  // namespace warpscope::test

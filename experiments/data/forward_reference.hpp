// Published and measured speed of attention forward passes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace warpscope::experiments {

/// One bar of the paper's grid: 16384 tokens in all, hidden size 2048.
struct ForwardKey {
  std::string gpu;     ///< name in hwconfigs/
  std::string kernel;  ///< of this project
  int head_dim = 64;
  bool causal = false;
  int seqlen = 512;

  auto operator<=>(const ForwardKey&) const = default;
};

struct ForwardReference {
  std::optional<double> tflops;  ///< nothing where the run went out of memory
  std::string source;            ///< "published" or "measured"
};

/// Reads the data files of the source tree.
class ForwardReferences {
 public:
  /// Throws UsageError where a file is damaged or missing.
  explicit ForwardReferences(const std::filesystem::path& directory);
  /// nullptr where nobody has published or measured it.
  const ForwardReference* find(const ForwardKey& key) const;

 private:
  void read_published(const std::filesystem::path& file);
  void read_measured(const std::filesystem::path& file);

  std::map<ForwardKey, ForwardReference> references_;
};

/// Where the data files are: the installed folder, or experiments/reference in the source tree.
std::filesystem::path reference_directory();

}  // namespace warpscope::experiments

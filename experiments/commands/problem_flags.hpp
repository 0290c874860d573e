// The flags that name a kernel, its problem and the GPU, for every verb that has them.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "experiments/base/named_files.hpp"
#include "experiments/point/point.hpp"
#include "experiments/point/point_reader.hpp"
#include "experiments/scan/scan_axis.hpp"

namespace warpscope::experiments {

/// --gpu, --set, --mode, --l2.
class ModelFlags {
 public:
  void add_to(CLI::App& app);
  /// Between these two, --set adds to what `before` has instead of replacing it.
  void begin_changes() { overrides_.clear(); }
  void end_changes(const ModelFlags& before) {
    overrides_.insert(overrides_.begin(), before.overrides_.begin(), before.overrides_.end());
  }
  /// Throws UsageError. `gpu` may be empty.
  ModelChoice read() const;
  void require_gpu() const;
  /// The files that describe the GPU, those it is based on included; none where no GPU is named. Throws what
  /// the loader throws.
  std::vector<NamedFile> files() const;

 private:
  std::string gpu_;
  std::vector<std::string> overrides_;
  std::string mode_ = "fast";
  std::string l2_ = "cold";
};

/// --kernel, --pass, --batch, --heads, ...
class ProblemFlags {
 public:
  void add_to(CLI::App& app);
  /// Throws UsageError. What `instead` has for a field goes before what its flag says.
  Point read(const ModelChoice& model, const FieldText& instead = {}) const;
  /// The flags whose value is a list or a range, in the order of the help. Throws UsageError.
  std::vector<ScanAxis> axes() const;
  /// What "heads=1,2,4" or "sm.xu.lanes=8,16" varies. Throws UsageError, also where a flag has a value for
  /// it.
  ScanAxis read_axis(const std::string& scan) const;
  /// Name of a flag that was given, or an empty string.
  std::string first_given() const;

 private:
  std::map<std::string, std::string, std::less<>> values_;  ///< by field; empty if not given
  bool causal_ = false;
  bool alibi_ = false;
  bool deterministic_ = false;
  bool heads_first_ = false;
};

}  // namespace warpscope::experiments

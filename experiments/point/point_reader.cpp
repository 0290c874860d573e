#include "experiments/point/point_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

using kernels::Problem;

/// What a type of problem makes of a field.
enum class Use : std::uint8_t { none, needed, optional };

/// An integer field with the values that make sense for any kernel; kernels may accept fewer.
struct IntegerField {
  std::string_view name;
  std::int64_t most;
  std::array<Use, 3> use;  ///< by ProblemType
  std::int64_t& (*of)(Problem&);

  Use use_by(kernels::ProblemType type) const { return use[static_cast<std::size_t>(type)]; }
};

constexpr std::string_view kSeqlens = "seqlens";
constexpr double kMostSoftcap = 1000000;
/// What a list of lengths says of each sequence.
constexpr std::array<std::string_view, 3> kLengthsOfAll = {"batch", "seqlen_q", "seqlen_k"};

constexpr std::array kAttentionNeeds = {Use::needed, Use::none, Use::none};
constexpr std::array kAttentionMayHave = {Use::optional, Use::none, Use::none};
constexpr std::array kMatricesNeed = {Use::none, Use::needed, Use::needed};

constexpr std::array kIntegerFields = {
    IntegerField{"batch",
                 kMostBatch,
                 {Use::needed, Use::none, Use::optional},
                 [](Problem& problem) -> std::int64_t& { return problem.batch; }},
    IntegerField{"heads", 65535, kAttentionNeeds,
                 [](Problem& problem) -> std::int64_t& { return problem.heads; }},
    IntegerField{"seqlen_q", kMostKeys, kAttentionNeeds,
                 [](Problem& problem) -> std::int64_t& { return problem.seqlen_q; }},
    IntegerField{"head_dim", 256, kAttentionNeeds,
                 [](Problem& problem) -> std::int64_t& { return problem.head_dim; }},
    IntegerField{"heads_kv", 65535, kAttentionMayHave,
                 [](Problem& problem) -> std::int64_t& { return problem.heads_kv; }},
    IntegerField{"seqlen_k", kMostKeys, kAttentionMayHave,
                 [](Problem& problem) -> std::int64_t& { return problem.seqlen_k; }},
    IntegerField{"rows", 1 << 24, kMatricesNeed,
                 [](Problem& problem) -> std::int64_t& { return problem.matrix.rows; }},
    IntegerField{"cols", 1 << 20, kMatricesNeed,
                 [](Problem& problem) -> std::int64_t& { return problem.matrix.cols; }},
    IntegerField{"depth",
                 1 << 20,
                 {Use::none, Use::none, Use::needed},
                 [](Problem& problem) -> std::int64_t& { return problem.matrix.depth; }},
};

/// Apart from the sizes, which messages list.
constexpr IntegerField kPageSize{"page_size", kMostKeys, kAttentionMayHave,
                                 [](Problem& problem) -> std::int64_t& { return problem.page_size; }};

// Scores of the largest problem: 512 times the largest of the paper's grid.
constexpr double kMostScores = 4398046511104.0;

bool is_length(std::string_view field) {
  return std::ranges::find(kLengthsOfAll, field) != kLengthsOfAll.end();
}

class PointReader {
 public:
  explicit PointReader(const FieldReader& fields) : fields_(fields) {}

  Problem problem(const kernels::Kernel& kernel) const {
    Problem problem;
    problem.type = kernel.type;
    refuse_others(kernel);
    if (fields_.given(kSeqlens)) {
      refuse_lengths_of_all();
    }
    for (const IntegerField& field : kIntegerFields) {
      if (field.use_by(kernel.type) == Use::needed && !(fields_.given(kSeqlens) && is_length(field.name))) {
        fields_.needed(field.name);
      }
      if (const std::optional<std::int64_t> value = fields_.integer(field.name, field.most)) {
        field.of(problem) = *value;
      }
    }
    if (kernel.type == kernels::ProblemType::attention) {
      problem.heads_kv = fields_.given("heads_kv") ? problem.heads_kv : problem.heads;
      problem.seqlen_k = fields_.given("seqlen_k") ? problem.seqlen_k : problem.seqlen_q;
      problem.num_splits = fields_.splits("num_splits");
      problem.window = fields_.window("window");
      problem.softcap = fields_.positive("softcap", kMostSoftcap, false);
      problem.dropout = fields_.positive("dropout", 1, true);
      problem.alibi = fields_.yes("alibi");
      problem.page_size = fields_.integer(kPageSize.name, kPageSize.most).value_or(0);
      problem.deterministic = fields_.yes("deterministic");
      problem.heads_first = fields_.yes("heads_first");
      problem.seqlens = fields_.lengths(kSeqlens);
      if (!problem.seqlens.empty()) {
        problem.batch = static_cast<std::int64_t>(problem.seqlens.size());
        problem.seqlen_q = problem.seqlen_k = std::ranges::max(problem.seqlens);
      }
    }
    problem.causal = fields_.yes("causal");
    problem.dtype =
        fields_.choice("dtype", {"fp16", "bf16"}) == 0 ? kernels::DataType::fp16 : kernels::DataType::bf16;
    check(problem);
    return problem;
  }

  /// The field `variant`, a kernel's name with changes, goes before `kernel`.
  kernels::Kernel kernel() const {
    const std::optional<std::string> variant = fields_.text("variant");
    const std::string field = variant ? "variant" : "kernel";
    const std::string name = variant ? *variant : fields_.needed("kernel");
    const std::optional<std::string> base = fields_.text("kernel");
    if (variant && base && !variant->starts_with(*base)) {
      throw UsageError(fmt::format("{} {} is no variant of {} {}", fields_.name("variant"), in_quotes(name),
                                   fields_.name("kernel"), in_quotes(*base)));
    }
    try {
      return kernels::find_kernel(name);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("{} {}: {}", fields_.name(field), in_quotes(name), error.what()));
    }
  }

  kernels::Pass pass(const kernels::Kernel& kernel) const {
    if (kernel.type == kernels::ProblemType::attention) {
      fields_.needed("pass");
    }
    const auto pass = static_cast<kernels::Pass>(fields_.choice("pass", {"fwd", "bwd", "fwd+bwd"}));
    if (!kernel.has(pass)) {
      refuse(fields_.name("pass"), fields_.needed("pass"),
             fmt::format("kernel {} has no backward pass; legal is {}", kernel.name, kernel.legal_passes()));
    }
    return pass;
  }

  void read_model(ModelChoice& model) const {
    if (const std::optional<std::string> gpu = fields_.text("gpu")) {
      if (!is_utf8(*gpu)) {
        refuse(fields_.name("gpu"), *gpu, "legal is text in UTF-8");
      }
      model.gpu = *gpu;
    }
    if (model.gpu.empty()) {
      throw UsageError(fmt::format("{} is missing", fields_.name("gpu")));
    }
    if (const std::optional<std::string> changes = fields_.text("set")) {
      constexpr std::string_view kBetween = " ;";
      for (std::size_t begin = 0; begin < changes->size();) {
        const std::size_t end = std::min(changes->find_first_of(kBetween, begin), changes->size());
        if (end > begin) {
          model.overrides.push_back(changes->substr(begin, end - begin));
        }
        begin = end + 1;
      }
    }
    if (const std::optional<std::string> l2 = fields_.text("l2")) {
      model.options.warm_l2 = read_warm_l2(fields_.name("l2"), *l2);
    }
  }

 private:
  void refuse_lengths_of_all() const {
    for (const std::string_view field : kLengthsOfAll) {
      if (fields_.given(field)) {
        throw UsageError(
            fmt::format("{} does not go with {}, which says how many sequences there are and how "
                        "long each is; legal is one of the two",
                        fields_.name(field), fields_.name(kSeqlens)));
      }
    }
  }

  /// Fields of another type of problem change nothing here, and nobody would notice.
  void refuse_others(const kernels::Kernel& kernel) const {
    std::vector<std::string_view> others;
    std::vector<std::string> legal;
    for (const IntegerField& field : kIntegerFields) {
      if (field.use_by(kernel.type) == Use::none) {
        others.push_back(field.name);
      } else {
        legal.push_back(fields_.name(field.name));
      }
    }
    if (kernel.type != kernels::ProblemType::attention) {
      others.insert(others.end(), {"causal", "num_splits", "window", "softcap", "alibi", "dropout",
                                   "page_size", "deterministic", "heads_first", kSeqlens});
    }
    for (const std::string_view field : others) {
      if (fields_.given(field)) {
        throw UsageError(fmt::format("{} does not go with kernel {}, whose sizes are {}", fields_.name(field),
                                     kernel.name, fmt::join(legal, ", ")));
      }
    }
  }

  void check(const Problem& problem) const {
    if (problem.heads % problem.heads_kv != 0) {
      refuse(fields_.name("heads_kv"), std::to_string(problem.heads_kv),
             fmt::format("legal are divisors of the {} query heads", problem.heads));
    }
    const double scores = static_cast<double>(problem.batch) * static_cast<double>(problem.heads) *
                          static_cast<double>(problem.seqlen_q) * static_cast<double>(problem.seqlen_k);
    if (scores > kMostScores) {
      refuse(fields_.name("seqlen_q"), std::to_string(problem.seqlen_q),
             fmt::format("batch x heads x queries x keys is {:.3g}; legal is up to {:.3g}", scores,
                         kMostScores));
    }
  }

  const FieldReader& fields_;
};

}  // namespace

Point read_point(const FieldText& field_text, const FieldName& field_name, const ModelChoice& defaults) {
  const FieldReader fields(field_text, field_name);
  const PointReader reader(fields);
  Point point;
  point.model = defaults;
  reader.read_model(point.model);
  const kernels::Kernel kernel = reader.kernel();
  point.kernel = kernel.name;
  const kernels::Pass pass = reader.pass(kernel);
  point.problem = reader.problem(kernel);
  point.problem.pass = pass;
  return point;
}

gpu::Mode read_mode(const std::string& name, const std::string& value) {
  if (value != "fast" && value != "detailed") {
    refuse(name, value, "legal are fast, detailed");
  }
  return value == "fast" ? gpu::Mode::fast : gpu::Mode::detailed;
}

bool read_warm_l2(const std::string& name, const std::string& value) {
  if (value != "cold" && value != "warm") {
    refuse(name, value, "legal are cold, warm");
  }
  return value == "warm";
}

}  // namespace warpscope::experiments

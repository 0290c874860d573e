#include "experiments/point/point_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
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

constexpr std::int64_t kMostKeys = 1 << 20;
constexpr std::int64_t kMostBatch = 65535;
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
    IntegerField{"seqlen_q", 1 << 20, kAttentionNeeds,
                 [](Problem& problem) -> std::int64_t& { return problem.seqlen_q; }},
    IntegerField{"head_dim", 256, kAttentionNeeds,
                 [](Problem& problem) -> std::int64_t& { return problem.head_dim; }},
    IntegerField{"heads_kv", 65535, kAttentionMayHave,
                 [](Problem& problem) -> std::int64_t& { return problem.heads_kv; }},
    IntegerField{"seqlen_k", 1 << 20, kAttentionMayHave,
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

[[noreturn]] void refuse(const std::string& name, std::string_view value, const std::string& legal) {
  throw UsageError(fmt::format("{} {}: {}", name, in_quotes(value), legal));
}

bool is_length(std::string_view field) {
  return std::ranges::find(kLengthsOfAll, field) != kLengthsOfAll.end();
}

/// An integer from 1 to `most`, or nothing.
std::optional<std::int64_t> number_in(const std::string& text, std::int64_t most) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool legal = error == std::errc() && rest == end && number >= 1 && number <= most;
  return legal ? std::optional(number) : std::nullopt;
}

class PointReader {
 public:
  PointReader(const FieldText& field_text, const FieldName& field_name)
      : field_text_(field_text), field_name_(field_name) {}

  std::string needed(std::string_view field) const {
    std::optional<std::string> value = field_text_(field);
    if (!value) {
      throw UsageError(fmt::format("{} is missing", field_name_(field)));
    }
    return *std::move(value);
  }

  std::optional<std::int64_t> integer(const IntegerField& field) const {
    const std::optional<std::string> value = field_text_(field.name);
    if (!value) {
      return std::nullopt;
    }
    const std::optional<std::int64_t> number = number_in(*value, field.most);
    if (!number) {
      refuse(field_name_(field.name), *value, fmt::format("legal is an integer from 1 to {}", field.most));
    }
    return number;
  }

  /// Index of the value among the legal ones; the first if the field is not given.
  std::size_t choice(std::string_view field, std::initializer_list<std::string_view> legal) const {
    const std::optional<std::string> value = field_text_(field);
    std::size_t index = 0;
    for (const std::string_view word : legal) {
      if (!value || *value == word) {
        return index;
      }
      ++index;
    }
    refuse(field_name_(field), *value,
           fmt::format("legal {} {}", legal.size() == 1 ? "is" : "are", fmt::join(legal, ", ")));
  }

  /// One number is for both sides.
  kernels::KeyWindow window() const {
    const std::optional<std::string> value = field_text_("window");
    if (!value) {
      return {};
    }
    const std::size_t between = value->find_first_of(",;");
    const auto side = [&](const std::string& text) {
      const std::optional<std::int64_t> number = text == "-1"  ? -1
                                                 : text == "0" ? 0
                                                               : number_in(text, kMostKeys);
      if (!number) {
        refuse(field_name_("window"), *value,
               fmt::format("legal are L and L,R, each an integer from -1 (all keys) to {}", kMostKeys));
      }
      return *number;
    };
    const std::int64_t left = side(value->substr(0, between));
    return {left, between == std::string::npos ? left : side(value->substr(between + 1))};
  }

  /// Says how many sequences there are and how long each is, as `batch` and `seqlen_q` do elsewhere.
  std::vector<std::int64_t> lengths() const {
    const std::optional<std::string> value = field_text_(kSeqlens);
    std::vector<std::int64_t> result;
    for (std::size_t begin = 0; value && begin <= value->size();) {
      const std::size_t end = std::min(value->find_first_of(",;", begin), value->size());
      const std::optional<std::int64_t> number = number_in(value->substr(begin, end - begin), kMostKeys);
      if (!number || std::ssize(result) == kMostBatch) {
        refuse(field_name_(kSeqlens), *value,
               fmt::format("legal are up to {} integers from 1 to {}, with commas or semicolons between them",
                           kMostBatch, kMostKeys));
      }
      result.push_back(*number);
      begin = end + 1;
    }
    return result;
  }

  /// A number above 0 and up to `most`, or below it; 0 if the field is not given.
  double positive(std::string_view field, double most, bool below) const {
    const std::optional<std::string> value = field_text_(field);
    if (!value) {
      return 0;
    }
    double number = 0;
    const char* end = value->data() + value->size();
    const auto [rest, error] = std::from_chars(value->data(), end, number);
    if (error != std::errc() || rest != end || !(number > 0 && number <= most) || (below && number == most)) {
      refuse(field_name_(field), *value,
             below ? fmt::format("legal is a number above 0 and below {:.0f}", most)
                   : fmt::format("legal is a number above 0, up to {:.0f}", most));
    }
    return number;
  }

  /// No and yes by turns, in the order in which people are likely to write them.
  bool yes(std::string_view field) const {
    return choice(field, {"0", "1", "false", "true", "no", "yes"}) % 2 == 1;
  }

  Problem problem(const kernels::Kernel& kernel) const {
    Problem problem;
    problem.type = kernel.type;
    refuse_others(kernel);
    if (given(kSeqlens)) {
      refuse_lengths_of_all();
    }
    for (const IntegerField& field : kIntegerFields) {
      if (field.use_by(kernel.type) == Use::needed && !(given(kSeqlens) && is_length(field.name))) {
        needed(field.name);
      }
      if (const std::optional<std::int64_t> value = integer(field)) {
        field.of(problem) = *value;
      }
    }
    if (kernel.type == kernels::ProblemType::attention) {
      problem.heads_kv = given("heads_kv") ? problem.heads_kv : problem.heads;
      problem.seqlen_k = given("seqlen_k") ? problem.seqlen_k : problem.seqlen_q;
      problem.num_splits = splits();
      problem.window = window();
      problem.softcap = positive("softcap", kMostSoftcap, false);
      problem.dropout = positive("dropout", 1, true);
      problem.alibi = yes("alibi");
      problem.page_size = integer(kPageSize).value_or(0);
      problem.deterministic = yes("deterministic");
      problem.heads_first = yes("heads_first");
      problem.seqlens = lengths();
      if (!problem.seqlens.empty()) {
        problem.batch = static_cast<std::int64_t>(problem.seqlens.size());
        problem.seqlen_q = problem.seqlen_k = std::ranges::max(problem.seqlens);
      }
    }
    problem.causal = yes("causal");
    problem.dtype =
        choice("dtype", {"fp16", "bf16"}) == 0 ? kernels::DataType::fp16 : kernels::DataType::bf16;
    check(problem);
    return problem;
  }

  /// The field `variant`, a kernel's name with changes, goes before `kernel`.
  kernels::Kernel kernel() const {
    const std::optional<std::string> variant = field_text_("variant");
    const std::string field = variant ? "variant" : "kernel";
    const std::string name = variant ? *variant : needed("kernel");
    const std::optional<std::string> base = field_text_("kernel");
    if (variant && base && !variant->starts_with(*base)) {
      throw UsageError(fmt::format("{} {} is no variant of {} {}", field_name_("variant"), in_quotes(name),
                                   field_name_("kernel"), in_quotes(*base)));
    }
    try {
      return kernels::find_kernel(name);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("{} {}: {}", field_name_(field), in_quotes(name), error.what()));
    }
  }

  kernels::Pass pass(const kernels::Kernel& kernel) const {
    if (kernel.type == kernels::ProblemType::attention) {
      needed("pass");
    }
    const auto pass = static_cast<kernels::Pass>(choice("pass", {"fwd", "bwd", "fwd+bwd"}));
    if (!kernel.has(pass)) {
      refuse(field_name_("pass"), needed("pass"),
             fmt::format("kernel {} has no backward pass; legal is {}", kernel.name, kernel.legal_passes()));
    }
    return pass;
  }

  /// 1 if the field is not given.
  std::int64_t splits() const {
    constexpr std::string_view kField = "num_splits";
    constexpr std::int64_t kMost = 128;  // of FlashAttention-2's library
    const std::optional<std::string> value = field_text_(kField);
    if (value == "auto") {
      return kernels::kAutoSplits;
    }
    const std::optional<std::int64_t> number = value ? number_in(*value, kMost) : 1;
    if (!number) {
      refuse(field_name_(kField), *value, fmt::format("legal are auto and an integer from 1 to {}", kMost));
    }
    return *number;
  }

  void read_model(ModelChoice& model) const {
    if (const std::optional<std::string> gpu = field_text_("gpu")) {
      if (!is_utf8(*gpu)) {
        refuse(field_name_("gpu"), *gpu, "legal is text in UTF-8");
      }
      model.gpu = *gpu;
    }
    if (model.gpu.empty()) {
      throw UsageError(fmt::format("{} is missing", field_name_("gpu")));
    }
    if (const std::optional<std::string> changes = field_text_("set")) {
      constexpr std::string_view kBetween = " ;";
      for (std::size_t begin = 0; begin < changes->size();) {
        const std::size_t end = std::min(changes->find_first_of(kBetween, begin), changes->size());
        if (end > begin) {
          model.overrides.push_back(changes->substr(begin, end - begin));
        }
        begin = end + 1;
      }
    }
    if (const std::optional<std::string> l2 = field_text_("l2")) {
      model.options.warm_l2 = read_warm_l2(field_name_("l2"), *l2);
    }
  }

 private:
  bool given(std::string_view field) const { return field_text_(field).has_value(); }

  void refuse_lengths_of_all() const {
    for (const std::string_view field : kLengthsOfAll) {
      if (given(field)) {
        throw UsageError(
            fmt::format("{} does not go with {}, which says how many sequences there are and how "
                        "long each is; legal is one of the two",
                        field_name_(field), field_name_(kSeqlens)));
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
        legal.push_back(field_name_(field.name));
      }
    }
    if (kernel.type != kernels::ProblemType::attention) {
      others.insert(others.end(), {"causal", "num_splits", "window", "softcap", "alibi", "dropout",
                                   "page_size", "deterministic", "heads_first", kSeqlens});
    }
    for (const std::string_view field : others) {
      if (given(field)) {
        throw UsageError(fmt::format("{} does not go with kernel {}, whose sizes are {}", field_name_(field),
                                     kernel.name, fmt::join(legal, ", ")));
      }
    }
  }

  void check(const Problem& problem) const {
    if (problem.heads % problem.heads_kv != 0) {
      refuse(field_name_("heads_kv"), std::to_string(problem.heads_kv),
             fmt::format("legal are divisors of the {} query heads", problem.heads));
    }
    const double scores = static_cast<double>(problem.batch) * static_cast<double>(problem.heads) *
                          static_cast<double>(problem.seqlen_q) * static_cast<double>(problem.seqlen_k);
    if (scores > kMostScores) {
      refuse(field_name_("seqlen_q"), std::to_string(problem.seqlen_q),
             fmt::format("batch x heads x queries x keys is {:.3g}; legal is up to {:.3g}", scores,
                         kMostScores));
    }
  }

  const FieldText& field_text_;
  const FieldName& field_name_;
};

}  // namespace

Point read_point(const FieldText& field_text, const FieldName& field_name, const ModelChoice& defaults) {
  const PointReader reader(field_text, field_name);
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

// Every mistake on the command line: exit status 2, one line on standard error, nothing on standard output.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

struct Mistake {
  const char* name;
  Arguments arguments;
  std::string message;  ///< standard error without the line end; a trailing "..." allows any rest
};

void PrintTo(const Mistake& mistake, std::ostream* stream) {
  *stream << mistake.name;
}

Arguments fa2(const Arguments& more) {
  return small_run("fa2", more);
}

/// A run with one flag set to `value`, all others as in small_run.
Arguments with(const std::string& flag, const std::string& value) {
  Arguments arguments = fa2({});
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == flag) {
      arguments[i + 1] = value;
      return arguments;
    }
  }
  arguments.push_back(flag);
  arguments.push_back(value);
  return arguments;
}

const Mistake kMistakes[] = {
    {"verb", {"simulate"}, "warpscope: warpscope 'simulate': unknown; legal are run, compare, hotspots, ..."},
    {"list", {"list", "dogs"}, "warpscope: list 'dogs': unknown; legal are gpus, kernels, variants, studies"},
    {"study",
     {"study", "why-not"},
     "warpscope: study 'why-not': unknown; legal are why-fa2, non-matmul, parallelism, hbm-traffic, "
     "paper-figures"},
    {"verb_near",
     {"swep"},
     "warpscope: warpscope 'swep': unknown; did you mean sweep? legal are run, compare, hotspots, ..."},
    {"verb_near_short", {"rnu"}, "warpscope: warpscope 'rnu': unknown; did you mean run? legal are run, ..."},
    {"flag", fa2({"--speed", "9"}),
     "warpscope: run '--speed': unknown; `warpscope run --help` lists the flags"},
    {"flag_near",
     {"run", "--seq-len=9"},
     "warpscope: run '--seq-len': unknown; did you mean --seqlen? `warpscope run --help` lists the flags"},
    {"flag_of_all",
     {"--verison"},
     "warpscope: warpscope '--verison': unknown; did you mean --version? `warpscope --help` lists the flags"},
    {"flag_inside",
     {"config", "show", "--sett", "a"},
     "warpscope: show '--sett': unknown; did you mean --set? `warpscope config show --help` lists the flags"},
    {"no_gpu",
     {"run", "--kernel", "fa2"},
     "warpscope: --gpu is missing; `warpscope list gpus` shows the names"},
    {"gpu", with("--gpu", "v100"), "warpscope: unknown GPU \"v100\"; known are a100-pcie-80gb, ..."},
    {"gpu_near", with("--gpu", "h100"),
     "warpscope: unknown GPU \"h100\"; did you mean h100-pcie-80gb or h100-sxm5-80gb? known are ..."},
    {"gpu_file", with("--gpu", "./none.toml"), "warpscope: ./none.toml..."},
    {"kernel", with("--kernel", "fa9"),
     "warpscope: --kernel 'fa9': legal are fa1, fa2, fa2_kvcache, fa2_torch, standard, standard_eager, "
     "xformers, triton, triton_seqpar, gemm, row_softmax and "
     "variants like fa1+split_q"},
    {"no_kernel", {"run", "--gpu", "h200-sxm-141gb"}, "warpscope: --kernel is missing"},
    {"no_batch", {"run", "--gpu", "h200-sxm-141gb", "--kernel", "fa2"}, "warpscope: --batch is missing"},
    {"pass", with("--pass", "sideways"), "warpscope: --pass 'sideways': legal are fwd, bwd, fwd+bwd"},
    {"backward",
     {"run", "--gpu", "h200-sxm-141gb", "--kernel", "row_softmax", "--rows", "8", "--cols", "8", "--pass",
      "bwd"},
     "warpscope: --pass 'bwd': kernel row_softmax has no backward pass; legal is fwd"},
    {"batch_text", with("--batch", "many"), "warpscope: --batch 'many': legal is an integer from 1 to 65535"},
    {"batch_zero", with("--batch", "0"), "warpscope: --batch '0': legal is an integer from 1 to 65535"},
    {"batch_negative", with("--batch", "-4"), "warpscope: --batch '-4': legal is an integer from 1 to 65535"},
    {"batch_fraction", with("--batch", "1.5"),
     "warpscope: --batch '1.5': legal is an integer from 1 to 65535"},
    {"batch_blank", with("--batch", "4 "), "warpscope: --batch '4 ': legal is an integer from 1 to 65535"},
    {"batch_huge", with("--batch", "99999999999999999999"),
     "warpscope: --batch '99999999999999999999': legal is an integer from 1 to 65535"},
    {"seqlen", with("--seqlen", "2097152"),
     "warpscope: --seqlen '2097152': legal is an integer from 1 to 1048576"},
    {"seqlen_k", with("--seqlen-k", "0"), "warpscope: --seqlen-k '0': legal is an integer from 1 to 1048576"},
    {"head_dim", with("--head-dim", "512"), "warpscope: --head-dim '512': legal is an integer from 1 to 256"},
    {"heads_kv", with("--heads-kv", "3"),
     "warpscope: --heads-kv '3': legal are divisors of the 2 query heads"},
    {"dtype", with("--dtype", "fp8"), "warpscope: --dtype 'fp8': legal are fp16, bf16"},
    {"mode", with("--mode", "slow"), "warpscope: --mode 'slow': legal are fast, detailed"},
    {"l2", with("--l2", "hot"), "warpscope: --l2 'hot': legal are cold, warm"},
    {"set_key", with("--set", "sm.xu.lames=32"), "warpscope: --set sm.xu.lames=32: ..."},
    {"set_value", with("--set", "sm.xu.lanes=many"), "warpscope: --set sm.xu.lanes=many: ..."},
    {"huge",
     {"run", "--gpu", "h200-sxm-141gb", "--kernel", "fa2", "--batch", "65535", "--heads", "65535", "--seqlen",
      "1048576", "--head-dim", "64"},
     "warpscope: --seqlen '1048576': batch x heads x queries x keys is 4.72e+21; legal is up to 4.4e+12"},
    {"timeline_window", fa2({"--timeline", "t.json", "--timeline-window", "9:3"}),
     "warpscope: --timeline-window '9:3': not a window; legal is A:B, ..."},
    {"timeline_sm", fa2({"--timeline", "t.json", "--timeline-sm", "132"}),
     "warpscope: --timeline-sm '132': legal is 0 to 131"},
    {"timeline_size", fa2({"--timeline", "t.json", "--timeline-size", "0"}),
     "warpscope: --timeline-size '0': legal is 1 to 1000 megabytes"},
    {"timeline_output", with("--timeline", "-"),
     "warpscope: --timeline '-': is a file's name here; standard output has the report"},
    {"timeline_alone", with("--timeline-sm", "1"), "warpscope: --timeline-sm goes with --timeline FILE only"},
    {"vcd_output", with("--vcd", "-"),
     "warpscope: --vcd '-': is a file's name here; standard output has the report"},
    {"vcd_directory", with("--vcd", "none/out.vcd"),
     "warpscope: none/out.vcd: cannot be written: No such file or directory"},
    {"trace_missing",
     {"run", "--gpu", "h200-sxm-141gb", "--trace", "none.trace"},
     "warpscope: none.trace..."},
    {"trace_and_kernel",
     {"run", "--gpu", "h200-sxm-141gb", "--trace", "t", "--kernel", "fa2"},
     "warpscope: --kernel does not go with --trace, which says itself what runs"},
    {"json_directory", with("--json", "none/out.json"),
     "warpscope: none/out.json: cannot be written: No such file or directory"},
    {"sweep_jobs",
     {"sweep", "--points", "p.csv", "-o", "o.csv", "-j", "0"},
     "warpscope: -j '0': legal is an integer from 1 to 1024"},
    {"sweep_points",
     {"sweep", "--points", "none.csv", "-o", "o.csv", "--gpu", "h200-sxm-141gb"},
     "warpscope: none.csv: cannot be read: No such file or directory"},
    {"sweep_no_output", {"sweep", "--points", "p.csv"}, "warpscope: ..."},
    {"config", {"config", "show", "v100"}, "warpscope: unknown GPU \"v100\"; known are ..."},
};

class CliError : public testing::TestWithParam<Mistake> {};

TEST_P(CliError, IsOneLineAndStatusTwo) {
  const TemporaryDirectory directory;
  const ProgramResult result = run_program(GetParam().arguments, directory.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(directory.files().empty()) << "left behind: " << directory.files().front();
  std::string expected = GetParam().message;
  if (expected.ends_with("...")) {
    expected.resize(expected.size() - 3);
    EXPECT_EQ(result.err.substr(0, expected.size()), expected) << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  } else {
    EXPECT_EQ(result.err, expected + '\n');
  }
}

INSTANTIATE_TEST_SUITE_P(Mistakes, CliError, testing::ValuesIn(kMistakes),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace warpscope::cli_test

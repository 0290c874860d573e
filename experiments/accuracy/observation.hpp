// What was measured or published about a point, to hold the model against.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/point/point.hpp"
#include "experiments/store/point_result.hpp"
#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

/// Numbers by name: Nsight Compute metrics, and these.
using Numbers = std::map<std::string, double>;
inline constexpr const char* kCycles = "cycles";
inline constexpr const char* kTflops = "TFLOP/s";
inline constexpr const char* kHbmBytes = "HBM bytes";
inline constexpr const char* kMicroseconds = "time";

inline constexpr const char* kCounters = "counters.csv";
inline constexpr const char* kEdgeCounters =
    "counters_edges.csv";  ///< shapes at the edges of what kernels do
inline constexpr const char* kXformersCounters =
    "counters_xformers.csv";  ///< memory-efficient attention, with few metrics
inline constexpr const char* kXformersDrawn =
    "counters_xformers_drawn.csv";  ///< its backward pass, shapes drawn at random, which guided nothing
inline constexpr const char* kXformersColumns =
    "counters_xformers_columns.csv";  ///< forward, heads of other head dimensions, which guided nothing
inline constexpr const char* kTimes =
    "time_fa2.csv";  ///< wall time of calls back to back, often at the power limit
inline constexpr const char* kTorchTimes = "time_sdpa.csv";  ///< the same, of PyTorch
inline constexpr const char* kTorchTimesAgain =
    "time_sdpa_again.csv";  ///< the same calls on another day; guided nothing
/// Split-KV launches: those whose executed instructions guided the kernels' figures, and all others.
inline constexpr const char* kSplitGuides = "counters_split.csv, guides";
inline constexpr const char* kSplitHeldOut = "counters_split.csv, held out";
inline constexpr const char* kFeatureCounters =
    "counters_features.csv";  ///< windows, softcap, ALiBi; the rows guided nothing
/// Batches of sequences of their own lengths, dropout, and K and V in pages; no row guided anything.
inline constexpr const char* kLengthCounters = "counters_lengths.csv";
inline constexpr const char* kDropoutCounters = "counters_dropout.csv";
inline constexpr const char* kPageCounters = "counters_pages.csv";
/// Shapes of PyTorch drawn at random: some of the first two draws guided a figure, the third nothing, the
/// fourth that a change was dropped, of two of the fifth the code was counted, the sixth to the ninth guided
/// nothing, but were in sight when one of several readings of machine code was chosen (counters_drawn.md);
/// those of an H100 follow, the machine code of one shape of the first guided the combining kernel's figures,
/// and all of them, like the twelfth, were in sight when readings of machine code were compared again. Of the
/// twelfth a backward row was looked into. Two forward rows of the fifteenth led to where CTAs go. HBM bytes
/// of seventeen were in sight when the sets of the L2 were chosen, all of the eighteenth when blocks were
/// dealt to slices, all of nineteen when slices came to look lines up together, cycles of twenty when
/// rules of issue were compared, and of nine, the twenty-first among them, when the compiler's order was; the
/// twenty-second guided nothing, the twenty-third that a change was dropped. Of the twenty-fourth and
/// twenty-fifth heads have fewer columns than tiles; the first led to how copies check columns, the second
/// guided nothing. The twenty-sixth led to how tokens share lines and to which SMs stand for others, the
/// twenty-seventh guided nothing, the twenty-eighth, of long sequences, a look at which partition of the L2
/// SMs lie at, the twenty-ninth, half of it such, nothing. Backward rows of all but the thirty-first were in
/// sight when masks and reductions came to be as in machine code.
struct Draw {
  const char* directory;  ///< of the reference data, by the GPU
  const char* file;
  bool heads_first = false;  ///< how the tensors lay in memory, Problem::heads_first
  bool fills_tiles = true;   ///< heads have as many columns as tiles
};
inline constexpr std::array kDraws = {
    Draw{"measured-h200", "counters_drawn.csv"},
    Draw{"measured-h200", "counters_drawn_again.csv"},
    Draw{"measured-h200", "counters_drawn_third.csv", true},
    Draw{"measured-h200", "counters_drawn_fourth.csv", true},
    Draw{"measured-h200", "counters_drawn_fifth.csv", true},
    Draw{"measured-h200", "counters_drawn_sixth.csv", true},
    Draw{"measured-h200", "counters_drawn_seventh.csv", true},
    Draw{"measured-h200", "counters_drawn_eighth.csv", true},
    Draw{"measured-h200", "counters_drawn_ninth.csv"},
    Draw{"measured-h100", "counters_drawn_h100.csv", true},
    Draw{"measured-h100", "counters_drawn_tenth.csv"},
    Draw{"measured-h100", "counters_drawn_eleventh.csv"},
    Draw{"measured-h200", "counters_drawn_twelfth.csv"},
    Draw{"measured-h200", "counters_drawn_thirteenth.csv"},
    Draw{"measured-h200", "counters_drawn_fourteenth.csv"},
    Draw{"measured-h200", "counters_drawn_fifteenth.csv"},
    Draw{"measured-h200", "counters_drawn_sixteenth.csv"},
    Draw{"measured-h100", "counters_drawn_seventeenth.csv"},
    Draw{"measured-h200", "counters_drawn_eighteenth.csv"},
    Draw{"measured-h200", "counters_drawn_nineteenth.csv"},
    Draw{"measured-h200", "counters_drawn_twentieth.csv"},
    Draw{"measured-h200", "counters_drawn_twentyfirst.csv"},
    Draw{"measured-h200", "counters_drawn_twentysecond.csv"},
    Draw{"measured-h200", "counters_drawn_twentythird.csv"},
    Draw{"measured-h200", "counters_drawn_twentyfourth.csv", false, false},
    Draw{"measured-h200", "counters_drawn_twentyfifth.csv", false, false},
    Draw{"measured-h200", "counters_drawn_twentysixth.csv"},
    Draw{"measured-h200", "counters_drawn_twentyseventh.csv"},
    Draw{"measured-h200", "counters_drawn_twentyeighth.csv"},
    Draw{"measured-h200", "counters_drawn_twentyninth.csv"},
    Draw{"measured-h200", "counters_drawn_thirtieth.csv"},
    Draw{"measured-h200", "counters_drawn_thirtyfirst.csv"},
};
/// HBM bytes of launches whose tensors lie one behind the other, as in the model; guided nothing.
inline constexpr const char* kPlacedBytes = "bytes_by_placement.csv";
/// Backward passes in a fixed order (counters_drawn.md).
inline constexpr const char* kDeterministicCounters = "counters_deterministic.csv";
inline constexpr const char* kFigure5 = "Fig. 5";
inline constexpr const char* kFigure6 = "Fig. 6";

struct Observation {
  Point point;
  std::string source;  ///< one of those above
  Numbers numbers;
};

/// Passes of the counters' files that kernels have, launches of a call added up, wall times of FA2, and the
/// bars of the paper's Figures 5 (forward) and 6 (backward).
/// `directory` holds the reference data. Throws UsageError where a file is damaged or missing.
std::vector<Observation> all_observations(const std::filesystem::path& directory);

/// The model's numbers, from the result of a point. Counters leave out launches that were not measured;
/// TFLOP/s are of the whole call.
Numbers model_numbers(const PointResult& result);

/// The model's numbers for each point, empty where it could not be simulated, which is said on standard
/// error. `what` the points are for stands in messages of progress.
std::vector<Numbers> simulate_numbers(const std::vector<Point>& points, const PoolOptions& workers,
                                      const char* what);

/// "d 64 causal, 512 tokens", or "d 64, 1 query on 4096 keys".
std::string label(const Point& point);

}  // namespace warpscope::experiments

// Barriers that would never open, and loops whose trips cannot be counted to know.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "model/trace/text_reader.hpp"
#include "model/trace/trace_error.hpp"

namespace warpscope::trace {
namespace {

/// Warp 0 runs `a`, warp 1 runs `b`.
std::string error_of_pair(const std::string& a, const std::string& b, const std::string& trips) {
  std::istringstream input("warpscope_trace 1\nlaunch l {\nthreads 64\nprogram a {\n" + a +
                           "\nEXIT\n}\nprogram b {\n" + b + "\nEXIT\n}\nclass programs=a,b trips=" + trips +
                           "\n}\nend\n");
  try {
    read_text(input, "t");
  } catch (const TraceError& error) {
    return error.what();
  }
  return "accepted";
}

std::string mismatch(int barrier, const std::string& counts) {
  return "t:2: launch 'l', class 0, executions of BAR.SYNC " + std::to_string(barrier) +
         " by warps 0 and 1 '" + counts +
         "': all warps of a CTA pass a barrier equally often, or the CTA would wait forever";
}

TEST(TraceBarriers, ThatWouldNeverOpen) {
  const std::string loop0 = "loop n=slot0 {\nBAR.SYNC 2\nBRA\n}";
  const std::string loop1 = "loop n=slot1 {\nBAR.SYNC 2\nBRA\n}";
  EXPECT_EQ(error_of_pair(loop0, loop1, "5,5"), "accepted");
  EXPECT_EQ(error_of_pair(loop0, loop1, "5,4"), mismatch(2, "5 and 4"));
  EXPECT_EQ(error_of_pair(loop0 + "\nBAR.SYNC 2", loop1, "4,5"), "accepted");
  EXPECT_EQ(error_of_pair("BAR.SYNC 3", "BAR.SYNC 4", "0"), mismatch(3, "1 and 0"));
  EXPECT_EQ(error_of_pair("NOP", "BAR.SYNC 15", "0"), mismatch(15, "0 and 1"));
}

TEST(TraceBarriers, InLoopsOfVaryingLength) {
  const std::string triangle = "loop n=slot0 {\nloop n=slot1+i0 {\nBAR.SYNC 0\nBRA\n}\nBRA\n}";
  const std::string flat = "loop n=slot2 {\nBAR.SYNC 0\nBRA\n}";
  EXPECT_EQ(error_of_pair(triangle, flat, "100000,0,4000000000"), mismatch(0, "4999950000 and 4000000000"));
  EXPECT_EQ(error_of_pair(triangle, flat, "1000,1,500500"), "accepted");
}

TEST(TraceBarriers, TripsBeyondCounting) {
  const std::string cube = "loop n=slot0 {\nloop n=slot0 {\nloop n=slot0 {\nBRA\n}\nBRA\n}\nBRA\n}";
  EXPECT_EQ(error_of_pair(cube, "NOP", "4000000000"),
            "t:2: launch 'l', program 'a', class 0, trips 'a count that exceeds 64 bits': fewer trips");
  EXPECT_EQ(
      error_of_pair("loop n=slot0 {\nloop n=slot0+i0 {\nBRA\n}\nBRA\n}", "NOP", "4000000000"),
      "t:2: launch 'l', program 'a', class 0, trips 'a loop of more than 4294967295 trips': fewer trips");
}

}  // namespace
}  // namespace warpscope::trace

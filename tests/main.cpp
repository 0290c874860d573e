// Runs the tests. The SystemC library brings a main of its own that calls sc_main, so that GoogleTest's
// ready-made main would not do: this one wins over the library's, and the stub satisfies it.
#include <gtest/gtest.h>

extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

#include "tests/support/scarce_memory.hpp"

#include <cstdlib>
#include <limits>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace {

constexpr std::int64_t kPlenty = std::numeric_limits<std::int64_t>::max();
thread_local std::int64_t allocations_left = kPlenty;

}  // namespace

// They replace those of the standard library in the whole program.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocations_left-- == 0 ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new(std::size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  return memory != nullptr ? memory : throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

namespace warpscope::test {

// Constructors of SystemC that throw leave something behind, which is no leak of ours.
ScarceMemory::ScarceMemory(std::int64_t allocations) {
#ifdef __SANITIZE_ADDRESS__
  __lsan_disable();
#endif
  allocations_left = allocations;
}
ScarceMemory::~ScarceMemory() {
  allocations_left = kPlenty;
#ifdef __SANITIZE_ADDRESS__
  __lsan_enable();
#endif
}
bool ScarceMemory::ran_out() {
  return allocations_left < 0;
}

}  // namespace warpscope::test

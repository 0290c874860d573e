#include "model/engine/thread_team.hpp"

#include <algorithm>

namespace warpscope::engine {
namespace {

/// Looks at a variable so often before it sleeps until it is told.
constexpr int kSpins = 20000;

/// Numbers that are handed out together: few enough to share the work evenly, and not one by one.
constexpr int kChunk = 4;

template <typename Value>
void wait_while(const std::atomic<Value>& variable, Value value) {
  for (int i = 0; i < kSpins; ++i) {
    if (variable.load(std::memory_order_acquire) != value) {
      return;
    }
  }
  variable.wait(value, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) {
  for (int thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { serve(thread); });
  }
}

ThreadTeam::~ThreadTeam() {
  ends_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadTeam::call(int thread) {
  try {
    (*work_)(thread);
  } catch (...) {
    if (!failed_.exchange(true)) {
      failure_ = std::current_exception();
    }
  }
}

void ThreadTeam::serve(int thread) {
  for (std::uint32_t round = 0;; ++round) {
    wait_while(round_, round);
    if (ends_) {
      return;
    }
    call(thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      busy_.notify_one();
    }
  }
}

void ThreadTeam::run(const std::function<void(int)>& work) {
  work_ = &work;
  if (!workers_.empty()) {
    busy_.store(static_cast<int>(workers_.size()), std::memory_order_release);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  call(0);
  for (int busy = busy_.load(std::memory_order_acquire); busy != 0;
       busy = busy_.load(std::memory_order_acquire)) {
    wait_while(busy_, busy);
  }
  if (failed_.exchange(false)) {
    std::rethrow_exception(failure_);
  }
}

void ThreadTeam::for_each(int count, const std::function<void(int)>& work) {
  std::atomic<int> next{0};
  run([&](int /*thread*/) {
    for (int begin = next.fetch_add(kChunk); begin < count; begin = next.fetch_add(kChunk)) {
      for (int i = begin; i < std::min(count, begin + kChunk); ++i) {
        work(i);
      }
    }
  });
}

}  // namespace warpscope::engine

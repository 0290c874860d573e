// Host threads that do one thing together.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace warpscope::engine {

/// A few threads that wait for short work together; the caller is the first of them. Waiting threads spin for
/// a while before they sleep, as the next piece of work comes within microseconds.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }
  /// Calls `work` with 0 to size() - 1, each on a thread of its own, and waits for all. What one throws is
  /// thrown here.
  void run(const std::function<void(int)>& work);
  /// Calls `work` with 0 to `count` - 1, each once, on whatever thread is free.
  void for_each(int count, const std::function<void(int)>& work);

 private:
  void serve(int thread);
  void call(int thread);

  std::vector<std::thread> workers_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> ends_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
};

}  // namespace warpscope::engine

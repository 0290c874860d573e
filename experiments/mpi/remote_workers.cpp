#include "experiments/mpi/remote_workers.hpp"

#include <fmt/format.h>

#include <deque>
#include <thread>

#include "experiments/base/usage_error.hpp"
#include "experiments/mpi/remote_message.hpp"

namespace warpscope::experiments {
namespace {

using Kind = RemoteMessage::Kind;

// MPI would wait in a busy loop and take a processor from the simulations.
constexpr std::chrono::microseconds kNap{200};
// Besides the task at work a process has one in hand, so that it does not wait for the next.
constexpr int kTasks = 2;

}  // namespace

RemoteWorkers::RemoteWorkers(Communicator& communicator, std::string version)
    : communicator_(communicator), version_(std::move(version)) {}

RemoteWorkers::~RemoteWorkers() {
  for (int rank = 1; rank < communicator_.size(); ++rank) {
    communicator_.send(rank, encode({Kind::stop, 0, 0, {}}));
  }
  // What they still send must be received, or MPI waits for it in the end.
  for (int present = communicator_.size() - 1; present > 0;) {
    if (const std::optional<Message> message = communicator_.poll()) {
      present -= decode(message->text).kind == Kind::bye ? 1 : 0;
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
}

std::vector<int> RemoteWorkers::room() const {
  std::vector<int> room;
  for (const RemoteWorker& worker : workers_) {
    room.push_back(worker.room);
  }
  return room;
}

void RemoteWorkers::submit(std::size_t worker, std::size_t id, const std::string& task) {
  RemoteWorker& remote = workers_[worker];
  --remote.room;
  worker_of_[id] = worker;
  communicator_.send(remote.rank, encode({Kind::task, id, remote.process, task}));
}

std::vector<Finished> RemoteWorkers::wait(std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  std::vector<Finished> finished;
  while (true) {
    bool arrived = false;
    while (const std::optional<Message> message = communicator_.poll()) {
      take(*message, finished);
      arrived = true;
    }
    if (arrived || std::chrono::steady_clock::now() >= end) {
      return finished;
    }
    std::this_thread::sleep_for(kNap);
  }
}

void RemoteWorkers::take(const Message& message, std::vector<Finished>& finished) {
  const RemoteMessage content = decode(message.text);
  if (content.kind == Kind::hello && content.text != version_) {
    throw UsageError(fmt::format("rank {} runs model {}, rank 0 model {}; all must run the same program",
                                 message.from, content.text, version_));
  }
  if (content.kind == Kind::hello) {
    for (std::uint64_t process = 0; process < content.number; ++process) {
      workers_.push_back({message.from, process, kTasks});
    }
  } else if (content.kind == Kind::result) {
    const auto worker = worker_of_.find(content.number);
    ++workers_[worker->second].room;
    worker_of_.erase(worker);
    finished.push_back(
        {content.number, {static_cast<Fate>(content.text.front() - '0'), content.text.substr(1)}});
  }
}

void serve_rank_zero(Communicator& communicator, Workers& workers, const std::string& version) {
  constexpr std::chrono::milliseconds kLongestWait{1};
  std::vector<std::deque<RemoteMessage>> in_hand(workers.room().size());  // by process
  communicator.send(0, encode({Kind::hello, in_hand.size(), 0, version}));
  while (true) {
    while (const std::optional<Message> message = communicator.poll()) {
      RemoteMessage content = decode(message->text);
      if (content.kind == Kind::stop) {
        communicator.send(0, encode({Kind::bye, 0, 0, {}}));
        return;
      }
      in_hand[content.process].push_back(std::move(content));
    }
    const std::vector<int> room = workers.room();
    for (std::size_t process = 0; process < room.size(); ++process) {
      if (room[process] > 0 && !in_hand[process].empty()) {
        workers.submit(process, in_hand[process].front().number, in_hand[process].front().text);
        in_hand[process].pop_front();
      }
    }
    for (const Finished& finished : workers.wait(kLongestWait)) {
      const char fate = static_cast<char>('0' + static_cast<int>(finished.outcome.fate));
      communicator.send(0, encode({Kind::result, finished.id, 0, fate + finished.outcome.text}));
    }
  }
}

}  // namespace warpscope::experiments

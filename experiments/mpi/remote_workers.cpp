#include "experiments/mpi/remote_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "experiments/base/usage_error.hpp"
#include "experiments/mpi/remote_message.hpp"

namespace warpscope::experiments {
namespace {

using Kind = RemoteMessage::Kind;

// MPI would wait in a busy loop and take a processor from the simulations.
constexpr std::chrono::microseconds kNap{200};
// Besides the tasks at work a rank has one in hand, so that it does not wait for the next.
constexpr int kInHand = 1;

}  // namespace

RemoteWorkers::RemoteWorkers(Communicator& communicator, std::string version)
    : communicator_(communicator),
      version_(std::move(version)),
      room_(static_cast<std::size_t>(communicator.size()), 0) {}

RemoteWorkers::~RemoteWorkers() {
  for (int rank = 1; rank < communicator_.size(); ++rank) {
    communicator_.send(rank, encode({Kind::stop, 0, {}}));
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

bool RemoteWorkers::has_room() const {
  return *std::ranges::max_element(room_) > 0;
}

void RemoteWorkers::submit(std::size_t id, const std::string& task) {
  const auto rank = std::ranges::max_element(room_);
  --*rank;
  communicator_.send(static_cast<int>(rank - room_.begin()), encode({Kind::task, id, task}));
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
  int& room = room_[static_cast<std::size_t>(message.from)];
  if (content.kind == Kind::hello && content.text != version_) {
    throw UsageError(fmt::format("rank {} runs model {}, rank 0 model {}; all must run the same program",
                                 message.from, content.text, version_));
  }
  if (content.kind == Kind::hello) {
    room = static_cast<int>(content.number) + kInHand;
  } else if (content.kind == Kind::result) {
    ++room;
    finished.push_back(
        {content.number, {static_cast<Fate>(content.text.front() - '0'), content.text.substr(1)}});
  }
}

void serve_rank_zero(Communicator& communicator, Workers& workers, int room, const std::string& version) {
  constexpr std::chrono::milliseconds kLongestWait{1};
  std::deque<RemoteMessage> in_hand;
  communicator.send(0, encode({Kind::hello, static_cast<std::uint64_t>(room), version}));
  while (true) {
    while (const std::optional<Message> message = communicator.poll()) {
      in_hand.push_back(decode(message->text));
      if (in_hand.back().kind == Kind::stop) {
        communicator.send(0, encode({Kind::bye, 0, {}}));
        return;
      }
    }
    while (!in_hand.empty() && workers.has_room()) {
      workers.submit(in_hand.front().number, in_hand.front().text);
      in_hand.pop_front();
    }
    for (const Finished& finished : workers.wait(kLongestWait)) {
      const char fate = static_cast<char>('0' + static_cast<int>(finished.outcome.fate));
      communicator.send(0, encode({Kind::result, finished.id, fate + finished.outcome.text}));
    }
  }
}

}  // namespace warpscope::experiments

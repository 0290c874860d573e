// The communicator on Boost.MPI: the only file that knows MPI.
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/request.hpp>
#include <cstdlib>
#include <list>

#include "experiments/mpi/communicator.hpp"

namespace warpscope::experiments {
namespace {

constexpr int kTag = 1;

class BoostCommunicator : public Communicator {
 public:
  // An error of ours that passes by is no reason to abort: it has its message and status.
  BoostCommunicator() : environment_(false) {}
  ~BoostCommunicator() override {
    for (Sending& sending : sending_) {
      sending.request.wait();
    }
  }

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }

  void send(int rank, std::string text) override {
    sending_.remove_if([](Sending& sending) { return sending.request.test().has_value(); });
    Sending& sending = sending_.emplace_back(Sending{std::move(text), {}});
    sending.request = world_.isend(rank, kTag, sending.text.data(), static_cast<int>(sending.text.size()));
  }

  std::optional<Message> poll() override {
    const auto status = world_.iprobe(boost::mpi::any_source, kTag);
    if (!status) {
      return std::nullopt;
    }
    Message message{status->source(), std::string(static_cast<std::size_t>(*status->count<char>()), '\0')};
    world_.recv(message.from, kTag, message.text.data(), static_cast<int>(message.text.size()));
    return message;
  }

  [[noreturn]] void abort(int status) override {
    boost::mpi::environment::abort(status);
    std::_Exit(status);
  }

 private:
  struct Sending {
    std::string text;
    boost::mpi::request request;
  };

  boost::mpi::environment environment_;
  boost::mpi::communicator world_;
  std::list<Sending> sending_;
};

}  // namespace
}  // namespace warpscope::experiments

extern "C" __attribute__((visibility("default"))) warpscope::experiments::Communicator*
warpscope_open_communicator() {
  return new warpscope::experiments::BoostCommunicator;
}

// Messages between the processes of one mpirun, without a word of MPI: what knows MPI is a library of its
// own, loaded only by programs that a launcher of MPI started. Linked to the program it would make every
// start slower.
#pragma once

#include <optional>
#include <string>

namespace warpscope::experiments {

struct Message {
  int from = 0;  ///< rank
  std::string text;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Does not wait for the receiver. Messages to one rank arrive in their order.
  virtual void send(int rank, std::string text) = 0;
  /// A message that has arrived.
  virtual std::optional<Message> poll() = 0;
  /// Ends all processes of the mpirun.
  [[noreturn]] virtual void abort(int status) = 0;
};

/// What the library offers under the name kOpenCommunicator: starts MPI; the caller owns the object, whose
/// end ends MPI.
using OpenCommunicator = Communicator* (*)();
inline constexpr const char* kOpenCommunicator = "warpscope_open_communicator";
inline constexpr const char* kCommunicatorLibrary = "libwarpscope_mpi.so";

}  // namespace warpscope::experiments

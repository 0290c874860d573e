// Messages between ranks: what is decoded is encoded to the same.
#include "experiments/mpi/remote_message.hpp"

#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {

bool remote_message(std::string_view input) {
  experiments::RemoteMessage message;
  try {
    message = experiments::decode(input);
  } catch (const std::invalid_argument& error) {
    require_one_line(error.what());
    return false;
  }
  const experiments::RemoteMessage again = experiments::decode(experiments::encode(message));
  require(again.kind == message.kind && again.number == message.number && again.process == message.process &&
              again.text == message.text,
          "a message changes on its way");
  return true;
}

}  // namespace warpscope::fuzz

#include "experiments/report/tensor_json.hpp"

namespace warpscope::experiments {

nlohmann::ordered_json to_json(const TensorRow& row) {
  return {{"tensor", row.tensor},
          {"read_bytes", row.read_bytes},
          {"write_bytes", row.write_bytes},
          {"compulsory_bytes", row.compulsory_bytes},
          {"l2_read_bytes", row.l2_read_bytes},
          {"l2_read_hit_bytes", row.l2_read_hit_bytes},
          {"l2_write_bytes", row.l2_write_bytes}};
}

TensorRow tensor_row_from_json(const nlohmann::json& json) {
  TensorRow row;
  json.at("tensor").get_to(row.tensor);
  json.at("read_bytes").get_to(row.read_bytes);
  json.at("write_bytes").get_to(row.write_bytes);
  json.at("compulsory_bytes").get_to(row.compulsory_bytes);
  json.at("l2_read_bytes").get_to(row.l2_read_bytes);
  json.at("l2_read_hit_bytes").get_to(row.l2_read_hit_bytes);
  json.at("l2_write_bytes").get_to(row.l2_write_bytes);
  return row;
}

}  // namespace warpscope::experiments

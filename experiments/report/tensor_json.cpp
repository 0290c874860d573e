#include "experiments/report/tensor_json.hpp"

#include "experiments/point/json_integer.hpp"

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
  read_integer(json, "read_bytes", row.read_bytes);
  read_integer(json, "write_bytes", row.write_bytes);
  read_integer(json, "compulsory_bytes", row.compulsory_bytes);
  read_integer(json, "l2_read_bytes", row.l2_read_bytes);
  read_integer(json, "l2_read_hit_bytes", row.l2_read_hit_bytes);
  read_integer(json, "l2_write_bytes", row.l2_write_bytes);
  return row;
}

}  // namespace warpscope::experiments

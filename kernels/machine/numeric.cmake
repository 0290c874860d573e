target_sources(warpscope_kernels PRIVATE
  cta_position.cpp
  lane_map.cpp
  numeric_global.cpp
  numeric_machine.cpp
  numeric_rows.cpp
  numeric_scalar.cpp
  numeric_shared.cpp
  numeric_store.cpp
  numeric_tiles.cpp
  rounding.cpp
  run_numeric.cpp
)

#!/bin/sh
# Runs every fuzz target for its share of the time and says what came of it:
#   run.sh PROGRAM FOLDER SECONDS
# New inputs go to FOLDER/corpus, where the next run goes on from, and those that are findings to FOLDER/findings.
# Exit status 1: there are findings.
set -eu

program=$1 folder=$2 seconds=$3
here=$(dirname "$(readlink -f "$0")")
targets=$(cd "$here/corpus" && echo *)
jobs=$(nproc)
# shellcheck disable=SC2086
count=$(set -- $targets && echo $#)
[ "$jobs" -le "$count" ] || jobs=$count
share=$(((seconds * jobs + count - 1) / count))

findings=$folder/findings
rm -rf "$findings"
mkdir -p "$findings" "$folder/logs"
# Inputs that are files pass through memory where there is room for it.
scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
export TMPDIR="$scratch" UBSAN_OPTIONS=print_stacktrace=1

run_target() {
  mkdir -p "$folder/corpus/$1"
  set -- "$1" "$folder/corpus/$1" "$here/corpus/$1"
  dictionary=$here/$1.dict
  [ ! -f "$dictionary" ] || set -- "$@" -dict="$dictionary"
  name=$1
  shift
  "$program" --target="$name" -max_total_time="$share" -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
    -malloc_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$findings/$name-" "$@" \
    >"$folder/logs/$name.log" 2>&1 && echo fine >"$folder/logs/$name.verdict" ||
    echo FOUND >"$folder/logs/$name.verdict"
}

# As many at a time as there are processors.
running=0
for target in $targets; do
  run_target "$target" &
  running=$((running + 1))
  if [ $((running % jobs)) = 0 ]; then wait; fi
done
wait

stat() { sed -n "s/^stat::$2: *//p" "$folder/logs/$1.log" | tail -n 1; }
printf '%-16s %10s %9s %10s %8s  %s\n' target inputs 'inputs/s' taken corpus verdict
status=0
for target in $targets; do
  verdict=$(cat "$folder/logs/$target.verdict")
  printf '%-16s %10s %9s %10s %8s  %s\n' "$target" "$(stat "$target" number_of_executed_units)" \
    "$(stat "$target" average_exec_per_sec)" "$(stat "$target" taken_inputs)" \
    "$(find "$folder/corpus/$target" -type f | wc -l)" "$verdict"
  [ "$verdict" = fine ] || status=1
done
echo 'taken: of the inputs, those that were not refused; of simulate, those that were simulated to their end'
[ "$status" = 0 ] && exit 0
for target in $targets; do
  [ "$(cat "$folder/logs/$target.verdict")" = fine ] || {
    echo
    echo "$target: $(grep -m 1 -E 'ERROR|runtime error|what\(\)' "$folder/logs/$target.log" || echo 'see the log')"
    echo "  log: $folder/logs/$target.log"
    for input in "$findings/$target"-*; do
      [ ! -f "$input" ] || echo "  again: $program --target=$target $input"
    done
  }
done
exit 1

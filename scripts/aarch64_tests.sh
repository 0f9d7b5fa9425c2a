#!/usr/bin/env bash
# Runs Python tests on emulated AArch64 CPUs, which are named as arguments:
#
#   scripts/aarch64_tests.sh build-aarch64 .venv/bin max neoverse-n1 cortex-a53
#
# The build has the extension module for the Python that scripts/aarch64_python.sh has unpacked there.
# The second argument is the folder of the Python on this machine whose fbg computes what results are
# compared with. Two CPUs are emulated at a time.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "$1")
host=$2
shift 2

rm -rf "$build/package"
"$host/cmake" --install "$build" --component python --prefix "$build/package" >/dev/null
cp -r python/fbg "$build/package/"
# With AMX, int8 models would differ by more than is allowed below: their attention rounds elsewhere.
FBG_MAX_ISA=avx2 "$host/python" tests/helpers/architectures.py write "$build/results.npz"

# Left out are the tests of portable kernels, which no CPU of this architecture needs, and those that
# take long in an emulator: they start many Pythons, or compute or pack millions of elements.
run() {
  local log="$build/tests-$1.log" python="$build/python/python" bert=tests/models/test_bert_golden.py
  local random=tests/differential/test_differential.py::test_random_cases_agree_with_another_implementation
  export QEMU_CPU=$1 CI=1 PYTHONPATH="$build/package:$build/python/site"
  if "$python" tests/helpers/architectures.py compare "$build/results.npz" >"$log" 2>&1 &&
    "$python" -m pytest -q -p no:cacheprovider tests/gemm tests/plan tests/tables \
      "$random[gemm]" "$random[embedding_bags]" \
      "$bert::test_awkward_sizes_against_transformers" "$bert::test_awkward_sizes_in_other_dtypes" \
      -k 'not generic and not past_the_caches and not ten_thousand' \
      --ignore tests/gemm/test_kernels_info.py --ignore tests/tables/test_recommender.py \
      --ignore tests/gemm/test_damaged_packed_weights.py >>"$log" 2>&1; then
    echo "$1: $(head -n 1 "$log"); $(tail -n 1 "$log")"
  else
    cat "$log"
    return 1
  fi
}
export -f run
export build
printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'run {}'

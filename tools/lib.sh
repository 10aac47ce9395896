# shellcheck shell=bash
# What the scripts in tools/ share. Source it; do not run it.
set -euo pipefail

KKC_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KKC_CACHE=${XDG_CACHE_HOME:-${HOME:-$KKC_ROOT/build}/.cache}/kkc
KKC_JOBS=${KKC_JOBS:-$(nproc)}
export KKC_ROOT KKC_CACHE KKC_JOBS
# Clones in different folders share what was compiled, with precompiled headers too.
export CCACHE_BASEDIR=$KKC_ROOT CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

say() { printf '%s\n' "kkc: $*" >&2; }
die() {
  say "$@"
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# usage: prints the comment at the head of the calling script, without the shebang.
usage() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

# work_folder: a temporary folder that goes away with the script.
work_folder() {
  KKC_WORK=$(mktemp -d "${TMPDIR:-/tmp}/kkc.XXXXXX")
  trap 'rm -rf "$KKC_WORK"' EXIT
}

# watched LOG TEXT COMMAND...: runs a command into LOG; shows a line of progress on a terminal, and one every 20 s
# elsewhere.
watched() {
  local log=$1 text=$2 start=$SECONDS status=0 last shown=0
  shift 2
  "$@" >"$log" 2>&1 &
  local child=$!
  while kill -0 "$child" 2>/dev/null; do
    sleep 0.2
    if [ -t 2 ]; then
      last=$(tail -c 300 "$log" | tr '\r' '\n' | grep -oE '^\[[0-9]+/[0-9]+\]|^ *[0-9]+/[0-9]+ Test' | tail -n 1 || true)
      printf '\r\033[Kkkc: %s %s %d s' "$text" "$last" $((SECONDS - start)) >&2
    elif ((SECONDS - start >= shown + 20)); then
      shown=$((SECONDS - start))
      say "$text … $shown s"
    fi
  done
  wait "$child" || status=$?
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  if ((status == 0)); then say "$text: $((SECONDS - start)) s"; else say "$text failed (whole log: $log)"; fi
  return "$status"
}

# with_progress LOG TEXT COMMAND...: the same, and shows the end of LOG when the command fails.
with_progress() {
  local status=0
  watched "$@" || status=$?
  if ((status != 0)); then tail -n 40 "$1" >&2; fi
  return "$status"
}

generator() { if have ninja; then echo Ninja; else echo "Unix Makefiles"; fi; }

# configure FOLDER OPTION...: configures the project into FOLDER; warnings and the progress of a Kokkos build show.
configure() {
  local folder=$1
  shift
  mkdir -p "$folder"
  if ! cmake -S "$KKC_ROOT" -B "$folder" -G "$(generator)" "$@" >"$folder/configure.log"; then
    tail -n 20 "$folder/configure.log" >&2
    die "configuring $folder failed"
  fi
}

# build FOLDER [TARGET...]
build() {
  local folder=$1
  shift
  local targets=()
  (($# > 0)) && targets=(--target "$@")
  with_progress "$folder/build.log" "building $(basename "$folder")" \
    cmake --build "$folder" --parallel "$KKC_JOBS" "${targets[@]}"
}

# Operations whose kernels neither the programs in C nor the fuzz targets reach.
KKC_UNREACHED="ic;ilu;ilu_pattern;ilut;levels;spadd;spgemm;spgemm_jacobi;sptrsv;view_scan;view_sort"
export KKC_UNREACHED

# cpu_level: the highest of KKC_CPU's levels that this machine runs. Machines of different makes share what a compiler
# cache holds of it, which they do not with native code.
cpu_level() {
  local level
  level=$(/lib64/ld-linux-x86-64.so.2 --help 2>/dev/null | sed -nE 's/^ *(x86-64-v[234]) \(supported.*/\1/p' | head -n 1)
  echo "${level:-native}"
}

# find_nvcc: puts nvcc on the PATH; fails when there is none.
find_nvcc() {
  have nvcc && return
  local folder=${CUDA_HOME:-/usr/local/cuda}/bin
  [ -x "$folder/nvcc" ] && export PATH=$folder:$PATH
}

# run_ctest FOLDER [ARGUMENT...]: runs the tests of a build, shows the output of those that failed, and closes with
# the counts.
run_ctest() {
  local folder status=0
  folder=$(cd "$1" && pwd) || return
  shift
  # Several tests run at once: waiting threads must not hold the cores.
  OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} watched "$folder/test.log" "testing $(basename "$folder")" \
    ctest --test-dir "$folder" --parallel "$KKC_JOBS" --output-on-failure --no-tests=error \
    --output-junit "$folder/test.xml" "$@" || status=$?
  if ((status != 0)); then
    grep -vE '^ *[0-9]+/[0-9]+ Test +#.* Passed |^ +Start +[0-9]+: ' "$folder/test.log" >&2 || true
  fi
  counts "$folder/test.xml"
  return "$status"
}

# counts FILE: "N passed, N failed, N skipped" of a JUnit file.
counts() {
  python3 - "$1" <<'PY'
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot()
total, failed, skipped = (int(suite.get(key, 0)) for key in ("tests", "failures", "skipped"))
print(f"{total - failed - skipped} passed, {failed} failed, {skipped} skipped")
PY
}

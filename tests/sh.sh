# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The script tests' counterpart of test.h; sourced. A test calls `claim NAME COMMAND...` for each
# claim and ends with `finish`. $1 of the test is the build folder.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
while [ ! -e "$root/layers.txt" ]; do root=$(dirname -- "$root"); done
build=$(CDPATH='' cd -- "${1:-$root/build/dev}" && pwd) || exit 1
# shellcheck disable=SC2034 # for the tests
gyre=$build/bin/gyre query=$build/tests/json_query kernels=${KERNELS:-$build/kernels}
for name in $(env | sed -n 's/^\(GYRE_[A-Z_]*\)=.*/\1/p') NO_COLOR OMP_NUM_THREADS OMP_THREAD_LIMIT; do unset "$name"; done
ran=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

claim()
{
    name=$1
    shift
    ran=$((ran + 1))
    if ("$@") >"$work/claim.log" 2>&1; then
        echo "ok    $name"
    else
        echo "FAIL  $name"
        sed 's/^/      /' "$work/claim.log"
        failed=$((failed + 1))
    fi
}

claim_json() # NAME COMMAND...: a claim that reads JSON back
{
    if [ -x "$query" ]; then claim "$@"; else skip "$1" 'jansson is not here, so JSON cannot be read back'; fi
}

skip() # NAME REASON
{
    ran=$((ran + 1)) skipped=$((skipped + 1))
    echo "skip  $1: $2"
}

# exits STATUS COMMAND...: the command ends with that status; its output is in $work/out and err.
exits()
{
    expected=$1
    shift
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$expected" ] || {
        echo "exit status $status, not $expected, of: $*"
        tail -n 40 "$work/out" "$work/err" | cut -c 1-300
        return 1
    }
}

says() { # STREAM PATTERN: a line of the last command's out or err matches
    grep -qe "$2" "$work/$1" || {
        echo "nothing matches '$2' in std$1:"
        tail -n 40 "$work/$1" | cut -c 1-300
        return 1
    }
}

not() { ! "$@"; }

waits_for() # TENTHS COMMAND...: until the command succeeds, for so many tenths of a second
{
    tries=$1
    shift
    until "$@"; do
        [ "$tries" -gt 0 ] || { echo "waited in vain for: $*"; return 1; }
        sleep 0.1 && tries=$((tries - 1))
    done
}

alive() # PID: is the process there, and not only waiting for its parent to notice
{
    case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in '' | [ZX]*) return 1 ;; esac
}
gone() { waits_for 100 not alive "$1"; } # PID

running() { pgrep -f "$1" >/dev/null; } # PATTERN: of a command line
nobody_left() { waits_for 100 not running "$1"; } # PATTERN

finish()
{
    echo "$ran run, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] || exit 1
    [ "$skipped" -lt "$ran" ] || exit 77
    exit 0
}

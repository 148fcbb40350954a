#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into a temporary prefix and builds the examples against it, as an outside project would.
. "$(dirname "$0")/sh.sh"

[ -z "${SANITIZED:-}" ] || { skip package 'users do not install a sanitized build'; finish; }
prefix=$work/prefix
outside=$root/examples
cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
libdir=$(dirname "$(find "$prefix" -name libgyre.so)")
export PKG_CONFIG_PATH="$libdir/pkgconfig"
version=$(sed -n 's/^#define GYRE_VERSION_[A-Z]* //p' "$root/include/gyre/library.h" | paste -sd.)
major=${version%%.*}
flags='-Wall -Wextra -Wpedantic -Werror'

installed()
{
    for file in bin/gyre include/gyre/library.h include/gyre/bench.h share/man/man1/gyre.1 \
        share/bash-completion/completions/gyre share/doc/gyre/LICENSE libexec/gyre/workload \
        libexec/gyre/workload_relinked; do
        [ -s "$prefix/$file" ] || { echo "no $file"; return 1; }
    done
    [ -e "$libdir/libgyre.so.$major" ] && [ -s "$libdir/libgyre.a" ] && [ -s "$libdir/libgyrelab.a" ]
}
command_runs() { exits 0 "$prefix/bin/gyre" --version && "$prefix/bin/gyre" info | grep -q '^  library  *[0-9]'; }
behaviour_runs() # compiled with the installed headers
{
    (cd "$work" && exits 0 "$prefix/bin/gyre" bench --behaviour "$outside/actors/echo.c" --axis device=cpu --test &&
        says out '^6 checked, 0 failed' && sed 's/GYRE_ANSWER(greeting)->count/gyre_self_print(self, "at", gyre_self_now(self));\n        &/' \
        "$outside/actors/echo.c" >talking.c && cp "$outside/actors/example.h" . &&
        exits 0 "$prefix/bin/gyre" bench --behaviour talking.c --axis device=cpu --test && says out '^6 checked, 0 failed')
}
last_of() # PROGRAM: the last of its benchmarks
{
    case $1 in
    *sum_bench_cpp*) echo sum/u64/10000 ;;
    *sum_bench*) echo sum/primes ;;
    *queue_bench*) echo drain/pop/spin/1024 ;;
    esac
}
runs() { # PROGRAM: against the installed shared libraries
    case $1 in
    *bench*)
        exits 0 env LD_LIBRARY_PATH="$libdir" "$1" --test && says out "^$(last_of "$1")  *ok" &&
            says out 'checked, 0 failed'
        ;;
    *call* | */dispatch | */dispatch_static) exits 0 env LD_LIBRARY_PATH="$libdir" "$1" && says out '^5 squared is 25$' ;;
    */echo*) exits 0 env LD_LIBRARY_PATH="$libdir" "$1" cpu && says out '^sent 104, got 104, which was message 5$' ;;
    */vector_add*) exits 0 env LD_LIBRARY_PATH="$libdir" "$1" cpu && says out '^1000 sums, 0 of them wrong$' ;;
    */key_value*) exits 0 env LD_LIBRARY_PATH="$libdir" "$1" cpu && says out '^1000 keys, 20 rounds, 0 answers wrong; some keys were not there$' &&
        says out '^3196 more keys, 100 of them found the table full$' && exits 1 env LD_LIBRARY_PATH="$libdir" "$1" nonsense &&
        says err "there is no device 'nonsense'; there is cpu:0" ;;
    */adopt*) exits 0 env LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$1" && says out '^there is no GPU of NVIDIA here$\|^1000 numbers doubled in our own memory, 0 of them wrong$' ;;
    *message*) exits 0 env LD_LIBRARY_PATH="$libdir" "$1" && says out '^apples: 3.5$' ;;
    *) exits 0 env LD_LIBRARY_PATH="$libdir" "$1" && says out "^gyre $version, " ;;
    esac
}
# shellcheck disable=SC2046,SC2086 # words
pkgconfig_c()
{
    ${CC:-cc} -std=c11 $flags "$outside/hello.c" -o "$work/hello" $(pkg-config --cflags --libs gyre) &&
        LD_LIBRARY_PATH="$libdir" ldd "$work/hello" | grep -q "libgyre.so.$major => $libdir" && runs "$work/hello"
}
# shellcheck disable=SC2046,SC2086
pkgconfig_channel()
{
    ${CC:-cc} -std=c11 $flags "$outside/call.c" -o "$work/call" $(pkg-config --cflags --libs gyre) && runs "$work/call" &&
        ${CC:-cc} -std=c11 $flags "$outside/message.c" -o "$work/message" $(pkg-config --cflags --libs gyre) &&
        runs "$work/message"
}
# shellcheck disable=SC2046,SC2086
pkgconfig_static()
{
    ${CC:-cc} -std=c11 $flags "$outside/hello.c" -o "$work/hello_static" $(pkg-config --cflags gyre) \
        "$libdir/libgyre.a" $(pkg-config --static --libs-only-l gyre | sed 's/-lgyre//') &&
        ! ldd "$work/hello_static" | grep libgyre && runs "$work/hello_static"
}
# shellcheck disable=SC2046,SC2086
pkgconfig_cpp()
{
    ${CXX:-c++} -std=c++17 $flags "$outside/hello_cpp.cpp" -o "$work/hello_cpp" \
        $(pkg-config --cflags --libs gyre) && runs "$work/hello_cpp" &&
        ${CXX:-c++} -std=c++17 $flags "$outside/sum_bench_cpp.cpp" -o "$work/sum_bench_cpp" \
            $(pkg-config --cflags --libs gyrelab) && runs "$work/sum_bench_cpp"
}
# shellcheck disable=SC2046,SC2086
pkgconfig_lab()
{
    for program in sum_bench queue_bench; do
        ${CC:-cc} -std=c11 $flags "$outside/$program.c" -o "$work/$program" \
            $(pkg-config --cflags --libs gyrelab) && runs "$work/$program" || return 1
    done
}
# shellcheck disable=SC2046,SC2086
pkgconfig_lab_static()
{
    ${CC:-cc} -std=c11 $flags "$outside/sum_bench.c" -o "$work/sum_bench_static" $(pkg-config --cflags gyrelab) \
        "$libdir/libgyrelab.a" "$libdir/libgyre.a" \
        $(pkg-config --static --libs-only-l gyrelab | sed 's/-lgyrelab//; s/-lgyre//') &&
        ! ldd "$work/sum_bench_static" | grep libgyre && runs "$work/sum_bench_static"
}
moved() # the installed tree, moved elsewhere, still tells the right paths
{
    cp -R "$prefix" "$work/elsewhere" &&
        PKG_CONFIG_PATH="$work/elsewhere/${libdir#"$prefix/"}/pkgconfig" pkg-config --cflags gyre |
        grep -q "$work/elsewhere"
}
cmake_project()
{
    cmake -S "$outside" -B "$work/outside" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="${CC:-cc}" \
        -DCMAKE_CXX_COMPILER="${CXX:-c++}" && cmake --build "$work/outside" || return 1
    for program in hello hello_cpp dispatch echo vector_add key_value adopt sum_bench queue_bench sum_bench_cpp \
        hello_static hello_cpp_static dispatch_static echo_static vector_add_static key_value_static adopt_static sum_bench_static queue_bench_static sum_bench_cpp_static; do
        runs "$work/outside/$program" || return 1
    done
}
mapped() # the compiler calls the sources by names that are none
{
    cp -R "$outside" "$work/mapped" &&
        cmake -S "$work/mapped" -B "$work/mapped_build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="${CC:-cc}" \
            -DCMAKE_CXX_COMPILER="${CXX:-c++}" -DCMAKE_C_FLAGS="-ffile-prefix-map=$work=/nowhere" &&
        cmake --build "$work/mapped_build" --target echo && runs "$work/mapped_build/echo" &&
        grep -q '/nowhere/mapped/actors/echo.c' "$work/mapped_build/echo" &&
        ! grep -q "$work/mapped/actors/echo.c" "$work/mapped_build/echo"
}
# shellcheck disable=SC2046,SC2086
quoted() # there is a quote in the path
{
    mkdir "$work/q\"uoted" && cp "$outside/actors/echo.c" "$work/q\"uoted" &&
        ${CC:-cc} -std=c11 $flags -DGYRE_BEHAVIOUR_FILE="\"$work/q\\\\\\\"uoted/echo.c\"" "$work/q\"uoted/echo.c" \
            -o "$work/echo" $(pkg-config --cflags --libs gyre) && runs "$work/echo" || return 1
    env LD_LIBRARY_PATH="$libdir" POCL_MAX_PTHREAD_COUNT=6 GYRE_CACHE="$work/cache" "$work/echo" opencl 2>"$work/err" |
        grep -q '^sent 104, got 104' || grep -q "no device 'opencl'\|cannot have actors" "$work/err"
}
measures()
{
    (cd "$work" && exits 0 env LD_LIBRARY_PATH="$libdir" "$work/queue_bench" --sample-size 10 \
        --warm-up-time 1ms --measurement-time 20ms && says out 'thrpt: ' && says out 'note:   lock_by mtx_t' &&
        says out '^12 measured' && [ -s gyre-out/latest.json ] &&
        exits 0 env LD_LIBRARY_PATH="$libdir" "$work/sum_bench" --quick && says out '^sum/primes  *time:')
}

claim everything_is_installed installed
claim installed_command_runs command_runs
claim installed_command_measures_a_behaviour behaviour_runs
if command -v pkg-config >/dev/null; then
    claim pkg_config_in_c pkgconfig_c
    claim pkg_config_and_a_channel pkgconfig_channel
    claim pkg_config_static pkgconfig_static
    claim pkg_config_lab pkgconfig_lab
    claim pkg_config_lab_static pkgconfig_lab_static
    claim lab_program_measures measures
    claim installed_tree_can_be_moved moved
    claim behaviour_in_a_path_with_a_quote quoted
else
    skip pkg_config 'pkg-config is not installed'
fi
if command -v "${CXX:-c++}" >/dev/null; then
    command -v pkg-config >/dev/null && claim pkg_config_in_cpp pkgconfig_cpp
    claim cmake_in_c_and_cpp_shared_and_static cmake_project
    claim behaviours_are_found_by_other_names mapped
else
    skip cpp 'there is no C++ compiler'
fi
finish

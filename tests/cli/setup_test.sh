#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup_test: tools/setup against a made-up machine.
#
# Every case gets a folder that is the whole of PATH and a folder that is the whole of the file
# system as far as setup looks, so nothing is installed and neither root nor a network is needed.
# The fake apt-get writes what it was asked to $box/calls and, told to, puts things in place.
#
# SETUP_TEST_SHELL runs setup under another shell than /bin/sh.
set -u

here=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
setup=$here/tools/setup
shell=$(command -v "${SETUP_TEST_SHELL:-sh}") || exit 1
top=$(mktemp -d "${TMPDIR:-/tmp}/setup_test.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT
count=0 failures=0 skips=0

# fake NAME: a command whose body is read from standard input.
fake()
{
    { echo '#!/bin/sh'; cat; } >"$box/bin/$1" && chmod +x "$box/bin/$1"
}

# A Debian 12 that has all that `--for build` asks for, and a user with neither root nor sudo.
machine()
{
    box=$top/$1
    mkdir -p "$box/bin" "$box/tmp" "$box/root/etc" "$box/root/usr/include"
    for tool in cat chmod env grep mktemp rm sed tail touch; do
        ln -s "$(command -v "$tool")" "$box/bin/$tool"
    done
    for tool in cc make ninja; do fake "$tool" </dev/null; done
    echo 'echo cmake version 3.25.1; echo; echo CMake suite' | fake cmake
    echo 'echo 1000' | fake id
    echo 'exit 1' | fake sudo
    echo 'exit 0' | fake sleep
    echo 'exit 100' | fake apt-cache
    fake apt-get <<END
echo "\${DEBIAN_FRONTEND:-} \$*" >>"$box/calls"
case \$* in *install*) . "$box/on_install" ;; *update*) . "$box/on_update" ;; esac
END
    : >"$box/on_install"
    : >"$box/on_update"
    : >"$box/calls"
    for header in stdio.h jansson.h sqlite3.h; do : >"$box/root/usr/include/$header"; done
    distribution debian 12
}

distribution()
{
    printf 'PRETTY_NAME="A %s"\nID=%s\nVERSION_ID="%s"\nID_LIKE="%s"\n' \
        "$1" "$1" "$2" "${3:-}" >"$box/root/etc/os-release"
}

as_root() { echo 'echo 0' | fake id; }
lose() { for tool; do rm "$box/bin/$tool"; done; }

# apt_brings COMMANDS: what the fake apt-get leaves in PATH, whatever packages it is asked for.
apt_brings()
{
    for tool; do
        printf 'echo "#!/bin/sh\necho cmake version 3.25.1" >"%s"; chmod +x "%s"\n' \
            "$box/bin/$tool" "$box/bin/$tool"
    done >"$box/on_install"
}

# run ARGUMENTS: setup on the machine; its status in $status, its output in $box/out and $box/err.
# A case that sets no_install sets GYRE_NO_INSTALL.
run()
{
    (cd "$box" && PATH=$box/bin SETUP_ROOT=$box/root TMPDIR=$box/tmp \
        DEBIAN_FRONTEND="" GYRE_NO_INSTALL=${no_install-} "$shell" "$setup" "$@") \
        >"$box/out" 2>"$box/err" </dev/null
    status=$?
}

said() { grep -qF -- "$1" "$box/err"; }
silent() { [ ! -s "$box/out" ] && [ ! -s "$box/err" ]; }
apt_not_called() { [ ! -s "$box/calls" ]; }
no_log_left() { rmdir "$box/tmp" 2>/dev/null; }

# ---- nothing to do

nothing_missing_is_silent()
{
    run --for build && [ $status = 0 ] && silent && apt_not_called
}

a_compiler_of_any_name_will_do()
{
    lose cc
    fake clang </dev/null
    run --for build
    [ $status = 0 ] && silent
}

a_header_in_usr_local_will_do()
{
    mkdir -p "$box/root/usr/local/include"
    mv "$box/root/usr/include/jansson.h" "$box/root/usr/local/include"
    run --for build
    [ $status = 0 ] && silent
}

# ---- not installing

no_root_prints_the_command_and_exits_3()
{
    lose cmake ninja
    run --for build
    [ $status = 3 ] && apt_not_called &&
        said 'setup: missing cmake 3.22+: configures the build' &&
        said 'sudo apt-get update && sudo apt-get install --no-install-recommends -y cmake ninja-build'
}

no_install_setting_is_obeyed()
{
    as_root
    lose ninja
    no_install=1
    run --for build
    [ $status = 3 ] && apt_not_called && said GYRE_NO_INSTALL &&
        said '    apt-get update && apt-get install --no-install-recommends -y ninja-build'
}

no_install_of_0_means_install()
{
    as_root
    lose ninja
    apt_brings ninja
    no_install=0
    run --for build
    [ $status = 0 ]
}

unknown_distribution_names_what_is_needed()
{
    as_root
    distribution fedora 40
    lose cmake
    rm "$box/root/usr/include/jansson.h"
    run --for build
    [ $status = 3 ] && apt_not_called && said 'A fedora' && said 'cmake 3.22+, jansson'
}

no_os_release_is_an_unknown_distribution()
{
    as_root
    rm "$box/root/etc/os-release"
    lose cmake
    run --for build
    [ $status = 3 ] && apt_not_called && said 'cmake 3.22+'
}

old_debian_is_not_touched()
{
    as_root
    distribution debian 11
    lose ninja
    run --for build
    [ $status = 3 ] && apt_not_called && said 'older than Debian 12'
}

dry_run_prints_packages_and_installs_nothing()
{
    as_root
    lose cmake ninja
    run --for build --dry-run
    [ $status = 0 ] && apt_not_called && [ "$(cat "$box/out")" = 'cmake
ninja-build' ]
}

# ---- installing

root_updates_first_and_without_recommends()
{
    as_root
    lose cmake ninja
    apt_brings cmake ninja
    run --for build
    [ $status = 0 ] && said 'installing 2 packages: cmake ninja-build' && no_log_left &&
        [ "$(cat "$box/calls")" = 'noninteractive -o DPkg::Lock::Timeout=300 update
noninteractive -o DPkg::Lock::Timeout=300 install --no-install-recommends -y cmake ninja-build' ]
}

passwordless_sudo_is_used()
{
    lose ninja
    apt_brings ninja
    fake sudo <<END
echo "sudo \$*" >>"$box/sudo_calls"
[ "\$1" = -n ] && shift && exec "\$@"
END
    echo true | fake true
    run --for build
    [ $status = 0 ] && [ "$(grep -c 'apt-get' "$box/sudo_calls")" = 2 ]
}

a_derivative_of_debian_is_one()
{
    as_root
    distribution linuxmint 22 'ubuntu debian'
    lose ninja
    apt_brings ninja
    run --for build
    [ $status = 0 ]
}

a_held_lists_lock_is_waited_for()
{
    as_root
    lose ninja
    apt_brings ninja
    cat >"$box/on_update" <<END
[ ! -e "$box/tried" ] || exit 0
touch "$box/tried"
echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)' >&2
exit 100
END
    run --for build
    [ $status = 0 ] && [ "$(grep -c update "$box/calls")" = 2 ] && said 'waiting for another apt'
}

no_network_is_one_sentence_and_exit_3()
{
    as_root
    lose ninja
    echo 'echo "Err: Temporary failure resolving mirror.example"; exit 100' >"$box/on_update"
    run --for build
    [ $status = 3 ] && ! grep -q install "$box/calls" && said 'Temporary failure' &&
        [ "$(grep -c 'apt-get update failed.*check the network.*by hand: ninja-build' "$box/err")" = 1 ]
}

failed_download_is_one_sentence_and_exit_3()
{
    as_root
    lose ninja
    echo 'echo "E: Failed to fetch ninja.deb"; exit 100' >"$box/on_install"
    run --for build
    [ $status = 3 ] && said 'Failed to fetch ninja.deb' &&
        [ "$(grep -c 'apt-get install failed.*check the network.*by hand: ninja-build' "$box/err")" = 1 ]
}

still_missing_after_install_is_exit_3()
{
    as_root
    lose ninja
    run --for build
    [ $status = 3 ] && said 'still missing ninja' && no_log_left
}

interrupt_removes_the_log_and_exits_130()
{
    # a shell cannot catch what was ignored when it started
    sh -c 'kill -INT $$; exit 0' && return 77
    as_root
    lose ninja
    cat >"$box/on_update" <<'END'
kill -INT $PPID
END
    run --for build
    [ $status = 130 ] && no_log_left
}

# ---- the table

old_cmake_is_missing()
{
    echo 'echo cmake version 3.18.4' | fake cmake
    run --for build
    [ $status = 3 ] && said '(found 3.18.4)' && said '-y cmake'
}

cmake_4_is_new_enough()
{
    echo 'echo cmake version 4.0.3' | fake cmake
    run --for build
    [ $status = 0 ] && silent
}

each_level_contains_build()
{
    lose ninja
    for level in build test ci peers; do
        run --for "$level" --dry-run
        [ $status = 0 ] && grep -qx ninja-build "$box/out" || return 1
    done
}

the_runtime_is_of_clangs_version()
{
    fake clang <<END
echo "$box/root/usr/lib/llvm-18/lib/clang/18"
END
    run --for ci --dry-run
    grep -qx libclang-rt-18-dev "$box/out" || return 1
    mkdir -p "$box/root/usr/lib/llvm-18/lib/clang/18/lib/linux"
    : >"$box/root/usr/lib/llvm-18/lib/clang/18/lib/linux/libclang_rt.fuzzer-x86_64.a"
    run --for ci --dry-run
    ! grep -q libclang "$box/out"
}

the_runtime_follows_the_clang_that_apt_would_bring()
{
    # as on Ubuntu 22.04, had it clang 15: the runtime is in libclang-common
    fake apt-cache <<'END'
case $* in
'depends clang') echo clang; echo '  Depends: clang-15' ;;
'show libclang-common-15-dev') ;;
*) exit 100 ;;
esac
END
    run --for ci --dry-run
    grep -qx libclang-common-15-dev "$box/out"
}

chromium_is_skipped_where_it_is_a_snap()
{
    distribution ubuntu 24.04 debian
    run --for ci --dry-run
    [ "$(grep -c 'skipping chromium' "$box/err")" = 1 ] && ! grep -q chromium "$box/out"
}

chromium_is_installed_on_debian()
{
    run --for ci --dry-run
    grep -qx chromium "$box/out"
}

a_peer_that_the_distribution_lacks_does_not_stop_the_others()
{
    as_root
    lose ninja
    fake apt-cache <<'END'
case $* in 'show ninja-build' | 'show libck-dev') ;; *) exit 100 ;; esac
END
    run --for peers
    [ $status = 3 ] && said 'leaving out librust-tokio-dev, which A debian does not have' &&
        grep -q 'install --no-install-recommends -y ninja-build libck-dev$' "$box/calls"
}

# ---- usage

wrong_usage_exits_2()
{
    for words in '' '--for' '--for all' '--for build now' '--quiet'; do
        # shellcheck disable=SC2086 # words
        run $words
        [ $status = 2 ] && [ ! -s "$box/out" ] && said 'usage: tools/setup' || return 1
    done
}

help_is_on_standard_output()
{
    run --help
    [ $status = 0 ] && [ ! -s "$box/err" ] && grep -q '^usage: tools/setup' "$box/out"
}

cases='
    nothing_missing_is_silent
    a_compiler_of_any_name_will_do
    a_header_in_usr_local_will_do
    no_root_prints_the_command_and_exits_3
    no_install_setting_is_obeyed
    no_install_of_0_means_install
    unknown_distribution_names_what_is_needed
    no_os_release_is_an_unknown_distribution
    old_debian_is_not_touched
    dry_run_prints_packages_and_installs_nothing
    root_updates_first_and_without_recommends
    passwordless_sudo_is_used
    a_derivative_of_debian_is_one
    a_held_lists_lock_is_waited_for
    no_network_is_one_sentence_and_exit_3
    failed_download_is_one_sentence_and_exit_3
    still_missing_after_install_is_exit_3
    interrupt_removes_the_log_and_exits_130
    old_cmake_is_missing
    cmake_4_is_new_enough
    each_level_contains_build
    the_runtime_is_of_clangs_version
    the_runtime_follows_the_clang_that_apt_would_bring
    chromium_is_skipped_where_it_is_a_snap
    chromium_is_installed_on_debian
    a_peer_that_the_distribution_lacks_does_not_stop_the_others
    wrong_usage_exits_2
    help_is_on_standard_output
'
for case in $cases; do
    machine "$case"
    count=$((count + 1))
    ("$case")
    case $? in
    0) echo "ok    $case" ;;
    77) echo "skip  $case"; skips=$((skips + 1)) ;;
    *)
        echo "FAIL  $case"
        sed 's/^/      /' "$box/err"
        failures=$((failures + 1))
        ;;
    esac
done
echo "$count run, $failures failed, $skips skipped"
[ $failures = 0 ] || exit 1
[ $skips -lt $count ] || exit 77

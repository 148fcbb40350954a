# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake: sets up the machine, then calls the preset that a target needs.
# `make help` lists the targets.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
JOBS ?= $(shell nproc)
# one test more than there are processors: many of them wait
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
# Under sudo only packages and installed files are root's work; the build stays the user's.
AS_USER = $(if $(filter-out root,$(SUDO_USER)),$(if $(filter 0,$(shell id -u)),sudo -u $(SUDO_USER)))
# Warnings are errors where the project itself is checked, not where a user builds it.
CONFIGURE = $(AS_USER) cmake --preset $(1) $(if $(CI),-DGYRE_WERROR=ON) $(if $(VERBOSE),,--log-level=WARNING >/dev/null)
BUILD = $(CONFIGURE) && $(AS_USER) cmake --build --preset $(1) -j $(JOBS)

.DEFAULT_GOAL := release
.PHONY: release bench peers gpu-check test check format asan tsan fuzz install clean help

##release     build the libraries and build/release/bin/gyre (this is what plain `make` does)
release:
	@tools/setup --for build
	@$(call BUILD,release)

##bench       run the benchmark suite, quickly; FULL=1 takes the long way, FILTER='regex' chooses
bench: release
	@$(AS_USER) build/release/bin/gyre bench $(if $(FULL),,--quick) $(if $(FILTER),'$(FILTER)')

##peers       the same work with other libraries, in turns; QUICK=1 ends within 3 minutes, WORK='regex' chooses
peers: release
	@tools/setup --for peers || echo 'make peers: going on with the peers that are here' >&2
	@$(AS_USER) peers/build
	@$(AS_USER) build/peers/peers $(if $(QUICK),--quick) $(if $(WORK),--work '$(WORK)')

##gpu-check   what only a GPU can tell: conformance, compute-sanitizer, benchmarks, into OUT=DIR; QUICK=1 is shorter, ONLY=part
gpu-check: release
	@tools/setup --for test
	@$(call BUILD,dev)
	@$(AS_USER) tools/gpu-check --collect build/gpu-check
	@$(AS_USER) build/gpu-check/gpu-check $(if $(QUICK),--quick) $(if $(ONLY),--only '$(ONLY)') "$(if $(OUT),$(OUT),gyre-out/gpu-check)"

##test        build and run every test
test:
	@tools/setup --for test
	@$(call BUILD,dev)
	@$(AS_USER) ctest --preset dev -j $(TEST_JOBS)

##check       format, layers, headers alone in C11 and C++17, tidy, scripts, aarch64, CUDA sources
check:
	@tools/setup --for ci
	@$(AS_USER) tools/check

##format      rewrite all sources in the project's format
format:
	@tools/setup --for ci
	@$(AS_USER) tools/check --fix-format

##asan        run every test under the address and undefined-behaviour sanitizers
asan:
	@tools/setup --for test
	@$(call BUILD,asan)
	@$(AS_USER) ctest --preset asan -j $(TEST_JOBS)

##tsan        run everything concurrent under the thread sanitizer
tsan:
	@tools/setup --for test
	@$(call BUILD,tsan)
	@$(AS_USER) ctest --preset tsan -j $(TEST_JOBS)

##fuzz        run every fuzz target for FUZZ_SECONDS (30) from its corpus
fuzz:
	@tools/setup --for ci
	@$(call BUILD,fuzz)
	@$(AS_USER) tools/fuzz $(FUZZ_SECONDS)

##install     install under PREFIX (/usr/local); DESTDIR is honoured
install: release
	@cmake --install build/release --prefix "$(PREFIX)" || { \
		echo "make install: failed, see above; '$(PREFIX)' may need sudo, or choose PREFIX=" >&2; exit 3; }
	@chown --reference=build/release build/release/install_manifest.txt

##clean       remove everything that was built
clean:
	@rm -rf build

##help        print this list
help:
	@sed -n 's/^##/  make /p' Makefile

# For developers; newcomers use ./do, which also fetches what is missing.
#
#   make               build/carom and build/libcarom.*, optimised, and the tests
#   make program       without the tests
#   make test          the tests             make test-long    the long ones too
#   make torture       runs that are killed and disks that are full, at length (ROUNDS=200)
#   make bench         ns per step           make install PREFIX=/usr/local
#   make sanitize      build/sanitize: a second build with address and undefined-behaviour checks
#   make test-sanitize the tests there       make clean
#   make docs          references, gallery and all pictures in docs/ anew (needs gnuplot, chromium, pngquant; minutes)
#   make page          page/dist anew, the page of `carom view` (needs node and npm)
#   make test-page     the page in a browser (needs chromium, too)
#
# Variables: BUILD (folder), JOBS, CMAKE_ARGS (more arguments for cmake, when a folder is first configured),
# BENCH_ARGS (say --csv FILE).
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE_ARGS ?=
BENCH_ARGS ?=
ROUNDS ?= 200
GENERATOR := $(if $(shell command -v ninja),-G Ninja)
# clang looks at the code with other eyes than the gcc of the main build; it needs its own run-time library.
SANITIZER_CC := $(if $(shell echo 'int main(void){return 0;}' | clang -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null && echo yes),clang,cc)
CTEST = ctest --output-on-failure -j $(JOBS)

all: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) --parallel $(JOBS)

program: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) --parallel $(JOBS) --target program

$(BUILD)/CMakeCache.txt:
	cmake -S . -B $(BUILD) $(GENERATOR) -DCMAKE_BUILD_TYPE=Release $(CMAKE_ARGS) || { rm -f $@; exit 1; }

test: all
	cd $(BUILD) && $(CTEST) -LE long

test-long: all
	cd $(BUILD) && $(CTEST)

$(BUILD)/sanitize/CMakeCache.txt:
	cmake -S . -B $(BUILD)/sanitize $(GENERATOR) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DCAROM_SANITIZE=ON \
	  -DCMAKE_C_COMPILER=$(SANITIZER_CC) $(CMAKE_ARGS) || { rm -f $@; exit 1; }

sanitize: $(BUILD)/sanitize/CMakeCache.txt
	cmake --build $(BUILD)/sanitize --parallel $(JOBS)

test-sanitize: sanitize
	cd $(BUILD)/sanitize && $(CTEST) -LE long

torture: all
	$(BUILD)/test/torture $(ROUNDS)
	$(BUILD)/test/test_storage long
	$(BUILD)/test/test_hidden_state long

bench: $(BUILD)/CMakeCache.txt
	cmake -S . -B $(BUILD) -DCAROM_BENCH=ON
	cmake --build $(BUILD) --parallel $(JOBS) --target bench_all
	OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench $(BENCH_ARGS)
	for part in tape solvers lanes bar; do [ ! -x $(BUILD)/bench/bench_$$part ] || $(BUILD)/bench/bench_$$part || exit 1; done
	[ ! -x $(BUILD)/bench/mujoco_chain ] || $(BUILD)/bench/mujoco_chain models/chain.yaml

# The page's bundle is committed: only who changes page/src needs node.
page/node_modules/.package-lock.json: page/package-lock.json
	cd page && npm ci --no-audit --no-fund

page: page/node_modules/.package-lock.json
	cd page && node build.mjs

test-page: program page/node_modules/.package-lock.json
	cd $(BUILD) && $(CTEST) -L browser -V

docs: program
	tools/docs.sh $(BUILD)

install: program
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf $(BUILD)

.PHONY: all program test test-long sanitize test-sanitize torture bench docs page test-page install clean

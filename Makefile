# For developers; newcomers use ./do, which also fetches what is missing.
#
#   make               build/carom and build/libcarom.*, optimised, and the tests
#   make program       without the tests
#   make test          the tests             make test-long    the long ones too
#   make studies-check the studies again, against the pages and pictures that quote them
#   make torture       runs that are killed and disks that are full, at length (ROUNDS=200 SEED=1)
#   make fuzz          random input for every reader, solver and scheme, with clang: SECONDS=60 each; make fuzz-long: an hour in all
#   make mutate        plants faults in a copy of the sources and counts those that the tests notice (FAULTS=120 SEED=1 FOLDERS="...")
#   make sanitize-threads  several simulations at once, and several threads of one, under the thread sanitizer
#   make bench         ns per step           make install PREFIX=/usr/local
#   make sanitize      build/sanitize: a second build with address and undefined-behaviour checks
#   make test-sanitize the tests there       make test-sanitize-long   all of them
#   make clean
#   make site        the documentation as a site with search, in build/site/html (needs mkdocs-material; chromium and ffmpeg make the gallery move, FILMS=0 leaves that out)
#   make wheel       a Python wheel with library and program inside, in build/wheel (needs patchelf)
#   make deb         Debian packages in build/deb: program, library, headers, Python
#   make docs          references, gallery, and tables and pictures of studies in docs/ anew (needs gnuplot, chromium, pngquant, python3; minutes)
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
SECONDS ?= 60
FAULTS ?= 120
SEED ?= 1
FOLDERS ?= scheme contact solver event io sim
GENERATOR := $(if $(shell command -v ninja),-G Ninja)
# clang looks at the code with other eyes than the gcc of the main build; it needs its own run-time library.
SANITIZER_CC := $(if $(shell echo 'int main(void){return 0;}' | clang -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null && echo yes),clang,cc)
CTEST = OPENBLAS_NUM_THREADS=1 ctest --output-on-failure -j $(JOBS)

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

# Studies run again: pages must quote what they print, and pictures show what they compute.
studies-check: all
	cd $(BUILD) && $(CTEST) -R '^study_'

$(BUILD)/sanitize/CMakeCache.txt:
	cmake -S . -B $(BUILD)/sanitize $(GENERATOR) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DCAROM_SANITIZE=ON \
	  -DCMAKE_C_COMPILER=$(SANITIZER_CC) $(CMAKE_ARGS) || { rm -f $@; exit 1; }

sanitize: $(BUILD)/sanitize/CMakeCache.txt
	cmake --build $(BUILD)/sanitize --parallel $(JOBS)

test-sanitize: sanitize
	cd $(BUILD)/sanitize && $(CTEST) -LE long

test-sanitize-long: sanitize
	cmake --build $(BUILD)/sanitize --parallel $(JOBS) --target test_long
	cd $(BUILD)/sanitize && $(CTEST)

torture: all
	$(BUILD)/test/torture $(ROUNDS) $(SEED)
	$(BUILD)/test/test_storage long
	$(BUILD)/test/test_hidden_state long

FUZZ = model expression matrix mesh result problem differential

$(BUILD)/fuzz/CMakeCache.txt:
	@echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { (void)d; (void)n; return 0; }' | \
	  clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null || \
	  { echo 'make fuzz needs clang and its fuzzer library (Debian: clang libclang-rt-14-dev); make test replays the kept inputs without it' >&2; exit 2; }
	cmake -S . -B $(BUILD)/fuzz $(GENERATOR) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DCAROM_SANITIZE=ON -DCAROM_FUZZ=ON \
	  -DCMAKE_C_COMPILER=clang $(CMAKE_ARGS) || { rm -f $@; exit 1; }

# What is found new goes to build/fuzz/found/NAME; an input that breaks something to build/fuzz/crash-..., and from there into test/fuzz/corpus/NAME.
fuzz: $(BUILD)/fuzz/CMakeCache.txt
	cmake --build $(BUILD)/fuzz --parallel $(JOBS) --target $(FUZZ:%=fuzz_%)
	status=0; for name in $(FUZZ); do \
	  mkdir -p $(BUILD)/fuzz/found/$$name && \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 XDG_CACHE_HOME=$(abspath $(BUILD))/fuzz/cache $(BUILD)/fuzz/test/fuzz_$$name \
	    $(BUILD)/fuzz/found/$$name test/fuzz/corpus/$$name -max_total_time=$(SECONDS) -timeout=30 -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1 \
	    -artifact_prefix=$(BUILD)/fuzz/ -verbosity=0 || { status=1; failed="$$failed $$name"; }; \
	done; \
	[ $$status = 0 ] || { echo "make fuzz: findings in$$failed; the inputs are $(BUILD)/fuzz/crash-*, timeout-* or oom-*" >&2; exit 1; }

fuzz-long:
	$(MAKE) fuzz SECONDS=600

mutate: all
	tools/mutate.py $(BUILD) --faults $(FAULTS) --seed $(SEED) $(FOLDERS)

$(BUILD)/threads/CMakeCache.txt:
	cmake -S . -B $(BUILD)/threads $(GENERATOR) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DCAROM_THREADS=ON $(CMAKE_ARGS) || { rm -f $@; exit 1; }

sanitize-threads: $(BUILD)/threads/CMakeCache.txt
	cmake --build $(BUILD)/threads --parallel $(JOBS) --target test_threads test_team
	$(BUILD)/threads/test/test_threads
	$(BUILD)/threads/test/test_team

bench: $(BUILD)/CMakeCache.txt
	cmake -S . -B $(BUILD) -DCAROM_BENCH=ON
	cmake --build $(BUILD) --parallel $(JOBS) --target bench_all
	OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench $(BENCH_ARGS)
	for part in tape solvers worlds mechanisms lanes sweeps bar; do [ ! -x $(BUILD)/bench/bench_$$part ] || $(BUILD)/bench/bench_$$part || exit 1; done

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

# In a folder of its own: packages live under /usr, with libraries and Python where Debian has them.
site: program
	tools/site.sh $(BUILD)

# Neither MPI nor, where the static libhdf5 can be used, what a shared one brings for files of web servers.
wheel:
	cmake -S . -B $(BUILD)/wheel-parts $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DCAROM_TESTS=OFF -DCAROM_MPI=OFF -DHDF5_USE_STATIC_LIBRARIES=ON $(CMAKE_ARGS)
	cmake --build $(BUILD)/wheel-parts --parallel $(JOBS) --target program
	tools/wheel.py $(BUILD)/wheel-parts $(BUILD)/wheel

deb:
	cmake -S . -B $(BUILD)/deb $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DCAROM_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr -DCAROM_DEB=ON -DCAROM_PYTHON_DIR=lib/python3/dist-packages \
	  -DCMAKE_INSTALL_LIBDIR=lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) $(CMAKE_ARGS)
	cmake --build $(BUILD)/deb --parallel $(JOBS)
	cd $(BUILD)/deb && rm -f *.deb && cpack -G DEB
	@ls -l $(BUILD)/deb/*.deb
	@if command -v lintian >/dev/null; then lintian --allow-root --fail-on error $(BUILD)/deb/*.deb; else echo "lintian is not installed: the packages were not checked"; fi

clean:
	rm -rf $(BUILD)

help:
	@sed -n '3,/^BUILD/s/^# \{0,1\}//p' Makefile

.PHONY: all help program site wheel deb test test-long studies-check sanitize test-sanitize test-sanitize-long torture fuzz fuzz-long mutate sanitize-threads bench docs page test-page install clean

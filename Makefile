# `make demo` and `make test` do everything on a machine with Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/.ready
PEERS := .venv-peers
FOREIGN := .venv-foreign
DEMO := .venv-demo
DOCS := .venv-docs
BUILD := .venv-build
CLEAN := .venv-clean
BUILT := pyproject.toml setup.py ragkpi/_kernel.c

# Tests start a thousand processes, and each would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test quick-test slow-test fuzz lint sanitize bench simulate foreign pictures docs try-docs package clean

demo: $(DEMO)/.ready
	$(DEMO)/bin/ragkpi eval -m official -m ndcg_cut.10 fixtures/qrels.txt fixtures/reranked.run
	$(DEMO)/bin/ragkpi eval -m bor.10 -m ra_nwg.10 -m pct_proc.10 -N 5000 --pool fixtures/first_stage.run fixtures/qrels.txt fixtures/reranked.run
	$(DEMO)/bin/ragkpi compare -c -m ndcg_cut.10 fixtures/qrels.txt fixtures/runs/*.run

# What users install, without the tools of development.
$(DEMO)/.ready: $(BUILT)
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install -q -e .
	touch $@

# Two stages beside each other; both must pass. The second prints when it is over.
test: $(READY)
	$(MAKE) -k -j2 quick-test slow-test

# Each of these waits for whole processes, one after the other.
SLOW := tests/faults tests/test_action.py tests/test_building.py tests/test_contributing.py \
	tests/test_examples.py tests/test_interrupts.py tests/test_recipes.py tests/cli/test_completion.py \
	tests/cli/test_progress_bar.py \
	tests/questions/report/test_page_in_browser.py

quick-test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal $(SLOW:%=--ignore=%)

slow-test: $(READY)
	@said=$$($(BIN)/python -m pytest -p no:cacheprovider -n 2 --dist worksteal $(SLOW) 2>&1); \
	status=$$?; printf '%s\n' "$$said"; exit $$status

# At length what `make test` tries a little of: properties with TRIES times as many cases, the
# fuzzers, and every fault. Hours on one core.
TRIES ?= 20
fuzz: $(READY)
	RAGKPI_TRIES=$(TRIES) $(BIN)/python -m pytest -n auto --dist worksteal $(shell grep -lrE --include='test_*.py' 'hypothesis|tests.tries' tests)
	$(BIN)/python -m tests.fuzz.mutate
	$(BIN)/python -m tests.fuzz.kernel
	$(BIN)/python -m tests.fuzz.small_files 20000 0
	$(BIN)/python -m tests.faults.harness

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell *.md docs ragkpi Makefile pyproject.toml
	if command -v $(CC) > /dev/null; then \
	  $(CC) -std=c11 -Wall -Wextra -Wconversion -Werror -fsyntax-only \
	    -I$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include"))') ragkpi/_kernel.c; fi
	if command -v node > /dev/null; then node --check ragkpi/questions/report/page.js; fi

# The kernel under ASan and UBSan, with CASES of its fuzzer.
CASES ?= 20000
sanitize: $(READY)
	CC="$(CC)" sh tests/sanitize.sh $(BIN)/python $(CASES)

# TREC_EVAL=/path/to/trec_eval make bench; BENCH=--quick takes minutes. It makes the page anew.
bench: $(READY) $(PEERS)/.ready
	PEERS_PYTHON=$(PEERS)/bin/python $(BIN)/python tests/benchmarks/bench.py --write docs/speed.md $(BENCH)

# How often verdicts are wrong, and how often they come, in TRIALS of each made-up world.
TRIALS ?= 800
simulate: $(READY)
	$(BIN)/python -m tests.simulation --trials $(TRIALS) --write docs/decisions.md

# Other packages' own code over ragkpi's stand-ins. What cannot be installed is skipped, and said.
HOSTS := pytrec-eval-terrier ir-measures beir mteb python-terrier sentence-transformers
foreign:
	$(PYTHON) -m venv $(FOREIGN)
	$(FOREIGN)/bin/pip install -q -e '.[dev]'
	-for host in $(HOSTS); do $(FOREIGN)/bin/pip install -q $$host || echo "no $$host here"; done
	$(FOREIGN)/bin/pip list 2> /dev/null | tr _ - | grep -E "$$(echo $(HOSTS) | tr ' ' '|')"
	$(FOREIGN)/bin/python -m pytest -vv -p no:cacheprovider tests/library/test_evaluation_packages.py
	$(FOREIGN)/bin/python -m pytest -p no:cacheprovider tests/library/test_pytrec_eval.py tests/library/test_ir_measures.py

$(PEERS)/.ready:
	$(PYTHON) -m venv $(PEERS)
	-$(PEERS)/bin/python -m pip install -q pytrec-eval-terrier ir-measures pyarrow polars
	-$(PEERS)/bin/python -m pip install -q ranx
	touch $@

$(READY): $(BUILT)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e '.[dev]'
	$(BIN)/python -m compileall -q ragkpi
	touch $(READY)

# The README's, by the commands that it shows.
pictures: $(READY)
	$(BIN)/ragkpi depth -N 5000 fixtures/qrels.txt fixtures/runs/*.run --plot docs/depth.png
	$(BIN)/ragkpi diagnose fixtures/qrels.txt fixtures/reranked.run --pool fixtures/first_stage.run --plot docs/diagnose.png
	$(BIN)/ragkpi calibrate --quality fixtures/quality.tsv fixtures/qrels.txt fixtures/reranked.run -m P.10 -m ndcg_cut.10 -m F.10 --plot docs/calibrate.png
	$(BIN)/ragkpi compare -m map -m ndcg_cut.10 fixtures/qrels.txt fixtures/runs/*.run --plot docs/compare.png
	$(BIN)/ragkpi holes -c fixtures/qrels.txt fixtures/runs/*.run -m P.20 -m ndcg_cut.20 --plot docs/holes.png
	$(MAKE) docs/example-report.html
	$(BIN)/python docs/screenshot.py docs/example-report.html docs/report.png

# The fixtures' page, which the site links to.
.PHONY: docs/example-report.html
docs/example-report.html: $(DOCS)/.ready
	$(DOCS)/bin/ragkpi report -N 5000 fixtures/qrels.txt fixtures/runs/*.run --queries fixtures/queries.tsv --pool fixtures/first_stage.run --pool-union -o $@

# The site, into site/, by a tool of its own environment; no network but for installing it.
docs: docs/example-report.html
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build -q

# Its pages in Chromium: axe, and the width of a phone.
try-docs: docs $(READY)
	$(BIN)/python -m pytest tests/site_in_browser.py

$(DOCS)/.ready: $(BUILT)
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install -q -e '.[docs]'
	touch $@

# Wheel, pure wheel and source distribution into dist/; each is installed and tried without the tools
# of development.
package: $(BUILD)/.ready
	rm -rf dist
	$(BUILD)/bin/python -m build
	RAGKPI_PURE=1 $(BUILD)/bin/python -m build --wheel
	$(BUILD)/bin/twine check --strict dist/*
	for made in dist/*.whl dist/*.tar.gz; do \
	  rm -rf $(CLEAN) && $(PYTHON) -m venv $(CLEAN) && \
	  $(CLEAN)/bin/python -m pip install -q "$$made" && \
	  case "$$made" in *-none-any.whl) reader=plain;; *.whl) reader=compiled;; *) reader=;; esac && \
	  sh tests/installed.sh $(CLEAN)/bin/ragkpi fixtures $$reader || exit 1; \
	done
	rm -rf $(CLEAN)

$(BUILD)/.ready:
	$(PYTHON) -m venv $(BUILD)
	$(BUILD)/bin/python -m pip install -q build twine
	touch $@

clean:
	rm -rf $(VENV) $(PEERS) $(DEMO) $(DOCS) $(BUILD) $(CLEAN) dist site build .sanitize ragkpi/_kernel*.so *.egg-info .mypy_cache .ruff_cache .pytest_cache

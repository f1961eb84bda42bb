PYTHON ?= python3
BIN := .venv/bin
# PySpark takes half a gigabyte, and is of no use without Java; its tests run under CI alone.
SPARK := $(if $(CI),$(if $(shell command -v java),.venv/spark))
# Tests write to memory where 2 GB of it are free: on a disk each of thousands of commits is waited for.
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 2000000 {print "TMPDIR=/dev/shm"}')
# What is imported is compiled then; most modules never are.
QUIET := --quiet --no-compile
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Else each of the hundred processes that tests start compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := all
.PHONY: all help crawl report test coverage hooks matrix oldest quality picture bench bench-archive bench-boxes bench-crawl \
	bench-drops bench-fingerprints bench-peers bench-shuffles docs long same wheels dist lint format clean

all: lint test  ## lint and test

help:  ## list these targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

crawl: .venv/crawl  ## crawl the demo site, or URL=https://… (MAX_PAGES=500), and drop near-duplicates (LOG=INFO)
	@$(BIN)/scrapy crawl site -s LOG_LEVEL=$(or $(LOG),ERROR) $(if $(URL),-a url=$(URL)) \
		$(if $(MAX_PAGES),-a max_pages=$(MAX_PAGES))

report: .venv/crawl  ## tell what the crawls dropped, and write output/report.html (SPIDER=example.org)
	@$(BIN)/scrapy simhash dropped --spider $(or $(SPIDER),site)
	@$(BIN)/scrapy simhash report --spider $(or $(SPIDER),site) -o output/report.html

test: .venv/dev $(SPARK)  ## run the tests, or those of TESTS=tests/page (CI=true: the slowest too)
	@$(IN_MEMORY) $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder $(TESTS)

coverage: .venv/coverage  ## run the tests and print which lines of the package none reaches
	@$(IN_MEMORY) $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder \
		--cov simhash_pipeline --cov-report term-missing:skip-covered $(TESTS)

hooks: .venv/dev  ## run lint before each commit in this clone
	@$(BIN)/pre-commit install

matrix: .venv/matrix  ## test each Python that is found with the newest libraries and the oldest (SESSION=oldest-3.13)
	@$(IN_MEMORY) $(BIN)/nox $(if $(SESSION),--session $(SESSION))

oldest: .venv/matrix  ## run the tests that crawl with the oldest libraries, on this Python
	@$(IN_MEMORY) $(BIN)/nox --session oldest --force-python $(PYTHON)

quality: .venv/dev  ## hold near-duplicates, main texts and templates of FOLDER=… to pinned floors
	@$(BIN)/python -m tests.quality $(FOLDER)

picture: .venv/dev  ## draw the pictures of README and docs, and take that of the report (needs Chromium)
	@$(BIN)/python -m tests.pictures docs
	@$(BIN)/python -m tests.review.picture docs

bench: .venv/bench  ## measure index and stores beside others, into benchmarks/index.md (BENCH_N=10000000)
	@$(BIN)/python -m benchmarks.index $(if $(BENCH_N),--n $(BENCH_N)) --write benchmarks

bench-archive: .venv/dev  ## measure what cleaning the archive PAGES=feed.jsonl costs
	@$(BIN)/python -m benchmarks.archive $(PAGES)

bench-crawl: .venv/dev  ## measure what the pipeline costs a crawl of the demo site, FOLDER=… or LARGE=1 pages
	@$(BIN)/python -m benchmarks.crawl $(FOLDER) $(if $(LARGE),--large) $(if $(PAGES),--pages $(PAGES))

bench-drops: .venv/dev  ## count wrong drops in whole crawls of FOLDER="…", without labels
	@$(BIN)/python -m benchmarks.wrong_drops $(FOLDER)

bench-boxes: .venv/dev  ## count the copies with one more box that are found as a site grows, of FOLDER=…
	@$(BIN)/python -m benchmarks.boxed_copies $(FOLDER)

bench-shuffles: .venv/dev  ## compare what crawls of the demo site, or FOLDER=…, keep in five random orders
	@$(BIN)/python -m benchmarks.shuffles $(FOLDER)

bench-fingerprints: .venv/bench  ## measure a fingerprint, compiled and not, against its peers (FOLDER=…, BYTES=8000)
	@$(BIN)/python -m benchmarks.fingerprints $(if $(FOLDER),--pages $(FOLDER)) $(if $(BYTES),--bytes $(BYTES)) \
		--seomoz .venv/seomoz

bench-peers: .venv/bench  ## judge the demo site's pages, or the labelled pairs of ZIP=…, beside others
	@$(BIN)/python -m benchmarks.peers $(ZIP) --seomoz .venv/seomoz

LONG := arguments slow_wire killed_dedup large_report fuzz native hostile twins drills soak
long: .venv/dev  ## fuzz, kill and soak for hours, or one of these: RUN="fuzz --inputs 10000" (RUN="fuzz --help")
	@$(if $(RUN),$(BIN)/python -m tests.long.$(RUN),for each in $(LONG); do $(BIN)/python -m tests.long.$$each || exit; done)

same: .venv/dev  ## compare the compiled kernel, the Python and jieba on every page of the zips in FOLDER=…
	@$(BIN)/python -m tests.same $(FOLDER)

docs: .venv/dev  ## build the documentation as two sites, English and Chinese, in output/docs
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs output/docs
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs/zh output/docs/zh
	@echo "output/docs/index.html, output/docs/zh/index.html"

dist: .venv/dist  ## build wheel and sdist into dist/, check them, and try them on each Python that is found
	@rm -rf dist
	@$(BIN)/python -m build --quiet
	@for wheel in dist/*-linux_*.whl; do [ ! -e "$$wheel" ] || \
		{ PATH="$(CURDIR)/$(BIN):$$PATH" auditwheel repair --wheel-dir dist "$$wheel" && rm "$$wheel"; } || exit; done
	@$(BIN)/python -m twine check --strict dist/*
	@$(BIN)/check-wheel-contents dist/*.whl
	@.ci/try-dist
	@! grep -q '^ADDRESS = ""' setup.py || \
		echo "Missing before a release: the repository's ADDRESS in setup.py, for the links that an index shows"

wheels: .venv/dist  ## build a wheel with the compiled kernel for each Python of this platform (needs Docker on Linux)
	@$(BIN)/python -m cibuildwheel --output-dir dist

lint: .venv/dev  ## check style, format and types
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

format: .venv/dev  ## mend style and format where a tool can
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

clean:  ## remove the environment and what crawls and tests left
	rm -rf .venv .nox .scrapy output .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/pip:
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install $(QUIET) --upgrade 'pip>=25.1'
	@touch $@

# setuptools warns of editable installs in nine lines.
.venv/crawl: .venv/pip pyproject.toml setup.py $(wildcard simhash_pipeline/native/*.[ch])
	@echo "Installing into .venv (a minute) …"
	@PYTHONWARNINGS=ignore $(BIN)/pip install $(QUIET) --editable .
	@touch $@

.venv/dev: .venv/pip pyproject.toml setup.py $(wildcard simhash_pipeline/native/*.[ch])
	PYTHONWARNINGS=ignore $(BIN)/pip install $(QUIET) --editable '.[archive,opencc,pdf,redis]' --group dev
	@touch .venv/crawl $@

.venv/spark: .venv/dev
	$(BIN)/pip install $(QUIET) 'simhash-pipeline[spark]'
	@touch $@

.venv/coverage: .venv/dev
	@$(BIN)/pip install $(QUIET) --group coverage
	@touch $@

.venv/matrix: .venv/pip pyproject.toml
	$(BIN)/pip install $(QUIET) --group matrix
	@touch $@

.venv/dist: .venv/pip pyproject.toml
	$(BIN)/pip install $(QUIET) --group dist
	@touch $@

# simhash-pybind overwrites the module of PyPI's simhash, so it gets a folder of its own; it may fail.
# So may MaybeDont, which comes as source alone.
.venv/bench: .venv/dev
	$(BIN)/pip install $(QUIET) --group bench
	-$(BIN)/pip install $(QUIET) --no-deps --target .venv/seomoz simhash-pybind
	-$(BIN)/pip install $(QUIET) MaybeDont
	@touch $@

"""What a fingerprint costs: each stage of the journey and the peers, against the bare lxml parse.

    python -m benchmarks.fingerprints [--pages FOLDER_OR_ZIP] [--bytes 134000] [--rounds 9]
        [--seomoz FOLDER]

Everything is measured by CPU time in the same rounds, one after the other; a figure is the median,
over the rounds, of its time for all pages against the bare parse of all in the same round; that of
the median page is the median of the pages' own figures. Peers that aren't installed
are left out and named. simhash-pybind (seomoz's C++) overwrites the module of PyPI's simhash, so it
runs in a process of its own, from the folder of `pip install --target FOLDER simhash-pybind`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import importlib.util
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from benchmarks.pages import PAGE_BYTES, BenchPage, made_page, made_pages, real_pages
from benchmarks.table import markdown
from crawler.demo_site.oddities import large_story_html
from crawler.demo_site.pages import read_newsroom
from simhash_pipeline import Fingerprinter, content_fingerprint
from simhash_pipeline.page.decode import decode
from simhash_pipeline.page.segment import words as tokens
from simhash_pipeline.page.simhash import counted_ngrams
from tests.same import by_python
from tests.trees import main_text, parse

PARSE = "bare lxml parse"
JOURNEY = "journey: html -> both fingerprints"
BY_PYTHON = f"{JOURNEY}, without the kernel"
TEXT = "text -> content fingerprint"
STRIP = "parsed page -> main text"
PARSED = "html -> decoded and parsed"
REST = "the rest of the journey: structure, sketch and sample"
BS4 = "BeautifulSoup text + PyPI simhash"
TRAFILATURA = "trafilatura text"
TRAFILATURA_HASH = "trafilatura text + its Simhash"
_LEAST_SECS = 0.01  # what is faster is run several times in a round
_LARGE_BYTES = 5_000_000
_PACKAGES = "lxml mmh3 numpy jieba beautifulsoup4 simhash trafilatura datasketch simhash-pybind"

# Of a process of its own: tokens in, CPU seconds of their fingerprint out.
_SEOMOZ = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import simhash
for line in sys.stdin:
    tokens = json.loads(line)
    started = time.process_time()
    hashes = [simhash.unsigned_hash(" ".join(s).encode()) for s in simhash.shingle(tokens, 4)]
    simhash.compute(hashes)
    print(time.process_time() - started, flush=True)
"""
# A page in, kilobytes of peak memory out. Linux's ru_maxrss counts the parent's before exec too.
_MEMORY = """
import pathlib, re, resource, sys
from simhash_pipeline import Fingerprinter
def peak():
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
page, fingerprinter = sys.stdin.buffer.read(), Fingerprinter()
fingerprinter.fingerprint(page[:20_000].decode("utf-8", "ignore"))
before = peak()
fingerprinter.fingerprint(page)
print(peak() - before)
"""

Step = Callable[[], float]  # CPU seconds of doing it once
Times = Mapping[str, NDArray[np.float64]]  # CPU seconds by step, shape (rounds, pages)


def own_steps(page: BenchPage) -> dict[str, Step]:
    """The bare parse, the stages of the journey, and all of it."""
    html, fingerprinter = page.html, Fingerprinter()
    with by_python():
        python = Fingerprinter()
    root = parse(html)
    text = main_text(root)
    return {
        PARSE: step(lambda: etree.fromstring(html, etree.HTMLParser(huge_tree=True))),
        PARSED: step(lambda: parse(html)),
        STRIP: step(lambda: main_text(root)),
        "main text -> tokens, without the kernel": step(lambda: tokens(text)),
        TEXT: step(lambda: content_fingerprint(text)),
        JOURNEY: step(lambda: fingerprinter.fingerprint(html)),
        BY_PYTHON: step(by_python()(lambda: python.fingerprint(html))),
    }


def step(call: Callable[[], object], before: Callable[[], object] | None = None) -> Step:
    """`call` with a stopwatch; repeated when it is short, `before` each time and not measured."""
    times = 1 if before else _times(call)

    def run() -> float:
        if before:
            before()
        started = time.process_time()
        for _ in range(times):
            call()
        return (time.process_time() - started) / times

    return run


def _times(call: Callable[[], object]) -> int:
    """How often to run it for the least time worth measuring; the first run warms it up."""
    call()
    started = time.process_time()
    call()
    return max(1, round(_LEAST_SECS / (time.process_time() - started + 1e-9)))


def peer_steps(page: BenchPage, left_out: dict[str, str]) -> dict[str, Step]:
    """What others do of the same; `left_out` learns which can't, and why."""
    text = main_text(parse(page.html))
    makers = {
        _pypi_simhash: "simhash",
        _trafilatura: "trafilatura",
        _datasketch: "datasketch",
    }
    steps: dict[str, Step] = {}
    for make, package in makers.items():
        if importlib.util.find_spec(package) is None:
            left_out[package] = "not installed"
        else:
            steps |= make(page, text)
    return steps


def _pypi_simhash(page: BenchPage, text: str) -> dict[str, Step]:
    """It fails on a word that occurs some hundred times: measured up to there."""
    bs4, simhash = map(importlib.import_module, ("bs4", "simhash"))

    def hashed(words: str) -> None:
        with contextlib.suppress(OverflowError):
            simhash.Simhash(words)

    return {
        BS4: step(lambda: hashed(bs4.BeautifulSoup(page.html, "lxml").get_text(" "))),
        f"{TEXT}: PyPI simhash": step(lambda: hashed(text)),
    }


def _trafilatura(page: BenchPage, text: str) -> dict[str, Step]:
    """With its caches emptied before each page, as each page of a crawl is a new one."""
    trafilatura, meta, deduplication = map(
        importlib.import_module,
        ("trafilatura", "trafilatura.meta", "trafilatura.deduplication"),
    )
    html, empty, simhash = decode(page.html), meta.reset_caches, deduplication.Simhash
    simhash("its table of punctuation is built at the first call。")

    def extracted(fast: bool = False) -> str:
        return trafilatura.extract(html, fast=fast) or ""

    return {
        TRAFILATURA: step(extracted, empty),
        f"{TRAFILATURA}, fast=True": step(lambda: extracted(fast=True), empty),
        TRAFILATURA_HASH: step(lambda: simhash(extracted()), empty),
        f"{TRAFILATURA_HASH}, fast=True": step(lambda: simhash(extracted(fast=True)), empty),
        f"{TEXT}: trafilatura's Simhash": step(lambda: simhash(text), empty),
    }


def _datasketch(page: BenchPage, text: str) -> dict[str, Step]:
    datasketch = importlib.import_module("datasketch")

    def sketched() -> object:
        minhash = datasketch.MinHash(num_perm=128)
        minhash.update_batch([shingle.encode() for shingle in counted_ngrams(tokens(text), (3,))])
        return minhash

    return {f"{TEXT}: datasketch MinHash, 128": step(sketched)}


class Seomoz:
    """simhash-pybind in a process of its own, given this project's tokens."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SEOMOZ, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def step(self, page: BenchPage) -> Step:
        """Cutting the text into tokens is measured here, the rest there."""
        text = main_text(parse(page.html))
        line = json.dumps(tokens(text))
        cut = step(lambda: tokens(text))
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None

        def run() -> float:
            print(line, file=stdin, flush=True)
            return cut() + float(stdout.readline())

        return run


def measured(steps: Sequence[dict[str, Step]], rounds: int) -> Times:
    """What each step took for each page; a round does every step."""
    found: dict[str, list[list[float]]] = {name: [] for name in steps[0]}
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        for name, seconds in found.items():
            seconds.append([of_page[name]() for of_page in steps])
    return {name: np.array(seconds) for name, seconds in found.items()}


def ratio(found: Times, one: str, other: str, less: str | None = None) -> float:
    """Median over the rounds of one step's time against another's, `less` a third taken off one."""
    off = found[less].sum(axis=1) if less else 0.0
    return float(np.median((found[one].sum(axis=1) - off) / found[other].sum(axis=1)))


def ratio_of_median_page(found: Times, one: str, other: str) -> float:
    return float(np.median(np.median(found[one] / found[other], axis=0)))


def goals(found: Times, language: str) -> list[list[str]]:
    """What was asked, what it is, and whether that is enough."""
    journey = 3.0 if language == "English" else 4.0
    at_most = [(f"{JOURNEY}, of the bare parse", journey, ratio(found, JOURNEY, PARSE))]
    at_most += [(f"{STRIP}, of the bare parse", 1.0, ratio(found, STRIP, PARSE))]
    at_least = []
    if BS4 in found:
        at_least += [(f"journey faster than {BS4}", 5.0, ratio(found, BS4, JOURNEY))]
    if TRAFILATURA in found:
        whole = ratio(found, TRAFILATURA_HASH, JOURNEY)
        stripping = ratio(found, TRAFILATURA, STRIP, less=PARSE)
        at_least += [
            (f"journey faster than {TRAFILATURA_HASH}", 8.0, whole),
            ("stripping faster than trafilatura less a bare parse", 8.0, stripping),
        ]
    return [
        [language, name, f"<= {goal:g} x", f"{value:.2f} x", "ok" if value <= goal else "MISSED"]
        for name, goal, value in at_most
    ] + [
        [language, name, f">= {goal:g} x", f"{value:.1f} x", "ok" if value >= goal else "MISSED"]
        for name, goal, value in at_least
    ]


def large_page(lang: str) -> bytes:
    """A page of 5 MB: the demo site's longest story, or as long a Chinese one."""
    if lang == "en":
        return f"<html><body><main>{large_story_html()}</main></body></html>".encode()
    return made_page(read_newsroom(), lang, _LARGE_BYTES, paragraphs=13_000)


def memory(lang: str) -> str:
    """Peak memory of a page of 5 MB over that of a small one, in a process of its own."""
    page = large_page(lang)
    result = subprocess.run(
        [sys.executable, "-c", _MEMORY], input=page, capture_output=True, check=True
    )
    return f"{len(page) / 1e6:.1f} MB page: {int(result.stdout) / 1e3:.0f} MB at the peak"


def versions() -> str:
    told = [f"Python {platform.python_version()}"]
    for package in _PACKAGES.split():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            told.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join(told)


def _rest(found: Times) -> NDArray[np.float64]:
    """Seconds of the journey that no other stage accounts for."""
    stages = sum(found[stage] for stage in (PARSED, STRIP, TEXT))
    rest: NDArray[np.float64] = np.maximum(0.0, found[JOURNEY] - stages)
    return rest


def _elements(pages: Sequence[BenchPage]) -> int:
    return round(median(sum(1 for _ in parse(page.html).iter()) for page in pages))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=Path, help="folder or zip of real pages; made ones if none")
    parser.add_argument("--bytes", type=int, default=PAGE_BYTES, help="of a page, about")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seomoz", type=Path, help="folder that holds simhash-pybind")
    arguments = parser.parse_args()
    size = arguments.bytes
    chosen = real_pages(arguments.pages, size) if arguments.pages else made_pages(size)
    left_out: dict[str, str] = {}
    seomoz = None
    if arguments.seomoz and (arguments.seomoz / "simhash").is_dir():
        seomoz = Seomoz(arguments.seomoz)
    else:
        left_out["simhash-pybind"] = "not in the folder that --seomoz names"
    results = {}
    for language, pages in chosen.items():
        steps = [own_steps(page) | peer_steps(page, left_out) for page in pages]
        if seomoz is not None:
            for page, of_page in zip(pages, steps, strict=True):
                of_page[f"{TEXT}: seomoz (C++)"] = seomoz.step(page)
        results[language] = measured(steps, arguments.rounds)
    report(chosen, results, left_out)


def report(
    chosen: dict[str, list[BenchPage]],
    results: dict[str, Times],
    left_out: dict[str, str],
) -> None:
    for language, pages in chosen.items():
        size = median(len(page.html) for page in pages) / 1e3
        print(f"{language}: {len(pages)} page(s), {size:.0f} KB, {_elements(pages)} elements")
        spent = [f"{results[language][name].mean() * 1e3:.2f} ms" for name in (PARSE, JOURNEY)]
        print(f"CPU of the bare parse and of the journey, mean: {', '.join(spent)}")
    results = {language: {**found, REST: _rest(found)} for language, found in results.items()}
    columns = (ratio, ratio_of_median_page)
    names = dict.fromkeys(name for found in results.values() for name in found)
    rows = [
        [name, *(f"{of(found, name, PARSE):.2f}" for found in results.values() for of in columns)]
        for name in names
    ]
    titles = [f"{language}{which}>" for language in results for which in ("", ": median page")]
    header = ", ".join(["CPU time / bare lxml parse", *titles])
    print(f"\n{markdown(header, rows)}\n")
    asked = [row for language, found in results.items() for row in goals(found, language)]
    print(f"{markdown('language, what, goal>, is>,', asked)}\n")
    for lang in ("en", "zh"):
        print(f"Memory beside the page itself, {lang}: {memory(lang)}")
    for package, why in left_out.items():
        print(f"Left out: {package}: {why}")
    print(f"{versions()}\nCommand: python -m benchmarks.fingerprints {' '.join(sys.argv[1:])}")


if __name__ == "__main__":
    main()

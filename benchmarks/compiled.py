"""What a page costs with the compiled kernel and without, on six sets of pages, beside the peers.

    python -m benchmarks.compiled [--folder FOLDER] [--rounds 5]

FOLDER holds articles.zip and versions.zip of real pages; without it the made sets are measured.
Every figure is the CPU time of all pages of a set against the bare lxml parse of them in the same
round, and the median over the rounds. Peers that aren't installed are left out.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median

from lxml import etree

from benchmarks.pages import made_pages, read_pages, real_pages
from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, content_fingerprint, native
from tests.same import by_python

_SMALL_BYTES = 8_000
_MEDIUM_BYTES = range(15_000, 60_000)
_MAX_PAGES = 40  # of a set of real pages
Way = Callable[[bytes], object]


def _sets(folder: Path | None) -> dict[str, list[bytes]]:
    found = {}
    for size in (134_000, _SMALL_BYTES):
        pages = made_pages(size) if folder is None else real_pages(folder / "articles.zip", size)
        for language, some in pages.items():
            found[f"{language}, some {size // 1000} KB"] = [page.html for page in some]
    if folder is not None:
        medium = (page.html for page in read_pages(folder / "articles.zip"))
        fitting = (html for html in medium if len(html) in _MEDIUM_BYTES)
        found["articles of 15-60 KB"] = list(islice(fitting, _MAX_PAGES))
        documentation = (page.html for page in read_pages(folder / "versions.zip"))
        found["documentation"] = list(islice(documentation, 0, 50 * _MAX_PAGES, 50))
    return found


def _ways() -> dict[str, Way]:
    compiled = Fingerprinter()
    with by_python():
        python = Fingerprinter()
    ways: dict[str, Way] = {
        "parse": lambda html: etree.fromstring(html, etree.HTMLParser(huge_tree=True)),
        "compiled": compiled.fingerprint,
        "Python": python.fingerprint,
    }
    peers = {
        "trafilatura + Simhash": ("trafilatura", _trafilatura),
        "BeautifulSoup + simhash": ("simhash", _beautiful_soup),
        "resiliparse + compiled": ("resiliparse", _resiliparse),
    }
    for name, (package, make) in peers.items():
        if importlib.util.find_spec(package) is not None:
            ways[name] = make()
    return ways


def _trafilatura() -> Way:
    trafilatura, deduplication, _ = map(
        importlib.import_module, ("trafilatura", "trafilatura.deduplication", "trafilatura.meta")
    )

    def fingerprinted(html: bytes) -> None:
        deduplication.Simhash(trafilatura.extract(html) or "")

    return fingerprinted


def _beautiful_soup() -> Way:
    warnings.filterwarnings("ignore", module="bs4")  # XHTML is no XML to it
    bs4, simhash = map(importlib.import_module, ("bs4", "simhash"))

    def fingerprinted(html: bytes) -> None:
        try:
            simhash.Simhash(bs4.BeautifulSoup(html, "lxml").get_text(" "))
        except OverflowError:  # it fails on a word that occurs some hundred times
            return

    return fingerprinted


def _resiliparse() -> Way:
    extract, encoding = map(
        importlib.import_module, ("resiliparse.extract.html2text", "resiliparse.parse.encoding")
    )

    def fingerprinted(html: bytes) -> None:
        text = encoding.bytes_to_str(html, encoding.detect_encoding(html))
        content_fingerprint(extract.extract_plain_text(text, main_content=True))

    return fingerprinted


def _round(pages: Sequence[bytes], way: Way, *, by_kernel: bool) -> float:
    """CPU seconds of all pages."""
    if not by_kernel:
        with by_python():
            return _round(pages, way, by_kernel=True)
    if "trafilatura.meta" in sys.modules:  # it knows the pages of the round before
        sys.modules["trafilatura.meta"].reset_caches()
    gc.collect()  # what others left
    started = time.process_time()
    for page in pages:
        way(page)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if native.kernel is None:
        parser.error("no kernel is built: SIMHASH_REQUIRE_NATIVE=1 pip install -e .")
    ways = _ways()
    rows = []
    for name, pages in _sets(args.folder).items():
        rounds = [
            {label: _round(pages, way, by_kernel=label != "Python") for label, way in ways.items()}
            for _ in range(args.rounds + 1)
        ][1:]
        ratios = [f"{median(one[label] / one['parse'] for one in rounds):.1f}" for label in ways][
            1:
        ]
        parse_ms = median(one["parse"] for one in rounds) / len(pages) * 1000
        rows.append([name, str(len(pages)), f"{parse_ms:.2f}", *ratios])
    labels = [f"{label}>" for label in ways][1:]
    print(markdown(", ".join(["pages", "number>", "parse ms>", *labels]), rows))


if __name__ == "__main__":
    main()

"""What cleaning an archive costs, from a feed of pages.

    python -m benchmarks.archive items.jsonl

How fast pages are fingerprinted on one core, what it takes to judge one, and how fast `dedup`
cleans the feed on all cores.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from pathlib import Path

from simhash_pipeline import Fingerprinter, Options, PageError
from simhash_pipeline.archive import Page
from simhash_pipeline.archive.dedup import DedupJob, dedup
from simhash_pipeline.archive.inputs import open_input
from simhash_pipeline.archive.parts import Reading, judge_batches, judgeable, workers


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("feed", type=Path)
    measure(parser.parse_args().feed)


def measure(feed: Path) -> None:
    """Pages a second on one core, microseconds to judge one, then `dedup` as a whole."""
    archive = open_input(str(feed), Options())
    pages = [record for record, _ in archive.read() if isinstance(record, Page)]
    fingerprinter = Fingerprinter()
    fingerprinter.fingerprint("<p>中文</p>")  # loads the dictionaries
    started = time.perf_counter()
    for page in pages:
        with contextlib.suppress(PageError):
            fingerprinter.read(page.source)
    alone = len(pages) / (time.perf_counter() - started)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with workers() as pool:
            parts = [*Reading({"": archive}, folder, Options()).parts(pool)]
        cpu = time.process_time()
        list(judge_batches(judgeable(parts), folder, Options()))
        judging = (time.process_time() - cpu) / len(pages) * 1e6
        started = time.perf_counter()
        dedup(DedupJob(inputs=[str(feed)], to=folder / "out" / "kept.parquet", options=Options()))
        whole = len(pages) / (time.perf_counter() - started)
    print(f"{len(pages):,} pages: {alone:.0f} a second on one core, not reading them;")
    print(f"{judging:.0f} us of CPU to judge one;")
    print(f"{whole:.0f} a second by dedup from start to end on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()

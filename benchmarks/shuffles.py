"""Whether a crawl keeps the same stories in whatever order its pages come.

    python -m benchmarks.shuffles [FOLDER] [--shuffles 5] [--limit 800] [--show 10]

The pages of a folder, or those of the demo site, are judged in some random orders. Each page stands
for a story by the page that is kept for it: itself, or the one that it was dropped for. The orders
agree about a page if the same pages come with it each time, whichever of them is kept. Of the demo
site's stories it is known which pages are theirs; one is lost where none of its pages is kept.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from urllib.parse import quote

from benchmarks.pages import html_files
from benchmarks.table import markdown
from crawler.demo_site.answers import read_answers
from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, Judge, PageError, PageFingerprint, open_store

_SEED = 7
_SITE = "http://site.example"

Groups = Mapping[str, frozenset[str]]  # by page, all pages that one kept page stands for


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--limit", type=int, default=800, help="pages of a folder, drawn")
    parser.add_argument("--show", type=int, default=0, help="pages that the orders disagree about")
    arguments = parser.parse_args()
    folder: Path | None = arguments.folder
    pages = dict(demo_pages() if folder is None else folder_pages(folder, arguments.limit))
    crawls = [judged(pages, order) for order in range(arguments.shuffles)]
    moved = sorted(url for url in pages if len({groups[url] for _, groups in crawls}) > 1)
    for url in moved[: arguments.show]:
        print(url, *sorted({len(groups[url]) for _, groups in crawls}), file=sys.stderr)
    kept = [len(urls) for urls, _ in crawls]
    lost = "" if folder else str(lost_stories(frozenset(pages), [urls for urls, _ in crawls]))
    name = "demo site" if folder is None else folder.name
    row = [name, f"{len(pages)}", f"{min(kept)}-{max(kept)}", f"{len(moved)}", lost]
    print(markdown("pages of, pages>, kept>, orders disagree about>, stories lost>", [row]))


def demo_pages() -> Iterator[tuple[str, PageFingerprint]]:
    """Of the pages whose right answer is known."""
    known = {answer.path for answer in read_answers()}
    for path, page in all_pages().items():
        if path in known:
            yield from _read(f"{_SITE}{path}", page.body)


def folder_pages(folder: Path, limit: int) -> Iterator[tuple[str, PageFingerprint]]:
    files = html_files(folder)
    for path in files if len(files) <= limit else sorted(Random(_SEED).sample(files, limit)):
        yield from _read(f"{_SITE}/{quote(str(path.relative_to(folder)))}", path.read_bytes())


def _read(url: str, html: bytes) -> Iterator[tuple[str, PageFingerprint]]:
    try:
        yield url, Fingerprinter().fingerprint(html, url)
    except PageError:
        return


def judged(pages: Mapping[str, PageFingerprint], order: int) -> tuple[frozenset[str], Groups]:
    """The pages that are kept in this order, and by page those that come with it."""
    urls = sorted(pages)
    Random(f"{_SEED} {order}").shuffle(urls)
    standing: dict[str, str] = {}
    url_of: dict[str, str] = {}
    with open_store("memory:") as store:
        judge = Judge(store)
        for url in urls:
            verdict = judge.judge(url, pages[url])
            url_of.setdefault(verdict.url, url)
            twin = verdict.twin_url if verdict.dropped else None
            standing[url] = url if twin is None else url_of[twin]
    groups: dict[str, set[str]] = defaultdict(set)
    for url, kept in standing.items():
        groups[kept].add(url)
    kept_urls = frozenset(url for url, kept in standing.items() if url == kept)
    return kept_urls, {url: frozenset(groups[kept]) for url, kept in standing.items()}


def lost_stories(read: frozenset[str], crawls: Sequence[frozenset[str]]) -> int:
    """Of the demo site's stories, those of which a crawl keeps no page."""
    stories: dict[str, set[str]] = defaultdict(set)
    for answer in read_answers():
        stories[answer.twin or answer.path].add(f"{_SITE}{answer.path}")
    known = [urls & read for urls in stories.values() if urls & read]
    return sum(any(not urls & kept for kept in crawls) for urls in known)


if __name__ == "__main__":
    main()

"""Which drops of whole crawls were wrong, without labels.

    python -m benchmarks.wrong_drops FOLDER... [--limit 800] [--distance 3] [--show 10]

The pages of each folder are judged in the order of their paths, as one site. A page's *own blocks*
are those that stand on at most 3 % of the folder's pages (and on 6). A dropped page and the one it
was dropped for are compared by the Jaccard index of the 5-word shingles of their own blocks: from
0.9 on the drop is right, from 0.5 on doubtful, and below wrong. Kept pages of an index of 0.9 are
missed. Signs are words too: "operator+" is another text than "operator-". Drops under another
title are counted among all drops, right ones too: an alias has one, and a page about another thing.
Of these, a page loses much if 50 and more of its shingles are on no kept page: the similarity of a
page and its longer twin is high, whatever the shorter one lacks.
Debian's documentation packages do (`apt-get download PACKAGE; dpkg -x`).
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from random import Random
from urllib.parse import quote

from lxml.etree import _Element

from benchmarks.pages import html_files
from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, Judge, Options, PageError, Verdict, open_store
from tests.trees import parse

RIGHT, DOUBTFUL = 0.9, 0.5
_SHARED_PAGES, _SHARED_SHARE = 6, 0.03
_MIN_WORDS = 50  # of kept pages that may be missed
_MUCH = 50  # shingles of a dropped page that no kept one has
_COMMON_SHINGLE = 30  # pages; one that more have ties nobody
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_INLINE = frozenset(
    [
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "dfn"),
        *("em", "font", "i", "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small"),
        *("span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    ]
)
_UNSEEN = frozenset(["head", "iframe", "noscript", "script", "select", "style", "svg", "template"])

Shingles = frozenset[tuple[str, ...]]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=800, help="pages of a folder, drawn")
    parser.add_argument("--distance", type=int, default=Options().content_distance)
    parser.add_argument(
        "--show",
        type=int,
        default=0,
        help="drops that aren't right or have another title, and missed",
    )
    arguments = parser.parse_args()
    options = Options(content_distance=arguments.distance)
    rows, total = [], Counter[str]()
    for folder in arguments.folders:
        found = drops_of(folder, options, arguments.limit, arguments.show)
        total += found
        rows.append([folder.name, *(str(found[name]) for name in _COLUMNS)])
    rows.append(["all", *(str(total[name]) for name in _COLUMNS)])
    print(markdown(", ".join(["folder", *(f"{name}>" for name in _COLUMNS)]), rows))
    return 1 if total["wrong"] else 0


_COLUMNS = ("pages", "right", "doubtful", "wrong", "missed", "another title", "loses much")


def drops_of(folder: Path, options: Options, limit: int, show: int) -> Counter[str]:
    """How many pages and drops there are, by what became of them."""
    texts: dict[str, list[str]] = {}
    verdicts: dict[str, Verdict] = {}
    titles: dict[str, list[str]] = {}
    fingerprinter = Fingerprinter(options)
    with open_store("memory:") as store:
        judge = Judge(store, options)
        for path in _pages(folder, limit):
            html = path.read_bytes()
            try:
                page = fingerprinter.fingerprint(html)
            except PageError:
                continue
            address = quote(str(path.relative_to(folder)))
            verdict = judge.judge(f"http://site.example/{address}", page)
            texts[verdict.url], verdicts[verdict.url] = _blocks(parse(html)), verdict
            titles[verdict.url] = _words(page.title)
    own = _own_words(texts)
    shingles = {url: _shingles(words) for url, words in own.items()}
    kept = [url for url in own if not verdicts[url].dropped]
    known = frozenset[tuple[str, ...]]().union(*map(shingles.__getitem__, kept))
    found = Counter(pages=len(texts))
    for url, verdict in verdicts.items():
        if verdict.dropped and verdict.twin_url is not None:
            share = _jaccard(shingles[url], shingles[verdict.twin_url])
            kind = "right" if share >= RIGHT else "doubtful" if share >= DOUBTFUL else "wrong"
            found[kind] += 1
            if kind != "right" and found["doubtful"] + found["wrong"] <= show:
                print(f"{kind} {share:.2f} {url} -> {verdict.twin_url}", file=sys.stderr)
            if titles[url] != titles[verdict.twin_url]:
                found["another title"] += 1
                lost = len(shingles[url] - known)
                found["loses much"] += lost >= _MUCH
                if found["another title"] <= show or lost >= _MUCH:
                    named = f"{' '.join(titles[url])} -> {' '.join(titles[verdict.twin_url])}"
                    print(f"another title {share:.2f}, {lost} lost: {named}", file=sys.stderr)
    long = {url: shingles[url] for url in kept if len(own[url]) >= _MIN_WORDS}
    for place, (a, b) in enumerate(_missed(long)):
        found["missed"] += 1
        if place < show:
            print(f"missed {a} ~ {b}", file=sys.stderr)
    return found


def _pages(folder: Path, limit: int) -> list[Path]:
    files = html_files(folder)
    return files if len(files) <= limit else sorted(Random(1).sample(files, limit))


def _blocks(root: _Element) -> list[str]:
    """Visible text, cut at block-level elements."""
    parts: list[str] = []
    blocks: list[str] = []

    def cut() -> None:
        if text := " ".join("".join(parts).split()):
            blocks.append(text)
        parts.clear()

    # (element, whether its children were read), so that no depth is too deep.
    path: list[tuple[_Element, bool]] = [(root, False)]
    while path:
        element, is_read = path.pop()
        is_block = element.tag not in _INLINE
        if is_block:
            cut()
        if is_read or element.tag in _UNSEEN:
            parts.append(element.tail or "")
        else:
            parts.append(element.text or "")
            path.append((element, True))
            path += [(child, False) for child in reversed(element)]
    cut()
    return blocks


def _own_words(texts: Mapping[str, list[str]]) -> dict[str, list[str]]:
    seen = Counter(block for blocks in texts.values() for block in set(blocks))
    most = max(_SHARED_PAGES, _SHARED_SHARE * len(texts))
    return {
        url: _words("\n".join(block for block in blocks if seen[block] <= most))
        for url, blocks in texts.items()
    }


def _words(text: str) -> list[str]:
    """Words and signs, without regard to case and to how Unicode writes them."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def _shingles(words: list[str]) -> Shingles:
    return frozenset(zip(*(words[i:] for i in range(min(5, len(words)))), strict=False))


def _jaccard(a: Shingles, b: Shingles) -> float:
    return len(a & b) / len(a | b) if a | b else 1.0


def _missed(pages: Mapping[str, Shingles]) -> Iterator[tuple[str, str]]:
    where: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for url, shingles in pages.items():
        for shingle in shingles:
            where[shingle].append(url)
    together = Counter(_tied(where.values()))
    for (a, b), shared in together.items():
        longer = max(len(pages[a]), len(pages[b]))
        if shared >= 0.3 * longer and _jaccard(pages[a], pages[b]) >= RIGHT:
            yield a, b


def _tied(groups: Iterable[list[str]]) -> Iterator[tuple[str, str]]:
    for urls in groups:
        if len(urls) <= _COMMON_SHINGLE:
            yield from combinations(urls, 2)


if __name__ == "__main__":
    sys.exit(main())

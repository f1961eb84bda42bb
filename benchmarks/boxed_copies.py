"""How many copies with one more box are found as a site grows, on a folder's pages.

    python -m benchmarks.boxed_copies FOLDER [--copies 120] [--after 500 10000] [--distance 3]

Pages are drawn by a seed and judged as one site's. After so many of them copies of some of the
first come, at other paths, each with a box of fourteen words of its own at its end. The same copies
are judged after each number of pages; what is kept of them is forgotten. Debian's documentation
packages do (`apt-get download PACKAGE; dpkg -x`).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from urllib.parse import quote

from benchmarks.pages import html_files
from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, Judge, Options, PageError, PageFingerprint, open_store

_SEED = 7
_BOX_WORDS = 14
_MIN_WORDS = 50  # of a page that is copied: a thinner one is another page with a box
_WORDS = (
    *("harbour", "crane", "ferry", "market", "lantern", "orchard", "bridge", "winter", "copper"),
    *("garden", "signal", "theatre", "paper", "river", "summer", "anchor", "castle", "letter"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=120)
    parser.add_argument("--after", type=int, nargs="+", default=[500, 10_000], help="pages")
    parser.add_argument("--distance", type=int, default=Options().content_distance)
    arguments = parser.parse_args()
    options = Options(content_distance=arguments.distance)
    files = drawn(arguments.folder, max(arguments.after))
    found = found_after(files, sorted(arguments.after), arguments.copies, options)
    rows = [[f"{pages:,}", str(copies), str(hits)] for pages, copies, hits in found]
    print(markdown("pages judged before>, copies>, found>", rows))


def drawn(folder: Path, count: int) -> list[Path]:
    """So many pages of the folder in a random order; all where it has fewer."""
    files = html_files(folder)
    return Random(_SEED).sample(files, min(count, len(files)))


def found_after(
    files: Sequence[Path], after: Sequence[int], count: int, options: Options
) -> list[tuple[int, int, int]]:
    """Pages judged, copies made and copies found; fewer pages where the folder has fewer."""
    fingerprinter = Fingerprinter(options)
    steps = sorted({min(pages, len(files)) for pages in after})
    copies: list[PageFingerprint] = []
    rows = []
    with open_store("memory:") as store:
        judge = Judge(store, options)
        for number, path in enumerate(files, start=1):
            page = _fingerprint(fingerprinter, path.read_bytes())
            if page is not None:
                kept = not judge.judge(
                    f"http://site.example/{quote(path.as_posix())}", page
                ).dropped
                if kept and page.tokens >= _MIN_WORDS and len(copies) < count:
                    copied = _fingerprint(fingerprinter, with_box(path.read_bytes(), number))
                    copies += [copied] if copied is not None else []
            if number in steps:
                rows.append(
                    (number, len(copies), sum(_is_found(judge, *c) for c in enumerate(copies)))
                )
    return rows


def with_box(html: bytes, number: int) -> bytes:
    """The page with a box of words at the end of its body."""
    words = Random(f"{_SEED} {number}").choices(_WORDS, k=_BOX_WORDS)
    box = f"<div><p>{' '.join(words)}</p></div>".encode()
    end = [match.start() for match in re.finditer(rb"</body\s*>", html, re.IGNORECASE)]
    place = end[-1] if end else len(html)
    return html[:place] + box + html[place:]


def _fingerprint(fingerprinter: Fingerprinter, html: bytes) -> PageFingerprint | None:
    try:
        return fingerprinter.fingerprint(html)
    except PageError:
        return None


def _is_found(judge: Judge, number: int, copied: PageFingerprint) -> bool:
    verdict = judge.judge(f"http://site.example/copy/{number}", copied)
    judge.forget(verdict)
    return verdict.dropped


if __name__ == "__main__":
    main()

"""How well near-duplicates are told from other pages, against pinned floors.

    python -m tests.quality [FOLDER] [--pin] [--accept-lower]

FOLDER holds versions.zip, syndicated.zip, articles.zip and templates.zip, and pagetypes.zip where
that is at hand; ../shared/data where that is there. Without it the same table is made of pages that
the project makes itself from its demo site. Sites that are made around one mistake each come with
both (`made_sites.py`), as do pages with items (`made_items.py`), pages that a name alone tells
apart (`made_names.py`), and texts (`made_texts.py`). Prints one table; exit status 1 when a value
is below its floor.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.quality.corpora import Corpus
from tests.quality.floors import (
    CHANGELOG_FILE,
    Floors,
    pinned,
    read_floors,
    table,
    unexplained,
    verdict,
    write_floors,
)
from tests.quality.made_items import MADE_ITEMS, item_digest, item_rows
from tests.quality.made_names import MADE_NAMES, name_digest, name_rows
from tests.quality.made_rows import MADE, made_digest, made_rows
from tests.quality.made_texts import MADE_TEXTS, text_digest, text_rows
from tests.quality.measures import all_rows, demo_rows
from tests.quality.rows import Row
from tests.quality.work import Work

DEFAULT_FOLDER = Path("../shared/data")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="labelled pages")
    parser.add_argument("--demo", action="store_true", help="the demo site's pages in any case")
    parser.add_argument("--pin", action="store_true", help="raise the floors to what was measured")
    parser.add_argument(
        "--accept-lower", action="store_true", help="lower floors too; the changelog must name them"
    )
    arguments = parser.parse_args()
    folder = arguments.folder or (DEFAULT_FOLDER if DEFAULT_FOLDER.is_dir() else None)
    started = time.monotonic()
    if folder is None or arguments.demo:
        print("No folder of labelled pages: these are made of the demo site.\n")
        rows, digests = demo_rows()
    else:
        rows = list(all_rows(folder, Work.on_every_core()))
        digests = {name: Corpus(folder / name).digest() for name in {row.corpus for row in rows}}
    rows += [*made_rows(), *item_rows(), *name_rows(), *text_rows()]
    digests |= {MADE: made_digest(), MADE_ITEMS: item_digest()}
    digests |= {MADE_NAMES: name_digest(), MADE_TEXTS: text_digest()}
    floors = read_floors()
    if arguments.pin or arguments.accept_lower:
        floors = _pinned_anew(rows, digests, floors, lower=arguments.accept_lower)
    print(table(rows, floors, digests))
    below = [row for row in rows if verdict(row, floors, digests)[1] == "BELOW"]
    print(f"\n{len(below)} below their floors; {time.monotonic() - started:.0f} s")
    return 1 if below else 0


def _pinned_anew(
    rows: Sequence[Row], digests: Mapping[str, str], floors: Mapping[str, Floors], *, lower: bool
) -> dict[str, Floors]:
    """The floors after this run, written down."""
    anew = dict(floors)
    for corpus, digest in sorted(digests.items()):
        own = [row for row in rows if row.corpus == corpus]
        anew[corpus] = pinned(own, digest, floors.get(corpus), lower=lower)
    write_floors(anew)
    for line in unexplained(anew, CHANGELOG_FILE.read_text(encoding="utf-8")):
        print(f"CHANGELOG.md must say: {line}")
    return anew


if __name__ == "__main__":
    sys.exit(main())

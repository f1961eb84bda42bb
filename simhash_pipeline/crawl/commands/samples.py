"""Pages that were crawled already: out of a JSON Lines feed, or a folder of HTML files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.page.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simhash_pipeline.options import Options

HTML_SUFFIXES = frozenset([".htm", ".html", ".xhtml"])


def pages_in(path: Path, options: Options) -> Iterator[Source]:
    """The pages; one whose item has no URL goes by its line. UsageError for a file of others."""
    if path.is_dir():
        for file in sorted(file for file in path.rglob("*") if file.suffix in HTML_SUFFIXES):
            yield Source(file.read_bytes(), file.resolve().as_uri())
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            yield _page_of(line, f"{path}, line {number}", options)


def _page_of(line: bytes, place: str, options: Options) -> Source:
    try:
        item = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{place}: no JSON: {error}") from error
    html = item.get(options.html_field) if isinstance(item, dict) else None
    if not isinstance(html, str):
        raise UsageError(f"{place}: no item with a text in its field {options.html_field!r}")
    url = item.get(options.url_field)
    return Source(html, url if isinstance(url, str) and url else place)

"""`scrapy simhash fingerprint`: what is made of a page, without a crawl or a store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex
from simhash_pipeline.cli.fetch import add_pages, fingerprinted
from simhash_pipeline.cli.terminal import add_json, tell
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.printable import aligned, printable, printable_lines

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings


class FingerprintCommand:
    name = "fingerprint"
    summary = "a page's fingerprints, title and number of tokens, and its main text on demand"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "Exit code 2 when a page can't be read; the others are told all the same."
        add_pages(parser, "+")
        parser.add_argument("--text", action="store_true", help="print the main text too")
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        made_with = Options.from_settings(settings)
        exit_code = 0
        for page in fingerprinted(options, Fingerprinter(made_with)):
            if isinstance(page, PageError):
                print(f"{options.parser.prog}: {printable(str(page))}", file=sys.stderr)
                exit_code = 2
                continue
            record = page_record(page, made_with)
            words = _words(record, made_with)
            if options.text:
                record["text"] = page.text
                words += f"\n\n{printable_lines(page.text)}\n"
            tell(record, words, as_json=options.json)
        return exit_code


def page_record(page: PageFingerprint, options: Options) -> dict[str, Any]:
    """A page's fingerprints as JSON tells them."""
    return {
        "url": page.url,
        "title": page.title,
        "content": fingerprint_hex(page.content, options.bits),
        "structure": fingerprint_hex(page.structure, options.bits),
        "sketch": fingerprint_hex(page.sketch, SKETCH_BITS),
        "tokens": page.tokens,
        "main_share": None if page.main_share is None else round(page.main_share, 2),
        "thin": page.content is None,
    }


def _words(record: dict[str, Any], options: Options) -> str:
    fewer = f", fewer than {options.min_tokens}: thin" if record["thin"] else ""
    rows = [(name, record[name] or "none") for name in ("title", "content", "structure", "sketch")]
    share = "none" if record["main_share"] is None else f"{record['main_share']:.0%} of the page"
    table = aligned([*rows, ("tokens", f"{record['tokens']:,}{fewer}"), ("main text", share)])
    return f"{printable(record['url'])}\n" + "\n".join(f"  {row}" for row in table.split("\n"))

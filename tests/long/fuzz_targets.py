"""What hostile input is fed to, a method each; any exception but those expected here is a fault."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
from dataclasses import fields
from pathlib import Path

from crawler.demo_site.pages import all_pages
from simhash_pipeline import (
    Fingerprinter,
    Judge,
    Options,
    OptionsError,
    PageError,
    PageFingerprint,
    Verdict,
)
from simhash_pipeline.archive import Input
from simhash_pipeline.archive.feeds import Feed
from simhash_pipeline.archive.warc import WarcFile
from simhash_pipeline.drop_log import read_log
from simhash_pipeline.errors import ArchiveError, DropLogError
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.page.visible import visible_text
from simhash_pipeline.stores.opening import open_store
from tests.long.fuzz_inputs import (
    CHARSETS,
    DROP_LOG_LINES,
    LIES,
    MARKUP,
    SETTINGS,
    mutated,
    url_of,
)
from tests.long.fuzz_stores import StoreFiles
from tests.long.hostile_pages import PAGES

TARGETS = ("pages", "drop_log", "options", "stores", "warc", "feeds", "store_files")
_LONGEST_PAGE = 20_000


class Hang(Exception):
    """An input took longer than any may."""


class Targets:
    """The readers, and two stores that must agree; files of one input each go to the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "input"
        self._fingerprinter = Fingerprinter()
        self._pages = [page.body[:_LONGEST_PAGE] for page in all_pages().values() if page.body]
        self._open_stores()
        self._store_files = StoreFiles(folder)

    def close(self) -> None:
        self._stores.close()

    def pages(self, chance: random.Random) -> None:
        html, charset = self._page(chance)
        with contextlib.suppress(PageError):
            page = self._fingerprinter.fingerprint(html, "http://a.example/", charset)
            _check(page)

    def drop_log(self, chance: random.Random) -> None:
        lines = DROP_LOG_LINES
        self._path.write_bytes(mutated(chance, b"\n".join(chance.choices(lines, k=3)), lines))
        with contextlib.suppress(DropLogError):
            list(read_log(self._path))

    def options(self, chance: random.Random) -> None:
        names = [field.name.upper() for field in fields(Options)]
        given = {f"SIMHASH_{name}": chance.choice(SETTINGS) for name in chance.sample(names, 3)}
        with contextlib.suppress(OptionsError):
            stamp_for(Options.from_settings(given))

    def stores(self, chance: random.Random) -> None:
        """Both judges decide alike about one page more, and store the same."""
        if chance.random() < 0.01:
            self._agree()
            self._stores.close()
            self._open_stores()
        bits = [chance.randrange(8) for _ in range(chance.randrange(6))]
        value = sum({1 << 8 * bit for bit in bits})
        said = [chance.choice(["a menu", "a box of text", f"row {n}"]) for n in range(9)]
        visible = visible_text(said, [chance.random() < 0.5 for _ in said])
        page = PageFingerprint(
            content=chance.choice([None, value, value, 2**64 - 1 - value]),
            structure=chance.choice([None, value]),
            sketch=chance.choice([None, value, value << 64]),
            text=url_of(chance),
            title="",
            tokens=50,
            article=chance.choice([None, chance.randrange(3)]),
            sample=chance.choice([None, visible.sample]),
            blocks=visible.blocks,
        )
        url, forgets = url_of(chance), chance.random() < 0.05
        told = [_judged(judge, url, page, forgets=forgets) for judge in self._judges]
        if told[0] != told[1]:
            raise AssertionError(f"the stores disagree: {told}")

    def store_files(self, chance: random.Random) -> None:
        self._store_files.run(chance)

    def warc(self, chance: random.Random) -> None:
        records = [
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/%d\r\n"
            b"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http\r\n"
            b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (i, len(body), body)
            for i, html in enumerate(chance.choices(self._pages, k=3))
            for body in [
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html[:500]
            ]
        ]
        if chance.random() < 0.5:
            records = [gzip.compress(record, 1) for record in records]
        self._path.write_bytes(mutated(chance, b"".join(records), records))
        self._read(WarcFile(self._path))

    def feeds(self, chance: random.Random) -> None:
        html = mutated(chance, chance.choice(self._pages)[:500], self._pages).decode(
            errors="replace"
        )
        if chance.random() < 0.5:
            path = self._folder / "feed.jsonl"
            rows = b"\n".join(json.dumps({"url": "u", "html": html}).encode() for _ in range(3))
        else:
            path, quoted = self._folder / "feed.csv", html.replace('"', '""')
            rows = f'url,html\nu,"{quoted}"\nv,"{quoted}"\n'.encode(errors="replace")
        data = mutated(chance, rows, [b'"', b",", b"{", b"\\ud800", b"\n", b"[" * 1_000, b"\0"])
        if chance.random() < 0.3:
            path = path.with_name(f"{path.name}.gz")
            data = mutated(chance, gzip.compress(data, 1), [data])
        path.write_bytes(data)
        self._read(Feed(path, Options(), time_field="time"))

    def _read(self, archive: Input) -> None:
        with contextlib.suppress(ArchiveError):
            list(archive.read())

    def _page(self, chance: random.Random) -> tuple[bytes | str, str | None]:
        if chance.random() < 0.05:
            return PAGES[chance.choice(list(PAGES))](chance.randrange(5_000)), None
        if chance.random() < 0.1:
            return "".join(chance.choices(MARKUP, k=chance.randrange(200))), None
        html = mutated(chance, chance.choice(self._pages), self._pages)
        label = chance.choice([None, None, *CHARSETS, *LIES])
        if chance.random() < 0.3:
            charset = chance.choice(CHARSETS)
            html = html.decode(errors="replace").encode(charset, "replace")
        if label is not None and chance.random() < 0.5:
            return b"<meta charset='%b'>%b" % (label.encode(errors="replace"), html), None
        return html, label

    def _open_stores(self) -> None:
        file = self._folder / f"{os.urandom(8).hex()}.sqlite"
        with contextlib.ExitStack() as stores:
            self._opened = [
                stores.enter_context(open_store(url)) for url in ("memory:", f"sqlite:///{file}")
            ]
            self._judges = [Judge(store, Options(), clock=lambda: 0.0) for store in self._opened]
            self._stores = stores.pop_all()

    def _agree(self) -> None:
        one, other = (list(store.pages()) for store in self._opened)
        if one != other:
            raise AssertionError("the stores hold other pages")


def _judged(judge: Judge, url: str, page: PageFingerprint, *, forgets: bool) -> Verdict | str:
    try:
        verdict = judge.judge(url, page)
    except PageError as error:
        return str(error)
    if forgets:
        judge.forget(verdict)
    return verdict


def _check(page: PageFingerprint) -> None:
    """What every page's fingerprints are."""
    for value, bits in ((page.content, 64), (page.structure, 64), (page.sketch, 128)):
        if value is not None and not 0 <= value < 1 << bits:
            raise AssertionError(f"{value} is no fingerprint of {bits} bits")
    if (page.content is None) != (page.tokens < 50):
        raise AssertionError(f"{page.tokens} tokens, and the content is {page.content}")
    page.digest  # noqa: B018  # it may fail too

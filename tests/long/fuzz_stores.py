"""Damaged SQLite store files: no error but a StoreError of one sentence, and nothing deleted.

Beside each file that is damaged may lie a log, as a killed crawl leaves one, and the log's index.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from simhash_pipeline.errors import StoreDamaged, StoreError
from simhash_pipeline.options import Options
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.stores.contract import Action, PageText, Store, StoredPage, View
from simhash_pipeline.stores.sqlite import rows
from simhash_pipeline.stores.sqlite.file import APPLICATION_ID
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore

PAGES = 120
MOST_SECS = 20.0  # of the clock, for all that is tried with a file
SUFFIXES = ("", "-wal", "-shm", "-journal")
Files = dict[str, bytearray]  # of one store, by SUFFIXES

_VALUES = ["'text'", "x'00ff'", "x'80'", "1.5", "-1", "1 << 62", "9e999", "NULL", "zeroblob(70000)"]
_STAMPS = ["", "{", "[]", "null", "7", '"bits"', '{"top_n": 7}']
_COLUMNS = {
    "page": (
        *("id", "url_hash", "url", "namespace", "site", "content", "structure", "sketch"),
        *("digest", "first_seen", "seen_at", "run", "article", "sample", "title"),
        *("title_marks", "address", "error_pattern", "fields"),
    ),
    "repeated_text": ("namespace", "host", "templates"),
    "text": ("namespace", "url", "packed", "kept_at"),
    "meta": ("value",),
    "run": ("after_page",),
    "packed_values": ("name", "chunk", "packed"),
}


class StoreFiles:
    """Some sound stores, and what is done with a damaged copy of one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "damaged.sqlite"
        rows.CHUNK = PAGES // 4  # so that few pages have packed values
        self._sound = [_copied(folder, logged) for logged in (0, 1)]

    def run(self, chance: random.Random) -> bool:
        """Damage a store and use it; whether the damage was noticed. AssertionError, or any other.

        What is only read is read first: it must leave the file as it is, unless a log goes into it.
        """
        files = {suffix: bytearray(data) for suffix, data in chance.choice(self._sound).items()}
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            chance.choice(_DAMAGES)(chance, files)
        for suffix in SUFFIXES:
            file = Path(f"{self._path}{suffix}")
            file.unlink(missing_ok=True)
            if suffix in files:
                file.write_bytes(files[suffix])
        started = time.monotonic()
        noticed = self._read()
        if files[""] and not any(files.get(suffix) for suffix in SUFFIXES[1:]):
            # The first 100 bytes say whether there may be a log.
            now, was = self._path.read_bytes()[100:], bytes(files[""][100:])
            _hold(now.startswith(was), "reading has changed the file")
        noticed |= self._judge()
        noticed |= self._write(chance)
        _hold(self._path.exists(), "the file is gone")
        _hold(time.monotonic() - started < MOST_SECS, f"it took more than {MOST_SECS} seconds")
        return noticed

    def _read(self) -> bool:
        errors: list[StoreError] = []
        self._tried(
            errors,
            {},
            lambda store: store.made_with(),
            len,
            lambda store: list(islice(store.pages(), 10 * PAGES)),
            lambda store: list(islice(store.texts(), 10 * PAGES)),
            lambda store: list(store.all_repeated_text()),
            lambda store: _hold_named(store, errors),
        )
        return bool(errors)

    def _judge(self) -> bool:
        """Look a page up: a store writes its packed values again, where a chunk of them is gone."""
        errors: list[StoreError] = []
        self._tried(
            errors,
            {},
            lambda store: store.settle(_page(5), _all_seen),
            lambda store: _hold_named(store, errors),
        )
        return bool(errors)

    def _write(self, chance: random.Random) -> bool:
        page = _page(chance.randrange(2 * PAGES))
        how: dict[str, object] = {"tentative": chance.random() < 0.5}
        errors: list[StoreError] = []
        self._tried(
            errors,
            how,
            lambda store: store.stamp(stamp_for(Options())),
            lambda store: store.settle(page, lambda view: (_all_seen(view)[0], None)),
            lambda store: store.settle(page, lambda _: (Action.KEEP, None)),
            lambda store: store.insert_many([page]),
            lambda store: store.put_repeated_text("", "a.example", b"abcd"),
            lambda store: store.keep_texts([PageText("", page.url, "title", "text", 1.0)]),
            lambda store: store.forget("", page.url),
            lambda store: store.clear(""),
            lambda store: store.expire(float("inf")),
        )
        return bool(errors)

    def _tried(
        self, errors: list[StoreError], how: dict[str, object], *uses: Callable[[Store], object]
    ) -> None:
        """Use a store opened so; its errors are added."""
        try:
            store = SqliteStore(self._path, 0.5, **how)  # type: ignore[arg-type]  # of one dict
        except StoreError as error:
            errors.append(_one_sentence(error))
            return
        with closing(store):
            for use in uses:
                errors += _refused(use, store)


def _refused(use: Callable[[Store], object], store: Store) -> list[StoreError]:
    try:
        use(store)
    except StoreError as error:
        return [_one_sentence(error)]
    return []


def _hold_named(store: Store, errors: list[StoreError]) -> None:
    """What some method calls damage `check` names."""
    if not store.check():
        damage = [error.__cause__ for error in errors if isinstance(error, StoreDamaged)]
        _hold(not damage, f"check finds nothing, and reading finds {damage}")


def _one_sentence(error: StoreError) -> StoreError:
    _hold("\n" not in str(error) and str(error).startswith("store "), f"no sentence: {error}")
    return error


def _hold(holds: bool, rule: str) -> None:
    if not holds:
        raise AssertionError(rule)


def _all_seen(view: View) -> tuple[Action, int]:
    found = [
        view.same_key(),
        *view.near("content", 8),
        *view.near("structure", 8),
        *view.same("digest"),
    ]
    view.repeated_text("a.example")
    return Action.SKIP, len(found)


# --- sound stores


def _copied(folder: Path, logged: int) -> Files:
    """A store's files when it is closed, or as a killed crawl leaves them."""
    path, copy = folder / f"{logged}.sqlite", folder / "copy"
    with SqliteStore(path, tentative=True) as store:
        store.stamp(stamp_for(Options()))
        for number in range(PAGES):
            page = _page(number)
            store.settle(page, lambda _: (Action.KEEP, None))
            if number % 3:
                store.confirm("", page.url)
        store.keep_texts(PageText("", f"http://a.example/{n}", "t", "te " * n, n) for n in range(9))
        store.put_repeated_text("", "a.example", bytes(range(64)))
        if logged:
            store._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            store.insert_many(_page(number) for number in range(PAGES, PAGES + 30))
            files = _read_files(path, copy)
    return files if logged else _read_files(path, copy)


def _read_files(path: Path, copy: Path) -> Files:
    files = {}
    for suffix in SUFFIXES:
        with suppress(FileNotFoundError):
            shutil.copy(f"{path}{suffix}", copy)
            files[suffix] = bytearray(copy.read_bytes())
    return files


def _page(number: int) -> StoredPage:
    value = number * 0x9E37_79B9_7F4A_7C15_9E37_79B9_7F4A_7C15 % (1 << 64)
    page = StoredPage(
        url=f"http://a.example/{number}",
        namespace="",
        site="a.example",
        content=value,
        structure=value % 5,
        sketch=value,
        digest=None,
        first_seen=1_000,
        seen_at=1_000 + number,
        article=number,
        sample=bytes(388),
    )
    return replace(page, content=None, digest=bytes(8)) if number % 7 == 0 else page


# --- damage


def _flipped(chance: random.Random, files: Files) -> None:
    data = files[chance.choice(list(files))]
    for place in chance.choices(range(len(data)), k=chance.choice([1, 5, 50])) if data else ():
        data[place] ^= 1 << chance.randrange(8)


def _header_changed(chance: random.Random, files: Files) -> None:
    data = files[chance.choice(list(files))]
    for place in chance.choices(range(min(100, len(data))), k=2) if data else ():
        data[place] = chance.randrange(256)


def _truncated(chance: random.Random, files: Files) -> None:
    data = files[chance.choice(list(files))]
    del data[chance.choice([0, chance.randrange(len(data) + 1), len(data) // 8192 * 4096]) :]


def _extended(chance: random.Random, files: Files) -> None:
    files[""] += chance.randbytes(chance.choice([1, 4_096, 10_000]))


def _pages_changed(chance: random.Random, files: Files) -> None:
    """Two pages of SQLite's swapped, or one copied, emptied or overwritten."""
    data = files[""]
    last = len(data) // 4_096
    if last < 3:
        return
    one, two = (4_096 * number for number in chance.sample(range(last), 2))
    here, there = bytes(data[one : one + 4_096]), bytes(data[two : two + 4_096])
    data[one : one + 4_096] = chance.choice([there, bytes(4_096), chance.randbytes(4_096)])
    if chance.random() < 0.5:
        data[two : two + 4_096] = here


def _beside(chance: random.Random, files: Files) -> None:
    """A log, its index or a journal that is garbage, of another time, or gone."""
    suffix = chance.choice(SUFFIXES[1:])
    noise = chance.randbytes(chance.choice([0, 32, 5_000]))
    files[suffix] = bytearray(chance.choice([noise, bytes(40_000), bytes(files[""][:9_000])]))
    if chance.random() < 0.3:
        del files[suffix]


def _other_values(chance: random.Random, files: Files) -> None:
    table = chance.choice([*_COLUMNS, *["page"] * 5])
    column, value = chance.choice(_COLUMNS[table]), chance.choice(_VALUES)
    row = chance.choice(["", f" WHERE rowid = {chance.randrange(1, PAGES)}"])
    row = "" if table in ("repeated_text", "meta", "packed_values") else row
    _edited(files, f"UPDATE OR IGNORE {table} SET {column} = {value}{row}")


def _other_stamp(chance: random.Random, files: Files) -> None:
    name, value = chance.choice(["made_with", "last_id"]), chance.choice([*_STAMPS, str(2**63 - 1)])
    _edited(files, f"REPLACE INTO meta VALUES ('{name}', '{value}')")


def _other_tables(chance: random.Random, files: Files) -> None:
    table = chance.choice(list(_COLUMNS))
    _edited(
        files,
        chance.choice(
            [
                f"DROP TABLE {table}",
                f"ALTER TABLE {table} RENAME TO other",
                f"DROP TABLE {table}; CREATE TABLE {table} (id TEXT, name, value)",
                f"DROP TABLE {table}; CREATE VIEW {table} AS SELECT 1 AS id, 'a' AS url",
                f"CREATE TRIGGER no BEFORE INSERT ON {table} BEGIN SELECT RAISE(FAIL, '{{}}'); END",
                "DROP INDEX page_by_url",
                "DROP TRIGGER newest_page_removed",
                "DELETE FROM meta",
                f"PRAGMA user_version = {chance.choice([0, -1, 2, 99])}",
                f"PRAGMA application_id = {chance.choice([0, 7])}",
                "UPDATE page SET id = -id",
                f"UPDATE page SET id = id + {1 << 32}",
                f"UPDATE page SET url = CAST(x'{chance.randbytes(9).hex()}' AS TEXT)",
                "PRAGMA journal_mode = DELETE",
            ]
        ),
    )


def _foreign(chance: random.Random, files: Files) -> None:
    """Another program's database, with our names in it."""
    files.clear()
    files[""] = bytearray()
    mark = chance.choice([APPLICATION_ID, 0])
    columns = ", ".join(chance.sample(_COLUMNS["page"], 5))
    _edited(
        files,
        f"PRAGMA encoding = '{chance.choice(['UTF-8', 'UTF-16'])}'; CREATE TABLE page ({columns});"
        f"CREATE TABLE meta (name, value); PRAGMA application_id = {mark};"
        f"PRAGMA user_version = {chance.choice([0, 1])};"
        f"INSERT INTO meta VALUES ('made_with', {json.dumps(chance.choice(_STAMPS))!r})",
    )


def _edited(files: Files, statements: str) -> None:
    """Change a store as any program can; what is no database any more stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        path, data = Path(folder, "edited"), bytes(files[""])
        # Bytes 18 and 19 say whether there is a write-ahead log.
        path.write_bytes(data[:18] + b"\1\1" + data[20:] if data else b"")
        with (
            suppress(sqlite3.Error, UnicodeDecodeError),
            closing(sqlite3.connect(path, isolation_level=None)) as shell,
        ):
            shell.executescript(f"PRAGMA synchronous = OFF; {statements}")
        changed = bytearray(path.read_bytes())
        if data:
            changed[18:20] = data[18:20]
        files[""] = changed


_DAMAGES: list[Callable[[random.Random, Files], None]] = [
    *(_flipped, _flipped, _header_changed, _truncated, _extended, _pages_changed, _beside),
    *(_other_values, _other_values, _other_stamp, _other_tables, _foreign),
]

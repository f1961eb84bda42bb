"""The SQLite store: restarts, other processes, files that are not its own, disks that fail."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zlib
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simhash_pipeline.errors import StoreDamaged, StoreError, StoreMismatch
from simhash_pipeline.stores.contract import (
    Action,
    PageText,
    StoredPage,
    View,
    Visit,
    visit_key,
)
from simhash_pipeline.stores.opening import open_store, why_absent
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.forked import PROCESSES
from tests.read_only import read_only
from tests.stores.pages import FAR, keep, near_content, page, seen, spread, unless_near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.synchronize import Barrier

PAIRS = 400
NOBODY = 65_534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pages.sqlite"


def filled(path: Path, pages: int = 3) -> None:
    with SqliteStore(path) as store:
        store.stamp({"bits": 64})
        keep(store, *(page(str(number), spread(number)) for number in range(pages)))


def refusal(path: Path, use: Callable[[SqliteStore], object] = lambda store: None) -> str:
    """The error when the store is opened and used; the file must be as it was before."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError) as refused, SqliteStore(path, busy_timeout_secs=0.05) as store:
        use(store)
    assert str(path) in str(refused.value)
    assert before is None or path.read_bytes() == before
    return str(refused.value)


def damage(path: Path) -> list[str]:
    """What a check names, or what kept the store from being opened."""
    try:
        with SqliteStore(path) as store:
            return store.check()
    except StoreDamaged as error:
        return [str(error.__cause__)]


@contextmanager
def no_commit(store: SqliteStore) -> Iterator[None]:
    """Each COMMIT fails."""

    def allow(action: int, what: str | None, *_: object) -> int:
        refused = action == sqlite3.SQLITE_TRANSACTION and what == "COMMIT"
        return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK

    store._connection.set_authorizer(allow)
    try:
        yield
    finally:
        store._connection.set_authorizer(lambda *_: sqlite3.SQLITE_OK)


# --- restart -----------------------------------------------------------------------------------


def test_a_reopened_store_has_its_pages_and_its_stamp(path: Path) -> None:
    with SqliteStore(path) as store:
        store.stamp({"bits": 32, "hash": "murmur3"})
        keep(store, page("a", (1 << 32) - 1), page("b", 0, 7))
        kept = list(store.pages())
    with SqliteStore(path) as store:
        assert list(store.pages()) == kept
        assert near_content(store, (1 << 32) - 2) == [("a", 1)]
        store.stamp({"hash": "murmur3", "bits": 32})
        with pytest.raises(StoreMismatch, match="'murmur3'"):
            store.stamp({"hash": "fnv1a", "bits": 32})


def test_a_store_opened_before_another_stamped_and_filled_it_reads_it(path: Path) -> None:
    with SqliteStore(path) as early, SqliteStore(path) as late, SqliteStore(path) as other:
        other.stamp({"bits": 32})
        keep(other, page("a", (1 << 32) - 1))
        with pytest.raises(StoreMismatch, match="bits 32 "):
            early.stamp({"bits": 64})
        early.stamp({"bits": 32})
        assert near_content(early, (1 << 32) - 1) == [("a", 0)]
        assert near_content(late, (1 << 32) - 1) == [("a", 0)]


def test_a_stamp_that_is_rolled_back_binds_nobody(path: Path) -> None:
    with SqliteStore(path) as store, SqliteStore(path) as other:
        with no_commit(store), pytest.raises(StoreError, match="not authorized"):
            store.stamp({"bits": 64})
        other.stamp({"bits": 32})
        keep(other, page("a", (1 << 32) - 1))
        assert near_content(store, (1 << 32) - 1) == [("a", 0)]


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    filled(path)
    with SqliteStore(path) as store:
        assert len(store) == 3


def test_more_pages_than_are_read_at_once_open_as_they_were_kept(path: Path) -> None:
    rng = random.Random(3)
    values = [rng.getrandbits(64) if number % 4 else 42 for number in range(30_000)]
    with SqliteStore(path) as store:
        store.insert_many(page(str(number), value) for number, value in enumerate(values))
    with SqliteStore(path) as store:
        for number in (1, 20_001, 28_669, 28_670, 28_671, 28_673, 29_999):
            assert near_content(store, values[number] ^ 7) == [(str(number), 3)]
            assert seen(store, page(str(number)))["same key"] == [(str(number), 1_000)]
        assert near_content(store, 42)[:2] == [("0", 0), ("4", 0)]
        assert len(near_content(store, 42)) == 7_500
        assert seen(store, page("30000"))["same key"] == []


@pytest.fixture(scope="module")
def packed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "pages.sqlite"
    with SqliteStore(path) as store:
        digests = [n.to_bytes(8, "big") if n % 2 else bytes(8) for n in range(10_000)]
        store.insert_many(page(str(n), n << 8, digest=digests[n]) for n in range(10_000))
    return path


@pytest.fixture
def packed(packed_once: Path, path: Path) -> Path:
    """A store whose first 8,191 pages have packed values; the even ones have one digest."""
    shutil.copy(packed_once, path)
    return path


def found_again(path: Path) -> list[list[tuple[str, int]]]:
    """By content and digest: pages of either chunk of packed values, and one behind them."""
    with SqliteStore(path, tentative=True) as store:
        asked = (page("asking", n << 8, digest=n.to_bytes(8, "big")) for n in (1, 8_189, 9_001))
        found = [seen(store, one, 0) for one in asked]
        even = seen(store, page("asking", digest=bytes(8)))["digest"]
    return [one[column] for one in found for column in ("content", "digest")] + [even]


FOUND = [[(str(n), 0)] for n in (1, 1, 8_189, 8_189, 9_001, 9_001)]
EVEN = [(str(n), 0) for n in range(0, 10_000, 2)]


def test_packed_values_are_found_like_others(packed: Path) -> None:
    assert found_again(packed) == [*FOUND, EVEN]
    assert damage(packed) == []


@pytest.mark.parametrize(
    "loss", ["DELETE FROM packed_values", "UPDATE packed_values SET chunk = 1.5"]
)
@pytest.mark.parametrize("name", ["content", "digest"])
def test_missing_packed_values_are_read_from_the_pages(packed: Path, name: str, loss: str) -> None:
    with closing(sqlite3.connect(packed, isolation_level=None)) as shell:
        shell.execute(f"{loss} WHERE name = ? AND chunk = 1", (name,))
    assert found_again(packed) == [*FOUND, EVEN]
    assert damage(packed) == [f"malformed chunk 1 of packed values {name}"]


@pytest.mark.parametrize(
    ("name", "packed_values", "fault"),
    [
        ("content", "zeroblob(10)", "malformed chunk 1 of packed values content"),
        ("content", "x'00'", "malformed column content of table page: "),
        ("digest", "'text'", "malformed column digest of table page: "),
        ("structure", "'text'", "malformed chunk 1 of packed values structure"),
        ("structure", "7", "malformed chunk 1 of packed values structure"),
    ],
)
def test_damaged_packed_values_are_reported(
    packed: Path, name: str, packed_values: str, fault: str
) -> None:
    with closing(sqlite3.connect(packed, isolation_level=None)) as shell:
        statement = f"UPDATE packed_values SET packed = {packed_values}"
        shell.execute(f"{statement} WHERE name = '{name}' AND chunk = 1")
    assert [found[: len(fault)] for found in damage(packed)] == [fault]


@pytest.mark.parametrize("name", ["content", "digest"])
def test_packed_values_that_their_page_has_not_find_nothing(packed: Path, name: str) -> None:
    """A check reports them; those of pages that have gone are no harm."""
    with SqliteStore(packed) as store:
        store.forget("", "7")
    assert damage(packed) == []
    with closing(sqlite3.connect(packed, isolation_level=None)) as shell:
        statement = "UPDATE packed_values SET packed = CAST(packed || ? AS BLOB)"
        pair = struct.pack("<HQ", 1, 8)
        shell.execute(f"{statement} WHERE name = ? AND chunk = 0", (pair, name))
    assert damage(packed) == [f"malformed chunk 0 of packed values {name}"]
    with SqliteStore(packed) as store:
        assert seen(store, page("asking", 8, digest=(8).to_bytes(8, "big")), 0)[name] == []


def test_packed_values_of_pages_that_have_expired_go_too(packed: Path) -> None:
    with SqliteStore(packed) as store:
        assert store.expire(2_000) == 10_000
    with closing(sqlite3.connect(packed)) as shell:
        held = shell.execute("SELECT sum(length(packed)) FROM packed_values").fetchone()
    assert held == (0,)


def test_packed_values_of_pages_that_have_gone_go_too(packed: Path) -> None:
    """When the next crawl begins, once most have gone: nothing that it reads grows for ever."""
    held = []
    for first, last in ((0, 5_900), (5_900, 6_000)):
        with SqliteStore(packed) as store:
            for n in range(first, last):
                store.forget("", str(n))
        with SqliteStore(packed, tentative=True) as store:
            keep(store, page("tentative"))
        with closing(sqlite3.connect(packed)) as shell:
            held += shell.execute("SELECT sum(length(packed)) FROM packed_values").fetchone()
    assert held == [2 * 10 * 8_191, 2 * 10 * 2_191]
    assert found_again(packed)[2:6] == FOUND[2:]
    assert damage(packed) == []


def test_the_shell_shows_fingerprints_in_hexadecimal(path: Path) -> None:
    with SqliteStore(path) as store:
        keep(store, page("a", (1 << 64) - 1, None, sketch=255, seen_at=0.0), page("b", None, 0))
    with closing(sqlite3.connect(path)) as shell:
        assert shell.execute("SELECT content, structure FROM page ORDER BY id").fetchall() == [
            (-1, None),
            (None, 0),
        ]
        hexadecimal = "SELECT site, content, structure, sketch, digest, seen_at FROM page_hex"
        assert shell.execute(hexadecimal).fetchall() == [
            ("example.org", "f" * 16, None, "0" * 30 + "ff", None, "1970-01-01 00:00:00"),
            ("example.org", None, "0" * 16, None, None, "1970-01-01 00:16:40"),
        ]


# --- other processes ---------------------------------------------------------------------------


def settle_pairs(path: Path, bit: int, start: Barrier) -> None:
    start.wait()
    with SqliteStore(path) as store:
        store.stamp({"bits": 64})
        for number in range(PAIRS):
            store.settle(page(f"{number} {bit}", spread(number) ^ 1 << bit), unless_near)


def test_of_near_twins_settled_by_four_processes_exactly_one_is_kept(path: Path) -> None:
    start = PROCESSES.Barrier(4)
    writers = [PROCESSES.Process(target=settle_pairs, args=(path, bit, start)) for bit in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]
    with SqliteStore(path) as store:
        kept = sorted(int(kept.url.split()[0]) for kept in store.pages())
    assert kept == list(range(PAIRS))


def test_what_another_store_changes_in_the_file_is_seen_at_once(path: Path) -> None:
    with SqliteStore(path) as one, SqliteStore(path) as other:
        keep(one, page("a", 0))
        assert near_content(other, 0) == [("a", 0)]
        other.forget("", "a")
        keep(other, page("b", 1))
        assert near_content(one, 0) == [("b", 1)]
        keep(one, page("b", FAR))
        assert near_content(other, 0) == []
        assert near_content(other, FAR) == [("b", 0)]


def test_many_pages_of_another_process_are_read_packed(path: Path) -> None:
    """In half a second for a million; one by one they would take three."""
    with SqliteStore(path) as one, SqliteStore(path) as other:
        keep(one, page("a", 1 << 60))
        other.insert_many(page(str(n), n << 8) for n in range(25_000))
        assert near_content(one, 24_999 << 8, 0) == [("24999", 0)]
        assert near_content(one, 1 << 60, 0) == [("a", 0)]
        keep(one, page("b", 1 << 61))
        assert near_content(other, 1 << 61, 0) == [("b", 0)]


def test_a_lock_held_too_long_is_reported_and_passes(path: Path) -> None:
    filled(path)
    with SqliteStore(path, busy_timeout_secs=0.05) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"another process has been writing .* 0\.05 sec"):
                keep(store, page("late", FAR))
        keep(store, page("late", FAR))
        assert near_content(store, FAR) == [("late", 0)]


def test_a_process_that_dies_with_the_write_lock_does_not_block_the_others(path: Path) -> None:
    filled(path)
    with (
        SqliteStore(path, busy_timeout_secs=0.05) as store,
        subprocess.Popen(
            [sys.executable, "-c", HOLD_THE_LOCK, str(path)], stdout=subprocess.PIPE
        ) as holder,
    ):
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreError, match="another process has been writing"):
            keep(store, page("waiting", FAR))
        holder.kill()
        holder.wait()
        keep(store, page("after", FAR))
        assert near_content(store, FAR) == [("after", 0)]
        assert store.check() == []


HOLD_THE_LOCK = """
import pathlib, sys, time
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.stores.pages import page
def decide(view):
    print("holding", flush=True)
    time.sleep(60)
SqliteStore(pathlib.Path(sys.argv[1])).settle(page("never", 0), decide)
"""


def test_a_writer_killed_fifty_times_loses_nothing_it_acknowledged(path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILL_FIFTY_TIMES, str(path)], stdout=subprocess.PIPE, check=True
    )
    acknowledged: list[list[int]] = json.loads(killed.stdout)
    assert len(acknowledged) == 50
    with SqliteStore(path) as store:
        assert store.check() == []
        kept = [int(kept.url) for kept in store.pages()]
        assert len(kept) == len(set(kept))
        assert set(kept) >= {number for each in acknowledged for number in each}
        assert len(kept) <= sum(map(len, acknowledged)) + 50
        for number in kept[::7]:
            assert near_content(store, spread(number) ^ 7) == [(str(number), 3)]


# Forked, because 50 interpreters take half a minute to start; each opens the store for itself.
KILL_FIFTY_TIMES = """
import itertools, json, os, pathlib, random, signal, sys, time
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.stores.pages import keep, page, spread
random.seed(1)
acknowledged = []
for turn in range(50):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        store = SqliteStore(pathlib.Path(sys.argv[1]))
        for number in itertools.count(turn * 1_000_000):
            keep(store, page(str(number), spread(number)))
            os.write(write, number.to_bytes(4, "big"))
    os.close(write)
    time.sleep(random.uniform(0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as told:
        said = told.read()
    acknowledged.append([int.from_bytes(said[n : n + 4], "big") for n in range(0, len(said), 4)])
print(json.dumps(acknowledged))
"""


def test_a_killed_writer_loses_nothing_it_acknowledged(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ACKNOWLEDGE, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        acknowledged = [next(writer.stdout).strip() for _ in range(300)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
    with SqliteStore(path) as store:
        kept = [kept.url for kept in store.pages()]
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) <= len(acknowledged) + 1
        assert all(near_content(store, spread(int(url))) == [(url, 0)] for url in kept[-20:])
    with closing(sqlite3.connect(path)) as shell:
        assert shell.execute("PRAGMA quick_check").fetchall() == [("ok",)]


ACKNOWLEDGE = """
import itertools, pathlib, sys
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.stores.pages import keep, page, spread
store = SqliteStore(pathlib.Path(sys.argv[1]))
for number in itertools.count():
    keep(store, page(str(number), spread(number)))
    print(number, flush=True)
"""


def test_a_writer_killed_while_the_log_is_copied_into_the_file_loses_nothing(
    path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "killed.sqlite"
    with SqliteStore(path) as store:
        keep(store, *(page(str(number), spread(number)) for number in range(200)))
        (page_count,) = store._connection.execute("PRAGMA page_count").fetchone()
        half_copied = bytearray(path.read_bytes())
        half_copied[28:32] = page_count.to_bytes(4, "big")  # the first page is copied first
        assert len(half_copied) < page_count * 2_048
        copy.write_bytes(half_copied)
        Path(f"{copy}-wal").write_bytes(Path(f"{path}-wal").read_bytes())
    with SqliteStore(copy) as store:
        assert [kept.url for kept in store.pages()] == [str(number) for number in range(200)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_store_carried_over_a_fork_says_so(path: Path) -> None:
    forked = subprocess.run(
        [sys.executable, "-c", FORK, str(path)], stdout=subprocess.PIPE, text=True, check=True
    )
    assert "was opened by process" in forked.stdout
    assert "open it again in each process" in forked.stdout


FORK = """
import os, pathlib, sys
from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
store = SqliteStore(pathlib.Path(sys.argv[1]))
if os.fork():
    os.wait()
else:
    try:
        len(store)
    except StoreError as error:
        print(error, flush=True)
    os._exit(0)
"""


# --- files that are not its own ----------------------------------------------------------------


@pytest.mark.parametrize("content", [b"not a database, " * 600, bytes(8_192)])
def test_a_file_that_is_not_sqlite_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "not an SQLite database" in refusal(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_another_programs_database_is_refused_and_left_alone(path: Path, journal: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode = {journal}")
        other.execute("CREATE TABLE page (id, url)")
    assert "was not made by simhash-pipeline, and was left as it is" in refusal(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_newer_format_is_refused_with_both_numbers(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
    assert "has format 99, and this version of simhash-pipeline knows formats up to 1" in refusal(
        path
    )


def test_a_directory_is_refused(path: Path) -> None:
    path.mkdir()
    assert "is a directory; name a file in it" in refusal(path)


@pytest.mark.skipif(os.name == "nt", reason="such files need a right of their own there")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pipe", "is not an ordinary file"),
        ("circle", "can't be opened"),
        ("circle/pages.sqlite", "can't be opened"),
        ("file/pages.sqlite", "can't be opened"),
        ("x" * 300, "can't be opened"),
        ("a\0b", "can't be opened"),
        ("hidden/pages.sqlite", "can't be opened"),
    ],
)
def test_a_path_that_no_store_can_have_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "file").write_text("a text")
    (tmp_path / "hidden").mkdir()
    with read_only(tmp_path):
        (tmp_path / "hidden").chmod(0)
        with pytest.raises(StoreError, match=reason):
            SqliteStore(tmp_path / name)
        why = why_absent(f"sqlite:///{tmp_path / name}")
        assert why is not None
        assert why.startswith("there is no store at")


def test_a_new_file_has_small_blocks(path: Path) -> None:
    """Each kept page changes four blocks, which are written as a whole."""
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as shell:
        assert shell.execute("PRAGMA page_size").fetchone() == (2_048,)


def test_a_missing_directory_is_made_and_one_that_is_a_file_is_refused(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "a" / "b" / "pages.sqlite").close()
    (tmp_path / "file").touch()
    assert "name a file in a directory" in refusal(tmp_path / "file" / "pages.sqlite")


def test_damaged_pages_are_reported_and_left_alone(path: Path) -> None:
    filled(path, 200)
    whole = path.read_bytes()
    path.write_bytes(whole[:2_048] + b"\xa5" * (len(whole) - 2_048))
    assert "is damaged; restore a copy, or move it away" in refusal(path, lambda s: s.stamp({}))


def test_damage_in_one_page_is_reported_when_a_look_up_meets_it(path: Path) -> None:
    filled(path, 200)
    with closing(sqlite3.connect(path)) as shell:
        (root,) = shell.execute("SELECT rootpage FROM sqlite_master WHERE name = 'page'").fetchone()
    damaged = bytearray(path.read_bytes())
    damaged[(root - 1) * 2_048 : root * 2_048] = b"\xa5" * 2_048
    path.write_bytes(damaged)
    assert "is damaged" in refusal(path, lambda store: seen(store, page("1", 0)))


def test_a_check_reports_what_is_damaged_and_repairs_nothing(path: Path) -> None:
    filled(path, 200)
    with closing(sqlite3.connect(path)) as shell:
        (root,) = shell.execute("SELECT rootpage FROM sqlite_master WHERE name = 'page'").fetchone()
    damaged = bytearray(path.read_bytes())
    damaged[root * 2_048 - 100 : root * 2_048] = b"\xa5" * 100
    path.write_bytes(damaged)
    with SqliteStore(path) as store:
        complaints = store.check()
    assert complaints
    assert all(isinstance(complaint, str) for complaint in complaints)
    assert path.read_bytes() == damaged


def test_an_error_of_sqlite_with_a_brace_in_it_is_reported_as_it_is(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as shell:
        shell.execute(
            "CREATE TRIGGER no BEFORE INSERT ON page BEGIN SELECT RAISE(ABORT, 'no {pages}'); END"
        )
    with SqliteStore(path) as store:
        with pytest.raises(StoreError, match=r"pages\.sqlite: no \{pages\}$"):
            keep(store, page("new", FAR))
        assert len(store) == 3


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE page SET content = 'text' WHERE id = 2", "malformed row 2 of table page"),
        ("UPDATE page SET url = x'00' WHERE id = 2", "malformed row 2 of table page"),
        ("UPDATE page SET first_seen = 'May'", "malformed row 1 of table page"),
        ("UPDATE page SET id = id + (1 << 32)", "malformed newest id 4294967299"),
        ("UPDATE page SET id = -id", "malformed row -3 of table page"),
        ("UPDATE meta SET value = '[]'", "malformed stamp: Expected `object | null`, got `array`"),
        ("UPDATE text SET packed = 'text'", "malformed row 1 of table text"),
        ("UPDATE text SET packed = x'00'", "malformed row 1 of table text: Error -5 while"),
        ("UPDATE repeated_text SET templates = 7", "malformed row '' of table repeated_text"),
        ("UPDATE visit SET said = 7", "malformed row "),
        ("DROP TABLE run", "no TABLE run"),
        ("DROP INDEX page_by_url", "no INDEX page_by_url"),
    ],
)
def test_what_no_store_has_written_is_damage_that_a_check_names(
    path: Path, statement: str, fault: str
) -> None:
    filled(path)
    with SqliteStore(path) as store:
        store.keep_texts([PageText("", "0", "a title", "a text", 0.0)])
        store.put_repeated_text("", "example.org", b"1234")
        store.put_visits([Visit("", visit_key("", "0"), b"12345678", 0.0)])
    with closing(sqlite3.connect(path, isolation_level=None)) as shell:
        shell.execute(statement)
    assert [found[: len(fault)] for found in damage(path)] == [fault]


def test_a_run_of_a_foreign_table_names_no_file_to_be_removed(path: Path) -> None:
    filled(path)
    victim = path.with_name("victim")
    victim.touch()
    (path.parent / f"{path.name}-run").mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as shell:
        shell.execute("DROP TABLE run")
        shell.execute("CREATE TABLE run (id TEXT, after_page INTEGER)")
        shell.execute("INSERT INTO run VALUES ('/../victim', 0)")
    with SqliteStore(path, tentative=True) as store:
        keep(store, page("new", FAR))
    assert victim.exists()


@pytest.mark.parametrize(
    ("statement", "is_damage"),
    [
        ("DELETE FROM run", False),
        ("UPDATE run SET after_page = 9", False),
        ("UPDATE page SET run = 'text'", True),
    ],
)
def test_a_page_of_an_unknown_run_is_gone_or_damage(
    path: Path, statement: str, is_damage: bool
) -> None:
    """Who meets a page whose run is not there, or is no number, does not look for it for ever."""
    store = SqliteStore(path, tentative=True)
    keep(store, page("dead", 0))
    shutil.copy(path, copy := path.with_name("copy.sqlite"))
    shutil.copy(f"{path}-wal", f"{copy}-wal")
    store.close()
    with closing(sqlite3.connect(copy, isolation_level=None)) as shell:
        shell.execute(statement)
    looks = []

    def look(view: View) -> tuple[Action, None]:
        looks.append(view)
        assert len(looks) < 9
        assert not any(view.is_unconfirmed(near) for near, _ in view.near("content", 0))
        return Action.SKIP, None

    with SqliteStore(copy) as store:
        with pytest.raises(StoreDamaged, match="is damaged") if is_damage else nullcontext():
            store.settle(page("new", 0), look)
        assert len(store) == is_damage


# --- disks that fail ---------------------------------------------------------------------------


@contextmanager
def unprivileged() -> Iterator[Path]:
    """A directory that can be entered by everybody, and no rights to more."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        filled(directory / "pages.sqlite")
        (directory / "pages.sqlite").chmod(0o444)
        directory.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(NOBODY)
        try:
            yield directory
        finally:
            os.seteuid(os.getuid())
            directory.chmod(0o755)


def test_a_read_only_file_is_refused_at_opening() -> None:
    with unprivileged() as directory:
        message = refusal(directory / "pages.sqlite")
        assert "to the file and its directory, or name another" in message


def test_a_directory_that_cannot_be_written_is_refused_at_opening() -> None:
    with unprivileged() as directory:
        assert "or name another file" in refusal(directory / "new.sqlite")
        assert "name a file in a directory that" in refusal(directory / "new" / "pages.sqlite")


def test_a_file_that_cannot_be_read_is_refused() -> None:
    with unprivileged() as directory:
        os.seteuid(os.getuid())
        (directory / "pages.sqlite").chmod(0)
        if os.getuid() == 0:
            os.seteuid(NOBODY)
        with pytest.raises(StoreError, match="can't be opened; allow reading and writing"):
            SqliteStore(directory / "pages.sqlite")


@pytest.mark.parametrize("mode", [0o555, 0o755])
def test_a_file_that_cannot_be_written_is_refused_and_gets_no_log(path: Path, mode: int) -> None:
    """In a folder that can't be written, and in one that can."""
    filled(path)
    with read_only(path.parent):
        path.parent.chmod(mode)
        assert "it can't be written; allow writing to the file and its directory" in refusal(path)
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    with SqliteStore(path) as store:
        assert len(store) == 3


def test_a_full_disk_stops_the_crawl_and_the_store_is_intact(path: Path) -> None:
    filled(path)
    with SqliteStore(path) as store:
        keep(store, page("before", FAR))
        connection = store._connection
        (pages_now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages_now}")
        with pytest.raises(StoreError, match="the disk is full; free some space"):
            keep(store, *(page("x" * 500 + str(n), spread(n)) for n in range(100, 200)))
        kept = {kept.url for kept in store.pages()}
        lost = next(n for n in range(100, 200) if "x" * 500 + str(n) not in kept)
        assert near_content(store, spread(lost)) == []
        connection.execute("PRAGMA max_page_count = 100000")
        keep(store, page("after", spread(lost)))
        assert near_content(store, spread(lost)) == [("after", 0)]


def test_a_write_that_fails_half_way_leaves_the_file_and_the_memory_agreed(path: Path) -> None:
    failing = subprocess.run(
        [sys.executable, "-c", FILE_TOO_LARGE, str(path)], stdout=subprocess.PIPE, check=True
    )
    told = json.loads(failing.stdout)
    assert "the disk can't be read or written" in told["message"]
    assert told["near the failed page"] == []
    assert told["kept again"] == [["again", 0]]
    with SqliteStore(path) as store:
        kept = [kept.url for kept in store.pages()]
    assert kept == [*(str(number) for number in range(told["kept"])), "again"]
    with closing(sqlite3.connect(path)) as shell:
        assert shell.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


FILE_TOO_LARGE = """
import json, pathlib, resource, signal, sys
from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.stores.pages import keep, near_content, page, spread
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqliteStore(pathlib.Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
told = {"kept": 0}
while True:
    value = spread(told["kept"])
    try:
        keep(store, page(str(told["kept"]), value))
    except StoreError as error:
        told["message"] = str(error)
        break
    told["kept"] += 1
told["near the failed page"] = near_content(store, value)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
keep(store, page("again", value))
told["kept again"] = near_content(store, value)
store.close()
print(json.dumps(told))
"""


def test_a_batch_that_fails_is_not_remembered(path: Path) -> None:
    with SqliteStore(path) as store:
        with pytest.raises(ValueError, match="fingerprint of 64 bits"):
            store.insert_many([page("good", 5), page("bad", 1 << 64)])
        keep(store, page("b", FAR))  # has the id that "good" would have had
        assert near_content(store, 5) == []
        assert seen(store, page("good"))["same key"] == []
        assert near_content(store, FAR) == [("b", 0)]


def test_an_index_that_was_rolled_back_is_made_again(path: Path) -> None:
    def fail(view: View) -> tuple[Action, None]:
        list(view.near("structure", 3))
        raise ZeroDivisionError

    with SqliteStore(path) as store:
        keep(store, page("a", 0, 7))
        with pytest.raises(ZeroDivisionError):
            store.settle(page("b", 0, 7), fail)
        assert seen(store, page("b", 0, 7))["structure"] == [("a", 0)]


def test_calling_the_store_while_deciding_is_refused_and_stores_nothing(path: Path) -> None:
    def meddle(view: View) -> tuple[Action, int]:
        return Action.KEEP, store.expire(9e9)

    with SqliteStore(path) as store:
        keep(store, page("a", 0))
        with pytest.raises(StoreError, match="within a transaction"):
            store.settle(page("a", 1), meddle)
        assert list(store.pages()) == [page("a", 0)]


def test_a_batch_is_committed_at_its_end_and_its_pages_are_found_before(path: Path) -> None:
    with SqliteStore(path) as store, SqliteStore(path) as other:
        with store.batch():
            assert store.settle(page("a", 0), unless_near) is None
            assert store.settle(page("b", 1), unless_near) == "a"
            store.put_repeated_text("", "example.org", b"abcd")
            assert list(other.pages()) == []
        assert list(other.pages()) == [page("a", 0)]
        assert other.repeated_text("", "example.org") == b"abcd"
        assert store.settle(page("c", 2), unless_near) == "a"


def test_a_batch_that_ends_in_an_error_leaves_no_page_in_the_file_and_none_in_memory(
    path: Path,
) -> None:
    with SqliteStore(path) as store:
        keep(store, page("before", spread(5)))
        with pytest.raises(ZeroDivisionError), store.batch():  # noqa: PT012
            keep(store, page("a", 0), page("b", FAR))
            raise ZeroDivisionError
        keep(store, page("c", FAR), page("d", 0))  # have the ids that the others would have had
        assert near_content(store, 0) == [("d", 0)]
        assert near_content(store, FAR) == [("c", 0)]
        assert [kept.url for kept in store.pages()] == ["before", "c", "d"]


def test_calling_the_store_while_deciding_is_refused_in_a_batch_too(path: Path) -> None:
    def meddle(view: View) -> tuple[Action, int]:
        return Action.KEEP, store.expire(9e9)

    with SqliteStore(path) as store:
        with pytest.raises(StoreError, match="within a transaction"), store.batch():
            store.settle(page("a", 1), meddle)
        assert list(store.pages()) == []


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _replaced(path: Path) -> None:
    path.unlink()
    with open_store(f"sqlite:///{path}") as other:
        other.stamp({})


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps others from touching an open file")
@pytest.mark.parametrize("lose", [Path.unlink, _emptied, _replaced])
def test_a_store_that_vanishes_while_it_is_open_is_noticed(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    path = tmp_path / "seen.sqlite"
    store = open_store(f"sqlite:///{path}")
    keep(store, page("http://a.example/1", content=1))
    lose(path)
    gone = "was deleted, replaced or emptied while it was open"
    with pytest.raises(StoreError, match=gone):
        keep(store, page("http://a.example/2", content=2))
    with pytest.raises(StoreError, match=gone):
        len(store)
    store.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps others from touching an open file")
def test_a_store_begun_while_a_crawl_uses_a_deleted_one_here_is_refused(path: Path) -> None:
    """Both would have the lock of a first run."""
    before = SqliteStore(path, tentative=True)
    keep(before, page("a", 1))
    path.unlink()
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink()
    with SqliteStore(path, tentative=True) as store:
        with pytest.raises(StoreError, match=r"has the lock pages\.sqlite-run1, .*; end it, or"):
            keep(store, page("b", 2))
        before.close()
        keep(store, page("b", 2))
        assert [*store.pages()] == [page("b", 2)]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_a_store_with_texts_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "seen.sqlite"
    with open_store(f"sqlite:///{path}") as store:
        before = path.stat().st_mode & 0o777
        keep(store, page("http://a.example/1", content=1))
        assert path.stat().st_mode & 0o777 == before
        store.keep_texts([PageText("", "http://a.example/1", "title", "text", 1.0)])
        modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.glob("seen.sqlite*")}
    assert set(modes.values()) == {0o600}
    assert {"seen.sqlite", "seen.sqlite-wal"} <= set(modes)


def test_no_statement_reads_a_table_row_by_row_but_those_about_the_whole_store(path: Path) -> None:
    ran = dict[str, None]()
    with SqliteStore(path, tentative=True) as store:
        store._connection.set_trace_callback(ran.setdefault)
        store.stamp({"bits": 64})
        store.insert_many(
            replace(page(str(n), n % 50, spread(n)), digest=bytes(8), address=bytes(8))
            for n in range(200)
        )
        asking = replace(page("asking", 1, spread(1)), digest=bytes(8), address=bytes(8))
        seen(store, asking)
        keep(store, asking)
        store.settle(asking, lambda view: (Action.RENEW, list(view.same("address"))))
        store.confirm("", "asking")
        store.put_repeated_text("", "example.org", b"1234")
        store.repeated_text("", "example.org")
        store.keep_texts([PageText("", "asking", "A title", "A text", 1.0)])
        store.text_of("", "asking")
        store.forget("", "asking")
        assert len(list(store.pages())) == 200
        assert list(store.texts()) == []
    with closing(sqlite3.connect(path)) as connection:
        scanned = {
            " ".join(statement.split())
            for statement in ran
            if statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))
            for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
            if step.startswith("SCAN") and step != "SCAN CONSTANT ROW"
        }
    assert scanned <= {
        "SELECT 1 FROM page LIMIT 1",
        "SELECT 1 FROM text LIMIT 1",
        "SELECT CAST(id AS INTEGER) FROM run",
        "SELECT name FROM sqlite_master WHERE type = 'index'",
    }


def steps(store: SqliteStore, asking: StoredPage, *, one_site: bool) -> int:
    """How many hundreds of steps SQLite takes to find the first pages like this one."""
    taken = [0]

    def look(view: View) -> tuple[Action, None]:
        view.one_site = one_site
        found = [next(view.near("content", 3), None), next(view.same("digest"), None)]
        assert all(found) == (not one_site)
        return Action.SKIP, None

    store.settle(asking, look)  # an index may be made
    store._connection.set_progress_handler(lambda: taken.__setitem__(0, taken[0] + 1), 100)
    store.settle(asking, look)
    return taken[0]


@pytest.mark.parametrize("others", ["sites", "namespaces"])
def test_a_look_up_costs_the_same_however_many_others_have_the_page(
    path: Path, others: str
) -> None:
    """The copies of 100 other sites or namespaces, and of 3,000."""
    asking = replace(page("http://a.example/", 7, digest=b"8 bytes."), site="a.example")
    taken = []
    with SqliteStore(path) as store:
        for first, last in ((0, 100), (100, 3_000)):
            copies = (replace(asking, url=f"http://{n}.example/") for n in range(first, last))
            if others == "sites":
                made = [replace(one, site=one.url[7:-1]) for one in copies]
            else:
                made = [replace(one, namespace=one.url[7:-1]) for one in copies]
                made += [replace(asking, url=f"http://a.example/{first}")]
            store.insert_many(made)
            taken.append(steps(store, asking, one_site=others == "sites"))
    assert taken[1] <= taken[0] + 5


def test_a_row_costs_the_same_however_many_pages_have_it(path: Path) -> None:
    """The first page that gave a row is found among 100 with the row, and among 3,000."""
    taken, asking = [[0], [0]], replace(page("asking"), row_keys=b"8 bytes.")
    with SqliteStore(path) as store:
        for pages, steps_taken in zip((range(100), range(100, 3_000)), taken, strict=True):
            store.insert_many(replace(asking, url=f"{n}") for n in pages)
            store._connection.set_progress_handler(partial(steps_taken.append, 0), 100)
            found = store.settle(asking, lambda view: (Action.SKIP, next(view.same("row_keys"))))
            store._connection.set_progress_handler(None, 0)
            assert found.url == "0"
    assert len(taken[1]) <= len(taken[0]) + 5


def test_urls_of_one_crc_have_keys_of_their_own(path: Path) -> None:
    with SqliteStore(path) as store:
        keep(store, page("http://a.example/plumless"), page("http://a.example/buckeroo"))
        assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
        keys = store._connection.execute("SELECT count(DISTINCT url_hash) FROM page").fetchone()
    assert keys == (2,)


def test_a_page_that_changes_again_and_again_leaves_nothing_to_be_read(path: Path) -> None:
    one = page("http://a.example/", 7)
    with SqliteStore(path) as store:
        for _ in range(200):
            store.settle(one, lambda view: (Action.KEEP, [*view.near("content", 3)]))
        index = store._pages.index_of("content")
    assert len(index._further[7]) <= 2


def test_pages_expire_in_transactions_of_some_thousand(path: Path) -> None:
    """Others get the lock between them, and a failure undoes only the last."""
    commits = list[str]()
    with SqliteStore(path) as store:
        store.insert_many(page(str(n), spread(n), seen_at=n % 3) for n in range(12_000))
        store.keep_texts(PageText("", f"x{n}", "t", "t", n % 3) for n in range(3))
        store._connection.set_trace_callback(commits.append)
        assert store.expire(2) == 8_000
        store._connection.set_trace_callback(None)
        assert (len(store), len(list(store.texts()))) == (4_000, 1)
        assert store.expire(2) == 0
    assert commits.count("COMMIT") >= 3

"""Reads and writes the rows of a store's SQLite file, within the transactions of its owner.

Fingerprints and digests are looked up in memory:

    page                                            in memory
    ┌────┬─────┬─────────┬───────────┬─────┐        ┌──────────────────────────────┐
    │ id │ url │ content │ structure │ ... │ ─────▶ │ near -> values -> ids        │
    └────┴─────┴─────────┴───────────┴─────┘ id > n └──────────────┬───────────────┘
         ▲                                                         │ ids, oldest first
         └─────────────────────────────────────────────────────────┘

Why the answers are exact: ids only grow, and a page keeps its id and these values until it is gone
(a replaced page gets a new id), so the table is its own log; most of it is read where its values
are packed. Memory holds every committed page up to the last id that was read, and more: pages that
are gone since. It is brought up to the newest id inside the same transaction that asks, before that
writes anything, so no page is missing; and memory says only where to look: a page counts when its
row is there, so none is too many.

Raises sqlite3.Error.
"""

import heapq
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice, starmap
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from simhash_pipeline.bits import BITS, SKETCH_BITS, np, packed_bits
from simhash_pipeline.errors import START_OVER, StoreDamaged
from simhash_pipeline.index.neighbours import BLOCKS, FingerprintIndex, Near
from simhash_pipeline.stores import contract
from simhash_pipeline.stores.contract import PageText, StoredPage, Values, View, Visit
from simhash_pipeline.stores.sqlite.file import DeadRun, is_alive
from simhash_pipeline.urls import place_id

_NAMES = [one.name for one in contract.COLUMNS]
_COLUMNS = {
    "page": f"id, {', '.join(_NAMES)}",
    "text": "rowid, namespace, url, packed, kept_at",
    "visit": "key, namespace, said, seen_at",
    "repeated_text": "namespace, host, templates",
}
# A page takes 502 bytes beside its URL, some 210 of them the sample, 51 the title (`make bench`).
INSERT = f"""INSERT INTO page (id, url_hash, run, {", ".join(_NAMES)})
    VALUES (?, ?, ?{", ?" * len(_NAMES)})"""
SAME_KEY = "url_hash = ? AND url = ? AND namespace = ?"
NEWEST_ID = """SELECT max(ifnull((SELECT max(id) FROM page), 0),
    ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'last_id'), 0))"""
# By the two types that fingerprints have.
_WRONG = (f" OR typeof({name}) NOT IN ('integer', 'null')" for name in contract.NEAR_COLUMNS)
_OF_ROW = "JOIN item_row ON item_row.page = id"
WRONG_PAGE = f"SELECT id FROM page WHERE id < 1{''.join(_WRONG)} ORDER BY id LIMIT 1"
OTHERS_VERSION = "PRAGMA data_version"  # changes when another connection commits
ROWS_A_READ = 16  # after the first few: nearly always the first of several pages is enough
MOST_STRANGERS = 4  # of other namespaces or sites that are read for a value; as many rows at first
MAX_ID = (1 << 32) - 2  # what an index holds
# What the columns that are read may hold; SQLite lets any program write anything there.
_TIME, _BITS, _BYTES = (int, float), (int, bytes, type(None)), (bytes, type(None))
_KINDS = (str, int, _TIME, _BITS, _BYTES)
_TYPE_OF: dict[str, Any] = dict(zip(contract.COLUMN_TYPES, _KINDS, strict=True))
_TYPES = {
    "page": (int, *(_TYPE_OF[one.type] for one in contract.COLUMNS)),
    "text": (int, str, str, bytes, _TIME),
    "visit": (int, str, bytes, _TIME),
    "repeated_text": (str, str, bytes),
}
_values_of = attrgetter(*_NAMES)
# Columns whose pages an index finds. The address has a tree: few pages declare another than theirs.
INDEXED = (*contract.NEAR_COLUMNS, *(one for one in contract.SAME_COLUMNS if one != "address"))
# Their values lie in the file once more, packed for so many ids; those of pages that have gone may
# be among them. A process that opens it reads them in a tenth of the time that the rows take.
CHUNK = 4_096
FEW_PAGES = 20_000  # are read one by one, in the time in which numpy is imported
PAIR = struct.Struct("<HQ")  # place in the chunk, value
OF_CHUNK = f"SELECT id - ?1, {', '.join(INDEXED)} FROM page WHERE id BETWEEN ?1 AND ?1 + ?2"
_BITS_AT = [(_NAMES.index(name), bits) for name, bits in contract.COLUMN_BITS.items()]
_BYTES_AT = [at for at, one in enumerate(contract.COLUMNS) if one.type == "bytes | None"]
_URL_AT, _ADDRESS_AT = _NAMES.index("url"), _NAMES.index("address")

# Whether any row has a page's key, its address or its row: each look-up takes as long as this.
_HELD = """SELECT 'url' WHERE EXISTS (SELECT 1 FROM page WHERE url_hash = ?1)
    UNION ALL SELECT 'address' WHERE EXISTS (SELECT 1 FROM page WHERE url_hash = ?2)
    UNION ALL SELECT 'address'
        WHERE EXISTS (SELECT 1 FROM page WHERE namespace = ?3 AND address = ?4)
    UNION ALL SELECT 'row_keys' WHERE EXISTS (SELECT 1 FROM item_row WHERE row_key = ?5)"""


class Rows:
    """The pages, repeated text and texts.

    The owner holds the write lock from `catch_up` until it calls `settled` or `rolled_back`.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.cursor = connection.cursor()  # one for all saves 1 us a statement
        self.path = path  # of the file
        self.own_run: int | None = None
        self._indexes: dict[str, FingerprintIndex] = {}  # by column
        self._newest_id = self._known_id = 0  # given; in the indexes
        self._version: int | None = None  # of the file, as others had written it at `catch_up`
        self._inserted: list[tuple[int, StoredPage]] = []  # not committed, each with its id

    def catch_up(self) -> None:
        """See what other processes have written."""
        version = self.cursor.execute(OTHERS_VERSION).fetchone()[0]
        if version != self._version:  # half the time of asking for the newest id
            newest_id = self.newest_id()
            has_many = newest_id - self._known_id > max(FEW_PAGES, self._known_id // 20)
            if has_many or not self._indexes:  # structures are read when they are first asked for
                names = self._indexes or [name for name in INDEXED if name != "structure"]
                self._indexes = {name: self._read_index(name, newest_id) for name in names}
            elif newest_id > self._known_id:
                self._read_new()
            self._known_id = self._newest_id = newest_id
            self._version = version

    def _read_new(self) -> None:
        statement = f"SELECT id, {', '.join(self._indexes)} FROM page WHERE id > ?"
        for page_id, *values in self.cursor.execute(statement, (self._known_id,)).fetchall():
            for index, value in zip(self._indexes.values(), values, strict=True):
                if value is not None:
                    index.add(indexed(value), page_id)

    def settled(self) -> None:
        """Find the pages that were inserted: they are committed, or a batch goes on with them."""
        for number, page in self._inserted:
            for column, index in self._indexes.items():
                if (value := getattr(page, column)) is not None:
                    index.add(indexed(value), number)
        self._inserted.clear()
        self._known_id = self._newest_id

    def rolled_back(self) -> None:
        self._inserted.clear()
        self._version = None

    def newest_id(self) -> int:
        """The largest id given so far; 0 when none was."""
        newest = self.cursor.execute(NEWEST_ID).fetchone()[0]
        if not isinstance(newest, int) or not 0 <= newest < MAX_ID:
            raise malformed(f"newest id {newest!r}")
        return newest

    def index_of(self, column: str) -> FingerprintIndex:
        if column not in self._indexes:
            self._indexes[column] = self._read_index(column, self._known_id)
        return self._indexes[column]

    def _read_index(self, column: str, newest_id: int) -> FingerprintIndex:
        """Of the packed values, then the rows behind them; of all rows if a chunk is missing."""
        index = FingerprintIndex(BLOCKS if column in contract.NEAR_COLUMNS else 1)
        chunks = self.cursor.execute(
            "SELECT chunk, packed FROM packed_values WHERE name = ? ORDER BY chunk", (column,)
        ).fetchall()
        is_whole = [chunk for chunk, _ in chunks] == [*range((newest_id + 1) // CHUNK)]
        found = self.cursor.execute(
            f"SELECT id, {column} FROM page WHERE {column} IS NOT NULL AND id BETWEEN ? AND ?",
            (is_whole * len(chunks) * CHUNK, newest_id),
        )
        try:
            if is_whole:
                _load(index, [packed for _, packed in chunks])
            for page_id, value in found:
                index.add(indexed(value), page_id)
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            raise malformed(f"column {column} of table page: {error}") from error
        return index

    def sharing(self, column: str, values: Values) -> Iterator[tuple[int, StoredPage]]:
        """(id, page) of these values, oldest first, of all namespaces."""
        index, numbers = self.index_of(column), [*map(indexed, values)]
        ids, limit = heapq.merge(*map(index.numbers_of, numbers)), MOST_STRANGERS
        while chunk := list(islice(ids, limit)):
            limit = ROWS_A_READ
            marks = ", ".join("?" * len(chunk))
            found = chosen_pages(self.cursor, f"WHERE id IN ({marks}) ORDER BY id", *chunk)
            if len(found) < len(chunk):
                index.forget({*chunk}.difference(map(itemgetter(0), found)), numbers)
            yield from (one for one in found if indexed(getattr(one[1], column)) in numbers)

    def check_packed(self) -> None:
        """Raise sqlite3.DatabaseError where packed values lack a page's, or have others of it."""
        for chunk in range((self.newest_id() + 1) // CHUNK):
            statement = "SELECT name, packed FROM packed_values WHERE chunk = ?"
            stored = dict(self.cursor.execute(statement, (chunk,)).fetchall())
            rows = self._rows_of(chunk)
            places = {place for place, *_ in rows}
            for name, pairs in _pairs_of(rows):
                try:
                    packed = {*PAIR.iter_unpack(stored[name])}
                    is_whole = {*pairs} == {pair for pair in packed if pair[0] in places}
                except (KeyError, TypeError, struct.error):
                    is_whole = False
                if not is_whole:
                    raise malformed(f"chunk {chunk} of packed values {name}")

    def repeated_text(self, namespace: str, host: str) -> bytes:
        where = "WHERE namespace = ? AND host = ?"
        found = chosen(self.cursor, "repeated_text", where, namespace, host)
        return found[0][2] if found else b""

    def visits(self, condition: str, *values: object) -> list[tuple[int, Visit]]:
        """(key, visit) for those that SQL's condition picks."""
        rows = chosen(self.cursor, "visit", condition, *values)
        return [(row[0], Visit(row[1], row[0].to_bytes(8, "big"), *row[2:])) for row in rows]

    def has_any(self, table: str) -> bool:
        return self.cursor.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None

    def texts(self, condition: str, *values: object) -> list[tuple[int, PageText]]:
        """(row, text) for those that SQL's condition picks."""
        return [_numbered_text(row) for row in chosen(self.cursor, "text", condition, *values)]

    def insert(self, page: StoredPage, run: int | None = None) -> int:
        """Store the page, tentatively for a run, and return its id."""
        page_id = self._newest_id + 1
        values = [*_values_of(page)]
        for at, bits in _BITS_AT:
            values[at] = column_value(values[at], bits)
        # NULL, in no index, where a page declares its own URL's, as most do.
        is_own = page.address == place_id(page.url)
        values[_ADDRESS_AT] = None if is_own else page.address or b""
        for at in _BYTES_AT:
            if values[at] is not None:
                values[at] = bytearray(values[at])  # see column_value
        self.cursor.execute(INSERT, (page_id, _key(page.namespace, page.url)[0], run, *values))
        if page.row_keys is not None:
            self._insert_rows(page.namespace, page.url, page.row_keys)
        self._inserted.append((page_id, page))
        self._newest_id = page_id
        if (page_id + 1) % CHUNK == 0:
            self.pack(page_id // CHUNK)
        return page_id

    def pack(self, chunk: int) -> None:
        """Write the packed values of a chunk, all of whose ids have been given."""
        try:
            values = [
                (name, chunk, b"".join(starmap(PAIR.pack, pairs)))
                for name, pairs in _pairs_of(self._rows_of(chunk))
            ]
        except struct.error as error:  # an index that gives pages of other chunks
            raise StoreDamaged(f"the store's index of pages is damaged; {START_OVER}") from error
        self.cursor.executemany("INSERT OR REPLACE INTO packed_values VALUES (?, ?, ?)", values)

    def _rows_of(self, chunk: int) -> list[tuple[Any, ...]]:
        """The place in the chunk, and the values of INDEXED, of each page."""
        return self.cursor.execute(OF_CHUNK, (chunk * CHUNK, CHUNK - 1)).fetchall()

    def _insert_rows(self, namespace: str, url: str, row_keys: bytes | None) -> None:
        for key in contract.each_row_key(row_keys):
            self.cursor.execute(
                f"INSERT OR IGNORE INTO item_row SELECT ?, id FROM page WHERE {SAME_KEY}",
                (key, *_key(namespace, url)),
            )

    def renew(self, page: StoredPage) -> None:
        """Move `seen_at` of the stored page of the same key."""
        statement = f"UPDATE page SET seen_at = max(seen_at, ?) WHERE {SAME_KEY}"
        self.cursor.execute(statement, (page.seen_at, *_key(page.namespace, page.url)))

    def put_values(
        self, namespace: str, url: str, item_values: bytes, row_keys: bytes | None
    ) -> None:
        statement = f"UPDATE page SET item_values = ?, row_keys = ? WHERE {SAME_KEY}"
        self.cursor.execute(statement, (item_values, row_keys, *_key(namespace, url)))
        self._insert_rows(namespace, url, row_keys)

    def remove(self, namespace: str, url: str) -> bool:
        """Remove the page of this key; whether there was one."""
        statement = f"DELETE FROM page WHERE {SAME_KEY}"
        return self.cursor.execute(statement, _key(namespace, url)).rowcount == 1


class RowsView(View):
    """What a page is compared with, within the transaction of its owner."""

    def __init__(self, rows: Rows, page: StoredPage) -> None:
        self._rows = rows
        self._cursor = rows.cursor
        address, row = (
            each and bytearray(each[: contract.ID_SIZE]) for each in (page.address, page.row_keys)
        )
        keys = _key(page.namespace, page.url)[0], _hash(page.namespace, page.address or b"")
        values = (*keys, page.namespace, address, row)
        # Of url, address and row_keys those whose value of the page a row has, of any site.
        self._held = {name for (name,) in self._cursor.execute(_HELD, values).fetchall()}
        super().__init__(page)

    def page_of(self, url: str) -> StoredPage | None:
        if url == self._page.url and "url" not in self._held:
            return None
        found = chosen_pages(self._cursor, f"WHERE {SAME_KEY}", *_key(self._page.namespace, url))
        return found[0][1] if found else None

    def last_visit(self) -> Visit | None:
        key = contract.visit_key(self._page.namespace, self._page.url)
        found = self._rows.visits("WHERE key = ?", int.from_bytes(key, "big"))
        return found[0][1] if found else None

    def same(self, column: str) -> Iterator[StoredPage]:
        return super().same(column) if column in INDEXED or column in self._held else iter(())

    def _near_values(self, column: str, value: int, max_distance_bits: int) -> Near:
        return self._rows.index_of(column).near(value, max_distance_bits, contract.MOST_NEAR)

    def _sharing(self, column: str, values: Values, site: str | None) -> Iterator[StoredPage]:
        namespace = self._page.namespace
        if column in INDEXED:
            found = self._rows.sharing(column, values)
        elif column == "row_keys":
            row = {"row_key = ?": values[0]}
            found = pages_where(self._cursor, _OF_ROW, row, number="item_row.page")
        else:
            conditions = {"namespace = ?": namespace, "address = ?": column_value(values[0])}
            found = pages_where(self._cursor, "", conditions)
            place = {"url_hash = ?": _hash(namespace, bytes(values[0])), "address IS ?": None}
            at_it = pages_where(self._cursor, "", place)  # those at this place that declare it
            found = heapq.merge(at_it, found, key=itemgetter(0))
        strangers = 0
        for number, page in found:
            if page.namespace == namespace and site in (None, page.site):
                yield page
                continue
            strangers += column != "address"  # of one site, as a page speaks for its own alone
            if strangers == MOST_STRANGERS:
                tree = self._made_tree(column, site)
                by = {"namespace = ?": namespace} | ({} if site is None else {"site = ?": site})
                wanted = ({**by, f"{column} = ?": value} for value in map(column_value, values))
                rest = (pages_where(self._cursor, tree, each, number) for each in wanted)
                yield from map(itemgetter(1), heapq.merge(*rest, key=itemgetter(0)))
                return

    def _made_tree(self, column: str, site: str | None) -> str:
        """An index made for values that many pages of other namespaces or sites have.

        It takes some 30 bytes a page.
        """
        by, columns = ("namespace", "") if site is None else ("site", "site, ")
        tree = f"page_by_{by}_{column}"
        self._cursor.execute(
            f"""CREATE INDEX IF NOT EXISTS {tree}
                ON page (namespace, {columns}{column}) WHERE {column} IS NOT NULL"""
        )
        return f"INDEXED BY {tree}"

    def is_unconfirmed(self, found: StoredPage) -> bool:
        """As View says; DeadRun where the page's process has died."""
        statement = f"SELECT CAST(run AS INTEGER) FROM page WHERE {SAME_KEY}"
        rows = self._cursor.execute(statement, _key(found.namespace, found.url)).fetchall()
        run = rows[0][0] if rows else None
        if run is None or run == self._rows.own_run:
            return False
        if not is_alive(self._rows.path, run):
            raise DeadRun(run)
        return True

    def _read_repeated_text(self, host: str) -> bytes:
        return self._rows.repeated_text(self._page.namespace, host)


def _load(index: FingerprintIndex, chunks: list[bytes]) -> None:
    """See the pages of packed chunks, the first of which is that of the first ids."""
    if len(chunks) * CHUNK <= FEW_PAGES:
        for chunk, packed in enumerate(chunks):
            for place, value in PAIR.iter_unpack(packed):
                index.add(value, chunk * CHUNK + place)
        return
    read = [np.frombuffer(packed, "<u2, <u8") for packed in chunks]
    firsts = np.arange(len(chunks), dtype=np.uint32) * np.uint32(CHUNK)
    ids = np.repeat(firsts, [*map(len, read)]) + np.concatenate([part["f0"] for part in read])
    index.load(np.concatenate([part["f1"] for part in read]), ids)


def _numbered_text(row: Any) -> tuple[int, PageText]:
    number, namespace, url, packed, kept_at = row
    try:
        return number, contract.unpacked_text(namespace, url, packed, kept_at)
    except contract.UNREADABLE as error:
        raise malformed(f"row {number} of table text: {error}") from error


def chosen_pages(
    cursor: sqlite3.Cursor, condition: str, *values: object
) -> list[tuple[int, StoredPage]]:
    """(id, page) for those that SQL's condition picks."""
    return [_numbered_page(row) for row in chosen(cursor, "page", condition, *values)]


def chosen(cursor: sqlite3.Cursor, table: str, condition: str = "", *values: object) -> list[Any]:
    """The rows that SQL's condition picks, whose values are of the types that a store writes."""
    found = cursor.execute(f"SELECT {_COLUMNS[table]} FROM {table} {condition}", values).fetchall()
    for row in found:
        if not all(map(isinstance, row, _TYPES[table])):
            raise malformed(f"row {row[0]!r:.40} of table {table}")
    return found


def pages_where(
    cursor: sqlite3.Cursor,
    by: str,
    conditions: Mapping[str, object],
    last_id: int = 0,
    number: str = "id",
) -> Iterator[tuple[int, StoredPage]]:
    """(id, page) past the id, oldest first, a few rows at a time.

    `by` may name the index, or join a table whose column `number` has the id in its order. No read
    is left open: a half-read SELECT would outlive the transaction.
    """
    condition, limit = " AND ".join(conditions), MOST_STRANGERS
    while True:
        where = f"{by} WHERE {condition} AND {number} > ? ORDER BY {number} LIMIT ?"
        found = chosen_pages(cursor, where, *conditions.values(), last_id, limit)
        yield from found
        if len(found) < limit:
            return
        last_id, limit = later_id(found[-1][0], last_id), ROWS_A_READ


def _numbered_page(row: tuple[Any, ...]) -> tuple[int, StoredPage]:
    page_id, *values = row
    for at, _ in _BITS_AT:
        if values[at] is not None:
            values[at] = fingerprint(values[at])
    if not values[_ADDRESS_AT]:  # see `insert`
        is_own = values[_ADDRESS_AT] is None
        values[_ADDRESS_AT] = place_id(values[_URL_AT]) if is_own else None
    return page_id, StoredPage(*values)


def column_value(value: int | bytes | None, bits: int = BITS) -> int | bytearray | None:
    """A fingerprint as SQLite holds it: ffff ffff ffff ffff is -1; 128 bits are 16 bytes.

    A bytearray, because for each bytes object Python's sqlite3 looks for an adapter, 1 us long.
    ValueError when it is wider than `bits`.
    """
    if value is None:
        return None
    if isinstance(value, bytes):
        return bytearray(value)
    packed = packed_bits(value, bits)
    if bits == SKETCH_BITS:
        return bytearray(packed[::-1])
    return int.from_bytes(packed, "little", signed=True)


def _pairs_of(rows: list[tuple[Any, ...]]) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Of each column of INDEXED (place in the chunk, value) of each page."""
    for at, name in enumerate(INDEXED, 1):
        yield name, [(row[0], indexed(row[at])) for row in rows if row[at] is not None]


def fingerprint(value: object, size: int = SKETCH_BITS // 8) -> int:
    """Of what a column holds: the inverse of `column_value`, and of so many bytes their number."""
    if isinstance(value, int):
        return value & (1 << 64) - 1
    if isinstance(value, bytes) and len(value) == size:
        return int.from_bytes(value, "big")
    raise malformed(f"fingerprint {value!r:.40}")


indexed = partial(fingerprint, size=contract.ID_SIZE)  # 64 bits of any value of INDEXED


def later_id(found: int, last_id: int) -> int:
    """The last id of the rows after `last_id`; damage may put them in no order, for ever."""
    if found <= last_id:
        raise malformed(f"order of rows: {found} after {last_id}")
    return found


def malformed(what: str) -> sqlite3.DatabaseError:
    """The error for what no store has written, as SQLite's own for a damaged file."""
    return sqlite3.DatabaseError(f"malformed {what}")


@lru_cache(maxsize=1)  # used when a page is looked up, and again when it is kept
def _key(namespace: str, url: str) -> tuple[int, str, str]:
    """The values of SAME_KEY; nobody finds many URLs of one hash, as of a CRC."""
    return _hash(namespace, place_id(url)), url, namespace


def _hash(namespace: str, place: bytes) -> int:
    """64 bits, by which a URL's page is found, and what declares its place."""
    of_namespace = contract.page_id(namespace) if namespace else bytes(8)
    return int.from_bytes(place, "big", signed=True) ^ int.from_bytes(
        of_namespace, "big", signed=True
    )

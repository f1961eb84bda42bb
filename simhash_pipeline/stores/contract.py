"""What every store of kept pages offers, and what the stores have in common; pages as bytes."""

from __future__ import annotations

import enum
import re
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from simhash_pipeline.bits import hash_of, packed_bits
from simhash_pipeline.errors import StoreMismatch

if TYPE_CHECKING:
    from typing_extensions import Self

    from simhash_pipeline.index.neighbours import Near

T = TypeVar("T")
Values: TypeAlias = Sequence[int | bytes]  # of a column that pages are found by
SQLITE = "sqlite:///"  # and the path: how URLs of these stores begin
WAIT_SECS = 60  # for a server that is gone
# A parameter whose name speaks of a secret, which may hold an `&`, up to one of redis-py's own.
_SECRET_PARAMETER = re.compile(
    r"(?is)([?&][^=&]*(?:pass|pw|secret|token|auth)[^=&]*=)"
    r".*?(?=&(?:db|protocol|username|client_name|wait_secs|lost|(?:ssl|socket)_\w+)=|\Z)"
)
_SCHEME = r"\s*(?:[a-z][\w+.-]*(?:[:;]/*|//+)|(?:redis|valkey)\w*/|//+)"
_CREDENTIALS = re.compile(rf"(?is)\A({_SCHEME}).*@|\A[^/]*:.*@")
_NO_PORT = re.compile(rf"(?is)\A((?:{_SCHEME}[^:/?\[]+|\s*[^:/?\[]{{2,}}):)(?!/|\d*(?:[/?,]|\Z)).*")

# Values that a page's own is compared with, so that a look-up costs some milliseconds however many
# are near; the judge gives up after as many pages.
MOST_NEAR = 200

ID_SIZE = 8  # of a page's id, and of values that pages have in common
# Of a column: how many bytes it has, and whether pages are found by a near value or by its own.
_8, _16 = {"width": ID_SIZE}, {"width": 16}
_NEAR, _SAME = {**_8, "found_by": "near"}, {**_8, "found_by": "same"}


@dataclass(slots=True, unsafe_hash=True)
class StoredPage:
    """A kept page as it is stored: a field here is a column in all stores and in Parquet files.

    Nobody changes one. It isn't frozen, as then its fields take six times as long to set.
    """

    url: str  # the canonical key, unique within the namespace
    namespace: str  # "" by default; look-ups see only pages of one namespace
    site: str  # registered domain; "" when unknown
    content: int | None = field(metadata=_NEAR)  # None when the page is thin
    structure: int | None = field(metadata=_NEAR)
    sketch: int | None = field(metadata=_16)
    digest: bytes | None = field(metadata=_SAME)  # see PageFingerprint
    first_seen: float  # Unix seconds; whole ones take half the disk
    seen_at: float  # Unix seconds; `expire` goes by it
    # See `article_digest` in page/visible.py; None: not known.
    article: int | None = field(default=None, metadata=_8)
    given_url: str = ""  # as it first came, where that is not the key
    title: str = ""  # its first 100 characters
    heading: str = ""  # the first, if the title doesn't say it
    title_marks: int = 1  # which words of both are the page's name: see page/titles.py
    # Where words of the title stand in the text: see page/titles.py.
    title_places: bytes | None = None
    codes: str = ""  # that end short lines of its text
    # Of the address that the page declares: see urls.py.
    address: bytes | None = field(default=None, metadata=_SAME)
    # Of a page that may be an error page: see page/short_pages.py.
    error_pattern: bytes | None = field(default=None, metadata=_SAME)
    minhash: bytes | None = field(default=None, metadata=_SAME)  # see PageFingerprint
    # Of its item's text, and of what its items say beside: see item_values.py.
    item_text: bytes | None = field(default=None, metadata=_SAME)
    item_values: bytes | None = None
    item_sentences: bytes | None = None  # of its item's text
    # 8 bytes for each of its rows by which it is found: see item_values.py.
    row_keys: bytes | None = field(default=None, metadata={"found_by": "each"})
    # See specific_text.py; None when not known. It is last and longest, because SQLite reads a row
    # only up to the column it is asked for.
    sample: bytes | None = None

    @property
    def shown_url(self) -> str:
        """Its URL as it first came: what its item, logs and commands call it."""
        return self.given_url or self.url

    @property
    def host(self) -> str:
        """Host and port of its URL."""
        return self.url.partition("://")[2].partition("/")[0]

    @property
    def folder(self) -> str:
        """Host and path of its URL up to the last part."""
        return self._place.rpartition("/")[0] or self._place

    @property
    def last_part(self) -> str:
        """That of its URL's path."""
        return self._place.rpartition("/")[2]

    @property
    def _place(self) -> str:
        return self.url.partition("://")[2].partition("?")[0].rstrip("/")

    def with_sample(self, sample: bytes) -> StoredPage:
        """The same with another sample, in a fifth of `replace`'s time."""
        return StoredPage(*(*_but_sample(self), sample))


COLUMN_TYPES = ("str", "int", "float", "int | None", "bytes | None")  # the fourth has no sign
COLUMNS: tuple[Any, ...] = fields(StoredPage)  # with one of these types, and metadata as above

NEAR_COLUMNS = tuple(one.name for one in COLUMNS if one.metadata.get("found_by") == "near")
SAME_COLUMNS = tuple(one.name for one in COLUMNS if one.metadata.get("found_by") == "same")
# Of those of the fourth type, in their order.
COLUMN_BITS = {one.name: 8 * one.metadata["width"] for one in COLUMNS if one.type == "int | None"}
_but_sample = attrgetter(*[one.name for one in COLUMNS[:-1]])


@dataclass(frozen=True, slots=True)
class PageText:
    """Title and texts of a judged page, kept or dropped."""

    namespace: str
    url: str  # canonical
    title: str  # its white space collapsed
    text: str  # main text
    kept_at: float  # Unix seconds; `expire` goes by it
    left_out: str = ""  # visible text that is no main text
    item: str = ""  # its values: a line each, "name: value"


class Visit(NamedTuple):
    """What a page said when it was dropped the last time, by which its next edit is seen."""

    namespace: str
    key: bytes  # see `visit_key`
    said: bytes  # 16 bytes: see `twins.what_it_says`
    seen_at: float  # Unix seconds; `expire` goes by it


class Action(enum.Enum):
    """What `settle` does with the page after the decision."""

    KEEP = enum.auto()  # insert as the newest page, in place of a stored page of the same key
    RENEW = enum.auto()  # move only `seen_at` of the stored page of the same key, never back
    FORGET = enum.auto()  # remove the stored page of the same key
    SKIP = enum.auto()  # store nothing, change nothing


class View(ABC):
    """Stored pages like the one that is settled; valid until `decide` returns.

    All are of the same namespace, and with `one_site` of the page's own site. Iterators read the
    store only as far as they are consumed, at a cost that doesn't grow with the pages of others.
    They have the pages of the nearest 200 fingerprints but the page of the same key, and are empty
    for a page without the fingerprint.
    """

    one_site = False

    def __init__(self, page: StoredPage) -> None:
        self._page = page
        self._repeated_text: dict[str, bytes] = {}  # by host
        self._same_key = self.page_of(page.url)

    def same_key(self) -> StoredPage | None:
        """The stored page of the same URL."""
        return self._same_key

    @abstractmethod
    def page_of(self, url: str) -> StoredPage | None:
        """The stored page of this canonical URL."""

    def near(self, column: str, max_distance_bits: int) -> Iterator[tuple[StoredPage, int]]:
        """(page, distance in bits) within 0-8 bits, inclusive: nearest first, then oldest.

        By a column of `NEAR_COLUMNS`.
        """
        value: int | None = getattr(self._page, column)
        if value is None:
            return
        found = self._near_values(column, value, max_distance_bits)
        for distance, pairs in groupby(found, key=itemgetter(1)):
            for page in self._others(column, [stored for stored, _ in pairs]):
                yield page, distance

    def same(self, column: str) -> Iterator[StoredPage]:
        """Pages with the page's value in a column, oldest first.

        One of `SAME_COLUMNS`, or `row_keys`, of which the first counts.
        """
        value: bytes | None = getattr(self._page, column)
        if value is not None:
            yield from self._others(column, [value[:ID_SIZE]])

    @abstractmethod
    def last_visit(self) -> Visit | None:
        """What the page's URL said before, if it was dropped."""

    @abstractmethod
    def is_unconfirmed(self, found: StoredPage) -> bool:
        """Whether a page of this view may yet go: another process has kept it tentatively."""

    def repeated_text(self, host: str) -> bytes:
        """See `Store.repeated_text`."""
        if host not in self._repeated_text:
            self._repeated_text[host] = self._read_repeated_text(host)
        return self._repeated_text[host]

    def _others(self, column: str, values: Values) -> Iterator[StoredPage]:
        sharing = self._sharing(column, values, self._page.site if self.one_site else None)
        return (page for page in sharing if page.url != self._page.url)

    @abstractmethod
    def _near_values(self, column: str, value: int, max_distance_bits: int) -> Near:
        """(value, distance) of the nearest 200 values: nearest first, then smallest.

        Some values may have no page in the namespace.
        """

    @abstractmethod
    def _sharing(self, column: str, values: Values, site: str | None) -> Iterator[StoredPage]:
        """The pages with one of these values, oldest first; None: of all sites."""

    @abstractmethod
    def _read_repeated_text(self, host: str) -> bytes: ...


class Store(Protocol):
    """Stores kept pages. "Oldest" means kept first; a replaced page counts as kept again.

    :param namespace: in all methods: of the pages; "" by default.
    :param url: in all methods: canonical, the key of a page.
    :param host: in all methods: of a URL, with its port.
    :raises StoreError: by every method, when the store can't be read or written, or is closed.
    """

    def stamp(self, made_with: Mapping[str, object]) -> None:
        """Declare what fingerprints are made with. A store without pages and a stamp stores it.

        :param made_with: options by name, as plain JSON values.
        :raises StoreMismatch: naming every option that differs from the stamp.
        """

    def made_with(self) -> dict[str, object] | None:
        """:return: the stamped options; None without a stamp."""

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        """Look up, decide and store in one step, as seen by all other threads and processes.

        :param page: may be stored by it.
        :param decide: returns what to do, and a result. When it raises, nothing is stored. It must
            not call the store.
        :return: that result.
        """

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        """Store pages unjudged, each in place of a stored page of the same key.

        :param pages: some thousands are one transaction; a failure undoes only the last one.
        :return: how many.
        """

    def confirm(self, namespace: str, url: str) -> None:
        """Make a tentative page permanent: at the next `settle` or `flush` at the latest."""

    def flush(self) -> None:
        """Write what was confirmed, also where no page is settled for a while."""

    def put_visits(self, visits: Iterable[Visit]) -> None:
        """Store what dropped pages said.

        :param visits: each in place of what was known of its key.
        """

    def visits(self) -> Iterator[Visit]:
        """:return: all of all namespaces."""

    def forget(self, namespace: str, url: str) -> bool:
        """Remove one page and its text.

        :return: False when the page was not stored.
        """

    def put_values(
        self, namespace: str, url: str, item_values: bytes, row_keys: bytes | None
    ) -> None:
        """Change the values of a stored page's items; nothing where it is stored no longer.

        :param item_values: packed, see item_values.py.
        :param row_keys: of its rows, see `row_keys` there.
        """

    def expire(self, seen_before: float, namespace: str | None = None) -> int:
        """Remove the pages and visits before a time, their texts, and all texts kept before it.

        :param seen_before: Unix seconds.
        :param namespace: theirs; None for all.
        :return: how many pages.
        """

    def clear(self, namespace: str | None = None) -> int:
        """Remove all pages, visits, texts and repeated text.

        :param namespace: theirs; None for all.
        :return: how many pages.
        """

    def repeated_text(self, namespace: str, host: str) -> bytes:
        """:return: what `put_repeated_text` stored for a host; b"" if unknown."""

    def put_repeated_text(self, namespace: str, host: str, repeated_text: bytes) -> None:
        """Store what a host repeats, in place of what was known; `clear` removes it.

        :param repeated_text: packed, see repeated_text.py.
        """

    def all_repeated_text(self) -> Iterator[tuple[str, str, bytes]]:
        """:return: (namespace, host, repeated text) of all hosts."""

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        """Keep texts of pages, stored or not, each in place of one of the same key.

        :param texts: a thousand are one transaction. The text of a stored page is removed or
            replaced with the page.
        """

    def text_of(self, namespace: str, url: str) -> PageText | None:
        """:return: the kept text of a page; None if there is none."""

    def texts(self) -> Iterator[PageText]:
        """:return: all texts of all namespaces."""

    def pages(self) -> Iterator[StoredPage]:
        """:return: all pages of all namespaces, oldest first."""

    def check(self) -> list[str]:
        """Read everything and repair nothing.

        :return: what is damaged, a message each.
        """

    def close(self) -> None:
        """Release the store; closing twice is fine."""

    def __len__(self) -> int:
        """How many pages it holds, without those that this process has not confirmed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(things)
    while batch := list(islice(rest, size)):
        yield batch


def check_stamp(store: str, stamp: Mapping[str, object], made_with: Mapping[str, object]) -> None:
    """Raise StoreMismatch naming every option that has another value in the store's stamp."""
    old, new = ({name: repr(each[name]) for name in each} for each in (stamp, made_with))
    differing = [
        f"{option} {old.get(option, 'unset')} (now {new.get(option, 'unset')})"
        for option in sorted(old.keys() | new.keys())
        if old.get(option) != new.get(option)
    ]
    if differing:
        raise StoreMismatch(
            f"{store} holds fingerprints made with other options: {', '.join(differing)}; "
            "use those options again, or another store"
        )


def shown_url(url: str) -> str:
    """The URL as logs and messages may show it: whatever may be a user or a password is masked.

    So is what stands where these do in a mistyped URL: `u:pw@host`, `redis//u:pw@host`.
    """
    if url.strip() == "memory:" or url.startswith(SQLITE):
        return url
    shown = _SECRET_PARAMETER.sub(r"\1***", url)
    masked, count = _CREDENTIALS.subn(r"\1***@", shown)
    return masked if count else _NO_PORT.sub(r"\1***", shown)  # u:pw, the host forgotten


# Stored pages and texts as bytes: on Redis both, in SQLite the texts.
#
#     page    compressed: a MessagePack array of the sizes of the columns that may be None, and of
#             the other columns but the namespace, which is in the key; behind it the bytes of the
#             former. The address of a page that declares its own URL, as most do, has none
#     text    compressed: a MessagePack array of the title, the main text, what was left out of it,
#             and what its item says
_OPTIONAL = tuple(one.name for one in COLUMNS if one.type.endswith("| None"))
_ALWAYS = [one for one in COLUMNS if one.name not in ("namespace", *_OPTIONAL)]
_optional_of, _always_of = (attrgetter(*_OPTIONAL), attrgetter(*(one.name for one in _ALWAYS)))
_KINDS: dict[str, Any] = {"str": str, "int": int, "float": int | float}
_HEAD: Any = (*(int | None for _ in _OPTIONAL), *(_KINDS[one.type] for one in _ALWAYS))
_heads = msgspec.msgpack.Decoder(tuple[_HEAD])
_STAMP: Any = dict[str, object] | None
_stamps: msgspec.json.Decoder[dict[str, object] | None] = msgspec.json.Decoder(_STAMP)
unpacked_stamp = _stamps.decode  # of what json.dumps made; one of UNREADABLE for anything else
_texts = msgspec.msgpack.Decoder(tuple[str, str, str, str])
# What unpacking damaged bytes raises. (A DecodeError was no ValueError before msgspec 0.21.)
UNREADABLE = (ValueError, zlib.error, struct.error, msgspec.DecodeError, RecursionError)
_WINDOW = -9  # of zlib: 512 bytes, and no header
# What many pages have in common, the commonest last. With it, and as the site is in the URL, a
# third of what is compressed goes.
_COMMON = (
    b".htm.php/index.html/article/2024/02/blog/news/20content/page/category/en/.co.uk/.net/.org/.com/"
    b"\xabexample.com\xa0\xd9b\xce\x0f\xff\xff\xff\xa0"
    b"\xdc\x00\x16\x08\x08\x10\x08\x08\x24\x00\xc0\x08\xc0\xc0\xc0\xcc\xd2\xd9;https://www."
)


def packed_page(page: StoredPage) -> bytes:
    """The page, but for its namespace; ValueError if a fingerprint is too wide."""
    parts = dict(zip(_OPTIONAL, _optional_of(page), strict=True))
    for name, bits in COLUMN_BITS.items():
        if parts[name] is not None:
            parts[name] = packed_bits(parts[name], bits)
    if page.address == page_id(page.url):
        parts["address"] = b""
    sizes = [None if part is None else len(part) for part in parts.values()]
    packer = zlib.compressobj(wbits=_WINDOW, memLevel=1, zdict=_COMMON)
    head = packer.compress(_array([*sizes, *_always_of(page)])) + packer.flush()
    return b"".join([head, *filter(None, parts.values())])


def unpacked_page(namespace: str, raw: bytes) -> StoredPage:
    """The page that was packed; one of UNREADABLE for other bytes."""
    unpacker, at = zlib.decompressobj(_WINDOW, _COMMON), 0
    head = _heads.decode(unpacker.decompress(raw))
    values = dict(zip((*_OPTIONAL, *(one.name for one in _ALWAYS)), head, strict=True))
    for name in _OPTIONAL:
        if (size := values[name]) is not None:
            part = unpacker.unused_data[at : at + size]
            values[name] = int.from_bytes(part, "little") if name in COLUMN_BITS else part
            at += size
    if at != len(unpacker.unused_data):
        raise ValueError(f"{len(unpacker.unused_data)} bytes of values, not {at}")
    if values["address"] == b"":
        values["address"] = page_id(values["url"])
    return StoredPage(namespace=namespace, **values)


def _array(values: Iterable[object]) -> bytes:
    """MessagePack's array; lone surrogates become "?"."""
    return msgspec.msgpack.encode(
        [v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in values]
    )


def page_id(url: str) -> bytes:
    """8 bytes of a URL as it is; its `urls.place_id`, where that leaves nothing out of it.

    Among a billion pages about one pair shares them.
    """
    return hash_of(url)


def visit_key(namespace: str, url: str) -> bytes:
    """8 bytes, of which the first bit is 0: SQLite reads rows by rising numbers."""
    first, *rest = hash_of(f"{namespace} {url}")
    return bytes([first & 0x7F, *rest])


def each_row_key(row_keys: bytes | None) -> list[bytes]:
    keys = row_keys or b""
    return [keys[at : at + ID_SIZE] for at in range(0, len(keys), ID_SIZE)]


def packed_text(text: PageText) -> bytes:
    title = " ".join(text.title.split())
    return zlib.compress(_array([title, text.text, text.left_out, text.item]))


def unpacked_text(namespace: str, url: str, content: bytes, kept_at: float) -> PageText:
    """The text that was packed; one of UNREADABLE if it is damaged."""
    title, text, left_out, item = _texts.decode(zlib.decompress(content))
    return PageText(namespace, url, title, text, kept_at, left_out, item)

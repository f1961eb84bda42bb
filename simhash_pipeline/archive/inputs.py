"""Opens an input by its name: a file, a folder of HTML files, or a store."""

import os
import shutil
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from simhash_pipeline.archive import Fault, Input, Page, Record
from simhash_pipeline.archive.feeds import Feed, feed_kind
from simhash_pipeline.archive.parquet import ParquetPages
from simhash_pipeline.archive.warc import WarcFile
from simhash_pipeline.errors import ArchiveError, StoreError
from simhash_pipeline.options import STORE_URL, Options
from simhash_pipeline.page.pdf import reads_pdfs
from simhash_pipeline.page.source import Source
from simhash_pipeline.stores.contract import SQLITE, shown_url
from simhash_pipeline.stores.opening import open_store, why_absent

HTML_SUFFIXES = frozenset([".htm", ".html", ".xhtml"])
FEED_SUFFIXES = frozenset([".jsonl", ".jl", ".ndjson", ".json", ".csv"])
KINDS = (
    "a WARC or WET file (.warc, .wet, also .gz), a feed (.jsonl, .jl, .json, .csv, also .gz), a "
    "Parquet file, a folder of .html files, or a store"
)
SQLITE_BEGINS = b"SQLite format 3\0"


def open_input(name: str, options: Options, time_field: str | None = None) -> Input:
    """The reader for a path or a store's URL; ArchiveError if it can't be read."""
    try:
        if STORE_URL.match(name):
            if why := why_absent(name):
                raise ArchiveError(why)
            return StoredPages(name)
        return _in_files(Path(name), options, time_field)
    except OSError as error:
        raise ArchiveError(f"{error.filename or name} can't be read: {error.strerror}") from error
    except StoreError as error:  # of its parameters
        raise ArchiveError(str(error)) from error


def _in_files(path: Path, options: Options, time_field: str | None) -> Input:
    if path.is_dir():
        if not (folder := Folder(path)).total():
            rule = "no file's name in it ends in .html or its like"
            raise ArchiveError(f"{path} holds no page: {rule}")
        return folder
    with path.open("rb") as file:
        begins = file.read(len(SQLITE_BEGINS))
    if begins == SQLITE_BEGINS:
        return StoredPages(f"{SQLITE}{path.as_posix()}")
    kind = feed_kind(path)
    if kind in (".warc", ".wet"):
        return WarcFile(path, options.max_page_bytes)
    if kind in FEED_SUFFIXES:
        return Feed(path, options, time_field)
    if path.suffix == ".parquet":
        return ParquetPages(path, options, time_field)
    raise ArchiveError(f"{path} must be {KINDS}")


@dataclass(frozen=True, slots=True)
class Folder:
    """The HTML files of a folder and those below it, by name; a page's URL is its file's.

    Links are neither followed nor copied: one may lead to a file that nobody meant to share.
    """

    path: Path
    unit: ClassVar[str] = "files"

    def total(self) -> int:
        return len(self.files())

    def read(self) -> Iterator[tuple[Record, int]]:
        for number, file in enumerate(self.files(), 1):
            yield _file_page(file), number

    def copy(self, to: Path, without: Container[int]) -> None:
        """Copies the whole folder, other files too, without links, pipes and sockets."""
        dropped = {file for number, file in enumerate(self.files(), 1) if number in without}

        def left_out(folder: str, names: list[str]) -> list[str]:
            files = {name: Path(folder, name) for name in names}
            return [n for n, file in files.items() if file in dropped or not _is_ordinary(file)]

        try:
            shutil.copytree(self.path, to, ignore=left_out)
        except shutil.Error as error:
            file, _, reason = error.args[0][0]
            raise ArchiveError(f"{file} can't be copied: {reason}") from error

    def files(self) -> list[Path]:
        """The HTML files, sorted; OSError if a folder can't be read."""

        def stop(error: OSError) -> None:
            raise error

        suffixes = {*HTML_SUFFIXES, *[".pdf"] * reads_pdfs()}
        there = os.walk(self.path, onerror=stop)
        found = (Path(folder, name) for folder, _, names in there for name in names)
        return sorted(f for f in found if f.suffix.lower() in suffixes and _is_ordinary(f))


@dataclass(frozen=True, slots=True)
class StoredPages:
    """The pages that a store keeps, of all namespaces, oldest first."""

    url: str
    unit: ClassVar[str] = "pages"

    def total(self) -> int:
        with open_store(self.url) as store:
            return len(store)

    def made_with(self) -> Mapping[str, object] | None:
        """The options that its fingerprints were made with; None if they are unknown."""
        with open_store(self.url) as store:
            return store.made_with()

    def read(self) -> Iterator[tuple[Record, int]]:
        with open_store(self.url) as store:
            for number, page in enumerate(store.pages(), 1):
                yield page, number

    def copy(self, to: Path, without: Container[int]) -> None:
        raise ArchiveError(f"there is no copy of a store: {shown_url(self.url)}")


def _is_ordinary(path: Path) -> bool:
    """Whether it is a file or folder itself."""
    return not path.is_symlink() and (path.is_file() or path.is_dir())


def _file_page(file: Path) -> Record:
    try:
        return Page(Source(file.read_bytes(), file.resolve().as_uri()), file.stat().st_mtime)
    except OSError as error:
        return Fault("unreadable", str(error.strerror), str(file))

"""Opens an input by its name: a file, or a folder of HTML files."""

import os
import re
import shutil
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from simhash_pipeline.archive import INPUTS, Fault, Input, Page, Record, Skipped
from simhash_pipeline.archive.feeds import Feed, feed_kind
from simhash_pipeline.archive.parquet import ParquetPages
from simhash_pipeline.archive.warc import WarcFile
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.options import STORE_URL, Options
from simhash_pipeline.page.pdf import reads_pdfs
from simhash_pipeline.page.source import Source
from simhash_pipeline.stores.contract import shown_url

# After a mark of the encoding, of XML, and comments, which end at the first sign of it.
_BEGIN = re.compile(
    rb"(?is)(?:\xef\xbb\xbf)?(?:<\?xml[^>]*>|<!--(?:(?!-->).)*-->|\s)*<(?:!doctype html|html)\b"
)


def open_input(name: str, options: Options, time_field: str | None = None) -> Input:
    """The reader for a path; ArchiveError if it can't be read."""
    if STORE_URL.match(name):
        raise ArchiveError(f"{shown_url(name)} is a URL; an input must be {INPUTS}")
    path, kind = Path(name), feed_kind(Path(name))
    try:
        if path.is_dir():
            if not (folder := Folder(path)).files():
                raise ArchiveError(f"{path} holds no page: no file in it begins as HTML does")
            return folder
        if path.exists() and not path.is_file():  # opening a pipe waits for who writes to it
            raise ArchiveError(f"{path} is no file, and an input is read twice: write it to one")
        path.open("rb").close()
    except OSError as error:
        raise ArchiveError(f"{error.filename or name} can't be read: {error.strerror}") from error
    if kind in (".warc", ".wet"):
        return WarcFile(path, options.max_page_bytes)
    if kind in (".jsonl", ".jl", ".ndjson", ".json", ".csv"):
        return Feed(path, options, time_field)
    if path.suffix == ".parquet":
        return ParquetPages(path, options, time_field)
    raise ArchiveError(f"{path} must be {INPUTS}")


@dataclass(frozen=True, slots=True)
class Folder:
    """The HTML files of a folder and those below it, by name; a page's URL is its file's.

    Links are neither followed nor copied: one may lead to a file that nobody meant to share.
    """

    path: Path

    def read(self) -> Iterator[tuple[Record, float]]:
        files = self.files()
        others = {*self._all_files()}.difference(files)
        for number, file in enumerate(files, 1):
            yield _file_page(file), number / len(files)
        for file in others:
            if "/." not in f"/{file.relative_to(self.path).as_posix()}":  # hidden, as our parts
                yield Skipped(file.suffix or "no suffix"), 1.0

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
        """The HTML files, sorted; a mirror has pages named 1002 and page.html?id=2."""
        suffixes = {".htm", ".html", ".xhtml", *[".pdf"] * reads_pdfs()}
        found = self._all_files()
        return sorted(each for each in found if each.suffix.lower() in suffixes or _is_html(each))

    def _all_files(self) -> Iterator[Path]:
        """OSError if a folder can't be read."""

        def stop(error: OSError) -> None:
            raise error

        there = os.walk(self.path, onerror=stop)
        found = (Path(folder, name) for folder, _, names in there for name in names)
        yield from filter(_is_ordinary, found)


def _is_ordinary(path: Path) -> bool:
    """Whether it is a file or folder itself."""
    return not path.is_symlink() and (path.is_file() or path.is_dir())


def _is_html(file: Path) -> bool:
    if file.name[:1] == ".":  # hidden, as our parts
        return False
    try:
        with file.open("rb") as opened:
            return _BEGIN.match(opened.read(1_000)) is not None
    except OSError:
        return False


def _file_page(file: Path) -> Record:
    try:
        return Page(Source(file.read_bytes(), file.resolve().as_uri()), file.stat().st_mtime)
    except OSError as error:
        return Fault("unreadable", str(error.strerror), str(file))

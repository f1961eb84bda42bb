"""Article files: a few header lines, an empty line, then paragraphs in a tiny markup.

Lines that start a block: ``## `` a heading, ``- `` a list item, ``| `` a line of verse,
``# `` a table row, ``@ `` a forum post's author and time, ``% `` a reader's comment.
Everything else is a paragraph.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

ARTICLES_DIR = Path(__file__).parent / "articles"
_BLOCK_KINDS = (
    ("## ", "heading"),
    ("- ", "list"),
    ("| ", "verse"),
    ("# ", "table"),
    ("@ ", "post"),
    ("% ", "comments"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list, verse, table, post or heading; `lines` come without their marks."""

    kind: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """One hand-written page. `charset` is how it is encoded; the other two are what is declared."""

    folder: str  # "en/port"
    slug: str
    title: str
    byline: str
    date: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    charset: str
    header_charset: str | None
    meta_charset: str | None
    shape: str  # "plain", "table", "broken", "open-title" or "deep"

    @property
    def lang(self) -> str:
        """ "en", "zh", "zh-Hant" or "ja"."""
        return "zh-Hant" if self.section == "hant" else self.folder.partition("/")[0]

    @property
    def section(self) -> str:
        """The last part of the folder: "port"."""
        return self.folder.partition("/")[2]

    @property
    def path(self) -> str:
        """The address on the site, percent-encoded."""
        return quote(f"/{self.folder}/{self.slug}")


def read_articles(directory: Path = ARTICLES_DIR) -> tuple[Article, ...]:
    """Every article under a directory, newest first; the fronts' texts (`_front`) are included."""
    files = sorted(directory.rglob("*.txt"))
    articles = [_article(path, path.relative_to(directory)) for path in files]
    return tuple(sorted(articles, key=lambda article: article.date, reverse=True))


def _article(path: Path, name: Path) -> Article:
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    fields: dict[str, str] = {}
    facts: list[tuple[str, str]] = []
    for line in head.splitlines():
        key, _, value = line.partition(": ")
        if key == "fact":
            label, _, fact = value.partition(" = ")
            facts.append((label, fact))
        else:
            fields[key] = value.strip()
    return Article(
        folder=name.parent.as_posix(),
        slug=name.stem,
        title=fields["title"],
        byline=fields.get("byline", ""),
        date=fields.get("date", ""),
        lead=fields.get("lead", ""),
        facts=tuple(facts),
        blocks=tuple(_blocks(body)),
        charset=fields.get("charset", "utf-8"),
        header_charset=_declared(fields.get("header", "utf-8")),
        meta_charset=_declared(fields.get("meta", "utf-8")),
        shape=fields.get("shape", "plain"),
    )


def _declared(charset: str) -> str | None:
    return None if charset == "none" else charset


def _blocks(body: str) -> Iterator[Block]:
    for chunk in body.strip().split("\n\n"):
        if chunk.strip():
            yield _block(chunk.strip().splitlines())


def _block(lines: list[str]) -> Block:
    for mark, kind in _BLOCK_KINDS:
        if lines[0].startswith(mark):
            return Block(kind, tuple(line.removeprefix(mark) for line in lines))
    return Block("paragraph", (" ".join(lines),))

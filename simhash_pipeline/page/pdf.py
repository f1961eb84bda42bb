"""The text of a PDF, by PDFium (the extra `pdf`).

PDFium's time has no bound that a file couldn't pass: crawls, archives and pipes read PDFs in a
process that has limits (page/reader.py).
"""

import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from typing import TypeGuard

from simhash_pipeline.errors import PageError

MAX_PDF_PAGES = 5_000
_BEGINS = b"%PDF-"
_NEAR_EDGE = 2  # lines at the top and bottom of a page, where running heads are
_DIGITS = re.compile(r"\d+")
_FULL = 0.8  # of the wide lines' length, as letters differ in width
_HYPHEN = re.compile(r"[\ufffe\x02]\s*|(?<=\w)-\n(?=[^\W\d_A-Z])")  # at the end of a line


def is_pdf(data: object) -> TypeGuard[bytes]:
    return isinstance(data, bytes) and data.startswith(_BEGINS)


@cache
def reads_pdfs() -> bool:
    """Whether the extra is installed."""
    return find_spec("pypdfium2") is not None


def title_and_text(data: bytes, most_chars: int) -> tuple[str, str]:
    """A PDF's title and text, without running heads; PageError (kind binary or empty) for none.

    Of a long text at least `most_chars` characters.
    """
    if not reads_pdfs():
        raise PageError("binary", "the page is a PDF: pip install 'simhash-pipeline[pdf]'")
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(data) as document:
            pages, left = list[list[str]](), most_chars
            for number in range(min(len(document), MAX_PDF_PAGES)):
                text = document[number].get_textpage().get_text_bounded()
                pages.append(text.splitlines())
                left -= len(text)
                if left < 0:
                    break
            title = document.get_metadata_value("Title")
    except pypdfium2.PdfiumError as error:
        raise PageError("binary", f"the page is a PDF that can't be read: {error}") from error
    text = _HYPHEN.sub("", _unwrapped(_without_heads(pages)))
    if not text.strip():
        raise PageError("empty", "the page is a PDF without text, perhaps a scanned one")
    return " ".join(title.split()), text


def _without_heads(pages: list[list[str]]) -> list[str]:
    """The lines without those that stand at the edge of half of the pages, but for numbers."""
    edges = [
        {_DIGITS.sub("", line).strip() for line in (*page[:_NEAR_EDGE], *page[-_NEAR_EDGE:])}
        for page in pages
    ]
    counts = Counter(line for edge in edges for line in edge)
    heads = {line for line, count in counts.items() if count > 1 and 2 * count >= len(pages)}
    return [
        line
        for page in pages
        for place, line in enumerate(page)
        if _NEAR_EDGE <= place < len(page) - _NEAR_EDGE
        or _DIGITS.sub("", line).strip() not in heads | {""}
    ]


def _unwrapped(lines: list[str]) -> str:
    """The text, with a blank where a line ends as the next word would not have fit into it.

    Two prints wrap one text at other words. Line ends of scripts without spaces: see
    `decode.without_line_ends`.
    """
    full = _FULL * sorted(map(len, lines))[9 * len(lines) // 10] if lines else 0
    said = list[str]()
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        word, end = following.partition(" ")[0], line[-1:]
        is_wrapped = "" < end < "\u2e80" and end not in "-\x02" and word
        said += [line, " " if is_wrapped and len(line) + len(word) >= full else "\n"]
    return "".join(said)

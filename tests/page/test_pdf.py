"""PDFs, by their text: in Python, in crawls, in archives; damaged, scanned and hostile ones."""

from __future__ import annotations

import zlib
from itertools import chain
from random import Random
from textwrap import wrap
from typing import TYPE_CHECKING

import pytest
from scrapy.http import Response

from simhash_pipeline import Fingerprinter, Judge, Options, PageError, dedupe
from simhash_pipeline.archive.dedup import DedupJob, dedup
from simhash_pipeline.crawl.item_source import find_page
from tests.archive.archives import response
from tests.crawl.crawling import crawl

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SYLLABLES = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "lnrst"]
LINES = [" ".join(Random(n).choices(SYLLABLES, k=12)) for n in range(120)]
OTHERS = [" ".join(Random(n).choices(SYLLABLES, k=12)) for n in range(200, 320)]


def pdf(pages: Sequence[Sequence[str]], title: str = "A report", more: bytes = b"") -> bytes:
    """A PDF with these lines; `more` is drawn first on each page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Title (%b) >>" % title.encode()]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for lines in pages:
        shown = b"".join(b"(%b) Tj T* " % line.encode() for line in lines)
        content = zlib.compress(more + b"BT /F1 9 Tf 11 TL 40 800 Td %b ET" % shown)
        stream = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream"
        objects.append(stream % (len(content), content))
        font = b"/Resources << /Font << /F1 4 0 R >> >>"
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] %b /Contents %d 0 R >>"
        objects.append(page % (font, len(objects)))
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(kids), b" ".join(kids))
    made, places = b"%PDF-1.5\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
    end = b"trailer << /Size %d /Root 1 0 R /Info 3 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return made + end % (size, start)


def printed(lines: Sequence[str], a_page: int, head: str) -> bytes:
    """The lines with a running head and a page number, in pages of this length."""
    starts = range(0, len(lines), a_page)
    pages = [
        [f"{head}, page {number}", "", *lines[start : start + a_page], "", str(number)]
        for number, start in enumerate(starts, 1)
    ]
    return pdf(pages)


ONE, AGAIN = printed(LINES, 40, "The Post"), printed(LINES, 30, "From the archive of Ann Ford")
OTHER = printed(OTHERS, 40, "The Post")
SCAN = pdf([[], []])


def test_a_pdf_is_read_without_its_running_heads() -> None:
    page = Fingerprinter().fingerprint(ONE, "http://a.example/report.pdf")
    assert (page.title, page.tokens) == ("A report", 12 * len(LINES))
    assert "The Post" not in page.text


def test_two_prints_of_one_report_are_joined_and_another_is_kept() -> None:
    with Judge() as judge:
        urls = [f"http://{host}.example/report.pdf" for host in "abc"]
        verdicts = [judge.judge(*each) for each in zip(urls, (ONE, AGAIN, OTHER), strict=True)]
    assert [verdict.dropped for verdict in verdicts] == [False, True, False]


def test_two_prints_that_wrap_one_text_at_other_words_are_joined_on_one_site() -> None:
    text = [[" ".join(LINES[n : n + 8]), "", f"{n}. Chapter"] for n in range(0, 120, 8)]
    prints = [
        printed([row for each in chain(*text) for row in wrap(each, width) or [""]], 40, "The Post")
        for width in (90, 61)
    ]
    with Judge() as judge:
        urls = [f"http://a.example/{size}.pdf" for size in ("a4", "a5")]
        verdicts = [judge.judge(*each) for each in zip(urls, prints, strict=True)]
    assert [verdict.dropped for verdict in verdicts] == [False, True]


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (SCAN, "empty", "perhaps a scanned one"),
        (ONE[:200], "binary", "can't be read"),
        (b"%PDF-1.7", "binary", "can't be read"),
    ],
)
def test_what_has_no_text_is_an_error_of_the_page(data: bytes, kind: str, message: str) -> None:
    with pytest.raises(PageError, match=message) as error:
        Fingerprinter().fingerprint(data)
    assert error.value.kind == kind


def test_a_long_pdf_is_cut_as_a_page_is() -> None:
    long = printed(LINES * 3, 40, "The Post")
    page = Fingerprinter(Options(max_page_bytes=10_000)).fingerprint(long)
    assert page.cut
    assert len(page.text) <= 10_000


def test_dedupe_keeps_and_counts_a_scanned_and_a_hostile_one() -> None:
    """The hostile one is a hundred megabytes of drawing in a hundred kilobytes."""
    bomb = pdf([["x"]], more=b"0 0 m 9 9 l S\n" * 8_000_000)
    urls = [f"http://a.example/{n}.pdf" for n in range(5)]
    found = dedupe(zip(urls, (ONE, SCAN, bomb, AGAIN, OTHER), strict=True), page_timeout_secs=1)
    assert [url for url, _ in found] == [urls[0], urls[1], urls[2], urls[4]]
    assert found.unread["empty"] == 1
    assert found.unread.total() == 2


@pytest.mark.usefixtures("shared_workers")
def test_a_warc_file_s_pdfs_are_judged(tmp_path: Path) -> None:
    urls = [f"http://{host}.example/report.pdf" for host in "abcd"]
    records = [
        response(url, data, content_type="application/pdf")
        for url, data in zip(urls, (ONE, AGAIN, OTHER, SCAN), strict=True)
    ]
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(records))
    to = tmp_path / "kept.jsonl"
    done = dedup(DedupJob(inputs=[str(tmp_path / "crawl.warc.gz")], to=to, options=Options()))
    assert (done.kept, done.dropped) == ({"new": 2, "unjudged": 1}, {"content": 1})


def test_a_crawl_judges_a_pdf_in_the_item(tmp_path: Path) -> None:
    items = [
        {"url": f"http://{host}.example/report.pdf", "html": data}
        for host, data in zip("abcd", (ONE, AGAIN, OTHER, SCAN), strict=True)
    ]
    result = crawl(tmp_path, items)
    assert result.dropped == ["http://b.example/report.pdf"]
    assert result.stats["simhash/errors/empty"] == 1


def test_without_the_extra_a_response_s_pdf_is_kept_and_the_extra_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("simhash_pipeline.page.pdf.reads_pdfs", lambda: False)
    response = Response("http://a.example/report.pdf", body=ONE)
    source = find_page({"title": "A report"}, response, Options())
    assert source is not None
    with pytest.raises(PageError, match=r"pip install 'simhash-pipeline\[pdf\]'"):
        Fingerprinter().read(source)

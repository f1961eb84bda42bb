"""Items, rows and records that hold a text in place of a page: in crawls, and in archives."""

from __future__ import annotations

import csv
import json
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scrapy

from simhash_pipeline import Fingerprinter, Judge, Options, PageFingerprint, Verdict
from simhash_pipeline.errors import PageError
from simhash_pipeline.page.fingerprint import sentences
from simhash_pipeline.page.source import Source, item_source
from tests.archive.archives import OTHER, STORY, html, response, write_json_lines
from tests.crawl.crawling import crawl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

FIELD: dict[str, Any] = {"SIMHASH_CONTENT_FIELD": "body"}


def row(name: object, body: Any = STORY, **more: Any) -> dict[str, Any]:
    return {"url": f"http://a.example/{name}", "title": "A row", "body": body, **more}


ROWS = [row("a"), row("a-again"), row("b", OTHER), row("b-again", OTHER + " more")]


def test_items_of_one_response_are_judged_one_by_one_by_their_texts(tmp_path: Path) -> None:
    result = crawl(tmp_path, ROWS, **FIELD)
    assert result.dropped == ["http://a.example/a-again", "http://a.example/b-again"]
    assert result.stats["simhash/kept"] == 2


class ShoeSpider(scrapy.Spider):
    """Scrapes three shoes of one description; the page alone shows size and price."""

    name = "shoes"
    sizes = ("41", "42", "42?utm_source=mail")

    async def start(self) -> AsyncIterator[Any]:
        for size in self.sizes:
            shop = f"<title>Shoe</title><p>{STORY}<aside>Size {size[:2]}, 1 290 kr</aside>"
            yield scrapy.Request(
                f"data:text/html,{quote(shop)}", cb_kwargs={"size": size}, dont_filter=True
            )

    def parse(self, response: Any, size: str) -> Any:
        shown = response.css("aside::text").re_first("[0-9]+")
        yield row(size, size=int(shown), price=1290.0)


def test_values_beside_a_text_count_where_they_stand_on_its_page(tmp_path: Path) -> None:
    """A shop's descriptions are equal, and the size stands in another part of the page."""
    result = crawl(tmp_path, spider=ShoeSpider, ADDONS={"simhash_pipeline.Addon": 500}, **FIELD)
    assert sorted(item["size"] for item in result.items) == [41, 42]


@pytest.mark.parametrize(
    ("texts", "values", "is_dropped"),
    [
        (("the price is 187 today", "the price is 229 today"), (187, 229), False),
        (("the price is 187 today", "the price is 229 today"), (1, 2), True),  # numbers of rows
        (("it took 7 days, not 8", "it took 7 days, not 8"), (7, 8), True),  # of equal texts
        (("from day to day", "from then to now"), ("2024-05-03", "2024-05-04"), True),
        (("from day to day", "from then to now"), (STORY, OTHER), True),
    ],
)
def test_beside_a_text_without_a_page_what_stands_in_it_counts(
    texts: tuple[str, str], values: tuple[Any, Any], *, is_dropped: bool
) -> None:
    with Judge() as judge:
        for number, (text, value) in enumerate(zip(texts, values, strict=True)):
            verdict = judge.judge(
                f"http://a.example/{number}", item={"value": value}, text=f"{STORY} {text} {STORY}"
            )
    assert verdict.dropped is is_dropped
    assert verdict.rejected_by == (None if is_dropped else "fields")


@pytest.mark.parametrize(
    ("name", "one", "other", "dropped"),
    [
        ("size", "M", "XL", False),
        ("shoeSize", 42, 43, False),
        ("尺码", "均码", "加大", False),
        ("size", "42.5", "43.5", False),
        ("size", 18_422, 18_473, True),  # bytes
        ("size", "84.2 KB", "84.3 KB", True),
        ("size", 84.2, 84.3, True),
        ("font_size", "M", "XL", True),
        ("resized", "M", "XL", True),
    ],
)
def test_a_text_for_each_size_is_kept(
    name: str, one: object, other: object, *, dropped: bool
) -> None:
    with Judge(content_field="text") as judge:
        rows = [{"url": f"http://a.example/{n}", name: n} for n in (one, other)]
        for each in rows:
            item = {**each, "text": STORY}
            verdict = judge.judge(str(each["url"]), text=STORY, item=item)
    assert verdict.dropped is dropped


def test_of_a_text_nothing_is_markup(tmp_path: Path) -> None:
    text = f"if a <b and c> d then {STORY} &amp; <i>all</i> <script>of it</script>"
    source = Source(text, "http://a.example/", is_text=True, title="A row")
    page = Fingerprinter().read(source)
    assert (page.text, page.title, page.structure) == (text, "A row", None)
    assert page.tokens == Fingerprinter().fingerprint_text(text).tokens
    items = [row(1, f"1 < 2 {STORY}"), row(2, f"1 < 2 {OTHER}")]
    assert crawl(tmp_path, items, **FIELD).dropped == []


def test_the_text_goes_before_the_page_and_the_page_is_read_where_there_is_none(
    tmp_path: Path,
) -> None:
    items = [
        row(1, html=html(OTHER)),
        row(2, html=html(STORY * 2)),  # dropped by its text
        row(3, None, html=html(STORY + " more", title="A row")),  # and this by its page
        row(4, "", html=html(OTHER)),
    ]
    result = crawl(tmp_path, items, **FIELD)
    assert result.dropped == ["http://a.example/2", "http://a.example/3"]


def test_short_texts_are_dropped_only_if_title_and_text_are_the_same(tmp_path: Path) -> None:
    short = "Welder wanted, day shift, at the old yard."
    items = [
        row(1, short),
        row(2, short),
        row(3, short, title="Another row"),
        row(4, short.replace("day", "night")),
    ]
    result = crawl(tmp_path, items, **FIELD)
    assert result.dropped == ["http://a.example/2"]
    assert result.stats["simhash/dropped/thin"] == 1


def test_paragraphs_are_joined() -> None:
    options = Options(content_field="body")
    source = item_source(row(1, ["one", "two"]), options)
    assert source == Source("one\ntwo", "http://a.example/1", is_text=True, title="A row")


@pytest.mark.parametrize(
    ("item", "kind", "message"),
    [
        (row(1, {"html": "x"}), "wrong_type", "field 'body' holds dict, not text"),
        (row(1, ["one", 2]), "wrong_type", "field 'body' holds list, not text"),
        ({"body": STORY}, "no_url", "the item has no URL in its field 'url'"),
        ({"url": "http://a.example/"}, "no_html", "no text in 'body' and no page in its field"),
    ],
)
def test_an_item_without_a_text_says_what_is_wrong(
    item: dict[str, Any], kind: str, message: str
) -> None:
    with pytest.raises(PageError, match=message) as raised:
        item_source(item, Options(content_field="body"))
    assert raised.value.kind == kind


def test_a_crawl_keeps_such_items_and_counts_them(tmp_path: Path) -> None:
    result = crawl(tmp_path, [row(1, {"a": 1}), {"body": STORY}], **FIELD)
    assert result.dropped == []
    assert result.stats["simhash/errors/wrong_type"] == 1
    assert result.stats["simhash/errors/no_url"] == 1


def test_by_structure_a_text_is_like_no_other(tmp_path: Path) -> None:
    result = crawl(tmp_path, ROWS, SIMHASH_MATCH="structure", **FIELD)
    assert result.dropped == []


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        sheet = csv.DictWriter(file, list(rows[0]))
        sheet.writeheader()
        sheet.writerows(rows)


def write_wet(path: Path, rows: list[dict[str, Any]]) -> None:
    """As Common Crawl makes them: the title is the first line of the text."""
    path.write_bytes(b"".join(map(conversion, rows)))


def conversion(one: dict[str, Any]) -> bytes:
    from io import BytesIO

    from warcio.warcwriter import WARCWriter

    file = BytesIO()
    writer = WARCWriter(file, gzip=True)
    record = writer.create_warc_record(
        one["url"],
        "conversion",
        payload=BytesIO(f"{one['title']}\n{one['body']}".encode()),
        warc_content_type=one.get("mime", "text/plain"),
    )
    writer.write_record(record)
    return file.getvalue()


@pytest.mark.usefixtures("shared_workers")
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet", "rows.warc.wet.gz"])
def test_archives_of_texts_are_cleaned(simhash: Simhash, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write = {
        "rows.jsonl": write_json_lines,
        "rows.csv": write_csv,
        "rows.parquet": lambda path, rows: pq.write_table(pa.Table.from_pylist(rows), path),
        "rows.warc.wet.gz": write_wet,
    }[name]
    write(path, ROWS)
    field = () if name.endswith(".gz") else ("-s", "SIMHASH_CONTENT_FIELD=body")
    result = simhash(tmp_path, "dedup", name, "-o", "kept.jsonl", "--copies", "clean", *field)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("kept      2 (new 2)\ndropped   2 (content 2)\n")
    rows = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert [each["url"] for each in rows if each["kept"]] == [ROWS[0]["url"], ROWS[2]["url"]]
    assert {each["title"] for each in rows} == {"A row"}
    result = simhash(tmp_path, "dedup", f"clean/{name}", "-o", "again.jsonl", *field)
    assert result.stdout.startswith("kept      2 (new 2)\ndropped   0\n")


@pytest.mark.usefixtures("shared_workers")
def test_a_wet_file_skips_what_is_no_text(simhash: Simhash, tmp_path: Path) -> None:
    path = tmp_path / "rows.warc.wet.gz"
    page = response("http://a.example/page", html(OTHER))
    path.write_bytes(conversion(row(1)) + conversion(row(2, mime="application/json")) + page)
    result = simhash(tmp_path, "dedup", path.name, "-o", "kept.jsonl")
    assert result.stdout.startswith(
        "kept      2 (new 2)\ndropped   0\nno pages  1 (application/json 1)\n"
    )


@pytest.mark.usefixtures("shared_workers")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rows.jsonl", "no page of rows.jsonl can be read: 4 (no_html 4), see kept.jsonl.faults"),
        ("rows.parquet", "rows.parquet has no column 'words' and no column 'html'"),
    ],
)
def test_a_field_that_is_not_there_is_told(
    simhash: Simhash, tmp_path: Path, name: str, message: str
) -> None:
    write_json_lines(tmp_path / "rows.jsonl", ROWS)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    result = simhash(
        tmp_path, "dedup", name, "-o", "kept.jsonl", "-s", "SIMHASH_CONTENT_FIELD=words"
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr.splitlines()[-1]


# ------------------------------------------------------------------ templates


def sentence(seed: object) -> str:
    """Of 20 words."""
    chance = Random(str(seed))
    said = (f"{chance.choice('bcdfglmnprst')}{chance.randrange(900)}" for _ in range(20))
    return f"{' '.join(said).capitalize()}."


def text(name: object, said: list[str], host: str = "a.example") -> tuple[str, PageFingerprint]:
    """These sentences in one line, and their address."""
    return f"http://{host}/{name}", Fingerprinter().fingerprint_text(" ".join(said))


def judged(*pages: tuple[str, PageFingerprint], **options: Any) -> list[Verdict]:
    with Judge(options=Options(**options)) as judge:
        return [judge.judge(*page) for page in pages]


def notice(number: int, host: str = "a.example") -> tuple[str, PageFingerprint]:
    """A text of 400 words; all but 20 are those of its template."""
    frame = [sentence(f"frame {n}") for n in range(19)]
    return text(number, [*frame[:9], sentence(number), *frame[9:]], host)


NOTICES = [notice(number) for number in range(40)]


def test_texts_of_one_host_are_compared_without_their_template() -> None:
    verdicts = judged(*NOTICES, ("http://a.example/again", NOTICES[-1][1]))
    assert sum(verdict.dropped for verdict in verdicts[:40]) <= 1
    assert verdicts[-1].twin_url == "http://a.example/39"


def test_of_the_first_texts_of_a_host_more_must_be_equal() -> None:
    told = [
        verdict for verdict in judged(*NOTICES[:8]) if verdict.rejected_by == "page-specific text"
    ]
    assert {verdict.min_similarity for verdict in told} == {0.95}


def test_a_text_of_another_host_is_judged_by_its_main_text_alone() -> None:
    twin = judged(*NOTICES, notice(39, "b.example"))[-1]
    assert (twin.twin_url, twin.similarity) == ("http://a.example/39", None)


def test_a_text_is_cut_into_sentences() -> None:
    assert sentences("एक। दो 1.5॥ ایک۔ አንድ። ០១។ ၁။") == [
        "एक।",
        "दो 1.5॥",
        "ایک۔",
        "አንድ።",
        "០១។",
        "၁။",
    ]
    assert sentences("One 1.5 e.g. two! Three") == ["One 1.5 e.g.", "two!", "Three"]
    assert sentences("“一。”他说：二！三？\n\n 四") == ["“一。", "”他说：二！", "三？", "四"]
    assert sentences("一.二!三 1.5 a.b 四...五. 六") == [
        "一.",
        "二!",
        "三 1.5 a.b 四.",
        "五.",
        "六",
    ]


@pytest.mark.parametrize(("planted", "dropped"), [(0, False), (8, False), (20, True)])
def test_who_writes_half_of_a_host_s_last_texts_can_plant_and_who_writes_less_can_not(
    planted: int, *, dropped: bool
) -> None:
    lines = [sentence(f"line {n}") for n in range(30)]
    posts = [
        text(n, [sentence((n, k)) for k in range(4)] + (lines if n >= 20 - planted else []))
        for n in range(20)
    ]
    warranty = [sentence(f"warranty {n}") for n in range(10)]
    products = [text(f"p{n}", [*warranty, line]) for n, line in enumerate(lines)]
    verdicts = judged(*posts, *products, content_distance=8, sketch_distance=48)
    assert any(verdict.dropped for verdict in verdicts[20:]) == dropped


PARAGRAPHS = [
    f"The {n} boats came home through the fog before {n} in the morning." for n in range(9)
]
TITLE = "Boats come home"
MARKED: dict[str, str] = {
    "content.rendered": "".join(f'<p class="wp-block">{one}</p>\n' for one in PARAGRAPHS),
    "a description with links": "<br />\n".join(PARAGRAPHS).replace(
        "boats", '<a href="/b">boats</a>'
    ),
    "divs": "".join(f"<div>{one}</div>" for one in PARAGRAPHS),
    "a list": "<ul>" + "".join(f"<li>{one}</li>" for one in PARAGRAPHS) + "</ul>",
    "a whole page": f"<html><body>{''.join(f'<p>{one}' for one in PARAGRAPHS)}</p></body></html>",
    "escaped": "".join(f"&lt;p&gt;{one}&lt;/p&gt;" for one in PARAGRAPHS),
    "entities": "".join(f"<p>{one.replace(' ', '&nbsp;', 1)}</p>" for one in PARAGRAPHS),
    "a picture first": '<img src="/a.png" alt="">' + " ".join(PARAGRAPHS),
    "spans": "\n".join(f'<span style="color: red">{one}</span>' for one in PARAGRAPHS),
}


@pytest.mark.parametrize("html", MARKED.values(), ids=MARKED)
def test_a_text_that_is_html_is_read_as_html(html: str) -> None:
    reader = Fingerprinter()
    plain = reader.fingerprint_text("\n".join(PARAGRAPHS), title=TITLE, url="http://a.example/1")
    marked = reader.fingerprint_text(html, title=TITLE, url="http://b.example/2")
    assert marked.tokens == plain.tokens
    assert (marked.content, marked.sketch) == (plain.content, plain.sketch)
    with Judge("memory:") as judge:
        assert not judge.judge("http://a.example/1", plain).dropped
        assert judge.judge("http://b.example/2", marked).dropped


@pytest.mark.parametrize(
    "text",
    [
        "if a <b and c> d then e",
        "x < 2 && y > 3",
        "write <i>all</i> in italics",
        "the element <section> begins one",
        "Tom &amp; Jerry &lt;3",
        "List<String> and Map<String, Integer>",
        "mail <someone@example.org>",
    ],
)
def test_a_text_that_only_speaks_of_signs_stays_as_it_is(text: str) -> None:
    assert Fingerprinter().fingerprint_text(text).text == text


def test_a_text_of_tags_alone_says_nothing() -> None:
    page = Fingerprinter().fingerprint_text("<p></p><br>")
    assert (page.text, page.tokens, page.content) == ("", 0, None)

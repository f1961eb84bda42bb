from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from simhash_pipeline import Options
from simhash_pipeline.archive import Fault, Page, Record, feeds
from simhash_pipeline.archive.feeds import Feed
from simhash_pipeline.errors import ArchiveError
from tests.archive.archives import PAGES, html, write_json_lines

URLS = [page["url"] for page in PAGES]


def records(path: Path, time_field: str | None = None, **options: object) -> list[Record]:
    feed = Feed(path, Options(**options), time_field)  # type: ignore[arg-type]  # as Options checks
    return [record for record, _ in feed.read()]


def urls(path: Path) -> list[str]:
    return [record.source.url for record in records(path) if isinstance(record, Page)]


def faults(path: Path) -> list[tuple[int, str, str]]:
    found = enumerate(records(path), 1)
    return [(number, one.kind, one.place) for number, one in found if isinstance(one, Fault)]


def write_csv(path: Path, items: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(file, list(items[0]))
        rows.writeheader()
        rows.writerows(items)
    return path


@pytest.mark.parametrize("name", ["items.jsonl", "items.jl", "items.jsonl.gz"])
def test_json_lines_hold_a_page_a_line(tmp_path: Path, name: str) -> None:
    assert urls(write_json_lines(tmp_path / name, PAGES)) == URLS


@pytest.mark.parametrize("name", ["items.jsonl", "items.jsonl.gz"])
def test_json_lines_may_begin_with_a_byte_order_mark(tmp_path: Path, name: str) -> None:
    path = write_json_lines(tmp_path / name, PAGES)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        data = file.read()
    with opened(path, "wb") as file:
        file.write(b"\xef\xbb\xbf" + data)
    assert urls(path) == URLS
    assert faults(path) == []


def test_csv_holds_a_page_a_row_whatever_its_length(tmp_path: Path) -> None:
    pages = [*PAGES, {"url": "http://a.example/long", "html": html("word,\n" * 50_000)}]
    path = write_csv(tmp_path / "items.csv", pages)
    assert urls(path) == [*URLS, "http://a.example/long"]
    last = records(path)[-1]
    assert isinstance(last, Page)
    assert last.source.html == pages[-1]["html"]


def test_the_fields_are_those_of_the_settings(tmp_path: Path) -> None:
    item = {"address": "http://a.example/", "body": html("x"), "charset": "gbk"}
    path = write_json_lines(tmp_path / "items.jsonl", [item])
    (found,) = records(path, url_field="address", html_field="body")
    assert isinstance(found, Page)
    assert found.source[:3] == (html("x"), "http://a.example/", "gbk")


@pytest.mark.parametrize("bad", ['{"id": }', '{"html" "a"}', "[" * 100_000])
@pytest.mark.parametrize("between", [",\n", "\n,\n  "])
def test_a_row_of_an_array_that_is_no_json_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str, between: str
) -> None:
    lines = [json.dumps(page) for page in PAGES]
    path = tmp_path / "items.json"
    path.write_text(f"[\n{between.join([lines[0], bad, *lines[1:]])}\n]\n")
    for most in (64 << 20, 300_000):  # at the file's end, or where a row would be too long
        monkeypatch.setattr(feeds, "MAX_ROW_BYTES", most)
        assert urls(path) == URLS
        assert [(number, kind) for number, kind, _ in faults(path)] == [(2, "no_item")]
    Feed(path, Options(), None).copy(tmp_path / "copy.json", without={1})
    assert urls(tmp_path / "copy.json") == URLS[1:]


@pytest.mark.parametrize("name", ["items.json", "items.jsonl"])
def test_tabs_in_strings_and_endless_numbers_are_read(tmp_path: Path, name: str) -> None:
    row = (
        json.dumps(PAGES[0])
        .replace("<body>", "<body>\t")
        .replace("{", f'{{"id": {"9" * 5_000}, ', 1)
    )
    path = tmp_path / name
    path.write_text(f"[{row}, {row}]" if name == "items.json" else f"{row}\n{row}\n")
    assert urls(path) == [URLS[0]] * 2
    assert faults(path) == []


def test_an_array_that_was_written_twice_is_read_whole(tmp_path: Path) -> None:
    """As by `scrapy crawl news -o items.json` on two days."""
    path = tmp_path / "items.json"
    path.write_text("".join(f"[\n{json.dumps(page)}\n]" for page in PAGES))
    assert urls(path) == URLS
    Feed(path, Options(), None).copy(tmp_path / "copy.json", without={1})
    assert [row["url"] for row in json.loads((tmp_path / "copy.json").read_text())] == URLS[1:]


def test_a_row_of_csv_that_is_cut_within_quotes_is_no_page(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "items.csv", [{"url": "u", "html": ""}, *PAGES])
    text = path.read_text(encoding="utf-8")
    last = text.rindex('"') if '"' in text else len(text)
    path.write_text(text[:last].rstrip('"\n') + '\nhttp://a.example/x,"<p>cut', encoding="utf-8")
    assert "http://a.example/x" not in urls(path)
    assert [kind for _, kind, _ in faults(path)][-1] == "no_item"


def test_without_a_setting_a_page_is_in_the_field_html(tmp_path: Path) -> None:
    (found,) = records(write_json_lines(tmp_path / "items.jsonl", PAGES[:1]), html_field=None)
    assert isinstance(found, Page)


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("2026-01-02T03:04:05Z", 1767323045.0),
        ("2026-01-02T03:04:05", 1767323045.0),
        ("2026-01-02 03:04:05", 1767323045.0),
        ("2026-01-02", 1767312000.0),
        ("2026-01-02T04:04:05.5+01:00", 1767323045.5),
        (1767323045, 1767323045.0),
        ("1767323045.5", 1767323045.5),
        ("yesterday", None),
        (1767323045000, None),  # milliseconds
        ("1767323045000", None),
        (float("nan"), None),
        (float("inf"), None),
        (None, None),
        ([1], None),
    ],
)
def test_a_field_may_tell_when_a_page_was_fetched(
    tmp_path: Path, told: object, seconds: float | None
) -> None:
    path = write_json_lines(tmp_path / "items.jsonl", [{**PAGES[0], "at": told}])
    (found,) = records(path, time_field="at")
    assert isinstance(found, Page)
    assert found.time == seconds


def test_broken_lines_are_counted_and_cost_no_other(tmp_path: Path) -> None:
    lines = [
        json.dumps(PAGES[0]),
        '{"url": "http://a.example/x", "html": "<p>cut sho',
        "",
        "[1, 2]",
        '{"url": "http://a.example/x"}',
        '{"html": "<p>whose?</p>"}',
        '{"url": "http://a.example/x", "html": 7}',
        "[" * 100_000,
        json.dumps(PAGES[1]),
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(lines))
    assert urls(tmp_path / "items.jsonl") == URLS[:2]
    assert faults(tmp_path / "items.jsonl") == [
        (2, "no_item", "item 2"),
        (3, "no_item", "item 3"),
        (4, "no_html", "item 4"),
        (5, "no_url", "item 5"),
        (6, "wrong_type", "item 6"),
        (7, "no_item", "item 7"),
    ]


def test_rows_of_another_length_are_counted_and_cost_no_other(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "items.csv", PAGES[:2])
    with path.open("a") as file:
        file.write("http://a.example/short\r\na,b,c\r\n,<p>whose?</p>\r\n\r\n")
    assert urls(path) == URLS[:2]
    assert faults(path) == [
        (3, "no_item", "item 3"),
        (4, "no_item", "item 4"),
        (5, "no_url", "item 5"),
    ]


@pytest.mark.parametrize("name", ["items.jsonl", "items.csv"])
def test_bytes_that_are_no_utf_8_reach_the_page_as_they_are(tmp_path: Path, name: str) -> None:
    body = html("café", head='<meta charset="latin-1">')
    path = tmp_path / name
    write = write_csv if name.endswith(".csv") else write_json_lines
    write(path, [{"url": "http://a.example/", "html": body}])
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    (found,) = records(path)
    assert isinstance(found, Page)
    assert found.source.html == body.encode("latin-1")


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "items.csv", PAGES)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert urls(path) == URLS


def test_a_gzip_file_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    pages = [{**page, "salt": str(hash(page["url"]) ** 9)} for page in PAGES * 200]
    path = write_json_lines(tmp_path / "items.jsonl.gz", pages)
    path.write_bytes(path.read_bytes()[:-200])
    read = urls(path)
    assert read == [page["url"] for page in pages[: len(read)]]
    assert faults(path) == [(len(read) + 1, "truncated", f"item {len(read) + 1}")]


def test_a_csv_file_without_a_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "items.csv").touch()
    with pytest.raises(ArchiveError, match="has no header: it is empty"):
        records(tmp_path / "items.csv")


def test_a_csv_file_whose_header_is_no_row_is_refused(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_bytes(b"url,\rhtml\nu,h\n")
    with pytest.raises(ArchiveError, match=r"items\.csv has no header: new-line character"):
        records(tmp_path / "items.csv")


def test_an_empty_feed_has_no_items(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").touch()
    assert records(tmp_path / "items.jsonl") == []


def test_a_copy_of_json_lines_is_the_file_but_for_the_lines_left_out(tmp_path: Path) -> None:
    lines = [b'{"url":  "a" }\r\n', b"\n", b"{broken\n", b'{"url": "b"}\n', b'{"last": 1}']
    (tmp_path / "items.jsonl").write_bytes(b"".join(lines))
    Feed(tmp_path / "items.jsonl", Options()).copy(tmp_path / "copy.jsonl", {1, 3})
    assert (tmp_path / "copy.jsonl").read_bytes() == b"".join([*lines[1:3], lines[4]])


def test_a_copy_of_csv_is_the_file_but_for_the_rows_left_out(tmp_path: Path) -> None:
    head, first, second, third = b"html,url\r\n", b'"a\r\n""b""",1\n', b"\xe9,2\n", b'"c",3\r\n'
    (tmp_path / "items.csv").write_bytes(head + first + second + third)
    feed = Feed(tmp_path / "items.csv", Options())
    feed.copy(tmp_path / "copy.csv", {2})
    assert (tmp_path / "copy.csv").read_bytes() == head + first + third
    feed.copy(tmp_path / "copy.csv", {1, 3})
    assert (tmp_path / "copy.csv").read_bytes() == head + second


def test_a_copy_of_a_gzip_file_is_one(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "items.jsonl.gz", PAGES)
    Feed(path, Options()).copy(tmp_path / "copy.jsonl.gz", {2})
    with gzip.open(tmp_path / "copy.jsonl.gz") as file:
        assert [json.loads(line) for line in file] == [PAGES[0], *PAGES[2:]]


@pytest.mark.parametrize("name", ["items.jsonl", "items.jsonl.gz", "items.csv", "items.csv.gz"])
def test_a_row_that_would_fill_the_memory_is_a_fault_and_the_next_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(feeds, "MAX_ROW_BYTES", 2_000)
    pages = [
        {"url": "http://a.example/1", "html": html("short")},
        {"url": "http://a.example/2", "html": html("long " * 2_000)},
        {"url": "http://a.example/3", "html": html("short")},
    ]
    plain = tmp_path / name.removesuffix(".gz")
    write = write_csv if plain.suffix == ".csv" else write_json_lines
    write(plain, pages)
    path = tmp_path / name
    if path != plain:
        path.write_bytes(gzip.compress(plain.read_bytes()))
    assert urls(path) == ["http://a.example/1", "http://a.example/3"]
    assert faults(path) == [(2, "no_item", "item 2")]
    Feed(path, Options()).copy(tmp_path / f"copy-{name}", {3})
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(tmp_path / f"copy-{name}", "rb") as file:
        copied = file.read()
    assert copied == plain.read_bytes()[: len(copied)]
    assert b"long" in copied
    assert b"a.example/3" not in copied


def test_a_csv_row_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MAX_ROW_BYTES", 2_000)
    rows = 'url,html\nhttp://a.example/1,"' + "never closed\n" * 1_000
    (tmp_path / "items.csv").write_text(rows)
    found = records(tmp_path / "items.csv")
    assert {type(record) for record in found} == {Fault}
    assert max(len(str(record)) for record in found) < 1_000


LINES = b"[\n" + b",\n".join(json.dumps(one).encode() for one in PAGES) + b"\n]"  # as Scrapy


@pytest.mark.parametrize(
    "data",
    [
        LINES,
        LINES + b"\n\n",
        b"\xef\xbb\xbf" + LINES,
        json.dumps(PAGES).encode(),
        json.dumps(PAGES, indent=4).encode(),
        LINES.replace(b"\n", b"\r\n"),
        LINES.replace(b",\n{", b"\n,{"),
        json.dumps(PAGES, ensure_ascii=False, separators=(",", ":")).encode(),
    ],
)
@pytest.mark.parametrize("chars", [1 << 16, 7])
def test_a_json_array_holds_a_page_an_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, chars: int
) -> None:
    """However it is broken into lines, and wherever the pieces end in which it is read."""
    monkeypatch.setattr(feeds, "_ARRAY_CHARS", chars)
    path = tmp_path / "items.json"
    path.write_bytes(data)
    assert (urls(path), faults(path)) == (URLS, [])
    packed = tmp_path / "items.json.gz"
    packed.write_bytes(gzip.compress(data))
    assert urls(packed) == URLS


def test_an_array_of_a_killed_crawl_is_read_up_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    for end in (len(LINES) - 2, len(LINES) - 30):
        path.write_bytes(LINES[:end])
        whole = 4 if end == len(LINES) - 2 else 3
        assert urls(path) == URLS[:whole]
        assert faults(path) == [(whole + 1, "truncated", f"item {whole + 1}")]
    path.write_bytes(b"[]")
    assert (urls(path), faults(path)) == ([], [])


def test_what_is_no_item_of_an_array_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    path.write_bytes(LINES.replace(b"[\n", b'[\n17, "a", [{}], null, {},\n'))
    assert urls(path) == URLS
    assert [fault[:2] for fault in faults(path)] == [
        *((number, "no_item") for number in range(1, 5)),
        (5, "no_html"),
    ]


def test_json_that_is_no_array_is_refused(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "items.json", PAGES)
    with pytest.raises(ArchiveError, match=r"must be one JSON array; name a file of JSON Lines"):
        records(path)


def test_an_item_of_an_array_that_would_fill_the_memory_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MAX_ROW_BYTES", 100_000)
    path = tmp_path / "items.json"
    path.write_bytes(json.dumps([PAGES[0], {"html": "x" * 300_000}, PAGES[1]]).encode())
    assert urls(path) == URLS[:1]
    assert faults(path) == [(2, "no_item", "item 2")]


@pytest.mark.parametrize("without", [{1}, {2, 4}, {4}, {1, 2, 3, 4}, set()])
def test_a_copy_of_an_array_is_one_without_the_items_left_out(
    tmp_path: Path, without: set[int]
) -> None:
    path, copy = tmp_path / "items.json", tmp_path / "copy.json"
    path.write_bytes(LINES)
    Feed(path, Options()).copy(copy, without)
    kept = [one for number, one in enumerate(PAGES, 1) if number not in without]
    assert json.loads(copy.read_bytes()) == kept

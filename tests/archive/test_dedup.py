from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import simhash_pipeline.archive.dedup
from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, Judge, Options, PageError, StoreMismatch, open_store
from simhash_pipeline.archive import feeds, parts
from simhash_pipeline.archive.dedup import DedupJob, DedupResult, dedup, scratch_folder
from simhash_pipeline.archive.parts import stored_pages
from simhash_pipeline.drop_log import Drop, Run, read_log
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.page.decode import decode
from simhash_pipeline.page.stamp import stamp_for
from tests.archive.archives import KEPT, OTHER, PAGES, STORY, html, page, warc_of, write_json_lines
from tests.review.logs import read_drops
from tests.skipping import skip_aloud
from tests.stores.servers import RunningServer, server_binary

# Tests of the command, and the job that is killed, start workers of their own.
pytestmark = pytest.mark.usefixtures("shared_workers")
URLS = [one["url"] for one in PAGES]


def job(folder: Path, *inputs: object, **more: Any) -> DedupJob:
    more = {"to": folder / "out.parquet", "options": Options(), **more}
    return DedupJob(inputs=[str(one) for one in inputs], **more)


def rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def kept(path: Path) -> list[str]:
    return [row["url"] for row in rows(path) if row["kept"]]


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_the_result_has_a_row_for_each_page(tmp_path: Path, name: str) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    done = dedup(job(tmp_path, source, to=tmp_path / name))
    found = rows(tmp_path / name)
    assert [
        (row["url"], row["kept"], row["reason"], row["group"], row["twin_url"]) for row in found
    ] == [
        (URLS[0], True, "new", 0, None),
        (URLS[1], False, "content", 0, URLS[0]),
        (URLS[2], True, "new", 2, None),
        (URLS[3], False, "content", 2, URLS[2]),
    ]
    page_ = Fingerprinter().fingerprint(PAGES[3]["html"])
    assert int(found[3]["content"], 16) == page_.content
    assert found[3]["sketch"] == f"{page_.sketch:032x}"
    assert (found[3]["content_distance"], found[3]["structure_distance"]) == (0, None)
    assert (found[3]["title"], found[3]["tokens"]) == ("A page", 200)
    assert (found[3]["input"], found[3]["number"]) == (str(source), 4)
    assert done == DedupResult({"new": 2}, {"content": 2}, {}, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["items.jsonl", name, f"{name}.drops.jsonl"]
    )


def test_inputs_of_all_kinds_are_judged_together(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(warc_of([page("a")]))
    write_json_lines(tmp_path / "b.jsonl", [page("b", OTHER), page("a-again")])
    pq.write_table(pa.Table.from_pylist([page("b-again", OTHER)]), tmp_path / "c.parquet")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "1.html").write_text(PAGES[0]["html"])
    names = ["a.warc.gz", "b.jsonl", "c.parquet", "d"]
    dedup(job(tmp_path, *(tmp_path / name for name in names)))
    found = rows(tmp_path / "out.parquet")
    assert [(Path(row["input"]).name, row["number"], row["kept"]) for row in found] == [
        ("a.warc.gz", 1, True),
        ("b.jsonl", 1, True),
        ("b.jsonl", 2, False),
        ("c.parquet", 1, False),
        ("d", 1, False),
    ]


def test_an_archive_of_the_demo_site_is_judged_as_its_crawl_would_be(tmp_path: Path) -> None:
    pages = [
        {"url": f"http://demo.example{path}", "html": decode(one.body)}
        for path, one in all_pages().items()
    ]
    pages += [{**one, "url": one["url"] + "?again"} for one in pages[::7]] + pages[::5]
    source = write_json_lines(tmp_path / "items.jsonl", pages)
    dedup(job(tmp_path, source))
    with open_store("memory:") as store:
        judge, fingerprinter = Judge(store, repeats_since=0), Fingerprinter()
        live = [_judged(judge, fingerprinter, one) for one in pages]
    distances = ("content_distance", "structure_distance", "sketch_distance")
    assert [
        (row["kept"], row["reason"], *(row[name] for name in distances))
        for row in rows(tmp_path / "out.parquet")
    ] == live


def _judged(judge: Judge, fingerprinter: Fingerprinter, one: dict[str, str]) -> tuple[Any, ...]:
    try:
        found = judge.judge(one["url"], fingerprinter.fingerprint(one["html"], one["url"]))
    except PageError:
        return True, "unjudged", None, None, None
    bits = (found.content_distance, found.structure_distance, found.sketch_distance)
    return not found.dropped, found.reason, *bits


def test_a_record_that_comes_again_with_nothing_new_is_dropped(tmp_path: Path) -> None:
    words = " ".join(f"word{n}" for n in range(80))
    records = [{"url": f"http://a.example/{n}", "text": f"{n} {words} {n}"} for n in range(3)]
    source = write_json_lines(tmp_path / "items.jsonl", [*records, records[0], records[2]])
    dedup(job(tmp_path, source, options=Options(content_field="text", min_similarity=0)))
    found = [(row["kept"], row["reason"]) for row in rows(tmp_path / "out.parquet")]
    assert found[3:] == [(False, "unchanged"), (False, "unchanged")]


def test_what_stands_beside_a_record_s_page_is_heard(tmp_path: Path) -> None:
    records = [
        {"url": f"http://a.example/{n}", "html": html(f"Size {41 + n // 2}. {STORY}"), "size": size}
        for n, size in enumerate((41, 41, 42, 42))
    ]
    dedup(job(tmp_path, write_json_lines(tmp_path / "items.jsonl", records)))
    found = [row["kept"] for row in rows(tmp_path / "out.parquet")]
    assert found == [True, False, True, False]
    lines = read_log(tmp_path / "out.parquet.drops.jsonl")
    near_misses = [
        (each.url, each.fields) for each in lines if isinstance(each, Drop) and each.fields
    ]
    assert near_misses == [("http://a.example/2", ("size",))]


def test_the_drop_log_is_that_of_a_crawl(tmp_path: Path) -> None:
    dedup(job(tmp_path, write_json_lines(tmp_path / "items.jsonl", PAGES)))
    drops = list(read_drops(tmp_path / "out.parquet.drops.jsonl"))
    assert [(drop.url, drop.twin_url, drop.reason, drop.content_distance) for drop in drops] == [
        (URLS[1], URLS[0], "content", 0),
        (URLS[3], URLS[2], "content", 0),
    ]
    *_, run = read_log(tmp_path / "out.parquet.drops.jsonl")
    assert isinstance(run, Run)
    assert (run.kept, run.dropped) == ({"new": 2}, {"content": 2})


def test_records_that_can_t_be_read_are_counted_listed_and_stay_in_the_copy(tmp_path: Path) -> None:
    source = tmp_path / "items.jsonl"
    write_json_lines(source, [*PAGES, "no item", {"url": "http://a.example/x", "html": ""}])
    done = dedup(job(tmp_path, source, copies=tmp_path / "copies"))
    assert done.faults == {"no_item": 1}
    assert done.kept == {"new": 2, "unjudged": 1}
    (listed,) = rows(tmp_path / "out.parquet.faults.jsonl")
    assert (listed["input"], listed["place"], listed["kind"]) == (str(source), "item 5", "no_item")
    last = rows(tmp_path / "out.parquet")[-1]
    assert (last["kept"], last["reason"]) == (True, "unjudged")
    assert last["fault"] == "the page holds no element and no text"
    *_, run = read_log(tmp_path / "out.parquet.drops.jsonl")
    assert isinstance(run, Run)
    assert (run.kept, run.errors) == ({"new": 2}, {"unjudged": 1})
    assert len((tmp_path / "copies" / "items.jsonl").read_text().splitlines()) == 4


def test_copies_lack_the_dropped_pages_alone(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(warc_of(PAGES))
    source = write_json_lines(tmp_path / "b.jsonl", [page("c"), page("d", "another " * 90)])
    dedup(job(tmp_path, tmp_path / "a.warc.gz", source, copies=tmp_path / "copies"))
    whole = [warc_of([one]) for one in PAGES]
    names = sorted(path.name for path in (tmp_path / "copies").iterdir())
    assert names == ["a.warc.gz", "b.jsonl"]
    size = (tmp_path / "copies" / "a.warc.gz").stat().st_size
    assert abs(size - len(whole[0] + whole[2])) < 10  # the records' ids differ from run to run
    assert [row["url"] for row in rows(tmp_path / "copies" / "b.jsonl")] == ["http://a.example/d"]


def test_a_store_receives_the_kept_pages_and_the_texts_of_all(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'seen.sqlite'}"
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    before = int(time.time())
    dedup(job(tmp_path, source, store=url, options=Options(keep_text=True)))
    with open_store(url) as store:
        assert [one.url for one in store.pages()] == KEPT
        assert all(one.first_seen >= before for one in store.pages())  # not in 1970
        assert sorted(text.url for text in store.texts()) == sorted(URLS)
        verdict = Judge(store).judge("http://a.example/z", Fingerprinter().fingerprint(html(OTHER)))
        assert verdict.twin_url == KEPT[1]


def test_a_store_holds_of_a_url_s_captures_the_one_judged_last(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'seen.sqlite'}"
    captures = [page("a", OTHER, fetched=2_000), page("a", STORY, fetched=1_000)]
    source = write_json_lines(tmp_path / "items.jsonl", captures)
    options = Options(keep_text=True)
    dedup(job(tmp_path, source, store=url, options=options, keep="earliest", time_field="fetched"))
    with open_store(url) as store:
        (one,) = store.pages()
        assert one.content == Fingerprinter().fingerprint(captures[0]["html"]).content
        assert (one.first_seen, one.seen_at) == (2_000, 2_000)
        assert [(text.text, text.kept_at) for text in store.texts()] == [(OTHER, 2_000)]


@pytest.mark.parametrize("unchanged", ["keep", "drop"])
def test_captures_without_a_change_move_only_when_a_page_was_seen(
    tmp_path: Path, unchanged: str
) -> None:
    url = f"sqlite:///{tmp_path / 'seen.sqlite'}"
    captures = [page("a", fetched=time_) for time_ in (2_000, 3_000, 1_000)]
    source = write_json_lines(tmp_path / "items.jsonl", captures)
    options = Options(unchanged=unchanged)
    dedup(job(tmp_path, source, store=url, options=options, time_field="fetched"))
    with open_store(url) as store:
        assert [(one.first_seen, one.seen_at) for one in store.pages()] == [(2_000, 3_000)]


def test_an_archive_without_pages_has_a_result_without_rows(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").touch()
    assert dedup(job(tmp_path, tmp_path / "items.jsonl")) == DedupResult({}, {}, {}, {})
    assert rows(tmp_path / "out.parquet") == []


def test_a_job_that_is_stopped_leaves_nothing_but_the_earlier_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    dedup(job(tmp_path, source))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("simhash_pipeline.archive.dedup.write_faults", stopped)
    with pytest.raises(KeyboardInterrupt):
        dedup(job(tmp_path, source))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_parts_are_judged_while_later_pages_are_still_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    item_page = feeds.item_page

    def noted(item: Any, place: str, *more: Any) -> Any:
        read.append(place)
        return item_page(item, place, *more)

    monkeypatch.setattr("simhash_pipeline.archive.parts.PAGES_A_PART", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(feeds, "item_page", noted)
    read_when_judged: list[int] = []

    def judged(rows: Any) -> Any:
        read_when_judged.extend([len(read)] * rows.num_rows)
        return stored_pages(rows)

    monkeypatch.setattr("simhash_pipeline.archive.parts.stored_pages", judged)
    pages = [page(str(number), f"number{number // 2} " * 100) for number in range(40)]
    dedup(job(tmp_path, write_json_lines(tmp_path / "items.jsonl", pages)))
    assert read_when_judged[0] <= 8
    assert (len(read), len(read_when_judged)) == (40, 40)


def test_a_run_that_made_nothing_is_in_nobody_s_way(tmp_path: Path) -> None:
    (tmp_path / "page.warc").write_text("<html>")
    with pytest.raises(ArchiveError, match="is not a WARC file"):
        dedup(job(tmp_path, tmp_path / "page.warc"))
    dedup(job(tmp_path, write_json_lines(tmp_path / "items.jsonl", PAGES)))
    assert kept(tmp_path / "out.parquet") == KEPT


def test_the_password_of_a_store_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server").mkdir()
    password = ("--requirepass", "sesame")
    with RunningServer(server_binary("redis"), tmp_path / "server", *password) as server:
        url = server.url.replace("//", "//:sesame@")
        source = write_json_lines(tmp_path / "items.jsonl", PAGES)
        dedup(job(tmp_path, source, store=url, to=tmp_path / "out" / "out.jsonl"))
        with pytest.raises(StoreMismatch, match=r"^store redis://\*\*\*@127.0.0.1:\d+/0 holds"):
            dedup(job(tmp_path, source, store=url, options=Options(ngrams=(3,))))
    written = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert {"out.jsonl", "out.jsonl.drops.jsonl"} == {file.name for file in written}
    assert [file.name for file in written if b"sesame" in file.read_bytes()] == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"to": "out.csv"}, r"out.csv must end in .parquet or .jsonl"),
        ({"to": "items.jsonl"}, "items.jsonl is an input, and would be overwritten"),
        ({"copies": "."}, "items.jsonl is an input, and would be overwritten"),
        ({"to": "c/items.jsonl", "copies": "c"}, "c/items.jsonl would be written twice"),
        ({"texts": "out.parquet.drops.jsonl"}, "out.parquet.drops.jsonl would be written twice"),
        ({"to": "seen.jsonl", "store": "seen.jsonl"}, "seen.jsonl would be written twice"),
        ({"texts": "pipe"}, "pipe is not a regular file; name another output"),
    ],
)
def test_nothing_that_is_read_is_written_over(
    tmp_path: Path, more: dict[str, str], message: str
) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    before = source.read_bytes()
    os.mkfifo(tmp_path / "pipe")
    places: dict[str, Any] = {name: tmp_path / path for name, path in more.items()}
    if "store" in places:
        places["store"] = f"sqlite:///{places['store']}"
    with pytest.raises(ArchiveError, match=message):
        dedup(job(tmp_path, source, **places))
    assert source.read_bytes() == before


def test_copies_of_two_inputs_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    inputs = [
        write_json_lines(folder / "items.jsonl", PAGES) for folder in (tmp_path, tmp_path / "a")
    ]
    with pytest.raises(ArchiveError, match=r"the copies of 2 inputs would all be items.jsonl"):
        dedup(job(tmp_path, *inputs, copies=tmp_path / "copies"))


def test_columns_that_no_filter_takes_are_copied(tmp_path: Path) -> None:
    """As Arrow's newer types of text, and maps whose keys are structs."""
    urls, pages = ([one[name] for one in PAGES] for name in ("url", "html"))
    keyed = pa.map_(pa.struct([("x", pa.int64())]), pa.int64())
    columns = {
        "url": pa.array(urls),
        "html": pa.array(pages, pa.string_view()),
        "map": pa.array([[({"x": 1}, 1)]] * len(urls), keyed),
    }
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    dedup(job(tmp_path, tmp_path / "in.parquet", copies=tmp_path / "copies"))
    assert pq.read_table(tmp_path / "copies" / "in.parquet")["url"].to_pylist() == KEPT


def test_copies_of_inputs_whose_names_begin_alike_are_both_whole(tmp_path: Path) -> None:
    first = write_json_lines(tmp_path / "items.jsonl", PAGES)
    other = write_json_lines(tmp_path / "part-items.jsonl", [page("c", "another " * 90)])
    dedup(job(tmp_path, other, first, copies=tmp_path / "copies"))
    assert [row["url"] for row in rows(tmp_path / "copies" / "items.jsonl")] == KEPT
    (row,) = rows(tmp_path / "copies" / "part-items.jsonl")
    assert row["url"] == "http://a.example/c"
    assert len(list((tmp_path / "copies").iterdir())) == 2


def test_a_directory_in_the_result_s_place_is_left_alone(tmp_path: Path) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    mine = tmp_path / "out.parquet" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(ArchiveError, match=r"out.parquet is a directory; name another output"):
        dedup(job(tmp_path, source))
    assert mine.read_text() == "mine"


def test_an_archive_that_can_not_be_read_leaves_the_earlier_result(tmp_path: Path) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    dedup(job(tmp_path, source))
    log = (tmp_path / "out.parquet.drops.jsonl").read_bytes()
    write_json_lines(source, [{"title": "no page"}])
    with pytest.raises(
        ArchiveError, match=r"no page of .*items.jsonl can be read: 1 \(no_html 1\)"
    ):
        dedup(job(tmp_path, source))
    assert kept(tmp_path / "out.parquet") == KEPT
    assert (tmp_path / "out.parquet.drops.jsonl").read_bytes() == log
    (listed,) = rows(tmp_path / "out.parquet.faults.jsonl")
    assert listed["kind"] == "no_html"
    assert not list(tmp_path.glob("*.parts*"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"keep": "earliest"}, "has a time: name the field that holds it, --time-field"),
        ({"time_field": "fetched"}, "has a time in 'fetched'"),
        ({"keep": "earliest", "time_field": "x"}, "has a time in 'x'"),
    ],
)
def test_times_that_no_page_has_are_asked_for(
    tmp_path: Path, more: dict[str, str], message: str
) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    with pytest.raises(ArchiveError, match=message):
        dedup(job(tmp_path, source, **more))
    assert [file.name for file in tmp_path.iterdir()] == ["items.jsonl"]
    write_json_lines(source, [page("c", fetched=5, x="2026-01-02"), *PAGES])
    dedup(job(tmp_path, source, **{"time_field": "fetched", **more}))


@pytest.mark.parametrize("name", ["k[1].parquet", "k*'.jsonl"])
def test_an_output_s_name_is_no_pattern(tmp_path: Path, name: str) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    dedup(job(tmp_path, source, to=tmp_path / name))
    assert kept(tmp_path / name) == KEPT


def test_a_folder_s_copy_takes_no_other_folder_away(
    tmp_path: Path,
) -> None:
    folder, copies = tmp_path / "saved", tmp_path / "copies"
    folder.mkdir()
    for name in ("a.html", "b.html"):
        (folder / name).write_text(html("One story"), encoding="utf-8")
    (copies / "part-saved").mkdir(parents=True)  # the user's own
    (copies / "part-saved" / "mine.html").touch()
    dedup(job(tmp_path, folder, copies=copies))
    found = sorted(file.relative_to(copies).as_posix() for file in copies.rglob("*"))
    assert found == ["part-saved", "part-saved/mine.html", "saved", "saved/a.html"]
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "saved").touch()
    for there in (copies, tmp_path / "others"):
        with pytest.raises(ArchiveError, match=r"s/saved exists already; move it, or name "):
            dedup(job(tmp_path, folder, copies=there))
    assert not list(tmp_path.glob("*.parts*"))


@pytest.mark.parametrize(
    ("source", "copies"), [(".", "clean"), ("..", "clean"), ("../saved", "."), ("b", "b/new/er")]
)
def test_a_folder_is_not_copied_into_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, copies: str
) -> None:
    (tmp_path / "saved" / "b").mkdir(parents=True)
    (tmp_path / "saved" / "b" / "a.html").write_text(html("One story"), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "saved")
    with pytest.raises(ArchiveError, match=f"^{copies} lies in the input {source}; name another"):
        dedup(job(tmp_path, source, copies=Path(copies)))
    assert [file.name for file in tmp_path.rglob("*")] == ["saved", "b", "a.html"]


def test_what_the_job_writes_is_not_copied_with_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "a.html").write_text(html("One story"), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "saved")
    with pytest.raises(ArchiveError, match=r"^out.parquet lies in the input \.; name another"):
        dedup(job(tmp_path, ".", to=Path("out.parquet"), copies=tmp_path / "clean"))
    assert [file.name for file in tmp_path.rglob("*")] == ["saved", "a.html"]


def test_a_folder_may_receive_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.html").write_text(html("One story"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert dedup(job(tmp_path, ".", to=Path("out.jsonl"))).kept == {"thin": 1}


def test_other_files_of_a_folder_are_counted(tmp_path: Path) -> None:
    """`wget -r` leaves pages of which the addresses have no ending, or a query behind it."""
    (tmp_path / "saved" / "b").mkdir(parents=True)
    for name in ("a.html", "b/1002", "b/article.php?id=7", ".hidden"):
        (tmp_path / "saved" / name).write_text(html(f"Story {name}"), encoding="utf-8")
    for name in ("robots.txt", "b/style.css", "b/d.css", "b/none"):
        (tmp_path / "saved" / name).write_text("No <html>", encoding="utf-8")
    done = dedup(job(tmp_path, tmp_path / "saved"))
    assert done.kept == {"thin": 3}
    assert done.skipped == {".css": 2, ".txt": 1, "no suffix": 1}


@pytest.mark.parametrize("source", [".", "b/.."])
def test_the_copy_of_the_folder_one_is_in_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    (tmp_path / "saved" / "b").mkdir(parents=True)
    (tmp_path / "saved" / "a.html").write_text(html("One story"), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "saved")
    dedup(job(tmp_path, source, copies=tmp_path / "copies"))
    assert [path.name for path in (tmp_path / "copies").iterdir()] == ["saved"]


def test_a_job_that_is_stopped_as_it_fills_a_store_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "a.html").write_text(html("One story"), encoding="utf-8")
    store = f"sqlite:///{tmp_path / 'seen.sqlite'}"
    both = job(tmp_path, tmp_path / "saved", copies=tmp_path / "copies", store=store)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as at_first:
        at_first.setattr("simhash_pipeline.archive.dedup.fill_store", stopped)
        with pytest.raises(KeyboardInterrupt):
            dedup(both)
    dedup(both)
    assert [file.name for file in (tmp_path / "copies").rglob("*")] == ["saved", "a.html"]
    with open_store(store) as filled:
        assert len(filled) == 1


def test_a_job_that_would_fail_at_its_end_is_refused_at_its_start(tmp_path: Path) -> None:
    seen = f"sqlite:///{tmp_path / 'seen.sqlite'}"
    with open_store(seen) as store:
        store.stamp(stamp_for(Options(ngrams=(3,))))
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    with pytest.raises(StoreMismatch, match=r"ngrams \[3\] \(now \[1, 2\]\)"):
        dedup(job(tmp_path, source, store=seen))
    assert not list(tmp_path.glob("*.parts*"))


def _grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() * 2)


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


CHANGES: list[tuple[str, Callable[[Path], object]]] = [
    ("items.jsonl", _grow),
    ("items.jsonl", _cut),
    ("items.jsonl", _replace),
    ("items.jsonl", Path.unlink),
    ("crawl.warc.gz", _cut),
    ("crawl.warc", _cut),
    ("saved/a.html", _grow),
    ("saved/a.html", Path.unlink),
    ("saved/new.html", Path.touch),
]


@pytest.mark.parametrize("step", ["judge_batches", "write_copies"])
@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_an_input_that_changes_meanwhile_is_told_and_nothing_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    change: Callable[[Path], object],
    step: str,
) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "a.html").write_text(html("One story"), encoding="utf-8")
    write_json_lines(tmp_path / "items.jsonl", PAGES)
    for each in ("crawl.warc", "crawl.warc.gz"):
        (tmp_path / each).write_bytes(warc_of(PAGES, is_compressed=each.endswith(".gz")))
    inputs = [tmp_path / "saved"] if "/" in name else [tmp_path / name]
    module = parts if step == "judge_batches" else simhash_pipeline.archive.dedup
    within = getattr(module, step)

    def changed_before(*arguments: Any) -> Any:
        change(tmp_path / name)
        return within(*arguments)

    monkeypatch.setattr(module, step, changed_before)
    with pytest.raises(ArchiveError, match="has changed while it was read; run the same command"):
        dedup(job(tmp_path, *inputs, copies=tmp_path / "copies"))
    assert not list(tmp_path.glob("out*"))
    assert not list(tmp_path.glob("copies/*"))


def test_what_a_killed_job_left_goes_with_the_next_run(tmp_path: Path) -> None:
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    (tmp_path / ".out.parquet.parts/0").mkdir(parents=True)
    dedup(job(tmp_path, source))
    assert not list(tmp_path.glob(".*"))
    assert kept(tmp_path / "out.parquet") == KEPT


def test_a_second_job_with_one_output_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    """Else each removes the other's parts."""
    source = write_json_lines(tmp_path / "items.jsonl", PAGES)
    with scratch_folder(tmp_path / ".out.parquet.parts") as folder:
        with pytest.raises(ArchiveError, match="another job writes to"):
            dedup(job(tmp_path, source))
        assert folder.exists()
    dedup(job(tmp_path, source))
    assert kept(tmp_path / "out.parquet") == KEPT
    assert not list(tmp_path.glob(".*"))


def test_a_store_that_has_pages_is_refused_with_the_way_that_works(tmp_path: Path) -> None:
    old, new = f"sqlite:///{tmp_path / 'old.sqlite'}", f"sqlite:///{tmp_path / 'new.sqlite'}"
    one = write_json_lines(tmp_path / "one.jsonl", PAGES[::2])
    two = write_json_lines(
        tmp_path / "two.jsonl", [*PAGES[1::2], page("c", "A third story. " * 40)]
    )
    dedup(job(tmp_path, one, store=old))
    with pytest.raises(ArchiveError, match=r"has 2 pages, which these would not be compared with"):
        dedup(job(tmp_path, two, store=old))
    dedup(job(tmp_path, one, two, store=new))
    with open_store(new) as store:
        assert [each.url for each in store.pages()] == [*KEPT, "http://a.example/c"]


def test_texts_are_written_to_another_disk(tmp_path: Path) -> None:
    """Nothing can be renamed from one file system to another."""
    here = tmp_path.stat().st_dev
    places = [Path(each) for each in ("/dev/shm", "/tmp") if Path(each).is_dir()]
    other = next((each for each in places if each.stat().st_dev != here), None)
    if other is None:
        skip_aloud("no second file system")
    with TemporaryDirectory(dir=other) as folder:
        feed = write_json_lines(tmp_path / "feed.jsonl", PAGES)
        dedup(job(tmp_path, feed, texts=Path(folder, "new", "clean.jsonl")))
        assert len(rows(Path(folder, "new", "clean.jsonl"))) == 2
        assert [file.name for file in Path(folder, "new").iterdir()] == ["clean.jsonl"]


def test_the_kept_texts_are_written_without_what_their_site_repeats(tmp_path: Path) -> None:
    def story(number: int) -> dict[str, Any]:
        text = " ".join(f"word{number}x{place}" for place in range(80))
        body = f"<p>{text}</p><p>Share this story with all your friends today.</p>"
        title = f"Title{number} | The Post"
        return {"url": f"http://a.example/{number}", "html": html(body, title=title)}

    items = [*map(story, range(40)), {**story(39), "url": "http://a.example/copy"}]
    feed = write_json_lines(tmp_path / "feed.jsonl", items)
    dedup(job(tmp_path, feed, texts=tmp_path / "clean.jsonl"))
    lines = rows(tmp_path / "clean.jsonl")
    assert [line["url"] for line in lines] == [item["url"] for item in items[:40]]
    assert {line["title"] for line in lines} == {f"Title{number}" for number in range(40)}
    assert all(line["text"].startswith("word") for line in lines)
    assert not any("Share this" in line["text"] for line in lines)

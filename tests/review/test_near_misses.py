"""Pages that were kept although a stored page is near."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from simhash_pipeline import Options
from simhash_pipeline.drop_log import Drop, DropLog, Run, read_log
from simhash_pipeline.errors import DropLogError
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.review.summary import NOTHING_COUNTS, Summary, rank, to_check, why_rejected
from simhash_pipeline.verdict import RejectedBy, Verdict
from tests.cli.simhash_command import Simhash
from tests.crawl.crawling import crawl
from tests.review.logs import closing, drop, near_miss, read_drops, write_log

PAGE = PageFingerprint(0xAB, 0, 0, "text", "A story", tokens=321)


def kept(number: int, twin: int = 0, rejected_by: RejectedBy = "title") -> Verdict:
    urls = (f"http://a.example/{number}", f"http://a.example/twin/{twin}")
    return Verdict(
        urls[0], False, "near miss", urls[1], content_distance=0, rejected_by=rejected_by
    )


def written(path: Path, verdicts: list[Verdict]) -> list[str]:
    """The URLs of the log's near misses."""
    log = DropLog(path, run="r", spider="s", options=Options())
    for verdict in verdicts:
        log.write(verdict, PAGE)
    log.close()
    return [record["url"] for record in map(json.loads, path.read_text().splitlines())]


def test_few_near_misses_of_one_twin_are_written(tmp_path: Path) -> None:
    variants = [kept(number) for number in range(10_000)]
    urls = written(tmp_path / "log", [*variants, kept(10_000, twin=1)])
    assert urls == [f"http://a.example/{n}" for n in (0, 1, 2, 3, 4, 10_000)]


def test_near_misses_of_a_run_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simhash_pipeline.drop_log._KEPT", 3)
    assert len(written(tmp_path / "log", [kept(n, twin=n) for n in range(9)])) == 3


def test_a_near_miss_has_the_columns_of_a_drop(tmp_path: Path) -> None:
    log = DropLog(tmp_path / "log", run="r", spider="s", options=Options())
    log.write(Verdict("http://a.example/x", True, "content"), PAGE)
    log.write(kept(1), PAGE)
    log.close()
    dropped, near = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert near.keys() - dropped.keys() == {"record"}
    assert (near["record"], near["reason"]) == ("near miss", "title")
    assert [each.url for each in read_drops(tmp_path / "log")] == ["http://a.example/x"]


def test_of_a_page_that_has_changed_the_log_says_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simhash_pipeline.drop_log._KEPT", 3)
    log = DropLog(tmp_path / "log", run="r", spider="s", options=Options())
    log.write(dataclasses.replace(kept(9), reason="changed", changed=("main text",)), PAGE)
    for number in range(3):
        log.write(Verdict(f"http://a.example/{number}", False, "changed", changed=("price",)), PAGE)
    log.close()
    records = [*map(json.loads, (tmp_path / "log").read_text().splitlines())]
    assert [(one["record"], one["reason"], one["changed"]) for one in records] == [
        ("near miss", "title", ["main text"]),
        ("changed", "changed", ["price"]),
        ("changed", "changed", ["price"]),
    ]
    assert read_drops(tmp_path / "log") == []
    summary = Summary()
    summary.take(read_log(tmp_path / "log"))
    assert (summary.drops, len(summary.near_misses)) == (0, 1)


def test_a_near_miss_has_the_limit_that_its_own_text_was_held_to(tmp_path: Path) -> None:
    """Not the setting: two templates need less, a thin page more."""
    log = DropLog(tmp_path / "log", run="r", spider="s", options=Options())
    log.write(
        dataclasses.replace(kept(1, rejected_by="page-specific text"), min_similarity=0.5), PAGE
    )
    log.write(kept(2, rejected_by="title"), PAGE)
    log.close()
    own, title = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert own["thresholds"] == title["thresholds"] | {"min_similarity": 0.5}
    assert title["thresholds"]["min_similarity"] == 0.85


def test_an_unknown_kind_of_line_is_refused(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [near_miss(record="far miss")])
    with pytest.raises(DropLogError, match=r"line 1 is not .*: Invalid enum value 'far miss'"):
        list(read_log(path))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"reason": "sketch", "sketch_distance": 20}, "sketches differ: 20 of at most 18 bits"),
        ({"similarity": 0.8467}, "page-specific texts differ: alike by 84.7% of at least 85.0%"),
        ({"similarity": 0.62}, "page-specific texts differ: alike by 62% of at least 85%"),
        (
            {"similarity": 0.9, "thresholds": {"min_similarity": 0.95}},
            "page-specific texts differ: alike by 90% of at least 95%",
        ),
        ({"similarity": 0.9, "thresholds": {}}, "page-specific texts differ: alike by 90%"),
        (
            {"similarity": 0.0},
            f"page-specific texts differ: {NOTHING_COUNTS}",
        ),
        ({"similarity": None}, "page-specific texts differ: hardly any can be compared"),
        ({"reason": "title"}, "titles or codes tell them apart"),
        ({"reason": "shared notice"}, "the shared text is of neither page"),
        ({"reason": "template"}, "structures differ: 9 of at most 3 bits"),
        ({"reason": "template", "structure_distance": None}, "too few elements to compare"),
    ],
)
def test_what_told_pages_apart_is_said_with_its_limit(fields: dict[str, object], said: str) -> None:
    near = near_miss(**fields)
    assert why_rejected(near.reason, near, near.thresholds).text == said


def test_the_likeliest_copies_come_first_and_are_to_check() -> None:
    same = near_miss(url="same", content_distance=0, twin_title="A story", similarity=0.5)
    alike = near_miss(url="alike", content_distance=1, similarity=0.8)
    other = near_miss(url="other", content_distance=3, similarity=0.2)
    assert sorted([other, alike, same], key=rank) == [same, alike, other]
    assert to_check([other, alike, same], [()] * 3) == {1, 2}
    variant = near_miss(url="variant", reason="fields", twin_title="A story", structure_distance=0)
    printed = near_miss(url="print", reason="fields", content_distance=2, structure_distance=20)
    assert sorted([variant, printed, alike], key=rank) == [alike, printed, variant]


def test_what_differs_in_tracking_is_a_likely_copy_whatever_was_scraped() -> None:
    """A field that varies with each visit keeps every copy, from the first crawl on."""
    urls = [f"http://a.example/1?{query}" for query in ("utm_source=mail", "size=41")]
    assert to_check([near_miss(reason="fields", url=url) for url in urls], [()] * 2) == {0}


def test_near_misses_are_counted_beside_the_drops() -> None:
    summary = Summary()
    records: list[Drop | Run] = [drop(), near_miss(), closing(kept={"new": 1, "near miss": 40})]
    summary.take(records)
    assert list(summary.listed) == [drop()]
    assert (summary.drops, summary.kept_near, summary.kept_to_check) == (1, 40, 1)


@pytest.mark.usefixtures("shared_workers")
def test_an_archive_has_its_near_misses_in_its_drop_log(simhash: Simhash, tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(300))
    lines = [
        {
            "url": f"http://a.example/{n}",
            "html": f"<title>Bell {n}</title><h1>Bell {n}</h1><p>{text}",
        }
        for n in (7, 8)
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert simhash(tmp_path, "dedup", "in.jsonl", "-o", "kept.jsonl").returncode == 0
    records = list(read_log(tmp_path / "kept.jsonl.drops.jsonl"))
    found = [(one.url, one.reason) for one in records if isinstance(one, Drop) and one.is_near_miss]
    assert found == [("http://a.example/8", "title")]


def test_dropped_lists_what_a_crawl_kept_though_it_was_near(
    simhash: Simhash, tmp_path: Path
) -> None:
    text = " ".join(f"word{number}" for number in range(300))
    pages = [
        {
            "url": f"http://a.example/{number}",
            "html": f"<title>{title}</title><body><h1>{title}</h1><article><p>{text}</article>",
        }
        for number, title in enumerate(("Release 3.27.1", "Release 3.27.2"))
    ]
    crawl(tmp_path, pages)
    first = simhash(tmp_path, "dropped")
    assert (first.returncode, first.stderr) == (0, "")
    assert "1 kept though near a stored page; " in first.stdout
    assert "; --kept lists these" in first.stdout
    listed = simhash(tmp_path, "dropped", "--kept").stdout
    assert (
        "  http://a.example/1\n    ≈ http://a.example/0\n    titles or codes tell them apart\n"
        in listed
    )

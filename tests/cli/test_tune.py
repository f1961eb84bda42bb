"""`scrapy simhash tune`: thresholds by the pairs of a source's own pages."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pytest

from simhash_pipeline import Options, open_store
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.review.pairs import read_sheet
from tests.cli.simhash_command import Simhash
from tests.crawl.crawling import crawl

dice = random.Random(11)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = ["".join(dice.choices(LETTERS, k=6)) for _ in range(4_000)]


def pages() -> dict[str, str]:
    """Twelve stories of 300 words, and of each a copy with one to six words changed."""
    found = {}
    for number in range(12):
        words = dice.choices(VOCABULARY, k=300)
        found[f"http://a.example/{number}"] = " ".join(words)
        for place in dice.sample(range(300), 1 + number % 6):
            words[place] = dice.choice(VOCABULARY)
        found[f"http://a.example/{number}/copy"] = " ".join(words)
    return {url: f"<title>{url[17:]}</title><body><p>{text}" for url, text in found.items()}


PAGES = pages()


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    lines = (json.dumps({"url": url, "html": html}) for url, html in PAGES.items())
    (tmp_path / "items.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def filled(path: Path) -> None:
    """Answer a sheet as someone who knows: a page and its copy are twins, no others."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["twins"] = "y" if row["url_b"] == f"{row['url_a']}/copy" else "n"
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.DictWriter(file, rows[0])
        sheet.writeheader()
        sheet.writerows(rows)


def test_without_answers_the_distances_of_all_pairs_are_told_with_examples(
    simhash: Simhash, feed: Path
) -> None:
    result = simhash(feed, "tune", "items.jsonl")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("items.jsonl: 24 pages with a content fingerprint\n")
    assert "The valley between near-duplicates and other pages lies from " in result.stdout
    assert "/copy" in result.stdout
    assert "\n1 bit apart, sketches " in result.stdout
    assert "Precision" not in result.stdout
    told = json.loads(simhash(feed, "tune", "items.jsonl", "--json").stdout)
    assert sum(told["pairs"]) == 24 * 23 / 2
    assert (told["recommended"], told["answers"]) == (None, 0)


def test_a_sheet_that_is_filled_in_gives_precision_and_settings(
    simhash: Simhash, feed: Path
) -> None:
    written = simhash(feed, "tune", "items.jsonl", "--sheet", "s.csv")
    assert written.returncode == 0
    filled(feed / "s.csv")
    arguments = ("tune", "items.jsonl", "--labels", "s.csv", "--precision")
    told = json.loads(simhash(feed, *arguments, ".6", "--json").stdout)
    last = told["thresholds"][12]["unverified"]
    assert last["pairs"] == told["answers"] >= 10
    best = told["recommended"]
    assert told["thresholds"][best["content_distance"]]["verified"]["low"] >= 0.6
    words = simhash(feed, *arguments, ".6").stdout
    assert f"SIMHASH_CONTENT_DISTANCE = {best['content_distance']}\n" in words
    assert f"SIMHASH_VERIFY_DISTANCE = {best['verify_distance']}\n" in words
    few = simhash(feed, *arguments, ".95").stdout
    assert re.search(
        r"It takes at least \d\d more answers to pairs within 3 bits, all of them", few
    )


def test_a_sheet_with_answers_is_not_written_over(simhash: Simhash, feed: Path) -> None:
    for _ in range(2):  # one without answers may be
        assert simhash(feed, "tune", "items.jsonl", "--sheet", "s.csv").returncode == 0
    filled(feed / "s.csv")
    answered = (feed / "s.csv").read_bytes()
    result = simhash(feed, "tune", "items.jsonl", "--sheet", "s.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert "s.csv holds answers: take them with --labels, or name another file" in result.stderr
    assert (feed / "s.csv").read_bytes() == answered
    same = ("--labels", "s.csv", "--sheet", "s.csv")
    assert simhash(feed, "tune", "items.jsonl", *same).returncode == 0
    assert read_sheet(feed / "s.csv")


def test_pairs_need_two_pages(simhash: Simhash, feed: Path) -> None:
    thin = simhash(feed, "tune", "items.jsonl", "-s", "SIMHASH_MIN_TOKENS=9999")
    assert (thin.returncode, thin.stdout) == (2, "")
    assert "a pair needs two pages of at least 9999 tokens, and items.jsonl has 0" in thin.stderr


def test_a_record_that_can_not_be_read_is_passed_over_and_told(
    simhash: Simhash, feed: Path
) -> None:
    with (feed / "items.jsonl").open("a") as items:
        items.write("{\n")
    result = simhash(feed, "tune", "items.jsonl")
    assert "24 pages with a content fingerprint, 1 that can't be read left out\n" in result.stdout
    assert json.loads(simhash(feed, "tune", "items.jsonl", "--json").stdout)["left_out"] == 1


def answered_drops(path: Path, pairs: dict[tuple[str, str], str], distance: str = "2") -> None:
    """A sheet as the report saves it."""
    rows = [["twins", "distance", "sketch_distance", "url_a", "url_b", "reason"]]
    rows += [[answer, distance, "4", *urls, "content"] for urls, answer in pairs.items()]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)


def test_answers_about_drops_count_though_their_pairs_were_not_drawn(
    simhash: Simhash, feed: Path
) -> None:
    story = "http://a.example/0"
    answered_drops(
        feed / "a.csv", {(story, f"{story}/copy"): "y", (story, "http://a.example/1"): "n"}
    )
    result = simhash(feed, "tune", "items.jsonl", "--labels", "a.csv")
    assert result.returncode == 0
    assert "1 answer of pairs that were not drawn at random" in result.stdout
    told = json.loads(simhash(feed, "tune", "items.jsonl", "--labels", "a.csv", "--json").stdout)
    assert told["answers"] == 2


def test_answers_about_drops_are_enough_where_the_store_has_no_texts(
    simhash: Simhash, feed: Path
) -> None:
    with open_store(f"sqlite:///{feed}/plain.sqlite") as store:
        store.stamp(stamp_for(Options()))
    answered_drops(feed / "a.csv", {(f"http://a.example/{n}", "http://x"): "y" for n in range(80)})
    result = simhash(feed, "tune", "plain.sqlite", "--labels", "a.csv")
    assert "plain.sqlite holds no texts: the answered pairs alone are counted" in result.stdout
    assert "SIMHASH_CONTENT_DISTANCE = 2\n" in result.stdout


def test_a_sheet_that_cannot_be_written_is_told(simhash: Simhash, feed: Path) -> None:
    result = simhash(feed, "tune", "items.jsonl", "--sheet", "no/s.csv")
    assert result.returncode == 2
    assert result.stderr.startswith("scrapy simhash tune: no/s.csv: No such file or directory")


def test_a_store_with_texts_and_a_folder_give_what_the_feed_gives(
    simhash: Simhash, feed: Path
) -> None:
    told = json.loads(simhash(feed, "tune", "items.jsonl", "--json").stdout)
    (feed / "pages").mkdir()
    for number, html in enumerate(PAGES.values()):
        (feed / "pages" / f"{number}.html").write_text(html)
    crawl(
        feed,
        [{"url": url, "html": html} for url, html in PAGES.items()],
        SIMHASH_KEEP_TEXT=True,
    )
    for source in (["pages"], [".scrapy/simhash/items.sqlite"], []):
        found = simhash(feed, "tune", *source, "--json")
        assert found.returncode == 0
        assert json.loads(found.stdout)["pairs"] == told["pairs"]


def test_of_many_pages_some_are_drawn(
    simhash: Simhash, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simhash_pipeline.cli.tune.MAX_PAGES", 10)
    result = simhash(feed, "tune", "items.jsonl")
    assert "10 pages with a content fingerprint, drawn out of 24" in result.stdout
    assert result.stdout == simhash(feed, "tune", "items.jsonl").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl"], "none.jsonl can't be read: No such file or directory"),
        (["words.txt"], "words.txt must be a WARC or WET file (.warc, .wet, also .gz), a feed"),
        (["binary.jsonl"], "no page of binary.jsonl can be read: item 1: it is no JSON"),
        (["other.jsonl"], "item 1: the item has no page in its field 'html'"),
        (["empty"], "empty holds no page: no file's name in it ends in .html"),
        (["sqlite:///none.sqlite"], "there is no store at none.sqlite"),
        (["memory:"], "a store in memory is gone when its crawl ends"),
        (["items.jsonl", "--pairs", "0"], "must be a whole number, 1 or more, not '0'"),
        (["plain.sqlite"], "plain.sqlite holds no texts: crawl with SIMHASH_KEEP_TEXT=True"),
        (["items.jsonl", "--labels", "words.txt"], "is no sheet of pairs: no column"),
        (
            ["items.jsonl", "--labels", "others.csv"],
            "the answers are about other pages than those of items",
        ),
        (["items.jsonl", "--precision", "95"], "must be a number between 0 and 1, not '95'"),
        (["items.jsonl", "-S", "plain.sqlite"], "name items.jsonl or a store, not both"),
        (["torn.jsonl"], "50 tokens, and torn.jsonl has 1, and 1 that can't be read"),
        (["plain.sqlite", "-s", "SIMHASH_BITS=128"], "made with other options: bits 64 (now 128)"),
        (["redis://127.0.0.1:1"], "connecting to 127.0.0.1:1"),
        ([], "no crawl has left a store here"),
    ],
)
def test_wrong_use_gets_one_line_and_exit_code_2(
    simhash: Simhash, feed: Path, arguments: list[str], message: str
) -> None:
    (feed / "words.txt").write_text("some words\n")
    lines = (feed / "items.jsonl").read_bytes().splitlines(keepends=True)
    (feed / "torn.jsonl").write_bytes(lines[0] + lines[1][:-30])
    (feed / "binary.jsonl").write_bytes(bytes(range(256)))
    (feed / "other.jsonl").write_text('{"title": "x"}\n')
    (feed / "empty").mkdir()
    (feed / "others.csv").write_text("twins,url_a,url_b\ny,http://b.example/,http://c.example/\n")
    with open_store(f"sqlite:///{feed}/plain.sqlite") as store:
        store.stamp(stamp_for(Options()))
    result = simhash(feed, "tune", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert message in line

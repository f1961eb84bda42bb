"""`scrapy simhash tune`: thresholds by the pairs of a store's own pages."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pytest

from simhash_pipeline import Fingerprinter, Options, open_store
from simhash_pipeline.answers import read_sheet
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.stores.contract import PageText
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
ITEMS = ("-S", "items.sqlite")


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A directory with stores of these pages' texts, of one page, and of none."""
    fingerprinter, texts = Fingerprinter(), []
    for url, html in PAGES.items():
        page = fingerprinter.fingerprint(html)
        texts.append(PageText("", url, page.title, page.text, 0.0))
    for name, kept in (("items", texts), ("one", texts[:1]), ("plain", [])):
        with open_store(f"sqlite:///{tmp_path}/{name}.sqlite") as store:
            store.stamp(stamp_for(Options()))
            store.keep_texts(kept)
    return tmp_path


def filled(path: Path) -> None:
    """Answer a sheet as someone who knows: a page and its copy are twins, no others."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["answer"] = "y" if row["url"] == f"{row['twin_url']}/copy" else "n"
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.DictWriter(file, rows[0])
        sheet.writeheader()
        sheet.writerows(rows)


def test_without_answers_the_distances_of_all_pairs_are_told_with_examples(
    simhash: Simhash, stored: Path
) -> None:
    result = simhash(stored, "tune", *ITEMS)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("items.sqlite: 24 pages with a content fingerprint\n")
    assert "The valley between near-duplicates and other pages lies from " in result.stdout
    assert "/copy" in result.stdout
    assert "\n1 bit apart, sketches " in result.stdout
    assert "Precision" not in result.stdout
    told = json.loads(simhash(stored, "tune", *ITEMS, "--json").stdout)
    assert sum(told["pairs"]) == 24 * 23 / 2
    assert (told["recommended"], told["answers"]) == (None, 0)


def test_a_sheet_that_is_filled_in_gives_precision_and_settings(
    simhash: Simhash, stored: Path
) -> None:
    written = simhash(stored, "tune", *ITEMS, "--sheet", "s.csv")
    assert written.returncode == 0
    filled(stored / "s.csv")
    arguments = ("tune", *ITEMS, "--labels", "s.csv", "--precision")
    told = json.loads(simhash(stored, *arguments, ".6", "--json").stdout)
    assert told["answers"] >= 10
    best = told["recommended"]
    at_best = told["thresholds"][best["content_distance"]]
    assert at_best["precision"]["low"] >= 0.6
    assert 0 < at_best["copies_found"] <= told["copies"] <= told["answers"]
    without = ("-s", "SIMHASH_SECOND_LOOK=False", "-s", "SIMHASH_CONTENT_DISTANCE=8")
    alone = json.loads(simhash(stored, *arguments, ".6", "--json", *without).stdout)
    assert alone["thresholds"][12]["precision"]["pairs"] == told["answers"]
    words = simhash(stored, *arguments, ".6").stdout
    assert f"SIMHASH_CONTENT_DISTANCE = {best['content_distance']}\n" in words
    assert f"SIMHASH_SKETCH_DISTANCE = {best['sketch_distance']}\n" in words
    few = simhash(stored, *arguments, ".95").stdout
    assert re.search(
        r"It takes at least \d\d more answers to pairs within 3 bits, all of them", few
    )


def test_a_sheet_with_answers_is_not_written_over(simhash: Simhash, stored: Path) -> None:
    for _ in range(2):  # one without answers may be
        assert simhash(stored, "tune", *ITEMS, "--sheet", "s.csv").returncode == 0
    filled(stored / "s.csv")
    answered = (stored / "s.csv").read_bytes()
    result = simhash(stored, "tune", *ITEMS, "--sheet", "s.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert "s.csv holds answers: take them with --labels, or name another file" in result.stderr
    assert (stored / "s.csv").read_bytes() == answered
    same = ("--labels", "s.csv", "--sheet", "s.csv")
    assert simhash(stored, "tune", *ITEMS, *same).returncode == 0
    assert read_sheet(stored / "s.csv")


def test_pairs_need_two_pages(simhash: Simhash, stored: Path) -> None:
    thin = simhash(stored, "tune", *ITEMS, "-s", "SIMHASH_MIN_TOKENS=9999")
    assert (thin.returncode, thin.stdout) == (2, "")
    assert "a pair needs two pages of at least 9999 tokens, and items.sqlite has 0" in thin.stderr


def answered_drops(path: Path, pairs: dict[tuple[str, str], str], distance: str = "2") -> None:
    """A sheet as the report saves it."""
    rows = [["answer", "distance", "sketch_distance", "twin_url", "url", "reason"]]
    rows += [[answer, distance, "4", *urls, "content"] for urls, answer in pairs.items()]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)


def test_answers_about_drops_count_though_their_pairs_were_not_drawn(
    simhash: Simhash, stored: Path
) -> None:
    story = "http://a.example/0"
    answered_drops(
        stored / "a.csv", {(story, f"{story}/copy"): "y", (story, "http://a.example/1"): "n"}
    )
    result = simhash(stored, "tune", *ITEMS, "--labels", "a.csv")
    assert result.returncode == 0
    assert "1 answer of pairs that were not drawn at random" in result.stdout
    told = json.loads(simhash(stored, "tune", *ITEMS, "--labels", "a.csv", "--json").stdout)
    assert told["answers"] == 2


def test_answers_of_both_lists_say_what_the_settings_get_wrong_each_way(
    simhash: Simhash, stored: Path
) -> None:
    """As the report saves them: 80 right drops, a wrong one, 4 copies kept, one for its title."""
    head = "answer,distance,sketch_distance,twin_url,url,reason,structure_distance,own_likeness"
    lines = [f"copy,0,2,http://a.example/t,http://a.example/{n},content,1,1" for n in range(80)]
    lines += ["another page,1,2,http://a.example/t,http://a.example/w,content,1,0.9"]
    lines += [f"copy,0,2,http://a.example/t,http://a.example/k{n},own text,1,0.8" for n in range(3)]
    lines += ["copy,0,2,http://a.example/t,http://a.example/n,title,1,0.8"]
    (stored / "a.csv").write_text("\n".join([head, *lines]))
    arguments = ("tune", "-S", "plain.sqlite", "--labels", "a.csv")
    told = json.loads(simhash(stored, *arguments, "--json").stdout)
    assert told["in_force"] == {"dropped_wrongly": 1, "kept_wrongly": 4}
    assert (told["thresholds"][0]["copies_found"], told["copies"]) == (80, 84)
    words = simhash(stored, *arguments).stdout
    wrong = "5 of 85 answers wrong: 1 dropped that is another page, 4 kept that is a copy.\n"
    assert f"The settings in force get {wrong}" in words
    assert "they\nfind 83 of 84 copies:\n\nSIMHASH_CONTENT_DISTANCE = 0\n" in words
    assert words.endswith("SIMHASH_SKETCH_DISTANCE = 18\nSIMHASH_OWN_LIKENESS = 0.8\n")


def test_answers_about_drops_are_enough_where_the_store_has_no_texts(
    simhash: Simhash, stored: Path
) -> None:
    answered_drops(
        stored / "a.csv", {(f"http://a.example/{n}", "http://x"): "y" for n in range(80)}
    )
    result = simhash(stored, "tune", "-S", "plain.sqlite", "--labels", "a.csv")
    assert "plain.sqlite holds no texts: the answered pairs alone are counted" in result.stdout
    assert "SIMHASH_CONTENT_DISTANCE = 2\n" in result.stdout


def test_a_sheet_that_cannot_be_written_is_told(simhash: Simhash, stored: Path) -> None:
    result = simhash(stored, "tune", *ITEMS, "--sheet", "no/s.csv")
    assert result.returncode == 2
    assert result.stderr.startswith("scrapy simhash tune: no/s.csv: No such file or directory")


def test_the_store_of_the_project_is_taken_where_none_is_named(
    simhash: Simhash, stored: Path
) -> None:
    told = json.loads(simhash(stored, "tune", *ITEMS, "--json").stdout)
    crawl(
        stored,
        [{"url": url, "html": html} for url, html in PAGES.items()],
        SIMHASH_KEEP_TEXT=True,
    )
    for named in (["-S", ".scrapy/simhash/items.sqlite"], []):
        found = simhash(stored, "tune", *named, "--json")
        assert found.returncode == 0
        assert json.loads(found.stdout)["pairs"] == told["pairs"]


def test_of_many_pages_some_are_drawn(
    simhash: Simhash, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simhash_pipeline.cli.tune.MAX_PAGES", 10)
    result = simhash(stored, "tune", *ITEMS)
    assert "10 pages with a content fingerprint, drawn out of 24" in result.stdout
    assert result.stdout == simhash(stored, "tune", *ITEMS).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-S", "none.sqlite"], "there is no store at none.sqlite"),
        (["-S", "memory:"], "a store in memory is gone when its crawl ends"),
        ([*ITEMS, "--pairs", "0"], "must be a whole number, 1 or more, not '0'"),
        (["-S", "plain.sqlite"], "plain.sqlite holds no texts: crawl, or `dedup --store`, with"),
        ([*ITEMS, "--labels", "words.txt"], "is no sheet of answers: no column"),
        (
            [*ITEMS, "--labels", "others.csv"],
            "the answers are about other pages than those of items",
        ),
        ([*ITEMS, "--precision", "95"], "must be a number between 0 and 1, not '95'"),
        ([*ITEMS, "--sheet", "items.sqlite"], "items.sqlite"),
        (["-S", "one.sqlite"], "two pages of at least 50 tokens, and one.sqlite has 1"),
        ([*ITEMS, "-s", "SIMHASH_TOP_N=5"], "made with other options: top_n None (now 5)"),
        (["-S", "redis://127.0.0.1:1"], "connecting to 127.0.0.1:1"),
        ([], "no crawl has left a store here"),
    ],
)
def test_wrong_use_gets_one_line_and_exit_code_2(
    simhash: Simhash, stored: Path, arguments: list[str], message: str
) -> None:
    (stored / "words.txt").write_text("some words\n")
    (stored / "others.csv").write_text(
        "answer,twin_url,url\ny,http://b.example/,http://c.example/\n"
    )
    result = simhash(stored, "tune", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert message in line

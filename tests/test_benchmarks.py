import json
import sys
from pathlib import Path

import pytest

from benchmarks import soak, wrong_drops
from benchmarks.pages import PAGE_BYTES, made_pages
from benchmarks.peer_contenders import Project
from benchmarks.peers import Case, demo_case, scores, table
from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, Options
from tests.trees import parse


@pytest.mark.parametrize(("language", "tokens"), [("English", 1_200), ("Chinese", 1_500)])
def test_made_pages_are_as_large_and_as_dense_as_real_ones(language: str, tokens: int) -> None:
    (page,) = made_pages()[language]
    assert PAGE_BYTES - 500 < len(page.html) <= PAGE_BYTES
    assert 1_500 <= sum(1 for _ in parse(page.html).iter()) <= 2_500
    assert Fingerprinter().fingerprint(page.html).tokens > tokens


def test_made_pages_are_the_same_at_every_run() -> None:
    assert made_pages() == made_pages()


def test_a_table_is_padded_and_numbers_stand_to_the_right() -> None:
    assert markdown("what, share>", [["one", "0.5"], ["another", "10.25"]]).splitlines() == [
        "| what    | share |",
        "| ------- | ----: |",
        "| one     |   0.5 |",
        "| another | 10.25 |",
    ]


def test_peers_are_held_to_the_demo_sites_answers_about_every_pair_of_a_language() -> None:
    case = demo_case("zh")
    stories = [path for one in case.pairs.items() if one[1] for path in one[0]]
    assert len(case.pairs) == len(case.documents) * (len(case.documents) - 1) / 2
    assert case.pairs["/zh/gangkou/new-berth", "/zh/2025/0318/new-berth"]
    assert not case.pairs["/zh/gangkou/haiyan-ferry", "/zh/gangkou/new-berth"]
    assert not any("/en/" in path for path in stories)


def test_this_project_is_the_first_line_of_the_peers_table_and_its_own_measure() -> None:
    case = demo_case("en")
    few = {
        "/en/port/crane-seven",
        "/2025/03/14/crane-seven-lifts-again",
        "/en/port/ferry-corrie",
    }
    documents = [one for one in case.documents if one.name in few]
    pairs = {pair: near for pair, near in case.pairs.items() if few.issuperset(pair)}
    found = scores(Case(documents, pairs), {"this project": Project()}, rounds=1)
    assert table({"en": found}).splitlines()[-1].split("|")[1:-1] == [
        " this project          ",
        "              1.000 ",
        "  1.000 ",
        "       1.00 ",
    ]


def test_a_soak_finds_a_verdict_that_is_not_the_right_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = 60
    soak.soak(tmp_path, pages, hours=0, kill_every=0)
    assert soak.check(tmp_path, pages, killed=False)
    verdicts = tmp_path / "verdicts.jsonl"
    lines = [json.loads(line) for line in verdicts.read_text().splitlines()]
    assert sum(line["dropped"] for line in lines) >= pages / 5 - 2
    lines[-1]["dropped"] = not lines[-1]["dropped"]
    verdicts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert not soak.check(tmp_path, pages, killed=False)
    assert "1 verdicts differ from those made again" in capsys.readouterr().out


def test_wrong_drops_are_counted_without_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    menu = "<ul>" + "".join(f"<li>Part {n} of the manual</li>" for n in range(9)) + "</ul>"
    stories = {name: " ".join(f"{name}{n}" for n in range(200)) for name in "abcdefgh"}
    for name, story in {**stories, "copy": stories["a"]}.items():
        article = f"<article><p>{story}, we heard.</p></article>"
        (folder / f"{name}.html").write_text(f"<body>{menu}{article}")
    monkeypatch.setattr(sys, "argv", ["wrong_drops", str(folder)])
    assert wrong_drops.main() == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| site   |     9 |     1 |        0 |     0 |      0 |",
        "| all    |     9 |     1 |        0 |     0 |      0 |",
    ]
    # By the main text alone a page that shares it and nothing else is dropped.
    beside = " ".join(f"z{n} other" for n in range(100))
    (folder / "z.html").write_text(
        f"<body>{menu}<article><p>{stories['a']}, we heard.</p></article><aside>{beside}</aside>"
    )
    options = Options(verify_distance=None)
    assert wrong_drops.drops_of(folder, options, limit=99, show=0)["wrong"] == 1
    assert wrong_drops.drops_of(folder, Options(), limit=99, show=0)["wrong"] == 0

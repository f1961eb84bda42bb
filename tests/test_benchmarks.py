import sys
from pathlib import Path

import pytest

from benchmarks import boxed_copies, shuffles, wrong_drops
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
        "| site   |     9 |     1 |        0 |     0 |      0 |             0 |          0 |",
        "| all    |     9 |     1 |        0 |     0 |      0 |             0 |          0 |",
    ]
    # By the main text alone a page that shares it and nothing else is dropped.
    beside = " ".join(f"z{n} other" for n in range(120))
    (folder / "z.html").write_text(
        f"<body>{menu}<article><p>{stories['a']}, we heard.</p></article><aside>{beside}</aside>"
    )
    options = Options(second_look=False)
    assert wrong_drops.drops_of(folder, options, limit=99, show=0)["wrong"] == 1
    assert wrong_drops.drops_of(folder, Options(), limit=99, show=0)["wrong"] == 0


def test_a_drop_under_another_title_is_counted_and_a_sign_is_a_word(tmp_path: Path) -> None:
    lines = "".join(f"<p>Line {n} of the page about that and no other thing.</p>" for n in range(9))
    for name, title in (("plus", "Plus"), ("minus", "Minus"), ("again", "minus ")):
        page = f"<title>{title}</title><body><main>{lines}</main>"
        (tmp_path / f"{name}.html").write_text(page)
    found = wrong_drops.drops_of(tmp_path, Options(second_look=False), limit=99, show=0)
    assert (found["right"], found["another title"]) == (2, 1)
    (tmp_path / "plus.html").write_text(f"<title>Plus</title><body><main>{signs('+')}</main>")
    (tmp_path / "minus.html").write_text(f"<title>Minus</title><body><main>{signs('-')}</main>")
    (tmp_path / "again.html").unlink()
    found = wrong_drops.drops_of(tmp_path, Options(second_look=False), limit=99, show=0)
    assert (found["right"], found["wrong"], found["another title"]) == (0, 1, 1)


def test_what_a_drop_under_another_title_loses_is_counted(tmp_path: Path) -> None:
    lines = "".join(f"<p>Line {n} of the page about that and no other thing.</p>" for n in range(9))
    own = "".join(f"<i>own{n}</i> " for n in range(53))  # 53 + 4 shingles begin or end with one
    for name, beside in (("module", ""), ("module.raw", own)):
        page = f"<title>{name}</title><body><main>{lines}</main><aside>{beside}</aside>"
        (tmp_path / f"{name}.html").write_text(page)
    found = wrong_drops.drops_of(tmp_path, Options(second_look=False), limit=99, show=0)
    assert (found["another title"], found["loses much"]) == (1, 1)
    (tmp_path / "again.html").write_text(f"<title>Again</title><body><aside>{own}</aside>")
    found = wrong_drops.drops_of(tmp_path, Options(second_look=False), limit=99, show=0)
    assert (found["another title"], found["loses much"]) == (1, 0)  # a kept page has them


def signs(sign: str) -> str:
    return "".join(f"<p>It names operator {sign} of class {n}.</p>" for n in range(9))


def test_copies_with_a_box_are_found_or_kept_and_forgotten(tmp_path: Path) -> None:
    for number in range(6):
        text = " ".join(f"w{number}x{word}" for word in range(400))
        (tmp_path / f"{number}.html").write_text(
            f"<body><main><p>{text}, we heard.</p></main></body>"
        )
    files = boxed_copies.drawn(tmp_path, 10)
    assert b"</div></body>" in boxed_copies.with_box(files[0].read_bytes(), 1)
    rows = boxed_copies.found_after(files, [3, 10], 2, Options(second_look=False))
    assert rows == [(3, 2, 2), (6, 2, 2)]


def test_the_demo_site_keeps_each_story_in_whatever_order_its_pages_come() -> None:
    pages = dict(shuffles.demo_pages())
    crawls = [shuffles.judged(pages, order)[0] for order in range(2)]
    assert shuffles.lost_stories(frozenset(pages), crawls) == 0
    assert shuffles.lost_stories(frozenset(pages), [crawls[0], frozenset()]) > 90

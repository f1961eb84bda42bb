"""`scrapy simhash tune`: thresholds by a person's answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.simhash_command import Simhash

HEAD = "answer,distance,sketch_distance,twin_url,url,reason,structure_distance,similarity"


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """As the report saves it: 80 right drops, a wrong one, 4 copies kept, one for its title."""
    lines = [f"copy,0,2,http://a.example/t,http://a.example/{n},content,1,1" for n in range(80)]
    lines += ["another page,1,2,http://a.example/t,http://a.example/w,content,1,0.9"]
    lines += [
        f"copy,0,2,http://a.example/t,http://a.example/k{n},page-specific text,1,0.8"
        for n in range(3)
    ]
    lines += ["copy,0,2,http://a.example/t,http://a.example/n,title,1,0.8"]
    lines += ["don't know,0,2,http://a.example/t,http://a.example/?,content,1,1"]
    lines += ["copy,,,http://a.example/t,http://a.example/thin,thin,1,1"]
    (tmp_path / "a.csv").write_text("\n".join([HEAD, *lines]))
    return tmp_path


def test_answers_of_both_lists_say_what_the_settings_get_wrong_each_way(
    simhash: Simhash, answered: Path
) -> None:
    result = simhash(answered, "tune", "a.csv")
    assert (result.returncode, result.stderr) == (0, "")
    wrong = "5 of 85 answers wrong: other pages dropped 1, copies kept 4."
    assert f"Alone, the thresholds in force get {wrong}" in result.stdout
    assert "they find 83 of 84 copies:\n\nSIMHASH_CONTENT_DISTANCE = 0\n" in result.stdout
    assert result.stdout.endswith("SIMHASH_SKETCH_DISTANCE = 18\nSIMHASH_MIN_SIMILARITY = 0.8\n")


def test_drops_by_item_say_nothing_of_thresholds(simhash: Simhash, answered: Path) -> None:
    lines = (answered / "a.csv").read_text().splitlines()
    more = [f"copy,7,24,http://a.example/t,http://a.example/i{n},item,1,0.1" for n in range(99)]
    (answered / "b.csv").write_text("\n".join([*lines, *more]))
    told = simhash(answered, "tune", "b.csv").stdout
    assert "they find 182 of 183 copies:\n\nSIMHASH_CONTENT_DISTANCE = 0\n" in told
    assert told.endswith("SIMHASH_SKETCH_DISTANCE = 18\nSIMHASH_MIN_SIMILARITY = 0.8\n")
    (answered / "c.csv").write_text("\n".join([HEAD, *more]))
    told = simhash(answered, "tune", "c.csv").stdout
    assert told.endswith("; something else decides 99 of these answers.\n")


def test_fields_that_keep_copies_are_named(simhash: Simhash, answered: Path) -> None:
    lines = (answered / "a.csv").read_text().splitlines()
    shop = "copy,0,2,http://a.example/t,http://a.example"
    more = [f'{shop}/f{n},fields,1,1,"position, price"' for n in range(2)]
    more += [f"{shop}/g,fields,1,1,position", f"{shop}/h,content,1,1,place"]
    (answered / "b.csv").write_text("\n".join([f"{lines[0]},fields", *lines[1:], *more]))
    said = simhash(answered, "tune", "b.csv").stdout
    assert "Fields that keep copies: position (3), price (2). SIMHASH_ITEM_FIELDS may" in said
    assert "ITEM_FIELDS" not in simhash(answered, "tune", "a.csv").stdout


def test_each_distance_has_its_precision_and_the_copies_that_it_finds(
    simhash: Simhash, answered: Path
) -> None:
    words = [line.split() for line in simhash(answered, "tune", "a.csv").stdout.splitlines()]
    assert ["0", "80", "1.000", "0.954-1.000", "████████████", "80", "███████████"] in words
    assert ["8", "81", "0.988", "0.933-0.998", "████████████", "80", "███████████"] in words


def test_without_a_second_look_the_distance_alone_is_recommended(
    simhash: Simhash, answered: Path
) -> None:
    result = simhash(answered, "tune", "a.csv", "-s", "SIMHASH_SECOND_LOOK=False")
    assert result.stdout.endswith("\n\nSIMHASH_CONTENT_DISTANCE = 0\n")


def test_too_few_answers_recommend_nothing(simhash: Simhash, answered: Path) -> None:
    lines = (answered / "a.csv").read_text().splitlines()
    (answered / "few.csv").write_text("\n".join(lines[:61]))
    result = simhash(answered, "tune", "few.csv")
    assert result.returncode == 0
    assert (
        "No distance is right 95% of the time with enough certainty.\nAnswer more" in result.stdout
    )
    assert "SIMHASH_CONTENT_DISTANCE" not in result.stdout


def test_wrong_pairs_that_no_distance_separates_are_counted(
    simhash: Simhash, answered: Path
) -> None:
    text = (answered / "a.csv").read_text()
    (answered / "wrong.csv").write_text(text.replace("copy", "another page", 9))
    result = simhash(answered, "tune", "wrong.csv")
    assert "\n9 wrong pairs 0 bits apart: scrape what differs, or add it.\n" in result.stdout


def test_a_distance_that_no_pair_speaks_of_stays_as_it_is(simhash: Simhash, answered: Path) -> None:
    """70 copies and another page, all 0 bits apart, are no evidence against 3."""
    lines = (answered / "a.csv").read_text().splitlines()
    wrong = "another page,0,2,http://a.example/t,http://a.example/w,content,1,0.9"
    (answered / "zero.csv").write_text("\n".join([*lines[:71], wrong]))
    told = simhash(answered, "tune", "zero.csv", "--precision", ".9").stdout
    assert "they find 70 of 70 copies:\n\nSIMHASH_CONTENT_DISTANCE = 3\n" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "none.csv can't be read: No such file or directory"),
        (["words.txt"], "is not a CSV sheet of answers: no column"),
        (["thin.csv"], "thin.csv has no lines that answer y or n, and have a distance"),
        (["a.csv", "--precision", "x"], "invalid float value: 'x'"),
        ([], "the following arguments are required: sheet"),
    ],
)
def test_wrong_use_gets_one_line_and_exit_code_2(
    simhash: Simhash, answered: Path, arguments: list[str], message: str
) -> None:
    (answered / "words.txt").write_text("some words\n")
    (answered / "thin.csv").write_text("answer,twin_url,url\ny,http://b.example/,http://c/\n")
    result = simhash(answered, "tune", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert message in line

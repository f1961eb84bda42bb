"""What tells the judge more than pages can: fields of their items, and a person's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline import Judge, Options, SimhashError, Verdict, open_store
from tests.crawl.trap_site import prose

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = Options(item_fields=("sku", "price"))
SHOE = f"<title>Runner</title><main><h1>Runner</h1><p>{prose('a shoe')}</p></main>"
OTHER = f"<title>Runner</title><main><h1>Runner</h1><p>{prose('another')}</p></main>"
A, B = "http://a.example/1", "http://a.example/2"


def told(verdict: Verdict) -> tuple[bool, str, str | None]:
    return verdict.dropped, verdict.reason, verdict.rejected_by


def judged(judge: Judge, url: str, item: dict[str, Any]) -> Verdict:
    return judge.judge(url, SHOE, item)


def test_forty_variants_of_one_text_are_forty_things() -> None:
    with Judge(options=FIELDS) as judge:
        found = [judged(judge, f"{A}?v={n}", {"sku": n, "price": 9}) for n in range(40)]
        assert [told(verdict) for verdict in found[:2]] == [
            (False, "new", None),
            (False, "near miss", "fields"),
        ]
        assert found[1].differing_fields == ("sku",)
        assert not any(verdict.dropped for verdict in found)
        assert judged(judge, B, {"sku": 7, "price": 9}).dropped


def test_a_changed_field_makes_a_known_page_changed_whatever_its_text() -> None:
    with Judge(options=FIELDS) as judge:
        found = [judged(judge, A, {"sku": 1, "price": price}).reason for price in (9, 9, 8)]
    assert found == ["new", "unchanged", "changed"]


@pytest.mark.parametrize(
    ("fields", "item", "reason"),
    [
        (("club", "born"), {"club": "Kelder", "born": "4 May"}, "unchanged"),
        (("club", "born"), {"club": "Kelder"}, "changed"),
        (("club",), {"club": "Kelder", "born": "4 May"}, "changed"),
        ((), {"club": "Kelder", "born": "4 May"}, "changed"),
        (("club", "born"), {"club": "Kelder", "born": "5 May"}, "changed"),
    ],
)
def test_two_named_fields_decide_what_of_a_known_page_has_changed(
    fields: tuple[str, ...], item: dict[str, Any], reason: str
) -> None:
    with Judge(options=Options(item_fields=fields)) as judge:
        judge.judge(
            A, f"{SHOE}<p>Kelder, 4 May", {**item, "born": "4 May"} if "born" in item else item
        )
        assert judge.judge(A, f"{OTHER}<p>Kelder, {item.get('born')}", item).reason == reason


def test_a_verdict_names_what_of_a_known_page_has_changed() -> None:
    def changed(*visits: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
        with Judge(options=Options()) as judge:
            verdicts = [judge.judge(A, html, item) for html, item in visits]
        assert [verdict.reason for verdict in verdicts] == ["new", "changed"]
        return verdicts[-1].changed

    def story(title: str, text: str, price: str = "9 EUR") -> str:
        return f"<title>{title}</title><main><h1>It</h1><p>{prose(text)}<p>{price}</main>"

    first, item = story("Tea", "a"), {"price": "9 EUR", "body": prose("a")}
    assert changed((first, {}), (story("Tea", "b"), {})) == ("main text",)
    assert changed((first, {}), (story("Milk", "a"), {})) == ("title",)
    assert changed((first, {}), (story("Milk", "b"), {})) == ("title", "main text")
    second = (story("Tea", "b"), {"price": "9 EUR", "body": prose("b")})
    assert changed((first, item), second) == ("long text",)
    dearer = (story("Tea", "a", "10 EUR"), {"price": "10 EUR", "body": prose("a")})
    assert changed((first, item), dearer) == ("price",)
    assert changed((first, item), (first, {"body": prose("a")})) == ("a value that has gone",)


def test_a_page_that_has_changed_is_compared_whole_the_next_time_too() -> None:
    """It gave one item each time, and so is no list of rows."""
    visits = [("9 EUR", "a"), ("8 EUR", "a"), ("8 EUR", "b"), ("8 EUR", "b"), ("7 EUR", "b")]
    found = []
    with Judge(options=Options(unchanged="drop")) as judge:
        for price, text in visits:
            html = f"<title>Tea</title><main><h1>Tea</h1><p>{prose(text)}<p>{price}</main>"
            item = {"url": A, "price": price, "body": prose(text)}
            found.append(judge.judge(A, html, item).reason)
    assert found == ["new", "changed", "changed", "unchanged", "changed"]


def test_the_page_s_address_takes_no_other_field_s_place() -> None:
    """The names `url` and `status` have one byte."""
    sold = SHOE.replace("<main>", "<main><p>Sold</p>")
    for visits in ([None, "Sold"], ["Sold", None]):
        found = []
        with Judge(options=Options(unchanged="drop")) as judge:
            for status in visits:
                html = SHOE if status is None else sold
                item = {"url": A, "status": status, "body": prose("a shoe")}
                found.append(judge.judge(A, html, item).reason)
        assert found == ["new", "changed"]


def test_a_field_that_only_the_kept_item_has_says_nothing() -> None:
    with Judge(options=FIELDS) as judge:
        assert not judged(judge, A, {"sku": 1, "price": 9}).dropped
        assert judged(judge, B, {"sku": 1}).dropped


def test_named_fields_hold_from_then_on() -> None:
    """A store in which no field was named, and pages whose values stand nowhere."""
    with open_store("memory:") as store:
        assert not judged(Judge(store), A, {"sku": 1}).dropped
        assert judged(Judge(store), B, {"sku": 2}).dropped
        after = Judge(store, FIELDS)
        assert [told(judged(after, B, {"sku": 2})), told(judged(after, A, {"sku": 1}))] == [
            (False, "near miss", "fields"),
            (False, "unchanged", None),
        ]
        assert judged(after, "http://a.example/3", {"sku": 2}).dropped


@pytest.mark.parametrize("given", ['("sku", "price")', "sku, price", ["price", "sku"]])
def test_names_may_be_given_as_a_list_or_a_text(given: object) -> None:
    options = Options.from_settings({"SIMHASH_ITEM_FIELDS": given})
    assert options.item_fields == ("price", "sku")


def sheet(folder: Path, *lines: str, columns: str = "answer,twin_url,url") -> Options:
    path = folder / "answers.csv"
    path.write_text("\n".join([columns, *lines]), encoding="utf-8")
    return Options(answers=str(path))


def test_pairs_answered_another_page_are_never_twins_again(tmp_path: Path) -> None:
    with Judge(options=sheet(tmp_path, f"another page,{A},{B}")) as judge:
        found = [told(judge.judge(url, SHOE)) for url in (A, B, "http://a.example/3")]
    assert found == [
        (False, "new", None),
        (False, "near miss", "answer"),
        (True, "content", None),
    ]


def test_a_page_answered_another_page_is_kept_whatever_is_near(tmp_path: Path) -> None:
    """And its twin for it alone: of others that may be a copy."""
    with Judge(options=sheet(tmp_path, f"another page,{A},{B}")) as judge:
        found = [told(judge.judge(url, SHOE)) for url in (f"{A}/3", B, A, B)]
        assert judge.answers.counts == (1, 1)
    assert found == [
        (False, "new", None),
        (False, "near miss", "answer"),
        (True, "content", None),
        (False, "unchanged", None),
    ]
    with Judge(options=sheet(tmp_path, f"another page,{A},{B}")) as judge:
        assert [judge.judge(url, SHOE).dropped for url in (B, A)] == [False, False]


def test_a_copy_that_a_person_named_is_dropped_though_it_is_another_page_than_others(
    tmp_path: Path,
) -> None:
    lines = f"another page,{A},{B}", f"copy,{A}/3,{B}"
    with Judge(options=sheet(tmp_path, *lines)) as judge:
        found = [told(judge.judge(url, SHOE)) for url in (f"{A}/3", B)]
    assert found == [(False, "new", None), (True, "answer", None)]


def test_another_page_at_a_near_miss_confirms_that_pair_alone(tmp_path: Path) -> None:
    """It was kept already: once its text is that of a third page, it is a copy of it."""
    options = sheet(tmp_path, f"another page,{A},{B},title", columns="answer,twin_url,url,reason")
    with Judge(options=options) as judge:
        found = [judge.judge(url, SHOE).dropped for url in (f"{A}/3", B)]
    assert found == [False, True]
    for reason in ("content", "sketch", ""):
        line = f"another page,{A},{B},{reason}"
        with Judge(options=sheet(tmp_path, line, columns="answer,twin_url,url,reason")) as judge:
            judge.judge(f"{A}/3", SHOE)
            assert not judge.judge(B, SHOE).dropped


def test_a_page_answered_without_a_twin_is_never_dropped(tmp_path: Path) -> None:
    with Judge(options=sheet(tmp_path, f"another page,,{B}")) as judge:
        found = [told(judge.judge(url, SHOE)) for url in (A, f"{A}/3", B)]
        assert judge.answers.counts == (1, 1)
    assert found == [
        (False, "new", None),
        (True, "content", None),
        (False, "near miss", "answer"),
    ]


def test_the_pairs_that_were_met_are_counted(tmp_path: Path) -> None:
    lines = (
        f"copy,{A},{B}",
        f"another page,{A},{A}/3",
        "copy,http://x.example/1,http://x.example/2",
    )
    with Judge(options=sheet(tmp_path, *lines)) as judge:
        for url, page in ((A, SHOE), (B, OTHER), (f"{A}/3", SHOE)):
            judge.judge(url, page)
        assert judge.answers.counts == (3, 2)
        again = Judge(judge._store, options=judge.options)  # of a night on which nothing changes
        for url, page in ((A, SHOE), (B, OTHER), (f"{A}/3", SHOE)):
            again.judge(url, page)
        assert again.answers.counts == (3, 2)
    with Judge() as judge:
        assert judge.answers.counts == (0, 0)


def test_pairs_answered_copy_are_twins_however_far_they_are(tmp_path: Path) -> None:
    for first, second in ((A, B), (B, A)):
        with Judge(options=sheet(tmp_path, f"copy,{A},{B}")) as judge:
            judge.judge(first, SHOE)
            verdict = judge.judge(second, OTHER)
            assert told(verdict) == (True, "answer", None)
            assert verdict.twin_url == first
            assert not judge.judge("http://a.example/3", OTHER).dropped


def test_of_two_stored_pages_that_are_called_copies_the_older_stays(tmp_path: Path) -> None:
    with open_store("memory:") as store:
        clock = iter(range(9)).__next__
        before = Judge(store, Options(), clock)
        for url, page in ((B, SHOE), (A, OTHER)):
            before.judge(url, page)
        after = Judge(store, sheet(tmp_path, f"copy,{A},{B}"), clock)
        found = [told(after.judge(url, page)) for url, page in ((B, SHOE), (A, OTHER), (B, SHOE))]
    assert found == [
        (False, "unchanged", None),
        (True, "answer", None),
        (False, "unchanged", None),
    ]


def test_an_answer_for_a_page_that_is_not_stored_does_nothing(tmp_path: Path) -> None:
    with Judge(options=sheet(tmp_path, f"copy,{A},{B}", f"don't know,{A},{B}")) as judge:
        assert not judge.judge(B, SHOE).dropped


def test_a_bad_sheet_stops_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SimhashError, match=r"answers.csv, line 2: answer is 'perhaps', not copy"):
        Judge(options=sheet(tmp_path, "perhaps,a,b"))
    with pytest.raises(SimhashError, match=r"line 2: a copy needs the URL of the kept page"):
        Judge(options=sheet(tmp_path, "copy, ,http://a.example/2"))
    with pytest.raises(SimhashError, match=r"none.csv can't be read: No such file"):
        Judge(options=Options(answers=str(tmp_path / "none.csv")))

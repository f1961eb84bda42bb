from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simhash_pipeline import (
    Fingerprinter,
    Judge,
    Options,
    PageError,
    PageFingerprint,
    StoreError,
    StoreMismatch,
    Verdict,
    open_store,
)
from simhash_pipeline.item_values import NOTHING
from simhash_pipeline.page.visible import MAIN
from simhash_pipeline.stores.contract import Store
from tests import list_sites
from tests.samples import packed_sample

BASE = 0x5A5A_0F0F_3C3C_9999
SKETCH = 0x1234_5678_9ABC_DEF0_0FED_CBA9_8765_4321


def flip(value: int, bits: int, start: int = 0) -> int:
    """`value` with as many bits turned, spread over the width."""
    for i in range(bits):
        value ^= 1 << (start + i * 7) % 64
    return value


def page(
    content: int | None = BASE,
    structure: int | None = BASE,
    sketch: int | None = SKETCH,
    text: str | None = None,
    title: str = "A title",
) -> PageFingerprint:
    if text is None:  # another one for each content
        text = f"some text {content}".translate(dict(zip(b"0123456789", "abcdefghij", strict=True)))
    return PageFingerprint(content, structure, sketch, text, title, tokens=100)


def thin(text: str, title: str = "A title") -> PageFingerprint:
    return page(content=None, sketch=None, text=text, title=title)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def judge(store: Store, **options: Any) -> Judge:
    return Judge(store, Options(**options), clock=Clock())


ARTICLE = "<title>Fog</title><p>" + " ".join(f"word{i} of the fog bell" for i in range(40))
OTHER = "<title>Gulls</title><p>" + " ".join(f"nest{i} on a cliff" for i in range(40))


def test_a_path_and_html_are_all_that_a_judge_needs(tmp_path: Path) -> None:
    seen = str(tmp_path / "seen.sqlite")
    with Judge(seen) as j:
        assert j.judge("http://a.example/1", ARTICLE).reason == "new"
        assert j.judge("http://b.example/2", ARTICLE.encode()).twin_url == "http://a.example/1"
    with Judge(
        seen, Options(match="structure", unchanged="drop")
    ) as j:  # remembered, judged otherwise
        assert j.judge("http://a.example/1", ARTICLE).dropped
        assert not j.judge("http://c.example/3", OTHER).dropped


def test_a_bare_path_is_an_sqlite_file_and_a_mistyped_url_is_none(tmp_path: Path) -> None:
    path = tmp_path / "seen.sqlite"
    with open_store(str(path)) as store, open_store(f"sqlite:///{path}") as same:
        Judge(store).judge("http://a.example/1", page())
        assert [stored.url for stored in same.pages()] == ["http://a.example/1"]
    for mistyped in ("", "postgres://host/seen", "localhost:6379", "redis//user:secret@host"):
        with pytest.raises(StoreError, match="no store can be opened") as caught:
            open_store(mistyped)
        assert "secret" not in str(caught.value)


def test_a_judge_closes_the_store_that_it_opened_and_no_other(store: Store, tmp_path: Path) -> None:
    with Judge(store) as j:
        j.judge("http://a.example/1", ARTICLE)
    assert len(store) == 1
    seen = str(tmp_path / "seen.sqlite")
    Judge(seen).close()
    with pytest.raises(StoreMismatch):
        Judge(seen, Options(top_n=5))  # an open file would be a ResourceWarning, which is an error


def test_a_judge_closes_its_store_also_where_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Judge(str(tmp_path / "seen.sqlite"))
    monkeypatch.setattr(failing, "flush", lambda: (_ for _ in ()).throw(StoreError("full")))
    with pytest.raises(StoreError, match="full"):
        failing.close()  # an open file would be a ResourceWarning, which is an error


def test_an_item_is_looked_for_in_html_alone(store: Store) -> None:
    """Its value may stand in the source alone: next to fingerprints it would say nothing."""
    read = Fingerprinter().fingerprint(ARTICLE, "http://a.example/1")
    with pytest.raises(TypeError, match="give that as HTML"):
        judge(store).judge("http://a.example/1", read, {"sku": "FR-1001"})
    assert judge(store).judge("http://a.example/1", read, NOTHING).reason == "new"


def test_a_judge_says_of_html_that_is_no_page_what_is_wrong(store: Store) -> None:
    with pytest.raises(PageError, match="no element and no text"):
        judge(store).judge("http://a.example/1", "")


def test_the_first_page_is_kept_as_new(store: Store) -> None:
    assert judge(store).judge("http://a.example/1", page()) == Verdict(
        url="http://a.example/1", dropped=False, reason="new"
    )


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_a_page_within_the_distance_is_dropped_and_its_twin_named(store: Store, bits: int) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    assert j.judge("http://a.example/2", page(flip(BASE, bits), flip(BASE, 20))) == Verdict(
        url="http://a.example/2",
        dropped=True,
        reason="content",
        twin_url="http://a.example/1",
        twin_first_seen=1_001.0,
        content_distance=bits,
        structure_distance=20,
        sketch_distance=0,
    )


def test_a_page_one_bit_beyond_the_distance_is_kept(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    assert not j.judge("http://a.example/2", page(flip(BASE, 4))).dropped


STORY = "Its longest paragraph, which the page's two templates show."


def test_a_page_of_the_same_longest_paragraph_is_dropped_at_any_content_distance(
    store: Store,
) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page(text=f"By Ann\n{STORY}"))
    other = page(flip(BASE, 9), sketch=flip(SKETCH, 18), text=f"its longest PARAGRAPH {STORY[22:]}")
    verdict = j.judge("http://b.example/1", other)
    assert (verdict.dropped, verdict.reason) == (True, "sketch")
    assert (verdict.twin_url, verdict.content_distance) == ("http://a.example/1", 9)


@pytest.mark.parametrize(
    ("other", "options"),
    [
        (page(flip(BASE, 4), sketch=flip(SKETCH, 19), text=STORY), {}),
        (page(flip(BASE, 4), text=f"{STORY}\n{STORY} And more."), {}),
        (page(flip(BASE, 4), text=STORY), {"second_look": False}),
    ],
    ids=["another sketch", "another paragraph is longer", "no second look"],
)
def test_the_same_paragraph_alone_drops_no_page(
    store: Store, other: PageFingerprint, options: dict[str, Any]
) -> None:
    j = judge(store, **options)
    j.judge("http://a.example/1", page(structure=other.structure, text=STORY))
    assert not j.judge("http://b.example/1", other).dropped


def test_pages_of_one_site_and_template_may_share_their_longest_paragraph(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page(text=STORY))
    assert not j.judge("http://a.example/2", page(flip(BASE, 4), flip(BASE, 8), text=STORY)).dropped
    assert j.judge("http://a.example/3", page(flip(BASE, 4), flip(BASE, 9), text=STORY)).dropped


def test_texts_of_one_site_may_share_their_longest_paragraph(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page(structure=None, text=STORY))
    again = page(flip(BASE, 4), None, text=STORY)
    assert not j.judge("http://a.example/2", again).dropped
    assert j.judge("http://b.example/1", again).dropped


def sampled(*windows: int, content: int = BASE, sketch: int = SKETCH, text: str = "") -> Any:
    """A page whose main text has these windows."""
    sample = packed_sample(0xFFFFFFFF, [(window, MAIN) for window in windows])
    return replace(page(content, sketch=sketch, text=text or f"text {windows}"), sample=sample)


def test_a_page_of_the_same_minhash_is_dropped_at_any_content_distance(store: Store) -> None:
    """The three smallest windows are equal: of the next ones and of the paragraph nothing is."""
    j = judge(store)
    j.judge("http://a.example/1", sampled(1, 2, 3, 8, 9))
    sketch = flip(SKETCH, 18)
    other = sampled(1, 2, 4, 8, 9, content=flip(BASE, 20), sketch=sketch)
    assert not j.judge("http://b.example/1", other).dropped
    near = sampled(1, 2, 3, 7, 9, content=flip(BASE, 9), sketch=sketch)
    verdict = j.judge("http://c.example/1", near)
    assert (verdict.dropped, verdict.reason) == (True, "sketch")
    assert (verdict.twin_url, verdict.content_distance) == ("http://a.example/1", 9)


def test_a_minhash_of_four_kept_pages_drops_none(store: Store) -> None:
    j = judge(store)
    for number, bits in enumerate((0, 9, 18, 27)):
        each = sampled(1, 2, 3, content=flip(BASE, bits), sketch=flip(SKETCH, 20 * number))
        kept = replace(each, text=f"paragraph {'x' * number}")
        assert j.judge(f"http://{number}.example/", kept).reason == "new"
    assert not j.judge("http://a.example/", sampled(1, 2, 3, content=flip(BASE, 4))).dropped


def test_a_copy_with_changed_words_on_another_site_is_found(store: Store) -> None:
    """2 % of the words are changed, one in each paragraph."""
    words = [[f"w{n}x{i}" for i in range(50)] for n in range(6)]
    edited = [[*row[:25], "another", *row[26:]] for row in words]
    one, other = (
        Fingerprinter().fingerprint(
            "<title>Fog over the harbour</title><h1>Fog over the harbour</h1>"
            + "".join(f"<p>{' '.join(row)}.</p>" for row in rows)
        )
        for rows in (words, edited)
    )
    j = judge(store)
    j.judge("http://a.example/1", one)
    verdict = j.judge("http://b.example/1", other)
    assert (verdict.dropped, verdict.reason) == (True, "sketch")


def test_a_paragraph_of_four_kept_pages_drops_none(store: Store) -> None:
    j = judge(store)
    for number, bits in enumerate((0, 9, 18, 27)):
        sketch = flip(SKETCH, 20 * number)
        verdict = j.judge(f"http://{number}.example/", page(flip(BASE, bits), BASE, sketch, STORY))
        assert verdict.reason == "new"
    assert not j.judge("http://a.example/", page(flip(BASE, 4), text=STORY)).dropped


def test_a_distance_of_zero_drops_equal_fingerprints_only(store: Store) -> None:
    j = judge(store, content_distance=0)
    j.judge("http://a.example/1", page())
    assert not j.judge("http://a.example/2", page(flip(BASE, 1))).dropped
    assert j.judge("http://a.example/3", page()).dropped


def test_a_dropped_page_is_not_stored_so_twins_do_not_chain(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    assert j.judge("http://a.example/2", page(flip(BASE, 3))).dropped
    assert len(store) == 1
    assert not j.judge("http://a.example/3", page(flip(BASE, 6))).dropped


def test_the_nearest_twin_is_named_and_among_equals_the_oldest(store: Store) -> None:
    j = judge(store, content_distance=8)
    j.judge("http://a.example/far", page(flip(BASE, 9)))
    j.judge("http://a.example/near", page())
    assert j.judge("http://a.example/x", page(flip(BASE, 2))).twin_url == "http://a.example/near"
    equal = judge(store, content_distance=0, match="structure", structure_distance=0)
    assert equal.judge("http://a.example/y", page(1)).twin_url == "http://a.example/far"


def test_a_url_seen_again_is_no_twin_of_itself(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1?b=2&a=1#top", page())
    verdict = j.judge("http://a.example/1?a=1&b=2", page(flip(BASE, 2)))
    assert (verdict.dropped, verdict.reason) == (False, "unchanged")
    assert verdict.content_distance == 2


def test_an_unchanged_page_renews_the_time_seen_but_not_the_time_first_seen(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    j.judge("http://a.example/1", page())
    (stored,) = store.pages()
    assert (stored.first_seen, stored.seen_at) == (1_001.0, 1_002.0)


def test_unchanged_pages_are_dropped_where_so_set(store: Store) -> None:
    j = judge(store, unchanged="drop")
    assert not j.judge("http://a.example/1", page()).dropped
    verdict = j.judge("http://a.example/1", page())
    assert (verdict.dropped, verdict.reason) == (True, "unchanged")


def test_a_changed_page_is_kept_and_replaces_what_was_stored(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    assert j.judge("http://a.example/1", page(flip(BASE, 30))).reason == "changed"
    assert not j.judge("http://a.example/2", page()).dropped
    assert j.judge("http://a.example/3", page(flip(BASE, 30))).twin_url == "http://a.example/1"


def test_a_changed_page_that_is_told_from_another_one_has_changed(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    j.judge("http://a.example/2", page(sketch=0))
    verdict = j.judge("http://a.example/2", page(sketch=SKETCH ^ (2**19 - 1)))
    assert (verdict.reason, verdict.twin_url) == ("changed", "http://a.example/1")
    assert verdict.rejected_by == "sketch"


def test_a_page_that_changed_into_anothers_twin_is_dropped_and_forgotten(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    j.judge("http://a.example/2", page(flip(BASE, 30)))
    assert j.judge("http://a.example/2", page()).dropped
    assert [stored.url for stored in store.pages()] == ["http://a.example/1"]


def test_a_page_whose_sketch_moved_too_far_has_changed(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    assert j.judge("http://a.example/1", page(sketch=SKETCH ^ (2**40 - 1))).reason == "changed"


def test_a_neighbour_with_another_sketch_is_refused_and_told(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    verdict = j.judge("http://a.example/2", page(sketch=SKETCH ^ (2**19 - 1)))
    assert (verdict.dropped, verdict.reason) == (False, "near miss")
    assert (verdict.twin_url, verdict.sketch_distance) == ("http://a.example/1", 19)
    assert verdict.rejected_by == "sketch"
    assert judge(store).judge("http://a.example/3", page(sketch=SKETCH ^ (2**18 - 1))).dropped


def test_behind_a_refused_neighbour_a_true_twin_is_found(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/other", page(sketch=0))
    j.judge("http://a.example/twin", page(flip(BASE, 5)))
    assert j.judge("http://a.example/x", page(flip(BASE, 2))).twin_url == "http://a.example/twin"


@pytest.mark.parametrize("second_look", [True, False])
def test_by_both_a_page_in_another_template_is_refused_and_told(
    store: Store, second_look: bool
) -> None:
    j = judge(store, match="both", second_look=second_look)
    j.judge("http://a.example/1", page())
    verdict = j.judge("http://a.example/2", page(structure=flip(BASE, 4)))
    assert (verdict.rejected_by, verdict.structure_distance) == ("template", 4)


def test_behind_very_many_refused_neighbours_none_is_looked_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    j = judge(store)
    for number in range(2):
        apart = SKETCH ^ ((2**19 - 1) << 19 * number)
        assert not j.judge(f"http://a.example/{number}", page(sketch=apart)).dropped
    monkeypatch.setattr("simhash_pipeline.judge._MAX_COMPARED", 2)
    for url in ("http://a.example/2", "http://a.example/3"):
        verdict = j.judge(url, page())
        assert (verdict.reason, verdict.twin_url) == ("near miss", "http://a.example/0")
    monkeypatch.setattr("simhash_pipeline.judge._MAX_COMPARED", 3)
    assert j.judge("http://a.example/4", page()).twin_url == "http://a.example/2"


def test_without_a_second_look_the_content_fingerprint_decides(store: Store) -> None:
    j = judge(store, second_look=False)
    j.judge("http://a.example/1", page())
    assert j.judge("http://a.example/2", page(sketch=0)).dropped


def test_without_a_second_look_both_means_both(store: Store) -> None:
    j = judge(store, match="both", second_look=False)
    j.judge("http://a.example/1", page(structure=None))
    assert not j.judge("http://a.example/2", page()).dropped
    assert not j.judge("http://a.example/3", page(structure=None)).dropped
    assert j.judge("http://a.example/4", page()).reason == "content and structure"


@pytest.mark.parametrize("second_look", [True, False])
def test_of_two_sites_a_page_is_compared_with_the_first_copy_by_the_second_look(
    store: Store, second_look: bool
) -> None:
    """That one is in no store."""
    j = judge(store, match="both", second_look=second_look)
    j.judge("http://a.example/1", page())
    first = replace(
        page(structure=flip(BASE, 2)), sample=packed_sample(99, [(n, 0) for n in range(9)])
    )
    assert j.judge("http://b.example/x", first).dropped
    other = page(structure=flip(BASE, 3, start=3))
    assert j.judge("http://b.example/y", other).dropped is not second_look


def test_with_a_second_look_both_judges_a_page_without_structure_by_its_content(
    store: Store,
) -> None:
    j = judge(store, match="both")
    j.judge("http://a.example/1", page(structure=None))
    assert j.judge("http://a.example/2", page()).reason == "content"


def test_without_a_second_look_no_page_is_dropped_for_the_same_words(store: Store) -> None:
    j = judge(store, second_look=False)
    j.judge("http://a.example/1", thin("!!!"))
    assert not j.judge("http://a.example/2", thin("!!!")).dropped


def test_a_thin_page_is_dropped_only_for_the_same_title_and_text(store: Store) -> None:
    j = judge(store)
    assert j.judge("http://a.example/1", thin("Closed today")).reason == "thin"
    assert not j.judge("http://a.example/2", thin("Closed tomorrow")).dropped
    assert not j.judge("http://a.example/3", thin("Closed today", title="Other")).dropped
    verdict = j.judge("http://a.example/4", thin("Closed today"))
    assert (verdict.dropped, verdict.reason) == (True, "thin")
    assert verdict.twin_url == "http://a.example/1"
    assert verdict.content_distance is None


def test_pages_without_any_text_are_never_twins(store: Store) -> None:
    j = judge(store)
    assert not j.judge("http://a.example/1", thin("")).dropped
    assert not j.judge("http://a.example/2", thin("")).dropped


def test_fingerprints_of_zero_are_numbers_like_any_other(store: Store) -> None:
    j = judge(store, match="both")
    j.judge("http://a.example/1", page(0, 0, 0))
    verdict = j.judge("http://a.example/2", page(0, 0, 0))
    assert verdict.reason == "content and structure"
    assert (verdict.content_distance, verdict.structure_distance) == (0, 0)


FAR = flip(BASE, 25, start=3)


@pytest.mark.parametrize(
    ("match", "content", "structure", "reason"),
    [
        ("content", BASE, FAR, "content"),
        ("content", FAR, BASE, "new"),
        ("structure", FAR, BASE, "structure"),
        ("structure", BASE, FAR, "new"),
        ("both", BASE, BASE, "content and structure"),
        ("both", BASE, FAR, "near miss"),
        ("both", FAR, BASE, "new"),
        ("either", BASE, FAR, "content"),
        ("either", FAR, BASE, "structure"),
        ("either", FAR, FAR, "new"),
    ],
)
def test_match_says_which_fingerprints_must_be_near(
    store: Store, match: str, content: int, structure: int, reason: str
) -> None:
    j = judge(store, match=match)
    j.judge("http://a.example/1", page())
    assert j.judge("http://a.example/2", page(content, structure)).reason == reason


def test_both_must_be_near_those_of_one_stored_page(store: Store) -> None:
    j = judge(store, match="both")
    j.judge("http://a.example/content", page(BASE, FAR))
    j.judge("http://a.example/structure", page(FAR, BASE))
    assert not j.judge("http://a.example/x", page(BASE, BASE)).dropped


def test_a_page_without_structure_is_no_structural_twin(store: Store) -> None:
    j = judge(store, match="structure")
    j.judge("http://a.example/1", page(structure=None))
    assert not j.judge("http://a.example/2", page(structure=None)).dropped


def test_a_thin_page_is_judged_by_structure_where_that_is_asked(store: Store) -> None:
    j = judge(store, match="structure")
    j.judge("http://a.example/1", thin("one"))
    assert j.judge("http://a.example/2", thin("two")).reason == "structure"


def test_pages_of_other_namespaces_are_never_twins(store: Store) -> None:
    judge(store, namespace="live").judge("http://a.example/1", page())
    test = judge(store, namespace="test")
    assert test.judge("http://a.example/1", page()).reason == "new"
    assert test.judge("http://a.example/2", page()).dropped


@pytest.mark.parametrize(
    ("url", "dropped"),
    [
        ("http://www.paper.co.uk/2", True),
        ("http://PAPER.co.uk/2", True),
        ("http://other.co.uk/2", False),
        ("http://127.0.0.1:8000/2", False),
    ],
)
def test_scope_site_asks_for_the_same_registered_domain(
    store: Store, url: str, dropped: bool
) -> None:
    j = judge(store, scope="site")
    j.judge("http://news.paper.co.uk/1", page())
    assert j.judge(url, page()).dropped is dropped


def test_hosts_without_a_registered_domain_are_sites_of_their_own(store: Store) -> None:
    j = judge(store, scope="site")
    j.judge("http://127.0.0.1:8000/1", page())
    assert not j.judge("http://localhost/2", page()).dropped
    assert j.judge("http://127.0.0.1:9000/2", page()).dropped
    assert not j.judge("http://wiki.intranet/3", page()).dropped
    assert not j.judge("http://blog.intranet/4", page()).dropped


def test_a_forgotten_page_has_no_twins(store: Store) -> None:
    j = judge(store)
    j.forget(j.judge("http://a.example/1", page()))
    assert not j.judge("http://a.example/2", page()).dropped


def test_forgetting_an_unchanged_page_leaves_what_an_earlier_crawl_exported(store: Store) -> None:
    j = judge(store)
    j.judge("http://a.example/1", page())
    j.forget(j.judge("http://a.example/1", page()))
    assert len(store) == 1


def test_a_store_made_with_other_options_is_refused(store: Store) -> None:
    judge(store)
    with pytest.raises(StoreMismatch, match="ngrams"):
        judge(store, ngrams=(3,))


@pytest.mark.parametrize("url", ["http://[::1/", "http://a.example:99999/", "http://a/\ud800"])
def test_a_url_that_is_none_is_the_pages_error(store: Store, url: str) -> None:
    for given in (page(), "<p>a thin page"):
        with pytest.raises(PageError, match="is not a URL") as caught:
            judge(store).judge(url, given)
        assert caught.value.kind == "bad_url"


MENU = "".join(f"<li><a href='/{n}'>Part {n} of this manual</a></li>" for n in range(60))


def read(main: str, rest: str = "", title: str = "A page") -> PageFingerprint:
    """A page with this main text, and below it, in no part of the article, the rest."""
    html = (
        f"<html><head><title>{title}</title></head><body><ul class='nav'>{MENU}</ul>"
        f"<article>{main}</article><div>{rest}</div></body></html>"
    )
    return Fingerprinter().fingerprint(html)


def story(seed: object, words: int = 200) -> str:
    random = Random(str(seed))
    return " ".join(f"{random.choice('bcdfglmnprst')}{random.randrange(900)}" for _ in range(words))


def prose(seed: object, words: int = 200) -> str:
    return f"<p>{story(seed, words)}, as we heard.</p>"


def rows(seed: object, count: int = 12) -> str:
    return "".join(f"<li><a href='/{n}'>{story((seed, n), 4)}</a></li>" for n in range(count))


def words(seed: object, count: int = 12) -> str:
    return "".join(f"<li>{story((seed, n), 4)}</li>" for n in range(count))


def judged(store: Store, *pages: tuple[str, PageFingerprint], **options: Any) -> list[Verdict]:
    store.clear("")
    judge = Judge(store, Options(**options))
    return [judge.judge(url, page) for url, page in pages]


def test_pages_of_one_site_that_differ_in_text_beside_the_main_text_are_kept(store: Store) -> None:
    a, b = read(prose("box"), words(1)), read(prose("box"), words(2))
    assert a.content == b.content
    first, second = judged(store, ("http://a.example/1", a), ("http://a.example/2", b))
    assert (second.dropped, second.reason) == (False, "near miss")
    assert (second.twin_url, second.rejected_by) == (first.url, "page-specific text")
    assert second.min_similarity == 0.85
    assert second.similarity is not None
    assert second.similarity < 0.8


def test_pages_of_two_sites_are_judged_by_their_main_texts(store: Store) -> None:
    a, b = read(prose("news"), rows(1)), read(prose("news"), rows(2))
    _, second = judged(store, ("http://a.example/1", a), ("http://b.example/2", b))
    assert (second.dropped, second.reason, second.similarity) == (True, "content", None)


@pytest.mark.parametrize(("more", "dropped"), [(0, True), (150, True), (600, False)])
def test_in_another_template_half_of_the_main_texts_must_be_equal(
    store: Store, more: int, *, dropped: bool
) -> None:
    news = prose("news", 300)
    page = replace(read(news, words("comment", 150)), structure=BASE)
    view = read(news + prose("offer", more) * bool(more))
    view = replace(view, content=page.content, sketch=page.sketch)
    _, second = judged(store, ("http://a.example/1", page), ("http://a.example/print", view))
    assert second.dropped is dropped


def test_a_story_with_another_day_s_links_beside_it_is_dropped(store: Store) -> None:
    a, b = read(prose("box"), rows(1)), read(prose("box"), rows(2))
    first, second = judged(store, ("http://a.example/1", a), ("http://a.example/2", b))
    assert (second.twin_url, second.reason, second.similarity) == (first.url, "content", 1)


def test_a_list_with_other_links_below_a_short_text_is_kept(store: Store) -> None:
    a, b = read(prose("box", 60), rows(1, 40)), read(prose("box", 60), rows(2, 40))
    assert a.content == b.content
    assert not judged(store, ("http://a.example/1", a), ("http://a.example/2", b))[1].dropped


def test_a_story_under_another_url_of_its_site_is_dropped(store: Store) -> None:
    a, b = read(prose("news", 300), words(1, 2)), read(prose("news", 300), words(2, 2))
    _, second = judged(store, ("http://a.example/1", a), ("http://a.example/2", b))
    assert (second.dropped, second.reason) == (True, "content")
    assert second.similarity is not None
    assert 0.8 <= second.similarity < 1


def test_without_a_second_look_the_main_text_decides_alone(store: Store) -> None:
    a, b = read(prose("box"), rows(1)), read(prose("box"), rows(2))
    pages = ("http://a.example/1", a), ("http://a.example/2", b)
    assert judged(store, *pages, second_look=False)[1].dropped


def test_a_text_that_stands_on_eight_kept_pages_makes_no_twins(store: Store) -> None:
    box, beside = prose("a box on every page", 300), words("beside", 2)
    mains = [prose(n, 600) + box if n < 8 else box + prose(n, 6) for n in range(10)]
    pages = [(f"http://a.example/{n}", read(main, beside)) for n, main in enumerate(mains)]
    assert [verdict.dropped for verdict in judged(store, *pages)] == [False] * 10
    assert judged(store, *pages[8:])[1].dropped  # where nothing was learnt they are near-duplicates


def test_what_was_learnt_of_a_site_stays_in_the_store(tmp_path: Path) -> None:
    box = prose("a box on every page", 300)
    url = f"sqlite:///{tmp_path}/pages.sqlite"
    verdicts = []
    for numbers in (range(9), range(9, 11)):
        with open_store(url) as store:
            judge = Judge(store, Options())
            for n in numbers:
                page = read(prose(n, 600) + box if n < 8 else box + prose(n, 6))
                verdicts.append(judge.judge(f"http://a.example/{n}", page))
    assert not any(verdict.dropped for verdict in verdicts)


def test_copies_of_a_story_do_not_become_repeated_text(store: Store) -> None:
    pages = [(f"http://a.example/{n}", read(prose("the story", 400))) for n in range(20)]
    assert [verdict.dropped for verdict in judged(store, *pages)] == [False] + [True] * 19


@pytest.mark.parametrize("posts", [1, 5, 20, 60, 200])
def test_a_page_with_a_new_post_is_never_unchanged(store: Store, posts: int) -> None:
    before = read("".join(prose(n, 50) for n in range(posts)))
    after = read("".join(prose(n, 50) for n in range(posts)) + prose("new", 20))
    for setting in ("keep", "drop"):
        _, again, later = judged(
            store,
            *(("http://a.example/live", page) for page in (before, before, after)),
            unchanged=setting,
        )
        assert (again.reason, again.dropped) == ("unchanged", setting == "drop")
        assert (later.reason, later.dropped) == ("changed", False)


def test_by_both_a_page_of_a_few_elements_is_judged_by_its_content(store: Store) -> None:
    page = PageFingerprint(7, None, None, text="", title="", tokens=100)
    _, second = judged(
        store, ("http://a.example/1", page), ("http://a.example/2", page), match="both"
    )
    assert (second.dropped, second.reason) == (True, "content")


@lru_cache
def pages_of_lists(
    site: Callable[[int, str, str], str], layout: str, language: str
) -> list[PageFingerprint]:
    """The same for each store."""
    return [Fingerprinter().fingerprint(site(n, layout, language)) for n in range(20)]


@pytest.mark.parametrize("language", list_sites.LANGUAGES)
@pytest.mark.parametrize("layout", list_sites.LAYOUTS)
@pytest.mark.parametrize("site", [list_sites.shop, list_sites.jobs])
def test_lists_that_differ_in_their_rows_are_all_kept(
    store: Store, site: Callable[[int, str, str], str], layout: str, language: str
) -> None:
    pages = pages_of_lists(site, layout, language)
    verdicts = judged(store, *((f"http://a.example/{n}", page) for n, page in enumerate(pages)))
    assert [verdict.url for verdict in verdicts if verdict.dropped] == []
    verdicts = judged(
        store, *((f"http://a.example/{n % 20}?{n}", pages[n % 20]) for n in range(40))
    )
    assert [verdict.dropped for verdict in verdicts] == [False] * 20 + [True] * 20


# --- what a page says of itself


def declaring(
    main: str, rest: str = "", title: str = "A page", *, head: str = ""
) -> PageFingerprint:
    html = (
        f"<html><head><title>{title}</title>{head}</head><body><ul class='nav'>{MENU}</ul>"
        f"<h1>{title}</h1><article>{main}</article><div>{rest}</div></body></html>"
    )
    return Fingerprinter().fingerprint(html, "http://a.example/2")


CANONICAL = "<link rel=canonical href=http://a.example/1>"


@pytest.mark.parametrize(
    ("url", "head"),
    [
        ("http://a.example/1?utm_source=x&fbclid=y", ""),
        ("http://a.example/1?chksm=fa6012&spm_id_from=333.337", ""),
        ("http://a.example/2", CANONICAL),
        ("http://a.example/2", "<meta property=og:url content=http://a.example/1>"),
        ("http://a.example/2", "<link rel=canonical href=/1?utm_medium=feed>"),
    ],
)
def test_of_pages_that_declare_one_address_what_stands_beside_the_text_says_nothing(
    store: Store, url: str, head: str
) -> None:
    a, b = declaring(prose("box"), words(1, 40)), declaring(prose("box"), words(2, 40), head=head)
    _, second = judged(store, ("http://a.example/1", a), (url, b))
    assert second.dropped
    _, second = judged(
        store,
        ("http://a.example/1", a),
        ("http://a.example/2", declaring(prose("box"), words(2, 40))),
    )
    assert not second.dropped


def test_a_page_of_one_address_whose_text_was_read_with_a_box_is_a_copy(store: Store) -> None:
    a = declaring(prose("box"))
    b = declaring(prose("box") + prose("advert", 60), head=CANONICAL)
    _, second = judged(store, ("http://a.example/1", a), ("http://a.example/2", b))
    assert (second.dropped, second.reason) == (True, "address")
    assert second.content_distance is not None
    assert second.content_distance > 3


def test_pages_of_a_list_that_declare_its_first_page_are_kept(store: Store) -> None:
    pages = [declaring(prose(n), head=CANONICAL) for n in range(20)]
    verdicts = judged(store, *((f"http://a.example/{n + 1}", page) for n, page in enumerate(pages)))
    assert not any(verdict.dropped for verdict in verdicts)


def test_variants_that_declare_one_product_are_kept_where_their_titles_name_them(
    store: Store,
) -> None:
    names = ("Shoe, red", "Shoe, blue")
    a, b = (declaring(prose("shoe"), words(name, 3), name, head=CANONICAL) for name in names)
    assert not judged(store, ("http://a.example/1", a), ("http://a.example/2", b))[1].dropped
    a, b = (declaring(prose("shoe"), words(name, 3), "Shoe", head=CANONICAL) for name in names)
    assert judged(store, ("http://a.example/1", a), ("http://a.example/2", b))[
        1
    ].dropped  # the site says so


@pytest.mark.parametrize(
    ("thief", "victim", "dropped"),
    [
        ("http://amp.example.com/2", "http://example.com/1", True),
        ("http://evil.example/2", "http://a.example/1", False),
        ("http://evil.github.io/2", "http://alice.github.io/1", False),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_a_page_can_not_declare_the_address_of_another_site(
    store: Store, thief: str, victim: str, dropped: bool, order: int
) -> None:
    head = f"<link rel=canonical href={victim}>"
    pages = [
        (victim, declaring(prose("story"))),
        (thief, declaring(prose("story") + prose("advert", 60), head=head)),
    ]
    _, second = judged(store, *pages[::order])
    assert second.dropped is dropped


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("csr_array.diagonal", "bsr_matrix.diagonal"),
        ("Release 3.27.1", "Release 3.27.2"),
        ("operator+", "operator-="),
        ("关于张伟的公告", "关于李娜的公告"),
        ("Weather, 14 June", "Weather, 15 June"),
    ],
)
def test_pages_that_name_two_things_are_two_pages(store: Store, one: str, other: str) -> None:
    a, b = (declaring(prose("notice", 300), title=f"{title} | Office") for title in (one, other))
    _, second = judged(store, ("http://a.example/1", a), ("http://a.example/2", b))
    assert (second.reason, second.rejected_by) == ("near miss", "title")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Night bus trial - City desk", "Night bus trial - Wire"),  # sections, in no heading
        ("Night bus trial", "Night bus trial, print view"),  # one name more
        ("", "Night bus trial"),
    ],
)
def test_titles_that_name_no_two_things_part_no_copies(store: Store, one: str, other: str) -> None:
    heading = "<h1>Night bus trial</h1>"
    a, b = (read(heading + prose("bus", 300), title=title) for title in (one, other))
    assert judged(store, ("http://a.example/1", a), ("http://a.example/2", b))[1].dropped


@pytest.mark.parametrize("tag", ["h2", "div"])
def test_a_headline_in_any_box_below_the_h1_of_its_site_names_the_page(
    store: Store, tag: str
) -> None:
    heading = f"<h1>Harbour Book</h1><{tag}>{{}}</{tag}>"
    a, b = (
        read(heading.format(name) + prose("bus", 300), title=f"{name} - Harbour Book")
        for name in ("Tides", "Ropes")
    )
    _, second = judged(store, ("http://a.example/1", a), ("http://a.example/2", b))
    assert (second.reason, second.rejected_by) == ("near miss", "title")


def test_the_words_of_a_link_that_the_title_holds_name_no_page(store: Store) -> None:
    a, b = (
        read(f'<a href="/">{book}</a><h1>Ropes</h1>' + prose("bus", 300), title=f"Ropes - {book}")
        for book in ("Harbour Book 1.2", "Harbour Book 1.3")
    )
    assert judged(store, ("http://a.example/1", a), ("http://a.example/2", b))[1].dropped


def test_of_a_title_that_neither_heading_nor_text_repeats_all_words_are_a_name(
    store: Store,
) -> None:
    box = prose("a notice that all pages show", 300)
    a, b = read(box, title="Fog bell rings"), read(box + "<p>Crane and harbour.</p>", title="Crane")
    _, second = judged(store, ("http://a.example/1", a), ("http://a.example/2", b))
    assert (second.reason, second.rejected_by) == ("near miss", "title")


@pytest.mark.parametrize("hosts", [("a.example", "a.example"), ("a.example", "b.example")])
def test_a_text_that_is_of_neither_page_decides_nothing(
    store: Store, hosts: tuple[str, str]
) -> None:
    shell = prose("this site uses cookies", 300)
    a, b = read(shell, title="Fish pie for four"), read(shell, title="How to prune a rose")
    pages = (f"http://{host}/{n}" for n, host in enumerate(hosts))
    _, second = judged(store, *zip(pages, (a, b), strict=True))
    assert (second.reason, second.rejected_by) == ("near miss", "shared notice")


def named(title: str) -> PageFingerprint:
    """A page of this title and heading, whose main text is that of all others."""
    return read(f"<h1>{title}</h1>{prose('a text on all pages', 300)}", title=title)


def test_a_text_on_pages_of_two_names_drops_a_page_of_another_site_only_for_one_of_its_name(
    store: Store,
) -> None:
    first, second, third, mirrored = judged(
        store,
        ("http://a.example/1", named("csr_array.diagonal")),
        ("http://a.example/2", named("bsr_array.diagonal")),
        ("http://b.example/3", named("coo_array.diagonal")),
        ("http://b.example/2", named("bsr_array.diagonal")),
    )
    assert [first.reason, second.rejected_by, third.rejected_by] == [
        "new",
        "title",
        "shared notice",
    ]
    assert (mirrored.dropped, mirrored.twin_url) == (True, "http://a.example/2")


def test_a_story_of_one_name_is_found_under_the_headline_of_another_site(store: Store) -> None:
    first, second, third = judged(
        store,
        ("http://a.example/1", named("Night bus trial begins")),
        ("http://b.example/1", named("Night bus trial starts in May")),
        ("http://c.example/1", named("Night bus trial")),
    )
    assert (first.dropped, second.dropped, third.dropped) == (False, True, True)
    assert third.twin_url == "http://a.example/1"


@pytest.mark.parametrize(
    ("title", "bits", "rejected_by"),
    [
        ("Blue function", 9, None),
        ("Blue function", 10, "title"),
        ("Red function", 18, None),
        ("Colours made brighter", 18, None),  # of another form: it may be a headline
    ],
)
def test_on_two_sites_pages_of_two_names_are_twins_within_half_the_sketch_distance(
    store: Store, title: str, bits: int, rejected_by: str | None
) -> None:
    page = named("Red function")
    assert page.sketch is not None
    other = replace(named(title), sketch=flip(page.sketch, bits), title_marks=-1)
    _, second = judged(store, ("http://a.example/1", page), ("http://b.example/2", other))
    assert (second.dropped, second.rejected_by) == (rejected_by is None, rejected_by)


@pytest.mark.parametrize(
    ("url", "codes", "rejected_by"),
    [
        ("http://a.example/v/2", "1a2b3c", "title"),
        ("http://a.example/v/2", "1a2b3c 7x2a-94qp", None),
        ("http://a.example/v/2", "", None),
        ("http://a.example/w/2", "1a2b3c", None),  # as a wall with the number of a request
        ("http://b.example/v/2", "1a2b3c", None),
    ],
)
def test_pages_of_one_folder_with_two_codes_are_two_things(
    store: Store, url: str, codes: str, rejected_by: str | None
) -> None:
    one = replace(page(0), codes="7x2a-94qp")
    _, second = judged(store, ("http://a.example/v/1?x=/", one), (url, replace(one, codes=codes)))
    assert (second.dropped, second.rejected_by) == (rejected_by is None, rejected_by)


def test_the_likeness_that_is_asked_for_is_a_setting(store: Store) -> None:
    a, b = read(prose("box"), words(1)), read(prose("box"), words(2))
    pages = ("http://a.example/1", a), ("http://a.example/2", b)
    assert [
        judged(store, *pages, min_similarity=least)[1].dropped for least in (0, 0.5, 0.85, 1)
    ] == [*(True, True, False, False)]


def test_an_answer_drops_a_page_for_one_that_nothing_else_finds(
    store: Store, tmp_path: Path
) -> None:
    sheet = tmp_path / "answers.csv"
    sheet.write_text("answer,twin_url,url\ncopy,http://a.example/1,http://b.example/2\n")
    pages = [("http://a.example/1", page(0)), ("http://b.example/2", page(FAR))]
    _, second = judged(store, *pages, answers=str(sheet))
    assert (second.dropped, second.reason) == (True, "answer")
    assert second.twin_url == "http://a.example/1"


def test_of_two_kept_copies_that_came_in_one_second_one_stays(store: Store, tmp_path: Path) -> None:
    """A person says so after the crawl."""
    pages = [("http://a.example/1", page(0)), ("http://b.example/2", page(FAR))]
    for url, fingerprints in pages:
        assert not Judge(store, clock=lambda: 1_000).judge(url, fingerprints).dropped
    sheet = tmp_path / "answers.csv"
    sheet.write_text("answer,twin_url,url\ncopy,http://a.example/1,http://b.example/2\n")
    again = judge(store, answers=str(sheet))
    assert [again.judge(*each).reason for each in pages] == ["unchanged", "answer"]


def test_an_unchanged_page_is_provisional_only_if_it_is_dropped(tmp_path: Path) -> None:
    """Another crawl has kept it, and its item isn't out."""
    url = f"sqlite:///{tmp_path}/seen.sqlite"
    with open_store(url, tentative=True) as one, open_store(url, tentative=True) as two:
        Judge(one).judge("http://a.example/1", page())
        one.flush()
        for unchanged in ("keep", "drop"):
            found = judge(two, unchanged=unchanged).judge("http://a.example/1", page())
            assert (found.dropped, found.provisional) == (unchanged == "drop",) * 2

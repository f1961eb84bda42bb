"""Pages made to be taken for others: what is defended, and what README says isn't."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from simhash_pipeline import (
    Fingerprinter,
    Judge,
    Options,
    PageFingerprint,
    Verdict,
    content_fingerprint,
    hamming_distance,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

VICTIM = "https://example.org/story"
ATTACKER = "https://example.com/story"


def story(seed: int) -> str:
    """Three hundred words that no other seed's story shares."""
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(150)]
    return " ".join(chance.choices(vocabulary, k=300))


def padded(text: str, victim: int) -> str:
    """The text with words added until its content fingerprint is within 3 bits of the victim's.

    Of many words those go in, again and again, whose own fingerprint is nearest the victim's.
    """
    chance = random.Random(0)
    words = ["".join(chance.choices("qrstuvwxyz", k=9)) for _ in range(3_000)]
    nearest = sorted(words, key=lambda word: distance(f"{word} {word} {word}", victim))[:40]
    for times in range(1, 200):
        made = f"{text} {' '.join(f'{word} ' * times for word in nearest)}"
        if distance(made, victim) <= 3:
            return made
    raise AssertionError("no padding brings the page near its victim")


def distance(text: str, fingerprint: int) -> int:
    made = content_fingerprint(text)
    assert made is not None
    return hamming_distance(made, fingerprint)


def page(text: str, more: str = "") -> PageFingerprint:
    return Fingerprinter().fingerprint(f"<title>A story</title><p>{text}</p>{more}")


def judged(pages: Sequence[tuple[str, PageFingerprint]], **options: object) -> list[Verdict]:
    made = Options(**options)  # type: ignore[arg-type]  # as Options checks
    with open_store("memory:") as store:
        return [Judge(store, made).judge(url, each) for url, each in pages]


@pytest.fixture(scope="module")
def made_to_collide() -> tuple[PageFingerprint, PageFingerprint]:
    """A victim's page, and one of other words that was padded towards it."""
    victim = page(story(1))
    assert victim.content is not None
    return victim, page(padded(story(2), victim.content))


def test_padding_brings_any_page_within_the_distance_of_any_other(
    made_to_collide: tuple[PageFingerprint, PageFingerprint],
) -> None:
    victim, attacker = made_to_collide
    assert not set(victim.text.split()) & set(attacker.text.split())
    _, second = judged([(VICTIM, victim), (ATTACKER, attacker)], second_look=False)
    assert (second.dropped, second.reason) == (True, "content")


@pytest.mark.parametrize("order", [1, -1])
def test_the_sketch_tells_a_page_that_was_made_to_collide_from_its_victim(
    made_to_collide: tuple[PageFingerprint, PageFingerprint], order: int
) -> None:
    victim, attacker = made_to_collide
    pages = [(VICTIM, victim), (ATTACKER, attacker)][::order]
    first, second = judged(pages)
    assert (first.reason, second.reason) == ("new", "near miss")
    assert second.twin_url == pages[0][0]
    assert second.sketch_distance is not None
    assert second.sketch_distance > 18


HIDDEN = [
    "<div hidden>{}</div>",
    '<div style="display:none">{}</div>',
    '<div style="color:red; DISPLAY : none">{}</div>',
    '<div aria-hidden="true">{}</div>',
    "<template>{}</template>",
    "<noscript>{}</noscript>",
    "<script>{}</script>",
    "<!-- {} -->",
]
SEEN = [
    '<div style="position:absolute; left:-9999px">{}</div>',
    '<div style="visibility:hidden">{}</div>',
    '<div class="hide">{}</div>',
    '<div style="color:#fff">{}</div>',
    '<div style="font-size:0">{}</div>',
]


@pytest.mark.parametrize("markup", HIDDEN)
def test_text_that_markup_hides_does_not_move_a_fingerprint(markup: str) -> None:
    stuffed = page(story(1), markup.format(f"<p>{story(2)}</p>"))
    assert (stuffed.content, stuffed.sketch) == (page(story(1)).content, page(story(1)).sketch)


@pytest.mark.parametrize("markup", SEEN)
def test_text_that_only_a_style_sheet_hides_counts_as_text(markup: str) -> None:
    """README says so: a page may stuff itself apart from its twins."""
    stuffed = page(story(1), markup.format(f"<p>{story(2)}</p>"))
    first, second = judged([(VICTIM, page(story(1))), (ATTACKER, stuffed)])
    assert [first.dropped, second.dropped] == [False, False]


def test_who_publishes_a_story_first_is_kept_whoever_wrote_it() -> None:
    """README says so: near-duplicates say nothing of who copied whom."""
    _, second = judged([(ATTACKER, page(story(1))), (VICTIM, page(story(1)))])
    assert (second.dropped, second.twin_url) == (True, ATTACKER)


def test_a_page_of_another_host_makes_one_of_a_family_go() -> None:
    """Variants of one text that the box beside it tells apart are compared with each other too."""
    variants = [
        (f"{VICTIM}/{n}", page(story(1), f"<div>{story(n)[:500]}</div>")) for n in range(2, 22)
    ]
    alone = judged(variants)
    after = judged([(ATTACKER, page(story(1))), *variants])[1:]
    assert [sum(each.dropped for each in verdicts) for verdicts in (alone, after)] == [0, 1]


def test_a_variant_that_an_earlier_copy_rejects_is_told_by_its_figures() -> None:
    """The maker's page has no price: the shop's second one differs from the shop's first."""
    html = f"<title>Lamp</title><h1>Lamp</h1><p>{story(1)}</p><p>Price: <b>{{}}</b></p>"
    with Judge() as judge:
        judge.judge(ATTACKER, html.format("see the shops"))
        first, second = (
            judge.judge(f"{VICTIM}/{n}", html.format(n), {"price": n}) for n in (41, 57)
        )
    assert (first.dropped, second.dropped) == (True, False)
    assert (second.rejected_by, second.differing_fields) == ("fields", ("price",))


def titled(title: str, text: str) -> PageFingerprint:
    return Fingerprinter().fingerprint(f"<title>{title}</title><h1>{title}</h1><p>{text}</p>")


@pytest.mark.parametrize("words", ["", "A night bus. ", story(2)])
def test_a_page_with_another_s_title_makes_no_page_go(words: str) -> None:
    pages = [(ATTACKER, titled("A night bus", words)), (VICTIM, titled("A night bus", story(1)))]
    assert not judged(pages)[1].dropped


@pytest.mark.parametrize("is_first", [True, False])
def test_a_story_under_two_titles_makes_no_page_go_and_lets_copies_come_again_if_it_was_first(
    is_first: bool,
) -> None:
    attack = [(f"{ATTACKER}/{name}", titled(f"All on {name}", story(1))) for name in ("tea", "oil")]
    victim = [(VICTIM, titled("All on fog", story(1)))]
    later = [
        ("https://a.example/", titled("All on fog", story(1))),
        ("https://b.example/", titled("All on gulls", story(1))),
    ]
    first = attack + victim if is_first else victim + attack
    kept = [verdict.url for verdict in judged(first + later) if not verdict.dropped]
    assert kept == (
        [f"{ATTACKER}/tea", f"{ATTACKER}/oil", VICTIM, "https://b.example/"]
        if is_first
        else [VICTIM]
    )


def test_with_scope_site_a_poisoner_costs_its_own_site_alone() -> None:
    pages = [
        (ATTACKER, page(story(1))),
        (VICTIM, page(story(1))),
        (f"{ATTACKER}/2", page(story(1))),
    ]
    assert [verdict.dropped for verdict in judged(pages, scope="site")] == [False, False, True]


def test_a_subdomain_does_not_make_a_site_of_its_own() -> None:
    pages = [(f"https://{name}.example.com/", page(story(1))) for name in "ab"]
    assert [verdict.dropped for verdict in judged(pages, scope="site")] == [False, True]


def test_a_poisoned_namespace_costs_no_other() -> None:
    trusted, untrusted = Options(namespace="trusted"), Options(namespace="untrusted")
    with open_store("memory:") as store:
        assert not Judge(store, untrusted).judge(ATTACKER, page(story(1))).dropped
        assert not Judge(store, trusted).judge(VICTIM, page(story(1))).dropped
        assert Judge(store, untrusted).judge(VICTIM, page(story(1))).dropped

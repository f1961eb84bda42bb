from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.html import document_fromstring

from simhash_pipeline.page.blocks import read
from simhash_pipeline.page.boilerplate import main_blocks
from simhash_pipeline.page.parse import elements_of
from simhash_pipeline.page.visible import (
    ARTICLE_SHIFT,
    ENTRY,
    LIMIT_SIZE,
    MAIN,
    NONE,
    article_digest,
    smallest_of_main,
    visible_text,
    window_masks,
)

WORDS = [f"word{number}" for number in range(500)]


def windows(sample: bytes) -> list[int]:
    return [window for window, _ in ENTRY.iter_unpack(sample[LIMIT_SIZE:])]


def limit(sample: bytes) -> int:
    return int.from_bytes(sample[:LIMIT_SIZE], "little")


def text(seed: int, words: int) -> str:
    return " ".join(Random(seed).choices(WORDS, k=words))


def test_a_sample_is_the_same_everywhere() -> None:
    found = visible_text(["Ten", "十个"], [True, False])
    assert [found.sample[i : i + 6].hex() for i in range(4, len(found.sample), 6)] == [
        "16710a019790",
        "bbf4fa149790",
        "c62afa439790",
        "58a1d24a762c",
        "18c4a766762c",
        "d02f9e8d762c",
        "482fffb0762c",
        "aa275bc9762c",
        "44c07acc762c",
    ]
    assert found.blocks == (1509920919, 2246945910)


def test_a_window_s_hash_is_a_polynomial_of_its_bytes_that_murmur3_spreads() -> None:
    value = 0
    for byte in b"sixteen letters.":
        value = (value * 0x9E3779B1 + byte) & 0xFFFFFFFF
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        value = (value ^ value >> shift) * factor & 0xFFFFFFFF
    value ^= value >> 16
    assert value in windows(visible_text(["Sixteen letters."], [True]).sample)


def test_a_page_without_text_has_an_empty_sample() -> None:
    found = visible_text([], [])
    assert (limit(found.sample), windows(found.sample), found.blocks) == (0xFFFFFFFF, [], ())


def test_a_block_has_as_many_windows_as_bytes_however_short_it_is() -> None:
    for block in ("12 €", "sixteen letters.", "seventeen letters"):
        assert len(windows(visible_text([block], [True]).sample)) == len(block.encode())


def test_windows_of_a_block_do_not_depend_on_its_neighbours() -> None:
    alone = visible_text(["a block of some words"], [True])
    amid = visible_text(["before", "a block of some words", "behind"], [True] * 3)
    assert set(windows(alone.sample)) < set(windows(amid.sample))
    assert set(alone.blocks) < set(amid.blocks)


def test_case_does_not_count() -> None:
    one, other = (
        visible_text([block], [True]) for block in ("A Block Of Words", "a block of words")
    )
    assert one == other


def test_a_block_of_more_than_a_million_characters_is_sampled_too() -> None:
    block = text(8, 200_000)
    assert len(block) > 1_000_000
    for blocks in ([block], ["a title", block, "the end"], [block, "the end"]):
        assert len(windows(visible_text(blocks, [True] * len(blocks)).sample)) == 512


def test_a_sample_is_full_where_most_windows_are_repeated() -> None:
    blocks = [*([text(6, 400)] * 30), text(7, 600)]
    assert len(windows(visible_text(blocks, [True] * 31).sample)) == 512


@pytest.mark.parametrize(("mask", "share"), [(0, 1), (1, 1 / 2), (3, 1 / 4), (NONE, 0)])
def test_a_block_s_mask_leaves_out_windows_by_their_hash(mask: int, share: float) -> None:
    box = text(5, 40)
    whole, masked = (
        visible_text([box], [False], masks=masks).sample for masks in (b"", bytes([mask]))
    )
    assert len(windows(masked)) == pytest.approx(len(windows(whole)) * share, rel=0.3)
    assert set(windows(masked)) == {w for w in windows(whole) if mask != NONE and not w & mask}


STORY = "".join(f"<p>{text(n, 60)}.</p>" for n in range(4))
LINKS = "".join(f"<li><a href=/{n}>{text(n, 6)}</a></li>" for n in range(9))


def counted(page: str) -> dict[str, float]:
    """By the first letters of blocks, the share of their windows that counts."""
    blocks = read(elements_of(document_fromstring(f"<body>{page}</body>")))
    main = set(main_blocks(blocks, ""))
    masks = window_masks(blocks, [i in main for i in range(len(blocks.texts))])
    shares = {0: 1.0, 3: 0.25, NONE: 0.0}
    return {each[:6]: shares[mask] for each, mask in zip(blocks.texts, masks, strict=True)}


def test_links_outside_the_box_of_the_main_text_count_nothing() -> None:
    page = f"<div><div>{STORY}</div><ul><li><a href=/x>Other: a story of another day</a></ul></div>"
    assert counted(page)["Other:"] == 0
    assert counted(page)[text(1, 60)[:6]] == 1


def test_links_in_the_box_of_the_main_text_count_as_its_rows() -> None:
    page = f"<div>{STORY}<ul><li><a href=/x>Other: a story of another day</a></ul></div>"
    assert counted(page)["Other:"] == 1


def test_links_that_outweigh_the_main_text_are_what_a_list_says() -> None:
    page = f"<div><p>{text(1, 60)}.</p></div><ul>{LINKS * 9}</ul>"
    assert counted(page)[text(2, 6)[:6]] == 1


def test_text_in_a_box_that_calls_itself_boilerplate_counts_a_quarter() -> None:
    page = f"<div><div>{STORY}</div><aside><p>Weekly: what our readers said of it</p></aside></div>"
    assert counted(page)["Weekly"] == 0.25
    assert counted(page.replace("aside", "div"))["Weekly"] == 1


def test_what_stands_outside_the_only_main_box_counts_nothing() -> None:
    notes = "<aside><p>Weekly: what our readers said of it</p></aside><p>Colophon of this paper</p>"
    page = f"<main>{STORY}<div><p>Corrected on Monday</p></div></main>{notes}"
    assert [counted(page)[each] for each in ("Weekly", "Coloph", "Correc")] == [0, 0, 1]


def test_each_entry_says_whether_its_block_is_main_text() -> None:
    found = visible_text(["a menu with entries", "a paragraph of text"], [False, True])
    blocks = [block for _, block in ENTRY.iter_unpack(found.sample[LIMIT_SIZE:])]
    assert {block & MAIN for block in blocks} == {0, MAIN}


def test_the_smallest_windows_of_the_main_text_are_three() -> None:
    found = visible_text(["Ten", "十个"], [True, False])
    assert smallest_of_main(found.sample).hex() == "16710a01bbf4fa14c62afa43"
    assert smallest_of_main(visible_text(["十个"], [False]).sample) == b""


def test_a_sample_is_of_the_smallest_windows_and_says_up_to_where() -> None:
    small, large = visible_text([text(1, 20)], [True]), visible_text([text(1, 2_000)], [True])
    assert limit(small.sample) == 0xFFFFFFFF
    assert len(windows(large.sample)) == 512
    assert windows(large.sample) == sorted(set(windows(large.sample)))
    assert limit(large.sample) == windows(large.sample)[-1]


@pytest.mark.parametrize("changed", [0.0, 0.1, 0.5])
def test_the_share_of_equal_windows_is_that_of_the_texts(changed: float) -> None:
    words = text(2, 5_000).split()
    others = words[:]
    others[: int(changed * len(words))] = text(3, int(changed * len(words))).split()
    samples = [visible_text([" ".join(each)], [True]).sample for each in (words, others)]
    upto = min(map(limit, samples))
    one, other = ({w for w in windows(sample) if w <= upto} for sample in samples)
    estimated = len(one & other) / len(one | other)
    assert estimated == pytest.approx((1 - changed) / (1 + changed), abs=0.07)


def test_of_more_than_a_million_characters_the_first_are_sampled() -> None:
    block = text(4, 20_000)
    one = visible_text([block] * 8 + ["the end of it all"], [True] * 9)
    other = visible_text([block] * 8 + ["another end of it"], [True] * 9)
    assert (one.sample, one.blocks) == (other.sample, other.blocks)


@given(st.lists(st.text(st.characters(exclude_characters="\n\0"), min_size=1), max_size=8))
def test_any_blocks_give_a_sample(blocks: list[str]) -> None:
    found = visible_text(blocks, [True] * len(blocks))
    assert len(found.blocks) <= max(1, len(windows(found.sample)))


def story(page: str, title: str = "") -> int | None:
    """The digest of the page's story."""
    blocks = read(elements_of(document_fromstring(f"<body>{page}</body>")))
    main = set(main_blocks(blocks, ""))
    is_main = [i in main for i in range(len(blocks.texts + blocks.hidden))]
    masks = window_masks(blocks, is_main)
    texts = blocks.texts + blocks.hidden
    utf8 = "\n".join(texts).encode()
    digests, *_ = article_digest(title, blocks, is_main, masks, texts, utf8)
    return None if digests is None else digests >> ARTICLE_SHIFT


NOTE = "<p>42 readers saw it</p>"


@pytest.mark.parametrize(
    ("page", "other", "is_one_story"),
    [
        (f"<div>{STORY}</div>{NOTE}", f"<div>{STORY}</div>{NOTE}".replace("42 r", "43 r"), True),
        (f"<div>{STORY}{NOTE}</div>", f"<div>{STORY}{NOTE}</div>".replace("42 r", "43 r"), False),
        (f"<div>{STORY}</div>", f"<div>{STORY}</div>".replace(text(2, 60), text(9, 60)), False),
        (f"<div>{STORY}</div><ul>{LINKS}</ul>", f"<div>{STORY}</div><ul>{LINKS * 2}</ul>", True),
        (f"<p>{text(1, 60)}.</p><ul>{LINKS * 9}</ul>", f"<p>{text(1, 60)}.</p>{LINKS * 8}", False),
    ],
    ids=["beside the box", "in the box", "main text", "links of another day", "entries of a list"],
)
def test_a_story_is_what_the_box_of_the_main_text_says(
    page: str, other: str, is_one_story: bool
) -> None:
    assert (story(page) == story(other)) is is_one_story


@pytest.mark.parametrize(
    ("line", "later", "is_one_story"),
    [
        ("By Ann, 2 hours ago, 5 comments", "By Ann, 1 day 3 hours ago, 1,207 comments", True),
        ("Views: 7 | Likes (3) | 2 shares", "Views: 1.2k | Likes (4) | 31 shares", True),
        ("小明 3小时前 阅读(7) 12条评论 赞5", "小明 2天前 阅读(93) 14条评论 赞62", True),
        ("By Ann, 5 comments", "By Bob, 5 comments", False),
        ("Tickets 12 euros, 5 comments", "Tickets 14 euros, 5 comments", False),
        ("Room 12, page 3", "Room 14, page 3", False),
    ],
)
def test_counters_in_a_line_above_the_text_are_no_part_of_the_story(
    line: str, later: str, is_one_story: bool
) -> None:
    page, other = (f"<div><div>{each}</div>{STORY}</div>" for each in (line, later))
    assert (story(page) == story(other)) is is_one_story


@pytest.mark.parametrize(
    ("line", "later"),
    [
        ("42 readers", "43 readers"),
        ("Ann, 2 hours ago, 5 comments", "Ann, 3 hours ago, 7 comments"),
    ],
)
def test_neither_are_those_of_the_main_text_alone_or_two_in_a_line(line: str, later: str) -> None:
    page, other = (f"<div>{STORY}<p>{each}</p></div>" for each in (line, later))
    assert story(page) == story(other)


def test_all_that_counts_is_the_story_where_the_main_text_is_less_than_half_of_it() -> None:
    posts = "".join(f"<section><p>{text(n, 9)}</p></section>" for n in range(90))
    page = f"<div><p>{text(1, 60)}.</p></div>{posts}"
    assert story(page) != story(page + f"<section><p>{text(99, 9)}</p></section>")


def test_an_article_among_more_links_than_text_is_no_list() -> None:
    links = "".join(f"<li><a href=/{n}>{text(n, 12)}</a></li>" for n in range(60))
    other = links.replace("word1", "term1")
    page = f"<div>{STORY}</div><ul>{links}</ul>"
    assert story(page) == story(page.replace(links, other))


def test_hidden_text_is_no_part_of_the_story_where_all_that_counts_is() -> None:
    lines = "".join(f"<div>{text(n, 6)}</div>" for n in range(100))
    page = f"<div>{STORY}</div>{lines}<div>"
    assert story(page + "One") != story(page + "Two")
    assert story(page + "<div hidden>One") == story(page + "<div hidden>Two")


def test_a_title_is_a_part_of_the_story_and_a_page_without_text_has_none() -> None:
    assert story(STORY, "One title") != story(STORY, "Another")
    assert story("") is None
    # The same on every machine, in every process.
    assert story(f"<div>{STORY}</div>", "标题") == 3671993743925219503 >> 32

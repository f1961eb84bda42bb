"""Which words name a page, and when titles name two things."""

from __future__ import annotations

import pytest

from simhash_pipeline import Fingerprinter, Judge, PageFingerprint, Verdict
from simhash_pipeline.page.titles import (
    PART_BREAK,
    SAID,
    WORD_BITS,
    name_two_things,
    numbers_differ,
    share_a_notice,
    word_blocks,
    words_of,
)
from tests.crawl.trap_site import prose

TEXT = prose("a text on all pages")


def page(title: str, *lines: str, text: str = TEXT) -> PageFingerprint:
    html = f"<title>{title}</title><body>{''.join(lines)}<p>{text}</p>"
    return Fingerprinter().fingerprint(html)


def name_two(one: PageFingerprint, other: PageFingerprint) -> bool:
    return name_two_things(one, other, in_one_template=True)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Release 3.27.1", ("release", "3.27.1")),
        ("关于张伟", ("关于", "于张", "张伟")),
        ("operator+=", ("operator", "+=")),
        ("7.25.17. || — Groonga", ("||", "groonga")),
        ("3.27.1 is out", ("3.27.1", "is", "out")),
        ("A | B - C-D", ("a", "b", "c", "d")),
        ("swap of swap", ("swap", "of", "swap\0")),
        ("", ()),
    ],
)
def test_words_of_a_title(title: str, words: tuple[str, ...]) -> None:
    assert words_of(title) == words


@pytest.mark.parametrize(
    ("one", "other"), [("||", "|"), ("-", "/"), ("swap(swap)", "swap(it, it)")]
)
def test_signs_and_words_that_stand_twice_are_names(one: str, other: str) -> None:
    pages = (page(f"{name} | Manual", f"<h1>{name}</h1>") for name in (one, other))
    assert name_two(*pages)


def test_a_line_is_looked_for_in_the_first_thousand_characters_of_a_title() -> None:
    """Each line of a page in a title as long as the page takes their product."""
    for words, heading in ((100, "Fog bells"), (300, "Home")):
        read = page(f"{'word ' * words}Fog bells", "<h3>Home</h3><h3>Fog bells</h3>")
        assert read.heading == heading


def test_a_linked_heading_names_the_site() -> None:
    """A manual's release is no page's name: the same page of two releases is one thing."""
    pages = (
        page(f"Forms — Web {n}", f'<h1><a href="/">Web {n} manual</a></h1><h1>Forms</h1>')
        for n in ("2.2.28", "3.2.25")
    )
    assert not name_two(*pages)


def test_a_suffix_in_two_titles_and_a_text_is_no_name() -> None:
    """Hangul is cut into pieces of two: the plural "들이" stands in any text."""
    text = f"{TEXT} 손님들이 쿠키를 허용한다."
    titles = ("독립 투표를 앞두고 경찰과 학생들이 대치하다", "런던데리에서 남성들이 체포되다")
    assert share_a_notice(*(page(title, text=text) for title in titles))


def test_a_preposition_in_two_titles_and_a_text_is_no_name() -> None:
    text = f"{TEXT} They looked against the light."
    titles = ("Miners vote against longer shifts", "Bakers protest against flour prices")
    assert share_a_notice(*(page(title, text=text) for title in titles))


def test_a_name_of_one_piece_is_the_name() -> None:
    """Such as 補完 in two releases of a manual."""
    titles = (f"7.20.2. 補完 — Groonga v{release}" for release in ("10.1.1", "13.0.0"))
    assert not share_a_notice(*(page(title, "<h1>補完</h1>") for title in titles))


@pytest.mark.parametrize("tag", ["h1", "h2"])
def test_where_titles_are_equal_the_headings_are_the_titles(tag: str) -> None:
    one, other = (page("Weather", f"<{tag}>{town}</{tag}>") for town in ("Ulm", "Hof"))
    assert name_two(one, other)
    assert not name_two(one, page("Weather", f"<{tag}>Ulm today</{tag}>"))


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("Voucher: <b>7X2A-94QP</b>", "7x2a-94qp"),
        ("编号：BT40718", "bt40718"),
        ("SKU FD2722-002", "fd2722-002"),
        ("858shares, 331kcal or 30-minutes", ""),  # an amount
        ("Share this page: a.example/7X2A94QP", ""),
        ("7 May 2023 1080p", ""),
        ("The voucher 7X2A-94QP is yours.", ""),
        ('Next: <a href="/2">7X2A-94QP</a>', "7x2a-94qp"),
        ('<a href="/2">7X2A-94QP</a>', ""),
    ],
)
def test_codes_end_short_lines(line: str, codes: str) -> None:
    assert page("Voucher", f"<p>{line}</p>").codes == codes


def test_codes_stand_by_the_main_text() -> None:
    html = f"<title>Bell</title><main><p>{TEXT}</p></main><p>Session 7X2A94QP</p>"
    assert Fingerprinter().fingerprint(html).codes == ""


def test_the_first_line_of_a_list_is_its_heading() -> None:
    rows = "".join(f"<tr><td>{TEXT.split()[n]}{n}()</td><td>inline</td></tr>" for n in range(60))
    home = '<div><a href="/">Harbour</a></div>'
    one, other = (
        Fingerprinter().fingerprint(
            f"<title>Harbour: Members</title>{home}<div>{name}</div><table>{rows}</table>"
        )
        for name in ("FogBell", "TideTable")
    )
    assert (one.left_out, one.heading, other.heading) == ("", "FogBell", "TideTable")
    assert name_two(one, other)


def test_a_site_s_sections_in_titles_make_no_text_of_neither() -> None:
    """One article on two sites, under one heading and their own sections and names."""
    heading = "<h1>夜班车试运行</h1>"
    pages = (page(f"夜班车试运行_{rest}", heading) for rest in ("新闻中心_新浪网", "国内要闻_腾讯"))
    assert [p.title_marks & SAID for p in pages] == [0, 0]
    with Judge("memory:") as judge:
        hosts = ("http://a.example/1", "http://b.example/1")
        titles = ("新闻中心_新浪网频道_时政_滚动", "国内要闻_腾讯网_社会万象_热点")
        found = [
            judge.judge(url, page(f"夜班车_{rest}", "<h1>夜班车</h1>"))
            for url, rest in zip(hosts, titles, strict=True)
        ]
    assert found[1].dropped


def release(number: str, name: str) -> PageFingerprint:
    """A page of a manual whose first heading is the release's name, as no link."""
    heading = f"<h1>Bell {number} documentation</h1><h2>{name}</h2>"
    return page(f"{name} | Bell {number} documentation", heading, text=prose(name))


def test_what_a_template_s_titles_repeat_is_no_page_s_name() -> None:
    """It is learnt as repeated text is: from three quarters of a template's last pages."""
    with Judge("memory:") as judge:
        found: list[Verdict] = []
        for number in ("1.2.3", "1.3.0"):
            for n in range(40):
                url = f"http://a.example/{number}/{n}"
                found.append(judge.judge(url, release(number, f"chapter{n}")))
    assert [verdict.dropped for verdict in found[:40]] == [False] * 40
    assert sum(verdict.dropped for verdict in found[40:]) >= 25


@pytest.mark.parametrize("title", ["bell.{}.ring — Harbour 3.1 manual", "小红{}的钟_海港日报"])
def test_a_part_of_a_title_is_a_name_as_a_whole(title: str) -> None:
    """Of one section after the other, a word is in most of the last titles."""
    one, other = (page(title.format(word)) for word in ("bronze", "iron"))
    words = ("bell", "bronze", "iron", "harbour", "3.1", "manual", "海港", "港日", "日报")
    repeated = frozenset(block & WORD_BITS for block in word_blocks(words))
    assert name_two_things(one, other, in_one_template=True, repeated=repeated)
    old, new = (page(f"Ring{end}") for end in (" | Bell 1.2", " | Bell 1.3"))
    repeated = frozenset(block & WORD_BITS for block in word_blocks(("bell", "1.2", "1.3")))
    assert name_two_things(old, new, in_one_template=True) > name_two_things(
        old, new, in_one_template=True, repeated=repeated
    )


def test_a_title_of_dashes_is_parted_in_linear_time() -> None:
    assert len(PART_BREAK.split("-" * 200_000)) == 1


def test_numbers_differ_whatever_words_two_sites_repeat() -> None:
    one, other = page("Harbour Q3"), page("Bell Q4")
    repeated = frozenset(block & WORD_BITS for block in word_blocks(("harbour", "bell")))
    assert numbers_differ(one, other, repeated)
    assert not numbers_differ(one, other)


def test_a_name_in_code_is_one_word() -> None:
    one, other = (page(f"{name} — Harbour") for name in ("FOG_BELL", "FOG_BELL_RING"))
    assert name_two(one, other)
    assert words_of("Fog_bell of 小红_sea") == ("fog", "bell", "of", "小红", "sea", "fog_bell")


def test_a_word_in_half_of_the_titles_is_a_name() -> None:
    """A shop of things in two colours, whose headings name them."""
    with Judge("memory:") as judge:
        found = [
            judge.judge(
                f"http://a.example/{n}-{colour}",
                page(f"Lamp {n} {colour}", f"<h1>Lamp {n} {colour}</h1>", text=prose(f"lamp{n}")),
            )
            for n in range(40)
            for colour in ("black", "white")
        ]
    assert not any(verdict.dropped for verdict in found)

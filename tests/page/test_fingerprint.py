import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_pipeline import (
    Fingerprinter,
    Options,
    OptionsError,
    PageError,
    PageFingerprint,
    hamming_distance,
)

STORY = """
The ferry Morning Tide left the east quay at six with forty passengers and a cargo of salt. Halfway
across the sound the fog closed in, and the pilot cut the engine to listen for the bell on Gull
Rock. Nobody spoke until the sound came, faint and to starboard, three strokes a minute. By eight
the boat lay safe in the lee of the island, and the passengers bought the pilot breakfast.
"""
OTHER = """
Council voted last night to plant two hundred lime trees along the ring road before winter. Members
argued for an hour over the cost of watering them, which the parks office puts at nine thousand a
year. A motion to choose hornbeam instead was lost by one vote after the chair had read a letter
from the beekeepers, who promised honey to every school in the borough by next July.
"""
ZH_STORY = (
    "清晨六点，渡轮“晨潮号”载着四十名乘客和一船海盐驶离东码头。行至海峡中央，浓雾突然合拢，"
    "领航员关掉发动机，侧耳倾听鸥石上的钟声。没有人说话，直到右舷方向传来微弱的声响，每分钟三下。"
    "八点钟，渡轮平安停靠在小岛的背风处，乘客们请领航员吃了早餐，船长在日志里只写了一行字：平安到达。"
    "港务局表示，今后遇到大雾天气，渡轮将推迟发船，并在码头设置休息室，为等候的旅客提供热水和面包。"
)

MARKS = "\u0f73" * 300_000  # NFKC sorts them


def page(body: str, title: str = "Ferry", footer: str = "Contact | Imprint | 2026") -> str:
    links = "".join(f'<li><a href="/{i}">Section {i}</a></li>' for i in range(8))
    return (
        f"<html><head><title>{title}</title></head><body><nav><ul>{links}</ul></nav>"
        f"<main><h1>{title}</h1><p>{body}</p></main><footer><p>{footer}</p></footer></body></html>"
    )


def fingerprint(html: str | bytes) -> PageFingerprint:
    return Fingerprinter().fingerprint(html)


def distance(a: int | None, b: int | None) -> int:
    assert a is not None
    assert b is not None
    return hamming_distance(a, b)


def test_a_changed_footer_does_not_move_the_content_fingerprint() -> None:
    one, two = fingerprint(page(STORY)), fingerprint(page(STORY, footer="Read 1,204 times today"))
    assert one.content == two.content


@pytest.mark.parametrize("body", [STORY, ZH_STORY])
def test_another_story_in_the_same_template_moves_content_but_not_structure(body: str) -> None:
    one, two = fingerprint(page(body)), fingerprint(page(OTHER))
    assert distance(one.content, two.content) > 10
    assert distance(one.sketch, two.sketch) > 30
    assert one.structure == two.structure


def test_bytes_and_text_give_the_same_fingerprint() -> None:
    assert fingerprint(page(ZH_STORY)) == fingerprint(page(ZH_STORY).encode())


def test_the_same_page_in_gbk_and_utf8_gives_the_same_fingerprint() -> None:
    assert fingerprint(page(ZH_STORY).encode("gbk")) == fingerprint(page(ZH_STORY).encode())


def test_a_thin_page_has_no_content_fingerprint_and_no_sketch() -> None:
    thin = fingerprint(page("Only a few words."))
    assert (thin.content, thin.sketch) == (None, None)
    assert 0 < thin.tokens < 50


def test_a_page_of_exactly_min_tokens_is_not_thin() -> None:
    words = " ".join(f"word{i}" for i in range(60))
    html = f"<html><body><p>{words}</p></body></html>"
    assert Fingerprinter(Options(min_tokens=60)).fingerprint(html).content is not None
    assert Fingerprinter(Options(min_tokens=61)).fingerprint(html).content is None


def test_without_a_second_look_one_word_is_enough() -> None:
    fingerprinter = Fingerprinter(Options(second_look=False))
    assert fingerprinter.fingerprint("<p>Closed</p>").content is not None
    assert fingerprinter.fingerprint("<p>!!!</p>").content is None


def test_a_page_of_few_elements_has_no_structure_fingerprint() -> None:
    assert fingerprint(f"<p>{STORY}</p>").structure is None


def test_pages_without_text_have_no_digest_so_they_are_nobodys_twin() -> None:
    assert fingerprint("<html><head><title>App</title></head><body></body></html>").digest is None


def test_the_digest_is_of_title_and_text_but_not_of_white_space() -> None:
    assert fingerprint(page("Closed   today")).digest == fingerprint(page("Closed\ntoday")).digest
    assert fingerprint(page("Closed today")).digest != fingerprint(page("Open today")).digest
    assert (
        fingerprint(page("Closed", title="Pool")).digest
        != fingerprint(page("Closed", title="Library")).digest
    )


@pytest.mark.parametrize(
    "html",
    [
        "x" * 1_000_000,
        "word " * 300_000,
        "😀 " * 5000,
        "مرحبا بالعالم " * 500,
        "<p>" * 10_000,
        "<" * 10_000,
        "a\x00b" * 1000,
        "\ud800 " * 1000,
        "\U000e0fff" * 1000,
    ],
    ids=[
        "one long token",
        "one token",
        "emoji",
        "arabic",
        "p",
        "<",
        "nul",
        "surrogate",
        "unassigned",
    ],
)
def test_strange_text_is_no_error(html: str) -> None:
    assert fingerprint(html).url is None


@settings(max_examples=200)
@given(st.binary(max_size=500))
def test_any_bytes_give_a_fingerprint_or_a_page_error(data: bytes) -> None:
    try:
        outcome = type(fingerprint(data)).__name__
    except PageError as error:
        outcome = error.kind
    assert outcome in ("PageFingerprint", "empty", "binary", "unparsable")


def first_paragraph(root: object) -> str:
    return root.findtext(".//p")  # type: ignore[attr-defined, no-any-return]  # a user need not type it


def broken(root: object) -> str:
    raise KeyError("no main text")


def wrong(root: object) -> bytes:
    return b"text"


def test_an_extractor_of_ones_own_is_used() -> None:
    options = Options(extractor=f"{__name__}.first_paragraph")
    assert Fingerprinter(options).fingerprint(page(STORY)).text == STORY


def emptying(root: object) -> str:
    root.find("body").clear()  # type: ignore[attr-defined]  # as above
    return STORY


def test_the_structure_is_the_pages_whatever_an_extractor_leaves_of_the_tree() -> None:
    html = page(STORY).replace("<p>", "<table><tr><td>").replace("</p>", "</td></tr></table>")
    structure = fingerprint(html).structure
    assert structure is not None
    options = Options(extractor=f"{__name__}.emptying")
    assert Fingerprinter(options).fingerprint(html).structure == structure


@pytest.mark.parametrize("name", ["broken", "wrong"])
def test_an_extractor_that_fails_is_the_pages_error(name: str) -> None:
    fingerprinter = Fingerprinter(Options(extractor=f"{__name__}.{name}"))
    with pytest.raises(PageError, match=f"{__name__}.{name}") as caught:
        fingerprinter.fingerprint(page(STORY))
    assert caught.value.kind == "extractor"


@pytest.mark.parametrize("name", ["nowhere.at_all", "simhash_pipeline.nothing", "no dots"])
def test_an_extractor_that_is_not_there_is_told_at_the_start(name: str) -> None:
    with pytest.raises(OptionsError, match="SIMHASH_EXTRACTOR"):
        Fingerprinter(Options(extractor=name))


@pytest.mark.parametrize(
    "page",
    [
        "<title>T</title><main><p>{}</p></main>",
        "<title>T</title><article><h1>Fog</h1><p>{}",
        "<!doctype html><html><meta charset=utf-8><title>T</title><header>Menu</header><main>{}",
        "<head><title>T</title><fog-story>{}</fog-story><link rel=icon href=x></head><body></body>",
        "<head><fog-story>{}</fog-story><title>T</title></head><body>More.<p>More.</p></body>",
    ],
)
def test_a_page_may_leave_out_its_head_and_body_tags(page: str) -> None:
    story = "A ferry came home through the fog that night. " * 20
    found = Fingerprinter().fingerprint(page.format(story))
    assert story.strip() in found.text
    assert found.title == "T"


@pytest.mark.parametrize("character", ["\x01", "\x1f", "\ufffe", "\uffff"])
def test_a_page_without_head_and_body_tags_may_hold_what_xml_does_not(character: str) -> None:
    found = Fingerprinter().fingerprint(f"<title>T</title><main>a</main>b{character}c")
    assert found.text.split() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<link rel=canonical href='/c'>", "http://a.example/c"),
        ("<link rel='nofollow Canonical' href=' c '>", "http://a.example/b/c"),
        ("<base href='http://b.example/d/'><link rel=canonical href=c>", "http://b.example/d/c"),
        ("<base target=_top><base href=/d/><link rel=canonical href=c>", "http://a.example/d/c"),
        ("<link rel=canonical href=' '><link rel=canonical href=/c>", "http://a.example/c"),
        ("<link rel=canonical>", None),
        (f"<link rel=canonical href='http://a{MARKS}'>", None),
        (f"<base href='ht\ntp:/\n/a{MARKS}'><link rel=canonical href=c>", None),
        ("<link rel=canonical href='http://[c'>", None),
        ("", None),
    ],
)
def test_the_canonical_url_is_what_the_head_links_to(head: str, expected: str | None) -> None:
    html = f"<html><head><title>t</title>{head}</head><body><p>text</p></body></html>"
    found = Fingerprinter().fingerprint(html, "http://a.example/b/page")
    assert found.canonical_url == expected

"""That lxml makes of tags what the kernel's tables say, asked of each tag and of each pair."""

from html.entities import html5

import pytest
from lxml import etree

from simhash_pipeline.page.bounds import DEEP, SHALLOW
from simhash_pipeline.page.compiled import (
    _OPEN_HEAD,
    _OPEN_NOTHING,
    ENDED_BY,
    HOLDS,
    RANKS,
    VOID,
)
from simhash_pipeline.page.parse import METADATA

pytestmark = pytest.mark.skipif(
    etree.LIBXML_VERSION < (2, 14),
    reason="pages are read as libxml2 2.14 reads them, and lxml has an older one",
)
TAGS = """a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big
    blockquote br button canvas caption center cite code col colgroup data datalist dd del details
    dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame h1 h2 h3 h4
    h5 h6 header hr i iframe image img input ins isindex kbd keygen label legend li link listing
    main map mark math menu meta nav nobr noembed noframes noscript object ol optgroup option output
    p param picture plaintext pre progress q rb rp rt ruby s samp script section select slot small
    source span strike strong style sub summary sup svg table tbody td template textarea tfoot th
    thead time title tr track tt u ul var video wbr x-y xmp""".split()  # noqa: SIM905
OPEN = [tag for tag in TAGS if tag not in VOID and tag not in HOLDS]


def tree(html: str) -> etree._Element:
    return etree.fromstring(html, etree.HTMLParser())


def is_ended(old: str, new: str) -> bool:
    """Whether the start tag ends the element, whose text then ends before "x"."""
    around = "<html><head id=o>" if old == "head" else f"<html><body><{old} id=o>"
    (found,) = tree(f"{around}<{new}>x").iterfind(".//*[@id='o']")
    return "x" not in "".join(map(str, found.itertext())) and found.find(f".//{new}") is None


@pytest.mark.parametrize("new", TAGS)
def test_start_tags_end_what_the_table_says(new: str) -> None:
    olds = [*OPEN, *(["head"] if new not in METADATA else [])]
    assert {old for old in olds if is_ended(old, new)} == set(ENDED_BY.get(new, ())) & set(olds)


@pytest.mark.parametrize("inner", [tag for tag in OPEN if tag != "head"])
def test_end_tags_end_what_ranks_no_higher(inner: str) -> None:
    """Each rank's first tag, around a tag, ends with its end tag, or goes on."""
    for outer in ("b", "div", "td", "tr", "tbody", "table"):
        if outer == inner or outer in ENDED_BY.get(inner, ()):
            continue
        found = tree(f"<body><{outer} id=o><{inner}>y</{outer}>x").find(".//*[@id='o']")
        assert found is not None
        is_closed = "x" not in "".join(map(str, found.itertext()))
        assert is_closed == (RANKS.get(inner, 0) <= RANKS.get(outer, 0))


def test_void_elements_hold_nothing() -> None:
    in_body = [tag for tag in TAGS if tag not in ("frame", "plaintext")]
    texts = {tag: tree(f"<body><{tag}>x").findtext(f".//{tag}") for tag in in_body}
    assert {tag for tag, text in texts.items() if not text} == VOID - {"frame"}
    frames = tree("<frameset><frame><frame>")
    assert [each.tag for each in frames.iter()] == ["html", "frameset", "frame", "frame"]


def test_elements_hold_markup_or_text_as_the_table_says() -> None:
    found = {tag: tree(f"<body><{tag}>&lt;<b></{tag}>").findtext(f".//{tag}") for tag in OPEN}
    assert set(found.values()) <= {"<"}
    raw = {tag: tree(f"<body><{tag}>&lt;<b></{tag}>").findtext(f".//{tag}") for tag in HOLDS}
    texts = {1: "<<b>", 2: "&lt;<b>", 3: "&lt;<b>", 4: "&lt;<b></plaintext>"}
    assert raw == {tag: texts[holds] for tag, holds in HOLDS.items()}


def test_before_a_body_tags_open_head_or_body_as_the_table_says() -> None:
    opened = {tag: {each.tag for each in tree(f"<{tag}>").iter()} for tag in TAGS}
    assert {tag for tag in TAGS if "head" in opened[tag]} == _OPEN_HEAD
    no_body = {tag for tag in TAGS if not {"head", "body"} & opened[tag]}
    assert no_body == _OPEN_NOTHING - {"frameset"}


def test_references_mean_what_pythons_table_says() -> None:
    for name, text in html5.items():
        assert tree(f"<p>&{name} .").findtext(".//p") == f"{text} .", name
    numbers = [bytes([c]).decode("cp1252", "ignore") or chr(c) for c in range(128, 160)]
    assert [tree(f"<p>&#{c};").findtext(".//p") for c in range(128, 160)] == numbers


@pytest.mark.parametrize(("huge_tree", "levels"), [(True, DEEP), (False, SHALLOW)])
def test_trees_are_given_up_at_their_depths(huge_tree: bool, levels: int) -> None:
    parser = etree.HTMLParser(huge_tree=huge_tree)
    etree.fromstring("<b>" * (levels - 2) + "x", parser)  # beside html and body
    assert not parser.error_log
    etree.fromstring("<b>" * (levels - 1) + "x", parser)
    assert "depth" in str(parser.error_log)

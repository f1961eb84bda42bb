import socket
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from simhash_pipeline import Fingerprinter, PageError
from simhash_pipeline.page.decode import decode
from tests.trees import parse

CHINESE = "<p>海港日报讯：昨天上午，三艘渔船在大雾中安全返回港口，船员全部平安。</p>" * 3


def text(root: etree._Element) -> str:
    return "".join(str(part) for part in root.itertext())


@given(
    st.lists(
        st.sampled_from(
            ["港".encode(), b"bay", b"\xef\xbb\xbf", b"\x1b$B9A\x1b(B", b"\xe6", b"\xff"]
        )
        | st.integers(0, 20).map("\ufffd".encode().__mul__),
        max_size=6,
    ),
    st.sampled_from([None, "gb2312", "iso-2022-jp"]),
)
def test_bytes_have_the_tree_of_their_decoded_text(
    pieces: list[bytes], charset: str | None
) -> None:
    html = b"".join(pieces) + b"<p>port</p>"
    read = parse(decode(html, charset))
    assert etree.tostring(parse(html, charset)) == etree.tostring(read)


def test_a_page_cut_within_a_character_keeps_its_charset() -> None:
    cut = CHINESE.encode("gbk")[:-5]
    assert decode(cut, "gbk").startswith("<p>海港日报讯")


def test_text_is_not_decoded_by_the_charset_it_declares() -> None:
    root = parse('<html><head><meta charset="gbk"></head><body>海港</body></html>')
    assert text(root) == "海港"


def test_an_xml_declaration_in_text_is_no_obstacle() -> None:
    root = parse('<?xml version="1.0" encoding="gbk"?><html><body>海港</body></html>')
    assert text(root) == "海港"


@pytest.mark.parametrize("html", ["", b"", "   \n", "<!-- only a comment -->"])
def test_a_page_without_element_or_text_is_an_empty_page(html: str | bytes) -> None:
    with pytest.raises(PageError) as caught:
        parse(html)
    assert caught.value.kind == "empty"


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", bytes(range(256))],
)
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(PageError) as caught:
        parse(data)
    assert caught.value.kind == "binary"


def test_a_stray_nul_byte_does_not_make_a_page_binary() -> None:
    html = b"<html><body><p>" + b"word " * 20 + b"\x00" + b"word " * 20
    assert text(parse(html)).split()[0] == "word"


def test_a_nul_does_not_cut_a_word() -> None:
    assert text(parse("<p>infor\0mation \0 desk</p>")) == "information  desk"
    assert text(parse(b"<p>infor\0mation desk, by the gate</p>")) == "information desk, by the gate"


def test_text_below_a_hundred_thousand_levels_is_found() -> None:
    depth = 100_000
    html = f"<p>top &amp; first</p>{'<div>' * depth}<p>bottom</p>{'</div>' * depth}<p>after</p>"
    assert text(parse(html)).split() == ["top", "&", "first", "bottom", "after"]


def test_scripts_below_the_depth_limit_stay_scripts() -> None:
    html = f"{'<div>' * 3000}<script>var hidden = '<p>';</script><p>shown</p>"
    root = parse(html)
    assert [element.text for element in root.iter("script")] == ["var hidden = '<p>';"]
    for script in root.iter("script"):
        script.text = None
    assert text(root).strip() == "shown"


@pytest.mark.parametrize(
    ("html", "body"),
    [
        ("<body><p>a</p></body>b<p>c</p>d</html>", "<p>a</p>b<p>c</p>d"),
        ("<body><p>a</p></body></html>b<p>c</p>", "<p>a</p>b<p>c</p>"),
        ("<body>a</body></html><html><head><title>t</title></head><body>b", "a<title>t</title>b"),
        (
            "<body>a</body><head><meta></head>b<body class='x'>c<i>d</i></body>e",
            "a<meta>bc<i>d</i>e",
        ),
        ("<head></head></html><p>a</p>", "<p>a</p>"),
        ("<body>a\x0b</body></html>b\x0bc" + " " * 60, "a\x0bb\x0bc" + " " * 60),
    ],
)
def test_what_follows_the_end_of_the_body_is_in_it(html: str, body: str) -> None:
    found = parse(html).find("body")
    assert found is not None
    assert found.getnext() is None
    expected = f"<body>{body}</body>"
    assert etree.tostring(found, method="html", encoding="unicode") == expected


@pytest.mark.parametrize(
    ("html", "body"),
    [
        ("<p>wo</body>rd</p>", "<p>word</p>"),
        ("<div><p>a</body><p>b</div>c", "<div><p>a</p><p>b</p></div>c"),
        ("<div><p>a</BODY\n></html/><p>b</div>c", "<div><p>a</p><p>b</p></div>c"),
        ("<p>a</body x='>'>b</html y>c</p>", "<p>abc</p>"),
        (
            "<table><tr><td>a</body>b</td><td>c</td></tr></table>",
            "<table><tr><td>ab</td><td>c</td></tr></table>",
        ),
    ],
)
def test_what_is_open_at_a_stray_end_of_the_page_stays_open(html: str, body: str) -> None:
    """As Chromium's tree, without its tbody."""
    found = parse(html).find("body")
    assert found is not None
    assert etree.tostring(found, method="html", encoding="unicode") == f"<body>{body}</body>"


@pytest.mark.parametrize(
    "part",
    [
        "<script>document.write('</body></html>')</script>",
        "<script>'</scr</body>ipt>'</script>",
        "<style>/* </body> */</style>",
        "<textarea></body></textarea>",
        "<!-- </body></html> -->",
        "<!-- --</body>> -->",
        "<img alt='</body></html>'>",
    ],
)
def test_an_end_of_the_page_in_no_place_for_markup_is_none(part: str) -> None:
    body = parse(f"<p>one {part}two</p>").find("body")
    assert body is not None
    etree.strip_elements(body, "script", "style", "textarea", "img", with_tail=False)
    assert etree.tostring(body, encoding="unicode") == "<body><p>one two</p></body>"


PARTS_OF_A_PAGE = [
    *("<html>", "<head>", "<body>", "</head>", "</body>", "</html>", "</BODY x='>'>", "</html/"),
    *("<title>", "</title>", "<script>", "</script>", "<!--", "-->", "<meta>", "<main>", "<p>"),
    *("</p>", "<td>", "<table>", "</table>", "<select>", "<svg>", "<a b='", "'>", ">", "a", " "),
]


@given(st.lists(st.sampled_from(PARTS_OF_A_PAGE), max_size=20))
def test_nothing_stands_beside_the_body(pieces: list[str]) -> None:
    root = parse("<p>a" + "".join(pieces))
    body = root.find("body")
    assert body is not None
    assert (root.getnext(), body.getnext(), (body.tail or "").strip()) == (None, None, "")


def test_comments_are_not_in_the_tree() -> None:
    assert text(parse("<p>a<!-- b -->c</p>")) == "ac"


def outcome(html: str | bytes) -> str:
    try:
        return str(parse(html).tag)
    except PageError as error:
        return error.kind


@given(st.binary(max_size=300))
def test_any_bytes_give_a_tree_or_a_page_error(data: bytes) -> None:
    assert outcome(data) in ("html", "empty", "binary", "unparsable")


@given(st.text(max_size=300))
def test_any_text_gives_a_tree_or_a_page_error(html: str) -> None:
    assert outcome(html) in ("html", "empty", "unparsable")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A loopback port that waits for whoever comes."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        opened.settimeout(0.2)
        yield opened


EXTERNAL = [
    '<!DOCTYPE html SYSTEM "{}"><p>&e;word</p>',
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "{}"><p>&e;word</p>',
    '<!DOCTYPE html [<!ENTITY e SYSTEM "{}">]><p>&e;word</p>',
    '<!DOCTYPE html [<!ENTITY % p SYSTEM "{}"> %p;]><p>&e;word</p>',
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "{}">]><html><body>&e;word</body></html>',
    '<?xml-stylesheet href="{}"?><p>word</p>',
    '<html xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{}" parse="text"/>word',
    '<base href="{0}"><link rel=stylesheet href="{0}"><script src="{0}"></script>word',
    '<iframe src="{0}"></iframe><img src="{0}"><object data="{0}"></object>word',
    '<meta http-equiv=refresh content="0;url={}">word',
]


@pytest.mark.parametrize("markup", EXTERNAL)
def test_a_page_fetches_nothing(listener: socket.socket, markup: str) -> None:
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    page = Fingerprinter().fingerprint(markup.format(address), "http://a.example/")
    assert page.text.endswith("word")
    with pytest.raises(TimeoutError):
        listener.accept()


@pytest.mark.parametrize("markup", EXTERNAL)
def test_a_page_reads_no_file(tmp_path: Path, markup: str) -> None:
    secret = tmp_path / "passwd"
    secret.write_text("root:secret", encoding="utf-8")
    for address in (secret.as_uri(), str(secret)):
        tree = etree.tostring(parse(markup.format(address)), encoding="unicode")
        assert "root:secret" not in tree


def test_an_entity_bomb_stays_the_text_it_is() -> None:
    entities = '<!ENTITY a "laugh">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise("abcdefghi")
    )
    page = Fingerprinter().fingerprint(f"<!DOCTYPE html [{entities}]><p>&i;</p>")
    assert len(page.text) < 2_000

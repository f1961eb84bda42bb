import socket
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from simhash_pipeline import Fingerprinter, PageError
from simhash_pipeline.page.parse import decode
from tests.trees import parse

CHINESE = "<p>海港日报讯：昨天上午，三艘渔船在大雾中安全返回港口，船员全部平安。</p>" * 3
TRADITIONAL = "<p>海港日報訊：昨天上午，三艘漁船在大霧中安全返回港口，船員全部平安。</p>" * 3
JAPANESE = "<p>港の漁船は霧の中を無事に帰港し、乗組員は全員無事でした。</p>" * 3
KOREAN = "<p>어제 오전 짙은 안개 속에서 어선 세 척이 무사히 항구로 돌아왔습니다.</p>" * 3
RUSSIAN = "<p>Вчера утром три рыболовных судна благополучно вернулись в порт.</p>" * 3
GREEK = "<p>Χθες το πρωί τρία αλιευτικά σκάφη επέστρεψαν με ασφάλεια στο λιμάνι.</p>" * 3
FRENCH = (
    "<p>Hier matin, trois bateaux de pêche sont rentrés sains et saufs à cause du café.</p>" * 3
)


def text(root: etree._Element) -> str:
    return "".join(str(part) for part in root.itertext())


PAGES = [
    (CHINESE, "gb18030"),
    (CHINESE, "gbk"),
    (TRADITIONAL, "big5"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
    (KOREAN, "euc_kr"),
    (RUSSIAN, "windows-1251"),
    (RUSSIAN, "koi8-r"),
    (GREEK, "windows-1253"),
    (FRENCH, "windows-1252"),
]


@pytest.mark.parametrize(("html", "charset"), PAGES)
def test_a_page_that_declares_nothing_is_readable(html: str, charset: str) -> None:
    assert decode(html.encode(charset)) == html


@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1", "windows-1252", "no-such-charset"])
@pytest.mark.parametrize(("html", "charset"), PAGES)
def test_a_wrong_http_charset_does_not_garble(html: str, charset: str, declared: str) -> None:
    assert decode(html.encode(charset), declared) == html


@pytest.mark.parametrize("declared", ["gb2312", "big5", "shift_jis", "iso-8859-1"])
def test_utf8_is_read_as_utf8_whatever_is_declared(declared: str) -> None:
    html = f'<meta charset="{declared}">{CHINESE}'
    assert decode(html.encode(), declared) == html


EAST_ASIAN = ["gb2312", "big5", "shift_jis", "euc-jp", "euc-kr"]


@pytest.mark.parametrize("declared", EAST_ASIAN)
@pytest.mark.parametrize(("html", "charset"), [page for page in PAGES if page[1] != "koi8-r"])
def test_a_page_is_not_read_in_an_east_asian_charset_that_it_only_declares(
    html: str, charset: str, declared: str
) -> None:
    page = f'<meta charset="{declared}">{html}'
    assert decode(page.encode(charset)) == page


@pytest.mark.parametrize(("html", "charset"), [page for page in PAGES if page[0] != RUSSIAN])
def test_a_bad_byte_does_not_hide_the_charset(html: str, charset: str) -> None:
    page = html.encode(charset)
    assert decode(page + b"<p>\xa0</p>" + page).count(html) == 2


@pytest.mark.parametrize(("html", "charset"), PAGES)
def test_a_long_english_beginning_does_not_hide_the_charset(html: str, charset: str) -> None:
    page = f"<p>{'harbour ' * 2_000}</p>{html}"
    assert decode(page.encode(charset)) == page


@pytest.mark.parametrize(("html", "charset"), PAGES)
def test_a_right_meta_charset_is_believed(html: str, charset: str) -> None:
    page = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">{html}'
    assert decode(page.encode(charset)) == page


def test_a_short_page_is_read_by_what_it_declares() -> None:
    assert decode("<p>港</p>".encode("gbk"), "gbk") == "<p>港</p>"


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_beats_every_declaration(charset: str) -> None:
    assert decode(CHINESE.encode(charset), "big5") == CHINESE


@pytest.mark.parametrize(
    ("declared", "charset"),
    [("utf-16", "utf-16-le"), ("UTF-16LE", "utf-16-le"), ("utf-16be", "utf-16-be")],
)
@pytest.mark.parametrize("html", [CHINESE, FRENCH, "<p>Ferries and fog.</p>"])
def test_utf_16_without_a_byte_order_mark_is_read_when_http_declares_it(
    html: str, declared: str, charset: str
) -> None:
    page = html.encode(charset)
    assert decode(page, declared) == html
    assert text(parse(page, declared)) == html.replace("<p>", "").replace("</p>", "")


@pytest.mark.parametrize("charset", ["utf-16", "utf-16le", "utf-16be"])
@pytest.mark.parametrize(("html", "encoding"), [(CHINESE, "utf-8"), *PAGES])
def test_utf_16_is_not_believed_where_the_bytes_are_not(
    html: str, encoding: str, charset: str
) -> None:
    """No browser believes it of a meta; of HTTP it shows what no reader could want."""
    page = f'<meta charset="{charset}">{html}'
    assert decode(page.encode(encoding)) == page
    assert decode(html.encode(encoding), charset) == html


@pytest.mark.parametrize(
    "declared", ["hex", "rot13", "punycode", "unicode_escape", "a\0b", "\ud800"]
)
@pytest.mark.parametrize("html", [FRENCH.encode("windows-1252"), CHINESE.encode("gbk")])
def test_a_codec_that_is_no_charset_is_not_believed(html: bytes, declared: str) -> None:
    assert decode(html, declared) == decode(html)
    page = b'<meta charset="%b">%b' % (declared.encode(errors="replace"), html)
    assert decode(page).endswith(decode(html))


def test_iso_2022_jp_is_read_when_declared() -> None:
    html = f'<meta charset="iso-2022-jp">{JAPANESE}'
    assert decode(html.encode("iso2022_jp")) == html


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
    [b"%PDF-1.4\n1 0 obj << >> endobj", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", bytes(range(256))],
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

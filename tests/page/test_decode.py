"""Bytes become the text that a reader of the page sees, whatever it or its server declares."""

from __future__ import annotations

import time

import pytest

from simhash_pipeline import Fingerprinter
from simhash_pipeline.page.decode import charset_of, decode, without_line_ends

CHINESE = "<p>海港日报讯：昨天上午，三艘渔船在大雾中安全返回港口，船员全部平安。</p>" * 3
TRADITIONAL = "<p>海港日報訊：昨天上午，三艘漁船在大霧中安全返回港口，船員全部平安。</p>" * 3
JAPANESE = "<p>港の漁船は霧の中を無事に帰港し、乗組員は全員無事でした。</p>" * 3
KOREAN = "<p>어제 오전 짙은 안개 속에서 어선 세 척이 무사히 항구로 돌아왔습니다.</p>" * 3
RUSSIAN = "<p>Вчера утром три рыболовных судна благополучно вернулись в порт.</p>" * 3
GREEK = "<p>Χθες το πρωί τρία αλιευτικά σκάφη επέστρεψαν με ασφάλεια στο λιμάνι.</p>" * 3
FRENCH = (
    "<p>Hier matin, trois bateaux de pêche sont rentrés sains et saufs à cause du café.</p>" * 3
)


CZECH = (
    "<p>Rybáři se za úsvitu vrátili do přístavu, když mlha ještě ležela nad vodou "
    "a maják pomalu zhasínal.</p>"
)
POLISH = "<p>Rybacy wrócili do portu o świcie, gdy mgła leżała nad wodą, a latarnia gasła.</p>"
HUNGARIAN = "<p>A halászok hajnalban tértek vissza a kikötőbe, a víz felett, hűvös volt.</p>"
ROMANIAN = "<p>Pescarii s-au întors în port în zori, când ceaţa plutea încă; învăţa şi ştia.</p>"
LITHUANIAN = "<p>Žvejai auštant grįžo į uostą, kai rūkas dar tvyrojo virš vandens.</p>"
TURKISH = "<p>Balıkçılar şafakta limana döndüler, deniz feneri yavaşça sönüyordu, sığ suda.</p>"
UKRAINIAN = "<p>Рибалки повернулися до гавані на світанку, коли туман іще лежав над водою.</p>"
HEBREW = "<p>הדייגים חזרו לנמל עם שחר כשהערפל עדיין שכב על המים.</p>"
ARABIC = "<p>عاد الصيادون إلى الميناء عند الفجر والضباب ما زال فوق الماء.</p>"
THAI = "<p>ชาวประมงกลับถึงท่าเรือตอนรุ่งสาง หมอกยังปกคลุมผืนน้ำ</p>"
GERMAN = "<p>Die Fischer kehrten früh zurück, während der Nebel über der Straße lag. Schön.</p>"
SPANISH = "<p>¿Cómo construyó el niño el puente? Los pescadores regresaron aún de día.</p>"


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


@pytest.mark.parametrize("charset", ["utf-16", "utf-16le", "utf-16be"])
@pytest.mark.parametrize(("html", "encoding"), [(CHINESE, "utf-8"), *PAGES])
def test_utf_16_is_not_believed_where_the_bytes_are_not(
    html: str, encoding: str, charset: str
) -> None:
    """It has a byte order mark; no browser believes it of a meta."""
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


OTHERS = [
    (CZECH, "iso-8859-2"),
    (CZECH, "windows-1250"),
    (POLISH, "iso-8859-2"),
    (POLISH, "windows-1250"),
    (HUNGARIAN, "iso-8859-2"),
    (HUNGARIAN, "windows-1250"),
    (ROMANIAN, "iso-8859-2"),
    (LITHUANIAN, "windows-1257"),
    (TURKISH, "windows-1254"),
    (RUSSIAN, "iso-8859-5"),
    (RUSSIAN, "cp866"),
    (RUSSIAN, "mac-cyrillic"),
    (UKRAINIAN, "windows-1251"),
    (UKRAINIAN, "koi8-u"),
    (GREEK, "iso-8859-7"),
    (HEBREW, "windows-1255"),
    (ARABIC, "windows-1256"),
    (ARABIC, "iso-8859-6"),
    (THAI, "tis-620"),
    (GERMAN, "windows-1252"),
    (SPANISH, "windows-1252"),
]


@pytest.mark.parametrize(("html", "charset"), OTHERS)
@pytest.mark.parametrize("server", [None, "iso-8859-1", "utf-8"])
def test_letters_tell_an_undeclared_charset(html: str, charset: str, server: str | None) -> None:
    assert decode(html.encode(charset), server) == html


@pytest.mark.parametrize("server", ["iso-8859-1", "windows-1252", "us-ascii", "utf-8", "latin1"])
@pytest.mark.parametrize(("html", "charset"), OTHERS)
def test_a_pages_label_beats_a_servers_default(html: str, charset: str, server: str) -> None:
    page = f'<meta charset="{charset}"><p>x</p>{html[:20]}</p>'
    assert decode(page.encode(charset), server) == page


@pytest.mark.parametrize(
    ("html", "page", "server"),
    [
        (POLISH, "iso-8859-2", "windows-1251"),
        (RUSSIAN, "windows-1251", "iso-8859-2"),
        (RUSSIAN, "iso-8859-5", "windows-1251"),
        (GREEK, "iso-8859-7", "iso-8859-9"),
        (JAPANESE, "euc-jp", "windows-1251"),
        (ARABIC, "iso-8859-6", "windows-1250"),
        (RUSSIAN, "koi8-r", "windows-1251"),
    ],
)
def test_of_two_labels_that_contradict_the_text_is_a_witness(
    html: str, page: str, server: str
) -> None:
    whole = f'<meta charset="{page}">{html}'
    assert decode(whole.encode(page), server) == whole
    assert decode(html.encode(page), page) == html


# Of the WHATWG's Encoding Standard.
@pytest.mark.parametrize(
    ("label", "html", "charset"),
    [
        ("iso88592", POLISH, "iso-8859-2"),
        ("ISO88592 ", POLISH, "iso-8859-2"),
        ("csisolatin2", POLISH, "iso-8859-2"),
        ("x-cp1250", CZECH, "windows-1250"),
        ("iso88595", RUSSIAN, "iso-8859-5"),
        ("iso-8859-6-e", ARABIC, "iso-8859-6"),
        ("csiso88596i", ARABIC, "iso-8859-6"),
        ("sun_eu_greek", GREEK, "iso-8859-7"),
        ("logical", HEBREW, "iso-8859-8"),
        ("visual", HEBREW, "iso-8859-8"),
        ("iso-8859-8-i", HEBREW, "iso-8859-8"),
        ("koi", RUSSIAN, "koi8-r"),
        ("koi8-ru", UKRAINIAN, "koi8-u"),
        ("x-mac-ukrainian", RUSSIAN, "mac-cyrillic"),
        ("dos-874", THAI, "tis-620"),
        ("iso885911", THAI, "tis-620"),
        ("csgb2312", CHINESE, "gbk"),
        ("x-gbk", CHINESE, "gbk"),
        ("cn-big5", TRADITIONAL, "big5"),
        ("x-x-big5", TRADITIONAL, "big5"),
        ("x-euc-jp", JAPANESE, "euc-jp"),
        ("cseucpkdfmtjapanese", JAPANESE, "euc-jp"),
        ("windows-949", KOREAN, "euc-kr"),
        ("ks_c_5601-1989", KOREAN, "euc-kr"),
        ("unicode-1-1-utf-8", CHINESE, "utf-8"),
    ],
)
def test_a_label_is_read_as_browsers_read_it(label: str, html: str, charset: str) -> None:
    short = html[: html.index("</p>")]  # too short for its language to decide
    assert decode(short.encode(charset), label) == short


@pytest.mark.parametrize("html", [CHINESE, RUSSIAN, GREEK, FRENCH, POLISH, THAI, ARABIC])
@pytest.mark.parametrize("declared", [None, "iso-8859-1", "iso-8859-2", "gb2312"])
def test_utf8_with_pieces_of_another_charset_is_utf8(html: str, declared: str | None) -> None:
    """As a page that takes in another one's text."""
    page = html.encode() * 4 + "<p>café à la crème".encode("latin-1")
    assert decode(page, declared).startswith(html * 4)


@pytest.mark.parametrize("html", [CHINESE, RUSSIAN, "<p>The caf\ufffd was open na\ufffdve people"])
def test_replacement_characters_are_utf8(html: str) -> None:
    """As a proxy or an editor has put them in."""
    page = "\ufffd na\ufffdve ".join([html] * 4)
    assert decode(page.encode(), "gb2312") == page


NEWS_IN_JAPANESE = [
    "漁師たちは夜明けに港へ戻ってきた。霧がまだ水の上に残っていた。",
    "先生は古い橋がどのように作られたのかを話した。",
    "市議会は来月から渡し船の料金を下げることを決めた。",
    "粉屋は最後の小麦粉の袋を隣の人に売った。",
    "図書館員は地下室で手紙が入った箱を見つけた。",
    "船長は三十年のあいだ島で嵐の記録をつけている。",
]


@pytest.mark.parametrize("charset", ["euc_jp", "shift_jis"])
@pytest.mark.parametrize("html", NEWS_IN_JAPANESE)
def test_a_short_japanese_page_that_declares_nothing_is_readable(html: str, charset: str) -> None:
    assert decode(f"<p>{html}".encode(charset)) == f"<p>{html}"


def test_bytes_that_tell_nothing_are_windows_1252() -> None:
    assert [charset_of(sample) for sample in (b"", b"fog", b"\xa9 2020", b"caf\xe9")] == [
        "cp1252"
    ] * 4


def test_the_first_of_two_labels_counts_where_their_languages_are_unknown() -> None:
    assert charset_of(POLISH.encode("koi8-r", "ignore"), ["iso8859-3", "mac-roman"]) == "iso8859-3"


def test_a_charset_is_found_in_bounded_time() -> None:
    started = time.process_time()
    for byte in (b"\xe9", b"\x81", b"\xff", b"\xe9a"):
        charset_of(byte * 8_192)
    assert time.process_time() - started < 0.2


SENTENCE = "清晨的码头上停着三条旧渔船，船主正在把渔网一张一张地挂到竹竿上晾干"
HALVES = "清晨的码头上停着三条旧渔船，船主正在把渔", "网一张一张地挂到竹竿上晾干"
ENDS = ["\n", "\r\n", " \n", "\n    ", "\n\t", "\r\n  "]


@pytest.mark.parametrize("end", ENDS)
def test_a_line_s_end_inside_a_chinese_sentence_is_nothing(end: str) -> None:
    source = f"<p>{end.join(HALVES)}。</p>".encode()
    assert without_line_ends(source).decode() == f"<p>{SENTENCE}。</p>"


@pytest.mark.parametrize(
    ("wrapped", "joined"),
    [
        ("漁師たちは夜明けに\n港へ戻ってきた", "漁師たちは夜明けに港へ戻ってきた"),
        ("カタカナの\nコトバ", "カタカナのコトバ"),
        ("旧渔船，\n船主", "旧渔船，船主"),
        ("旧渔船\n，船主", "旧渔船，船主"),
        ("“旧渔船\n船主”", "“旧渔船船主”"),
        ("㐀\n㐁鿕\n鿖", "㐀㐁鿕鿖"),
    ],
)
def test_so_it_is_beside_kana_and_full_width_signs(wrapped: str, joined: str) -> None:
    text = f"{wrapped}，码头上停着三条旧渔船。"
    assert without_line_ends(text.encode()).decode() == text.replace(wrapped, joined)


@pytest.mark.parametrize(
    "text",
    [
        "第一段。\n\n第二段。",
        "第一段\n \n第二段",
        "第一段\n　　第二段",
        "标题\nEnglish 第二段",
        "Scrapy\n爬虫",
        "</p>\n码头",
        "码头\n<p>",
        "码头 渔船",
        "한국어 문장\n두 번째",
    ],
)
def test_other_line_ends_stay(text: str) -> None:
    whole = f"{text}\n<p>一二三四五六七八</p>"
    assert without_line_ends(whole.encode()).decode() == whole


def test_every_witness_reads_a_wrapped_page_as_another() -> None:
    paragraphs = [SENTENCE.replace("三条", f"{n}条") + "。" for n in "四五六七八九十百千万"]
    wrapped = [one[:17] + "\n" + one[17:] for one in paragraphs]
    read = Fingerprinter().fingerprint
    one, other = (read("".join(f"<p>{p}</p>" for p in ps)) for ps in (paragraphs, wrapped))
    for name in ("content", "sketch", "text", "article", "sample", "blocks", "tokens", "digest"):
        assert getattr(one, name) == getattr(other, name), name
    one, other = (Fingerprinter().fingerprint_text("".join(ps)) for ps in (paragraphs, wrapped))
    assert one == other


def test_line_ends_are_found_in_linear_time() -> None:
    started = time.process_time()
    for piece in ("\n", "\n ", "港\n", "港\n<a ", "港</b>\n", "<b>", "\r\n"):
        without_line_ends(("港" + piece * (2_000_000 // len(piece)) + "港").encode())
    assert time.process_time() - started < 6

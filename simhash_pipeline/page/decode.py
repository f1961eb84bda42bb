"""The bytes of a page in, its text or UTF-8 out; binary data is refused."""

import codecs
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from operator import itemgetter

from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from simhash_pipeline import native
from simhash_pipeline.errors import PageError

# A charset fits when at most this share of the non-ASCII bytes does not decode: pages are often cut
# within a character, while a wrong multi-byte charset fails on a tenth or more.
_MAX_UNDECODED = 0.01
# The charsets that servers name by default. They decode any bytes, so they prove nothing.
_DEFAULT_CHARSETS = frozenset({"cp1252", "iso8859-1", "ascii"})
# East Asian charsets decode one another's bytes, and these characters tell them apart at a tenth of
# a detector's cost. Of 1,059 real pages most hold one in 40 non-ASCII bytes when read rightly, and
# one in 2,000 at most when read wrongly; 17 with little text hold none.
_FREQUENT = {
    "gb18030": "的一是不在",
    "big5hkscs": "的一是不在",
    "cp932": "のにはをた",
    "euc_jp": "のにはをた",
    "cp949": "이다는을의",
}
_FREQUENT_SHARE = 0.002  # such characters to a non-ASCII byte
_SEVEN_BIT = "iso2022_jp"  # valid UTF-8 too, so a declaration is all there is to go by
_ESCAPE = b"\x1b"  # begins its every change to Japanese
# Codecs of Python that a page may name and that aren't believed: most are no charsets, and UTF-16
# has a byte order mark.
_NO_CHARSETS = {
    *("base64", "bz2", "hex", "idna", "punycode", "quopri", "raw-unicode-escape", "rot-13"),
    *("undefined", "unicode-escape", "utf-16", "utf-16-be", "utf-16-le", "uu", "zlib"),
}
# Of more digits than an int is made of (4,300); no character has such a number.
_ENDLESS = re.compile(r"&#\d{1000,};?")
_MAX_CUT = 60  # bytes of characters that ten parts of a page may begin and end in
_DETECT_BYTES = 8_192  # as good as 65,536 on the labelled pages, in half the time
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
# With fewer non-ASCII bytes to go by, a declaration that fits is a better witness than the text.
_SURE_BYTES = 20
_MARKUP = re.compile(rb"(?is)<(script|style)\b.*?(?:</\1|\Z)|<[^>]*(?:>|\Z)")
# In UTF-8: Han, kana and full-width signs, but no space of that width: it indents paragraphs.
_HAN = rb"(?:\xe3(?!\x80\x80)[\x80-\xbf]|[\xe4-\xe9][\x80-\xbf]|\xef[\xbc\xbd])[\x80-\xbf]"
_ENDS = (b"", b" ", b"\r")  # what may stand before a line's end
_BEHIND = b"|".join(rb"(?<=%b%b\n)" % (_HAN, end) for end in _ENDS)
_LINE_END = re.compile(rb"\n(?<=[\x80-\xbf \r]\n)(?:%b)[ \t]*(?=%b)" % (_BEHIND, _HAN))
# By charset the letters of a language, the frequent ones first where the script is not Latin.
_LATIN = {
    "cp1252": "éèàêçâîôùëïœæäöüßáíóúñãìòåø éèàêçâîôùûëïœæ äöüßé áéíóúñü¿¡ªº ãçáéêíóõúâàôü"
    " àèéìòùî åäöéøæü ðáþöíéóúæý àéèíïòóúüç· äõöüšž",
    "cp1250 iso8859-2": "łąężśćóńź áíéěřčýžšůúťďňó áéőíóöüúűä čšžćđ ăîâşţ áčéíľýžšúťäôňďóĺŕ",
    "cp1254 iso8859-9": "ıışğüöçâî",
    "cp1257": "ėšąųžįčęū āīēšūņļžčģķ äõöüšž",
}
_OTHERS = {
    "cp1251 koi8-u koi8-r iso8859-5 cp866 mac-cyrillic": (
        "оеаинтсрвлкмдпу яыьгзбчйхжшюцщэфъёіїєґў"
    ),
    "cp1251 iso8859-5": "аоиенјрстувкмдп лгзбчхшжцљњћђџќѓѕ",
    "cp1253 iso8859-7": "αοιετσνηυρπκμλς ωθγδφχβάέήίόύώ",
    "cp1255": "יוהלארתמבשנ עםדקפחצטגכןזסךףץ",
    "cp1256 iso8859-6": "اليمونرت بةعدسفهكقأحجشصىخطذإئزءغضآظثؤپچژگ،؟ًٌٍَُِّْـ",
    "cp874": "านรอกเงมยลวดท่้สีั ตะปบคหแจพิึืุูชขใไผซโถณ็ธศ",
}
_COMMON, _LETTER, _SIGN, _OTHER, _NONE = 2, 1, 0, -3, -6  # what characters weigh
_SIGNS = frozenset("\xa0«»„“”‘’‚–—…€£§©®°·•™№‹›¿¡´×　、。「」・，！？：；（）《》")
_RUN = re.compile(rb"[\x80-\x9f\xa1-\xff]{3,}")
# The "binary data bytes" of the WHATWG MIME sniffing standard, and its resource header's length.
_BINARY_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_HEADER_BYTES = 1_445
_MAX_BINARY_SHARE = 0.05


def as_utf8(html: bytes, charset: str | None) -> bytes:
    """The page's text in UTF-8. PageError, kind binary, for data that is no text."""
    header = html[:_HEADER_BYTES]
    binary = len(header) - len(header.translate(None, _BINARY_BYTES))
    if binary > _MAX_BINARY_SHARE * len(header) and read_bom(html)[0] is None:
        raise PageError("binary", "the page is binary data, not HTML")
    if _ESCAPE not in html and _is_plain(html):
        return html
    return decode(html, charset).encode("utf-8", "replace")


def _is_plain(html: bytes) -> bool:
    """Whether it is UTF-8 that `decode` and `encode` would copy.

    They take a byte order mark off, and many U+FFFD are what is left of another charset.
    """
    if html.startswith(codecs.BOM_UTF8):
        return False
    if native.kernel is not None:
        return native.kernel.is_plain(html)
    try:
        return "\ufffd" not in html.decode()
    except UnicodeDecodeError:
        return False


def without_line_ends(source: bytes) -> bytes:
    """The UTF-8 without ends of lines inside a sentence of Chinese or Japanese, and indents behind.

    Old forums, e-books and mails break lines of these scripts anywhere. A blank line stays.
    """
    if not any(first in source for first in (b"\xe4", b"\xe5", b"\xe6")):
        return source
    lines = _LINE_END.split(source)
    return b"".join([*(line.rstrip(b" \r") for line in lines[:-1]), lines[-1]])


def decode(html: bytes, charset: str | None = None) -> str:
    """The page as text: BOM, valid UTF-8, HTTP charset, meta charset, then detection; never raises.

    What is declared yields to what the bytes say: text that is valid UTF-8 is UTF-8, a server's
    default (windows-1252) proves nothing, and an East Asian charset in which the page reads well
    beats a declared one.
    """
    bom_charset, bom = read_bom(html)
    if bom_charset is not None and bom is not None:
        return html[len(bom) :].decode(bom_charset, "replace")
    declared = _declared(html, charset)
    if _SEVEN_BIT in declared and _ESCAPE in html:
        return html.decode(_SEVEN_BIT, "replace")
    return next(text for text in _readings(html, declared) if text is not None)


def _declared(html: bytes, charset: str | None) -> list[str]:
    """What the server and the page name, as Python does."""
    named = map(_codec, (charset, html_body_declared_encoding(html)))
    return [name for name in dict.fromkeys(named) if name]


@lru_cache(maxsize=64)  # most pages of a crawl have one
def _codec(label: str | None) -> str | None:
    """Python's name of a charset label, read as browsers read it: gb2312 is gb18030."""
    try:
        name = codecs.lookup(resolve_encoding(label or "") or "").name
    except (LookupError, ValueError):  # w3lib lets a NUL in it through
        return None
    return None if name in _NO_CHARSETS else name


def _readings(html: bytes, declared: list[str]) -> Iterator[str | None]:
    """What the page may say, best first; None for a charset that it isn't in."""
    not_ascii = len(html.translate(None, bytes(range(128))))
    yield _fitting(html, "utf-8", not_ascii)
    for charset in filter(_FREQUENT.__contains__, declared):
        yield _fluent(html, charset, not_ascii)[1]
    yield max((_fluent(html, charset, not_ascii) for charset in _FREQUENT), key=itemgetter(0))[1]
    sample = _sample(html)
    text = sample.decode("utf-8", "replace")
    # With pieces of another charset in it: no other spells UTF-8 by chance.
    if len(text) - len(text.encode("ascii", "ignore")) > 2 * text.count("\ufffd"):
        yield html.decode("utf-8", "replace")
    telling = [name for name in declared if name not in _DEFAULT_CHARSETS | {"utf-8"}]
    if len(telling) > 1:
        telling.sort(key=charset_of(sample, telling).__ne__)
    for charset in (*telling, charset_of(sample)):
        yield _fitting(html, charset, not_ascii)
    yield html.decode(next(iter(declared), "utf-8"), "replace")


def _fitting(html: bytes, charset: str, not_ascii: int) -> str | None:
    """The text in that charset; None where it doesn't fit, which a tenth of the page often shows.

    Python takes a hundred times as long for a byte that it can't decode. U+FFFD itself is UTF-8.
    """
    allowed = _MAX_UNDECODED * not_ascii
    allowed += html.count(b"\xef\xbf\xbd") if charset == "utf-8" else 0
    size = len(html) // 100
    tenth = b"".join(html[10 * size * i : (10 * i + 1) * size] for i in range(10))
    if tenth.decode(charset, "replace").count("\ufffd") > allowed + _MAX_CUT:
        return None
    text = html.decode(charset, "replace")
    return None if text.count("\ufffd") > allowed else text


def _fluent(html: bytes, charset: str, not_ascii: int) -> tuple[int, str | None]:
    """How often its language is heard, and the text where that is in more than a few words."""
    text = _fitting(html, charset, not_ascii)
    if text is None or not_ascii < _SURE_BYTES:
        return 0, None
    heard = sum(map(text.count, _FREQUENT[charset]))
    return (heard, text) if heard > _FREQUENT_SHARE * not_ascii else (0, None)


def _sample(html: bytes) -> bytes:
    """What the page says outside its markup, from the first byte on that is not ASCII."""
    plain = _MARKUP.sub(b" ", html)
    first = _NOT_ASCII.search(plain)
    return plain[first.start() if first else 0 :][:_DETECT_BYTES]


def charset_of(sample: bytes, among: Sequence[str] = ()) -> str:
    """Python's name of the charset, one of those `among`; windows-1252 of bytes that tell nothing.

    The first of `among` if no language of theirs is known. A byte beyond ASCII is another letter in
    each charset, and few of them are letters that one language writes: `Ż`, `ą` and `ł` of a Polish
    page are `¯`, `±` and `³` to windows-1252, and letters of Polish in ISO-8859-2 alone.

    Of 221 pages of chardet's own tests and 1,561 of other projects', without their declarations, 3
    and 22 were read wrongly, by chardet 7.7 76 and 29.
    """
    counts = Counter(sample.translate(None, bytes(range(128))))
    is_latin = 2 * sum(map(len, _RUN.findall(sample))) <= counts.total()  # single ones among ASCII
    found = [
        (sum(count * weights[byte - 128] for byte, count in counts.items()), charset)
        for charset, weights in _weights(is_latin=is_latin)
    ]
    if among:
        found = [one for one in found if one[1] in among] or [(0, among[0])]
    return max(found, key=itemgetter(0))[1]


@cache
def _weights(*, is_latin: bool) -> list[tuple[str, list[int]]]:
    """By charset and language the weights of the bytes from 128 on; 10 ms."""
    high = range(128, 256)
    return [
        (charset, [_weight(bytes([byte]).decode(charset, "replace"), letters) for byte in high])
        for charsets, languages in (_LATIN if is_latin else _OTHERS).items()
        for letters in (languages.split() if is_latin else [languages])
        for charset in charsets.split()
    ]


def _weight(character: str, letters: str) -> int:
    frequent, _, others = letters.partition(" ")
    if character in frequent:
        return _COMMON
    lower = character.lower()
    if character in others or (others and lower in frequent):
        return _LETTER
    if character in _SIGNS or lower in letters:
        return _SIGN
    return _NONE if character == "\ufffd" or unicodedata.category(character) == "Cc" else _OTHER


def unescaped(text: str) -> str:
    """The text with the characters that its references stand for, see `html.unescape`."""
    return html.unescape(_ENDLESS.sub("\ufffd", text)) if "&" in text else text

"""A page in, as much of it out as can be read in bounded time; tags nested too deep are flattened.

The time that a page takes grows with its bytes, its tags and the characters of its main text, and
faster than that with its depth and with the attributes of one tag. Each is bounded before libxml2
parses the page; so are URLs, before they are split.
"""

import re

# Servers accept some 8,000. Canonicalising a URL of ten million characters takes up to 16 s.
MAX_URL_CHARS = 100_000
# A page may have one tag for each 32 bytes of the limit, and a main text of a fifth of it. At the
# default limit either takes at most 0.9 s, both 1.6 s and 200 MB (python -m tests.long.hostile).
_BYTES_A_TAG = 32
_PART_FOR_TEXT = 5
# Browsers nest 512 levels, and make siblings of deeper elements; libxml2 gives up at 2,048, or at
# 256 where it isn't asked to read huge trees. An end tag may not end what ranks above it: then it
# costs libxml2 some 30 ns a level, for nothing. A page with so many end tags may be shallow only.
MAX_DEPTH = 512
DEEP, SHALLOW = 2_048, 256
_MANY_END_TAGS = 8_000
# libxml2 walks over all attributes of a tag to append one.
MAX_ATTRIBUTES = 500
_TAG_END = ord(">")
_HARMLESS_BYTES = 90_000  # a page of nothing but attributes takes 1.5 s at the most up to here
# Elements that hold no markup, by what they are or because it is none to HTML.
_FLAT = frozenset(
    b"area base br col embed hr img input link meta source track wbr script style title textarea"
    b" xmp iframe noembed noframes".split()
)
# The parts of a page that begin with <, as the HTML standard cuts them, so that what looks like a
# tag in a comment, script or value is none; but that libxml2 takes `<script/>` for the whole of it.
# Each part may end where the page does: what can't fail is never tried again from the next
# character on, so the time is that of one walk.
_ATTRIBUTES = (
    rb"""
    (?: [\t\n\f\r /]* [^\t\n\f\r />] [^\t\n\f\r />=]*
        (?: [\t\n\f\r ]* = [\t\n\f\r ]* (?: "[^"]*(?:"|\Z) | '[^']*(?:'|\Z) | [^\t\n\f\r >]* ) )?
    ){0,%d}
"""
    % MAX_ATTRIBUTES
)
_PART = re.compile(
    rb"""<(?:
    !-- (?: -?> | .*?(?:--!?>|\Z) )
    | (?P<raw> (?P<script> script ) | style | title | textarea | xmp | iframe | noembed | noframes )
        (?=[\t\n\f\r />]) %(attributes)b
        (?: (?P<empty> [\t\n\f\r /]* /> ) | [\t\n\f\r /]* >? (?P<text> (?(script)
            (?: [^<]+ | <(?!/script[\t\n\f\r />]|!--) | <!-- (?: -?> |
                (?: %(inside)b | <(?!/?script[\t\n\f\r />])
                    | <script (?: %(inside)b | <(?!/script[\t\n\f\r />]) )* (?:</script)? )*
                (?:-->)?
            ) )*
            | (?: [^<]+ | <(?!/(?P=raw)[\t\n\f\r />]) )*
        ) ) )
    | (?P<closes>/?) (?P<name>[a-z][^\t\n\f\r />]*) %(attributes)b [\t\n\f\r /]* >?
    | [!?/] [^>]* >?
    )"""
    % {b"attributes": _ATTRIBUTES, b"inside": rb"(?!-->) [^<]+? (?= --> | < | \Z)"},
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_LONG_HOST = re.compile(r"/[\t\n\r]*/[^/?#]{1000}")  # without the white space to Python


def first_bytes(html: bytes, max_bytes: int) -> bytes:
    """As much of a page as the limit allows, to the end of a character of UTF-8."""
    end = max_bytes
    while max_bytes - 3 <= end < len(html) and 0x80 <= html[end] < 0xC0:
        end -= 1
    return html[:end]


def first_tags(source: bytes, max_bytes: int) -> bytes:
    """The markup up to the last tag it may have.

    It may be longer than the page was, as other charsets need fewer bytes, but not three times.
    """
    source = first_bytes(source, 2 * max_bytes)
    tags = max_bytes // _BYTES_A_TAG
    few = tags // 2
    # count() looks at each byte, which replace() skips.
    if len(source) > tags and len(source) - len(source.replace(b"<", b"", few + 1)) > few:
        # End tags are half of all at the most, but where they close nothing: for each of those
        # libxml2 looks through all that is open.
        for begins, most in ((b"<", tags), (b"</", few)):
            source = begins.join(source.split(begins, most + 1)[: most + 1])
    return source


def before_wide_tag(source: bytes) -> bytes:
    """The markup up to the first tag with more than 500 attributes."""
    if len(source) > _HARMLESS_BYTES:
        for part in _PART.finditer(source):
            if part.lastgroup is None:
                continue
            end = part.start("text") if part.lastgroup == "text" else part.end()
            if source[end - 1] != _TAG_END and end < len(source):  # not all of the tag
                return source[: part.start()]
    return source


def may_be_deep(source: bytes) -> bool:
    """Whether its tags may nest as deep as libxml2 can read them, by the number of end tags."""
    return source.count(b"</") <= _MANY_END_TAGS


def flattened(source: bytes, max_depth: int) -> bytes:
    """The same page with the tags that nest deeper than this taken out; every text stays.

    A tag that is left out still separates words.
    """
    kept: list[bytes] = []
    end = depth = 0
    for part in _PART.finditer(source):
        closes, name = part.group("closes", "name")
        if not name or name.lower() in _FLAT or part[0].endswith(b"/>"):
            continue
        depth = max(0, depth - 1) if closes else depth + 1
        if depth + bool(closes) > max_depth:
            kept += source[end : part.start()], b" "
            end = part.end()
    return b"".join([*kept, source[end:]])


def has_long_host(url: str) -> bool:
    """Whether there are 1,000 characters or more where a host stands, which has 253 at the most.

    Python and w3lib bring it into NFKC and IDNA, in a time that grows as its square.
    """
    return _LONG_HOST.search(url) is not None


def checked_url(url: str) -> str:
    """The URL, to be split or joined; ValueError, as of those, if it or its host is too long."""
    if len(url) > MAX_URL_CHARS or has_long_host(url):
        raise ValueError("the URL or its host is too long")
    return url


def first_of_text(text: str, max_bytes: int) -> str:
    """As much of a main text as a page of the limit may have: a fifth of it, in UTF-8."""
    allowed = max_bytes // _PART_FOR_TEXT
    if len(text) * 4 <= allowed:
        return text
    encoded = text.encode("utf-8", "surrogatepass")
    return first_bytes(encoded, allowed).decode("utf-8", "surrogatepass")

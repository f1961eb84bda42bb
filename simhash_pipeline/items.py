"""What an item says, as a witness beside its page: values that stand on the page, and its text.

The spider's selectors know what on a page is the thing that it is about. A value counts if it is on
the page that it was scraped from (see on_page.py), or was asked for; in one template also if no
page shows it: spiders make 4 of "star-rating Four". Of its long text a store keeps a digest, and
its sentences. How these are packed, and two items compared: see item_values.py.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from heapq import nlargest
from itertools import chain, count
from typing import Any, NamedTuple

from simhash_pipeline import item_values, notation, on_page
from simhash_pipeline.bits import hash_of
from simhash_pipeline.item_values import NOTHING, Mark, Said, marked, packed_value
from simhash_pipeline.options import Options
from simhash_pipeline.page.counters import MAX_LINE
from simhash_pipeline.page.fingerprint import PageFingerprint, sentences
from simhash_pipeline.page.source import ItemValues, Source

# Some 50 words, or 100 Chinese characters: as many as a page needs not to be thin.
LONG_BYTES = 300
# What an agency, or who reprints it, puts in front: "Oban (Post) - ", "(来源:晚报)", "新华社电 ".
_DATELINE = re.compile(
    r"(?:[^\n(]{3,40}(?=\())?[(【][^()【】\d\n]{2,30}[)】] ?[-–—:]+ ?"
    r"|[(【](?=[^)】]{0,30}(?:source|来源|來源|记者|記者|[社报報网網讯訊]))[^()【】\d\n]+[)】] ?"
    r"|[^\n。!?,]{0,10}[社报報网網][^\n。!?,]{0,16}[电電讯訊](?:\([^()\n]{2,20}\)|[ ,:]) ?"
)
_DATELINES = 3  # sentences at the begin of a text
# Alone at an end, as between a byline and the text.
_PARTING = re.compile(r"^(?:[-|•·] )+|(?<! [-|•·])(?: [-|•·])+$")
_NAME_CHARS = 200  # of a value: thousands may be below one long key
ROW_CHARS = 150  # of a row in words: a link and a title
_MOST_VALUES, _MOST_NODES = 10_000, 20_000  # of an item, which may be nested
_MOST_ASKED = 20  # sentences, of which each may be looked for in megabytes
_PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_TELLING = re.compile(r"[^\W\d_]{3}|[\u2e80-\U0003ffff]{2}")
_NUMBERED = re.compile(r"[a-z]*\d[a-z\d]*")
_ZERO = re.compile(r"0(?:\.0+)?")
_UNSEEN = "\0"  # before what no page shows
_OWN = "\0\1"  # before what no page shows but is a part of its address
# Fields that spiders add of the crawl.
_CRAWLS = re.compile(
    r"(?:^|[._-])(?:position|pos|rank|page|index|idx|seq|offset|depth|(?:word|char|link|image)s?_?count"
    r"|words|chars|bytes|crawl\w*|scrap\w*|fetch\w*|download\w*|retriev\w*|extract\w*|ingest\w*"
    r"|visit\w*|refer\w*|proxy|agent|ip|latency|elapsed|run|job|session|worker|server|retr\w*)"
    r"(?:$|[._-])|排名|序号|位置|抓取|爬取|采集"
)
_PRICES = re.compile(
    r"(?:^|[._-])(?:prices?|preis|prix|precio|preço|prezzo|цена)(?:$|[._-])|价格|價格|售价|価格|가격"
)
# Fields that tell two offers of one description apart, and say what their page is about.
_OFFERS = re.compile(
    rf"{_PRICES.pattern}|(?:^|[._-])(?:amount|currency|colou?rs?|sku|gtin\d*|ean|upc|mpn|isbn|variants?"
    r"|farbe|couleur|cor|colore|цвет|артикул)(?:$|[._-])|颜色|顏色|规格|規格|型号|型號|색상"
)
# What else is paid, and other numbers: these say nothing of the rest of their page.
_PAY = re.compile(
    r"(?:^|[._-])(?:costs?|fees?|fare|pay|rent|salary|wages?|gehalt|lohn|miete|kosten|salaire|loyer|salario"
    r"|alquiler|coste|salário|aluguel|stipendio|affitto|зарплата)(?:$|[._-])"
    r"|工资|薪资|月薪|年薪|租金|給与|月給|年収|급여|연봉|월급"
)
_NUMBERS = re.compile(
    r"(?:^|[._-])(?:ref|reference|referencia|référence"
    r"|(?:product|part|serial|model|artikel)_?(?:no|nr|number|nummer))(?:$|[._-])"
)
# Of texts alone, if it is no number of bytes or pixels.
_SIZES = re.compile(
    r"^(?:(?:shoe|bed|pack|ring|frame|variants?)[._-])?"
    r"(?:size|größe|taille|talla|tamaño|tamanho|taglia|размер|尺码|尺寸|尺碼|サイズ|사이즈)$"
)
_BYTES = re.compile(
    r"\d{3,}|\d{1,3}(?:[.,]\d{3})+|\d+[.,](?!5$)\d+|\d[\d.,]*\s?(?:[kmgt]?i?b|bytes?|px)",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_NOTHING = f"{_UNSEEN}0"  # a stock or a price of 0, which pages say in words


class _Text(NamedTuple):
    """What is read of the long text of an item, see `_read`."""

    sentences: bytes | None = None  # see `packed_sentences`
    counted: str = ""  # those that count, a line each
    beside: bytes = b""  # those beside the article
    facts: str = ""  # cells of tables beside the article, without counters
    is_elsewhere: bool = False  # whether most stands beside the article, or unseen


class _Value(NamedTuple):
    name: str
    place: str  # see `flat_values`
    text: str
    plain: str  # the same folded
    kept: str  # what counts of it


def with_values(source: Source, item: Any, options: Options) -> Source:
    """The source with all that its item holds but the page, or what ITEM_FIELDS names of it.

    A text's title is judged with it. A field whose own code fails is left out.
    """
    if options.item_fields is None:
        return source
    found: list[tuple[str, str, str]] = []
    added: set[str] = set()
    is_named = bool(_signed(options.item_fields, ""))
    added_names = _signed(options.item_fields, "+")
    is_bare = source.is_text and not source.page
    for name in heard(item, options):
        if source.is_text and name == "title" and not is_named:
            continue
        with suppress(Exception):  # the item's own
            field = str(name)[:_NAME_CHARS]
            values = [*flat_values(field, item[name])]
            found += values
            tells = any(_is_one_of(fields, field) for fields in (_OFFERS, _PAY, _NUMBERS))
            is_size = _is_one_of(_SIZES, field)
            tells |= is_size and not any(_BYTES.fullmatch(text) for _, text, _ in values)
            if str(name) in added_names or (is_bare and tells):
                added.update(flat for flat, *_ in values)
    if len(found) > _MOST_VALUES:  # one for the rest
        rest = (each for each in found[_MOST_VALUES:] if not _is_one_of(_CRAWLS, each[0]))
        said = repr([each for each in rest if not notation.is_of_the_crawl(each[1])])
        found[_MOST_VALUES:] = [("further values", f"{_UNSEEN}{hash_of(said).hex()}", "")]
    held = ItemValues(tuple(found), is_named=is_named, added=frozenset(added))
    return source._replace(item=held)


def heard(names: Iterable[str], options: Options) -> list[str]:
    """The fields, of an item with these, whose values may count."""
    if options.item_fields is None:
        return []
    named, added, out = (_signed(options.item_fields, sign) for sign in ("", "+", "-"))
    left_out = options.page_fields - named - added | out
    return [name for name in names if name not in left_out and (not named or name in named | added)]


@lru_cache(maxsize=16)
def _signed(item_fields: tuple[str, ...], sign: str) -> frozenset[str]:
    """The fields that ITEM_FIELDS names with "+", "-" or no sign."""
    return frozenset(
        name.removeprefix(sign) for name in item_fields if name[: name[0] in "+-"] == sign
    )


def as_row(source: Source, *, waits: bool = True) -> Source:
    """The source of an item that is one of several of its page; `waits`: see WAITS."""
    if source.item is None:
        return source
    return source._replace(item=source.item._replace(is_row=True, waits=waits))


def in_words(source: Source) -> str:
    """A row's first values, by which a person knows it; its page's address and times aren't."""
    pairs = () if source.item is None else source.item.pairs
    texts = (text for _, text, _ in pairs if text[0] != _UNSEEN and text != source.url)
    words = ", ".join(text for text in texts if not notation.is_of_the_crawl(text))
    return " ".join(words.split())[:ROW_CHARS]


def flat_values(name: str, value: Any) -> Iterator[tuple[str, str, str]]:
    """(name, text, place) of each value within; texts in a list are one text.

    The place of what else is in a list is the dict that it is in, or its own number: "/4" or "#0",
    "/4#0" for a list in that dict, "3/4" where dict 3 has the list that dict 4 is in.
    """
    if type(value) is str:  # as most are
        if text := _text_of(value).strip():
            yield name, text, ""
        return
    todo, dicts = [(name, "", value)], count()
    for left in range(_MOST_NODES, 0, -1):
        if not todo:
            return
        del todo[:-left]  # what won't be looked at
        name, place, value = todo.pop()
        if type(value).__module__ == "numpy":  # of a DataFrame
            value = value.tolist()
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=str)
        if isinstance(value, (list, tuple)):
            if value and all(isinstance(part, str) for part in value):
                if text := "\n".join(value)[: on_page.MOST_CHARS].strip():
                    yield name, text, place
            elif len(value) == 1:
                todo.append((name, place, value[0]))
            else:
                above = place.partition("#")[0].partition("/")[2]
                parts = value[:_MOST_NODES]
                places = (
                    f"{above}/{next(dicts)}" if _fields_of(part) else f"{place}#{at}"[:_NAME_CHARS]
                    for at, part in enumerate(parts)
                )
                todo += reversed([(name, *each) for each in zip(places, parts, strict=True)])
        elif (held := _fields_of(value)) is not None:
            keys = [*held][:_MOST_NODES]
            todo += [(f"{name}.{key}"[:_NAME_CHARS], place, held[key]) for key in keys]
        elif text := _text_of(value).strip():
            yield name, text, place


def _fields_of(value: Any) -> Mapping[Any, Any] | None:
    """Those of a dict, or of an item within an item; None of anything else."""
    if isinstance(value, (str, int, float, Decimal, date, bytes)):
        return None
    if isinstance(value, Mapping):
        return value
    # A module that wasn't imported has read no item.
    adapter: Any = getattr(sys.modules.get("itemadapter"), "ItemAdapter", None)
    held: Mapping[Any, Any] | None = adapter(value) if adapter and adapter.is_item(value) else None
    return held


def _text_of(value: Any) -> str:
    """A value as a page may spell it; "" for what no page shows."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        text = value[: on_page.MOST_CHARS]
        is_page = text.lstrip()[:1] == "<" and _PAGE.search(text[:2_000])
        # U+FFFD: where it is a tenth, the spider has read the page by a charset that isn't its own.
        return "" if is_page or 10 * text.count("\ufffd") > len(text) else text
    if isinstance(value, bool):
        return f"{_UNSEEN}{value}"
    if isinstance(value, float):
        return f"{value:.15g}"
    if type(value).__module__ == "builtins" and not isinstance(value, int):
        return ""
    # Numbers and dates, and what spells itself, as a HttpUrl.
    return str(value).removesuffix(" 00:00:00")[: on_page.MOST_CHARS]


def said_by(page: PageFingerprint, source: Source) -> Said:
    """What the item says of its page.

    A text of 300 bytes that is half of the main text or more is the page's text. It counts as a
    value only where it isn't in the article: else the page speaks for it. A row counts whole. If
    nothing of an item stands on its page, and it has words, it was made of something else, and
    counts too. Beside a text without a page, as records of a corpus have it, only short values that
    stand in it and those of `_OFFERS` count: dates and ids stand nowhere.
    """
    item = source.item
    if item is None:
        return NOTHING
    seen = on_page.Page(page, source)
    is_bare = source.is_text and not source.page and not item.is_named
    said: list[_Value] = []
    text, texts_name, of_text = None, "", _Text()
    is_part = is_here = False
    pairs = sorted(item.pairs, key=lambda pair: (-len(pair[1]), pair[1]))
    if not (item.is_row or item.is_named):  # the page's address says nothing, under any name
        pairs = [pair for pair in pairs if pair[1] != source.url or pair[0] in item.added]

    def brought(value: str, plain: str, *, are_pages: bool = False) -> str:
        """What counts of a value from elsewhere; addresses in a request are mostly of lists."""
        is_page = value not in item.carried or are_pages or not notation.path_of(value)
        says_nothing = seen.is_own_address(value) or notation.is_of_the_crawl(value)
        return plain if is_page and not says_nothing else ""

    for name, value, place in pairs:
        spelled = on_page.folded_text(value)
        plain = on_page.without_counted(spelled)
        is_long = len(value) * 3 >= LONG_BYTES <= len(value.encode("utf-8", "replace"))
        unseen = plain if value[0] == _UNSEEN else ""
        if _ZERO.fullmatch(value) and not is_bare:
            unseen = f"{_OWN}0" if seen.is_own_address(value) else _NOTHING
        if is_bare and (is_long or unseen) and name not in item.added:
            continue
        if unseen:  # one that was asked for is a value like others
            kept = unseen.lstrip(_OWN) if name in item.added else unseen
            said.append(_Value(name, place, value, plain, kept))
            continue
        # Its numbers may be those of counters.
        begin = _NUMBERED.sub(" ", plain[:100].rpartition(" ")[0] or plain[:100])
        is_shown = is_long and seen.shows(begin.strip() or plain[:100])
        kept = plain if is_shown else seen.witnessed(value, plain)
        is_here = is_here or (bool(kept) and _weighs(value))
        is_pages = is_long and (page.content is None or 2 * len(value) >= len(page.text))
        is_text = text is None and not item.is_row and (is_pages or is_shown)
        if is_text:
            text, texts_name = hash_of(_PARTING.sub("", plain).replace(" ", "")), name
            of_text = _read(spelled, seen)
            is_part = not is_pages
        if is_text and is_pages:
            kept = "" if is_shown and not of_text.is_elsewhere else plain.replace(" ", "")
        elif not kept and (item.is_row or value in item.carried):
            kept = brought(value, plain)
        if item.is_named or name in item.added:  # "12 dead" in a text is no counter, too
            kept = " ".join(value.split())
        said.append(_Value(name, place, value, "" if is_text and not kept else plain, kept))
    is_heard = any(
        each.kept and each.kept[0] != _UNSEEN and _weighs(each.text)
        for each in said
        if each.name not in item.added
    )
    if not (is_bare or is_here or item.is_named) and (text or not is_heard):
        made = [
            each
            if each.name in item.added or each.kept[:1] == _UNSEEN
            else each._replace(kept=brought(each.text, each.plain, are_pages=not is_heard))
            for each in said
        ]
        has_words = any(each.kept and _has_words(each.text) for each in made)
        said = made if text or (has_words and source.is_response) else said
    if not is_bare:
        said = [each if each.kept else each._replace(kept=_unseen(each, seen)) for each in said]
    said = _with_their_dicts(said)
    flags = (
        item_values.CARRIED * bool(item.carried)
        | item_values.ROW * item.is_row
        | item_values.WAITS * item.waits
    )
    flags |= item_values.PART * is_part | item_values.TEXT * is_bare
    shown = [each for each in said if each.kept[:1] not in ("", _UNSEEN)]
    is_cut = len(item.pairs) > _MOST_VALUES
    is_offer = any(_is_one_of(_OFFERS, each.name) for each in shown)
    is_offer = is_offer or (item.is_named and len({each.name for each in shown}) > 1)
    flags |= item_values.OFFER * (not is_cut and is_offer)
    is_told = (text and not is_part) or item.is_row or is_cut
    if not is_told and (name := _parts(shown, page)):  # in order, each as often as it is there
        flags |= item_values.PARTS
        posts = (on_page.folded_text(value) for of, value, _ in item.pairs if of == name)
        beside, texts_name = of_text.beside + on_page.unspaced("\n".join(posts)), name
        of_text = of_text._replace(beside=beside)
    values, names = _packed(flags, said, item, of_text)
    if item.is_row:
        values += _row(said, seen)
    names = {**names, item_values.TEXTS_NAME: texts_name} if texts_name else names
    return Said(values, names, text, of_text.sentences)


def _parts(shown: Sequence[_Value], page: PageFingerprint) -> str:
    """The field whose texts are a long text together, as posts; "" if there is none.

    What of them is in the main text has 300 bytes, and is half of it.
    """
    if 2 * sum(len(each.text) for each in shown) < len(page.text):  # most
        return ""
    lines = {*on_page.unspaced(page.text).split(b"\n")}
    sizes: Counter[str] = Counter()
    for each in shown:
        said = on_page.unspaced(each.text).split(b"\n")
        sizes[each.name] += sum(len(line) for line in said if line in lines)
    name, size = sizes.most_common(1)[0] if sizes else ("", 0)
    return name if size >= LONG_BYTES and 2 * size >= sum(map(len, lines)) else ""


def _read(text: str, page: on_page.Page) -> _Text:
    """What a folded text says beside its page: of many sentences those of the smallest hashes.

    Those of the page that it says count, see `on_page.Page.said_in`, but for bylines and links:
    what is scraped of copies often begins or ends with one. The text's own may be glued to a
    byline, or lack the words of links.
    """
    beside: list[bytes] = []
    doubtful: list[tuple[int, bytes, str]] = []
    place = scanned = elsewhere = 0
    shown, aside, said = page.shown, page.beside, sentences(text)
    said[:_DATELINES] = [_without_dateline(each) for each in said[:_DATELINES]]
    packed = on_page.unspaced("\n".join(said)).split(b"\n")
    for sentence, spaced in zip(packed, said, strict=False):
        size = len(sentence)
        is_shown = shown.startswith(sentence, place)  # most stand there in this order
        if on_page.counts(sentence) and not is_shown and scanned < on_page.MOST_SCANNED:
            scanned += len(shown)
            is_shown = (at := shown.find(sentence)) >= 0
            place = at if is_shown else place
        if not is_shown:
            doubtful.append((size, sentence, spaced))
            continue
        place += size
        scanned += len(aside)
        if scanned < on_page.MOST_SCANNED and sentence in aside:
            scanned += len(shown)
            if page.has_elsewhere(sentence, spaced):
                elsewhere += size
                beside += [sentence] * on_page.counts(sentence)
    asked = nlargest(_MOST_ASKED, doubtful)  # which speak for all
    held = sum(size for size, sentence, spaced in asked if page.has_elsewhere(sentence, spaced))
    of_all, of_asked = (sum(size for size, *_ in each) for each in (doubtful, asked))
    elsewhere += held * of_all // (of_asked or 1)
    is_most = 2 * elsewhere > sum(map(len, packed))
    found = dict.fromkeys(packed, False)
    own = list[str]()
    for sentence_here, is_counted in page.said_in(packed):
        spaced = _without_dateline(sentence_here) if len(own) < _DATELINES else sentence_here
        sentence = on_page.unspaced(spaced)
        found[sentence] = found.get(sentence, False) or is_counted
        own += [spaced] * is_counted
    said_aside = on_page.without_counted("\n".join(page.facts_in(packed)))
    bits = item_values.packed_sentences(found)
    return _Text(bits, "\n".join(own), b"".join(beside), said_aside, is_most)


def said_so(text: str, blocks: frozenset[int]) -> Iterator[str]:
    """The sentences of a text that are among those of `new_sentences`."""
    for sentence in sentences(text):
        packed = on_page.unspaced(on_page.folded_text(sentence))
        if item_values.block_of(packed) in blocks:
            yield sentence


def _without_dateline(sentence: str) -> str:
    dateline = _DATELINE.match(sentence)
    return sentence[dateline.end() :] if dateline else sentence


def _unseen(value: _Value, page: on_page.Page) -> str:
    """What counts of a value that the page doesn't show: nothing of what the crawl adds.

    A part of the address counts beside a value that is none of its own: a rating of 2 at `?v=2`.
    """
    path = notation.path_of(value.text)
    # An address that was made, or is a list's.
    is_no_value = path and not notation.IMAGE.search(path)
    if not value.plain or is_no_value or _is_one_of(_CRAWLS, value.name):
        return ""
    if page.is_own_address(value.text):
        return f"{_OWN}{value.plain}"
    return f"{_UNSEEN}{path or value.plain}" if page.lacks(value.text, value.plain) else ""


@lru_cache(maxsize=1024)
def _is_one_of(fields: re.Pattern[str], name: str) -> bool:
    return fields.search(_CAPITAL.sub("_", name).lower()) is not None


def _with_their_dicts(said: list[_Value]) -> list[_Value]:
    """What is in a list says its place, or all that its dict says: sizes and their prices.

    The dicts of a list may be in any order. What pages show says nothing of what they don't.
    """
    if not any(each.place for each in said):
        return said
    places = [each.place.partition("#") for each in said]
    dicts: dict[str, list[str]] = {}
    for (of_dict, _, place), value in zip(places, said, strict=True):
        if value.kept and of_dict:
            dicts.setdefault(of_dict, []).append(f"{value.kept}\0{value.name}{place}")
    shown = {each: [one for one in told if one[0] != _UNSEEN] for each, told in dicts.items()}
    wholes = [_wholes(of) for of in (shown, dicts)]
    for at, ((of_dict, _, place), value) in enumerate(zip(places, said, strict=True)):
        behind = wholes[value.kept[:1] == _UNSEEN].get(of_dict.partition("/")[2], "") + place
        if value.kept and behind:
            said[at] = value._replace(kept=f"{value.kept}\0{behind}")
    return said


def _wholes(dicts: Mapping[str, list[str]]) -> dict[str, str]:
    """What each dict says and those around it, by its number: those around have smaller ones."""
    found: dict[str, str] = {}
    for around, number in sorted(
        (each.split("/") for each in dicts), key=lambda each: int(each[1])
    ):
        told = sorted(dicts[f"{around}/{number}"])
        found[number] = hash_of("\0".join([*told, found.get(around, "")])).hex()
    return found


def _weighs(value: str) -> bool:
    """Whether a value stands on no page by chance, as numbers and words of few letters do."""
    return _has_words(value) or (value[0] != _UNSEEN and len(value) >= on_page.SHORT_VALUE_CHARS)


def _has_words(value: str) -> bool:
    return value[0] != _UNSEEN and _TELLING.search(value) is not None


def _row(said: list[_Value], page: on_page.Page) -> bytes:
    """8 bytes of all that counts of a row: see `names_itself`."""
    said = [one._replace(kept="") if one.kept.startswith(_OWN) else one for one in said]
    is_whole = all(one.kept or not one.plain or notation.is_of_the_crawl(one.text) for one in said)
    counted = [one for one in said if one.kept]
    is_named = any(page.links_once(one.text) for one in counted)
    says = sorted(f"{one.name}\0{notation.link_of(one.text) or one.kept}" for one in counted)
    return marked(hash_of("\0".join(says)), item_values.LINKED * (is_whole and is_named))


def _packed(
    flags: int, said: Iterable[_Value], item: ItemValues, text: _Text
) -> tuple[bytes, Mapping[int, str]]:
    """The values as a store keeps them, and their names by the byte of each: one of 253.

    One that was asked for has a name of its own: pages stored before that lack it.
    """
    names: dict[int, str] = {}
    its_own = {item_values.TEXTS_NAME: text.beside.hex(), item_values.FACTS_NAME: text.facts}
    by_byte = {name: [each] for name, each in its_own.items() if each}
    shown: dict[int, list[str]] = {}
    asked = set[int]()
    for name, _, value, plain, kept in said:
        byte = item_values.byte_of(f"+{name}" if name in item.added else name)
        asked |= {byte} if item.is_named or name in item.added else set()
        of_name = by_byte.setdefault(byte, [])
        if kept:
            names[byte] = name
            of_name.append(notation.in_one_notation(kept))
            is_shown = kept[0] != _UNSEEN and len(value) <= MAX_LINE
            if is_shown and not any(map(notation.path_of, value.split("\n"))):
                shown.setdefault(byte, []).append(plain)
    values, in_text = b"", on_page.Text(text.counted)
    for byte, of_name in sorted(by_byte.items()):
        name, said_here = names.get(byte, ""), "".join(of_name)
        prices = [each for each in of_name if notation.is_price(each)]
        digits = sum(map(str.isdigit, said_here))
        is_pay = _is_one_of(_PAY, name) and (digits > 2 or bool(prices))  # no "2 %"
        is_number = _is_one_of(_NUMBERS, name) and digits > 0
        # "Navy blue" may be another page's "navy".
        is_named = (_is_one_of(_OFFERS, name) or is_pay or is_number) and " " not in said_here
        marks = Mark.ASKED * (byte in asked) | Mark.OFFER * (is_named or bool(prices))
        # "Donate 5 €" may be a button's.
        is_price = any(map(notation.is_amount, prices)) or _is_one_of(_PRICES, name) or is_pay
        if is_price and re.search("[1-9]", said_here):
            told = byte in shown and all(map(in_text.has, shown[byte]))
            marks |= Mark.PRICE | Mark.IN_TEXT * (told and len(prices) == len(of_name))
        numbers = [*chain.from_iterable(map(notation.numbers_of, shown.get(byte, ())))]
        dates = [notation.is_date(each) for each in shown.get(byte, ())]
        marks |= Mark.DATE * (len(dates) == len(of_name) and all(dates))
        packed = _value_of(of_name, marks, numbers) if of_name else bytes(item_values.VALUE_BYTES)
        values += bytes([byte]) + packed
    return bytes([flags, len(by_byte)]) + values, names


def _value_of(kept: Sequence[str], marks: int, numbers: Iterable[str]) -> bytes:
    """See `packed_value`."""
    texts = sorted({each.lstrip(_OWN) for each in kept})
    are_unseen = {each[0] for each in kept} == {_UNSEEN}
    are_own = {each[:2] for each in kept} == {_OWN}
    is_amount = notation.is_amount(texts[0]) or notation.is_price(texts[0])
    marks |= Mark.UNSEEN * are_unseen | Mark.OWN * are_own | Mark.AMOUNT * is_amount
    return packed_value("\0".join(texts), marks, sorted(numbers))

"""What the judge makes of made pages that a name or a code alone tells apart, and of error pages.

    python -m tests.quality.made_names

prints these rows alone; they need no folder of pages. Each kind is made in three templates and two
languages, of words of the demo site's stories: a rule that fits one template fits no kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from random import Random

from simhash_pipeline import Fingerprinter, Judge
from tests.quality.floors import read_floors, table
from tests.quality.made_sites import MadePage
from tests.quality.made_texts import sentences_of, vocabulary
from tests.quality.rows import Row, share_row

MADE_NAMES = "made names"
_SEED = 7
_LANGS = ("en", "zh")
_TEMPLATES = range(3)
_PAGES = 24
_ERRORS = 60
_STORIES = 20
_CHAPTERS = 40
_COLOURS = ("red", "blue", "green", "black")


@dataclass(frozen=True, slots=True)
class Words:
    """Draws words and numbers of one site."""

    lang: str
    template: int
    chance: Random

    def name(self, count: int) -> str:
        """So many different words of five letters and more, or two characters."""
        joiner = "" if self.lang == "zh" else " "
        return joiner.join(self.chance.sample(_long_words(self.lang), count)).title()

    def prose(self, count: int) -> str:
        words = self.chance.choices(vocabulary(self.lang), k=count)
        return sentences_of(words, self.lang, " ")

    def number(self, digits: int) -> int:
        return self.chance.randrange(10 ** (digits - 1), 10**digits)

    def code(self) -> str:
        """Three groups of capitals and digits."""
        groups = (self.chance.choices("ABCDEFGHKLMNPRTUVWXYZ2346789", k=4) for _ in range(3))
        return "-".join(map("".join, groups))


@dataclass(frozen=True, slots=True)
class Said:
    """What a page says of its own, beside what its site says on every page."""

    title: str
    heading: str
    facts: Sequence[object]
    path: str = ""


def _variant(words: Words, number: int) -> Said:
    """The title alone names the variant; four share a product's text, which the number draws."""
    product = Words(words.lang, words.template, Random(f"{_SEED} {words.lang} {number // 4}"))
    name, text, colour = product.name(3), product.prose(150), _COLOURS[number % 4]
    return Said(f"{name}, {colour}", name, [text, colour, f"{words.number(3)} EUR"])


def _product(words: Words, _: int) -> Said:
    return Said("", words.name(3), [words.prose(4), f"{words.number(2)} EUR", words.number(5)])


def _weather(words: Words, _: int) -> Said:
    days = [f"{words.number(1)} to {words.number(2)} °C, {words.number(2)} km/h" for _ in range(3)]
    return Said("Weather", words.name(1), days)


def _match(words: Words, _: int) -> Said:
    goals = [f"{words.number(2)}' {words.name(1)}" for _ in range(words.chance.randrange(5))]
    return Said("Match report", f"{words.name(1)} - {words.name(1)}", goals)


def _flat(words: Words, _: int) -> Said:
    facts = [f"{words.number(1)} rooms", f"{words.number(2)} m²", f"{words.number(3)} EUR"]
    return Said("Flats to let", f"{words.name(1)} {words.number(2)}", facts)


def _tender(words: Words, _: int) -> Said:
    facts = [f"{words.number(3)}/2023", f"{words.number(1)}.5.2023", f"{words.number(3)},000 EUR"]
    return Said("Public tender", words.name(3), facts)


def _members(words: Words, _: int) -> Said:
    """The inherited members are the site's text; some are the class's own."""
    name = words.name(2).replace(" ", "")
    own = [f"{words.name(2).replace(' ', '')}() {name}" for _ in range(words.chance.randint(1, 4))]
    return Said("Member list", name, [f"All members of {name}", *own])


def _voucher(words: Words, _: int) -> Said:
    return Said("Voucher", "Voucher", [words.code()])


def _patent(words: Words, _: int) -> Said:
    number = f"EP{words.number(7)}B1"
    return Said(f"Patent {number}", f"Patent {number}", [])


def _unused(words: Words, number: int) -> Said:
    """As javadoc's index of uses: the class is in the address, and may look like a code."""
    name = f"org.{'ab'[words.template % 2]}.{words.name(1).split()[0]}{number}x{words.number(2)}"
    path = f"uses/{name.replace('.', '/')}.html"
    return Said(f"Uses of {name}", f"Uses of {name}", [f"No usage of {name}"], path)


def _event(words: Words, number: int) -> Said:
    """The date and the price alone are its own."""
    facts = [f"{number + 1}.5.2023, {words.number(1)} pm", f"{words.number(2)}.50 EUR"]
    return Said("Harbour concert", "Harbour concert", facts)


def _boot(words: Words, _: int) -> Said:
    return Said("Boots", "Boots", [f"BT{words.number(5)}", f"{words.number(3)} EUR"])


@dataclass(frozen=True, slots=True)
class Kind:
    """Sites of pages that are all to be kept: the words of text that each site's pages share."""

    said: Callable[[Words, int], Said]
    shared: int
    goal: float | None = 0.95
    group: int = _PAGES  # of pages that are alike: the first of each isn't counted


_KINDS: Mapping[str, Kind] = {
    "variants, named in the title alone": Kind(_variant, 0, group=4),
    "products under one title": Kind(_product, 150),
    "weather by town under one title": Kind(_weather, 120),
    "matches under one title": Kind(_match, 150),
    "flats under one title": Kind(_flat, 180),
    "tenders under one title": Kind(_tender, 300),
    "member lists under one title": Kind(_members, 120),
    "vouchers": Kind(_voucher, 60),
    "patents": Kind(_patent, 60),
    "an index of classes that nobody uses": Kind(_unused, 0),
    "events of one title and heading, own date and price": Kind(_event, 130, goal=None),
    "boots of one title and heading, own number and price": Kind(_boot, 130),
}


@dataclass(slots=True)
class Made:
    """Pages that are judged in turn, and whether each must be found: None: it isn't counted."""

    pages: list[MadePage] = field(default_factory=list)
    finds: list[bool | None] = field(default_factory=list)

    def add(self, page: MadePage, finds: bool | None) -> None:
        self.pages.append(page)
        self.finds.append(finds)


def site_of_kind(name: str, kind: Kind, lang: str, template: int) -> Made:
    words = _words(name, lang, template)
    host, shared, made = words.name(2), words.prose(kind.shared) if kind.shared else "", Made()
    for number in range(_PAGES):
        said = kind.said(words, number)
        path = said.path or f"page/{number}"
        page = _page(words, host, said, shared, f"http://{template}{lang}-example.org/{path}")
        made.add(page, None if number % kind.group == 0 else False)
    return made


def local_notices(lang: str, template: int, *, numbered: bool = False) -> Made:
    """A notice on a host for each town, which title, heading and first line name, or number."""
    words, made = _words("local notices", lang, template), Made()
    host, subject, text = words.name(2), words.name(3), words.prose(300)
    for number in range(_PAGES):
        town = f"{words.number(3)}/2026" if numbered else words.name(1)
        title = f"{subject} {town}" if template else f"{town}: {subject}"
        url = f"http://town-{number}-{lang}-example.org/notice"
        first = text if numbered else f"{town}, {number + 1}.5.2023. {text}"
        made.add(_page(words, host, Said(title, title, []), first, url), False if number else None)
    return made


def two_headlines(lang: str, template: int, *, sections: bool = False) -> Made:
    """Stories on two sites: half of a headline's words are others, or a section stands beside.

    The words of the first of two headlines stand in the story's first sentence, as in most; those
    of the one headline needn't.
    """
    one, two = (_words(f"headlines {n}", lang, (template + n) % 3) for n in range(2))
    hosts, made, copies = (one.name(2), two.name(2)), Made(), Made()
    joiner = "" if lang == "zh" else " "
    for number in range(_STORIES):
        head = [one.name(1) for _ in range(4 if sections else 6)]
        lead = [] if sections else one.chance.sample(head, len(head))
        text = f"{sentences_of(lead, lang, ' ')} {one.prose(300)}"
        other = [word if n % 2 or sections else two.name(1) for n, word in enumerate(head)]
        sides = (one, hosts[0], made, head), (two, hosts[1], copies, other)
        for words, host, into, drawn in sides:
            heading = joiner.join(drawn)
            title = f"{heading} | {words.name(2)} | {words.name(1)}" if sections else heading
            url = f"http://{'a' if into is made else 'b'}-{lang}{template}-example.org/{number}"
            page = _page(words, host, Said(title, heading, []), text, url)
            into.add(page, True if into is copies else None)
    return Made([*made.pages, *copies.pages], [*made.finds, *copies.finds])


def error_pages(lang: str, template: int) -> Made:
    """One page at many addresses, which it names."""
    words, made = _words("errors", lang, template), Made()
    host, line, more = words.name(2), words.name(3), words.prose(20 + 40 * template)
    for number in range(_ERRORS):
        path = "/".join(words.name(1).lower() for _ in range(2)) + f"-{words.number(3)}"
        url = f"http://{template}{lang}-example.org/{number}/{path}"
        shown = url if template == 1 else "/" + url.split("/", 3)[3]
        page = _page(words, host, Said(line, line, [f"{line}: {shown}"]), more, url)
        made.add(page, finds=True)
    return made


def family(lang: str, template: int) -> Made:
    """Variants that a table of facts tells apart, after their maker's page on another host."""
    words, made = _words("family", lang, template), Made()
    name, text = words.name(3), words.prose(100)
    for number in range(_PAGES):
        facts = [words.name(2) for _ in range(30)] if number else []
        url = f"http://{'shop' if number else 'maker'}-{lang}{template}-example.org/{number}"
        page = _page(words, words.name(1), Said(name, name, facts), text, url)
        made.add(page, False if number > 1 else None)
    return made


def releases(lang: str, template: int) -> Made:
    """A manual in two releases, whose name and number are the heading of each of its pages."""
    words, made = _words("releases", lang, template), Made()
    manual = words.name(2)
    chapters = [(words.name(2), words.prose(150)) for _ in range(_CHAPTERS)]
    for release in ("1.2.3", "1.3.0"):
        heading = f"{manual} {release}"
        for number, (name, text) in enumerate(chapters):
            url = f"http://{lang}{template}-example.org/{release}/{number}"
            page = _page(words, manual, Said(f"{name} | {heading}", heading, []), text, url)
            made.add(page, None if release == "1.2.3" else True)
    return made


def members(lang: str, template: int) -> Made:
    """A reference, class by class, of which each class says the same of its methods."""
    words, made = _words("members", lang, template), Made()
    manual, classes = words.name(2), words.name(4).split(" ")
    if lang == "zh":
        classes = [words.name(1) for _ in range(4)]
    methods = [(words.name(1), words.prose(150)) for _ in range(_CHAPTERS)]
    for kind in classes:
        for number, (method, text) in enumerate(methods):
            name, url = f"{kind}.{method}", f"http://{lang}{template}-example.org/{kind}.{number}"
            page = _page(words, manual, Said(name, name, []), f"{kind} {text}", url)
            made.add(page, None if kind == classes[0] else False)
    return made


def code_names(lang: str, template: int) -> Made:
    """Things whose names in code are the same but for a word: fog_bell, fog_bell_ring."""
    words, made = _words("code", "en", template), Made()
    manual = Words(lang, template, words.chance).name(2)
    for number in range(_PAGES):
        parts, text = words.name(3).lower().split(" "), words.prose(150)
        for size in (2, 3):
            name = "_".join(parts[:size])
            url = f"http://{lang}{template}-example.org/{number}/{size}"
            made.add(_page(words, manual, Said(name, name, []), text, url), False)
    return made


def many_copies(lang: str, template: int) -> Made:
    """A story at many addresses of its site."""
    words, made = _words("copies", lang, template), Made()
    host, name, text = words.name(2), words.name(3), words.prose(300)
    for number in range(_ERRORS):
        url = f"http://{lang}{template}-example.org/{number}"
        made.add(_page(words, host, Said(name, name, []), text, url), True if number else None)
    return made


def name_rows() -> Iterator[Row]:
    """Shares of pages that are kept, as they must, and of copies that are found."""
    for measure, goal, sites in _measures():
        hits = [hit for made in sites for hit in _hits(made)]
        yield share_row(MADE_NAMES, measure, "all", hits, goal)


def name_digest() -> str:
    """SHA-256 of the pages: floors hold for these very ones."""
    pages = (page for _, _, sites in _measures() for made in sites for page in made.pages)
    return hashlib.sha256("\n".join(page.url + page.html for page in pages).encode()).hexdigest()


@cache
def _measures() -> Sequence[tuple[str, float | None, Sequence[Made]]]:
    makers: dict[str, tuple[float | None, Callable[[str, int], Made]]] = {
        **{
            f"{name}: kept": (kind.goal, partial(site_of_kind, name, kind))
            for name, kind in _KINDS.items()
        },
        "a notice with local names, a host each: kept": (0.9, local_notices),
        "a notice with local numbers, a host each: kept": (
            0.9,
            partial(local_notices, numbered=True),
        ),
        "a story under two headlines, two sites: found": (0.85, two_headlines),
        "a story under one headline in two sections, two sites: found": (
            0.85,
            partial(two_headlines, sections=True),
        ),
        "error pages that name their address: found": (0.95, error_pages),
        "variants after their maker's page on another host: kept": (0.95, family),
        "a manual in two releases, one host: found": (0.95, releases),
        "a reference of classes whose methods are alike: kept": (0.95, members),
        "names in code that differ in a word: kept": (0.95, code_names),
        "a story at sixty addresses of its site: found": (1.0, many_copies),
    }
    return [
        (measure, goal, [make(lang, template) for lang in _LANGS for template in _TEMPLATES])
        for measure, (goal, make) in makers.items()
    ]


def _hits(made: Made) -> Iterator[float]:
    """1.0 for each page that is counted and was kept, or found, as it must."""
    with Judge() as judge:
        for page, finds in zip(made.pages, made.finds, strict=True):
            verdict = judge.judge(page.url, _fingerprinter().fingerprint(page.html, page.url))
            if finds is not None:
                yield float(verdict.dropped == finds)


def _page(words: Words, site: str, said: Said, text: str, url: str) -> MadePage:
    """In one of three templates: a heading, a heading below the site's own, a bold line."""
    chance = Words(words.lang, words.template, Random(f"{_SEED} {site}"))
    menu = "".join(f"<li><a href='#'>{chance.name(1)}</a></li>" for _ in range(8))
    facts = "".join(f"<tr><td>{fact}</td></tr>" for fact in said.facts)
    body = f"<table>{facts}</table><p>{text}</p>"
    foot = f"<p>{chance.prose(40)}</p>"
    title = f"{said.title} - {site}" if said.title and words.template < 2 else said.title or site
    if words.template == 0:
        inner = (
            f"<nav><ul>{menu}</ul></nav><main><h1>{said.heading}</h1>{body}</main>"
            f"<footer>{foot}</footer>"
        )
    elif words.template == 1:
        inner = (
            f"<h1><a href='/'>{site}</a></h1><ul>{menu}</ul>"
            f"<div id='content'><h2>{said.heading}</h2>{body}</div>{foot}"
        )
    else:
        inner = (
            f"<table><tr><td><ul>{menu}</ul></td><td><div><b>{said.heading}</b></div>{body}"
            f"</td></tr></table><div>{foot}</div>"
        )
    head = f"<html lang='{words.lang}'><head><title>{title}</title></head>"
    return MadePage(url, f"{head}<body>{inner}</body></html>")


def _words(name: str, lang: str, template: int) -> Words:
    return Words(lang, template, Random(f"{_SEED} {name} {lang} {template}"))


@cache
def _long_words(lang: str) -> Sequence[str]:
    least = 2 if lang == "zh" else 5
    return sorted({word for word in vocabulary(lang) if len(word) >= least})


@cache
def _fingerprinter() -> Fingerprinter:
    return Fingerprinter()


if __name__ == "__main__":
    print(table(list(name_rows()), read_floors(), {MADE_NAMES: name_digest()}))

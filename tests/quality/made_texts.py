"""What the judge makes of made texts of one host: texts of one template kept, and copies found.

    python -m tests.quality.made_texts

prints these rows alone; they need no folder of pages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

from crawler.demo_site.markup import story_text
from crawler.demo_site.pages import read_newsroom
from simhash_pipeline import Fingerprinter, Judge
from simhash_pipeline.page.segment import words
from tests.quality.floors import read_floors, table
from tests.quality.rows import LANGUAGES, Row, share_row

MADE_TEXTS = "made texts"
_SEED = 7
_WORDS = 400
_TEMPLATES = 8
_TEXTS = 40  # of a template
_STORIES = 80
_OWN_GOALS = {20: 0.95, 40: 0.99, 60: 0.99, 100: 0.99}  # words
_CHANGED_GOALS: dict[int, float | None] = {1: 0.75, 2: 0.40, 5: None}  # per cent
_FORMS = ("lines", "one line", "slots")


def text_rows() -> Iterator[Row]:
    """Shares of texts that are kept, as they must, and of copies that are found."""
    for lang in ("en", "zh"):
        for own, kept_goal in _OWN_GOALS.items():
            measure = f"texts of one template, {own} of {_WORDS} words their own: kept"
            kept = [hit for n in range(_TEMPLATES) for hit in _kept(_of_template(lang, own, n))]
            yield share_row(MADE_TEXTS, measure, LANGUAGES[lang], kept, kept_goal)
        for share, goal in _CHANGED_GOALS.items():
            measure = f"texts with {share} % of their words changed: found"
            yield share_row(MADE_TEXTS, measure, LANGUAGES[lang], _found(lang, share), goal)
        measure = "texts of one form whose titles differ in a number: kept"
        hits = [hit for n in range(_TEMPLATES) for hit in _numbered_kept(lang, n)]
        yield share_row(MADE_TEXTS, measure, LANGUAGES[lang], hits, 0.95)


def text_digest() -> str:
    """SHA-256 of the texts: floors hold for these very ones."""
    made = (
        text
        for lang in ("en", "zh")
        for texts in (
            *(_of_template(lang, own, n) for own in _OWN_GOALS for n in range(_TEMPLATES)),
            *(_stories(lang, share) for share in (0, *_CHANGED_GOALS)),
        )
        for text in texts
    )
    return hashlib.sha256("\n\n".join(made).encode()).hexdigest()


@cache
def _of_template(lang: str, own: int, number: int) -> Sequence[str]:
    """Texts that share all but `own` words: in lines, in one line, or with slots of four words."""
    form = _FORMS[number % len(_FORMS)]
    frame = _drawn(f"{lang} {own} {number}", lang, _WORDS - own)
    slot = 4 if form == "slots" else own
    made = []
    for text in range(_TEXTS):
        drawn, said = _drawn(f"{lang} {own} {number} {text}", lang, own), list[str]()
        for at in range(0, own, slot):
            end = (at + slot) * len(frame) // own
            middle = (at * len(frame) // own + end) // 2 // 12 * 12
            said += [*frame[len(said) - at : middle], *drawn[at : at + slot]]
        made.append(
            sentences_of([*said, *frame[len(said) - own :]], lang, "\n" if form == "lines" else " ")
        )
    return made


@cache
def _stories(lang: str, share: int) -> Sequence[str]:
    """Texts of words of their own, so many per cent of which are exchanged."""
    made = []
    for number in range(_STORIES):
        words = _drawn(f"story {lang} {number}", lang, _WORDS)
        chance = Random(f"{_SEED} {lang} {number} {share}")
        for at in chance.sample(range(_WORDS), _WORDS * share // 100):
            words[at] = chance.choice(vocabulary(lang))
        made.append(sentences_of(words, lang, " "))
    return made


def sentences_of(words: Sequence[str], lang: str, between: str) -> str:
    """The words in sentences of twelve."""
    joiner, stop = ("", "。") if lang == "zh" else (" ", ".")
    parts = (words[start : start + 12] for start in range(0, len(words), 12))
    return between.join(f"{joiner.join(part)}{stop}" for part in parts)


def _drawn(name: str, lang: str, count: int) -> list[str]:
    return Random(f"{_SEED} {name}").choices(vocabulary(lang), k=count)


@cache
def vocabulary(lang: str) -> Sequence[str]:
    """Words as often as they stand in the demo site's stories."""
    texts = (story_text(story) for story in read_newsroom().stories(lang))
    return [word for text in texts for word in words(text) if word.isalpha()]


def _kept(texts: Sequence[str], titles: Sequence[str] = ()) -> list[float]:
    """1.0 for each text after the first that is kept; the last ones have these titles."""
    of_texts = [*[""] * (len(texts) - len(titles)), *titles]
    read = _fingerprinter().fingerprint_text
    with Judge() as judge:
        verdicts = [
            judge.judge(f"http://a.example/{n}", read(text, title=title))
            for n, (text, title) in enumerate(zip(texts, of_texts, strict=True))
        ]
    return [float(not verdict.dropped) for verdict in verdicts[1:]]


def _numbered_kept(lang: str, number: int) -> list[float]:
    """Of texts of which a word is in all titles, after others of their host: 1.0 for each kept."""
    texts = _of_template(lang, 8, number)
    titles = [
        f"{_drawn(f'{lang} 8 {number}', lang, 1)[0]} 21/{4200 + n}" for n in range(len(texts))
    ]
    return _kept([*_stories(lang, 0)[:40], *texts], titles)[-len(texts) + 1 :]


def _found(lang: str, share: int) -> list[float]:
    """1.0 for each changed story that is dropped, after all stories."""
    kept = _kept([*_stories(lang, 0), *_stories(lang, share)])
    return [1 - hit for hit in kept[_STORIES - 1 :]]


@cache
def _fingerprinter() -> Fingerprinter:
    return Fingerprinter()


if __name__ == "__main__":
    print(table(list(text_rows()), read_floors(), {MADE_TEXTS: text_digest()}))

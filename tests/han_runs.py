"""Runs of Han that are hard to cut as jieba does, and jieba's own words of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from simhash_pipeline.page.han import (
    HAN,
    HAN_FIRST,
    HAN_LAST,
    UserWord,
    dictionary,
    jieba_tokenizer,
)

_HAN = [chr(code) for code in range(ord(HAN_FIRST), ord(HAN_LAST) + 1)]
_RUN = re.compile(f"[{HAN}]+")
_RARE = 5  # words of so low a frequency often weigh the same


def made_runs(count: int, seed: int) -> Iterator[str]:
    """Words of the dictionary: any, frequent, rare, halved or shuffled ones; and any characters."""
    words, frequencies, rare = _words()
    chance = random.Random(seed)
    for _ in range(count):
        size = chance.randint(1, 14)
        some = chance.choices(words, k=size)
        frequent = chance.choices(words, cum_weights=frequencies, k=size)
        halves = [word[chance.randrange(len(word)) :] for word in some + frequent]
        strange = chance.choices(_HAN, k=size)
        mixed = list("".join(frequent)) + strange[:2]
        chance.shuffle(mixed)
        kinds = (some, frequent, chance.choices(rare, k=size), halves, strange, mixed)
        yield "".join(chance.choice(kinds))


def jieba_words(runs: list[str], added: tuple[UserWord, ...] = ()) -> list[str]:
    """The words of all runs, by jieba."""
    return [word for word in jieba_tokenizer(added).lcut(" ".join(runs)) if word != " "]


@cache
def _words() -> tuple[list[str], list[int], list[str]]:
    """The dictionary's words of Han, their frequencies summed up, and those that are rare."""
    rows = [line.split() for line in dictionary().decode().splitlines()]
    han = [(row[0], int(row[1])) for row in rows if _RUN.fullmatch(row[0])]
    rare = [word for word, frequency in han if frequency <= _RARE]
    return [word for word, _ in han], list(accumulate(frequency for _, frequency in han)), rare

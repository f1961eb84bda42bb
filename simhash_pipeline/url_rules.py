"""Rules that tell a page's other URLs without fetching them, learnt from drops and kept pages.

    dropped   /en/fish-pie?sid=9f3     one page by its content, so its URLs differ in what
    kept      /en/fish-pie             doesn't matter: the query key sid

A rule is taken if enough drops are explained by it, and if no two stories would have the same URL
under it and the rules taken that explain more: the pages of `?id=1` and `?id=2` stay apart. A
dropped page's story is that of its twin. A known tracking key is taken unless a twentieth of its
drops speak against it (a crawl misses a copy now and then), a key that the user names always.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias
from urllib.parse import SplitResult, parse_qs, urlsplit

from w3lib.url import url_query_cleaner

from simhash_pipeline.urls import is_tracking

Pair: TypeAlias = tuple[str, str]  # of URLs
_FEW = 20  # times as many drops must speak for a tracking key as against it
_LONGEST_CHAIN = 20  # of twins, each dropped in a later crawl
_MAX_RULES = 1_000  # that are tried; of more, those that explain the most drops


@dataclass(frozen=True, slots=True, order=True)
class UrlRule:
    """A query key that may be left out of the URLs of a host."""

    host: str  # with its port, if it has one
    key: str

    def applied(self, url: str) -> str:
        """The URL without it; the same URL if the rule is not about it."""
        if self.host not in url or self.key not in url:
            return url  # nearly always, and ten times as fast
        parts = urlsplit(url)
        if parts.netloc != self.host or self.key not in _query(parts):
            return url
        return url_query_cleaner(url, (self.key,), remove=True, unique=False)

    def for_discarder(self) -> dict[str, Any]:
        """The rule as duplicate-url-discarder loads it."""
        rule = {"order": 100, "processor": "queryRemoval", "args": [self.key]}
        return {**rule, "urlPattern": {"include": [self.host]}}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a rule, and against it."""

    rule: UrlRule
    support: int  # pairs of a dropped URL and its twin's that it explains, alone or with others
    against: list[Pair]  # a URL, and one that would be taken for it
    refusal: str  # why it isn't taken; "" if it is
    example: Pair  # a dropped URL, and its twin's

    @property
    def taken(self) -> bool:
        return not self.refusal


@dataclass(frozen=True, slots=True)
class Learnt:
    """The rules, those taken first, and what they would have saved."""

    evidence: list[Evidence]
    urls: int  # of dropped and kept pages
    saved: int  # requests for these, by the taken rules


def learn(
    drops: Iterable[Pair], kept: AbstractSet[str], min_support: int, trusted: Collection[str] = ()
) -> Learnt:
    """Rules out of pairs (dropped URL, its twin's); `kept` are the URLs of all kept pages.

    The `trusted` query keys are taken also if few drops need them or stories differ in them.
    """
    pairs = dict.fromkeys(drops)
    stories = _stories(pairs, kept)
    differing = {pair: differences(*pair) for pair in pairs}
    support = Counter(chain.from_iterable(differing.values()))
    example = {rule: pair for pair in reversed(differing) for rule in differing[pair]}
    tried = [
        rule
        for rule, count in support.most_common(_MAX_RULES)
        if count >= min_support or rule.key in trusted
    ]
    against = {rule: _merged(stories, rule) for rule in tried}
    for rule in tried:
        if rule.key in trusted or (
            is_tracking(rule.key) and _FEW * len(against[rule]) <= support[rule]
        ):
            stories |= {url: stories[other] for other, url in against[rule]}  # missed copies
    refusals: dict[UrlRule, str] = {}
    left = stories  # by URL without what the rules taken so far leave out
    for rule in tried:  # those first that explain more drops
        if lost := len(_merged(left, rule)):
            refusals[rule] = f"it would lose {lost:,} article{'s' * (lost != 1)}"
        else:
            left = {rule.applied(url): story for url, story in left.items()}
    evidence = [
        Evidence(rule, support[rule], against[rule], refusals.get(rule, ""), example[rule])
        for rule in sorted(tried, key=lambda rule: (rule in refusals, -support[rule], rule))
    ]
    return Learnt(evidence, len(stories), len(stories) - len(left))


def _stories(pairs: Iterable[Pair], kept: AbstractSet[str]) -> dict[str, str]:
    """By URL of all known pages the kept page at the end of their twins, in one order always."""
    twins = {dropped: twin for dropped, twin in pairs if dropped not in kept}
    stories = {url: url for url in sorted(kept)}
    for url in chain.from_iterable(sorted(pairs)):
        story = url
        for _ in range(_LONGEST_CHAIN):
            story = twins.get(story, story)
        stories.setdefault(url, story)
    return stories


def differences(dropped: str, twin: str) -> list[UrlRule]:
    """The rules that together make one URL of these two; none if no such rules do."""
    try:
        a, b = urlsplit(dropped), urlsplit(twin)
    except ValueError:
        return []
    if (a.scheme, a.netloc) != (b.scheme, b.netloc) or dropped == twin:
        return []
    mine, others = _query(a), _query(b)
    keys = sorted(key for key in mine | others if mine.get(key) != others.get(key))
    rules = [UrlRule(a.netloc, key) for key in keys]
    left = [url_query_cleaner(each, keys, remove=True, unique=False) for each in (dropped, twin)]
    return rules if left[0] == left[1] else []


def _merged(stories: Mapping[str, str], rule: UrlRule) -> list[Pair]:
    """The URLs that the rule would make equal to one of another story, after that one."""
    first: dict[str, str] = {}
    merged = []
    for url, story in stories.items():
        if (new := rule.applied(url)) != url:
            other = new if new in stories else first.setdefault(new, url)
            if stories[other] != story:
                merged.append((other, url))
    return merged


def _query(parts: SplitResult) -> dict[str, list[str]]:
    return parse_qs(parts.query, keep_blank_values=True)

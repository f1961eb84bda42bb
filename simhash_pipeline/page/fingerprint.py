"""The journey of a page: HTML in, fingerprints out. Parses once; knows no store and no Scrapy."""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from lxml.etree import _Element

from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page import boilerplate
from simhash_pipeline.page.features import content_features, shingles, tag_features
from simhash_pipeline.page.hashing import murmur3
from simhash_pipeline.page.parse import parse
from simhash_pipeline.page.segment import tokens
from simhash_pipeline.page.simhash import simhash
from simhash_pipeline.page.structure import structure_fingerprint

_MIN_ELEMENTS = 10  # a tree with fewer is no template to speak of
_SKETCH_SHINGLE_TOKENS = 3
_SKETCH_BITS = 128


@dataclass(frozen=True, slots=True)
class PageFingerprint:
    """What is known of a page. None means nothing to compare; no number stands in for it."""

    content: int | None  # simhash of the main text, `bits` wide; None when the page is thin
    structure: int | None  # simhash of the DOM tree, `bits` wide; None for fewer than 10 nodes
    sketch: int | None  # 128-bit simhash of the set of token 3-shingles; None when thin
    text: str  # main text, blocks joined by newlines
    title: str  # "" when the page has none
    tokens: int  # number of tokens in the main text
    url: str | None = None

    @property
    def digest(self) -> bytes | None:
        """16 bytes that are the same when title and text are; None for a page without text."""
        if not self.text.strip():
            return None
        words = f"{' '.join(self.title.split())}\n{' '.join(self.text.split())}"
        return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=16).digest()


class Fingerprinter:
    """Makes fingerprints by one set of options; OptionsError when the extractor can't be loaded."""

    def __init__(self, options: Options | None = None) -> None:
        self._options = options or Options()
        self._main_text = _extractor(self._options.extractor)

    def fingerprint(
        self, html: bytes | str, url: str | None = None, charset: str | None = None
    ) -> PageFingerprint:
        """One page's fingerprints; `charset` is the HTTP header's.

        PageError when there is no page to read: it is empty, binary or unparsable.
        """
        root = parse(html, charset)
        text = self._main_text(root)
        words = tokens(text)
        thin = len(words) < self._options.min_tokens
        return PageFingerprint(
            content=None if thin else self._content(words),
            structure=self._structure(root),
            sketch=None if thin else _sketch(words),
            text=text,
            title=boilerplate.title(root),
            tokens=len(words),
            url=url,
        )

    def content_fingerprint(self, text: str) -> int | None:
        """The content fingerprint of plain text, however short; None when it holds no token."""
        return self._content(tokens(text))

    def _content(self, words: Sequence[str]) -> int | None:
        return self._simhash(content_features(words, self._options.ngrams))

    def _structure(self, root: _Element) -> int | None:
        if self._options.structure_features == "halvings":
            return structure_fingerprint(root, partial(murmur3, bits=self._options.bits))
        if sum(1 for _ in zip(range(_MIN_ELEMENTS), root.iter(), strict=False)) < _MIN_ELEMENTS:
            return None
        return self._simhash(tag_features(root, self._options.decay))

    def _simhash(self, features: Mapping[str, float]) -> int | None:
        weights = np.fromiter(features.values(), np.float64, len(features))
        return simhash(murmur3(features, self._options.bits), weights)


def content_fingerprint(text: str, options: Options | None = None) -> int | None:
    """The content fingerprint of plain text: no HTML, no thin rule; None when it holds no token."""
    return Fingerprinter(options).content_fingerprint(text)


def _sketch(words: Sequence[str]) -> int | None:
    features = set(shingles(words, _SKETCH_SHINGLE_TOKENS))
    return simhash(murmur3(features, _SKETCH_BITS), np.ones(len(features)))


def _extractor(name: str) -> Callable[[_Element], str]:
    if name == "builtin":
        return boilerplate.main_text
    try:
        found = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionsError(
            [f"SIMHASH_EXTRACTOR is {name!r}; it can't be loaded: {error}"]
        ) from error
    return _guarded(found, name)


def _guarded(extract: Callable[[_Element], str], name: str) -> Callable[[_Element], str]:
    """The user's extractor with its failures told as the page's, so that the item is kept."""

    def main_text(root: _Element) -> str:
        try:
            text = extract(root)
        except Exception as error:  # whatever code from outside may raise
            raise PageError("extractor", f"{name} failed: {error!r}") from error
        if not isinstance(text, str):
            raise PageError("extractor", f"{name} returned {type(text).__name__}, not str")
        return text

    return main_text

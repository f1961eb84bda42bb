"""The journey of a page: HTML in, fingerprints out. Parses once; knows no store and no Scrapy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from operator import not_
from typing import Any

from lxml.etree import _Element

from simhash_pipeline import native
from simhash_pipeline.bits import hash_of, np
from simhash_pipeline.errors import PageError
from simhash_pipeline.native import MarkupRead
from simhash_pipeline.options import Options, load_callable
from simhash_pipeline.page import compiled, parse, titles
from simhash_pipeline.page.blocks import Blocks, read
from simhash_pipeline.page.boilerplate import main_blocks
from simhash_pipeline.page.bounds import before_wide_tag, first_of_text
from simhash_pipeline.page.decode import unescaped, without_line_ends
from simhash_pipeline.page.folding import STOPS, folded, spelled, spelled_lines
from simhash_pipeline.page.hashing import TokenHashes, hash_rows, hashed
from simhash_pipeline.page.pdf import is_pdf, title_and_text
from simhash_pipeline.page.segment import segmenter
from simhash_pipeline.page.short_pages import MAX_TOKENS, error_pattern_of, unread_digest
from simhash_pipeline.page.simhash import counted_ngrams, simhash, stop_words, weighing
from simhash_pipeline.page.source import Source, markup
from simhash_pipeline.page.structure import MIN_NODES, structure_fingerprint
from simhash_pipeline.page.visible import (
    ARTICLE_SHIFT,
    article_digest,
    smallest_of_main,
    visible_text,
    window_masks,
)

_SKETCH_SHINGLE_TOKENS = 3
_PARAGRAPH_CHARS = 1_000  # letters of the longest paragraph: it only finds candidates
_WORD = re.compile(r"\w+")
_NO_WORD = bytes(code for code in range(128) if not _WORD.match(chr(code)))
# A full stop ends a sentence before a space or a line's end; those of other scripts do anywhere, as
# it does beside Chinese: folded, they are one.
_WIDE = "\u2e80-\U0010ffff"
_SENTENCE = re.compile(
    rf"[^\n.!?{STOPS}]+(?:[.!?](?<![{_WIDE}].)(?![ {_WIDE}])[^\n.!?{STOPS}]*)*[.!?{STOPS}]?"
)
# What a text that is HTML has, and one that only speaks of tags, or compares numbers, hasn't.
_TAG = re.compile(
    r"(?i)</(?:blockquote|div|figure|h[1-6]|li|p|pre|table)>|<(?:br|p)[ />]|<(?:a|img|span)\s\S+="
)


@dataclass(slots=True, unsafe_hash=True)
class PageFingerprint:
    """The fingerprints of a page. None means that there is nothing to compare.

    Nobody changes one; why it isn't frozen: see `StoredPage`.
    """

    content: int | None  # simhash of the main text, 64 bits; None when the page is thin
    structure: int | None  # simhash of the DOM tree, 64 bits; None for fewer than 10 nodes
    sketch: int | None  # 128-bit simhash of the set of token 3-shingles; None when thin
    text: str  # main text, blocks joined by newlines
    title: str  # "" when the page has none
    tokens: int  # number of tokens in the main text
    # Digests of the title and the article text, and of all that is visible: see `article_digest`
    article: int | None = None
    # A sample of the visible text, to compare pages of one site: 3 KB at most
    sample: bytes | None = field(default=None, repr=False)
    # Of the sample 32 bits each, and of the title's words 15: what a template may repeat
    blocks: tuple[int, ...] = field(default=(), repr=False)
    left_out: str = field(default="", repr=False)  # visible text that is no main text
    beside: str = field(default="", repr=False)  # what is not in the article text, hidden text too
    facts: str = field(default="", repr=False)  # of that the cells of tables
    url: str | None = None
    canonical_url: str | None = None  # what its link rel="canonical" or og:url says, made absolute
    name: str = ""  # the heading that its title repeats
    heading: str = ""  # the page's first, if its title doesn't say it; 100 characters at most
    title_marks: int = 1  # which words of both are the page's name: see page/titles.py
    title_places: bytes | None = None  # where words of the title stand in the text
    codes: str = ""  # as a voucher's, that end short lines of the text
    error_pattern: bytes | None = None  # of a short page that names its address: short_pages.py
    cut: bool = False  # True where the page is longer than MAX_PAGE_BYTES lets it be read
    unread: bytes = b""  # of a thin page: see page/short_pages.py

    @property
    def main_share(self) -> float | None:
        """The main text's share of the characters of all visible text, 0-1; None without any."""
        main = len(self.text)
        return main / (main + len(self.left_out)) if main + len(self.left_out) else None

    @property
    def digest(self) -> bytes | None:
        """8 bytes of name, text and what isn't read of a thin page, else of its longest paragraph.

        Of that the first thousand letters count. None for a page without text.
        """
        if not self.text.strip():
            return None
        if self.content is None:
            name, text = (" ".join(each.split()) for each in (self.name or self.title, self.text))
            words = spelled(f"{name}\n{text}")
        else:
            longest = max(self.text.split("\n"), key=len)
            words = _letters(folded(longest[: 2 * _PARAGRAPH_CHARS]))[:_PARAGRAPH_CHARS]
        return hash_of(words.encode("utf-8", "replace") + self.unread)

    @property
    def minhash(self) -> bytes | None:
        """8 bytes of the smallest windows of its main text; None when thin."""
        if self.content is None or not self.sample:
            return None
        windows = smallest_of_main(self.sample)
        return hash_of(windows) if windows else None


def _letters(text: str) -> str:
    """The text without what is in no word."""
    packed = text.encode("utf-8", "surrogatepass").translate(None, _NO_WORD)  # ten times as fast
    left = packed.decode("utf-8", "surrogatepass")
    return left if left.isascii() else "".join(_WORD.findall(left))


class Fingerprinter:
    """Fingerprints pages with one set of options.

    :param options: see `Options`.
    :raises OptionsError: if a file or callable that they name cannot be loaded.
    """

    def __init__(self, options: Options | None = None) -> None:
        self._options = options = options or Options()
        built_in = options.extractor == "builtin"
        self._extract = None if built_in else load_callable("extractor", options.extractor, str)
        self._extracts_from_soup = self._extract is not None and parse.asks_for_soup(self._extract)
        self._segment = segmenter(
            options.segmenter, to_simplified=options.to_simplified, user_dict=options.user_dict
        )
        filtered = options.stop_words is not None or options.weights == "jieba-tfidf"
        self._stops = stop_words(options.stop_words) if filtered else frozenset()
        self._weigh = weighing(options)
        self._joiner = "" if options.segmenter == "java-characters" else " "
        self._hash = hash_rows(options.hash, self._joiner)
        # Counts for weights: then each n-gram votes as it comes, and none has to be made as text.
        self._plain = (options.hash, options.weights, options.top_n) == ("murmur3", "tf", None)
        own_words = options.to_simplified or options.user_dict or options.stop_words
        default = self._plain and options.segmenter == "words" and not own_words
        self._by_kernel = default and native.kernel is not None

    def read(self, source: Source) -> PageFingerprint:
        """The fingerprints of a page or of a text; PageError as in `fingerprint`."""
        if source.is_text:
            return self.fingerprint_text(str(source.html), title=source.title, url=source.url)
        return self.fingerprint(source.html, source.url, source.charset)

    def fingerprint(
        self, html: Any, url: str | None = None, charset: str | None = None
    ) -> PageFingerprint:
        """One page's fingerprints.

        :param html: bytes, text, a soup of BeautifulSoup, a parsel selector, an lxml tree or
            element.
        :param url: the page's address; relative canonical links are joined to it.
        :param charset: that of the HTTP header.
        :return: its fingerprints, title and main text.
        :raises PageError: if the page is empty, binary or unparsable.
        """
        if (held := markup(html)) is None:
            raise TypeError(f"a page is bytes, text, a soup, selector or tree, not {html!r:.80}")
        if is_pdf(held):
            title, text = title_and_text(held, self._options.max_page_bytes)
            return self.fingerprint_text(text, title=title, url=url)
        page = Page(held, charset, self._options)
        text, is_main = self._read(page)
        is_main += [False] * len(page.blocks.hidden)
        return self._of_text(text, page.blocks, is_main, title=page.title, url=url, page=page)

    def fingerprint_text(
        self, text: str, *, title: str = "", url: str | None = None
    ) -> PageFingerprint:
        """The fingerprints of a page whose main text is known, and is all there is to see.

        A text with tags in it, as APIs and feeds give it, is read as HTML, all of it.
        """
        text = self._without_markup(text)
        blocks = Blocks(sentences(first_of_text(text, self._options.max_page_bytes)))
        is_main = [True] * len(blocks.texts)
        return self._of_text(text, blocks, is_main, title=title, url=url)

    def _of_text(
        self,
        text: str,
        blocks: Blocks,
        is_main: list[bool],
        *,
        title: str,
        url: str | None,
        page: Page | None = None,
    ) -> PageFingerprint:
        """`is_main` says which of the blocks, the hidden ones last, are the text of the page."""
        taken = first_of_text(text, self._options.max_page_bytes)
        content, sketch, tokens = self._of_tokens(taken)
        texts = blocks.texts + blocks.hidden
        said = spelled_lines(texts)
        utf8 = "\n".join(said).encode("utf-8", "replace")
        # Of a thin page every word counts: its main text says little.
        masks = b"" if content is None else window_masks(blocks, is_main)
        sample, sampled_blocks = visible_text(utf8, is_main, masks)
        left_out = "\n".join(compress(texts, map(not_, is_main)))
        is_short = url and tokens <= MAX_TOKENS
        pattern = error_pattern_of(title, f"{taken}\n{left_out}", url or "") if is_short else None
        # The title of a text is its own, without its site's name.
        heads = spelled_lines(titles.headings(blocks, title) if page is not None else [title])
        line = "" if heads else titles.first_line(blocks, is_main, said)
        main = "\n".join(compress(said, is_main))
        others = compress(said, map(not_, is_main))
        name, heading, marks, places = titles.name_of(title, heads, line, main, others)
        article, beside, facts = article_digest(spelled(title), blocks, is_main, masks, said, utf8)
        unread = b""
        if page is not None and content is None:
            unread = unread_digest(page.root, blocks.hidden, url)
            if article is not None:  # another one if what isn't read changes
                article ^= int.from_bytes(unread[:4], "little") << ARTICLE_SHIFT
        return PageFingerprint(
            content=content,
            structure=None if page is None else page.structure,
            sketch=sketch,
            text=taken,
            title=title,
            tokens=tokens,
            article=article,
            sample=sample,
            blocks=(*sampled_blocks, *titles.word_blocks(titles.title_words(title, heading))),
            left_out=left_out,
            beside=beside,
            facts=facts,
            url=url,
            canonical_url=None if page is None else titles.canonical_url(page.head, url),
            name=name,
            heading=heading,
            title_marks=marks,
            title_places=places,
            codes=titles.codes(blocks, is_main, said),
            error_pattern=pattern,
            cut=len(taken) < len(text) or (page is not None and page.cut),
            unread=unread,
        )

    def _of_tokens(self, text: str) -> tuple[int | None, int | None, int]:
        """Content fingerprint and sketch, None of a thin page, and the number of tokens."""
        tokens, hashes = self._hashed(text)
        if len(hashes) < self._options.min_tokens:
            return None, None, len(hashes)
        sketch = hashes.sketch(_SKETCH_SHINGLE_TOKENS)
        return self._content(tokens, hashes), sketch, len(hashes)

    def content_fingerprint(self, text: str) -> int | None:
        """The content fingerprint of plain text, however short; None when it holds no token."""
        return self._content(*self._hashed(text))

    def _hashed(self, text: str) -> tuple[Sequence[str], TokenHashes]:
        """The tokens, none where the kernel cuts the text, and their hashes."""
        if self._by_kernel:
            return (), TokenHashes(compiled.hashed_words(text))
        tokens = self._segment(text)
        return tokens, TokenHashes(hashed(tokens))

    def _without_markup(self, text: str) -> str:
        """The text without markup, and without lines that end within a sentence."""
        if "&lt;/" in text and not _TAG.search(text):  # escaped, as in the XML of a feed
            text = unescaped(text)
        if "<" not in text or not _TAG.search(text):
            if text.isascii():
                return text
            return without_line_ends(text.encode("utf-8", "replace")).decode()
        try:
            return "\n".join(Page(text, None, self._options).blocks.texts)
        except PageError:  # nothing but tags
            return ""

    def _read(self, page: Page) -> tuple[str, list[bool]]:
        """Main text, and which blocks are in it."""
        texts = page.blocks.texts
        if self._extract is not None:
            given = parse.soup_of(page.source) if self._extracts_from_soup else page.root
            text = self._extract(given)
            flat = " ".join(text.split())
            return text, [block in flat for block in texts]
        is_main = [False] * len(texts)
        for place in main_blocks(page.blocks, page.title):
            is_main[place] = True
        return "\n".join(compress(texts, is_main)), is_main

    def _content(self, tokens: Sequence[str], hashes: TokenHashes) -> int | None:
        options = self._options
        if self._plain:
            if self._stops:
                hashes = TokenHashes(hashed(self._without_stops(tokens)))
            return hashes.content(options.ngrams)
        features = self._features(tokens)
        weights = np.fromiter(features.values(), np.float64, len(features))
        return simhash(self._hash(features), weights, options.set_when)

    def _features(self, tokens: Sequence[str]) -> Mapping[str, float]:
        words = self._without_stops(tokens)
        weights = self._weigh(counted_ngrams(words, self._options.ngrams, self._joiner))
        if self._options.top_n is None:
            return weights
        by_weight = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
        return dict(by_weight[: self._options.top_n])  # of equal ones the first by code point

    def _without_stops(self, tokens: Sequence[str]) -> Sequence[str]:
        return [t for t in tokens if t.lower() not in self._stops] if self._stops else tokens


def sentences(text: str) -> list[str]:
    """The blocks of a text, which has no boxes: what texts of one template share are sentences."""
    if native.kernel is not None:
        return native.kernel.sentences(text, STOPS)
    return [said for found in _SENTENCE.findall(text) if (said := found.strip())]


def content_fingerprint(text: str, options: Options | None = None) -> int | None:
    """The content fingerprint of plain text, however short.

    :param text: plain text.
    :param options: see `Options`.
    :return: 64 bits as an integer; None if the text holds no token.
    """
    return Fingerprinter(options).content_fingerprint(text)


class Page:
    """A page as it is read: by the kernel from its source, or, where that isn't sure, of its tree.

    The Python that reads the tree says what is to be found. PageError as in `fingerprint`.
    """

    def __init__(self, html: bytes | str, charset: str | None, options: Options) -> None:
        source, cut = parse.readable(html, charset, options.max_page_bytes)
        found = compiled.read_markup(source)
        marked = MarkupRead(*found) if isinstance(found, tuple) else None
        self.source = before_wide_tag(source) if marked is None else source
        self.cut = cut or len(self.source) < len(source)
        if marked is None or options.decay is not None:
            elements = parse.elements_of(self.root)
            self.structure = structure_fingerprint(elements, options)
        else:
            self.structure = marked.structure if marked.nodes >= MIN_NODES else None
        if marked is None:
            self.blocks, self.head = read(elements), titles.head_of(self.root)
            self.title = titles.title_of(self.head, titles.titles_in(self.root))
        else:
            self.blocks, self.head = Blocks(*marked.columns), marked.head
            self.blocks.finish()
            self.title = titles.title_of(self.head, marked.titles)

    @cached_property
    def root(self) -> _Element:
        """Its tree by lxml."""
        return parse.tree_of_page(self.source)

"""What a copy is: two stored pages and what their templates repeat in, what tells them apart out.

No store, no clock, no third page: the judge finds the candidates, and asks here about each. What
their sites repeat is asked for where a test needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from simhash_pipeline.bits import MAX_DISTANCE_BITS, hash_of
from simhash_pipeline.item_values import (
    CARRIED,
    KNOWN,
    NO_VALUES,
    OFFER,
    PART,
    PARTS,
    SAME_FIELDS_BITS,
    TEXT,
    differing,
    facts_differ,
    has,
    is_row,
    new_sentences,
    renumbered,
    say_more,
    say_the_same,
    says_two_things,
    without_facts,
)
from simhash_pipeline.options import Options
from simhash_pipeline.page import titles
from simhash_pipeline.page.visible import ARTICLE_SHIFT, MAIN
from simhash_pipeline.repeated_text import (
    ANY_SITE,
    LEAST_PAGES,
    NO_BLOCKS,
    TEXTS_VARY,
    UNKNOWN,
    Blocks,
    copies_on,
    structure_bits,
    template_of,
)
from simhash_pipeline.specific_text import is_all_main, sample_similarity
from simhash_pipeline.stores.contract import StoredPage
from simhash_pipeline.urls import is_declared, is_one_visit
from simhash_pipeline.verdict import Reason, RejectedBy, bits_apart

BY_TEXT = ("content", "content and structure", "item", "sketch", "thin")  # reasons of candidates
# Of the main texts of two pages of one site, if what stands around them says nothing: in two
# templates, such as a page and its print view, or if both declare one address. The rest of a page
# may have been read as text on one day and left out on another.
MIN_MAIN_SIMILARITY = 0.5
_MIN_SHARED = 0.15  # with adverts of 33 words beside three teasers .19, in tabs of one thing .1
_MIN_SAME_READ = 0.4  # of main texts, boxes that were read as such too
# For texts of a host of which too few are known: what they have in common may be its notice.
_MIN_SIMILARITY_IN_DOUBT = 0.95


class Pair(NamedTuple):
    """A page, a stored one that may be its twin, and what both are compared by."""

    page: StoredPage
    other: StoredPage
    repeated_text: Callable[[str], bytes]  # of a host's templates: see repeated_text.py
    options: Options

    @property
    def of_one_site(self) -> bool:
        return self.page.site == self.other.site

    def rejection(self, reason: Reason) -> RejectedBy | None:
        """The first test that tells the page from the stored one; None: it is a copy.

        `reason`: what made the stored page a candidate. If it is the text, they have to agree in
        more than that.
        """
        return next((name for name, fails in self._tests(reason) if fails), None)

    def _tests(self, reason: Reason) -> Iterator[tuple[RejectedBy, bool]]:
        """Each test in turn, and whether it tells the pages apart."""
        by_text = reason in BY_TEXT and self.options.second_look
        yield "fields", bool(self.differing_values())
        page, other, of_one_site = self.page, self.other, self.of_one_site
        yield "template", self.options.match == "both" and not self.structures_agree()
        if reason == "address" and not is_one_visit(page.url, other.url):
            yield "fields", self._two_texts_were_scraped() or self._has_news()
        # Nothing that was scraped is missing then, whatever stands beside it.
        has_its_text = by_text and self._one_text_was_scraped()
        if not by_text or (has_its_text and page.title == other.title):
            return
        if not has_its_text:
            yield "fields", self._two_texts_were_scraped()
            yield "sketch", not self.sketches_agree()
        yield "shared notice", titles.share_a_notice(page, other)
        # A short text that two sites share names no page.
        yield "title", page.content is None and not of_one_site and page.title != other.title
        # Of one text two sections have one last part of the path.
        if not has_its_text or (of_one_site and page.last_part != other.last_part):
            words = self.repeated_words()
            yield (
                "title",
                titles.are_form_letters(page, other, on_one_site=of_one_site, repeated=words),
            )
        if not has_its_text:
            # A wall shows a request's number at addresses of all kinds; an article's second address
            # is in another folder, mostly.
            yield "title", titles.have_two_codes(page, other) and page.folder == other.folder
        are_two = self.are_two_subjects()
        yield "title", are_two and (not self._are_very_near() or self._numbers_differ())
        if not has_its_text:
            yield "page-specific text", self.specific_texts_differ()
            yield "fields", self._has_news()

    def _one_text_was_scraped(self) -> bool:
        """Whether their items have one long text, and it is the page's.

        If it is less than half of either main text, the items must say the same, and two fifths of
        the main texts as they were read, too: what all pages of a site have in a box is no page's.
        """
        page, other = self.page, self.other
        if not self.item_texts_are_equal() or not self._either_is_part():
            return self.item_texts_are_equal()
        if not self.of_one_site or page.title != other.title or not self.in_one_template():
            return False
        if self._replace(page=other, other=page).differing_values():  # these don't: asked before
            return False
        samples = page.sample or b"", other.sample or b""
        return all(samples) and (sample_similarity(*samples, only_main=True) or 0) >= _MIN_SAME_READ

    def say_one_thing(self) -> bool:
        """Whether their items say the same, of one offer or at one visit's address.

        What rotates beside a short advert may be most of its page; of other pages that declare one
        address, as those of a product's tabs, the main texts share nothing.
        """
        page, other = self.page, self.other
        items = page.item_values, other.item_values
        if any(map(is_row, items)) or not all(map(says_two_things, items)):
            return False
        if not is_one_visit(page.url, other.url):
            is_own = any(is_declared(each.url, each.address) for each in self[:2])  # no list's
            if not (is_own and all(has(each, OFFER) for each in items)):
                return False
        return self.items_agree() and (self.similarity(only_main=True) or 0) >= _MIN_SHARED

    def items_agree(self) -> bool:
        """Whether neither item has a value or a long text that the other lacks."""
        return not self.changed_values() and self.page.item_text == self.other.item_text

    def item_texts_are_equal(self) -> bool:
        return self.page.item_text is not None and self.page.item_text == self.other.item_text

    def _two_texts_were_scraped(self) -> bool:
        """Whether the texts of their items differ, and the articles of their pages, too, or facts.

        If only what was scraped differs, that has boxes in it which change with each visit.
        """
        page, other = self.page, self.other
        is_one_form = structure_bits(page.structure, other.structure) <= SAME_FIELDS_BITS
        if not (self.of_one_site and is_one_form and self._item_texts_differ()):
            return False
        return self._articles_are_equal() is False or self._facts_differ()

    def _item_texts_differ(self) -> bool:
        texts = self.page.item_text, self.other.item_text
        return None not in texts and texts[0] != texts[1]

    def _facts_differ(self) -> bool:
        """Whether cells of tables do that are in their texts and beside the articles."""
        return self._item_texts_differ() and facts_differ(
            self.page.item_values, self.other.item_values
        )

    def new_sentences(self) -> frozenset[int] | None:
        """Those of its item's text that the other item's lacks; None if that says nothing.

        In one structure of a site `_two_texts_were_scraped` decides. One text, of which two
        selectors join the words otherwise, has other sentences, and none is new.
        """
        mine, others = self.page.item_sentences, self.other.item_sentences
        bits = structure_bits(self.page.structure, self.other.structure)
        if not (mine and others) or (self.of_one_site and bits <= SAME_FIELDS_BITS):
            return None
        return frozenset() if self.item_texts_are_equal() else new_sentences(mine, others)

    def gone_sentences(self) -> frozenset[int] | None:
        """Those of the other item's text that its item's lacks, likewise."""
        return self._replace(page=self.other, other=self.page).new_sentences()

    def _has_news(self) -> bool:
        """Whether one of its new sentences counts.

        It doesn't where such copies repeat it, or a third of them have some of their own: then what
        was scraped isn't the article alone. Two sites often edit what they share: there numbers
        must have changed, or the other text has none that counts, or it is known that seven of
        eight copies have none.
        """
        if not (new := self.new_sentences()):
            return False  # without a look-up, as of most copies
        on_sites = copies_on(self.page.site, self.other.site)
        copies = template_of(self.templates(), self.repeated_text(on_sites))
        with_any = template_of(None, self.repeated_text(copies_on(self.page.site, ANY_SITE)))
        new -= with_any.counts.keys()
        is_fuller = copies.counts.keys() >= {MAIN | each for each in self.gone_sentences() or ()}
        others = renumbered(self.page.item_sentences or b"", self.other.item_sentences or b"")
        is_sure = self.of_one_site or is_fuller or bool(new & others)
        if not (new and (is_sure or copies is not UNKNOWN)) or copies.counts.keys() >= new:
            return False
        most = copies.pages / (3 if is_sure else 8)
        most = max(most, LEAST_PAGES - 1)  # as seven are too few to say so of a site
        return copies.counts.get(TEXTS_VARY, 0) <= most

    def templates(self) -> int | None:
        """What stands for both templates of one site, whichever page came first.

        Its print views may end with a line of their own, and its other pages not.
        """
        structures = self.page.structure, self.other.structure
        if not self.of_one_site or None in structures:
            return None
        return (structures[0] or 0) ^ (structures[1] or 0)

    def _either_is_part(self) -> bool:
        return has(self.page.item_values, PART) or has(self.other.item_values, PART)

    def differing_values(self) -> bytes:
        """The names, a byte each, by which its item says what no item of the other page does.

        A page that was stored without its item, as by a crawl with other settings, lacks all.
        """
        page, other = self.page, self.other
        if (mine := page.item_values) is None:
            return b""
        is_bare = not self.of_one_site or (has(mine, TEXT) and self._main_texts_are_equal())
        bits = None if is_bare else structure_bits(page.structure, other.structure)
        return differing(mine, other.item_values or NO_VALUES, bits, self._has_all_sentences)

    def _has_all_sentences(self) -> bool:
        """Whether the other item's text has all sentences that count of its own."""
        mine, others = self.page.item_sentences, self.other.item_sentences
        return bool(mine and others) and not new_sentences(mine or b"", others or b"")

    def _main_texts_are_equal(self) -> bool:
        """Whether two texts are equal: then a value stands in both, if only by chance."""
        mine, its = ((one.content, one.sketch, one.digest) for one in self[:2])
        return mine == its

    def structures_agree(self) -> bool:
        """By the second look true too for pages of a few elements, which have no structure."""
        apart = bits_apart(self.page.structure, self.other.structure)
        if apart is None:
            return self.options.second_look
        return apart <= self.options.structure_distance

    def sketches_agree(self, share: float = 1) -> bool:
        """Whether they are within this share of the distance; true too if either is missing."""
        apart = bits_apart(self.page.sketch, self.other.sketch)
        return apart is None or apart <= self.options.sketch_distance * share

    def contents_agree(self) -> bool:
        apart = bits_apart(self.page.content, self.other.content)
        return apart is not None and apart <= self.options.content_distance

    def are_two_subjects(self) -> bool:
        """Whether the titles name two things: see page/titles.py.

        The column "another title" of `make bench-drops` counts the pages that are dropped for one
        of another name.
        """
        return titles.name_two_things(
            self.page,
            self.other,
            in_one_template=self.of_one_site and self.in_one_template(),
            repeated=self.repeated_words(),
        )

    def _numbers_differ(self) -> bool:
        return titles.numbers_differ(self.page, self.other, self.repeated_words())

    def names_differ(self) -> bool:
        return titles.names_differ(self.page, self.other, self.repeated_words())

    def repeated_words(self) -> Blocks:
        """The blocks, of words too, that the template of either page repeats."""
        if self.page.title == self.other.title and self.page.heading == self.other.heading:
            return NO_BLOCKS  # nothing is asked of them
        mine, its = (template_of(one.structure, self.repeated_text(one.host)) for one in self[:2])
        return mine.repeated if mine is its else mine.repeated | its.repeated

    def _are_very_near(self) -> bool:
        """Whether the sketches are within half the distance: two sites may give it two titles.

        The default, 9 bits, is a Jaccard index of 0.95 of their word triples.
        """
        return not self._have_specific_texts() and self.sketches_agree(share=0.5)

    def specific_texts_differ(self) -> bool:
        """Whether two pages of one site have too little of their own in common."""
        if not self._have_specific_texts():
            return False
        least = self.min_similarity()
        alike = self.similarity() if least else 1
        if alike is None:  # all is repeated: the items may say more
            return not say_the_same(self.page.item_values, self.other.item_values)
        return alike < least

    def min_similarity(self) -> float:
        """The least similarity, 0-1, of the page-specific texts of two copies of one site."""
        least = self.options.min_similarity
        if not self.in_one_template():
            least = min(least, MIN_MAIN_SIMILARITY)
        in_doubt = self._are_unknown_texts()
        return max(least, _MIN_SIMILARITY_IN_DOUBT) if least and in_doubt else least

    def similarity(self, *, only_main: bool = False) -> float | None:
        """Of the page-specific texts of two pages of one site, 0-1; None if too little is known.

        In two templates, and with `only_main`, of their main texts.
        """
        page, other = self.page, self.other
        if not self.of_one_site or page.sample is None or other.sample is None:
            return None
        if page.article is not None and page.article == other.article:  # all visible is equal
            return 1.0
        only_main = only_main or not self.in_one_template()
        mine, its = (template_of(one.structure, self.repeated_text(one.host)) for one in self[:2])
        return sample_similarity(page.sample, other.sample, (mine, its), only_main=only_main)

    def is_unchanged(self) -> bool:
        """Whether article text and item are as they were, whatever surrounds the article.

        What the item said is not known of a page that was stored without it.
        """
        page, previous = self.page, self.other
        if self.changed_values() or self._facts_differ():
            return False
        if is_row(page.item_values) or is_row(previous.item_values):
            return page.item_values is not None and previous.item_values is not None
        are_told = any(
            all(has(one.item_values, flag) for one in (page, previous)) for flag in (OFFER, PARTS)
        )
        are_told = are_told and page.item_text == previous.item_text
        if are_told or (self.item_texts_are_equal() and not self._either_is_part()):
            return page.title == previous.title
        if (is_same := self._articles_are_equal()) is not None:
            return is_same
        if page.content is None or previous.content is None:
            return page.content == previous.content and page.digest == previous.digest
        return self.contents_agree() and self.sketches_agree()

    def are_equal(self) -> bool:
        """Whether titles and article texts are equal; of items with one text all that they say."""
        if self.item_texts_are_equal():
            says_more = say_more(self.page.item_values, self.other.item_values)
            return self.page.title == self.other.title and not says_more
        is_same = self._articles_are_equal()
        return self._main_texts_are_equal() if is_same is None else is_same

    def _articles_are_equal(self) -> bool | None:
        """Whether titles and article texts are equal; None if either isn't known."""
        if self.page.article is None or self.other.article is None:
            return None
        return self.page.article >> ARTICLE_SHIFT == self.other.article >> ARTICLE_SHIFT

    def changed_values(self) -> bytes:
        """The names, a byte each, of what the item of the same address says otherwise, or no more.

        Whatever their structures: a sale may bring a box. What another page brought last time has
        not gone if none has brought anything now.
        """
        mine, its = self.page.item_values, self.other.item_values
        if mine is None or its is None:
            return b""
        bits = None if has(mine, TEXT) and self._main_texts_are_equal() else KNOWN
        has_all = is_row(mine) or is_row(its) or has(its, CARRIED) > has(mine, CARRIED)
        gone = b"" if has_all else differing(its, mine, bits)
        return differing(mine, its, bits) + gone

    def changed_texts(self) -> tuple[str, ...]:
        """What of a known page has changed, if its item's values haven't."""
        are_equal = self._main_texts_are_equal()
        text = "visible text" if are_equal else "main text"
        text = "long text" if self._item_texts_differ() else text
        if self.page.title == self.other.title:
            return (text,)
        return ("title",) if are_equal or self.item_texts_are_equal() else ("title", text)

    def _have_specific_texts(self) -> bool:
        """Whether the pages are of one site and both have a sample of their visible text."""
        return self.of_one_site and None not in (self.page.sample, self.other.sample)

    def in_one_template(self) -> bool:
        """Whether the pages' structures are near, or both have too few elements for one."""
        return structure_bits(self.page.structure, self.other.structure) <= MAX_DISTANCE_BITS

    def _are_unknown_texts(self) -> bool:
        """Whether they are texts, or look so, and what texts of their host repeat isn't known."""
        page = self.page
        return (
            page.structure is None
            and self.other.structure is None
            and page.sample is not None
            and template_of(None, self.repeated_text(page.host)) is UNKNOWN
            and is_all_main(page.sample)
        )


def what_it_says(page: StoredPage) -> bytes | None:
    """16 bytes of what `Pair.is_unchanged` compares, see `says_the_same`; None of a row."""
    values = page.item_values or NO_VALUES
    if is_row(values):
        return None
    if page.article is not None:
        own = (page.article >> ARTICLE_SHIFT).to_bytes(4, "big")
    else:
        own = (page.digest or b"") + (page.content or 0).to_bytes(8, "big")
    values, text = without_facts(values), own
    if has(values, OFFER | PARTS) or (page.item_text is not None and not has(values, PART)):
        text = (page.item_text or b"") + page.title.encode("utf-8", "replace")
    return hash_of(values + text) + hash_of(values + own)


def says_the_same(said: bytes, before: bytes) -> bool:
    """Whether the item's text is as it was, or the article: a box in either may have changed."""
    return said[:8] == before[:8] or said[8:] == before[8:]

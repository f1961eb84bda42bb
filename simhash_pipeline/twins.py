"""What a copy is: two stored pages and what their templates repeat in, what tells them apart out.

No store, no clock, no other page: the judge finds the candidates, and asks here about each.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simhash_pipeline.bits import MAX_DISTANCE_BITS, hash_of
from simhash_pipeline.item_values import (
    CARRIED,
    NO_VALUES,
    PART,
    TEXT,
    differing,
    has,
    is_row,
    say_the_same,
)
from simhash_pipeline.options import Options
from simhash_pipeline.page import titles
from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.page.visible import ARTICLE_SHIFT
from simhash_pipeline.repeated_text import NO_BLOCKS, UNKNOWN, Blocks, template_of
from simhash_pipeline.specific_text import is_all_main, sample_similarity
from simhash_pipeline.stores.contract import StoredPage
from simhash_pipeline.verdict import RejectedBy, bits_apart

Repeated = Callable[[str], bytes]  # what a host's templates repeat: see repeated_text.py

# Of the main texts of two pages of one site, if what stands around them says nothing: in two
# templates, such as a page and its print view, or if both declare one address. The rest of a page
# may have been read as text on one day and left out on another.
MIN_MAIN_SIMILARITY = 0.5
_MIN_SAME_READ = 0.4  # of main texts, boxes that were read as such too
# For texts of a host of which too few are known: what they have in common may be its notice.
_MIN_SIMILARITY_IN_DOUBT = 0.95


def rejection(
    page: StoredPage, other: StoredPage, repeated: Repeated, options: Options, *, by_text: bool
) -> RejectedBy | None:
    """The first test that tells a page from a stored one; None: it is a copy.

    `by_text`: its text made the stored page a candidate, so they have to agree in more than that.
    """
    if differing_values(page, other):
        return "fields"
    if options.match == "both" and not structures_agree(page, other, options):
        return "template"
    if not (by_text and options.second_look):
        return None
    # Nothing that was scraped is missing then, whatever stands beside it.
    has_its_text = _have_one_text(page, other)
    if has_its_text and page.title == other.title:
        return None
    if not has_its_text and not sketches_agree(page, other, options.sketch_distance):
        return "sketch"
    if titles.share_a_notice(page, other):
        return "shared notice"
    if page.content is None and page.site != other.site and page.title != other.title:
        return "title"  # a short text that two sites share names no page
    words = repeated_words(page, other, repeated)
    are_letters = titles.are_form_letters(
        page, other, on_one_site=page.site == other.site, repeated=words
    )
    # A wall shows a request's number at addresses of all kinds; an article's second address is in
    # another folder, mostly.
    are_coded = titles.have_two_codes(page, other) and page.folder == other.folder
    if (are_letters or are_coded) and not has_its_text:
        return "title"
    if are_two_subjects(page, other, repeated) and not _is_one_text(page, other, options):
        return "title"
    if not has_its_text and specific_texts_differ(page, other, repeated, options):
        return "page-specific text"
    return None


def _have_one_text(page: StoredPage, other: StoredPage) -> bool:
    """Whether their items have one long text, and it is the page's.

    If it is less than half of either main text, the items must say the same, and two fifths of the
    main texts as they were read, too: what all pages of a site have in a box is no page's.
    """
    if not _have_same_text(page, other):
        return False
    if not _either_is_part(page, other):
        return True
    if page.site != other.site or page.title != other.title or not in_one_template(page, other):
        return False
    if differing_values(page, other) or differing_values(other, page):
        return False
    samples = page.sample or b"", other.sample or b""
    return all(samples) and (sample_similarity(*samples, only_main=True) or 0) >= _MIN_SAME_READ


def _have_same_text(page: StoredPage, other: StoredPage) -> bool:
    return page.item_text is not None and page.item_text == other.item_text


def _either_is_part(page: StoredPage, other: StoredPage) -> bool:
    return has(page.item_values, PART) or has(other.item_values, PART)


def differing_values(page: StoredPage, other: StoredPage) -> bytes:
    """The names, a byte each, by which its item says what no item of the other page does.

    A page that was stored without its item, as by a crawl with other settings, lacks all of them.
    """
    if page.item_values is None:
        return b""
    is_bare = page.site != other.site or (
        has(page.item_values, TEXT) and _are_one_text(page, other)
    )
    bits = None if is_bare else _structure_bits(page, other)
    return differing(page.item_values, other.item_values or NO_VALUES, bits)


def _are_one_text(page: StoredPage, other: StoredPage) -> bool:
    """Whether two texts are equal: then a value stands in both, if only by chance."""
    own = (page.content, page.sketch, page.digest)
    return own == (other.content, other.sketch, other.digest)


def structures_agree(page: StoredPage, other: StoredPage, options: Options) -> bool:
    """By the second look true too for pages of a few elements, which have no structure."""
    apart = bits_apart(page.structure, other.structure)
    if apart is None:
        return options.second_look
    return apart <= options.structure_distance


def sketches_agree(page: StoredPage, other: StoredPage, most_bits: float) -> bool:
    """True too if either page has no sketch."""
    apart = bits_apart(page.sketch, other.sketch)
    return apart is None or apart <= most_bits


def are_two_subjects(page: StoredPage, other: StoredPage, repeated: Repeated) -> bool:
    """Whether the titles name two things: see page/titles.py.

    The column "another title" of `make bench-drops` counts the pages that are dropped for one of
    another name.
    """
    words = repeated_words(page, other, repeated)
    is_one_template = page.site == other.site and in_one_template(page, other)
    return titles.name_two_things(page, other, in_one_template=is_one_template, repeated=words)


def repeated_words(page: StoredPage, other: StoredPage, repeated: Repeated) -> Blocks:
    """The blocks, of words too, that the template of either page repeats."""
    if page.title == other.title and page.heading == other.heading:
        return NO_BLOCKS  # nothing is asked of them
    mine, its = (template_of(one.structure, repeated(one.host)) for one in (page, other))
    return mine.repeated if mine is its else mine.repeated | its.repeated


def _is_one_text(page: StoredPage, other: StoredPage, options: Options) -> bool:
    """Whether the sketches are within half the distance: two sites may give a text two titles.

    The default, 9 bits, is a Jaccard index of 0.95 of their word triples.
    """
    if have_specific_texts(page, other):
        return False
    return sketches_agree(page, other, options.sketch_distance / 2)


def specific_texts_differ(
    page: StoredPage, other: StoredPage, repeated: Repeated, options: Options
) -> bool:
    """Whether two pages of one site have too little of their own in common."""
    if not have_specific_texts(page, other):
        return False
    least = min_similarity(page, other, repeated, options)
    alike = similarity(page, other, repeated) if least else 1
    if alike is None:  # all is repeated: the items may say more
        return not say_the_same(page.item_values, other.item_values)
    return alike < least


def min_similarity(
    page: StoredPage, other: StoredPage, repeated: Repeated, options: Options
) -> float:
    """The least similarity, 0-1, of the page-specific texts of two near-duplicates of one site."""
    least = options.min_similarity
    if not in_one_template(page, other):
        least = min(least, MIN_MAIN_SIMILARITY)
    in_doubt = _are_unknown_texts(page, other, repeated)
    return max(least, _MIN_SIMILARITY_IN_DOUBT) if least and in_doubt else least


def similarity(
    page: StoredPage, other: StoredPage, repeated: Repeated, *, only_main: bool = False
) -> float | None:
    """Of the page-specific texts of two pages of one site, 0-1; None if too little is known.

    In two templates, and with `only_main`, their main texts.
    """
    if page.site != other.site or page.sample is None or other.sample is None:
        return None
    if page.article is not None and page.article == other.article:  # all that is visible is equal
        return 1.0
    mine, its = (template_of(one.structure, repeated(one.host)) for one in (page, other))
    only_main = only_main or not in_one_template(page, other)
    return sample_similarity(page.sample, other.sample, (mine, its), only_main=only_main)


def is_unchanged(page: StoredPage, previous: StoredPage, options: Options) -> bool:
    """Whether article text and item are as they were, whatever surrounds the article.

    What the item said is not known of a page that was stored without it.
    """
    if items_differ(page, previous):
        return False
    if is_row(page.item_values) or is_row(previous.item_values):
        return page.item_values is not None and previous.item_values is not None
    if _have_same_text(page, previous) and not _either_is_part(page, previous):
        return page.title == previous.title
    if page.article is not None and previous.article is not None:
        return page.article >> ARTICLE_SHIFT == previous.article >> ARTICLE_SHIFT
    if page.content is None or previous.content is None:
        return page.content == previous.content and page.digest == previous.digest
    return contents_agree(page, previous, options) and sketches_agree(
        page, previous, options.sketch_distance
    )


def are_equal(page: StoredPage, other: StoredPage) -> bool:
    """Whether their items' texts or the titles and article texts are equal."""
    if _have_same_text(page, other):
        return not _either_is_part(page, other)
    if page.article is None or other.article is None:
        return _are_one_text(page, other)
    return page.article >> ARTICLE_SHIFT == other.article >> ARTICLE_SHIFT


def what_it_says(page: StoredPage) -> bytes | None:
    """8 bytes of what `is_unchanged` compares first; None of a row, which has its own rules."""
    values = page.item_values or NO_VALUES
    if is_row(values):
        return None
    if page.item_text is not None and not has(values, PART):
        text = page.item_text + page.title.encode("utf-8", "replace")
    elif page.article is not None:
        text = (page.article >> ARTICLE_SHIFT).to_bytes(4, "big")
    else:
        text = (page.digest or b"") + (page.content or 0).to_bytes(8, "big")
    return hash_of(values + text)


def items_differ(page: StoredPage, previous: StoredPage) -> bool:
    """Whether the item of the same address says something else, or a value has gone.

    Whatever their structures: a sale may bring a box. A value from another page isn't this one's.
    """
    mine, its = page.item_values, previous.item_values
    if mine is None or its is None:
        return False
    bits = None if has(mine, TEXT) and _are_one_text(page, previous) else 0
    has_all = is_row(mine) or is_row(its) or has(its, CARRIED)
    return bool(differing(mine, its, bits) or (not has_all and differing(its, mine, bits)))


def contents_agree(page: StoredPage, other: StoredPage, options: Options) -> bool:
    apart = bits_apart(page.content, other.content)
    return apart is not None and apart <= options.content_distance


def have_specific_texts(page: StoredPage, other: StoredPage) -> bool:
    """Whether the pages are of one site and both have a sample of their visible text."""
    return page.site == other.site and page.sample is not None and other.sample is not None


def in_one_template(page: StoredPage, other: StoredPage) -> bool:
    """Whether the pages' structures are near, or both have too few elements for one."""
    return _structure_bits(page, other) <= MAX_DISTANCE_BITS


def _structure_bits(page: StoredPage, other: StoredPage) -> float:
    """Between the pages' structures; infinite if one of them alone has too few elements for one."""
    if page.structure is None or other.structure is None:
        return 0 if page.structure is other.structure else inf
    return hamming_distance(page.structure, other.structure)


def _are_unknown_texts(page: StoredPage, other: StoredPage, repeated: Repeated) -> bool:
    """Whether they are texts, or look so, and what texts of their host repeat isn't known."""
    return (
        page.structure is None
        and other.structure is None
        and page.sample is not None
        and template_of(None, repeated(page.host)) is UNKNOWN
        and is_all_main(page.sample)
    )

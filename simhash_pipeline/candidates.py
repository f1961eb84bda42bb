"""Where a page's twin may be: the stored pages that are worth a second look, each with why.

A bounded number of each kind but of near fingerprints, which come nearest first. What of them is a
copy, twins.py decides.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from simhash_pipeline.options import Options
from simhash_pipeline.stores.contract import StoredPage, View
from simhash_pipeline.twins import MIN_MAIN_SIMILARITY, Pair
from simhash_pipeline.verdict import Reason

MAX_SAME = 8  # pages that are looked at for an address, an item's text or a row: many may have it
_ERROR_PAGES = 2  # of one pattern that are kept: two items may be alike by chance
# Copies aren't kept: a paragraph or a minhash that more kept pages have is their site's.
_MAX_SAME_WORDS = 3


def candidates(
    page: StoredPage, view: View, options: Options
) -> Iterator[tuple[StoredPage, Reason]]:
    """Stored pages that may be the page's twin by MATCH, the likeliest first, each with why."""
    ways: list[tuple[Reason, Iterable[StoredPage]]] = []
    if options.match != "structure":
        if options.second_look:
            ways += [
                ("item", islice(view.same("item_text"), MAX_SAME)),
                ("error page", _by_error_pattern(view)),
                ("address", _by_address(page, view, options)),
                ("thin", view.same("digest") if page.content is None else ()),
            ]
        near = view.near("content", options.content_distance)
        ways.append(("content", (other for other, _ in near)))
        if options.second_look and page.content is not None:
            ways.append(("sketch", _by_sketch(page, view, options)))
    if options.match in ("structure", "either"):
        near = view.near("structure", options.structure_distance)
        ways.append(("structure", (other for other, _ in near)))
    are_both = options.match == "both" and page.structure is not None
    for reason, others in ways:
        for other in others:
            is_both = are_both and reason == "content" and other.structure is not None
            yield other, "content and structure" if is_both else reason


def _by_error_pattern(view: View) -> Iterator[StoredPage]:
    """The first two stored pages of its pattern, see page/short_pages.py, or none."""
    others = list(islice(view.same("error_pattern"), _ERROR_PAGES))
    yield from others if len(others) == _ERROR_PAGES else ()


def _by_address(page: StoredPage, view: View, options: Options) -> Iterator[StoredPage]:
    """Pages of the same site and declared address: what stands beside their texts says nothing.

    Their main texts must be alike, or else their items: many sites declare one address for all
    pages of a list.
    """
    for other in islice(view.same("address"), MAX_SAME):
        pair = Pair(page, other, view.repeated_text, options)
        is_near = (pair.similarity(only_main=True) or 0) >= MIN_MAIN_SIMILARITY
        if (is_near or pair.say_one_thing()) and not pair.are_two_subjects():
            yield other


def _by_sketch(page: StoredPage, view: View, options: Options) -> Iterator[StoredPage]:
    """Pages whose sketches agree and that aren't near in content: of one paragraph or minhash.

    Where one template's byline or caption was read with an article, and another's wasn't, or
    some words were changed, the content fingerprint moves by more bits than the distance. In
    one template of a site such a line or word is the page's own.
    """
    others: dict[str, StoredPage] = {}
    for column in ("digest", "minhash"):
        found = list(islice(view.same(column), _MAX_SAME_WORDS + 1))
        if len(found) <= _MAX_SAME_WORDS:
            others |= {other.url: other for other in found}
    for other in others.values():
        pair = Pair(page, other, view.repeated_text, options)
        if pair.of_one_site and pair.in_one_template():
            continue
        if pair.sketches_agree() and not pair.contents_agree():
            yield other
